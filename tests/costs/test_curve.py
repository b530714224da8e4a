"""Curves: sums of functions, what lies between the orders, and the best order."""

import copy
import math
import pickle
import warnings
from dataclasses import dataclass
from typing import ClassVar

import mpmath as mp
import numpy as np
import pytest

from tightnoise.costs import DEFAULT_ORDERS, RdpCurve

NAN, INF = float("nan"), float("inf")
ORDERS = np.array([1.5, 2.0, 4.0, 8.0, 16.0, 32.0])


@dataclass(frozen=True)
class Linear:
    """The cost of a Gaussian, or any other zero-concentrated one."""

    rate: float

    def __call__(self, orders):
        return self.rate * orders


@dataclass(frozen=True)
class Summed(Linear):
    """The same, with a way to evaluate many at once."""

    calls: ClassVar[list] = []

    @classmethod
    def weighted_sum(cls, functions, counts, orders):
        cls.calls.append(len(functions))
        total = sum(f.rate * count for f, count in zip(functions, counts, strict=True))
        return total * orders * (1 + 1e-15)


class Unhashable:
    """A function that cannot be a key."""

    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("compared")

    def __call__(self, orders):
        return orders


def gaussian(noise, count=1.0, orders=DEFAULT_ORDERS):
    return RdpCurve(orders, orders * (count / (2 * noise**2)))


def total(*terms):
    """The curve of functions, each so many times."""
    return RdpCurve.of_terms(terms)


# Is it a curve at all?


@pytest.mark.parametrize(
    ("alphas", "values"),
    [
        ([2.0, 3.0], [1.0, 0.49]),
        ([2.0, 3.0], [1.0, 0.5 * (1 - 2e-9)]),
        ([2.0, 3.0, 4.0], [0.1, 1.0, 0.6]),
        ([2.0, 3.0], [INF, 1.0]),
        ([2.0, 3.0], [1e-100, 0.0]),
        ([2.0, INF], [1.0, 0.0]),
        ([1.0, 2.0, 3.0], [5.0, 1.0, 0.1]),
    ],
)
def test_what_decreases_is_no_curve(alphas, values):
    with pytest.raises(ValueError, match=r"values must be a Renyi-DP curve.*before order"):
        RdpCurve(alphas, values)


@pytest.mark.parametrize(
    ("alphas", "values"),
    [
        ([2.0, 3.0], [1.0, 0.5]),
        ([2.0, 3.0], [1.0, 0.5 * (1 - 0.9e-9)]),
        ([2.0, INF], [1.0, 0.1]),  # loose at 2, no contradiction
        ([2.0, INF], [INF, 0.1]),
        ([2.0, 3.0, INF], [0.0, 0.0, 0.0]),
        ([0.5, 1.0, 2.0], [3.0, 2.0, 0.1]),  # up to 1 the product says nothing
        ([1.0, 2.0], [INF, 0.1]),
        ([2.0, 3.0], [INF, INF]),
    ],
)
def test_what_may_be_a_curve(alphas, values):
    assert np.array_equal(RdpCurve(alphas, values).values, values)


def vanishing(order, cost=0.02):
    """A cost that underflows below an order, as sloppy functions do for small sampling rates."""
    return lambda orders: np.where(orders < order, 0.0, cost * orders)


@pytest.mark.filterwarnings("ignore:the best order")
@pytest.mark.parametrize("order", [1.01, 2.5, 17.0, 900.0, 2e4])
def test_a_function_that_vanishes_at_small_orders_is_not_free(order):
    linear = RdpCurve.of_function(lambda orders: 0.02 * orders)
    curve = RdpCurve.of_function(vanishing(order))
    for delta in (1e-3, 1e-9):
        least = linear.epsilon(delta)
        assert curve.epsilon(delta) >= least
        both = total(*curve.terms, (vanishing(3.0, 1e-9), 1))
        assert both.epsilon(delta) >= least
    assert curve.delta(0.1) >= linear.delta(0.1) * (1 - 1e-10)
    assert RdpCurve.of_function(vanishing(order, 0.0)).epsilon(1e-6) == 0


# Between the orders


def bernoulli(orders, p=0.7, q=0.2):
    """A true curve, in 50 digits, rounded to nearest."""
    with mp.workdps(50):
        pairs = [(mp.mpf(p), mp.mpf(q)), (1 - mp.mpf(p), 1 - mp.mpf(q))]
        value = [
            mp.log(mp.fsum(x ** mp.mpf(a) * y ** (1 - mp.mpf(a)) for x, y in pairs))
            / (mp.mpf(a) - 1)
            for a in orders
        ]
        return np.array([float(x) for x in value])


