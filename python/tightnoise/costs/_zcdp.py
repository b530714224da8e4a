"""Costs in proportion to the order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import not_negative

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ZcdpRdp:
    """The function alpha -> rho alpha, rounded upwards; infinite at infinite order.

    The cost of Gaussian noise, where rho is half the square of the sensitivity in sigmas, and a
    bound on all that is rho-zCDP (Bun and Steinke 2016, "Concentrated Differential Privacy:
    Simplifications, Extensions, and Lower Bounds", Definition 1.1 and Proposition 1.6).

    Parameters
    ----------
    rho : float
        At least 0.

    Raises
    ------
    ValueError, TypeError
        If rho is not a finite number of at least 0.

    Examples
    --------
    >>> from tightnoise.costs import ZcdpRdp
    >>> ZcdpRdp(0.5)([2.0, 8.0]).round(6)
    array([1., 4.])
    """

    rho: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", not_negative("rho", self.rho))

    def __call__(self, orders: object) -> Array:
        """Return the bounds at `orders`, greater than 1."""
        alpha = np.asarray(orders, dtype=np.float64)
        if self.rho == 0:
            return np.zeros_like(alpha)
        with np.errstate(over="ignore"):
            return np.nextafter(self.rho * alpha, np.inf)
