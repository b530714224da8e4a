"""What releases in a domain may cost each, so that all together stay within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from tightnoise import calibrate
from tightnoise.compare._prior import Prior
from tightnoise.compare._releases import largest_release
from tightnoise.costs import Cost
from tightnoise.mechanisms import RectifiedGaussian, TruncatedGaussian

__all__ = [
    "RECTIFIED",
    "TRUNCATED",
    "Budget",
    "Domain",
    "Interval",
    "Kind",
    "cost_within",
    "domain_of",
    "pure_part",
    "scale_of",
]

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
    calibrated: Callable[..., Any]
    mechanism: Callable[..., Any]


TRUNCATED = Kind("truncated Gaussian", calibrate.truncated_gaussian, TruncatedGaussian)
RECTIFIED = Kind("rectified Gaussian", calibrate.rectified_gaussian, RectifiedGaussian)


def scale_of(kind: Kind, budget: Budget, domain: Domain) -> float:
    """Return the least sigma found with which all releases are within the budget."""
    epsilon, delta, count = budget
    each = _share(epsilon, count)
    if count == 1 or delta == 0:
        return _sigma(kind, each, delta, domain)
    most = _sigma(kind, each, _share(delta, count), domain)
    sigma: float = largest_release(
        lambda gain: most * math.exp(-gain),
        lambda sigma: (
            cost_within(kind.mechanism(sigma, domain.lower, domain.upper), domain) * count
        ).epsilon(delta, by="losses"),
        epsilon,
        count,
        (0.0, _MOST_GAIN),
    )
    return sigma


def _sigma(kind: Kind, epsilon: float, delta: float, domain: Domain) -> float:
    lower, upper, sensitivity = domain.interval
    noise = kind.calibrated(epsilon, delta, lower=lower, upper=upper, sensitivity=sensitivity)
    return float(noise.sigma)


def cost_within(mechanism: Any, domain: Domain) -> Cost:
    """Return what one release costs of a mechanism whose bounds are the domain's."""
    cost: Cost = mechanism.cost(sensitivity=domain.sensitivity, domain=(domain.lower, domain.upper))
    return cost


def pure_part(budget: Budget) -> float:
    """Return the largest epsilon found that each release may cost, if all need no delta."""
    epsilon, delta, count = budget
    each = _share(epsilon, count)
    if count == 1 or delta == 0:
        return each
    part: float = largest_release(
        math.exp,
        lambda part: float((Cost.of_pure(part) * count).epsilon(delta)),
        epsilon,
        count,
        (math.log(each) - _ROUNDING, math.log(epsilon) - _ROUNDING),
    )
    return part


def _share(whole: float, count: int) -> float:
    """Return a part that is no more than the whole when it is taken `count` times."""
    return whole if count == 1 else math.nextafter(whole / count, 0.0)
