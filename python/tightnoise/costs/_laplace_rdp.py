"""The Renyi-DP curve of Laplace noise as a function of the order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise._arrays import elementwise
from tightnoise._core import additive as core
from tightnoise._validate import positive
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW


@dataclass(frozen=True)
class LaplaceRdp:
    """The function alpha -> D_alpha of Laplace noise and itself, shifted; rounded upwards.

    At orders below 1 the bound at 1, for the divergence does not decrease with the order.
    """

    # The formula is exact to 2e-15 (its card), and at most twice as wrong, relatively, as
    # sensitivity/scale is: the margin is far above both.

    scale: float
    sensitivity: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))

    def __call__(self, orders: object) -> NDArray[np.float64]:
        """Return the bounds at `orders`, greater than 0."""
        alpha = np.maximum(np.asarray(orders, dtype=np.float64), 1.0)
        ratio = np.asarray(self._ratio)
        exact = elementwise(core.laplace_renyi, ratio=ratio, alpha=alpha)
        bounds = exact * (1.0 + COST_MARGIN) + COST_UNDERFLOW
        return np.minimum(bounds, self.max_divergence)

    @property
    def max_divergence(self) -> float:
        """The bound at infinite order: sensitivity/scale."""
        return math.nextafter(self._ratio, math.inf)

    @property
    def _ratio(self) -> float:
        with np.errstate(over="ignore"):
            return float(np.divide(self.sensitivity, self.scale))
