"""The least private pair of values of a bounded domain, searched for in mpmath.

Nothing is assumed about where it is but that a few dozen places show its neighbourhood.
"""

from __future__ import annotations

import math

from mpmath import mp, mpf

from reference import bounded_losses
from reference.bounded_gaussian import Case, hockey_stick, hockey_stick_at_once

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def delta_of_pair(mechanism, sigma, width, sensitivity, epsilon, value):
    """The hockey-stick divergence of M(value) and M(value + sensitivity) on [0, width]."""
    return hockey_stick(Case(mechanism, value, sigma, 0.0, width), sensitivity, epsilon)


def places(sigma, width, sensitivity, count):
    """Values in [0, width - sensitivity], evenly and within a few sigma of both ends."""
    last = width - sensitivity
    near = [sigma * 0.25 * i for i in range(count)]
    even = [last * i / (count - 1) for i in range(count)]
    near += [last - s for s in near]
    return sorted({s for s in [*even, *near] if 0.0 <= s <= last})


def worst_pair(mechanism, sigma, width, sensitivity, epsilon, count=17):
    """The greatest divergence and the value it belongs to, by golden sections."""

    def delta(value):
        case = Case(mechanism, value, sigma, 0.0, width)
        return hockey_stick_at_once(case, sensitivity, epsilon, digits=90)

    grid = places(sigma, width, sensitivity, count)
    found = [delta(s) for s in grid]
    best = max(range(len(grid)), key=found.__getitem__)
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_a, at_b = delta(a), delta(b)
    while high - low > 1e-7 * min(sigma, width):
        if at_a >= at_b:
            high, b, at_b = b, a, at_a
            a = high - GOLDEN * (high - low)
            at_a = delta(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + GOLDEN * (high - low)
            at_b = delta(b)
    _, value = max((found[best], grid[best]), (at_a, a), (at_b, b))
    return delta_of_pair(mechanism, sigma, width, sensitivity, epsilon, value), value


def pure_epsilon(mechanism, sigma, width, sensitivity):
    """The loss of the worst pair, (width - sensitivity, width), at the lower bound."""
    with mp.workdps(bounded_losses.DIGITS):
        k, w = mpf(sensitivity) / mpf(sigma), mpf(width) / mpf(sigma)
        return bounded_losses.FAMILIES[mechanism](k, w)[0]
