from __future__ import annotations

import collections.abc
import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "LARGEST_SUMMED_ORDER",
    "MAX_EXACT_COUNT",
    "BestOrder",
    "Composition",
    "Conversion",
    "Law",
    "amplified_epsilon_upper",
    "atoms",
    "best_delta",
    "best_epsilon",
    "closed_form_delta_upper",
    "closed_form_epsilon_upper",
    "delta_upper",
    "epsilon_upper",
    "exact_delta_upper",
    "exact_epsilon_upper",
    "failure_upper",
    "first_decrease",
    "fixed_size_gaussian_rdp",
    "gaussian",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_sigma",
    "greatest_searched_order",
    "laplace",
    "lattice_epsilon",
    "lattice_log_delta",
    "least_searched_order",
    "poisson_subsampled_rdp",
    "rdp_lower",
    "sampled_direction",
    "sampled_gaussian",
    "sampled_gaussian_rdp",
    "sampled_vmf_max_divergence",
    "sampled_vmf_rdp",
    "sampled_without_replacement_rdp",
]

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
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Conversion) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
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
        upper: collections.abc.Sequence[tuple[Law, typing.SupportsFloat | typing.SupportsIndex]],
        lower: collections.abc.Sequence[tuple[Law, typing.SupportsFloat | typing.SupportsIndex]]
        | None = None,
        tilt: typing.SupportsFloat | typing.SupportsIndex = 1.0,
    ) -> None: ...
    def delta(
        self, epsilon: typing.SupportsFloat | typing.SupportsIndex
    ) -> tuple[float, float]: ...
    def deltas(
        self,
        epsilons: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        is_quick: bool = False,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
    def epsilon(
        self,
        delta: typing.SupportsFloat | typing.SupportsIndex,
        floor: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    ) -> tuple[float, float]: ...
    def tilt_at_delta(self, delta: typing.SupportsFloat | typing.SupportsIndex) -> float: ...
    def tilt_at_epsilon(self, epsilon: typing.SupportsFloat | typing.SupportsIndex) -> float: ...

def amplified_epsilon_upper(
    rate: numpy.ndarray, epsilon: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
) -> None: ...
def atoms(
    losses: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    masses: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    infinite_mass: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    is_log: bool = False,
) -> Law: ...
def best_delta(
    function: typing.Any,
    conversion: Conversion,
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
) -> BestOrder: ...
def best_epsilon(
    function: typing.Any, conversion: Conversion, delta: typing.SupportsFloat | typing.SupportsIndex
) -> BestOrder: ...
def closed_form_delta_upper(
    epsilon: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    delta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    count: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    total_epsilon: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def closed_form_epsilon_upper(
    epsilon: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    delta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    count: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    total_delta: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def delta_upper(
    conversion: Conversion,
    alpha: numpy.ndarray,
    rdp: numpy.ndarray,
    epsilon: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def epsilon_upper(
    conversion: Conversion,
    alpha: numpy.ndarray,
    rdp: numpy.ndarray,
    delta: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def exact_delta_upper(
    epsilon: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    delta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    count: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    total_epsilon: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def exact_epsilon_upper(
    epsilon: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    delta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    count: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    total_delta: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def failure_upper(
    epsilon: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    delta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    count: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
) -> float: ...
def first_decrease(
    alphas: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    values: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
) -> int: ...
def fixed_size_gaussian_rdp(
    noise_multipliers: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    sampling_rates: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    counts: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    alphas: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def gaussian(mu: typing.SupportsFloat | typing.SupportsIndex) -> Law: ...
def gaussian_delta(
    epsilon: numpy.ndarray, mu: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
) -> None: ...
def gaussian_epsilon(
    delta: numpy.ndarray, mu: numpy.ndarray, out: numpy.typing.NDArray[numpy.float64]
) -> None: ...
def gaussian_sigma(
    epsilon: numpy.ndarray,
    delta: numpy.ndarray,
    sensitivity: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def laplace(epsilon: typing.SupportsFloat | typing.SupportsIndex) -> Law: ...
def lattice_epsilon(
    mass: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    extra: typing.SupportsFloat | typing.SupportsIndex,
    beyond: typing.SupportsFloat | typing.SupportsIndex,
    first: typing.SupportsFloat | typing.SupportsIndex,
    spacing: typing.SupportsFloat | typing.SupportsIndex,
    tilt: typing.SupportsFloat | typing.SupportsIndex,
    log_scale: typing.SupportsFloat | typing.SupportsIndex,
    log_delta: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def lattice_log_delta(
    mass: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    extra: typing.SupportsFloat | typing.SupportsIndex,
    beyond: typing.SupportsFloat | typing.SupportsIndex,
    first: typing.SupportsFloat | typing.SupportsIndex,
    spacing: typing.SupportsFloat | typing.SupportsIndex,
    tilt: typing.SupportsFloat | typing.SupportsIndex,
    log_scale: typing.SupportsFloat | typing.SupportsIndex,
    epsilon: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def poisson_subsampled_rdp(
    integer_rdp: numpy.typing.NDArray[numpy.float64],
    max_divergence: typing.SupportsFloat | typing.SupportsIndex,
    rate: typing.SupportsFloat | typing.SupportsIndex,
    alphas: numpy.typing.NDArray[numpy.float64],
    rdp: numpy.typing.NDArray[numpy.float64],
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def rdp_lower(
    conversion: Conversion,
    alpha: numpy.ndarray,
    epsilon: numpy.ndarray,
    delta: numpy.ndarray,
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def sampled_direction(
    kappa: typing.SupportsFloat | typing.SupportsIndex,
    dim: typing.SupportsFloat | typing.SupportsIndex,
    half_chord: typing.SupportsFloat | typing.SupportsIndex,
    rate: typing.SupportsFloat | typing.SupportsIndex,
    direction: str,
) -> Law: ...
def sampled_gaussian(
    sigma: typing.SupportsFloat | typing.SupportsIndex,
    rate: typing.SupportsFloat | typing.SupportsIndex,
    direction: str,
) -> Law: ...
def sampled_gaussian_rdp(
    noise_multipliers: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    sampling_rates: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    counts: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    alphas: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def sampled_vmf_max_divergence(
    kappa: typing.SupportsFloat | typing.SupportsIndex,
    dim: typing.SupportsFloat | typing.SupportsIndex,
    half_chord: typing.SupportsFloat | typing.SupportsIndex,
    sampling_rate: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def sampled_vmf_rdp(
    kappas: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    dims: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    half_chords: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    sampling_rates: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    fixed_sizes: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    counts: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    alphas: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def sampled_without_replacement_rdp(
    integer_rdp: numpy.typing.NDArray[numpy.float64],
    max_divergence: typing.SupportsFloat | typing.SupportsIndex,
    rate: typing.SupportsFloat | typing.SupportsIndex,
    alphas: numpy.typing.NDArray[numpy.float64],
    rdp: numpy.typing.NDArray[numpy.float64],
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...

LARGEST_SUMMED_ORDER: int = 8192
MAX_EXACT_COUNT: float = 68719476736.0
greatest_searched_order: float = 1000000001.0
least_searched_order: float = 1.000000001
