"""Pure differential privacy: its Renyi-DP curve, its profile, its zCDP."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import not_negative

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PureRdp:
    """The function alpha -> the greatest Renyi divergence of an epsilon-DP release.

    Every such release can be simulated from randomised response, the truth with probability
    p = 1/(1 + exp(-epsilon)) (Kairouz, Oh and Viswanath 2017, section 6), so its divergence D is
    at most that of (p, 1 - p) from (1 - p, p), in both directions the same (Mironov 2017, "Renyi
    Differential Privacy", Proposition 5):

        D(alpha) = log((exp(alpha e) + exp((1 - alpha) e))/(1 + exp(e)))/(alpha - 1),  e = epsilon.

    It is epsilon tanh(epsilon/2) at order 1, about alpha epsilon^2/2 while that is small, and
    epsilon at infinite order.
    """

    # With x = (alpha - 1/2) e and y = e/2 the formula is
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

    def __call__(self, orders: object) -> Array:
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


def pure_profile(epsilon: float, epsilons: Array) -> Array:
    """Return delta of randomised response, which no release of that largest loss exceeds."""
    with np.errstate(over="ignore", under="ignore"):
        gap = np.maximum(-np.expm1(epsilons - epsilon), 0.0) / (1 + math.exp(-epsilon))
    return np.asarray(np.minimum(gap * (1 + 2.0**-50), 1.0))


def rho_of_pure(epsilon: float) -> float:
    """Return epsilon^2/2: an epsilon-DP release is so much zCDP (Bun and Steinke 2016, 1.4)."""
    if epsilon == 0 or epsilon > 1e150:
        return 0.0 if epsilon == 0 else math.inf
    return math.nextafter(0.5 * epsilon * epsilon * (1 + 2.0**-50), math.inf)
