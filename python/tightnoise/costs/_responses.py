"""The privacy losses of many randomised responses of different epsilon.

A response is true with probability 1/(1 + exp(-e)), which has the loss e, else false, with -e. So

    log E exp(theta L) = log cosh((theta + 1/2) e) - log cosh(e/2),

with the mean e tanh((theta + 1/2) e) and the variance (e/cosh((theta + 1/2) e))^2 when tilted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise._cached import cached_property
from tightnoise.costs._lattice import LatticeLosses, Moments, Part, sum_upper

__all__ = ["ResponseLosses"]

Array = NDArray[np.float64]

_STEEPEST = 1e3  # tilt times the largest epsilon


@dataclass(frozen=True, eq=False)
class ResponseLosses(LatticeLosses):
    """`counts[i]` randomised responses of `epsilon[i]`, which differ and are positive."""

    epsilon: Array
    counts: Array

    @cached_property
    def largest(self) -> float:
        """The largest privacy loss, sum of n e."""
        return sum_upper(zip(self.epsilon.tolist(), self.counts.tolist(), strict=True))

    @cached_property
    def count(self) -> float:
        """How many responses there are."""
        return float(self.counts.sum())

    def parts(self) -> Iterator[Part]:
        """Go through the different epsilons."""
        for e, times in zip(self.epsilon.tolist(), self.counts.tolist(), strict=True):
            true = -math.log1p(math.exp(-e))
            yield Part(np.array([-e, e]), np.array([true - e, true]), times)

    def moments(self, theta: float) -> Moments:
        """Return those of the sum."""
        e, n = self.epsilon, self.counts
        z = (theta + 0.5) * e
        decay = np.exp(-2 * np.abs(z))
        variance = n @ (e**2 * (4 * decay / (1 + decay) ** 2))
        return Moments(
            float(n @ (_log_cosh(z) - _log_cosh(0.5 * e))),
            float(n @ (e * np.tanh(z))),
            math.sqrt(float(variance)),
        )

    def _steepest(self) -> float:
        # Here no response is wrong any more; or none of the largest, and rounding takes over.
        return min(20.0 / float(self.epsilon.min()), _STEEPEST / float(self.epsilon.max()))

    def _spacing(self, least: float, wanted: float) -> float:
        # The lattice is laid such that the most frequent of the responses need no splitting.
        h = max(least, wanted)
        frequent = float(self.epsilon[np.argmax(self.counts)])
        return frequent / max(1, math.floor(frequent / h)) if frequent > h else h


def _log_cosh(z: Array) -> Array:
    z = np.abs(z)
    upper: Array = z + np.log1p(np.exp(-2 * z)) - math.log(2)
    return upper
