"""Losses that a pair dominates, from its privacy profile at some points.

`connect_dots` draws a polygon that the curve H(t) = D(P||Q) at t = e^epsilon is nowhere above; this
one draws a polygon that it is nowhere below, with corners at the same points. What the pair of such
a curve loses, the true pair loses, too: also when each is composed with others, as a composition is
a sum of positive parts, P's mass times (1 - t/loss)^+.

**The tent.** H is convex. So between two neighbouring points it lies above the line through the two
points before, and above that through the two points after, each carried on. Heights are known from
`lower` to `upper` only: the first line is drawn as steep, the second one as flat as that allows,
both from the lower height. A vertex at any place with the lesser of both heights, joined to the
lower heights beside it, is below the greater of the two lines: rounding of the place does no harm.

**The corners.** Between two corners some points more are read. By the amount D that the chord of
the lower heights at its ends exceeds the tent in it, at most, the chord is lowered. So heights of
lower - max(D before, D after) at the corners are joined by lines that are below the tent. Where D
leaves little of the height after it, that one is halved, and the one before as low as it
has to be. The lower convex hull of these heights has its corners there, and is a curve of measures
again. D is of second order in the gap.

**The end.** Where the tent reaches 0, at x, there may be an atom: H of pure noise ends in a kink.
The last line goes from the last corner to (x, 0), from a height such that it is below the tent.

**Both directions.** The curves of D(P||Q) and D(Q||P), each at epsilon >= 0, are those of one pair
if both have the same height at 0, lie on one convex curve there, and what has no loss is the rest,
1 - height - both first slopes. Each atom is worth (p - t q)^+ >= 0 at any t: masses may be too
small, p and q by the same part, and losses too low with the same p.

**Arguments.** By `Excess`, what is bounded here is the truth at x (1 - argument) in place of x,
which is convex in t, too. Its atoms at x are atoms of the truth at x (1 - argument) of the same p:
losses are lowered by as much. The heights of both directions at 0 then differ by no more than the
argument, and so do the rests: by three times that all masses are lowered.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import LOST, Excess
from tightnoise.costs._leaf import Attained

Array = NDArray[np.float64]
Heights = Callable[[Array], tuple[Array, Array]]

MOST_LOSS = 1e6
"""Larger ones are not laid out."""

_UNIT = 2.0**-53
_FAR = 1e300  # an epsilon beyond all finite losses
_ATOM = 2.0**-48  # relative: losses given as numbers are rounded by their maker
_NOTHING = 1e-9  # of a height: lines must not be drawn through what rounding leaves
_PASSES = 8  # over all corners, before they are gone through in turn
_OVERFLOW = 700.0  # of an exponent
_STEEP = 0.8  # of the height after a cell
_WIDEST = 20.0  # a gap: exponentials are far from the overflow


def atoms_below(
    pair: Attained,
    corners: tuple[Array, Array],
    points: int = 4,
) -> tuple[Release, Release] | None:
    """Return losses log(P/Q) of P and log(Q/P) of Q, that the pair of this profile dominates.

    So many `points` of the profile are read from a corner to the next.
    `corners`: epsilons from 0 to the largest loss of each direction, one the beginning of the
    other. None if there are too few, the losses are too large, or the gaps too wide or narrow.
    """
    excess = pair.excess
    longest = max(corners, key=len)
    if min(map(len, corners)) < 3 or not longest[-1] <= MOST_LOSS:
        return None
    gaps = np.diff(longest)
    least = 4 * points * (2 * excess.argument + 8 * _UNIT) * longest[1:]
    if not (float(gaps.max()) <= _WIDEST and (gaps > least).all()):
        return None
    inner = np.arange(points) / points
    epsilons = np.append((longest[:-1, None] + gaps[:, None] * inner).ravel(), longest[-1])
    places = np.append(epsilons, _FAR)
    below: tuple[Array | None, Array | None] = None, None
    if pair.both_sides is None:
        heights = pair.profile(places)
    else:
        below, heights = pair.both_sides(places)
    readings = [
        _Reading.of(epsilons, each, least, (len(own) - 1) * points + 1, excess)
        for each, least, own in zip(heights, below, corners, strict=True)
    ]
    if pair.is_symmetric:
        readings = readings[:1]
    sides = [
        _Side(this, other, epsilons, points)
        for this, other in zip(readings, readings[::-1], strict=True)
    ]
    right, left = sides[0], sides[-1]
    height = _common_height(sides)
    for side in sides:
        side.start_at(height - side.infinite)
    while height > 0:
        height = _across(right, left, height)
        for side in sides:
            side.start_at(height - side.infinite)
        changed = [side.leave_out() for side in sides]
        if not any(changed):
            break
    if not height > max(side.infinite for side in sides):
        return None
    shrunk = 1 - 64 * _UNIT - 4 * excess.argument
    rest = 1 - height - right.first_slope - left.first_slope
    rest = max(0.0, rest - 64 * _UNIT - 4 * excess.argument) * shrunk
    forward = _assembled(right, left, rest, shrunk, excess)
    return forward, forward if pair.is_symmetric else _assembled(left, right, rest, shrunk, excess)


class _Reading(NamedTuple):
    """What is known of a curve less its height at infinity, of which `infinite` is certain."""

    lower: Array
    upper: Array
    infinite: float

    @classmethod
    def of(
        cls, epsilons: Array, heights: Array, below: Array | None, count: int, excess: Excess
    ) -> _Reading:
        least = np.where(
            heights < LOST, 0.0, (heights - excess.absolute) * (1 - excess.height) * (1 - 8 * _UNIT)
        )
        least = np.maximum(least, 0.0 if below is None else below * (1 - 8 * _UNIT))
        infinite = float(least[-1])
        lower = np.maximum.accumulate((least[:-1] - infinite)[::-1])[::-1]
        upper = np.maximum(heights[:-1] * (1 + 4 * _UNIT) - infinite, 0.0)
        # At arguments that are too low, and points that are rounded, the curve is no higher than
        # its last line carried back.
        argument = 2 * excess.argument + 8 * _UNIT
        falls = np.maximum(upper[:-1] - lower[1:], 0.0)
        gaps = np.diff(epsilons)
        upper[1:] += argument * epsilons[1:] / gaps * falls * np.exp(gaps)
        return cls(lower[:count], upper[:count], infinite)


class _Side:
    """The polygon of one direction, epsilon >= 0: slopes are in units of 1/t at their corner."""

    def __init__(self, this: _Reading, other: _Reading, epsilons: Array, points: int) -> None:
        lower, upper, self.infinite = this
        epsilons = epsilons[: lower.size]
        gaps = np.diff(epsilons)
        grown, shrunk = np.expm1(gaps), -np.expm1(-gaps)
        # The steepest line to the right of each point; that of the first has a point before it,
        # D(P||Q)(1/t) = 1 - 1/t + D(Q||P)(t)/t.
        before = other.upper[1] + other.infinite * (1 + 4 * _UNIT)
        fall = (before * math.exp(-gaps[0]) - lower[0] - self.infinite) / shrunk[0]
        steep = np.append(1 + fall + 8 * _UNIT, (upper[:-2] - lower[1:-1]) / shrunk[:-1])
        steep = np.maximum(steep, 0.0) * (1 + 16 * _UNIT)
        # The flattest line to the left of each point but the first, in units of the one before.
        flat = np.append((lower[1:-1] - upper[2:]) / grown[1:] * np.exp(-gaps[:-1]), 0.0)
        flat = np.maximum(flat, 0.0) * (1 - 16 * _UNIT)
        fall = lower[:-1] - lower[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            place = np.clip((fall - flat * grown) / (steep - flat), 0.0, grown)
        place = np.where(np.isnan(place), 0.0, place)
        tent = np.minimum(lower[:-1] - steep * place, lower[1:] + flat * (grown - place))
        tent -= 8 * _UNIT * lower[:-1]
        self._lay(lower, tent, place, epsilons, points)

    def _lay(self, lower: Array, tent: Array, place: Array, epsilons: Array, points: int) -> None:
        """Set the corners, and the end."""
        starts = epsilons[:-1:points]
        cells = starts.size
        inner = epsilons[:-1].reshape(cells, points) - starts[:, None]
        whole = np.diff(epsilons[::points])[:, None]
        at = np.empty((cells, 2 * points + 1))
        heights = np.empty_like(at)
        at[:, :-1:2] = np.expm1(inner)
        at[:, 1::2] = np.expm1(inner) + np.exp(inner) * place.reshape(cells, points)
        at[:, -1:] = np.expm1(whole)
        heights[:, :-1:2] = lower[:-1].reshape(cells, points)
        heights[:, 1::2] = tent.reshape(cells, points)
        heights[:, -1] = lower[points::points]
        share = at / at[:, -1:]
        left, right = _lowered_ends(heights, share)
        before = np.append(np.inf, right[:-1])
        corners = np.minimum(left, before)
        # The first cell in which the tent, or the polygon, is 0.
        empty = (heights <= 0).any(axis=1) | (np.append(corners[1:], 1.0) <= 0)
        end = int(np.argmax(empty)) if empty.any() else cells - 1
        height, reach = _last_line(at[end], heights[end], float(min(heights[end, 0], before[end])))
        last_place = starts[end] + math.log1p(reach) * (1 - 16 * _UNIT)
        self.epsilons = np.append(starts[: end + 1], last_place)
        self.heights = np.concatenate([corners[:end], [height, 0.0]])

    @property
    def first_slope(self) -> float:
        return float(self.after[0])

    def start_at(self, height: float) -> None:
        self.heights[0] = height

    def leave_out(self) -> bool:
        """Remove the corners that are above the hull; say whether there were any."""
        for taken in range(_PASSES):
            if not self._pass():
                return taken > 0
        self._in_turn()
        while self._pass():
            pass
        return True

    def _pass(self) -> bool:
        """Remove corners that are above the line from the one before to the one after."""
        gaps, falls = np.diff(self.epsilons), -np.diff(self.heights)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            self.before = falls / -np.expm1(-gaps)
            self.after = falls / np.expm1(gaps)
        kept = np.concatenate([[True], self.before[:-1] > self.after[1:], [True]])
        self.epsilons, self.heights = self.epsilons[kept], self.heights[kept]
        return not kept.all()

    def _in_turn(self) -> None:
        """Remove the same ones, each with those before it that it brings above the line."""
        hull: list[tuple[float, float]] = []
        for x, height in zip(self.epsilons.tolist(), self.heights.tolist(), strict=True):
            while len(hull) > 1:
                (first, top), (middle, level) = hull[-2:]
                before = (top - level) / -math.expm1(first - middle)
                if before > (level - height) / math.expm1(min(x - middle, _OVERFLOW)):
                    break
                hull.pop()
            hull.append((x, height))
        self.epsilons, self.heights = (np.array(each) for each in zip(*hull, strict=True))

    def corners(self) -> tuple[Array, Array]:
        """Return their losses and their masses, when none is to be left out."""
        # Each slope is known to a few units of itself.
        mass = np.append(self.before[:-1] * (1 - 8 * _UNIT) - self.after[1:] * (1 + 8 * _UNIT), 0.0)
        mass[-1] = self.before[-1] * (1 - 8 * _UNIT)
        used = mass > 0
        return self.epsilons[1:][used], mass[used]


def _lowered_ends(tent: Array, share: Array) -> tuple[Array, Array]:
    """Return heights at both ends of cells of which the chord is below the tent.

    Of a chord that is too high by D both are lowered by that. Where little is left of the
    last height, that one is halved, and the first as low as it has to be: nothing ends here.
    """
    first, last = tent[:, :1], tent[:, -1:]
    above = (first * (1 - share) + last * share - tent).max(axis=1, keepdims=True)
    above = np.maximum(above, 0.0) + 16 * _UNIT * first
    slack = tent - 0.5 * last * share - 16 * _UNIT * first
    inner = np.where(share < 1, slack / np.maximum(1 - share, _UNIT), np.copysign(np.inf, slack))
    left = inner.min(axis=1, keepdims=True)
    is_steep = (above > _STEEP * last) & (last > _NOTHING * first) & (left > 0)
    ends = np.where(is_steep, left, first - above), np.where(is_steep, 0.5 * last, last - above)
    return ends[0][:, 0], ends[1][:, 0]


def _last_line(at: Array, tent: Array, height: float) -> tuple[float, float]:
    """Return the height at the start and the end, 0 there, of a line below the tent of a cell."""
    down = np.flatnonzero(tent <= _NOTHING * tent[0])
    reach = float(at[-1])
    if down.size:
        b = int(down[0])
        if b == 0:
            return 0.0, reach
        a = b - 1
        share = min(float(tent[a] / (tent[a] - tent[b])), 1.0)
        reach = float(at[a] + (at[b] - at[a]) * share)
    inside = at < reach
    lines = tent[inside] * (reach / (reach - at[inside])) * (1 - 16 * _UNIT)
    return min(height, float(lines.min(initial=height))), reach


def _common_height(sides: list[_Side]) -> float:
    return min(float(side.heights[0]) + side.infinite for side in sides)


def _across(right: _Side, left: _Side, height: float) -> float:
    """Return the line from the first corner on the left to that on the right at 0, rounded down."""
    above, rest = math.exp(-right.epsilons[1]), -math.expm1(-right.epsilons[1])
    below, rest_below = math.exp(-left.epsilons[1]), -math.expm1(-left.epsilons[1])
    start = rest_below + below * (float(left.heights[1]) + left.infinite)
    line = rest * start + above * rest_below * (float(right.heights[1]) + right.infinite)
    line /= -math.expm1(-right.epsilons[1] - left.epsilons[1])
    return min(height, line * (1 - 32 * _UNIT))


def _assembled(right: _Side, left: _Side, rest: float, shrunk: float, excess: Excess) -> Release:
    """Return the losses of this direction: masses are of P, those to the left of outputs of Q."""
    losses, masses = right.corners()
    gains, others = left.corners()
    at_zero = np.array([rest] if rest > 0 else [])
    log_shrunk = math.log(shrunk)
    return Release(
        values=np.concatenate(
            [
                -gains[::-1],
                np.zeros(at_zero.size),
                losses * (1 - 1.01 * excess.argument - 16 * _UNIT),
            ]
        ),
        log_mass=np.concatenate(
            [
                (np.log(others) - gains)[::-1] + log_shrunk,
                np.log(at_zero),
                np.log(masses) + log_shrunk,
            ]
        ),
        infinite=right.infinite * shrunk,
        infinite_swapped=0.0,
        is_symmetric=False,
        grid=0.0,
    )


def lowered(given: Release, way: int) -> Release:
    """Return losses of one direction that those of a given distribution dominate.

    What P has where Q never is is given, too; of the other direction it is what is left of 1.
    """
    release = given.swapped if way else given
    masses = 1 - _ATOM * (1 + np.abs(release.values))
    infinite = hidden_below(given) if way else given.infinite * (1 - _ATOM) - LOST
    return Release(
        values=release.values - 2 * _ATOM * np.abs(release.values),
        log_mass=release.log_mass + np.log(np.maximum(masses, _ATOM)),
        infinite=max(0.0, infinite),
        infinite_swapped=0.0,
        is_symmetric=False,
        grid=release.grid,
    )


def hidden_below(given: Release) -> float:
    """Return at most what Q has where P never is: what is left of 1, which rounding may be."""
    return max(0.0, given.infinite_swapped - _ATOM * (1 + given.largest) - 4e-12)
