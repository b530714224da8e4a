"""Losses of scalar noise: one release costs its profile, many what is known by other ways."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night, rows_by_night

import tightnoise as tn
from tightnoise import Cost
from tightnoise.costs._staircase_losses import staircase_losses

INF = float("inf")

STAIRCASE = tn.Staircase(epsilon=1.0, sensitivity=1.0, gamma=1 / (1 + math.exp(0.5)))
TRUNCATED = tn.TruncatedLaplace(scale=1.0, bound=13.6)
MECHANISMS = [
    (tn.Laplace(scale=0.02), 1.0),
    (STAIRCASE, 3.2),
    (TRUNCATED, 0.4),
    (tn.Tulap(epsilon=0.5, sensitivity=2.0, bound=40.0), 2.0),
    *rows_by_night(
        (tn.Laplace(scale=1.0), 1.0),
        (tn.Laplace(scale=3.0), 0.1),
        (STAIRCASE, 1.0),
        (STAIRCASE, 0.7),
        (TRUNCATED, 1.0),
        (tn.Tulap(epsilon=1.0, sensitivity=1.0), 1.0),
    ),
]


@pytest.mark.parametrize(("mechanism", "sensitivity"), MECHANISMS)
def test_one_release_costs_its_profile(mechanism, sensitivity, check_error):
    cost = mechanism.cost(sensitivity=sensitivity)
    once = cost.losses()
    largest = cost.epsilon(cost.delta(1e300) * (1 + 1e-9))
    worst = 0.0
    for epsilon in np.linspace(0.0, 0.97, 12) * largest:
        exact = cost.delta(epsilon)
        got = once.delta(epsilon)
        assert got >= exact * (1 - 2e-9)  # the exact one is rounded up, too
        worst = max(worst, got / exact - 1)
    check_error("losses, one release of piecewise noise", worst, 1e-5)


@pytest.mark.parametrize("times", [3, *by_night(1, 40), 2000])
def test_pure_mechanisms_cost_no_more_than_randomised_response(times):
    """The staircase's and Tulap noise's losses at their own sensitivity are of size 0 or 1 only."""
    for mechanism in (tn.Laplace(1.0), STAIRCASE, tn.Tulap(epsilon=1.0, sensitivity=1.0)):
        losses = (mechanism.cost(sensitivity=1.0) * times).losses()
        for delta in (1e-2, 1e-6, 1e-12):
            most = (Cost.of_pure(1.0) * times).epsilon(delta)
            assert losses.epsilon(delta) <= most * (1 + 1e-9)
        assert losses.epsilon(0.0) == pytest.approx(times, rel=1e-12)


def test_staircase_is_a_lottery_of_three(check_error):
    """Sensitivity 1: losses of 1, 0, -1; the steps of the density are e^-1 each."""
    gamma, b = STAIRCASE.gamma, math.exp(-1)
    # A shift by 1 takes every step to the next, but for the middle one, from -gamma to gamma, of
    # width 2 gamma, which overlaps with itself where gamma > 1/2.
    staircase = STAIRCASE.cost(sensitivity=1.0)
    total = staircase.delta(0.0)
    one = total / (1 - b)
    three = Cost.of_losses([1.0, 0.0, -1.0], [one, 1 - one * (1 + b), one * b])
    assert gamma < 0.5
    for times, delta in itertools.product((1, 7, 300), (1e-3, 1e-8)):
        exact = (three * times).epsilon(delta)
        got = (staircase * times).epsilon(delta, by="losses")
        check_error("losses, staircase, many times", abs(got / exact - 1), 1e-7)


@pytest.mark.parametrize(
    ("mixture", "printed"),
    [
        # Calibrated to (1, 1e-5) and (3, 1e-5); epsilon of 1, 10, 100 and 1000 releases at 1e-5.
        (
            tn.MultiGaussianMixture(0.35815370759801224, 1.0, 1.0, 11),
            ("1.00", "10.8", "71.0", "499"),
        ),
        (tn.MultiGaussianMixture(0.2762784363290848, 3.0, 1.0, 4), ("3.0", "32.1", "283", "2542")),
    ],
)
def test_multi_gaussian_mixtures(mixture, printed):
    """The worst shift lies between 0.9 and 1 of the sensitivity, where it matters."""
    once = mixture.cost(sensitivity=1.0)
    points = np.linspace(0.0, once.epsilon(1e-40), 10_000)
    one_shift = Cost.of_profile(points, mixture.hockey_stick(0.0, 1.0, points))
    for times, figures in zip((1, 10, 100, 1000), printed, strict=True):
        epsilon = (once * times).epsilon(1e-5)
        assert f"{epsilon:.{len(figures.partition('.')[2])}f}" == figures
        # The neighbours that differ by the sensitivity: no less than without the blur.
        assert epsilon >= (one_shift * times).epsilon(1e-5) * (1 - 1e-12) - times * points[1]
        assert once.delta(mixture.epsilon) >= 1e-5 * (1 - 1e-9)


@pytest.mark.parametrize(
    "mixture",
    [
        tn.MultiGaussianMixture(0.7, 1.0, 1.0, 5),
        tn.GaussianScaleMixture([0.0, 1.0], [0.9, 0.1], [0.7, 2.0]),
    ],
)
def test_renyi_divergences_of_mixtures(mixture):
    """As Gaussians of the narrowest component: valid, far above the truth."""
    once = mixture.cost(sensitivity=1.0)
    gaussian = tn.Gaussian(0.7).cost(sensitivity=1.0)
    by_renyi = (once * 20).epsilon(1e-5, by="rdp")
    assert by_renyi == pytest.approx((gaussian * 20).epsilon(1e-5, by="rdp"), rel=1e-6)
    assert (once * 20).epsilon(1e-5) < by_renyi
    assert 0 < once.sampled(0.01, "poisson").epsilon(1e-5) < once.epsilon(1e-5)


def law_of_steps(epsilon, gamma, change, bound):
    """Return the probability of each loss, in units of epsilon, by all pieces of both densities."""

    def level(x):
        return math.inf if abs(x) > bound else max(0, 1 + math.floor(abs(x) - gamma))

    ends = [bound, *(gamma + j for j in range(math.floor(bound - gamma) + 1))]
    ends = {end + shift for one in ends for end in (one, -one) for shift in (0, change)}
    ends = sorted(end for end in ends if -bound <= end <= bound)
    masses = {}
    for a, b in itertools.pairwise(ends):
        here, there = level((a + b) / 2), level((a + b) / 2 - change)
        mass = mp.exp(-here * mp.mpf(epsilon)) * (b - a).numerator / (b - a).denominator
        masses[there - here] = masses.get(there - here, 0) + mass
    return {loss: mass / mp.fsum(masses.values()) for loss, mass in masses.items()}


@pytest.mark.parametrize("seed", range(30))
def test_steps_that_end_are_a_lottery_of_four(seed):
    rng = np.random.default_rng(seed)
    epsilon, gamma = 10 ** rng.uniform(-4, 1.5), float(rng.choice([0.0, 0.5, 1.0, rng.uniform()]))
    change = Fraction(float(rng.choice([1.0, rng.uniform()])))
    ends = [rng.uniform(1, 40), rng.uniform(0.5, 2), rng.integers(1, 9) + 0.5, rng.integers(1, 9)]
    bound = change * Fraction(float(rng.choice(ends)))
    with mp.workdps(40):
        truth = law_of_steps(epsilon, Fraction(gamma), change, bound)
        found = staircase_losses(epsilon, gamma, change, bound)
        losses = np.rint(found.values / epsilon).tolist()
        masses = dict(zip(losses, map(mp.exp, found.log_mass.tolist()), strict=True))
        assert found.infinite == pytest.approx(float(truth.pop(math.inf)), rel=2**-48)
        assert masses.keys() == truth.keys()
        for loss, mass in truth.items():
            assert abs(masses[loss] / mass - 1) <= 2**-48 * (1 + abs(mp.log(mass)))


def test_steps_that_end_are_told_beside_others(check_error):
    steps = tn.Tulap(epsilon=0.2, sensitivity=1.0, bound=60.0).cost(sensitivity=1.0)
    rare = tn.Gaussian(0.8).cost(sensitivity=1.0).sampled(1e-4, "poisson")
    for plan in (
        steps * 30,
        steps * 30 + rare * 4,
        steps * 3 + tn.Laplace(4.0).cost(sensitivity=1.0) * 9,
    ):
        lower, upper = plan.epsilon_bounds(1e-3)
        assert 0 < lower <= upper
        check_error("epsilons of steps that end", 1 - lower / upper, 1e-6)


def test_noise_that_ends_before_the_other_begins_tells_all():
    laplace = tn.Laplace(1.0).cost(sensitivity=1.0)
    steps = tn.Tulap(epsilon=1.0, sensitivity=1.0, bound=0.4).cost(sensitivity=1.0)
    assert (steps * 3 + laplace).epsilon_bounds(0.9) == (INF, INF)
    for noise in (tn.TruncatedLaplace(1.0, 0.4), tn.Tulap(1.0, 0.1, 0.4)):
        assert (noise.cost(sensitivity=1.0) * 3 + laplace).epsilon_bounds(0.9)[1] == INF


def test_noise_that_ends_fails():
    """Bounded noise tells all with the probability that the neighbour cannot answer so."""
    once = TRUNCATED.cost(sensitivity=1.0)
    failure = once.delta(100.0)
    for times in (1, 10, 1000):
        least = -math.expm1(times * math.log1p(-failure))
        assert (once * times).epsilon(0.99 * least) == INF
        assert (once * times).epsilon(2 * least) < times
        assert (once * times).delta(1e6) == pytest.approx(least, rel=1e-8)


def test_different_mechanisms_together():
    """More than either alone, less than both epsilons and deltas added up."""
    parts = [
        tn.Laplace(2.0).cost(sensitivity=1.0) * 30,
        tn.Gaussian(3.0).cost(sensitivity=1.0) * 20,
        STAIRCASE.cost(sensitivity=1.0) * 5,
        TRUNCATED.cost(sensitivity=0.3) * 3,
    ]
    together = parts[0] + parts[1] + parts[2] + parts[3]
    assert together.count == 58
    separate = [part.epsilon(1e-5) for part in parts]
    assert max(separate) < together.epsilon(4e-5) < sum(separate)
    in_steps = parts[3] + parts[2] + (parts[1] + parts[0])
    assert in_steps.epsilon(4e-5) == pytest.approx(together.epsilon(4e-5), rel=1e-9)


@pytest.mark.parametrize("mechanism", [tn.Laplace(1e300), tn.Gaussian(1e300)])
def test_next_to_no_loss(mechanism):
    composed = mechanism.cost(sensitivity=1.0) * 3
    assert composed.epsilon(1e-5) <= 1e-99
    assert composed.delta(1.0) <= 1e-99


def test_modes_that_are_far_apart_from_both_sides():
    plan = tn.QuasiGaussianMixture(0.08, 1.0, 1.0).cost(sensitivity=1.0) * 5
    lower, upper = plan.epsilon_bounds(1e-6)
    # One release alone costs less, and five pay no more than five parts of delta.
    one = tn.QuasiGaussianMixture(0.08, 1.0, 1.0).cost(sensitivity=1.0)
    assert one.epsilon(1e-6) <= upper <= 5 * one.epsilon(2e-7)
    assert 0.9 * upper <= lower <= upper


def test_worst_shifts_at_many_epsilons_are_those_at_each():
    leaf = next(iter(tn.MultiGaussianMixture(0.325, 0.568, 1.0, 20).cost(sensitivity=1.0).terms))[0]
    for epsilons, part in ((np.linspace(0.1, 6.0, 60), 1e-2), (np.linspace(1.0, 1.01, 33), 1e-8)):
        below, _ = leaf.profile_below(epsilons)
        above, _ = leaf.profile(epsilons)
        assert (below <= above).all()
        assert (below >= above * (1 - part)).all()


@pytest.mark.parametrize("bound", [800.0, 1e4, 1e300])
def test_noise_that_ends_far_away_has_no_pure_guarantee(bound):
    """Outputs that only one data set has are there, also where their probability is no float."""
    steps = tn.Tulap(epsilon=1.0, sensitivity=1.0, bound=bound).cost(sensitivity=1.0)
    laplace = tn.Laplace(1.0).cost(sensitivity=1.0)
    truth = mp.exp(-mp.mpf(bound))
    for plan in (steps + laplace, steps * 2, steps * 2 + laplace):
        assert plan.epsilon(0.0) == INF
        lower, upper = plan.delta_bounds(50.0)
        assert lower <= truth <= upper


@pytest.mark.parametrize("count", [1, 2])
def test_steps_that_are_too_rare_for_floats_are_not_rounded_up_from_below(count):
    change = 21 * math.ulp(0.0)
    steps = tn.Staircase(1.0, sensitivity=1.0, gamma=0.5).cost(sensitivity=change)
    with mp.workdps(30):
        mass = mp.mpf(change) / (1 + mp.exp(-1))  # all ends of steps, with the loss 1
        truth = count * mass * (1 - mp.exp(-0.5))
    lower, upper = (steps * count).delta_bounds(0.5)
    assert lower <= truth <= upper
