"""Several releases on one sample: what they cost together, before the sample is drawn.

From above, one release that dominates all (`_composed_release`); where the law of one is smooth, a
contour, which is far closer. From below a contour, too, or the losses of all, composed as atoms in
cells (`_atom_products`): less is told of them merged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._atom_laws import composed, is_symmetric, laws_of, releases_below
from tightnoise.costs._atom_products import LossAtoms, power, product_below
from tightnoise.costs._composed_release import composed_release
from tightnoise.costs._discrete_losses import Polygon, Release
from tightnoise.costs._excess import LOST, Excess
from tightnoise.costs._lattice import MAX_LATTICE_COUNT
from tightnoise.costs._leaf import Attained, Profile, Terms, losses_of_leaf
from tightnoise.costs._loss_points import points_up_to

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_WORK = 1.2e8  # nodes times frequencies, some tenths of a second
_MOST = 2**20  # releases of which the losses are composed as atoms
_UNTOLD = Excess(0.0, absolute=1.0)  # of upper bounds beside which there are lower ones


def profile_of(terms: Terms) -> Callable[[Array], Profile] | None:
    """Return the profile of releases together, a function; None where a leaf has none."""
    if len(terms) == 1 and terms[0][1] == 1:
        leaf = terms[0][0]
        return None if leaf.profile(np.zeros(1)) is None else leaf.known_profile
    release, contours = composed_of(terms), _contours_of(terms)
    if release is None or contours is None:
        return None if release is None else release.profile

    def profile(epsilons: Array) -> Profile:
        forward, backward = release.profile(epsilons)
        _, (ahead, behind) = _by_contours(contours, epsilons)
        return np.minimum(forward, ahead), np.minimum(backward, behind)

    return profile


@functools.lru_cache(maxsize=32)
def pair_of(terms: Terms) -> Attained | None:
    """Return the profile of the pair of several releases together, if those of all are known."""
    release, contours = composed_of(terms), _contours_of(terms)
    if release is None or not all(leaf.has_pair for leaf, _ in terms):
        return None
    if contours is not None:
        both = functools.partial(_by_contours, contours)
        return Attained(release.profile, _UNTOLD, len(contours) == 1, both)
    symmetric = all(is_symmetric(leaf) for leaf, _ in terms)
    sides = [_below(terms, way, release) for way in ((0,) if symmetric else (0, 1))]
    first, last = sides[0], sides[-1]
    if first is None or last is None:
        return None

    def both_sides(epsilons: Array) -> tuple[Profile, Profile]:
        below = first(epsilons), last(epsilons)
        return below, release.profile(epsilons)

    return Attained(release.profile, _UNTOLD, symmetric, both_sides)


@functools.lru_cache(maxsize=32)
def composed_of(terms: Terms) -> Release | None:
    """Return one distribution of losses that dominates all together, if each has one."""
    releases: dict[Release, int] = {}
    for leaf, count in terms:
        release = losses_of_leaf(leaf)
        if release is None:
            return None
        releases[release] = releases.get(release, 0) + count
    total = sum(releases.values())
    if total == 1:
        return next(iter(releases))
    return composed_release(releases) if total <= MAX_LATTICE_COUNT else None


@functools.lru_cache(maxsize=32)
def _contours_of(terms: Terms) -> tuple[core.Composition, ...] | None:
    """Return the directions, one if they are the same, if pairs are known and one is smooth."""
    laws = [(laws_of(leaf), count) for leaf, count in terms]
    known = [(found, count) for found, count in laws if found is not None and found.is_attained]
    if len(known) < len(laws) or not any(found.laws[0].is_smooth for found, _ in known):
        return None
    return composed(known, _WORK)


def _by_contours(
    contours: tuple[core.Composition, ...], epsilons: Array
) -> tuple[Profile, Profile]:
    """Return bounds of both directions from below, and those from above.

    0 and 1 where these take long.
    """
    order = np.argsort(epsilons)
    places = np.argsort(order)
    each = [
        [side[places] for side in one.deltas(epsilons[order], is_quick=True)] for one in contours
    ]
    (low, high), (other_low, other_high) = each[0], each[-1]
    return (low, other_low), (high, other_high)


def _below(terms: Terms, way: int, release: Release) -> Callable[[Array], Array] | None:
    """Return the profile of one direction from below, by its losses in cells, if they are few."""
    if sum(n for _, n in terms) > _MOST:
        return None
    points = points_up_to(release.largest, release.deviation)
    grid = np.append(-points[:0:-1], points)
    nothing = LossAtoms(0.0, np.zeros(1), np.ones(1), 0.0, 0.0)
    whole = nothing
    for leaf, n in terms:
        below = releases_below(leaf, None)
        if below is None:
            return None
        one = product_below(LossAtoms.of(below[way], 0.0), nothing, grid)
        whole = product_below(whole, power(one, n, grid, product_below)[-1], grid)
    polygon = Polygon(whole.losses, whole.masses, whole.infinite)
    rounding = _UNIT * (whole.losses.size + 64)

    def profile(epsilons: Array) -> Array:
        places = epsilons + whole.wrong + 16 * _UNIT * (np.abs(epsilons) + whole.size)
        return np.maximum(polygon.below(places) * (1 - rounding) - LOST, 0.0)

    return profile
