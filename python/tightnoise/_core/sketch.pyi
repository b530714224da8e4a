from __future__ import annotations

import collections.abc
import typing

import numpy
import numpy.typing

Array: typing.TypeAlias = numpy.typing.NDArray[typing.Any]
Floats: typing.TypeAlias = numpy.typing.NDArray[numpy.float64]
FloatsLike: typing.TypeAlias = typing.Annotated[numpy.typing.ArrayLike, numpy.float64]

def ball_excesses(
    steps: FloatsLike,
    reach: FloatsLike,
    bend: FloatsLike,
    values: FloatsLike,
    prices: FloatsLike,
    excesses: numpy.typing.NDArray[numpy.float32],
) -> None: ...
def ball_least(
    prices: FloatsLike,
    excesses: typing.Annotated[numpy.typing.ArrayLike, numpy.float32],
    counts: FloatsLike,
    budget: float,
) -> float: ...
def ball_rates(
    steps: FloatsLike, reach: FloatsLike, bend: FloatsLike, values: FloatsLike, rates: Floats
) -> None: ...
def cells(
    theta: Array, centre: float, cuts: FloatsLike, unit: float
) -> tuple[Floats, Floats, Floats, Floats]: ...
def excess(
    coefficients: FloatsLike,
    centre: FloatsLike,
    half: FloatsLike,
    begin: collections.abc.Sequence[typing.SupportsIndex],
    end: collections.abc.Sequence[typing.SupportsIndex],
    cells: tuple[FloatsLike, FloatsLike, FloatsLike, FloatsLike],
    sums: Floats,
    errors: Floats,
) -> None: ...
def moments(
    theta: Array,
    centre: float,
    half_width: float,
    bin_scale: float,
    count_scale: float,
    interval: Floats,
    bins: Floats,
    counts: Floats,
) -> tuple[float, float, int, bool]: ...
def sum_max(
    values: FloatsLike,
    tails: FloatsLike | None,
    known: FloatsLike,
    roundings: FloatsLike,
    whole: FloatsLike,
    summing: FloatsLike,
    deciding: FloatsLike,
    value_error: float,
    sums: Floats,
    errors: Floats,
    closeness: Floats,
) -> None: ...

bin_moments: int = 8
bin_run: int = 16384
bins: int = 1536
bins_per_octave: int = 128
counts: int = 769
counts_per_octave: int = 128
