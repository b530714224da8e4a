"""Answers that are integers: the true value is a count, and so is what is released.

Rounding is done to what is already public and costs nothing. A sensitivity that is no integer is
rounded up, so that the steps of a staircase can end half way between two integers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._validate import require
from tightnoise.random import NoiseStream

_LARGEST = 2.0**53  # up to there every integer is a float


def integer_sensitivity(sensitivity: float) -> tuple[float, tuple[str, ...]]:
    """Return the least integer that is no less, and what a reader of a table should know."""
    upwards = float(math.ceil(sensitivity))
    note = "outputs are rounded to integers; errors are those of true values that are integers"
    if upwards == sensitivity:
        return upwards, (note,)
    return upwards, (note, f"sensitivity {sensitivity:.12g} is rounded up to {upwards:.12g}")


def integer_interval(
    lower: float, upper: float, sensitivity: float
) -> tuple[tuple[float, float, float], tuple[str, ...]]:
    """Return the range of the integers in a range, with their sensitivity, and notes as above."""
    low, high = float(math.ceil(lower)), float(math.floor(upper))
    for name, end in (("lower", low), ("upper", high)):
        require(abs(end) <= _LARGEST, name, end, "at most 2^53 in size, for integers")
    if not low < high:
        raise ValueError(
            f"lower and upper must have two integers between them; got {lower} and {upper}"
        )
    change, notes = integer_sensitivity(sensitivity)
    if (low, high) != (lower, upper):
        notes = (*notes, f"the integers are those from {low:.17g} to {high:.17g}")
    return (low, high, min(change, high - low)), notes


def integers_of(mechanism: Any, theta: ArrayLike, rng: NoiseStream | None) -> NDArray[np.int64]:
    """Return theta with noise, rounded to integers: the exact law of `mechanism.rounded()`."""
    values, _ = mechanism.sample_integers(theta, rng=rng, grid=1.0)
    return np.asarray(values, dtype=np.int64)
