from __future__ import annotations

import collections.abc
import typing

import numpy
import numpy.typing

Array: typing.TypeAlias = numpy.typing.NDArray[typing.Any]
Floats: typing.TypeAlias = numpy.typing.NDArray[numpy.float64]
FloatsLike: typing.TypeAlias = typing.Annotated[numpy.typing.ArrayLike, numpy.float64]

class Conversion:
    """
    Members:

      classic

      canonne

      closed_form

      optimal
    """

    __members__: typing.ClassVar[dict[str, Conversion]]
    canonne: typing.ClassVar[Conversion]
    classic: typing.ClassVar[Conversion]
    closed_form: typing.ClassVar[Conversion]
    optimal: typing.ClassVar[Conversion]
    @typing.overload
    def __eq__(self, other: Conversion) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Conversion) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class BestOrder:
    @property
    def alpha(self) -> float: ...
    @property
    def at_edge(self) -> bool: ...
    @property
    def value(self) -> float: ...

class Law:
    pass

class Composition:
    def __init__(
        self,
        upper: collections.abc.Sequence[tuple[Law, float]],
        lower: collections.abc.Sequence[tuple[Law, float]] | None = None,
        tilt: float = 1.0,
        most_work: float = ...,
    ) -> None: ...
    def delta(self, epsilon: float, floor: float = 0.0) -> tuple[float, float]: ...
    def deltas(self, epsilons: FloatsLike, is_quick: bool = False) -> tuple[Floats, Floats]: ...
    def epsilon(self, delta: float, floor: float = 0.0) -> tuple[float, float]: ...
    def tilt_at_delta(self, delta: float) -> float: ...
    def tilt_at_epsilon(self, epsilon: float) -> float: ...

def amplified_epsilon_upper(rate: Array, epsilon: Array, out: Floats) -> None: ...
def atoms(
    losses: FloatsLike, masses: FloatsLike, infinite_mass: float = 0.0, is_log: bool = False
) -> Law: ...
def best_delta(function: typing.Any, conversion: Conversion, epsilon: float) -> BestOrder: ...
def best_epsilon(function: typing.Any, conversion: Conversion, delta: float) -> BestOrder: ...
def closed_form_delta_upper(
    epsilon: FloatsLike, delta: FloatsLike, count: FloatsLike, total_epsilon: float
) -> float: ...
def closed_form_epsilon_upper(
    epsilon: FloatsLike, delta: FloatsLike, count: FloatsLike, total_delta: float
) -> float: ...
def delta_upper(
    conversion: Conversion, alpha: Array, rdp: Array, epsilon: Array, out: Floats
) -> None: ...
def epsilon_upper(
    conversion: Conversion, alpha: Array, rdp: Array, delta: Array, out: Floats
) -> None: ...
def exact_delta_upper(
    epsilon: FloatsLike, delta: FloatsLike, count: FloatsLike, total_epsilon: float
) -> float: ...
def exact_epsilon_upper(
    epsilon: FloatsLike, delta: FloatsLike, count: FloatsLike, total_delta: float
) -> float: ...
def failure_upper(epsilon: FloatsLike, delta: FloatsLike, count: FloatsLike) -> float: ...
def first_decrease(alphas: FloatsLike, values: FloatsLike) -> int: ...
def fixed_size_gaussian(sigma: float, rate: float) -> Law: ...
def fixed_size_gaussian_rdp(
    noise_multipliers: FloatsLike,
    sampling_rates: FloatsLike,
    counts: FloatsLike,
    alphas: FloatsLike,
    out: Floats,
) -> None: ...
def gaussian(mu: float) -> Law: ...
def gaussian_delta(epsilon: Array, mu: Array, out: Floats) -> None: ...
def gaussian_epsilon(delta: Array, mu: Array, out: Floats) -> None: ...
def gaussian_sigma(epsilon: Array, delta: Array, sensitivity: Array, out: Floats) -> None: ...
def grouped_gaussian(
    sigma: float, rate: float, ours: typing.SupportsIndex, theirs: typing.SupportsIndex
) -> Law: ...
def laplace(epsilon: float) -> Law: ...
def lattice_epsilon(
    mass: FloatsLike,
    extra: float,
    beyond: float,
    first: float,
    spacing: float,
    tilt: float,
    log_scale: float,
    log_delta: float,
) -> float: ...
def lattice_log_delta(
    mass: FloatsLike,
    extra: float,
    beyond: float,
    first: float,
    spacing: float,
    tilt: float,
    log_scale: float,
    epsilon: float,
) -> float: ...
def lattice_log_deltas(
    mass: FloatsLike,
    extra: float,
    beyond: float,
    first: float,
    spacing: float,
    tilt: float,
    log_scale: float,
    epsilons: FloatsLike,
) -> Floats: ...
def merged_product(
    losses: FloatsLike,
    masses: FloatsLike,
    others: FloatsLike,
    other_masses: FloatsLike,
    grid: FloatsLike,
) -> tuple[Floats, Floats]: ...
def poisson_subsampled_rdp(
    integer_rdp: Floats,
    max_divergence: float,
    rate: float,
    alphas: Floats,
    rdp: Floats,
    out: Floats,
) -> None: ...
def rdp_lower(
    conversion: Conversion, alpha: Array, epsilon: Array, delta: Array, out: Floats
) -> None: ...
def sampled_direction(
    kappa: float, dim: float, half_chord: float, rate: float, direction: str
) -> Law: ...
def sampled_gaussian(sigma: float, rate: float, direction: str) -> Law: ...
def sampled_gaussian_rdp(
    noise_multipliers: FloatsLike,
    sampling_rates: FloatsLike,
    counts: FloatsLike,
    alphas: FloatsLike,
    out: Floats,
) -> None: ...
def sampled_vmf_max_divergence(
    kappa: float, dim: float, half_chord: float, sampling_rate: float
) -> float: ...
def sampled_vmf_rdp(
    kappas: FloatsLike,
    dims: FloatsLike,
    half_chords: FloatsLike,
    sampling_rates: FloatsLike,
    fixed_sizes: FloatsLike,
    counts: FloatsLike,
    alphas: FloatsLike,
    out: Floats,
) -> None: ...
def sampled_without_replacement_rdp(
    integer_rdp: Floats,
    max_divergence: float,
    rate: float,
    alphas: Floats,
    rdp: Floats,
    out: Floats,
) -> None: ...
def split_product(
    losses: FloatsLike,
    masses: FloatsLike,
    others: FloatsLike,
    other_masses: FloatsLike,
    grid: FloatsLike,
) -> tuple[Floats, float, float]: ...

LARGEST_SUMMED_ORDER: int = 8192
MAX_EXACT_COUNT: float = 68719476736.0
greatest_searched_order: float = 1000000001.0
least_searched_order: float = 1.000000001
