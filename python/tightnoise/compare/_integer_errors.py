"""How far answers that are integers are from true values that are integers, exactly.

Of noise that is added, rounded and clipped to the range, and of noise that is conditioned on the
range and rounded, an error of i has the probability q_i = P(i - 1/2 < noise < i + 1/2) wherever no
end is, and e_t at an end that is t away: P(noise > t - 1/2), or P(t - 1/2 < noise < t); for
conditioned noise divided by the sum of all. So the errors of one side are sums of i^p q_i up to the
end, which are positive, and depend on its distance alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tightnoise.compare._prior import Prior
from tightnoise.compare._tails import Array
from tightnoise.mechanisms import (
    BoundedLaplace,
    Gaussian,
    Laplace,
    RectifiedGaussian,
    TruncatedGaussian,
)
from tightnoise.mechanisms._panels import sum_rule

_NEGLIGIBLE = 1e-20  # of the first tail
_LEAST_TAIL = 1e-307


class Letters:
    """Probabilities of the integers of a range, by the distances from its ends and of the truth."""

    def __init__(self, noise: Any, width: int, is_conditioned: bool) -> None:
        self.width, self.is_conditioned = width, is_conditioned
        self.reach = reach_of(noise, width)
        """What is farther than that from an end does not feel it."""
        k = np.arange(self.reach + 1.0)
        self.inside: Array = noise._mass(k - 0.5, k + 0.5)
        """Of an error of k where no end is."""
        start = np.maximum(k - 0.5, 0.0)
        self.at_end: Array = noise._mass(start, k) if is_conditioned else noise.cdf(-start)
        """Of the end that is k away, before conditioning."""
        half = 0.5 * self.inside[0]
        self.at_end[0] = half if is_conditioned else 0.5 + half
        weights = np.append(0.0, self.inside[1:])
        # Of the errors on a side whose end is k away; without conditioning all is 1 together.
        below = [np.append(0.0, np.cumsum(k**p * weights)[:-1]) for p in range(3)]
        self._sums = [below[p] + k**p * self.at_end for p in range(3)]
        self._sums[0][1:] += half
        self._sums[0][0] = 0.0

    def total(self, theta: Array) -> Array:
        """Return what probabilities for a true value are to be divided by."""
        if not self.is_conditioned:
            return np.ones(theta.shape)
        below, above = self._ends(theta)
        total: Array = self._sums[0][below] + self._sums[0][above]
        return total

    def errors(self, theta: Array) -> tuple[Array, Array]:
        """Return bias and mean squared error."""
        below, above = self._ends(theta)
        total = self.total(theta)
        bias = (self._sums[1][above] - self._sums[1][below]) / total
        return bias, (self._sums[2][above] + self._sums[2][below]) / total

    def _ends(self, theta: Array) -> tuple[Any, Any]:
        near = np.rint(theta)
        ends = (np.clip(t, 0, self.reach).astype(np.intp) for t in (near, self.width - near))
        return next(ends), next(ends)


def reach_of(noise: Any, width: float) -> int:
    """Return beyond how many integers nothing is left of the noise, or the width."""
    least = max(_NEGLIGIBLE * float(noise.cdf(-0.5)), _LEAST_TAIL)
    return int(min(width, math.ceil(-float(noise.ppf(least))) + 1))


class IntegerErrors:
    """Bias and mean squared error of integers, by the distance of the truth from the lower end.

    Farther than `reach` from both ends they are the same, or those of one value, a parabola.
    """

    def __init__(self, width: float, letters: Letters | None, value: float = 0.0) -> None:
        """Take what is released, or the one value that is released whatever the truth."""
        self.width = width
        self.edges = np.array([0.0, width])
        self.reach = 0 if letters is None else letters.reach
        self._letters, self._value = letters, value

    def at(self, distance: Array) -> tuple[Array, Array]:
        if self._letters is not None:
            return self._letters.errors(distance)
        bias = self._value - distance
        return bias, bias * bias

    def average_square(self) -> None:
        return None


class Unclipped(IntegerErrors):
    """Noise that is added and rounded, and no more."""

    def __init__(self, width: float, noise: Any) -> None:
        super().__init__(width, None)
        self._variance = noise.rounded().var()

    def at(self, distance: Array) -> tuple[Array, Array]:
        return np.zeros(distance.shape), np.full(distance.shape, self._variance)


def noise_of(mechanism: object) -> Any:
    """Return what is added before it is clipped or conditioned."""
    if isinstance(mechanism, (TruncatedGaussian, RectifiedGaussian)):
        return Gaussian(mechanism.sigma)
    if isinstance(mechanism, BoundedLaplace):
        return Laplace(float(mechanism.scale))
    return mechanism


def letters_of(mechanism: object, width: float) -> Letters:
    """Return the probabilities of a mechanism whose outputs are rounded and clipped."""
    noise = noise_of(mechanism)
    noise.rounded()  # refuses what is too narrow
    return Letters(noise, int(width), isinstance(mechanism, (TruncatedGaussian, BoundedLaplace)))


class IntegerPrior:
    """The weights of the integers from 0 to a width.

    A cell of the prior is of the range with half an integer more at both ends, so that a weight an
    integer is one: the integer n is from n to n + 1 of it.
    """

    def __init__(self, prior: Prior, width: float) -> None:
        self.edges: Array = prior.edges * ((width + 1.0) / prior.edges[-1])
        self._density = prior.mass / np.diff(self.edges)
        self._known = np.append(0.0, np.cumsum(prior.mass))

    def density_of(self, n: Array) -> Array:
        """Return the weight of an integer in whose cell the next one is."""
        density: Array = self._density[np.searchsorted(self.edges[1:-1], n, side="right")]
        return density

    def of(self, n: Array) -> Array:
        """Return the weight of each integer."""
        first = np.searchsorted(self.edges[1:-1], n, side="right")
        last = np.searchsorted(self.edges[1:-1], n + 1.0, side="left")
        # Differences have no digits left in a wide range; but it has no cells within an integer.
        meet = np.clip(self.edges[last] - n, 0.0, 1.0)
        two = self._density[first] * meet + self._density[last] * (1.0 - meet)
        ends = (np.interp(at, self.edges, self._known) for at in (n, n + 1.0))
        weight: Array = np.where(last - first > 1, -np.subtract(*ends), two)
        return weight


def places_of(reach: int, width: float, prior: Prior) -> tuple[Array, Array]:
    """Return true values and their weights, for averages of what is smooth far from the ends.

    Near the ends, and of where cells meet, all integers are there; of others those of Gauss's rule,
    and both ends.
    """
    known = IntegerPrior(prior, width)
    meet = np.floor(known.edges[1:-1])
    near = min(reach + 1.0, math.ceil(0.5 * width))
    at_ends = np.arange(near + 1.0)
    cuts = np.unique(np.concatenate([meet, meet + 1.0, at_ends, width + 1.0 - at_ends]))
    wide = cuts[:-1][np.diff(cuts) > 2.0]
    cuts = np.unique(np.concatenate([cuts, wide + 1.0, cuts[1:][np.diff(cuts) > 2.0] - 1.0]))
    counts = np.diff(cuts)
    single = cuts[:-1][counts == 1.0]
    nodes, weights = [single], [known.of(single)]
    for panel in np.flatnonzero(counts > 1.0).tolist():
        inner, parts = sum_rule(int(counts[panel]))
        nodes.append(cuts[panel] + inner)
        weights.append(parts * known.density_of(cuts[panel]))
    return np.concatenate(nodes), np.concatenate(weights)
