"""The privacy profile of a distribution of losses: sums over the losses beyond epsilon."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._discrete_losses import Release

Array = NDArray[np.float64]


def release_profile(release: Release, epsilons: Array) -> tuple[Array, Array]:
    """Return D(P||Q) and D(Q||P) at epsilons of at least 0, rounded up."""
    forward = _polygon(release).above(epsilons)
    return forward, forward if release.is_symmetric else _polygon(release.swapped).above(epsilons)


def deviation(release: Release) -> float:
    """Return the standard deviation of the finite losses, the larger of both directions."""
    return max(release.moments(0.0).deviation, release.swapped.moments(0.0).deviation)


@functools.lru_cache(maxsize=128)
def _polygon(release: Release) -> Polygon:
    # Logarithms of both probabilities of an outcome are rounded, to a part of themselves.
    sizes = 1 + np.abs(release.log_mass) + np.abs(release.values)
    masses = np.exp(release.log_mass) * (1 + 2.0**-52 * sizes)
    return Polygon(release.values, masses, release.infinite)


class Polygon:
    """D(x) = sum of p (1 - e^(x - L)) over L > x, and the infinite mass.

    Between neighbouring losses D is a straight line in e^x. From the last loss down, with

        S_k = sum over j > k of p_j e^(L_(k+1) - L_j),   D(L_k) = D(L_(k+1)) + S_k (1 - e^-gap),

    nothing is subtracted, and so no digit lost.
    """

    def __init__(self, losses: Array, masses: Array, infinite: float) -> None:
        decay = np.exp(-np.diff(losses))
        heights, slopes = np.empty(losses.size), np.zeros(losses.size)
        height, slope = infinite, 0.0
        heights[-1] = height
        for k in range(losses.size - 2, -1, -1):
            after = decay[k + 1] if k + 1 < decay.size else 0.0
            slope = float(masses[k + 1]) + slope * float(after)
            height += slope * -math.expm1(float(losses[k] - losses[k + 1]))
            heights[k], slopes[k] = height, slope
        self._below = slope * (float(decay[0]) if decay.size else 0.0) + float(masses[0])
        self._losses, self._heights, self._slopes = losses, heights, slopes
        self._rounding = 1 + 2.0**-50 * (losses.size + 16)  # eight units for each

    def above(self, epsilons: Array) -> Array:
        """Return D(x), of any sign of x, rounded up."""
        return np.minimum(self._at(epsilons) * self._rounding, 1.0)

    def below(self, epsilons: Array) -> Array:
        """Return the same, rounded down."""
        return self._at(epsilons) / self._rounding

    def _at(self, epsilons: Array) -> Array:
        at = np.searchsorted(self._losses, epsilons, side="right")  # losses[at] > epsilon
        last = self._losses.size - 1
        after = np.minimum(at, last)
        slope = np.where(at > 0, self._slopes[np.maximum(at - 1, 0)], self._below)
        gap = np.where(at <= last, self._losses[after] - epsilons, 0.0)
        return np.asarray(self._heights[after] + slope * -np.expm1(-gap))
