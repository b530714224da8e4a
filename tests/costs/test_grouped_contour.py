"""Contours of groups of records on Poisson samples, against formulas and against each other."""

import math

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night, rows_by_night

from tightnoise._core import cost
from tightnoise.costs._grouped_gaussian import GroupedGaussian

NOTHING = (cost.atoms(np.array([0.0]), np.array([1.0])), 1)  # with it, a release is a composition


def density(z, mu, q, records):
    """Of so many records with contributions mu, or -mu of less than none, over that of none."""
    n, way = abs(records), 1 if records > 0 else -1
    return mp.fsum(
        mp.binomial(n, j) * q**j * (1 - q) ** (n - j) * mp.exp(j * mu * (way * z - j * mu / 2))
        for j in range(n + 1)
    )


def once(x, mu, q, ours, theirs):
    """delta of one release at a real epsilon."""

    def loss(z):
        return mp.log(density(z, mu, q, ours) / density(z, mu, q, -theirs))

    low, high = -(ours + theirs) * mu - 40, (ours + theirs) * mu + 40
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if loss(middle) < x else (low, middle)

    def above(n, way):
        return mp.fsum(
            mp.binomial(n, j) * q**j * (1 - q) ** (n - j) * mp.ncdf(way * j * mu - low)
            for j in range(n + 1)
        )

    return above(ours, 1) - mp.exp(x) * above(theirs, -1)


def random_pair(rng, most):
    ours = int(rng.integers(0, most + 1))
    return ours, int(rng.integers(0 if ours else 1, most + 1))


@pytest.mark.parametrize("cases", [3, *by_night(1000)])
def test_one_release(cases, rng):
    for _ in range(cases):
        sigma, rate = math.exp(rng.uniform(-1.5, 3)), 10 ** rng.uniform(-4, -0.02)
        ours, theirs = random_pair(rng, 6)
        with mp.workdps(40):
            mu, q = 1 / mp.mpf(sigma), mp.mpf(rate)
            z = mp.mpf(rng.uniform(-1, 5 + ours / sigma))
            x = float(mp.log(density(z, mu, q, ours) / density(z, mu, q, -theirs)))
            truth = once(mp.mpf(x), mu, q, ours, theirs)
        law = cost.grouped_gaussian(sigma, rate, ours, theirs)
        for terms in ([(law, 1), NOTHING], [(law, 1)])[: 2 if x >= 0 else 1]:
            lower, upper = cost.Composition(terms).delta(x)
            assert lower <= truth <= upper, (sigma, rate, ours, theirs, x)
            assert upper <= 1


@pytest.mark.parametrize("cases", [6, *by_night(1000)])
def test_two_contours(cases, rng):
    for _ in range(cases):
        sigma, rate = math.exp(rng.uniform(-0.7, 2.5)), 10 ** rng.uniform(-3, -0.02)
        count, delta = math.floor(10 ** rng.uniform(0.5, 6)), 10 ** rng.uniform(-15, -2)
        pair = random_pair(rng, 4)
        terms = [(cost.grouped_gaussian(sigma, rate, *pair), count)]
        low, high = cost.Composition(terms).epsilon(delta)
        below, above = cost.Composition(terms, tilt=0.7).epsilon(delta)
        assert low <= above, (sigma, rate, count, delta, pair)
        assert below <= high, (sigma, rate, count, delta, pair)


@pytest.mark.parametrize("cases", [4, *by_night(1000)])
def test_one_record_is_a_sampled_one(cases, rng):
    for _ in range(cases):
        sigma, rate = math.exp(rng.uniform(-0.7, 2.5)), 10 ** rng.uniform(-3, -0.02)
        count, delta = math.floor(10 ** rng.uniform(0.5, 6)), 10 ** rng.uniform(-15, -2)
        for way, pair in (("remove", (1, 0)), ("add", (0, 1))):
            known = [(cost.sampled_gaussian(sigma, rate, way), count)]
            low, high = cost.Composition(known).epsilon(delta)
            terms = [(cost.grouped_gaussian(sigma, rate, *pair), count)]
            below, above = cost.Composition(terms).epsilon(delta)
            assert low <= above, (sigma, rate, count, delta, pair)
            assert below <= high, (sigma, rate, count, delta, pair)


