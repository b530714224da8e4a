"""
The compiled core of tightnoise. Private: use the Python API.
"""

from __future__ import annotations

import typing

import numpy
import numpy.typing

from . import (
    additive,
    analytic_bound,
    cost,
    domain,
    leakage,
    random,
    sketch,
    special,
    von_mises_fisher,
)

__all__: list[str] = [
    "MechanismKernels",
    "additive",
    "analytic_bound",
    "bounded_laplace",
    "cost",
    "domain",
    "end_long_work",
    "gaussian",
    "leakage",
    "num_threads",
    "quantized",
    "random",
    "rectified",
    "set_num_threads",
    "sign",
    "simd_level",
    "sketch",
    "special",
    "truncated",
    "von_mises_fisher",
]

class MechanismKernels:
    def cdf(
        self,
        x: numpy.ndarray,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def fisher_information(
        self,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def fisher_sum(
        self,
        c: numpy.ndarray,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        n: typing.SupportsInt | typing.SupportsIndex,
    ) -> float: ...
    def hockey_stick(
        self,
        shift: numpy.ndarray,
        epsilon: numpy.ndarray,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def log_cdf(
        self,
        x: numpy.ndarray,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def log_pdf(
        self,
        x: numpy.ndarray,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def log_sf(
        self,
        x: numpy.ndarray,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def mean(
        self,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def quantile(
        self,
        q: numpy.ndarray,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def rdp_sums(
        self,
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
        self,
        shift: numpy.ndarray,
        alpha: numpy.ndarray,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def upper_quantile(
        self,
        q: numpy.ndarray,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def variance(
        self,
        theta: numpy.ndarray,
        sigma: numpy.ndarray,
        lower: numpy.ndarray,
        upper: numpy.ndarray,
        levels: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...

def end_long_work(end: bool) -> None: ...
def num_threads() -> int: ...
def set_num_threads(threads: typing.SupportsInt | typing.SupportsIndex) -> None: ...
def simd_level() -> str: ...

__version__: str
bounded_laplace: MechanismKernels
gaussian: MechanismKernels
quantized: MechanismKernels
rectified: MechanismKernels
sign: MechanismKernels
truncated: MechanismKernels
