"""What a release costs: Renyi-DP curves and their conversion to (epsilon, delta)."""

from tightnoise.costs._rdp_curve import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._zcdp import ZcdpRdp
from tightnoise.costs.conversions import budget_to_rdp, rdp_to_delta, rdp_to_epsilon

__all__ = [
    "DEFAULT_ORDERS",
    "RdpCurve",
    "ZcdpRdp",
    "budget_to_rdp",
    "rdp_to_delta",
    "rdp_to_epsilon",
]
