"""Renyi divergences of a privacy-loss distribution, from above.

With M(s) = E_P exp(s L), L = log(P/Q), the divergence of order alpha = s + 1 is log M(s)/s. Where
P and Q have no outputs of their own, E_P (1 - e^-L) = 0, and

    M(s) - 1 = E_P [(e^(sL) - 1) + s (e^-L - 1)],

of which no term is negative: masses rounded up stay an upper bound, and divergences of 1e-10 keep
their digits.

A dominating pair may have infinite losses where the true one only has rare large ones: what a
profile has left where it is cut off, p = D(l) at the largest finite loss l. If the true pair is
known to be rho-zCDP, M(t) <= exp(rho t (t + 1)) (Bun and Steinke 2016, "Concentrated Differential
Privacy: Simplifications, Extensions, and Lower Bounds", Definition 1.1), its moments are finite.
As M(s) = s (s + 1) times the integral of e^(sx) D(x) over all x, and by Markov's inequality

    D(x) <= kap(t) M(t) e^(-tx),    kap(t) = t^t/(1 + t)^(1 + t) = max_u (1 - e^-u) e^(-tu),

which counts beyond l, while up to there D(x) is at most that of the finite losses plus p,

    M(s) <= M_finite(s) + (s + 1) p e^(sl)
            + s (s + 1) kap(t) e^(rho t (t + 1) - (t - s) l)/(t - s)    for every t > s.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._discrete_losses import Release

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_TERM = 16 * _UNIT  # of one term, relative to its parts
_DIRECT = 300.0  # exponents up to which M is summed as a number
_FURTHER = np.geomspace(1e-2, 1e8, 100)  # t - s, tried


def renyi_upper(release: Release, orders: Array, tail_rho: float = math.inf) -> Array:
    """Return at least the Renyi divergences of these orders > 1, in the worse direction.

    They are those of each pair that the release dominates and that is, in both directions,
    tail_rho-zCDP: without such a bound they are infinite if a loss may be.
    """
    s = np.asarray(orders, dtype=np.float64) - 1
    directions = [release] if release.is_symmetric else [release, release.swapped]
    bounds = [[_log_moment(one, float(x), tail_rho) / x for x in s] for one in directions]
    worst = np.maximum(np.max(np.array(bounds), axis=0), 0.0)
    zcdp = tail_rho * (s + 1)
    upper: Array = np.minimum(worst, zcdp) * (1 + 8 * _UNIT)
    return upper


def _log_moment(release: Release, s: float, tail_rho: float) -> float:
    """Return at least log M(s)."""
    values, log_mass = release.values, release.log_mass
    log_tail = _log_tail(release, s, tail_rho)
    if log_tail == math.inf:
        return math.inf
    exponents = log_mass + np.maximum(s * values, -values)
    largest = max(float(exponents.max()), log_tail)
    sizes = float(np.abs(log_mass).max()) + (s + 1) * release.largest
    terms = _TERM * (values.size + sizes)
    if largest > _DIRECT:
        total = float(np.exp(log_mass + s * values - largest).sum())
        return largest + math.log(total + math.exp(log_tail - largest)) + terms
    mass = np.exp(log_mass)
    # e^(sL) and e^-L overflow where the mass does not let them count.
    above, below = _times_expm1(mass, log_mass, s * values), _times_expm1(mass, log_mass, -values)
    excess = above + s * below + _TERM * (np.abs(above) + s * np.abs(below))
    total = float(excess.sum()) * (1 + terms) + s * release.infinite_swapped
    return math.log1p(max(total, 0.0) + math.exp(log_tail)) * (1 + 4 * _UNIT)


def _times_expm1(mass: Array, log_mass: Array, x: Array) -> Array:
    """Return mass (e^x - 1)."""
    small = mass * np.expm1(np.minimum(x, 1.0))
    exact: Array = np.where(x <= 1.0, small, np.exp(log_mass + np.maximum(x, 1.0)) - mass)
    return exact


def _log_tail(release: Release, s: float, rho: float) -> float:
    """Return the logarithm of what infinite losses may add to M(s)."""
    if release.infinite == 0:
        return -math.inf
    if rho == math.inf:
        return math.inf
    end = release.highest
    t = s + _FURTHER
    log_kap = t * np.log(t / (1 + t)) - np.log1p(t)
    log_markov = log_kap + rho * t * (t + 1) - (t - s) * end - np.log(t - s)
    beyond = math.log(s * (s + 1)) + float(log_markov.min())
    up_to = math.log1p(s) + math.log(release.infinite) + s * end
    rounding = 1e-12 * (1 + abs(up_to) + abs(beyond))
    return float(np.logaddexp(beyond, up_to)) + rounding
