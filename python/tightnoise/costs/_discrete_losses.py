"""The privacy losses of one release, as a discrete distribution, and its privacy profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._cached import cached_property

Array = NDArray[np.float64]

_WHOLE = 1e-12  # relative: values so close to multiples of the grid are multiples of it


class Moments(NamedTuple):
    """Of a loss L tilted by theta: log E exp(theta L), mean and standard deviation."""

    log_moment: float
    mean: float
    deviation: float


@dataclass(frozen=True, eq=False)
class Release:
    """The privacy losses log(P/Q) of one release: finite `values` of such P, or infinity.

    The probabilities may be upper bounds, and need not be 1 in sum. With the probability
    `infinite_swapped` there is an output of Q that P never has.
    """

    values: Array  # increasing
    log_mass: Array
    infinite: float
    infinite_swapped: float
    is_symmetric: bool  # whether P and Q exchanged have the same losses
    grid: float  # a spacing that suits the values; 0 if no loss is finite but 0
    is_short: bool = False  # whether some masses are lower bounds

    @cached_property
    def swapped(self) -> Release:
        """The losses log(Q/P) of outputs from Q."""
        if self.is_symmetric:
            return self
        other = Release(
            values=-self.values[::-1],
            log_mass=(self.log_mass - self.values)[::-1],
            infinite=self.infinite_swapped,
            infinite_swapped=self.infinite,
            is_symmetric=False,
            grid=self.grid,
        )
        other.__dict__["swapped"] = self
        return other

    @cached_property
    def largest(self) -> float:
        """The largest size of a loss."""
        return float(np.abs(self.values).max())

    @property
    def highest(self) -> float:
        """The largest finite loss."""
        return float(self.values[-1])

    @cached_property
    def is_whole(self) -> bool:
        """Whether all losses are multiples of the grid."""
        return self.grid > 0 and is_whole(self.values / self.grid)

    def profile(self, epsilons: Array) -> tuple[Array, Array]:
        """Return D(P||Q) and D(Q||P) at epsilons of at least 0, rounded up."""
        forward = self._polygon.above(epsilons)
        return forward, forward if self.is_symmetric else self.swapped._polygon.above(epsilons)

    @cached_property
    def _polygon(self) -> Polygon:
        # Logarithms of both probabilities of an outcome are rounded, to a part of themselves.
        sizes = 1 + np.abs(self.log_mass) + np.abs(self.values)
        masses = np.exp(self.log_mass) * (1 + 2.0**-52 * sizes)
        return Polygon(self.values, masses, self.infinite)

    @property
    def deviation(self) -> float:
        """The standard deviation of the finite losses, the larger of both directions."""
        return max(self.moments(0.0).deviation, self.swapped.moments(0.0).deviation)

    def spread(self, rare: float) -> float:
        """Return the standard deviation without the losses of largest size, of such probability."""
        order = np.argsort(np.abs(self.values))
        values, masses = self.values[order], np.exp(self.log_mass[order])
        beyond = np.append(np.cumsum(masses[::-1])[-2::-1], 0.0)
        kept = beyond >= rare
        kept[0] = True
        values, masses = values[kept], masses[kept] / float(masses[kept].sum())
        mean = float((masses * values).sum())
        return math.sqrt(float((masses * (values - mean) ** 2).sum()))

    def moments(self, theta: float) -> Moments:
        """Return those of the finite losses; the moment of all is infinite."""
        exponents = self.log_mass + theta * self.values
        largest = float(exponents.max())
        weights = np.exp(exponents - largest)
        total = float(weights.sum())
        # Not by BLAS, whose threads wait for each other where others are at work.
        mean = float((weights * self.values).sum()) / total
        variance = float((weights * (self.values - mean) ** 2).sum()) / total
        return Moments(largest + math.log(total), mean, math.sqrt(variance))


class Polygon:
    """The privacy profile D(x) = sum of p (1 - e^(x - L)) over L > x, and the infinite mass.

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


def common_grid(unit: float, sizes: Array) -> float:
    """Return the greatest spacing of which all are multiples, as `unit` is; else the least size."""
    sizes = sizes[sizes > 0]
    if not sizes.size:
        return 0.0
    if not is_whole(sizes / unit):
        return float(sizes.min())
    return float(np.gcd.reduce(np.rint(sizes / unit).astype(np.int64))) * unit


def is_whole(multiples: Array) -> bool:
    """Return whether all are whole numbers, but for rounding."""
    nearest = np.rint(multiples)
    near = np.abs(multiples - nearest) <= _WHOLE * np.abs(nearest)
    return bool((near & (np.abs(nearest) < 2.0**62)).all())
