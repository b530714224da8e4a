"""Poisson samples of which a record is replaced: the pair of two opposite values."""

import mpmath as mp
import numpy as np
import pytest

import tightnoise as tn
from tightnoise.costs._replaced_gaussian import (
    replaced_delta,
    replaced_excess,
    replaced_largest,
)

ONE = tn.Gaussian(1.0).cost(sensitivity=1.0)


def loss(z, mu, q):
    up, down = (mp.exp(sign * mu * z - mu * mu / 2) for sign in (1, -1))
    return mp.log((1 - q + q * up) / (1 - q + q * down))


def truth(epsilon, mu, q):
    """delta from where the loss is epsilon, which bisection finds, to 40 digits."""
    mu, q, epsilon = mp.mpf(mu), mp.mpf(q), mp.mpf(epsilon)
    low, high = mp.mpf(0), (epsilon - mp.log(q)) / mu + mu + 2
    for _ in range(160):
        mid = (low + high) / 2
        low, high = (mid, high) if loss(mid, mu, q) < epsilon else (low, mid)
    rest, e = mp.ncdf(-low), mp.exp(epsilon)
    return (1 - q) * rest + q * mp.ncdf(mu - low) - e * ((1 - q) * rest + q * mp.ncdf(-mu - low))


def test_the_profile_is_that_of_the_pair_and_within_its_excess(rng):
    count = 0
    for _ in range(60):
        mu, q = 10 ** rng.uniform(-5, 1.6), min(10 ** rng.uniform(-6, 0.02), 0.9999)
        far = mu + rng.uniform(-mu, 30)
        with mp.workdps(320):
            epsilon = float(loss(mp.mpf(far), mp.mpf(mu), mp.mpf(q))) * (rng.random() < 0.9)
        with mp.workdps(60 if far < 12 else 320):
            exact = truth(epsilon, mu, q)
            got = mp.mpf(float(replaced_delta(np.array([epsilon]), mu, q)[0]))
            assert got >= exact
            assert got <= exact * (1 + mp.mpf(replaced_excess(mu, q).height))
            count += got < 1
    assert count > 55


def test_far_out_little_is_left():
    for mu in (1e-5, 0.1, 1.0, 30.0):
        for q in (1e-9, 0.1, 0.999):
            assert replaced_delta(np.array([replaced_largest(mu, q)]), mu, q)[0] <= 1e-40
    epsilons = np.array([0.0, 1e-300, 1.0, 1e3, 1e300])
    assert np.all(replaced_delta(epsilons, 0.5, 0.3) >= 0)


@pytest.mark.parametrize("q", [0.02, 0.4, 0.9])
@pytest.mark.parametrize("mu", [0.3, 2.0])
def test_no_two_values_within_the_sensitivity_cost_more(mu, q):
    """In two dimensions, by sums over a square."""
    x = np.linspace(-mu - 9, mu + 9, 301)
    first, second = np.meshgrid(x, x, indexing="ij")
    cell = (x[1] - x[0]) ** 2 / (2 * np.pi)

    def density(a, b):
        normal = np.exp(-((first - a) ** 2 + (second - b) ** 2) / 2) * cell
        return (1 - q) * np.exp(-(first**2 + second**2) / 2) * cell + q * normal

    epsilons = np.array([0.0, 0.05, 0.3, 1.0, 2.5])
    bounds = replaced_delta(epsilons, mu, q)
    for one in (1.0, 0.6):
        for other in (1.0, 0.6, 0.0):
            for angle in np.linspace(0, np.pi, 5):
                values = (
                    density(one * mu, 0.0),
                    density(other * mu * np.cos(angle), other * mu * np.sin(angle)),
                )
                for epsilon, bound in zip(epsilons, bounds, strict=True):
                    above = np.maximum(values[0] - np.exp(epsilon) * values[1], 0.0)
                    assert above.sum() <= bound + 2e-4 * q


def test_costs_of_replaced_records():
    step = ONE.sampled(0.01, "poisson", adjacency="replace-one")
    assert step.adjacency == "replace-one"
    for epsilon in (0.0, 0.01, 1.0):
        lower, upper = step.delta_bounds(epsilon)
        exact = float(truth(epsilon, 1.0, 0.01))
        assert lower <= exact * (1 + 1e-13)
        assert exact * (1 - 1e-13) <= upper <= exact * (1 + 1e-9)
    # Less than by the difference alone, more than of a record that is there or not.
    apart = tn.Gaussian(1.0).cost(sensitivity=2.0, adjacency="replace-one").sampled(0.01, "poisson")
    added = ONE.sampled(0.01, "poisson")
    for n in (1, 300):
        epsilons = [(cost * n).epsilon(1e-6) for cost in (added, step, apart)]
        assert epsilons == sorted(epsilons)
        assert epsilons[1] < 0.9 * epsilons[2]
    lower, upper = (step * 300).epsilon_bounds(1e-6)
    assert 0.99 * upper <= lower <= upper


def test_what_is_known_of_each_value():
    both = (ONE * 3).sampled(0.1, "poisson", adjacency="replace-one")
    once = (
        tn.Gaussian(1.0)
        .cost(sensitivity=np.sqrt(3))
        .sampled(0.1, "poisson", adjacency="replace-one")
    )
    assert both.delta(0.5) == pytest.approx(once.delta(0.5), rel=1e-9)
    bound = tn.Cost.of_gdp(1.0).sampled(0.1, "poisson", adjacency="replace-one")
    known = ONE.sampled(0.1, "poisson", adjacency="replace-one")
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
        ONE.sampled(0.1, "shuffle")
    with pytest.raises(ValueError, match="adjacency must be 'replace-one' here"):
        ONE.for_neighbours("replace-one").sampled(0.1, "poisson", adjacency="add-remove")
    with pytest.raises(ValueError, match="adjacency must be None"):
        ONE.sampled(0.1, "poisson", adjacency="other")
    for cost in (ONE.sampled(0.1, "poisson"), ONE.group(3)):
        with pytest.raises(ValueError, match="of one record to be sampled"):
            cost.sampled(0.1, "poisson", adjacency="replace-one")
