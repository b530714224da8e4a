"""Mixtures of Gaussians for a budget."""

from __future__ import annotations

import contextlib
import math
from typing import Any, Literal

from tightnoise._core import additive as core
from tightnoise._validate import integer, one_of, require
from tightnoise.calibrate._budget import NOTHING, Budget, scalar_budget
from tightnoise.calibrate._error import CalibrationError
from tightnoise.calibrate._loss import LOSSES, loss_of
from tightnoise.calibrate._many import like_gaussian, like_laplace, of_shares, search_shares
from tightnoise.calibrate._scalar import gaussian
from tightnoise.calibrate._search import Point
from tightnoise.costs import Cost
from tightnoise.mechanisms import MultiGaussianMixture, QuasiGaussianMixture
from tightnoise.mechanisms._steps import LARGEST_EPSILON

Found = tuple[MultiGaussianMixture, Point]

_MOST_MODES = 10**6
_LEAST_DELTA = 1e-300
# A rough answer is so close to the budget, and may lose so much more than the best and still win.
_ROUGH, _IN_REACH = 1e-2, 1.05
# The same of where Laplace noise would end: Renyi divergences leave up to a tenth of the budget.
_PROMISING = {"l1": 1.15, "l2": 1.15**2}
_LEAST_EPSILON = 0.02  # of one of many: below, there are thousands of modes with losses of its own


def multi_gaussian(
    epsilon: float,
    delta: float = 0.0,
    *,
    sensitivity: float,
    modes: int | None = None,
    loss: Literal["l1", "l2"] = "l1",
    count: int = 1,
    beside: Cost = NOTHING,
) -> MultiGaussianMixture:
    """Return the multi-Gaussian mixture with the least noise that is (epsilon, delta)-DP.

    The mixture is that of Liu, Selvi and Wiesemann 2026 ("Mind the Gap: Mixtures of Gaussians in
    Approximate Differential Privacy", arXiv 2605.28078). Its sigma is not theirs: a quadrature that
    missed narrow peaks made most of their published ones far from private. Here the divergence at
    a shift is exact, and a certificate covers all shifts.

    For one release it is the smallest sigma for the given modes, within 1e-9, or, next to delta =
    1, where delta hardly depends on sigma, within what moves delta by 4e-10. Where delta is below
    about 1e-13, or with more than 5000 modes, it may be more: the sigma with which the density is
    proven to have one mode, which is about 1e-5 larger at epsilon = 1, 1e-3 at 0.1 (and twice as
    large at 1e-3), at next to no loss.

    Without `modes` the number of them with the least loss among 0, K - 1, ..., K + 3, where K is
    the least one whose outermost component weighs at most delta: beyond K the loss is flat, below
    it sigma jumps. (Beyond 5000 modes, 0 and K.) In 180 settings that were searched in full this
    was within 3.2e-6 of the best. Of equal losses the one with fewer modes is returned.

    For several releases, or beside others, the best of these by the loss: no modes, a Gaussian;
    one on each side; as many as above, unless an epsilon of 0.02 is too much for each, or as many
    Laplace releases say that it is far behind. The latter two are of the largest epsilon for each
    with which all meet the budget.

    Parameters
    ----------
    epsilon : float
        Greater than 0 and at most 700.
    delta : float
        Less than 1 and at least 1e-300.
    sensitivity : float
        The most that one record changes the value by, greater than 0. The value is one number: for
        vectors see `tightnoise.mechanisms.AdditiveNoise`.
    modes : int, optional
        Components on each side of the middle one, from 0 (the analytic Gaussian) to 1,000,000.
    loss : {"l1", "l2"}
        What the best modes are chosen by: the mean of abs(noise) or its variance.
    count, beside
        As for `gaussian`.

    Returns
    -------
    MultiGaussianMixture

    Raises
    ------
    CalibrationError
        If delta is 0, which no mixture of Gaussians gives, sigma is beyond the range of float64, or
        what is beside costs too much by itself.
    ValueError, TypeError
        For numbers that are not finite or out of range, or an unknown loss.

    Examples
    --------
    >>> import tightnoise as tn
    >>> noise = tn.calibrate.multi_gaussian(1.0, 1e-5, sensitivity=1.0)
    >>> noise.modes, round(noise.sigma, 6)
    (14, 0.357564)
    >>> noise.cost(sensitivity=1.0).epsilon(1e-5) <= 1.0
    True
    >>> gaussian = tn.calibrate.gaussian(1.0, 1e-5, sensitivity=1.0)
    >>> round(noise.mean_abs() / gaussian.mean_abs(), 4)
    0.3302
    """
    budget, change = mixture_budget(epsilon, delta, sensitivity, count, beside)
    judged_by = one_of("loss", loss, LOSSES)
    given = None if modes is None else integer("modes", modes, minimum=0, maximum=_MOST_MODES)

    def single(own: float, failure: float, number: int | None) -> MultiGaussianMixture:
        if number is None:
            best = core.best_multi_gaussian(own, failure, change, judged_by)
            sigma, number = best.sigma, int(best.modes)
        else:
            sigma = core.multi_gaussian_sigma(own, failure, change, number)
        return MultiGaussianMixture(_finite(sigma, own, failure, change), own, change, number)

    def of_many(number: int | None, near: Point, **search: Any) -> Found:
        return search_shares(
            lambda own, failure: single(own, failure, number),
            budget,
            least_epsilon=_LEAST_EPSILON if number is None else 0.0,
            near=near,
            **search,
        )

    def lost(noise: MultiGaussianMixture) -> float:
        return loss_of(noise, loss)

    if budget.is_single:
        return single(budget.epsilon, budget.delta, given)
    plain = gaussian(epsilon, delta, sensitivity=change, count=budget.count, beside=budget.beside)
    one = MultiGaussianMixture(float(plain.sigma), budget.epsilon, change, 0)
    if given is not None:
        return of_many(given, like_gaussian(budget))[0] if given else one
    rough = [of_many(1, like_gaussian(budget), close=_ROUGH)]
    least = min(lost(one), lost(rough[0][0]))
    near = like_laplace(budget)
    if near.x < 1.1 / _LEAST_EPSILON:
        with contextlib.suppress(CalibrationError):  # it may be too much for each
            about = single(1.0 / near.x, 0.5 * budget.delta / budget.count, None)
            if lost(about) < _PROMISING[loss] * least:
                rough.append(of_many(None, near, close=_ROUGH))
    least = _IN_REACH * min(least, *(lost(noise) for noise, _ in rough))
    found = [of_many(noise.modes, near)[0] for noise, near in rough if lost(noise) < least]
    return min([one, *found], key=lost)


