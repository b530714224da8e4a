"""One pair of neighbours in cells: not above its own profile, and next to it."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

import tightnoise as tn
from tightnoise.costs._atom_laws import releases_below
from tightnoise.costs._cell_pairs import pair_in_domain
from tightnoise.costs._leaf import UntoldError
from tightnoise.costs._shifted_pair import EXACT, shifted_pair


def divergence(p, q, epsilon, ends):
    """Of two densities on an interval, in steps in which they hardly bend."""
    t = mp.exp(epsilon)
    edges = sorted({*ends, *mp.linspace(min(ends), max(ends), 9)})
    steps = itertools.pairwise(edges)
    return sum(mp.quad(lambda y: max(p(y) - t * q(y), 0), step, maxdegree=4) for step in steps)


def assert_within(found, truth, excess, near):
    """Not above what the excess says, and not far below."""
    assert found <= (1 + excess.height) * truth + excess.absolute
    assert found >= truth * (1 - near) - 1e-15


@pytest.mark.parametrize(("width", "shift", "tilt"), [(2.0, 0.5, 0.0), (2.0, 0.5, 500.0)])
def test_bounded_laplace(width, shift, tilt):
    """Of the middle where tilts are small, else of an end, where the largest losses are."""
    found = pair_in_domain("bounded-laplace", width, shift, tilt)
    start = 0.5 * (width - shift) if tilt == 0 else 0.0

    def whole(value):
        return 2 - mp.exp(-value) - mp.exp(value - width)

    def density(value):
        return lambda y: mp.exp(-abs(y - value)) / whole(value)

    p, q = density(mp.mpf(start)), density(mp.mpf(start + shift))
    for epsilon in (0.0, 0.2):
        # Where losses are epsilon and -epsilon: between both values they fall by 2 y.
        middle = 2 * start + shift + mp.log(whole(start + shift) / whole(start))
        bends = [0.5 * (middle - epsilon), 0.5 * (middle + epsilon)]
        ends = [0.0, start, start + shift, width, *(y for y in bends if 0 < y < width)]
        both = found.profile(np.array([epsilon]))
        for side, pair in zip(both, ((p, q), (q, p)), strict=True):
            assert_within(
                float(side[0]), float(divergence(*pair, epsilon, ends)), found.excess, 1e-6
            )


@pytest.mark.parametrize("sensitivity", [0.4, 1.0, 1.7])
def test_shifts_of_noise_with_several_modes(sensitivity):
    """Against the law's own divergences at all shifts: one of them has this profile."""
    for noise in (
        tn.QuasiGaussianMixture(1.0, 0.5, 1.0),
        tn.MultiGaussianMixture(0.2, 1.0, 1.0, 5),
    ):
        (leaf, _), *_ = noise.cost(sensitivity=sensitivity).terms
        assert not leaf.is_attained
        for tilt in (0.0, 5.0):
            found = shifted_pair(leaf._core_law, sensitivity, tilt)
            epsilons = np.array([0.0, 0.3, 1.0, 2.0])
            profile = found.profile(epsilons)[0]
            worst = leaf.profile(epsilons)[0]
            assert (profile <= worst * (1 + 1e-9)).all()
            shifts = np.linspace(0.0, sensitivity, 401)[1:]
            at = np.meshgrid(shifts, epsilons, indexing="ij")
            truths = np.empty(at[0].size)
            leaf._core_law.hockey_stick(at[0].ravel(), at[1].ravel(), truths)
            truths = truths.reshape(at[0].shape)
            assert np.min(np.max(np.abs(truths - profile), axis=1)) < 1e-3


