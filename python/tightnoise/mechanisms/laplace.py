"""Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from tightnoise._validate import positive
from tightnoise.mechanisms._panels import Array, Tails, exponential
from tightnoise.mechanisms.additive import AdditiveNoise

__all__ = ["Laplace"]


@dataclass(frozen=True)
class Laplace(AdditiveNoise):
    """Add Laplace noise: density exp(-|x|/scale)/(2 scale).

    With scale = sensitivity/epsilon it is epsilon-DP with delta = 0 (Dwork, McSherry, Nissim and
    Smith 2006, "Calibrating Noise to Sensitivity in Private Data Analysis"). For any shift s and
    epsilon from 0 to s/scale, delta = 1 - exp((epsilon - s/scale)/2); it is 0 beyond.

    Parameters
    ----------
    scale : float
        Mean of abs(noise), greater than 0.

    Raises
    ------
    ValueError
        If scale is not positive and finite.
    TypeError
        If scale is not a real number.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.Laplace(scale=2.0)
    >>> m.mean_abs(), float(m.var())
    (2.0, 8.0)
    >>> m.cost(sensitivity=1.0).delta([0.1, 0.5]).round(6)
    array([0.181269, 0.      ])
    """

    scale: float

    tails: ClassVar[Tails] = "exponential"
    _is_unimodal = True
    _sampler = "sample_laplace"
    _law_name = "laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))

    @property
    def _entropy(self) -> float:
        return self.mean_abs() / self.scale - float(self.logpdf(0.0))

    @property
    def _least_scale(self) -> float:
        return self.scale

    def _panels(self, end: float, least: float = 0.0) -> Array:
        return exponential(self.scale, end)

    @property
    def _law_parameters(self) -> tuple[Any, ...]:
        return (self.scale, math.inf)
