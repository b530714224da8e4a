"""delta(epsilon) of two von Mises-Fisher distributions by quadrature with many digits (mpmath).

An integral over v with t = y . u = tanh v, from the density as it is; the normaliser is in closed
form.
"""

from __future__ import annotations

from mpmath import mp, mpf

from reference.debye import log_sphere_mean
from reference.sampled_gaussian import gauss_legendre_rule


def profile(kappa, dim, half_chord, epsilon):
    """delta at epsilon, to about 20 digits."""
    kappa, s, epsilon = mpf(kappa), mpf(half_chord), mpf(epsilon)
    h, m = kappa * s, mpf(dim - 1)
    z = kappa * mp.sqrt((1 - s) * (1 + s))
    if epsilon >= 2 * h:
        return mpf(0)

    def exponent(v):
        sphere = log_sphere_mean(m, z * mp.sech(v)) if z else 0
        return h * mp.tanh(v) - m * mp.log(mp.cosh(v)) + sphere

    log_normaliser = (
        mp.log(mp.beta(mpf(1) / 2, m / 2))
        if dim < 1e6
        else mp.log(mp.pi) / 2 + mp.loggamma(m / 2) - mp.loggamma(mpf(dim) / 2)
    ) + log_sphere_mean(mpf(dim), kappa)
    v0 = mp.atanh(epsilon / (2 * h))

    def integrand(v):
        rise = 2 * h * mp.sinh(v - v0) / (mp.cosh(v) * mp.cosh(v0))
        return mp.exp(exponent(v) - log_normaliser) * -mp.expm1(-rise)

    def gauss(a, b, points):
        half, centre = (b - a) / 2, (a + b) / 2
        return half * mp.fsum(
            w * integrand(centre + half * x) for x, w in gauss_legendre_rule(points)
        )

    def adaptive(a, b, least):
        # The same by more nodes: what both say is right.
        rough, fine = gauss(a, b, 20), gauss(a, b, 30)
        if abs(fine - rough) <= mpf(10) ** -20 * fine or fine < least:
            return fine
        middle = (a + b) / 2
        right = adaptive(a, middle, least)
        return right + adaptive(middle, b, max(least, right * mpf(10) ** -24))

    # Panels that double from the smallest scale there may be.
    width = 1 / mp.sqrt(1 + m + kappa) / 4
    total, a = mpf(0), v0
    beyond = 0
    while beyond < 3:
        part = adaptive(a, a + width, total * mpf(10) ** -24)
        beyond = beyond + 1 if part < total * mpf(10) ** -22 else 0
        total += part
        a += width
        width = min(2 * width, mpf(1))
    return total
