from __future__ import annotations

import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "cdf",
    "fisher_information",
    "fisher_sum",
    "hockey_stick",
    "log_pdf",
    "mean",
    "quantile",
    "rdp_sums",
    "renyi",
    "variance",
]

def cdf(
    x: numpy.ndarray,
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def fisher_information(
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def fisher_sum(
    c: numpy.ndarray,
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    n: typing.SupportsInt | typing.SupportsIndex,
) -> float: ...
def hockey_stick(
    shift: numpy.ndarray,
    epsilon: numpy.ndarray,
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def log_pdf(
    x: numpy.ndarray,
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def mean(
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def quantile(
    q: numpy.ndarray,
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def rdp_sums(
    alphas: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    c: numpy.ndarray,
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    n: typing.SupportsInt | typing.SupportsIndex,
    forward: numpy.typing.NDArray[numpy.float64],
    backward: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def renyi(
    shift: numpy.ndarray,
    alpha: numpy.ndarray,
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def variance(
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
