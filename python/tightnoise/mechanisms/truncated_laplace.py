"""Laplace noise that never exceeds a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tightnoise._validate import positive
from tightnoise.mechanisms._panels import Array, Tails, exponential
from tightnoise.mechanisms.additive import AdditiveNoise

__all__ = ["TruncatedLaplace"]


@dataclass(frozen=True)
class TruncatedLaplace(AdditiveNoise):
    """Add truncated Laplace noise: density proportional to exp(-|x|/scale) for |x| <= bound.

    Geng, Ding, Guo and Kumar 2020, "Tight Analysis of Privacy and Utility Tradeoff in Approximate
    Differential Privacy". delta is never 0: outputs within the sensitivity of an end are possible
    from one of two neighbouring values only. `calibrate.truncated_laplace` chooses both parameters.

    Parameters
    ----------
    scale : float
        That of the Laplace noise before truncation, greater than 0.
    bound : float
        The largest abs(noise), greater than 0.

    Raises
    ------
    ValueError
        If a parameter is not positive and finite.
    TypeError
        If a parameter is not a real number.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.TruncatedLaplace(scale=1.0, bound=10.0)
    >>> round(m.mean_abs(), 6), float(m.cdf(10.0))
    (0.999546, 1.0)
    >>> round(m.cost(sensitivity=1.0).delta(1.0), 9)
    3.9007e-05
    """

    scale: float
    bound: float

    tails: ClassVar[Tails] = "bounded"
    _is_unimodal = True
    _sampler = "sample_truncated_laplace"
    _law_name = "laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "bound", positive("bound", self.bound))

    @property
    def _entropy(self) -> float:
        return self.mean_abs() / self.scale - float(self.logpdf(0.0))

    @property
    def _least_scale(self) -> float:
        return min(self.scale, self.bound)

    def _panels(self, end: float, least: float = 0.0) -> Array:
        return exponential(self.scale, end)
