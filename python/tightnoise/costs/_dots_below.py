"""Losses that a pair dominates, from its privacy profile at some points: the dots from below.

`connect_dots` draws a polygon that the curve H(t) = D(P||Q) at t = e^epsilon is nowhere above; this
one draws a polygon that it is nowhere below. H is convex and does not increase. So between two
points it lies above the straight line through the two points before, and above that through the
two points after, each carried on; the two lines meet below the curve. The lower convex hull of
these meeting points and of the points themselves is the curve of a pair again (of measures of which
P need not have all its probability), and what that loses, the true pair loses, too: also when each
is composed with others, as every composition is a sum of positive parts.

Heights are known to a relative `excess`: the truth is between (1 - excess) times each and each.
Lines are drawn with the slope in that range that makes them lowest. At 0, where both directions
meet, the lines through the next points decide alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._discrete_losses import Release

__all__ = ["dots_below"]

Array = NDArray[np.float64]

_ROUNDING = 64 * 2.0**-53  # of what is computed here, relative to sums of positive terms


def dots_below(
    epsilons: Array,
    forward: Array,
    backward: Array | None = None,
    *,
    excess: float,
    infinite: tuple[float, float] = (0.0, 0.0),
) -> Release:
    """Return losses that a pair dominates in both directions.

    The epsilons, three or more, increase from 0; D(P||Q) is from (1 - excess) forward to forward
    there, D(Q||P) the same of backward. None: the pair is symmetric. `infinite`: lower bounds of
    the probabilities of infinite losses, in both directions.
    """
    right = _Side(epsilons, forward, excess)
    left = right if backward is None else _Side(epsilons, backward, excess)
    sides = [right] if left is right else [right, left]
    while True:
        height = min(right.start, left.start, _across(right, left))
        for side in sides:
            side.heights[0] = height
        changed = [side.leave_out() for side in sides]
        if not any(changed):
            break
    losses, masses = right.corners()
    gains, others = (losses, masses) if left is right else left.corners()
    slopes = float(right.after[0] + left.after[0])
    at_zero = max(0.0, 1 - height - slopes - _ROUNDING)
    values = np.concatenate([-gains[::-1], [0.0], losses])
    with np.errstate(divide="ignore"):
        log_mass = np.log(np.concatenate([(others * np.exp(-gains))[::-1], [at_zero], masses]))
    used = log_mass > -np.inf
    return Release(
        values=values[used],
        log_mass=log_mass[used],
        infinite=infinite[0],
        infinite_swapped=infinite[1],
        is_symmetric=left is right and infinite[0] == infinite[1],
        grid=0.0,
    )


class _Side:
    """The polygon of one direction, epsilon >= 0: slopes are in units of 1/t at their corner."""

    def __init__(self, epsilons: Array, upper: Array, excess: float) -> None:
        lower = upper * (1 - excess) * (1 - _ROUNDING)
        gaps = np.diff(epsilons)
        with np.errstate(over="ignore"):
            grown = np.expm1(gaps)
        shrunk = -np.expm1(-gaps)
        # Of the lines carried on to the right of a point the steepest, to its left the flattest.
        falling = np.maximum(upper[:-1] - lower[1:], 0.0) / shrunk * (1 + _ROUNDING)
        rising = np.maximum(lower[:-1] - upper[1:], 0.0) / grown * (1 - _ROUNDING)
        rising = np.append(rising, 0.0)
        # From point i its line falls; the one of point i + 1 rises towards it. In units of t_i.
        steep, flat = falling[:-1], rising[2:] * np.exp(-gaps[1:])
        width = grown[1:]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            place = (lower[1:-1] - lower[2:] - flat * width) / (steep - flat)
            meet = lower[2:] + flat * (width - place)
        inside = (place > 0) & (place < width) & np.isfinite(meet)
        points = np.full((epsilons.size - 1, 2), np.nan)
        heights = np.full((epsilons.size - 1, 2), np.nan)
        points[:, 0], heights[:, 0] = epsilons[1:], lower[1:]
        points[:-1, 1][inside] = (epsilons[1:-1] + np.log1p(np.where(inside, place, 0.0)))[inside]
        heights[:-1, 1][inside] = meet[inside] * (1 - _ROUNDING)
        self.start = float(lower[1] + rising[1] * shrunk[0]) * (1 - _ROUNDING)
        kept = ~np.isnan(points.ravel())
        self.epsilons = np.concatenate([[0.0], points.ravel()[kept]])
        self.heights = np.concatenate([[self.start], heights.ravel()[kept]])
        rises = np.append(np.diff(self.epsilons) > 0, True)  # places that rounding made one
        self.epsilons, self.heights = self.epsilons[rises], self.heights[rises]

    def leave_out(self) -> bool:
        """Remove the corners that are above the hull; say whether there were any."""
        gaps, falls = np.diff(self.epsilons), -np.diff(self.heights)
        self.before = falls / -np.expm1(-gaps)
        with np.errstate(over="ignore"):
            self.after = falls / np.expm1(gaps)
        kept = np.concatenate([[True], self.before[:-1] > self.after[1:], [True]])
        self.epsilons, self.heights = self.epsilons[kept], self.heights[kept]
        return not kept.all()

    def corners(self) -> tuple[Array, Array]:
        """Return their losses and masses, when none is to be left out."""
        bends = self.before[:-1] - self.after[1:]
        sums = np.abs(self.before[:-1]) + np.abs(self.after[1:])
        mass = np.append(bends - _ROUNDING * sums, self.before[-1] * (1 - _ROUNDING))
        used = mass > 0
        return self.epsilons[1:][used], mass[used]


def _across(right: _Side, left: _Side) -> float:
    """Return the line from the first corner on the left to that on the right at 0, rounded down."""
    above, rest = math.exp(-right.epsilons[1]), -math.expm1(-right.epsilons[1])
    below, rest_below = math.exp(-left.epsilons[1]), -math.expm1(-left.epsilons[1])
    height = rest_below + below * float(left.heights[1])
    line = rest * height + above * rest_below * float(right.heights[1])
    return line / -math.expm1(-right.epsilons[1] - left.epsilons[1]) * (1 - _ROUNDING)
