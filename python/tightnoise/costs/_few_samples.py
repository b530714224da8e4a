"""A few releases of Gaussian noise on samples in which a record rarely is, outcome by outcome.

Their losses are about the rate or far larger, so that characteristic functions hardly fall, and a
contour takes seconds. But few losses are few cells. Of one release let the outcome be z, its loss
l(z) rising and odd, P(l > 0) = P(z > z0) and so on: all pairs here are symmetric.

    fixed size:  P = (1-q) N(0,1) + q N(mu,1) against N(0,1) at z > z0 = mu/2, the mirror image of
                 it at losses below 0, and else, a mass p0, no loss (CONTOUR.md, section 9);
    replaced:    P = (1-q) N(0,1) + q N(mu,1), Q the same with -mu; z0 = 0, p0 = 0.

**Large losses.** With P^n = a^n + T, a the losses of at most C > x in size, t = P(l > C) and
t' = Q(l > C), and D_m the divergence of m releases,

    D(x) = D_a(x) + T(1) - e^x T(e^-S) + R,   T(1) = 1 - (1-t)^n,  T(e^-S) = 1 - (1-t')^n,

T here the outcomes with a loss above C. R has two parts, both at least 0. E_T[(e^(x-S) - 1)^+] is
at most n t E[(e^(x-C-S') - 1)^+], S' the sum of n-1 losses, which is at most D_(n-1)(C-x) of the
swapped pair. What has no loss above C, but one below -C, is at most n t' D_(n-1)(x+C). As
guarantees add up, D_(n-1)(y) <= (n-1) D_1(y/(n-1)), so that R <= 2 n (n-1) t D_1((C-x)/(n-1)).

**One loss.** Of a^n, n p0^(n-1) (D_1(x) - t + e^x t') is that of outcomes with one loss alone.

**k losses, from below.** Losses are told to cells [i h, (i+1) h), and sums of k of them by sums of
i alone, of which P's masses and Q's are convolutions. Let A_j be the sums of at least j: for every
j P(A_j) - e^x Q(A_j) is a lower bound, the best about where j h + k h/2 is x.

**k losses, from above.** The losses of a cell are moved to its ends in such shares that neither P's
mass nor Q's changes, the connected dots of `_lattice`. Both sides err by the square of h.

**Errors**, u = 2^-53. Tails are of places z as they were rounded: cells of a lower bound may be
any, and D_1 is greatest at its own z, so that what it errs by there is of second order. Phi(mu - z)
is told to 8u of itself, and with y = z - mu < 38 its argument is off by yu of rounding and mu u of
mu: in all by less than (y^2 + mu y + 20) u < 1900u. So the D_1 of dots at multiples of h is wrong
by e(x) <= 1900u P(l > x); how cells are shared out is no matter there. The divergence of k is
linear in that of each: it is wrong by the mean of e(x - S'), S' the others' sum, so by at most
1900 k u of P(S > x), and, as tails of a are differences, of P(T). Sums of positive terms add
little, but up to four of 4800 terms for sums of small losses. With all else, and of each of P and
Q, that is 2^-38. What underflows is less than 1e-315 of P and of Q.

Sums of small losses have nearly all of the mass, and are added up by their definition. What larger
ones add takes an FFT, by steps of 4 and 2. It errs, in the root of the sum of squares, by
e = 8 u log2(size) of its input (Higham 2002, "Accuracy and Stability of Numerical Algorithms",
Theorem 24.2, of steps of 2; one of 4 rounds less than two of these, a real one no more than a
complex one). Hence products of a and b err, as |sum a_i e^(..)| <= |a|_1, by

    e (2 |a|_2 |b|_1 + |b|_2 |a|_1),

and a tail is a sum of masses times tails, in which that counts by Cauchy and Schwarz.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy import fft
from numpy.typing import NDArray

from tightnoise import special
from tightnoise._cached import cached_property

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_PART = 2.0**-38  # of tails
_LOST = 1e-315
_REACHES = (6.0, 9.0, 13.0, 20.0, 30.0, 45.0, 70.0, 100.0, 150.0, 220.0, 300.0, 400.0)  # C over x
_MOST_REACH = 900.0  # of all together
_REST = 2e-8  # of the divergence: R
_ALL_CELLS, _FEWEST_CELLS, _MOST_CELLS = 3e5, 900, 2_400  # of n-1 losses above 0, and up to x
_ROUNDING = 4e-14
_FARTHER = 1.5  # times where cells are made for
_FRAMES, _STEPS = 4, 8
_STEP, _CLOSE = 1e-2, 1e-10  # relative
_LEAST, _FAR, _MOST_LOSS = 1e-12, 50.0, 600.0  # exponentials are far from the overflow
_MOST = 6  # releases
_LEAST_MU, _LARGEST_MU, _LEAST_RATE, _LARGEST_RATE = 0.1, 10.0, 1e-9, 1e-2


@dataclass(frozen=True)
class RareRelease:
    """One release: mu-Gaussian noise, on a sample of this rate; of a fixed size, or replaced."""

    mu: float
    rate: float
    is_fixed_size: bool

    def is_told(self, n: int) -> bool:
        """Whether so many are quick, and the bounds of rounding hold."""
        is_rare = _LEAST_RATE <= self.rate <= _LARGEST_RATE
        return 2 <= n <= _MOST and is_rare and _LEAST_MU <= self.mu <= _LARGEST_MU

    def places(self, losses: Array) -> Array:
        """Return the outcomes that have these losses, of at least 0."""
        q, mu = self.rate, self.mu
        if self.is_fixed_size:
            return np.asarray(np.log1p(np.expm1(losses) / q) / mu + mu / 2)
        spread = q * math.exp(-mu * mu / 2)  # q e^(a) of either is spread e^(+-mu z)
        middle = (1 - q) * np.expm1(losses)
        root = np.hypot(middle, 2 * spread * np.exp(losses / 2))
        return np.asarray(np.log((middle + root) / (2 * spread)) / mu)

    def tails(self, places: Array) -> tuple[Array, Array]:
        """Return what P and what Q have beyond these outcomes."""
        q, mu = self.rate, self.mu
        none, ahead, behind = (np.asarray(special.ndtr(x - places)) for x in (0.0, mu, -mu))
        return (1 - q) * none + q * ahead, none if self.is_fixed_size else (
            (1 - q) * none + q * behind
        )

    def beyond(self, loss: float) -> tuple[float, float]:
        """Return what P and what Q have above a loss of at least 0."""
        (ahead,), (behind,) = self.tails(self.places(np.array([loss])))
        return float(ahead), float(behind)

    @cached_property
    def at_zero(self) -> float:
        """The probability of no loss."""
        if not self.is_fixed_size:
            return 0.0
        return (1 - self.rate) * math.erf(self.mu / 2 / math.sqrt(2))

    def divergence(self, x: float) -> tuple[float, float]:
        """Return bounds of that at x >= 0."""
        ahead, behind = self.beyond(x)
        growth = math.exp(x)
        found, doubt = ahead - growth * behind, _PART * ahead + growth * _LOST
        return max(found - doubt, 0.0), found + doubt


class _Sums:
    """P's masses of sums of k losses at places of a lattice; Q's are mirrored.

    Each is that of k small losses, at less than k `small` places, and others, told by an FFT.
    """

    def __init__(self, ours: Array, theirs: Array, none: float | None, small: int, n: int) -> None:
        """Take P's and Q's tails at places from 0 on, or beside a mass at 0 from 1 on."""
        count = self._count = ours.size
        middle = np.array([] if none is None else [none])
        left, right = (-np.diff(np.append(each, 0.0)) for each in (theirs, ours))
        one = np.concatenate([left[::-1], middle, right])
        self._tails = tuple(_both_ways(*both, middle) for both in ((ours, theirs), (theirs, ours)))
        here = slice(count - small, count + small)
        near, rest, close = one[here], one.copy(), one[here]
        rest[here] = 0.0
        far, wrong = rest, 0.0
        self._sums = [(one, wrong)]
        for k in range(2, n):
            size = far.size + one.size - 1
            length = 1 << (size - 1).bit_length()
            unit = 8 * _UNIT * math.log2(length)
            wrong = wrong * _sum(one) + unit * (_product(far, one) + _product(rest, near))
            beside = _within(near, (k - 1) * (count - small), far.size)
            made = (fft.rfft(a, length) for a in (far, one, beside, rest))
            far = fft.irfft(next(made) * next(made) + next(made) * next(made), length)[:size]
            near = np.convolve(near, close)
            self._sums.append((far + _within(near, k * (count - small), size), wrong))

    def tail(self, k: int, place: int, growth: float) -> tuple[float, float]:
        """Return P - t Q of sums of at least a place, and by how much that may be wrong."""
        masses, wrong = self._sums[k - 2]
        p, q = (self._tail(way, k, place) for way in (0, 1))
        whole, of_q = (float(tail[0]) for tail in self._tails)
        wrong *= math.sqrt(masses.size) * (whole + growth * of_q)
        return p - growth * q, _PART * (p + growth * q) + wrong

    def _tail(self, way: int, k: int, place: int) -> float:
        tail, masses = self._tails[way], self._sums[k - 2][0][:: -1 if way else 1]
        # Sums of the others from `low` on; from `high` on the last loss does not matter.
        top = place + k * self._count
        low, high = max(top + 1 - tail.size, 0), min(max(top, 0), masses.size)
        ours = tail[top - high + 1 : top - low + 1][::-1]
        return float((masses[low:high] * ours).sum() + tail[0] * masses[high:].sum())


def _both_ways(ours: Array, theirs: Array, middle: Array) -> Array:
    """Return the tail at all places, and 0 at the next one."""
    whole = ours[0] + middle.sum()
    left = whole + theirs[0] - np.append(theirs[1:], 0.0)
    return np.concatenate([left[::-1], whole * np.ones_like(middle), ours, [0.0]])


def _within(masses: Array, start: int, size: int) -> Array:
    return np.pad(masses, (start, size - start - masses.size))


def _product(a: Array, b: Array) -> float:
    """Return what an FFT of the product errs by, in its unit."""
    norms = (math.sqrt(float((each * each).sum())) for each in (a, b))
    return 2 * next(norms) * _sum(b) + next(norms) * _sum(a)


def _sum(masses: Array) -> float:
    return float(np.abs(masses).sum())


class _Releases:
    """So many of a release together, told at an epsilon of about `near`; losses up to a cut.

    Cells of losses for a lower bound. For an upper one dots at their ends, which have the
    divergence of the losses at multiples of h: P has those of both ends of a cell in such shares
    that Q has its mass, too.
    """

    def __init__(self, release: RareRelease, n: int, near: float, reach: float) -> None:
        cells = int(min(max(_ALL_CELLS / (reach * (n - 1)), _FEWEST_CELLS), _MOST_CELLS))
        h = near / cells
        edges = h * np.arange(round(reach * cells) + 1.0)
        ahead, behind = release.tails(release.places(edges))
        self._release, self._n, self._h, self._cut = release, n, h, float(edges[-1])
        gains, losses = -np.diff(ahead), -np.diff(behind)
        ahead, behind = ahead - ahead[-1], behind - behind[-1]
        self._cells = _Sums(ahead[:-1], behind[:-1], None, cells, n)
        # What P and what Q have at the upper end.
        upper = (gains - losses * np.exp(edges[:-1])) / -math.expm1(-h)
        other = upper * np.exp(-edges[1:])
        none = float(gains[0] - upper[0] + losses[0] - other[0])
        self._dots = _Sums(ahead[1:] + upper, behind[1:] + other, none, cells, n)

    def delta(self, x: float) -> tuple[float, float]:
        """Return bounds of delta at x; 0 and 1 where losses beyond the cut are not far beyond x."""
        if not 0 < x < min(self._cut / 2, 2 * _FAR):
            return 0.0, 1.0
        n, p0, growth = self._n, self._release.at_zero, math.exp(x)
        large = self._release.beyond(self._cut)
        ahead, behind = (-math.expm1(n * math.log1p(-each)) for each in large)
        lower = ahead * (1 - _PART) - growth * behind * (1 + _PART)
        upper = ahead * (1 + _PART) - growth * behind * (1 - _PART)
        upper += _rest(self._release, n, self._cut, x)
        low, high = self._release.divergence(x)
        less, doubt = large[0] - growth * large[1], _PART * large[0]
        each = [(1, low - less - doubt, high - less + doubt)]
        each += [(k, *self._of(k, x, growth)) for k in range(2 if p0 > 0 else n, n + 1)]
        for k, low, high in each:
            share = math.comb(n, k) * p0 ** (n - k)
            lower += share * low * (1 - _ROUNDING)
            upper += share * high * (1 + _ROUNDING)
        return max(lower - growth * _LOST, 0.0), min(upper + growth * _LOST, 1.0)

    def _of(self, k: int, x: float, growth: float) -> tuple[float, float]:
        """Return what k losses add."""
        place = math.floor(x / self._h - k / 2)
        cells = (self._cells.tail(k, at, growth) for at in (place, place + 1))
        found, wrong = self._dots.tail(k, math.ceil(x / self._h), growth)
        return max(0.0, *(low - off for low, off in cells)), found + wrong


def _rest(release: RareRelease, n: int, cut: float, x: float) -> float:
    """Return a bound of R."""
    t, _ = release.beyond(cut)
    return 2 * n * (n - 1) * t * release.divergence((cut - x) / (n - 1))[1] * (1 + 2 * _PART)


@functools.lru_cache(maxsize=4)
def _releases(release: RareRelease, n: int, near: float, delta: float) -> _Releases | None:
    """Return them where large losses are told apart from others; else None."""
    for reach in _REACHES if near <= _FAR else ():
        if reach * n > _MOST_REACH or reach * near > _MOST_LOSS:
            break
        if _rest(release, n, reach * near, _FARTHER * near) <= _REST * delta:
            return _Releases(release, n, near, reach)
    return None


def few_releases(
    question: str, release: RareRelease, n: int, at: float, known: tuple[float, float]
) -> tuple[float, float] | None:
    """Return bounds of epsilon at a delta, or of delta at an epsilon above 0; None if not told.

    `known`: what is known already.
    """
    if question == "delta" and at > _FAR:
        return None
    if question == "delta":
        losses = _releases(release, n, at, max(known[0], release.divergence(at)[0]))
        return None if losses is None else losses.delta(at)
    near = sum(known) / 2 if known[1] < 2 * known[0] else _alone(release, at / n)
    for _ in range(_FRAMES):
        losses = _releases(release, n, near, at)
        if losses is None:
            break
        x, rate = _crossing(losses, near, at)
        if near / _FARTHER < x < _FARTHER * near:
            return _stepped(losses, 0, x, -1 / rate, at), _stepped(losses, 1, x, 1 / rate, at)
        near = x
    return None


def _alone(release: RareRelease, delta: float) -> float:
    """Return about the epsilon of one release, or next to nothing."""
    low, high = _LEAST, _FAR
    while high > low * (1 + _STEP):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if release.divergence(middle)[1] > delta else (low, middle)
    return high


def _crossing(losses: _Releases, x: float, delta: float) -> tuple[float, float]:
    """Return about where delta is reached, and how fast its logarithm falls there."""

    def height(at: float) -> tuple[float, float]:
        low, high = losses.delta(at)
        middle = max((low + high) / 2, 1e-300)
        return math.log(middle / delta), (high - low) / middle

    here, doubt = height(x)
    rate = (here - height(x * (1 + _STEP))[0]) / (x * _STEP)
    for _ in range(_STEPS):
        move = min(max(here / rate, -x / 2), x) if rate > 0 else 0.0
        if abs(here) < doubt / 8 or abs(move) < _CLOSE * x:
            break
        last, x, before = x, x + move, here
        here, doubt = height(x)
        rate = (before - here) / (x - last)
    return x, max(rate, _STEP / x)


def _stepped(losses: _Releases, side: int, x: float, width: float, delta: float) -> float:
    """Return an epsilon that is surely not reached, or surely is; 0 or infinity if none is near."""
    step = abs(losses.delta(x)[side] / delta - 1) * width
    for _ in range(_STEPS):
        step = math.copysign(max(abs(step), _CLOSE * x), width) * 1.05
        found = losses.delta(x + step)[side]
        if (found > delta) if side == 0 else (found <= delta):
            return x + step
        step *= 2
    return 0.0 if side == 0 else math.inf
