"""Laws of atoms in the contour integral: what is claimed holds for every leaf, from both sides."""

import math

import numpy as np
import pytest
from by_night import by_night
from guarantees import composed_delta
from lattices import bounds_on_lattice

import tightnoise as tn
from tightnoise._core import cost as core
from tightnoise.costs._atom_laws import Refinement, laws_of
from tightnoise.costs._exact import composition_of

NOTHING = core.atoms(np.zeros(1), np.ones(1))  # whose loss is 0: not one release, but the same


def fixed_size(sigma, rate):
    once = tn.Gaussian(sigma).cost(sensitivity=1.0, adjacency="replace-one")
    return once.sampled(rate, "fixed-size")


def random_costs(rng, count):
    """Releases of every kind that the core has no law for."""
    made = []
    for _ in range(count):
        sigma, rate = np.exp(rng.uniform([-1.0, -7.0], [2.0, -0.7])).tolist()
        width, loss = float(rng.uniform(0.3, 4.0)), float(rng.uniform(0.05, 3.0))
        gaussian = tn.Gaussian(sigma).cost(sensitivity=1.0, adjacency="add-remove")
        laplace = tn.Laplace(sigma).cost(sensitivity=1.0, adjacency="add-remove")
        place = {"sensitivity": min(1.0, width), "domain": (0.0, width)}
        made += [
            fixed_size(sigma, rate),
            gaussian.sampled(rate, "poisson", adjacency="replace-one"),
            laplace.sampled(rate, "poisson"),
            tn.TruncatedGaussian(sigma, 0.0, width).cost(**place),
            tn.RectifiedGaussian(sigma, 0.0, width).cost(**place),
            tn.Staircase(loss, 1.0, 0.4).cost(sensitivity=1.0),
            tn.Tulap(loss, 1.0, 20.0).cost(sensitivity=1.0),
            tn.QuasiGaussianMixture(max(sigma, 0.7), loss, 1.0).cost(sensitivity=1.0),
        ]
    return made


@pytest.mark.parametrize("settings", [1, *by_night(3)])
def test_single_releases(settings, rng):
    """One release against its closed form: the test that finds false certificates."""
    read = 0
    quick = 4  # of eight: the others take seconds each
    for cost in random_costs(rng, settings)[quick if settings == 1 else 0 :]:
        leaf = cost.terms[0][0]
        laws = laws_of(leaf, Refinement((float(rng.uniform(0.5, 20.0)),) * 2, 200))
        assert laws is not None
        for way, law in enumerate(laws.laws):
            x = float(rng.uniform(0.02, 0.9)) * min(leaf.max_loss, 6.0)
            truth = float(leaf.profile(np.array([x]))[way][0])
            for one, is_upper in ((law.upper, True), (law.lower, False)):
                if one is None or truth < 1e-12:
                    continue
                found = core.Composition([(one, 1.0), (NOTHING, 1.0)]).delta(x)
                if is_upper:
                    assert found[1] >= truth * (1 - 2e-10)
                else:
                    assert found[0] <= truth
                # The contour of atoms, and their sum.
                low, high = core.Composition([(one, 1.0)]).delta(x)
                assert found[0] <= high
                assert found[1] >= low
                assert low <= truth * (1 + 1e-9) or is_upper
                assert high >= truth * (1 - 2e-10) or not is_upper
                read += 1
    assert read > 8 * settings


def test_sums_of_close_atoms():
    """Randomised response, 200 times as one law, 50 times: 10,000 of them by their binomials."""
    loss, inner, outer = 0.01, 200, 50
    k = np.arange(inner + 1)
    log_p = math.log(1 / (1 + math.exp(-loss)))
    choose = np.array([math.lgamma(inner + 1) - math.lgamma(i + 1) for i in k])
    choose -= np.array([math.lgamma(inner - i + 1) for i in k])
    masses = choose + k * log_p + (inner - k) * (log_p - loss)
    law = core.atoms((2.0 * k - inner) * loss, masses, is_log=True)
    composed = core.Composition([(law, outer)])
    for x in (0.5, 5.0):
        truth = composed_delta(loss, 0.0, inner * outer, x)
        low, high = composed.delta(x)
        assert low <= truth * (1 + 1e-9)
        assert high >= truth * (1 - 1e-9)
        assert high - low <= 1e-3 * high


