"""The noise of a release: the best for a question, chosen once; what it draws, and how near."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import real_scalar, require
from tightnoise.compare._integers import integer_interval, integers_of
from tightnoise.compare.bounded import best_choice, question_of
from tightnoise.compare.noise_ranking import least_variance
from tightnoise.costs import Adjacency, Cost
from tightnoise.mechanisms import AdditiveNoise, Gaussian
from tightnoise.mechanisms._grid import grid_of
from tightnoise.random import NoiseStream
from tightnoise.sums import ExactSum

Array = NDArray[np.float64]
Bounds = tuple[float, float]

_FINEST = 2.0**60  # of a sum's unit, in steps of the noise


@dataclass(frozen=True, eq=False)
class Noise:
    """A calibrated mechanism, and how a release draws from it."""

    name: str
    """Of its family, as in `compare_bounded` and `best_noise`."""
    mechanism: Any
    cost: Cost
    """Of the whole release."""
    sensitivity: float
    """Of one number."""
    integer: bool
    """Whether what is drawn are integers."""
    domain: Bounds | None = None
    """Where the true value is known to lie."""
    step: float = field(init=False)
    """The step of the grid that is drawn on."""

    def __post_init__(self) -> None:
        # ValueError now, before anything is spent, where the noise is no noise on that grid.
        step = float(grid_of(self.mechanism, 1.0 if self.integer else "auto"))
        object.__setattr__(self, "step", step)

    def draw(self, theta: Any, rng: NoiseStream | None) -> Any:
        """Return theta with noise, exactly: a multiple of the step, or a bound."""
        if self.integer:
            return integers_of(self.mechanism, theta, rng)[()]
        return self.mechanism.sample(theta, rng=rng)

    def interval(self, noisy: Any, level: float) -> tuple[Any, Any]:
        """Return the ends of an interval that holds each true value with that probability.

        For whatever true value, by the law of what is drawn on its grid: by quantiles of the noise
        where it is added, and by the outputs' distribution functions where it goes by the value.
        """
        if isinstance(self.mechanism, (AdditiveNoise, Gaussian)):
            half = self.half_width(below_half(level))
            return noisy - half, noisy + half
        assert self.domain is not None
        return self._inverted(float(noisy), level)

    def half_width(self, outside: float) -> float:
        """Return how far what is drawn is from the truth, but with probability 2 `outside`.

        An integer is j or more off with probability 2 F(-(j - 1/2)). Of real numbers, theta + noise
        is rounded by half a step at most.
        """
        law = self.mechanism
        quantile = -float(law.ppf(outside))
        if not self.integer:
            return math.nextafter(quantile + 0.5 * self.step, math.inf)
        steps = max(math.ceil(quantile - 0.5), 0)
        while float(law.cdf(-(steps + 0.5))) > outside:
            steps += 1
        while steps > 0 and float(law.cdf(-(steps - 0.5))) <= outside:
            steps -= 1
        return float(steps)

    def _inverted(self, noisy: float, level: float) -> Bounds:
        """Return the true values for which an output as low, or as high, is not too rare.

        Outputs y are y or less where theta with noise is below k + step/2, unless y is the upper
        bound, and y or more likewise. Here k is the multiple of the step nearest to y: y itself,
        but a bound may lie up to half a step from the multiple that is written as the bound. Both
        probabilities are monotone in theta.
        """
        assert self.domain is not None
        low, high = self.domain
        outside, half = below_half(level), 0.5 * self.step
        multiple = math.floor(noisy / self.step + 0.5) * self.step

        def at_most(theta: float) -> float:
            return 1.0 if noisy >= high else float(self.mechanism.cdf(multiple + half, theta))

        def at_least(theta: float) -> float:
            return 1.0 if noisy <= low else 1.0 - float(self.mechanism.cdf(multiple - half, theta))

        return (
            _crossing(lambda theta: at_least(theta) > outside, low, high),
            -_crossing(lambda theta: at_most(-theta) > outside, -high, -low),
        )


def require_fit(total: ExactSum, noise: Noise, epsilon: float) -> None:
    """Refuse, before anything is spent, a sum whose unit is too coarse for the noise's grid."""
    good = total.unit <= noise.step * _FINEST
    require(good, "epsilon", epsilon, "less: the noise would be lost in the sum's own last place")


def below_half(level: float, count: int = 1) -> float:
    """Return what may be outside on either side for `count` independent numbers to be inside.

    (1 - level^(1/count))/2, rounded down by more than the rounding of what it is compared with.
    """
    number = real_scalar("level", level)
    require(0 < number < 1, "level", level, "greater than 0 and less than 1")
    if count > 1:
        return -0.5 * math.expm1(math.log1p(number - 1.0) / count) * (1.0 - 1e-12)
    return 0.5 * (1.0 - number) * (1.0 - 1e-12)


def _crossing(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return a point below which `holds` is false; it is false, then true, from low to high."""
    if holds(low):
        return low
    false, true = low, high
    while True:
        middle = 0.5 * (false + true)
        if not false < middle < true:
            return false
        if holds(middle):
            true = middle
        else:
            false = middle


@functools.lru_cache(maxsize=1024)
def bounded_noise(
    epsilon: float,
    delta: float,
    lower: float,
    upper: float,
    sensitivity: float,
    integer: bool,
    adjacency: Adjacency,
) -> Noise:
    """Return the best for a value of a known range, as `release_bounded` has it."""
    ends = (lower, upper, sensitivity)
    if integer:
        ends, _ = integer_interval(*ends)
    asked = question_of(epsilon, delta, *ends, 1, None)._replace(integer=integer)
    best = best_choice(asked)
    cost = best.cost.for_neighbours(adjacency)
    return Noise(best.name, best.mechanism, cost, ends[2], integer, ends[:2])


@functools.lru_cache(maxsize=1024)
def added_noise(
    epsilon: float,
    delta: float,
    sensitivity: float,
    integer: bool,
    adjacency: Adjacency,
    changed: int = 1,
) -> Noise:
    """Return the best for numbers of which a person changes so many, each by the sensitivity."""
    best = least_variance(epsilon, delta, sensitivity=sensitivity, count=changed, integer=integer)
    cost = (best.cost * changed).for_neighbours(adjacency)
    return Noise(best.name, best.mechanism, cost, best.sensitivity, integer)
