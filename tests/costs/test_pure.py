"""The curves of pure DP and zCDP: against mpmath, extreme pairs, and exact composition."""

import math
import pickle

import mpmath as mp
import numpy as np
import pytest
from guarantees import composed_delta
from sampled_curves import sampled_without_replacement

from tightnoise import Cost, RdpCurve
from tightnoise.costs._pure import PureRdp
from tightnoise.costs._zcdp import ZcdpRdp

NAN, INF = float("nan"), float("inf")


def true_pure(epsilon, alpha):
    """The divergence of randomised response, as printed."""
    e, a = mp.mpf(epsilon), mp.mpf(alpha)
    return mp.log((mp.exp(a * e) + mp.exp((1 - a) * e)) / (1 + mp.exp(e))) / (a - 1)


def test_pure_is_the_formula_rounded_up(rng, check_error):
    worst = 0.0
    with mp.workdps(120):
        for _ in range(1500):
            e = 10 ** rng.uniform(-20, 4)
            alpha = 1 + 10 ** (rng.uniform(-15, 0) if rng.random() < 0.4 else rng.uniform(0, 8))
            if rng.random() < 0.3:
                alpha = 1 + 10 ** rng.uniform(-1, 1) * 500 / e
            truth = true_pure(e, alpha)
            got = PureRdp(e)([alpha])[0]
            assert truth * (1 - mp.mpf("1e-90")) <= got <= e, (e, alpha)
            worst = max(worst, float(got / truth - 1))
    check_error("pure", worst, 1e-14)


@pytest.mark.parametrize("e", [5e-324, 1e-200, 1e-9, 1.0, 1e3, 1e300])
def test_pure_at_the_ends(e):
    at_one, large, infinite = PureRdp(e)([math.nextafter(1, 2), 1e300, INF])
    assert at_one == pytest.approx(min(e, e * math.tanh(e / 2)), rel=1e-12, abs=1e-323)
    assert at_one > 0
    assert large == pytest.approx(e if 1e300 * e > 1e20 else 0, rel=1e-12, abs=1e-20)
    assert infinite == e


def test_no_epsilon_dp_pair_has_a_larger_divergence(rng):
    """Random pairs of distributions with log ratios in [-e, e]."""
    for _ in range(500):
        e, alpha = 10 ** rng.uniform(-2, 1), 1 + 10 ** rng.uniform(-2, 2)
        q = rng.dirichlet(np.full(int(rng.integers(2, 6)), 0.3)) + 1e-12
        ratio = rng.uniform(-e, e, q.size)
        if rng.random() < 0.5:
            ratio = e * np.sign(ratio)
        p = q * np.exp(ratio)
        q, p = q / q.sum(), p / p.sum()
        e = np.abs(np.log(p / q)).max()  # normalising may have widened it
        bound = PureRdp(e)([alpha])[0]
        for one, other in [(p, q), (q, p)]:
            log_terms = alpha * np.log(one) + (1 - alpha) * np.log(other)
            divergence = np.logaddexp.reduce(log_terms) / (alpha - 1)
            assert divergence <= bound * (1 + 1e-9) + 1e-12


def test_zcdp_bounds_pure():
    orders = 1 + np.geomspace(1e-9, 1e9, 200)
    for e in np.geomspace(1e-9, 1e3, 50):
        assert (PureRdp(e)(orders) <= ZcdpRdp(e**2 / 2)(orders) * (1 + 1e-12)).all()


def test_zcdp_is_rounded_up():
    orders = 1 + np.geomspace(1e-9, 1e300, 200)
    for rho in [5e-324, 1e-9, 0.1, 1e300]:
        for alpha, got in zip(orders, ZcdpRdp(rho)(orders), strict=True):
            truth = mp.mpf(rho) * mp.mpf(float(alpha))
            assert got >= truth
            assert got <= truth * (1 + mp.mpf("5e-16")) + mp.mpf("1e-323") or truth > 1.7e308


def test_a_gaussian_is_zcdp():
    """sigma = 4, a hundred times: the closed minimum over all real orders (classic conversion)."""
    rho, delta = 100 / (2 * 16.0), 1e-5
    best = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    got = (Cost.of_zcdp(1 / 32) * 100).rdp().epsilon(delta, "classic")
    assert best * (1 - 1e-12) <= got <= best * (1 + 1e-9)
    assert Cost.of_zcdp(rho).rdp().epsilon(delta, "canonne") < best


@pytest.mark.parametrize(("e", "count"), [(0.1, 1407), (0.5, 100), (2.0, 10)])
def test_renyi_composition_never_beats_the_exact(e, count):
    curve = (Cost.of_pure(e) * count).rdp()
    for delta in [1e-9, 1e-5, 1e-2]:
        x = curve.epsilon(delta, "canonne")
        assert composed_delta(e, 0.0, count, x) <= delta


def test_curves_add_up():
    total = Cost.of_zcdp(0.1) + Cost.of_pure(0.5) * 2 + Cost.of_zcdp(0.1)
    assert dict(total.rdp().terms) == {ZcdpRdp(0.1): 2, PureRdp(0.5): 2}
    assert pickle.loads(pickle.dumps(total)).rdp().terms == total.rdp().terms
    assert Cost.of_zcdp(0.0).epsilon(1e-5) == Cost.of_pure(0.0).epsilon(1e-5) == 0.0


@pytest.mark.parametrize("value", [NAN, INF, -0.1])
def test_bad_values_are_refused_by_name(value):
    with pytest.raises(ValueError, match="rho"):
        ZcdpRdp(value)
    with pytest.raises(ValueError, match="epsilon"):
        PureRdp(value)


def test_bad_types_are_refused_by_name():
    with pytest.raises(TypeError, match="rho"):
        ZcdpRdp("1")
    with pytest.raises(TypeError, match="epsilon"):
        PureRdp(True)


def test_pure_says_its_infinite_order_and_sampling_uses_it():
    curve = RdpCurve.of_function(PureRdp(0.1))
    assert curve.at([2.0, math.inf]).values[1] == 0.1
    orders = np.append(curve.alphas, np.inf)
    as_table = sampled_without_replacement(curve.at(orders), 100, 1000)
    as_function = sampled_without_replacement(curve, 100, 1000)
    assert np.array_equal(as_function.values, as_table.values[:-1])
