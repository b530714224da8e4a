"""Compositions whose losses have few sums: each is told apart, and nothing is laid on a lattice.

Of n releases with losses l_1, ..., l_a of probabilities p_1, ..., p_a, those with k_i losses l_i
are of one type: their sum is that of k_i l_i, and their probability n!/(k_1! ... k_a!) times the
product of p_i^k_i. So the divergence at epsilon is a sum of positive terms, the probability that
some loss is infinite, and of each type beyond epsilon its probability times 1 - e^(epsilon - sum).

Errors, with u = 2^-53: logarithms of factorials are those of whole numbers, to 4 u; each log
probability and each sum of losses is a sum of 2 a + 2 terms, over at most 16 kinds of releases, and
off by at most 4 u (a + 6) times the sum of their sizes. Types are moved up by that for upper
bounds, and down for lower ones; what is left, exponentials and a sum of at most 2^16 positive
terms, is off by less than 2^-44, relative.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._atoms_below import lowered
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._exact import Bounds
from tightnoise.costs._lattice import DiscreteLosses
from tightnoise.costs._leaf import Terms, losses_of_leaf
from tightnoise.costs._losses_below import infinite_below

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_MOST_TYPES = 2**16
_MOST_KINDS = 16
_MOST_RELEASES = 4096  # of one kind: logarithms of larger factorials lose more digits
_ACCURACY = 2.0**-48  # of a pair, relative
_ROUNDING = 2.0**-44
_STEP = 2.0**-50  # relative: the first that an epsilon is moved by until it is certain


@functools.lru_cache(maxsize=64)
def few_sums(terms: Terms) -> FewSums | None:
    """Return the composition of leaves that are atoms, if it has few types; else None."""
    if len(terms) > _MOST_KINDS:
        return None
    uppers: list[tuple[Release, int]] = []
    lowers: list[tuple[Release, int]] = []
    types = 1
    for leaf, n in terms:
        reached = leaf.reached()
        if reached is None or n > _MOST_RELEASES:
            return None
        release = losses_of_leaf(leaf)
        if release is None:
            return None
        # None is worse than the pair reached.
        if leaf.is_attained and leaf.has_least_profile and not reached.is_short:
            release = reached
        types *= math.comb(n + max(release.values.size, reached.values.size) - 1, n)
        if types > _MOST_TYPES:
            return None
        uppers.append((release, n))
        lowers.append((reached, n))
    symmetric = all(release.is_symmetric for release, _ in (*uppers, *lowers))
    ways = range(1 if symmetric else 2)
    return FewSums(tuple((_above(uppers, way), _below(lowers, way)) for way in ways))


@dataclass(frozen=True, eq=False)
class FewSums:
    """Sums of losses in the directions in which neighbours differ, from above and from below."""

    ways: tuple[tuple[_Sums, _Sums], ...]

    def delta(self, epsilon: float) -> Bounds:
        """Return bounds of delta at an epsilon of at least 0."""
        return Bounds(
            max(below.divergence(epsilon) * (1 - _ROUNDING) for _, below in self.ways),
            max(above.divergence_above(epsilon) for above, _ in self.ways),
        )

    def epsilon(self, delta: float) -> Bounds:
        """Return bounds of the least epsilon at a delta of at least 0."""
        return Bounds(
            max(below.epsilon(delta, -1) for _, below in self.ways),
            max(above.epsilon(delta, 1) for above, _ in self.ways),
        )


class _Sums:
    """Sums of losses, increasing, and their probabilities; others are infinite."""

    def __init__(self, losses: Array, masses: Array, infinite: float) -> None:
        order = np.argsort(losses)
        self.losses, self.masses, self.infinite = losses[order], masses[order], infinite

    def divergence(self, epsilon: float) -> float:
        """Return the hockey-stick divergence, but for rounding."""
        first = int(np.searchsorted(self.losses, epsilon, side="right"))
        gaps = epsilon - self.losses[first:]
        return float(self.infinite - (self.masses[first:] * np.expm1(gaps)).sum())

    def divergence_above(self, epsilon: float) -> float:
        """Return the same, rounded up; masses that underflow count for one that does not."""
        lost = 0.0 if epsilon >= self.losses[-1] else self.losses.size * 2.0**-1000
        return min(1.0, self.divergence(epsilon) * (1 + _ROUNDING) + lost)

    def epsilon(self, delta: float, way: int) -> float:
        """Return an epsilon with no more than a delta, rounded up (way 1), or with more (-1)."""

        def is_more(epsilon: float) -> bool:
            if way > 0:
                return self.divergence_above(epsilon) > delta
            return self.divergence(epsilon) * (1 - _ROUNDING) > delta

        if self.infinite * (1 + way * _ROUNDING) > delta:
            return math.inf
        if not is_more(0.0):
            return 0.0
        start, end = self._segment(delta)
        epsilon, step = self._within(start, delta), way * _STEP * end
        last = end if way > 0 else 0.0
        while way * (last - (epsilon + step)) > 0:
            if is_more(epsilon + step) == (way < 0):
                return epsilon + step
            step *= 4.0
        return last

    def _segment(self, delta: float) -> tuple[float, float]:
        """Return neighbouring sums, or 0 and one, between which the divergence falls to delta."""
        first = int(np.searchsorted(self.losses, 0.0, side="right"))
        low, high = first - 1, self.losses.size - 1  # all is said at the last
        while high - low > 1:
            middle = (low + high) // 2
            if self.divergence_above(float(self.losses[middle])) <= delta:
                high = middle
            else:
                low = middle
        return float(self.losses[low]) if low >= first else 0.0, float(self.losses[high])

    def _within(self, start: float, delta: float) -> float:
        """Return where about the divergence is delta: from `start` on, a line in e^epsilon."""
        first = int(np.searchsorted(self.losses, start, side="right"))
        slope = float((self.masses[first:] * np.exp(start - self.losses[first:])).sum())
        above = self.divergence(start) - delta
        return start + math.log1p(max(0.0, above) / slope) if slope > 0 else start


def _above(pairs: Sequence[tuple[Release, int]], way: int) -> _Sums:
    releases = tuple(_raised(release.swapped if way else release) for release, _ in pairs)
    counts = tuple(n for _, n in pairs)
    losses, log_mass, far, doubt = _types(zip(releases, counts, strict=True))
    masses = np.exp(np.minimum(log_mass + doubt, 0.0))
    return _Sums(losses + far, masses, DiscreteLosses(releases, counts).infinite)


def _below(pairs: Sequence[tuple[Release, int]], way: int) -> _Sums:
    releases = tuple(lowered(release, way) for release, _ in pairs)
    counts = tuple(n for _, n in pairs)
    losses, log_mass, far, doubt = _types(zip(releases, counts, strict=True))
    infinite = infinite_below(zip(releases, counts, strict=True))
    return _Sums(losses - far, np.exp(log_mass - doubt), infinite)


def _raised(release: Release) -> Release:
    """Return losses of one direction that dominate all that are those of a release, to 2^-48."""
    sizes = np.abs(release.values)
    return replace(
        release,
        values=release.values + _ACCURACY * sizes,
        log_mass=release.log_mass + _ACCURACY * (1 + sizes + np.abs(release.log_mass)),
        infinite=min(1.0, release.infinite * (1 + _ACCURACY)),
    )


def _types(releases: Iterable[tuple[Release, int]]) -> tuple[Array, Array, Array, Array]:
    """Return the sum of losses of each type, its log probability, and what both are off by."""
    found = [np.zeros(1)] * 4
    for release, n in releases:
        ours = _types_of(release.values, release.log_mass, n)
        found = [
            np.add.outer(these, those).ravel() for these, those in zip(found, ours, strict=True)
        ]
    losses, log_mass, sizes, doubts = found
    return losses, log_mass, sizes, doubts


def _types_of(values: Array, log_mass: Array, n: int) -> tuple[Array, Array, Array, Array]:
    """Return those of n releases of one kind."""
    log_factorials = _log_factorials(n)
    left = np.array([n])
    losses, logs, sizes, doubts = (np.zeros(1) for _ in range(4))
    for i, (value, log_p) in enumerate(zip(values.tolist(), log_mass.tolist(), strict=True)):
        if i + 1 < values.size:
            which = np.repeat(np.arange(left.size), left + 1)
            k = np.arange(which.size) - np.repeat(np.cumsum(left + 1) - (left + 1), left + 1)
        else:
            which, k = np.arange(left.size), left
        left = left[which] - k
        losses, logs = losses[which] + k * value, logs[which] + k * log_p - log_factorials[k]
        sizes = sizes[which] + abs(value) * k
        doubts = doubts[which] + abs(log_p) * k + log_factorials[k]
    unit = 4 * _UNIT * (values.size + 6)
    return (
        losses,
        logs + log_factorials[n],
        unit * sizes * (1 + 2.0**-20),
        unit * (doubts + log_factorials[n] + 1) * (1 + 2.0**-20),
    )


@functools.lru_cache(maxsize=8)
def _log_factorials(n: int) -> Array:
    """Return log(0!), ..., log(n!): of whole numbers, so that each is rounded once."""
    product, logs = 1, np.zeros(n + 1)
    for k in range(2, n + 1):
        product *= k
        logs[k] = math.log(product)
    return logs
