"""Noise with a staircase for a density."""

from __future__ import annotations

from typing import Any, ClassVar

from tightnoise._validate import real_scalar, require
from tightnoise.mechanisms.additive import AdditiveNoise

__all__ = ["LARGEST_EPSILON", "SMALLEST_EPSILON", "StepNoise", "step_epsilon"]

# Beyond, one step is a factor that no float holds; below, floats cannot count the steps.
SMALLEST_EPSILON = 1e-15
LARGEST_EPSILON = 700.0


class StepNoise(AdditiveNoise):
    """Noise whose density falls in steps."""

    _is_unimodal: ClassVar[bool] = True
    _law_name: ClassVar[str] = "staircase"

    @property
    def _grid_scale(self) -> float:
        # Of steps and their parts some may be too rare to matter. This does for all: rounding to
        # 1/64 of it moves no abs(noise) by more than 1/128 of their mean, no variance by more than
        # 2.1e-5 of itself on average.
        return self.mean_abs()


def step_epsilon(epsilon: Any) -> float:
    """Return epsilon as a float after checking it."""
    number = real_scalar("epsilon", epsilon)
    good = SMALLEST_EPSILON <= number <= LARGEST_EPSILON
    require(good, "epsilon", epsilon, f"from {SMALLEST_EPSILON} to {LARGEST_EPSILON:g}")
    return number
