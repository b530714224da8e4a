"""The least of several bounds on a Renyi divergence."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._pure import PureRdp
from tightnoise.costs._zcdp import ZcdpRdp

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Lesser:
    """The least of several functions of the order, each a bound."""

    functions: tuple[RdpFunction, ...]

    def __call__(self, orders: Any) -> Array:
        """Return the least at each order."""
        return functools.reduce(np.minimum, (function(orders) for function in self.functions))

    def least(self, order: float) -> float:
        """Return what is known to be reached: the most that a function says, or 0."""
        return max(f.least(order) if hasattr(f, "least") else 0.0 for f in self.functions)

    @property
    def max_divergence(self) -> float:
        """The least at infinite order."""
        return min(float(getattr(f, "max_divergence", math.inf)) for f in self.functions)


def lesser_of(loss: float, rho: float) -> RdpFunction | None:
    """Return the lesser of what a largest loss and zCDP prove; None where both are infinite."""
    functions: list[RdpFunction] = []
    if loss < math.inf:
        functions.append(PureRdp(loss))
    if rho < math.inf:
        functions.append(ZcdpRdp(rho))
    return Lesser(tuple(functions)) if functions else None
