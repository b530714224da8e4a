"""What each of several releases may cost, so that all together stay within a budget."""

from __future__ import annotations

import math
from typing import Any

from tightnoise.accounting import privacy_loss
from tightnoise.compare._families import GAUSSIAN, Family

__all__ = ["release_of"]

_ENOUGH = 1e-4  # relative, of the epsilon of one release
_TRIALS = 40


def release_of(
    family: Family, epsilon: float, delta: float, sensitivity: float, loss: str, count: int
) -> Any:
    """Return the mechanism of least noise of which `count` releases are (epsilon, delta)-DP.

    One release is of the largest epsilon found for which the exact composition is within the
    budget; the answer is one that was tried and is. Half of delta, shared equally, is what one
    release of a family that is not pure may lose.
    """
    if count == 1:
        return family.calibrated(epsilon, delta, sensitivity, loss)
    if family is GAUSSIAN:
        # `count` releases are one with noise smaller by the square root; rounded upwards.
        distance = sensitivity * (math.sqrt(count) * (1.0 + 2.0**-51))
        return family.calibrated(epsilon, delta, distance, loss)
    share = 0.0 if family.pure else delta / (2 * count)

    def release(part: float) -> Any:
        return family.calibrated(part, share, sensitivity, loss)

    def fits(mechanism: Any) -> bool:
        composed = privacy_loss(mechanism, sensitivity=sensitivity) * count
        return bool(composed.delta(epsilon) <= delta)

    # The epsilons of the releases may add up to the budget, at least (basic composition).
    low, high = epsilon / count, epsilon
    best = release(low * (1.0 - 2.0**-50))
    for _ in range(_TRIALS):
        if high <= low * (1.0 + _ENOUGH):
            break
        middle = math.sqrt(low * high)
        candidate = release(middle)
        if fits(candidate):
            best, low = candidate, middle
        else:
            high = middle
    return best