@pytest.mark.parametrize("times", [0.25, 0.5])
def test_no_lower_side_where_a_loss_stays_at_epsilon(times):
    """All along a flank of one mode: there the upper bound is 1500 times the true divergence."""
    noise = tn.MultiGaussianMixture(1.0, 0.5, 1.0, 40)
    cost = noise.cost(sensitivity=times)
    (leaf, _), *_ = cost.terms
    assert leaf.is_attained
    x = np.linspace(-60.0, 60.0, 100_001)
    here, there = (
        sum(np.exp(-0.5 * abs(k) - 0.5 * (x + shift - k) ** 2) for k in range(-40, 41))
        for shift in (times, 0.0)
    )
    truth = float(np.maximum(here - np.exp(0.5 * times) * there, 0.0).sum() / there.sum())
    lower, upper = cost.delta_bounds(0.5 * times)
    assert lower <= truth * (1 + 1e-5)
    assert upper >= truth * (1 - 1e-5)
    lower, upper = cost.delta_bounds(0.6 * times)  # elsewhere both sides are as near as they were
    assert lower >= upper * (1 - 1e-10) > 0


def test_divergences_of_a_shift_are_rounded_upwards():
    """By more than they are wrong by, and by no more than their excess says."""
    for noise in (
        tn.QuasiGaussianMixture(1.0, 0.5, 1.0),
        tn.MultiGaussianMixture(0.2, 1.0, 1.0, 5),
        tn.Laplace(1.0),
    ):
        law = noise._law
        epsilons = np.array([0.0, 0.3, 0.8, 2.0, 5.0])
        shifts, upper, near = np.full(5, 0.9), np.empty(5), np.empty(5)
        law.shift_delta(shifts, epsilons, upper)
        law.hockey_stick(shifts, epsilons, near)
        some = near > 1e-280
        assert some[:3].all()
        assert (upper[some] >= near[some] * (1 + 5e-12)).all()
        assert (upper[some] <= near[some] * (1 + EXACT.height)).all()
        assert (upper[~some] <= 1e-279).all()


def test_a_shift_that_cannot_be_told_has_no_lower_side(monkeypatch):
    (leaf, _), *_ = tn.QuasiGaussianMixture(1.0, 0.5, 1.0).cost(sensitivity=1.0).terms
    assert releases_below(leaf, None) is not None

    def untold(epsilons):
        raise UntoldError

    found = leaf.attained()
    monkeypatch.setattr(type(leaf), "attained", lambda *_: found._replace(profile=untold))
    assert releases_below(leaf, None) is None


def test_noise_of_several_modes_on_samples_beyond_what_the_other_direction_loses():
    noise = tn.QuasiGaussianMixture(1.0, 0.5, 1.0).cost(sensitivity=1.0, adjacency="add-remove")
    sampled = noise.sampled(0.1, "poisson")
    lower, upper = (sampled * 100).epsilon_bounds(1e-6)
    assert 0.99 * upper < lower <= upper
    assert lower >= sampled.epsilon_bounds(1e-6)[0]


def test_several_modes_have_a_lower_side():
    """Of one release of what one shift costs, of many next to the upper side."""
    cost = tn.QuasiGaussianMixture(1.0, 0.5, 1.0).cost(sensitivity=1.0)
    for times in (1, 10, 1000):
        lower, upper = (cost * times).epsilon_bounds(1e-6)
        assert lower <= upper
        assert lower >= upper * (1 - 2e-6)
        low, high = (cost * times).delta_bounds(lower)
        assert low <= high
        assert high >= 1e-6
    lower, upper = cost.epsilon_bounds(1e-6)
    assert lower <= cost.epsilon(1e-6) <= upper


def test_the_middle_of_a_domain_composes_to_more_than_an_end():
    cost = tn.BoundedLaplace(scale=1.0, lower=0.0, upper=2.0).cost(sensitivity=0.5)
    lower, upper = (cost * 20).epsilon_bounds(1e-6)
    assert 9.26 < lower <= upper
    # Of two releases an end costs more: of the largest losses alone.
    assert (cost * 2).epsilon_bounds(1e-6)[0] > 1.57
    assert math.isfinite(upper)
