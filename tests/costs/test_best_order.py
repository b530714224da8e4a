"""The best real order: against optima in 50 digits, and against every order of a fine grid."""

import math
from dataclasses import dataclass

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night

from tightnoise.costs import DEFAULT_ORDERS, RdpCurve, rdp_to_delta, rdp_to_epsilon
from tightnoise.costs._sampled_gaussian import SampledGaussianRdp

CONVERSIONS = ["classic", "canonne", "closed_form", "optimal"]
INF = float("inf")
FINE = 1 + np.geomspace(1e-9, 1e9, 3001)


@dataclass(frozen=True)
class Linear:
    """Gaussians, and what else is zero-concentrated."""

    rate: float

    def __call__(self, orders):
        return self.rate * orders


@dataclass(frozen=True)
class TwoPoints:
    """Randomised response: D rises to a limit, the probability ratio."""

    loss: float

    def __call__(self, orders):
        h = orders - 1
        # E_P (P/Q)^h = p e^(h loss) + (1 - p) e^(-h loss), with 1 - p = 1/(1 + e^loss)
        other = 1 / (1 + math.exp(self.loss))
        tilt = np.log1p(other * np.expm1(-2 * h * self.loss))
        return (self.loss + tilt / h) * (1 + 1e-12)


@dataclass(frozen=True)
class Vanishing:
    """No bound from some order on, as for subsampled mechanisms with heavy tails."""

    rate: float
    last: float

    def __call__(self, orders):
        return np.where(orders <= self.last, self.rate * orders, INF)


@dataclass(frozen=True)
class Bent:
    """A convex (alpha - 1) D with corners, as where several bounds meet or nodes are joined."""

    rate: float

    def __call__(self, orders):
        return self.rate * np.maximum.reduce([orders, 3 * (orders - 2), 9 * (orders - 5.5)])


FAMILIES = {
    "linear": lambda rate: Linear(rate),
    "two points": lambda rate: TwoPoints(min(max(rate, 1e-2), 300.0)),
    "vanishing": lambda rate: Vanishing(rate, 1 + 20 / math.sqrt(rate)),
    "bent": lambda rate: Bent(rate),
}


def formula(conversion, rate, delta=None, epsilon=None):
    """What `Linear(rate)` proves as a function of log(alpha - 1), by the formulas in the papers."""

    def value(x):
        h = mp.exp(x)
        alpha = 1 + h
        more = mp.log(h / alpha) - mp.log(alpha) / h if conversion == "canonne" else 0
        if epsilon is None:
            return rate * alpha + more - mp.log(delta) / h
        return h * (rate * alpha + more - epsilon)

    return value


def minimum(value, near):
    """The least value, where the derivative changes its sign; it does so once."""
    low, high = mp.mpf(near) - 1, mp.mpf(near) + 1
    for _ in range(110):
        middle = (low + high) / 2
        if value(middle + mp.mpf(10) ** -30) > value(middle - mp.mpf(10) ** -30):
            high = middle
        else:
            low = middle
    return value(low)


@pytest.mark.parametrize("conversion", ["classic", "canonne"])
@pytest.mark.parametrize("cases", [24, *by_night(60)])
def test_epsilon_of_a_gaussian_is_that_of_the_best_order(conversion, rng, check_error, cases):
    worst = 0.0
    with mp.workdps(60):
        for case in range(cases):
            sigma = 10 ** rng.uniform(-3, 4)
            exponent = rng.uniform(-300, 0) if case % 2 else rng.uniform(-12, 0)
            delta = min(10**exponent, 0.9)
            curve = RdpCurve.of_function(Linear(1 / (2 * sigma**2)))
            epsilon = curve.epsilon(delta, conversion)
            order = curve.best_order(delta, conversion)
            value = formula(conversion, mp.mpf(1 / (2 * sigma**2)), delta=mp.mpf(delta))
            best = minimum(value, math.log(order - 1))
            assert epsilon >= best
            if best > 0:
                terms = abs(best) + mp.log(1 / mp.mpf(delta)) / (mp.mpf(order) - 1) * mp.mpf(1e-4)
                worst = max(worst, float((epsilon - best) / terms))
            else:
                assert epsilon < 1e-14 * -math.log(delta) / (order - 1)
    check_error(f"epsilon at the best real order, {conversion}", worst, 5e-11)


@pytest.mark.parametrize("conversion", ["classic", "canonne"])
@pytest.mark.parametrize("cases", [24, *by_night(60)])
def test_delta_of_a_gaussian_is_that_of_the_best_order(conversion, rng, check_error, cases):
    worst = 0.0
    with mp.workdps(60):
        for _ in range(cases):
            sigma = 10 ** rng.uniform(-3, 4)
            rate = 1 / (2 * sigma**2)
            epsilon = rate * (1 + 10 ** rng.uniform(-3, 1)) + 10 ** rng.uniform(-1, 1.5) / sigma
            curve = RdpCurve.of_function(Linear(rate))
            delta = curve.delta(epsilon, conversion)
            # The order is not told: it is where K' = h epsilon has its solution, by the formula.
            value = formula(conversion, mp.mpf(rate), epsilon=mp.mpf(epsilon))
            near = min(np.linspace(-21, 21, 85), key=value)
            best = mp.exp(min(minimum(value, near), 0))
            assert delta >= best
            if best > 1e-290:
                worst = max(worst, float(delta / best - 1))
    check_error(f"delta at the best real order, {conversion}", worst, 5e-11)


