"""Compositions of few sums of losses, against all outputs in 60 digits."""

import math

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise.costs._few_sums import few_sums


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


def pair(rng, size):
    """Return probabilities of outputs under P and Q."""
    spread = np.full(size, 10 ** rng.uniform(-1, 1.3))
    return [masses / masses.sum() for masses in rng.dirichlet(spread, 2) + 1e-9]


def on_sample(losses, masses, rate):
    """Return losses and probabilities of a pair on a Poisson sample, in both directions."""
    forward, backward = [], []
    for loss, mass in zip(losses.tolist(), masses.tolist(), strict=True):
        other = mp.mpf(mass) * mp.exp(-mp.mpf(loss))
        mixed = (1 - mp.mpf(rate)) * other + mp.mpf(rate) * mass
        forward.append((mp.log(mixed / other), mixed))
        backward.append((mp.log(other / mixed), other))
    return forward, backward


def divergence(parts, epsilon):
    """Return the hockey-stick divergence of so many of each, output by output."""
    sums = {mp.mpf(0): mp.mpf(1)}
    for law, count in parts:
        for _ in range(count):
            longer = {}
            for total, mass in sums.items():
                for loss, p in law:
                    longer[total + loss] = longer.get(total + loss, 0) + mass * p
            sums = longer
    return mp.fsum(m * (1 - mp.exp(epsilon - x)) for x, m in sums.items() if x > epsilon)


@pytest.mark.parametrize("seed", range(25))
def test_every_output_is_counted(seed):
    rng = np.random.default_rng(seed)
    plan, ways = tn.Cost(), ([], [])
    for _ in range(rng.integers(1, 3)):
        p, q = pair(rng, rng.integers(2, 5))
        losses, count = np.log(p / q), int(rng.integers(1, 4))
        rate = float(rng.choice([1.0, 10 ** rng.uniform(-5, 0), 1 - 10 ** rng.uniform(-4, -1)]))
        cost = tn.Cost.of_losses(losses, p, adjacency="add-remove")
        plan += (cost if rate == 1 else cost.sampled(rate, "poisson")) * count
        for way, law in zip(ways, on_sample(losses, p, rate), strict=True):
            way.append((law, count))
    largest = max(sum(n * max(loss for loss, _ in law) for law, n in way) for way in ways)
    epsilon = float(rng.uniform() ** 2 * largest)
    truth = max(divergence(way, mp.mpf(epsilon)) for way in ways)
    lower, upper = plan.delta_bounds(epsilon)
    assert lower <= truth * (1 + mp.mpf(10) ** -14)
    assert upper >= truth * (1 - mp.mpf(10) ** -14)
    assert upper - lower <= 1e-10 * upper
    if 1e-30 < truth < 1:
        least, most = plan.epsilon_bounds(float(truth))
        assert least <= epsilon * (1 + 1e-12) + 1e-14
        assert most >= epsilon * (1 - 1e-12) - 1e-14


