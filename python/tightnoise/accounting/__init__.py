"""From many costs to one budget: subsampling, composition, and accountants."""

from tightnoise.accounting.accountant import RdpAccountant
from tightnoise.accounting.mechanism_costs import cost_of
from tightnoise.accounting.mechanism_losses import privacy_loss
from tightnoise.accounting.sampled_product import SampledProductRdp
from tightnoise.costs import ZcdpRdp
from tightnoise.costs._composition import (
    basic_composition,
    kairouz_oh_viswanath,
    kairouz_oh_viswanath_delta,
)
from tightnoise.costs._gaussian_profile import gaussian_delta, gaussian_epsilon
from tightnoise.costs._guarantees import PureRdp, gaussian_dp, pure, zcdp
from tightnoise.costs._privacy_loss import PrivacyLossDistribution
from tightnoise.costs._sampled_gaussian import (
    FixedSizeGaussianRdp,
    SampledGaussianRdp,
    sampled_gaussian,
)
from tightnoise.costs._sampled_von_mises_fisher import (
    SampledVonMisesFisherRdp,
    sampled_von_mises_fisher,
)
from tightnoise.costs._subsampling import (
    amplified,
    poisson_subsampled,
    sampled_without_replacement,
)

__all__ = [
    "FixedSizeGaussianRdp",
    "PrivacyLossDistribution",
    "PureRdp",
    "RdpAccountant",
    "SampledGaussianRdp",
    "SampledProductRdp",
    "SampledVonMisesFisherRdp",
    "ZcdpRdp",
    "amplified",
    "basic_composition",
    "cost_of",
    "gaussian_delta",
    "gaussian_dp",
    "gaussian_epsilon",
    "kairouz_oh_viswanath",
    "kairouz_oh_viswanath_delta",
    "poisson_subsampled",
    "privacy_loss",
    "pure",
    "sampled_gaussian",
    "sampled_von_mises_fisher",
    "sampled_without_replacement",
    "zcdp",
]
