"""Poisson samples for data sets that differ in a group of records, or in one that is replaced."""

import itertools
import math
import pickle

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise import special
from tightnoise.costs._excess import LOST
from tightnoise.costs._grouped_gaussian import GroupedGaussian

NOISE = tn.Gaussian(1.0).cost(sensitivity=1.0)


def weights(n, q):
    return [mp.binomial(n, j) * q**j * (1 - q) ** (n - j) for j in range(n + 1)]


def loss(z, mu, q, ours, theirs):
    def density(n, shift):
        terms = (p * mp.exp(j * shift * z - (j * mu) ** 2 / 2) for j, p in enumerate(weights(n, q)))
        return mp.log(mp.fsum(terms))

    return density(ours, mu) - density(theirs, -mu)


def truth(epsilon, mu, q, ours=1, theirs=1):
    """delta from where the loss is epsilon, which bisection finds, to 40 digits."""
    mu, q, epsilon = mp.mpf(mu), mp.mpf(q), mp.mpf(epsilon)
    records = ours + theirs
    low, high = -records * mu - 1, (epsilon - mp.log(q)) / mu + records * (mu + 2) + 60
    if loss(high, mu, q, ours, theirs) < epsilon:
        assert ours == 0
        return mp.mpf(0)
    for _ in range(110):
        mid = (low + high) / 2
        low, high = (mid, high) if loss(mid, mu, q, ours, theirs) < epsilon else (low, mid)
    power = sum(p * mp.ncdf(j * mu - low) for j, p in enumerate(weights(ours, q)))
    errors = sum(p * mp.ncdf(-j * mu - low) for j, p in enumerate(weights(theirs, q)))
    return power - mp.exp(epsilon) * errors


@pytest.mark.parametrize("cases", [8, *by_night(2000)])
def test_the_profile_is_that_of_the_pair_and_within_its_excess(cases, rng):
    count = 0
    for number in range(cases):
        mu, q = 10 ** rng.uniform(-5, 1.3), min(10 ** rng.uniform(-6, 0.02), 0.9999)
        theirs = int(rng.integers(0, 4))
        ours = int(rng.integers(0 if theirs else 1, 4)) if number % 4 else 1
        pair = GroupedGaussian(mu, q, ours, theirs if number % 4 else 1)
        far = rng.uniform(0, ours * mu + 30)
        with mp.workdps(200):
            place = mp.mpf(far), mp.mpf(mu), mp.mpf(q)
            epsilon = max(0.0, float(loss(*place, *pair[2:]))) * (rng.random() < 0.9)
        with mp.workdps(60 if far < 12 else 200):
            exact = truth(epsilon, *pair)
            got = mp.mpf(float(pair.delta(np.array([epsilon]))[0]))
            excess = pair.excess
            beside = exact
            if excess.argument:
                beside = truth(epsilon * (1 - excess.argument), *pair)
            assert got >= exact
            if got > LOST:
                assert got <= beside * (1 + mp.mpf(excess.height))
                count += 1
    assert count > 0.7 * cases


def test_far_out_little_is_left():
    for mu in (1e-5, 0.1, 1.0, 30.0):
        for q in (1e-9, 0.1, 0.999, 1 - 1e-10, 1 - 2.0**-53):
            for ours, theirs in ((1, 1), (3, 0), (0, 3), (2, 1), (1, 2)):
                pair = GroupedGaussian(mu, q, ours, theirs)
                assert pair.delta(np.array([pair.largest]))[0] <= 1e-40
    epsilons = np.array([0.0, 1e-300, 1.0, 1e3, 1e300])
    for ours, theirs in ((1, 1), (16, 0), (0, 16)):
        delta = GroupedGaussian(0.5, 0.3, ours, theirs).delta(epsilons)
        assert np.all((delta >= 0) & (delta <= 1))
        assert np.all(np.diff(delta) <= 0)


