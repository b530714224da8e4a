from __future__ import annotations

import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "BoundedGaussian",
    "erfcx_right_half_plane",
    "fisher_analytic_bound",
    "renyi_analytic_bounds",
]

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
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: BoundedGaussian) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

def erfcx_right_half_plane(
    x: complex | typing.SupportsComplex | typing.SupportsFloat | typing.SupportsIndex,
) -> complex: ...
def fisher_analytic_bound(
    kind: BoundedGaussian,
    half_width: typing.SupportsFloat | typing.SupportsIndex,
    levels: typing.SupportsInt | typing.SupportsIndex,
    t0: typing.SupportsFloat | typing.SupportsIndex,
    t1: typing.SupportsFloat | typing.SupportsIndex,
    terms: typing.SupportsFloat | typing.SupportsIndex,
) -> tuple[float, float]: ...
def renyi_analytic_bounds(
    kind: BoundedGaussian,
    half_width: typing.SupportsFloat | typing.SupportsIndex,
    levels: typing.SupportsInt | typing.SupportsIndex,
    shift: typing.SupportsFloat | typing.SupportsIndex,
    alphas: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    t0: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    t1: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    terms: typing.SupportsFloat | typing.SupportsIndex,
    enough: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    rho: numpy.typing.NDArray[numpy.float64],
    bound: numpy.typing.NDArray[numpy.float64],
) -> None: ...
