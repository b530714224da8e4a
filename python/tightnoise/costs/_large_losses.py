"""Both sides of an epsilon and a delta of many releases of one kind, of which few lose much.

A tilt leads to sums of losses that are all a little larger. Where losses have a heavy tail, as
those of noise on small samples have, a large sum is most likely a large loss or two beside many
small ones. A tilt that leads there makes larger ones still count most, and what an FFT rounds off
hides the rest. So outcomes are told apart by how many of their n losses are large. With D_k the
divergence of n - k small ones, and p(l) the probability of a large loss l,

    D(x) = D_0(x) + n sum over l of p(l) D_1(x - l)
         + n (n - 1)/2 sum over l and m of p(l) p(m) D_2(x - l - m) + D(three or more),

and each part has a tilt of its own: D_0 that of a sum of small losses; D_1 that by which p falls
near x, so that all l count alike. D(three or more) is at most its probability, (n P(large))^3/6: so
much is added from above, and nothing from below. Losses that are larger still, and next to
impossible, are infinite from above, and left out from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._atom_laws import Refinement, Tail, parted
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._exact import NARROW, SMALL, Bounds
from tightnoise.costs._lattice import DiscreteLosses, Frame
from tightnoise.costs._lattice_bounds import laws_on_lattice, losses_above
from tightnoise.costs._leaf import Terms
from tightnoise.costs._losses_below import Cells, LossesBelow, LossesOn, infinite_below
from tightnoise.costs._rare_bounds import crossing, log_ratio
from tightnoise.costs._sampled import merged_terms

Array = NDArray[np.float64]
Profile = Callable[[Array], Array]

_UNIT = 2.0**-53
_LOST = 1e-9  # of a delta, which each of what is not looked at may be
_HIDDEN = 1e5  # times a delta, of which an FFT rounds off more than may be
_HEAVY = 0.01  # of what a tilt makes of all losses, that large ones are
_FINER = 0.5  # times the least spacing for all losses together, which is not
_ENOUGH = 0.25  # times the one that is wanted for losses from above
_POINTS, _ROUGH_POINTS = 10_000, 3_000  # of profiles where losses are large,
_SMALL_POINTS = 25_000  # and where they are small
_TOLD_APART = 12.0  # deviations of the others
_FARTHEST = 1 - math.exp(-8.0)  # share of them that are within 24 deviations
_LITTLE = 1e-8  # how far apart bounds of a small epsilon may be
_ROUNDS = 2
_FIRST, _FIRST_IF_ROUGH = 2.5, 4.0  # times the spacing that losses from above alone want
_AIM = 0.5  # of what is narrow
_FINEST = 0.05  # of the last spacing
_SAME = 0.8  # times the last spacing is no finer
_ROOM = 1.1  # the finest spacing is this much wider than there would be room for
_COARSER = 4.0  # times the spacing, where two are large, which are
_GROUPS = 300  # losses each
_DEEPEST, _AT_ONCE = 30.0, 2048  # exponent, and number, of what is summed at once: little is
_LARGEST = 700.0  # of an exponent
_RATES = (2.0, 4.0, 8.0, 16.0)  # over a deviation, that tell what is far below
_LEAST = 1e-300
_SUMMED = 1e-11  # rounded off then, of sums of positive numbers


def large_loss_bounds(
    question: str, terms: Terms, at: float, known: Bounds, *, is_rough: bool = False
) -> Bounds | None:
    """Return bounds as `lattice_bounds` does; None where no few losses tell.

    `is_rough`: from above alone, on few points.
    """
    is_epsilon = question == "epsilon"
    coarse = losses_above(terms)
    if len(merged_terms(terms)) > 1:
        return None
    best, finer, spacing = known, _FIRST_IF_ROUGH if is_rough else _FIRST, math.inf
    uppers = [math.inf] * len(coarse)
    for step in range(_ROUNDS):
        near, delta = (best.upper, at) if is_epsilon else (at, best.upper)
        if not (0 < near < math.inf and 0 < delta < 1):
            break
        tail = Tail(math.cbrt(6 * _LOST * delta), _LOST * delta, np.zeros(0))
        plans = [Plan.of(losses, tail, near, delta) for losses in coarse]
        if step == 0 and not any(
            plan.is_worth(losses, near, delta) for plan, losses in zip(plans, coarse, strict=True)
        ):
            return None
        # The direction with the larger answer first.
        order = sorted(range(len(plans)), key=lambda way: -coarse[way].chernoff_delta(near))
        rooms = next(filter(None, (plans[way].rooms() for way in order)), None)
        if rooms is None:
            break
        least, wanted = (min(each) for each in zip(*rooms, strict=True))
        spacing, last = max(least, finer * wanted), spacing
        if spacing > _SAME * last:
            break
        refinement = _refinement(tail, plans, is_rough=is_rough)
        laid = laws_on_lattice(terms, spacing, least, refinement)
        if laid is None:
            break
        ((law, pair, n),) = laid.laws
        found = Bounds(0.0, 0.0)
        for way in order:
            # No more than what is known of the other.
            place, floor = (found.lower, at) if is_epsilon else (at, found.lower)
            if uppers[way] <= best.lower or coarse[way].chernoff_delta(place) <= floor:
                continue
            losses = LossesOn((law.swapped if way else law,), (n,), laid.spacing)
            above = _Above(losses, plans[way], tail)
            uppers[way] = min(uppers[way], above.answer(question, at, near))
            lower = 0.0
            if not is_rough:
                below = _Below(pair[way], n, laid.spacing, plans[way])
                lower = below.answer(question, at, min(near, uppers[way]) if is_epsilon else at)
            found = Bounds(max(found.lower, lower), max(found.upper, uppers[way]))
        best = best.or_tighter(found)
        if is_rough or best.is_narrow or not 0 < found.lower < found.upper < math.inf:
            break
        if is_epsilon and best.upper < SMALL and best.upper - best.lower <= _LITTLE:
            break
        width = 1 - found.lower / found.upper
        finer *= min(1.0, max(math.sqrt(_AIM * NARROW / width), _FINEST))
    return best


def _refinement(tail: Tail, plans: Sequence[Plan], *, is_rough: bool) -> Refinement:
    """Return where points are wanted: of large losses where the others make up for the rest.

    By the cube root of a density that falls as e^-|t| at least, t deviations from there.
    """
    points = _ROUGH_POINTS if is_rough else _POINTS
    steps = -3 * np.log1p(-np.linspace(0.0, _FARTHEST, points // 2))
    steps = np.append(-steps[::-1], steps)
    found = []
    for plan in plans:
        if plan.large[0] is not None:
            beside = plan.large[0].here
            found.append(plan.near - beside.mean + steps * beside.deviation)
    places = np.concatenate([np.zeros(0), *found])
    tilts = tuple(plan.small.tilt if plan.small else 0.0 for plan in plans)
    return Refinement(tilts, _SMALL_POINTS, tail=tail._replace(points=places[places > 0]))


class Part(NamedTuple):
    """Large losses, one or the sum of two, with probabilities, so often, and the others, if any."""

    times: float
    losses: Array
    masses: Array
    others: DiscreteLosses | None
    is_one: bool

    def places(self, x: float, side: int) -> Array:
        """Return what others have to make up for, rounded up (1) or down (-1)."""
        found = x - self.losses
        return np.asarray(found + side * 4 * _UNIT * (abs(x) + np.abs(self.losses)))


class Parts(NamedTuple):
    """All small, those with large ones, and what is infinite.

    `whole`: but for what is infinite, up to the `last` loss; small ones are up to the `end`.
    """

    whole: DiscreteLosses
    small: DiscreteLosses
    large: tuple[Part, Part]
    infinite: float
    end: float
    last: float

    @classmethod
    def of(cls, losses: DiscreteLosses, tail: Tail) -> Parts:
        """Tell them apart, from above."""
        ((release,), (n,)) = losses.releases, losses.counts
        one = tail.of_one(n)
        first, second = parted(release, one.probability, one.lost)
        small, large = _some(release, first), _some(release, second)
        gone = _mass(_some(release, slice(second.stop, None))) * (1 + _SUMMED)
        kept = _some(release, slice(0, second.stop))
        whole = replace(losses, releases=(replace(kept, infinite=release.infinite + gone),))
        # Probabilities that are rounded up may be above 1 in sum.
        total = max(math.log(_mass(release) + release.infinite), 0.0)
        infinite = whole.infinite + (n * _mass(large)) ** 3 / 6 * math.exp(n * total) * (
            1 + _SUMMED
        )
        groups = _in_groups(large, is_upper=True)
        ends = (float(release.values[i.stop - 1]) for i in (first, second))
        bulk = replace(losses, releases=(small,))
        return cls(whole, bulk, _parts_of(bulk, large, groups), infinite, *ends)


def _parts_of(small: DiscreteLosses, large: Release, groups: Release) -> tuple[Part, Part]:
    """Return what has one large loss, and what has two."""
    (n,) = small.counts

    def others(count: int) -> DiscreteLosses | None:
        return replace(small, counts=(count,)) if count > 0 else None

    sums = np.add.outer(groups.values, groups.values).ravel()
    masses = np.exp(np.add.outer(groups.log_mass, groups.log_mass).ravel())
    return (
        Part(float(n), large.values, np.exp(large.log_mass), others(n - 1), is_one=True),
        Part(0.5 * n * (n - 1.0), sums, masses, others(n - 2), is_one=False),
    )


class _Chernoff(NamedTuple):
    """Chernoff's bound of a divergence, by the tilt that suits some place."""

    tilt: float
    log_bound: float
    highest: float

    @classmethod
    def of(cls, losses: DiscreteLosses, near: float) -> _Chernoff:
        tilt = losses.tilt_for(min(near, losses.highest)) if losses.highest > 0 else 0.0
        log_bound = losses.log_chernoff(tilt) if tilt > 0 else 0.0
        return cls(tilt, log_bound, losses.highest)

    def at(self, x: float) -> float:
        if x >= self.highest:
            return 0.0
        return math.exp(min(self.log_bound - self.tilt * x, 0.0)) * (1 + _SUMMED)


