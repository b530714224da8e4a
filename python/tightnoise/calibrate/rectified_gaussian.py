"""The rectified Gaussian, clipped noise, for a bounded domain."""

from __future__ import annotations

from typing import overload

from numpy.typing import ArrayLike

from tightnoise.calibrate._domain import (
    RECTIFIED,
    Floats,
    domain,
    epsilon_of,
    failure_probability,
    scale_of,
)

__all__ = ["rectified_gaussian", "rectified_gaussian_epsilon"]


@overload
def rectified_gaussian(
    epsilon: float,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = ...,
) -> float: ...
@overload
def rectified_gaussian(
    epsilon: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = ...,
) -> float | Floats: ...
def rectified_gaussian(
    epsilon: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = 0.0,
) -> float | Floats:
    """Return the smallest sigma with which the rectified Gaussian is epsilon-DP.

    The true value lies in [lower, upper], Gaussian noise is added, and the sum is clipped to the
    same bounds: `RectifiedGaussian(sigma, lower, upper)`. That is epsilon-DP, without a delta,
    since every output is possible from every value of the domain. With L = upper - lower and c the
    sensitivity, at most L, the exact loss is

        epsilon(sigma) = log Phi(-(L - c)/sigma) - log Phi(-L/sigma),

    that of the values upper and upper - c at the output lower (proof in
    cpp/domain/rectified_loss.hpp). In a box it is the greatest sum of such losses over the changes
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
        no two values is greater than delta (proof in cpp/domain/rectified_profile.hpp), and with
        1e-11 less noise that is not so.

    Returns
    -------
    float or ndarray of float64
        Of the shape of epsilon. For delta = 0 the exact epsilon at the sigma returned is at most
        the one asked for, and within a part in 1e12 of it, and sigma does not rise with epsilon.
        With delta > 0 it is never greater.

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
    >>> sigma = tn.calibrate.rectified_gaussian(0.1, lower=0.0, upper=10.0, sensitivity=1.0)
    >>> round(sigma, 6)
    13.09842
    >>> round(tn.calibrate.rectified_gaussian_epsilon(sigma, 0.0, 10.0, 1.0), 9)
    0.1
    >>> round(tn.calibrate.rectified_gaussian(1.0, 0.0, 10.0, 1.0, delta=1e-5), 6)
    3.222556
    """
    where = domain(lower, upper, sensitivity)
    return scale_of(RECTIFIED, epsilon, where, failure_probability(delta, where))


@overload
def rectified_gaussian_epsilon(
    sigma: float,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = ...,
) -> float: ...
@overload
def rectified_gaussian_epsilon(
    sigma: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = ...,
) -> float | Floats: ...
def rectified_gaussian_epsilon(
    sigma: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    delta: float = 0.0,
) -> float | Floats:
    """Return the smallest epsilon for which the rectified Gaussian is epsilon-DP, rounded up.

    The inverse of `rectified_gaussian`, which see: the worst case over all true values in the
    domain.

    Parameters
    ----------
    sigma : array_like
        Standard deviation of the noise before clipping, greater than 0 and finite; the same for all
        coordinates of a box.
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
    >>> round(tn.calibrate.rectified_gaussian_epsilon(13.09842, 0.0, 10.0, 1.0), 6)
    0.1
    """
    where = domain(lower, upper, sensitivity)
    return epsilon_of(RECTIFIED, sigma, where, failure_probability(delta, where))
