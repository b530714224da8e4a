"""The Renyi divergence of von Mises-Fisher mechanisms on a sample of the records, to 25 digits.

P and Q have one concentration kappa on the sphere of R^p and mean directions 2 s apart, l is the
loss of P over Q, q the sampling rate and 1 + u = 1 - q + q e^l. With k = 2 kappa s and
c = sqrt(1 - s^2), l = k tanh v, and the density of v under Q is proportional to

    e^(-kappa s tanh v) sech(v)^(p - 1) A_(p-1)(kappa c sech v),

A_m(z) the mean of e^(z y_1) over the unit sphere of R^m. Everything is integrated numerically, the
normaliser too; integer orders are also written out as a binomial sum of divergences of P from Q.
Arguments are floats or mpf and are taken as exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from mpmath import mp, mpf

from reference.debye import log_sphere_mean
from reference.sampled_gaussian import _gauss_legendre

FAR = 62  # integrands are cut off where they are e^-62 of their largest value


class Law:
    """The law of v under Q."""

    def __init__(self, kappa: mpf, p: mpf, s: mpf) -> None:
        self.along, self.across = kappa * s, kappa * mp.sqrt((1 - s) * (1 + s))
        self.m = p - 1
        self.constant = mpf(0)

    def loss(self, v: mpf) -> mpf:
        return 2 * self.along * mp.tanh(v)

    def log_density(self, v: mpf) -> mpf:
        cosh = mp.cosh(v)
        result = -self.along * mp.tanh(v) - self.m * mp.log(cosh) - self.constant
        return result + (log_sphere_mean(self.m, self.across / cosh) if self.across else 0)

    def mode(self, h: Any) -> mpf:
        """About the mode of the density times e^(h l)."""
        k, half = (2 * mpf(h) - 1) * self.along, self.m / 2
        whole = half + mp.sqrt(half**2 + k**2 + self.across**2)
        return mp.asinh(k / mp.sqrt(2 * half * whole + self.across**2))

    def width(self, v: mpf) -> mpf:
        return min(mpf("1.2"), 4 / mp.sqrt(2 * self.m + 2 * self.across / mp.cosh(v)))


def _ends(law: Law, log_integrand: Callable[[mpf], mpf], modes: list[mpf], kink: mpf) -> list[mpf]:
    """Ends of panels, wherever the integrand is not e^-FAR of what it is at the modes."""
    highest = max(log_integrand(v) for v in modes)
    kept: set[mpf] = set()
    near_kink = mpf(1) / (2 * law.along / mp.cosh(kink) ** 2) if mp.isfinite(kink) else None

    def width(v: mpf) -> mpf:
        w = law.width(v)
        return w if near_kink is None else min(w, max(near_kink, abs(v - kink) * mpf("1.5")))

    for start in modes:
        for sign in (1, -1):
            v = start
            while log_integrand(v) > highest - FAR:
                kept.add(v)
                v += sign * width(v)
                if any(abs(v - other) < width(v) / 1000 for other in modes if other != start):
                    break
            kept.add(v)
    ends = sorted(kept)
    # Windows around different modes overlap: panels of next to no width are merged.
    merged = [ends[0]]
    for end in ends[1:]:
        if end - merged[-1] > width(end) / 1000 or end in modes:
            merged.append(end)
    if mp.isfinite(kink) and merged[0] < kink < merged[-1]:
        merged = sorted({*merged, kink})
    return merged


def _integral(f: Callable[[mpf], mpf], ends: list[mpf]) -> mpf:
    total = mpf(0)
    for lower, upper in itertools.pairwise(ends):
        total += _gauss_legendre(f, lower, upper)
    return total


def real_order(
    kappa: Any, p: Any, q: Any, a: Any, *, half_chord: Any = 1, fixed_size: bool = False
) -> mpf:
    """D_a of the sampled mechanism: Poisson, or of a fixed size and the bound that dominates it.

    Poisson: 1 / (a - 1) log E_Q[(1 + u)^a]. Fixed size: 1 / (a - 1) log(1 + E) with
    E = E_Q[(1 + u)^a + (1 + u)^(1 - a) - (1 + u) - 1; l > 0].
    """
    with mp.workdps(40):
        kappa, p, q, a, s = mpf(kappa), mpf(p), mpf(q), mpf(a), mpf(half_chord)
        law = Law(kappa, p, s)
        lost = mp.log10(1 + kappa + p)
        lost += -2 * mp.log10(q * min(1, kappa * s / mp.sqrt(p))) - (
            mp.log10(a - 1) if a > 1 else 0
        )
        lost += mp.log10(a)
    with mp.workdps(int(32 + max(lost, 0))):
        law = Law(kappa, p, s)
        log_crossing = mp.log((1 - q) / q) if q < 1 else mp.ninf
        share = log_crossing / (2 * law.along)
        kink = mp.atanh(share) if -1 < share < 1 else mp.inf
        bottom = law.mode(0)
        law.constant = law.log_density(bottom)
        ends = _ends(law, law.log_density, [bottom], mp.inf)
        mass = _integral(lambda v: mp.exp(law.log_density(v)), ends)
        law.constant += mp.log(mass)

        def power(v: mpf) -> mpf:
            return a * mp.log1p(q * mp.expm1(law.loss(v))) + law.log_density(v)

        def top(v: mpf) -> mpf:
            for _ in range(60):
                weight = 1 / (1 + (1 - q) / q * mp.exp(-law.loss(v)))
                v = law.mode(a * weight)
            return v

        modes = [bottom, law.mode(2), top(law.mode(a)), top(bottom), mpf(0)]
        if mp.isfinite(kink):
            modes.append(kink)
        if fixed_size:
            modes = [max(v, mpf(0)) for v in modes]

        def integrand(v: mpf) -> mpf:
            u = q * mp.expm1(law.loss(v))
            log_ratio = mp.log1p(u)
            if fixed_size and a == 1:
                value = u * log_ratio
            elif fixed_size:
                value = mp.exp(a * log_ratio) * mp.expm1(-a * log_ratio)
                value *= mp.expm1((1 - a) * log_ratio)
            elif a == 1:
                value = (1 + u) * log_ratio - u
            else:
                value = mp.exp(a * log_ratio) - 1 - a * u
            return value * mp.exp(law.log_density(v))

        def log_size(v: mpf) -> mpf:
            """Above the logarithm of the integrand, and not far where it matters."""
            u = q * mp.expm1(law.loss(v))
            small = 2 * mp.log(abs(u) + q * min(1, law.along / mp.sqrt(law.m))) + law.log_density(v)
            if a * abs(u) < 1:
                return small
            return max(power(v), mp.log(a * (1 + abs(u))) + law.log_density(v))

        modes = sorted(set(modes))
        ends = _ends(law, log_size, modes, kink)
        if fixed_size:
            ends = sorted({mpf(0), *(v for v in ends if v > 0)})
        total = _integral(integrand, ends)
        return total if a == 1 else mp.log1p(total) / (a - 1)


def divergence(kappa: Any, p: Any, a: Any, half_chord: Any = 1) -> mpf:
    """D_a(P || Q) = (log A_p(c kappa) - log A_p(kappa)) / (a - 1), c^2 = 1 + 4 a (a - 1) s^2."""
    kappa, p, a, s = mpf(kappa), mpf(p), mpf(a), mpf(half_chord)
    far = kappa * mp.sqrt(1 + 4 * a * (a - 1) * s * s)
    return (log_sphere_mean(p, far) - log_sphere_mean(p, kappa)) / (a - 1)


def integer_order(kappa: Any, p: Any, q: Any, a: int, half_chord: Any = 1) -> mpf:
    """1 / (a - 1) log sum_k C(a, k) (1 - q)^(a - k) q^k e^((k - 1) D_k(P || Q))."""
    with mp.workdps(90):
        q = mpf(q)
        total, binomial = mpf(0), mpf(1)
        for k in range(a + 1):
            if k > 1:
                weight = binomial * (1 - q) ** (a - k) * q**k
                total += weight * mp.expm1((k - 1) * divergence(kappa, p, k, half_chord))
            binomial = binomial * (a - k) / (k + 1)
        return mp.log1p(total) / (a - 1)
