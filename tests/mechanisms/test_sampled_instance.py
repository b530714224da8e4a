"""Costs of the sum of a random sample of known records, against the pairs of outputs in full."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from by_night import by_night
from instance_costs import bounded
from numpy.polynomial.legendre import leggauss

import tightnoise as tn
from tightnoise.mechanisms._sampled_sums import ColumnSums
from tightnoise.mechanisms._worst_place import worst_sums

ORDERS = np.array([1.3, 2.0, 2.5, 3.0, 5.0, 8.0, 13.5, 40.0, 1000.0])
NODES, WEIGHTS = leggauss(80)


def mechanism_of(kind: str, bound: float):
    return bounded(kind, 1.0, -bound, bound)


KINDS = ("rectified", "truncated", "sign", "quantized")


def masses(kind: str, mechanism, theta: float) -> np.ndarray:
    """Probabilities of outcomes, of which the law's likelihood ratios are those of the output."""
    if kind == "sign":
        return np.array([math.erfc(t / math.sqrt(2)) / 2 for t in (theta, -theta)])
    bound = mechanism.upper
    if kind == "quantized":
        letters = np.linspace(-bound, bound, mechanism.levels)
        return np.exp(mechanism.logpdf(letters, theta))
    inside = bound * WEIGHTS * np.exp(mechanism.logpdf(bound * NODES, theta))
    if kind == "truncated":
        return inside / inside.sum()
    ends = np.exp(mechanism.logpdf(np.array([-bound, bound]), theta))
    return np.concatenate([inside, ends])


def output(kind: str, mechanism, theta) -> np.ndarray:
    joint = np.ones(1)
    for number in theta:
        joint = np.multiply.outer(joint, masses(kind, mechanism, number)).reshape(-1)
    return joint


