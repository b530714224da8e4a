"""What noise with a staircase for a density takes as its own epsilon."""

from __future__ import annotations

from typing import Any

from tightnoise._validate import real_scalar, require

__all__ = ["LARGEST_EPSILON", "SMALLEST_EPSILON", "step_epsilon"]

# Beyond, one step is a factor that no float holds; below, floats cannot count the steps.
SMALLEST_EPSILON = 1e-15
LARGEST_EPSILON = 700.0


def step_epsilon(epsilon: Any) -> float:
    """Return epsilon as a float after checking it."""
    number = real_scalar("epsilon", epsilon)
    good = SMALLEST_EPSILON <= number <= LARGEST_EPSILON
    require(good, "epsilon", epsilon, f"from {SMALLEST_EPSILON} to {LARGEST_EPSILON:g}")
    return number
