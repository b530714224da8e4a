"""The Renyi divergence of two von Mises-Fisher distributions to at least 20 digits, as a difference
of two logarithms of the normaliser with many more. Arguments are floats and are taken as exact."""

from __future__ import annotations

from mpmath import mp, mpf

from reference import bessel

DIGITS = 55  # of which up to 30 cancel


def renyi(dim: int, kappa: float, half_chord: float, alpha: float, digits: int = DIGITS) -> mpf:
    """D_alpha; alpha = 1 is the Kullback-Leibler divergence."""
    with mp.workdps(digits + 20):
        k, s, a = mpf(kappa), mpf(half_chord), mpf(alpha)
        nu = mpf(dim) / 2 - 1
        if a == 1:
            return 2 * s * s * k * bessel.mean_and_ratio(nu, k, digits)[1]
        c = mp.sqrt(1 + 4 * a * (a - 1) * s * s)
        return (log_mean(nu, c * k, digits) - log_mean(nu, k, digits)) / (a - 1)


def log_mean(nu: mpf, x: mpf, digits: int = DIGITS) -> mpf:
    """log M_nu(x), with 0 at 0."""
    return bessel.mean_and_ratio(nu, x, digits)[0] if x else mpf(0)
