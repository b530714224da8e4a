"""A leaf of a cost: what is known of the pair of output distributions behind one release."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tightnoise._adjacency import adjacency_or_none
from tightnoise._validate import one_of, require
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._functions import RdpFunction

__all__ = ["NEGLIGIBLE", "Leaf", "Profile", "leaf_of", "plain"]

Array = NDArray[np.float64]
Profile = tuple[Array, Array]

NEGLIGIBLE = 1e-40
"""The probability of losses beyond the points of a distribution, which count as infinite."""

_KINDS: dict[str, type[Leaf]] = {}


@dataclass(frozen=True)
class Leaf(ABC):
    """A release that costs no more than telling P from Q, for all neighbours: numbers only.

    P is the output of one of two neighbouring data sets (of the one with the record, where records
    are added and removed), Q that of the other. Everything here is an upper bound, the best that is
    proved; what a leaf does not know is None or infinite, and derived from the rest by a `Cost`.
    """

    adjacency: str | None = field(default=None, kw_only=True)

    kind: ClassVar[str]
    is_attained: ClassVar[bool] = True  # else known from above only

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in cls.__dict__:
            _KINDS[cls.kind] = cls

    def _set(self, **values: Any) -> None:
        """Put checked values into the fields, and check the adjacency."""
        values["adjacency"] = adjacency_or_none(self.adjacency)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    # --- what is known

    @property
    def max_loss(self) -> float:
        """The largest privacy loss, in both directions: its pure epsilon."""
        return math.inf

    @property
    def gdp_mu(self) -> float:
        """A mu such that N(mu, 1) and N(0, 1) are no harder to tell apart."""
        return math.inf

    @property
    def zcdp_rho(self) -> float:
        """A rho with D(alpha) <= rho alpha at every order."""
        mu = self.gdp_mu
        return _rho_of_mu(mu) if mu < math.inf else math.inf

    def renyi(self) -> RdpFunction | None:
        """Return a function of the order, if there is a closed form or a bound."""
        return None

    def profile(self, epsilons: Array) -> Profile | None:
        """Return delta(P, Q) and delta(Q, P) at epsilons of at least 0, if known."""
        return None

    def delta(self, epsilon: float) -> float | None:
        """Return delta, the larger of both directions."""
        both = self.profile(np.array([epsilon]))
        return None if both is None else float(max(both[0][0], both[1][0]))

    def epsilon(self, delta: float) -> float | None:
        """Return the least epsilon for a delta from 0 to 1, if known without a search."""
        return None

    def release(self) -> Release | None:
        """Return the distribution of losses, if known."""
        return None

    # --- other leaves

    def grouped(self, count: int) -> Leaf | None:
        """Return the leaf of `count` changed records, if it is one of the same kind."""
        return None

    def with_adjacency(self, adjacency: str | None) -> Leaf:
        """Return the same for named neighbours."""
        return dataclasses.replace(self, adjacency=adjacency)

    def to_dict(self) -> dict[str, Any]:
        """Return the kind and the fields, as JSON has them."""
        fields = {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self) if f.init}
        return {"kind": self.kind, **fields}


def _rho_of_mu(mu: float) -> float:
    return math.nextafter(0.5 * mu * mu * (1 + 2.0**-50), math.inf) if mu > 0 else 0.0


def plain(value: Any) -> Any:
    """Return a field as JSON has it: tuples as lists, leaves as dicts, infinity as "inf"."""
    if isinstance(value, Leaf):
        return value.to_dict()
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    return value


def leaf_of(state: Any) -> Leaf:
    """Return the leaf that `to_dict` made the state of; ValueError names what is wrong."""
    require(isinstance(state, Mapping) and "kind" in state, "leaf", state, "a dict with a kind")
    kind = one_of("kind", state["kind"], _KINDS)
    names = [f.name for f in dataclasses.fields(kind) if f.init]
    for name in names:
        if name not in state:
            raise ValueError(f"{name} is missing from {state['kind']}")
    for name in state:
        if name not in (*names, "kind"):
            raise ValueError(f"{name!r} is unknown in {state['kind']}")
    return kind(**{name: _field(state[name]) for name in names})


def _field(value: Any) -> Any:
    if isinstance(value, Mapping):
        return leaf_of(value)
    if isinstance(value, list):
        return tuple(_field(item) for item in value)
    return math.inf if value == "inf" else value
