"""Renyi-DP curves: right to the last digits, never below the truth, and closed to bad input."""

import math
import warnings

import mpmath as mp
import numpy as np
import pytest

from tightnoise.costs import DEFAULT_ORDERS, RdpCurve, rdp_to_delta, rdp_to_epsilon

NAMES = ["optimal", "closed_form", "canonne", "classic"]
NAN, INF = float("nan"), float("inf")


def gaussian(noise, count=1.0, orders=DEFAULT_ORDERS):
    return RdpCurve(orders, orders * (count / (2 * noise**2)))


def gaussian_delta(epsilon, noise):
    """The exact delta of a Gaussian at `noise` times the sensitivity (Balle and Wang 2018)."""
    e, s = mp.mpf(epsilon), mp.mpf(noise)
    return mp.ncdf(1 / (2 * s) - e * s) - mp.exp(e) * mp.ncdf(-1 / (2 * s) - e * s)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("noise", [0.05, 0.3, 1, 4, 30, 300])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-12, 1e-100])
def test_gaussian_epsilon_is_above_the_exact_one(name, noise, delta):
    epsilon = gaussian(noise).epsilon(delta, name)
    with mp.workdps(150):
        assert gaussian_delta(epsilon, noise) <= delta


@pytest.mark.filterwarnings("ignore:the best order")
@pytest.mark.parametrize("noise", [0.3, 1, 4, 30])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1, 10])
def test_gaussian_delta_is_above_the_exact_one(noise, epsilon):
    with mp.workdps(50):
        assert gaussian(noise).delta(epsilon) >= gaussian_delta(epsilon, noise)


def test_two_point_distributions_brute_force(rng):
    """Against the definition: the largest delta over all sets, for random pairs of coins."""
    for _ in range(300):
        p, q = rng.uniform(0.001, 0.999, 2)
        pair = np.array([[p, 1 - p], [q, 1 - q]])
        both = [pair, pair[::-1]]
        alphas = np.array([1.1, 1.5, 2, 4, 16, 64, 1024, INF])
        divergences = [
            max(np.log(np.sum(x**a * y ** (1 - a))) / (a - 1) for x, y in both) for a in alphas[:-2]
        ]
        largest = max(np.log(x / y).max() for x, y in both)
        curve = RdpCurve(alphas, [*divergences, largest, largest])
        for epsilon in (0.0, 0.05, 0.5, 2.0):
            exact = max(np.maximum(x - np.exp(epsilon) * y, 0).sum() for x, y in both)
            for name in NAMES:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    assert curve.delta(epsilon, name) >= exact * (1 - 1e-12)


def test_default_orders():
    assert DEFAULT_ORDERS[0] == pytest.approx(1.001, abs=1e-15)
    assert DEFAULT_ORDERS[-1] == pytest.approx(1e6, rel=1e-12)
    assert (np.diff(DEFAULT_ORDERS) > 0).all()
    assert set(range(2, 65)) <= set(DEFAULT_ORDERS)
    assert not DEFAULT_ORDERS.flags.writeable


def test_bounded_cost_reaches_pure_privacy():
    # A cost that stops growing proves nearly its limit, which grids that end at 64 or 1024 miss.
    curve = RdpCurve(DEFAULT_ORDERS, np.minimum(DEFAULT_ORDERS * 0.01, 0.1153))
    assert 0.1153 - 2e-6 <= curve.epsilon(1e-6) <= 0.1154
    assert curve.best_order(1e-6) > 1e5


# Infinite orders and costs, and nothing at all


def test_infinite_order_is_pure_privacy():
    assert rdp_to_delta(INF, 0.5, 0.2) >= -math.expm1(-0.3)
    assert RdpCurve([2.0, INF], [0.5, 0.5]).delta(0.5) == 0
    assert RdpCurve([INF], [INF]).epsilon(1e-6) == INF  # not 0
    assert RdpCurve([INF], [0.5]).best_order(1e-6) == INF


@pytest.mark.parametrize("name", NAMES)
def test_infinite_cost(name):
    curve = RdpCurve([2.0, 8.0, 16.0], [0.5, 0.6, INF])
    assert curve.best_order(1e-6, name) == 8


@pytest.mark.parametrize("name", NAMES)
def test_nothing_released_costs_nothing(name):
    curve = gaussian(1.0, 0.0)
    assert curve.epsilon(1e-6, name) == 0
    assert curve.delta(0.0, name) == 0


@pytest.mark.filterwarnings("ignore:the best order")
def test_a_zero_between_costs_does_not_make_the_release_free():
    table = RdpCurve([2.0, 50.0], [0.0, 5.0])
    assert table.epsilon(1e-5) > 1
    assert table.values.tolist() == [5.0, 5.0]  # what 50 says of 2
    # Nor does it between the orders.
    assert table.at([1.5, 2.0, 3.0]).values.tolist() == [5.0, 5.0, 5.0]
    lifted = RdpCurve([0.5, 1.5, 2.0, 3.0, 4.0, INF], [0.0, 0.0, 3.0, 2.0, 2.0, INF])
    assert lifted.values.tolist() == [0.0, 2.0, 3.0, 2.0, 2.0, INF]
    assert RdpCurve([2.0, 3.0], [0.0, INF]).values.tolist() == [INF, INF]
    assert RdpCurve([2.0, 3.0], [0.0, 0.0]).epsilon(1e-5) == 0


