from __future__ import annotations

import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "gaussian",
    "log_ball_capacity",
    "log_cap_capacity",
    "quantized",
    "rectified",
    "sign",
    "truncated",
]

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
