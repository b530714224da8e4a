"""Noise that stays within a bounded domain, for a budget.

A domain is an interval (all arguments are numbers) or a box (one of them is an array), on all
coordinates of which the noise has the same scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tightnoise._core import domain as core
from tightnoise._validate import require
from tightnoise.calibrate._budget import NOTHING, Budget, budget_of, settled
from tightnoise.calibrate._domain import Domain, domain_of
from tightnoise.calibrate._error import CalibrationError
from tightnoise.calibrate._parameter import FAR, least_noise
from tightnoise.costs import Cost
from tightnoise.mechanisms import BoundedLaplace, RectifiedGaussian, TruncatedGaussian

Noise = TypeVar("Noise", TruncatedGaussian, RectifiedGaussian, BoundedLaplace)

# What every search is made for; nobody needs more, and nothing overflows within.
_LEAST_EPSILON, _GREATEST_EPSILON = 1e-100, 1e100
# Of a ball within a box: beyond, slopes change within the spacing of floats, and searches fail.
_GREATEST_EPSILON_IN_BALL = 1e10
_LEAST_SCALE, _GREATEST_SCALE = 2.3e-308, 1.7e308


@dataclass(frozen=True)
class _Family(Generic[Noise]):
    """A kind of noise, and the functions of the core for it."""

    noise: Callable[[float, Any, Any], Noise]
    name: str  # for boxes
    scale: Callable[[float, float, float], float]  # of epsilon, width and sensitivity
    scale_at: Callable[[float, float, float, float], float] | None = None  # delta is the second


_TRUNCATED = _Family(
    TruncatedGaussian,
    "truncated",
    core.truncated_sigma,
    core.truncated_sigma_at,
)
_RECTIFIED = _Family(
    RectifiedGaussian,
    "rectified",
    core.rectified_sigma,
    core.rectified_sigma_at,
)
_BOUNDED_LAPLACE = _Family(BoundedLaplace, "bounded_laplace", core.bounded_laplace_scale)


def truncated_gaussian(
    epsilon: float,
    delta: float = 0.0,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: float | None = None,
    coordinate_sensitivity: ArrayLike | None = None,
    count: int = 1,
    beside: Cost = NOTHING,
) -> TruncatedGaussian:
    """Return the truncated Gaussian of the smallest sigma that is (epsilon, delta)-DP.

    The guarantee holds for every true value in [lower, upper]. For delta = 0, with L = upper -
    lower and c the sensitivity, at most L, the exact loss is

        epsilon(sigma) = c (2 L - c)/(2 sigma^2) - log(Z(c)/Z(0)),
        Z(t) = Phi((L - t)/sigma) - Phi(-t/sigma),

    that of the values upper and upper - c at the output lower (proof in
    cpp/worst/truncated_loss.hpp). In a box it is the greatest sum of such losses over the changes
    of the coordinates that the sensitivity allows. For delta > 0 the divergence of no two values of
    an interval is greater than delta (proof in cpp/worst/truncated_search.hpp); in a box the cost
    is the lesser of that greatest loss and of the noise without bounds.

    Parameters
    ----------
    epsilon : float
        Between 1e-100 and 1e100, of a box with an L2 sensitivity 1e10. For one number and delta > 0
        also 0.
    delta : float
        At least 0 and below 1.
    lower, upper : float or array_like
        Bounds of the true value and of the output, lower < upper, finite. Two numbers are an
        interval; arrays, or one and a number, are the bounds of each coordinate of a box.
    sensitivity : float, optional
        How far one record can move the true value, greater than 0: of a box in Euclidean norm. No
        two values are farther apart than the domain is wide: more means that.
    coordinate_sensitivity : array_like, optional
        Instead of sensitivity, how far each coordinate can move.
    count, beside
        As for `gaussian`.

    Returns
    -------
    TruncatedGaussian
        ``(noise.cost(..., domain=(lower, upper)) * count + beside).epsilon(delta)`` is at most
        epsilon. For one release sigma is the least within a part in 1e12, and for delta > 0 in 1e9
        (next to delta = 1, a little more).

    Raises
    ------
    CalibrationError
        If sigma would not be between 2.3e-308 and 1.8e308, or what is beside costs too much by
        itself.
    ValueError
        If an argument is NaN, infinite or out of range, or shapes differ.
    TypeError
        If an argument does not hold real numbers, or not one of both sensitivities is given.

    Examples
    --------
    >>> import tightnoise as tn
    >>> noise = tn.calibrate.truncated_gaussian(1.0, lower=0.0, upper=10.0, sensitivity=4.0)
    >>> round(noise.sigma, 6)
    4.855061
    >>> round(noise.cost(sensitivity=4.0, domain=(0.0, 10.0)).epsilon(0.0), 9)
    1.0
    >>> noise = tn.calibrate.truncated_gaussian(3.0, 1e-5, lower=0.0, upper=10.0, sensitivity=1.0)
    >>> round(noise.sigma, 6)
    1.374932
    """
    where = domain_of(lower, upper, sensitivity, coordinate_sensitivity)
    return _least(_TRUNCATED, where, _budget(epsilon, delta, where, count, beside))


def rectified_gaussian(
    epsilon: float,
    delta: float = 0.0,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: float | None = None,
    coordinate_sensitivity: ArrayLike | None = None,
    count: int = 1,
    beside: Cost = NOTHING,
) -> RectifiedGaussian:
    """Return the rectified Gaussian of the smallest sigma that is (epsilon, delta)-DP.

    Gaussian noise, clipped to [lower, upper], where the true value lies, too. That is epsilon-DP,
    without a delta, since every output is possible from every value of the domain. With L = upper -
    lower and c the sensitivity, at most L, the exact loss is

        epsilon(sigma) = log Phi(-(L - c)/sigma) - log Phi(-L/sigma),

    that of the values upper and upper - c at the output lower (proof in
    cpp/worst/rectified_loss.hpp; for delta > 0, where sigma is the least within a part in 1e11, in
    cpp/worst/rectified_profile.hpp). Arguments and errors are those of `truncated_gaussian`.

    Examples
    --------
    >>> import tightnoise as tn
    >>> noise = tn.calibrate.rectified_gaussian(0.1, lower=0.0, upper=10.0, sensitivity=1.0)
    >>> round(noise.sigma, 6)
    13.09842
    >>> noise = tn.calibrate.rectified_gaussian(1.0, 1e-5, lower=0.0, upper=10.0, sensitivity=1.0)
    >>> round(noise.sigma, 6)
    3.222556
    """
    where = domain_of(lower, upper, sensitivity, coordinate_sensitivity)
    return _least(_RECTIFIED, where, _budget(epsilon, delta, where, count, beside))


def bounded_laplace(
    epsilon: float,
    delta: float = 0.0,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: float | None = None,
    coordinate_sensitivity: ArrayLike | None = None,
    count: int = 1,
    beside: Cost = NOTHING,
) -> BoundedLaplace:
    """Return the bounded Laplace mechanism of the smallest scale that is (epsilon, delta)-DP.

    The true value lies in [lower, upper] and the output is drawn from the Laplace distribution
    about it, conditioned on the same bounds (Holohan, Antonatos, Braghin and Mac Aonghusa 2018,
    "The Bounded Laplace Mechanism in Differential Privacy"). That is not Laplace noise, clipped,
    which would be private with the scale sensitivity/epsilon: the normalising factor depends on the
    true value and tells about it too. The scale here is larger: by a factor of nearly 2 where
    epsilon and sensitivity/(upper - lower) are small, of nearly 1 where epsilon is large or the
    sensitivity is nearly upper - lower. With L = upper - lower, c the sensitivity, at most L, k =
    c/scale and w = L/scale, the exact loss is

        epsilon(scale) = k + log(1 + (1 - e^-k) (1 - e^-(w - k))/(1 - e^-w)),

    that of the values lower and lower + c at the output lower (proof in
    cpp/worst/bounded_laplace_loss.hpp). For delta > 0, where the scale is the least that a search
    finds, the divergence of no two values of an interval is greater than delta (proof in
    cpp/worst/bounded_laplace_profile.hpp); in a box it counts by what any release of the greatest
    loss costs. Arguments and errors are those of `truncated_gaussian`.

    Examples
    --------
    >>> import tightnoise as tn
    >>> noise = tn.calibrate.bounded_laplace(0.5, lower=0.0, upper=10.0, sensitivity=1.0)
    >>> round(noise.scale, 6)
    3.527871
    >>> noise = tn.calibrate.bounded_laplace(0.5, 1e-3, lower=0.0, upper=10.0, sensitivity=1.0)
    >>> round(noise.scale, 4)
    3.2491
    """
    where = domain_of(lower, upper, sensitivity, coordinate_sensitivity)
    return _least(_BOUNDED_LAPLACE, where, _budget(epsilon, delta, where, count, beside))


def _budget(epsilon: object, delta: object, where: Domain, count: object, beside: object) -> Budget:
    promised = (where.lower, where.upper)
    budget = budget_of(epsilon, delta, count, beside, **where.sensitivities, domain=promised)
    greatest = _GREATEST_EPSILON_IN_BALL if where.is_ball else _GREATEST_EPSILON
    is_zero = budget.epsilon == 0 and budget.delta > 0 and budget.is_single and not where.is_box
    good = _LEAST_EPSILON <= budget.epsilon <= greatest or is_zero
    require(good, "epsilon", epsilon, f"between {_LEAST_EPSILON:g} and {greatest:g}")
    return budget


def _least(family: _Family[Noise], where: Domain, budget: Budget) -> Noise:
    """Return the noise of the least scale with which the budget is met."""

    def make(scale: float) -> Noise:
        return family.noise(scale, where.lower, where.upper)

    if budget.delta == 0:
        scale = _pure_scale(family, budget.pure_share, where)
        return settled(make, _normal(scale), budget, toward=math.inf)
    if budget.is_single and family.scale_at is not None and not where.is_box:
        place = float(where.width), float(where.change)
        scale = family.scale_at(budget.epsilon, budget.delta, *place)
        return settled(make, _normal(scale), budget, toward=math.inf)
    # Without anything beside, an equal share of epsilon is enough without the delta.
    most = _normal(_pure_scale(family, budget.epsilon / budget.count, where) * (1 + 1e-12))
    far = min(most * FAR, _GREATEST_SCALE) if budget.beside.terms else most
    bracket = (max(most / FAR, _LEAST_SCALE), far)
    return least_noise(make, budget, bracket, most / math.sqrt(budget.count))[0]


def _pure_scale(family: _Family[Any], epsilon: float, where: Domain) -> float:
    """Return the smallest scale for epsilon without a delta, rounded up."""
    if not where.is_box:
        return family.scale(epsilon, float(where.width), float(where.change))
    scale = np.empty(())
    of_box = core.ball_scale if where.is_ball else core.corner_scale
    change: Any = float(where.change) if where.is_ball else where.change
    of_box(family.name, where.width, change, np.array(epsilon), scale)
    return float(scale)


def _normal(scale: float) -> float:
    """Return the scale; CalibrationError unless it is a normal number."""
    if _LEAST_SCALE <= scale < math.inf:
        return scale
    raise CalibrationError(
        f"no scale between 2.3e-308 and 1.8e308 is right: epsilon and the domain ask for {scale:g}"
    )