def test_epsilon_is_never_negative():
    curve = gaussian(100.0)
    assert curve.epsilon(0.5) == 0
    assert curve.epsilon(math.nextafter(1, 0)) == 0


def test_small_costs_are_not_lost():
    # an order of 1 + 1e-8 must not turn a small divergence into 0
    assert rdp_to_epsilon(1 + 1e-8, 1e-9, 1e-6, "canonne") > 1e8


def test_delta_is_positive_where_the_truth_underflows():
    assert 0 < rdp_to_delta(1e6, 1.0, 100.0) < 1e-300


# Fail closed: what made other accountants answer 0, a negative number, or never


@pytest.mark.parametrize("bad", [NAN, -1e-9, -INF])
def test_bad_costs_are_refused(bad):
    with pytest.raises(ValueError, match=r"values must be .*got (nan|-)"):
        RdpCurve([2.0, 3.0], [0.1, bad])
    for convert in (rdp_to_epsilon, rdp_to_delta):
        with pytest.raises(ValueError, match=r"rdp must be .*got (nan|-)"):
            convert(2.0, bad, 0.1)


@pytest.mark.parametrize("bad", [NAN, 0.0, 1.0, 2.0, -0.1, INF])
def test_bad_delta_is_refused(bad):
    curve = gaussian(1.0)
    for method in (curve.epsilon, curve.best_order):
        with pytest.raises(ValueError, match="delta must be"):
            method(bad)
    with pytest.raises(ValueError, match="delta must be"):
        rdp_to_epsilon([2.0, 3.0], 1.0, [0.1, bad])


@pytest.mark.parametrize("bad", [NAN, -1.0, INF])
def test_bad_epsilon_is_refused(bad):
    with pytest.raises(ValueError, match="epsilon must be"):
        gaussian(1.0).delta(bad)
    with pytest.raises(ValueError, match="epsilon must be"):
        rdp_to_delta(2.0, 1.0, bad)


@pytest.mark.parametrize("bad", [NAN, 1.0, 0.5, 0.0, -2.0, -INF])
def test_bad_order_is_refused(bad):
    for convert in (rdp_to_epsilon, rdp_to_delta):
        with pytest.raises(ValueError, match="alpha must be"):
            convert(bad, 1.0, 0.1)


@pytest.mark.parametrize(
    ("alphas", "values"),
    [
        ([], []),
        ([2.0], [0.1, 0.2]),
        ([[2.0, 3.0]], [[0.1, 0.2]]),
        (2.0, 0.1),
        ([3.0, 2.0], [0.1, 0.1]),
        ([2.0, 2.0], [0.1, 0.1]),
        ([INF, INF], [0.1, 0.1]),
        ([NAN, 2.0], [0.1, 0.1]),
        ([0.0, 2.0], [0.1, 0.1]),
        ([-2.0, 2.0], [0.1, 0.1]),
    ],
)
def test_bad_curves_are_refused(alphas, values):
    with pytest.raises(ValueError, match="alphas"):
        RdpCurve(alphas, values)


def test_orders_up_to_one_are_kept_but_prove_nothing():
    curve = RdpCurve([0.5, 1.0, 8.0, 16.0, 32.0], [0.0, 0.0, 0.5, 0.9, 2.0])
    assert curve.best_order(1e-5) == 16
    only_small = RdpCurve([0.5, 1.0], [0.1, 0.2])
    for method in (only_small.epsilon, only_small.best_order, only_small.delta):
        with pytest.raises(ValueError, match="alphas must be greater than 1"):
            method(0.1)


@pytest.mark.parametrize("bad", ["1", None, 1j, True, [object()], np.longdouble(2)])
def test_only_real_numbers(bad):
    with pytest.raises((TypeError, ValueError)):
        RdpCurve([2.0], [bad])
    with pytest.raises((TypeError, ValueError)):
        rdp_to_epsilon(2.0, bad, 0.1)


@pytest.mark.parametrize("bad", ["optimal ", "", None, 3, ["canonne"]])
def test_unknown_conversions_are_named(bad):
    curve = gaussian(1.0)
    calls = [
        lambda: curve.epsilon(0.1, bad),
        lambda: curve.delta(0.1, bad),
        lambda: curve.best_order(0.1, bad),
        lambda: rdp_to_epsilon(2.0, 1.0, 0.1, bad),
        lambda: rdp_to_delta(2.0, 1.0, 0.1, bad),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"one of 'classic', .*'optimal'; got"):
            call()


def test_shapes():
    assert isinstance(rdp_to_epsilon(2.0, 1.0, 0.1), float)
    assert rdp_to_epsilon([[2.0], [3.0]], [1.0, 2.0, 3.0], 0.1).shape == (2, 3)
    assert rdp_to_delta(np.ones((0, 3)), np.ones(3), 0.1).shape == (0, 3)
    assert rdp_to_epsilon(np.float32(2), 1, np.float32(0.25)) == rdp_to_epsilon(2.0, 1.0, 0.25)
    with pytest.raises(ValueError, match="broadcast"):
        rdp_to_epsilon([2.0, 3.0], [1.0, 2.0, 3.0], 0.1)
