"""Formulas of Hu et al. (2024) as they are printed, where that is not the truth.

The mechanisms of this package have them right. Those here are wrong, and kept only to show by how
much.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from tightnoise.mechanisms import Gaussian, RectifiedGaussian, TruncatedGaussian
from tightnoise.reproduce._table import Table, beside
from tightnoise.reproduce.bounded._leakage import LOWER, UPPER

_NORMAL = NormalDist()
_TWENTIETH = 0.05


def printed_rectified_information(theta: float, sigma: float) -> float:
    """Return eta^2 of the rectified Gaussian by Eq. (4), whose second term has the wrong sign."""
    low, high = (LOWER - theta) / sigma, (UPPER - theta) / sigma
    below, above = _NORMAL.pdf(low), _NORMAL.pdf(high)
    total = (
        below**2 / _NORMAL.cdf(low)
        + above**2 / _NORMAL.cdf(-high)
        + (_NORMAL.cdf(-high) - _NORMAL.cdf(-low))
        + (low * below - high * above)
    )
    return total / sigma**2


def printed_truncated_divergence(theta: float, shift: float, alpha: float) -> float:
    """Return the Renyi divergence of the truncated Gaussian by Eq. (6), for sigma 1.

    The exponent 1 - alpha should be 1 / (alpha - 1), and the argument (1 - alpha) (c + theta)
    should be theta + (1 - alpha) c.
    """

    def mass(x: float) -> float:
        return _NORMAL.cdf(UPPER - x) - _NORMAL.cdf(LOWER - x)

    last = mass((1.0 - alpha) * (shift + theta)) / mass(theta)
    ratio = mass(theta + shift) / mass(theta) * last ** (1.0 - alpha)
    return alpha * shift**2 / 2.0 + math.log(ratio)


def printed_algorithm_1(jacobian: list[float]) -> float:
    """Return the squared loss of the Gaussian for sigma 1 by line 8: of one person's one number.

    The coordinates are added up before they are squared.
    """
    return math.fsum(jacobian) ** 2


def _true_loss(jacobian: list[float]) -> float:
    matrix = np.array(jacobian)[:, np.newaxis]
    return Gaussian(1.0).fil(np.zeros(len(jacobian)), matrix) ** 2


def _truncated(theta: float, shift: float, alpha: float) -> float:
    mechanism = TruncatedGaussian(1.0, LOWER, UPPER)
    return float(mechanism.renyi_divergence(theta, theta + shift, alpha))


def _last_twentieth(theta: float) -> float:
    """Return the probability of an output in the last twentieth of the support."""
    cut = UPPER - _TWENTIETH * (UPPER - LOWER)
    return 1.0 - float(TruncatedGaussian(1.0, LOWER, UPPER).cdf(cut, theta))


def errata_table() -> Table:
    """Return what is printed beside what is true."""
    rectified = RectifiedGaussian(1.0, LOWER, UPPER)
    opposite, equal = [1.0, -1.0], [1.0] * 100
    return Table.of(
        "Hu et al. (2024): what is not as printed, for sigma 1 and support [-1, 1]",
        "of",
        ("as printed", "true"),
        {
            "Eq. (4), theta 0": beside(
                (
                    printed_rectified_information(0.0, 1.0),
                    float(rectified.fisher_information(0.0)),
                ),
                ("-0.428555", "0.936824"),
            ),
            **{
                f"Eq. (6), theta {pair[0]:g}, c {pair[1]:g}, alpha {pair[2]:g}": beside(
                    (printed_truncated_divergence(*pair), _truncated(*pair)), texts
                )
                for pair, texts in (
                    ((0.0, 1.0, 2.0), ("1.0000", "0.284000")),
                    ((0.0, 1.0, 3.0), ("4.0777", "0.408074")),
                    ((0.3, 0.01, 4.0), ("0.82995", "5.746e-5")),
                )
            },
            "Algorithm 1, line 8, J = (1, -1)": beside(
                (printed_algorithm_1(opposite), _true_loss(opposite)), ("0.000", "2.000")
            ),
            "Algorithm 1, line 8, J of 100 ones": beside(
                (printed_algorithm_1(equal), _true_loss(equal)), ("10000.000", "100.000")
            ),
            "4.2.2, theta 20: P(X > 0.9)": beside(
                (_TWENTIETH, _last_twentieth(20.0)), ("0.050", "0.852")
            ),
        },
        "Eq. (4): squared Fisher information loss of the rectified Gaussian, which cannot be "
        "negative. Eq. (6): Renyi divergence of the truncated Gaussian. Line 8 of Algorithm 1: "
        "squared loss of the plain Gaussian for a person with one number and these derivatives. "
        "The text of 4.2.2 has the truncated output nearly uniform for theta far outside; it "
        "gathers at the end, with the density of an exponential law.",
    )