class Plan(NamedTuple):
    """The parts of one direction, with frames; that of all small ones may be no matter."""

    near: float
    parts: Parts
    small: Frame | None
    large: tuple[Frame | None, Frame | None]

    @classmethod
    def of(cls, losses: DiscreteLosses, tail: Tail, near: float, delta: float) -> Plan:
        """Return the frames that suit an answer."""
        parts = Parts.of(losses, tail)
        bulk, frame = parts.small, None
        if near < bulk.highest and bulk.chernoff_delta(near) > _LOST * delta:
            frame = bulk.narrower_frame(bulk.frame(bulk.narrow_tilt(near)), near, delta)
        one, two = (
            part.others.frame(_tilt(part.others, part, near))
            if part.others and part.losses.size and bulk.largest > 0
            else None
            for part in parts.large
        )
        return cls(near, parts, frame, (one, two))

    def rooms(self) -> list[tuple[float, float]]:
        """Return the least spacings that there is room for in windows, and those that are wanted.

        Of all small ones, if they are a matter, and of those beside one that is large.
        """
        return [room for room in self._rooms() if room is not None]

    def _rooms(self) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
        part, frame = self.parts.large[0], self.large[0]
        return (
            self.parts.small.spacings(self.small) if self.small else None,
            part.others.spacings(frame) if part.others and frame else None,
        )

    def spacings(self, spacing: float) -> tuple[float, float, float]:
        """Return those of all small ones and of both parts, as there is room."""
        small, one = (max(spacing, _ROOM * room[0]) if room else spacing for room in self._rooms())
        return small, one, _COARSER * spacing

    def is_worth(self, losses: DiscreteLosses, near: float, delta: float) -> bool:
        """Return whether a tilt leads to large losses, or windows of all are far longer.

        That they may be for losses that are next to impossible, and left out here.
        """
        one = self.parts.large[0]
        if not (one.others and self.rooms()):
            return False
        tilt = losses.narrow_tilt(near)
        frame = losses.narrower_frame(losses.frame(tilt), near, delta)
        least, wanted = losses.spacings(frame)
        finer = max(room[0] for room in self.rooms())
        if finer < _FINER * least and least > _ENOUGH * wanted:
            return True
        if frame.here.log_moment - tilt * near < math.log(_HIDDEN * delta):
            return False
        theta = self.parts.whole.tilt_for(near)
        small = self.parts.small.moments(theta).log_moment
        log = np.logaddexp.reduce(np.log(one.masses) + theta * one.losses) + math.log(one.times)
        return float(log) + one.others.moments(theta).log_moment > math.log(_HEAVY) + small


