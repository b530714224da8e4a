"""Both sides of an epsilon and a delta of releases together, by their losses on a lattice.

`PrivacyLossDistribution` is quick and some millionths too high. Here the laws of all leaves are
laid on a lattice anew, from above and from below (`_losses_below`): most points are where they
count, and atoms are at multiples, or nearly. Both sides err by about the square of the spacing, so
that a first answer says which spacing is narrow, as far as there is room for so many points.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._atom_laws import Refinement, is_symmetric, release_above, releases_below
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._exact import NARROW, Bounds
from tightnoise.costs._lattice import MAX_LATTICE_COUNT, DiscreteLosses, Frame, Work
from tightnoise.costs._leaf import Leaf, Terms, losses_of_leaf
from tightnoise.costs._losses_below import LossesBelow, LossesOn
from tightnoise.costs._sampled import merged_terms

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_POINTS, _SLOW_POINTS, _CELL_POINTS = 40_000, 3_000, 12_000  # of a profile, or of cells
_FEWER = 0.2  # times as many where they are read at many epsilons, and
_REACH = 2.0  # deviations, in which epsilons are near each other
_ROUNDS = 3  # spacings that are tried,
_WORK = 1.3e7  # as far as this suffices: some tenths of a second
_FIRST = 4.0  # of them: so much wider than that of losses from above alone
_AIM = 0.5  # of what is narrow
_WORTH_ANOTHER = 0.5  # of the last width
_FINEST = 0.05  # of the last spacing
_TOO_WIDE = 1e-3  # relative: a finer lattice alone is no remedy
_ADDED = 0.05  # times the square of the spacing, for each loss: about what it may add to epsilon
_STEPS = 4.0  # spacings and tilts, between one and its double, that are asked for
_ROOM = 1.1  # the finest spacing is this much wider than there would be room for
_LEEWAY = 2.0  # from the least spacing to the most
_MOST_TRIED = 20_000  # spacings
_FARTHEST = 600.0  # epsilon of which rare losses are told apart
_NEAR = 1e-9  # relative: multiples are so close
_ATOM = 1e-4  # losses that are this probable, and
_ALONE = 20.0  # so much more than those beside them, are to be at multiples
_FEW = 64  # losses are all atoms
LEAST_LOSS = 1e-100
"""The largest one of losses that points are laid for: less is too close to 0 for any between."""
_MOST_ATOMS = 8  # of one release


def lattice_bounds(question: str, terms: Terms, at: float, known: Bounds) -> Bounds:
    """Return an epsilon that is not reached at a delta and one that is, or a delta at an epsilon.

    The lower one is of the pairs of the leaves, in the worse direction of the two; 0 if one is not
    known. `known` is known already, from above not far from the truth.
    """
    best = known
    near = best.upper if question == "epsilon" else at
    coarse = losses_above(terms)
    if not coarse or best.is_narrow:
        return best
    frames = tuple(_frame(losses, near) for losses in coarse)
    if question == "epsilon":
        frames = tuple(
            losses.narrower_frame(frame, near, at)
            for losses, frame in zip(coarse, frames, strict=True)
        )
    # All are laid out from above, and one of them as both what P and what Q give.
    points = _WORK / ((len(coarse) + 2) * (1 + len(coarse[0].releases)))
    rooms = [losses.spacings(frame, points) for losses, frame in zip(coarse, frames, strict=True)]
    least, wanted = _ROOM * max(room[0] for room in rooms), max(room[1] for room in rooms)
    # Where all losses are lower, any will do.
    tilts = tuple(
        frame.tilt if near < losses.highest else 0.0
        for losses, frame in zip(coarse, frames, strict=True)
    )
    added = _ADDED * coarse[0].count * least**2
    if question == "epsilon" and added > best.upper - best.lower:
        return best  # nor could this be better
    if question == "delta" and added * max(tilts) > _WORTH_ANOTHER * (1 - best.lower / best.upper):
        return best
    spacing, own_width = _spacing(terms, least, _FIRST * wanted), math.inf
    work, sides = Work(_WORK), _Directions(best, len(coarse))
    for _ in range(_ROUNDS):
        ways = _ways(terms, spacing, least, tilts)
        if not ways:
            break
        own = _read(question, ways, frames, at, work, sides)
        best = sides.best
        if spacing == least or not best.lower < best.upper:
            break
        last, own_width = own_width, 1 - own.lower / own.upper
        width = 1 - best.lower / best.upper
        finer = math.sqrt(_AIM * NARROW / width)
        if finer < _FINEST:
            # Something else keeps the sides apart: perhaps another pair costs more.
            if not all(leaf.reached() or _is_one_pair(leaf) for leaf, _ in terms):
                ways = _ways(terms, spacing, least, tilts, is_level=True)
                _read(question, ways, frames, at, work, sides)
            if not _is_as_wide(sides, width) or width > _TOO_WIDE:
                return sides.best
        if width <= NARROW or own_width > _WORTH_ANOTHER * last:
            break
        finest = own_width * (least / spacing) ** 2
        if finest > _WORTH_ANOTHER * width:  # no more than is known from elsewhere
            break
        spacing = max(least, spacing * max(finer, _FINEST))
    return sides.best


def is_at_most(terms: Terms, epsilon: float, delta: float, work: Work) -> bool:
    """Return whether a lattice shows a delta at an epsilon, while there is work left for it."""
    coarse = losses_above(terms)
    frames = tuple(_frame(losses, epsilon) for losses in coarse)
    left = [i for i, losses in enumerate(coarse) if losses.chernoff_delta(epsilon) > delta]
    if not coarse or not all(work.takes(coarse[i], frames[i]) for i in left):
        return bool(coarse) and not left
    rooms = [losses.spacings(frame) for losses, frame in zip(coarse, frames, strict=True)]
    least, wanted = _ROOM * max(room[0] for room in rooms), max(room[1] for room in rooms)
    spacing = _spacing(terms, least, wanted)
    ways = _ways(terms, spacing, least, tuple(frame.tilt for frame in frames)) if left else ()
    return bool(ways) and all(_delta_above(ways[i], frames[i], epsilon) <= delta for i in left)


class _Directions:
    """What is proved of each direction, of which the larger one counts."""

    def __init__(self, known: Bounds, count: int) -> None:
        self.each = [Bounds(0.0, known.upper)] * count
        self._floor = known.lower

    @property
    def best(self) -> Bounds:
        """The bounds of the larger one."""
        upper = max(bounds.upper for bounds in self.each)
        return Bounds(min(max(self._floor, *(one.lower for one in self.each)), upper), upper)

    @property
    def left(self) -> list[int]:
        """Those that may be the larger one, the most likely first."""
        floor = self.best.lower
        order = sorted(range(len(self.each)), key=lambda i: -self.each[i].upper)
        return [i for i in order if self.each[i].upper > floor]

    def take(self, way: int, found: Bounds) -> None:
        """Take in what is proved of one."""
        self.each[way] = self.each[way].or_tighter(found)


def _is_one_pair(leaf: Leaf) -> bool:
    """Return whether the pair that is known from below is the only one."""
    return leaf.is_attained and not leaf.has_either_order


def _is_as_wide(sides: _Directions, width: float) -> bool:
    """Return whether little was gained over that width."""
    return 1 - sides.best.lower / sides.best.upper > _WORTH_ANOTHER * width


def ways_at(terms: Terms, frames: tuple[Frame, ...], coarser: float = 1.0) -> tuple[Way, ...]:
    """Return the losses of each direction, near these frames; none if too little is known.

    Of few points, as they are read at many epsilons; no finer than so much of the finest lattice.
    """
    rooms = [
        losses.spacings(frame) for losses, frame in zip(losses_above(terms), frames, strict=True)
    ]
    least, wanted = _ROOM * max(room[0] for room in rooms), max(room[1] for room in rooms)
    tilts = tuple(_step(frame.tilt) for frame in frames)
    spacing = _spacing(terms, least, _step(max(coarser * least, wanted)))
    return _ways(terms, spacing, least, tilts, _FEWER)


def deltas_below(terms: Terms, epsilons: Array) -> Array:
    """Return, in both directions, deltas that are reached at rising epsilons; 0 if unknown."""
    found = np.zeros((2, epsilons.size))
    coarse = losses_above(terms)
    end = int(np.searchsorted(epsilons, max((losses.highest for losses in coarse), default=0.0)))
    first = 0
    while first < end:  # a lattice serves all that are near
        frames = tuple(_frame(losses, float(epsilons[first])) for losses in coarse)
        ways = ways_at(terms, frames)
        if not ways:
            break
        reach = _REACH * max(frame.here.deviation for frame in frames)
        last = max(first + 1, int(np.searchsorted(epsilons, epsilons[first] + reach)))
        here = slice(first, min(last, end))
        for i, (way, frame) in enumerate(zip(ways, frames, strict=True)):
            slacks = way.lower.slacks_lower(epsilons[here], frame)
            found[i, here] = (way.lower.infinite + slacks) * (1 - 8 * _UNIT)
        first = last
    if len(coarse) == 1:
        found[1] = found[0]
    return found


def delta_one_way(terms: Terms, way: int, epsilon: float, floor: float) -> Bounds:
    """Return bounds of delta in one direction, at an epsilon of any sign.

    Any bounds up to a `floor` that it does not exceed; 0 and 1 where too little is known.
    """
    if epsilon < 0:  # D(P||Q)(t) = 1 - t + t D(Q||P)(1/t)
        t = math.exp(epsilon)
        other = delta_one_way(terms, 1 - way, -epsilon, floor / t if t > 0 else 1.0)
        low, high = (-math.expm1(epsilon) + t * each for each in other)
        return Bounds(low * (1 - 8 * _UNIT), min(high * (1 + 8 * _UNIT), 1.0))
    (leaf, count), *others = merged_terms(terms)
    if count == 1 and not others:
        above, below = (read(np.array([epsilon])) for read in (leaf.profile, leaf.profile_below))
        if above is not None and below is not None:
            return Bounds(float(below[way][0]), float(above[way][0]))
    coarse = losses_above(terms)
    if not coarse:
        return Bounds(0.0, 1.0)
    losses = coarse[way % len(coarse)]
    if losses.chernoff_delta(epsilon) <= floor:
        return Bounds(0.0, floor)
    frames = tuple(_frame(each, epsilon) for each in coarse)
    ways = ways_at(terms, frames)
    if not ways:
        return Bounds(0.0, 1.0)
    own, frame = ways[way % len(ways)], frames[way % len(ways)]
    return Bounds(_delta_below(own, frame, epsilon), _delta_above(own, frame, epsilon))


class Way(NamedTuple):
    """The losses of one direction from both sides."""

    upper: LossesOn
    lower: LossesBelow


def _read(
    question: str,
    ways: tuple[Way, ...],
    frames: tuple[Frame, ...],
    at: float,
    work: Work,
    sides: _Directions,
) -> Bounds:
    """Prove the answer of directions that may be the larger one, if there is work left.

    Returned is what follows from these lattices alone.
    """
    is_delta, left = question == "delta", sides.left
    if not all(work.takes(ways[i].upper, frames[i]) for i in left):
        return Bounds(0.0, math.inf)
    above = _delta_above if is_delta else _epsilon_above
    uppers = {i: above(ways[i], frames[i], at) for i in left}
    for i, upper in uppers.items():
        sides.take(i, Bounds(0.0, upper))
    lower = 0.0
    for i in sides.left:
        near = sides.each[i].upper
        if near <= sides.best.lower or (is_delta and not _takes_below(work, ways[i], frames[i])):
            break
        below = (
            _delta_below(ways[i], frames[i], at)
            if is_delta
            else _epsilon_below(ways[i], frames[i], at, near, work)
        )
        lower = max(lower, below)
        sides.take(i, Bounds(below, math.inf))
    return Bounds(lower, max(uppers.values(), default=math.inf))


def _takes_below(work: Work, way: Way, frame: Frame) -> bool:
    """Return whether what P and what Q give may be laid out, too."""
    return work.takes(way.upper, frame) and work.takes(way.upper, frame)


def _epsilon_below(way: Way, frame: Frame, delta: float, near: float, work: Work) -> float:
    losses = way.lower
    slack = delta - losses.infinite
    if slack < 0:
        return math.inf
    if slack == 0:
        return max(0.0, losses.highest)
    near = min(near, losses.highest)
    return losses.epsilon_lower(math.log(slack) + 8 * _UNIT, near, frame, work)


def _epsilon_above(way: Way, frame: Frame, delta: float) -> float:
    slack = (delta - way.upper.infinite) * (1 - 4 * _UNIT)
    if slack <= 0:
        return math.inf
    return way.upper.epsilon_in(frame, math.log(slack))


def _delta_below(way: Way, frame: Frame, epsilon: float) -> float:
    return (way.lower.infinite + way.lower.slack_lower(epsilon, frame)) * (1 - 8 * _UNIT)


def _delta_above(way: Way, frame: Frame, epsilon: float) -> float:
    return way.upper.delta_upper(epsilon, frame)


# --- the releases


@functools.lru_cache(maxsize=32)
def releases_of(terms: Terms) -> tuple[tuple[Leaf, Release, int], ...]:
    """Return the leaves with their losses from above, if pairs of all are known; else none.

    None, too, where points are to be laid for losses that are next to nothing.
    """
    found = []
    for leaf, count in merged_terms(terms):
        release = losses_of_leaf(leaf)
        if release is None or not leaf.has_pair:
            return ()
        if leaf.reached() is None and release.largest < LEAST_LOSS:
            return ()
        found.append((leaf, release, count))
    return tuple(found)


def _releases(terms: Terms) -> tuple[tuple[Leaf, Release, int], ...]:
    """Return those of as many releases as a lattice takes; else none."""
    found = releases_of(terms)
    return found if sum(n for _, _, n in found) <= MAX_LATTICE_COUNT else ()


@functools.lru_cache(maxsize=16)
def losses_above(terms: Terms) -> tuple[DiscreteLosses, ...]:
    """Return the losses from above of one or both directions; none if too little is known."""
    releases = _releases(terms)
    counts = tuple(n for _, _, n in releases)
    forward = tuple(release for _, release, _ in releases)
    if not releases or DiscreteLosses(forward, counts).largest <= 0:
        return ()
    ways = [forward, tuple(release.swapped for release in forward)]
    symmetric = all(is_symmetric(leaf) for leaf, _, _ in releases)
    return tuple(DiscreteLosses(way, counts) for way in ways[: 1 if symmetric else 2])


@functools.lru_cache(maxsize=16)
def _frame(losses: DiscreteLosses, near: float) -> Frame:
    return losses.frame(losses.narrow_tilt(min(near, losses.highest)))


def _spacing(terms: Terms, least: float, wanted: float) -> float:
    """Return a spacing as wanted, or one on which all losses lie, if they are few."""
    if all(leaf.reached() is not None for leaf, _ in terms):
        return losses_above(terms)[0]._spacing(least, wanted)
    return max(least, wanted)


def _step(number: float) -> float:
    """Return it or a little more: one of few, that others will want, too."""
    return float(2.0 ** (math.ceil(_STEPS * math.log2(number)) / _STEPS)) if number > 0 else 0.0


@functools.lru_cache(maxsize=16)
def _ways(
    terms: Terms,
    wanted: float,
    least: float,
    tilts: tuple[float, ...],
    share: float = 1.0,
    *,
    is_level: bool = False,
) -> tuple[Way, ...]:
    """Return the losses of each direction on a lattice of about that spacing; none if unknown."""
    points = int(share * _POINTS)
    laid = laws_on_lattice(terms, wanted, least, Refinement(tilts, points, is_level=is_level))
    if laid is None:
        return ()
    spacing, laws = laid
    counts = tuple(n for _, _, n in laws)
    uppers = [tuple(above for above, _, _ in laws), tuple(above.swapped for above, _, _ in laws)]
    return tuple(
        Way(
            LossesOn(uppers[i], counts, spacing),
            LossesBelow(tuple((below[i], n) for _, below, n in laws), spacing),
        )
        for i in range(len(tilts))
    )


Laws = list[tuple[Release, tuple[Release, Release], int]]
"""Of each leaf losses from above, those of both directions from below, and how often."""


class OnLattice(NamedTuple):
    """Laws of leaves on a lattice of this spacing, or nearly."""

    spacing: float
    laws: Laws


def laws_on_lattice(
    terms: Terms, wanted: float, least: float, finer: Refinement
) -> OnLattice | None:
    """Return losses on a lattice of about that spacing, at so many points; None if unknown."""
    releases = _releases(terms)
    spacing = _aligned(wanted, least, releases)
    laws = []
    for leaf, _, n in releases:
        most = _SLOW_POINTS if leaf.is_slow else _CELL_POINTS if leaf.has_cells else _POINTS
        points = int(finer.points * most / _POINTS / len(releases))
        tail = finer.tail and finer.tail.of_one(n * len(releases))
        each = finer._replace(points=points, spacing=spacing, tail=tail)
        below = releases_below(leaf, each)
        if below is None:
            return None
        laws.append((release_above(leaf, each), below, n))
    return OnLattice(spacing, laws)


# --- the lattice


def _aligned(wanted: float, least: float, releases: tuple[tuple[Leaf, Release, int], ...]) -> float:
    """Return a spacing like this of which atoms are multiples, or nearly."""
    most, least = max(wanted, _LEEWAY * least), max(wanted / _LEEWAY, least)
    atoms = [(abs(atom), mass, n) for _, release, n in releases for atom, mass in atoms_of(release)]
    longest = max((atom for atom, _, _ in atoms), default=0.0)
    if longest < least:
        return wanted
    # Round numbers go into others; with one kind of atom any of these will do.
    fewest = math.ceil(longest / most * (1 - _NEAR))
    numbers = np.arange(fewest, min(longest / least * (1 + _NEAR), fewest + _MOST_TRIED))
    if not numbers.size:
        return wanted
    spacings = longest / np.maximum(numbers, 1.0)
    costs = np.zeros_like(spacings)
    for atom, mass, n in atoms:
        above = atom / spacings - np.floor(atom / spacings + _NEAR)
        # An atom is lowered, or all sums are told too high.
        costs += n * spacings * np.minimum(mass * np.abs(above), 1 - above)
    return float(spacings[int(np.argmin(costs > costs.min() + _NEAR * longest))])


def atoms_of(release: Release) -> list[tuple[float, float]]:
    """Return losses that are far more probable than those beside them, with their masses."""
    masses = np.exp(release.log_mass)
    beside = np.maximum(np.append(masses[1:], 0.0), np.append(0.0, masses[:-1]))
    alone = (masses > _ALONE * beside) | (masses.size <= _FEW)
    alone = np.flatnonzero((masses > _ATOM) & alone & (release.values != 0))
    largest = alone[np.argsort(-masses[alone])][:_MOST_ATOMS]
    return [(float(release.values[i]), float(masses[i])) for i in largest]
