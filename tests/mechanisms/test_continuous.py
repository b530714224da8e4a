"""Costs of mechanisms as functions of a real order: the tables' values, whatever happens after."""

import pickle

import numpy as np
import pytest

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
@pytest.mark.parametrize("count", [7, 5000])
def test_a_function_has_the_values_of_tables(m, count, rng):
    theta = rng.uniform(-1.5, 1.5, count)
    curve = m.rdp(theta, sensitivity=0.01)
    table = m.rdp(theta, ORDERS, sensitivity=0.01)
    assert curve.is_continuous
    assert curve.per_instance == table.per_instance == (type(m) is not tn.Gaussian)
    np.testing.assert_allclose(curve.at(ORDERS).values, table.values, rtol=1e-9)
    some = np.sort(np.append(DEFAULT_ORDERS[::8], [1 + 1e-9, 3e6]))
    values = curve.at(some).values
    assert (values[1:] >= values[:-1] * (1 - 1e-9)).all()
    for conversion in ("optimal", "canonne"):
        best = curve.epsilon(1e-6, conversion)
        whole = m.rdp(theta, DEFAULT_ORDERS, sensitivity=0.01).epsilon(1e-6, conversion)
        assert 0.994 * whole <= best <= whole * (1 + 2e-9)


@pytest.mark.parametrize("m", MECHANISMS[1:], ids=IDS[1:])
def test_beyond_the_orders_that_are_accurate(m):
    theta = np.array([0.3, -0.8, 2.0])
    curve = m.rdp(theta, sensitivity=0.2)
    limit = m.rdp(theta, [1 + 1e-6, np.inf], sensitivity=0.2).values
    assert curve.at([1 + 1e-9]).values[0] == limit[0]
    assert curve.at([2e6, 1e9]).values.tolist() == [limit[1]] * 2
    assert curve.epsilon(1e-12) <= limit[1]


@pytest.mark.parametrize("m", MECHANISMS, ids=IDS)
@pytest.mark.parametrize("count", [7, 5000])
def test_changing_the_array_does_not_change_the_cost(m, count, rng):
    theta, bound = rng.uniform(-1, 1, count), np.array(0.01)
    curve = m.rdp(theta, sensitivity=bound)
    before = curve.at(ORDERS).values
    theta[:], bound[...] = 0.0, 1.0
    np.testing.assert_array_equal(curve.at(ORDERS).values, before)
    again = pickle.loads(pickle.dumps(curve))
    np.testing.assert_allclose(again.at(ORDERS).values, before, rtol=1e-9)
    assert again.per_instance == curve.per_instance


def test_repetitions_count_and_equal_gaussians_merge(rng):
    theta = rng.uniform(-1, 1, 5)
    a = tn.Gaussian(0.5).rdp(theta, sensitivity=0.1)
    b = tn.Gaussian(0.5).rdp(2 * theta, sensitivity=0.1)
    assert (a + b).terms == ((a.terms[0][0], 2),)
    c = tn.StochasticSign(0.5).rdp(theta, sensitivity=0.1)
    assert (c * 3 + c).terms == ((c.terms[0][0], 4),)
    d = tn.StochasticSign(0.5).rdp(theta, sensitivity=0.1)
    assert len((c + d).terms) == 2
    assert repr(c) == (
        "RdpCurve(any order, StochasticSign(sigma=0.5) at 5 numbers, per_instance=True)"
    )
    total = (a * 10 + c * 10).epsilon(1e-6)
    table = tn.Gaussian(0.5).rdp(theta, DEFAULT_ORDERS, sensitivity=0.1) * 10
    table = table + tn.StochasticSign(0.5).rdp(theta, DEFAULT_ORDERS, sensitivity=0.1) * 10
    assert 0.994 * table.epsilon(1e-6) <= total <= table.epsilon(1e-6) * (1 + 2e-9)


def test_no_sensitivity_costs_nothing():
    for m in MECHANISMS:
        curve = m.rdp([0.1, 0.2], sensitivity=0.0)
        assert curve.epsilon(1e-9) == 0
        assert curve.delta(0.0) == 0


def test_arrays_of_sensitivities_and_sigmas(rng):
    theta, bounds = rng.uniform(-1, 1, (3, 4)), rng.uniform(0, 0.1, 4)
    for m in (tn.Gaussian(bounds + 0.5), tn.RectifiedGaussian(bounds + 0.5, -1, 1)):
        table = m.rdp(theta, ORDERS, sensitivity=bounds)
        curve = m.rdp(theta, sensitivity=bounds)
        np.testing.assert_allclose(curve.at(ORDERS).values, table.values, rtol=1e-12)


@pytest.mark.parametrize("m", MECHANISMS[1:3], ids=IDS[1:3])
def test_sketches(m, rng):
    theta = rng.uniform(-1, 1, 5000)
    sketch = tn.Sketch.of(theta, -1, 1, sigma=0.5)
    curve = m.rdp(sketch, sensitivity=0.01)
    exact = m.rdp(theta, ORDERS, sensitivity=0.01).values
    np.testing.assert_allclose(curve.at(ORDERS).values, exact, rtol=2e-9)
    # Without its arrays, a sketch has no bound where it is not accurate, and the rest stands.
    alone = m.rdp(pickle.loads(pickle.dumps(sketch)), sensitivity=0.01)
    values = alone.at(ORDERS).values
    assert np.isfinite(values).any()
    known = values[np.isfinite(values)]
    assert (known >= exact[: known.size] * (1 - 1e-9)).all()
    assert alone.epsilon(1e-6) == pytest.approx(curve.epsilon(1e-6), rel=1e-6)
    both = m.rdp(sketch + tn.Sketch.of(theta[:9], -1, 1, sigma=0.5), sensitivity=0.01)
    assert both.epsilon(1e-6) > curve.epsilon(1e-6)
    gaussian = tn.Gaussian(0.5).rdp(sketch, sensitivity=0.01)
    assert gaussian.is_continuous
    assert curve.epsilon(1e-6) < gaussian.epsilon(1e-6)


@pytest.mark.parametrize("m", MECHANISMS, ids=IDS)
def test_bad_arguments_are_refused_at_once(m):
    for theta, sensitivity, name in (
        ([np.nan], 1.0, "theta"),
        ([], 1.0, "theta"),
        ([0.0], -1.0, "sensitivity"),
        ([0.0], np.nan, "sensitivity"),
        ([0.0, 1.0], [0.1, 0.2, 0.3], "sensitivity"),
        (tn.Sketch.of([], -1, 1), 1.0, "theta"),
        (tn.Sketch.of([0.5], -1, 1), -1.0, "sensitivity"),
    ):
        with pytest.raises(ValueError, match=f"{name} must"):
            m.rdp(theta, sensitivity=sensitivity)


def test_infinite_order_is_that_of_the_table():
    theta = np.array([0.3, -0.8, 2.0])
    mechanism = tn.RectifiedGaussian(0.5, -1.0, 1.0)
    table = mechanism.rdp(theta, [2.0, np.inf], sensitivity=0.1)
    assert np.array_equal(
        mechanism.rdp(theta, sensitivity=0.1).at([2.0, np.inf]).values, table.values
    )
