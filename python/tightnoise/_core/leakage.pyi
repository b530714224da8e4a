from __future__ import annotations

import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "fisher_loss_bounds",
    "gaussian",
    "log_ball_capacity",
    "log_cap_capacity",
    "quantized",
    "rectified",
    "sign",
    "truncated",
]

def fisher_loss_bounds(
    information: numpy.typing.NDArray[numpy.float64],
    products: numpy.typing.NDArray[numpy.float64],
    norms: numpy.typing.NDArray[numpy.float64],
    likely: numpy.typing.NDArray[numpy.float64],
    residual: numpy.typing.NDArray[numpy.float64],
    forms: numpy.typing.NDArray[numpy.float64],
    squares: numpy.typing.NDArray[numpy.float64],
    lengths: numpy.typing.NDArray[numpy.float64],
    errors: numpy.typing.NDArray[numpy.float64],
    which: numpy.typing.NDArray[numpy.int64],
    is_clipped: bool,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def gaussian(
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    start: numpy.ndarray,
    end: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    n: typing.SupportsInt | typing.SupportsIndex,
) -> float: ...
def log_ball_capacity(
    dim: numpy.ndarray, reach: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
) -> None: ...
def log_cap_capacity(
    kappa: numpy.ndarray,
    dim: numpy.ndarray,
    half_angle: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def quantized(
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    start: numpy.ndarray,
    end: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    n: typing.SupportsInt | typing.SupportsIndex,
) -> float: ...
def rectified(
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    start: numpy.ndarray,
    end: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    n: typing.SupportsInt | typing.SupportsIndex,
) -> float: ...
def sign(
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    start: numpy.ndarray,
    end: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    n: typing.SupportsInt | typing.SupportsIndex,
) -> float: ...
def truncated(
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    start: numpy.ndarray,
    end: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    n: typing.SupportsInt | typing.SupportsIndex,
) -> float: ...
