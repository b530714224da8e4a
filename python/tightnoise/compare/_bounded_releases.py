"""What releases in a domain may cost each, so that all together stay within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tightnoise import _core, calibrate
from tightnoise.accounting import PrivacyLossDistribution, kairouz_oh_viswanath
from tightnoise.compare._prior import Prior
from tightnoise.compare._releases import largest_release

__all__ = [
    "RECTIFIED",
    "TRUNCATED",
    "Budget",
    "Domain",
    "Interval",
    "Kind",
    "domain_of",
    "pure_part",
    "pure_total",
    "scale_of",
    "total_of",
]

_POINTS = 1_000  # of the lattice of losses: epsilons within 1e-4, upwards
_BEYOND = 1e-4  # of delta: what losses beyond the lattice, which count as infinite, may take
_ROUNDING = 1e-12  # of a logarithm, there and back
_MOST_GAIN = 50.0  # a logarithm: of less noise nothing is left in a float


Interval = tuple[float, float, float]
"""The range of the true value, and how far apart neighbours are."""


class Budget(NamedTuple):
    """What all releases may cost together, and how many there are."""

    epsilon: float
    delta: float
    releases: int = 1


class Domain(NamedTuple):
    """The range of the true value, how far apart neighbours are, and what is known before."""

    lower: float
    upper: float
    sensitivity: float
    """At most the width."""
    prior: Prior
    integer: bool = False
    """Whether outputs are rounded to integers."""

    @property
    def interval(self) -> Interval:
        """The range and the sensitivity: all that privacy depends on."""
        return self[:3]


def domain_of(
    lower: float, upper: float, sensitivity: float, prior: Prior, integer: bool = False
) -> Domain:
    """Return the domain; a sensitivity beyond its width means that, rounded upwards."""
    most = math.nextafter(upper - lower, math.inf)
    return Domain(lower, upper, min(sensitivity, most), prior, integer)


class Kind(NamedTuple):
    """A Gaussian that stays in the domain."""

    name: str
    sigma: Callable[..., float]
    epsilon: Callable[..., float]
    worst_delta: Callable[..., None]
    """Of any pair of true values, at each epsilon: an upper bound."""


TRUNCATED = Kind(
    "truncated Gaussian",
    calibrate.truncated_gaussian,
    calibrate.truncated_gaussian_epsilon,
    _core.domain.truncated_worst_delta,
)
RECTIFIED = Kind(
    "rectified Gaussian",
    calibrate.rectified_gaussian,
    calibrate.rectified_gaussian_epsilon,
    _core.domain.rectified_worst_delta,
)


def scale_of(kind: Kind, budget: Budget, domain: Domain) -> float:
    """Return the least sigma found with which all releases are within the budget."""
    epsilon, delta, count = budget
    each = _share(epsilon, count)
    if count == 1 or delta == 0:
        return kind.sigma(each, *domain.interval, delta=delta)
    most = kind.sigma(each, *domain.interval, delta=_share(delta, count))
    sigma: float = largest_release(
        lambda gain: most * math.exp(-gain),
        lambda sigma: total_of(kind, sigma, budget, domain),
        epsilon,
        count,
        (0.0, _MOST_GAIN),
    )
    return sigma


def total_of(kind: Kind, sigma: float, budget: Budget, domain: Domain) -> float:
    """Return what all releases cost together, rounded upwards.

    The largest delta of all pairs, as a function of epsilon, is the profile of a pair that
    dominates every one of them, also when each release is of another pair.
    """
    _, delta, count = budget
    if count == 1:
        return kind.epsilon(sigma, *domain.interval, delta=delta)
    pure = kind.epsilon(sigma, *domain.interval)
    if delta == 0:
        return count * pure
    rare = kind.epsilon(sigma, *domain.interval, delta=_BEYOND * delta / count)
    spacing = max(min(pure, rare), 1e-100) / (_POINTS - 1) * (1 + 2**-51)
    epsilons = spacing * np.arange(_POINTS, dtype=np.float64)
    worst = np.empty(_POINTS)
    width = math.nextafter(domain.upper - domain.lower, math.inf)
    given = (np.array(value) for value in (sigma, width, domain.sensitivity))
    kind.worst_delta(*given, epsilons, worst)
    once = PrivacyLossDistribution.of_profile(spacing, np.clip(worst, 0.0, 1.0))
    # Of basic composition, too, both hold.
    return min((once * count).epsilon(delta), count * pure)


def pure_part(budget: Budget) -> float:
    """Return the largest epsilon found that each release may cost, if all need no delta."""
    epsilon, delta, count = budget
    each = _share(epsilon, count)
    if count == 1 or delta == 0:
        return each
    part: float = largest_release(
        math.exp,
        lambda part: pure_total(part, budget),
        epsilon,
        count,
        (math.log(each) - _ROUNDING, math.log(epsilon) - _ROUNDING),
    )
    return part


def pure_total(epsilon: float, budget: Budget) -> float:
    """Return what all releases cost together if each costs epsilon, without a delta."""
    _, delta, count = budget
    if count == 1 or delta == 0:
        return count * epsilon
    return float(kairouz_oh_viswanath(epsilon, 0.0, count, delta))


def _share(whole: float, count: int) -> float:
    """Return a part that is no more than the whole when it is taken `count` times."""
    return whole if count == 1 else math.nextafter(whole / count, 0.0)
