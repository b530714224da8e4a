from __future__ import annotations

import collections.abc
import typing

import numpy
import numpy.typing

__all__: list[str] = ["Composition", "Law", "atoms", "gaussian", "laplace", "sampled_gaussian"]

class Law:
    pass

class Composition:
    def __init__(
        self,
        upper: collections.abc.Sequence[tuple[Law, typing.SupportsFloat | typing.SupportsIndex]],
        lower: collections.abc.Sequence[tuple[Law, typing.SupportsFloat | typing.SupportsIndex]]
        | None = None,
    ) -> None: ...
    def delta(
        self, epsilon: typing.SupportsFloat | typing.SupportsIndex
    ) -> tuple[float, float]: ...
    def epsilon(
        self, delta: typing.SupportsFloat | typing.SupportsIndex
    ) -> tuple[float, float]: ...

def atoms(
    losses: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    masses: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    infinite_mass: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    is_log: bool = False,
) -> Law: ...
def gaussian(mu: typing.SupportsFloat | typing.SupportsIndex) -> Law: ...
def laplace(epsilon: typing.SupportsFloat | typing.SupportsIndex) -> Law: ...
def sampled_gaussian(
    sigma: typing.SupportsFloat | typing.SupportsIndex,
    rate: typing.SupportsFloat | typing.SupportsIndex,
    direction: str,
) -> Law: ...
