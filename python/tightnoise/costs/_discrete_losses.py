"""Independent privacy losses of discrete distributions: what a PrivacyLossDistribution adds up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise._cached import cached_property
from tightnoise.costs._lattice import LatticeLosses, Moments, Part, sum_upper

__all__ = ["DiscreteLosses", "Release"]

Array = NDArray[np.float64]

_STEEPEST = 1e4  # tilt times the largest loss of one release
_SATURATED = 20.0  # tilt times the grid, beyond which all are at the largest loss
_WHOLE = 1e-12  # relative: values so close to multiples of the grid are multiples of it


@dataclass(frozen=True, eq=False)
class Release:
    """The privacy loss of one release: finite `values` of such probabilities, or infinity.

    The probabilities may be upper bounds, and need not be 1 in sum.
    """

    values: Array
    log_mass: Array
    infinite: float
    grid: float  # a spacing that suits the values; 0 if no loss is finite but 0

    @cached_property
    def largest(self) -> float:
        """The largest size of a loss."""
        return float(np.abs(self.values).max())

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
        mean = float(weights @ self.values) / total
        variance = float(weights @ (self.values - mean) ** 2) / total
        return Moments(largest + math.log(total), mean, math.sqrt(variance))


@dataclass(frozen=True, eq=False)
class DiscreteLosses(LatticeLosses):
    """The finite losses of `counts[i]` releases as `releases[i]`."""

    releases: tuple[Release, ...]
    counts: tuple[int, ...]

    @cached_property
    def largest(self) -> float:
        """The largest sum of losses, in size."""
        return sum_upper((release.largest, n) for release, n in self._pairs())

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
        return min([steepest, *(_SATURATED / grid for grid in grids)])

    def _spacing(self, least: float, wanted: float) -> float:
        grids = np.array([release.grid for release in self.releases if release.grid > 0])
        if not grids.size:
            return max(least, wanted)
        finest = float(grids.min())
        if all(r.is_whole or r.grid == 0 for r in self.releases) and _is_whole(grids / finest):
            return finest * max(1, math.ceil(least / finest))  # nothing needs splitting
        # The lattice is laid such that what varies most needs none.
        spread = [n * release.moments(0.0).deviation ** 2 for release, n in self._pairs()]
        grid, h = self.releases[int(np.argmax(spread))].grid, max(least, wanted)
        return grid / math.floor(grid / h) if grid > h else grid * math.ceil(h / grid)


def _is_whole(multiples: Array) -> bool:
    nearest = np.rint(multiples)
    return bool((np.abs(multiples - nearest) <= _WHOLE * np.abs(nearest)).all())
