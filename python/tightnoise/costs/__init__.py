"""What releases cost: `Cost`, its views, and conversions between kinds of guarantees."""

from tightnoise.costs._cost import By, Cost
from tightnoise.costs._explanation import Explanation
from tightnoise.costs._individual import IndividualCost, IndividualReport
from tightnoise.costs._instance import InstanceCost, InstanceLedger
from tightnoise.costs._leaf_sum import Adjacency, Sampling
from tightnoise.costs._privacy_loss import PrivacyLossDistribution
from tightnoise.costs._rdp_curve import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._zcdp import ZcdpRdp
from tightnoise.costs.conversions import budget_to_rdp, rdp_to_delta, rdp_to_epsilon

__all__ = [
    "DEFAULT_ORDERS",
    "Adjacency",
    "By",
    "Cost",
    "Explanation",
    "IndividualCost",
    "IndividualReport",
    "InstanceCost",
    "InstanceLedger",
    "PrivacyLossDistribution",
    "RdpCurve",
    "Sampling",
    "ZcdpRdp",
    "budget_to_rdp",
    "rdp_to_delta",
    "rdp_to_epsilon",
]
