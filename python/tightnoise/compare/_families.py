"""The mechanisms for one number, and how each is calibrated to a budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tightnoise import calibrate


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
