"""Directions that show whether a record is in a sample, told by the others alone."""

import math

import numpy as np
import pytest
from by_night import by_night

from tightnoise._core import cost
from tightnoise.costs import _far_apart
from tightnoise.costs._direction_pair import DirectionPair
from tightnoise.costs._exact import composition_of
from tightnoise.costs._far_apart import FarApart
from tightnoise.costs._gaussian_pair import GaussianPair
from tightnoise.costs._sampled import Sampled


def sampled(leaf, rate):
    return Sampled(((leaf, 1),), rate, "poisson")


def nothing(question, at):
    return 0.0, 0.0


@pytest.mark.parametrize("kappa", [0.5, 20.0, 3000.0])
@pytest.mark.parametrize("dim", [2, 3, 40])
@pytest.mark.parametrize("half_chord", [0.1, 0.7, 1.0])
def test_overlap(kappa, dim, half_chord):
    # 1 less the total variation, which is twice what it bounds, where that has digits.
    pair = DirectionPair(kappa, dim, half_chord)
    apart = pair.profile(np.zeros(1))[0][0]
    assert 0.5 * (1 - apart) <= pair.overlap + 1e-10
    assert pair.overlap <= math.sqrt(1 - apart**2) + 1e-4


@pytest.mark.parametrize("cases", [40, *by_night(2000)])
def test_one_by_its_closed_form(cases, rng, monkeypatch):
    # Also where they are not so far apart: the proof holds of any.
    monkeypatch.setattr(_far_apart, "_NOTHING", 1e9)
    monkeypatch.setattr(_far_apart, "_LITTLE", math.inf)
    close = 0
    for _ in range(cases):
        kappa, dim = math.exp(rng.uniform(0, 8)), int(math.exp(rng.uniform(0.7, 7)))
        leaf = sampled(
            DirectionPair(kappa, dim, rng.uniform(0.05, 1)), 10 ** rng.uniform(-5, -0.01)
        )
        known = FarApart.of(((leaf, 1),))
        x = rng.exponential(3.0)
        low, high = known.delta(x, nothing)
        truth = leaf.profile(np.array([x]))[0][0]
        assert low <= truth * (1 + 1e-9)
        assert truth <= high * (1 + 1e-9)
        close += high - low <= 1e-6 * high
    assert close >= cases / 5


@pytest.mark.parametrize("cases", [6, *by_night(200)])
def test_beside_a_gaussian(cases, rng, monkeypatch):
    # By the core's own law of directions: not that far apart, so that contours tell them, too.
    monkeypatch.setattr(_far_apart, "_NOTHING", 1e9)
    monkeypatch.setattr(_far_apart, "_LITTLE", math.inf)
    told = 0
    for _ in range(cases):
        kappa, dim, rate = rng.uniform(8, 100), int(rng.integers(2, 20)), 10 ** rng.uniform(-4, -1)
        pair, mu = DirectionPair(kappa, dim, rng.uniform(0.8, 1)), rng.uniform(0.2, 1.5)
        count, x = int(rng.integers(1, 4)), rng.uniform(0, 2)
        known = FarApart.of(((sampled(pair, rate), count), (GaussianPair(1 / mu), 1)))
        assert known.others == ((GaussianPair(1 / mu), 1),)
        gaussian = cost.Composition([(cost.gaussian(mu), 1)])
        law = pair.sampled_law(rate, "remove").upper
        both = cost.Composition([(law, count), (cost.gaussian(mu), 1)])
        delta = 1 - (1 - rate) ** count * (1 - 10 ** rng.uniform(-4, -1))
        for question, at in (("delta", x), ("epsilon", delta)):
            found = getattr(known, question)(
                at, lambda question, at, one=gaussian: getattr(one, question)(at)
            )
            low, high = (0.0, math.inf) if found is None else found
            below, above = getattr(both, question)(at)
            assert low <= above * (1 + 1e-14), (pair, mu, count, rate, question, at)
            assert below <= high * (1 + 1e-14), (pair, mu, count, rate, question, at)
            told += high - low <= 1e-6 * high and above - below <= 1e-6 * above
    assert told >= cases / 3


def test_composition_takes_it():
    # Losses of thousands next to those that count: 20 % wide, and seconds, by contours of all.
    direction = sampled(DirectionPair(4835.6, 124, 1.0), 2e-4), 1
    gaussians = sampled(GaussianPair(1.2), 0.01), 1000
    low, high = composition_of((direction, gaussians)).epsilon(3e-4)
    rest = composition_of((gaussians,)).epsilon((3e-4 - 2e-4) / (1 - 2e-4))
    assert 1 < low <= high <= low * (1 + 1e-6)
    assert rest.lower + math.log1p(-2e-4) <= high * (1 + 1e-14)
    assert low <= (rest.upper + math.log1p(-2e-4)) * (1 + 1e-14)


def test_what_is_no_direction_on_a_sample_is_among_the_others():
    pair = DirectionPair(5000.0, 20, 1.0)
    replaced = Sampled(((pair, 1),), 0.1, "fixed-size")
    for leaf in (pair, replaced, sampled(GaussianPair(0.01), 0.1)):
        assert FarApart.of(((leaf, 3),)) is None
    assert FarApart.of(((sampled(DirectionPair(5.0, 20, 1.0), 0.1), 3),)) is None


def test_so_many_that_a_record_is_surely_shown():
    sure = FarApart.of(((sampled(DirectionPair(5000.0, 20, 1.0), 0.1), 10**5),))
    assert sure.epsilon(0.5, nothing) is None
    assert sure.delta(1.0, nothing) == (pytest.approx(1.0, abs=1e-10), 1.0)
