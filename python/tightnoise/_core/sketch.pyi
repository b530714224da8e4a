from __future__ import annotations

import collections.abc
import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "ball_excesses",
    "ball_least",
    "ball_rates",
    "bin_moments",
    "bin_run",
    "bins",
    "bins_per_octave",
    "cells",
    "counts",
    "counts_per_octave",
    "excess",
    "moments",
    "sum_max",
]

def ball_excesses(
    steps: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    reach: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    bend: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    values: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    prices: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    excesses: numpy.typing.NDArray[numpy.float32],
) -> None: ...
def ball_least(
    prices: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    excesses: typing.Annotated[numpy.typing.ArrayLike, numpy.float32],
    counts: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    budget: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def ball_rates(
    steps: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    reach: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    bend: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    values: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    rates: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def cells(
    theta: numpy.ndarray,
    centre: typing.SupportsFloat | typing.SupportsIndex,
    cuts: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    unit: typing.SupportsFloat | typing.SupportsIndex,
) -> tuple[
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
]: ...
def excess(
    coefficients: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    centre: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    half: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    begin: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    end: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    cells: tuple[
        typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ],
    sums: numpy.typing.NDArray[numpy.float64],
    errors: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def moments(
    theta: numpy.ndarray,
    centre: typing.SupportsFloat | typing.SupportsIndex,
    half_width: typing.SupportsFloat | typing.SupportsIndex,
    bin_scale: typing.SupportsFloat | typing.SupportsIndex,
    count_scale: typing.SupportsFloat | typing.SupportsIndex,
    interval: numpy.typing.NDArray[numpy.float64],
    bins: numpy.typing.NDArray[numpy.float64],
    counts: numpy.typing.NDArray[numpy.float64],
) -> tuple[float, float, int, bool]: ...
def sum_max(
    values: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    tails: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
    known: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    roundings: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    whole: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    summing: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    deciding: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    value_error: typing.SupportsFloat | typing.SupportsIndex,
    sums: numpy.typing.NDArray[numpy.float64],
    errors: numpy.typing.NDArray[numpy.float64],
    closeness: numpy.typing.NDArray[numpy.float64],
) -> None: ...

bin_moments: int = 8
bin_run: int = 16384
bins: int = 1536
bins_per_octave: int = 128
counts: int = 769
counts_per_octave: int = 128
