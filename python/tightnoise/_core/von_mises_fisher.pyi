from __future__ import annotations

import typing

import numpy
import numpy.typing

__all__: list[str] = ["renyi_divergence", "renyi_sum"]

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
