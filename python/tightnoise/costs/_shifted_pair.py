"""Additive noise and the same shifted: in cells, as a pair that it dominates.

Of noise with several modes, the worst shift depends on epsilon, so that no pair has the profile
that counts, and compositions of one pair cost less. What is composed from below is one shift: of
the worst ones at some epsilons, the one with the largest moments. Merging outputs to cells is
post-processing.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._cell_pairs import moment, pair_of_cells
from tightnoise.costs._leaf import Attained

Array = NDArray[np.float64]

_EPSILONS = (0.0, 1.0, 4.0, 16.0)  # of which the worst shifts are tried
_BITS = 26  # of a shift, which is rounded down: so edges of cells are told exactly
_CELLS, _MOST_CELLS = 4_000, 40_000  # up to where noise hardly goes
_TAIL = 1e-30
_ERROR = 2e-13  # relative: of the mass of an interval below 0 (cpp/mechanisms)


@functools.lru_cache(maxsize=64)
def shifted_pair(law: Any, sensitivity: float, tilt: float) -> Attained | None:
    """Return the profile of one shift up to the sensitivity; None if it is too small or large.

    With h a cell's width, the shift is a whole number m of cells, and both outputs have the masses
    of the same cells k h of the noise: P's is that of k, Q's that of k - m. The law is symmetric,
    so that all are told by those below 0, which are known to a part of themselves.
    """
    shifts = _shifts(law, sensitivity)
    pairs = [cells for cells in (_cells(law, shift) for shift in shifts) if cells is not None]
    if not pairs:
        return None
    here, there = max(pairs, key=lambda pair: moment(pair[0], pair[1], tilt))
    return pair_of_cells(here, there, _ERROR, is_symmetric=True)


@functools.lru_cache(maxsize=64)
def _shifts(law: Any, sensitivity: float) -> tuple[float, ...]:
    worst = (law.worst_shift(epsilon, sensitivity)[1] for epsilon in _EPSILONS)
    return tuple(dict.fromkeys([sensitivity, *worst]))


@functools.lru_cache(maxsize=64)
def _cells(law: Any, most: float) -> tuple[Array, Array] | None:
    """Return logarithms of the probabilities of all cells under both."""
    mantissa, exponent = math.frexp(most)
    shift = math.ldexp(math.floor(math.ldexp(mantissa, _BITS)), exponent - _BITS)
    if shift == 0:
        return None
    reach = np.empty(1)
    law.quantile(np.array([_TAIL]), reach)
    whole = shift - 2 * float(reach[0])
    # A power of two of them, so that their width is told exactly, too.
    within = 2 ** max(0, math.ceil(math.log2(_CELLS * shift / whole)))
    width = shift / within
    count = math.ceil(-float(reach[0]) / width) + within
    if count > _MOST_CELLS:
        return None
    edges = width * np.arange(-count, 1.0)
    below, tails = np.empty(count), np.empty(2)
    law.mass(edges[:-1], edges[1:], below)
    law.cdf(edges[[0, within]], tails)
    masses = np.concatenate([below, below[::-1]])
    ends = tails[:1], tails[1:]
    if not (masses.min() > 0 and tails.min() > 0):
        return None
    here = np.concatenate([ends[1], masses[within:], ends[0]])
    there = np.concatenate([ends[0], masses[: masses.size - within], ends[1]])
    return np.log(here), np.log(there)
