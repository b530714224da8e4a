"""The privacy profile of Gaussian noise on Poisson samples, for data sets that differ in a group.

One data set has a records that the other one has not, the other one b records that it has not; each
record is in the sample with probability q, independently. Let R be the output where none of them
is, and let what a record adds be mu-Gaussian-DP, together j mu-Gaussian-DP of j records, as where
they add to a sum what has a norm of at most mu standard deviations of the noise, in any dimension
and direction (of any mechanism: Dong, Roth and Su 2022, Theorem 2.14). With p_j the probability
that j of the a are in the sample, binomial, and q_j that of j of the b, the pair

    P_a = sum_j p_j N(j mu, 1)   and   Q_b = sum_j q_j N(-j mu, 1)

dominates the outputs P and Q of these data sets. For let E be any set of outputs and r = R(E).
Given that j of the a are in the sample, E has a probability of at most Phi(Phi^-1(r) + j mu); of
the b, of at least Phi(Phi^-1(r) - j mu). So for all real x

    P(E) - e^x Q(E) <= sum_j p_j Phi(z + j mu) - e^x sum_j q_j Phi(z - j mu),   z = Phi^-1(r),

and the pair attains the right hand side, by the half line above -z. What other records are in the
sample mixes such pairs, and divergences are jointly convex. Dominating pairs compose, chosen in
view of earlier outputs too (Zhu, Dong and Wang 2022, Theorem 10): for each a and b, and data sets
that are the same in all releases, what this pair costs is proved. Contributions of the full norm,
those of the a one way and those of the b the other way, have this pair in all releases. (Ganesh
2024, "Tight Group-Level DP Guarantees for DP-SGD with Sampling via Mixture of Gaussians
Mechanisms", has b = 0.) z -> -z makes (Q_b, P_a) the pair of b and a in place of a and b. One
record that is replaced is a = b = 1.

The loss grows with z: with x = epsilon >= 0 it is x at z = t, where with c = mu^2/2

    g(t) + c0 - e^x h(t) = 0,   g(z) = sum_(j>0) p_j e^(j mu z - j^2 c),   c0 = p_0 - e^x q_0,
                                h(z) = sum_(j>0) q_j e^(-j mu z - j^2 c),
    delta = sum_(j>0) p_j Phi(j mu - t) + c0 Phi(-t) - e^x sum_(j>0) q_j Phi(-j mu - t).

F, the logarithm of the positive over the negative terms of the first line, rises in z by mu to
(a + b) mu: each term of g rises by mu to a mu, each of h falls by mu to b mu, and c0 is on one side
only. So a search within brackets finds t by Newton's steps. With k the greater of a and b,
t >= -k mu/2, where no term of g is above p_j, and none of h
below q_j, so that L <= 0 <= x.

Rounding. Let S be the sum of the positive terms of delta. (1) delta is a share of S of at least
1 - m(t + mu)/m(t) with Mills' ratio m: the densities in delta's negative terms over those of the
positive ones are at most e^(-mu (z - t)) above t, and the latter over the normal density rise. As
-(log m)' = 1/m - z decreases and is at least 1/(z + 3/2) at z >= 0,

    S <= delta (2 + (max(t, 0) + 3/2)/mu).

(2) At any t the last line is delta less what is between t and the root, which has a share of
e^|F| - 1 of the positive terms at most; so at most 2 F^2 (max(t, 0) + 3/2)/mu of S, since the place
is off by |F|/mu at most, and the positive density at t by S >= density/(max(t, 0) + 3/2).
(3) Each term is the exponential of a sum: it is wrong by a part of `part` below at most, which is
added three times, as no more is negative than S. c0 = -(1-q)^a (e^y - 1) with
y = x - (b - a) |log(1-q)| is not told to a part of itself where y is small, b > a. With a > 0, what
it is wrong by, at most 30 b u |log(1-q)| (1-q)^a, counts Phi(-t) times, and so at most 30 b u S, as
S has at least a q (1-q)^(a-1) Phi(mu - t) and |log(1-q)| (1-q) <= q. With a = 0, y is rounded down,
which is an error of the argument x where x is near the largest loss, and a part of c0 elsewhere.
(4) By mu, delta changes by phi(t) times the terms of the first line with j at most, all positive:
2 k (max(t, 0) + 3/2) S.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise import special
from tightnoise.costs._excess import Excess

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

MOST_RECORDS = 16
"""Of a group of which the pairs are told."""

_UNIT = 2.0**-53
_LEAST_MU, _LARGEST_MU = 1e-6, 100.0
_FAR = 37.0  # from the last mean: beyond, delta is below `_NOTHING`
_NOTHING = 1e-298
_NEGLIGIBLE = 13.5  # from the last mean: beyond, the probability is below 1e-40
_BEYOND = 1e100
_STEPS = 200  # of a search, which takes less than ten nearly always
_ARGUMENT = 2.0**-47


def is_in_range(mu: float, rate: float) -> bool:
    """Return whether the bounds of rounding hold."""
    return _LEAST_MU <= mu <= _LARGEST_MU and rate >= 1e-100


class GroupedGaussian(NamedTuple):
    """The pair P_a, Q_b: so many records that only P has, and that only Q has."""

    mu: float
    rate: float
    ours: int
    theirs: int

    @property
    def swapped(self) -> GroupedGaussian:
        """The pair Q_b, P_a."""
        return self._replace(ours=self.theirs, theirs=self.ours)

    def delta(self, epsilons: Array) -> Array:
        """Return delta at epsilons of at least 0, rounded up; no less than 1e-298, or 0."""
        x = np.asarray(epsilons, dtype=np.float64)
        delta = np.zeros(x.shape)
        y = self._above_none(x)
        some = np.ones(x.shape, dtype=bool) if self.ours else y < 0
        delta[some] = self._delta(x[some], y[some])
        return delta

    @property
    def excess(self) -> Excess:
        """How far the profile may exceed that of a mu lower by a part of 64 units."""
        most = max(self.ours, self.theirs) * self.mu + _FAR
        part = float(self._part(np.array([self._most_loss(most)]), np.array([most]))[0])
        lost = 2 * (9 * part) ** 2 / self.mu + 64 * _UNIT * self.mu * 2 * self._records
        share = 2 + (most + 1.5) / self.mu
        argument = 0.0 if self.ours and self.theirs else _ARGUMENT
        return Excess(2 * (8 * part + lost * (most + 1.5)) * share, argument)

    @property
    def largest(self) -> float:
        """A loss that is exceeded with a probability of at most 1e-40."""
        t = self.ours * self.mu + _NEGLIGIBLE
        loss = _Side.of(self, 1).log_density(t) - _Side.of(self, -1).log_density(t)
        return min(loss * (1 + 2.0**-40), self.most)

    @property
    def most(self) -> float:
        """The largest loss."""
        rest = -self.theirs * math.log1p(-self.rate) * (1 + 2.0**-48)
        return math.inf if self.ours else rest

    @property
    def _records(self) -> int:
        return max(self.ours, self.theirs)

    def _most_loss(self, t: float) -> float:
        return self.ours * self.mu * t - self.theirs * math.log1p(-self.rate)

    def _above_none(self, x: Array) -> Array:
        """Return y: c0 is -(1-q)^a (e^y - 1); rounded down where that counts."""
        rest = (self.theirs - self.ours) * math.log1p(-self.rate)
        y = x + rest
        return y - 8 * _UNIT * abs(rest) if self.ours == 0 else y

    def _part(self, x: Array, t: Array) -> Array:
        """Return what terms may be wrong by, relative to themselves."""
        k = self._records
        logs = k * (1 - math.log(self.rate) - math.log1p(-self.rate))
        sizes = x + (np.minimum(np.abs(t), _BEYOND) + k * self.mu) ** 2 + logs
        return np.asarray(_UNIT * (64 + 32 * k + 8 * sizes))

    def _delta(self, x: Array, y: Array) -> Array:
        ours, theirs = _Side.of(self, 1), _Side.of(self, -1)
        log_none = _log_expm1(y) + ours.log_none
        is_ours = y < 0  # whether c0 is positive
        no = np.full(x.shape, -np.inf)
        none = np.where(is_ours, log_none, no), np.where(is_ours, no, log_none)

        def log_ratio(z: Array, at: Indices) -> tuple[Array, Array]:
            """Return F and its slope, of the epsilons at these places."""
            (log_g, rise), (log_h, fall) = ours.at(z), theirs.at(z)
            log_h = log_h + x[at]
            above, below = np.logaddexp(none[0][at], log_g), np.logaddexp(none[1][at], log_h)
            rises, falls = rise * np.exp(log_g - above), fall * np.exp(log_h - below)
            return above - below, rises + falls

        last = np.full(x.shape, self.ours * self.mu + _FAR)
        near = log_ratio(last, np.arange(x.size))[0] > -4 * self._part(x, last)
        delta = np.full(x.shape, _NOTHING)
        some = np.flatnonzero(near)
        t, off = _root(log_ratio, lambda z, at: self._part(x[at], z), some, self.mu)
        x = x[near]
        rest = special.log_ndtr(-t)
        above = ours.upper_tail(t, 0.0) + np.exp(none[0][near] + rest)
        below = theirs.upper_tail(t, x) + np.exp(none[1][near] + rest)
        part = self._part(x, t)
        lost = 2 * (np.abs(off) + part) ** 2 * (np.maximum(t, 0.0) + 1.5) / self.mu
        found = above - below + (3 * part + lost) * above
        found[np.abs(off) > 8 * part] = 1.0
        delta[near] = np.clip(found, _NOTHING, 1.0)
        return delta


class _Side(NamedTuple):
    """The terms of j = 1, 2, ... records of one data set: its means are j shift."""

    log_none: float
    log_weights: Array
    shifts: Array

    @classmethod
    def of(cls, pair: GroupedGaussian, sign: int) -> _Side:
        n = pair.ours if sign > 0 else pair.theirs
        shifts = sign * pair.mu * np.arange(1.0, n + 1)
        return cls(n * math.log1p(-pair.rate), _log_binomial(n, pair.rate), shifts)

    def at(self, z: Array) -> tuple[Array, Array]:
        """Return log g or log h, and the size of its slope."""
        if not self.shifts.size:
            return np.full(z.shape, -np.inf), np.zeros(z.shape)
        shifts = self.shifts[:, None]
        exponents = self.log_weights[:, None] + shifts * (z - shifts / 2)
        largest = exponents.max(axis=0)
        terms = np.exp(exponents - largest)
        total = terms.sum(axis=0)
        return largest + np.log(total), np.abs(self.shifts @ terms) / total

    def log_density(self, z: float) -> float:
        """Return about the logarithm of the density, that of none as well, over that of none."""
        exponents = self.shifts * (z - self.shifts / 2)
        if exponents.max(initial=0.0) <= 1:
            change = float(np.exp(self.log_weights) @ np.expm1(exponents))
            if change > -0.5:
                return math.log1p(change)
        return float(np.logaddexp(self.log_none, self.at(np.array([z]))[0][0]))

    def upper_tail(self, t: Array, log_factor: Array | float) -> Array:
        """Return the sum of the probabilities above t, times a factor."""
        total = np.zeros(t.shape)
        for log_weight, shift in zip(self.log_weights, self.shifts, strict=True):
            total += np.exp(log_weight + log_factor + special.log_ndtr(shift - t))
        return total


@functools.lru_cache(maxsize=64)
def _log_binomial(n: int, rate: float) -> Array:
    """Return the logarithms of the probabilities of 1, ..., n of n."""
    log_rate, log_rest = math.log(rate), math.log1p(-rate)
    logs = [math.log(math.comb(n, j)) + j * log_rate + (n - j) * log_rest for j in range(1, n + 1)]
    return np.array(logs, dtype=np.float64)


def _log_expm1(y: Array) -> Array:
    """Return log |e^y - 1|."""
    with np.errstate(divide="ignore"):
        near = np.log(np.abs(np.expm1(np.minimum(y, 1.0))))
        return np.where(y < 1, near, y + np.log1p(-np.exp(-np.maximum(y, 1.0))))


def _root(
    function: Callable[[Array, Indices], tuple[Array, Array]],
    accuracy: Callable[[Array, Indices], Array],
    which: Indices,
    least_slope: float,
) -> tuple[Array, Array]:
    """Return where functions are 0 that rise by no less than a slope, and what is left there."""
    roots, left = np.zeros(which.size), np.zeros(which.size)
    at = np.arange(which.size)
    z = np.zeros(which.size)
    low, high = np.full(which.size, -np.inf), np.full(which.size, np.inf)
    for _ in range(_STEPS):
        value, slope = function(z, which[at])
        roots[at], left[at] = z, value
        rest = np.abs(value) > 4 * accuracy(z, which[at])
        at, z, value, slope = at[rest], z[rest], value[rest], slope[rest]
        low, high = low[rest], high[rest]
        if not at.size:
            break
        far = z - 2 * value / least_slope  # farther than the root, whatever rounding does
        low, high = np.maximum(low, np.minimum(z, far)), np.minimum(high, np.maximum(z, far))
        z = z - value / slope
        z = np.where((z > low) & (z < high), z, 0.5 * (low + high))
    return roots, left
