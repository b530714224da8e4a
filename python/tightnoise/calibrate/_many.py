"""Noise whose shape goes by an (epsilon, delta) of its own, for many releases."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TypeVar

from tightnoise.calibrate._budget import Budget, settled
from tightnoise.calibrate._parameter import FAR, least_parameter
from tightnoise.costs import Cost

__all__ = ["of_shares"]

Noise = TypeVar("Noise")


def of_shares(
    calibrated: Callable[[float, float], Noise],
    cost_of: Callable[[Noise], Cost],
    budget: Budget,
    *,
    is_pure: bool = False,
    least_epsilon: float = 0.0,
) -> Noise:
    """Return the noise of the largest epsilon of its own with which all releases meet the budget.

    Each is `calibrated` to that epsilon and, unless it is pure, to an equal share of half of what
    is left of delta, so that the other half may pay for losses that add up less than in proportion.
    Pure noise without a delta has its equal share of epsilon.
    """
    if budget.delta == 0:
        share = budget.pure_share
        return settled(lambda own: calibrated(own, 0.0), cost_of, share, budget, toward=0.0)
    left = budget.delta - budget.beside.delta(budget.epsilon)
    if not left > 0:
        raise budget.unmet("what is planned beside leaves nothing of delta")
    failure = 0.0 if is_pure else 0.5 * left / budget.count

    @functools.cache
    def make(inverse: float) -> Noise:
        return calibrated(1.0 / inverse, failure)

    # In reciprocals of that epsilon. Without anything beside, an equal share is always enough.
    least = 1.0 / budget.epsilon
    most = least * budget.count * (1 + 1e-12) * (FAR if budget.beside.terms else 1.0)
    most = min(most, 1.0 / least_epsilon) if least_epsilon > 0 else most
    found = least_parameter(
        lambda inverse: budget.total(cost_of(make(inverse))),
        budget,
        (least, max(least, most)),
        least * math.sqrt(budget.count),
        by_renyi=False,
    )
    if found is None:
        raise budget.unmet("the releases, or what is planned beside, leave too little for each")
    return make(found)