def test_between_orders_a_table_is_above_the_true_curve(rng):
    nodes = np.unique(1 + 10 ** rng.uniform(-3, 2, 12))
    orders = np.unique(np.concatenate([1 + 10 ** rng.uniform(-4, 2.2, 300), nodes]))
    p, q = 0.7, 0.2
    curve = RdpCurve(np.append(nodes, INF), np.append(bernoulli(nodes), math.log(p / q)))
    truth, got = bernoulli(orders), curve.at(np.append(orders, INF)).values
    assert (got[:-1] >= truth * (1 - 1e-15)).all()
    assert got[-1] == math.log(p / q)
    inside = (orders > nodes[0]) & (orders < nodes[-1])
    assert got[:-1][inside].max() < got[-1]
    assert (
        got[:-1][inside] <= curve.at(nodes).values[np.searchsorted(nodes, orders[inside])]
    ).all()
    assert np.array_equal(curve.at(nodes).values, curve.values[:-1])
    assert (got[:-1][orders < nodes[0]] == curve.values[0]).all()
    assert (got[:-1][orders > nodes[-1]] == curve.values[-1]).all()


def test_between_orders_it_is_the_chord_of_the_product(rng, check_error):
    """Against the chord in 50 digits, at orders however close to 1 or to the nodes."""
    worst = 0.0
    with mp.workdps(50):
        for _ in range(300):
            p, order, q = np.sort(1 + 10 ** rng.uniform(-12, 8) * (1 + 10 ** rng.uniform(-8, 3, 3)))
            low = 10 ** rng.uniform(-12, 5)
            high = low * 10 ** rng.uniform(0, 20)
            if not p < order < q:
                continue
            got = RdpCurve([p, q], [low, high]).at([order]).values[0]
            a, b, x = mp.mpf(p), mp.mpf(q), mp.mpf(order)
            chord = ((a - 1) * mp.mpf(low) * (b - x) + (b - 1) * mp.mpf(high) * (x - a)) / (b - a)
            excess = mp.mpf(got) / (chord / (x - 1)) - 1
            assert excess >= 0 or got == high
            worst = max(worst, abs(float(excess)))
    check_error("a table between its orders", worst, 4e-15)


def test_beyond_its_orders_a_table_proves_nothing():
    table = RdpCurve([2.0, 3.0], [0.5, 0.6])
    assert table.at([0.5, 1.0, 1.5, 3.5, INF]).values.tolist() == [0.5, 0.5, 0.5, INF, INF]
    pure = RdpCurve([2.0, 3.0, INF], [0.5, INF, 0.7])
    assert pure.at([2.5, 1e9]).values.tolist() == pytest.approx([0.95 / 1.5, 0.7])
    assert pure.at([3.0]).values[0] == 0.7  # what the table says of infinity holds there too
    low = RdpCurve([0.5, 1.0, 2.0], [0.1, 0.2, 0.4])
    assert low.at([0.3, 0.75, 1.5]).values.tolist() == [0.1, 0.2, 0.4]
    loose = RdpCurve([2.0, 3.0], [0.5, 0.3])
    assert loose.at([1.5, 2.0, 2.5]).values.tolist() == [0.3, 0.3, 0.3]


def test_orders_that_are_read_are_checked():
    for bad in ([], [3.0, 2.0], [[2.0]], [NAN], [0.0]):
        with pytest.raises(ValueError, match="alphas"):
            RdpCurve([2.0, 4.0], [0.2, 0.4]).at(bad)


# Functions of a real order


def test_a_function_is_read_at_the_alphas():
    curve = RdpCurve.of_function(Linear(0.25), alphas=[0.5, 1.0, 2.0, 8.0, INF])
    assert curve.is_continuous
    assert curve.terms == ((Linear(0.25), 1),)
    assert curve.values[2:].tolist() == [0.5, 2.0, INF]
    assert (curve.values[:2] > 0.25).all()  # D does not decrease: that at nearly 1
    assert (curve.values[:2] < 0.25 * (1 + 1e-9)).all()
    assert curve.values is curve.values
    assert not curve.values.flags.writeable
    assert np.array_equal(curve.at([3.0, 4.0]).values, [0.75, 1.0])
    assert not curve.at([3.0]).is_continuous
    assert RdpCurve.of_function(Linear(0.25)).alphas is DEFAULT_ORDERS
    table = RdpCurve([2.0], [0.1])
    assert not table.is_continuous
    assert table.terms == ()


def test_sums_of_functions_merge_equal_ones():
    a, b = Linear(0.25), Linear(0.5)
    curve = total((a, 1), (b, 3), (a, 4), (Linear(0.5), 1))
    assert curve.terms == ((a, 5), (b, 4))
    assert curve.at([2.0]).values[0] == pytest.approx(6.5, rel=1e-14)
    assert curve.at([2.0]).values[0] >= 6.5
    nothing = total((a, 0))
    assert nothing.terms == ()
    assert nothing.is_continuous
    assert not nothing.values.any()
    assert nothing.epsilon(1e-6) == 0
    assert nothing.delta(0.0) == 0
    assert total((a, 2**53)).terms == ((a, 2**53),)
    unhashable = Unhashable()
    assert total((unhashable, 1), (unhashable, 1)).terms == ((unhashable, 2),)


