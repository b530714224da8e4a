"""Losses on a lattice that a pair dominates: those of `_atoms_below`, at multiples of a spacing.

The corners of the polygon lie there but for the end, x. Pure noise has an atom there, below a
multiple by the second order, if the kink is at it: the atom is moved up to the multiple, and
epsilons of the composition are told too large by that (`raised`). If x is farther below, or there
is next to nothing, it is moved down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._atoms_below import Heights, atoms_below, lowered
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess

__all__ = ["Below", "below_of_profile", "below_of_release"]

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_NEAR = 0.25  # of a spacing: a loss this close below a multiple is moved up to it
_CLOSE = 1e-6  # of a spacing: a multiple, but for rounding


@dataclass(frozen=True, eq=False)
class Below:
    """Losses of one direction, multiples of a spacing; sums of n may be n `raised` too high."""

    release: Release
    raised: float


def below_of_profile(
    profile: Heights,
    ends: tuple[float, float],
    spacing: float,
    points: int,
    excess: Excess,
    *,
    symmetric: bool,
) -> tuple[Below, Below] | None:
    """Return losses log(P/Q) of P and log(Q/P) of Q, that the pair of this profile dominates.

    `ends`: about the largest loss of each; so many `points` of the profile are read a spacing.
    None if the losses are too large, or the spacing is too wide for one.
    """
    if not (max(ends) <= 1e6 and spacing > 0):
        return None
    cells = [max(2, math.ceil(end / spacing - _NEAR)) for end in ends]
    first, second = (spacing * np.arange(n + 1.0) for n in cells)
    found = atoms_below(profile, (first, second), excess, points, symmetric=symmetric)
    if found is None:
        return None
    forward = _on_lattice(found[0], spacing)
    return forward, forward if symmetric else _on_lattice(found[1], spacing)


def _on_lattice(release: Release, spacing: float) -> Below:
    values, masses = release.values, np.exp(release.log_mass) * (1 - 8 * _UNIT)
    places = np.floor(values / spacing + _CLOSE)
    for end in (0, -1):
        places[end] = _placed(float(values[end]), float(masses[end]), spacing)
    raised = float(np.maximum(spacing * places - values, 0.0).max())
    on_places = _on_places(places, masses, release.infinite, spacing)
    return Below(on_places, raised + 16 * _UNIT * (release.largest + spacing))


def _placed(loss: float, mass: float, spacing: float) -> int:
    """Return the multiple of a spacing that a loss is moved to.

    What costs less: all sums count for too high, or the one loss is lowered.
    """
    below = math.floor(loss / spacing)
    up = spacing * (below + 1) - loss
    return below + 1 if up < mass * (spacing - up) else below


def below_of_release(release: Release, spacing: float) -> Below:
    """Return losses of one direction that a given distribution dominates."""
    least = lowered(release)
    places = np.floor(least.values / spacing + _NEAR)
    raised = float(np.maximum(spacing * places - least.values, 0.0).max())
    on_lattice = _on_places(
        places, np.exp(least.log_mass) * (1 - 8 * _UNIT), least.infinite, spacing
    )
    return Below(on_lattice, raised + 16 * _UNIT * (release.largest + spacing))


def _on_places(places: Array, masses: Array, infinite: float, spacing: float) -> Release:
    """Return the losses at these multiples of the spacing, added up where they are one."""
    filled, where = np.unique(places, return_inverse=True)
    mass = np.bincount(where, masses) * (1 - 64 * _UNIT)
    used = mass > 0
    return Release(
        values=spacing * filled[used],
        log_mass=np.log(mass[used]),
        infinite=infinite,
        infinite_swapped=0.0,
        is_symmetric=False,
        grid=spacing,
    )
