"""Products of losses told as atoms: above the truth and below it, both near."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tightnoise._core import cost as core
from tightnoise.costs._atom_products import (
    LEAST_MASS,
    LossAtoms,
    power,
    product_above,
    product_below,
)
from tightnoise.costs._discrete_losses import Polygon, Release


def pair_of(losses, masses, infinite, infinite_swapped):
    """Those of two distributions: both have 1 in sum."""
    masses = masses * (1 - infinite) / masses.sum()
    centre = math.log((masses * np.exp(-losses)).sum() / (1 - infinite_swapped))
    return LossAtoms(centre, losses, masses, infinite, infinite_swapped)


def some_atoms(rng, size):
    """Many next to the centre, few of them frequent, and some far from it."""
    near = 1e-3 * rng.exponential(size=size - size // 4)
    losses = np.sort(np.append(near, rng.exponential(size=size // 4)))
    masses = rng.exponential(size=size) * np.where(losses > 0.02, 1e-4, 1.0)
    return pair_of(losses, masses, 0.01, 0.02)


def divergence(atoms, x):
    """Of finite losses, exactly but for rounding, and the infinite mass."""
    losses = atoms.centre + atoms.losses
    gaps = np.minimum(x - losses, 0.0)
    return math.fsum((-atoms.masses * np.expm1(gaps)).tolist()) + atoms.infinite


def exact_product(a, b):
    order = np.argsort(np.add.outer(a.losses, b.losses).ravel())
    infinite, swapped = (
        first + second - first * second
        for first, second in (
            (a.infinite, b.infinite),
            (a.infinite_swapped, b.infinite_swapped),
        )
    )
    return LossAtoms(
        a.centre + b.centre,
        np.add.outer(a.losses, b.losses).ravel()[order],
        np.multiply.outer(a.masses, b.masses).ravel()[order],
        infinite,
        swapped,
    )


POINTS = np.append(-np.geomspace(2.0, 1e-4, 9), np.append(0.0, np.geomspace(1e-4, 4.0, 19)))


@pytest.mark.parametrize("size", [7, 60, 400])
def test_both_sides_of_a_product(size, check_error):
    rng = np.random.default_rng(size)
    a, b = some_atoms(rng, size), some_atoms(rng, size + 3)
    grid = 6.0 * (np.arange(601.0) / 600) ** 3
    for first, second in ((a, b), (a, a)):
        exact = exact_product(first, second)
        above, below = (f(first, second, grid) for f in (product_above, product_below))
        assert (np.diff(above.losses) > 0).all()
        assert (np.diff(below.losses) >= 0).all()
        for x in POINTS:
            truth = divergence(exact, x)
            most, least = divergence(above, x - above.wrong), divergence(below, x + below.wrong)
            assert least <= truth <= most
            check_error("products of atoms", (most - least) / truth, 2e-3)


@pytest.mark.parametrize("reach", [8.0, 0.3])
def test_powers_in_both_directions(reach):
    # On both sides of the centre, the shorter grid leaves some sums out at either end.
    rng = np.random.default_rng(5)
    losses = np.sort(rng.normal(scale=0.2, size=7))
    one = pair_of(losses, rng.dirichlet(np.ones(7)), 1e-3, 2e-3)
    exact = exact_product(exact_product(exact_product(one, one), one), exact_product(one, one))
    grid = reach * (np.arange(801.0) / 800) ** 3
    grid = np.append(-grid[:0:-1], grid)
    stages = power(one, 5, grid, product_above)
    assert len(stages) == 4  # one, two, four, and all five
    above, below = stages[-1], power(one, 5, grid, product_below)[-1]
    for x in POINTS:
        assert divergence(exact, x) <= divergence(above, x - above.wrong)
        assert divergence(exact.swapped, x) <= divergence(above.swapped, x - above.wrong)
        assert divergence(below, x + below.wrong) <= divergence(exact, x)
        if reach > 1:
            error = divergence(above.swapped, x) / divergence(exact.swapped, x) - 1
            assert error < 1e-3


def test_rare_sums_on_fewer_points():
    # Frequent losses that are next to nothing, and rare ones on many points.
    losses = (np.arange(501.0) / 500) ** 3
    masses = np.exp(-1e4 * losses) + 1e-9 * np.exp(-losses)
    one = LossAtoms(0.0, losses, masses / masses.sum(), 0.0, 0.0)
    exact = exact_product(one, one)
    for product, sign in ((product_above, 1.0), (product_below, -1.0)):
        found = product(one, one, losses)
        for x in (1e-4, 1e-3, 0.03, 0.5):
            truth = divergence(exact, x)
            error = sign * (divergence(found, x - sign * found.wrong) - truth)
            assert 0 <= error <= 2e-2 * truth


def test_what_is_beyond_the_grid():
    one = LossAtoms(0.0, np.array([0.0, 2.0]), np.array([0.75, 0.25]), 0.0, 0.0)
    grid = np.array([0.5, 1.0, 3.0])
    masses, infinite, swapped = core.split_product(*(one.losses, one.masses) * 2, grid)
    q = 0.25**2 * math.exp(-4.0)  # at 4, with P's probability 1/16: Q's goes to 3
    assert infinite == pytest.approx(0.25**2 - q * math.exp(3.0), rel=1e-14)
    assert masses.sum() + infinite == pytest.approx(1.0, rel=1e-14)
    assert masses[0] == 0.75**2  # P's of 0, of which Q's is as large
    assert swapped == pytest.approx(0.75**2 * (1 - math.exp(-0.5)), rel=1e-14)
    masses, less = core.merged_product(*(one.losses, one.masses) * 2, grid)
    assert masses.tolist() == [0.0, 2 * 0.75 * 0.25, 0.25**2]  # what is at 0 is left out
    assert less[2] == pytest.approx(0.25**2 * -math.expm1(-1.0), rel=1e-14)
    with pytest.raises(TypeError, match="wrong length"):
        core.split_product(one.losses, one.masses[:1], one.losses, one.masses, grid)


@pytest.mark.parametrize("gap", [0.01, 0.5, 3.0, 300.0])
def test_what_is_left_at_a_point_far_below(gap):
    # In the other direction, it is all that counts.
    x = gap * np.array([0.3, 0.9, 0.99, 1 - 1e-10])
    for each in x.tolist():
        masses, infinite, swapped = core.split_product(
            np.array([each]), np.ones(1), np.zeros(1), np.ones(1), np.array([0.0, gap])
        )
        left = math.exp(-each) * math.expm1(each - gap) / math.expm1(-gap)
        assert masses[0] >= left * (1 - 1e-4)  # which is known to so few digits at last
        assert masses[0] == pytest.approx(left, rel=2e-4)
        assert masses.sum() == pytest.approx(1.0, rel=1e-14)
        assert infinite == swapped == 0


def test_probabilities_that_underflow_in_one_direction():
    # P has next to nothing where Q has probabilities to speak of, or more than any.
    values = np.array([-1e4, -740.0, -735.0, -720.0, 0.0])
    log_mass = np.array([-1e4, -741.0, -744.4, -722.0, 0.0])
    release = Release(values, log_mass, 0.0, 0.0, is_symmetric=False, grid=0.0)
    swapped = LossAtoms.of(release, 0.0, LEAST_MASS).swapped
    assert (swapped.masses[::-1] >= np.minimum(np.exp(log_mass - values), 1e300)).all()
    above = Polygon(swapped.losses, swapped.masses, 0.0).above(np.array([-1.0, 1.0, 9e3]))
    assert above.tolist() == [1.0, 1.0, 1.0]


def test_masses_that_underflow_do_not_raise_losses():
    a = LossAtoms(0.0, np.array([0.0, 20.0]), np.array([0.9, 0.1]), 0.0, 0.0)
    b = LossAtoms(0.0, np.array([0.0, 5.0]), np.array([1.0, 5e-324]), 0.0, 0.0)
    below = product_below(a, b, np.array([0.0, 2.0, 19.9, 20.1, 30.0]))
    assert below.losses[np.argmin(np.abs(below.masses - 0.1))] <= 20 + below.wrong


def test_a_polygon_from_both_sides():
    rng = np.random.default_rng(3)
    one = some_atoms(rng, 300)
    polygon = Polygon(one.centre + one.losses, one.masses, one.infinite)
    above, below = polygon.above(POINTS), polygon.below(POINTS)
    truth = np.array([divergence(one, x) for x in POINTS])
    assert (below <= truth).all()
    assert (truth <= above).all()
    assert (above - below <= 1e-11 * truth).all()
