"""From a privacy profile, known at some points, to losses at those points.

The hockey-stick divergence H = D(P||Q) as a function of t = e^epsilon, of any sign of epsilon, is
convex, does not increase, and is the curve of a pair of distributions P and Q of which Q has a loss
in (t, t + dt) with probability H''(t) dt (P: t H''(t) dt), and P has an infinite loss with
probability H(infinity). Straight lines between points on or above the curve are nowhere below it.
So the pair with that polygon for a curve, the "connected dots" of Doroshenko, Ghazi, Kamath, Kumar
and Manurangsi 2022, "Connect the Dots: Tighter Discrete Approximations of Privacy Loss
Distributions", Algorithm 1, dominates the original one, also when each is composed with others. Its
losses lie at the corners, and with the slope -s of each line,

    Q(loss = log t_i) = s_(i-1) - s_i,    P(loss = log t_i) = t_i (s_(i-1) - s_i).

The other direction, H'(t) = D(Q||P), is the same curve read backwards,

    H(e^-epsilon) = 1 - e^-epsilon + e^-epsilon H'(e^epsilon),

which takes straight lines to straight lines: one pair dominates in both directions.

Values that are themselves upper bounds make polygons that are not convex everywhere. Any of the
points may be left out, as lines between the others are not below the curve either: those at which
the polygon bends the wrong way, or next to nothing, are. (What remains is near the greatest convex
minorant of the points, and less would not do: the curve may be that.)
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._discrete_losses import Release, common_grid

Array = NDArray[np.float64]

_STRAIGHT = 1e-11  # a bend, relative to the sum of two slopes, that may be noise
_ROUNDING = 8 * 2.0**-53  # of a difference of two slopes, relative to their sum


def connect_dots(epsilons: Array, forward: Array, backward: Array | None = None) -> Release:
    """Return losses that dominate a pair in both directions.

    The epsilons increase from 0; D(P||Q) <= forward and D(Q||P) <= backward there. None: the pair
    is symmetric, D(Q||P) = D(P||Q).
    """
    right = _Side(epsilons, forward)
    left = right if backward is None else _Side(epsilons, backward)
    sides = [right] if left is right else [right, left]
    while True:
        total_variation = min(right.heights[0], left.heights[0], _across(right, left))
        for side in sides:
            side.heights[0] = total_variation
        changed = [side.leave_out() for side in sides]
        if not any(changed):
            break
    losses, log_mass = right.corners()
    if left is right:
        gains, log_other = losses, log_mass
    else:
        gains, log_other = left.corners()
    # What is neither above 0, P(loss > 0) = H(0) + Q(loss > 0), nor below it; Q(loss > 0) is the
    # first slope to the right, P(loss < 0) the first one to the left.
    slopes = float(right.after[0] + left.after[0])
    at_zero = max(0.0, 1 - float(total_variation) - slopes) + _ROUNDING
    return Release(
        values=np.concatenate([-gains[::-1], [0.0], losses]),
        log_mass=np.concatenate([(log_other - gains)[::-1], [math.log(at_zero)], log_mass]),
        infinite=float(right.heights[-1]),
        infinite_swapped=float(left.heights[-1]),
        is_symmetric=left is right,
        grid=common_grid(float(epsilons[1]), np.concatenate([gains, losses])),
    )


class _Side:
    """The polygon of one direction, epsilon >= 0."""

    def __init__(self, epsilons: Array, heights: Array) -> None:
        self.epsilons = epsilons
        self.heights = np.minimum.accumulate(heights)  # as the curve does not increase
        self._slopes()

    def _slopes(self) -> None:
        """Compute those before and after each corner, in units of 1/t there."""
        gaps, falls = np.diff(self.epsilons), -np.diff(self.heights)
        self.before = falls / -np.expm1(-gaps)
        with np.errstate(over="ignore"):
            self.after = falls / np.expm1(gaps)

    def _bends(self) -> tuple[Array, Array]:
        """Return the differences of slopes at all but the ends, and the sums."""
        return self.before[:-1] - self.after[1:], self.before[:-1] + self.after[1:]

    def leave_out(self) -> bool:
        """Remove the points at which the polygon is not convex; say whether there were any."""
        self._slopes()
        bends, sums = self._bends()
        kept = np.concatenate([[True], bends > _STRAIGHT * sums, [True]])
        self.epsilons, self.heights = self.epsilons[kept], self.heights[kept]
        return not kept.all()

    def corners(self) -> tuple[Array, Array]:
        """Return their losses and the logarithms of the masses, when none is to be left out."""
        # Masses that are too large add divergence: so far, rounding may have lowered them.
        bends, sums = self._bends()
        mass = np.append(bends + _ROUNDING * sums, self.before[-1] * (1 + _ROUNDING))
        used = mass > 0
        return self.epsilons[1:][used], np.log(mass[used])


def _across(right: _Side, left: _Side) -> float:
    """Return the line from the first point on the left to that on the right at 0, rounded up."""
    above, below = math.exp(-right.epsilons[1]), math.exp(-left.epsilons[1])
    rest, rest_below = -math.expm1(-right.epsilons[1]), -math.expm1(-left.epsilons[1])
    height = rest_below + below * float(left.heights[1])
    line = rest * height + above * rest_below * float(right.heights[1])
    apart = float(right.epsilons[1]) + float(left.epsilons[1])  # infinite, at most
    return line / -math.expm1(-apart) * (1 + _ROUNDING)
