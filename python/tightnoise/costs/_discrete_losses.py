"""Independent privacy losses of discrete distributions: what a PrivacyLossDistribution adds up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise._cached import cached_property
from tightnoise._core import cost as core
from tightnoise.costs._lattice import LatticeLosses, Moments, Part, sum_of_products_upper

Array = NDArray[np.float64]

_STEEPEST = 1e4  # tilt times the largest loss of one release
_SATURATED = 20.0  # tilt times the grid, beyond which all are at the largest loss
_FINER = 0.5  # than wanted
_WHOLE = 1e-12  # relative: values so close to multiples of the grid are multiples of it


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
        return self.grid > 0 and _is_whole(self.values / self.grid)

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


@dataclass(frozen=True, eq=False)
class DiscreteLosses(LatticeLosses):
    """The losses of `counts[i]` releases as `releases[i]`; the finite ones, but for `infinite`."""

    releases: tuple[Release, ...]
    counts: tuple[int, ...]

    @cached_property
    def largest(self) -> float:
        """The largest sum of losses, in size."""
        return sum_of_products_upper((release.largest, n) for release, n in self._pairs())

    @cached_property
    def highest(self) -> float:
        """The largest sum of losses."""
        return sum_of_products_upper((release.highest, n) for release, n in self._pairs())

    @cached_property
    def infinite(self) -> float:
        """The probability that one of the losses is infinite, rounded up."""
        each = np.array([release.infinite for release in self.releases])
        times = np.array(self.counts, dtype=np.float64)
        return core.failure_upper(np.zeros_like(each), each, times)

    @cached_property
    def count(self) -> float:
        """How many releases there are."""
        return float(sum(self.counts))

    def parts(self) -> Iterator[Part]:
        """Go through the different releases."""
        for release, n in self._pairs():
            yield Part(release.values, release.log_mass, float(n))

    def moments(self, theta: float) -> Moments:
        """Return those of the sum."""
        each = [(n, release.moments(theta)) for release, n in self._pairs()]
        return Moments(
            sum(n * one.log_moment for n, one in each),
            sum(n * one.mean for n, one in each),
            math.sqrt(sum(n * one.deviation**2 for n, one in each)),
        )

    def _pairs(self) -> Iterator[tuple[Release, int]]:
        return zip(self.releases, self.counts, strict=True)

    def _steepest(self) -> float:
        steepest = _STEEPEST / max(release.largest for release in self.releases)
        grids = [release.grid for release in self.releases if release.grid > 0]
        return min(steepest, _SATURATED / min(grids)) if grids else steepest

    def _spacing(self, least: float, wanted: float) -> float:
        grids = np.array([release.grid for release in self.releases if release.grid > 0])
        if not grids.size:
            return max(least, wanted)
        finest = float(grids.min())
        if all(r.is_whole or r.grid == 0 for r in self.releases) and _is_whole(grids / finest):
            # Nothing needs splitting, unless there are far more points than are wanted.
            return finest * max(1, math.ceil(least / finest), int(_FINER * wanted / finest))
        # The lattice is laid such that what varies most needs none, if it lies on one.
        spread = [n * release.moments(0.0).deviation ** 2 for release, n in self._pairs()]
        widest, h = self.releases[int(np.argmax(spread))], max(least, wanted)
        if not widest.is_whole:
            return h
        grid = widest.grid
        return grid / math.floor(grid / h) if grid > h else grid * math.ceil(h / grid)


def common_grid(unit: float, sizes: Array) -> float:
    """Return the greatest spacing of which all are multiples, as `unit` is; else the least size."""
    sizes = sizes[sizes > 0]
    if not sizes.size:
        return 0.0
    if not _is_whole(sizes / unit):
        return float(sizes.min())
    return float(np.gcd.reduce(np.rint(sizes / unit).astype(np.int64))) * unit


def _is_whole(multiples: Array) -> bool:
    nearest = np.rint(multiples)
    near = np.abs(multiples - nearest) <= _WHOLE * np.abs(nearest)
    return bool((near & (np.abs(nearest) < 2.0**62)).all())
