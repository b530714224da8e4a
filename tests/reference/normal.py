"""The standard normal family in mpmath, as the definitions say: slow, and right everywhere.

Arguments are mpf at the working precision of the caller (50 digits are enough for all).
"""

import scipy.special
from mpmath import mp, mpf


def phi(x):
    """Density."""
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def scaled_tail(x):
    """e^(x^2 / 2) (1 - Phi(x)); beyond 10^4 by the asymptotic series, 12 terms of which suffice."""
    if x > 10**4:
        total = term = mpf(1)
        for k in range(1, 12):
            term *= -(2 * k - 1) / (x * x)
            total += term
        return total / (x * mp.sqrt(2 * mp.pi))
    return mp.exp(x * x / 2) * mp.erfc(x / mp.sqrt(2)) / 2


def tail(x):
    """1 - Phi(x)."""
    return mp.erfc(x / mp.sqrt(2)) / 2


def ndtr(x):
    return tail(-x)


def mass(u, v):
    """Phi(v) - Phi(u), from the tail it lies in."""
    return tail(u) - tail(v) if u > 0 else ndtr(v) - ndtr(u)


def log_ndtr(x):
    if x > 0:
        return mp.log1p(-tail(x))
    return -x * x / 2 + mp.log(scaled_tail(-x))


def erfcx(x):
    return 2 * scaled_tail(x * mp.sqrt(2))


def mills(t):
    return scaled_tail(t) * mp.sqrt(2 * mp.pi)


def hazard(t):
    return 1 / mills(t)


def expm1mx(t):
    if abs(t) > mpf("1e-3"):
        with mp.extradps(10):
            return mp.expm1(t) - t
    return mp.fsum(t**k / mp.factorial(k) for k in range(2, 20))


def log_ndtr_diff(u, v):
    """log(Phi(v) - Phi(u)) for finite u < v."""
    if u + v < 0:
        u, v = -v, -u
    m, w = (u + v) / 2, v - u
    if max(m, w) * w < mpf("0.01"):
        # phi(m + s) / phi(m) = g(s) = e^(-m s - s^2 / 2) has g' = -(m + s) g, which gives its
        # Taylor coefficients; integrated over |s| <= w / 2 the even ones remain.
        c = [mpf(1), -m]
        for n in range(1, 24):
            c.append(-(m * c[n] + c[n - 1]) / (n + 1))
        total = mp.fsum(c[n] * (w / 2) ** n / (n + 1) for n in range(0, 25, 2))
        return -m * m / 2 + mp.log(w * total / mp.sqrt(2 * mp.pi))
    if u < 0:
        return mp.log1p(-tail(-u) - tail(v))
    far = scaled_tail(v) * mp.exp(-m * w) if m * w < 10**4 else mpf(0)
    return -u * u / 2 + mp.log(scaled_tail(u) - far)


def _root(start, step):
    """The limit of y + step(y): Newton's method, whose last step shows that it is one."""
    y = mpf(start)
    for _ in range(3):
        last = step(y)
        y += last
    assert abs(last) < mpf("1e-25") * abs(y)
    return y


def ndtri(p):
    """Phi^-1(p)."""
    if p < mpf(1) / 2:
        return _root(scipy.special.ndtri(float(p)), lambda y: (p - tail(-y)) / phi(y))
    return _root(scipy.special.ndtri(float(p)), lambda y: (tail(y) - (1 - p)) / phi(y))


def ndtri_exp(logp):
    """Phi^-1(e^logp)."""
    start = scipy.special.ndtri_exp(float(logp))
    if logp < -1:
        return _root(start, lambda y: (logp - log_ndtr(y)) / hazard(-y))
    return _root(start, lambda y: (tail(y) + mp.expm1(logp)) / phi(y))
