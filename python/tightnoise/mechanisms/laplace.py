"""Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tightnoise._validate import not_negative, number_array, positive
from tightnoise.costs import RdpCurve
from tightnoise.costs._laplace_rdp import LaplaceRdp
from tightnoise.mechanisms._certificate import Tails
from tightnoise.mechanisms._panels import up_to
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
    >>> round(m.delta(0.1, sensitivity=1.0), 6), m.delta(0.5, sensitivity=1.0)
    (0.181269, 0.0)
    """

    scale: float

    tails: ClassVar[Tails] = "exponential"
    _is_unimodal: ClassVar[bool] = True
    _sampler: ClassVar[str] = "sample_laplace"
    _law_name: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))

    @property
    def _least_scale(self) -> float:
        return self.scale

    def _panels(self, end: float, least: float = 0.0) -> Any:
        # As many as 64: beyond 128 scales nothing is left.
        width = 2.0 * self.scale
        return up_to(width * np.arange(min(end / width, 64.0)), end)

    @property
    def _law_parameters(self) -> tuple[Any, ...]:
        return (self.scale, math.inf)

    def rdp(self, alphas: ArrayLike | None = None, *, sensitivity: float) -> RdpCurve:
        """Return what a release costs: its Renyi-DP curve, the same for every theta.

        With t = sensitivity/scale, the divergence of order alpha is

            log(alpha/(2 alpha - 1) e^((alpha - 1) t) + (alpha - 1)/(2 alpha - 1) e^(-alpha t))
            / (alpha - 1)

        (Mironov 2017, "Renyi Differential Privacy", Table II), which increases with t.

        Parameters
        ----------
        alphas : array_like, shape (n,), optional
            Orders, increasing, greater than 0; the last may be infinity. Without them, the curve is
            a function of any real order above 1, and its epsilon is that of the best order.
        sensitivity : float
            The most that one person can change the value by, at least 0.

        Returns
        -------
        RdpCurve
            Never below the truth, and at most 1e-9 of it above; at orders below 1 the bound at 1.

        Raises
        ------
        ValueError
            For a negative or infinite sensitivity, orders outside their domain, NaN.
        TypeError
            If an argument does not hold real numbers.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Laplace(scale=2.0).rdp([2, 8], sensitivity=1.0).values.round(6)
        array([0.200304, 0.410268])
        """
        changes = not_negative("sensitivity", sensitivity) > 0
        terms = [(LaplaceRdp(self.scale, sensitivity), 1)] if changes else []
        if alphas is None:
            return RdpCurve.of_terms(terms)
        orders = np.atleast_1d(number_array("alphas", alphas))
        nothing = RdpCurve(orders, np.zeros(orders.shape))  # refuses bad orders before the work
        return RdpCurve(orders, terms[0][0](orders)) if terms else nothing
