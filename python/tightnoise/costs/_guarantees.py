"""The Renyi-DP curves of releases of which only a guarantee is known: pure DP, and zCDP."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import fraction, not_negative
from tightnoise.costs._rdp_curve import RdpCurve
from tightnoise.costs._sampled_gaussian import sampled_gaussian
from tightnoise.costs._sampling import adjacency_of
from tightnoise.costs._zcdp import ZcdpRdp

__all__ = ["PureRdp", "ZcdpRdp", "gaussian_dp", "pure", "zcdp"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PureRdp:
    """The function alpha -> the greatest Renyi divergence of an epsilon-DP release; see `pure`.

    Parameters
    ----------
    epsilon : float
        At least 0.

    Raises
    ------
    ValueError, TypeError
        If epsilon is not a finite number of at least 0.

    Examples
    --------
    >>> from tightnoise.accounting import PureRdp
    >>> PureRdp(1.0)([1.5, 2.0, 100.0, float("inf")]).round(6)
    array([0.627333, 0.735326, 0.996836, 1.      ])
    """

    # With x = (alpha - 1/2) e and y = e/2 the formula in `pure` is
    #     D = log(cosh x/cosh y)/(alpha - 1)
    #       = log(1 + 2 sinh(alpha e/2) sinh((alpha - 1) e/2)/cosh(e/2))/(alpha - 1),
    # where nothing cancels, next to alpha = 1 or e = 0 neither. Where sinh would overflow,
    #     D = e - [log(1 + exp(-e)) - log(1 + exp(-(2 alpha - 1) e))]/(alpha - 1),
    # of which e is much the larger part (alpha e >= 500: the other is at most e/500).
    #
    # Card: epsilon from 0 to 1e300, alpha > 1, inf too: in [truth, truth (1 + 1e-14)] down to
    # 1e-300, never above epsilon.

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", not_negative("epsilon", self.epsilon))

    def __call__(self, orders: Any) -> Array:
        """Return the bounds at `orders`, greater than 1."""
        alpha = np.asarray(orders, dtype=np.float64)
        e = self.epsilon
        if e == 0:
            return np.zeros_like(alpha)
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            large = alpha * e >= 500
            a = np.where(large, 2.0, alpha)
            half = min(0.5 * e, 250.0)  # alpha e < 500
            product = 2 * np.sinh(a * half) * (np.sinh((a - 1) * half) / math.cosh(half))
            small = np.log1p(product) / (a - 1)
            rest = (np.log1p(np.exp(-e)) - np.log1p(np.exp((1 - 2 * alpha) * e))) / (alpha - 1)
        value = np.where(large, e - np.maximum(rest, 0.0), small)
        upper: Array = np.minimum(np.nextafter(value * (1 + 2**-48), np.inf), e)
        return upper

    @property
    def max_divergence(self) -> float:
        """The bound at infinite order: epsilon."""
        return self.epsilon


def zcdp(rho: float) -> RdpCurve:
    """Return the cost of a release that is rho-zCDP: rho alpha at every order alpha.

    Bun and Steinke 2016, "Concentrated Differential Privacy: Simplifications, Extensions, and Lower
    Bounds", Definition 1.1. A Gaussian of noise sigma times the sensitivity has rho = 1/(2 sigma^2)
    (Proposition 1.6), an epsilon-DP release epsilon^2/2 at most (Proposition 1.4; `pure` is less).
    Costs add up, and `zcdp(rho).epsilon(delta)` is the budget they are worth.

    Parameters
    ----------
    rho : float
        At least 0.

    Returns
    -------
    RdpCurve
        Known at every order.

    Raises
    ------
    ValueError, TypeError
        If rho is not a finite number of at least 0.

    Examples
    --------
    >>> import tightnoise.accounting as accounting
    >>> curve = accounting.zcdp(0.02) + accounting.zcdp(0.01) * 3
    >>> round(curve.epsilon(1e-6, "canonne"), 1)
    1.5
    """
    return RdpCurve.of_function(ZcdpRdp(rho))


def pure(epsilon: float) -> RdpCurve:
    """Return the cost of a release that is epsilon-DP, of which nothing else is known.

    Every such release can be simulated from randomised response, the truth with probability
    p = 1/(1 + exp(-epsilon)) (Kairouz, Oh and Viswanath 2017, section 6), so its divergence D is
    at most that of (p, 1 - p) from (1 - p, p), in both directions the same (Mironov 2017, "Renyi
    Differential Privacy", Proposition 5):

        D(alpha) = log((exp(alpha e) + exp((1 - alpha) e))/(1 + exp(e)))/(alpha - 1),  e = epsilon.

    It is epsilon tanh(epsilon/2) at order 1, about alpha epsilon^2/2 while that is small, and
    epsilon at infinite order. To compose pure guarantees with nothing else, `kairouz_oh_viswanath`
    is exact.

    Parameters
    ----------
    epsilon : float
        At least 0.

    Returns
    -------
    RdpCurve
        Known at every order.

    Raises
    ------
    ValueError, TypeError
        If epsilon is not a finite number of at least 0.

    Examples
    --------
    >>> import tightnoise.accounting as accounting
    >>> round((accounting.pure(0.1) * 1407).epsilon(1e-5, "canonne"), 1)
    23.7
    """
    return RdpCurve.of_function(PureRdp(epsilon))


def gaussian_dp(mu: float, sampling_rate: float = 1.0, *, sampling: str = "poisson") -> RdpCurve:
    """Return the cost of a release that is mu-Gaussian-DP, also of one from a random sample.

    The outputs of neighbours, whichever comes first, are then no easier to tell apart than N(mu, 1)
    from N(0, 1) (Dong, Roth and Su 2022, "Gaussian Differential Privacy"), so one random map makes
    P and Q of them. It makes the mixture (1 - q) Q + q P of theirs as well: on a sample the release
    costs at most what Gaussian noise of 1/mu sensitivities does, `sampled_gaussian`.

    Parameters
    ----------
    mu : float
        At least 0.
    sampling_rate : float
        The share of the records that takes part, greater than 0 and at most 1.
    sampling : {"poisson", "fixed-size"}
        How they are drawn; mu holds for neighbours as there.

    Returns
    -------
    RdpCurve
        Known at every order, of the adjacency that `sampled_gaussian` gives.

    Raises
    ------
    ValueError, TypeError
        For numbers out of range, an unknown way of sampling.

    Examples
    --------
    In many dimensions a von Mises-Fisher mechanism costs next to nothing less than this:

    >>> import tightnoise as tn
    >>> mu = tn.VonMisesFisher(150.0, 13_700).gdp_mu()
    >>> step = tn.accounting.gaussian_dp(mu, sampling_rate=128 / 60_000)
    >>> round((step * 1407).epsilon(1 / 60_000), 3)
    14.031
    >>> exact = tn.accounting.sampled_von_mises_fisher(150.0, 13_700, 128 / 60_000)
    >>> round((exact * 1407).epsilon(1 / 60_000), 3)
    14.012
    """
    distance = not_negative("mu", mu)
    rate = fraction("sampling_rate", sampling_rate)
    adjacency = adjacency_of(sampling)
    if distance == 0:
        nothing = zcdp(0.0)
        return RdpCurve.of_terms(nothing.terms, adjacency=adjacency if rate < 1 else None)
    # Less noise costs more.
    multiplier = min(math.nextafter(1.0 / distance, 0.0), sys.float_info.max)
    return sampled_gaussian(multiplier, rate, sampling=sampling)
