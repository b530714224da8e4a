"""Both sides where rare large losses decide: what has one of them is known, a lattice has the rest.

Of an outcome of all releases together, let A be that some loss is above a cut, and let all losses
be finite. What lies outside A is a sum of losses up to the cut, which a lattice tells well; with
the large ones its window is too wide, and rounding too large at any tilt. A's share of D(x) is
E[(1 - e^(x-S))^+; A], for which, as in cpp/cost/contour/CONTOUR.md, section 4,

    P(A) - e^x Q(A)  <=  it  <=  P(A) - e^x Q(A) + rest,
    rest = E[(e^(x-S) - 1)^+; A] <= kap(s) e^((1+s) x) E[e^(-(1+s) S); A]   for every s > 0,

kap(s) = s^s/(1+s)^(1+s). With m_i the finite mass of a release and t_i that above the cut, P(A) =
prod m_i^n_i - prod (m_i - t_i)^n_i, Q(A) the same of e^-L times the masses, and

    E[e^(-(1+s) S); A] <= sum_i n_i E[e^(-(1+s) L_i); L_i > cut]/min(1, E_i) prod_i E_i^n_i,

E_i = E[e^(-(1+s) L_i)]. Where very small losses are rare, too, let B be that some loss is below -b.
Then E_i may be taken without them, and the rest within B is at most e^x Q(A and B), e^x times

    sum_i n_i Q(L_i > cut)/q_i sum_i n_i Q(L_i < -b)/q_i prod_i q_i^n_i,

q_i being Q's finite mass. The cut is the least one for which all that is 3e-7 of D. This holds for
masses that are no probabilities: those of pairs that dominate, or are dominated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._discrete_losses import DiscreteLosses, Release
from tightnoise.costs._lattice import Frame, Tilted
from tightnoise.costs._losses_below import LossesBelow, LossesOn

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_REST = -15.0  # log 3e-7, of delta: far less of epsilon
_GAPS = np.geomspace(0.02, 600.0, 110)  # from x to a cut, by x: a tenth more each
_TILTS = np.exp2(np.arange(-3.0, 9.0))  # s x
_FLOORS = (0.25, 0.5, 1.0, 2.0, math.inf)  # b, by x
_STEPS = 60  # towards an epsilon
_FAR = 700.0  # whose exponential is a number
_SMALL = 1e-20  # a probability so small is its own -log(1 - p)
_TINY = 1e-320
_NOTHING = -1e6  # logarithm of what is 0 beside all else
_SURE = 2e-9  # relative: so far from where both sides are equal
_BESIDE = 1e-6  # relative: a first step from where that may be

Terms = tuple[tuple[Release, int], ...]


class Top(NamedTuple):
    """What outcomes with a large loss add to D(x), by what P and Q give them.

    Q's are e^near times as large, as they may be too small for numbers.
    """

    p: tuple[float, float]
    q: tuple[float, float]
    near: float
    tilt: float
    log_rest: float  # without e^((1 + tilt) x)
    log_both: float  # without e^x

    def lower(self, x: float) -> float:
        """Return at most what they add."""
        above = x - self.near
        if above > _FAR:
            return -math.inf
        less = math.exp(above) * self.q[1] * (1 + 8 * _UNIT * (1 + abs(x)))
        return self.p[0] - less - 16 * _UNIT * (self.p[1] + less)

    def upper(self, x: float) -> float:
        """Return at least what they add."""
        exponent = self.log_rest + (1 + self.tilt) * x
        rest = math.exp(min(exponent + 16 * _UNIT * abs(exponent), _FAR))
        rest += math.exp(min(self.log_both + x + 16 * _UNIT * abs(self.log_both), _FAR))
        less = math.exp(min(x - self.near, _FAR)) * self.q[0] * (1 - 8 * _UNIT * (1 + abs(x)))
        known = max(self.p[1] - less + 16 * _UNIT * (self.p[1] + less), 0.0)
        return known + rest * (1 + 8 * _UNIT)


def cut_for(losses: DiscreteLosses, x: float, log_delta: float) -> float:
    """Return the least cut above x for which the rest is next to nothing; infinity for none."""
    largest = max(release.highest for release in losses.releases)
    cuts = x + x * _GAPS
    cuts = cuts[cuts < largest]
    if not cuts.size:
        return math.inf
    found = _rests(tuple(zip(losses.releases, losses.counts, strict=True)), cuts, x)
    good = np.flatnonzero(np.logaddexp(found.rest, found.both) <= log_delta + _REST)
    return float(cuts[good[0]]) if good.size else math.inf


def without_large(release: Release, cut: float) -> Release:
    """Return the losses up to a cut, or one: of none, nothing is said about the large ones."""
    kept = max(int(np.searchsorted(release.values, cut, "right")), 1)
    if kept == release.values.size:
        return release
    return replace(
        release, values=release.values[:kept], log_mass=release.log_mass[:kept], is_symmetric=False
    )


def kept_of(losses: DiscreteLosses, cut: float) -> DiscreteLosses | None:
    """Return losses without the large ones; None if there are no others, or none but 0."""
    if any(release.values[0] > cut for release in losses.releases):
        return None
    kept = tuple(without_large(release, cut) for release in losses.releases)
    return DiscreteLosses(kept, losses.counts) if any(one.largest > 0 for one in kept) else None


def top_of(terms: Terms, cut: float, x: float) -> Top:
    """Return what is above a cut, for an epsilon near x."""
    p, q = (_with_large(terms, cut, sign, sign * x) for sign in (0.0, 1.0))
    found = _rests(terms, np.array([cut]), x)
    tilt, rest, both = (float(of[0]) for of in (found.tilt, found.rest, found.both))
    return Top(p, q, x, tilt, max(rest - (1 + tilt) * x, _NOTHING), max(both - x, _NOTHING))


@dataclass(frozen=True, eq=False)
class TrimmedWay:
    """One direction, for an epsilon near x: losses up to a cut from both sides, and the others."""

    above: Terms
    below: Terms
    spacing: float
    cut: float
    x: float

    def upper(self, question: str, at: float, frame: Frame) -> float:
        """Return an epsilon that is enough at a delta, or a delta at an epsilon."""
        counts = tuple(n for _, n in self.above)
        whole = LossesOn(tuple(one for one, _ in self.above), counts, self.spacing)
        kept = LossesOn(
            tuple(without_large(one, self.cut) for one, _ in self.above), counts, self.spacing
        )
        infinite = whole.infinite * (1 + 8 * _UNIT)
        top, tilted = top_of(self.above, self.cut, self.x), kept.tilted_in(frame)

        def delta(x: float) -> float:
            found = infinite + top.upper(x)
            found += _slack(tilted, x) if x < kept.highest else 0.0
            return min(found * (1 + 8 * _UNIT), 1.0)

        if question == "delta":
            return delta(at)
        return _crossing(lambda x: _log_ratio(delta(x), at), self.x, 1.0)

    def lower(self, question: str, at: float, frame: Frame, near: float) -> float:
        """Return an epsilon that is not, `near` one, or a delta that is reached."""
        kept = tuple((without_large(one, self.cut), n) for one, n in self.below)
        infinite = LossesBelow(self.below, self.spacing).infinite * (1 - 8 * _UNIT)
        top, cells = (
            top_of(self.below, self.cut, self.x),
            LossesBelow(kept, self.spacing).cells(frame),
        )

        def delta(x: float) -> float:
            found = infinite + top.lower(x) + cells.slack(x)
            return max(found * (1 - 8 * _UNIT), 0.0)

        if question == "delta":
            return delta(at)
        if near == math.inf:
            return 0.0
        return max(_crossing(lambda x: _log_ratio(delta(x), at), near, -1.0), 0.0)


def _slack(tilted: Tilted, x: float) -> float:
    """Return at least the divergence of losses on a lattice."""
    return math.exp(min(0.0, tilted.log_slack(x - tilted.rounding))) * (1 + 1e-13) + 1e-323


def _log_ratio(value: float, target: float) -> float:
    """Return the logarithm of a ratio: above 0 exactly where a value is above its target."""
    if value == target or not value > 0:
        return 0.0 if value == target else -math.inf
    return math.copysign(max(abs(math.log(value / target)), 5e-324), value - target)


def _crossing(excess: Callable[[float], float], near: float, way: float) -> float:
    """Return about where an excess that falls comes to 0, on the safe side of it.

    There it is at most 0 (way 1), or above (-1): infinite, or 0, if no such place is found. Secants
    from `near` on, outwards until there is a place on either side, then between, or the middle.
    """
    good: float | None = None
    bad: float | None = None
    last, x, reach = (math.nan, math.nan), near, max(_BESIDE * near, 1e-300)
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


# --- sums over the large losses


class _Rests(NamedTuple):
    """For cuts, at an epsilon: logarithms of both bounds, and the tilt of the first."""

    rest: Array
    both: Array
    tilt: Array


def _rests(terms: Terms, cuts: Array, x: float) -> _Rests:
    """Return the least of all tilts and floors."""
    none = np.full(cuts.size, np.inf)
    best = _Rests(none, none, np.ones(cuts.size))
    floors = [-x * share for share in _FLOORS]
    boths = [_both(terms, cuts, floor) + x for floor in floors]
    for s in (_TILTS / x).tolist():
        for rest, both in zip(_rest(terms, cuts, floors, s, x), boths, strict=True):
            better = np.logaddexp(rest, both) < np.logaddexp(best.rest, best.both)
            best = _Rests(
                np.where(better, rest, best.rest),
                np.where(better, both, best.both),
                np.where(better, s, best.tilt),
            )
    return best


def _rest(terms: Terms, cuts: Array, floors: list[float], s: float, x: float) -> list[Array]:
    """Return logarithms of the first bound, without losses below each of the floors."""
    wholes = [0.0] * len(floors)
    larges = [np.full(cuts.size, -np.inf)] * len(floors)
    for release, n in terms:
        exponents = release.log_mass - (1 + s) * release.values
        rounding = 4 * _UNIT * (8 + float(np.abs(exponents).max()) + release.values.size)
        from_top = _from_top(exponents)
        tail = math.log(n) + rounding + _above(release, from_top, cuts)
        for i, floor in enumerate(floors):
            kept = _from(release, from_top, floor)
            wholes[i] += n * (kept + rounding)
            larges[i] = np.logaddexp(larges[i], tail - min(kept - rounding, 0.0))
    log_kap = s * math.log(s / (1 + s)) - math.log1p(s)
    found = []
    for whole, large in zip(wholes, larges, strict=True):
        rest = large + whole + log_kap + (1 + s) * x
        size = 1 + abs(whole) + (1 + s) * x + np.abs(np.nan_to_num(large, neginf=0.0))
        found.append(np.asarray(rest + 1e-9 + 64 * _UNIT * size))
    return found


def _both(terms: Terms, cuts: Array, floor: float) -> Array:
    """Return logarithms of Q's probability of a loss above a cut and of one below the floor."""
    whole = 0.0
    above, below = np.full(cuts.size, -np.inf), -np.inf
    for release, n in terms:
        exponents = release.log_mass - release.values
        rounding = 4 * _UNIT * (8 + float(np.abs(exponents).max()) + release.values.size)
        from_top = _from_top(exponents)
        all_of = _from(release, from_top, -np.inf)
        small = exponents[release.values < floor]
        whole += n * (all_of + rounding)
        above = np.logaddexp(
            above, math.log(n) + _above(release, from_top, cuts) - all_of + 2 * rounding
        )
        if small.size:
            share = float(np.logaddexp.reduce(small)) - all_of + 2 * rounding
            below = float(np.logaddexp(below, math.log(n) + share))
    return np.asarray(above + below + whole + 1e-9)


