"""The privacy profile of Gaussian noise on Poisson samples of which one record is replaced.

Let R be the output where the record is not in the sample, P and P' those with one value of it and
with another, and let (R, P) and (R, P') be mu-Gaussian-DP: a record adds to a sum what has a norm
of at most mu standard deviations of the noise, in any dimension and direction. Then the pair

    (1-q) N(0, 1) + q N(mu, 1)   and   (1-q) N(0, 1) + q N(-mu, 1)

dominates (1-q) R + q P and (1-q) R + q P'. For let S be any set of outputs and p = R(S). By
Gaussian-DP P(S) <= Phi(Phi^-1(p) + mu) and P'(S) >= Phi(Phi^-1(p) - mu), so that for all real x

    (1-q) R(S) + q P(S) - e^x ((1-q) R(S) + q P'(S))
        <= (1-q)(1 - e^x) p + q Phi(Phi^-1(p) + mu) - q e^x Phi(Phi^-1(p) - mu),

and the pair attains the right hand side, by the half line {z > -Phi^-1(p)}. What other records are
in the sample mixes such pairs, and divergences are jointly convex. Dominating pairs compose, chosen
in view of earlier outputs too (Zhu, Dong and Wang 2022, Theorem 10). Opposite contributions of the
full norm have this pair. z -> -z swaps it: both directions have one profile.

The loss grows with z. With x = epsilon >= 0 it is x at z = t, where y = e^(mu t) solves

    q' y^2 - b y - q' e^x = 0,   q' = q e^(-mu^2/2),   b = (1-q)(e^x - 1),

    delta = q Phi(mu - t) - b Phi(-t) - q e^x Phi(-mu - t),   mu t = x/2 + asinh(b e^(-x/2)/(2 q')).

Rounding. delta is the largest over t, so what is lost by the t computed is of second order, and
t >= 0 as y^2 >= e^x. No term exceeds the first, and each is the exponential of a sum: it is wrong
by a part of u (64 + 8 (x + (t + mu)^2 - log q)) at most, which is added three times, a share of the
first. That is a share of delta of at most 1 + (t + 3/2)/mu times as much: densities above t divide
to e^x by at least e^(mu (z - t)), so

    delta >= q (Phi(mu - t) - e^(mu t - mu^2/2) Phi(-t)) = q Phi(mu - t) (1 - m(t)/m(t - mu))

with Mills' ratio m, of which -(log m)' = 1/m - z decreases and is at least 1/(z + 3/2) at z >= 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tightnoise import special
from tightnoise.costs._excess import Excess

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_LEAST_MU, _LARGEST_MU = 1e-6, 100.0
_FAR = 37.0  # from mu: beyond, delta is below 1e-298
_NEGLIGIBLE = 13.5  # from mu: beyond, the probability is below 1e-40
_LARGE = 300.0  # asinh(e^x) is x + log 2


def is_in_range(mu: float, rate: float) -> bool:
    """Return whether the bounds of rounding hold."""
    return _LEAST_MU <= mu <= _LARGEST_MU and rate >= 1e-100


def replaced_delta(epsilons: Array, mu: float, rate: float) -> Array:
    """Return delta at epsilons of at least 0, rounded up; 1 where it is below 1e-298."""
    x = np.asarray(epsilons, dtype=np.float64)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        log_growth = np.where(
            x < 1, np.log(np.expm1(np.minimum(x, 1.0))), x + np.log(-np.expm1(-x))
        )
        log_b = math.log1p(-rate) + log_growth
        log_sinh = log_b - x / 2 - math.log(2 * rate) + mu * mu / 2
        arc = np.arcsinh(np.exp(np.minimum(log_sinh, _LARGE)))
        t = (x / 2 + np.where(log_sinh > _LARGE, log_sinh + math.log(2.0), arc)) / mu
        near = t <= mu + _FAR
        x, t, log_b = x[near], t[near], log_b[near]
        first = np.exp(math.log(rate) + special.log_ndtr(mu - t))
        rest = np.exp(log_b + special.log_ndtr(-t))
        swapped = np.exp(math.log(rate) + x + special.log_ndtr(-mu - t))
    part = _UNIT * (64 + 8 * (x + (t + mu) ** 2 - math.log(rate)))
    delta = np.ones(near.shape)
    delta[near] = np.minimum(first - rest - swapped + 3 * part * first, 1.0)
    return delta


def replaced_excess(mu: float, rate: float) -> Excess:
    """Return how far the profile may exceed that of a mu lower by a part of 64 units.

    By mu, delta changes by at most 2 q phi(t - mu) <= 2 q (_FAR + 2) Phi(mu - t).
    """
    loss = 2 * mu * (mu + _FAR)  # at the farthest t
    part = 3 * _UNIT * (64 + 8 * (loss + (2 * mu + _FAR) ** 2 - math.log(rate)))
    share = 1 + (mu + _FAR + 1.5) / mu
    return Excess(2 * (2 * part + 64 * _UNIT * mu * 2 * (_FAR + 2)) * share)


def replaced_largest(mu: float, rate: float) -> float:
    """Return a loss that is exceeded with a probability of at most 1e-40."""
    t = mu + _NEGLIGIBLE
    least = 1 - rate + rate * math.exp(-mu * t - mu * mu / 2)
    most = mu * t - mu * mu / 2
    loss = most + math.log(rate + (1 - rate) * math.exp(-most)) - math.log(least)
    return loss * (1 + 2.0**-40)
