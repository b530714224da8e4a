"""tightnoise: differential privacy with less noise, and exactly what each release costs.

A mechanism turns a value into a noisy value; a mechanism has a cost; costs compose into a budget.

Mechanisms (`Mechanism`)
    of one number: `Laplace`, `TruncatedLaplace`, `Staircase`, `Tulap`, `MultiGaussianMixture`,
    `QuasiGaussianMixture`, `GaussianScaleMixture`; of vectors: `Gaussian`, `RectifiedGaussian`,
    `TruncatedGaussian`, `QuantizedGaussian`, `StochasticSign`, `BoundedLaplace`; of directions:
    `VonMisesFisher`, `ProductVonMisesFisher`, `LiftedVonMisesFisher`.
Costs and budgets
    `Cost`, `Accountant`, `PrivacyFilter`, `IndividualFilter`, `PrivacyOdometer`, `BudgetError`,
    `InstanceCost`, `InstanceLedger`, `IndividualCost`, `RankOne`; `RdpCurve`, `DEFAULT_ORDERS`;
    more views of a cost, and conversions between guarantees, are in `costs`.
Everyday releases
    `release_count`, `release_sum`, `release_mean`, `release_histogram`, `release_quantile`,
    `release_median`, `release_vector`, each a `Release`; `Session`, a budget for them;
    `release_bounded`, `BoundedRelease`, of a value whose sensitivity is known.
From a budget to noise
    `calibrate`, `CalibrationError`, `best_noise`, `compare_bounded`.
Sums and large arrays
    `exact_sum`, `ExactSum`, `float_sum_sensitivity`, `Sketch`.
Training and attacks, and arrays that outgrow memory
    `torch` and `dask` (extras of these names) and `attack`, loaded when they are first used.
Underneath
    `leakage`, `log_bayes_capacity`, `random`, `special`, `num_threads`, `set_num_threads`.
"""

from importlib import import_module

try:
    from tightnoise._core import __version__
except ImportError as error:
    message = f"the compiled core of tightnoise could not be loaded: {error}"
    raise ImportError(
        f"{message} (from a source tree, install the package first: python3 -m pip install .)"
    ) from error

from tightnoise import calibrate, costs, leakage, random, special
from tightnoise._accountant import Accountant
from tightnoise._filter import PrivacyFilter
from tightnoise._hints import NAMES, missing
from tightnoise._individual_filter import IndividualFilter
from tightnoise._odometer import PrivacyOdometer
from tightnoise._spending import BudgetError
from tightnoise._threads import num_threads, set_num_threads
from tightnoise.calibrate import CalibrationError
from tightnoise.compare import best_noise, compare_bounded
from tightnoise.costs import (
    DEFAULT_ORDERS,
    Cost,
    IndividualCost,
    InstanceCost,
    InstanceLedger,
    RdpCurve,
)
from tightnoise.leakage import log_bayes_capacity
from tightnoise.mechanisms import (
    BoundedLaplace,
    Gaussian,
    GaussianScaleMixture,
    Laplace,
    LiftedVonMisesFisher,
    Mechanism,
    MultiGaussianMixture,
    ProductVonMisesFisher,
    QuantizedGaussian,
    QuasiGaussianMixture,
    RankOne,
    RectifiedGaussian,
    Staircase,
    StochasticSign,
    TruncatedGaussian,
    TruncatedLaplace,
    Tulap,
    VonMisesFisher,
)
from tightnoise.release import (
    BoundedRelease,
    Release,
    Session,
    release_bounded,
    release_count,
    release_histogram,
    release_mean,
    release_median,
    release_quantile,
    release_sum,
    release_vector,
)
from tightnoise.sketch import Sketch
from tightnoise.sums import ExactSum, exact_sum, float_sum_sensitivity

__all__ = [
    "DEFAULT_ORDERS",
    "Accountant",
    "BoundedLaplace",
    "BoundedRelease",
    "BudgetError",
    "CalibrationError",
    "Cost",
    "ExactSum",
    "Gaussian",
    "GaussianScaleMixture",
    "IndividualCost",
    "IndividualFilter",
    "InstanceCost",
    "InstanceLedger",
    "Laplace",
    "LiftedVonMisesFisher",
    "Mechanism",
    "MultiGaussianMixture",
    "PrivacyFilter",
    "PrivacyOdometer",
    "ProductVonMisesFisher",
    "QuantizedGaussian",
    "QuasiGaussianMixture",
    "RankOne",
    "RdpCurve",
    "RectifiedGaussian",
    "Release",
    "Session",
    "Sketch",
    "Staircase",
    "StochasticSign",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "Tulap",
    "VonMisesFisher",
    "__version__",
    "best_noise",
    "calibrate",
    "compare_bounded",
    "costs",
    "exact_sum",
    "float_sum_sensitivity",
    "leakage",
    "log_bayes_capacity",
    "num_threads",
    "random",
    "release_bounded",
    "release_count",
    "release_histogram",
    "release_mean",
    "release_median",
    "release_quantile",
    "release_sum",
    "release_vector",
    "set_num_threads",
    "special",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    if name in ("attack", "dask", "torch"):  # which take long to load, or need an extra
        return import_module(f"tightnoise.{name}")
    raise missing(__name__, name, NAMES)