@pytest.mark.parametrize(("p", "n"), [(0.75, 100), (0.51, 4096), (0.999, 4096)])
@pytest.mark.parametrize("delta", [0.5, *by_night(1e-5), 1e-100])
def test_many_responses(p, n, delta):
    least, most = (tn.Cost.of_response(p) * n).epsilon_bounds(delta)
    assert 0 <= most - least <= 1e-9 * most  # factorials of thousands lose digits
    odds = mp.mpf(p) / (1 - mp.mpf(p))

    def truth(epsilon):
        total = mp.mpf(0)
        for k in range(n // 2, n + 1):
            loss = (2 * k - n) * mp.log(odds)
            if loss > epsilon:
                mass = mp.binomial(n, k) * mp.mpf(p) ** k * (1 - mp.mpf(p)) ** (n - k)
                total += mass * (1 - mp.exp(epsilon - loss))
        return total

    assert delta >= truth(mp.mpf(most))
    assert least == 0 or truth(mp.mpf(least)) >= delta


@pytest.mark.parametrize("k", [2, 3, 10, 10**6, 2**50])
def test_a_response_costs_no_less_than_its_odds(k, rng):
    near_all, near_none = 10.0 ** -rng.uniform(1, 15.9, (2, 30))
    truths = np.concatenate([1 - near_all, (1 + near_none) / k, rng.uniform(1 / k, 1, 30)])
    for p in truths[(truths > 1 / k) & (truths < 1)].tolist():
        cost, truth = tn.Cost.of_response(p, k), mp.mpf(p)
        other = (1 - truth) / (k - 1)
        if truth <= other:
            assert cost == tn.Cost()
            continue
        assert 0 <= cost.epsilon(0.0) / mp.log(truth / other) - 1 < 3e-15
        epsilon = cost.epsilon(0.0) * rng.uniform(0, 0.99)
        delta = max(truth - mp.exp(epsilon) * other, 0)
        lower, upper = cost.delta_bounds(epsilon)
        assert lower <= delta <= upper <= delta * (1 + 1e-12)


def test_a_probability_next_to_none_loses_no_digits(rng):
    for _ in range(100):
        p, loss = 10 ** -rng.uniform(5, 290), rng.uniform(0.1, 100)
        rest = mp.log1p(-mp.mpf(p)) - mp.log1p(-mp.mpf(p) * mp.exp(-loss))
        cost = tn.Cost.of_losses([loss, float(rest)], [p, 1 - p])
        epsilon = loss * rng.uniform(0.01, 0.99)
        delta = mp.mpf(p) * -mp.expm1(mp.mpf(epsilon) - loss)
        lower, upper = cost.delta_bounds(epsilon)
        assert lower <= delta <= upper <= delta * (1 + 1e-12)
        assert cost.delta(epsilon) >= delta


def test_outputs_that_only_one_has_count_in_full():
    cost = tn.Cost.of_losses([0.5, -0.5, math.inf], [0.55, 0.35, 0.1])
    lower, upper = (cost * 3).delta_bounds(100.0)
    assert lower == pytest.approx(1 - 0.9**3, rel=1e-10)
    assert lower <= 1 - 0.9**3 <= upper <= (1 - 0.9**3) * (1 + 1e-12)
    assert (cost * 3).epsilon_bounds(0.1) == (math.inf, math.inf)


@pytest.mark.parametrize("seed", [0, 1, 2, *by_night(*range(3, 8))])
def test_outputs_that_only_one_has_count_where_they_are_next_to_impossible(seed):
    rng = np.random.default_rng(seed)
    rare, loss, n = 10 ** rng.uniform(-17, -6), 10 ** rng.uniform(-2.5, 0), int(rng.integers(6000))
    p = (1 - rare) / (1 + math.exp(-loss))
    other = (1 - rare) / (1 + math.exp(loss))
    plan = tn.Cost.of_losses([math.inf, loss, -loss], [rare, p, other]) * n
    epsilon = math.sqrt(n) * loss * rng.uniform(2, 7)
    finite = mp.mpf(0)
    for k in range(n // 2, n + 1):
        gap = epsilon - mp.mpf(loss) * (2 * k - n)
        if gap < 0:
            mass = mp.binomial(n, k) * mp.mpf(p) ** k * mp.mpf(other) ** (n - k)
            finite += mass * (1 - mp.exp(gap))
    truth = 1 - (1 - mp.mpf(rare)) ** n + finite
    lower, upper = plan.delta_bounds(epsilon)
    assert lower <= truth * (1 + 1e-12)
    assert truth * (1 - 1e-12) <= upper <= lower * (1 + 1e-8)


def test_what_has_many_sums_is_left_to_others():
    ten = tn.Cost.of_response(0.5, 10)
    assert few_sums((ten * 300).terms) is not None
    assert few_sums((tn.Cost.of_response(0.6) * 5000).terms) is None
    p, q = pair(np.random.default_rng(1), 4)
    assert few_sums((tn.Cost.of_losses(np.log(p / q), p) * 200).terms) is None
    assert few_sums(tn.Gaussian(1.0).cost(sensitivity=1.0).terms) is None


def test_large_losses_that_cancel_log_masses_lose_no_digits_on_a_sample():
    rate = (
        0.25  # outputs that are all but certain under one, and all but impossible under the other
    )
    base = tn.Cost.of_losses([math.log(1e-9), 690.0], [1e-9, 1.0 - 1e-9], adjacency="add-remove")
    lower, upper = base.sampled(rate, "poisson").delta_bounds(0.1)
    p, q = mp.mpf(1e-9), mp.mpf(1e-9) * mp.exp(-mp.mpf(math.log(1e-9)))
    other = mp.mpf(1.0 - 1e-9) * mp.exp(-mp.mpf(690))
    x = mp.exp(mp.mpf(0.1))
    mixed = [(1 - rate) * q + rate * p, (1 - rate) * other + rate * mp.mpf(1.0 - 1e-9)]
    ahead = mp.fsum(max(m - x * u, 0) for m, u in zip(mixed, (q, other), strict=True))
    behind = mp.fsum(max(u - x * m, 0) for m, u in zip(mixed, (q, other), strict=True))
    assert lower <= max(ahead, behind) <= upper <= lower * (1 + 1e-11)


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_left_of_one_is_not_overestimated_on_a_sample(count):
    """Outputs that P never has are what Q has left, which rounding may be in part."""
    loss, mass, rate = -9.25, 2.0**-29, 0.5
    first = mp.mpf(mass) * mp.exp(-mp.mpf(loss))
    last = float(mp.log((1 - mp.mpf(mass)) / (1 - mp.mpf("2.8e-12") - first)))
    q = [first, (1 - mp.mpf(mass)) * mp.exp(-mp.mpf(last))]
    hidden = 1 - mp.fsum(q)
    near = mp.log(q[0] / (rate * (q[0] + mass)))
    epsilon = float((near + mp.log(2)) / 2 + (count - 1) * mp.log(2))
    law = [(mp.log(2), hidden), (near, q[0])]
    law.append((mp.log(q[1] / (rate * (q[1] + 1 - mp.mpf(mass)))), q[1]))
    truth = divergence([(law, count)], epsilon)
    once = tn.Cost.of_losses([loss, last], [mass, 1 - mass]).sampled(rate, "poisson")
    lower, upper = (once * count).delta_bounds(epsilon)
    assert lower <= truth <= upper