def quasi_gaussian(
    epsilon: float,
    delta: float = 0.0,
    *,
    sensitivity: float,
    count: int = 1,
    beside: Cost = NOTHING,
) -> QuasiGaussianMixture:
    """Return the quasi-Gaussian mixture with the least noise that is (epsilon, delta)-DP.

    The mixture is that of Liu, Selvi and Wiesemann 2026 ("Mind the Gap: Mixtures of Gaussians in
    Approximate Differential Privacy", arXiv 2605.28078). Its sigma is sigma_1 of Theorem 4.2 where
    that is at least sigma_2: it makes the divergence at the greatest shift delta. Elsewhere, at
    large delta or epsilon, it makes the greatest divergence over all shifts delta: up to 24% less
    noise than the paper's. The cost of the answer is certified for all shifts, and with 1e-9 less
    noise it would be too much (next to delta = 1, with as much less as moves delta by 4e-10).
    Nobody has proven that the divergence falls with sigma throughout, so this is the smallest sigma
    of the interval that was searched, from sigma_1 up to the paper's. Several releases go by parts
    of the budget, as for `truncated_laplace`.

    Parameters
    ----------
    epsilon : float
        Greater than 0 and at most 700.
    delta : float
        Less than 1 and at least 1e-300.
    sensitivity, count, beside
        As for `multi_gaussian`.

    Returns
    -------
    QuasiGaussianMixture

    Raises
    ------
    CalibrationError
        If delta is 0, which no mixture of Gaussians gives, sigma is beyond the range of float64, or
        what is beside costs too much by itself.
    ValueError, TypeError
        For numbers that are not finite or out of range.

    Examples
    --------
    >>> import tightnoise as tn
    >>> noise = tn.calibrate.quasi_gaussian(5.0, 0.01, sensitivity=1.0)
    >>> round(noise.sigma, 6)  # 0.233688 by the paper's formulas
    0.228046
    >>> noise.cost(sensitivity=1.0).epsilon(0.01) <= 5.0
    True
    """
    budget, change = mixture_budget(epsilon, delta, sensitivity, count, beside)

    def single(own: float, failure: float) -> QuasiGaussianMixture:
        sigma = core.quasi_gaussian_sigma(own, failure, change)
        return QuasiGaussianMixture(_finite(sigma, own, failure, change), own, change)

    if budget.is_single:
        return single(budget.epsilon, budget.delta)
    return of_shares(single, budget, near=like_gaussian(budget))


def mixture_budget(
    epsilon: object, delta: object, sensitivity: object, count: object, beside: object
) -> tuple[Budget, float]:
    """Return the budget and the sensitivity; CalibrationError for delta = 0."""
    budget, change = scalar_budget(epsilon, delta, sensitivity, count, beside)
    allowed = f"greater than 0 and at most {LARGEST_EPSILON:g}"
    require(0 < budget.epsilon <= LARGEST_EPSILON, "epsilon", epsilon, allowed)
    if budget.delta == 0:
        raise CalibrationError(
            "delta must be greater than 0 for a mixture of Gaussians: its privacy loss has no "
            "bound, so no sigma gives pure epsilon-DP; got 0"
        )
    require(budget.delta >= _LEAST_DELTA, "delta", delta, f"at least {_LEAST_DELTA:g}, or 0")
    return budget, change


def _finite(sigma: float, epsilon: float, delta: float, sensitivity: float) -> float:
    """Return `sigma`; CalibrationError unless it is a positive number."""
    if 0 < sigma < math.inf:
        return sigma
    raise CalibrationError(
        f"no sigma between 5e-324 and 1.8e308 is proven to meet epsilon = {epsilon:g} and "
        f"delta = {delta:g} at sensitivity {sensitivity:g}"
    )
