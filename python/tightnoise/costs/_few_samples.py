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

**Errors**, u = 2^-53. Tails of the normal distribution are known to 2^-49 of themselves, sums of
positive terms to 2^-47, and mu to u, by which tails change by 100 u: together by less than 2^-46.
Let e(x) <= 2^-46 P(l > x) be what the divergence of one release at multiples of h is wrong by (that
of dots is a sum of what tails are; that edges are is of second order, or moves cells of a lower
bound, which may be any). The divergence of k is linear in that of each: it is wrong by the mean of
e(x - S'), S' the others' sum, and so by at most k 2^-46 of P(S > x), 2^-42 with all that follows.
Convolutions of more than two losses take an FFT. It errs, in the root of the sum of squares, by
e = 8 u log2(size) of its input (Higham 2002, "Accuracy and Stability of Numerical Algorithms",
Theorem 24.2); hence products of a and b, as |sum a_i e^(..)| <= |a|_1, by

    e (2 |a|_2 |b|_1 + |b|_2 |a|_1),

and a tail is a sum of masses times tails, in which that counts by Cauchy and Schwarz. Nearly all of
it is of small losses, which do not come near x together: products of these have an FFT of their
own, of which the places that their sums cannot have are dropped.
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
_PART = 2.0**-42  # of tails
_REACHES = (6.0, 9.0, 13.0, 20.0, 30.0, 45.0, 70.0, 100.0, 150.0, 220.0, 300.0, 400.0)  # C over x
_MOST_REACH = 900.0  # of all together
_REST = 2e-8  # of the divergence: R
_ALL_CELLS, _FEWEST_CELLS, _MOST_CELLS = 3e5, 900, 2_400  # of n-1 losses above 0, and up to x
_FARTHER_THAN_NEAR = 8  # times, x is: of seven losses that are near
_ROUNDING = 4e-14
_FARTHER = 1.5  # times where cells are made for
_FRAMES, _STEPS = 4, 8
_STEP, _CLOSE = 1e-2, 1e-10  # relative
_FAR, _MOST_LOSS = 50.0, 600.0  # exponentials are far from the overflow
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
        root = np.sqrt(middle**2 + 4 * spread**2 * np.exp(losses))
        return np.asarray(np.log((middle + root) / (2 * spread)) / mu)

    def tails(self, places: Array) -> tuple[Array, Array]:
        """Return what P and what Q have beyond these outcomes."""
        q, mu = self.rate, self.mu
        none, ahead, behind = (np.asarray(special.ndtr(x - places)) for x in (0.0, mu, -mu))
        return (1 - q) * none + q * ahead, none if self.is_fixed_size else (
            (1 - q) * none + q * behind
        )

    @cached_property
    def at_zero(self) -> float:
        """The probability of no loss."""
        if not self.is_fixed_size:
            return 0.0
        return (1 - self.rate) * math.erf(self.mu / 2 / math.sqrt(2))

    def divergence(self, x: float) -> tuple[float, float]:
        """Return bounds of that at x >= 0."""
        (ahead,), (behind,) = self.tails(self.places(np.array([x])))
        doubt = _PART * ahead
        found = ahead - math.exp(x) * behind
        return max(found - doubt, 0.0), found + doubt


class _Losses:
    """Losses of up to count h in size: the masses of cells, and those of dots at their ends.

    The dots have the divergence of the losses at multiples of h. P has those of both ends of a cell
    in such shares that Q has its mass, too.
    """

    def __init__(self, release: RareRelease, h: float, count: int, near: int) -> None:
        self._h = h
        edges = h * np.arange(count + 1.0)
        ahead, behind = release.tails(release.places(edges))
        gains, losses = ahead[:-1] - ahead[1:], behind[:-1] - behind[1:]
        self._cells = _Sums(ahead[:-1] - ahead[-1], behind[:-1] - behind[-1], None, near)
        # What P and what Q have at the upper end.
        upper = (gains - losses * np.exp(edges[:-1])) / -math.expm1(-h)
        other = upper * np.exp(-edges[1:])
        none = float(gains[0] - upper[0] + losses[0] - other[0])
        self._dots = _Sums(
            ahead[1:] - ahead[-1] + upper, behind[1:] - behind[-1] + other, none, near
        )

    def bounds(self, k: int, x: float) -> tuple[float, float]:
        """Return what k losses add to the divergence at x."""
        growth, lower = math.exp(x), 0.0
        place = math.floor(x / self._h - k / 2)
        for at in (place, place + 1):
            found, wrong = self._cells.tail(k, at, growth)
            lower = max(lower, found - wrong)
        found, wrong = self._dots.tail(k, math.ceil(x / self._h), growth)
        return lower, found + wrong


class _Sums:
    """P's masses of sums of k losses at places of a lattice; Q's are mirrored.

    Small losses are nearly all, and what an FFT rounds off of them is kept from the others: sums of
    j that are `near` have places up to j times that in size, and errors of their own.
    """

    def __init__(self, ours: Array, theirs: Array, none: float | None, near: int) -> None:
        """Take P's and Q's tails at places from 0 on, or beside a mass at 0 from 1 on."""
        self._count, self._near = ours.size, near
        middle = np.array([] if none is None else [none])
        left, right = (-np.diff(np.append(each, 0.0)) for each in (theirs, ours))
        self._sums = [np.concatenate([left[::-1], middle, right])]
        self._tails = tuple(
            _both_ways(one, other, middle) for one, other in ((ours, theirs), (theirs, ours))
        )
        self._errors = [(0.0, 0.0)]  # near, and anywhere: in the root of the sum of squares

    def tail(self, k: int, place: int, growth: float) -> tuple[float, float]:
        """Return P - t Q of sums of at least a place, and by how much that may be wrong."""
        p, q = (self._tail(way, k, place) for way in (0, 1))
        of_p, of_q = (self._error(way, k, place) for way in (0, 1))
        return p - growth * q, _PART * (p + growth * q) + of_p + growth * of_q

    def _tail(self, way: int, k: int, place: int) -> float:
        tail, count = self._tails[way], self._count
        last = tail.size - 1
        if k == 1:
            return float(tail[min(max(place + count, 0), last)])
        masses = self._masses(k - 1)[:: -1 if way else 1]
        first = -count * (k - 1)
        # Sums of the others from `low` on; from `high` on the last loss does not matter.
        low = max(place + count - last, first)
        high = min(place + count, first + masses.size)
        found = 0.0
        if low < high:
            ours = tail[place + count - high + 1 : place + count - low + 1][::-1]
            found = float((masses[low - first : high - first] * ours).sum())
        if high < first + masses.size:
            found += float(tail[0]) * self._tail(way, k - 1, high)
        return found

    def _error(self, way: int, k: int, place: int) -> float:
        """Return what FFTs may have done to a tail, by Cauchy and Schwarz."""
        if k < 3:
            return 0.0
        self._masses(k - 1)
        tail, end = self._tails[way], (k - 1) * self._near
        near, anywhere = self._errors[k - 2]
        norm = math.sqrt(float((tail * tail).sum()))
        beside = math.sqrt(2 * end + k) * self._tail(way, 1, place - end)
        beyond = float(tail[0]) * self._error(way, k - 1, place + self._count)
        return near * min(beside, norm) + anywhere * norm + beyond

    def _masses(self, k: int) -> Array:
        """Return P's of the sums of k."""
        while len(self._sums) < k:
            self._add()
        return self._sums[k - 1]

    def _add(self) -> None:
        j, sums, one = len(self._sums), self._sums[-1], self._sums[0]
        near, far = _split(sums, j * self._count, j * self._near)
        close, rest = _split(one, self._count, self._near)
        count = sums.size + one.size - 1
        size = 1 << (count - 1).bit_length()
        f_near, f_far, f_close, f_rest = (fft.rfft(a, size) for a in (near, far, close, rest))
        made = fft.irfft(f_far * (f_close + f_rest) + f_near * f_rest, size)[:count]
        both, _ = _split(
            fft.irfft(f_near * f_close, size)[:count], (j + 1) * self._count, (j + 1) * self._near
        )
        self._sums.append(made + both)
        unit = 8 * _UNIT * math.log2(size)

        def wrong(a: Array, b: Array) -> float:
            return unit * (2 * _norm(a) * _sum(b) + _norm(b) * _sum(a))

        of_near, of_far = self._errors[-1]
        self._errors.append(
            (
                of_near * _sum(close) + wrong(near, close),
                of_far * _sum(one) + of_near * _sum(rest) + wrong(far, one) + wrong(rest, near),
            )
        )


def _both_ways(ours: Array, theirs: Array, middle: Array) -> Array:
    """Return the tail at all places, and 0 at the next one."""
    whole = ours[0] + middle.sum()
    left = whole + theirs[0] - np.append(theirs[1:], 0.0)
    at_zero = [] if middle.size == 0 else [whole]
    return np.concatenate([left[::-1], at_zero, ours, [0.0]])


def _split(masses: Array, middle: int, end: int) -> tuple[Array, Array]:
    near = np.zeros_like(masses)
    here = slice(max(middle - end, 0), middle + end)
    near[here] = masses[here]
    return near, masses - near


def _norm(masses: Array) -> float:
    return math.sqrt(float((masses * masses).sum()))


def _sum(masses: Array) -> float:
    return float(np.abs(masses).sum())


class _Releases:
    """So many of a release together, told at an epsilon of about `near`; losses up to a cut."""

    def __init__(self, release: RareRelease, n: int, near: float, reach: float) -> None:
        cells = int(min(max(_ALL_CELLS / (reach * (n - 1)), _FEWEST_CELLS), _MOST_CELLS))
        h, count = near / cells, round(reach * cells)
        self._release, self._n, self._cut = release, n, h * count
        self._large = _beyond(release, self._cut)
        self._losses = _Losses(release, h, count, cells // _FARTHER_THAN_NEAR)

    def delta(self, x: float) -> tuple[float, float]:
        """Return bounds of delta at x; 0 and 1 where losses beyond the cut are not far beyond x."""
        if not 0 < x < self._cut / 2:
            return 0.0, 1.0
        n, p0, growth = self._n, self._release.at_zero, math.exp(x)
        t, swapped = self._large
        ahead, behind = (-math.expm1(n * math.log1p(-each)) for each in self._large)
        lower = ahead * (1 - _PART) - growth * behind * (1 + _PART)
        upper = ahead * (1 + _PART) - growth * behind * (1 - _PART)
        upper += _rest(self._release, n, self._cut, x)
        low, high = self._release.divergence(x)
        less = t - growth * swapped
        each = [(1, low - less - _PART * t, high - less + _PART * t)]
        each += [(k, *self._losses.bounds(k, x)) for k in range(2 if p0 > 0 else n, n + 1)]
        for k, low, high in each:
            share = math.comb(n, k) * p0 ** (n - k)
            lower += share * low * (1 - _ROUNDING)
            upper += share * high * (1 + _ROUNDING)
        return max(lower, 0.0), min(upper, 1.0)


def _beyond(release: RareRelease, cut: float) -> tuple[float, float]:
    (t,), (swapped,) = release.tails(release.places(np.array([cut])))
    return float(t), float(swapped)


def _rest(release: RareRelease, n: int, cut: float, x: float) -> float:
    """Return a bound of R."""
    t, _ = _beyond(release, cut)
    return 2 * n * (n - 1) * t * release.divergence((cut - x) / (n - 1))[1] * (1 + _ROUNDING)


@functools.lru_cache(maxsize=4)
def _releases(release: RareRelease, n: int, near: float, delta: float) -> _Releases | None:
    """Return them where large losses are told apart from others; else None."""
    for reach in _REACHES:
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
    low, high = 1e-9, 1e-9
    while release.divergence(high)[1] > delta and high < _FAR:
        low, high = high, 2 * high
    while high - low > _STEP * high:
        middle = (low + high) / 2
        low, high = (middle, high) if release.divergence(middle)[1] > delta else (low, middle)
    return high


def _crossing(losses: _Releases, x: float, delta: float) -> tuple[float, float]:
    """Return about where delta is reached, and how fast its logarithm falls there."""

    def height(at: float) -> float:
        return math.log(max(sum(losses.delta(at)) / 2, 1e-300) / delta)

    here, rate = height(x), 1 / x
    rate = (here - height(x * (1 + _STEP))) / (x * _STEP)
    for _ in range(_STEPS):
        if not rate > 0:
            break
        move = min(max(here / rate, -x / 2), x)
        last, x, before = x, x + move, here
        if abs(move) < _CLOSE * x:
            break
        here = height(x)
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
