"""Where the sum of a random sample of the records lies: intervals that hold all but a rare one.

With records x_i and independent coins B_i of probability q, X = sum of B_i x_i has the mean
q sum of x_i and the variance v = q (1 - q) sum of x_i^2, and no term exceeds its mean by more
than m. By Bernstein's inequality, for t > 0,

    P(X - mean >= t) <= exp(-t^2 / (2 (v + m t / 3))),

which is p at t = m L / 3 + sqrt((m L / 3)^2 + 2 v L), L = -log p. One side of a coordinate gets an
equal share of what may go wrong. Besides, X lies between the sums of the negative and of the
positive numbers of its column, always.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_CHUNK = 1 << 20  # elements that are made float64 at once
_ULP = float(np.finfo(np.float64).eps)


class ColumnSums(NamedTuple):
    """What is kept of the columns of an array (n, d)."""

    records: int
    below: Array  # sum of the negative numbers
    above: Array  # sum of the positive numbers
    norms: Array  # Euclidean
    least: Array  # at most 0
    greatest: Array  # at least 0
    longest: float  # the largest Euclidean norm of a row

    @classmethod
    def of(cls, rows: NDArray[np.floating[Any]]) -> ColumnSums:
        """Read the rows once."""
        n, d = rows.shape
        below, above, norms, least, greatest = np.zeros((5, d))
        longest = 0.0
        step = max(1, _CHUNK // max(d, 1))
        for begin in range(0, n, step):
            part = rows[begin : begin + step].astype(np.float64)
            negative, positive = np.minimum(part, 0.0), np.maximum(part, 0.0)
            below += negative.sum(axis=0)
            above += positive.sum(axis=0)
            norms = np.hypot(norms, _norms(part, 0))
            least = np.minimum(least, negative.min(axis=0))
            greatest = np.maximum(greatest, positive.max(axis=0))
            longest = max(longest, float(_norms(part, 1).max(initial=0.0)))
        return cls(n, below, above, norms, least, greatest, longest)

    def intervals(self, rate: float, failure: float) -> tuple[Array, Array, float]:
        """Return the ends of an interval for each coordinate, and the chance that one fails.

        They hold for the sample of these rows, and for that of all of them but one: its mean is
        less by the rate times that row, its variance, terms and extreme sums are no greater.
        """
        logarithm = math.log(2.0 * self.below.size / failure)
        rounding = 2.0 * _ULP * (self.records + 16)
        deviation = math.sqrt(2.0 * rate * (1.0 - rate) * logarithm) * self.norms * (1.0 + rounding)
        mean = rate * (self.below + self.above)
        error = rounding * (self.above - self.below)  # also of what follows
        ends = []
        for greatest, least in ((self.greatest, self.least), (-self.least, -self.greatest)):
            third = np.maximum((1.0 - rate) * greatest, -rate * least) * logarithm / 3.0
            far = third + np.hypot(third, deviation)
            ends.append(far * (1.0 + 16.0 * _ULP) + error)
        high = mean + ends[0] - rate * self.least
        low = mean - ends[1] - rate * self.greatest
        widest = self.below - error, self.above + error
        is_sure = bool(np.all((low <= widest[0]) & (high >= widest[1])))
        return np.maximum(low, widest[0]), np.minimum(high, widest[1]), 0.0 if is_sure else failure


def _norms(part: Array, axis: int) -> Array:
    """Return Euclidean norms, of numbers whose squares are no floats, too."""
    largest = np.abs(part).max(axis=axis, keepdims=True, initial=0.0)
    scaled = part / np.where(largest > 0.0, largest, 1.0)
    return np.asarray(largest.squeeze(axis) * np.sqrt((scaled * scaled).sum(axis=axis)))