@pytest.mark.parametrize("kind", [*by_night(0), 1])
def test_agrees_with_the_lattice(kind, rng):
    """Both ways prove intervals, and these meet."""
    many = random_costs(rng, 1)[kind] * 10_000
    composition = composition_of(many.terms, of_atoms=True)
    assert composition is not None
    ours, theirs = composition.epsilon(1e-5), bounds_on_lattice("epsilon", many, 1e-5)
    assert ours.lower <= ours.upper
    assert ours.lower <= theirs[1]
    assert theirs[0] <= ours.upper


def replaced(sigma, rate):
    once = tn.Gaussian(sigma).cost(sensitivity=1.0, adjacency="add-remove")
    return once.sampled(rate, "poisson", adjacency="replace-one")


@pytest.mark.parametrize(
    "cost",
    [
        fixed_size(1.0, 0.01) * 2,
        fixed_size(1.0, 0.01) * 50,
        fixed_size(5.0, 0.02) * 1_000_000,
        replaced(1.0, 0.01) * 300,
        tn.Laplace(1.0).cost(sensitivity=1.0).sampled(0.1, "poisson") * 3,
        tn.Laplace(1.0).cost(sensitivity=1.0).sampled(0.1, "poisson") * 1_000,
        tn.Staircase(1.0, 1.0, 0.4).cost(sensitivity=1.0) * 100,
        tn.Laplace(2.0).cost(sensitivity=1.0) * 1_000_000,
    ],
    ids=[
        "2",
        "50",
        "1000000",
        "replaced",
        "Laplace, 3",
        "Laplace, 1000",
        "staircase",
        "much Laplace",
    ],
)
def test_narrow(cost, check_error):
    lower, upper = cost.epsilon_bounds(1e-6)
    assert 0 < lower <= upper
    check_error("epsilon, atoms", (upper - lower) / upper, 1e-6)
    # What is asked for alone takes less time, and is no less.
    assert upper <= cost.epsilon(1e-6) <= upper * (1 + 1e-4)
    low, high = cost.delta_bounds(upper)
    assert low <= 1e-6 * (1 + 1e-9)
    assert high >= low


def test_training_and_atoms():
    """A training and counts with other noise in one contour, beside what each costs alone."""
    once = tn.Gaussian(1.0).cost(sensitivity=1.0, adjacency="add-remove")
    training = once.sampled(0.01, "poisson") * 3_000
    counts = tn.Staircase(0.05, 1.0, 0.5).cost(sensitivity=1.0, adjacency="add-remove") * 40
    both = training + counts
    assert composition_of(both.terms) is not None
    lower, upper = both.epsilon_bounds(1e-7)
    assert upper - lower <= 1e-6 * upper
    alone = training.epsilon_bounds(1e-7)
    assert alone[0] < lower < upper < alone[1] + 2.0
    # The lattice, which is all that served this before.
    low, high = bounds_on_lattice("epsilon", both, 1e-7)
    assert low <= upper
    assert lower <= high


def test_directions():
    """delta of the swapped pair is 1 - e^x + e^x delta(-x), the infinite masses counted."""
    once = tn.Laplace(1.0).cost(sensitivity=1.0, adjacency="add-remove").sampled(0.1, "poisson")
    laws = laws_of(once.terms[0][0], Refinement((3.0, 3.0), 200))
    assert laws is not None
    ahead, behind = (core.Composition([(law.upper, 50.0)]) for law in laws.laws)
    for x in (0.1, 1.5):
        low, high = ahead.delta(-x)
        scale = math.exp(x)
        below, above = behind.delta(x)
        assert below <= 1 - scale + scale * high + 1e-10
        assert above >= 1 - scale + scale * low - 1e-10


@pytest.mark.parametrize("mass", [1e-300, *by_night(1e-12), 0.5])
@pytest.mark.parametrize("count", [1.0, pytest.param(3.0, marks=pytest.mark.nightly), 1e9])
def test_adversarial(mass, count):
    """Losses of 1e-300 and 700, masses as small, counts of 1e9, and an infinite loss."""
    losses = np.array([-1e-300, 0.0, 1e-300, 700.0])
    masses = np.array([0.25 - 1e-9, max(0.5 - mass, 1e-300), 0.25, mass])
    composed = core.Composition([(core.atoms(losses, masses, 1e-9), count)])
    infinite = -math.expm1(count * math.log1p(-1e-9))
    for x in (0.0, 1.0, 650.0):
        low, high = composed.delta(x)
        assert low <= high
        assert high >= infinite * (1 - 1e-12)
        largest = -math.expm1(count * math.log1p(-min(mass + 1e-9, 0.99)))
        assert low <= largest * (1 + 1e-9)
