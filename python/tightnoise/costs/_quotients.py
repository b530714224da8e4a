"""Quotients and sums that are rounded one way."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from fractions import Fraction

from tightnoise._validate import require


def quotient_upper(numerator: float, denominator: float) -> float:
    """Return numerator/denominator of positive numbers, rounded up."""
    exact = Fraction(numerator) / Fraction(denominator)
    if exact >= sys.float_info.max:
        return math.inf
    quotient = float(exact)
    quotient = quotient if quotient >= exact else math.nextafter(quotient, math.inf)
    return max(quotient, sys.float_info.min)


def quotient_lower(sigma: float, sensitivity: float) -> float:
    """Return sigma / sensitivity, rounded downwards: with less noise the cost is higher."""
    quotient = _rounded_down(sigma, sensitivity)
    require(quotient > 0, "sigma / sensitivity", f"{sigma} / {sensitivity}", "greater than 0")
    return quotient


def less_noise(multiplier: float, factor: float) -> float:
    """Return a noise multiplier by a factor, rounded downwards to no less than the least float.

    Of so little noise the cost is infinite in any case.
    """
    return max(_rounded_down(multiplier, factor), math.ulp(0.0))


def _rounded_down(sigma: float, sensitivity: float) -> float:
    if sensitivity == 1:
        return sigma
    exact = Fraction(sigma) / Fraction(sensitivity)
    if exact >= sys.float_info.max:
        return sys.float_info.max
    quotient = float(exact)
    return quotient if quotient <= exact else math.nextafter(quotient, 0.0)


def total_upper(terms: Iterable[tuple[float, float]]) -> float:
    """Return the sum of value times count over terms, rounded up."""
    try:
        total = math.fsum(value * n for value, n in terms)
    except OverflowError:
        return math.inf
    return math.nextafter(total * (1 + 2.0**-50), math.inf) if total > 0 else 0.0
