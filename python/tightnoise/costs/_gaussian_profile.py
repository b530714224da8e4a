"""The exact guarantee of the Gaussian mechanism, by its privacy profile.

Noise N(0, sigma^2) on a value whose L2 sensitivity is Delta is (epsilon, delta)-DP exactly if

    delta >= Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu),   mu = Delta / sigma

(Balle and Wang 2018, "Improving the Gaussian Mechanism for Differential Privacy", Theorem 8). This
is mu-Gaussian-DP (Dong, Roth and Su 2022, "Gaussian Differential Privacy", Corollary 2.13), and
Gaussian mechanisms compose by the root of the sum of the squares of their mu (Corollary 3.3): k
releases cost sqrt(k) mu. No conversion of a Renyi-DP curve gives less.

Both functions round upwards: to at most 1.3e-14 above delta, relative, and to at most the epsilon
of delta (1 - 1e-13). Ranges: any float64, and nothing overflows on the way.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise import _core
from tightnoise._arrays import elementwise, number_or_array
from tightnoise._validate import number_array, require_all

__all__ = ["gaussian_delta", "gaussian_epsilon"]

Array = NDArray[np.float64]


@overload
def gaussian_delta(epsilon: float, mu: float) -> float: ...
@overload
def gaussian_delta(epsilon: ArrayLike, mu: ArrayLike) -> Array | float: ...
def gaussian_delta(epsilon: ArrayLike, mu: ArrayLike) -> Array | float:
    """Return the smallest delta with which a Gaussian mechanism is (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : array_like
        At least 0; infinity is allowed. At 0, delta is the total variation distance.
    mu : array_like
        L2 sensitivity over sigma, at least 0; infinity (no noise) is allowed.

    Returns
    -------
    float or ndarray of float64
        Of the shape the arguments broadcast to, in [0, 1]; what would underflow is 5e-324.

    Raises
    ------
    ValueError
        If epsilon or mu is negative or NaN, or the shapes do not broadcast together.
    TypeError
        If epsilon or mu does not hold real numbers.

    Examples
    --------
    >>> from tightnoise import accounting
    >>> f"{accounting.gaussian_delta(1.0, 0.5):.6e}"
    '6.829595e-03'
    """
    losses, distances = number_array("epsilon", epsilon), number_array("mu", mu)
    require_all(losses >= 0, "epsilon", losses, "at least 0 (infinity is allowed)")
    require_all(distances >= 0, "mu", distances, "at least 0 (infinity is allowed)")
    return number_or_array(
        elementwise(_core.accounting.gaussian_delta, epsilon=losses, mu=distances)
    )


@overload
def gaussian_epsilon(delta: float, mu: float) -> float: ...
@overload
def gaussian_epsilon(delta: ArrayLike, mu: ArrayLike) -> Array | float: ...
def gaussian_epsilon(delta: ArrayLike, mu: ArrayLike) -> Array | float:
    """Return the smallest epsilon with which a Gaussian mechanism is (epsilon, delta)-DP.

    Parameters
    ----------
    delta : array_like
        Between 0 and 1; at 0 only mu = 0 has a finite epsilon.
    mu : array_like
        L2 sensitivity over sigma, at least 0; infinity (no noise) is allowed.

    Returns
    -------
    float or ndarray of float64
        Of the shape the arguments broadcast to, at least 0.

    Raises
    ------
    ValueError
        If delta is outside [0, 1], mu is negative, either is NaN, or the shapes do not broadcast
        together.
    TypeError
        If delta or mu does not hold real numbers.

    Notes
    -----
    Where delta is within a part in 1e14 of the total variation distance 2 Phi(mu/2) - 1, epsilon is
    as good as 0 and its relative error is large: the digits of delta no longer determine it.

    Examples
    --------
    >>> from tightnoise import accounting
    >>> steps, sigma = 100, 20.0
    >>> round(accounting.gaussian_epsilon(1e-5, steps**0.5 / sigma), 6)
    1.993091
    """
    failures, distances = number_array("delta", delta), number_array("mu", mu)
    require_all((failures >= 0) & (failures <= 1), "delta", failures, "between 0 and 1")
    require_all(distances >= 0, "mu", distances, "at least 0 (infinity is allowed)")
    return number_or_array(
        elementwise(_core.accounting.gaussian_epsilon, delta=failures, mu=distances)
    )
