from __future__ import annotations

import typing

import numpy
import numpy.typing

Floats: typing.TypeAlias = numpy.typing.NDArray[numpy.float64]
FloatsLike: typing.TypeAlias = typing.Annotated[numpy.typing.ArrayLike, numpy.float64]

class BoundedGaussian:
    """
    Members:

      rectified

      truncated

      sign

      quantized
    """

    __members__: typing.ClassVar[dict[str, BoundedGaussian]]
    quantized: typing.ClassVar[BoundedGaussian]
    rectified: typing.ClassVar[BoundedGaussian]
    sign: typing.ClassVar[BoundedGaussian]
    truncated: typing.ClassVar[BoundedGaussian]
    @typing.overload
    def __eq__(self, other: BoundedGaussian) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: BoundedGaussian) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

def erfcx_right_half_plane(x: complex | typing.SupportsComplex | float) -> complex: ...
def fisher_analytic_bound(
    kind: BoundedGaussian,
    half_width: float,
    levels: typing.SupportsIndex,
    t0: float,
    t1: float,
    terms: float,
) -> tuple[float, float]: ...
def renyi_analytic_bounds(
    kind: BoundedGaussian,
    half_width: float,
    levels: typing.SupportsIndex,
    shift: float,
    alphas: FloatsLike,
    t0: FloatsLike,
    t1: FloatsLike,
    terms: float,
    enough: FloatsLike,
    rho: Floats,
    bound: Floats,
) -> None: ...
