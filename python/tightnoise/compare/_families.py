"""The mechanisms for one number, and for one in a known range; how each meets a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from tightnoise import calibrate
from tightnoise.compare._grid_optimum import grid_optimum
from tightnoise.compare._middle import Middle
from tightnoise.compare._prior import Prior, prior_of
from tightnoise.costs import Cost


class Family(NamedTuple):
    """Mechanisms that differ in their parameters only."""

    name: str
    calibrate: Callable[..., Any]
    scale: str
    """The parameter that sets the size of the noise."""
    options: tuple[str, ...] = ()
    """What there is a choice by: the "loss", and whether outputs are an "integer"."""
    composes_as_gaussian: bool = False
    for_one: bool = False
    """Whether it has nothing of its own for several releases."""

    def calibrated(
        self, epsilon: float, delta: float, *, sensitivity: float, count: int = 1, **choices: Any
    ) -> Any:
        """Return the mechanism of least noise of which `count` releases are (epsilon, delta)-DP."""
        known = {name: choice for name, choice in choices.items() if name in self.options}
        return self.calibrate(epsilon, delta, sensitivity=sensitivity, count=count, **known)


FAMILIES = (
    Family("Gaussian", calibrate.gaussian, "sigma", composes_as_gaussian=True),
    Family(
        "multi-Gaussian", calibrate.multi_gaussian, "sigma", ("loss",), composes_as_gaussian=True
    ),
    Family("quasi-Gaussian", calibrate.quasi_gaussian, "sigma"),
    Family(
        "scale mixture",
        calibrate.gaussian_scale_mixture,
        "sigmas",
        ("loss",),
        composes_as_gaussian=True,
        for_one=True,
    ),
    Family("Laplace", calibrate.laplace, "scale"),
    Family("truncated Laplace", calibrate.truncated_laplace, "scale"),
    Family("Tulap", calibrate.tulap, "epsilon"),
    Family("staircase", calibrate.staircase, "epsilon", ("loss", "integer")),
)


class Question(NamedTuple):
    """What is asked of a mechanism: all that its row depends on. There is no data in it."""

    epsilon: float
    """What all releases may cost together."""
    delta: float
    lower: float
    upper: float
    """The range of the true value."""
    sensitivity: float
    """How far apart neighbours are, if the range is wide enough."""
    releases: int = 1
    """How many there are."""
    weights: tuple[float, ...] | None = None
    """What is known before; None: all true values are alike."""
    integer: bool = False
    """Whether outputs are rounded to integers."""

    @property
    def width(self) -> float:
        """That of the range."""
        return self.upper - self.lower

    @property
    def change(self) -> float:
        """How far apart neighbours are; a sensitivity beyond the width means that, rounded up."""
        return min(self.sensitivity, math.nextafter(self.width, math.inf))

    @property
    def prior(self) -> Prior:
        """What is known before."""
        return prior_of(self.weights, self.width)


class BoundedFamily(NamedTuple):
    """Mechanisms that differ in their parameters only."""

    name: str
    calibrated: Callable[[Question], Any]
    cost: Callable[[Any, Question], Cost]
    """Of a mechanism: what one release costs."""
    parameter: str = ""
    """The one that sets the size of the noise."""
    clip: bool = False
    """Whether outputs may be outside the domain and are clipped, which costs nothing."""
    note: str = ""
    """What a reader of a table should know."""
    searched: bool = False
    """Whether it takes a second to find, and a package that is an extra."""


_NOTES = {
    "Gaussian": "a rectified Gaussian with the sigma that an unbounded domain would need",
    "Tulap": "without delta a staircase with gamma = 1/2",
}


def _within(name: str, calibrated: Callable[..., Any], parameter: str = "sigma") -> BoundedFamily:
    """Return noise that stays in the range by itself."""
    return BoundedFamily(
        name,
        lambda asked: calibrated(
            asked.epsilon,
            asked.delta,
            lower=asked.lower,
            upper=asked.upper,
            sensitivity=asked.change,
            count=asked.releases,
        ),
        lambda mechanism, asked: mechanism.cost(
            sensitivity=asked.change, domain=(asked.lower, asked.upper)
        ),
        parameter,
    )


def _clipped(family: Family) -> BoundedFamily:
    return BoundedFamily(
        f"{family.name} + clip",
        lambda asked: family.calibrated(
            asked.epsilon,
            asked.delta,
            sensitivity=asked.change,
            count=asked.releases,
            loss="l2",
            integer=asked.integer,
        ),
        lambda mechanism, asked: mechanism.cost(sensitivity=asked.change),
        family.scale,
        clip=True,
        note=_NOTES.get(family.name, ""),
    )


def _optimum(asked: Question) -> Any:
    def total(inverse: float) -> Cost:
        return Cost.of_pure(1.0 / inverse) * asked.releases

    each = asked.epsilon / asked.releases * (1.0 - 2.0**-50)
    if asked.delta > 0 and asked.releases > 1:
        bracket = (1.0 / asked.epsilon, 1.0 / each)
        each = 1.0 / calibrate.parameter(total, asked.epsilon, asked.delta, bracket=bracket)
    return grid_optimum(each, asked.lower, asked.upper, asked.change, asked.prior)


_FAMILIES = (
    BoundedFamily(
        "middle",
        lambda asked: Middle(asked.lower, asked.upper),
        lambda mechanism, asked: Cost(),
        note="needs no data",
    ),
    _within("truncated Gaussian", calibrate.truncated_gaussian),
    _within("rectified Gaussian", calibrate.rectified_gaussian),
    _within("bounded Laplace", calibrate.bounded_laplace, "scale"),
    *(_clipped(family) for family in FAMILIES if not family.for_one),
    BoundedFamily(
        "grid optimum",
        _optimum,
        lambda mechanism, asked: mechanism.cost(sensitivity=asked.change),
        "cells",
        note="makes no use of delta; its values are posterior means",
        searched=True,
    ),
)

BOUNDED_FAMILIES = {family.name: family for family in _FAMILIES}
