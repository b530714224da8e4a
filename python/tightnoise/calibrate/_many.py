"""Noise whose shape goes by an (epsilon, delta) of its own, for many releases."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

from tightnoise._validate import require
from tightnoise.calibrate._budget import Budget, settled
from tightnoise.calibrate._parameter import FAR, least_noise, rough_start
from tightnoise.calibrate._search import Point
from tightnoise.costs import Cost
from tightnoise.mechanisms import Laplace

Noise = TypeVar("Noise")


def of_shares(calibrated: Callable[[float, float], Noise], budget: Budget, **how: Any) -> Noise:
    """Return the noise of the largest epsilon of its own with which all releases meet the budget.

    Each is `calibrated` to that epsilon and, unless it is pure, to an equal share of half of what
    is left of delta, so that the other half may pay for losses that add up less than in proportion.
    Pure noise without a delta has its equal share of epsilon.
    """
    return search_shares(calibrated, budget, **how)[0]


def search_shares(
    calibrated: Callable[[float, float], Noise],
    budget: Budget,
    *,
    is_pure: bool = False,
    least_epsilon: float = 0.0,
    near: Point | None = None,
    **search: Any,
) -> tuple[Noise, Point]:
    """Return the same, and where the search ended, in reciprocals of that epsilon.

    It begins at `near`, or where as many Laplace releases of that epsilon would end.
    """
    if budget.delta == 0:
        share = budget.pure_share
        noise = settled(lambda own: calibrated(own, 0.0), share, budget, toward=0.0)
        return noise, Point(1.0 / share)
    require(budget.epsilon > 0, "epsilon", budget.epsilon, "greater than 0 for several releases")
    left = budget.delta - budget.beside.delta(budget.epsilon)
    if not left > 0:
        raise budget.unmet("what is planned beside leaves nothing of delta")
    failure = 0.0 if is_pure else 0.5 * left / budget.count
    low, high = _bracket(budget)
    high = min(high, max(low, 1.0 / least_epsilon)) if least_epsilon > 0 else high
    start = like_laplace(budget) if near is None else near
    make = functools.cache(lambda inverse: calibrated(1.0 / inverse, failure))
    start = start._replace(x=min(start.x, high))
    return least_noise(make, budget, (low, high), start, by_renyi=False, **search)


def like_laplace(budget: Budget) -> Point:
    """Return where as many Laplace releases of that epsilon would end, by Renyi divergences."""

    def total(scale: float) -> Cost:
        return Laplace(scale).cost(sensitivity=1.0) * budget.count + budget.beside

    return rough_start(total, budget, _bracket(budget), like_gaussian(budget))


def like_gaussian(budget: Budget) -> Point:
    """Return about where as many Gaussian releases would end."""
    return Point(math.sqrt(budget.count) / budget.epsilon)


def _bracket(budget: Budget) -> tuple[float, float]:
    # Without anything beside, an equal share is always enough.
    least = 1.0 / budget.epsilon
    most = least * budget.count * (1 + 1e-12) * (FAR if budget.beside.terms else 1.0)
    return least, max(least, most)