def _tilt(others: DiscreteLosses, part: Part, near: float) -> float:
    """Return by which tilt an FFT of the others rounds off least of what a part adds there.

    That is M(t) times the sum of p(l) e^(-t (near - l)), which is least where the mean of all is
    near. Losses so large that the others do not matter are told without one.
    """
    here = others.moments(0.0)
    used = part.losses < near - here.mean + _TOLD_APART * here.deviation
    used &= part.masses > 0
    if not used.any():
        return 0.0
    large = _release(part.losses[used], np.log(part.masses[used]))
    both = replace(others, releases=(*others.releases, large), counts=(*others.counts, 1))
    return both.tilt_where(lambda m, _: m.mean, near)


class _Above:
    """The divergence of all parts from above."""

    def __init__(self, losses: LossesOn, plan: Plan, tail: Tail) -> None:
        self._parts = Parts.of(losses, tail)
        wide, *others = plan.spacings(losses.spacing)
        self._small = _small_above(self._parts.small, wide, plan)
        self._of_all = _Chernoff.of(self._parts.whole, plan.near)
        self._large = [
            (part, _profile_above(part.others, each, frame))
            for part, frame, each in zip(self._parts.large, plan.large, others, strict=True)
            if part.losses.size
        ]

    def delta(self, x: float) -> float:
        """Return at least the divergence at x."""
        total = self._small(x)
        for part, profile in self._large:
            total += part.times * float((part.masses * profile(part.places(x, -1))).sum())
        return (min(total, self._of_all.at(x)) + self._parts.infinite) * (1 + _SUMMED)

    def answer(self, question: str, at: float, near: float) -> float:
        """Return at least the answer."""
        if question == "delta":
            return min(self.delta(at), 1.0)
        return crossing(lambda x: log_ratio(self.delta(x), at), near, 1.0)


