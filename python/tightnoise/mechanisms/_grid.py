"""Grids: which points samples lie on, and what `grid` means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._validate import float_array, require_all, shown

Array = NDArray[np.float64]
GridLike = ArrayLike | str | None
"""What `grid` may be: "auto", a power of two (or an array of them), or None."""

# Of an automatic grid, noise has 64 to 128 steps: rounding adds 2e-5 to its variance.
_LOG2_STEPS = 6

# Steps that a float64 can count from 0 to its largest power, and back.
_LEAST, _MOST = 2.0**-960, 2.0**960
# Of the scale of the noise. At the finest, one float64 sample in 500 takes the slow way.
_FINEST, _COARSEST = 2.0**32, 2.0**-10


def automatic_steps(scale: ArrayLike, name: str) -> Array:
    """Return 2**(floor(log2(scale)) - 6), elementwise: at most scale/64."""
    _, exponent = np.frexp(np.asarray(scale, np.float64))
    steps = np.asarray(np.ldexp(1.0, np.clip(exponent - 1 - _LOG2_STEPS, -1000, 1000)))
    return _in_range(steps, np.asarray(scale), name)


def steps_of(
    grid: GridLike, scale: Array, name: str, automatic: Callable[[], Array]
) -> Array | None:
    """Return the grid's steps, or None for samples that lie on no grid.

    `scale` is that of the noise, called `name`; `automatic` returns the steps for "auto".
    """
    if grid is None:
        return None
    if isinstance(grid, str):
        if grid != "auto":
            raise ValueError(f"grid must be 'auto', a power of two or None; got {shown(grid)}")
        return automatic()
    steps = np.asarray(float_array("grid", grid), np.float64)
    mantissa, _ = np.frexp(steps)
    require_all((mantissa == 0.5), "grid", steps, "a power of two")
    with np.errstate(over="ignore"):
        ratio = np.asarray(scale / steps)
    allowed = f"from 2**-32 to 2**10 times {name}, here {_least(scale)}"
    good = (ratio >= _COARSEST) & (ratio <= _FINEST)
    require_all(good, "grid", np.broadcast_to(steps, ratio.shape), allowed)
    return _in_range(steps, scale, name)


def grid_of(mechanism: Any, grid: GridLike = "auto") -> Any:
    """Return the step of a mechanism's samples, a number if there is one for all.

    None if they lie on no grid, or if there are only a few fixed outputs.
    """
    if grid is None or not getattr(mechanism, "_has_grid", False):
        return None
    steps = mechanism._steps(grid)
    return steps if steps.ndim else float(steps)


def check_between(steps: Array, lower: Array, upper: Array) -> None:
    """Refuse steps that leave nothing between two bounds."""
    with np.errstate(over="ignore"):
        first, last = np.floor(lower / steps + 0.5), np.floor(upper / steps + 0.5)
    good = np.asarray(first < last)
    require_all(good, "grid", np.broadcast_to(steps, good.shape), "finer for these bounds")


def _in_range(steps: Array, scale: Array, name: str) -> Array:
    allowed = f"from 2**-960 to 2**960 ({name} is {_least(scale)}; None samples without a grid)"
    require_all((steps >= _LEAST) & (steps <= _MOST), "grid", steps, allowed)
    return steps


def _least(scale: Array) -> float:
    return float(np.min(scale)) if np.size(scale) else 1.0