@pytest.mark.parametrize("conversion", CONVERSIONS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("cases", [6, *by_night(20)])
def test_no_order_of_a_fine_grid_is_better(family, conversion, cases, rng, check_error):
    """Also for the conversions for which nothing is proven, and where there are corners."""
    worst_epsilon = worst_delta = 0.0
    for case in range(cases):
        function = FAMILIES[family](10 ** rng.uniform(-7, 4))
        curve = RdpCurve.of_function(function)
        delta = 10 ** rng.uniform(-300, 0) if case % 2 else 10 ** rng.uniform(-10, -1e-3)
        epsilon = curve.epsilon(delta, conversion)
        values = function(FINE)
        all_epsilons = rdp_to_epsilon(FINE, values, delta, conversion)
        order = curve.best_order(delta, conversion)
        near = np.minimum(1 + (order - 1) * np.linspace(0.99, 1.01, 401), 1 + 1e9)
        near_epsilons = rdp_to_epsilon(near, function(near), delta, conversion)
        best = min(all_epsilons.min(), near_epsilons.min())
        assert np.isfinite(best)
        worst_epsilon = max(worst_epsilon, (epsilon - best) / best if best else epsilon)
        assert epsilon == rdp_to_epsilon(order, function(np.array([order]))[0], delta, conversion)
        if epsilon == 0:
            continue
        loss = epsilon * rng.uniform(0.3, 1.7)
        best = rdp_to_delta(FINE, values, loss, conversion).min()
        if best > 1e-290:
            worst_delta = max(worst_delta, curve.delta(loss, conversion) / best - 1)
    check_error("epsilon of the best real order above that of any", worst_epsilon, 1e-10)
    check_error("delta of the best real order above that of any", worst_delta, 1e-10)


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_a_function_is_never_worse_than_its_table(conversion, rng):
    for sigma in np.geomspace(1e-2, 1e3, 25):
        function = RdpCurve.of_function(Linear(1 / (2 * sigma**2)))
        table = function.at(DEFAULT_ORDERS)
        delta = 10 ** rng.uniform(-15, -2)
        epsilon = function.epsilon(delta, conversion)
        assert epsilon <= table.epsilon(delta, conversion) * (1 + 1e-10)
        if epsilon > 0.01:
            assert table.epsilon(delta, conversion) <= 1.006 * epsilon
        assert function.delta(epsilon, conversion) <= delta * (1 + 1e-9)


def test_better_conversions_give_less():
    for sigma in np.geomspace(0.1, 1e3, 15):
        curve = RdpCurve.of_function(Linear(1 / (2 * sigma**2)))
        for delta in (1e-12, 1e-5, 0.1, 0.9):
            epsilons = [curve.epsilon(delta, name) for name in CONVERSIONS]
            assert sorted(epsilons, reverse=True) == pytest.approx(epsilons, rel=1e-10, abs=1e-14)
        for epsilon in (0.0, 0.1, 1.0, 30.0):
            deltas = [curve.delta(epsilon, name) for name in CONVERSIONS]
            assert sorted(deltas, reverse=True) == pytest.approx(deltas, rel=1e-10)


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_epsilon_is_smooth_and_monotone(conversion):
    """So that other searches can be made over it."""
    rates = 0.01 * (1 + np.arange(50) * 1e-8)
    epsilons = [RdpCurve.of_function(Linear(rate)).epsilon(1e-6, conversion) for rate in rates]
    steps = np.diff(epsilons)
    assert (steps > 0).all()
    assert steps.max() / steps.min() < 1.05


def test_epsilon_is_smooth_at_the_foot_of_a_wall():
    """The cost of high orders jumps where they see the sampled record; the best stands before."""
    rates = 2.987273221460199e-09 * (1 + 1e-13 * np.arange(20))
    found = [
        RdpCurve.of_terms([(SampledGaussianRdp(51.76825097332741, rate), 4399208)]).epsilon(
            2.8508459199557317e-09
        )
        for rate in rates
    ]
    assert np.ptp(found) < 1e-10 * found[0]


def test_the_answer_is_the_same_each_time():
    curve = RdpCurve.of_function(Linear(0.03))
    answers = {(curve.epsilon(1e-7), curve.best_order(1e-7), curve.delta(1.0)) for _ in range(3)}
    assert len(answers) == 1
    tripled = RdpCurve.of_terms([(Linear(0.01), 3)])
    assert tripled.epsilon(1e-7) == pytest.approx(curve.epsilon(1e-7), rel=1e-10)


def test_published_values():
    # noise 20 and delta 1e-5, by the best real order: 2.1657, 5.9785, 8.0784, 12.2997
    def many(count):
        return RdpCurve.of_terms([(Linear(1 / 800), count)])

    for count, epsilon in ((100, 2.1657), (600, 5.9785), (1000, 8.0784), (2000, 12.2997)):
        assert many(count).epsilon(1e-5, "canonne") == pytest.approx(epsilon, abs=5e-5)
        assert many(count).epsilon(1e-5, "optimal") == pytest.approx(epsilon, abs=5e-5)
    for count, epsilon in ((100, 2.5243), (600, 6.6270), (1000, 8.8371), (2000, 13.2298)):
        assert many(count).epsilon(1e-5, "classic") == pytest.approx(epsilon, abs=5e-5)


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_nothing_is_certain_where_there_is_no_bound(conversion):
    hopeless = RdpCurve.of_function(lambda orders: np.full(orders.shape, INF))
    assert hopeless.epsilon(1e-6, conversion) == INF
    assert hopeless.delta(3.0, conversion) == 1
    narrow = RdpCurve.of_function(lambda orders: np.where(orders < 1 + 1e-6, 1e-9, INF))
    assert narrow.best_order(1e-6, conversion) < 1 + 1e-6
    if conversion in ("classic", "canonne"):  # for the others the limit at order 1 is enough
        assert narrow.epsilon(1e-6, conversion) == pytest.approx(1.38e7, rel=0.1)


def test_few_calls():
    calls = []

    def counted(orders):
        calls.append(orders.size)
        return 0.02 * orders

    RdpCurve.of_function(counted).epsilon(1e-6)
    assert len(calls) <= 5
    assert sum(calls) <= 70


# What functions do wrong


class Trouble(Exception):
    """Raised by a function."""


def test_what_a_function_raises_comes_through():
    def fails(orders):
        if orders.size != 10:  # not in the first call
            raise Trouble("later")
        return 0.1 * orders

    curve = RdpCurve.of_function(fails)
    for method in (curve.epsilon, curve.best_order, curve.delta):
        with pytest.raises(Trouble, match="later"):
            method(0.1)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda a: np.full(a.shape, math.nan), "number; got nan|at least 0.*got nan"),
        (lambda a: -a, "at least 0.*got -"),
        (lambda a: np.where(a > 20, math.nan, a), "number; got nan|at least 0.*got nan at order"),
        (lambda a: a[1:], "must have the shape"),
        (lambda a: 1 / a**2, "a Renyi-DP curve is needed: .* decreases"),
        (lambda a: np.where(a < 3, INF, 0.1), "a Renyi-DP curve is needed"),
    ],
)
def test_bad_functions_give_no_answer(result, message):
    curve = RdpCurve.of_function(result)
    for method in (curve.epsilon, curve.best_order, curve.delta):
        with pytest.raises(ValueError, match=message):
            method(0.1)


