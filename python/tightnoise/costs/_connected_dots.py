"""From a privacy profile, known at the points of a lattice, to losses on that lattice.

The hockey-stick divergence H as a function of t = e^epsilon is convex, does not increase, and is
the curve of a pair of distributions P and Q of which Q has a loss in (t, t + dt) with probability
H''(t) dt (P: t H''(t) dt), and P has an infinite loss with probability H(infinity). Straight lines
between points on or above the curve are nowhere below it. So the pair with that polygon for a
curve, the "connected dots" of Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022, "Connect the
Dots: Tighter Discrete Approximations of Privacy Loss Distributions", Algorithm 1, dominates the
original one, also when each is composed with others. Its losses lie at the corners, and with the
slope -s of each line,

    Q(loss = log t_i) = s_(i-1) - s_i,    P(loss = log t_i) = t_i (s_(i-1) - s_i).

Values that are themselves upper bounds make polygons that are not convex everywhere. Any of the
points may be left out, as lines between the others are not below the curve either: those at which
the polygon bends the wrong way, or next to nothing, are. (What remains is near the greatest convex
minorant of the points, and less would not do: the curve may be that.)
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._discrete_losses import Release

__all__ = ["connect_dots"]

Array = NDArray[np.float64]

_STRAIGHT = 1e-11  # a bend, relative to the sum of two slopes, that may be noise
_ROUNDING = 8 * 2.0**-53  # of a difference of two slopes, relative to their sum


def connect_dots(spacing: float, delta_upper: Array) -> Release:
    """Return losses that dominate a symmetric pair, H(i spacing) <= delta_upper[i].

    Symmetric: both directions have the same curve. Then H(-e) = 1 - e^-e + e^-e H(e), which takes
    straight lines to straight lines, and P(-loss) = e^-loss P(loss).
    """
    heights = np.minimum.accumulate(delta_upper)  # as the curve does not increase
    kept = np.arange(heights.size)
    while True:
        # In units of 1/t of the corner between them.
        gaps, falls = np.diff(kept) * spacing, -np.diff(heights[kept])
        before = falls / -np.expm1(-gaps)
        with np.errstate(over="ignore"):
            after = falls / np.expm1(gaps)
        bends = before[:-1] - after[1:]
        across = _across(float(gaps[0]), float(heights[kept[1]]))
        if across < heights[0]:
            heights[0] = across
            continue
        bent = bends > _STRAIGHT * (before[:-1] + after[1:])
        if bent.all():
            break
        kept = kept[np.concatenate([[True], bent, [True]])]
    # Masses that are too large add divergence: so far, rounding may have lowered them.
    mass = np.append(bends + _ROUNDING * (before[:-1] + after[1:]), before[-1] * (1 + _ROUNDING))
    # What is neither above 0, P(loss > 0) = H(0) + Q(loss > 0), nor below it, with the probability
    # Q(loss > 0) = the first slope.
    at_zero = max(0.0, 1 - float(heights[0]) - 2 * float(after[0])) + _ROUNDING
    used = mass > 0
    corners, log_mass = kept[1:][used], np.log(mass[used])
    losses = corners * spacing
    return Release(
        values=np.concatenate([-losses[::-1], [0.0], losses]),
        log_mass=np.concatenate([(log_mass - losses)[::-1], [math.log(at_zero)], log_mass]),
        infinite=float(heights[-1]),
        grid=float(np.gcd.reduce(corners)) * spacing,
    )


def _across(gap: float, height: float) -> float:
    """Return the line from H(-gap) to H(gap) = `height` at 0, rounded up."""
    # ((1 - e^-g + e^-g H) e^g + H)/(e^g + 1)
    g = min(gap, 700.0)
    return (math.expm1(g) + 2 * height) / (math.exp(g) + 1) * (1 + _ROUNDING)
