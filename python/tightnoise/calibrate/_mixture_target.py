"""What calibrations of mixtures of Gaussians take."""

from __future__ import annotations

import math

from tightnoise import _core
from tightnoise._validate import require
from tightnoise.calibrate._error import CalibrationError
from tightnoise.calibrate._scalar_noise import Target, target

__all__ = ["LOSSES", "METHODS", "finite_sigma", "mixture_target"]

_LARGEST_EPSILON = 700.0
_LEAST_DELTA = 1e-300

LOSSES = {"l1": _core.additive.Loss.l1, "l2": _core.additive.Loss.l2}
METHODS = {"exact": False, "paper": True}  # whether it is the paper's


def mixture_target(epsilon: float, delta: float, sensitivity: float) -> Target:
    """Return the checked arguments; CalibrationError for delta = 0."""
    asked = target(epsilon, delta, sensitivity)
    require(
        0 < asked.epsilon <= _LARGEST_EPSILON,
        "epsilon",
        epsilon,
        f"greater than 0 and at most {_LARGEST_EPSILON:g}",
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
