from __future__ import annotations

import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "bounded_laplace_epsilon",
    "bounded_laplace_scale",
    "rectified_epsilon",
    "rectified_sigma",
    "truncated_epsilon",
    "truncated_sigma",
    "truncated_sigma_of_theorem",
]

@typing.overload
def bounded_laplace_epsilon(
    scale: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def bounded_laplace_epsilon(
    scale: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
@typing.overload
def bounded_laplace_scale(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def bounded_laplace_scale(
    epsilon: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
@typing.overload
def rectified_epsilon(
    sigma: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def rectified_epsilon(
    sigma: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
@typing.overload
def rectified_sigma(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def rectified_sigma(
    epsilon: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
@typing.overload
def truncated_epsilon(
    sigma: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def truncated_epsilon(
    sigma: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
@typing.overload
def truncated_sigma(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def truncated_sigma(
    epsilon: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
@typing.overload
def truncated_sigma_of_theorem(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def truncated_sigma_of_theorem(
    epsilon: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
