"""The modified Bessel function to at least 50 digits, without any of the formulas of the core.

M_nu(x) = Gamma(nu + 1) (2 / x)^nu I_nu(x) is summed as the power series 0F1(; nu + 1; x^2 / 4)
where that has few terms, else integrated:

    M_nu(x) B(1/2, nu + 1/2) = integral e^(x tanh u) sech(u)^(2 nu + 1) du

over the real line, by the trapezoidal rule, whose error squares with every halving of the step.
Arguments are floats or mpf and are taken as exact.
"""

from __future__ import annotations

from typing import Any

from mpmath import mp, mpf

MOST_TERMS = 2500


def mean_and_ratio(nu: Any, x: Any, digits: int = 50) -> tuple[mpf, mpf]:
    """log M_nu(x), relative to itself, and I_(nu+1)(x) / I_nu(x)."""
    nu, x = mpf(nu), mpf(x)
    with mp.workdps(digits + 10):
        largest = (mp.hypot(nu, x) - nu) / 2  # the largest term of the series is this one
        way = by_series if largest < MOST_TERMS else by_integral
        return way(nu, x)


def by_series(nu: mpf, x: mpf) -> tuple[mpf, mpf]:
    """The same, by the power series."""
    z = x * x / 4
    total, next_order = mpf(0), mpf(1)  # the first without its 1
    term, next_term, j = mpf(1), mpf(1), 0
    while True:
        j += 1
        term *= z / (j * (nu + j))
        next_term *= z / (j * (nu + 1 + j))
        total += term
        next_order += next_term
        if term < mp.eps * total and z < j * (nu + j) / 2:
            break
    return mp.log1p(total), x / (2 * (nu + 1)) * next_order / (1 + total)


def by_integral(nu: mpf, x: mpf) -> tuple[mpf, mpf]:
    """The same, by the integral."""
    cut = -mpf("2.4") * (mp.dps + 5)
    goal = mpf(10) ** (-mp.dps * mpf("0.6"))
    with mp.extradps(15 + int(mp.log10(1 + nu + x))):
        p = 2 * nu + 1
        w = 2 * x / (p + mp.hypot(p, 2 * x))
        top = mp.atanh(w)
        base = x * w + p / 2 * mp.log1p(-w * w)
        step = 1 / mp.sqrt((2 * x * w + p) * (1 - w * w)) / 2
        step = min(step, mpf("0.25"))

        def terms(offset: mpf) -> tuple[mpf, mpf]:
            """Sums of the integrand, over its top, and of its product with tanh u."""
            total, weighted = mpf(0), mpf(0)
            for sign in (1, -1):
                i = offset if offset or sign == 1 else mpf(1)
                while True:
                    u = top + sign * i * step
                    t = mp.tanh(u)
                    exponent = x * t - p * mp.log(mp.cosh(u)) - base
                    if exponent < cut:
                        break
                    value = mp.exp(exponent)
                    total += value
                    weighted += value * t
                    i += 1
            return total, weighted

        total, weighted = terms(mpf(0))
        while True:
            more, more_weighted = terms(mpf(1) / 2)
            done = abs(total - more) < goal * total and abs(weighted - more_weighted) < goal * total
            total, weighted, step = total + more, weighted + more_weighted, step / 2
            if done:
                break
        beta = mp.loggamma(nu + mpf(1) / 2) + mp.log(mp.pi) / 2 - mp.loggamma(nu + 1)
        return base + mp.log(total * step) - beta, weighted / total


def log_iv(nu: Any, x: Any) -> mpf:
    """log I_nu(x)."""
    with mp.workdps(75):
        return log_iv_from_mean(nu, x, mean_and_ratio(nu, x, 60)[0])


def log_iv_from_mean(nu: Any, x: Any, log_mean: mpf) -> mpf:
    """log I_nu(x), given log M_nu(x)."""
    nu, x = mpf(nu), mpf(x)
    return log_mean + nu * mp.log(x / 2) - mp.loggamma(nu + 1)


def mean_rise(nu: Any, x: Any, increase: Any) -> mpf:
    """log M_nu(sqrt(x^2 + increase)) - log M_nu(x)."""
    with mp.workdps(110):
        x, increase = mpf(x), mpf(increase)
        upper = mp.sqrt(x * x + increase)
        return mean_and_ratio(nu, upper, 100)[0] - mean_and_ratio(nu, x, 100)[0]
