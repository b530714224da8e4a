"""Trade-off curves from both sides, by tests of the sum of losses on a lattice.

A test that rejects where the sum of losses is in a set A, or infinite, has the power P(A) plus the
mass of what is infinite, at the false-positive rate Q(A); tests may be mixed. Those of losses that
the true ones dominate (`_losses_below`) say what an attacker reaches at least, read for all A =
[x, oo) of a window: with a power that is rounded down and a rate that is rounded up, D(t) >= power
- t rate at any t, which is all that is used. What an attacker reaches at most, the profile from
above says (`_tradeoff`), at epsilons next to the x of that rate: on the same lattice, so that both
differ by about the square of the spacing.

The test of one order of the neighbours that rejects where it does not, is one of the other order:
the rate is 1 less the power, and the other way round. It serves at rates above that of x = 0, where
rates of the first order would be sums of masses from which digits are lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._composed_release import read_upper
from tightnoise.costs._lattice import DiscreteLosses, Frame, Tilted
from tightnoise.costs._lattice_bounds import Way, losses_above, ways_at
from tightnoise.costs._leaf import Terms

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_SPAN, _MOST_FRAMES = 12.0, 3  # logarithms of rates that a window serves; so many windows at most
_SMALL = 15.0  # the same of a rate, down to which masses that are not tilted keep their digits
_COARSE = 2.0  # no finer than that many times the finest lattice there is; than one for each kind
_BESIDE = np.arange(-2, 3)  # points of the lattice beside that of a rate, which are tried, too
_STEEPEST = 700.0  # x of lines, whose slopes are e^x
_RANGE = 600.0  # exponents that are not near the overflow
_SURE = 1e300  # above any rate


class Tests(NamedTuple):
    """At false-positive rates, in one order: bounds of the least misses, and of the power above."""

    misses_lower: Array
    misses_upper: Array
    power_upper: Array

    @classmethod
    def all_of(cls, proofs: list[Tests]) -> Tests:
        """Return what several proofs of one order say together."""
        lower, upper, power = zip(*proofs, strict=True)
        return cls(np.max(lower, axis=0), np.min(upper, axis=0), np.min(power, axis=0))

    @classmethod
    def any_of(cls, orders: list[Tests]) -> Tests:
        """Return what attackers do who choose among orders of the neighbours, or pairs of them."""
        lower, upper, power = zip(*orders, strict=True)
        return cls(np.min(lower, axis=0), np.min(upper, axis=0), np.max(power, axis=0))


def lattice_tradeoff(terms: Terms, rates: Array, *, both_sides: bool) -> list[Tests] | None:
    """Return what is proved in each order of the neighbours; None if too little is known."""
    coarse = losses_above(terms)
    if not coarse:
        return None
    nothing = Tests(np.zeros_like(rates), np.ones_like(rates), np.ones_like(rates))
    orders = [[nothing] for _ in coarse]
    for tilts in _tilts(coarse, rates):
        frames = tuple(
            losses.frame(losses.narrow_tilt(losses.moments(tilt).mean) if tilt > 0 else 0.0)
            for losses, tilt in zip(coarse, tilts, strict=True)
        )
        ways = ways_at(terms, frames, max(_COARSE, len(terms)))
        if not ways:
            return None
        each = [_OneWay.of(way, frame, both_sides) for way, frame in zip(ways, frames, strict=True)]
        for order, ahead, behind in zip(orders, each, each[::-1], strict=True):
            order += [ahead.tests(rates), behind.turned(rates)]
    return [Tests.all_of(proofs) for proofs in orders]


def _tilts(coarse: tuple[DiscreteLosses, ...], rates: Array) -> Iterator[tuple[float, ...]]:
    """Go through the tilts of both directions: none, and those that suit very small rates."""
    none = (0.0,) * len(coarse)
    yield none
    logs = np.sort(-np.log(rates[(rates > 0) & (rates < 1)]))
    mean = min(losses.moments(0.0).mean for losses in coarse)
    logs = logs[logs > max(mean, _SMALL)]
    if not logs.size:
        return
    span = max(_SPAN, float(logs[-1] - logs[0]) / _MOST_FRAMES * (1 + 1e-9))
    first = 0
    while first < logs.size:
        last = int(np.searchsorted(logs, logs[first] + span, side="right"))
        middle = 0.5 * float(logs[first] + logs[last - 1])
        # Where a Gaussian has this probability under Q: at the mean m, with K(t) = log E e^(t L)
        # under P, that is about e^(K(t) - (t + 1) m).
        tilts = tuple(
            losses.tilt_where(lambda m, t: (t + 1) * m.mean - m.log_moment, middle)
            for losses in coarse
        )
        if tilts != none:
            yield tilts
        first = last


@dataclass(frozen=True, eq=False)
class _OneWay:
    """Tests in a window of one direction, with thresholds from the least to the largest."""

    above: Tilted
    infinite: float  # rounded up
    highest: float
    places: Array
    log_rates: Array  # about
    log_powers: Array
    reached: tuple[Array, Array]  # rates, rounded up, and powers, rounded down
    infinite_below: float

    @classmethod
    def of(cls, way: Way, frame: Frame, both_sides: bool) -> _OneWay:
        above = way.upper.tilted_in(frame)
        cells = _cells(above, 1.0)
        log_scale = above.log_scale - above.tilt * (cells.places - above.first)
        with np.errstate(divide="ignore"):
            log_powers = np.log(_sums(above, cells, 0.0)) + log_scale
            log_rates = np.log(_sums(above, cells, 1.0)) + log_scale - cells.places
        reached = _reached(way, frame) if both_sides else (np.zeros(1), np.zeros(1))
        ends = way.upper.infinite, way.upper.highest
        below = way.lower.infinite if both_sides else 0.0
        return cls(above, *ends, cells.places, log_rates, log_powers, reached, below)

    def tests(self, rates: Array) -> Tests:
        """Return those that reject where losses are large."""
        with np.errstate(divide="ignore"):
            at = np.searchsorted(-self.log_rates, -np.log(rates))
        x, delta = self._beside(at)
        with np.errstate(over="ignore", invalid="ignore"):
            paid = np.where(rates > 0, np.exp(np.minimum(x, _STEEPEST)) * rates, 0.0)
        power = np.min(np.where(x <= _STEEPEST, delta + paid, 1.0), axis=0)
        if self.highest <= _STEEPEST:  # beyond it, there is no finite loss
            last = self.infinite + math.exp(max(self.highest, 0.0)) * rates
            power = np.minimum(power, last * (1 + 8 * _UNIT))
        reached = self._power_at(rates) + self.infinite_below
        return Tests(1 - power, 1 - reached, power)

    def turned(self, rates: Array) -> Tests:
        """Return those of the other order that reject where losses are small."""
        with np.errstate(divide="ignore"):
            at = np.searchsorted(-self.log_powers, -np.log(1 - rates))
        y, delta = self._beside(at)
        y = np.maximum(y, -_STEEPEST)
        misses = np.max(np.exp(-y) * (1 - rates - delta - 4 * _UNIT), axis=0)
        reached = self._rate_at(1 - rates - self.infinite_below + 4 * _UNIT)
        return Tests(misses, reached, 1 - misses + 8 * _UNIT)

    def _beside(self, at: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return epsilons as rows, next to those of such thresholds, and deltas from above."""
        near = np.clip(at + _BESIDE[:, None], 0, self.places.size - 1)
        x = self.places[near] + self.above.rounding
        order = np.argsort(x, axis=None)
        found = np.empty(x.size)
        found[order] = read_upper(self.above, x.ravel()[order] - self.above.rounding)[0]
        return x, np.minimum(self.infinite + found.reshape(x.shape), 1.0) * (1 + 4 * _UNIT)

    def _power_at(self, rates: Array) -> Array:
        """Return the power that mixtures of two tests have at such a rate."""
        spent, powers = self.reached
        first = np.searchsorted(-spent, -rates)  # the least threshold that is allowed
        before = np.maximum(first - 1, 0)
        more = spent[before] - spent[first]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(more > 0, (rates - spent[first]) / more, 0.0)
        gain = powers[before] - powers[first]
        return powers[first] + np.clip(share, 0.0, 1.0) * gain * (1 - 16 * _UNIT)

    def _rate_at(self, wanted: Array) -> Array:
        """Return the rate at which mixtures of two tests have such a power; 1 if none has."""
        spent, powers = self.reached
        last = np.searchsorted(-powers, -wanted, side="right") - 1  # the largest that will do
        known, some = last >= 0, np.maximum(last, 0)
        after = np.minimum(some + 1, spent.size - 1)
        less = powers[some] - powers[after]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(less > 0, (powers[some] - wanted) / less, 0.0)
        mixed = spent[some] - np.clip(share - 16 * _UNIT, 0.0, 1.0) * (spent[some] - spent[after])
        return np.where(known, mixed * (1 + 16 * _UNIT), 1.0)


