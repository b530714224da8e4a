"""The hockey-stick divergence of a mixture and itself, shifted, by quadrature with mpmath.

Sensitivity 1. The integrand is 0 outside the intervals between the roots of

    G(x) = log f(x + shift) - log f(x) - epsilon,

which are looked for on a grid of sigma/50 and polished; each interval is cut at every
component, where the quasi-Gaussian has its kinks, and to a length of sigma at most.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

from mpmath import mp, mpf


class Mixture(NamedTuple):
    """A density at any precision, its logarithm in float64, and the length scales it has."""

    density: Callable[[mpf], mpf]
    log_density: Callable[[float], float]
    sigma: float
    farthest: int


def _log_sum(exponents: list[float]) -> float:
    largest = max(exponents)
    return largest + math.log(math.fsum(math.exp(e - largest) for e in exponents))


def multi_gaussian(sigma: float, epsilon: float, modes: int) -> Mixture:
    """Return the density of Definition 3.1."""
    s, e = mpf(sigma), mpf(epsilon)
    indices = range(-modes, modes + 1)
    total = sum(mp.exp(-abs(k) * e) for k in indices) * s * mp.sqrt(2 * mp.pi)
    # N(x; k, s^2) = N(x; 0, s^2) e^(k x / s^2) e^(-k^2 / (2 s^2)): a polynomial in e^(x / s^2).
    coefficients = [
        mp.exp(-abs(k) * e - mpf(k * k) / (2 * s * s)) / total for k in reversed(indices)
    ]

    def density(x: mpf) -> mpf:
        y = mp.exp(x / (s * s))
        return mp.exp(-x * x / (2 * s * s)) * mp.polyval(coefficients, y) / y**modes

    def log_density(x: float) -> float:
        return _log_sum([-abs(k) * epsilon - 0.5 * ((x - k) / sigma) ** 2 for k in indices])

    return Mixture(density, log_density, sigma, modes)


def quasi_gaussian(sigma: float, epsilon: float) -> Mixture:
    """Return the density of Definition 4.1."""
    s, weight = mpf(sigma), mp.exp(mpf(epsilon))
    total = (weight + 2 * mp.ncdf(1 / s)) * s * mp.sqrt(2 * mp.pi)

    def density(x: mpf) -> mpf:
        ratio = mp.exp((2 * abs(x) - 1) / (2 * s * s))
        return mp.exp(-x * x / (2 * s * s)) * (weight + ratio) / total

    def log_density(x: float) -> float:
        return _log_sum([epsilon - 0.5 * (x / sigma) ** 2, -0.5 * ((abs(x) - 1) / sigma) ** 2])

    return Mixture(density, log_density, sigma, 1)


def _positive_intervals(law: Mixture, shift: float, epsilon: float) -> list[tuple[mpf, mpf]]:
    def rough(x: float) -> float:
        return law.log_density(x + shift) - law.log_density(x) - epsilon

    def exact(x: mpf) -> mpf:
        return law.density(x + mpf(shift)) / (mp.exp(mpf(epsilon)) * law.density(x)) - 1

    def root(a: mpf, b: mpf) -> mpf:
        # Illinois; what is left of the bracket is far below the square root of the precision,
        # and the integrand is 0 there.
        at_a, at_b = exact(a), exact(b)
        for _ in range(60):
            middle = a - at_a * (b - a) / (at_b - at_a)
            value = exact(middle)
            if (value > 0) == (at_b > 0):
                b, at_b, at_a = middle, value, at_a / 2
            else:
                a, at_a, at_b = middle, value, at_b / 2
            if b - a < law.sigma * mp.eps or abs(value) < mp.eps:
                break
        return middle

    # G > 0 as far out as this at least, and 16 sigma farther there is nothing left.
    low = -law.farthest - 1 - epsilon * law.sigma**2 / shift - 16 * law.sigma
    high = law.farthest + 16 * law.sigma
    steps = int((high - low) / (law.sigma / 50)) + 1
    grid = [low + (high - low) * i / steps for i in range(steps + 1)]
    values = [rough(x) for x in grid]
    # A hump that rises above 0 between grid points.
    points = [grid[0]]
    for i in range(1, steps):
        if values[i - 1] <= values[i] >= values[i + 1] and values[i] <= 0:
            a, b = grid[i - 1], grid[i + 1]
            for _ in range(80):
                c, d = a + (b - a) / 3, b - (b - a) / 3
                a, b = (c, b) if rough(c) < rough(d) else (a, d)
            points.append((a + b) / 2)
        points.append(grid[i])
    points = sorted([*points, grid[-1]])
    signs = [exact(mpf(x)) > 0 for x in points]
    edges = [mpf(points[0])] if signs[0] else []
    for (x, y), (u, v) in zip(itertools.pairwise(points), itertools.pairwise(signs), strict=True):
        if u != v:
            edges.append(root(mpf(x), mpf(y)))
    if signs[-1]:
        edges.append(mpf(points[-1]))
    return list(zip(edges[::2], edges[1::2], strict=True))


def divergence(law: Mixture, shift: float, epsilon: float) -> mpf:
    """Return the integral of max(f(x + shift) - e^epsilon f(x), 0)."""
    by, factor = mpf(shift), mp.exp(mpf(epsilon))
    kinks = sorted(
        {mpf(k) for k in range(-law.farthest, law.farthest + 1)}
        | {mpf(k) - by for k in range(-law.farthest, law.farthest + 1)}
    )

    def integrand(x: mpf) -> mpf:
        return law.density(x + by) - factor * law.density(x)

    total = mpf(0)
    for a, b in _positive_intervals(law, shift, epsilon):
        cuts = [a, *(k for k in kinks if a < k < b), b]
        for x, y in itertools.pairwise(cuts):
            pieces = int((y - x) / law.sigma) + 1
            panels = [x + (y - x) * i / pieces for i in range(pieces + 1)]
            # mpmath's error is absolute: the integrand is of the order of 1 somewhere.
            scale = max(integrand((u + v) / 2) for u, v in itertools.pairwise(panels))
            part = mp.quad(
                lambda t, unit=scale: integrand(t) / unit, panels, method="gauss-legendre"
            )
            total += scale * part
    return total