# The ends of the search


def test_warns_at_the_ends_of_the_search():
    """The line of the caller, and what to do, where another order could save 0.1 percent."""
    bounded = RdpCurve.of_function(lambda orders: np.minimum(1e-12 * orders, 1e-10))
    with pytest.warns(UserWarning, match=r"largest that is searched \(1 \+ 1e\+09\).*table") as one:
        bounded.epsilon(1e-6, "classic")
    assert one[0].filename == __file__
    with pytest.warns(UserWarning, match=r"largest that is searched") as one:
        bounded.delta(1.2e-9, "classic")
    assert one[0].filename == __file__

    def steep(orders):
        with np.errstate(over="ignore"):
            return np.expm1(1e11 * (orders - 1)) / (orders - 1)

    curve = RdpCurve.of_function(steep)
    with pytest.warns(UserWarning, match=r"smallest that is searched \(1 \+ 1e-09\).*noise") as one:
        assert curve.best_order(1e-6, "canonne") == 1 + 1e-9
    assert one[0].filename == __file__


def test_does_not_warn_where_nothing_can_be_saved():
    for limit in (1e-3, 1.0, 100.0):
        pure = RdpCurve.of_function(TwoPoints(max(limit, 1e-2)))
        assert pure.best_order(1e-9) > 1e8
        assert pure.epsilon(1e-9) == pytest.approx(max(limit, 1e-2), rel=1e-5)
    for sigma in np.geomspace(1e-3, 1e4, 10):
        RdpCurve.of_function(Linear(1 / (2 * sigma**2))).epsilon(1e-6)
    for conversion in CONVERSIONS:
        assert RdpCurve.of_function(Linear(1e22)).epsilon(1e-6, conversion) >= 1e22
    nothing = RdpCurve.of_function(Linear(0.0))
    assert nothing.epsilon(1e-6) == 0
    assert nothing.delta(0.0) == 0
