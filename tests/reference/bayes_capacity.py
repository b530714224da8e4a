"""Bayes capacities by their definition, to 40 digits and more: integrals of the largest density.

None of the forms of the core is used: densities are written out and integrated (or summed) as they
are, 1 is taken off afterwards, with so many digits that enough are left. All functions return
log C; arguments are floats and are taken as exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from mpmath import mp, mpf

from reference import bessel

DIGITS = 60
FALL = 160  # a peak ends where its logarithm has fallen by this: 1e-69


def log_of(capacity: mpf) -> mpf:
    return mp.log1p(capacity - 1)


def reach_of(limit: mpf, holds: Callable[[mpf], bool]) -> mpf:
    """The largest t in (0, limit] at which `holds`, or a little more."""
    if limit <= 0 or holds(limit):
        return limit
    low, high = limit * mpf(10) ** -60, limit
    while high > low * mpf("1.001"):
        middle = mp.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return min(limit, high * mpf("1.01"))


def log_integral(log_f: Callable[[mpf], mpf], low: mpf, top: mpf, high: mpf, *kinks: mpf) -> mpf:
    """log of the integral of e^log_f, which has its largest value at `top`."""
    height = log_f(top)
    left = top - reach_of(top - low, lambda t: log_f(top - t) > height - FALL)
    right = top + reach_of(high - top, lambda t: log_f(top + t) > height - FALL)
    edges = sorted({left, top, right, *(k for k in kinks if left < k < right)})
    total = mpf(0)
    for a, b in pairwise(edges):
        panels = [a + (b - a) * i / 12 for i in range(13)]
        total += mp.quad(lambda x: mp.exp(log_f(x) - height), panels, method="gauss-legendre")
    return height + mp.log(total)


def ball(dim: Any, reach: Any) -> mpf:
    """The Gaussian on a ball of `reach` sigma: over the radius r of the output."""
    with mp.workdps(DIGITS + 2 * int(math.log10(dim)) + 20):
        p, t = mpf(dim), mpf(reach)
        surface = mp.log(2) + p / 2 * mp.log(mp.pi) - mp.loggamma(p / 2)
        normaliser = p / 2 * mp.log(2 * mp.pi)

        def log_f(x: mpf) -> mpf:  # at a distance x from the ball
            return (p - 1) * mp.log(x + t) - x * x / 2

        top = 2 * (p - 1) / (t + mp.sqrt(t * t + 4 * (p - 1)))
        outside = log_integral(log_f, mpf(0), top, top + 40)
        inside = p * mp.log(t) - mp.log(p)
        return log_of(sum(mp.exp(surface - normaliser + part) for part in (inside, outside)))


def cap(kappa: Any, dim: Any, half_angle: Any) -> mpf:
    """Von Mises-Fisher with its mean direction in a cap: over the angle from the pole."""
    with mp.workdps(DIGITS + 2 * int(math.log10(dim + kappa + 1)) + 20):
        k, n, psi = mpf(kappa), mpf(dim) - 2, mpf(half_angle)
        log_mean, _ = bessel.mean_and_ratio(n / 2, k, mp.dps)
        half = mpf(1) / 2
        beta = mp.loggamma(half) + mp.loggamma((n + 1) / 2) - mp.loggamma((n + 2) / 2)

        def log_f(phi: mpf) -> mpf:
            power = n * mp.log(mp.sin(phi)) if n else mpf(0)
            return k * mp.cos(max(phi - psi, mpf(0))) + power

        def rises(u: mpf) -> bool:
            return k * mp.sin(u) * mp.sin(psi + u) < n * mp.cos(psi + u)

        low, high = mpf(0), mp.pi / 2 - psi
        for _ in range(mp.prec):
            middle = (low + high) / 2
            low, high = (middle, high) if rises(middle) else (low, middle)
        least = mpf(10) ** -mp.dps  # sin(0) has no logarithm
        log_n = log_integral(log_f, least, psi + low, mp.pi - least, psi)
        return log_of(mp.exp(log_n - log_mean - beta))


def gaussian(sigma: Any, start: Any, end: Any) -> mpf:
    with mp.workdps(DIGITS):
        return mp.log1p((mpf(end) - mpf(start)) / (mpf(sigma) * mp.sqrt(2 * mp.pi)))


def _clip(x: mpf, low: mpf, high: mpf) -> mpf:
    return min(max(x, low), high)


def rectified(sigma: Any, lower: Any, upper: Any, start: Any, end: Any) -> mpf:
    """Two atoms, and a density between them of which the supremum is that at the nearest theta."""
    with mp.workdps(400):
        s = mpf(sigma)
        low, up, a, b = (mpf(x) / s for x in (lower, upper, start, end))
        left, right = _clip(a, low, up), _clip(b, low, up)
        total = mp.ncdf(low - a) + mp.ncdf(b - up)
        total += mp.ncdf(left - a) - mp.ncdf(low - a)
        total += (right - left) / mp.sqrt(2 * mp.pi)
        total += mp.ncdf(up - b) - mp.ncdf(right - b)
        return log_of(total)


def cells(sigma: Any, thresholds: list[mpf], start: Any, end: Any) -> mpf:
    """What only says between which thresholds theta + noise lies."""
    s, a, b = mpf(sigma), mpf(start), mpf(end)
    total = mp.ncdf((thresholds[0] - a) / s) + mp.ncdf((b - thresholds[-1]) / s)
    for low, high in pairwise(thresholds):
        theta = _clip((low + high) / 2, a, b)
        total += mp.ncdf((high - theta) / s) - mp.ncdf((low - theta) / s)
    return log_of(total)


def quantized(sigma: Any, lower: Any, upper: Any, levels: int, start: Any, end: Any) -> mpf:
    with mp.workdps(400):
        step = (mpf(upper) - mpf(lower)) / (levels - 1)
        half = mpf(1) / 2
        thresholds = [mpf(lower) + step * (i + half) for i in range(levels - 1)]
        return cells(sigma, thresholds, start, end)


def sign(sigma: Any, start: Any, end: Any) -> mpf:
    with mp.workdps(400):
        return cells(sigma, [mpf(0)], start, end)


def truncated(sigma: Any, lower: Any, upper: Any, start: Any, end: Any) -> mpf:
    """An output y is most likely under the theta whose mean is y: the integral goes over theta."""
    with mp.workdps(90):
        s = mpf(sigma)
        low, up, a, b = (mpf(x) / s for x in (lower, upper, start, end))

        def law(theta: mpf) -> tuple[mpf, mpf, mpf, mpf]:
            """Mean, variance, P(Y <= mean) and the density at the mean."""
            u, v = low - theta, up - theta
            mass = mp.ncdf(v) - mp.ncdf(u)
            if u > 0:
                mass = mp.ncdf(-u) - mp.ncdf(-v)
            m = (mp.npdf(u) - mp.npdf(v)) / mass
            variance = 1 + (u * mp.npdf(u) - v * mp.npdf(v)) / mass - m * m
            below = mp.ncdf(m) - mp.ncdf(u)
            if u > 0:
                below = mp.ncdf(-u) - mp.ncdf(-m)
            return m, variance, below / mass, mp.npdf(m) / mass

        def integrand(theta: mpf) -> mpf:
            _, variance, _, density = law(theta)
            return density * variance

        edges = {a, b}
        for bound in (low, up):
            edges |= {bound + d for d in (-1000, -100, -30, -10, -3, 0, 3, 10, 30, 100, 1000)}
        panels = sorted(x for x in edges if a <= x <= b)
        inside = mp.quad(integrand, panels)
        return log_of(law(a)[2] + (1 - law(b)[2]) + inside)
