"""Releases beside others whose losses have few sums: one profile, read at few places.

With l the sums of the others' losses and P(l) their probabilities (`_few_sums`), and D_S the
profile of the rest, of any sign,

    D(x) = P(l infinite) + sum over l of P(l) D_S(x - l).

So what the rest costs, which contours tell to nearly all digits, is all that is needed. A contour
of all together would fall as slowly as that of the others, which are atoms, allows.

**Both sides from one reading.** Upper bounds have sums that are too high, lower ones those that are
too low, by g at most. What is read of D_S at x - l, l being the upper ones, is no more than D_S at
x - g less a lower one, as D_S falls: with those it is a lower bound of D(x - g). Differences x - l
are rounded down, for which g is a little larger.

**What is left out.** Where P(l) D_S is at most a part of a delta, it counts as any upper bound up
to that, and as nothing from below.

**An epsilon from two readings.** D is convex in t = e^x. So it is nowhere above the chord between
two readings from above, and beyond a reading from below nowhere below the line through it and the
other one's upper side. Where these come to delta is between bounds that differ by the square of how
far both are from each other.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from tightnoise.costs._exact import NARROW, Bounds, composition_of
from tightnoise.costs._few_sums import FewSums, few_sums
from tightnoise.costs._group import GroupCase
from tightnoise.costs._lattice import DiscreteLosses
from tightnoise.costs._lattice_bounds import delta_one_way, losses_above
from tightnoise.costs._leaf import Leaf, Terms
from tightnoise.costs._sampled import merged_terms

_MOST_SUMS, _MOST_IF_SLOW, _MOST_ON_LATTICES = 64, 16, 4
_MOST_READINGS = 12  # of all sums together where each takes a lattice
_ROUNDING = 2.0**-43  # relative: of probabilities, twice of their sum, and of e to at most 700
_ROUNDED = 2.0**-48  # relative: of an epsilon
_LEAST = 1e-9  # of a delta
_LOST = 1e-300
_BEYOND = 1e-8  # relative: the second reading is on the other side of delta
_ENOUGH = 0.5 * NARROW
_NEAREST = 1e-7  # relative: readings are not closer to each other
_FARTHEST = 700.0  # an exponent


@functools.lru_cache(maxsize=16)
def beside_few_sums(terms: Terms) -> BesideFew | None:
    """Return the composition of releases with some that have few sums; else None."""
    told: list[tuple[Leaf, int]] = []
    rest: list[tuple[Leaf, int]] = []
    for leaf, n in merged_terms(terms):
        (rest if leaf.reached() is None else told).append((leaf, n))
    if any(leaf.is_slow or leaf.gap is not None for leaf, _ in rest):
        return None
    few = few_sums(tuple(told)) if told and rest else None
    coarse = losses_above(terms)
    if few is None or not coarse:
        return None
    composition = composition_of(tuple(rest))
    is_one = sum(n for _, n in rest) == 1
    is_group = any(isinstance(leaf, GroupCase) for leaf, _ in rest)
    is_quick = is_one or (composition is not None and not is_group)
    most = _MOST_SUMS if is_quick else _MOST_IF_SLOW if composition else _MOST_ON_LATTICES
    if any(not above.losses.size == below.losses.size <= most for above, below in few.ways):
        return None
    if composition is None:
        readings = _MOST_READINGS // (1 if is_quick else few.ways[0][0].losses.size)
        by_lattice = functools.partial(delta_one_way, tuple(rest))
        return BesideFew(by_lattice, few, coarse, is_quick, readings)
    return BesideFew(composition.delta_one_way, few, coarse, is_quick)


@dataclass(frozen=True, eq=False)
class BesideFew:
    """A profile, and sums of losses beside it, in the directions in which neighbours differ.

    `coarse`: the losses of all, from above; `is_quick`: a reading takes a few milliseconds;
    `most_readings`: of each direction.
    """

    rest: Callable[[int, float, float], Bounds]
    few: FewSums
    coarse: tuple[DiscreteLosses, ...]
    is_quick: bool
    most_readings: int = _MOST_READINGS

    @property
    def _ways(self) -> range:
        return range(len(self.coarse))

    def answer(self, question: str, at: float, known: Bounds) -> Bounds:
        """Return bounds of epsilon at a delta above 0, or of delta at an epsilon of at least 0."""
        return self.epsilon(at, known) if question == "epsilon" else self.delta(at)

    def delta(self, epsilon: float) -> Bounds:
        """Return bounds of delta at an epsilon of at least 0."""
        least = most = 0.0
        for way in self._ways:
            upper = self._read(way, epsilon, least).upper
            if upper > least:
                beyond = epsilon + self._apart(way, epsilon)
                least = max(least, self._read(way, beyond, upper).lower)
            most = max(most, upper)
        return Bounds(least, most)

    def epsilon(self, delta: float, known: Bounds) -> Bounds:
        """Return bounds of the least epsilon at a delta above 0, of which these are known."""
        found = Bounds(0.0, 0.0)
        guesses = [_guess(self.coarse[way], delta, known.upper) for way in self._ways]
        for way in sorted(self._ways, key=lambda way: -guesses[way][0]):
            near, slope = guesses[way]
            if near <= found.lower:
                found = Bounds(found.lower, max(found.upper, near))
                continue

            read = functools.partial(self._reading, way, delta)
            start, widest = Bounds(found.upper, near), known.upper - known.lower
            own = _epsilon(read, delta, start, slope, widest, self.most_readings)
            if found.upper == own.lower == 0:  # too wide, as those of less cost would be
                return known
            found = Bounds(max(found.lower, own.lower), max(found.upper, own.upper))
        return found

    def _reading(self, way: int, delta: float, x: float) -> _Reading:
        return _Reading(x, *self._read(way, x, delta), x - self._apart(way, x))

    def _apart(self, way: int, x: float) -> float:
        above, below = self.few.ways[way % len(self.few.ways)]
        sizes = float(abs(above.losses).max()) + x
        return float((above.losses - below.losses).max()) + _ROUNDED * sizes

    def _read(self, way: int, x: float, about: float) -> Bounds:
        """Return at least the divergence at x, and at most that before it by how far sums may be.

        Near a delta that is about that.
        """
        above, below = self.few.ways[way % len(self.few.ways)]
        low, high = below.infinite, above.infinite
        for loss, least, most in zip(above.losses, below.masses, above.masses, strict=True):
            floor = _LEAST * about / (most * above.losses.size) if most > 0 else 1.0
            found = self.rest(way, math.nextafter(x - loss, -math.inf), floor)
            low += least * (found.lower if found.upper > floor else 0.0)
            high += most * found.upper
        low, high = low * (1 - _ROUNDING) - _LOST, high * (1 + _ROUNDING) + _LOST
        return Bounds(max(low, 0.0), min(high, 1.0))


def _guess(losses: DiscreteLosses, delta: float, known: float) -> tuple[float, float]:
    """Return an epsilon that is no less than that at a delta, and how fast its logarithm falls."""
    slack = delta - losses.infinite
    if not 0 < slack < 1:
        return math.inf, 1.0
    near = min(losses.chernoff_epsilon(math.log(slack)), known)
    return near, losses.narrow_tilt(near)


class _Reading(NamedTuple):
    """At least D(x), and at most D(before)."""

    x: float
    lower: float
    upper: float
    before: float


def _epsilon(
    read: Callable[[float], _Reading],
    delta: float,
    known: Bounds,
    slope: float,
    widest: float,
    most: int,
) -> Bounds:
    """Return bounds of where a divergence falls to delta, which is about at the upper one known.

    Where it is at most the lower one known, any bounds up to that will do, and others only if they
    are closer to each other than the widest.
    """
    best, readings = Bounds(0.0, known.upper), list[_Reading]()
    x = min(known) or known.upper
    while 0 < x < math.inf and len(readings) < most:
        readings.append(read(x))
        best = best.or_tighter(_between(readings, delta))
        width = best.upper - best.lower
        low, high = readings[-1].lower, readings[-1].upper
        if width <= _ENOUGH * best.upper or best.upper <= known.lower or low <= 0 < delta < high:
            break
        told = math.log(high / low) if low > 0 else 0.0  # no more of one reading
        fall = math.log(readings[-2].upper / high) if len(readings) > 1 else 0.0
        if abs(fall) > 2 * told:
            slope = fall / (x - readings[-2].x)
        if told > 0.5 * min(width, widest) * abs(slope):
            break
        # The next one is on the other side of delta, and not too close.
        aim = low if low <= delta < high else 0.5 * (low + high)
        beyond = math.copysign(_BEYOND * x, delta - aim) if aim == low else _BEYOND * x
        move = math.log(aim / delta) / slope + beyond if slope > 0 else 0.0
        if abs(move) < _NEAREST * x:
            move = math.copysign(_NEAREST * x, high - delta)
        x += move
        if not best.lower <= x <= best.upper:
            x = best.lower + 0.5 * width
    return best


def _between(readings: list[_Reading], delta: float) -> Bounds:
    """Return what readings prove of where a divergence falls to delta."""
    lower, upper = 0.0, math.inf
    ordered = sorted(readings)
    for one in ordered:
        if one.upper <= delta:
            upper = min(upper, one.x)
        if one.lower > delta:
            lower = max(lower, one.before)
    for one, other in itertools.pairwise(ordered):
        if one.upper > delta >= other.upper:
            part = (one.upper - delta) / (one.upper - other.upper)
            upper = min(upper, one.x + math.log1p(part * _growth(other.x - one.x)))
        # Lines that are carried on to the left, and to the right.
        if other.upper < one.lower <= delta:
            part = (delta - one.lower) / (one.lower - other.upper) * (1 + _ROUNDING)
            grown, start = part * _growth(other.x - one.before), one.before * (1 - _ROUNDED)
            lower = max(lower, start + math.log1p(-grown) if grown < 1 else 0.0)
        if one.upper > other.lower > delta:
            part = (other.lower - delta) / (one.upper - other.lower)
            grown = part * -math.expm1(one.x - other.before)
            lower = max(lower, other.before + math.log1p(max(grown, 0.0)))
    return Bounds(max(lower * (1 - _ROUNDED), 0.0), upper * (1 + _ROUNDED))


def _growth(gap: float) -> float:
    return math.expm1(gap) if gap < _FARTHEST else math.inf
