"""The privacy losses of staircase noise on a number that changes by a step at most.

In units of the step, the density at x is a e^(-j epsilon), j the level of |x|: level 0 is as long
as g, each other one as long as 1, up to a bound B if there is one (cpp/mechanisms/
staircase_law.hpp says where this is from). With a change of s <= 1, x and x - s are a level apart
at most, so that a loss is epsilon, -epsilon or 0, or infinite before s - B. What follows holds from
there to B, all lengths as far as they are above 0.

Before 0, |x - s| is |x| + s, which is at most B. Of level j >= 1 the first 1 - s has no loss, and
the last s the loss epsilon: B - g - j + 1 - s and B - g - j, if these are shorter. Of level 0 it is
g - s, and min(s, g), or with B as well. Beyond s there is as much again without a loss, and none
above 0: all is mirrored. Between 0 and s, x is at level 0 below g and x - s above s - g. So the
loss is epsilon from s - B or 0 to g or s - g; it is 0 between s - g and g, at level 0, or between g
and s - g, at level 1, as far as that is between s - B and B.

Lengths are fractions without rounding, and all sums of positive terms, so that each probability is
off by less than 2^-48 of itself, above `LOST`. With a bound there are infinite losses, however
rare: no fewer are told than that.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import LOST

_ZERO = Fraction(0)
_FARTHEST = 1e300  # steps, of which the last ones have nothing
_NEXT_TO_NOTHING = 2.0**-53  # of finite losses, where there are none


def staircase_losses(
    epsilon: float, gamma: float, change: Fraction, bound: Fraction | float
) -> Release:
    """Return the losses of a change of this part of the step, at most 1.

    The bound is in steps, too, or infinite.
    """
    least = LOST if bound < math.inf else 0.0
    bound = Fraction(min(bound, _FARTHEST))
    s, g = change, min(Fraction(gamma), bound)
    left = bound - g
    below = _level(epsilon, 1)
    whole = 2 * (float(g) + _levels(epsilon, left + 1, Fraction(1)))
    start = max(s - bound, _ZERO)
    lower = _levels(epsilon, left, s) + float(_length(max(g - s, _ZERO), min(g, bound - s)))
    lower += float(_length(start, min(g, s - g)))
    same = 2 * _levels(epsilon, left + 1 - s, 1 - s) + 2 * float(_length(s, g))
    same += float(_length(max(s - g, _ZERO), min(g, s)))
    same += below * float(_length(max(g, start), min(s - g, bound)))
    infinite = float(_length(-g, min(g, s - bound)))
    infinite += below * float(_length(g, min(s - bound, bound)))
    for j in range(max(1, math.floor(left - s)), math.floor(left) + 2):
        length = _length(max(g + j - 1, bound - s), min(g + j, bound))
        infinite += _level(epsilon, j) * float(length)
    infinite = max(infinite / whole, least)
    masses = np.array([below * lower, same, lower]) / whole
    if not masses.any():
        masses[1] = _NEXT_TO_NOTHING
    used = masses > 0
    return Release(
        values=epsilon * np.array([-1.0, 0.0, 1.0])[used],
        log_mass=np.log(masses[used]),
        infinite=infinite,
        infinite_swapped=infinite,
        is_symmetric=True,
        grid=epsilon if lower > 0 else 0.0,
    )


def _length(start: Fraction, end: Fraction) -> Fraction:
    return max(end - start, _ZERO)


def _level(epsilon: float, j: int) -> float:
    """Return e^(-j epsilon), without what a product is rounded off by."""
    exponent = j * epsilon
    return math.exp(-exponent) * (1 - float(j * Fraction(epsilon) - Fraction(exponent)))


def _levels(epsilon: float, end: Fraction, length: Fraction) -> float:
    """Return the sum of e^(-j epsilon) times a length, or end - j if that is shorter, j >= 1."""
    full = max(math.floor(end - length), 0)
    found = float(length) * _level(epsilon, 1) * math.expm1(-full * epsilon) / math.expm1(-epsilon)
    rest = min(end - full - 1, length)
    return found + (_level(epsilon, full + 1) * float(rest) if rest > 0 else 0.0)
