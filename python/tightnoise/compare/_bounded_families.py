"""The mechanisms for one number in a known range, and how each is calibrated to a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from tightnoise import calibrate
from tightnoise.accounting import gaussian_epsilon, privacy_loss
from tightnoise.calibrate import CalibrationError
from tightnoise.compare._bounded_releases import (
    RECTIFIED,
    TRUNCATED,
    Budget,
    Domain,
    Kind,
    pure_part,
    pure_total,
    scale_of,
    total_of,
)
from tightnoise.compare._families import FAMILIES, Family
from tightnoise.compare._grid_optimum import grid_optimum
from tightnoise.compare._middle import Middle
from tightnoise.compare._releases import POINTS, release_of
from tightnoise.mechanisms import BoundedLaplace, Gaussian, RectifiedGaussian, TruncatedGaussian

__all__ = ["BOUNDED_FAMILIES", "BoundedFamily"]


class BoundedFamily(NamedTuple):
    """Mechanisms that differ in their parameters only."""

    name: str
    calibrated: Callable[[Budget, Domain], Any]
    epsilon: Callable[[Any, Budget, Domain], float]
    """Of a mechanism: what all releases cost together."""
    parameter: str = ""
    """The one that sets the size of the noise."""
    clip: bool = False
    """Whether outputs may be outside the domain and are clipped, which costs nothing."""
    note: str = ""
    """What a reader of a table should know."""
    pure: bool = False
    """Whether one release makes no use of a delta."""
    searched: bool = False
    """Whether it takes a second to find, and a package that is an extra."""


_NOTES = {
    "Gaussian": "a rectified Gaussian with the sigma that an unbounded domain would need",
    "Tulap": "without delta a staircase with gamma = 1/2",
}


def _within(kind: Kind, family: Any) -> BoundedFamily:
    return BoundedFamily(
        kind.name,
        lambda budget, domain: family(scale_of(kind, budget, domain), domain.lower, domain.upper),
        lambda mechanism, budget, domain: total_of(kind, mechanism.sigma, budget, domain),
        "sigma",
    )


def _bounded_laplace(budget: Budget, domain: Domain) -> BoundedLaplace:
    scale = calibrate.bounded_laplace(pure_part(budget), *domain.interval)
    return BoundedLaplace(scale, domain.lower, domain.upper)


def _clipped(family: Family) -> BoundedFamily:
    def calibrated(budget: Budget, domain: Domain) -> Any:
        epsilon, delta, count = budget
        if delta > 0 and epsilon < family.least_epsilon:
            raise CalibrationError(
                f"epsilon must be at least {family.least_epsilon} here: with less it takes seconds "
                f"to calibrate; got {epsilon}"
            )
        kind = family.of(domain.integer)
        return release_of(kind, epsilon, delta, domain.sensitivity, "l2", count)

    def total(mechanism: Any, budget: Budget, domain: Domain) -> float:
        _, delta, count = budget
        if count == 1 or delta == 0:
            return float(count * mechanism.epsilon_at(delta, domain.sensitivity))
        if isinstance(mechanism, Gaussian):
            distance = math.sqrt(count) * domain.sensitivity / mechanism.sigma
            return float(gaussian_epsilon(delta, distance))
        once = privacy_loss(mechanism, sensitivity=domain.sensitivity, points=POINTS)
        return (once * count).epsilon(delta)

    return BoundedFamily(
        f"{family.name} + clip",
        calibrated,
        total,
        family.scale,
        clip=True,
        note=_NOTES.get(family.name, ""),
    )


_FAMILIES = (
    BoundedFamily(
        "middle",
        lambda budget, domain: Middle(domain.lower, domain.upper),
        lambda mechanism, budget, domain: 0.0,
        note="needs no data",
        pure=True,
    ),
    _within(TRUNCATED, TruncatedGaussian),
    _within(RECTIFIED, RectifiedGaussian),
    BoundedFamily(
        "bounded Laplace",
        _bounded_laplace,
        lambda mechanism, budget, domain: pure_total(
            calibrate.bounded_laplace_epsilon(mechanism.scale, *domain.interval), budget
        ),
        "scale",
        note="makes no use of delta",
        pure=True,
    ),
    *(_clipped(family) for family in FAMILIES if not family.searched),
    BoundedFamily(
        "grid optimum",
        lambda budget, domain: grid_optimum(pure_part(budget), *domain.interval, domain.prior),
        lambda mechanism, budget, domain: pure_total(mechanism.epsilon(domain.sensitivity), budget),
        "cells",
        note="makes no use of delta; its values are posterior means",
        pure=True,
        searched=True,
    ),
)

BOUNDED_FAMILIES = {family.name: family for family in _FAMILIES}