NARROW = [  # sigma, rate, ours, theirs, count, delta
    (1.0, 0.01, 2, 0, 1000, 1e-6),
    (1.0, 0.01, 0, 3, 1000, 1e-6),
    (2.0, 0.1, 3, 1, 100, 1e-10),
    (1.0, 0.01, 8, 0, 10_000, 1e-6),
    (0.5, 0.001, 3, 0, 1000, 1e-6),
    (0.12, 0.4, 1, 1, 6, 1e-6),
    (0.3, 0.2, 2, 2, 5, 1e-6),
    (0.661, 2.18e-4, 2, 1, 11, 9.8e-6),
    (1.0, 1.0, 2, 1, 3, 1e-5),
]


@pytest.mark.parametrize(("sigma", "rate", "ours", "theirs", "count", "delta"), NARROW)
def test_narrow(sigma, rate, ours, theirs, count, delta):
    composed = cost.Composition([(cost.grouped_gaussian(sigma, rate, ours, theirs), count)])
    lower, upper = composed.epsilon(delta)
    assert 0 < upper - lower <= 1e-6 * upper
    assert composed.delta(lower)[1] >= delta * (1 - 1e-12)
    assert composed.delta(upper)[0] <= delta * (1 + 1e-12)


@pytest.mark.parametrize("count", [1, 10**9])
@pytest.mark.parametrize("rate", [1e-100, 0.5, 1 - 2.0**-53])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 1e6])
@pytest.mark.parametrize("pair", [(3, 0), pytest.param((0, 3), marks=pytest.mark.nightly), (5, 5)])
def test_extremes_stay_sound(pair, sigma, rate, count):
    terms = [(cost.grouped_gaussian(sigma, rate, *pair), count)]
    lower, upper = cost.Composition(terms).epsilon(1e-5)
    assert 0 <= lower <= upper
    gaussian = cost.gaussian(sum(pair) / sigma)
    assert lower <= cost.Composition([(gaussian, count)]).epsilon(1e-5)[1] * (1 + 1e-12)


def test_both_closed_forms_of_a_release_agree(rng):
    for _ in range(200):
        sigma, rate = math.exp(rng.uniform(-2, 6)), min(10 ** rng.uniform(-9, 0.02), 0.9999)
        pair = random_pair(rng, 8)
        known = GroupedGaussian(1 / sigma, rate, *pair)
        epsilon = known.largest * rng.uniform(0, 1) * (rng.random() < 0.9)
        law = cost.grouped_gaussian(sigma, rate, *pair)
        lower, upper = cost.Composition([(law, 1)]).delta(epsilon)
        delta = known.delta(np.array([epsilon]))[0]
        assert lower <= delta
        excess = known.excess
        beside = known.delta(np.array([epsilon * (1 + 2 * excess.argument)]))[0]
        assert beside / (1 + excess.height) - 1e-290 <= upper * (1 + excess.height)


@pytest.mark.parametrize(("ours", "theirs"), [(16, 0), *rows_by_night((12, 4)), (1, 7)])
def test_records_that_are_hardly_ever_in_a_sample(ours, theirs):
    law = cost.grouped_gaussian(1.0, 1e-5, ours, theirs)
    one, other = (cost.Composition([(law, 30)], tilt=tilt) for tilt in (1.0, 0.7))
    lower, upper = one.epsilon(1e-6)
    assert 0 < lower <= upper <= lower * (1 + 1e-6)
    again = other.epsilon(1e-6)
    assert again[0] <= upper
    assert lower <= again[1]
    at = 0.5 * upper
    first, second = one.delta(at), other.delta(at)
    assert 0 < first[0] <= second[1]
    assert second[0] <= first[1]
    assert cost.Composition([(law, 1)]).delta(at)[0] <= first[1]  # others left out


def test_below_another_case_no_more_is_told():
    law = cost.grouped_gaussian(1.0, 1e-5, 12, 4)
    _, upper = cost.Composition([(law, 30)]).epsilon(1e-6)
    lower, told = cost.Composition([(law, 30)]).epsilon(1e-6, 1.2 * upper)
    assert upper <= told <= 1.2 * upper
    assert lower < 0.9 * upper  # less than a whole answer tells
    assert cost.Composition([(law, 30)]).epsilon(1e-6, 0.9 * upper)[1] > 0.9 * upper


def test_deltas_that_underflow_are_next_to_nothing():
    law = cost.grouped_gaussian(0.101, 0.4, 8, 1)
    lower, upper = cost.Composition([(law, 5)]).delta(1e5)
    assert lower == 0.0
    assert 0.0 < upper < 1e-320


def test_next_to_no_floor_ends():
    law = cost.grouped_gaussian(2.5, 5.918e-06, 8, 0)
    assert cost.Composition([(law, 5000)]).epsilon(9e-3, 1e-22) == (0.0, 1e-22)