def test_a_curve_of_terms_is_their_sum():
    a, b = Linear(0.25), Summed(0.5)
    curve = RdpCurve.of_terms([(a, 2), (b, 1), (a, np.int64(3)), (b, 0)])
    assert curve.terms == ((a, 5), (b, 1))
    assert curve.values == pytest.approx(1.75 * DEFAULT_ORDERS, rel=1e-14)
    assert RdpCurve.of_terms([]).epsilon(1e-6) == 0
    for count in (-1, 2**53 + 1):
        with pytest.raises(ValueError, match="count must be between 0 and"):
            RdpCurve.of_terms([(a, count), (a, 2)])
    for terms in ([(a, 1.5)], [(a, True)], [(a, "1")]):
        with pytest.raises(TypeError, match="count must be an integer"):
            RdpCurve.of_terms(terms)
    with pytest.raises(TypeError, match="function must be callable; got 3"):
        RdpCurve.of_terms([(3, 1)])


def test_sums_are_above_the_truth(rng):
    rates = 10 ** rng.uniform(-12, 3, 20)
    counts = rng.integers(1, 10**6, 20)
    for kind in (Linear, Summed):
        terms = [(kind(float(rate)), int(count)) for rate, count in zip(rates, counts, strict=True)]
        curve = total((kind(1e-9), 1), *terms)
        orders = np.array([1.5, 2.0, 300.0])
        with mp.workdps(40):
            exact = mp.mpf(1e-9) + mp.fsum(
                mp.mpf(r) * int(c) for r, c in zip(rates, counts, strict=True)
            )
            for order, value in zip(orders, curve.at(orders).values, strict=True):
                assert 1 <= mp.mpf(value) / (exact * order) <= 1 + mp.mpf(1e-14)


def test_one_call_evaluates_all_functions_of_a_class():
    curve = total((Linear(7.0), 1), *((Summed(float(rate)), 2) for rate in range(1, 11)))
    Summed.calls.clear()
    assert curve.at([2.0]).values[0] == pytest.approx(14.0 + 220.0, rel=1e-14)
    assert Summed.calls == [10]


def test_infinite_order_is_what_each_function_says_of_it():
    @dataclass(frozen=True)
    class Bounded:
        max_divergence: float

        def __call__(self, orders):
            return np.minimum(0.1 * orders, self.max_divergence)

    curve = total((Bounded(0.7), 3), (Bounded(0.4), 1))
    assert 2.5 <= curve.at([2.0, INF]).values[1] <= 2.5 * (1 + 1e-15)
    with_unbounded = total(*curve.terms, (lambda orders: 0.1 * orders, 1))
    assert with_unbounded.at([INF]).values[0] == INF
    for bad in (NAN, -1.0, "much"):
        with pytest.raises((ValueError, TypeError), match=r"max_divergence of .*Bounded"):
            RdpCurve.of_function(Bounded(bad)).at([INF])
    with pytest.raises(ValueError, match="decreas"):
        RdpCurve.of_function(_Contradicting()).at([2.0, INF])


class _Contradicting:
    max_divergence = 0.0

    def __call__(self, orders):
        return 0.1 * orders


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda n: np.full(n, NAN), "must be .*nan"),
        (lambda n: np.full(n, -1e-9), "at least 0.*got -1e-09 at order"),
        (lambda n: np.append(np.full(n - 1, 0.1), NAN), "must be .*nan"),
        (lambda n: np.full(n + 1, 0.1), "must have the shape"),
        (lambda n: 0.1, "must have the shape"),
        (lambda n: np.full((n, 1), 0.1), "must have the shape"),
        (lambda n: -np.arange(n) + 1e6, None),
        (lambda n: np.geomspace(1e30, 1e-30, n), "must be a Renyi-DP curve"),
    ],
)
def test_bad_functions_are_refused(result, message):
    def careless(orders):
        return result(orders.size)

    curve = RdpCurve.of_function(careless)
    calls = [lambda: curve.values, lambda: total((careless, 3)).values]
    calls.append(lambda: curve.at(np.linspace(1.5, 99.0, 33)))
    for call in calls:
        if message:
            with pytest.raises(
                ValueError, match=f"what .* returns? {message}|what .*careless.* {message}"
            ):
                call()
        else:
            call()


