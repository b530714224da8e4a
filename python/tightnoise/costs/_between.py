"""What bounds at some orders prove at the orders between them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_ROUNDING = 8 * float(np.finfo(np.float64).eps)  # of the chord: nine operations
_UNDERFLOW = float(np.finfo(np.float64).smallest_subnormal) * 4


def bounds_between(alphas: Array, values: Array, orders: Array) -> Array:
    """Return upper bounds of the Renyi divergence D at `orders`, given some at `alphas`.

    By two facts (van Erven and Harremoes 2014, Theorem 3 and Corollary 2): D does not decrease with
    the order, and K(order) = (order - 1) D(order) is convex, with K(1) = 0. Both hold for the
    supremum over pairs of neighbours too.

    - At one of `alphas`: its own bound, or that at a later one if it is smaller.
    - Between two of them, p and q, with 1 < p and q finite: the chord of K. As a bound on D it is
      u D(p) + (1 - u) D(q), a mean of the two: u = (q - order) (p - 1) / ((q - p) (order - 1)) and
      1 - u = (order - p) (q - 1) / ((q - p) (order - 1)), so nothing cancels.
    - Otherwise the bound at the next of `alphas`, infinity beyond the last. (Below the first that
      is what the chord from K(1) = 0 says.)
    """
    least = np.minimum.accumulate(values[::-1])[::-1]
    after = np.searchsorted(alphas, orders)
    upper = np.append(least, np.inf)[after]
    within = after < alphas.size
    at = np.minimum(after, alphas.size - 1)
    before = np.maximum(at - 1, 0)
    chord = within & (alphas[at] > orders) & (after > 0) & (alphas[before] > 1)
    chord &= np.isfinite(alphas[at]) & np.isfinite(least[at])
    p, q, order = alphas[before[chord]], alphas[at[chord]], orders[chord]
    low = least[before[chord]] * ((q - order) / (q - p) * ((p - 1) / (order - 1)))
    high = least[at[chord]] * ((order - p) / (q - p) * ((q - 1) / (order - 1)))
    mean = (low + high) * (1 + _ROUNDING) + _UNDERFLOW
    upper[chord] = np.minimum(mean, least[at[chord]])
    return upper


@dataclass(frozen=True)
class Chords:
    """The function of the order that a table proves."""

    alphas: tuple[float, ...]
    values: tuple[float, ...]

    def __call__(self, orders: object) -> Array:
        arrays = np.array(self.alphas), np.array(self.values)
        return bounds_between(*arrays, np.asarray(orders, dtype=np.float64))

    @property
    def max_divergence(self) -> float:
        """The bound at infinite order, if there is one."""
        return self.values[-1] if math.isinf(self.alphas[-1]) else math.inf
