"""How far a Chebyshev expansion of a Renyi divergence can be from it: a proven bound.

The statement and its proof are in cpp/mechanisms/ANALYTIC_BOUND.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise import _core
from tightnoise._validate import float_array, positive, real_scalar, require

__all__ = [
    "Kind",
    "fisher_analytic_bound",
    "fisher_tail",
    "interpolation_error",
    "renyi_analytic_bound",
]

Floats = NDArray[np.float64]
Kind = Literal["rectified", "truncated", "sign", "quantized"]
Tail = Callable[[Floats, Floats, int, Floats], Floats]

_KINDS = _core.analytic_bound.BoundedGaussian.__members__


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
) -> tuple[Floats, Floats]:
    """Return an ellipse around [t0, t1] and the size of a Renyi divergence on it.

    The divergence is ``f(t) = D_alpha(M(t) || M(t + shift))`` of a bounded Gaussian mechanism with
    support ``[-half_width, half_width]``. For each order, f is analytic in the open Bernstein
    ellipse of ``[t0, t1]`` with parameter rho, and ``|f| <= bound`` there.

    Parameters
    ----------
    kind
        "rectified", "truncated", "sign" (stochastic sign with threshold 0) or "quantized".
    sigma
        Standard deviation of the noise.
    half_width
        Half the width of the support. Ignored for "sign".
    shift
        theta_prime - theta, of either sign. For the reverse divergence
        ``D(M(t + c) || M(t))`` pass ``t0 + c``, ``t1 + c`` and ``shift=-c``.
    alphas
        Orders greater than 0; infinity is allowed. Nothing is claimed for orders below 1.
    t0, t1
        The interval, ``t0 < t1``, or several of them.
    terms
        Number of Chebyshev coefficients (or points) that will be used: of many valid pairs, the one
        is returned whose `interpolation_error` is smallest.
    levels
        Of "quantized": number of letters.
    enough
        An `interpolation_error` that is small enough, one number or one for each order: a smaller
        one is not looked for, which saves time.

    Returns
    -------
    rho, bound : ndarray
        Two float64 arrays of the shape of `alphas`, followed by that of `t0`. ``bound`` is inf
        where nothing is claimed.

    Raises
    ------
    ValueError
        If an argument is not finite or outside its range.

    Examples
    --------
    >>> rho, bound = renyi_analytic_bound("truncated", 1.0, 1.0, 0.01, [2.0], 0.0, 1.0, terms=16)
    >>> bool(interpolation_error(rho, bound, 16)[0] < 1e-12 * 0.01**2)
    True
    """
    scale, width = _in_sigmas(kind, sigma, half_width)
    orders = _orders(alphas)
    lower, upper = _intervals(t0, t1, terms)
    rho, bound = np.empty((2, *orders.shape, *lower.shape))
    _core.analytic_bound.renyi_analytic_bounds(
        _KINDS[kind],
        width,
        _levels(levels),
        real_scalar("shift", shift) / scale,
        orders.reshape(-1),
        lower.reshape(-1) / scale,
        upper.reshape(-1) / scale,
        terms,
        np.broadcast_to(np.asarray(enough, dtype=np.float64), orders.shape).reshape(-1),
        rho.reshape(-1),
        bound.reshape(-1),
    )
    return rho, bound


def fisher_analytic_bound(
    kind: Kind,
    sigma: float,
    half_width: float,
    t0: float,
    t1: float,
    *,
    terms: int,
    levels: int = 2,
) -> tuple[float, float]:
    """Return an ellipse around [t0, t1] and the size of the Fisher information on it.

    As `renyi_analytic_bound`, for ``f(t) = fisher_information(t)`` about t in its own units.

    Raises
    ------
    ValueError
        If an argument is not finite or outside its range.

    Examples
    --------
    >>> rho, bound = fisher_analytic_bound("rectified", 1.0, 1.0, 0.0, 1.0, terms=24)
    >>> bool(interpolation_error(rho, bound, 24) < 1e-12)
    True
    """
    scale, width = _in_sigmas(kind, sigma, half_width)
    lower, upper = _intervals(real_scalar("t0", t0), real_scalar("t1", t1), terms)
    rho, bound = _core.analytic_bound.fisher_analytic_bound(
        _KINDS[kind], width, _levels(levels), float(lower) / scale, float(upper) / scale, terms
    )
    return rho, bound / scale**2


def fisher_tail(kind: Kind, sigma: float, half_width: float, *, levels: int = 2) -> Tail:
    """Return the interpolation error of t -> fisher_information(t).

    For `Sketch.sum_max`: a function of the ends of panels, two arrays (panels,), the number of
    nodes, and what is small enough, with values (1, panels).

    Examples
    --------
    >>> fisher_tail("sign", 1.0, 1.0)(np.array([0.0]), np.array([0.5]), 24, np.zeros(1)).shape
    (1, 1)
    """

    def tail(left: Floats, right: Floats, nodes: int, _: Floats) -> Floats:
        errors = [
            interpolation_error(
                *fisher_analytic_bound(kind, sigma, half_width, t0, t1, terms=nodes, levels=levels),
                nodes,
            )
            for t0, t1 in zip(left, right, strict=True)
        ]
        return np.array([errors])

    return tail


def _in_sigmas(kind: Kind, sigma: float, half_width: float) -> tuple[float, float]:
    require(kind in _KINDS, "kind", kind, "'rectified', 'truncated', 'sign' or 'quantized'")
    scale = positive("sigma", sigma)
    return scale, 1.0 if kind == "sign" else positive("half_width", half_width) / scale


def _levels(levels: int) -> int:
    require(levels >= 2, "levels", levels, "at least 2")
    return levels


def _orders(alphas: ArrayLike) -> Floats:
    orders = np.ascontiguousarray(alphas, dtype=np.float64)
    valid = orders > 0
    if not valid.all():
        require(False, "alphas", orders[~valid].item(0), "greater than 0")
    return orders


def _intervals(t0: ArrayLike, t1: ArrayLike, terms: int) -> tuple[Floats, Floats]:
    lower = float_array("t0", t0).astype(np.float64)
    upper = float_array("t1", t1).astype(np.float64)
    require(lower.shape == upper.shape, "t1", t1, f"of the shape of t0, {lower.shape}")
    wrong = ~(lower < upper)
    if wrong.any():
        require(False, "t1", upper[wrong].item(0), f"greater than t0 = {lower[wrong].item(0):g}")
    require(terms >= 2, "terms", terms, "at least 2")
    return lower, upper


def interpolation_error(rho: ArrayLike, bound: ArrayLike, terms: Any) -> Floats:
    """Return the largest error of a Chebyshev interpolant with `terms` points (degree terms - 1).

    ``4 bound rho^(1 - terms) / (rho - 1)``: Trefethen, "Approximation Theory and Approximation
    Practice", Theorem 8.2. It also covers the Chebyshev series truncated to `terms` coefficients.

    Parameters
    ----------
    rho, bound
        As `renyi_analytic_bound` returns them; any shapes that broadcast.
    terms
        Number of points or coefficients.

    Returns
    -------
    ndarray
        Absolute error, a bound for every point of the interval; inf where `bound` is inf, and
        where rho has been rounded to 1 or less (an interval of more than 1e11 sigma).

    Examples
    --------
    >>> float(interpolation_error(2.0, 1.0, 3))
    1.0
    """
    ratio, size = np.asarray(rho, dtype=np.float64), np.asarray(bound, dtype=np.float64)
    known = np.isfinite(size) & (ratio > 1.0)
    safe = np.where(known, ratio, 2.0)
    error = 4.0 * np.where(known, size, 0.0) * safe ** (1.0 - terms) / (safe - 1.0)
    return np.where(known, error, np.inf)
