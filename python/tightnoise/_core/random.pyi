from __future__ import annotations

import typing

import numpy
import numpy.typing
import typing_extensions

Array: typing.TypeAlias = numpy.typing.NDArray[typing.Any]
Floats: typing.TypeAlias = numpy.typing.NDArray[numpy.float64]
FloatsLike: typing.TypeAlias = typing.Annotated[numpy.typing.ArrayLike, numpy.float64]

class NoiseSource:
    @staticmethod
    def of_reserved(key: typing_extensions.Buffer, number: typing.SupportsIndex) -> NoiseSource: ...
    @typing.overload
    def __init__(self) -> None: ...
    @typing.overload
    def __init__(self, key: typing_extensions.Buffer, drawn: typing.SupportsIndex = 0) -> None: ...
    def reserve(self) -> NoiseSource: ...
    def reserved(self) -> tuple[bytes, int]: ...
    @property
    def is_seeded(self) -> bool: ...

def chacha20_keystream(
    key: typing_extensions.Buffer,
    stream: typing.SupportsIndex,
    first: typing.SupportsIndex,
    batches: typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.uint32]: ...
def join_integers(
    n: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    unit: float,
    step: FloatsLike,
    noise: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    out: Array,
) -> None: ...
def multi_gaussian_table(
    epsilon: float, modes: typing.SupportsIndex
) -> tuple[
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint32],
    int,
]: ...
def normal_pairs(radius: Array, angle: Array, z1: Array, z2: Array, square: Array) -> None: ...
def numpy_capsule(source: typing.Any) -> typing_extensions.CapsuleType: ...
def quasi_gaussian_table(
    sigma: float, epsilon: float, sensitivity: float
) -> tuple[
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint32],
    int,
]: ...
def sample_bounded_laplace(
    theta: Array,
    scale: Array,
    lower: Array,
    upper: Array,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_gaussian(
    theta: Array,
    sigma: Array,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_laplace(
    theta: Array,
    scale: float,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_multi_gaussian(
    theta: Array,
    sigma: float,
    epsilon: float,
    sensitivity: float,
    modes: typing.SupportsIndex,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_quantized_gaussian(
    theta: Array,
    sigma: Array,
    lower: Array,
    upper: Array,
    levels: typing.SupportsIndex,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_quasi_gaussian(
    theta: Array,
    sigma: float,
    epsilon: float,
    sensitivity: float,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_rectified_gaussian(
    theta: Array,
    sigma: Array,
    lower: Array,
    upper: Array,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_scale_mixture(
    theta: Array,
    locations: FloatsLike,
    weights: FloatsLike,
    sigmas: FloatsLike,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_staircase(
    theta: Array,
    sensitivity: float,
    epsilon: float,
    gamma: float,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_stochastic_sign(
    theta: Array,
    sigma: Array,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_truncated_gaussian(
    theta: Array,
    sigma: Array,
    lower: Array,
    upper: Array,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_truncated_laplace(
    theta: Array,
    scale: float,
    bound: float,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_tulap(
    theta: Array,
    width: float,
    epsilon: float,
    bound: float,
    out: Array,
    source: NoiseSource,
    step: FloatsLike | None = None,
    low: FloatsLike | None = None,
    first: typing.SupportsIndex = 0,
) -> None: ...
def sample_von_mises_fisher(
    direction: Array, kappa: float, out: Array, source: NoiseSource, step: float = 0.0
) -> None: ...
def scale_mixture_table(
    weights: FloatsLike,
) -> tuple[
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint32],
    int,
]: ...
def set_refine_all(on: bool) -> None: ...
def split_integers(
    n: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    unit: float,
    step: FloatsLike,
    theta: Floats,
    low: Floats,
) -> None: ...
def standard_normal(out: Array, source: NoiseSource) -> None: ...
def uniform(out: Array, source: NoiseSource) -> None: ...
