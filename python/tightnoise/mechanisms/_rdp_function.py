"""The cost of one release as a function of a real order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._arrays import Floats
from tightnoise._validate import float_array, require
from tightnoise.costs import DEFAULT_ORDERS
from tightnoise.mechanisms import _sketched
from tightnoise.sketch import Sketch

if TYPE_CHECKING:
    from tightnoise.mechanisms.base import CoordinateMechanism

__all__ = ["MechanismRdp"]

Array = NDArray[np.float64]

# The orders for which divergences are known to be accurate. Below and above, the bound at the next
# of these orders or at infinity holds, since the divergence does not decrease with the order.
_LEAST, _GREATEST = 1.0 + 1e-6, 1e6


@dataclass(frozen=True, eq=False)
class MechanismRdp:
    """The per-instance cost of one release, a function that equals itself only.

    Keeps a copy of theta, or the sketch that it was given, so that nothing can change the cost. A
    call takes what `Mechanism.rdp` takes for as many orders.
    """

    mechanism: CoordinateMechanism
    theta: Any
    sensitivity: Any
    _known: Floats | Sketch = field(init=False, repr=False)

    def __post_init__(self) -> None:
        theta = self.theta
        if isinstance(theta, Sketch):
            require(theta.count > 0, "theta", theta, "not empty")
        else:
            theta = _frozen(self.mechanism._theta_to_account(theta))
        # A number for each coordinate of a sketch is checked with its arrays, at each call.
        sensitivity = float_array("sensitivity", self.sensitivity)
        if sensitivity.size == 1 or not isinstance(theta, Sketch):
            like = np.zeros(sensitivity.shape) if isinstance(theta, Sketch) else theta
            sensitivity = self.mechanism._sensitivity(sensitivity, like)
        sensitivity = _frozen(sensitivity)
        sketch = _sketched.sketch_for(self.mechanism, theta, DEFAULT_ORDERS, sensitivity)
        object.__setattr__(self, "theta", theta)
        object.__setattr__(self, "sensitivity", sensitivity)
        object.__setattr__(self, "_known", theta if sketch is None else sketch)

    def __call__(self, orders: Array) -> Array:
        within = np.maximum(orders, _LEAST)
        within[orders > _GREATEST] = np.inf
        distinct, place = np.unique(within, return_inverse=True)
        costs = self.mechanism._rdp_costs(self._known, distinct, self.sensitivity, partial=True)
        values: Array = costs[place]
        return values

    @property
    def max_divergence(self) -> float:
        costs = self.mechanism._rdp_costs(
            self._known, np.array([np.inf]), self.sensitivity, partial=True
        )
        return float(costs[0])

    def __repr__(self) -> str:
        size = self.theta.count if isinstance(self.theta, Sketch) else self.theta.size
        return f"{self.mechanism!r} at {size} numbers"

    def __reduce__(self) -> tuple[Any, ...]:
        return MechanismRdp, (self.mechanism, self.theta, self.sensitivity)


def _frozen(array: Floats) -> Floats:
    copy = array.copy()
    copy.flags.writeable = False
    return copy
