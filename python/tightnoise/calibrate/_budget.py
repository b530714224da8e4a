"""What releases may cost together, and how a calibration is settled to the last digit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tightnoise._validate import (
    MAX_COUNT,
    below_one,
    integer,
    not_negative,
    positive,
    shown,
)
from tightnoise.calibrate._error import CalibrationError
from tightnoise.costs import Cost

Noise = TypeVar("Noise")

NOTHING = Cost()
"""What is planned beside, unless something is said."""

_ROUNDING = 2.0**-48  # what costs of many releases may be rounded up by, relatively


@dataclass(frozen=True)
class Budget:
    """A checked (epsilon, delta) for `count` releases and what is planned beside them."""

    epsilon: float
    delta: float
    count: int = 1
    beside: Cost = NOTHING
    bounds: Mapping[str, Any] = field(default_factory=dict)
    """What one record may change, as `cost` of the noise takes it."""

    @property
    def is_single(self) -> bool:
        """Whether it is all for one release: what the exact searches are for."""
        return self.count == 1 and not self.beside.terms

    @property
    def pure_share(self) -> float:
        """The epsilon that each release may cost where there is no delta: losses add up."""
        if self.is_single:
            return self.epsilon
        left = (self.epsilon - self.beside.epsilon(0.0)) * (1 - _ROUNDING)
        if not left > 0:
            raise self.unmet("what is planned beside leaves nothing of epsilon")
        return left / self.count

    def for_one(self, epsilon: float, delta: float) -> Budget:
        """Return a budget for one release alone."""
        return replace(self, epsilon=epsilon, delta=delta, count=1, beside=NOTHING)

    def total(self, noise: Any) -> Cost:
        """Return the cost of everything, with this noise in each release."""
        once: Cost = noise.cost(**self.bounds)
        return once * self.count + self.beside

    def is_met(self, noise: object) -> bool:
        """Whether releases with this noise keep within the budget."""
        return self.total(noise).epsilon(self.delta) <= self.epsilon

    def unmet(self, why: str) -> CalibrationError:
        """Return the error that says why no noise meets the budget."""
        asked = f"epsilon = {self.epsilon:g} and delta = {self.delta:g}"
        beside = f" for {self.count} releases" if self.count > 1 else ""
        return CalibrationError(f"no noise of this kind meets {asked}{beside}: {why}")


def budget_of(
    epsilon: object, delta: object, count: object = 1, beside: object = NOTHING, **bounds: Any
) -> Budget:
    """Return the budget after checking its parts, but the bounds."""
    loss, failure = not_negative("epsilon", epsilon), below_one("delta", delta)
    times = integer("count", count, minimum=1, maximum=MAX_COUNT)
    if not isinstance(beside, Cost):
        raise TypeError(f"beside must be a Cost; got {shown(beside)}")
    spent = beside.epsilon(failure)
    if spent > loss:
        raise CalibrationError(
            f"beside must cost less than the budget; it costs epsilon = {spent:g} of {loss:g} at "
            f"delta = {failure:g} by itself"
        )
    return Budget(loss, math.fabs(failure), times, beside, bounds)


def scalar_budget(
    epsilon: object, delta: object, sensitivity: object, count: object, beside: object
) -> tuple[Budget, float]:
    """Return the budget and the checked sensitivity of one number."""
    budget = budget_of(epsilon, delta, count, beside)
    change = positive("sensitivity", sensitivity)
    return replace(budget, bounds={"sensitivity": change}), change


def settled(
    make: Callable[[float], Noise], start: float, budget: Budget, *, toward: float
) -> Noise:
    """Return the first private one of make(start), and make(x) for x ever farther from `start`.

    The last digits are settled by the cost itself: steps of 1, 2, 4, ... units in the last place,
    away towards `toward`.
    """
    unit = math.ulp(start) if toward > start else -math.ulp(start)
    value, units = start, 1.0
    while 0 < value < math.inf:
        noise = make(value)
        if budget.is_met(noise):
            return noise
        value, units = start + units * unit, 2.0 * units
    raise budget.unmet("there is none within the range of floats")
