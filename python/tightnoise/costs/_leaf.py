"""A leaf of a cost: what is known of the pair of output distributions behind one release."""

from __future__ import annotations

import dataclasses
import functools
import math
from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._adjacency import adjacency_or_none
from tightnoise._validate import one_of, require
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import LOST, Excess
from tightnoise.costs._functions import RdpFunction

if TYPE_CHECKING:
    from tightnoise.costs._group import Group, GroupCase
    from tightnoise.costs._noise_cells import Cells

Array = NDArray[np.float64]
Profile = tuple[Array, Array]

NEGLIGIBLE = 1e-40
"""The probability of losses beyond the points of a distribution, which count as infinite."""

_KINDS: dict[str, type[Leaf]] = {}
_DEEPEST = 24  # leaves and lists within each other in a saved state
_GRID = (  # where a search begins: no farther than needed, as that may take long
    np.concatenate([[0.0], np.exp2(np.arange(-40.0, 0.0))]),
    *(np.array([epsilon]) for epsilon in (1.0, 2.0, 4.0, 8.0)),
    np.exp2(np.arange(4.0, 41.0)),
)
_HALVES = np.exp2(-np.arange(1.0, 49.0))
_EVENLY = np.arange(1.0, 8.0) / 8.0
_BESIDE = np.outer([-1.0, 1.0], np.exp2(-np.arange(2.0, 40.0, 4.0))).ravel()
_PART = 2.0**-10
_ROUNDS = 24
_CLOSE = 2.0**-50
_BOUND = "an upper bound, of which no pair of neighbours is known"
_UNSURE = "its losses are not known to enough digits from below"


class UntoldError(ArithmeticError):
    """A profile that is attained is not known as closely as its excess says."""


class Attained(NamedTuple):
    """The profile of one pair of neighbours, both directions, and how far it may be too high.

    It raises `UntoldError` where it may be higher. `both_sides`: bounds from below, and those from
    above, if nearer ones are known than that tells.
    """

    profile: Callable[[Array], Profile]
    excess: Excess
    is_symmetric: bool
    both_sides: Callable[[Array], tuple[Profile, Profile]] | None = None


