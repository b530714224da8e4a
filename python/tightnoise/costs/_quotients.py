"""Quotients that are rounded one way."""

from __future__ import annotations

import math
import sys
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
    if sensitivity == 1:
        return sigma
    exact = Fraction(sigma) / Fraction(sensitivity)
    if exact >= sys.float_info.max:
        return sys.float_info.max
    quotient = float(exact)
    quotient = quotient if quotient <= exact else math.nextafter(quotient, 0.0)
    require(quotient > 0, "sigma / sensitivity", f"{sigma} / {sensitivity}", "greater than 0")
    return quotient
