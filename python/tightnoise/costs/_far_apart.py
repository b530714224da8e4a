"""Directions on Poisson samples that show whether the record is in the sample, beside others.

P = (1 - q) Q0 + q Q1 against Q = Q0, with Q0 and Q1 next to disjoint. Let a = log dQ1/dQ0 and
eta = Q0[a > 0], which a reflection makes Q1[a <= 0]. It is at most E_Q0 e^(a/2) = e^(-D/2), D the
Renyi divergence of order 1/2. Of releases i, n_i times each, let m = prod (1 - q_i)^n_i and
E = sum n_i eta_i; D_R is the profile of all the others. Then

    U(x) - (2 + e^x) E <= D(x) <= U(x),    U(x) = 1 - m + m D_R(x - log m)      for x >= 0.

*Right:* each pair is a random map of one that tells the record exactly, (1 - q, q) against (1, 0).
*Left:* of each pair only whether a > 0 is kept, which leaves (1 - p, p) against (1 - eta, eta),
p = q + (1 - 2q) eta. That none is so has probabilities of at least m - E and at most 1, with a
ratio (1 - p)/(1 - eta) of at least 1 - q each, so that it adds (m - E) D_R(x - log m) at least;
that one is so adds 1 - m - E - e^x E at least. So no contour has to follow losses of thousands
where delta is above the probability that there are any.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from tightnoise.costs._leaf import Terms
from tightnoise.costs._sampled import Sampled

Rest = Callable[[str, float], tuple[float, float]]
"""Bounds of the epsilon of the others at a delta above 0, or of the delta at an epsilon."""

_NOTHING = 1e-9  # of E
_LITTLE = 1e-6  # of a delta
_LARGEST = 700.0  # an exponent
_ROUNDING = 2.0**-48


class FarApart(NamedTuple):
    """log m and E of such releases, and the others."""

    log_kept: float
    error: float
    others: Terms

    @classmethod
    def of(cls, terms: Terms) -> FarApart | None:
        """Return those among releases; None if there are none."""
        logs, errors, others = [], [], []
        for leaf, n in terms:
            pair = leaf.direction if isinstance(leaf, Sampled) else None
            error = math.inf if pair is None else n * pair.overlap
            if isinstance(leaf, Sampled) and error <= _NOTHING:
                logs.append(n * math.log1p(-leaf.rate))
                errors.append(error)
            else:
                others.append((leaf, n))
        return cls(math.fsum(logs), math.fsum(errors), tuple(others)) if logs else None

    def delta(self, x: float, rest: Rest) -> tuple[float, float] | None:
        """Return bounds of D(x); None where they are far apart."""
        beyond, lost, kept = self._beyond(x), -math.expm1(self.log_kept), math.exp(self.log_kept)
        if not beyond <= _LITTLE * lost:
            return None
        at = x - self.log_kept
        low, high = rest("delta", at * (1 + _ROUNDING))[0], rest("delta", at * (1 - _ROUNDING))[1]
        low = (lost + kept * low) * (1 - self._rounding) - beyond
        return max(low, 0.0), min((lost + kept * high) * (1 + self._rounding), 1.0)

    def epsilon(self, delta: float, rest: Rest) -> tuple[float, float] | None:
        """Return bounds of where D is delta; None where they are far apart."""
        left = self._left(delta, -1)
        if left <= 0:
            return None
        high = self._from_rest(rest("epsilon", left)[1] if left < 1 else 0.0, 1)
        beyond = self._beyond(high)
        if not beyond <= _LITTLE * left:
            return None
        least = self._left(delta + beyond, 1)
        return self._from_rest(rest("epsilon", least)[0] if least < 1 else 0.0, -1), high

    def _left(self, delta: float, way: int) -> float:
        """Return what D_R is where U is delta, rounded up or down; 0 if there is no such place."""
        lost = -math.expm1(self.log_kept)
        left = delta * (1 + way * _ROUNDING) - lost * (1 - way * self._rounding)
        if left <= 0:
            return 0.0
        return left * math.exp(-self.log_kept) * (1 + way * self._rounding)

    def _from_rest(self, x: float, way: int) -> float:
        wrong = _ROUNDING * (x - self.log_kept)
        return max(x + self.log_kept + way * wrong, 0.0)

    def _beyond(self, x: float) -> float:
        return (2 + math.exp(x)) * self.error * (1 + _ROUNDING) if x < _LARGEST else math.inf

    @property
    def _rounding(self) -> float:
        """Relative, of m and of 1 - m."""
        return _ROUNDING * (1 - self.log_kept)
