"""From user arguments to what the core takes: operands of one length, and an output array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._kinds import numpy_view

Floats = NDArray[np.floating[Any]]


def broadcast_shape(**arrays: Floats) -> tuple[int, ...]:
    """Return the common shape of the named arrays; ValueError names all shapes if there is none."""
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"shapes must broadcast together; got {shapes}") from None


def operand(array: Floats, shape: tuple[int, ...]) -> Floats:
    """Return `array` as the core takes it: one element, or contiguous and of the full shape."""
    if array.size == 1 or array.shape == shape:
        return array
    if array.size == math.prod(shape):  # only axes of length 1 differ
        return array.reshape(shape)
    return np.ascontiguousarray(np.broadcast_to(array, shape))


def elementwise(
    function: Callable[..., None], **arrays: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what `function` of the core makes of the named arrays, element by element."""
    if not any(array.ndim for array in arrays.values()):  # numbers: nothing to broadcast
        result = np.empty(())
        function(*arrays.values(), result)
        return result
    shape = broadcast_shape(**arrays)
    result = np.empty(shape)
    function(*(operand(array, shape) for array in arrays.values()), result)
    return result


def difference_upper(upper: Floats, lower: Floats) -> NDArray[np.float64]:
    """Return upper - lower rounded up, by Knuth's sum of two; inf where it is too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        difference = upper - lower
        part = difference + lower
        left_out = (upper - part) - (lower + (difference - part))
    return np.where(left_out > 0, np.nextafter(difference, math.inf), difference)


def number_or_array(array: NDArray[np.float64]) -> NDArray[np.float64] | float:
    """Return `array`, or its only element if the arguments were numbers."""
    return array if array.ndim else float(array)


def output(out: object, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Floats:
    """Return `out` after checking it, or a new array when it is None."""
    if out is None:
        return np.empty(shape, dtype)
    place: Floats = numpy_view("out", out)
    if place.shape != shape or place.dtype != dtype:
        raise ValueError(
            f"out must have shape {shape} and dtype {dtype}; got {place.shape} and {place.dtype}"
        )
    if not (place.flags.writeable and place.flags.c_contiguous and place.flags.aligned):
        raise ValueError("out must be writeable, aligned and C-contiguous")
    return place