def _from_top(exponents: Array) -> Array:
    """Return logarithms of the sums from each on, and of none."""
    return np.append(np.logaddexp.accumulate(exponents[::-1])[::-1], -np.inf)


def _from(release: Release, from_top: Array, floor: float) -> float:
    """Return the logarithm of the sum of all from the floor on."""
    return float(from_top[np.searchsorted(release.values, floor, "left")])


def _above(release: Release, from_top: Array, cuts: Array) -> Array:
    """Return those of the sums above the cuts."""
    return np.asarray(from_top[np.searchsorted(release.values, cuts, "right")])


def _with_large(terms: Terms, cut: float, sign: float, near: float) -> tuple[float, float]:
    """Return bounds of P(A), or for sign 1 of Q(A): masses times e^-L; e^near times as large."""
    log_whole = log_kept = rare = lost = rounding = 0.0
    for release, n in terms:
        exponents = release.log_mass - sign * release.values
        masses = np.exp(np.minimum(exponents, _FAR))
        first = int(np.searchsorted(release.values, cut, "right"))
        whole, large = math.fsum(masses.tolist()), math.fsum(masses[first:].tolist())
        if not large < 0.5 * whole:
            return 0.0, math.inf
        log_whole += n * math.log(whole)
        log_kept += n * math.log1p(-large / whole)
        rare += n * (math.fsum(np.exp(exponents[first:] + near).tolist()) / whole)
        lost += n * float(masses.size - first)
        weighted = math.fsum((masses * np.abs(exponents)).tolist()) / whole
        rounding += n * 4 * _UNIT * (8 + weighted)
    share = -math.expm1(log_kept)
    share = share * math.exp(near) if share > _SMALL else rare
    # What is large is wrong by its own rounding; the whole counts n times. What underflows is lost.
    error = rounding + 2.0**-39
    scale = math.exp(min(log_whole, _FAR))
    return max(scale * share * (1 - error), 0.0), scale * (share * (1 + error) + lost * _TINY)
