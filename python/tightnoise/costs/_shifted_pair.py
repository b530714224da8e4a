"""Additive noise and the same shifted: one pair of neighbours of noise with several modes.

The worst shift depends on epsilon, so that no pair has the profile that counts, and compositions of
one pair cost less. What is composed from below is one shift: of the worst ones at some epsilons,
the one with the largest moments. At each epsilon by itself, some shift is the worst.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._cell_pairs import moment
from tightnoise.costs._excess import LOST, Excess
from tightnoise.costs._leaf import Attained, Profile, UntoldError

Array = NDArray[np.float64]

EXACT = Excess(2e-11, 32 * 2.0**-53)
"""Of the divergence at a shift, rounded upwards (cpp/worst/worst_shift.hpp)."""

_OF_PLACES = 2.0**-44  # twice what divergences are of a smaller epsilon by, and what it is off by
_EPSILONS = (0.0, 1.0, 4.0, 16.0)  # of which the worst shifts are tried
_LOOKED_FOR = 9  # of many epsilons
_POINTS = 4_000  # up to where noise hardly goes: moments need not be exact
_TAIL = 1e-30


def shifted_pair(law: Any, sensitivity: float, tilt: float) -> Attained:
    """Return the profile of one shift up to the sensitivity."""
    shifts = _shifts(law, sensitivity)
    best = shifts[0]  # of one mode the only one
    if len(shifts) > 1:
        best = max(shifts, key=lambda shift: moment(*_densities(law, shift), tilt))

    def profile(epsilons: Array) -> Profile:
        delta = np.empty_like(epsilons)
        law.shift_delta(np.full_like(epsilons, best), epsilons, delta)
        if np.isnan(delta).any():
            raise UntoldError
        return delta, delta

    return Attained(profile, EXACT, is_symmetric=True)


def worst_shifts_below(law: Any, sensitivity: float, epsilons: Array, apart: float) -> Profile:
    """Return the divergence of about the worst shift at each epsilon, rounded down.

    `apart`: how many sigmas modes are from 0, as far as which losses have fewer digits.

    Of many that rise, the worst shift is looked for at some; of others, those before and after are
    tried, and what lies in line between them: any shift tells a lower bound.
    """
    if not epsilons.size:
        return epsilons, epsilons
    some = np.unique(np.linspace(0, epsilons.size - 1, _LOOKED_FOR).round().astype(int))
    known = np.array([law.worst_shift(at, sensitivity)[1] for at in epsilons[some].tolist()])
    place = np.searchsorted(some, np.arange(epsilons.size))
    tried = [known[place]]
    if some.size < epsilons.size:
        tried += [known[np.maximum(place - 1, 0)], np.interp(epsilons, epsilons[some], known)]
    beyond = epsilons * (1 + 2 * EXACT.argument) + _OF_PLACES * apart
    best = np.zeros_like(epsilons)
    for shifts in tried:
        delta = np.empty_like(epsilons)
        law.shift_delta(shifts, beyond, delta)
        best = np.fmax(best, delta)
    best = np.where(best > LOST, best * (1 - EXACT.height), 0.0)
    return best, best


@functools.lru_cache(maxsize=64)
def _shifts(law: Any, sensitivity: float) -> tuple[float, ...]:
    worst = (law.worst_shift(epsilon, sensitivity)[1] for epsilon in _EPSILONS)
    return tuple(dict.fromkeys([sensitivity, *worst]))


@functools.lru_cache(maxsize=64)
def _densities(law: Any, shift: float) -> tuple[Array, Array]:
    """Return logarithms of both densities at points, and of the points' distance."""
    reach = np.empty(1)
    law.quantile(np.array([_TAIL]), reach)
    points = np.linspace(float(reach[0]), shift - float(reach[0]), _POINTS)
    here, there = np.empty(_POINTS), np.empty(_POINTS)
    law.log_pdf(points - shift, here)
    law.log_pdf(points, there)
    width = np.log(points[1] - points[0])
    return here + width, there + width
