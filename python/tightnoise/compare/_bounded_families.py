"""The mechanisms for one number in a known range, and how each is calibrated to a budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tightnoise import calibrate
from tightnoise.calibrate import CalibrationError
from tightnoise.compare._bounded_releases import (
    RECTIFIED,
    TRUNCATED,
    Budget,
    Domain,
    Kind,
    cost_within,
    pure_part,
    scale_of,
)
from tightnoise.compare._families import FAMILIES, Family
from tightnoise.compare._grid_optimum import grid_optimum
from tightnoise.compare._middle import Middle
from tightnoise.compare._releases import release_of
from tightnoise.costs import Cost
from tightnoise.mechanisms import BoundedLaplace, RectifiedGaussian, TruncatedGaussian

__all__ = ["BOUNDED_FAMILIES", "BoundedFamily"]


class BoundedFamily(NamedTuple):
    """Mechanisms that differ in their parameters only."""

    name: str
    calibrated: Callable[[Budget, Domain], Any]
    cost: Callable[[Any, Domain], Cost]
    """Of a mechanism: what one release costs."""
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
        cost_within,
        "sigma",
    )


def _bounded_laplace(budget: Budget, domain: Domain) -> BoundedLaplace:
    lower, upper, sensitivity = domain.interval
    part = pure_part(budget)
    return calibrate.bounded_laplace(part, lower=lower, upper=upper, sensitivity=sensitivity)


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

    return BoundedFamily(
        f"{family.name} + clip",
        calibrated,
        lambda mechanism, domain: mechanism.cost(sensitivity=domain.sensitivity),
        family.scale,
        clip=True,
        note=_NOTES.get(family.name, ""),
    )


_FAMILIES = (
    BoundedFamily(
        "middle",
        lambda budget, domain: Middle(domain.lower, domain.upper),
        lambda mechanism, domain: Cost(),
        note="needs no data",
        pure=True,
    ),
    _within(TRUNCATED, TruncatedGaussian),
    _within(RECTIFIED, RectifiedGaussian),
    BoundedFamily(
        "bounded Laplace",
        _bounded_laplace,
        cost_within,
        "scale",
        note="makes no use of delta",
        pure=True,
    ),
    *(_clipped(family) for family in FAMILIES if not family.searched),
    BoundedFamily(
        "grid optimum",
        lambda budget, domain: grid_optimum(pure_part(budget), *domain.interval, domain.prior),
        lambda mechanism, domain: mechanism.cost(sensitivity=domain.sensitivity),
        "cells",
        note="makes no use of delta; its values are posterior means",
        pure=True,
        searched=True,
    ),
)

BOUNDED_FAMILIES = {family.name: family for family in _FAMILIES}