class _Below:
    """The same from below."""

    def __init__(self, law: Release, n: int, spacing: float, plan: Plan) -> None:
        self._infinite = infinite_below([(law, n)])
        i, j = (
            int(np.searchsorted(law.values, x, "right")) for x in (plan.parts.end, plan.parts.last)
        )
        small = DiscreteLosses((_some(law, slice(0, i)),), (n,))
        large = _some(law, slice(i, j))
        wide, *others = plan.spacings(spacing)
        self._small = _small_below(small, wide, plan)
        self._large = [
            (part, _profile_below(part.others, each, frame))
            for part, frame, each in zip(
                _parts_of(small, large, _in_groups(large, is_upper=False)),
                plan.large,
                others,
                strict=True,
            )
            if part.losses.size
        ]

    def delta(self, x: float) -> float:
        """Return at most the divergence at x."""
        total = self._infinite + self._small(x)
        for part, profile in self._large:
            total += part.times * float((part.masses * profile(part.places(x, 1))).sum())
        return total * (1 - _SUMMED)

    def answer(self, question: str, at: float, near: float) -> float:
        """Return at most the answer."""
        if question == "delta":
            return self.delta(at)
        return crossing(lambda x: log_ratio(self.delta(x), at), near, -1.0)


# --- the divergence of small losses alone


