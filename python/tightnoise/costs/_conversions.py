"""The conversions by name, over arrays; the formulas and their rounding are in the core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tightnoise._arrays import elementwise
from tightnoise._core import cost as core
from tightnoise._validate import one_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Conversion:
    """One bound, read three ways: validated float64 arrays in, a new array out."""

    kind: core.Conversion

    def epsilon_upper(self, alpha: Array, rdp: Array, delta: Array) -> Array:
        """Return the epsilon that `rdp` at order `alpha` implies at `delta`, rounded up."""
        return self._map(core.epsilon_upper, alpha=alpha, rdp=rdp, delta=delta)

    def delta_upper(self, alpha: Array, rdp: Array, epsilon: Array) -> Array:
        """Return the delta that `rdp` at order `alpha` implies at `epsilon`, rounded up."""
        return self._map(core.delta_upper, alpha=alpha, rdp=rdp, epsilon=epsilon)

    def rdp_lower(self, alpha: Array, epsilon: Array, delta: Array) -> Array:
        """Return the largest RDP at order `alpha` within the budget, rounded down."""
        return self._map(core.rdp_lower, alpha=alpha, epsilon=epsilon, delta=delta)

    def upper(self, question: str, alpha: Array, rdp: Array, at: Array) -> Array:
        """Return the one or the other, "epsilon" at a delta or "delta" at an epsilon."""
        read = self.epsilon_upper if question == "epsilon" else self.delta_upper
        return read(alpha, rdp, at)

    def _map(self, function: Callable[..., None], **arguments: Array) -> Array:
        return elementwise(partial(function, self.kind), **arguments)


CONVERSIONS: dict[str, Conversion] = {
    name: Conversion(kind) for name, kind in core.Conversion.__members__.items()
}


def conversion_named(name: str) -> Conversion:
    """Return the conversion called `name`; ValueError lists what exists."""
    return one_of("conversion", name, CONVERSIONS)
