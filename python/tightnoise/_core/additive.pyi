from __future__ import annotations

import collections.abc
import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "Laplace",
    "Loss",
    "MultiGaussian",
    "MultiGaussianChoice",
    "QuasiGaussian",
    "ScaleMixture",
    "Staircase",
    "best_multi_gaussian",
    "laplace_renyi",
    "multi_gaussian_sigma",
    "quasi_gaussian_sigma",
    "quasi_gaussian_sigma_of_paper",
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
    def log_tail(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def mass(
        self, lower: numpy.ndarray, upper: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
    ) -> None: ...
    def mean_abs(self) -> float: ...
    def quantile(self, q: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def shift_divergence(
        self,
        shift: typing.SupportsFloat | typing.SupportsIndex,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[float, float, float]: ...
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
    def log_tail(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def mass(
        self, lower: numpy.ndarray, upper: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
    ) -> None: ...
    def mean_abs(self) -> float: ...
    def quantile(self, q: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def shift_divergence(
        self,
        shift: typing.SupportsFloat | typing.SupportsIndex,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[float, float, float]: ...
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
    def log_tail(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def mass(
        self, lower: numpy.ndarray, upper: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
    ) -> None: ...
    def mean_abs(self) -> float: ...
    def quantile(self, q: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def shift_divergence(
        self,
        shift: typing.SupportsFloat | typing.SupportsIndex,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[float, float, float]: ...
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
    def log_tail(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def mass(
        self, lower: numpy.ndarray, upper: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
    ) -> None: ...
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
    def log_tail(self, x: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def mass(
        self, lower: numpy.ndarray, upper: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
    ) -> None: ...
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

class Loss:
    """
    Members:

      l1

      l2
    """

    __members__: typing.ClassVar[dict[str, Loss]]
    l1: typing.ClassVar[Loss]
    l2: typing.ClassVar[Loss]
    @typing.overload
    def __eq__(self, other: Loss) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Loss) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class MultiGaussianChoice:
    @property
    def modes(self) -> float: ...
    @property
    def sigma(self) -> float: ...

def best_multi_gaussian(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    delta: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    loss: Loss,
) -> MultiGaussianChoice: ...
def laplace_renyi(
    ratio: numpy.ndarray, alpha: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
) -> None: ...
def multi_gaussian_sigma(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    delta: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    modes: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def quasi_gaussian_sigma(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    delta: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def quasi_gaussian_sigma_of_paper(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    delta: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
