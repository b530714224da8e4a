from __future__ import annotations

import typing

import numpy
import numpy.typing
import typing_extensions

__all__: list[str] = [
    "NoiseSource",
    "chacha20_keystream",
    "join_integers",
    "multi_gaussian_table",
    "normal_pairs",
    "numpy_capsule",
    "quasi_gaussian_table",
    "sample_bounded_laplace",
    "sample_gaussian",
    "sample_laplace",
    "sample_multi_gaussian",
    "sample_quantized_gaussian",
    "sample_quasi_gaussian",
    "sample_rectified_gaussian",
    "sample_scale_mixture",
    "sample_staircase",
    "sample_stochastic_sign",
    "sample_truncated_gaussian",
    "sample_truncated_laplace",
    "sample_tulap",
    "sample_von_mises_fisher",
    "scale_mixture_table",
    "set_refine_all",
    "split_integers",
    "standard_normal",
    "uniform",
]

class NoiseSource:
    @staticmethod
    def of_reserved(
        key: typing_extensions.Buffer, number: typing.SupportsInt | typing.SupportsIndex
    ) -> NoiseSource: ...
    @typing.overload
    def __init__(self) -> None: ...
    @typing.overload
    def __init__(
        self, key: typing_extensions.Buffer, drawn: typing.SupportsInt | typing.SupportsIndex = 0
    ) -> None: ...
    def reserve(self) -> NoiseSource: ...
    def reserved(self) -> tuple[bytes, int]: ...
    @property
    def is_seeded(self) -> bool: ...

def chacha20_keystream(
    key: typing_extensions.Buffer,
    stream: typing.SupportsInt | typing.SupportsIndex,
    first: typing.SupportsInt | typing.SupportsIndex,
    batches: typing.SupportsInt | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.uint32]: ...
def join_integers(
    n: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    unit: typing.SupportsFloat | typing.SupportsIndex,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    noise: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    out: numpy.ndarray,
) -> None: ...
def multi_gaussian_table(
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    modes: typing.SupportsInt | typing.SupportsIndex,
) -> tuple[
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint32],
    int,
]: ...
def normal_pairs(
    radius: numpy.ndarray,
    angle: numpy.ndarray,
    z1: numpy.ndarray,
    z2: numpy.ndarray,
    square: numpy.ndarray,
) -> None: ...
def numpy_capsule(source: typing.Any) -> typing_extensions.CapsuleType: ...
def quasi_gaussian_table(
    sigma: typing.SupportsFloat | typing.SupportsIndex,
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
) -> tuple[
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint32],
    int,
]: ...
def sample_bounded_laplace(
    theta: numpy.ndarray,
    scale: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_gaussian(
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_laplace(
    theta: numpy.ndarray,
    scale: typing.SupportsFloat | typing.SupportsIndex,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_multi_gaussian(
    theta: numpy.ndarray,
    sigma: typing.SupportsFloat | typing.SupportsIndex,
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    modes: typing.SupportsInt | typing.SupportsIndex,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_quantized_gaussian(
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    levels: typing.SupportsInt | typing.SupportsIndex,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_quasi_gaussian(
    theta: numpy.ndarray,
    sigma: typing.SupportsFloat | typing.SupportsIndex,
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_rectified_gaussian(
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_scale_mixture(
    theta: numpy.ndarray,
    locations: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    weights: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    sigmas: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_staircase(
    theta: numpy.ndarray,
    sensitivity: typing.SupportsFloat | typing.SupportsIndex,
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    gamma: typing.SupportsFloat | typing.SupportsIndex,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_stochastic_sign(
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_truncated_gaussian(
    theta: numpy.ndarray,
    sigma: numpy.ndarray,
    lower: numpy.ndarray,
    upper: numpy.ndarray,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_truncated_laplace(
    theta: numpy.ndarray,
    scale: typing.SupportsFloat | typing.SupportsIndex,
    bound: typing.SupportsFloat | typing.SupportsIndex,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_tulap(
    theta: numpy.ndarray,
    width: typing.SupportsFloat | typing.SupportsIndex,
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
    bound: typing.SupportsFloat | typing.SupportsIndex,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    low: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
) -> None: ...
def sample_von_mises_fisher(
    direction: numpy.ndarray,
    kappa: typing.SupportsFloat | typing.SupportsIndex,
    out: numpy.ndarray,
    source: NoiseSource,
    step: typing.SupportsFloat | typing.SupportsIndex = 0.0,
) -> None: ...
def scale_mixture_table(
    weights: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
) -> tuple[
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint32],
    int,
]: ...
def set_refine_all(on: bool) -> None: ...
def split_integers(
    n: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    unit: typing.SupportsFloat | typing.SupportsIndex,
    step: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    theta: numpy.typing.NDArray[numpy.float64],
    low: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def standard_normal(out: numpy.ndarray, source: NoiseSource) -> None: ...
def uniform(out: numpy.ndarray, source: NoiseSource) -> None: ...