class Law(NamedTuple):
    """A law of losses in the core, which dominates the true one, and one that it dominates.

    `is_smooth`: its characteristic function vanishes far out, as those of laws with atoms do not.
    """

    upper: Any
    lower: Any
    is_smooth: bool = True


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
    has_least_profile: ClassVar[bool] = True  # nothing else known proves less than the profile
    is_slow: ClassVar[bool] = False  # thousands of deltas of the profile take seconds
    has_either_order: ClassVar[bool] = False  # that of the data set with the record may be P or Q
    is_coarse: ClassVar[bool] = False  # a hundred do: no more are read than `release` does

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

    @property
    def profile_excess(self) -> Excess | None:
        """How far `profile` may exceed that of the pair; None: unknown, or a bound only."""
        return None

    def profile_below(self, epsilons: Array) -> Profile | None:
        """Return lower bounds of the pair's profile, by the excess of `profile`; None: unknown."""
        excess, release = self.profile_excess, losses_of_leaf(self)
        if excess is None or release is None:
            return None
        beyond = epsilons * (1 + 1.01 * excess.argument) * (1 + 2.0**-50)
        both = self.known_profile(beyond)

        def lower(heights: Array) -> Array:
            known = (beyond <= release.highest) & (heights > LOST)
            least = (heights - excess.absolute) / (1 + excess.height) * (1 - 2.0**-50)
            return np.asarray(np.where(known, np.maximum(least, 0.0), 0.0))

        return lower(both[0]), lower(both[1])

    def attained(self, tilt: float = 0.0) -> Attained | None:
        """Return the profile of one pair, which composes from below; None: unknown, or no losses.

        Where several are known, of the pair with the largest moment E e^(tilt L), whose
        compositions cost about the most where that tilt counts.
        """
        excess, release = self.profile_excess, losses_of_leaf(self)
        if excess is None or release is None or release.largest == 0:
            return None
        return Attained(self.known_profile, excess, release.is_symmetric)

    @property
    def has_pair(self) -> bool:
        """Whether a pair is known that composes from below, by its losses or by its profile."""
        return self.reached() is not None or self.attained() is not None

    @property
    def gap(self) -> str | None:
        """Why compositions may cost less than what is proved, in words; None: nothing is known to.

        Or why nothing is known from below.
        """
        if not self.has_pair:
            return _UNSURE if self.is_attained else _BOUND
        return None

    def known_profile(self, epsilons: Array) -> Profile:
        """Return the profile of a leaf that has one."""
        both = self.profile(epsilons)
        assert both is not None
        return both

    def delta(self, epsilon: float) -> float | None:
        """Return delta, the larger of both directions."""
        both = self.profile(np.array([epsilon]))
        return None if both is None else float(max(both[0][0], both[1][0]))

    def epsilon(self, delta: float) -> float | None:
        """Return the least epsilon for a delta from 0 to 1, if the profile is known."""
        return self.max_loss if delta == 0 else least_epsilon(self.profile, self.max_loss, delta)

    def release(self) -> Release | None:
        """Return the distribution of losses, if known."""
        return None

    def reached(self) -> Release | None:
        """Return the losses of one pair of neighbours, if known: they add up from below."""
        return None

    @property
    def has_cells(self) -> bool:
        """Whether what its pair gives to cells of outputs is known."""
        return False

    def cells(self, losses: Array) -> Cells | None:
        """Return cells of which the ends have these losses, which rise; None if not known."""
        return None

    def laws(self) -> tuple[Law, ...] | None:
        """Return the laws of both directions as the core knows them; one of a symmetric pair."""
        return None

    # --- other leaves

    def grouped(self, count: int) -> Leaf | None:
        """Return the leaf of `count` changed records, if it is one of the same kind."""
        return None

    def group_cases(self, group: Group) -> tuple[GroupCase, ...]:
        """Return what data sets that differ in a group of records may be, if pairs are told."""
        return ()

    def with_adjacency(self, adjacency: str | None) -> Leaf:
        """Return the same for named neighbours."""
        return dataclasses.replace(self, adjacency=adjacency)

    # --- as text and data

    def describe(self) -> str:
        """Return what people are told of it: the kind and the fields that say something."""
        fields = [f for f in dataclasses.fields(self) if f.init and f.name != "adjacency"]
        told = [_told(f.name.replace("_", " "), getattr(self, f.name)) for f in fields]
        return ", ".join([self.kind, *filter(None, told)])

    def to_dict(self) -> dict[str, Any]:
        """Return the kind and the fields, as JSON has them."""
        fields = {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self) if f.init}
        return {"kind": self.kind, **fields}

    def __reduce__(self) -> tuple[Any, ...]:
        # Nothing that was only computed, and checked again.
        return leaf_of, (self.to_dict(),)


Terms = tuple[tuple[Leaf, int], ...]
"""Releases: each leaf so many times."""


