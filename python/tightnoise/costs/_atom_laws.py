"""Laws of any leaf as atoms: one that dominates its pair, and one that the pair dominates.

Above, the dots of the profile are connected (`_connected_dots`); below, `_atoms_below` draws a
polygon under it. Both err by the square of the gap between points, so few points do where a
composition hardly looks: the share of M(t) = E e^(t L) that an interval of width D has, w of it,
errs by about w (D/m)^2 when it has m points, so that m in proportion to w^(1/3) D^(2/3) is best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._atoms_below import atoms_below, lowered
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._leaf import Law, Leaf, losses_of_leaf

__all__ = ["AtomLaws", "Refinement", "laws_of"]

Array = NDArray[np.float64]

_WIDEST_TILT = 1e4  # times the largest loss
_FEW = 64
_ALONE = 4.0  # an atom is so much denser than those beside it


class Refinement(NamedTuple):
    """Where more points are wanted: those of both directions' tilts, so many in sum."""

    tilts: tuple[float, ...]
    points: int


class AtomLaws(NamedTuple):
    """The laws of both directions, one of a symmetric pair.

    `is_attained`: two neighbours have the lower pair; `is_exact`: no points make them better;
    `is_dense`: they have a density, or many atoms in its place.
    """

    laws: tuple[Law, ...]
    is_attained: bool
    is_exact: bool
    is_dense: bool = True


def laws_of(leaf: Leaf, finer: Refinement | None = None) -> AtomLaws | None:
    """Return the laws of a leaf, as the core knows them or as atoms; None if nothing is known."""
    known = leaf.laws()
    if known is not None:
        return AtomLaws(known, leaf.is_attained, is_exact=True)
    release = losses_of_leaf(leaf)
    if release is None or release.largest <= 0:
        return None
    reached, can_read = leaf.reached(), leaf.profile(np.zeros(1)) is not None
    is_exact = reached is release or not can_read
    upper = release if is_exact or finer is None else _upper(leaf, release, finer)
    lower: tuple[Release, Release] | None
    if reached is not None:
        lower = (lowered(reached), lowered(reached.swapped))
    else:
        lower = _lower(leaf, release, finer)
    symmetric = release.is_symmetric and (reached is None or reached.is_symmetric)
    ways = (0,) if symmetric else (0, 1)
    uppers = [_atoms(upper), None if symmetric else _atoms(upper.swapped)]
    lowers = [None, None] if lower is None else [_atoms(one) for one in lower]
    laws = tuple(Law(uppers[i], lowers[i], is_smooth=False) for i in ways)
    return AtomLaws(laws, lower is not None, is_exact, release.values.size > _FEW)


def _atoms(release: Release) -> object:
    return core.atoms(release.values, release.log_mass, release.infinite, is_log=True)


def _upper(leaf: Leaf, release: Release, finer: Refinement) -> Release:
    points = _points(release, finer)
    both = leaf.profile(points)
    assert both is not None
    return connect_dots(points, both[0], None if release.is_symmetric else both[1])


def _lower(
    leaf: Leaf, release: Release, finer: Refinement | None
) -> tuple[Release, Release] | None:
    excess = leaf.profile_excess
    if excess is None:
        return None
    points = _points(release, finer)
    ends = max(release.highest, 0.0), max(release.swapped.highest, 0.0)

    def profile(epsilons: Array) -> tuple[Array, Array]:
        both = leaf.profile(epsilons)
        assert both is not None
        return both

    corners = points[points <= ends[0]], points[points <= ends[1]]
    return atoms_below(profile, corners, excess, symmetric=release.is_symmetric)


def _points(release: Release, finer: Refinement | None) -> Array:
    """Return the losses of a distribution, of either sign, or points in their place."""
    corners = np.unique(np.append(np.abs(release.values), 0.0))
    widths = np.diff(corners)
    if finer is None:
        return corners
    wanted, alone = np.zeros(widths.size), np.zeros(corners.size, dtype=bool)
    for way, tilt in enumerate(finer.tilts):
        one = release.swapped if way else release
        exponents = one.log_mass + min(tilt, _WIDEST_TILT / one.largest) * one.values
        share = np.exp(exponents - exponents.max())
        masses = np.bincount(
            np.searchsorted(corners, np.abs(one.values)), share / share.sum(), corners.size
        )
        density = masses / (np.append(widths, 0.0) + np.append(0.0, widths))
        beside = np.maximum(np.append(density[1:], 0.0), np.append(0.0, density[:-1]))
        alone |= density > _ALONE * beside
        density = np.minimum(density, _ALONE * beside)
        wanted = np.maximum(wanted, np.cbrt(density[1:] + density[:-1]) * widths)
    cumulated = np.append(0.0, np.cumsum(wanted + 0.05 * wanted.sum() / wanted.size))
    places = np.linspace(0.0, cumulated[-1], finer.points)
    points = np.interp(places, cumulated, corners)
    alone[[0, 1, -1]] = True
    return np.union1d(points, corners[alone])
