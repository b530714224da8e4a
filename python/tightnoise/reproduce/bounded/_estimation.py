"""Section 6.1 of Hu et al. (2024): an average with noise, clipped, and what that costs.

900 records of 100 coordinates are drawn from N(mu, 1) and clipped to [-1, 1]. Their average gets
Gaussian noise and is clipped to [-a, a]. At mu = 0 the paper finds "up to 30 % reduction in the
privacy cost while only suffering from < 0.5 % change in the MSE loss (e.g. sigma = 0.4)".

One record moves a coordinate by at most 2/900, which is little beside sigma = 0.4. For a shift c so
small D_alpha = alpha (c eta)^2 / 2 in either direction and for either neighbour, so that costs are
as Fisher informations eta^2. Everything here is exact but for that, and for theta, which is taken
at its mean: the average of the records is within 0.06 of it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tightnoise.mechanisms import RectifiedGaussian, StochasticSign
from tightnoise.reproduce._bisection import bisected

Array = NDArray[np.float64]

RECORDS, DIMENSION = 900, 100
SIGMA = 0.4
SENSITIVITY = 2.0 / RECORDS
"""The most that replacing one record moves a coordinate of the average."""

NEARLY = 0.005
"""What the paper calls a small change of the mean squared error."""

LEAST_RATIO = 2.0 / math.pi
"""The ratio of costs in the middle of a support without width: that of the stochastic sign."""


def centred_cost(kappa: float) -> float:
    """Return the cost over the Gaussian's in the middle of [-kappa sigma, kappa sigma].

    Examples
    --------
    >>> from tightnoise.reproduce.bounded._estimation import centred_cost, centred_error
    >>> round(centred_cost(1.0), 4), round(centred_error(1.0), 4)
    (0.9368, 0.5161)
    """
    return float(RectifiedGaussian(1.0, -kappa, kappa).fisher_information(0.0))


def centred_error(kappa: float) -> float:
    """Return the mean squared error over the Gaussian's; there is no bias in the middle."""
    return float(RectifiedGaussian(1.0, -kappa, kappa).var(0.0))


def clipped_mean(mu: float) -> float:
    """Return the mean of a record's coordinate, N(mu, 1) clipped to [-1, 1]: theta."""
    return float(RectifiedGaussian(1.0, -1.0, 1.0).mean(mu))


def support_ratios(mu: float, half_widths: Array) -> tuple[Array, Array]:
    """Return cost and mean squared error, about mu, over the Gaussian's, for supports [-a, a]."""
    theta = clipped_mean(mu)
    mechanism = RectifiedGaussian(SIGMA, -half_widths, half_widths)
    thetas = np.full(half_widths.shape, theta)
    costs = SIGMA**2 * mechanism.fisher_information(thetas)
    errors = mechanism.var(thetas) + (mechanism.mean(thetas) - mu) ** 2
    return costs, errors / (SIGMA**2 + (theta - mu) ** 2)


def tuned_support(mu: float, half_widths: Array) -> float:
    """Return the least cost ratio of these supports whose error is not worse by `NEARLY`."""
    costs, errors = support_ratios(mu, half_widths)
    return float(costs[errors <= 1.0 + NEARLY].min())


def best_support(mu: float) -> tuple[float, float]:
    """Return the narrowest support [-a, a] whose error is not worse by `NEARLY`: a, cost ratio.

    Clipping once more to a narrower support is post-processing, so that the narrowest costs least.
    It is 0, and the figure a limit, where even an output of 0 is close enough to mu.
    """
    theta = clipped_mean(mu)
    if mu**2 <= (1.0 + NEARLY) * (SIGMA**2 + (theta - mu) ** 2):
        return 0.0, SIGMA**2 * float(StochasticSign(SIGMA).fisher_information(theta))

    def is_worse(half_width: float) -> bool:
        return float(support_ratios(mu, np.array([half_width]))[1][0]) > 1.0 + NEARLY

    step = SIGMA / 40.0
    trials = step * np.arange(1.0, 401.0)
    first = float(trials[np.argmax(support_ratios(mu, trials)[1] <= 1.0 + NEARLY)])
    _, narrowest = bisected(is_worse, first - step, first)
    return narrowest, float(support_ratios(mu, np.array([narrowest]))[0][0])
