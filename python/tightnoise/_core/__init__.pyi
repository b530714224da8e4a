"""
The compiled core of tightnoise. Private: use the Python API.
"""

from __future__ import annotations

import typing

import numpy
import numpy.typing

Array: typing.TypeAlias = numpy.typing.NDArray[typing.Any]
Floats: typing.TypeAlias = numpy.typing.NDArray[numpy.float64]
FloatsLike: typing.TypeAlias = typing.Annotated[numpy.typing.ArrayLike, numpy.float64]

class MechanismKernels:
    def cdf(
        self,
        x: Array,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        out: Floats,
    ) -> None: ...
    def fisher_information(
        self,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        out: Floats,
    ) -> None: ...
    def fisher_sum(
        self,
        c: Array,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        n: typing.SupportsIndex,
    ) -> float: ...
    def hockey_stick(
        self,
        shift: Array,
        epsilon: Array,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        out: Floats,
    ) -> None: ...
    def log_cdf(
        self,
        x: Array,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        out: Floats,
    ) -> None: ...
    def log_pdf(
        self,
        x: Array,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        out: Floats,
    ) -> None: ...
    def log_sf(
        self,
        x: Array,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        out: Floats,
    ) -> None: ...
    def mean(
        self,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        out: Floats,
    ) -> None: ...
    def quantile(
        self,
        q: Array,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        out: Floats,
    ) -> None: ...
    def rdp_sums(
        self,
        alphas: FloatsLike,
        c: Array,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        n: typing.SupportsIndex,
        forward: Floats,
        backward: Floats,
    ) -> None: ...
    def renyi(
        self,
        shift: Array,
        alpha: Array,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        out: Floats,
    ) -> None: ...
    def upper_quantile(
        self,
        q: Array,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        out: Floats,
    ) -> None: ...
    def variance(
        self,
        theta: Array,
        sigma: Array,
        lower: Array,
        upper: Array,
        levels: typing.SupportsIndex,
        out: Floats,
    ) -> None: ...

def end_long_work(end: bool) -> None: ...
def num_threads() -> int: ...
def set_num_threads(threads: typing.SupportsIndex) -> None: ...
def simd_level() -> str: ...

__version__: str
bounded_laplace: MechanismKernels
gaussian: MechanismKernels
quantized: MechanismKernels
rectified: MechanismKernels
sign: MechanismKernels
truncated: MechanismKernels
