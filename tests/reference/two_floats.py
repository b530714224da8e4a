"""Exact values as two floats, so that tables need no mpmath: the nearest float64, and the rest.

The rest is relative to the first, and rounded to single precision: together some 22 digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SMALLEST, SMALLEST_NORMAL = 2.0**-1074, 2.0**-1022


def split(exact: Any) -> tuple[float, float]:
    """Return the two floats of an mpf."""
    value = float(exact)
    rest = float((exact - value) / value) if value else 0.0
    return value, float(np.float32(rest))


def largest_error(
    y: np.ndarray,
    value: np.ndarray,
    rest: np.ndarray,
    scale: np.ndarray | None = None,
    *,
    units: float = 1.01,
) -> float:
    """Return the largest error of y relative to the value, or to `scale`.

    Where that is subnormal, an error of some units of the last place is not counted.
    """
    assert np.isfinite(y).all()
    scale = np.maximum(np.abs(value) if scale is None else scale, SMALLEST)
    free = np.where(scale < SMALLEST_NORMAL, units * (SMALLEST / scale), 0.0)
    error = np.abs((y - value) / scale - rest * (value / scale))  # y - value is exact
    return float(np.max(error - free))
