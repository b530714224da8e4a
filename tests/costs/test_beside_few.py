"""Releases beside others with few sums of losses: both sides, in either direction."""

import dataclasses
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from by_night import rows_by_night

import tightnoise as tn
from tightnoise.costs._beside_few import _between, _Reading, beside_few_sums
from tightnoise.costs._exact import Bounds
from tightnoise.costs._leaf import losses_of_leaf

TABLE = [math.log(0.5), math.log(1.125)], [0.1, 0.9]


def noise(sigma, rate, count=1):
    once = tn.Gaussian(sigma).cost(sensitivity=1.0, adjacency="add-remove")
    return once.sampled(rate, "poisson") * count


def sampled_delta(y, sigma, rate, way):
    """D(y), any sign of y, of one sampled Gaussian, or with both distributions exchanged."""
    mu, rate, y = 1 / mp.mpf(sigma), mp.mpf(rate), mp.mpf(y)
    excess = mp.expm1(y if way == 0 else -y) / rate + 1
    if excess <= 0:  # all losses are above y, or none are
        return -mp.expm1(y) if way == 0 else mp.mpf(0)
    z = mp.log(excess) / mu + mu / 2
    if way == 0:
        p, q = (1 - rate) * mp.ncdf(-z) + rate * mp.ncdf(mu - z), mp.ncdf(-z)
        return p - mp.exp(y) * q
    p, q = (1 - rate) * mp.ncdf(z) + rate * mp.ncdf(z - mu), mp.ncdf(z)
    return q - mp.exp(y) * p


def truth_of(x, sigma, rate, losses, masses, way):
    found = mp.mpf(0)
    for loss, mass in zip(losses, masses, strict=True):
        p = mp.mpf(mass) * (mp.exp(-mp.mpf(loss)) if way else 1)
        found += p * sampled_delta(x + loss if way else x - loss, sigma, rate, way)
    return found


@pytest.mark.parametrize(("sigma", "rate"), [(0.4, 1e-5), *rows_by_night((1.2, 0.01)), (3.0, 0.1)])
def test_one_release_as_its_closed_form_says(sigma, rate, check_error):
    cost = noise(sigma, rate) + tn.Cost.of_losses(*TABLE, adjacency="add-remove")
    found = beside_few_sums(cost.terms)
    with mp.workdps(40):
        for x in (0.02, 0.11, 0.3):
            ways = [truth_of(x, sigma, rate, *TABLE, way) for way in (0, 1)]
            for way, truth in enumerate(ways):
                # Inputs are rounded, and the second of the table's distributions is what is left.
                above = found._read(way, x, float(truth))
                below = found._read(way, x + found._apart(way, x), float(truth))
                assert below.lower * (1 - 1e-13) <= truth <= above.upper * (1 + 1e-13) + 1e-299
            truth = float(max(ways))
            if truth < 1e-20:
                continue
            lower, upper = found.delta(x)
            assert lower * (1 - 1e-13) <= truth <= upper * (1 + 1e-13)
            check_error("deltas beside few sums", 1 - lower / upper, 1e-5)
            lower, upper = found.epsilon(truth, Bounds(0.0, math.inf))
            assert lower * (1 - 1e-12) <= x <= upper * (1 + 1e-12)
            check_error("epsilons beside few sums", 1 - lower / upper, 1e-6)


def test_two_releases_as_a_lattice_says():
    # Of tiny losses, beside large ones: the lattice of all together is too coarse.
    once = tn.Laplace(1.8).cost(sensitivity=1.0, adjacency="add-remove").sampled(1e-5, "poisson")
    cost = once * 500 + tn.Cost.of_response(0.91, adjacency="add-remove") * 3
    lower, upper = cost.epsilon_bounds(4e-9)
    assert 0 < lower <= upper <= lower * (1 + 1e-6)
    assert upper <= once.epsilon(0.0) * 500 + tn.Cost.of_response(0.91).epsilon(0.0) * 3


def test_left_to_others():
    gaussian = tn.Gaussian(1.0).cost(sensitivity=1.0, adjacency="add-remove")
    response = tn.Cost.of_response(0.7, adjacency="add-remove")
    for cost in (noise(1.0, 0.01, 3), response * 2, gaussian + tn.Cost.of_zcdp(0.1)):
        assert beside_few_sums(cost.terms) is None
    assert beside_few_sums((noise(1.0, 0.01, 3) + response * 2).terms) is not None


def test_readings_on_either_side_prove_both_sides(rng):
    for _ in range(200):
        # Sums of positive parts are convex in e^x; readings are off by a little.
        losses, masses = rng.uniform(0.0, 3.0, 30), rng.dirichlet(np.ones(30))

        def delta(x, losses=losses, masses=masses):
            return float((masses * np.maximum(-np.expm1(x - losses), 0.0)).sum())

        root = rng.uniform(0.1, 2.0)
        target, off = delta(root), 10.0 ** rng.uniform(-12, -3)
        places = root * (1 + 10.0 ** rng.uniform(-6, -0.5, 3) * rng.choice([-1, 1], 3))
        apart = 10.0 ** rng.uniform(-12, -6)
        readings = [
            _Reading(x, delta(x) * (1 - off), delta(x) * (1 + off), x - apart)
            for x in places.tolist()
        ]
        lower, upper = _between(readings, target)
        assert lower <= root * (1 + 1e-12)
        assert root <= upper * (1 + 1e-12)