def _small_above(losses: DiscreteLosses, spacing: float, plan: Plan) -> Callable[[float], float]:
    """Return it from above, a function."""
    if plan.small is None:
        return _Chernoff.of(losses, plan.near).at
    on = LossesOn(losses.releases, losses.counts, spacing)
    tilted = on.tilted_in(plan.small)
    return lambda x: on.slack_of(tilted, x)


def _small_below(losses: DiscreteLosses, spacing: float, plan: Plan) -> Callable[[float], float]:
    """Return the same from below."""
    if plan.small is None:
        return lambda _: 0.0
    return _cells(losses, spacing, plan.small).slack


def _cells(losses: DiscreteLosses, spacing: float, frame: Frame) -> Cells:
    terms = tuple(zip(losses.releases, losses.counts, strict=True))
    return LossesBelow(terms, spacing).cells(frame)


# --- the divergence of small losses that are laid out, at many places


class _Masses(NamedTuple):
    """What P and Q give to all small losses together, from both sides; and those below any place.

    Where nearly all of them are beyond a place y, D(y) is P's less e^y times Q's, and a little
    more: no more than e^y times what Q gives to losses below y.
    """

    p: tuple[float, float]
    q: tuple[float, float]
    rates: Array
    log_moments: Array

    @classmethod
    def of(cls, losses: DiscreteLosses) -> _Masses:
        here = losses.moments(-1.0)
        rates = np.array(_RATES) / max(here.deviation, _LEAST)
        rounding = 64 * _UNIT * losses.count

        def both(log: float) -> tuple[float, float]:
            return math.exp(log) * (1 - rounding), math.exp(log) * (1 + rounding)

        logs = [losses.moments(-1.0 - s).log_moment for s in rates.tolist()]
        moments = np.array(logs) + rounding + 64 * _UNIT * (1 + rates) * losses.largest
        return cls(both(losses.moments(0.0).log_moment), both(here.log_moment), rates, moments)

    def above(self, y: Array) -> Array:
        """Return at least D(y)."""
        exponents = (np.multiply.outer(y, self.rates) + self.log_moments).min(axis=1)
        rest = np.exp(np.minimum(exponents, _LARGEST / 2))
        t = np.exp(np.minimum(y, _LARGEST / 2))
        return np.asarray(self.p[1] - t * self.q[0] + t * rest * (1 + _SUMMED))

    def below(self, y: Array) -> Array:
        """Return at most D(y)."""
        return np.asarray(self.p[0] - np.exp(np.minimum(y, _LARGEST)) * self.q[1])


def _of_none(places: Array) -> Array:
    return -np.expm1(np.minimum(places, 0.0))


def _profile_above(losses: DiscreteLosses | None, spacing: float, frame: Frame | None) -> Profile:
    if losses is None:
        return _of_none
    masses = _Masses.of(losses)
    if frame is None:
        return masses.above
    tilted = LossesOn(losses.releases, losses.counts, spacing).tilted_in(frame)
    size, h, theta = tilted.mass.size, tilted.spacing, tilted.tilt
    # In units of e^-theta L: P's masses beyond each place, as e^-L counts, and the sums of these.
    slopes = _sums_beyond(tilted.mass, (1 + theta) * h)
    heights = np.append(slopes[1:] * (-math.expm1(-h) * math.exp(-theta * h)), 0.0)
    heights = _sums_beyond(heights, theta * h)
    wrong = tilted.noise + tilted.beyond

    def profile(places: Array) -> Array:
        y = places - tilted.rounding - tilted.first
        k = np.clip(np.ceil(y / h), 0, size - 1)
        gap = np.maximum(k * h - y, 0.0)
        index = k.astype(np.int64)
        log_unit = tilted.log_scale - theta * h * k
        found = heights[index] + slopes[index] * -np.expm1(-gap)
        found *= np.exp(np.minimum(log_unit, _LARGEST)) * (1 + _SUMMED)
        missing = wrong + np.where(y < 0, tilted.below, 0.0)
        found += missing * np.exp(np.minimum(tilted.log_scale - theta * y, _LARGEST))
        return np.asarray(np.minimum(found, masses.above(places)))

    return profile


