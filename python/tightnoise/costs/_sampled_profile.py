"""The privacy profile of a release that runs on a random sample of the records.

Let (P, Q) dominate what the release does with and without a record, F(x) = D(P||Q)(x) and
B(x) = D(Q||P)(x) the hockey-stick divergences at x = epsilon >= 0. If each record takes part with
probability q, independently (Poisson), the pair is ((1-q) Q + q P, Q) (Zhu, Dong and Wang 2022,
"Optimal Accounting of Differential Privacy via Characteristic Function", Theorem 11), so

    forward(x)  = q F(log(1 + (e^x - 1)/q)),
    backward(x) = (1 - (1-q) e^x) B(log(q e^x/(1 - (1-q) e^x)))   where e^x < 1/(1-q), else 0:

these are the integrals of ((1-q) Q + q P - e^x Q)^+ and of (Q - e^x ((1-q) Q + q P))^+.

If a sample of fixed size is drawn without replacement, and one record replaced, the first formula
holds for both directions with the larger of F and B, those of replacing a record (Balle, Barthe and
Gaboardi 2018, "Privacy Amplification by Subsampling: Tight Analyses via Couplings and
Divergences", Theorem 9).

A profile does not increase: arguments are rounded down, and results up.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._loss_points import Profile

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_ROUNDING = 32 * _UNIT  # of a few elementary functions, each within four units, and sums
_OVERFLOW = 700.0  # the exponential of more is not needed


def poisson_profile(profile: Profile, rate: float) -> Profile:
    """Return the profile where each record takes part with this probability, in (0, 1]."""

    def sampled(epsilons: Array) -> tuple[Array, Array]:
        forward = _share(rate, profile(_amplified(epsilons, rate))[0])
        # 1 - (1-q) e^x = q (1 - spent), an upper bound: where that is 0, so is the divergence.
        growth = np.expm1(np.minimum(epsilons, _OVERFLOW))
        with np.errstate(over="ignore"):
            spent = (1 - rate) / rate * growth * (1 - _ROUNDING)
        some = spent < 1
        x, spent = epsilons[some], spent[some]
        argument = (x - np.log1p(-spent)) * (1 - _ROUNDING)
        backward = np.zeros_like(epsilons)
        backward[some] = _share(rate * (1 - spent), profile(argument)[1])
        return forward, backward

    return sampled


def poisson_losses(release: Release, rate: float) -> Release:
    """Return the losses of ((1-q) Q + q P, Q), of those of P and Q; accurate, not rounded up.

    A loss L becomes log(1 - q + q e^L), and outputs that P never has one of log(1 - q).
    """
    values = release.values
    with np.errstate(over="ignore"):
        change = rate * np.expm1(values)
    near = (change > -0.5) & (values < _OVERFLOW)
    shifted = np.where(
        near,
        np.log1p(np.where(near, change, 0.0)),
        np.logaddexp(math.log1p(-rate), math.log(rate) + values),
    )
    # Of the mass under Q first: a loss and its log mass that cancel are rounded once, by their
    # difference. The terms are negative, so that no digit of their sums is lost.
    under_q = release.log_mass - values
    masses = np.logaddexp(math.log(rate) + release.log_mass, math.log1p(-rate) + under_q)
    if release.infinite_swapped > 0:
        shifted = np.append(math.log1p(-rate), shifted)
        masses = np.append(math.log1p(-rate) + math.log(release.infinite_swapped), masses)
    sizes = np.abs(shifted[shifted != 0])
    return Release(
        values=shifted,
        log_mass=masses,
        infinite=rate * release.infinite,
        infinite_swapped=0.0,
        is_symmetric=False,
        grid=float(sizes.min()) if sizes.size else 0.0,
        is_short=release.is_short,
    )


def fixed_size_profile(profile: Profile, rate: float) -> Profile:
    """Return the profile where a share of the records, in (0, 1], is drawn without replacement.

    The given one is that of a replaced record; the result is symmetric.
    """

    def sampled(epsilons: Array) -> tuple[Array, Array]:
        forward, backward = profile(_amplified(epsilons, rate))
        both = _share(rate, np.maximum(forward, backward))
        return both, both

    return sampled


def sampled_excess(base: Excess, rate: float, largest: float) -> Excess:
    """Return how far both profiles may exceed the truth, up to the largest loss of the release.

    `spent` is a part r lower, which an argument x (1 - r) makes it, too: it is convex in x and 0 at
    0. The logarithm of q/left grows faster than x, relatively, so that the argument of B is that of
    such an x. The argument of F, y = log(1 + w) with w = (e^x - 1)/q, grows by a part

        x e^x/(q (1 + w) y) >= w/((1 + w) y) = (1 - e^-y)/y >= 1/(1 + y)

    of that of x, as x e^x >= e^x - 1, and y <= x - log q. Heights are the part q of those of the
    release at most, and so is what these exceed the truth by, whatever they are.
    """
    argument = (base.argument + 4 * _ROUNDING) * (1.01 + largest - math.log(rate))
    return Excess(base.height + 16 * _UNIT, argument, base.absolute * rate * (1 + 16 * _UNIT))


def sampled_largest(largest: float, rate: float) -> float:
    """Return the largest loss of a sampled release, of which it is `largest` unsampled; rounded up.

    This is that of P over Q; the one of Q over P, -log(1 - q + q e^-largest), is no larger.
    """
    if largest <= _OVERFLOW:
        loss = math.log1p(rate * math.expm1(largest))
    else:
        loss = largest + math.log(rate + (1 - rate) * math.exp(-largest))
    return loss * (1 + _ROUNDING) + _ROUNDING * (largest if largest > _OVERFLOW else 0.0)


def _amplified(epsilons: Array, rate: float) -> Array:
    """Return log(1 + (e^x - 1)/q), rounded down."""
    near = np.minimum(epsilons, 1.0)
    with np.errstate(over="ignore"):
        ratio = np.minimum(np.expm1(near) / rate, np.finfo(np.float64).max)
    far = np.maximum(epsilons, 1.0)
    beyond = far - math.log(rate) + np.log1p(-(1 - rate) * np.exp(-far))
    exact: Array = np.where(epsilons <= 1.0, np.log1p(ratio), beyond)
    return exact * (1 - _ROUNDING)


def _share(weight: Array | float, heights: Array) -> Array:
    """Return the product, rounded up, at most 1; 0 only where there is nothing."""
    product = np.nextafter(weight * heights * (1 + 4 * _UNIT), np.inf)
    return np.where(heights > 0, np.minimum(product, 1.0), 0.0)
