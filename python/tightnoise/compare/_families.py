"""The mechanisms for one number, and how each is calibrated to a budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tightnoise import calibrate
from tightnoise.mechanisms import Gaussian

__all__ = ["FAMILIES", "Calibration", "Family"]

Calibration = Callable[[float, float, float, Any], Any]
"""Of epsilon, delta, sensitivity and loss: the mechanism of least noise."""


class Family(NamedTuple):
    """Mechanisms that differ in their parameters only."""

    name: str
    calibrated: Calibration
    scale: str
    """The parameter that sets the size of the noise."""
    composes_as_gaussian: bool = False
    pure: bool = False
    """Whether it needs no delta."""
    searched: bool = False
    """Whether it takes seconds to find."""
    for_many: tuple[Calibration, ...] = ()
    """What may be better where many are released, though noisier alone."""
    as_one: Calibration | None = None
    """What is a Gaussian: as many releases as there are cost what one costs whose sigma is smaller
    by the square root of their number, exactly."""
    least_epsilon: float = 0.0
    """Of one of many releases: below it, `calibrated` takes too long to be tried again and again,
    and `for_many` alone counts."""
    for_integers: Calibration | None = None
    """What is better where outputs are rounded to integers."""

    def of(self, integer: bool) -> Family:
        """Return the family for outputs that are rounded to integers, or not."""
        if not integer or self.for_integers is None:
            return self
        return self._replace(calibrated=self.for_integers)


def _gaussian(epsilon: float, delta: float, sensitivity: float, loss: str) -> Gaussian:
    return calibrate.gaussian(epsilon, delta, sensitivity=sensitivity)


FAMILIES = (
    Family("Gaussian", _gaussian, "sigma", composes_as_gaussian=True, as_one=_gaussian),
    Family(
        "multi-Gaussian",
        lambda epsilon, delta, sensitivity, loss: calibrate.multi_gaussian(
            epsilon, delta, sensitivity=sensitivity, loss=loss
        ),
        "sigma",
        composes_as_gaussian=True,
        for_many=(
            lambda epsilon, delta, sensitivity, loss: calibrate.multi_gaussian(
                epsilon, delta, sensitivity=sensitivity, modes=1, loss=loss
            ),
        ),
        as_one=lambda epsilon, delta, sensitivity, loss: calibrate.multi_gaussian(
            epsilon, delta, sensitivity=sensitivity, modes=0
        ),
        least_epsilon=0.02,  # thousands of modes, each of them with losses of its own
    ),
    Family(
        "quasi-Gaussian",
        lambda epsilon, delta, sensitivity, loss: calibrate.quasi_gaussian(
            epsilon, delta, sensitivity=sensitivity
        ),
        "sigma",
    ),
    Family(
        "scale mixture",
        lambda epsilon, delta, sensitivity, loss: calibrate.gaussian_scale_mixture(
            epsilon, delta, sensitivity=sensitivity, loss=loss
        ),
        "sigmas",
        composes_as_gaussian=True,
        searched=True,
    ),
    Family(
        "Laplace",
        lambda epsilon, delta, sensitivity, loss: calibrate.laplace(
            epsilon, delta, sensitivity=sensitivity
        ),
        "scale",
        pure=True,
    ),
    Family(
        "truncated Laplace",
        lambda epsilon, delta, sensitivity, loss: calibrate.truncated_laplace(
            epsilon, delta, sensitivity=sensitivity
        ),
        "scale",
    ),
    Family(
        "Tulap",
        lambda epsilon, delta, sensitivity, loss: calibrate.tulap(
            epsilon, delta, sensitivity=sensitivity
        ),
        "epsilon",
    ),
    Family(
        "staircase",
        lambda epsilon, delta, sensitivity, loss: calibrate.staircase(
            epsilon, delta, sensitivity=sensitivity, loss=loss
        ),
        "epsilon",
        pure=True,
        for_integers=lambda epsilon, delta, sensitivity, loss: calibrate.staircase(
            epsilon, delta, sensitivity=sensitivity, loss=loss, integer=True
        ),
    ),
)