def _told(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else ""
    if isinstance(value, float):
        return f"{name} {value:g}"
    if isinstance(value, tuple):
        texts = [f"{item:g}" if isinstance(item, float) else str(item) for item in value[:3]]
        return f"{name} ({', '.join([*texts, '...'] if len(value) > 3 else texts)})"
    return value if isinstance(value, str) else f"{name} {value}"


def _rho_of_mu(mu: float) -> float:
    return math.nextafter(0.5 * mu * mu * (1 + 2.0**-50), math.inf) if mu > 0 else 0.0


def least_epsilon(
    profile: Callable[[Array], Profile | None], most: float, delta: float
) -> float | None:
    """Return an epsilon at which a profile is at most delta, next to none less; None if unknown."""
    found = _crossing(profile, delta)
    return None if found is None else min(found[1], most)


def largest_epsilon(
    profile: Callable[[Array], Profile | None], delta: float, near: float
) -> float | None:
    """Return an epsilon at which a profile is above delta, or 0; None if unknown.

    Next to none larger is, but for a small part of what it is away from `near`, which is no less.
    """
    points = near * (1 - _HALVES) if 0 < near < math.inf else np.zeros(0)
    both = profile(points)
    if both is None:
        return None
    ends = [*map(_End, points.tolist(), np.maximum(*both).tolist())]
    last = max((i for i, end in enumerate(ends) if end.delta > delta), default=-1)
    if last < 0:
        found = _crossing(profile, delta)
        return 0.0 if found is None else found[0]
    if last + 1 == len(ends):
        return ends[last].epsilon
    low, high = ends[last : last + 2]
    return _narrowed(profile, delta, low, high, _PART * (near - low.epsilon))[0]


class _End(NamedTuple):
    """An epsilon, and the larger delta there."""

    epsilon: float
    delta: float


def _crossing(
    profile: Callable[[Array], Profile | None], delta: float
) -> tuple[float, float] | None:
    """Return neighbouring epsilons between which a profile falls to delta, or 0 twice.

    The second is infinite if it never does; None if nothing is known.
    """
    last = _End(0.0, math.inf)
    for points in _GRID:
        both = profile(points)
        if both is None:
            return None
        worst = np.maximum(*both)
        good = np.flatnonzero(worst <= delta)
        if good.size:
            first = int(good[0])
            if points[first] == 0:
                return 0.0, 0.0
            if first > 0:
                last = _End(float(points[first - 1]), float(worst[first - 1]))
            return _narrowed(profile, delta, last, _End(float(points[first]), float(worst[first])))
        last = _End(float(points[-1]), float(worst[-1]))
    return last.epsilon, math.inf


def _narrowed(
    profile: Callable[[Array], Profile | None],
    delta: float,
    low: _End,
    high: _End,
    close: float = 0.0,
) -> tuple[float, float]:
    """Return epsilons between these, so close, between which a profile falls to delta.

    Those that are tried are as far from each other as from where the logarithm, were it a line,
    would come to that of delta, and some in between.
    """
    for _ in range(_ROUNDS):
        width = high.epsilon - low.epsilon
        if width <= max(_CLOSE * high.epsilon, close):
            break
        share = 0.5
        if high.delta > 0 and low.delta < math.inf:
            share = math.log(low.delta / delta) / math.log(low.delta / high.delta)
        shares = np.concatenate([_EVENLY, share + _BESIDE])
        points = np.unique(low.epsilon + width * shares[(shares > 0) & (shares < 1)])
        points = points[(points > low.epsilon) & (points < high.epsilon)]
        both = profile(points) if points.size else None
        if both is None:
            break
        worst = np.maximum(*both)
        ends = [low, *map(_End, points.tolist(), worst.tolist()), high]
        first = int(np.argmax(np.append(worst <= delta, True)))
        low, high = ends[first], ends[first + 1]
    return low.epsilon, high.epsilon


@functools.lru_cache(maxsize=128)
def losses_of_leaf(leaf: Leaf) -> Release | None:
    """Return the distribution of a leaf's losses: one object for equal leaves."""
    return leaf.release()


def _plain(value: object) -> Any:
    """Return a field as JSON has it: tuples as lists, leaves as dicts, infinity as "inf"."""
    if isinstance(value, Leaf):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    return value


def leaf_of(state: Any, depth: int = 0) -> Leaf:
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
    return kind(**{name: _field(state[name], depth + 1) for name in names})


def _field(value: object, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError("leaves must not be so deep within each other")
    if isinstance(value, Mapping):
        return leaf_of(value, depth)
    if isinstance(value, list):
        return tuple(_field(item, depth + 1) for item in value)
    return math.inf if value == "inf" else value
