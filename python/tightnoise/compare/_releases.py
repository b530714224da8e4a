"""What each of several releases may cost, so that all together stay within a budget."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from tightnoise.calibrate._loss import loss_of
from tightnoise.compare._families import Calibration, Family

__all__ = ["largest_release", "release_of"]

_ENOUGH = 1e-4  # relative, of the epsilon of one release
_TRIALS = 30
_ROUNDING = 1e-12  # of a logarithm, up to 700, there and back


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
    found = []
    if family.as_one is not None:
        one = family.as_one(epsilon, delta, sensitivity, loss)
        # Rounded upwards.
        sigma = one.sigma * (math.sqrt(count) * (1.0 + 2.0**-50))
        found.append(dataclasses.replace(one, sigma=sigma))
        if family.as_one is family.calibrated:
            return found[0]
    share = 0.0 if family.pure else delta / (2 * count)
    variants = family.for_many
    if epsilon / count >= family.least_epsilon:
        variants = (family.calibrated, *variants)
    found += [
        _largest_release(variant, epsilon, delta, share, sensitivity, loss, count)
        for variant in variants
    ]
    return min(found, key=lambda mechanism: loss_of(mechanism, loss))


def _largest_release(
    calibrated: Calibration,
    epsilon: float,
    delta: float,
    share: float,
    sensitivity: float,
    loss: str,
    count: int,
) -> Any:
    def release(log_part: float) -> Any:
        return calibrated(math.exp(log_part), share, sensitivity, loss)

    def total(mechanism: Any) -> float:
        cost = mechanism.cost(sensitivity=sensitivity) * count
        return float(cost.epsilon(delta, by="losses"))

    # The epsilons of the releases may add up to the budget, at least (basic composition); a little
    # less, for logarithms are rounded. Without a delta they may do no more.
    first = math.log(epsilon / count) - _ROUNDING
    if delta == 0:
        return release(first)
    return largest_release(release, total, epsilon, count, (first, math.log(epsilon)))


def largest_release(
    release: Callable[[float], Any],
    total: Callable[[Any], float],
    epsilon: float,
    count: int,
    ends: tuple[float, float],
) -> Any:
    """Return the release of least noise found for which the total of `count` is at most epsilon.

    Releases are by the logarithm of what their cost is about proportional to, between two ends. Of
    the first, the total is known to be good.
    """

    def log_excess(mechanism: Any) -> float:
        return math.log(max(total(mechanism), 1e-300) / epsilon)

    at, last = ends
    best = release(at)
    # What millions of such releases cost would be lost in rounding, so the search begins near where
    # it ends: losses add up as a Gaussian's.
    trial = min(at + 0.5 * math.log(count), last)
    candidate = release(trial)
    found = log_excess(candidate)
    if found <= 0:
        best, at, excess = candidate, trial, found
    else:
        excess = log_excess(best)
    slope = 1.5  # of the logarithm of what all cost by that of one: from 1 to 2, nearly linear
    for _ in range(_TRIALS):
        if excess > -_ENOUGH or at >= last:
            break
        trial = min(at - (excess + 0.5 * _ENOUGH) / slope, last)
        candidate = release(trial)
        found = log_excess(candidate)
        slope = max((found - excess) / (trial - at), 0.5)
        if found <= 0:
            best, at, excess = candidate, trial, found
    return best
