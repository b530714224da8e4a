"""The mechanisms for one number in a known range, and how each is calibrated to a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from tightnoise import calibrate
from tightnoise.calibrate import CalibrationError
from tightnoise.compare._families import FAMILIES, Family
from tightnoise.compare._middle import Middle
from tightnoise.mechanisms import BoundedLaplace, RectifiedGaussian, TruncatedGaussian

__all__ = ["BOUNDED_FAMILIES", "BoundedFamily", "Domain", "domain_of"]


class Domain(NamedTuple):
    """The range of the true value, and how far apart neighbours are: at most its width."""

    lower: float
    upper: float
    sensitivity: float


def domain_of(lower: float, upper: float, sensitivity: float) -> Domain:
    """Return the domain; a sensitivity beyond its width means that, rounded upwards."""
    return Domain(lower, upper, min(sensitivity, math.nextafter(upper - lower, math.inf)))


class BoundedFamily(NamedTuple):
    """Mechanisms that differ in their parameters only."""

    name: str
    calibrated: Callable[[float, float, Domain], Any]
    """Of epsilon, delta and the domain."""
    epsilon: Callable[[Any, float, Domain], float]
    """Of a mechanism, delta and the domain: what a release costs."""
    parameter: str = ""
    """The one that sets the size of the noise."""
    clip: bool = False
    """Whether outputs may be outside the domain and are clipped, which costs nothing."""
    note: str = ""
    """What a reader of a table should know."""


_NOTES = {
    "Gaussian": "a rectified Gaussian with the sigma that an unbounded domain would need",
    "Tulap": "without delta a staircase with gamma = 1/2",
}


def _bounded_laplace(epsilon: float, delta: float, domain: Domain) -> BoundedLaplace:
    return BoundedLaplace(calibrate.bounded_laplace(epsilon, *domain), domain.lower, domain.upper)


def _clipped(family: Family) -> BoundedFamily:
    def calibrated(epsilon: float, delta: float, domain: Domain) -> Any:
        if delta > 0 and epsilon < family.least_epsilon:
            raise CalibrationError(
                f"epsilon must be at least {family.least_epsilon} here: with less it takes seconds "
                f"to calibrate; got {epsilon}"
            )
        return family.calibrated(epsilon, delta, domain.sensitivity, "l2")

    return BoundedFamily(
        f"{family.name} + clip",
        calibrated,
        lambda mechanism, delta, domain: mechanism.epsilon_at(delta, domain.sensitivity),
        family.scale,
        clip=True,
        note=_NOTES.get(family.name, ""),
    )


BOUNDED_FAMILIES = (
    BoundedFamily(
        "middle",
        lambda epsilon, delta, domain: Middle(domain.lower, domain.upper),
        lambda mechanism, delta, domain: 0.0,
        note="needs no data; what any mechanism should beat",
    ),
    BoundedFamily(
        "truncated Gaussian",
        lambda epsilon, delta, domain: TruncatedGaussian(
            calibrate.truncated_gaussian(epsilon, *domain, delta=delta), domain.lower, domain.upper
        ),
        lambda mechanism, delta, domain: calibrate.truncated_gaussian_epsilon(
            mechanism.sigma, *domain, delta=delta
        ),
        "sigma",
    ),
    BoundedFamily(
        "rectified Gaussian",
        lambda epsilon, delta, domain: RectifiedGaussian(
            calibrate.rectified_gaussian(epsilon, *domain, delta=delta), domain.lower, domain.upper
        ),
        lambda mechanism, delta, domain: calibrate.rectified_gaussian_epsilon(
            mechanism.sigma, *domain, delta=delta
        ),
        "sigma",
    ),
    BoundedFamily(
        "bounded Laplace",
        _bounded_laplace,
        lambda mechanism, delta, domain: calibrate.bounded_laplace_epsilon(
            mechanism.scale, *domain
        ),
        "scale",
        note="makes no use of delta",
    ),
    *(_clipped(family) for family in FAMILIES if not family.searched),
)
