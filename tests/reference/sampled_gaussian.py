"""The Renyi divergence of the sampled Gaussian mechanism, to at least 25 digits.

D_a(P || Q) of P = (1 - q) N(0, s^2) + q N(1, s^2) from Q = N(0, s^2), written out twice: as a
binomial sum for integer orders and as an integral for real ones. Arguments are floats or mpf and
are taken as exact.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

from mpmath import mp, mpf


def integer_order(s: Any, q: Any, a: int) -> mpf:
    """1 / (a - 1) log sum_k C(a, k) (1 - q)^(a - k) q^k e^(k (k - 1) / (2 s^2))."""
    with mp.workdps(60):
        s, q = mpf(s), mpf(q)
        # The first two terms and the 1 of log1p cancel: sum_k of the binomial law is 1.
        total, binomial = mpf(0), mpf(1)
        for k in range(a + 1):
            weight = binomial * (1 - q) ** (a - k) * q**k
            total += weight * mp.expm1(mpf(k * (k - 1)) / (2 * s * s))
            binomial = binomial * (a - k) / (k + 1)
        return mp.log1p(total) / (a - 1)


def _panels(s: mpf, q: mpf, a: mpf) -> list[mpf]:
    """Ends of panels that follow the integrand: fine where it bends, and as far as it reaches."""
    crossing = 1 / (2 * s) + s * mp.log((1 - q) / q)
    least, most = mpf(-16), max(a, 2) / s + 16
    ends = {least, most}
    for centre in (mpf(0), 1 / (2 * s), 1 / s, 2 / s, a / s, _mode(s, q, a)):
        ends |= {centre + mpf(j) for j in range(-16, 17, 2)}
        j = mpf(16)
        while j < most:
            ends |= {centre - j, centre + j}
            j *= mpf("1.4")
    ends.add(crossing)
    j = min(s, mpf(1)) / 2
    while j < 40:
        ends |= {crossing - j, crossing + j}
        j *= mpf("1.5")
    return sorted(x for x in ends if least <= x <= most)


def _mode(s: mpf, q: mpf, a: mpf) -> mpf:
    z = a / s
    for _ in range(200):
        z = a / s / (1 + (1 - q) / q * mp.exp(1 / (2 * s * s) - z / s))
    return z


def real_order(s: Any, q: Any, a: Any, *, backwards: bool = False) -> mpf:
    """1 / (a - 1) log E_Q[(dP / dQ)^a], as an integral of (1 + u)^a - 1 - a u; KL for a = 1.

    backwards: D_a(Q || P) instead, which is E_Q[(dP / dQ)^(1 - a)].
    """
    with mp.workdps(30):
        s, q, a = mpf(s), mpf(q), mpf(a)
        if q == 1:
            return a / (2 * s * s)
        power = 1 - a if backwards else a
        # The integrand is of the order of (a - 1) q^2 / s^2 and has lost those digits.
        lost = -mp.log10(q * q * min(1 / s, 1) ** 2) - (mp.log10(a - 1) if a > 1 else 0)
        panels = _panels(s, q, a)
    with mp.workdps(int(30 + max(lost, 0))):

        def integrand(z: mpf) -> mpf:
            u = q * mp.expm1(z / s - 1 / (2 * s * s))
            ratio = 1 + u
            if a == 1:
                value = -mp.log(ratio) + u if backwards else ratio * mp.log(ratio) - u
            else:
                value = mp.exp(power * mp.log(ratio)) - 1 - power * u
            return value * mp.exp(-z * z / 2)

        total = mpf(0)
        for lower, upper in itertools.pairwise(panels):
            total += _gauss_legendre(integrand, lower, upper)
        total /= mp.sqrt(2 * mp.pi)
        return total if a == 1 else mp.log1p(total) / (a - 1)


def _gauss_legendre(f: Any, lower: mpf, upper: mpf) -> mpf:
    """30 points: 1e-25 for panels as short as those above."""
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    return half * sum((w * f(middle + half * x) for x, w in gauss_legendre_rule(30)), mpf(0))


@functools.cache
def gauss_legendre_rule(n: int) -> list[tuple[mpf, mpf]]:
    """Nodes and weights on [-1, 1]."""
    rule = []
    with mp.workdps(60):
        for k in range(n):
            x = mp.cos(mp.pi * (k + mpf(3) / 4) / (n + mpf(1) / 2))
            for _ in range(8):
                before, now = mpf(1), x
                for j in range(2, n + 1):
                    before, now = now, ((2 * j - 1) * x * now - (j - 1) * before) / j
                slope = n * (x * now - before) / (x * x - 1)
                x -= now / slope
            rule.append((x, 2 / ((1 - x * x) * slope * slope)))
    return rule
