from __future__ import annotations

import typing

import numpy
import numpy.typing

Array: typing.TypeAlias = numpy.typing.NDArray[typing.Any]
Floats: typing.TypeAlias = numpy.typing.NDArray[numpy.float64]

def fisher_loss_bounds(
    information: Floats,
    products: Floats,
    norms: Floats,
    likely: Floats,
    residual: Floats,
    forms: Floats,
    squares: Floats,
    lengths: Floats,
    errors: Floats,
    which: numpy.typing.NDArray[numpy.int64],
    is_clipped: bool,
    out: Floats,
) -> None: ...
def gaussian(
    sigma: Array,
    lower: Array,
    upper: Array,
    start: Array,
    end: Array,
    levels: typing.SupportsIndex,
    n: typing.SupportsIndex,
) -> float: ...
def log_ball_capacity(dim: Array, reach: Array, out: Floats) -> None: ...
def log_cap_capacity(kappa: Array, dim: Array, half_angle: Array, out: Floats) -> None: ...
def quantized(
    sigma: Array,
    lower: Array,
    upper: Array,
    start: Array,
    end: Array,
    levels: typing.SupportsIndex,
    n: typing.SupportsIndex,
) -> float: ...
def rectified(
    sigma: Array,
    lower: Array,
    upper: Array,
    start: Array,
    end: Array,
    levels: typing.SupportsIndex,
    n: typing.SupportsIndex,
) -> float: ...
def sign(
    sigma: Array,
    lower: Array,
    upper: Array,
    start: Array,
    end: Array,
    levels: typing.SupportsIndex,
    n: typing.SupportsIndex,
) -> float: ...
def truncated(
    sigma: Array,
    lower: Array,
    upper: Array,
    start: Array,
    end: Array,
    levels: typing.SupportsIndex,
    n: typing.SupportsIndex,
) -> float: ...
