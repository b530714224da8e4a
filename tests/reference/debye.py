"""Means over the unit sphere to 30 digits and more: by Debye's expansion where that is settled.

By the power series elsewhere. Arguments are mpf and are taken as exact.
"""

from __future__ import annotations

from mpmath import mp, mpf

from reference import bessel


def log_sphere_mean(m: mpf, z: mpf) -> mpf:
    """log A_m(z), for m >= 1; for large m or z by Debye's expansion, DLMF 10.41.3."""
    if z == 0:
        return mpf(0)
    if m == 1:
        return z + mp.log1p(mp.exp(-2 * z)) - mp.log(2)
    nu = m / 2 - 1
    if mp.hypot(nu, z) < 400:
        return bessel.by_series(nu, z)[0]
    return _debye(nu, z) - (_debye(nu, mpf(0)) if nu > 400 else _debye_limit(nu))


def _debye(nu: mpf, z: mpf) -> mpf:
    """log(I_nu(z) (2 / z)^nu), but for a constant."""
    h = mp.hypot(nu, z)
    result = h - nu * mp.log((nu + h) / 2) - mp.log(2 * mp.pi * h) / 2
    return result + mp.log1p(_debye_sum(nu / h, 1 / h))


def _debye_limit(nu: mpf) -> mpf:
    return -mp.loggamma(nu + 1)


def _debye_sum(t: mpf, v: mpf) -> mpf:
    """sum_k>=1 of U_k(t) / nu^k, where U_k(t) = t^k times a polynomial in t^2."""
    total, y, power = mpf(0), t * t, mpf(1)
    for coefficients in _debye_polynomials():
        power *= v
        value = mpf(0)
        for c in coefficients:
            value = value * y + c
        total += power * value
        if power * 10 ** len(coefficients) < mp.eps:
            break
    return total


_POLYNOMIALS: list[list[mpf]] = []


def _debye_polynomials() -> list[list[mpf]]:
    """U_k(t) / t^k as polynomials in t^2, highest power first, by DLMF 10.41.9."""
    if not _POLYNOMIALS:
        with mp.workdps(120):
            u = {0: mpf(1)}  # U_k by powers of t
            for k in range(1, 31):
                new: dict[int, mpf] = {}
                for power, c in u.items():
                    # t^2 (1 - t^2) U' / 2 + int (1 - 5 t^2) U / 8
                    for shift, factor in (
                        (1, mpf(power) / 2 + 1 / mpf(8 * (power + 1))),
                        (3, -mpf(power) / 2 - 5 / mpf(8 * (power + 3))),
                    ):
                        new[power + shift] = new.get(power + shift, mpf(0)) + c * factor
                u = new
                _POLYNOMIALS.append([u[k + 2 * j] for j in range(k, -1, -1)])
    return _POLYNOMIALS
