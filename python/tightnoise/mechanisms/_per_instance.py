"""What releasing one value costs its own neighbours, as a function of a real order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats
from tightnoise._validate import require
from tightnoise.costs import DEFAULT_ORDERS
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW
from tightnoise.costs._zcdp import ZcdpRdp
from tightnoise.mechanisms import _sketched
from tightnoise.mechanisms._coordinate_law import CoordinateLaw
from tightnoise.sketch import Sketch

Array = NDArray[np.float64]

# The orders for which divergences are known to be accurate. Below and above, the bound at the next
# of these orders or at infinity holds, since the divergence does not decrease with the order.
_LEAST, _GREATEST = 1.0 + 1e-6, 1e6


def per_instance_rdp(
    law: CoordinateLaw, theta: ArrayLike | Sketch, coordinate_sensitivity: ArrayLike
) -> RdpFunction:
    """Return the cost to neighbours in a box around theta."""
    if isinstance(theta, Sketch):
        require(theta.count > 0, "theta", theta, "not empty")
    if law.name == "gaussian":
        return ZcdpRdp(_gaussian_rho(law, theta, coordinate_sensitivity))
    if isinstance(theta, Sketch) and not theta.has_sources:
        support = _sketched.support_of(law)
        if support is not None and theta.centre != support.centre:
            raise ValueError(
                f"theta must be a sketch for an interval with the centre {support.centre:g} of the "
                f"mechanism's, or one that has its arrays; got {theta!r}"
            )
    return PerInstanceRdp(law, theta, coordinate_sensitivity)


class PerInstanceRdp:
    """The exact Renyi-DP curve of one value; a function that equals itself only.

    Keeps a copy of theta, or the sketch that it was given, so that nothing can change the cost.
    """

    __slots__ = ("_changes", "_known", "_law", "_theta")

    def __init__(
        self, law: CoordinateLaw, theta: ArrayLike | Sketch, coordinate_sensitivity: ArrayLike
    ) -> None:
        values = theta if isinstance(theta, Sketch) else _frozen(law.theta(theta))
        # The shape of what a sketch was made of is checked with its arrays, at each call.
        shape = None if isinstance(values, Sketch) else values.shape
        changes = law.changes(coordinate_sensitivity, shape)
        self._law, self._theta, self._changes = law, values, _frozen(changes)
        sketch = _sketched.sketch_for(law, values, DEFAULT_ORDERS, changes)
        self._known = values if sketch is None else sketch

    def __call__(self, orders: Array) -> Array:
        within = np.maximum(orders, _LEAST)
        within[orders > _GREATEST] = np.inf
        distinct, place = np.unique(within, return_inverse=True)
        values: Array = self._costs(distinct)[place]
        return values

    @property
    def law(self) -> CoordinateLaw:
        """The law of the noise."""
        return self._law

    @property
    def known(self) -> Floats | Sketch:
        """What is released, or a sketch of it."""
        return self._known

    @property
    def changes(self) -> Floats:
        """The most that each coordinate changes."""
        return self._changes

    @property
    def max_divergence(self) -> float:
        """The cost at infinite order."""
        return float(self._costs(np.array([np.inf]))[0])

    def _costs(self, orders: Array) -> Array:
        """Return bounds at increasing orders; infinity where a sketch alone cannot say."""
        known, changes = self._known, self._changes
        if isinstance(known, Sketch):
            count, sums = known.count, _sketched.rdp_sums(self._law, known, orders, changes)
        else:
            count, sums = known.size, self._law.rdp_sums(known, orders, changes)
        underflow = count * COST_UNDERFLOW if changes.any() else 0.0
        # Millions of sigma outside the support, a 0 can come back as -1e-250.
        costs = np.maximum(np.maximum(*sums), 0.0) * (1.0 + COST_MARGIN) + underflow
        too_far = bool((changes > self._law.farthest_step).any())
        costs[np.isnan(costs) | too_far] = np.inf  # nothing is known, so no bound
        # D does not decrease with the order: a bound holds at all smaller orders too.
        least: Array = np.minimum.accumulate(costs[::-1])[::-1]
        return least

    def __repr__(self) -> str:
        count = self._theta.count if isinstance(self._theta, Sketch) else self._theta.size
        return f"{self._law} at {count} numbers"

    def __reduce__(self) -> tuple[Any, ...]:
        return PerInstanceRdp, (self._law, self._theta, self._changes)


def _gaussian_rho(
    law: CoordinateLaw, theta: ArrayLike | Sketch, coordinate_sensitivity: ArrayLike
) -> float:
    """Return half the sum of (c_j/sigma_j)^2, rounded up: theta counts by its shape."""
    half = 0.5 * (1.0 + COST_MARGIN)
    if not isinstance(theta, Sketch):
        arrays = [law.theta(theta)]
    elif law.scale.size == np.size(coordinate_sensitivity) == 1:  # each step of a training asks
        change = float(law.changes(coordinate_sensitivity).item())
        step = change / float(law.scale.item())
        return step * step * theta.count * half + (theta.count * COST_UNDERFLOW if change else 0.0)
    else:
        arrays = _sketched.exact_sources(law, theta, coordinate_sensitivity)
    rhos = []
    for values in arrays:
        changes = law.changes(coordinate_sensitivity, values.shape)
        steps = np.asarray(changes / law.scale, dtype=np.float64)
        repeats = values.size / steps.size  # broadcasting repeats every element as often
        underflow = values.size * COST_UNDERFLOW if changes.any() else 0.0
        rhos.append(float(np.sum(steps * steps)) * repeats * half + underflow)
    return math.fsum(rhos)


def _frozen(array: Floats) -> Floats:
    copy = array.copy()
    copy.flags.writeable = False
    return copy
