"""Bounded-support Gaussian mechanisms in mpmath, written from their definitions.

Every double is taken as the exact number it is. A mechanism is its name and (theta, sigma, lower,
upper, levels); P is M(theta), Q is M(theta + shift).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from mpmath import mp, mpf

from reference.normal import mass, ndtr, phi


class Case(NamedTuple):
    mechanism: str  # "gaussian", "rectified", "truncated", "quantized" or "sign"
    theta: float
    sigma: float
    lower: float = -1.0
    upper: float = 1.0
    levels: int = 2


def precise(evaluate: Callable[[], mpf]) -> mpf:
    """Evaluate at growing precision until two results agree to 30 digits.

    A number far below 10^-digits needs more care: 1 - 1e-200 is 1 at 60 digits and at 120, and the
    two can agree on a wrong result. 400 digits are enough for everything down to 1e-300.
    """
    previous, smallest = None, None
    for digits in (60, 120, 400, 800):
        with mp.workdps(digits):
            value = evaluate()
            size = abs(value)
            if previous is not None and smallest < size >= abs(value - previous) * mpf(10) ** 30:
                return value
            previous, smallest = value, mpf(10) ** (-digits // 2) if digits < 400 else 0
    if abs(value) < mpf(10) ** -320:  # 0 as a double, or nearly
        return value
    raise ArithmeticError(f"no convergence: {value}")


def edges(case: Case, shift=0):
    theta = mpf(case.theta) + mpf(shift)
    return (mpf(case.lower) - theta) / mpf(case.sigma), (mpf(case.upper) - theta) / mpf(case.sigma)


def letters(case: Case):
    if case.mechanism == "sign":
        return [mpf(-1), mpf(1)]
    step = (mpf(case.upper) - mpf(case.lower)) / (case.levels - 1)
    return [*(mpf(case.lower) + i * step for i in range(case.levels - 1)), mpf(case.upper)]


def thresholds(case: Case, shift=0):
    theta = mpf(case.theta) + mpf(shift)
    if case.mechanism == "sign":
        return [-theta / mpf(case.sigma)]
    values = letters(case)
    middles = [(a + b) / 2 for a, b in pairwise(values)]
    return [(t - theta) / mpf(case.sigma) for t in middles]


def cells(case: Case, shift=0):
    z = thresholds(case, shift)
    inner = [mass(u, v) for u, v in pairwise(z)]
    return [ndtr(z[0]), *inner, ndtr(-z[-1])]


def is_discrete(case: Case) -> bool:
    return case.mechanism in ("quantized", "sign")


def _renyi(case: Case, shift: float, alpha: float):
    k = mpf(shift) / mpf(case.sigma)
    if k == 0:
        return mpf(0)
    infinite, a = alpha == float("inf"), mpf(alpha)
    if case.mechanism == "gaussian":
        return a * k * k / 2
    if is_discrete(case):
        pairs = list(zip(cells(case), cells(case, shift), strict=True))
        if infinite:
            return max(mp.log(p / q) for p, q in pairs)
        if a == 1:
            return mp.fsum(p * mp.log(p / q) for p, q in pairs)
        return mp.log(mp.fsum(p**a * q ** (1 - a) for p, q in pairs)) / (a - 1)
    (u, v), (u1, v1) = edges(case), edges(case, shift)
    inside, inside1 = mass(u, v), mass(u1, v1)
    if case.mechanism == "truncated":
        if infinite:
            return k * k / 2 - k * (u if k > 0 else v) + mp.log(inside1 / inside)
        if a == 1:
            return k * k / 2 - k * (phi(u) - phi(v)) / inside + mp.log(inside1 / inside)
        tilted = mass(u - (1 - a) * k, v - (1 - a) * k)
        return a * k * k / 2 + mp.log(inside1 / inside) + mp.log(tilted / inside) / (a - 1)
    p, p1, q, q1 = ndtr(u), ndtr(u1), ndtr(-v), ndtr(-v1)
    if infinite:
        return mp.log(p / p1) if k > 0 else mp.log(q / q1)
    if a == 1:
        atoms = p * mp.log(p / p1) + q * mp.log(q / q1)
        return atoms + k * k / 2 * inside - k * (phi(u) - phi(v))
    tilted = mass(u - (1 - a) * k, v - (1 - a) * k)
    total = p**a * p1 ** (1 - a) + q**a * q1 ** (1 - a) + mp.exp(a * (a - 1) * k * k / 2) * tilted
    return mp.log(total) / (a - 1)


def _hockey_stick(case: Case, shift: float, epsilon: float):
    k, e = mpf(shift) / mpf(case.sigma), mpf(epsilon)
    weight = mp.exp(e)
    if k == 0:
        return max(mpf(0), 1 - weight)
    if is_discrete(case):
        pairs = zip(cells(case), cells(case, shift), strict=True)
        return mp.fsum(max(mpf(0), p - weight * q) for p, q in pairs)
    if case.mechanism == "gaussian":
        k = abs(k)
        return ndtr(k / 2 - e / k) - weight * ndtr(-k / 2 - e / k)
    u, v = edges(case)
    if k < 0:
        u, v, k = -v, -u, -k
    inside, inside1 = mass(u, v), mass(u - k, v - k)
    ratio = mp.log(inside / inside1) if case.mechanism == "truncated" else 0
    t = min(k / 2 - (e + ratio) / k, v)
    between, between1 = (mass(u, t), mass(u - k, t - k)) if t > u else (mpf(0), mpf(0))
    if case.mechanism == "truncated":
        return between / inside - weight * between1 / inside1
    atoms = max(mpf(0), ndtr(u) - weight * ndtr(u - k))
    atoms += max(mpf(0), ndtr(-v) - weight * ndtr(k - v))
    return atoms + between - weight * between1


def _fisher_information(case: Case):
    variance = mpf(case.sigma) ** 2
    if case.mechanism == "gaussian":
        return 1 / variance
    if is_discrete(case):
        z = thresholds(case)
        slopes = [
            -phi(z[0]),
            *(phi(u) - phi(v) for u, v in pairwise(z)),
            phi(z[-1]),
        ]
        return mp.fsum(d * d / p for d, p in zip(slopes, cells(case), strict=True)) / variance
    u, v = edges(case)
    inside = mass(u, v)
    moment = u * phi(u) - v * phi(v)
    if case.mechanism == "truncated":
        return (1 + moment / inside - ((phi(u) - phi(v)) / inside) ** 2) / variance
    return (phi(u) ** 2 / ndtr(u) + phi(v) ** 2 / ndtr(-v) + inside + moment) / variance


def _mean(case: Case):
    theta, sigma = mpf(case.theta), mpf(case.sigma)
    if case.mechanism == "gaussian":
        return theta
    if is_discrete(case):
        return mp.fsum(p * x for p, x in zip(cells(case), letters(case), strict=True))
    u, v = edges(case)
    if case.mechanism == "truncated":
        return theta + sigma * (phi(u) - phi(v)) / mass(u, v)
    atoms = mpf(case.lower) * ndtr(u) + mpf(case.upper) * ndtr(-v)
    return atoms + theta * mass(u, v) + sigma * (phi(u) - phi(v))


def _variance(case: Case):
    theta, sigma, m = mpf(case.theta), mpf(case.sigma), _mean(case)
    if case.mechanism == "gaussian":
        return sigma**2
    if is_discrete(case):
        return mp.fsum(p * (x - m) ** 2 for p, x in zip(cells(case), letters(case), strict=True))
    u, v = edges(case)
    inside, slope, moment = mass(u, v), phi(u) - phi(v), u * phi(u) - v * phi(v)
    spread = (
        sigma**2 * (inside + moment) + 2 * sigma * (theta - m) * slope + (theta - m) ** 2 * inside
    )
    if case.mechanism == "truncated":
        return spread / inside
    atoms = (mpf(case.lower) - m) ** 2 * ndtr(u) + (mpf(case.upper) - m) ** 2 * ndtr(-v)
    return atoms + spread


def _pdf(case: Case, x: float):
    """Density at x; for the rectified mechanism the mass of the atom if x is a bound."""
    u, v = edges(case)
    if case.mechanism == "rectified" and x == case.lower:
        return ndtr(u)
    if case.mechanism == "rectified" and x == case.upper:
        return ndtr(-v)
    density = phi((mpf(x) - mpf(case.theta)) / mpf(case.sigma)) / mpf(case.sigma)
    return density / mass(u, v) if case.mechanism == "truncated" else density


def _cdf(case: Case, x: float):
    if is_discrete(case):
        pairs = zip(cells(case), letters(case), strict=True)
        return mp.fsum(p for p, letter in pairs if letter <= mpf(x))
    z = (mpf(x) - mpf(case.theta)) / mpf(case.sigma)
    if case.mechanism == "gaussian":
        return ndtr(z)
    if x < case.lower:
        return mpf(0)
    if x >= case.upper:
        return mpf(1)
    u, v = edges(case)
    return mass(u, z) / mass(u, v) if case.mechanism == "truncated" else ndtr(z)


def renyi(case: Case, shift: float, alpha: float) -> mpf:
    """D_alpha(P || Q)."""
    return precise(lambda: _renyi(case, shift, alpha))


def hockey_stick(case: Case, shift: float, epsilon: float) -> mpf:
    """sup_S P(S) - e^epsilon Q(S)."""
    return precise(lambda: _hockey_stick(case, shift, epsilon))


def hockey_stick_at_once(case: Case, shift: float, epsilon: float, digits: int) -> mpf:
    """The same with so many digits, unchecked: for searches."""
    with mp.workdps(digits):
        return _hockey_stick(case, shift, epsilon)


def fisher_information(case: Case) -> mpf:
    return precise(lambda: _fisher_information(case))


def mean(case: Case) -> mpf:
    return precise(lambda: _mean(case))


def variance(case: Case) -> mpf:
    return precise(lambda: _variance(case))


def pdf(case: Case, x: float) -> mpf:
    return precise(lambda: _pdf(case, x))


def cdf(case: Case, x: float) -> mpf:
    return precise(lambda: _cdf(case, x))