def test_readings_far_apart_prove_what_those_at_hand_do():
    readings = [_Reading(1.0, 0.5, 0.5, 1.0), _Reading(2000.0, 1e-9, 1e-9, 2000.0)]
    assert _between(readings, 1e-3) == pytest.approx((1.0, 2000.0))
    assert _between(readings, 0.5) == pytest.approx((0.0, 1.0))


def test_what_is_at_most_the_floor_counts_as_nothing_from_below():
    told = tn.Cost.of_response(0.7, adjacency="add-remove")
    found = beside_few_sums((noise(1.0, 0.01) + told).terms)
    # As of a composition, whose bounds up to a floor may be those of the law above.
    floored = dataclasses.replace(found, rest=lambda way, x, floor: Bounds(floor, floor))
    lower, upper = floored._read(0, 1.0, 1e-3)
    assert lower == 0.0 < upper < 1e-11


def test_readings_that_tell_nothing_are_given_up_after_one_direction():
    cost = noise(1.0, 1e-3, 3) + tn.Cost.of_losses(*TABLE, adjacency="add-remove")
    known, read = Bounds(0.1, 0.2), []

    def wide(way, x, floor):
        read.append(way)
        return Bounds(0.0, 1.0)

    beside = dataclasses.replace(beside_few_sums(cost.terms), rest=wide)
    assert len(beside.coarse) == 2
    assert beside.epsilon(1e-6, known) == known
    assert len(set(read)) == 1


def test_differences_of_an_epsilon_and_sums_are_rounded_down():
    places = []

    def rest(way, x, floor):
        places.append(x)
        return Bounds(0.0, 1.0)

    told = tn.Cost.of_response(0.7, adjacency="add-remove") * 3
    found = beside_few_sums((noise(1.0, 0.01) + told).terms)
    for x in (1e-9, 0.3, 7.7, 1e6):
        places.clear()
        dataclasses.replace(found, rest=rest)._read(0, x, 0.0)
        above, below = found.few.ways[0]
        apart = found._apart(0, x)
        for place, high, low in zip(places, above.losses, below.losses, strict=True):
            assert Fraction(place) <= Fraction(x) - Fraction(high)
            assert Fraction(place) >= Fraction(x) - Fraction(apart) - Fraction(low)


def test_one_release_beside_others_as_its_profile_says():
    once = tn.Laplace(1.4).cost(sensitivity=1.0, adjacency="add-remove").sampled(0.17, "poisson")
    cost = once + tn.Cost.of_losses(*TABLE, adjacency="add-remove")
    lower, upper = cost.epsilon_bounds(1e-7)
    assert 0 < lower <= upper <= lower * (1 + 1e-6)


def test_other_losses_do_not_limit_the_tilt():
    # Only at a tilt above that which suits the staircase are the true values told that cost most.
    noisy = tn.TruncatedGaussian(0.245, 0.0, 0.406).cost(
        sensitivity=0.0588, domain=(0.0, 0.406), adjacency="add-remove"
    )
    stairs = tn.Staircase(3.96, 1.0, 0.0228).cost(sensitivity=0.506, adjacency="add-remove")
    lower, upper = (noisy * 3 + stairs * 5).epsilon_bounds(2.4e-5)
    assert (1 - 2e-5) * upper < lower <= upper


def test_staircases_have_few_losses(rng):
    for _ in range(60):
        epsilon, step = 10.0 ** rng.uniform(-2, 1.5), 10.0 ** rng.uniform(-1, 1)
        gamma = float(rng.choice([0.0, 0.5, 1.0, rng.uniform()]))
        change = step * float(
            rng.choice([1.0, rng.uniform(), gamma or 1.0, min(2 * gamma or 1, 1)])
        )
        cost = tn.Staircase(epsilon, step, gamma).cost(sensitivity=change)
        ((leaf, _),) = cost.terms
        release = losses_of_leaf(leaf)
        assert leaf.reached() is release
        assert release.values.size <= 3
        masses = np.exp(release.log_mass)
        assert masses.sum() == pytest.approx(1, abs=1e-14)
        for x in epsilon * np.array([0.0, 0.4, 0.99]):
            told = float((masses * np.maximum(-np.expm1(x - release.values), 0.0)).sum())
            assert told == pytest.approx(float(leaf.profile(np.array([x]))[0][0]), rel=2e-11)
    further = tn.Staircase(1.0, 1.0, 0.3).cost(sensitivity=1.5)
    assert further.terms[0][0].reached() is None


def test_seldom_noise_with_bounds_composes_from_below():
    # The pair is told in the order that costs more, and its errors are as seldom as its losses.
    once = tn.TruncatedGaussian(0.44, 0.0, 3.0).cost(
        sensitivity=1.13, domain=(0.0, 3.0), adjacency="add-remove"
    )
    lower, upper = (once.sampled(8e-6, "poisson") * 16).epsilon_bounds(4.6e-8)
    assert 0.99 * upper < lower <= upper


def test_what_does_not_compose_from_below_costs_no_less_than_the_rest():
    seldom = tn.BoundedLaplace(scale=0.15, lower=0.0, upper=8.9).cost(
        sensitivity=1.0, adjacency="add-remove"
    )
    rest = tn.Laplace(1.77).cost(sensitivity=1.0, adjacency="add-remove") * 2
    lower, _ = (seldom.sampled(8e-4, "poisson") * 4 + rest).epsilon_bounds(3.8e-6)
    assert lower >= 0.999 * rest.epsilon_bounds(3.8e-6)[0] > 0