@pytest.mark.parametrize(("mu", "q"), [(0.3, 0.02), (0.8, 0.05), (0.8, 0.5), (2.0, 0.9)])
def test_no_group_within_the_sensitivity_costs_more(mu, q, rng):
    """In two dimensions, by sums over a square; contributions of any norms and angles."""
    x = np.linspace(-7 - 2 * mu, 7 + 2 * mu, 241)
    first, second = np.meshgrid(x, x, indexing="ij")
    cell = (x[1] - x[0]) ** 2 / (2 * np.pi)

    def density(values):
        total = np.zeros_like(first)
        for which in itertools.product((0, 1), repeat=len(values)):
            share = np.prod([q if used else 1 - q for used in which])
            a, b = np.array(which) @ values if values.size else (0.0, 0.0)
            total += share * np.exp(-((first - a) ** 2 + (second - b) ** 2) / 2) * cell
        return total

    epsilons = np.array([0.0, 0.1, 0.7, 2.0])
    for ours, theirs in ((2, 0), (1, 1), (0, 2), (2, 1), (0, 3)):
        bounds = GroupedGaussian(mu, q, ours, theirs).delta(epsilons)
        for number in range(6):
            sizes = rng.choice([1.0, 1.0, 0.5], ours + theirs)
            angles = rng.normal(scale=number / 2, size=ours + theirs)
            angles[ours:] += np.pi
            values = mu * (sizes * np.array([np.cos(angles), np.sin(angles)])).T
            p, other = density(values[:ours]), density(values[ours:])
            for epsilon, bound in zip(epsilons, bounds, strict=True):
                above = np.maximum(p - np.exp(epsilon) * other, 0.0).sum()
                assert above <= bound + 2e-4 * q


