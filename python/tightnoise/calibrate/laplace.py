"""Laplace noise, also truncated, for an (epsilon, delta)."""

from __future__ import annotations

import math

from tightnoise._validate import require
from tightnoise.calibrate._error import CalibrationError
from tightnoise.calibrate._target import first_private, quotient_upper, target
from tightnoise.mechanisms import Laplace, TruncatedLaplace
from tightnoise.mechanisms._steps import LARGEST_EPSILON

__all__ = ["laplace", "truncated_laplace"]


def laplace(epsilon: float, delta: float, sensitivity: float) -> Laplace:
    """Return the Laplace noise of the smallest scale that is (epsilon, delta)-DP.

    scale = sensitivity/(epsilon - 2 log(1 - delta)), from delta = 1 - exp((epsilon -
    sensitivity/scale)/2); for delta = 0 that of Dwork, McSherry, Nissim and Smith 2006.

    Parameters
    ----------
    epsilon : float
        At least 0.
    delta : float
        From 0 to 1, exclusive of 1.
    sensitivity : float
        The most that one person can change the value by, greater than 0. The value is one number:
        for vectors see `tightnoise.mechanisms.AdditiveNoise`.

    Returns
    -------
    Laplace
        ``delta(epsilon, sensitivity)`` of it is at most delta, and its scale at most 1e-9 above the
        infimum, relative.

    Raises
    ------
    CalibrationError
        If both epsilon and delta are 0, or the scale would exceed 1.8e308.
    ValueError
        If an argument is NaN, infinite or out of range.
    TypeError
        If an argument is not a real number.

    Examples
    --------
    >>> import tightnoise as tn
    >>> tn.calibrate.laplace(0.5, 0.0, sensitivity=1.0)
    Laplace(scale=2.0)
    >>> round(tn.calibrate.laplace(0.5, 0.1, sensitivity=1.0).scale, 6)
    1.407022
    """
    wanted = target(epsilon, delta, sensitivity)
    loss = wanted.epsilon - 2.0 * math.log1p(-wanted.aim)
    scale = quotient_upper(wanted.sensitivity, loss)
    if scale == math.inf:
        raise CalibrationError(
            "no finite scale is enough: epsilon and delta must not both be 0, nor next to 0 for "
            f"the sensitivity; got epsilon {epsilon} and delta {delta}"
        )
    return first_private(Laplace, scale, wanted, toward=math.inf)


def truncated_laplace(epsilon: float, delta: float, sensitivity: float) -> TruncatedLaplace:
    """Return truncated Laplace noise of scale sensitivity/epsilon, as tight as delta allows.

    The bound is scale log(1 + (e^epsilon - 1)/(2 delta)) (Geng, Ding, Guo and Kumar 2020, "Tight
    Analysis of Privacy and Utility Tradeoff in Approximate Differential Privacy", Definition 1) up
    to delta = 1/2. Beyond, where neighbours' supports overlap by less than half, it is scale log z,
    z^2 - 2 (1 - delta) e^epsilon z + (1 - 2 delta) e^epsilon = 0. It is the smallest for that
    scale, which the authors chose; another one may have less loss.

    Parameters
    ----------
    epsilon : float
        Greater than 0, at most 700.
    delta : float
        Between 0 and 1, exclusive.
    sensitivity : float
        The most that one person can change the value by, greater than 0. The value is one number:
        for vectors see `tightnoise.mechanisms.AdditiveNoise`.

    Returns
    -------
    TruncatedLaplace
        ``delta(epsilon, sensitivity)`` of it is at most delta.

    Raises
    ------
    CalibrationError
        If epsilon or delta is 0, or the noise would exceed 1.8e308.
    ValueError
        If an argument is NaN, infinite or out of range.
    TypeError
        If an argument is not a real number.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.calibrate.truncated_laplace(1.0, 1e-5, sensitivity=1.0)
    >>> m.scale, round(m.bound, 6), round(m.mean_abs(), 6)
    (1.0, 11.361115, 0.999868)
    """
    wanted = target(epsilon, delta, sensitivity)
    if wanted.delta == 0:
        raise CalibrationError(
            "delta must be greater than 0 for bounded noise: outputs next to an end are possible "
            "from one of two neighbours only; got 0"
        )
    require(wanted.epsilon <= LARGEST_EPSILON, "epsilon", epsilon, f"at most {LARGEST_EPSILON:g}")
    scale = quotient_upper(wanted.sensitivity, wanted.epsilon)
    bound = scale * _bound_in_scales(wanted.epsilon, wanted.aim) if scale < math.inf else scale
    if bound == math.inf:
        raise CalibrationError(
            "no finite noise is enough: epsilon must be greater than 0, and not next to 0 for the "
            f"sensitivity; got {epsilon}"
        )
    return first_private(lambda end: TruncatedLaplace(scale, end), bound, wanted, toward=math.inf)


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
