"""What is asked of noise for one number, and how a calibration is settled to the last digit."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from tightnoise._validate import not_negative, positive, real_scalar, require
from tightnoise.calibrate._error import CalibrationError
from tightnoise.mechanisms import AdditiveNoise
from tightnoise.mechanisms._steps import LARGEST_EPSILON

__all__ = [
    "METHODS",
    "Target",
    "finite_sigma",
    "first_private",
    "mixture_target",
    "quotient_upper",
    "target",
]

Noise = TypeVar("Noise", bound=AdditiveNoise)

METHODS = {"exact": False, "paper": True}
"""How mixtures are calibrated; whether that is the paper's way."""

# Costs of noise of pieces are rounded up by 1e-11 of themselves: formulas aim as much lower.
_AIM = 1.0 - 2e-11
_LEAST_DELTA = 1e-300  # of mixtures


class Target(NamedTuple):
    """A checked (epsilon, delta) and the sensitivity it is for."""

    epsilon: float
    delta: float
    sensitivity: float

    @property
    def aim(self) -> float:
        """What formulas in closed form are solved for: a delta that leaves room for rounding."""
        return self.delta * _AIM

    def is_met(self, noise: AdditiveNoise) -> bool:
        """Whether `noise` keeps within it, by its own account."""
        return bool(noise.delta(self.epsilon, self.sensitivity) <= self.delta)


def target(epsilon: Any, delta: Any, sensitivity: Any) -> Target:
    """Return the target after checking its parts."""
    loss = not_negative("epsilon", epsilon)
    failure = real_scalar("delta", delta)
    require(0 <= failure < 1, "delta", delta, "between 0 and 1, exclusive")
    return Target(loss, math.fabs(failure), positive("sensitivity", sensitivity))


def mixture_target(epsilon: float, delta: float, sensitivity: float) -> Target:
    """Return the target of a mixture of Gaussians; CalibrationError for delta = 0."""
    asked = target(epsilon, delta, sensitivity)
    require(
        0 < asked.epsilon <= LARGEST_EPSILON,
        "epsilon",
        epsilon,
        f"greater than 0 and at most {LARGEST_EPSILON:g}",
    )
    if asked.delta == 0:
        raise CalibrationError(
            "delta must be greater than 0 for a mixture of Gaussians: its privacy loss has no "
            "bound, so no sigma gives pure epsilon-DP; got 0"
        )
    require(asked.delta >= _LEAST_DELTA, "delta", delta, f"at least {_LEAST_DELTA:g}, or 0")
    return asked


def finite_sigma(sigma: float, asked: Target) -> float:
    """Return `sigma`; CalibrationError unless it is a positive number."""
    if 0 < sigma < math.inf:
        return sigma
    raise CalibrationError(
        f"no sigma between 5e-324 and 1.8e308 is proven to meet epsilon = {asked.epsilon:g} and "
        f"delta = {asked.delta:g} at sensitivity {asked.sensitivity:g}"
    )


def first_private(
    make: Callable[[float], Noise], start: float, asked: Target, *, toward: float
) -> Noise:
    """Return the first private one of make(start), and make(x) for x ever farther from `start`.

    The last digits are settled by the mechanism's own delta: steps of 1, 2, 4, ... units in the
    last place, away towards `toward`.
    """
    unit = math.ulp(start) if toward > start else -math.ulp(start)
    value, units = start, 1.0
    while not math.isnan(value) and 0 < value < math.inf:
        noise = make(value)
        if asked.is_met(noise):
            return noise
        value, units = start + units * unit, 2.0 * units
    raise CalibrationError(
        f"no noise of this kind is ({asked.epsilon}, {asked.delta})-private within the range of "
        "floats"
    )


def quotient_upper(numerator: float, denominator: float) -> float:
    """Return the least float that is at least numerator/denominator; may be infinite."""
    if denominator == 0 or numerator / denominator == math.inf:
        return math.inf
    quotient = numerator / denominator
    exact = Fraction(numerator) / Fraction(denominator)
    return quotient if quotient >= exact else math.nextafter(quotient, math.inf)
