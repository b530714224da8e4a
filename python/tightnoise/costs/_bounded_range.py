"""Releases whose losses lie in an interval of known width: the exponential mechanism's, and many.

Of pairs with losses in [t - eta, t], the worst at every epsilon has two outputs, of the losses at
the ends: P(t) = p = (1 - e^(t - eta))/(1 - e^-eta). Which t costs most depends on epsilon (Dong,
Durfee and Rogers 2020, "Optimal Differential Privacy Composition for Exponential Mechanisms").

Of n releases, each chosen by what was released before, let V_n(x) be the largest delta at x. With
V_0(x) = (1 - e^x)^+,

    V_n(x) = max over t in [0, eta] of p V_(n-1)(x - t) + (1 - p) V_(n-1)(x - t + eta).

Proof. Once the first has told a loss l, the others have a delta of V_(n-1)(x - l) at most, and as
much if they are chosen so. In z = e^l, z V_(n-1)(x - log z) is the largest of lines, z P(S) - e^x
Q(S): convex. Its mean under Q, under which z has the mean 1, is largest if z is at the ends.

V_n is convex in e^x, too: a pair has this profile. Beside other releases, of any kind and in any
order, n of these cost no more than that pair: let B be what is still to come but for these, and D
the profile of V_(n-1)'s pair beside it. If one of these is next, it has at most

    max over t of E[D(x - l)] = max of E E_B[V_(n-1)(x - l - b)] <= E_B[max ...] = E_B[V_n(x - b)];

if another is, nothing is to be shown; and by induction all orders are covered.

The maximum is computed on a lattice of spacing eta/m. From below t is one of its points, which a
choice of releases attains. Between two of them, u = e^-t is lambda u_0 + (1 - lambda) u_1; both
V's are at most the same mixture of those at the ends; p is concave in u and at most kappa above its
chord, kappa = (e^((t_1 - eta)/2) - e^((t_0 - eta)/2))^2/(1 - e^-eta). With a and b for the two V's,

    p a + (1 - p) b <= the larger one of the ends + max(0, -dp d(a - b))/4 + kappa max(a - b).

By V(-x) = 1 - e^-x + e^-x V(x), as neighbours may be swapped, only x >= 0 are kept.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import not_negative
from tightnoise.costs._cell_pairs import moment, pair_of_cells
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._leaf import Attained, Leaf, Profile
from tightnoise.costs._lesser import lesser_of
from tightnoise.costs._loss_points import LARGEST_LOSS, losses_of
from tightnoise.costs._pure import rho_of_pure

Array = NDArray[np.float64]

MOST_TOGETHER = 256
"""Releases that are composed so: more are blocks of so many, beside each other."""

_WORK = 2e7  # points times places times releases: two tenths of a second
_LEAST_PARTS, _MOST_PARTS = 8, 512  # of eta
_ROUNDING = 2.0**-36  # of a value, for each release; next to the end places count, too
_NARROWEST, _WIDEST = 1e-290, 700.0  # eta: parts of it, and exponentials, are numbers
_SHARES = np.arange(1.0, 64.0) / 64.0  # of eta, that are tried for t
_LOG_ERROR = 2.0**-49  # 16 units: 8 are for logarithms and their sums, 4 for losses
_LOST = 1e-290  # less has not all digits
_TINY = 1e-315  # more than is lost of what is less


@dataclass(frozen=True)
class BoundedRange(Leaf):
    """A release whose losses lie in an interval of width eta.

    Its delta, (1 - e^(t - eta)) (1 - e^(epsilon - t))/(1 - e^-eta), is greatest at t = (epsilon +
    eta)/2 (Dong, Durfee and Rogers, Lemma 3.1). The release is eta^2/8-zCDP (Cesar and Rogers 2021,
    "Bounding, Concentrating, and Truncating", Lemma 3.2).
    """

    eta: float

    kind: ClassVar[str] = "bounded-range"
    is_attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._set(eta=not_negative("eta", self.eta))

    @property
    def max_loss(self) -> float:
        """The width: neither end of the interval is beyond 0."""
        return self.eta

    @property
    def zcdp_rho(self) -> float:
        """Return eta^2/8."""
        return math.nextafter(0.25 * rho_of_pure(self.eta), math.inf) if self.eta > 0 else 0.0

    def renyi(self) -> RdpFunction | None:
        """Return the lesser of zCDP and pure DP."""
        return lesser_of(self.max_loss, self.zcdp_rho)

    def profile(self, epsilons: Array) -> Profile:
        """Return (1 - e^((epsilon - eta)/2))^2/(1 - e^-eta)."""
        if self.eta == 0:
            return np.zeros_like(epsilons), np.zeros_like(epsilons)
        gap = -np.expm1(np.minimum(0.5 * (epsilons - self.eta), 0.0))
        height = gap * (gap / -math.expm1(-self.eta)) * (1 + 2.0**-48)
        delta = np.where(epsilons < self.eta, np.nextafter(np.minimum(height, 1.0), 1.0), 0.0)
        return delta, delta

    def profile_below(self, epsilons: Array) -> Profile:
        """Return the same, rounded down: another pair has it at each epsilon."""
        below = self.profile(epsilons)[0] * (1 - 2.0**-46)
        below = np.where(below > _LOST, below, 0.0)
        return below, below

    def release(self) -> Release | None:
        """Return the losses."""
        if not self.eta <= LARGEST_LOSS:
            return None
        return losses_of(self.profile, self.eta, self.eta, symmetric=True)

    def attained(self, tilt: float = 0.0) -> Attained | None:
        """Return that of one t."""
        return _of_one_t(self.eta, 1, tilt)

    @property
    def gap(self) -> str:
        """That of a worst pair at each epsilon."""
        return "which pair costs most depends on epsilon; from below it is one of them"

    def grouped(self, count: int) -> Leaf:
        """Return that of a chain of neighbours: the ranges add up."""
        return BoundedRange(self.eta * count * (1 + 2.0**-52), adjacency=self.adjacency)


@dataclass(frozen=True)
class BoundedRanges(BoundedRange):
    """Several of them: not a leaf of costs, but what `in_blocks` makes of them for an answer."""

    count: int

    @property
    def max_loss(self) -> float:
        """The sum."""
        return self.eta * self.count * (1 + 2.0**-52)

    @property
    def zcdp_rho(self) -> float:
        """The sum."""
        return super().zcdp_rho * self.count * (1 + 2.0**-50)

    def profile(self, epsilons: Array) -> Profile:
        """Return V of so many, from above."""
        delta = _table(self.eta, self.count).upper(epsilons)
        return delta, delta

    def profile_below(self, epsilons: Array) -> Profile:
        """Return V of so many, from below."""
        delta = _table(self.eta, self.count).lower(epsilons)
        return delta, delta

    def release(self) -> Release:
        """Return the losses."""
        deviation = self.eta * math.sqrt(self.count)
        return losses_of(self.profile, self.max_loss, deviation, symmetric=True)

    def attained(self, tilt: float = 0.0) -> Attained | None:
        """Return that of one t throughout."""
        return _of_one_t(self.eta, self.count, tilt)


def in_blocks(leaf: BoundedRange, count: int) -> tuple[tuple[Leaf, int], ...]:
    """Return as many such releases, together as far as possible."""
    is_told = _NARROWEST <= leaf.eta <= _WIDEST
    if count == 1 or not is_told or isinstance(leaf, BoundedRanges):
        return ((leaf, count),)
    blocks = -(-count // MOST_TOGETHER)
    each, more = divmod(count, blocks)
    found = ((each + 1, more), (each, blocks - more))
    return tuple(
        (BoundedRanges(leaf.eta, together, adjacency=leaf.adjacency), times)
        for together, times in found
        if times
    )


class _Table(NamedTuple):
    """V at multiples of a spacing, from both sides; `end` is the largest loss."""

    spacing: float
    above: Array
    below: Array
    end: float

    def upper(self, x: Array) -> Array:
        """Return an upper bound at x >= 0: chords in e^x."""
        at, share, _ = self._place(x)
        left, right = self.above[at], self.above[np.minimum(at + 1, self.above.size - 1)]
        found = left + share * (right - left) + _TINY
        return np.asarray(np.where(x >= self.end, 0.0, np.minimum(found * (1 + _ROUNDING), 1.0)))

    def lower(self, x: Array) -> Array:
        """Return a lower bound: no less than at the next point, nor than lines from both sides."""
        at, share, step = self._place(x)
        last = self.above.size - 1
        # Lines through two points at which V is known: the nearer one from below, the other above.
        i = np.clip(at, 1, max(last - 2, 1))
        before = self.below[i] + share * step * (self.below[i] - self.above[i - 1])
        before = np.where((at >= 1) & (at + 2 <= last), before, 0.0)
        i = np.clip(at, 0, max(last - 2, 0))
        beyond = (1 - share) / step
        after = self.below[i + 1] + beyond * (self.below[i + 1] - self.above[i + 2])
        after = np.where(at + 2 <= last, after, 0.0)
        least = np.where(at + 1 <= last, self.below[np.minimum(at + 1, last)], 0.0)
        found = np.maximum(least, np.maximum(before, after)) * (1 - _ROUNDING)
        return np.asarray(np.where(found > _LOST, found, 0.0))

    def _place(self, x: Array) -> tuple[NDArray[np.int64], Array, float]:
        """Return the point before x, where e^x is between it and the next, and e^spacing."""
        last = self.above.size - 1
        at = np.minimum(np.floor(x / self.spacing), last).astype(np.int64)
        past = np.clip(x - at * self.spacing, 0.0, self.spacing)
        return at, np.expm1(past) / math.expm1(self.spacing), math.exp(self.spacing)


@functools.lru_cache(maxsize=64)
def _table(eta: float, count: int) -> _Table:
    """Return V of so many releases."""
    parts = int(np.clip(math.sqrt(_WORK) / count, _LEAST_PARTS, _MOST_PARTS))
    size = count * parts + 1
    t: Array = eta / parts * np.arange(parts + 1.0)
    whole = -math.expm1(-eta)
    p = -np.expm1(t - eta) / whole
    kappa = np.diff(np.exp(0.5 * (t - eta))) ** 2 / whole
    falls = -np.diff(p)
    before = t[:0:-1]  # x is the negative of these
    above, below = np.zeros(size), np.zeros(size)
    for _ in range(count):
        above = _next_above(_extended(above, before), size, p, falls, kappa)
        below = _next_below(_extended(below, before), size, p)
    return _Table(eta / parts, above, below, eta * count * (1 + 2.0**-52))


def _extended(values: Array, before: Array) -> Array:
    """Return V from -eta on, and by eta farther than it is above 0."""
    mirrored = values[before.size : 0 : -1]
    start = -np.expm1(-before) + np.exp(-before) * mirrored
    return np.concatenate([start, values, np.zeros(before.size)])


def _next_above(values: Array, size: int, p: Array, falls: Array, kappa: Array) -> Array:
    parts = p.size - 1
    best, last, last_apart = np.zeros(size), np.zeros(size), np.zeros(size)
    for j in range(parts + 1):
        far = values[2 * parts - j : 2 * parts - j + size]
        apart = values[parts - j : parts - j + size] - far
        here = far + p[j] * apart
        if j > 0:
            bound = np.maximum(here, last)
            bound += 0.25 * falls[j - 1] * np.maximum(apart - last_apart, 0.0)
            bound += kappa[j - 1] * np.maximum(np.maximum(apart, last_apart), 0.0)
            np.maximum(best, bound, out=best)
        last, last_apart = here, apart
    return np.minimum(best * (1 + _ROUNDING), 1.0)


def _next_below(values: Array, size: int, p: Array) -> Array:
    parts = p.size - 1
    best = np.zeros(size)
    for j in range(parts + 1):
        far = values[2 * parts - j : 2 * parts - j + size]
        apart = values[parts - j : parts - j + size] - far
        np.maximum(best, far + p[j] * apart, out=best)
    return best * (1 - _ROUNDING)


@functools.lru_cache(maxsize=64)
def _of_one_t(eta: float, count: int, tilt: float) -> Attained | None:
    """Return the pair of so many with the same t: that of the largest moment."""
    if not _NARROWEST <= eta <= _WIDEST:
        return None
    pairs = [_of_t(eta, share * eta) for share in _SHARES]
    log_p, losses = max(pairs, key=lambda one: moment(one[0], one[0] - one[1], tilt))
    high = np.arange(count + 1.0)
    ways = np.array([math.log(math.comb(count, i)) for i in range(count + 1)])
    here = ways + high * log_p[0] + (count - high) * log_p[1]
    there = here - (high * losses[0] + (count - high) * losses[1])
    error = _LOG_ERROR * (1 + count * (1 + eta + float(np.abs(log_p).max())))
    return pair_of_cells(here, there, error)


def _of_t(eta: float, t: float) -> tuple[Array, Array]:
    """Return logarithms of P, and losses, of t and t - eta."""
    log_p = [math.log(-math.expm1(t - eta)), t - eta + math.log(-math.expm1(-t))]
    return np.array(log_p) - math.log(-math.expm1(-eta)), np.array([t, t - eta])
