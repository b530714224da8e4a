"""The Laplace distribution conditioned on an interval in mpmath, written from its definition.

Every double is taken as the exact number it is. The density of P = M(theta) at x is proportional to
exp(-|x - theta|/scale); all integrals are sums over the pieces between the kinks, on which the
logarithm of the integrand is linear.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from mpmath import mp, mpf

from reference.bounded_gaussian import precise


class Case(NamedTuple):
    theta: float
    scale: float
    lower: float = -1.0
    upper: float = 1.0


def _linear(a, b, at_a, at_b, power=0, about=0):
    """Integrate (x - about)^power exp(the linear function with these values at the ends)."""
    rise = at_b - at_a
    if power == 0:
        return (b - a) * mp.exp(at_a) * (mp.expm1(rise) / rise if rise else 1)
    slope = rise / (b - a)
    ends = mp.exp(at_b) * (b - about) ** power - mp.exp(at_a) * (a - about) ** power
    return (ends - power * _linear(a, b, at_a, at_b, power - 1, about)) / slope


class _Law:
    def __init__(self, case: Case):
        self.theta, self.scale, self.lower, self.upper = (mpf(v) for v in case)
        self.log_mass = mp.log(self._moment(self.lower, self.upper, self._log_kernel, 0, mpf(0)))

    def _log_kernel(self, x):
        return -abs(x - self.theta) / self.scale

    def log_density(self, x):
        return self._log_kernel(x) - self.log_mass

    def _moment(self, a, b, log_density, power, about):
        kinks = [a, *([self.theta] if a < self.theta < b else []), b]
        return sum(
            _linear(s, t, log_density(s), log_density(t), power, about) for s, t in pairwise(kinks)
        )

    def mass(self, a, b):
        return self._moment(a, b, self.log_density, 0, mpf(0)) if a < b else mpf(0)

    def moment(self, power, about):
        return self._moment(self.lower, self.upper, self.log_density, power, about)


def log_pdf(case: Case, x: float) -> mpf:
    return precise(lambda: _Law(case).log_density(mpf(x)))


def cdf(case: Case, x) -> mpf:
    return precise(lambda: (law := _Law(case)).mass(law.lower, mpf(x)))


def mean(case: Case) -> mpf:
    return precise(lambda: _Law(case).moment(1, mpf(0)))


def variance(case: Case) -> mpf:
    return precise(lambda: (law := _Law(case)).moment(2, law.moment(1, mpf(0))))


def fisher_information(case: Case) -> mpf:
    """Return the variance of the score, which takes two values."""

    def evaluate():
        law = _Law(case)
        if not law.lower < law.theta < law.upper:
            return mpf(0)
        return 4 * law.mass(law.lower, law.theta) * law.mass(law.theta, law.upper) / law.scale**2

    return precise(evaluate)


def _pair(case: Case, theta_prime):
    p, q = _Law(case), _Law(case._replace(theta=theta_prime))
    kinks = sorted({p.lower, p.upper, p.theta, q.theta})
    return p, q, [x for x in kinks if p.lower <= x <= p.upper]


def renyi(case: Case, theta_prime, alpha) -> mpf:
    """Return D_alpha(M(theta) || M(theta_prime)); either may be an mpf."""

    def evaluate():
        p, q, kinks = _pair(case, theta_prime)
        ratios = [p.log_density(x) - q.log_density(x) for x in kinks]
        if alpha == mp.inf:
            return max(ratios)
        order = mpf(alpha)
        if order == 1:
            return sum(_expected_ratio(p, q, a, b) for a, b in pairwise(kinks))
        total = sum(
            _linear(
                a,
                b,
                order * p.log_density(a) + (1 - order) * q.log_density(a),
                order * p.log_density(b) + (1 - order) * q.log_density(b),
            )
            for a, b in pairwise(kinks)
        )
        return mp.log(total) / (order - 1)

    return precise(evaluate)


def _expected_ratio(p, q, a, b):
    """Integrate p log(p/q) over a piece, on which the log ratio is linear."""
    at_a, at_b = (p.log_density(x) - q.log_density(x) for x in (a, b))
    slope = (at_b - at_a) / (b - a)
    return at_a * p.mass(a, b) + slope * _linear(a, b, p.log_density(a), p.log_density(b), 1, a)


def hockey_stick(case: Case, theta_prime, epsilon) -> mpf:
    """Return the integral of (p - e^epsilon q)_+, q that of M(theta_prime)."""

    def evaluate():
        p, q, kinks = _pair(case, theta_prime)
        loss = mpf(epsilon)
        total = mpf(0)
        for a, b in pairwise(kinks):
            at_a, at_b = (p.log_density(x) - q.log_density(x) - loss for x in (a, b))
            if at_a * at_b < 0:
                crossing = a + (b - a) * at_a / (at_a - at_b)
                a, b = (a, crossing) if at_a > 0 else (crossing, b)
            elif at_a + at_b <= 0:
                continue
            total += p.mass(a, b) - mp.exp(loss) * q.mass(a, b)
        return total

    return precise(evaluate)
