"""What rare large losses cost at least: one of many releases has one, and the others have none.

Let T be the outputs of one release with a loss above y, p and q their probabilities under P and Q,
so that p - e^y q = D(y). Of n releases, let A be that exactly one output is in T. Then

    P(A) - e^x Q(A) = n (1-p)^(n-1) (p - e^x ((1-q)/(1-p))^(n-1) q)
                   >= n (1-p)^(n-1) D(y)   for   x = y + (n-1) log(1-p),

as q >= 0. What is known of p from above: losses above y add p (1 - e^-c) at least to D(y - c). All
together cost no less than some of them. Where n p is small this is nearly all that n releases cost
at x, while a lattice that holds both the many small losses and the few large ones is coarse. Each
y may have its own pair of neighbours: they are the same in all n releases.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._leaf import Leaf

Array = NDArray[np.float64]

_MARGIN = 2.0**-40  # relative, far more than what is rounded
_BEFORE = 1.0  # c
_GRID = np.exp2(np.arange(-40.0, 21.0))  # where a search begins
_SECTIONS, _ROUNDS = 32, 7  # of a bracket, and how often: 32^7 is 2^35


def delta_of_rare(leaf: Leaf, count: int, epsilon: float) -> float:
    """Return a delta that so many of a leaf have at least, at an epsilon; 0 if nothing is known."""
    first = _bounds(leaf, count, np.array([epsilon]))
    if first is None:
        return 0.0
    least = 0.0
    for way, (_, shift) in enumerate(first):
        # The shift does not rise with y: it is enough from there on.
        y = (epsilon + float(shift[0])) * (1 + _MARGIN)
        known = _bounds(leaf, count, np.array([y])) if y < math.inf else None
        if known is not None:
            deltas, shifts = known[way]
            if y - float(shifts[0]) >= epsilon:
                least = max(least, float(deltas[0]))
    return least


def epsilon_of_rare(leaf: Leaf, count: int, delta: float) -> float:
    """Return an epsilon that so many of a leaf have at least, at a delta above 0; 0 if unknown."""
    y, least = _GRID, 0.0
    for _ in range(_ROUNDS):  # towards the largest y with that delta
        enough = np.zeros(y.shape, dtype=bool)
        for deltas, shifts in _bounds(leaf, count, y) or ():
            enough |= deltas > delta
            known = np.where(deltas > delta, y - shifts, 0.0) * (1 - _MARGIN)
            least = max(least, float(known.max()))
        last = int(np.max(np.flatnonzero(enough), initial=-1))
        if not 0 <= last < y.size - 1:
            break
        y = np.linspace(y[last], y[last + 1], _SECTIONS + 1)
    return least


def _bounds(leaf: Leaf, count: int, y: Array) -> tuple[tuple[Array, Array], ...] | None:
    """Return for either direction bounds of delta, and how far below y they hold; None: unknown."""
    below = leaf.profile_below(y)
    above = leaf.profile(np.maximum(y - _BEFORE, 0.0))
    if below is None or above is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        share = -np.expm1(-np.minimum(y, _BEFORE))
        found = []
        for low, high in zip(below, above, strict=True):
            p = np.minimum(high / share * (1 + _MARGIN), 1.0)
            shift = -(count - 1.0) * np.log1p(-p) if count > 1 else np.zeros_like(y)
            shift = np.where(np.isnan(shift), np.inf, shift) * (1 + _MARGIN)
            deltas = np.minimum(count * np.exp(-shift) * low, 1.0) * (1 - _MARGIN)
            found.append((np.where(low > 0, deltas, 0.0), shift))
    return tuple(found)
