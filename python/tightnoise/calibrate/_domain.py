"""Noise within a bounded domain: what is asked, and which function of the core answers.

A domain is an interval (lower and upper are numbers) or a box (at least one of lower, upper and
sensitivity is a 1-D array), on all coordinates of which the noise has the same scale.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise import _core
from tightnoise._validate import number_array, positive, real_scalar, require, require_all
from tightnoise.calibrate._error import CalibrationError

__all__ = [
    "BOUNDED_LAPLACE",
    "RECTIFIED",
    "TRUNCATED",
    "TRUNCATED_THEOREM",
    "Domain",
    "Family",
    "Floats",
    "domain",
    "epsilon_of",
    "failure_probability",
    "losses",
    "normal_scale",
    "scale_of",
]

Floats = NDArray[np.float64]

# What every search is made for; nobody needs more, and nothing overflows within.
_LEAST_EPSILON, _GREATEST_EPSILON = 1e-100, 1e100
# Of a ball within a box: beyond, slopes change within the spacing of floats, and searches fail.
_GREATEST_EPSILON_IN_BALL = 1e10
_LEAST_SHARE = 1e-100  # of the sensitivity in the width


class Domain(NamedTuple):
    """A checked domain: the width of each side, rounded up, and the sensitivity.

    Of an interval both are numbers. Of a box the widths are an array, and the sensitivity is a
    number if it is of the L2 norm, or an array of those of the coordinates.
    """

    width: float | Floats
    sensitivity: float | Floats

    @property
    def is_box(self) -> bool:
        """Whether there are coordinates."""
        return isinstance(self.width, np.ndarray)

    @property
    def is_ball(self) -> bool:
        """Whether it is a box, and the changes of its coordinates have an L2 norm in common."""
        return self.is_box and isinstance(self.sensitivity, float)


class Family(NamedTuple):
    """The functions of the core for one kind of noise in an interval, and its name for boxes."""

    name: str
    parameter: str
    scale: Callable[..., Any]  # of numbers or arrays, for delta = 0
    epsilon: Callable[..., Any]


TRUNCATED = Family(
    "truncated", "sigma", _core.domain.truncated_sigma, _core.domain.truncated_epsilon
)
TRUNCATED_THEOREM = TRUNCATED._replace(
    name="truncated_theorem", scale=_core.domain.truncated_theorem_sigma
)
RECTIFIED = Family(
    "rectified", "sigma", _core.domain.rectified_sigma, _core.domain.rectified_epsilon
)
BOUNDED_LAPLACE = Family(
    "bounded_laplace",
    "scale",
    _core.domain.bounded_laplace_scale,
    _core.domain.bounded_laplace_epsilon,
)

# In an interval for delta > 0.
_SCALE_AT = {
    "truncated": _core.domain.truncated_sigma_at,
    "rectified": _core.domain.rectified_sigma_at,
}
_EPSILON_AT = {
    "truncated": _core.domain.truncated_epsilon_at,
    "rectified": _core.domain.rectified_epsilon_at,
}


def domain(lower: Any, upper: Any, sensitivity: Any) -> Domain:
    """Return the domain after checking its parts."""
    if _is_number(lower) and _is_number(upper) and _is_number(sensitivity):
        return _interval(
            real_scalar("lower", lower),
            real_scalar("upper", upper),
            positive("sensitivity", sensitivity),
        )
    low, high = _coordinates("lower", lower), _coordinates("upper", upper)
    shift = _coordinates("sensitivity", sensitivity)
    require_all(shift > 0, "sensitivity", shift, "greater than 0")
    lengths = {array.shape for array in (low, high, shift) if array.ndim}
    if len(lengths) > 1:
        raise ValueError(
            "lower, upper and sensitivity must be numbers or of one length; got shapes "
            f"{low.shape}, {high.shape} and {shift.shape}"
        )
    (shape,) = lengths
    return _box(np.broadcast_to(low, shape), np.broadcast_to(high, shape), shift)


def _interval(lower: float, upper: float, sensitivity: float) -> Domain:
    _require_order(lower < upper, lower, upper)
    width = upper - lower
    if _left_out(lower, upper, width) > 0:
        width = math.nextafter(width, math.inf)
    _require_range(width, sensitivity)
    return Domain(width, sensitivity)


def _box(lower: Floats, upper: Floats, sensitivity: Floats) -> Domain:
    below = lower < upper
    first = np.argmin(below)
    _require_order(bool(below[first]), lower[first], upper[first])
    with np.errstate(over="ignore", invalid="ignore"):
        width = upper - lower
        exceeds = _left_out(lower, upper, width) > 0
    width = np.where(exceeds, np.nextafter(width, math.inf), width)
    _require_range(float(width.max()), float(sensitivity.min()))
    return Domain(width, sensitivity if sensitivity.ndim else float(sensitivity))


def _require_order(is_right: bool, lower: float, upper: float) -> None:
    if not is_right:
        raise ValueError(f"lower must be less than upper; got lower {lower} and upper {upper}")


def _left_out(lower: Any, upper: Any, width: Any) -> Any:
    """Return upper - lower - width, width their rounded difference, by Knuth's sum of two.

    Widths are rounded up: a wider domain has a greater loss.
    """
    part = width + lower
    return (upper - part) - (lower + (width - part))


def _require_range(width: float, sensitivity: float) -> None:
    if not width < math.inf:
        raise ValueError(f"upper - lower must be at most {sys.float_info.max:g}; got more")
    if not sensitivity >= _LEAST_SHARE * width:
        raise ValueError(
            f"sensitivity must be at least {_LEAST_SHARE:g} of upper - lower; got {sensitivity} "
            f"of {width}"
        )


def _is_number(value: Any) -> bool:
    if isinstance(value, (float, int, str, bytes)) or not hasattr(value, "__len__"):
        return True  # or no array either: the check for numbers says so
    return isinstance(value, np.ndarray) and value.ndim == 0


def _coordinates(name: str, value: Any) -> Floats:
    array = number_array(name, value)
    if array.ndim > 1 or not array.size:
        raise ValueError(
            f"{name} must be a number or a 1-D array of at least one; got shape {array.shape}"
        )
    require_all(np.isfinite(array), name, array, "finite")
    return array


def failure_probability(delta: Any, where: Domain) -> float:
    """Return delta after checking it; only an interval can have one greater than 0."""
    number = real_scalar("delta", delta)
    require(0 <= number < 1, "delta", delta, "at least 0 and below 1")
    if number > 0 and where.is_box:
        raise ValueError(
            "delta must be 0 for a box: with delta > 0 only one dimension is calibrated. Calibrate "
            "for delta = 0, which is private for every delta, or split epsilon and delta among the "
            f"coordinates and calibrate each as an interval; got {delta!r}"
        )
    return abs(number)


def losses(epsilon: Any, where: Domain, delta: float) -> float | Floats:
    """Return epsilon, a number or an array, after checking it."""
    greatest = _GREATEST_EPSILON_IN_BALL if where.is_ball else _GREATEST_EPSILON
    allowed = f"between {_LEAST_EPSILON:g} and {greatest:g}"
    if delta > 0:
        allowed = f"0, or {allowed}"

    def good(values: Any) -> Any:
        inside = (values >= _LEAST_EPSILON) & (values <= greatest)
        return inside | (values == 0) if delta > 0 else inside

    return _checked("epsilon", epsilon, good, allowed)


def _checked(name: str, value: Any, good: Callable[[Any], Any], allowed: str) -> float | Floats:
    if _is_number(value):
        number = real_scalar(name, value)
        require(good(number), name, value, allowed)
        return number
    array = number_array(name, value)
    require_all(good(array), name, array, allowed)
    return array


def scale_of(family: Family, epsilon: Any, where: Domain, delta: float) -> float | Floats:
    """Return the smallest scale for epsilon, rounded up."""
    wanted = losses(epsilon, where, delta)
    if where.is_box:
        scale = _in_box(_core.domain.ball_scale, _core.domain.corner_scale, family, wanted, where)
    elif delta > 0:
        scale = _elementwise(_SCALE_AT[family.name], wanted, delta, where.width, where.sensitivity)
    else:
        scale = _elementwise(family.scale, wanted, where.width, where.sensitivity)
    return normal_scale(scale, family.parameter)


def epsilon_of(family: Family, scale: Any, where: Domain, delta: float) -> float | Floats:
    """Return epsilon at the scale, rounded up."""
    scales = _checked(
        family.parameter,
        scale,
        lambda values: (values > 0) & (values < math.inf),
        "greater than 0 and finite",
    )
    if where.is_box:
        return _in_box(
            _core.domain.ball_epsilon, _core.domain.corner_epsilon, family, scales, where
        )
    if delta > 0:
        return _elementwise(_EPSILON_AT[family.name], scales, where.width, where.sensitivity, delta)
    return _elementwise(family.epsilon, scales, where.width, where.sensitivity)


def _elementwise(
    function: Callable[..., Any], values: float | Floats, *parameters: float | Floats
) -> float | Floats:
    if isinstance(values, float):
        return float(function(values, *parameters))
    result = np.empty(values.shape)
    function(values, *map(np.array, parameters), result)
    return result


def _in_box(
    ball: Callable[..., None],
    corner: Callable[..., None],
    family: Family,
    values: float | Floats,
    where: Domain,
) -> float | Floats:
    """Return the values of the function for an L2 sensitivity, or of the one for an array."""
    function = ball if where.is_ball else corner
    widths = np.ascontiguousarray(where.width)
    result = np.empty(np.shape(values))
    function(family.name, widths, where.sensitivity, np.ascontiguousarray(values), result)
    return float(result) if isinstance(values, float) else result


def normal_scale(scale: float | Floats, parameter: str) -> float | Floats:
    """Return the scales; CalibrationError unless all are normal numbers."""
    least = greatest = scale
    if isinstance(scale, np.ndarray):
        if not scale.size:
            return scale
        least, greatest = scale.min(), scale.max()
    if least < sys.float_info.min or not greatest < math.inf:
        wrong = greatest if least >= sys.float_info.min else least
        raise CalibrationError(
            f"no {parameter} between 2.3e-308 and 1.8e308 is right: epsilon and the domain ask for "
            f"{wrong:g}"
        )
    return scale
