"""The range of a true value, and how far one record can move it."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._arrays import difference_upper
from tightnoise._validate import number_array, positive, require, require_all

Array = NDArray[np.float64]

_LEAST_SHARE = 1e-100  # of the sensitivity in the width


@dataclass(frozen=True)
class Domain:
    """A checked domain: an interval, or a box, one coordinate after another.

    `lower` and `upper` are as given, `width` is that of each side, rounded up, and `change` the
    sensitivity: a number of shape (), or of a box one for each coordinate.
    """

    lower: float | Array
    upper: float | Array
    width: Array
    change: Array
    sensitivities: dict[str, Any]
    """As `cost` takes them."""

    @property
    def is_box(self) -> bool:
        """Whether there are coordinates."""
        return self.width.ndim > 0

    @property
    def is_ball(self) -> bool:
        """Whether it is a box, and the changes of its coordinates have an L2 norm in common."""
        return self.is_box and self.change.ndim == 0


def domain_of(
    lower: object, upper: object, sensitivity: object, coordinate_sensitivity: object
) -> Domain:
    """Return the domain after checking its parts."""
    if (sensitivity is None) == (coordinate_sensitivity is None):
        raise TypeError(
            "sensitivity or coordinate_sensitivity must be given, not both; got "
            f"{sensitivity!r} and {coordinate_sensitivity!r}"
        )
    low, high = _coordinates("lower", lower), _coordinates("upper", upper)
    if sensitivity is not None:
        change = np.array(positive("sensitivity", sensitivity))
        given: dict[str, Any] = {"sensitivity": float(change)}
    else:
        change = _coordinates("coordinate_sensitivity", coordinate_sensitivity)
        good = change > 0
        require_all(good, "coordinate_sensitivity", change, "greater than 0")
        given = {"coordinate_sensitivity": change if change.ndim else float(change)}
    shapes = {array.shape for array in (low, high, change) if array.ndim}
    if len(shapes) > 1:
        raise ValueError(
            "lower, upper and coordinate_sensitivity must be numbers or of one shape; got shapes "
            f"{low.shape}, {high.shape} and {change.shape}"
        )
    below = low < high
    if not below.all():
        first = np.unravel_index(int(np.argmin(below)), below.shape)
        sides = (np.broadcast_to(side, below.shape)[first] for side in (low, high))
        raise ValueError("lower must be less than upper; got lower {} and upper {}".format(*sides))
    shape = next(iter(shapes), ())
    width = np.array(np.broadcast_to(difference_upper(high, low), shape))
    _require_range(float(width.max()), float(change.min()))
    return Domain(_plain(low), _plain(high), width.reshape(-1) if shape else width,
                  change.reshape(-1) if change.ndim else change, given)  # fmt: skip


def _coordinates(name: str, value: object) -> Array:
    array = number_array(name, value)
    require(array.size > 0, name, value, "a number, or an array of at least one")
    require_all(np.isfinite(array), name, array, "finite")
    return array


def _plain(array: Array) -> float | Array:
    return array if array.ndim else float(array)


def _require_range(width: float, change: float) -> None:
    if not width < math.inf:
        raise ValueError(f"upper - lower must be at most {sys.float_info.max:g}; got more")
    if not change >= _LEAST_SHARE * width:
        raise ValueError(
            f"sensitivity must be at least {_LEAST_SHARE:g} of upper - lower; got {change} of "
            f"{width}"
        )
