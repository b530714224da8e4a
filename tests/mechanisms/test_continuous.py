"""Costs of values as functions of a real order: the sums, whatever happens after."""

import pickle

import numpy as np
import pytest
from instance_costs import exact_rdp, rdp_at

import tightnoise as tn
from tightnoise.costs import DEFAULT_ORDERS

MECHANISMS = [
    tn.Gaussian(0.5),
    tn.RectifiedGaussian(0.5, -1, 1),
    tn.TruncatedGaussian(0.5, -1, 1),
    tn.QuantizedGaussian(0.5, -1, 1, 8),
    tn.StochasticSign(0.5),
    tn.BoundedLaplace(0.5, -1, 1),
]
IDS = [type(m).__name__ for m in MECHANISMS]
ORDERS = np.array([1 + 1e-6, 1.3, 2.0, 17.5, 1e3, 1e6])


@pytest.mark.parametrize("m", MECHANISMS, ids=IDS)
@pytest.mark.parametrize("count", [7, 1000])
def test_a_function_has_the_values_of_the_sums(m, count, rng):
    theta = rng.uniform(-1.5, 1.5, count)
    curve = m.cost_at(theta, coordinate_sensitivity=0.01).rdp()
    assert curve.is_continuous
    exact = exact_rdp(m, theta, ORDERS, 0.01)
    np.testing.assert_allclose(curve.at(ORDERS).values, exact, rtol=1e-9)
    assert (curve.at(ORDERS).values >= exact).all()
    some = np.sort(np.append(DEFAULT_ORDERS[::8], [1 + 1e-9, 3e6]))
    values = curve.at(some).values
    assert (values[1:] >= values[:-1] * (1 - 1e-9)).all()
    for conversion in ("optimal", "canonne"):
        best = curve.epsilon(1e-6, conversion)
        whole = curve.at(DEFAULT_ORDERS).epsilon(1e-6, conversion)
        assert 0.994 * whole <= best <= whole * (1 + 2e-9)


@pytest.mark.parametrize("m", MECHANISMS[1:], ids=IDS[1:])
def test_beyond_the_orders_that_are_accurate(m):
    theta = np.array([0.3, -0.8, 2.0])
    curve = m.cost_at(theta, coordinate_sensitivity=0.2).rdp()
    limit = rdp_at(m, theta, [1 + 1e-6, np.inf], 0.2)
    assert curve.at([1 + 1e-9]).values[0] == limit[0]
    assert curve.at([2e6, 1e9]).values.tolist() == [limit[1]] * 2
    assert curve.epsilon(1e-12) <= limit[1]


@pytest.mark.parametrize("m", MECHANISMS, ids=IDS)
@pytest.mark.parametrize("count", [7, 5000])
def test_changing_the_array_does_not_change_the_cost(m, count, rng):
    theta, bound = rng.uniform(-1, 1, count), np.array(0.01)
    curve = m.cost_at(theta, coordinate_sensitivity=bound).rdp()
    before = curve.at(ORDERS).values
    theta[:], bound[...] = 0.0, 1.0
    np.testing.assert_array_equal(curve.at(ORDERS).values, before)
    again = pickle.loads(pickle.dumps(curve))
    np.testing.assert_allclose(again.at(ORDERS).values, before, rtol=1e-9)


def test_a_ledger_counts_repetitions_and_merges_equal_gaussians(rng):
    theta = rng.uniform(-1, 1, 5)
    a, b = (
        tn.Gaussian(0.5).cost_at(values, coordinate_sensitivity=0.1)
        for values in (theta, 2 * theta)
    )
    ledger = tn.InstanceLedger(history="fixed").compose(a).compose(b)
    assert ledger.epsilon(1e-6) == (a * 2).epsilon(1e-6)
    c = tn.StochasticSign(0.5).cost_at(theta, coordinate_sensitivity=0.1)
    assert repr(c.rdp()) == "RdpCurve(any order, sign noise, sigma 0.5 at 5 numbers)"
    ledger = tn.InstanceLedger(history="fixed").compose(c, 3).compose(c)
    assert ledger.epsilon(1e-6) == (c * 4).epsilon(1e-6)
    total = tn.InstanceLedger(history="fixed").compose(a, 10).compose(c, 10).epsilon(1e-6)
    values = 10 * (a.rdp(DEFAULT_ORDERS).values + c.rdp(DEFAULT_ORDERS).values)
    table = tn.RdpCurve(DEFAULT_ORDERS, values).epsilon(1e-6)
    assert 0.994 * table <= total <= table * (1 + 2e-9)


def test_no_sensitivity_costs_nothing():
    for m in MECHANISMS:
        curve = m.cost_at([0.1, 0.2], coordinate_sensitivity=0.0).rdp()
        assert curve.epsilon(1e-9) == 0
        assert curve.delta(0.0) == 0


def test_arrays_of_sensitivities_and_sigmas(rng):
    theta, bounds = rng.uniform(-1, 1, (3, 4)), rng.uniform(0, 0.1, 4)
    each = np.broadcast_to(bounds, theta.shape).copy()
    for make in (lambda c: tn.Gaussian(c + 0.5), lambda c: tn.RectifiedGaussian(c + 0.5, -1, 1)):
        exact = exact_rdp(make(each), theta, ORDERS, each)
        np.testing.assert_allclose(rdp_at(make(bounds), theta, ORDERS, bounds), exact, rtol=1e-9)


@pytest.mark.parametrize("m", MECHANISMS[1:3], ids=IDS[1:3])
def test_sketches(m, rng):
    theta = rng.uniform(-1, 1, 5000)
    sketch = tn.Sketch.of(theta, -1, 1, sigma=0.5)
    curve = m.cost_at(sketch, coordinate_sensitivity=0.01).rdp()
    exact = rdp_at(m, theta, ORDERS, 0.01)
    np.testing.assert_allclose(curve.at(ORDERS).values, exact, rtol=2e-9)
    # Without its arrays, a sketch has no bound where it is not accurate, and the rest stands.
    alone = m.cost_at(pickle.loads(pickle.dumps(sketch)), coordinate_sensitivity=0.01).rdp()
    values = alone.at(ORDERS).values
    assert np.isfinite(values).any()
    known = values[np.isfinite(values)]
    assert (known >= exact[: known.size] * (1 - 1e-9)).all()
    assert alone.epsilon(1e-6) == pytest.approx(curve.epsilon(1e-6), rel=1e-6)
    gaussian = tn.Gaussian(0.5).cost_at(sketch, coordinate_sensitivity=0.01)
    assert curve.epsilon(1e-6) < gaussian.epsilon(1e-6)
