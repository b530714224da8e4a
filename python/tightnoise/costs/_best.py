"""The best order of a curve: which one proves the smallest epsilon or delta.

A table is tried at all its orders. The best real order of a function is searched by the core
(cpp/cost/best_order.hpp), at some 40 to 70 orders in four to seven calls of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tightnoise import _core
from tightnoise._validate import not_negative, real_scalar, require
from tightnoise._warn import warn_caller
from tightnoise.costs._conversions import Conversion, conversion_named
from tightnoise.costs._functions import WeightedSum

if TYPE_CHECKING:
    from tightnoise.costs._rdp_curve import RdpCurve

__all__ = ["delta", "epsilon"]

Array = NDArray[np.float64]

_WORTH_A_WARNING = 1e-3  # the share of epsilon that other orders must be able to save
_SMALLEST = _core.accounting.least_searched_order


def epsilon(
    curve: RdpCurve, delta: float, conversion: str, *, warns: bool = True
) -> tuple[float, float]:
    """Return the smallest epsilon at `delta`, and the order that proves it."""
    bound = conversion_named(conversion)
    failure = real_scalar("delta", delta)
    require(0 < failure < 1, "delta", delta, "between 0 and 1, exclusive")
    if curve._function is not None:
        if not curve.terms:
            return 0.0, _SMALLEST
        best = _core.accounting.best_epsilon(curve._function, bound.core, failure)
        if best.at_edge and warns:
            _warn_at_edge(bound.epsilon_upper, curve._function, best.alpha, failure)
        return best.value, best.alpha
    alphas, values = _orders_above_one(curve)
    if not values.any():  # a divergence of 0: both outputs are the same
        return 0.0, float(alphas[0])
    epsilons = bound.epsilon_upper(alphas, values, np.asarray(failure))
    where = int(np.argmin(epsilons))
    if warns:
        _warn_at_end(bound, alphas, values, where, failure)
    return float(epsilons[where]), float(alphas[where])


def delta(curve: RdpCurve, epsilon: float, conversion: str, *, warns: bool = True) -> float:
    """Return the smallest delta at `epsilon`."""
    bound = conversion_named(conversion)
    loss = not_negative("epsilon", epsilon)
    if curve._function is not None:
        if not curve.terms:
            return 0.0
        best = _core.accounting.best_delta(curve._function, bound.core, loss)
        if best.at_edge and warns:
            _warn_at_edge(bound.delta_upper, curve._function, best.alpha, loss)
        return best.value
    alphas, values = _orders_above_one(curve)
    if not values.any():
        return 0.0
    deltas = bound.delta_upper(alphas, values, np.asarray(loss))
    where = int(np.argmin(deltas))
    smallest = float(deltas[where])
    if 0 < smallest < 1 and warns:
        _warn_at_end(bound, alphas, values, where, smallest)
    return smallest


def _orders_above_one(curve: RdpCurve) -> tuple[Array, Array]:
    used = curve.alphas > 1
    require(bool(used.any()), "alphas", curve.alphas, "greater than 1 at least once")
    # Where one order costs nothing all do, for both outputs are the same. So a zero among costs has
    # underflowed, or is a mistake: it proves nothing.
    if curve.values[used].any():
        used = used & (curve.values > 0)
    return curve.alphas[used], curve.values[used]


def _warn_at_end(
    bound: Conversion, alphas: Array, values: Array, best: int, failure: float
) -> None:
    """Warn if the best order ends a table, and orders beyond could prove a smaller epsilon."""
    if np.isinf(alphas[best]):
        return
    for end, direction, could_help in (
        ("largest", "larger", best == alphas.size - 1 and _larger_help),
        ("smallest", "smaller", best == 0 and _smaller_help),
    ):
        if could_help and could_help(bound, alphas[best:], values[best:], failure):
            warn_caller(
                f"the best order is the {end} above 1 that the curve has ({alphas[best]:g}): the "
                f"answer is valid, but alphas with {direction} orders could prove a smaller one"
            )


def _warn_at_edge(
    proven: Callable[[Array, Array, Array], Array],
    function: WeightedSum,
    best: float,
    target: float,
) -> None:
    """Warn if the best order ends the search, and what is proven is still falling there."""
    if best < 2:
        end, inside = "smallest", 2.0
        remedy = "the cost is so large that more noise or fewer releases are needed"
    else:
        end, inside = "largest", 0.5
        remedy = "a table of alphas that ends with a bound at infinity could prove a smaller one"
    alphas = 1 + (best - 1) * np.array([1.0, inside])
    values = np.concatenate([function(alphas[:1]), function(alphas[1:])])
    at_end, before = proven(alphas, values, np.asarray(target))
    if before > (1 + _WORTH_A_WARNING) * at_end:
        warn_caller(
            f"the best order is the {end} that is searched (1 + {best - 1:g}): the answer is "
            f"valid, but {remedy}"
        )


# What an order that was not tried can prove is bounded below with the least divergence it can have:
# the Renyi divergence D does not decrease with the order, and (order - 1) D is convex (van Erven
# and Harremoes 2014, Theorem 3 and Corollary 2). alphas[0] is the best order, alphas[1] the next.


def _larger_help(bound: Conversion, alphas: Array, values: Array, failure: float) -> bool:
    larger = np.append(alphas[0] * _STEPS, np.inf)
    return _help(bound, alphas, values, larger, np.full(larger.shape, values[0]), failure)


def _smaller_help(bound: Conversion, alphas: Array, values: Array, failure: float) -> bool:
    smaller = 1 + (alphas[0] - 1) / _STEPS
    smaller = smaller[smaller > 1]
    least = np.zeros_like(smaller)
    if alphas.size > 1 and np.isfinite(alphas[1]) and np.isfinite(values[:2]).all():
        scaled = (alphas[:2] - 1) * values[:2]
        slope = (scaled[1] - scaled[0]) / (alphas[1] - alphas[0])
        least = np.maximum(scaled[0] - slope * (alphas[0] - smaller), 0) / (smaller - 1)
    return _help(bound, alphas, values, smaller, least, failure)


_STEPS = np.exp2(np.arange(1.0, 61.0))


def _help(
    bound: Conversion, alphas: Array, values: Array, others: Array, least: Array, failure: float
) -> bool:
    if not others.size:
        return False
    at: Any = np.asarray(failure)
    epsilon = float(bound.epsilon_upper(alphas[:1], values[:1], at)[0])
    smallest = float(np.min(bound.epsilon_upper(others, least, at)))
    return smallest < (1 - _WORTH_A_WARNING) * epsilon
