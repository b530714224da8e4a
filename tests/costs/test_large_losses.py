"""Few large losses: both sides of compositions with heavy tails, as sums over all outcomes say."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night, rows_by_night

import tightnoise as tn
from tightnoise.costs import _large_losses as large_losses
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._exact import Bounds
from tightnoise.costs._large_losses import Plan, large_loss_bounds


@pytest.fixture
def always(monkeypatch):
    """Every composition is told so."""

    def is_worth(self, *_):
        one = self.parts.large[0]
        return bool(one.losses.size and one.others and self.rooms())

    monkeypatch.setattr(Plan, "is_worth", is_worth)


def bounds(question, cost, at):
    upper = getattr(cost.losses(), question)(at)
    return large_loss_bounds(question, cost.terms, at, Bounds(0.0, upper))


def heavy_table(rng):
    """Losses of which the larger ones are ever rarer."""
    sizes = np.cumsum(rng.uniform(0.2, 1.5, 5))
    masses = 10.0 ** -np.array([1.0, 2.5, 4.0, 5.5, 7.0]) * rng.uniform(0.2, 1, 5)
    hidden = float((masses * np.exp(-sizes)).sum())
    # One more makes up for what Q lacks.
    rest = 1 - float(masses.sum())
    return [*sizes.tolist(), math.log(rest / (1 - hidden))], [*masses.tolist(), rest]


def composed(losses, masses, count, epsilons):
    """The divergences of both orders, to 30 digits."""
    found = np.zeros((2, len(epsilons)), dtype=object)
    with mp.workdps(30):
        p = [mp.mpf(mass) for mass in masses]
        q = [mass * mp.exp(-mp.mpf(loss)) for mass, loss in zip(p, losses, strict=True)]
        for chosen in itertools.combinations_with_replacement(range(len(p)), count):
            times = mp.factorial(count)
            for i in set(chosen):
                times /= mp.factorial(chosen.count(i))
            ahead, behind = (
                times * mp.fprod(p[i] for i in chosen),
                times * mp.fprod(q[i] for i in chosen),
            )
            for k, epsilon in enumerate(epsilons):
                t = mp.exp(mp.mpf(epsilon))
                found[0, k] += max(ahead - t * behind, 0)
                found[1, k] += max(behind - t * ahead, 0)
    return found.max(axis=0)


# As little is lost as is usual, or so much that three large losses, and the largest, are a matter.
@pytest.mark.parametrize("lost", [None, 0.02])
@pytest.mark.parametrize("count", [2, 3, *by_night(6)])
@pytest.mark.parametrize("seed", [0, *by_night(1, 2)])
def test_tables_of_heavy_tails(always, monkeypatch, seed, count, lost):
    if lost is not None:
        monkeypatch.setattr(large_losses, "_LOST", lost)
    rng = np.random.default_rng(seed)
    losses, masses = heavy_table(rng)
    cost = tn.Cost.of_losses(losses, masses) * count
    epsilons = rng.uniform(0.1, sum(sorted(losses)[-2:]), 2).tolist()
    tried = 0
    for epsilon, truth in zip(epsilons, composed(losses, masses, count, epsilons), strict=True):
        found = bounds("delta", cost, epsilon)
        if found is None:
            continue
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower <= (1e-3 if lost is None else 0.3) * float(truth)
        around = bounds("epsilon", cost, float(truth))
        if around is not None:
            # At a delta that is rounded, the epsilon is so far from this at most.
            assert around.lower <= epsilon * (1 + 1e-9)
            assert around.upper >= epsilon * (1 - 1e-9)
            tried += 1
    assert tried > 0


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_losses(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.uniform(0.5, 6, 2_000))
    masses = np.exp(-2 * values) * rng.uniform(0, 1e-4, values.size)
    given = Release(values, np.log(masses), 0.0, 0.0, False, 0.0)
    above, below = (large_losses._in_groups(given, is_upper=side) for side in (True, False))
    assert max(above.values.size, below.values.size) <= 300
    epsilons = np.linspace(0, 6, 500)
    truth, _ = given.profile(epsilons)
    for one, way in ((above, 1), (below, -1)):
        found, _ = one.profile(epsilons)
        assert (way * (found - truth) >= -1e-11 * truth).all()  # `profile` is rounded up
        np.testing.assert_allclose(found, truth, rtol=0.02, atol=1e-11)


# sigma, rate, count, delta: as contours of Gaussian noise say
SAMPLED = (
    (0.9, 1e-4, 30_000, 1e-12),
    (0.7, 3e-3, 40, 1e-10),
    (0.8, 2e-5, 2, 1e-8),
    *rows_by_night((1.5, 1e-3, 500, 1e-9), (0.6, 1e-2, 3, 1e-6), (2.0, 0.01, 1000, 1e-5)),
)


@pytest.mark.parametrize(("sigma", "rate", "count", "delta"), SAMPLED)
def test_noise_on_samples_is_as_contours_say(always, sigma, rate, count, delta):
    # Two components that are the same are told in cells.
    mixture = tn.GaussianScaleMixture([0.0, 0.0], [0.5, 0.5], [sigma, sigma])
    gaussian, mixture = (
        noise.cost(sensitivity=1.0).sampled(rate, "poisson") * count
        for noise in (tn.Gaussian(sigma), mixture)
    )
    lower, upper = gaussian.epsilon_bounds(delta)
    found = bounds("epsilon", mixture, delta)
    assert found.lower <= upper * (1 + 1e-12)
    assert found.upper >= lower * (1 - 1e-12)
    assert found.upper - found.lower <= 1e-4 * upper
    known = gaussian.delta_bounds(upper)
    found = bounds("delta", mixture, upper)
    assert found.lower <= known[1] * (1 + 1e-11)
    assert found.upper >= known[0] * (1 - 1e-11)


def test_a_heavy_tail_is_narrow():
    """At least 0.1375, and at most 0.4834, without."""
    noise = tn.MultiGaussianMixture(0.8614, 0.9066, 1.0, 5)
    cost = noise.cost(sensitivity=1.0).sampled(1.4e-4, "poisson") * 63_700
    lower, upper = cost.epsilon_bounds(2.3e-12)
    assert upper == pytest.approx(0.307119, rel=1e-5)
    assert upper - lower <= 1e-6 * upper
    assert cost.epsilon(2.3e-12) <= upper * (1 + 1e-5)


def test_few_that_are_heavy_are_narrow():
    """Beside a large loss, small ones are tilted to what it leaves to them: 1.5e-5 otherwise."""
    noise = tn.MultiGaussianMixture(1.275, 2.657, 1.0, 5)
    cost = noise.cost(sensitivity=1.0).sampled(2.435e-4, "poisson") * 10
    lower, upper = cost.epsilon_bounds(3.657e-8)
    assert 0.0038 < lower <= upper <= lower * (1 + 1e-6)


def test_light_tails_are_left_to_lattices():
    noise = tn.MultiGaussianMixture(1.0, 0.5, 1.0, 3)
    assert bounds("epsilon", noise.cost(sensitivity=1.0) * 400, 1e-6) is None
    both = noise.cost(sensitivity=1.0) + tn.Laplace(1.0).cost(sensitivity=1.0)
    assert bounds("epsilon", both, 1e-6) is None
