"""Noise once the output is rounded to a grid: an exact law on the integers.

With K = floor((theta + noise)/g + 1/2), f the distance of theta/g from the nearest integer and S(x)
= P(noise > x), an output is j steps or more above that integer with probability S((j - 1/2 - f) g)
and as far below it with S((j - 1/2 + f) g). So, summing by parts,

    E|g K - theta|/g     = f (1 - 2 S((1/2 - f) g)) + sum of S(x) over all x,
    E(g K - theta)^2/g^2 = f^2 + sum of 2 (x/g) S(x),        x = (j - 1/2 -+ f) g, j = 1, 2, ...

Every term is positive, and S is computed as a tail: nothing cancels, however wide the noise is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._cached import cached_property
from tightnoise._validate import number_array, positive, require, require_all
from tightnoise.mechanisms._drawing import repeated, source_of
from tightnoise.mechanisms._panels import ONE_BY_ONE, sum_rule
from tightnoise.random import NoiseStream

__all__ = ["RoundedNoise"]

Array = NDArray[np.float64]

_LEAST_SCALE = 2.0**-10  # of the noise, in steps of the grid
_NEGLIGIBLE = 1e-20  # of the first tail of a sum
_LEAST_TAIL = 1e-307
_MOST_EDGES = 256
_MOST_STEPS = 2.0**52
_CHUNK = 2**14  # panels at a time
# Of noise with one mode and h = g density(0) below that, sums are integrals to 1e-12. S is convex
# beyond 0: each kink of it by J, in a slope that rises by density(0) in all, moves the midpoint
# rule by at most g^2 J/8, and that for 2 x S, but for g^2/12 of both sides, by at most g^2 x J/6,
# the sum of which is g^2/12 a side. And E|noise| >= 1/(4 density(0)), variance >= 1/(12
# density(0)^2): h^2 and 2 h^2 of them.
_FLAT = 7e-7
_WIDE = 1e3  # deviations in steps: errors depend on the fraction by less than 1e-6 of themselves


@dataclass(frozen=True)
class RoundedNoise:
    """Additive noise whose outputs are rounded to multiples of a grid, exactly.

    What is released is g floor((theta + noise)/g + 1/2), g the grid: for counts and g = 1, an
    integer. Rounding is done to what is already public and costs nothing; the errors are those of
    the rounded output, and less than the noise's where it is narrow beside the grid. Tulap noise
    becomes the geometric mechanism, Laplace noise a discrete Laplace with a lower peak.

    Probabilities, `mean_abs` and `var` are for theta on the grid, `mean_abs_worst` and `mse_worst`
    for any. Outputs are counted in steps from theta, but for `mean_abs`, `var` and `std`.

    Parameters
    ----------
    mechanism : Gaussian or AdditiveNoise
    grid : float
        A power of two, at most 1024 times the scale of the noise.

    Raises
    ------
    ValueError
        If grid is no power of two, or too coarse.
    TypeError
        If grid is not a real number.

    Examples
    --------
    >>> import tightnoise as tn
    >>> geometric = tn.Tulap(epsilon=1.0, sensitivity=1.0).rounded()
    >>> geometric.pmf([0, 1, 2]).round(6)
    array([0.462117, 0.170003, 0.062541])
    >>> round(geometric.mean_abs(), 6), round(geometric.var(), 6)
    (0.850918, 1.841347)
    """

    mechanism: Any
    grid: float = 1.0

    def __post_init__(self) -> None:
        step = positive("grid", self.grid)
        require(math.frexp(step)[0] == 0.5, "grid", self.grid, "a power of two")
        scale = float(self.mechanism._least_scale)
        allowed = f"at most {1.0 / _LEAST_SCALE:g} times the scale of the noise, {scale:g}"
        require(_LEAST_SCALE * step <= scale, "grid", self.grid, allowed)
        object.__setattr__(self, "grid", step)

    def pmf(self, k: ArrayLike) -> Any:
        """Return the probability that the output is k steps of the grid from theta, on the grid.

        Parameters
        ----------
        k : array_like
            Integers, at most 2^52 in size.

        Returns
        -------
        ndarray or scalar
            Of the shape of k; relative error below 1e-12, also far out.

        Raises
        ------
        ValueError
            If k does not hold such integers.
        TypeError
            If k does not hold real numbers.
        """
        count = number_array("k", k)
        good = (np.abs(count) <= _MOST_STEPS) & (count == np.rint(count))
        require_all(good, "k", count, "an integer, at most 2^52 in size")
        low, high = ((count + side) * self.grid for side in (-0.5, 0.5))
        return self.mechanism._mass(np.asarray(low), np.asarray(high))[()]

    def logpmf(self, k: ArrayLike) -> Any:
        """Return log(pmf(k)), -inf where that is too small for a float."""
        with np.errstate(divide="ignore"):
            return np.log(self.pmf(k))

    def cdf(self, k: ArrayLike) -> Any:
        """Return the probability of an output of at most k steps above theta, on the grid."""
        return self.mechanism.cdf(self._edge(k))

    def sf(self, k: ArrayLike) -> Any:
        """Return the probability of an output of more than k steps above theta."""
        return self.mechanism.sf(self._edge(k))

    def logcdf(self, k: ArrayLike) -> Any:
        """Return log(cdf), also where cdf is too small for a float, or next to 1."""
        return self.mechanism.logcdf(self._edge(k))

    def logsf(self, k: ArrayLike) -> Any:
        """Return log(sf), also where sf is too small for a float, or next to 1."""
        return self.mechanism.logsf(self._edge(k))

    def ppf(self, q: ArrayLike) -> Any:
        """Return the smallest k with `cdf(k) >= q`, as a float; q next to a step may be either."""
        return np.ceil(self.mechanism.ppf(q) / self.grid - 0.5)

    def isf(self, q: ArrayLike) -> Any:
        """Return the smallest k with `sf(k) <= q`, as a float; q next to a step may be either."""
        return np.ceil(self.mechanism.isf(q) / self.grid - 0.5)

    def interval(self, confidence: ArrayLike) -> tuple[Any, Any]:
        """Return the ends of what holds the output with at least that probability, in steps.

        Examples
        --------
        >>> import tightnoise as tn
        >>> low, high = tn.Tulap(epsilon=1.0, sensitivity=1.0).rounded().interval(0.95)
        >>> float(low), float(high)
        (-3.0, 3.0)
        """
        low, high = self.mechanism.interval(confidence)
        return np.ceil(low / self.grid - 0.5), np.ceil(high / self.grid - 0.5)

    def median(self) -> float:
        """Return the median of the output in steps from theta, 0 by symmetry."""
        return 0.0

    def mean(self) -> float:
        """Return the mean of the output in steps from theta, 0 by symmetry."""
        return 0.0

    def std(self) -> float:
        """Return the standard deviation of the output, for theta on the grid."""
        return math.sqrt(self.var())

    def rvs(
        self, *, size: int | Sequence[int] | None = None, random_state: NoiseStream | None = None
    ) -> Any:
        """Draw steps from theta: `mechanism.sample_integers` of zeros, on this grid.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of what is returned; by default one number.
        random_state : NoiseStream, optional
            Where the noise comes from.

        Returns
        -------
        int64, or ndarray of int64

        Raises
        ------
        ValueError, TypeError
            If `size` is no shape, or `random_state` is not a NoiseStream.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Laplace(2.0).rounded().rvs(size=3).dtype.name
        'int64'
        """
        source_of(random_state, "random_state")
        zeros = repeated(0.0, size)
        return self.mechanism.sample_integers(zeros, rng=random_state, grid=self.grid)[0]

    def _edge(self, k: ArrayLike) -> Array:
        count = number_array("k", k)
        good = np.abs(count) <= _MOST_STEPS
        require_all(good, "k", count, "at most 2^52 in size")
        return np.asarray((np.floor(count) + 0.5) * self.grid)

    def mean_abs(self) -> float:
        """Return the mean of abs(output - theta), the l1 loss, for theta on the grid."""
        return self._on_grid[0]

    def var(self) -> float:
        """Return the variance of the output, the l2 loss, for theta on the grid."""
        return self._on_grid[1]

    def mean_abs_worst(self) -> float:
        """Return the mean of abs(output - theta) for the theta where it is greatest."""
        return self._worst[0]

    def mse_worst(self) -> float:
        """Return the mean of (output - theta)^2 for the theta where it is greatest."""
        return self._worst[1]

    @cached_property
    def _on_grid(self) -> tuple[float, float]:
        return self._errors(0.0)

    @cached_property
    def _worst(self) -> tuple[float, float]:
        """The errors at the worst fraction: of some, and of those between the best of them."""
        wide = math.sqrt(float(self.mechanism.var())) > _WIDE * self.grid
        where = np.linspace(0.0, 0.5, 9 if wide else 33)
        if not wide:
            # Narrow noise is felt only where a panel of it ends half way between two outputs.
            edges = self.mechanism._panels(-float(self.mechanism.ppf(1e-9)))[:_MOST_EDGES]
            places = edges / self.grid - 0.5
            where = np.union1d(where, np.abs(places - np.rint(places)))
        found = np.array([self._errors(fraction) for fraction in where.tolist()])
        worst = []
        for loss in (0, 1):
            best = int(np.argmax(found[:, loss]))
            low, high = where[max(best - 1, 0)], where[min(best + 1, where.size - 1)]
            finer = [] if wide else np.linspace(low, high, 17).tolist()
            worst.append(max([found[best, loss], *(self._errors(f)[loss] for f in finer)]))
        return float(worst[0]), float(worst[1])

    def _errors(self, fraction: float) -> tuple[float, float]:
        """Return E|error| and E error^2 for theta so many steps from the grid, 0 to 1/2."""
        noise, step = self.mechanism, self.grid
        if noise._is_unimodal and float(noise.pdf(0.0)) * step < _FLAT:
            return float(noise.mean_abs()), float(noise.var()) + step * step / 12.0
        near, far = self._sums(0.5 - fraction), self._sums(0.5 + fraction)
        beyond = 2.0 * self._tail(np.asarray((0.5 - fraction) * step))
        size = fraction * (1.0 - float(beyond)) + near[0] + far[0]
        square = fraction * fraction + near[1] + far[1]
        return float(step * size), float(step * step * square)

    def _sums(self, first: float) -> Array:
        """Return the sums of S and of 2 (x/g) S over x/g = first, first + 1, ..."""
        step = self.grid
        greatest = float(self._tail(np.asarray(first * step)))
        if greatest == 0.0:
            return np.zeros(2)
        if self.mechanism._repeats is not None:
            kink, width, epsilon = (np.float64(number) for number in self.mechanism._repeats)
            count = width / step
            if count == np.rint(count):
                start = max(np.ceil(kink / step - first), 0.0)
                once = self._between(first, np.array([start, start + count]))
                # The same again and again, each e^-epsilon times the last.
                all_ = -1.0 / np.expm1(-epsilon)
                later = np.array([0.0, 2.0 * count * np.exp(-epsilon) * all_ * once[0]])
                before = self._between(first, np.array([0.0, start]))
                return np.asarray(before + all_ * (once + later))
        end = -float(self.mechanism.ppf(max(_NEGLIGIBLE * greatest, _LEAST_TAIL)))
        edges = self.mechanism._panels(max(end, first * step), ONE_BY_ONE * step)
        # The numbers of the first points of the panels; the last panel has its end, too.
        start = np.maximum(np.ceil(edges / step - first), 0.0)
        start[-1] = np.floor(edges[-1] / step - first) + 1.0
        return self._between(first, start)

    def _between(self, first: float, start: Array) -> Array:
        """Return the parts of these sums in panels, given the numbers of their first points."""
        counts = np.diff(start)
        sums = np.zeros(2)
        for count in np.unique(counts[counts > 0.0]).tolist():
            nodes, weights = sum_rule(int(count))
            alike = start[:-1][counts == count]
            for at in range(0, alike.size, _CHUNK):
                x = first + (alike[at : at + _CHUNK, np.newaxis] + nodes)
                tail = self._tail(x * self.grid)
                sums += float((tail @ weights).sum()), float(((2.0 * x * tail) @ weights).sum())
        return sums

    def _tail(self, x: Array) -> Array:
        tail: Array = self.mechanism.cdf(-x)  # by symmetry
        return tail