def test_functions_may_be_of_any_real_dtype_but_nothing_else():
    for dtype in (np.float32, np.int64):
        curve = RdpCurve.of_function(lambda a, d=dtype: (8 * a).astype(d))
        assert curve.at([2.0]).values[0] == 16
    assert RdpCurve.of_function(lambda a: list(a)).at([2.0]).values[0] == 2
    for bad in (lambda a: a + 1j, lambda a: a > 2, lambda a: a.astype(str), lambda a: None):
        with pytest.raises(TypeError, match=r"what <function .* returns must hold real num"):
            RdpCurve.of_function(bad).at([2.0])
    with pytest.raises(TypeError, match="function must be callable; got 3"):
        RdpCurve.of_function(3)
    with pytest.raises(TypeError, match=r"terms must be pairs of a function and a count; got 0\.5"):
        RdpCurve.of_terms([0.5])

    def writes(orders):
        orders[0] = 2.0
        return orders

    with pytest.raises(ValueError, match="read-only"):
        RdpCurve.of_function(writes).at([3.0])


def test_functions_may_return_their_argument():
    def same(orders):
        return orders

    assert np.array_equal(total((same, 1)).at([2.0, 3.0]).values, [2.0, 3.0])
    assert np.array_equal(total((same, 2)).at([2.0, 3.0]).values, np.nextafter([4.0, 6.0], INF))


def test_copies_of_continuous_curves():
    curve = RdpCurve.of_terms([(Linear(0.25), 5)], alphas=[2.0, 3.0])
    for same in (copy.copy(curve), copy.deepcopy(curve), pickle.loads(pickle.dumps(curve))):
        assert same.terms == curve.terms
        assert same.is_continuous
        assert np.array_equal(same.values, curve.values)
        with pytest.raises(AttributeError):
            same.values = np.zeros(2)
        with pytest.raises(AttributeError):
            del same._function


def test_reprs_say_what_it_is():
    a, b = Linear(0.25), Linear(0.5)
    named = "RdpCurve(any order, Linear(rate=0.25) + 3 * Linear(rate=0.5))"
    assert repr(total((a, 1), (b, 3))) == named
    assert repr(total()) == "RdpCurve(any order, nothing)"
    many = total(*((Linear(rate), 1) for rate in (0.25, 0.5, 1.0, 2.0, 3.0)))
    assert repr(many).endswith("+ Linear(rate=1.0) + 2 more)")
    assert repr(RdpCurve([2.0], [1.0])) == "RdpCurve(1 orders from 2 to 2)"


def test_curves_do_not_change():
    alphas, values = np.array([2.0, 3.0]), np.array([0.1, 0.2])
    curve = RdpCurve(alphas, values)
    alphas[0] = values[0] = 0
    assert curve.values[0] == 0.1
    assert curve.alphas[0] == 2
    for same in (curve, copy.deepcopy(curve), pickle.loads(pickle.dumps(curve))):
        assert np.array_equal(same.values, [0.1, 0.2])
        for array in (same.alphas, same.values):
            assert array.dtype == np.float64
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        with pytest.raises(AttributeError):
            same.values = np.zeros(2)
        with pytest.raises((AttributeError, TypeError)):
            same.other = 1
    assert repr(curve) == "RdpCurve(2 orders from 2 to 3)"


# The edge of the grid


def test_warns_where_wider_orders_would_help():
    with pytest.warns(UserWarning, match=r"largest .*\(64\).* larger orders") as caught:
        gaussian(1000, orders=np.arange(2.0, 65.0)).epsilon(1e-6)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=r"smallest .*\(2\).* smaller orders") as caught:
        gaussian(0.1, orders=np.arange(2.0, 65.0)).best_order(1e-6)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="largest") as caught:
        gaussian(1000, orders=np.arange(2.0, 65.0)).delta(0.05)
    assert caught[0].filename == __file__


def test_does_not_warn_where_they_would_not():
    flat = RdpCurve(DEFAULT_ORDERS, np.full(DEFAULT_ORDERS.size, 0.3))
    assert flat.best_order(1e-6) == DEFAULT_ORDERS[-1]
    for noise in np.geomspace(1e-3, 1e2, 20):
        gaussian(noise).epsilon(1e-6)
    RdpCurve([2.0, 4.0, INF], [0.3, 0.3, 0.3]).epsilon(1e-6)


def test_default_orders_are_close_to_the_best_real_order(check_error):
    """What the docstring of DEFAULT_ORDERS promises of Gaussians."""
    worst = 0.0
    for noise in np.geomspace(0.01, 1e3, 60):
        for delta in (1e-3, 1e-5, 1e-15, 1e-30):
            best = RdpCurve.of_function(Linear(1 / (2 * noise**2))).epsilon(delta)
            if best > 0.01:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    worst = max(worst, gaussian(noise).epsilon(delta) / best - 1)
    check_error("epsilon at the default orders", worst, 6e-3)
