"""Laws of any leaf as atoms: one that dominates its pair, and one that the pair dominates.

Above, the dots of the profile are connected (`_connected_dots`); below, `_atoms_below` draws a
polygon under it. Both err by the square of the gap between points, so few points do where a
composition hardly looks: the share of M(t) = E e^(t L) that an interval of width D has, w of it,
errs by about w (D/m)^2 when it has m points, so that m in proportion to w^(1/3) D^(2/3) is best.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._atoms_below import MOST_LOSS, atoms_below, lowered
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._leaf import Law, Leaf, UntoldError, losses_of_leaf
from tightnoise.costs._noise_cells import Cells

Array = NDArray[np.float64]

_WIDEST_TILT = 1e4  # times the largest loss
_READINGS, _SLOW_READINGS = 4, 2  # of a profile from a point to the next, below
_NEAR = 1e-6  # of a spacing
_WIDEST = 10.0  # points are no farther apart
_BENDS = 3.0  # times the root of what heights may be too large by
_SPREADS, _UNSEEN = 4.0, 1e-4  # of an answer, and what is looked at elsewhere
_LEAST_SPREAD, _TINY = 1e-9, 1e-300  # of the largest loss
_ALONE = 4.0  # an atom is so much denser than those beside it


class Tail(NamedTuple):
    """Large losses: of so much probability in all, but for those of less `lost`.

    There `points` are wanted, and not those that a tilt asks for.
    """

    probability: float
    lost: float
    points: Array

    def of_one(self, count: int) -> Tail:
        """Return that of each of so many."""
        return self._replace(probability=self.probability / count, lost=self.lost / count)


class Answer(NamedTuple):
    """What is asked for is about this epsilon; all releases but rare large losses have the spread.

    One release's loss changes delta by as much as the others' density at what is left of epsilon.
    """

    epsilon: float
    spread: float

    def seen(self, losses: Array) -> Array:
        """Return about how much losses are looked at."""
        least = _LEAST_SPREAD * float(np.abs(losses).max(initial=0.0)) + _TINY
        aside = (losses - self.epsilon) / max(_SPREADS * self.spread, least)
        return np.asarray(_UNSEEN + np.exp(-0.5 * aside * aside))


class Refinement(NamedTuple):
    """Where more points are wanted: those of both directions' tilts, so many in sum.

    Multiples of the `spacing`, if there is one. `is_level`: of several pairs that are known, not
    that of the largest tilted moment is wanted from below, but that of the largest mean. `corners`:
    these are the points, of either sign, if there are any. `tail`: losses that are told apart.
    `answer`: where it is about.
    """

    tilts: tuple[float, ...]
    points: int
    spacing: float = 0.0
    is_level: bool = False
    corners: Array | None = None
    tail: Tail | None = None
    answer: Answer | None = None


class AtomLaws(NamedTuple):
    """The laws of both directions, one of a symmetric pair.

    `is_attained`: two neighbours have the lower pair; `is_exact`: no points make them better.
    """

    laws: tuple[Law, ...]
    is_attained: bool
    is_exact: bool


def laws_of(leaf: Leaf, finer: Refinement | None = None) -> AtomLaws | None:
    """Return the laws of a leaf, as the core knows them or as atoms; None if nothing is known."""
    known = leaf.laws()
    if known is not None:
        return AtomLaws(known, leaf.is_attained, is_exact=True)
    release = losses_of_leaf(leaf)
    if release is None or release.largest <= 0:
        return None
    is_known = leaf.reached() is release or leaf.is_coarse
    is_exact = is_known or leaf.profile(np.zeros(1)) is None
    upper = release if is_exact or finer is None else release_above(leaf, finer)
    lower = releases_below(leaf, finer)
    symmetric = is_symmetric(leaf)
    ways = (0,) if symmetric else (0, 1)
    uppers = [_atoms(upper), None if symmetric else _atoms(upper.swapped)]
    lowers = [None, None] if lower is None else [_atoms(one) for one in lower]
    laws = tuple(Law(uppers[i], lowers[i], is_smooth=False) for i in ways)
    return AtomLaws(laws, lower is not None, is_exact)


def composed(
    laws: Sequence[tuple[AtomLaws, int]], most_work: float
) -> tuple[core.Composition, ...]:
    """Return both directions of so many of each law, with what they dominate where all do."""
    is_below = all(law.lower is not None for found, _ in laws for law in found.laws)

    def direction(way: int) -> core.Composition:
        each = [(found.laws[way % len(found.laws)], float(count)) for found, count in laws]
        upper = [(law.upper, count) for law, count in each]
        lower = [(law.lower, count) for law, count in each]
        return core.Composition(
            upper, lower if is_below and lower != upper else None, most_work=most_work
        )

    return tuple(direction(way) for way in range(max(len(found.laws) for found, _ in laws)))


def is_symmetric(leaf: Leaf) -> bool:
    """Return whether both directions are one, from above and from below."""
    release, reached, attained = losses_of_leaf(leaf), leaf.reached(), leaf.attained()
    known = [one for one in (release, reached, attained) if one is not None]
    return all(one.is_symmetric for one in known)


def _atoms(release: Release) -> object:
    return core.atoms(release.values, release.log_mass, release.infinite, is_log=True)


def release_above(leaf: Leaf, finer: Refinement) -> Release:
    """Return losses that dominate the pair of a leaf whose losses are known, those swapped, too."""
    if not leaf.has_cells:
        return dots_above(leaf, finer)
    release = losses_of_leaf(leaf)
    assert release is not None
    return _cells(leaf, release, finer).above(finer.spacing)


def dots_above(leaf: Leaf, finer: Refinement) -> Release:
    """Return the same by dots of its profile, or all that is known: both ways are one pair."""
    release = losses_of_leaf(leaf)
    assert release is not None
    if leaf.reached() is not None or leaf.is_coarse:
        return release
    points = _points(release, finer, leaf.profile_excess)
    forward, backward = leaf.known_profile(points)
    found = connect_dots(points, forward, None if release.is_symmetric else backward)
    return replace(found, grid=finer.spacing) if finer.spacing > 0 else found


def _cells(leaf: Leaf, release: Release, finer: Refinement) -> Cells:
    """Return outputs in cells of which the ends have the wanted losses."""
    return _cells_at(leaf, _points(release, finer, None).tobytes())


@functools.lru_cache(maxsize=4)
def _cells_at(leaf: Leaf, points: bytes) -> Cells:
    sizes = np.frombuffer(points)
    found = leaf.cells(np.append(-sizes[:0:-1], sizes))
    assert found is not None
    return found


def releases_below(leaf: Leaf, finer: Refinement | None) -> tuple[Release, Release] | None:
    """Return losses of both directions that its pair dominates; None if not known."""
    reached = leaf.reached()
    if reached is not None:
        forward = lowered(reached, 0)
        return forward, forward if reached.is_symmetric else lowered(reached, 1)
    if finer is not None and leaf.has_cells:
        release = losses_of_leaf(leaf)
        assert release is not None
        return _cells(leaf, release, finer).below()
    tilt = 0.0 if finer is None or finer.is_level else max(finer.tilts)
    found, release = leaf.attained(tilt), losses_of_leaf(leaf)
    if found is None or release is None:
        return None
    points = _points(release, finer, found.excess)
    ends = _ends(release, 0.0 if finer is None else finer.spacing)
    corners = points[points <= ends[0]], points[points <= ends[1]]
    readings = _SLOW_READINGS if leaf.is_slow else _READINGS
    try:
        return atoms_below(found, corners, readings)
    except UntoldError:
        return None


def _ends(release: Release, spacing: float) -> tuple[float, float]:
    """Return the largest losses of both directions, or multiples that are no lower, or nearly."""
    first, second = max(release.highest, 0.0), max(release.swapped.highest, 0.0)
    if spacing == 0:
        return first, second
    places = (max(2, math.ceil(end / spacing - _NEAR)) for end in (first, second))
    return spacing * next(places), spacing * next(places)


def parted(release: Release, probability: float, lost: float) -> tuple[slice, slice]:
    """Return where small losses are, and large ones: the largest of so much probability, above 0.

    But for those that are larger still, of a probability of so much as may be `lost`.
    """
    beyond = np.cumsum(np.exp(release.log_mass[::-1]))[::-1]
    least = int(np.searchsorted(release.values, 0.0, "right"))
    first, last = (
        max(least, release.values.size - int(np.searchsorted(beyond[::-1], most, "right")))
        for most in (probability, lost)
    )
    return slice(0, first), slice(first, last)


def _points(release: Release, finer: Refinement | None, excess: Excess | None) -> Array:
    """Return the losses of a distribution, of either sign, or points in their place."""
    if finer is not None and finer.corners is not None:
        return finer.corners
    corners = np.unique(np.append(np.abs(release.values), 0.0))
    widths = np.diff(corners)
    if finer is None:
        return corners
    wanted, alone = np.zeros(widths.size), np.zeros(corners.size, dtype=bool)
    for way, tilt in enumerate(finer.tilts):
        one = release.swapped if way else release
        exponents = one.log_mass + min(tilt, _WIDEST_TILT / one.largest) * one.values
        if finer.tail is not None:
            small, _ = parted(one, finer.tail.probability, finer.tail.lost)
            exponents[small.stop :] = -np.inf
        share = np.exp(exponents - exponents.max())
        if finer.answer is not None:
            share *= finer.answer.seen(one.values)
        masses = np.bincount(
            np.searchsorted(corners, np.abs(one.values)), share / share.sum(), corners.size
        )
        density = masses / (np.append(widths, 0.0) + np.append(0.0, widths))
        beside = np.maximum(np.append(density[1:], 0.0), np.append(0.0, density[:-1]))
        alone |= density > _ALONE * beside
        density = np.minimum(density, _ALONE * beside)
        wanted = np.maximum(wanted, np.cbrt(density[1:] + density[:-1]) * widths)
    cumulated = np.append(0.0, np.cumsum(wanted + 0.05 * wanted.sum() / wanted.size))
    places = np.linspace(0.0, cumulated[-1], finer.points)
    points = np.interp(places, cumulated, corners)
    points = np.append(points, np.arange(_WIDEST, min(corners[-1], MOST_LOSS), _WIDEST))
    if finer.tail is not None:
        points = np.append(points, finer.tail.points)
        points = points[points <= corners[-1]]
    alone[[0, 1, -1]] = True
    if finer.spacing == 0:
        return np.union1d(points, corners[alone])
    # No closer than what the profile says of its bends, to the last, and one more: it is 0 there.
    noise = 0.0 if excess is None else excess.height
    finest = _BENDS * math.sqrt(noise) * release.moments(0.0).deviation
    ends = np.rint(np.array(_ends(release, finer.spacing)) / finer.spacing)
    apart = max(1, math.ceil(finest / finer.spacing))
    places = np.append(
        apart * np.rint(points / (apart * finer.spacing)), np.rint(corners[alone] / finer.spacing)
    )
    return finer.spacing * np.unique(np.concatenate([places, [0.0, 1.0, ends.max() + 1], ends]))
