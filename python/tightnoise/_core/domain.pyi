from __future__ import annotations

import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "ball_epsilon",
    "ball_scale",
    "bounded_laplace_epsilon",
    "bounded_laplace_loss",
    "bounded_laplace_scale",
    "corner_epsilon",
    "corner_scale",
    "rectified_epsilon",
    "rectified_epsilon_at",
    "rectified_loss",
    "rectified_sigma",
    "rectified_sigma_at",
    "rectified_worst_delta",
    "theorem_loss",
    "truncated_epsilon",
    "truncated_epsilon_at",
    "truncated_loss",
    "truncated_sigma",
    "truncated_sigma_at",
    "truncated_theorem_sigma",
    "truncated_worst_delta",
]

def ball_epsilon(
    noise: str,
    width: numpy.typing.NDArray[numpy.float64],
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    scale: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def ball_scale(
    noise: str,
    width: numpy.typing.NDArray[numpy.float64],
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    epsilon: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
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
def bounded_laplace_loss(
    k: numpy.ndarray,
    w: numpy.ndarray,
    loss: numpy.typing.NDArray[numpy.float64],
    slope: numpy.typing.NDArray[numpy.float64],
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
def corner_epsilon(
    noise: str,
    width: numpy.typing.NDArray[numpy.float64],
    sensitivity: numpy.ndarray,
    scale: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def corner_scale(
    noise: str,
    width: numpy.typing.NDArray[numpy.float64],
    sensitivity: numpy.ndarray,
    epsilon: numpy.ndarray,
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
def rectified_epsilon_at(
    sigma: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    delta: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def rectified_epsilon_at(
    sigma: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    delta: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def rectified_loss(
    k: numpy.ndarray,
    w: numpy.ndarray,
    loss: numpy.typing.NDArray[numpy.float64],
    slope: numpy.typing.NDArray[numpy.float64],
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
def rectified_sigma_at(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    delta: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def rectified_sigma_at(
    epsilon: numpy.ndarray,
    delta: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
@typing.overload
def rectified_worst_delta(
    sigma: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def rectified_worst_delta(
    sigma: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    epsilon: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def theorem_loss(
    k: numpy.ndarray,
    w: numpy.ndarray,
    loss: numpy.typing.NDArray[numpy.float64],
    slope: numpy.typing.NDArray[numpy.float64],
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
def truncated_epsilon_at(
    sigma: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    delta: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def truncated_epsilon_at(
    sigma: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    delta: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def truncated_loss(
    k: numpy.ndarray,
    w: numpy.ndarray,
    loss: numpy.typing.NDArray[numpy.float64],
    slope: numpy.typing.NDArray[numpy.float64],
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
def truncated_sigma_at(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    delta: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def truncated_sigma_at(
    epsilon: numpy.ndarray,
    delta: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
@typing.overload
def truncated_theorem_sigma(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def truncated_theorem_sigma(
    epsilon: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
@typing.overload
def truncated_worst_delta(
    sigma: typing.SupportsFloat | typing.SupportsIndex,
    width: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
@typing.overload
def truncated_worst_delta(
    sigma: numpy.ndarray,
    width: numpy.ndarray,
    sensitivity: numpy.ndarray,
    epsilon: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