def divergences(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    log_ratio = np.log(p) - np.log(q)
    values = []
    for order in ORDERS:
        exponents = order * log_ratio + np.log(q)
        most = exponents.max()
        values.append((most + math.log(np.exp(exponents - most).sum())) / (order - 1.0))
    return np.array(values)


def worst(kind: str, mechanism, base, rate: float, steps) -> np.ndarray:
    """The greatest divergence, both directions, of records `steps` that join the sample of base."""
    base = np.asarray(base)
    found = np.zeros(ORDERS.size)
    without, sampled = 0.0, []
    for coins in itertools.product((0, 1), repeat=len(base)):
        theta = np.array(coins) @ base if len(base) else np.zeros(len(steps[0]))
        chance = rate ** sum(coins) * (1 - rate) ** (len(base) - sum(coins))
        sampled.append((chance, theta))
        without = without + chance * output(kind, mechanism, theta)
    for step in steps:
        present = sum(chance * output(kind, mechanism, t + step) for chance, t in sampled)
        mixture = (1 - rate) * without + rate * present
        both = divergences(mixture, without), divergences(without, mixture)
        found = np.maximum(found, np.maximum(*both))
    return found


def corners(change: np.ndarray) -> list[np.ndarray]:
    return [np.array(signs) * change for signs in itertools.product((-1, 1), repeat=change.size)]


@pytest.mark.parametrize("kind", KINDS)
def test_no_neighbour_of_known_records_costs_more(kind) -> None:
    """Records that join, corners and inner steps, and each record that leaves."""
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(6):
        d = 1 if kind in ("rectified", "truncated") else int(rng.integers(1, 3))
        bound, rate = rng.uniform(0.3, 2.0), 10 ** rng.uniform(-2.0, -0.05)
        mechanism = mechanism_of(kind, bound)
        change = 10 ** rng.uniform(-1.5, 0.5, d)
        rows = rng.uniform(-1, 1, (int(rng.integers(0, 6)), d)) * change
        cost = mechanism.sampled_cost_at(rows, rate, "poisson", coordinate_sensitivity=change)
        bounds = cost.rdp(ORDERS).values
        steps = [*corners(change), rng.uniform(-1, 1, d) * change]
        truth = worst(kind, mechanism, rows, rate, steps)
        for i in range(len(rows)):
            others = np.delete(rows, i, axis=0)
            truth = np.maximum(truth, worst(kind, mechanism, others, rate, [rows[i]]))
        assert np.all(truth <= bounds * (1 + 1e-9) + 1e-14), (bound, rate, change, rows)
        assert np.all(truth > 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [1.0, *by_night(-0.5)])
def test_a_sum_that_may_leave_its_interval(kind, share) -> None:
    """Many equal records: the number of those sampled is binomial, and so the mixtures known."""
    n, rate, change = 300, 0.1, 0.2
    mechanism = mechanism_of(kind, 0.5)
    contribution = share * change
    rows = np.full((n, 1), contribution)
    assert ColumnSums.of(rows).intervals(rate, 1e-8)[2] == 1e-8
    cost = mechanism.sampled_cost_at(rows, rate, "poisson", coordinate_sensitivity=change)
    bounds = cost.rdp(ORDERS).values
    for others, steps in ((n, (change, -change)), (n - 1, (contribution,))):
        counts = np.arange(others + 1)
        chances = [
            math.comb(others, k) * rate**k * (1 - rate) ** (others - k) for k in counts.tolist()
        ]
        without, *present = (
            sum(
                chance * output(kind, mechanism, [k * contribution + step])
                for k, chance in enumerate(chances)
                if chance > 1e-40
            )
            for step in (0.0, *steps)
        )
        for one in present:
            mixture = (1 - rate) * without + rate * one
            truth = np.maximum(divergences(mixture, without), divergences(without, mixture))
            assert np.all(truth <= bounds * (1 + 1e-9))


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_theta_that_is_known_all_corners_are_bounded(kind) -> None:
    rng = np.random.default_rng(10 + KINDS.index(kind))
    ratios = []
    for _ in range(12):
        d = 2 if kind in ("rectified", "truncated") else 3
        mechanism = mechanism_of(kind, rng.uniform(0.3, 2.0))
        rate, change = 10 ** rng.uniform(-3, -0.3), 10 ** rng.uniform(-1.5, 0.0, d)
        rows = np.zeros((3, d))
        cost = mechanism.sampled_cost_at(rows, rate, "poisson", coordinate_sensitivity=change)
        truth = worst(kind, mechanism, rows[:0], rate, corners(change))
        ratios.append(cost.rdp(ORDERS).values / truth)
    assert np.min(ratios) > 1 - 1e-9
    assert np.max(ratios) < 2.0
    assert np.median(np.array(ratios)[:, ORDERS == 3.0]) < 1.01


@pytest.mark.parametrize("kind", ["rectified", "truncated", "sign"])
def test_of_many_coordinates_integer_orders_are_attained(kind) -> None:
    """D(with || without) of the corner towards the centre: exact, all terms positive."""
    d, rate, theta, order = 1000, 0.01, 0.0, 9
    mechanism = mechanism_of(kind, 0.5)
    moments = np.arange(2, order + 1)
    divergence = d * mechanism.renyi_divergence(theta + d**-0.5, theta, moments)
    terms = (
        math.comb(order, k) * (1 - rate) ** (order - k) * rate**k * math.expm1((k - 1) * one)
        for k, one in zip(moments.tolist(), divergence, strict=True)
    )
    truth = math.log1p(math.fsum(terms)) / (order - 1)
    rows = np.zeros((1, d))
    cost = mechanism.sampled_cost_at(rows, rate, "poisson", coordinate_sensitivity=d**-0.5)
    assert truth <= cost.rdp([order]).values[0] <= truth * 1.001


def test_the_direction_without_the_record_first_can_be_the_greater_one() -> None:
    mechanism = tn.StochasticSign(1.0)
    rows = np.array([[0.15625]])  # in the sample or not: the worst of both is the one that counts
    truth = worst("sign", mechanism, np.zeros((0, 1)), 0.375, [np.array([3.75])])
    cost = mechanism.sampled_cost_at(rows, 0.375, "poisson", coordinate_sensitivity=3.75)
    assert np.all(truth <= cost.rdp(ORDERS).values)
    without = output("sign", mechanism, [0.15625])
    mixtures = [
        0.625 * without + 0.375 * output("sign", mechanism, [0.15625 + step])
        for step in (-3.75, 3.75)
    ]
    back = max(np.interp(11.0, ORDERS, divergences(without, mixture)) for mixture in mixtures)
    there = max(np.interp(11.0, ORDERS, divergences(mixture, without)) for mixture in mixtures)
    assert back > there


def test_a_thousand_coordinates() -> None:
    """The paper's method gives 844 for the first, as sampling saves nothing there."""
    rows = np.zeros((1, 1000))
    rectified, sign = tn.RectifiedGaussian(1.0, -0.5, 0.5), tn.StochasticSign(1.0)
    for mechanism, rate, steps, expected in (
        (rectified, 0.01, 1000, 1.7359),
        (rectified, 0.1, 100, 6.8132),
        (tn.TruncatedGaussian(1.0, -2.0, 2.0), 0.01, 1000, 1.6043),
        (sign, 0.01, 1000, 1.3405),
        (sign, 0.1, 100, 5.2901),
    ):
        cost = mechanism.sampled_cost_at(rows, rate, "poisson", coordinate_sensitivity=1000**-0.5)
        assert (cost * steps).epsilon(1e-5) == pytest.approx(expected, abs=1e-4)


def test_never_above_what_holds_for_all_data() -> None:
    mechanism = tn.RectifiedGaussian(1.0, -2.0, 2.0)
    rows = np.zeros((1, 1000))
    cost = mechanism.sampled_cost_at(rows, 0.01, "poisson", coordinate_sensitivity=1000**-0.5)
    everywhere = mechanism.cost(coordinate_sensitivity=np.full(1000, 1000**-0.5))
    everywhere = everywhere.sampled(0.01, "poisson") * 1000
    assert (cost * 1000).epsilon(1e-5) == everywhere.epsilon(1e-5)
    assert (cost * 1000).rdp().epsilon(1e-5) > everywhere.epsilon(1e-5)
    assert (cost * 1000).delta(1.0) <= everywhere.delta(1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_rate_next_to_1_is_no_sampling(kind) -> None:
    mechanism, theta = mechanism_of(kind, 0.8), np.zeros(3)
    here = mechanism.cost_at(theta, coordinate_sensitivity=0.3).rdp(ORDERS).values
    for rate, close in ((1.0, 1e-12), (1 - 1e-9, 1e-5)):
        cost = mechanism.sampled_cost_at(
            np.zeros((2, 3)), rate, "poisson", coordinate_sensitivity=0.3
        )
        whole = np.isin(ORDERS, np.arange(2, 9))
        np.testing.assert_allclose(cost.rdp(ORDERS).values[whole], here[whole], rtol=close)


def test_the_worst_place_is_never_missed() -> None:
    """Against a fine scan, for narrow and wide intervals, beside and off the bounds."""
    rng = np.random.default_rng(5)
    orders = np.array([2.0, 3.0, 8.0, 33.0, 500.0, np.inf])
    for kind in KINDS:
        for _ in range(4):
            mechanism = mechanism_of(kind, rng.uniform(0.2, 3.0))
            change = 10 ** rng.uniform(-3, 0.5)
            low = rng.uniform(-6, 4)
            high = low + 10 ** rng.uniform(-4, 0.7)
            ends = np.array([[low]]), np.array([[high]])
            (sums,) = worst_sums(mechanism._law, *ends, np.array(change), orders)
            t = np.linspace(low, high, 400)[:, np.newaxis]
            there, back = (
                np.maximum.reduce([pair(t, t + step) for step in (change, -change)]).max(axis=0)
                for pair in (
                    lambda a, b, m=mechanism: m.renyi_divergence(b, a, orders),
                    lambda a, b, m=mechanism: m.renyi_divergence(a, b, orders),
                )
            )
            assert np.all(sums >= [there, back])
            gaussian = 0.5 * orders * change**2
            assert np.all((sums - [there, back])[:, :-1] <= 0.1 * gaussian[:-1])


def test_coordinates_of_different_laws_are_added_up() -> None:
    rng = np.random.default_rng(6)
    sigma, change = rng.choice([0.7, 1.3], 20), rng.choice([0.1, 0.2], 20)
    mechanism = tn.TruncatedGaussian(sigma, -1.0, 1.0)
    low = rng.uniform(-1, 1, 20)
    high = low + rng.choice([0.0, 0.3], 20)
    orders = np.array([2.0, 7.0, np.inf])
    whole = worst_sums(mechanism._law, low[None], high[None], change, orders)
    parts = sum(
        worst_sums(
            tn.TruncatedGaussian(s, -1.0, 1.0)._law,
            low[None, i : i + 1],
            high[None, i : i + 1],
            c,
            orders,
        )
        for i, (s, c) in enumerate(zip(sigma, change, strict=True))
    )
    np.testing.assert_allclose(whole, parts, rtol=1e-9)


def test_sums_of_samples_leave_their_intervals_as_seldom_as_is_said() -> None:
    """All samples of few records, and Bernoulli sums of many, of all records and of all but one."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        n, rate = int(rng.integers(1, 10)), rng.uniform(0.02, 0.98)
        failure = 10 ** rng.uniform(-4, -0.3)
        rows = rng.standard_t(2, (n, 1))
        low, high, failed = ColumnSums.of(rows).intervals(rate, failure)
        for base in (rows, *(np.delete(rows, i, axis=0) for i in range(n))):
            outside = 0.0
            for coins in itertools.product((0, 1), repeat=len(base)):
                total = math.fsum(np.array(coins) * base[:, 0])
                chance = rate ** sum(coins) * (1 - rate) ** (len(base) - sum(coins))
                outside += chance * (not low[0] <= total <= high[0])
            assert outside <= failed + 1e-12
    n, rate = 400, 0.05
    low, high, failed = ColumnSums.of(np.ones((n, 1))).intervals(rate, 1e-3)
    inside = range(math.ceil(low[0]), math.floor(high[0]) + 1)
    chance = sum(math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in inside)
    assert 0 < 1 - chance <= failed == 1e-3
    assert high[0] < 50


def test_arrays_of_one_precision_and_memory_order_count_alike() -> None:
    rows = np.random.default_rng(8).uniform(-0.1, 0.1, (50, 7)).astype(np.float32)
    mechanism = tn.StochasticSign(1.0)
    first, second = (
        mechanism.sampled_cost_at(given, 0.1, "poisson", coordinate_sensitivity=0.1001)
        for given in (rows, np.asfortranarray(rows.astype(np.float64)))
    )
    np.testing.assert_allclose(first.rdp(ORDERS).values, second.rdp(ORDERS).values, rtol=1e-9)
    assert first.adjacency == "add-remove"
    ledger = tn.InstanceLedger(history="fixed").compose(first, 3)
    assert ledger.epsilon(1e-5) == pytest.approx((first * 3).rdp().epsilon(1e-5), rel=1e-9)


def test_only_what_nobody_changes_is_free() -> None:
    mechanism = tn.StochasticSign(1.0)
    rows = np.zeros((0, 2))
    cost = mechanism.sampled_cost_at(rows, 0.5, "poisson", coordinate_sensitivity=0.0)
    assert cost.epsilon(1e-9) == 0.0
    cost = mechanism.sampled_cost_at(rows, 0.5, "poisson", coordinate_sensitivity=[0.1, 1e-160])
    assert cost.rdp([2.0]).values[0] > 0.0


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"rows": np.zeros(4)}, ValueError, r"rows must be of shape \(records, coordinates\)"),
        ({"rows": np.zeros((3, 0))}, ValueError, "rows must be of at least one coordinate"),
        ({"rows": np.full((3, 4), np.nan)}, ValueError, "rows must be finite; got nan"),
        ({"rows": np.full((3, 4), 0.2)}, ValueError, "coordinate_sensitivity must be at least"),
        ({"rate": 0.0}, ValueError, "rate must be greater than 0 and at most 1"),
        ({"sampling": "fixed-size"}, ValueError, "sampling must be 'poisson'"),
        ({"sampling": "shuffled"}, ValueError, "no pair is known"),
        ({"adjacency": "replace-one"}, ValueError, "adjacency must be 'add-remove'"),
        ({"coordinate_sensitivity": [0.1, 0.1]}, ValueError, "coordinate_sensitivity"),
        ({"coordinate_sensitivity": -0.1}, ValueError, "coordinate_sensitivity"),
        ({"coordinate_sensitivity": None}, TypeError, "sensitivity or coordinate_sensitivity"),
        ({"sensitivity": 0.1, "rows": np.full((3, 4), 0.09)}, ValueError, "sensitivity must be"),
    ],
)
def test_what_is_refused(changed, error, said) -> None:
    given = {
        "rows": np.zeros((3, 4)),
        "rate": 0.1,
        "sampling": "poisson",
        "coordinate_sensitivity": 0.1,
        **changed,
    }
    rows, rate, sampling = (given.pop(name) for name in ("rows", "rate", "sampling"))
    with pytest.raises(error, match=said):
        tn.StochasticSign(1.0).sampled_cost_at(rows, rate, sampling, **given)


def test_other_noise_is_refused() -> None:
    with pytest.raises(TypeError, match="got Gaussian"):
        tn.Gaussian(1.0).sampled_cost_at([[0.0]], 0.1, "poisson", sensitivity=1.0)


def test_a_norm_alone() -> None:
    rows = np.array([[0.6, 0.8], [0.0, -1.0]])
    mechanism = tn.RectifiedGaussian(1.0, -0.5, 0.5)
    cost = mechanism.sampled_cost_at(rows, 0.2, "poisson", sensitivity=1.0)
    box = mechanism.sampled_cost_at(rows, 0.2, "poisson", coordinate_sensitivity=1.0)
    assert np.all(cost.rdp(ORDERS).values <= box.rdp(ORDERS).values * (1 + 1e-9))
    steps = [np.array([math.cos(a), math.sin(a)]) for a in np.linspace(0, 2 * math.pi, 9)]
    truth = worst("rectified", mechanism, rows, 0.2, steps)
    assert np.all(truth <= cost.rdp(ORDERS).values * (1 + 1e-9))


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**520])
def test_numbers_whose_squares_are_no_floats(scale) -> None:
    """Norms were infinite, or 0: sums that were certain, and no sensitivity that was enough."""
    rows = np.random.default_rng(3).uniform(-0.1, 0.1, (40, 2))
    ours, theirs = (ColumnSums.of(rows * unit) for unit in (1.0, scale))
    np.testing.assert_allclose(theirs.longest / scale, ours.longest, rtol=1e-14)
    for there, here in zip(theirs.intervals(0.1, 1e-8), ours.intervals(0.1, 1e-8), strict=True):
        if np.ndim(here):
            np.testing.assert_allclose(there / scale, here, rtol=1e-13)
    mechanism = tn.RectifiedGaussian(scale, -0.5 * scale, 0.5 * scale)
    bounds = {"coordinate_sensitivity": 0.1 * scale, "sensitivity": 0.2 * scale}
    assert mechanism.sampled_cost_at(rows * scale, 0.1, "poisson", **bounds).epsilon(1e-5) < 1
    bounds["sensitivity"] = 0.05 * scale
    with pytest.raises(ValueError, match=r"^sensitivity must be at least \d.*e.*, the norm"):
        mechanism.sampled_cost_at(rows * scale, 0.1, "poisson", **bounds)