def _profile_below(losses: DiscreteLosses | None, spacing: float, frame: Frame | None) -> Profile:
    if losses is None:
        return _of_none
    masses = _Masses.of(losses)
    if frame is None:
        return lambda places: np.maximum(masses.below(places), 0.0)
    cells = _cells(losses, spacing, frame)
    p, q = cells.p, cells.q
    size, h = p.mass.size, p.spacing
    ahead, behind = (_sums_beyond(one.mass, one.tilt * h) for one in (p, q))
    wrong = p.noise + p.beyond + p.below

    def profile(places: Array) -> Array:
        k = np.clip(np.ceil((places + cells.log_q - cells.log_p) / h), 0, size - 1)
        index = k.astype(np.int64)
        log_p, log_q = cells.log_p - p.tilt * h * k, places + cells.log_q - q.tilt * h * k
        found = np.exp(np.minimum(log_p, _LARGEST)) * (ahead[index] * (1 - _SUMMED) - wrong)
        found -= np.exp(np.minimum(log_q, _LARGEST)) * (behind[index] * (1 + _SUMMED) + q.noise)
        return np.asarray(np.maximum(np.maximum(found, masses.below(places)), 0.0))

    return profile


def _sums_beyond(terms: Array, decay: float) -> Array:
    """Return the sums of terms from each on, those farther on times e^-decay for each step."""
    length = max(1, min(_AT_ONCE, int(_DEEPEST / max(decay, _LEAST))))
    grown = np.exp(-decay * np.arange(length + 1.0))
    found, last = np.empty_like(terms), 0.0
    for stop in range(terms.size, 0, -length):
        start = max(stop - length, 0)
        size = stop - start
        part = terms[start:stop] * grown[:size]
        part[-1] += last * grown[size]
        found[start:stop] = np.cumsum(part[::-1])[::-1] / grown[:size]
        last = float(found[start])
    return found


# --- losses


def _in_groups(release: Release, *, is_upper: bool) -> Release:
    """Return fewer losses, that dominate these, or are dominated by them."""
    values = release.values
    if values.size <= _GROUPS:
        return release
    ends: Array = np.linspace(values[0], values[-1], _GROUPS)
    cell = np.clip(np.searchsorted(ends, values, "right") - 1, 0, _GROUPS - 2)
    masses = np.exp(release.log_mass)
    if is_upper:  # what is between two ends goes to both, so that Q's is the same
        share = np.expm1(ends[cell] - values) / np.expm1(ends[cell] - ends[cell + 1])
        share = np.clip(share * (1 + 64 * _UNIT), 0.0, 1.0)
        total: Array = np.bincount(cell, masses * (1 - share), _GROUPS).astype(np.float64)
        total[1:] += np.bincount(cell, masses * share, _GROUPS)[:-1]
        losses, total = ends, total * (1 + _SUMMED)
    else:
        total = np.bincount(cell, masses, _GROUPS).astype(np.float64)
        behind = np.bincount(cell, masses * np.exp(ends[cell] - values), _GROUPS)
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = ends + np.log(total / behind) - _SUMMED
        total = total * (1 - _SUMMED)
    used = total > 0
    return replace(release, values=losses[used], log_mass=np.log(total[used]))


def _mass(release: Release) -> float:
    return float(np.exp(release.log_mass).sum())


def _some(release: Release, where: slice) -> Release:
    """Return some of the finite losses alone."""
    return _release(release.values[where], release.log_mass[where], release.grid)


def _release(values: Array, log_mass: Array, grid: float = 0.0) -> Release:
    return Release(
        values=values,
        log_mass=log_mass,
        infinite=0.0,
        infinite_swapped=0.0,
        is_symmetric=False,
        grid=grid,
    )
