"""Argument checks. Every message names the argument, its value and what is allowed."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy import ma  # now: NumPy loads it when first used
from numpy.typing import NDArray

from tightnoise._core import special as core
from tightnoise._kinds import as_numpy, is_foreign

MAX_COUNT = 2**53  # counts up to this are exact as float64
_FLOAT64 = np.dtype(np.float64)

Item = TypeVar("Item")


def require(condition: bool, name: str, value: object, allowed: str) -> None:
    """Raise ValueError unless `condition` holds."""
    if not condition:
        raise ValueError(f"{name} must be {allowed}; got {shown(value)}")


def require_all(good: NDArray[np.bool_], name: str, array: NDArray[Any], allowed: str) -> None:
    """Raise ValueError naming the first element of `array` that is not `good`."""
    if not good.all():
        raise ValueError(f"{name} must be {allowed}; got {array[~good].flat[0]}")


def real_scalar(name: str, value: Any) -> float:
    """Return `value` as a finite float; refuse arrays, strings, booleans and complex numbers."""
    is_other = isinstance(value, (bool, np.bool_, str, bytes, complex, ma.MaskedArray))
    is_array = isinstance(value, np.ndarray) and value.ndim > 0  # older NumPy takes one element
    is_other = is_other or is_array
    if is_other or (isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "iufO"):
        raise TypeError(f"{name} must be a real number; got {shown(value)}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a real number; got {shown(value)}") from None
    except OverflowError:  # an integer of more than 308 digits
        number = math.inf
    require(math.isfinite(number), name, value, "finite")
    return number


def positive(name: str, value: object) -> float:
    """Return `value` as a finite float greater than zero."""
    number = real_scalar(name, value)
    require(number > 0, name, value, "greater than 0")
    return number


def not_negative(name: str, value: object) -> float:
    """Return `value` as a finite float of at least zero."""
    number = real_scalar(name, value)
    require(number >= 0, name, value, "at least 0")
    return number


def below_one(name: str, value: object) -> float:
    """Return `value` as a float of at least zero and below 1."""
    number = real_scalar(name, value)
    require(0 <= number < 1, name, value, "at least 0 and below 1")
    return number


def fraction(name: str, value: object) -> float:
    """Return `value` as a float greater than 0 and at most 1."""
    number = real_scalar(name, value)
    require(0 < number <= 1, name, value, "greater than 0 and at most 1")
    return number


def one_of(name: str, value: object, known: Mapping[str, Item]) -> Item:
    """Return what is called `value`; ValueError lists what is known."""
    if isinstance(value, str) and value in known:
        return known[value]
    names = ", ".join(map(repr, known))
    raise ValueError(f"{name} must be one of {names}; got {shown(value)}")


def integer(name: str, value: Any, *, minimum: int, maximum: int) -> int:
    """Return `value` as an int between `minimum` and `maximum`; a whole float such as 1e4 is one.

    Above 2**53 floats stand for several integers, and are refused.
    """
    if type(value) is int and minimum <= value <= maximum:
        return value  # most are
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be an integer; got {shown(value)}")
    is_float = isinstance(value, (float, np.floating)) and abs(float(value)) <= MAX_COUNT
    try:
        number = operator.index(int(value) if is_float and value.is_integer() else value)
    except TypeError:
        raise TypeError(f"{name} must be an integer; got {shown(value)}") from None
    require(minimum <= number <= maximum, name, value, f"between {minimum} and {maximum}")
    return number


def steps_in(sampling_rate: float, steps: object, epochs: object, *, minimum: int = 1) -> int:
    """Return a number of steps of training, or of those that epochs take, whichever is given."""
    if (steps is None) == (epochs is None):
        raise ValueError(
            f"steps must be given, or epochs, not both; got steps {steps!r} and epochs {epochs!r}"
        )
    if epochs is None:
        return integer("steps", steps, minimum=minimum, maximum=MAX_COUNT)
    # Of the decimals that are meant: 10 epochs at a rate of 0.1 are 100 steps.
    exact = Fraction(repr(positive("epochs", epochs))) / Fraction(repr(sampling_rate))
    return integer("epochs / sampling_rate", math.ceil(exact), minimum=1, maximum=MAX_COUNT)


def float_array(
    name: str, value: object, *, check_finite: bool = True, exact: bool = False
) -> NDArray[np.floating[Any]]:
    """Return `value` as a finite float32 or float64 array of any shape, contiguous and aligned.

    Integers become float64. Booleans, complex numbers, strings and objects are refused: a silent
    conversion could change what is released. NaN and infinities are refused by name and index,
    unless the caller does so in a pass of its own and says check_finite=False. With `exact`,
    integers that float64 would round are refused: neighbours could move apart.
    """
    array = plain_array(name, value)
    if array.dtype is _FLOAT64:
        pass
    elif array.dtype.kind in "iu":
        fits = not exact or array.size == 0 or max(-int(array.min()), int(array.max())) <= MAX_COUNT
        require(fits, name, value, "at most 2**53 in magnitude where it is an integer")
        array = array.astype(np.float64)
    elif array.dtype == np.float16:
        array = array.astype(np.float32)
    elif array.dtype.newbyteorder("=") not in (np.float32, np.float64):
        raise TypeError(
            f"{name} must hold float32, float64 or integer numbers; got dtype {array.dtype}"
        )
    native = array.dtype if array.dtype.isnative else array.dtype.newbyteorder("=")
    array = _plain_layout(array, native)
    if check_finite:
        require_finite(name, array)
    return array


def number_array(name: str, value: object) -> NDArray[np.float64]:
    """Return `value` as a float64 array that may hold infinities but no NaN."""
    array = plain_array(name, value)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise TypeError(f"{name} must hold real numbers; got dtype {array.dtype}")
    array = _plain_layout(array, _FLOAT64)
    if np.isnan(array).any():
        raise ValueError(f"{name} must be a number; got nan")
    return array


def require_finite(name: str, array: NDArray[np.floating[Any]]) -> None:
    """Raise ValueError naming the first NaN or infinity in `array`, if there is one."""
    if math.isfinite(core.magnitude(array)):
        return
    bad = np.flatnonzero(~np.isfinite(array))
    index = tuple(int(i) for i in np.unravel_index(int(bad[0]), array.shape))
    where = f" at index {index}" if array.ndim else ""
    raise ValueError(f"{name} must be finite; got {array[index]}{where} ({bad.size} in all)")


def plain_array(name: str, value: object) -> NDArray[Any]:
    """Return `value` as an array in memory, if it is all there and of one shape."""
    # NumPy would drop the mask, and release or count what the caller has hidden.
    if isinstance(value, ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array: pass the elements that count")
    if hasattr(value, "__dask_graph__"):  # NumPy would compute it, all of it at once
        raise TypeError(f"{name} must be in memory; got Dask's: see tightnoise.dask, or compute it")
    if is_foreign(value):
        return as_numpy(name, value)
    try:
        return np.asarray(value)
    except ValueError:  # lists of different lengths
        raise ValueError(f"{name} must be an array of one shape; got {shown(value)}") from None


def _plain_layout(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if array.dtype == dtype and array.flags.c_contiguous and array.flags.aligned:
        return array  # most are: np.require takes microseconds to find out
    return np.require(array, dtype=dtype, requirements=["C", "A"])


def shown(value: object) -> str:
    """Return what messages say of a value."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
