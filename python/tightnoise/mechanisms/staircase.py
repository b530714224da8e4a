"""Staircase noise: the least there is with delta = 0."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from tightnoise._validate import positive, real_scalar, require
from tightnoise.mechanisms._panels import Array, Tails, steps
from tightnoise.mechanisms._steps import StepNoise, step_epsilon

__all__ = ["Staircase"]


@dataclass(frozen=True)
class Staircase(StepNoise):
    """Add staircase noise: a density that falls by exp(-epsilon) at each (k + gamma) sensitivity.

    It is epsilon-DP with delta = 0, and of all such noise has the smallest loss, with the gamma
    that suits the loss (Geng, Kairouz, Oh and Viswanath 2015, "The Staircase Mechanism in
    Differential Privacy", Theorem 3; also Soria-Comas and Domingo-Ferrer 2013, "Optimal
    Data-Independent Noise for Differential Privacy"): `calibrate.staircase` chooses it.

    Parameters
    ----------
    epsilon : float
        The noise's own: log of the height of a step over that of the next, from 1e-15 to 700.
    sensitivity : float
        Width of a step, greater than 0. (How far one person can move the value is an argument of
        `cost`; it need not be the same.)
    gamma : float
        Where the first step ends, in widths, from 0 to 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    TypeError
        If a parameter is not a real number.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.Staircase(epsilon=3.0, sensitivity=1.0, gamma=0.2)
    >>> round(m.mean_abs(), 6)
    0.235433
    >>> m.cost(sensitivity=1.0).delta([2.0, 3.0]).round(6)
    array([0.566509, 0.      ])
    """

    epsilon: float
    sensitivity: float
    gamma: float

    tails: ClassVar[Tails] = "exponential"
    _sampler = "sample_staircase"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", step_epsilon(self.epsilon))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))
        gamma = real_scalar("gamma", self.gamma)
        require(0 <= gamma <= 1, "gamma", self.gamma, "between 0 and 1")
        object.__setattr__(self, "gamma", gamma + 0.0)

    @property
    def _least_scale(self) -> float:
        return self.sensitivity

    def _panels(self, end: float, least: float = 0.0) -> Array:
        return steps(self.sensitivity, self.gamma, end, least)

    @property
    def _repeats(self) -> tuple[float, float, float]:
        return self.gamma * self.sensitivity, self.sensitivity, self.epsilon

    @property
    def _law_parameters(self) -> tuple[Any, ...]:
        return (self.epsilon, self.sensitivity, self.gamma, math.inf)

    @property
    def _sampled(self) -> tuple[float, ...]:
        return self.sensitivity, self.epsilon, self.gamma
