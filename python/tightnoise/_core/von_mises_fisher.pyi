from __future__ import annotations

import typing

import numpy
import numpy.typing

Array: typing.TypeAlias = numpy.typing.NDArray[typing.Any]
Floats: typing.TypeAlias = numpy.typing.NDArray[numpy.float64]
FloatsLike: typing.TypeAlias = typing.Annotated[numpy.typing.ArrayLike, numpy.float64]

def epsilon(kappa: float, dim: float, half_chord: Array, delta: Array, out: Floats) -> None: ...
def hockey_stick(
    kappa: float, dim: float, half_chord: Array, epsilon: Array, out: Floats
) -> None: ...
def renyi_divergence(
    nu: Array, kappa: Array, half_chord: Array, half_cosine: Array, alpha: Array, out: FloatsLike
) -> None: ...
def renyi_sum(
    nu: FloatsLike,
    kappa: FloatsLike,
    half_chord: FloatsLike,
    half_cosine: FloatsLike,
    counts: FloatsLike,
    alphas: FloatsLike,
    out: FloatsLike,
) -> None: ...
