"""Both sides of releases of which few have losses to speak of, sampled noise, beside any others.

Sampled noise that a record is seldom part of has next to no loss, or rarely a large one. A lattice
that is fine enough for the first is too short for the second, and a contour falls as slowly as the
atoms of other releases beside it allow. So the sum S of the rare ones is composed as atoms, by
products (`_atom_products`), at points that lie the closer to where it mostly is the closer they are
to it. The sum L of the others is atoms, too (`_atom_sums`). With l and its probabilities those of
L, and D_S the profile of S, of any sign,

    D(x) = P(L infinite) + sum over l of P(l) D_S(x - l),

once with atoms that dominate and once with atoms that are dominated.

First few points tell where more are wanted. What two points add to D(x) is about the square of
their gap times what losses between them have of D(x), of one of the releases, or two, four, ... So
they are as close as the cube root of the latter's density says.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._allocated import Allocated
from tightnoise.costs._atom_laws import Refinement, dots_above, is_symmetric, releases_below
from tightnoise.costs._atom_products import (
    LEAST_MASS,
    LossAtoms,
    Product,
    power,
    product_above,
    product_below,
)
from tightnoise.costs._atom_sums import BothSides, Sum, sums_of
from tightnoise.costs._discrete_losses import Polygon
from tightnoise.costs._exact import NARROW, Bounds
from tightnoise.costs._lattice_bounds import atoms_of, releases_of
from tightnoise.costs._leaf import Leaf, Terms, least_epsilon, losses_of_leaf

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_SMALL = 0.05  # times the largest loss, or 1: losses that are none to speak of
_RARE, _RARE_ATOMS = 0.5, 0.4  # probability of others, if some of these are atoms
_SELDOM = 3.0  # mean of all losses together, of each 1 at most
_MOST_RARE, _MOST_OTHERS = 2**24, 512  # releases
_LARGEST = 300.0  # sum of losses of the others, and epsilon
_FIRST, _LEAST, _MOST = 500, 1_000, 5_000  # points of each side of S, or
_MOST_IF_SLOW = 3_500  # where a profile is slow
_WORK = (
    3e8  # pairs of points in a round, about half a second, of products, three for each doubling:
)
_PRODUCTS = 3.0  # one from above, and one from below in both directions
_BESIDE = 1.0  # points reach so much farther than losses that matter
_FAR = 1.1  # from there on, one is so much farther than the one before
_ROUNDS = 3
_AIM = 0.4  # of what is narrow
_WORTH_ANOTHER = 0.7  # of the last width
_EVENLY = 0.25  # of the points
_NEAREST = 1e-11  # relative: points are no closer to each other
_GROUPS = 160  # of losses, each of which counts as one
_TILTS: tuple[float, ...] = (0.0, *(2.0 ** (k / 4) for k in range(-8, 16)))  # that may suit a pair
_STEPS = 60  # towards an epsilon
_LOST = 1e-300  # of a delta, at most
_SURE = 2e-9  # relative: so far from where both sides are equal
_NEXT = 1e-6  # relative: a first step from where that may be


def rare_bounds(
    question: str, terms: Terms, at: float, known: Bounds, *, is_patient: bool = True
) -> Bounds:
    """Return an epsilon that is not reached at a delta and one that is, or a delta at an epsilon.

    The lower one is of the pairs of the leaves, in the worse direction; 0 if one is not known.
    `known` is known already, from above not far from the truth. It is all that is returned where
    there are no such releases. `is_patient`: also with as many points as are too few to be narrow.
    """
    near = known.upper if question == "epsilon" else at
    plan = _Plan.of(terms)
    if plan is None or known.is_narrow or not 0 < near < _LARGEST:
        return known
    best, width = known, math.inf
    grid = plan.first_grid(near)
    for _ in range(_ROUNDS):
        laid = plan.laid(grid)
        if laid is None:
            break
        found = laid.answer(question, at, near, best.upper)
        best = best.or_tighter(found)
        last, width = width, 1 - found.lower / found.upper if 0 < found.upper < math.inf else 1.0
        if best.is_narrow or not width < _WORTH_ANOTHER * last:
            break
        near = best.upper if question == "epsilon" else at
        wanted, grid = laid.finer(near, _AIM * NARROW / width, plan.most_points)
        if not is_patient and wanted > plan.most_points:
            break
    return best


class _Rare(NamedTuple):
    """Releases that seldom lose anything to speak of: mostly about as much as the centre.

    Losses are on one `side` of it, above (1) or below (-1), or on both (0). `atoms`: so far from it
    are others that are far more probable than those beside them.
    """

    leaf: Leaf
    times: int
    centre: float
    side: int
    atoms: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class _Plan:
    """The rare ones and the others, of which the losses add up to `span` at most."""

    rare: tuple[_Rare, ...]
    others: Terms
    span: float

    @staticmethod
    @functools.lru_cache(maxsize=16)
    def of(terms: Terms) -> _Plan | None:
        """Return the plan, if pairs of all are known and some are rare."""
        rare, others = [], []
        for leaf, _, n in releases_of(terms):
            found = _rare_of(leaf, n)
            if found is None:
                others.append((leaf, n))
            else:
                rare.append(found)
        span = sum(leaf.max_loss * n for leaf, n in others)
        is_short = span <= _LARGEST and sum(n for _, n in others) <= _MOST_OTHERS
        are_few = sum(one.times for one in rare) <= _MOST_RARE
        return _Plan(tuple(rare), tuple(others), span) if rare and is_short and are_few else None

    @property
    def most_points(self) -> int:
        """Of each side of the sum of the rare ones."""
        is_slow = any(one.leaf.is_slow for one in self.rare)
        products = _PRODUCTS * sum(1.5 * one.times.bit_length() for one in self.rare)
        most = int(math.sqrt(_WORK / products))
        return max(_LEAST, min(_MOST_IF_SLOW if is_slow else _MOST, most))

    def first_grid(self, near: float) -> Array:
        """Return points above the centre, closer to it with the third power."""
        centres = math.fsum(one.times * abs(one.centre) for one in self.rare)
        reach = near + self.span + centres + _BESIDE
        return np.asarray(reach * (np.arange(_FIRST + 1.0) / _FIRST) ** 3)

    def laid(self, grid: Array) -> _Laid | None:
        """Return both sides of both sums; None if too little is known."""
        others = sums_of(self.others, self.span)
        if others is None:
            return None
        symmetric = all(is_symmetric(leaf) for leaf, _ in (*self.others, *_leaves(self.rare)))
        atoms = [atom for one in self.rare for atom in one.atoms if atom < grid[-1]]
        return _Laid(self.rare, np.union1d(grid, atoms), others, 1 if symmetric else 2)


def _leaves(rare: tuple[_Rare, ...]) -> Terms:
    return tuple((one.leaf, one.times) for one in rare)


@functools.lru_cache(maxsize=64)
def _rare_of(leaf: Leaf, times: int) -> _Rare | None:
    release = losses_of_leaf(leaf)
    if release is None or leaf.reached() is not None or isinstance(leaf, Allocated):
        return None  # in an epoch of many steps losses are small, not seldom: lattices tell them
    values, swapped = release.values, np.exp(release.log_mass - release.values)
    masses = np.exp(release.log_mass)
    ends = {1: float(values[0]), -1: float(values[-1]), 0: 0.0}
    small = _SMALL * min(release.largest, 1.0)
    gaps = {side: np.abs(values - end) for side, end in ends.items()}
    far = {
        side: max(float(each[gap > small].sum()) for each in (masses, swapped))
        for side, gap in gaps.items()
    }
    # Where they are about equal, an end is the one, on one side of which there is nothing.
    side = next(one for one, mass in far.items() if mass <= 2 * min(far.values()))
    if side * ends[side] > 0:  # not beyond 0
        side = 0
    mean = float((masses * np.minimum(gaps[side], 1.0)).sum()) + release.infinite
    centre = -side * _end(leaf, int(side > 0), abs(ends[side])) if side else 0.0
    apart = (abs(atom - centre) for atom, _ in atoms_of(release))
    atoms = tuple(gap for gap in apart if gap > small)
    is_rare = far[side] <= (_RARE_ATOMS if atoms else _RARE) and times * mean <= _SELDOM
    return _Rare(leaf, times, centre, side, atoms) if is_rare else None


def _end(leaf: Leaf, way: int, near: float) -> float:
    """Return the largest loss in a direction, of which one is known that is no less."""

    def one_way(epsilons: Array) -> tuple[Array, Array]:
        both = leaf.profile(epsilons)
        assert both is not None
        return both[way], both[way]

    found = least_epsilon(one_way, near, 0.0)
    return near if found is None else found


# --- the sum of the rare ones


class _Laid:
    """Both sums from both sides, in one or two directions, each as it is asked for."""

    def __init__(
        self, rare: tuple[_Rare, ...], grid: Array, others: tuple[BothSides, ...], ways: int
    ) -> None:
        self._rare, self._grid, self._others, self._ways = rare, grid, others, ways
        self.above = _products_of(rare, grid, product_above, _above)
        self.worse = 0  # the direction with the larger answer

    def answer(self, question: str, at: float, near: float, most: float) -> Bounds:
        """Return the larger answer of the directions."""
        readers = [
            _Read(_turned(self.above[-1], way), self._others[way].above, is_upper=True)
            for way in range(self._ways)
        ]
        uppers = [min(one.answer(question, at, near), most) for one in readers]
        order = sorted(range(self._ways), key=lambda way: -uppers[way])
        self.worse, lower = order[0], 0.0
        for way in order:
            if uppers[way] <= lower:
                break
            below = _products_of(
                self._rare, self._grid, product_below, _below(way, near), swapped=way > 0
            )
            if below:
                reader = _Read(below[-1], self._others[way].below, is_upper=False)
                lower = max(lower, reader.answer(question, at, uppers[way]))
        return Bounds(lower, uppers[order[0]])

    def finer(self, x: float, part: float, most: int) -> tuple[float, Array]:
        """Return points where the profile at x asks for them, which add such a part of these.

        And how many would, of which there are `most`.
        """
        grid, others = self._grid, self._others[self.worse].above
        stages = [_turned(one, self.worse) for one in self.above]
        whole = stages[-1]
        # One loss, beside the sum of all but it: about that of all.
        groups = np.arange(0, whole.losses.size, math.ceil(whole.losses.size / _GROUPS))
        shares = np.add.reduceat(whole.masses, groups)
        means = np.add.reduceat(whole.masses * whole.losses, groups) / (shares + 1e-300)
        places = x - whole.centre - np.add.outer(_around(grid, 0), means)
        above = np.append(np.cumsum(others.masses[::-1])[::-1], 0.0)
        found = above[np.searchsorted(others.losses, places)]
        beside = (found * shares).sum(axis=1)
        there = np.zeros(grid.size - 1)
        for one in stages:
            cells = np.minimum(np.searchsorted(grid, np.abs(one.losses), "right"), grid.size - 1)
            each = one.masses * np.interp(one.losses, _around(grid, 0), beside)
            there += np.bincount(cells - 1, each, grid.size - 1)
        widths = np.diff(grid)
        wanted = np.cbrt(there / widths) * widths
        wanted = np.maximum(
            wanted, np.maximum(np.append(wanted[1:], 0.0), np.append(0.0, wanted[:-1]))
        )
        # A part of them as at first, with the third power.
        roots = np.cbrt(grid)
        wanted = (
            wanted / (wanted.sum() + 1e-300) * (1 - _EVENLY) + np.diff(roots) / roots[-1] * _EVENLY
        )
        adds = float((there * widths**2).sum()) * part
        points = math.sqrt(float((there * (widths / wanted) ** 2).sum()) / max(adds, 1e-300))
        count = math.ceil(min(max(points, _LEAST), most))
        sums = np.append(0.0, np.cumsum(wanted))
        places = np.linspace(0.0, sums[-1], count + 1)
        return points, np.asarray(np.interp(places, sums, roots) ** 3)


def _turned(one: LossAtoms, way: int) -> LossAtoms:
    return one.swapped if way else one


def _products_of(
    rare: tuple[_Rare, ...],
    grid: Array,
    product: Product,
    side: Callable[[_Rare, Array], LossAtoms | None],
    *,
    swapped: bool = False,
) -> list[LossAtoms]:
    """Return what arises on the way to the sum of all, which is the last; none if not known."""
    found: list[LossAtoms] = []
    sides = {-one.side if swapped else one.side for one in rare}
    both = _around(grid, sides.pop() if len(sides) == 1 else 0)
    for one in rare:
        atoms = side(one, grid)
        if atoms is None:
            return []
        each = power(atoms, one.times, both, product)
        if found:
            each.append(product(found[-1], each[-1], both))
        found += each
    return found


def _around(grid: Array, side: int) -> Array:
    """Return points above the centre, below it, or on both sides."""
    return {1: grid, -1: -grid[::-1], 0: np.append(-grid[:0:-1], grid)}[side]


def _corners(one: _Rare, grid: Array) -> Array:
    """Return the sizes of losses at these points on either side, and of some farther ones."""
    release = losses_of_leaf(one.leaf)
    assert release is not None
    largest = release.largest
    steps = math.ceil(math.log(max(largest / grid[-1], 1.0)) / math.log(_FAR))
    near = [one.centre + side * grid for side in (1, -1) if one.side != -side]
    sizes = np.abs(np.concatenate([*near, grid[-1] * _FAR ** np.arange(1.0, steps)]))
    sizes = np.unique(np.append(sizes[sizes < largest], [0.0, largest]))
    apart: Array = sizes[np.append(np.diff(sizes) > _NEAREST * sizes[1:], True)]
    return apart


def _above(one: _Rare, grid: Array) -> LossAtoms:
    finer = Refinement((0.0,), 0, corners=_corners(one, grid))
    return LossAtoms.of(dots_above(one.leaf, finer), one.centre, LEAST_MASS)


def _below(way: int, near: float) -> Callable[[_Rare, Array], LossAtoms | None]:
    def below(one: _Rare, grid: Array) -> LossAtoms | None:
        finer = Refinement((_tilt(one.leaf, near),), 0, corners=_corners(one, grid))
        both = releases_below(one.leaf, finer)
        return None if both is None else LossAtoms.of(both[way], -one.centre if way else one.centre)

    return below


def _tilt(leaf: Leaf, near: float) -> float:
    """Return the tilt of which the pair that is known costs most there, if several are known."""
    if leaf.gap is None:
        return 0.0

    def delta(tilt: float) -> float:
        found = leaf.attained(tilt)
        return 0.0 if found is None else float(np.max(found.profile(np.array([near]))))

    return max(_TILTS, key=delta)


# --- both together


class _Read:
    """The profile of both sums from one side, in one direction."""

    def __init__(self, rare: LossAtoms, others: Sum, *, is_upper: bool) -> None:
        self._rare, self._others, self._is_upper = rare, others, is_upper
        self._profile = Polygon(rare.losses, rare.masses, rare.infinite)
        sign = 1.0 if is_upper else -1.0
        self._factor = 1 + sign * (others.rounding + _UNIT * (others.losses.size + 64))
        self._shift = -sign * (rare.wrong + others.wrong)
        size = rare.size + float(np.abs(others.losses).max())
        self._rounding = -sign * 16 * _UNIT, size

    def delta(self, x: float) -> float:
        """Return at least, or at most, the divergence at x."""
        unit, size = self._rounding
        places = x + self._shift + unit * (abs(x) + size) - self._rare.centre - self._others.losses
        each = self._profile.above(places) if self._is_upper else self._profile.below(places)
        found = float((self._others.masses * each).sum()) + self._others.infinite
        # Products that underflow may be rounded either way.
        found = found * self._factor + (_LOST if self._is_upper else -_LOST)
        return min(max(found, 0.0), 1.0)

    def answer(self, question: str, at: float, near: float) -> float:
        """Return a delta at an epsilon, or an epsilon at a delta, about where it is `near`."""
        if question == "delta":
            return self.delta(at)
        if not 0 < near < math.inf:
            return 0.0
        way = 1.0 if self._is_upper else -1.0
        return max(crossing(lambda x: log_ratio(self.delta(x), at), near, way), 0.0)


def log_ratio(value: float, target: float) -> float:
    """Return the logarithm of a ratio: above 0 exactly where a value is above its target."""
    if value == target or value <= 0:
        return 0.0 if value == target else -math.inf
    return math.copysign(max(abs(math.log(value / target)), 5e-324), value - target)


def crossing(excess: Callable[[float], float], near: float, way: float) -> float:
    """Return about where an excess that falls comes to 0, on the safe side of it.

    There it is at most 0 (way 1), or above (-1): infinite, or 0, if no such place is found. Secants
    from `near` on, outwards until there is a place on either side, then between, or the middle.
    """
    good: float | None = None
    bad: float | None = None
    last, x, reach = (math.nan, math.nan), near, max(_NEXT * near, 1e-300)
    for step in range(_STEPS):
        value = excess(x)
        if value <= 0 if way > 0 else value > 0:
            good = x
        else:
            bad = x
        if good is not None and bad is not None and abs(good - bad) <= 2 * _SURE * good:
            break
        # A little farther, so that it is safe.
        slope = (value - last[1]) / (x - last[0]) if x != last[0] else math.nan
        trial = x - value / slope + way * _SURE * near if slope < 0 else math.nan
        last = x, value
        if good is None or bad is None:
            ahead = 1.0 if value > 0 else -1.0
            move = abs(trial - x)
            reach = max(0.1 * reach, min(move, 1e3 * reach)) if math.isfinite(move) else reach
            x, reach = max(x + ahead * reach, 0.5 * x), 4 * reach
        else:
            inside = min(good, bad) < trial < max(good, bad)
            x = trial if inside and step % 4 < 3 else 0.5 * (good + bad)
    return (math.inf if way > 0 else 0.0) if good is None else good
