"""Laws of a leaf at multiples of a spacing: one that dominates its pair, and one that it dominates.

Both are those of `_atom_laws`, at points that are multiples. Below, the end x of pure noise is an
atom. If it is as good as a multiple, it is moved up to that, and epsilons of the composition are
told too large by so much (`raised`); else `_atoms_below` has moved it down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._atom_laws import Refinement, release_above, releases_below
from tightnoise.costs._atoms_below import lowered
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._leaf import Leaf, losses_of_leaf

__all__ = ["Below", "LatticeLaws", "below_of_release", "lattice_laws", "on_lattice"]

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_NEAR = 0.25  # of a spacing: a loss this close below a multiple is moved up to it
_CLOSE = 1e-4  # of a spacing: a multiple, but for rounding


@dataclass(frozen=True, eq=False)
class Below:
    """Losses of one direction, multiples of a spacing; sums of n may be n `raised` too high."""

    release: Release
    raised: float


class LatticeLaws(NamedTuple):
    """Losses that dominate a pair, and those of both directions that it dominates, if known."""

    above: Release
    below: tuple[Below, Below] | None


def lattice_laws(leaf: Leaf, finer: Refinement) -> LatticeLaws:
    """Return the laws of a leaf whose losses are known."""
    release, reached = losses_of_leaf(leaf), leaf.reached()
    assert release is not None
    if reached is not None:
        forward = below_of_release(reached, finer.spacing)
        if reached.is_symmetric:
            return LatticeLaws(release, (forward, forward))
        return LatticeLaws(release, (forward, below_of_release(reached.swapped, finer.spacing)))
    above = replace(release_above(leaf, release, finer), grid=finer.spacing)
    both = releases_below(leaf, release, finer)
    if both is None:
        return LatticeLaws(above, None)
    forward = on_lattice(both[0], finer.spacing)
    return LatticeLaws(
        above, (forward, forward if both[0] is both[1] else on_lattice(both[1], finer.spacing))
    )


def on_lattice(release: Release, spacing: float) -> Below:
    """Return losses that are multiples but for rounding, the last one perhaps moved up to one."""
    values, masses = release.values, np.exp(release.log_mass) * (1 - 8 * _UNIT)
    places = np.floor(values / spacing + _CLOSE)
    places[-1] = np.rint(values[-1] / spacing)
    return _below(release, places, values, masses, spacing)


def below_of_release(release: Release, spacing: float) -> Below:
    """Return losses of one direction that a given distribution dominates."""
    least = lowered(release)
    places = np.floor(least.values / spacing + _NEAR)
    masses = np.exp(least.log_mass) * (1 - 8 * _UNIT)
    return _below(least, places, least.values, masses, spacing)


def _below(release: Release, places: Array, values: Array, masses: Array, spacing: float) -> Below:
    """Return the losses at these multiples of the spacing, added up where they are one."""
    raised = float(np.maximum(spacing * places - values, 0.0).max())
    filled, where = np.unique(places, return_inverse=True)
    mass = np.bincount(where, masses) * (1 - 64 * _UNIT)
    used = mass > 0
    on_places = Release(
        values=spacing * filled[used],
        log_mass=np.log(mass[used]),
        infinite=release.infinite,
        infinite_swapped=0.0,
        is_symmetric=False,
        grid=spacing,
    )
    return Below(on_places, raised + 16 * _UNIT * (release.largest + spacing))
