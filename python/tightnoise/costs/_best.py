"""What the orders of a curve prove: the best of some, or of all real ones.

A table is tried at all its orders. The best real order of a function is searched by the core
(cpp/cost/best_order.hpp), at some 40 to 70 orders in four to seven calls of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise._validate import require
from tightnoise.costs._between import bounds_between
from tightnoise.costs._conversions import Conversion
from tightnoise.costs._functions import Term, WeightedSum, require_growth

Array = NDArray[np.float64]

_WORTH_A_WARNING = 1e-3  # the share of epsilon that other orders must be able to save
_STEPS = np.exp2(np.arange(1.0, 61.0))

# Orders up to 1 of a function are answered by the bound at this one, as no function needs to know
# them: the divergence does not decrease with the order.
_NEAR_ONE = 1.0 + 2.0**-30


class Best(NamedTuple):
    """What the best order proves, and what is to be said of it: that others could prove less."""

    bound: float
    order: float
    doubt: str | None = None


class AtSomeOrders:
    """Bounds at increasing orders, of which the last may be infinite."""

    terms: tuple[Term, ...] = ()

    def __init__(self, alphas: Array, values: Array) -> None:
        self.alphas, self.values = alphas, values

    def at(self, orders: Array) -> Array:
        """Return what follows at increasing orders."""
        return bounds_between(self.alphas, self.values, orders)

    def best(self, question: str, conversion: Conversion, at: float) -> Best:
        """Return the least epsilon at a delta between 0 and 1, or delta at an epsilon of >= 0."""
        alphas, values = self._above_one()
        if not values.any():  # a divergence of 0: both outputs are the same
            return Best(0.0, float(alphas[0]))
        bounds = conversion.upper(question, alphas, values, np.asarray(at))
        where = int(np.argmin(bounds))
        least = float(bounds[where])
        failure, doubt = at if question == "epsilon" else least, None
        if 0 < failure < 1:
            doubt = _doubt_at_end(conversion, alphas, values, where, failure)
        return Best(least, float(alphas[where]), doubt)

    def _above_one(self) -> tuple[Array, Array]:
        used = self.alphas > 1
        require(bool(used.any()), "alphas", self.alphas, "greater than 1 at least once")
        # Where one order costs nothing all do, for both outputs are the same. So a zero among costs
        # has underflowed, or is a mistake: it proves nothing.
        if self.values[used].any():
            used = used & (self.values > 0)
        return self.alphas[used], self.values[used]


class AtAnyOrder:
    """Bounds at every real order above 1: a sum of functions."""

    def __init__(self, function: WeightedSum) -> None:
        self._function = function

    @property
    def terms(self) -> tuple[Term, ...]:
        """The functions, each with its count."""
        return self._function.terms

    def at(self, orders: Array) -> Array:
        """Return what follows at increasing orders."""
        if not self.terms:
            return np.zeros(orders.shape)
        infinite = orders[-1:] == np.inf
        finite = orders[:-1] if infinite else orders
        values = np.array([])
        if finite.size:  # a copy: what a function returns may be its own
            values = self._function(np.maximum(finite, _NEAR_ONE)).copy()
        if infinite:
            values = np.append(values, self._function.at_infinity())
        require_growth("what the functions of a curve return", orders, values)
        return values

    def best(self, question: str, conversion: Conversion, at: float) -> Best:
        """Return the least epsilon at a delta between 0 and 1, or delta at an epsilon of >= 0."""
        if not self.terms:
            return Best(0.0, core.least_searched_order)
        search = core.best_epsilon if question == "epsilon" else core.best_delta
        best = search(self._function, conversion.kind, at)
        proven = partial(conversion.upper, question)
        doubt = self._doubt_at_edge(proven, best.alpha, at) if best.at_edge else None
        return Best(best.value, best.alpha, doubt)

    def _doubt_at_edge(
        self, proven: Callable[[Array, Array, Array], Array], best: float, target: float
    ) -> str | None:
        """Return what to say if the best order ends the search and the bound still falls there."""
        if best < 2:
            end, inside = "smallest", 2.0
            remedy = "the cost is so large that more noise or fewer releases are needed"
        else:
            end, inside = "largest", 0.5
            remedy = (
                "a table of alphas that ends with a bound at infinity could prove a smaller one"
            )
        alphas = 1 + (best - 1) * np.array([1.0, inside])
        values = np.concatenate([self._function(alphas[:1]), self._function(alphas[1:])])
        at_end, before = proven(alphas, values, np.asarray(target))
        if before <= (1 + _WORTH_A_WARNING) * at_end:
            return None
        return (
            f"the best order is the {end} that is searched (1 + {best - 1:g}): the answer is "
            f"valid, but {remedy}"
        )


def _doubt_at_end(
    conversion: Conversion, alphas: Array, values: Array, best: int, failure: float
) -> str | None:
    """Return what to say if the best order ends a table and others could prove less."""
    if np.isinf(alphas[best]):
        return None
    for end, direction, could_help in (
        ("largest", "larger", best == alphas.size - 1 and _larger_help),
        ("smallest", "smaller", best == 0 and _smaller_help),
    ):
        if could_help and could_help(conversion, alphas[best:], values[best:], failure):
            return (
                f"the best order is the {end} above 1 that the curve has ({alphas[best]:g}): the "
                f"answer is valid, but alphas with {direction} orders could prove a smaller one"
            )
    return None


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


def _help(
    bound: Conversion, alphas: Array, values: Array, others: Array, least: Array, failure: float
) -> bool:
    if not others.size:
        return False
    at: Any = np.asarray(failure)
    epsilon = float(bound.epsilon_upper(alphas[:1], values[:1], at)[0])
    smallest = float(np.min(bound.epsilon_upper(others, least, at)))
    return smallest < (1 - _WORTH_A_WARNING) * epsilon
