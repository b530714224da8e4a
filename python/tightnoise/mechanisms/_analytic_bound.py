"""How far a Chebyshev expansion of a Renyi divergence can be from it: a proven bound.

The statement and its proof are in cpp/mechanisms/ANALYTIC_BOUND.md. Arguments are not checked: they
come from the parameters of a mechanism and the panels of a sketch.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._core import analytic_bound as core

Array = NDArray[np.float64]
Kind = Literal["rectified", "truncated", "sign", "quantized"]


def renyi_analytic_bound(
    kind: Kind,
    sigma: float,
    half_width: float,
    shift: float,
    alphas: ArrayLike,
    t0: ArrayLike,
    t1: ArrayLike,
    *,
    terms: int,
    levels: int = 2,
    enough: ArrayLike = 0.0,
) -> tuple[Array, Array]:
    """Return an ellipse around [t0, t1] and the size of a Renyi divergence on it.

    The divergence is ``f(t) = D_alpha(M(t) || M(t + shift))`` of a bounded Gaussian mechanism with
    support ``[-half_width, half_width]``; for the reverse ``D(M(t + c) || M(t))`` pass ``t0 + c``,
    ``t1 + c`` and ``shift=-c``. For each order, f is analytic in the open Bernstein ellipse of
    ``[t0, t1]`` with parameter rho, and ``|f| <= bound`` there; rho and bound are of the shape of
    `alphas`, followed by that of `t0`, and bound is inf where nothing is claimed, as below order 1.
    Of many valid pairs, the one is returned whose `interpolation_error` with so many `terms` is
    smallest; none below `enough`, one number or one for each order, is looked for.
    """
    orders, lower, upper = (np.asarray(given, np.float64) for given in (alphas, t0, t1))
    rho, bound = np.empty((2, *orders.shape, *lower.shape))
    core.renyi_analytic_bounds(
        core.BoundedGaussian.__members__[kind],
        half_width / sigma,
        levels,
        shift / sigma,
        orders.reshape(-1),
        lower.reshape(-1) / sigma,
        upper.reshape(-1) / sigma,
        terms,
        np.broadcast_to(np.asarray(enough, np.float64), orders.shape).reshape(-1),
        rho.reshape(-1),
        bound.reshape(-1),
    )
    return rho, bound


def fisher_analytic_bound(
    kind: Kind, sigma: float, half_width: float, t0: float, t1: float, *, terms: int, levels: int
) -> tuple[float, float]:
    """Return an ellipse around [t0, t1] and the size of the Fisher information on it.

    As `renyi_analytic_bound`, for ``f(t) = fisher_information(t)`` about t in its own units.
    """
    bounded = core.BoundedGaussian.__members__[kind]
    width = half_width / sigma
    rho, bound = core.fisher_analytic_bound(bounded, width, levels, t0 / sigma, t1 / sigma, terms)
    return rho, bound / sigma**2


def interpolation_error(rho: ArrayLike, bound: ArrayLike, terms: int) -> Array:
    """Return the largest error of a Chebyshev interpolant with `terms` points (degree terms - 1).

    ``4 bound rho^(1 - terms) / (rho - 1)``: Trefethen, "Approximation Theory and Approximation
    Practice", Theorem 8.2. It also covers the Chebyshev series truncated to `terms` coefficients.
    Infinite where `bound` is, and where rho has been rounded to 1 or less (an interval of more than
    1e11 sigma).
    """
    ratio, size = np.asarray(rho, dtype=np.float64), np.asarray(bound, dtype=np.float64)
    known = np.isfinite(size) & (ratio > 1.0)
    safe = np.where(known, ratio, 2.0)
    error = 4.0 * np.where(known, size, 0.0) * safe ** (1.0 - terms) / (safe - 1.0)
    return np.where(known, error, np.inf)
