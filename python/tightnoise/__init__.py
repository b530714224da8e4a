"""tightnoise: differential privacy with less noise, and exactly what each release costs.

A mechanism turns a value into a noisy value; a mechanism and a value give a privacy cost; costs
compose into a budget.
"""

try:
    from tightnoise import _core
except ImportError as error:
    message = f"the compiled core of tightnoise could not be loaded: {error}"
    raise ImportError(
        f"{message} (from a source tree, install the package first: python3 -m pip install .)"
    ) from error

from tightnoise import (
    accounting,
    calibrate,
    compare,
    costs,
    leakage,
    mechanisms,
    random,
    special,
)
from tightnoise._accountant import Accountant
from tightnoise._release import BoundedRelease, release_bounded
from tightnoise._threads import num_threads, set_num_threads
from tightnoise.accounting import PrivacyLossDistribution, RdpAccountant
from tightnoise.calibrate import CalibrationError
from tightnoise.compare import best_noise, compare_bounded
from tightnoise.costs import (
    DEFAULT_ORDERS,
    Cost,
    Explanation,
    InstanceCost,
    InstanceLedger,
    RdpCurve,
    budget_to_rdp,
    rdp_to_delta,
    rdp_to_epsilon,
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
    RectifiedGaussian,
    Staircase,
    StochasticSign,
    TruncatedGaussian,
    TruncatedLaplace,
    Tulap,
    VonMisesFisher,
)
from tightnoise.sketch import Sketch
from tightnoise.sums import ExactSum, exact_sum, float_sum_sensitivity

__version__: str = _core.__version__

__all__ = [
    "DEFAULT_ORDERS",
    "Accountant",
    "BoundedLaplace",
    "BoundedRelease",
    "CalibrationError",
    "Cost",
    "ExactSum",
    "Explanation",
    "Gaussian",
    "GaussianScaleMixture",
    "InstanceCost",
    "InstanceLedger",
    "Laplace",
    "LiftedVonMisesFisher",
    "Mechanism",
    "MultiGaussianMixture",
    "PrivacyLossDistribution",
    "ProductVonMisesFisher",
    "QuantizedGaussian",
    "QuasiGaussianMixture",
    "RdpAccountant",
    "RdpCurve",
    "RectifiedGaussian",
    "Sketch",
    "Staircase",
    "StochasticSign",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "Tulap",
    "VonMisesFisher",
    "__version__",
    "accounting",
    "best_noise",
    "budget_to_rdp",
    "calibrate",
    "compare",
    "compare_bounded",
    "costs",
    "exact_sum",
    "float_sum_sensitivity",
    "leakage",
    "log_bayes_capacity",
    "mechanisms",
    "num_threads",
    "random",
    "rdp_to_delta",
    "rdp_to_epsilon",
    "release_bounded",
    "set_num_threads",
    "special",
]


def __dir__() -> list[str]:
    return __all__
