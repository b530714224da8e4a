"""Gaussian, Laplace, truncated Laplace and Tulap noise for a budget."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np

from tightnoise._core import cost as core
from tightnoise._validate import require
from tightnoise.calibrate._budget import NOTHING, Budget, scalar_budget, settled
from tightnoise.calibrate._error import CalibrationError
from tightnoise.calibrate._many import of_shares
from tightnoise.calibrate._parameter import FAR, least_noise
from tightnoise.costs import Cost
from tightnoise.mechanisms import Gaussian, Laplace, TruncatedLaplace, Tulap
from tightnoise.mechanisms._steps import LARGEST_EPSILON, SMALLEST_EPSILON

Noise = TypeVar("Noise")

# Costs of noise of pieces are rounded up by 1e-11 of themselves: formulas aim as much lower.
_AIM = 1.0 - 2e-11


def gaussian(
    epsilon: float,
    delta: float = 0.0,
    *,
    sensitivity: float,
    count: int = 1,
    beside: Cost = NOTHING,
) -> Gaussian:
    """Return the least Gaussian noise that is (epsilon, delta)-DP.

    The analytic Gaussian mechanism (Balle and Wang 2018, "Improving the Gaussian Mechanism for
    Differential Privacy", Theorem 8 and Algorithm 1), exact for every epsilon: sigma is at most
    3e-14 above the infimum, relative. Releases with noise of the same law cost as one whose
    sensitivity is sqrt(count) times as large, exactly, too.

    Parameters
    ----------
    epsilon : float
        At least 0; at 0 delta bounds the total variation distance.
    delta : float
        Between 0 and 1, exclusive.
    sensitivity : float
        The most that one record changes the value by, in Euclidean norm, greater than 0.
    count : int
        How many releases with this noise the budget is for.
    beside : Cost, optional
        What is planned already: the budget is for that, too.

    Returns
    -------
    Gaussian
        ``(noise.cost(sensitivity=sensitivity) * count + beside).epsilon(delta)`` is at most
        epsilon.

    Raises
    ------
    CalibrationError
        If delta is 0, which no Gaussian noise gives, sigma would exceed 1.8e308, or what is beside
        costs too much by itself.
    ValueError, TypeError
        If an argument is no finite number or out of range.

    Examples
    --------
    >>> import tightnoise as tn
    >>> print(f"{tn.calibrate.gaussian(1.0, 1e-5, sensitivity=1.0).sigma:.6f}")
    3.730632
    >>> print(f"{tn.calibrate.gaussian(1.0, 1e-5, sensitivity=1.0, count=10).sigma:.6f}")
    11.797293
    """
    budget, change = scalar_budget(epsilon, delta, sensitivity, count, beside)
    if budget.delta == 0:
        raise CalibrationError(
            "delta must be greater than 0 for Gaussian noise: its privacy loss has no bound, so no "
            "sigma gives pure epsilon-DP; got 0"
        )

    found = np.empty(())
    together = np.array(change * math.sqrt(budget.count))
    core.gaussian_sigma(np.array(budget.epsilon), np.array(budget.delta), together, found)
    sigma = max(float(found), sys.float_info.min)
    if sigma == math.inf:
        raise CalibrationError(
            "no finite sigma is enough: sensitivity / delta is beyond the largest float64"
        )
    if not budget.beside.terms:
        return settled(Gaussian, sigma, budget, toward=math.inf)
    return _scaled(Gaussian, sigma, budget)


def laplace(
    epsilon: float,
    delta: float = 0.0,
    *,
    sensitivity: float,
    count: int = 1,
    beside: Cost = NOTHING,
) -> Laplace:
    """Return the least Laplace noise that is (epsilon, delta)-DP.

    scale = sensitivity/(epsilon - 2 log(1 - delta)), from delta = 1 - exp((epsilon -
    sensitivity/scale)/2); for delta = 0 that of Dwork, McSherry, Nissim and Smith 2006. It is
    searched for where several releases share a delta.

    Parameters
    ----------
    epsilon : float
        At least 0.
    delta : float
        From 0 to 1, exclusive of 1.
    sensitivity : float
        The most that one record changes the value by, greater than 0. The value is one number: for
        vectors see `tightnoise.mechanisms.AdditiveNoise`.
    count, beside
        As for `gaussian`.

    Returns
    -------
    Laplace
        Its scale is at most 1e-9 above the infimum, relative; of several releases with a delta
        above 1/2 1e-9/(2 - 2 delta), and a little more where the search is long (2.4e-9 was seen).

    Raises
    ------
    CalibrationError
        If both epsilon and delta are 0, the scale would exceed 1.8e308, or what is beside costs too
        much by itself.
    ValueError, TypeError
        If an argument is no finite number or out of range.

    Examples
    --------
    >>> import tightnoise as tn
    >>> tn.calibrate.laplace(0.5, sensitivity=1.0)
    Laplace(scale=2.0)
    >>> print(f"{tn.calibrate.laplace(0.5, 1e-6, sensitivity=1.0, count=100).scale:.4f}")
    79.3575
    """
    budget, change = scalar_budget(epsilon, delta, sensitivity, count, beside)
    if budget.delta == 0:
        loss = budget.pure_share
    else:
        loss = budget.epsilon - 2.0 * math.log1p(-aim(budget.delta))
    scale = change / loss if loss > 0 else math.inf
    if scale == math.inf:
        raise CalibrationError(
            "no finite scale is enough: epsilon and delta must not both be 0, nor next to 0 for "
            f"the sensitivity; got epsilon {epsilon} and delta {delta}"
        )
    if budget.delta == 0 or budget.is_single:
        return settled(Laplace, scale, budget, toward=math.inf)
    return _scaled(Laplace, scale, budget)


def _scaled(make: Callable[[float], Noise], least: float, budget: Budget) -> Noise:
    """Return the noise of the least scale from `least` on with which the budget is met."""
    most = min(least * budget.count * FAR, 1e308)
    return least_noise(make, budget, (least, most), least * math.sqrt(budget.count))[0]


def truncated_laplace(
    epsilon: float,
    delta: float = 0.0,
    *,
    sensitivity: float,
    count: int = 1,
    beside: Cost = NOTHING,
) -> TruncatedLaplace:
    """Return truncated Laplace noise of scale sensitivity/epsilon, as tight as delta allows.

    The bound is scale log(1 + (e^epsilon - 1)/(2 delta)) (Geng, Ding, Guo and Kumar 2020, "Tight
    Analysis of Privacy and Utility Tradeoff in Approximate Differential Privacy", Definition 1) up
    to delta = 1/2. Beyond, where neighbours' supports overlap by less than half, it is scale log z,
    z^2 - 2 (1 - delta) e^epsilon z + (1 - 2 delta) e^epsilon = 0. It is the smallest for that
    scale, which the authors chose; another one may have less loss. For several releases both go by
    an epsilon for each, the largest that is found to do, and a part of half of delta.

    Parameters
    ----------
    epsilon : float
        Greater than 0, at most 700.
    delta : float
        Between 0 and 1, exclusive.
    sensitivity, count, beside
        As for `laplace`.

    Returns
    -------
    TruncatedLaplace

    Raises
    ------
    CalibrationError
        If epsilon or delta is 0, the noise would exceed 1.8e308, or what is beside costs too much
        by itself.
    ValueError, TypeError
        If an argument is no finite number or out of range.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.calibrate.truncated_laplace(1.0, 1e-5, sensitivity=1.0)
    >>> m.scale, round(m.bound, 6), round(m.mean_abs(), 6)
    (1.0, 11.361115, 0.999868)
    """
    budget, change = scalar_budget(epsilon, delta, sensitivity, count, beside)
    if budget.delta == 0:
        raise CalibrationError(
            "delta must be greater than 0 for bounded noise: outputs next to an end are possible "
            "from one of two neighbours only; got 0"
        )
    require(budget.epsilon <= LARGEST_EPSILON, "epsilon", epsilon, f"at most {LARGEST_EPSILON:g}")

    def single(own: float, failure: float) -> TruncatedLaplace:
        scale = _quotient_upper(change, own)
        bound = scale * _bound_in_scales(own, aim(failure)) if scale < math.inf else scale
        if bound == math.inf:
            raise CalibrationError(
                "no finite noise is enough: epsilon must be greater than 0, and not next to 0 for "
                f"the sensitivity; got {epsilon}"
            )
        one = budget.for_one(own, failure)
        return settled(lambda end: TruncatedLaplace(scale, end), bound, one, toward=math.inf)

    if budget.is_single:
        return single(budget.epsilon, budget.delta)
    return of_shares(single, budget)


def _quotient_upper(numerator: float, denominator: float) -> float:
    """Return the least float that is at least numerator/denominator; may be infinite."""
    if denominator == 0 or numerator / denominator == math.inf:
        return math.inf
    quotient = numerator / denominator
    exact = Fraction(numerator) / Fraction(denominator)
    return quotient if quotient >= exact else math.nextafter(quotient, math.inf)


def _bound_in_scales(epsilon: float, delta: float) -> float:
    if delta <= 0.5:
        # By logarithms, for (e^epsilon - 1)/delta may overflow.
        log_ratio = math.log(math.expm1(epsilon)) - math.log(2.0 * delta)
        return log_ratio if log_ratio > 40.0 else math.log1p(math.exp(log_ratio))
    half = 1.0 - delta
    # z e^-epsilon = half + sqrt(half^2 + (2 delta - 1) e^-epsilon).
    return epsilon + math.log(
        half + math.sqrt(half * half + (2.0 * delta - 1.0) * math.exp(-epsilon))
    )


def tulap(
    epsilon: float,
    delta: float = 0.0,
    *,
    sensitivity: float,
    count: int = 1,
    beside: Cost = NOTHING,
) -> Tulap:
    """Return Tulap noise, as tight as delta allows: canonical for (epsilon, delta)-DP.

    sensitivity times Tulap(0, b, q) with b = e^-epsilon and q = 2 delta b/(1 - b + 2 delta b) (Awan
    and Slavkovic 2020, "Differentially Private Inference for Binomial Data"; Awan and Vadhan 2023,
    "Canonical Noise Distributions and Private Hypothesis Tests"). Best for tests, not for a loss.
    Several releases go by parts of the budget, as for `truncated_laplace`.

    Parameters
    ----------
    epsilon : float
        From 1e-15 to 700.
    delta : float
        From 0, for no bound, to 1, exclusive of 1.
    sensitivity, count, beside
        As for `laplace`.

    Returns
    -------
    Tulap

    Raises
    ------
    CalibrationError
        If epsilon is outside [1e-15, 700], or what is beside costs too much by itself.
    ValueError, TypeError
        If an argument is no finite number or out of range.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.calibrate.tulap(1.0, 1e-5, sensitivity=1.0)
    >>> round(m.bound, 6), round(m.mean_abs(), 6)
    (11.327948, 0.966315)
    """
    budget, change = scalar_budget(epsilon, delta, sensitivity, count, beside)

    def single(own: float, failure: float) -> Tulap:
        require_steps(own)
        unbounded = Tulap(own, change)
        if failure == 0:
            return unbounded
        target = aim(failure)
        bound = -float(unbounded.ppf(target / (math.expm1(own) + 2.0 * target)))
        one = budget.for_one(own, failure)
        return settled(lambda end: Tulap(own, change, end), bound, one, toward=math.inf)

    if budget.is_single:
        return single(budget.epsilon, budget.delta)
    return of_shares(single, budget)


def aim(delta: float) -> float:
    """Return what formulas in closed form are solved for: a delta that leaves room for rounding."""
    return delta * _AIM


def require_steps(epsilon: float) -> None:
    """Raise CalibrationError unless noise of steps can have this epsilon of its own."""
    if not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise CalibrationError(
            f"the noise's own epsilon must be from {SMALLEST_EPSILON} to {LARGEST_EPSILON:g}; "
            f"epsilon and delta ask for {epsilon}"
        )
