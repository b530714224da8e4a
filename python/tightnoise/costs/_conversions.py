"""The formulas that turn one Renyi-DP guarantee into (epsilon, delta), one class of bound each.

Let tau bound the Renyi divergence of order alpha > 1 between the outputs of neighbours, both ways.
Then the release is (epsilon, delta)-DP, for every delta in (0, 1), with

- ``classic`` (Mironov 2017, "Renyi Differential Privacy", Proposition 3):

      epsilon = tau + log(1/delta) / (alpha - 1)
      delta   = exp((alpha - 1) (tau - epsilon))

- ``canonne`` (Canonne, Kamath and Steinke 2020, "The Discrete Gaussian for Differential Privacy",
  Proposition 12; the same bound is Theorem 21 of Balle et al. 2020, "Hypothesis Testing
  Interpretations and Renyi Differential Privacy"):

      epsilon = tau + log(1 - 1/alpha) - (log delta + log alpha) / (alpha - 1)
      delta   = exp((alpha - 1) (tau - epsilon + log(1 - 1/alpha)) - log alpha)

At alpha = inf, tau bounds the privacy loss itself, P <= exp(tau) Q, and both names give the exact
consequence P(S) - exp(epsilon) Q(S) <= 1 - exp(epsilon - tau).

Every function returns an upper bound: the terms are summed in floating point, the rounding of
each is at most a few units in the last place of that term, and `_ROUNDING` times the sum of the
terms' magnitudes is added. So an answer is never below the formula, and epsilon or log(delta)
is above it by at most 5e-15 times the sum of the terms' magnitudes.

Card: alpha in (1, inf], tau in [0, inf], delta in (0, 1) down to the subnormals, epsilon in
[0, inf). tau = inf gives epsilon = inf and delta = 1. Nothing overflows, nothing is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CONVERSIONS", "Conversion", "conversion_named"]

Array = NDArray[np.float64]
_ROUNDING = 16 * float(np.finfo(np.float64).eps)
_UNDERFLOW = float(np.finfo(np.float64).tiny)  # covers what subnormal terms lose


class Conversion(NamedTuple):
    """One bound, read both ways; arrays of a common shape in, upper bounds out."""

    epsilon_upper: Callable[[Array, Array, Array], Array]
    delta_upper: Callable[[Array, Array, Array], Array]


def _sum_upper(*terms: Array) -> Array:
    total = sum(terms[1:], start=terms[0])
    magnitude = sum((np.abs(term) for term in terms[1:]), start=np.abs(terms[0]))
    upper: Array = total + (_ROUNDING * magnitude + _UNDERFLOW)
    return upper


def _log_one_minus_inverse(alpha: Array) -> Array:
    """log(1 - 1/alpha): below 2 the difference alpha - 1 is exact, above 2 log1p loses nothing."""
    near_one = np.log((np.minimum(alpha, 2.0) - 1.0) / np.minimum(alpha, 2.0))
    return np.where(alpha < 2.0, near_one, np.log1p(-1.0 / np.maximum(alpha, 2.0)))


def _classic_epsilon(alpha: Array, rdp: Array, delta: Array) -> Array:
    return _sum_upper(rdp, -np.log(delta) / (alpha - 1.0))


def _exponent(alpha: Array, rdp: Array, epsilon: Array) -> Array:
    """(alpha - 1) (rdp - epsilon), kept finite: exp of the limits is 0 or above 1 all the same."""
    return np.clip((alpha - 1.0) * (rdp - epsilon), -1e300, 1e300)


def _classic_log_delta(alpha: Array, rdp: Array, epsilon: Array) -> Array:
    return _sum_upper(_exponent(alpha, rdp, epsilon))


def _canonne_epsilon(alpha: Array, rdp: Array, delta: Array) -> Array:
    slope = alpha - 1.0
    return _sum_upper(
        rdp, _log_one_minus_inverse(alpha), -np.log(delta) / slope, -np.log(alpha) / slope
    )


def _canonne_log_delta(alpha: Array, rdp: Array, epsilon: Array) -> Array:
    slope = alpha - 1.0
    return _sum_upper(
        _exponent(alpha, rdp, epsilon), slope * _log_one_minus_inverse(alpha), -np.log(alpha)
    )


def _infinite_order_epsilon(rdp: Array, delta: Array) -> Array:
    return _sum_upper(rdp, np.log1p(-delta))


def _infinite_order_delta(rdp: Array, epsilon: Array) -> Array:
    exact = -np.expm1(np.minimum(epsilon - rdp, 0.0))
    return np.where(epsilon >= rdp, 0.0, exact * (1.0 + _ROUNDING))


def _guarded(
    finite_epsilon: Callable[[Array, Array, Array], Array],
    finite_log_delta: Callable[[Array, Array, Array], Array],
) -> Conversion:
    """Complete the formulas for finite order and cost by the two infinities and the range."""

    def epsilon_upper(alpha: Array, rdp: Array, delta: Array) -> Array:
        order = np.where(np.isinf(alpha), 2.0, alpha)
        cost = np.where(np.isinf(rdp), 0.0, rdp)
        with np.errstate(over="ignore"):
            finite = finite_epsilon(order, cost, delta)
        either = np.where(np.isinf(alpha), _infinite_order_epsilon(cost, delta), finite)
        return np.where(np.isinf(rdp), np.inf, np.maximum(either, 0.0))

    def delta_upper(alpha: Array, rdp: Array, epsilon: Array) -> Array:
        order = np.where(np.isinf(alpha), 2.0, alpha)
        cost = np.where(np.isinf(rdp), 0.0, rdp)
        with np.errstate(over="ignore", under="ignore"):
            log_delta = np.minimum(finite_log_delta(order, cost, epsilon), 0.0)
            # exp underflows to 0 where the truth is tiny but positive, hence the next number up.
            finite = np.nextafter(np.exp(log_delta) * (1.0 + _ROUNDING), 1.0)
        either = np.where(np.isinf(alpha), _infinite_order_delta(cost, epsilon), finite)
        return np.where(np.isinf(rdp), 1.0, np.minimum(either, 1.0))

    return Conversion(epsilon_upper, delta_upper)


CONVERSIONS: dict[str, Conversion] = {
    "canonne": _guarded(_canonne_epsilon, _canonne_log_delta),
    "classic": _guarded(_classic_epsilon, _classic_log_delta),
}


def conversion_named(name: str) -> Conversion:
    """Return the conversion called `name`; ValueError lists what exists."""
    try:
        return CONVERSIONS[name]
    except (KeyError, TypeError):
        known = ", ".join(repr(key) for key in CONVERSIONS)
        raise ValueError(f"conversion must be one of {known}; got {name!r}") from None
