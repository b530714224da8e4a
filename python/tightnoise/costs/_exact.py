"""Compositions of laws that the core knows: epsilon and delta, certified from both sides.

The privacy profile of a sum of losses is a contour integral of its moment generating function; the
core sums it by the trapezoidal rule and bounds all that this leaves out (cpp/cost/contour,
CONTOUR.md). Each direction of neighbours is composed apart, and the larger answer counts.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._leaf import Law
from tightnoise.costs._sampled import Terms

__all__ = ["Bounds", "Composition", "composition_of"]


Array = NDArray[np.float64]

_NARROW = 1e-6  # relative


class Bounds(NamedTuple):
    """An answer is proved to lie between these; lower is 0 where only upper bounds are known."""

    lower: float
    upper: float

    @property
    def is_narrow(self) -> bool:
        """Whether no other way could prove anything better."""
        return self.upper - self.lower <= _NARROW * self.upper


class Composition:
    """Releases composed, in the directions in which they differ."""

    def __init__(self, directions: list[core.Composition], *, is_attained: bool) -> None:
        self._directions = directions
        self._is_attained = is_attained

    def epsilon(self, delta: float) -> Bounds:
        """Return bounds of epsilon at a delta above 0."""
        found: list[tuple[float, float]] = []
        for direction in self._directions:  # only the larger one is needed
            floor = max((low for low, _ in found), default=0.0)
            found.append(direction.epsilon(delta, floor))
        return self._larger(found)

    def delta(self, epsilon: float) -> Bounds:
        """Return bounds of delta at an epsilon of at least 0."""
        return self._larger([direction.delta(epsilon) for direction in self._directions])

    @property
    def is_symmetric(self) -> bool:
        """Whether both directions are one."""
        return len(self._directions) == 1

    def delta_one_way(self, way: int, epsilon: float) -> Bounds:
        """Return bounds of delta in one direction; the other one's pair is the swapped one."""
        return self._one_way(*self._directions[way].delta(epsilon))

    def deltas_one_way(self, way: int, epsilons: Array) -> tuple[Array, Array]:
        """Return the same at epsilons that rise; 0 and 1 where it would take a while."""
        lower, upper = self._directions[way].deltas(epsilons, is_quick=True)
        return lower if self._is_attained else np.zeros_like(lower), upper

    def _one_way(self, lower: float, upper: float) -> Bounds:
        return Bounds(lower if self._is_attained else 0.0, upper)

    def _larger(self, bounds: list[tuple[float, float]]) -> Bounds:
        lower = max(low for low, _ in bounds) if self._is_attained else 0.0
        return Bounds(lower, max(high for _, high in bounds))


@functools.lru_cache(maxsize=256)
def composition_of(terms: Terms) -> Composition | None:
    """Return the composition, if the core knows the law of every leaf, and one is smooth.

    Atoms alone are composed on a lattice, where they stay atoms.
    """
    laws: list[tuple[tuple[Law, ...], float]] = []
    for leaf, count in terms:
        law = leaf.laws()
        if law is None:
            return None
        laws.append((law, float(count)))
    if not any(law[0].is_smooth for law, _ in laws):
        return None

    def direction(way: int) -> core.Composition:
        upper = [(law[way % len(law)].upper, count) for law, count in laws]
        lower = [(law[way % len(law)].lower, count) for law, count in laws]
        return core.Composition(upper, None if lower == upper else lower)

    directions = [direction(way) for way in range(max(len(law) for law, _ in laws))]
    return Composition(directions, is_attained=all(leaf.is_attained for leaf, _ in terms))
