"""Tulap noise: truncated uniform noise on top of discrete Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tightnoise._validate import positive, require
from tightnoise.mechanisms._panels import Array, Tails, steps
from tightnoise.mechanisms._steps import StepNoise, step_epsilon

__all__ = ["Tulap"]

_LEAST_STEPS = 1e-100  # floats can count


@dataclass(frozen=True)
class Tulap(StepNoise):
    """Add Tulap noise: density falling by exp(-epsilon) from each step to the next, then ending.

    It is proportional to exp(-epsilon k), k the integer nearest to |x|/sensitivity, for |x| <=
    bound: sensitivity times Tulap(0, b, q) with b = exp(-epsilon) and q the probability that
    Tulap(0, b, 0) exceeds the bound (Awan and Slavkovic 2020, "Differentially Private Inference for
    Binomial Data"; canonical noise for (epsilon, delta)-DP by Awan and Vadhan 2023, "Canonical
    Noise Distributions and Private Hypothesis Tests"). `calibrate.tulap` chooses the bound.

    Parameters
    ----------
    epsilon : float
        The noise's own: log of the height of a step over that of the next, from 1e-15 to 700.
    sensitivity : float
        Width of a step, greater than 0. (How far one person can move the value is an argument of
        `cost`; it need not be the same.)
    bound : float, optional
        The largest abs(noise), at least 1e-100 times the sensitivity. Infinite by default: pure
        epsilon-DP.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    TypeError
        If a parameter is not a real number.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.Tulap(epsilon=1.0, sensitivity=1.0, bound=10.0)
    >>> round(m.mean_abs(), 6), float(m.ppf(1.0))
    (0.965993, 10.0)
    >>> round(m.cost(sensitivity=1.0).delta(1.0), 9)
    3.9007e-05
    """

    epsilon: float
    sensitivity: float
    bound: float = math.inf

    _sampler = "sample_tulap"

    @property
    def tails(self) -> Tails:  # type: ignore[override]
        """How the density ends: "bounded", or "exponential" where there is no bound."""
        return "bounded" if self.bound < math.inf else "exponential"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", step_epsilon(self.epsilon))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))
        if self.bound != math.inf:
            bound = positive("bound", self.bound)
            good = bound >= _LEAST_STEPS * self.sensitivity
            require(good, "bound", self.bound, f"at least {_LEAST_STEPS} times the sensitivity")
            object.__setattr__(self, "bound", bound)

    @property
    def _least_scale(self) -> float:
        return min(self.sensitivity, self.bound)

    def _panels(self, end: float, least: float = 0.0) -> Array:
        return steps(self.sensitivity, 0.5, end, least)

    @property
    def _repeats(self) -> tuple[float, float, float] | None:
        is_cut = self.bound < math.inf
        return None if is_cut else (0.5 * self.sensitivity, self.sensitivity, self.epsilon)

    @property
    def _law_parameters(self) -> tuple[Any, ...]:
        return (self.epsilon, self.sensitivity, 0.5, self.bound)

    @property
    def _sampled(self) -> tuple[float, ...]:
        return self.sensitivity, self.epsilon, self.bound
