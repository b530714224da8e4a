"""What a mechanism costs on a random sample of the records, if only its Renyi curve is known.

Poisson samples: each record is in the sample with probability q, independently of the others, and
neighbours differ in one record that is there or not. With tau the curve, the bound at an integer
order alpha is

    log(sum over l = 0 ... alpha of C(alpha, l) (1 - q)^(alpha - l) q^l exp((l - 1) tau(l)))

divided by alpha - 1, where the exponential is 1 for l = 0 and 1. It is an equality if one pair of
outputs attains the curve at all orders (Gaussian noise, the von Mises-Fisher distribution). The sum
is that of Zhu and Wang (2019), "Poisson Subsampled Renyi Differential Privacy", without the factor
3 that their bound for general mechanisms puts before the terms from l = 3 on: it is there for the
other direction of the divergence, which the sum bounds as it is (the core has the proof).

Samples of a fixed size: one of all sets of that size, each as likely, and neighbours differ in the
value of one record. The bound is

    log(1 + sum over j = 2 ... alpha of C(alpha, j) q^j w(j) (exp((j - 1) tau(j)) - 1))

divided by alpha - 1, with weights w(j) of at most 4: that of Wang, Balle and Kasiviswanathan
(2019), "Subsampled Renyi Differential Privacy and Analytical Moments Accountant", Theorem 9, with
terms that vanish with tau. Where q alpha is large, the Poisson bound at two larger orders gives a
smaller one, by Hoelder's inequality, and that is used.

Orders above 8192 have log(1 + q (exp((alpha - 1) tau(alpha)) - 1)) in place of the sums, and what
the bound at infinite order implies is used too. Of a pair whose two divergences have different
bounds (per instance), each direction gets its own. Between integers the chord of (alpha - 1) times
the bound is a bound, as that is convex. Proofs and rounding are in cpp/cost/subsampling.cpp.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._between import bounds_between
from tightnoise.costs._rdp_curve import RdpCurve

Array = NDArray[np.float64]

_ROUNDING = 1e-11  # of some exponentials and logarithms of sums without cancellation
_UNDERFLOW = 1e-290


def subsampled(curve: RdpCurve, alphas: Array, rate: float, *, fixed_size: bool) -> Array:
    """Return the bounds at increasing orders, for a rate above 0 and below 1, rounded up.

    The curve must hold for every data set, since the sample is random, and for neighbours of the
    kind that the sampling asks for.
    """
    bounds = core.poisson_subsampled_rdp
    if fixed_size:
        # The bounds do not decrease with the rate, so a rate rounded up is on the safe side.
        rate = min(float(np.nextafter(rate, 1.0)), 1.0 - 2.0**-53)
        bounds = core.sampled_without_replacement_rdp
    costs = curve.at(alphas).values
    values = np.empty(alphas.shape)
    used = alphas > 1
    largest = 2 * np.max(alphas, where=np.isfinite(alphas), initial=2.0)
    most = min(int(largest), core.LARGEST_SUMMED_ORDER)
    above = np.empty(int(used.sum()))
    bounds(
        curve.at(np.arange(2.0, most + 1)).values,
        float(curve.at([np.inf]).values[0]),
        rate,
        alphas[used],
        costs[used],
        above,
    )
    values[used] = above
    # Up to order 1: no more than the mechanism itself, and no more than at any larger order.
    values[~used] = np.minimum(costs[~used], np.min(above, initial=np.inf))
    return values


def subsampled_pair(
    integers: Array, toward: Array, away: Array, rate: float, orders: Array
) -> Array:
    """Return bounds of both directions at increasing orders, Poisson samples, rounded up.

    With A the output without the record and B that with it, `toward` bounds D(B||A) and `away`
    D(A||B) at increasing `integers` from 2 to infinity. Section 5 of cpp/cost/SUBSAMPLING.md.
    """
    largest = float(max(toward[-1], away[-1]))  # of order infinity
    most = int(min(integers[-2], core.LARGEST_SUMMED_ORDER))
    sums = []
    for values in (toward, away):
        at_integers = bounds_between(integers, values, np.arange(2.0, most + 1))
        out = np.empty(orders.size)
        at_orders = bounds_between(integers, values, orders)
        core.poisson_subsampled_rdp(at_integers, largest, rate, orders, at_orders, out)
        sums.append(out)
    scaled, other = ((orders - 1.0) * values for values in sums)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        rest = rate * (2.0 * orders - 1.0) / (3.0 + 2.0 * rate * (orders - 2.0))
        mean = log_mean_exp(scaled, other, rest)
        square = np.expm1(toward[0])
        deepest = min(-np.expm1(-away[-1]) * (1.0 + _ROUNDING), 1.0)  # of 1 - B/A
        power = orders * (orders - 1.0) * rate**2
        third = (orders + 1.0) / 6.0 * rate * (1.0 - rate * deepest) ** -(orders + 2.0)
        bent = third * min(deepest * square, deepest**3)
        taylor = np.log1p(power * (0.5 * square + bent))
        back = np.fmin(taylor, np.where(orders >= 2.0, mean, np.inf)) / (orders - 1.0)
        back = np.fmin(back, -np.log1p(-rate)) * (1.0 + _ROUNDING) + _UNDERFLOW
    back = np.fmin(back, bounds_between(integers, away, orders))
    worst: Array = np.maximum(sums[0], back)
    return worst


def log_mean_exp(first: Array, second: Array, share: Array | float) -> Array:
    """Return log((1 - share) e^first + share e^second) of numbers >= 0, where nothing cancels."""
    greatest = np.maximum(first, second)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        small = np.log1p((1.0 - share) * np.expm1(first) + share * np.expm1(second))
        large = np.logaddexp(np.log1p(-share) + first, np.log(share) + second)
    mean: Array = np.where(greatest < 700.0, small, np.where(share > 0.0, large, first))
    return np.fmin(mean, greatest)
