from __future__ import annotations

import collections.abc
import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "Laplace",
    "MultiGaussian",
    "QuasiGaussian",
    "ScaleMixture",
    "Staircase",
    "laplace_renyi",
    "shift_epsilons",
]

class MultiGaussian:
    def __init__(
        self,
        sigma: typing.SupportsFloat | typing.SupportsIndex,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
        modes: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def cdf(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def certify_at_most(
        self,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
        delta: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[bool, float, float]: ...
    def delta(
        self,
        epsilon: numpy.ndarray,
        sensitivity: numpy.ndarray,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def epsilon_at(
        self,
        delta: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    ) -> float: ...
    def hockey_stick(
        self, shift: numpy.ndarray, epsilon: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
    ) -> None: ...
    def log_pdf(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def mean_abs(self) -> float: ...
    def quantile(self, q: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def variance(self) -> float: ...
    def worst_shift(
        self,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[float, float, str]: ...
    def worst_shift_curve(
        self,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
        epsilon: numpy.typing.NDArray[numpy.float64],
        tolerance: typing.SupportsFloat | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...

class QuasiGaussian:
    def __init__(
        self,
        sigma: typing.SupportsFloat | typing.SupportsIndex,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def cdf(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def certify_at_most(
        self,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
        delta: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[bool, float, float]: ...
    def delta(
        self,
        epsilon: numpy.ndarray,
        sensitivity: numpy.ndarray,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def epsilon_at(
        self,
        delta: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    ) -> float: ...
    def hockey_stick(
        self, shift: numpy.ndarray, epsilon: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
    ) -> None: ...
    def log_pdf(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def mean_abs(self) -> float: ...
    def quantile(self, q: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def variance(self) -> float: ...
    def worst_shift(
        self,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[float, float, str]: ...
    def worst_shift_curve(
        self,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
        epsilon: numpy.typing.NDArray[numpy.float64],
        tolerance: typing.SupportsFloat | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...

class ScaleMixture:
    def __init__(
        self,
        locations: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        weights: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        sigmas: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    ) -> None: ...
    def cdf(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def certify_at_most(
        self,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
        delta: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[bool, float, float]: ...
    def delta(
        self,
        epsilon: numpy.ndarray,
        sensitivity: numpy.ndarray,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def epsilon_at(
        self,
        delta: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    ) -> float: ...
    def hockey_stick(
        self, shift: numpy.ndarray, epsilon: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
    ) -> None: ...
    def log_pdf(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def mean_abs(self) -> float: ...
    def quantile(self, q: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def variance(self) -> float: ...
    def worst_shift(
        self,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[float, float, str]: ...
    def worst_shift_curve(
        self,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
        epsilon: numpy.typing.NDArray[numpy.float64],
        tolerance: typing.SupportsFloat | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...

class Laplace:
    def __init__(
        self,
        scale: typing.SupportsFloat | typing.SupportsIndex,
        bound: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def cdf(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def delta(
        self,
        epsilon: numpy.ndarray,
        sensitivity: numpy.ndarray,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def epsilon_at(
        self,
        delta: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    ) -> float: ...
    def hockey_stick(
        self, shift: numpy.ndarray, epsilon: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
    ) -> None: ...
    def log_pdf(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def mean_abs(self) -> float: ...
    def quantile(self, q: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def variance(self) -> float: ...
    def worst_shift(
        self,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[float, float, str]: ...
    def worst_shift_curve(
        self,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
        epsilon: numpy.typing.NDArray[numpy.float64],
        tolerance: typing.SupportsFloat | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...

class Staircase:
    def __init__(
        self,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        step: typing.SupportsFloat | typing.SupportsIndex,
        gamma: typing.SupportsFloat | typing.SupportsIndex,
        bound: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def cdf(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def delta(
        self,
        epsilon: numpy.ndarray,
        sensitivity: numpy.ndarray,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def epsilon_at(
        self,
        delta: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    ) -> float: ...
    def hockey_stick(
        self, shift: numpy.ndarray, epsilon: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
    ) -> None: ...
    def log_pdf(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def mean_abs(self) -> float: ...
    def quantile(self, q: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def variance(self) -> float: ...
    def worst_shift(
        self,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[float, float, str]: ...
    def worst_shift_curve(
        self,
        sensitivity: typing.SupportsFloat | typing.SupportsIndex,
        epsilon: numpy.typing.NDArray[numpy.float64],
        tolerance: typing.SupportsFloat | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...

def laplace_renyi(
    ratio: numpy.ndarray, alpha: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
) -> None: ...
def shift_epsilons(
    locations: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    weights: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    sigmas: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    shifts: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    delta: typing.SupportsFloat | typing.SupportsIndex,
    near: typing.SupportsFloat | typing.SupportsIndex,
    epsilon: numpy.typing.NDArray[numpy.float64],
    by_shift: numpy.typing.NDArray[numpy.float64],
    by_location: numpy.typing.NDArray[numpy.float64],
    by_log_weight: numpy.typing.NDArray[numpy.float64],
    by_log_sigma: numpy.typing.NDArray[numpy.float64],
) -> None: ...
