"""The bounded Laplace mechanism for a bounded domain."""

from __future__ import annotations

from typing import overload

from numpy.typing import ArrayLike

from tightnoise.calibrate._domain import BOUNDED_LAPLACE, Floats, domain, epsilon_of, scale_of

__all__ = ["bounded_laplace", "bounded_laplace_epsilon"]


@overload
def bounded_laplace(
    epsilon: float, lower: ArrayLike, upper: ArrayLike, sensitivity: ArrayLike
) -> float: ...
@overload
def bounded_laplace(
    epsilon: ArrayLike, lower: ArrayLike, upper: ArrayLike, sensitivity: ArrayLike
) -> float | Floats: ...
def bounded_laplace(
    epsilon: ArrayLike, lower: ArrayLike, upper: ArrayLike, sensitivity: ArrayLike
) -> float | Floats:
    """Return the smallest scale with which the bounded Laplace mechanism is epsilon-DP.

    The true value lies in [lower, upper] and the output is drawn from the Laplace distribution
    about it, conditioned on the same bounds: `BoundedLaplace(scale, lower, upper)` (Holohan,
    Antonatos, Braghin and Mac Aonghusa 2018, "The Bounded Laplace Mechanism in Differential
    Privacy"). That is not Laplace noise, clipped, which would be private with the scale
    sensitivity/epsilon: the normalising factor depends on the true value and tells about it too.
    The scale here is larger: by a factor of nearly 2 where epsilon and sensitivity/(upper - lower)
    are small, of nearly 1 where epsilon is large or the sensitivity is nearly upper - lower. With L
    = upper - lower, c the sensitivity, at most L, k = c/scale and w = L/scale, the exact loss is

        epsilon(scale) = k + log(1 + (1 - e^-k) (1 - e^-(w - k))/(1 - e^-w)),

    that of the values lower and lower + c at the output lower (proof in
    cpp/domain/bounded_laplace_loss.hpp). In a box, whose coordinates get independent noise of one
    scale, it is the greatest sum of such losses over the changes of the coordinates that the
    sensitivity allows.

    Parameters
    ----------
    epsilon : array_like
        Between 1e-100 and 1e100, of a box with an L2 sensitivity 1e10.
    lower, upper : float or array_like
        Bounds of the true value and of the output, lower < upper, finite. Two numbers are an
        interval; 1-D arrays, or one and a number, are the bounds of each coordinate of a box.
    sensitivity : float or array_like
        How far one person can move the true value, greater than 0: of a box in L2 norm. A 1-D array
        is how far each coordinate can move. No two values are farther apart than the domain is
        wide: more means that.

    Returns
    -------
    float or ndarray of float64
        Of the shape of epsilon. The exact epsilon at the scale returned is at most the one asked
        for, and within a part in 1e12 of it. It does not rise with epsilon.

    Raises
    ------
    CalibrationError
        If scale would not be between 2.3e-308 and 1.8e308.
    ValueError
        If an argument is NaN, infinite or out of range, or lengths differ.
    TypeError
        If an argument does not hold real numbers.

    Examples
    --------
    >>> import tightnoise as tn
    >>> scale = tn.calibrate.bounded_laplace(0.5, lower=0.0, upper=10.0, sensitivity=1.0)
    >>> round(scale, 6)
    3.527871
    >>> round(tn.calibrate.bounded_laplace_epsilon(scale, 0.0, 10.0, 1.0), 9)
    0.5
    """
    return scale_of(BOUNDED_LAPLACE, epsilon, domain(lower, upper, sensitivity), 0.0)


@overload
def bounded_laplace_epsilon(
    scale: float, lower: ArrayLike, upper: ArrayLike, sensitivity: ArrayLike
) -> float: ...
@overload
def bounded_laplace_epsilon(
    scale: ArrayLike, lower: ArrayLike, upper: ArrayLike, sensitivity: ArrayLike
) -> float | Floats: ...
def bounded_laplace_epsilon(
    scale: ArrayLike, lower: ArrayLike, upper: ArrayLike, sensitivity: ArrayLike
) -> float | Floats:
    """Return the smallest epsilon for which the bounded Laplace mechanism is epsilon-DP.

    The inverse of `bounded_laplace`, which see: the worst case over all true values in the domain,
    rounded up.

    Parameters
    ----------
    scale : array_like
        Scale of the Laplace distribution before conditioning, greater than 0 and finite; the same
        for all coordinates of a box.
    lower, upper : float or array_like
        Bounds of the true value and of the output, numbers or 1-D arrays.
    sensitivity : float or array_like
        How far one person can move the true value, greater than 0: of a box in L2 norm, or, as a
        1-D array, each coordinate.

    Returns
    -------
    float or ndarray of float64
        Of the shape of scale, at most a part in 1e12 above the exact epsilon. inf beyond 1.8e308.

    Raises
    ------
    ValueError
        If an argument is NaN, infinite or out of range, or lengths differ.
    TypeError
        If an argument does not hold real numbers.

    Examples
    --------
    >>> import tightnoise as tn
    >>> round(tn.calibrate.bounded_laplace_epsilon(2.0, 0.0, 10.0, 1.0), 6)
    0.830553
    """
    return epsilon_of(BOUNDED_LAPLACE, scale, domain(lower, upper, sensitivity), 0.0)
