"""Costs as functions of a real order, added up; sums and multiples are rounded upwards."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise._validate import MAX_COUNT, integer, number_array, shown

Array = NDArray[np.float64]
RdpFunction = Callable[[Array], Array]
Term = tuple[RdpFunction, int]

_LARGER = np.exp2(np.arange(1.0, 31.0))  # to the largest order that is searched, 1e9
_LARGER.flags.writeable = False


def add_upper(a: Array, b: Array) -> Array:
    """Return a + b, numbers of at least 0, rounded up unless it is exact."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = a + b
        rest = total - a
        lost = (a - (total - rest)) + (b - rest)  # exactly (Knuth's sum of two numbers)
    return np.where(lost > 0, np.nextafter(total, np.inf), total)


def times_upper(values: Array, count: int) -> Array:
    """Return count times the values, rounded up; 0 times infinity is 0: nothing is released."""
    if count <= 1:
        return values if count else np.zeros_like(values)
    with np.errstate(over="ignore"):
        product = values * float(count)
    return np.where(values == 0, 0.0, np.nextafter(product, np.inf))


def without_lone_zeros(bounds: Array) -> Array:
    """Return bounds by increasing order above 1, with each 0 before a cost raised to that cost.

    Where one order costs nothing all do, for both outputs are the same. So a 0 before a cost has
    underflowed, or is a mistake. The divergence does not decrease with the order (van Erven and
    Harremoes 2014, Theorem 3): the next cost bounds it there as well.
    """
    costs = bounds > 0
    if costs.all() or not costs.any():
        return bounds
    last = int(np.flatnonzero(costs)[-1]) + 1
    result = bounds.copy()
    least = np.minimum.accumulate(np.where(costs, bounds, np.inf)[:last][::-1])[::-1]
    result[:last] = np.where(costs[:last], bounds[:last], least)
    return result


def require_growth(name: str, orders: Array, bounds: Array) -> None:
    """Refuse bounds of which (alpha - 1) times the bound decreases beyond alpha = 1."""
    where = core.first_decrease(orders, bounds)
    if where < orders.size:
        raise ValueError(
            f"{name} must be a Renyi-DP curve: (alpha - 1) times the bound never decreases beyond "
            f"alpha = 1, but does so before order {orders[where]:g}; got {bounds[where]:g} there"
        )


class WeightedSum:
    """A sum of functions, each a number of times, equal ones merged; itself a function."""

    __slots__ = ("_parts", "terms")

    terms: tuple[Term, ...]
    _parts: tuple[tuple[object, RdpFunction], ...]

    def __init__(self, terms: Iterable[Term]) -> None:
        self.terms = _merged(terms)
        self._parts = _parts(self.terms)

    def __call__(self, orders: Array) -> Array:
        """Return upper bounds at finite, increasing orders above 1; each function's are checked."""
        orders.flags.writeable = False  # no function may move the orders under another
        bounds = (_without_underflow(source, function, orders) for source, function in self._parts)
        return functools.reduce(add_upper, bounds) if self._parts else np.zeros(orders.shape)

    def at_infinity(self) -> float:
        """Return the bound at infinite order: infinity unless every function says its own."""
        total = np.zeros(())
        for function, count in self.terms:
            most = np.asarray(getattr(function, "max_divergence", np.inf))
            most = _checked(f"max_divergence of {shown(function)}", most, np.asarray(np.inf))
            total = add_upper(total, times_upper(most, count))
        return float(total)


def _merged(terms: Iterable[Term]) -> tuple[Term, ...]:
    counts: dict[Any, int] = {}
    for term in terms:
        try:
            function, count = term
        except (TypeError, ValueError):
            raise TypeError(
                f"terms must be pairs of a function and a count; got {shown(term)}"
            ) from None
        if not callable(function):
            raise TypeError(f"function must be callable; got {shown(function)}")
        times = integer("count", count, minimum=0, maximum=MAX_COUNT)
        key = key_of(function)
        counts[key] = counts.get(key, 0) + times
    return tuple(
        (
            key.function if isinstance(key, _ByIdentity) else key,
            integer("count", count, minimum=0, maximum=MAX_COUNT),
        )
        for key, count in counts.items()
        if count
    )


def key_of(function: RdpFunction) -> Any:
    """Return what equal functions share as a key; without a hash, a function only equals itself."""
    try:
        hash(function)
    except TypeError:
        return _ByIdentity(function)
    return function


class _ByIdentity:
    """A key for a function that cannot be hashed. It keeps the function: no other has its id."""

    __slots__ = ("function",)

    def __init__(self, function: RdpFunction) -> None:
        self.function = function

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.function is self.function

    def __hash__(self) -> int:
        return id(self.function)


def _parts(terms: tuple[Term, ...]) -> tuple[tuple[object, RdpFunction], ...]:
    """Return what to blame and to call: once for a class that offers `weighted_sum`."""
    classes: dict[type, list[Term]] = {}
    parts: list[tuple[object, RdpFunction]] = []
    for function, count in terms:
        if hasattr(type(function), "weighted_sum"):
            classes.setdefault(type(function), []).append((function, count))
        else:
            own = function if count == 1 else partial(_repeated, function, count)
            parts.append((function, own))
    for kind, members in classes.items():
        functions, counts = zip(*members, strict=True)
        evaluate: Any = kind.weighted_sum  # type: ignore[attr-defined]
        source = functions[0] if len(members) == 1 else evaluate
        parts.append((source, partial(evaluate, functions, counts)))
    return tuple(parts)


def _repeated(function: RdpFunction, count: int, orders: Array) -> Array:
    return times_upper(_checked(function, function(orders), orders), count)


def _without_underflow(source: object, function: RdpFunction, orders: Array) -> Array:
    """Return what a function says at increasing orders; a 0 only if larger orders say so too."""
    said = function(orders)
    if _is_plain(said, orders) and said.size and said.min() > 0:
        return said  # most are, and no NaN is
    bounds = _checked(source, said, orders)
    if orders.size and bounds[-1] == 0 and orders[-1] < _LARGER[-1]:
        larger = _LARGER[np.searchsorted(_LARGER, orders[-1], side="right") :]
        bounds = np.append(bounds, _checked(source, function(larger), larger))
    return without_lone_zeros(bounds)[: orders.size]


def _named(source: object) -> str:
    return source if isinstance(source, str) else shown(source)


def _is_plain(values: Any, orders: Array) -> TypeGuard[Array]:
    is_array = type(values) is np.ndarray and values.dtype == np.float64
    return is_array and values.shape == orders.shape


def _checked(source: object, values: object, orders: Array) -> Array:
    if _is_plain(values, orders):
        array = values
    else:
        array = number_array(f"what {_named(source)} returns", values)
        if array.shape != orders.shape:
            raise ValueError(
                f"what {_named(source)} returns must have the shape {orders.shape} of the orders; "
                f"got shape {array.shape}"
            )
    good = array >= 0  # NaN is not
    if not good.all():
        where = int(np.argmin(good))
        raise ValueError(
            f"what {_named(source)} returns must be at least 0 (infinity is allowed); "
            f"got {array.flat[where]} at order {orders.flat[where]}"
        )
    return array
