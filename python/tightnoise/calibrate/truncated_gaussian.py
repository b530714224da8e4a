"""The truncated Gaussian for a bounded domain."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from tightnoise._validate import one_of
from tightnoise.calibrate._domain import (
    TRUNCATED,
    TRUNCATED_THEOREM,
    Domain,
    Floats,
    domain,
    epsilon_of,
    failure_probability,
    losses,
    normal_scale,
    scale_of,
)

__all__ = ["truncated_gaussian", "truncated_gaussian_epsilon"]


@overload
def truncated_gaussian(
    epsilon: float,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = ...,
    method: str = ...,
) -> float: ...
@overload
def truncated_gaussian(
    epsilon: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = ...,
    method: str = ...,
) -> float | Floats: ...
def truncated_gaussian(
    epsilon: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = 0.0,
    method: str = "exact",
) -> float | Floats:
    """Return the smallest sigma with which the truncated Gaussian is epsilon-DP.

    The true value lies in [lower, upper], and `TruncatedGaussian(sigma, lower, upper)` releases it.
    The guarantee holds for every true value there. With L = upper - lower and c the sensitivity, at
    most L, the exact loss is

        epsilon(sigma) = c (2 L - c)/(2 sigma^2) - log(Z(c)/Z(0)),
        Z(t) = Phi((L - t)/sigma) - Phi(-t/sigma),

    that of the values upper and upper - c at the output lower (proof in
    cpp/domain/truncated_loss.hpp). In a box it is the greatest sum of such losses over the changes
    of the coordinates that the sensitivity allows.

    Parameters
    ----------
    epsilon : array_like
        Between 1e-100 and 1e100, of a box with an L2 sensitivity 1e10. For delta > 0 also 0.
    lower, upper : float or array_like
        Bounds of the true value and of the output, lower < upper, finite. Two numbers are an
        interval; 1-D arrays, or one and a number, are the bounds of each coordinate of a box.
    sensitivity : float or array_like
        How far one person can move the true value, greater than 0: of a box in L2 norm. A 1-D array
        is how far each coordinate can move. No two values are farther apart than the domain is
        wide: more means that.
    delta : float
        Between 0 and 1, exclusive of 1; greater than 0 only for an interval. Then the divergence of
        no two values is greater than delta (proof in cpp/domain/truncated_search.hpp), and with
        1e-9 less noise that could not be shown (next to delta = 1, a little more).
    method : {"exact", "paper", "generalized"}
        "paper": Theorem 6, or 13 for a box, of "The Bounded Gaussian Mechanism for Differential
        Privacy": the fixed point of sigma^2 = (L + c/2) c/(epsilon - log Delta C(sigma)), whose
        sigma^2 is up to 3.25 times as large. "generalized": the bound that they compare with, of
        the generalized Gaussian mechanism (Liu 2019, "Generalized Gaussian Mechanism for
        Differential Privacy", Definition 5), sigma^2 = sum (2 L c + c^2)/epsilon over the
        coordinates, for an L2 sensitivity by Cauchy-Schwarz. Both for delta = 0 only.

    Returns
    -------
    float or ndarray of float64
        Of the shape of epsilon. For delta = 0 the exact epsilon at the sigma returned is at most
        the one asked for, and within a part in 1e12 of it (for the other methods the epsilon of
        their bound), and sigma does not rise with epsilon. With delta > 0 it is never greater.

    Raises
    ------
    CalibrationError
        If sigma would not be between 2.3e-308 and 1.8e308.
    ValueError
        If an argument is NaN, infinite or out of range, lengths differ, or delta > 0 for a box.
    TypeError
        If an argument does not hold real numbers.

    Examples
    --------
    >>> import tightnoise as tn
    >>> sigma = tn.calibrate.truncated_gaussian(1.0, lower=0.0, upper=10.0, sensitivity=4.0)
    >>> round(sigma, 6)
    4.855061
    >>> round(tn.calibrate.truncated_gaussian_epsilon(sigma, 0.0, 10.0, 4.0), 9)
    1.0
    >>> round(tn.calibrate.truncated_gaussian(1.0, 0.0, 10.0, 4.0, method="paper"), 6)
    7.641484
    >>> tn.calibrate.truncated_gaussian([0.1, 1.0], 0.0, 10.0, 4.0).round(4)
    array([14.3109,  4.8551])
    >>> round(tn.calibrate.truncated_gaussian(3.0, 0.0, 10.0, 1.0, delta=1e-5), 6)
    1.374932
    """
    where = domain(lower, upper, sensitivity)
    failure = failure_probability(delta, where)
    calibrated = one_of("method", method, _METHODS)
    if failure > 0 and method != "exact":
        raise ValueError(f"delta must be 0 for method {method!r}; got {delta!r}")
    return calibrated(epsilon, where, failure)


@overload
def truncated_gaussian_epsilon(
    sigma: float,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = ...,
) -> float: ...
@overload
def truncated_gaussian_epsilon(
    sigma: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = ...,
) -> float | Floats: ...
def truncated_gaussian_epsilon(
    sigma: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = 0.0,
) -> float | Floats:
    """Return the smallest epsilon for which the truncated Gaussian is epsilon-DP, rounded up.

    The inverse of `truncated_gaussian`, which see: the worst case over all true values in the
    domain.

    Parameters
    ----------
    sigma : array_like
        Standard deviation of the noise before truncation, greater than 0 and finite; the same for
        all coordinates of a box.
    lower, upper : float or array_like
        Bounds of the true value and of the output, numbers or 1-D arrays.
    sensitivity : float or array_like
        How far one person can move the true value, greater than 0: of a box in L2 norm, or, as a
        1-D array, each coordinate.
    delta : float
        Between 0 and 1, exclusive of 1; greater than 0 only for an interval.

    Returns
    -------
    float or ndarray of float64
        Of the shape of sigma, at most a part in 1e12 above the exact epsilon for delta = 0. inf
        beyond 1.8e308.

    Raises
    ------
    ValueError
        If an argument is NaN, infinite or out of range, lengths differ, or delta > 0 for a box.
    TypeError
        If an argument does not hold real numbers.

    Examples
    --------
    >>> import tightnoise as tn
    >>> round(tn.calibrate.truncated_gaussian_epsilon(5.0, 0.0, 8.0, 2.0), 9)
    0.366304299
    """
    where = domain(lower, upper, sensitivity)
    return epsilon_of(TRUNCATED, sigma, where, failure_probability(delta, where))


def _exact(epsilon: Any, where: Domain, delta: float) -> float | Floats:
    return scale_of(TRUNCATED, epsilon, where, delta)


def _paper(epsilon: Any, where: Domain, delta: float) -> float | Floats:
    return scale_of(TRUNCATED_THEOREM, epsilon, where, delta)


def _generalized(epsilon: Any, where: Domain, delta: float) -> float | Floats:
    wanted = losses(epsilon, where, delta)
    # In units of the widest side, so that squares do not overflow.
    unit = float(np.max(where.width))
    width = np.asarray(where.width / unit)
    if not isinstance(where.sensitivity, np.ndarray):
        width = np.sqrt(np.sum(width * width))  # of the farthest values, and by Cauchy-Schwarz
    with np.errstate(over="ignore"):
        shift = np.minimum(np.asarray(where.sensitivity) / unit, width)
        bound = np.sum(shift * (2.0 * width + shift))
        # A sum of up to 1e8 numbers by pairs, and a root: off by less than 1e-14.
        sigma = unit * (np.sqrt(bound / wanted) * (1.0 + 1e-14))
    return normal_scale(float(sigma) if isinstance(wanted, float) else sigma, "sigma")


_METHODS = {"exact": _exact, "paper": _paper, "generalized": _generalized}
