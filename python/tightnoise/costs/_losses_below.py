"""The hockey-stick divergence of many privacy losses together, from below: by sets of outcomes.

With p and q what P and Q give an outcome, the divergence is the sum of max(0, p - t q), t =
e^epsilon. So any set A of outcomes, of all releases together, proves P(A) - t Q(A) from below, and
for a given delta all t up to (P(A) - delta)/Q(A).

**Cells.** Each loss L of each release is given the place k next to L/h, a whole number, and A is
told by the sum of the places alone. That is a map of outcomes: what the sum of places is under P is
one convolution, what it is under Q is another, and nothing else is asked of the places. How far L
is from k h is no error. It only matters how much the losses in one cell differ where p - t q
changes its sign, and that cell adds about the square of what they differ by: as where losses are
split above (`_lattice`), rounding is of second order, the larger side of n h^2/12 in variance.

**Masses** need not be those of probabilities: those of finite losses of a pair that the true one
dominates, at each t, do (Q's being e^-L of P's). Compositions of such pairs keep the order, as the
curve of a composition is a sum of curves of one release, at other t and with weights of at least 0;
and a sum of positive parts is no less than the positive part of the sum.

**Both convolutions** are tilted, P by e^(theta k h) and Q by e^((theta + 1) k h): nearly the same
numbers. The sets are those cells of the window, from one on, in which P's is the larger. Of errors,
what an FFT rounds off is bounded in the norm of all masses, so that of those of any such set, by
Cauchy and Schwarz (`Tilted.noise`). What lies beyond the window is in no set. What an FFT wraps
around from there is taken off P's, at its tilted probability, and can only add to Q's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._cached import cached_property
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._lattice import DiscreteLosses, Frame, Tilted, Work

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_SMALLEST = -700.0  # logarithm of a weight; Q's are taken for no less
_FAR = 64.0  # logarithm of weights: from there on, nothing is added to a set
_BEFORE = 8.0  # the same, of cells before: errors are told in units of the first of a set
_AROUND, _SPREAD = 8.0, 4.0  # cells before the first of the same sign, times the root of the count
_ROUNDS = 3  # frames that are tried for an epsilon
_SETS = 12  # and sets in each of them
_NEXT = 1e-7  # relative: from one that is so close, the best is told to about the square of that
_SHARP = 1e-6  # of P(A): less is what errors may be


@dataclass(frozen=True, eq=False)
class LossesOn(DiscreteLosses):
    """The losses of releases, on a lattice of this spacing."""

    spacing: float

    def _spacing(self, least: float, wanted: float) -> float:
        return self.spacing


@dataclass(frozen=True, eq=False)
class _Places(LossesOn):
    """Multiples of the spacing, with their masses, rounded down."""

    is_upper: ClassVar[bool] = False

    @property
    def doubt(self) -> float:
        """How far the logarithm of a mass of the sum may be rounded off, by those of the masses."""
        sizes = (1 + float(np.abs(one.log_mass).max()) for one in self.releases)
        return 16 * _UNIT * math.fsum(n * size for size, n in zip(sizes, self.counts, strict=True))


@dataclass(frozen=True, eq=False)
class _PlacesAbove(_Places):
    """The same, rounded up."""

    is_upper: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class LossesBelow:
    """The finite losses of one direction of releases, of pairs that the true ones dominate."""

    terms: tuple[tuple[Release, int], ...]
    spacing: float

    @cached_property
    def highest(self) -> float:
        """The largest sum of losses, rounded down: some outcome has it."""
        return math.fsum(release.highest * n for release, n in self.terms) - 16 * _UNIT * math.fsum(
            abs(release.highest) * n for release, n in self.terms
        )

    @cached_property
    def infinite(self) -> float:
        """The probability that one of the losses is infinite, rounded down."""
        return infinite_below(self.terms)

    def slack_lower(self, epsilon: float, frame: Frame) -> float:
        """Return at most the divergence of the finite losses at `epsilon`."""
        return self.cells(frame).slack(epsilon)

    def slacks_lower(self, epsilons: Array, frame: Frame) -> Array:
        """Return the same at many."""
        cells = self.cells(frame)
        return np.array([cells.slack(epsilon) for epsilon in epsilons.tolist()])

    def epsilon_lower(self, log_slack: float, near: float, frame: Frame, work: Work) -> float:
        """Return an epsilon at which the divergence of the finite losses exceeds exp(log_slack).

        `near`: about where. If nothing sharp is found where the frame is, others are tried, as long
        as there is `work` left.
        """
        best = 0.0
        if self.highest <= 0:
            return best
        for _ in range(_ROUNDS):
            if not all(work.takes(one, frame) for one in self._both):
                break
            found, is_sharp = self.cells(frame).epsilon(log_slack, best or near)
            best = max(best, found)
            if is_sharp:
                break
            losses = DiscreteLosses(*zip(*self.terms, strict=True))
            near = min(near, losses.chernoff_epsilon(log_slack))
            frame = losses.frame(losses.narrow_tilt(best or near))
        return best

    @cached_property
    def _both(self) -> tuple[_Places, _Places]:
        """The places with what P and what Q gives them."""
        counts = tuple(n for _, n in self.terms)
        ahead, behind = zip(*(_on_places(one, self.spacing) for one, _ in self.terms), strict=True)
        return (
            _Places(ahead, counts, self.spacing),
            _PlacesAbove(behind, counts, self.spacing),
        )

    def cells(self, frame: Frame) -> Cells:
        """Return the cells of a window."""
        ahead, behind = self._both
        # Places may be n h/2 away from losses.
        frame = frame._replace(here=ahead.moments(frame.tilt))
        p, q = ahead.tilted_in(frame), behind.tilted_in(frame._replace(tilt=frame.tilt + 1))
        log_p, log_q = p.log_scale - 2 * p.doubt - ahead.doubt, q.log_scale + behind.doubt
        around = _AROUND + _SPREAD * math.sqrt(ahead.count)
        return Cells(p, q, log_p, log_q, math.ceil(min(around, p.mass.size)))


class Cells(NamedTuple):
    """The tilted masses of both, and logarithms of what those of the first place are in units of.

    `around`: so many cells before the first in which P's is the larger, others may be such.
    """

    p: Tilted
    q: Tilted
    log_p: float
    log_q: float
    around: int

    def slack(self, epsilon: float) -> float:
        """Return at most the divergence at `epsilon`."""
        found = self._set(epsilon)
        log_t = epsilon + found.log_q - found.log_p
        log_t += 8 * _UNIT * (epsilon + abs(found.log_q) + abs(found.log_p))
        if found.p <= 0 or log_t > -_SMALLEST:
            return 0.0
        left = found.p - found.q * math.exp(log_t) * (1 + 8 * _UNIT)
        if left <= 0:
            return 0.0
        log_left = math.log(left)
        rounding = 4 * _UNIT * (8 + abs(found.log_p) + abs(log_left))
        return math.exp(min(found.log_p + log_left, 0.0)) * (1 - rounding)

    def epsilon(self, log_slack: float, near: float) -> tuple[float, bool]:
        """Return an epsilon at which the divergence exceeds that, and whether errors are small."""
        best, is_sharp, at = 0.0, False, near
        low, step = 0.0, 1 / max(self.p.tilt, 1 / max(self.p.moments.deviation, self.p.spacing))
        high = self.log_p - self.log_q + self.p.spacing * self.p.mass.size
        for _ in range(_SETS):
            found = self._set(at)
            log_share = log_slack - found.log_p
            share = math.exp(min(log_share, -_SMALLEST))
            share *= 1 + 8 * _UNIT * (2 + abs(log_slack) + abs(found.log_p))
            if found.p > share:
                log_t = math.log((found.p - share) / found.q) + found.log_p - found.log_q
                size = 2 + abs(found.log_p) + abs(found.log_q) + abs(log_t)
                if log_t - 8 * _UNIT * size > best:
                    best = log_t - 8 * _UNIT * size
                    is_sharp = found.wrong <= _SHARP * found.p
            # Newton's step for the logarithm of the divergence, which is about concave, between
            # where it is known to be too large and too small.
            falls = found.q * math.exp(min(at + found.log_q - found.log_p, -_SMALLEST))
            left = found.p - falls
            excess = math.log(left) - log_share if left > 0 else -math.inf
            if left > 0:
                trial = at + excess * left / max(falls, 1e-300)
                if abs(trial - at) <= _NEXT * at:
                    return best, is_sharp
            elif at == 0:
                break
            else:  # too few of them
                trial = at - step
                step *= 2.0
            low, high = (max(low, at), high) if excess > 0 else (low, min(high, at))
            low = max(low, best)
            if high - low <= _NEXT * high:
                return best, is_sharp
            at = trial if low < trial < high else 0.5 * (low + high)
        return best, False

    def _set(self, epsilon: float) -> _Set:
        """Return one for about this epsilon."""
        p, q, spacing = self.p, self.q, self.p.spacing
        size = p.mass.size
        # P's is t times Q's there, were losses the places times h.
        equal = min((epsilon + self.log_q - self.log_p) / spacing, float(size))
        around = min(self.around, math.ceil(_BEFORE / (q.tilt * spacing)))

        def is_more(start: int, stop: int) -> NDArray[np.bool_]:
            exponents = np.minimum(spacing * (equal - np.arange(start, stop)), -_SMALLEST)
            return np.asarray(p.mass[start:stop] > q.mass[start:stop] * np.exp(exponents))

        start = min(max(math.floor(equal) - around, 0), size - 1)
        # Errors count in units of the first cell's.
        first = start + int(np.argmax(is_more(start, min(start + 2 * around + 2, size))))
        length = math.ceil(_FAR / max(p.tilt * spacing, _FAR / size))
        cells = slice(first, min(first + length, size))
        used = is_more(cells.start, cells.stop)
        steps: Array = spacing * np.arange(used.size, dtype=np.float64)[used]
        of_p, rounding_p = _sum(p.mass[cells][used], p.tilt * steps)
        of_q, rounding_q = _sum(q.mass[cells][used], q.tilt * steps)
        log_p = self.log_p - p.tilt * spacing * first
        log_q = self.log_q - q.tilt * spacing * first
        wrong = p.noise + p.beyond + p.below
        return _Set(
            of_p * (1 - rounding_p) - wrong,
            of_q * (1 + rounding_q) + q.noise,
            log_p - 8 * _UNIT * (abs(log_p) + abs(self.log_p)),
            log_q + 8 * _UNIT * (abs(log_q) + abs(self.log_q)),
            wrong,
        )


class _Set(NamedTuple):
    """At most P(A), at least Q(A), in units of which logarithms are given; errors of the first."""

    p: float
    q: float
    log_p: float
    log_q: float
    wrong: float


def _sum(masses: Array, exponents: Array) -> tuple[float, float]:
    """Return the sum of masses e^-exponents, and by which part of it rounding may be wrong."""
    exponents = np.fmin(exponents, -_SMALLEST)
    terms = masses * np.exp(-exponents)
    total = float(terms.sum())
    mean = float((terms * exponents).sum()) / total if total > 0 else 0.0
    return total, _UNIT * (32 + 4 * mean)


def infinite_below(terms: Iterable[tuple[Release, int]]) -> float:
    """Return the probability that one of the losses is infinite, rounded down."""
    kept = hidden = count = 0.0
    for release, n in terms:
        finite = math.fsum(np.exp(release.log_mass).tolist())
        kept += n * min(math.log(finite + release.infinite), 0.0)  # given masses may be above 1
        hidden += n * math.log1p(release.infinite / finite)
        count += n
    return max(0.0, math.exp(kept) * -math.expm1(-hidden) * (1 - 32 * _UNIT * (1 + count)))


def _on_places(release: Release, spacing: float) -> tuple[Release, Release]:
    """Return the places of one direction's losses, times the spacing, with P's masses and Q's."""
    places = np.rint(release.values / spacing)
    starts = np.flatnonzero(np.append(True, np.diff(places) > 0))
    together = np.diff(np.append(starts, places.size))
    cell, rounding = np.repeat(np.arange(starts.size), together), _UNIT * float(together.max())

    def one(log_mass: Array, sign: float) -> Release:
        largest = np.maximum.reduceat(log_mass, starts)
        sums = np.add.reduceat(np.exp(log_mass - largest[cell]), starts)
        return Release(
            values=spacing * places[starts],
            log_mass=largest + np.log(sums) + sign * rounding,
            infinite=0.0,
            infinite_swapped=0.0,
            is_symmetric=False,
            grid=spacing,
        )

    return one(release.log_mass, -1.0), one(release.log_mass - release.values, 1.0)
