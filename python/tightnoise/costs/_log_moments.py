"""Renyi divergences of a privacy-loss distribution, from above.

With M(s) = E_P exp(s L), L = log(P/Q), the divergence of order alpha = s + 1 is log M(s)/s. Where
P and Q have no outputs of their own, E_P (1 - e^-L) = 0, and

    M(s) - 1 = E_P [(e^(sL) - 1) + s (e^-L - 1)],

of which no term is negative: masses rounded up stay an upper bound, and divergences of 1e-10 keep
their digits.

Of losses that may be infinite no divergence is finite.
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


def renyi_upper(release: Release, orders: Array) -> Array:
    """Return at least the Renyi divergences of these orders > 1, in the worse direction."""
    s = np.asarray(orders, dtype=np.float64) - 1
    directions = [release] if release.is_symmetric else [release, release.swapped]
    bounds = [[_log_moment(one, float(x)) / x for x in s] for one in directions]
    worst: Array = np.maximum(np.max(np.array(bounds), axis=0), 0.0) * (1 + 8 * _UNIT)
    return worst


def _log_moment(release: Release, s: float) -> float:
    """Return at least log M(s)."""
    if release.infinite > 0:
        return math.inf
    values, log_mass = release.values, release.log_mass
    exponents = log_mass + np.maximum(s * values, -values)
    largest = float(exponents.max())
    sizes = float(np.abs(log_mass).max()) + (s + 1) * release.largest
    terms = _TERM * (values.size + sizes)
    if largest > _DIRECT:
        total = float(np.exp(log_mass + s * values - largest).sum())
        return largest + math.log(total) + terms
    mass = np.exp(log_mass)
    # e^(sL) and e^-L overflow where the mass does not let them count.
    above, below = _times_expm1(mass, log_mass, s * values), _times_expm1(mass, log_mass, -values)
    excess = above + s * below + _TERM * (np.abs(above) + s * np.abs(below))
    total = float(excess.sum()) * (1 + terms) + s * release.infinite_swapped
    return math.log1p(max(total, 0.0)) * (1 + 4 * _UNIT)


def _times_expm1(mass: Array, log_mass: Array, x: Array) -> Array:
    """Return mass (e^x - 1)."""
    small = mass * np.expm1(np.minimum(x, 1.0))
    exact: Array = np.where(x <= 1.0, small, np.exp(log_mass + np.maximum(x, 1.0)) - mass)
    return exact