def composed(pair, n, epsilon):
    """delta of n releases, by the fast Fourier transform of losses in fine cells, about."""
    z = np.linspace(-12, 12 + pair.ours * pair.mu, 100_001)
    middle = 0.5 * (z[1:] + z[:-1])

    def parts(n, shift):
        return [
            (math.comb(n, j) * pair.rate**j * (1 - pair.rate) ** (n - j), j * shift)
            for j in range(n + 1)
        ]

    ours, theirs = parts(pair.ours, pair.mu), parts(pair.theirs, -pair.mu)
    mass = sum(p * np.diff(special.ndtr(z - at)) for p, at in ours)
    log_p, log_q = (
        np.log(sum(p * np.exp(at * middle - at * at / 2) for p, at in one))
        for one in (ours, theirs)
    )
    losses = log_p - log_q
    spacing, size = 4e-4, 2**18
    place = losses / spacing
    floor = np.floor(place).astype(int)
    grid = np.zeros(size)
    np.add.at(grid, floor % size, mass * (1 - place + floor))
    np.add.at(grid, (floor + 1) % size, mass * (place - floor))
    total = np.fft.irfft(np.fft.rfft(grid) ** n, size)
    index = np.arange(size)
    values = spacing * np.where(index < size // 2, index, index - size)
    return float((total * np.maximum(-np.expm1(np.minimum(epsilon - values, 0.0)), 0.0)).sum())


@pytest.mark.parametrize(("rate", "count", "records"), [(0.02, 30, 2), (0.3, 5, 3), (0.1, 8, 4)])
def test_compositions_are_those_of_the_worst_case(rate, count, records):
    step = NOISE.sampled(rate, "poisson")
    cost = step.group(records) * count
    for epsilon in (0.3, 1.5):
        exact = max(
            composed(GroupedGaussian(1.0, rate, ours, records - ours), count, epsilon)
            for ours in range(records + 1)
        )
        lower, upper = cost.delta_bounds(epsilon)
        assert lower * (1 - 1e-5) <= exact <= upper * (1 + 1e-5)
        assert upper <= lower * (1 + 1e-5)
        assert upper <= cost.delta(epsilon)


def test_groups_cost_more_the_larger_they_are():
    step = NOISE.sampled(0.05, "poisson")
    replaced = NOISE.sampled(0.05, "poisson", adjacency="replace-one")
    for count in (1, 20):
        groups = [(step.group(k) * count).epsilon(1e-6) for k in (1, 2, 3, 5)]
        assert groups == sorted(groups)
        assert groups[1] >= (replaced * count).epsilon(1e-6)
        two = (replaced.group(2) * count).epsilon(1e-6)
        assert (replaced * count).epsilon(1e-6) < two
        assert two <= (step.group(4) * count).epsilon(1e-6) * (1 + 1e-6)


def test_groups_cost_less_than_a_chain_of_neighbours():
    for rate in (1e-3, 0.3):
        step = NOISE.sampled(rate, "poisson")
        for k in (2, 4):
            for epsilon in (0.0, 0.4, 3.0):
                each = epsilon / k
                grown = k if each == 0 else math.expm1(epsilon) / math.expm1(each)
                assert step.group(k).delta(epsilon) <= grown * step.delta(each)


def test_groups_of_several_kinds():
    step = NOISE.sampled(0.05, "poisson")
    group = step.group(3)
    # Beside a release that is the same both ways, and one that is not: never less than alone.
    other = tn.Gaussian(3.0).cost(sensitivity=1.0, adjacency="add-remove").group(3)
    laplace = tn.Laplace(9.0).cost(sensitivity=1.0, adjacency="add-remove")
    sampled = laplace.sampled(0.5, "poisson").group(3)
    alone = (group * 4).epsilon(1e-5)
    for beside in (other, sampled, step.for_neighbours("add-remove")):
        lower, upper = (group * 4 + beside).epsilon_bounds(1e-5)
        assert alone < upper
        assert lower <= upper
    assert (group * 4 + other).epsilon_bounds(1e-5)[0] > alone
    # Of several sizes upper bounds are known, of the largest case at each epsilon.
    several = step.group(4) + step.group(5)
    assert several.epsilon_bounds(1e-5)[0] == 0
    assert step.group(5).epsilon(1e-5) < several.epsilon(1e-5)
    assert "of groups of different sizes" in str(several.explain(1e-5))
    assert group.losses().epsilon(1e-5) >= group.epsilon(1e-5) * (1 - 1e-9)
    # What is known from above only has no lower bound.
    bound = tn.Cost.of_gdp(1.0).sampled(0.05, "poisson").group(2)
    assert bound.delta_bounds(0.5)[0] == 0
    assert bound.delta(0.5) == pytest.approx(step.group(2).delta(0.5), rel=1e-9)
    both = (NOISE * 3).sampled(0.05, "poisson").group(2)
    once = tn.Gaussian(1.0).cost(sensitivity=np.sqrt(3)).sampled(0.05, "poisson").group(2)
    assert both.delta(0.5) == pytest.approx(once.delta(0.5), rel=1e-9)
    for cost in (group * 7 + other, several):
        assert tn.Cost.from_dict(cost.to_dict()) == cost
        assert pickle.loads(pickle.dumps(cost)) == cost


def test_groups_beside_replaced_records():
    """No two data sets have both records more, and one replaced: no lower bound is of these."""
    two = NOISE.sampled(0.01, "poisson").group(2) * 50
    replaced = NOISE.sampled(0.01, "poisson", adjacency="replace-one") * 50
    unsampled = tn.Gaussian(1.0).cost(sensitivity=1.0, adjacency="replace-one")
    for beside in (replaced, unsampled.sampled(0.01, "fixed-size") * 50):
        assert (two + beside).epsilon_bounds(1e-7)[1] > two.epsilon_bounds(1e-7)[0]
    lower, upper = (two + replaced).epsilon_bounds(1e-7)
    exact = (replaced * 2).epsilon_bounds(1e-7)
    assert exact[0] * (1 - 1e-6) <= lower <= exact[1] < upper
    lower, upper = (two + replaced).group(2).epsilon_bounds(1e-7)
    exact = (replaced * 2).group(2).epsilon_bounds(1e-7)
    assert exact[0] * (1 - 1e-6) <= lower <= exact[1] < upper


def test_attackers_choose_the_case():
    cost = NOISE.sampled(0.3, "poisson").group(2) * 20
    rates = np.array([0.0, 1e-3, 0.05, 0.5, 0.95, 1.0])
    lower, upper = cost.tradeoff_bounds(rates)
    assert np.all(lower <= upper)
    assert np.all(upper - lower < 1e-4)
    epsilons = np.linspace(0, 6, 40)
    deltas = np.array([cost.delta(epsilon) for epsilon in epsilons])
    lines = 1 - deltas - np.exp(epsilons) * rates[:, None]
    assert np.all(lines.max(axis=1) <= upper + 1e-12)
    one = NOISE.sampled(0.3, "poisson") * 20
    assert np.all(lower <= one.tradeoff(rates) + 1e-12)
    assert one.auc < cost.auc < 1


def test_costs_of_replaced_records():
    step = NOISE.sampled(0.01, "poisson", adjacency="replace-one")
    assert step.adjacency == "replace-one"
    for epsilon in (0.0, 0.01, 1.0):
        lower, upper = step.delta_bounds(epsilon)
        exact = float(truth(epsilon, 1.0, 0.01))
        assert lower <= exact * (1 + 1e-13)
        assert exact * (1 - 1e-13) <= upper <= exact * (1 + 1e-9)
    # Less than by the difference alone, more than of a record that is there or not.
    apart = tn.Gaussian(1.0).cost(sensitivity=2.0, adjacency="replace-one").sampled(0.01, "poisson")
    added = NOISE.sampled(0.01, "poisson")
    for n in (1, 300):
        epsilons = [(cost * n).epsilon(1e-6) for cost in (added, step, apart)]
        assert epsilons == sorted(epsilons)
        assert epsilons[1] < 0.9 * epsilons[2]
    lower, upper = (step * 300).epsilon_bounds(1e-6)
    assert 0.99 * upper <= lower <= upper


def test_what_is_known_of_each_value():
    both = (NOISE * 3).sampled(0.1, "poisson", adjacency="replace-one")
    once = (
        tn.Gaussian(1.0)
        .cost(sensitivity=np.sqrt(3))
        .sampled(0.1, "poisson", adjacency="replace-one")
    )
    assert both.delta(0.5) == pytest.approx(once.delta(0.5), rel=1e-9)
    bound = tn.Cost.of_gdp(1.0).sampled(0.1, "poisson", adjacency="replace-one")
    known = NOISE.sampled(0.1, "poisson", adjacency="replace-one")
    assert bound.delta(0.5) == pytest.approx(known.delta(0.5), rel=1e-9)
    assert bound.delta_bounds(0.5)[0] == 0.0 < known.delta_bounds(0.5)[0]
    for cost in (both, known * 7):
        assert tn.Cost.from_dict(cost.to_dict()) == cost
    laplace = tn.Laplace(2.0).cost(sensitivity=1.0).sampled(0.1, "poisson", adjacency="replace-one")
    assert laplace.epsilon(0.0) <= 1.0 + 1e-12
    tiny = tn.Gaussian(1e9).cost(sensitivity=1.0)
    assert tiny.sampled(0.1, "poisson", adjacency="replace-one").delta(0.0) < 1e-9


def test_samplings_and_neighbours_that_are_refused():
    with pytest.raises(ValueError, match="got 'shuffle': no pair is known"):
        NOISE.sampled(0.1, "shuffle")
    with pytest.raises(ValueError, match="adjacency must be 'replace-one' here"):
        NOISE.for_neighbours("replace-one").sampled(0.1, "poisson", adjacency="add-remove")
    with pytest.raises(ValueError, match="adjacency must be None"):
        NOISE.sampled(0.1, "poisson", adjacency="other")
    for cost in (NOISE.sampled(0.1, "poisson"), NOISE.group(3)):
        with pytest.raises(ValueError, match="of one record to be sampled"):
            cost.sampled(0.1, "poisson", adjacency="replace-one")
