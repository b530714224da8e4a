"""The privacy losses of staircase noise on a number that changes by a step at most.

In units of the step, the density at x is a e^(-j epsilon), j the level of |x|: level 0 is as long
as gamma, each other one as long as 1, and a = 1 / (2 (gamma + E)), E = e^-epsilon + e^-2epsilon +
... (cpp/mechanisms/staircase_law.hpp says where this is from). With a change of s <= 1, x and x - s
are a level apart at most, so that a loss is epsilon, -epsilon or 0.

It is 0 before 0 and, mirrored, beyond s on the first 1 - s of each level from 1 on, and on the
first gamma - s of level 0; between 0 and s on all if s <= gamma, else on 2 gamma - s at level 0 or
s - 2 gamma at level 1; as far as these are above 0. At level 0 that is 2 gamma - s together.

It is epsilon before 0 on the last s of each level from 1 on, and at level 0 on s, or on 2 gamma if
that is shorter: on all of it, or its last s, before 0, and between 0 and s where x - s is at level
1. Lengths are fractions without rounding, and all sums of positive terms, so that each probability
is off by less than 2^-48 of itself.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tightnoise.costs._discrete_losses import Release


def staircase_losses(epsilon: float, gamma: float, change: Fraction) -> Release:
    """Return the losses of a change that is this part of the step, at most 1."""
    below = math.exp(-epsilon)  # level 1, of level 0
    beyond = below / -math.expm1(-epsilon)  # E
    a = 0.5 / (gamma + beyond)
    around = 2 * Fraction(gamma)
    lower = float(change) * beyond + float(min(change, around))
    same = 2 * float(1 - change) * beyond + float(max(around - change, Fraction(0)))
    same += below * float(max(change - around, Fraction(0)))
    masses = a * np.array([below * lower, same, lower])
    used = masses > 0
    return Release(
        values=epsilon * np.array([-1.0, 0.0, 1.0])[used],
        log_mass=np.log(masses[used]),
        infinite=0.0,
        infinite_swapped=0.0,
        is_symmetric=True,
        grid=epsilon,
    )