class _Cells(NamedTuple):
    """The cells of a window that exponentials can be taken of, and where they are."""

    which: slice
    along: Array  # losses, from the middle of them
    places: Array


def _cells(tilted: Tilted, more: float) -> _Cells:
    """Return those at which weights for the tilt, and `more` of it, are no overflow."""
    h, size = tilted.spacing, tilted.mass.size
    middle = round(min(max((tilted.moments.mean - tilted.first) / h, 0.0), size - 1.0))
    reach = _RANGE / (tilted.tilt + more) / h
    which = slice(max(0, math.ceil(middle - reach)), min(size, math.floor(middle + reach) + 1))
    steps = np.arange(which.start, which.stop, dtype=np.float64)
    return _Cells(which, (steps - middle) * h, tilted.first + steps * h)


def _sums(tilted: Tilted, cells: _Cells, more: float) -> Array:
    """Return the masses from each cell on, less tilted, in units of what the first is."""
    weights = np.exp(-(tilted.tilt + more) * cells.along)
    return np.cumsum((tilted.mass[cells.which] * weights)[::-1])[::-1] / weights


def _reached(way: Way, frame: Frame) -> tuple[Array, Array]:
    """Return rates from above and powers from below of rising thresholds; both do not rise.

    Of larger sets both are no less: what is proved of a smaller one, of the power, holds for it,
    and what is proved of a larger one's rate holds for the smaller.
    """
    both = way.lower.cells(frame)
    p, q = both.p, both.q
    cells = _cells(q, 0.0)
    steps = p.spacing * np.arange(cells.which.start, cells.which.stop, dtype=np.float64)
    rounding = _UNIT * (2 * cells.along.size + 8 * _RANGE + 64)
    wrong = p.noise + p.beyond + p.below
    log_p, log_q = both.log_p - p.tilt * steps, both.log_q - q.tilt * steps
    log_p -= 8 * _UNIT * (np.abs(log_p) + abs(both.log_p))
    log_q += 8 * _UNIT * (np.abs(log_q) + abs(both.log_q))
    powers = _sums(p, cells, 0.0) * (1 - rounding) - wrong
    rates = _sums(q, cells, 0.0) * (1 + rounding) + q.noise
    with np.errstate(over="ignore", invalid="ignore"):
        powers = np.exp(np.minimum(log_p, _STEEPEST)) * np.maximum(powers, 0.0) * (1 - 4 * _UNIT)
        rates = np.fmin(np.exp(log_q) * rates * (1 + 4 * _UNIT), _SURE)
    powers = np.maximum.accumulate(powers[::-1])[::-1]
    # The last test rejects nothing but infinite losses.
    return np.append(np.minimum.accumulate(rates), 0.0), np.append(powers, 0.0)
