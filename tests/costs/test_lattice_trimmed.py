"""Rare large losses, told apart from those on a lattice."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import tightnoise as tn
from tightnoise._core import cost as core
from tightnoise.costs._bounds import LossTable
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._exact import Bounds
from tightnoise.costs._lattice_bounds import _Directions, _trim
from tightnoise.costs._lattice_trimmed import _crossing, top_of


def trimmed_bounds(question, terms, at, known):
    sides = _Directions(known, 2)
    _trim(question, terms, at, sides)
    return sides.best


def table(losses, masses):
    return Release(np.array(losses), np.log(masses), 0.0, 0.0, is_symmetric=False, grid=0.0)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_above_a_cut(seed):
    # All outcomes of five releases of two kinds, with masses of more or less than 1.
    rng = np.random.default_rng(seed)
    kinds = [
        (np.sort(rng.normal(size=4)) * 0.3 + np.array([0, 0, 0, 2.0]), rng.dirichlet(np.ones(4))),
        (np.sort(rng.normal(size=3)) * 0.3 + np.array([0, 0, 1.5]), 0.9 * rng.dirichlet([3, 2, 1])),
    ]
    counts, cut = (3, 2), 1.2
    if max(kind[1][-1] for kind in kinds) > 0.45:
        kinds = [(losses, masses[::-1]) for losses, masses in kinds]
    releases = [kinds[0]] * counts[0] + [kinds[1]] * counts[1]
    terms = tuple((table(*kind), n) for kind, n in zip(kinds, counts, strict=True))
    p = q = 0.0
    outcomes = []
    for places in itertools.product(*(range(losses.size) for losses, _ in releases)):
        each = [releases[i][0][k] for i, k in enumerate(places)]
        mass = math.prod(releases[i][1][k] for i, k in enumerate(places))
        if max(each) > cut:
            outcomes.append((math.fsum(each), mass))
            p += mass
            q += mass * math.exp(-math.fsum(each))
    for x in (0.05, 0.4, 1.0):
        top = top_of(terms, cut, x)
        share = math.fsum(mass * -math.expm1(x - loss) for loss, mass in outcomes if loss > x)
        for bounds, mass in ((top.p, p), (top.q, q * math.exp(x))):
            assert bounds[0] <= mass * (1 + 1e-15)
            assert mass <= bounds[1] * (1 + 1e-15)
        assert top.p[1] - top.p[0] <= 1e-11 * p
        assert top.lower(x) <= share <= top.upper(x)
        assert top.lower(x) == pytest.approx(p - math.exp(x) * q, rel=1e-9)


@pytest.mark.parametrize(("x", "log_mass"), [(300.0, -600.0), (500.0, -300.0), (590.0, -230.0)])
@pytest.mark.parametrize("gap", [1e-3, 0.02, 0.5, 5.0])
def test_what_a_number_is_too_small_for(x, log_mass, gap):
    # Q's mass of the rare loss, e^-890 or less, counts e^x times. Nearly all of 3 P(one) is P(A).
    losses, masses = [-0.1, 0.1, x + gap], [0.475, 0.525, math.exp(log_mass)]
    small = 0.475 * math.exp(0.1) + 0.525 * math.exp(-0.1)
    top = top_of(((table(losses, masses), 3),), x + gap / 2, x)
    share = 3 * masses[2] * (1 - math.exp(-gap) * small**2)
    assert top.lower(x) <= share <= top.upper(x)
    assert top.lower(x) == pytest.approx(share, rel=1e-6)
    assert top.lower(1e4) == -math.inf


def test_no_epsilon_is_found_where_more_is_rare():
    # From all epsilons on, which numbers e^epsilon are too small for.
    losses = (-169.5922929932151, -0.00015814818167797138, 0.0009571828015963411, 627.9660308994215)
    masses = (2.4203027319287154e-96, 0.8581372861606339, 0.14186271383936605, 3.68775535927282e-55)
    others = (-0.02892528745887187, 0.002308555471127721, 386.93719941024113)
    shares = (0.07285144416570553, 0.9271484394124387, 1.1642185569521259e-07)
    terms = ((LossTable(losses, masses), 1), (LossTable(others, shares), 3))
    delta = 3.492655264234939e-07
    found = trimmed_bounds("epsilon", terms, delta, Bounds(0.0, 112.0))
    assert found.upper == 112.0


def test_none_but_rare_losses():
    cost = tn.Cost.of_losses([-444.8590476104802, 0.0], [1.6275606298120732e-266, 1.0]) * 4
    delta = 1.0313991499905793e-72
    lower, upper = cost.epsilon_bounds(delta)
    assert 0 <= lower <= upper <= 444.9
    assert cost.delta(upper) <= delta


@pytest.mark.parametrize(
    ("sigma", "rate", "count", "delta"),
    [
        (0.95, 4e-4, 1155, 2.8e-12),
        (1.9, 8e-4, 100, 1e-11),
        (0.6, 2e-3, 50, 1e-6),
        (1, 1e-3, 3, 1e-8),
    ],
)
def test_as_contours_say(sigma, rate, count, delta):
    # Of records that come or go, which contours know to 1e-9; from a start that is 5 % too high.
    once = tn.Gaussian(sigma).cost(sensitivity=1.0, adjacency="add-remove")
    cost = once.sampled(rate, "poisson") * count
    lower, upper = cost.epsilon_bounds(delta)
    found = trimmed_bounds("epsilon", cost.terms, delta, Bounds(0.0, 1.05 * upper))
    assert found.lower <= upper
    assert lower <= found.upper
    assert found.upper - found.lower <= 4e-5 * found.upper
    deltas = cost.delta_bounds(upper)
    below = trimmed_bounds("delta", cost.terms, upper, Bounds(0.0, 1.0))
    assert below.lower <= deltas[1]
    assert deltas[0] <= below.upper


@pytest.mark.parametrize(
    ("sigma", "rate", "count", "delta", "width"),
    [(0.953, 3.91e-4, 1155, 2.8e-12, 2e-5), (1.0, 1e-4, 100, 1e-20, 1e-6)],
)
def test_fixed_batches(sigma, rate, count, delta, width):
    # 0.11 and 0.002 wide where the lattice had to hold all losses.
    once = tn.Gaussian(sigma).cost(sensitivity=1.0, adjacency="replace-one")
    lower, upper = (once.sampled(rate, "fixed-size") * count).epsilon_bounds(delta)
    assert 0 < lower <= upper <= lower * (1 + width)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_crossing_is_on_the_safe_side(way):
    rng = np.random.default_rng(2)
    for _ in range(200):
        root, bend = 10 ** rng.uniform(-8, 2.5), rng.choice([0.0, 1e-3, 0.5])
        rate = 10 ** rng.uniform(-1, 3) / root
        near = root * (1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-9, -0.3))

        def excess(x, root=root, rate=rate, bend=bend):
            u = rate * (x - root)
            return -u - bend * u * abs(u)

        found = _crossing(excess, near, way)
        assert excess(found) <= 0 if way > 0 else excess(found) > 0
        assert found == pytest.approx(root, rel=1e-8)
    assert _crossing(lambda x: 1.0, 1.0, 1.0) == math.inf
    assert _crossing(lambda x: -1.0, 1.0, -1.0) == 0.0


def test_the_direction_that_cannot_be_the_larger_is_left_out():
    sides = _Directions(Bounds(0.5, 3.0), 2)
    assert sides.left == [0, 1]
    sides.take(0, Bounds(1.0, 2.0))
    assert sides.left == [1, 0]
    sides.take(1, Bounds(0.0, 0.9))
    assert sides.left == [0]
    assert sides.best == Bounds(1.0, 2.0)


def test_delta_with_a_floor():
    # Below a floor any bound up to it will do; above, nothing changes.
    cost = tn.Gaussian(1.0).cost(sensitivity=1.0, adjacency="add-remove").sampled(0.01, "poisson")
    ((leaf, _),) = cost.terms
    for law in leaf.laws():
        composed = core.Composition([(law.upper, 100.0)])
        lower, upper = composed.delta(0.3)
        assert composed.delta(0.3, 0.5 * lower) == (lower, upper)
        low, high = composed.delta(0.3, 2 * upper)
        assert low <= upper
        assert lower <= high <= 2 * upper
