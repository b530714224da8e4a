from __future__ import annotations

import typing

import numpy
import numpy.typing

__all__: list[str] = ["epsilon", "hockey_stick", "renyi_divergence", "renyi_sum"]

def epsilon(
    kappa: typing.SupportsFloat | typing.SupportsIndex,
    dim: typing.SupportsFloat | typing.SupportsIndex,
    half_chord: numpy.ndarray,
    delta: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def hockey_stick(
    kappa: typing.SupportsFloat | typing.SupportsIndex,
    dim: typing.SupportsFloat | typing.SupportsIndex,
    half_chord: numpy.ndarray,
    epsilon: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def renyi_divergence(
    nu: numpy.ndarray,
    kappa: numpy.ndarray,
    half_chord: numpy.ndarray,
    half_cosine: numpy.ndarray,
    alpha: numpy.ndarray,
    out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
) -> None: ...
def renyi_sum(
    nu: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    kappa: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    half_chord: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    half_cosine: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    counts: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    alphas: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
) -> None: ...
