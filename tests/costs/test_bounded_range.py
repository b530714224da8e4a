"""Releases of bounded range, each chosen by what was released before: no strategy costs more."""

import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise.costs._bounded_range import BoundedRange, in_blocks


def response(eta, t):
    """Probabilities under P of the losses t and t - eta, with these."""
    p = -np.expm1(t - eta) / -np.expm1(-eta)
    return ((p, t), (1 - p, t - eta))


def profile_of_one(eta, x):
    """In closed form; of negative x by swapping the neighbours."""
    x = np.asarray(x, dtype=float)
    gap = -np.expm1(np.minimum(0.5 * (np.abs(x) - eta), 0.0))
    delta = gap * gap / -np.expm1(-eta)
    return np.where(x >= 0, delta, -np.expm1(-np.abs(x)) + np.exp(-np.abs(x)) * delta)


def one_more(profile, eta, x, points):
    """The largest mean over t on a fine grid, at x."""
    t = np.linspace(0.0, eta, points)
    p = -np.expm1(t - eta) / -np.expm1(-eta)
    x = np.asarray(x, dtype=float)[..., np.newaxis]
    return (p * profile(x - t) + (1 - p) * profile(x - t + eta)).max(axis=-1)


@pytest.mark.parametrize("eta", [1e-3, 0.2, 2.0, 30.0])
def test_two_and_three_against_a_search(eta):
    cost = tn.Cost.of_bounded_range(eta)

    def two(x):
        return one_more(lambda y: profile_of_one(eta, y), eta, x, 501)

    for count, profile in ((2, two), (3, lambda x: one_more(two, eta, x, 601))):
        for x in count * eta * np.array([0.0, 0.1, 0.4, 0.8, 0.97]):
            truth = float(profile(x))
            lower, upper = (cost * count).delta_bounds(x)
            assert lower <= truth * (1 + 1e-3)  # as near as the search is
            assert truth <= upper
            assert upper - lower <= 2e-2 * upper + 1e-12
    assert (cost * 2).delta(2 * eta * (1 + 1e-12)) == 0


@pytest.mark.parametrize("eta", [1e-3, 0.5, 3.0])
def test_two_off_the_lattice(eta):
    """The mean is concave in t, in which it is a sum of V_1's closed forms: a finer search."""
    cost = tn.Cost.of_bounded_range(eta) * 2
    for x in 2 * eta * np.array([0.0, 1e-4, 0.00171, 0.1234567, 0.345678, 0.7891]):
        truth = float(one_more(lambda y: profile_of_one(eta, y), eta, x, 400_001))
        lower, upper = cost.delta_bounds(x)
        assert lower <= truth * (1 + 1e-9)
        assert truth <= upper
        assert upper - lower <= 1e-3 * upper


@pytest.mark.parametrize("eta", [1e-322, 1e-300, 1e-165, *by_night(1e-158, 1e-100)])
@pytest.mark.parametrize("count", [1, 2, 257])
def test_next_to_nothing_is_not_nothing(eta, count):
    cost = tn.Cost.of_bounded_range(eta) * count
    assert cost.delta(0.0) >= eta / 4 * (1 - 1e-12)
    assert cost.epsilon(0.0) >= eta * count
    assert cost.delta_bounds(0.0)[0] <= cost.delta(0.0)
    assert cost.delta(0.0, by="rdp") > 0
    assert cost.group(2).delta(0.0) >= eta / 2 * (1 - 1e-12)


def test_a_group_has_the_sum_of_the_ranges():
    for count in (1, 20):
        group = (tn.Cost.of_bounded_range(0.2) * count).group(3)
        wide = tn.Cost.of_bounded_range(0.2 * 3) * count
        assert wide.epsilon(1e-5) <= group.epsilon(1e-5) <= wide.epsilon(1e-5) * (1 + 1e-9)


def test_one_more_release_costs_no_less():
    for eta, delta in ((10.0, 0.01), (0.1, 1e-20)):
        cost = tn.Cost.of_bounded_range(eta)
        lower, upper = (cost * 257).epsilon_bounds(delta)
        assert upper >= (cost * 256).epsilon_bounds(delta)[0]
        assert lower >= 0.87 * upper


def divergence(strategy, rng, eta, others, ranges, x):
    """Of a random strategy: a loss and what is left to come decide what is next."""
    if not others and not ranges:
        return max(0.0, -np.expm1(x))
    if others and (not ranges or rng.random() < 0.5):
        outcomes = others[0]
        rest = others[1:], ranges
    else:
        outcomes = response(eta, strategy(x))
        rest = others, ranges - 1
    return sum(p * divergence(strategy, rng, eta, *rest, x - loss) for p, loss in outcomes)


def test_no_strategy_costs_more_beside_other_releases(rng):
    eta, a = 0.9, np.exp(0.7) / (1 + np.exp(0.7))
    other = ((a, 0.7), (1 - a, -0.7))
    cost = tn.Cost.of_bounded_range(eta) * 4 + tn.Cost.of_response(a) * 2
    strategies = [
        lambda x: rng.uniform(0.0, eta),
        lambda x: np.clip(0.5 * (x + eta), 0.0, eta),
        lambda x: np.clip(0.5 * eta + 0.2 * x, 0.0, eta),
        lambda x: eta if x > 0.5 else 0.5 * eta,
    ]
    for x in (0.0, 0.5, 1.5, 3.0):
        upper = cost.delta(x)
        for strategy in strategies:
            for _ in range(5):
                assert divergence(strategy, rng, eta, [other, other], 4, x) <= upper


def test_less_than_as_if_each_were_the_worst_at_every_epsilon():
    cost = tn.Cost.of_bounded_range(0.2) * 14
    lower, upper = cost.epsilon_bounds(3.2e-4)
    assert 1.1005 < lower <= upper < 1.1011  # 1.2327 by Renyi divergences, 1.248 by one pair each
    assert upper * (1 - 2e-4) < lower


def test_blocks_hold_all_releases():
    for count in (1, 2, 255, 256, 257, 1000, 512):
        parts = in_blocks(BoundedRange(0.1), count)
        assert sum(n * getattr(leaf, "count", 1) for leaf, n in parts) == count


@pytest.mark.parametrize("count", [*by_night(300), 100_000])
def test_many(count):
    lower, upper = (tn.Cost.of_bounded_range(1e-2) * count).epsilon_bounds(1e-6)
    assert lower <= upper <= lower * 1.02
    assert upper < tn.Cost.of_zcdp(1e-4 / 8 * count).epsilon(1e-6)
