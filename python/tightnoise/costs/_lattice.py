"""The hockey-stick divergence of many privacy losses together, from above.

The exact value is a sum over all combinations of outcomes (for N randomised responses computing it
is #P-complete: Murtagh and Vadhan 2016, "The Complexity of Computing the Optimal Composition of
Differential Privacy", Theorem 1.5). So the privacy losses are moved to a lattice of spacing h, in a
way that can only add divergence: an outcome of loss L is split into two, with the losses
x <= L <= x + h next to it on the lattice and the same total probability under both hypotheses,

    b = (1 - exp(x - L))/(1 - exp(-h)) of it at x + h, the rest at x.

Merging the two again is post-processing, so the split mechanism dominates the original one (the
"connect the dots" of Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022); and on this lattice no
dominating mechanism is better, so it is at most what losses rounded up to the lattice give. It adds
at most h^2/4 to the variance of each loss and nothing of first order.

The losses add up, so their characteristic functions multiply: one FFT gives the distribution. Its
error is about 1e-16 of the largest mass, so the distribution is tilted first, by exp(theta L), such
that the epsilon in question is near the mean; and all errors are added:

- rounding in the FFT and in powers of characteristic functions, to every mass (`extra`), or in sum
  (`noise`), whichever is less;
- what lies beyond the window, by Chernoff's bound (`beyond`). What an FFT wraps around from there
  only adds.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._cached import cached_property
from tightnoise._core import cost as core
from tightnoise.costs._discrete_losses import Moments, Release, is_whole
from tightnoise.costs._transform import Transform

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_OUTSIDE = 45.0  # the window leaves out exp(-45) = 3e-20 of the tilted distribution
_OUTSIDE_OF_DELTA = 34.0  # the same, of a delta
_ADDED_VARIANCE, _IF_ROUGH = 1e-6, 1e-3  # by the lattice, of the variance, as _LARGEST allows
_SMALLEST, _LARGEST = 2**14, 2**20  # points of the lattice
ALLOWANCES = (1e-12, 1e-9, 1e-6, 1e-3, 1.0)
"""Of the logarithm of a divergence, for what errors may add to it."""
MAX_LATTICE_COUNT = 2**30  # more releases than this blur too much on it
_TILTS = 8  # how often a better tilt is tried at most, two are the rule,
_WORTH_ANOTHER = 1e-9  # and by how much the last one must have lowered epsilon
_DOUBLINGS = 12  # of a tilt, in search of the least bound
_LESS_TILT = (1.0, 0.8, 0.6, 0.4, 0.2)  # shares of a tilt that are tried for a narrower window,
_AS_GAUSSIAN = 24.0  # unless it is no wider than this, in deviations: 19 is a Gaussian's;
_DIGITS = 6.0  # if the rounding grows by no more than exp of this;
_DIGIT = 0.15  # what that logarithm counts beside that of the width,
_NARROWER = 0.3  # which is to shrink by so much
_STEEPEST = 1e4  # tilt times the largest loss of one release
_SATURATED = 20.0  # tilt times the grid, beyond which all are at the largest loss
_FINER = 0.5  # than wanted
_UNDERFLOW = -700.0  # log of a weight, of the largest; less is taken for this


@dataclass
class Work:
    """How much may still be done on lattices: in points, each once for a kind of release and more.

    Known beforehand, and no matter of a clock: an answer does not depend on the machine.
    """

    points: float

    def takes(self, losses: DiscreteLosses, frame: Frame) -> bool:
        """Return whether the losses in a window may be laid out once more; if so, count it."""
        points = losses.work(frame)
        if points > self.points:
            return False
        self.points -= points
        return True


class Frame(NamedTuple):
    """A tilt, the moments there, and how far from the mean a window goes, up and down."""

    tilt: float
    here: Moments
    up: float
    down: float


@dataclass(frozen=True)
class Tilted:
    """The losses on a lattice, tilted by theta: what the core's LatticeLoss holds."""

    mass: Array
    extra: float
    error: float  # the root of the sum of squares of what masses are wrong by
    beyond: float
    below: float  # the tilted probability of losses before the first
    first: float
    spacing: float
    tilt: float
    log_scale: float
    doubt: float  # how far rounding may have raised log_scale
    moments: Moments
    rounding: float  # how far splitting may have moved the sum of losses down

    def epsilon(self, log_slack: float) -> float:
        """Return an epsilon at which the divergence is at most that; NaN if below the window.

        Infinity if what lies beyond the window may be more.
        """
        if self.beyond > 0:
            last = self.spacing * (self.mass.size - 1)
            if math.log(self.beyond) + self.log_scale - self.tilt * last > log_slack:
                return math.inf
        found = self._read(core.lattice_epsilon, log_slack - self._summing, self.extra)
        for allowance in ALLOWANCES[1:]:
            sharp = self._read(core.lattice_epsilon, log_slack - allowance, 0.0)
            if not sharp < found:
                break
            if self._sharp_log_slack(sharp) <= log_slack:
                return sharp
        return found

    def log_slack(self, epsilon: float) -> float:
        """Return the logarithm of at least the divergence."""
        log_slack = self._read(core.lattice_log_delta, epsilon, self.extra) + self._summing
        log_slack = min(log_slack, self._sharp_log_slack(epsilon))
        if epsilon >= self.first or self.below == 0:
            return log_slack
        missing = math.log(self.below) + self.log_scale + self.tilt * (self.first - epsilon)
        return float(np.logaddexp(log_slack, missing))

    def _sharp_log_slack(self, epsilon: float) -> float:
        """Return the same of the masses as they are, and what all errors together add to it."""
        read = self._read(core.lattice_log_delta, epsilon, 0.0)
        noise = math.log(self.noise) + self.log_scale
        noise -= self.tilt * max(epsilon - self.first, 0.0)
        return float(np.logaddexp(read, noise)) + self._summing

    @property
    def _summing(self) -> float:
        """By how much a sum over all masses may be rounded off, relatively."""
        return 8 * _UNIT * self.mass.size

    @property
    def noise(self) -> float:
        """What errors add at most, in units of exp(log_scale - tilt (epsilon - first)).

        A mass adds exp(-tilt (L - epsilon)) times itself, or less: by Cauchy and Schwarz.
        """
        share = -math.expm1(-2 * self.tilt * self.spacing)
        size = float(self.mass.size)
        return self.error * math.sqrt(size if share * size < 1 else 1 / share) * (1 + 1e-9)

    def _read(self, function: Callable[..., float], at: float, extra: float) -> float:
        tail = extra, self.beyond, self.first, self.spacing, self.tilt, self.log_scale
        return function(self.mass, *tail, at)


@dataclass(frozen=True, eq=False)
class DiscreteLosses:
    """The losses of `counts[i]` releases as `releases[i]`; the finite ones, but for `infinite`."""

    is_upper: ClassVar[bool] = True  # what underflows is raised, else left out
    added_variance: ClassVar[float] = _ADDED_VARIANCE

    releases: tuple[Release, ...]
    counts: tuple[int, ...]

    @cached_property
    def largest(self) -> float:
        """The largest sum of losses, in size; rounded up."""
        return sum_of_products_upper((release.largest, n) for release, n in self._pairs())

    @cached_property
    def highest(self) -> float:
        """The largest sum of losses; rounded up."""
        return sum_of_products_upper((release.highest, n) for release, n in self._pairs())

    @cached_property
    def infinite(self) -> float:
        """The probability that one of the losses is infinite, rounded up."""
        each = np.array([release.infinite for release in self.releases])
        times = np.array(self.counts, dtype=np.float64)
        return core.failure_upper(np.zeros_like(each), each, times)

    @cached_property
    def count(self) -> float:
        """How many releases there are."""
        return float(sum(self.counts))

    def moments(self, theta: float) -> Moments:
        """Return those of the sum."""
        each = [(n, release.moments(theta)) for release, n in self._pairs()]
        return Moments(
            sum(n * one.log_moment for n, one in each),
            sum(n * one.mean for n, one in each),
            math.sqrt(sum(n * one.deviation**2 for n, one in each)),
        )

    def _pairs(self) -> Iterator[tuple[Release, int]]:
        return zip(self.releases, self.counts, strict=True)

    def epsilon_upper(self, log_slack: float) -> float:
        """Return an epsilon at which the divergence is at most exp(log_slack) < 1."""
        if self.highest <= 0:
            return 0.0
        theta = self._renyi_tilt(log_slack)
        best, rounding = self.highest, 0.0
        tilt, width = self._narrowest(theta, self._chernoff_at(theta, log_slack))
        for _ in range(_TILTS):
            tilted = self.tilted(tilt)
            rounding = max(rounding, tilted.rounding)
            found = tilted.epsilon(log_slack)
            centred = abs(found - tilted.moments.mean) < 4 * tilted.moments.deviation
            if math.isnan(found):  # below the window, whose first point therefore will do
                found = tilted.first
            better = found < best * (1 - _WORTH_ANOTHER)
            best = min(best, found)
            if best <= 0 or not better:
                break
            last = tilt, width
            tilt, width = self._narrowest(self.tilt_for(best), best)
            if tilt == last[0] or (centred and math.log(last[1] / width) < _NARROWER):
                break
        return max(0.0, best * (1 + 16 * _UNIT) + rounding)

    def slack_upper(self, epsilon: float, frame: Frame | None = None) -> float:
        """Return at least the divergence at `epsilon`, of this frame if there is one."""
        if epsilon >= self.highest:
            return 0.0
        return self.slack_of(
            self.tilted_in(frame or self.frame(self.narrow_tilt(epsilon))), epsilon
        )

    def slack_of(self, tilted: Tilted, epsilon: float) -> float:
        """Return the same of losses that are laid out."""
        if epsilon >= self.highest:
            return 0.0
        slack = math.exp(min(0.0, tilted.log_slack(epsilon - tilted.rounding))) * (1 + 1e-13)
        return min(1.0, math.nextafter(slack, 1.0))  # also what underflows

    def delta_upper(self, epsilon: float, frame: Frame | None = None) -> float:
        """Return at least the divergence, with that of infinite losses; perhaps just above 1."""
        return self._with_infinite(self.slack_upper(epsilon, frame))

    def _with_infinite(self, slack: float) -> float:
        return (self.infinite + slack) * (1 + 4 * _UNIT)

    def epsilon_in(self, frame: Frame, log_slack: float) -> float:
        """Return an epsilon as `epsilon_upper` does, near what the frame is for."""
        tilted = self.tilted_in(frame)
        found = tilted.epsilon(log_slack)
        found = min(self.highest, tilted.first if math.isnan(found) else found)
        return max(0.0, found * (1 + 16 * _UNIT) + tilted.rounding)

    # --- Chernoff's bound: the divergence is at most kap(theta) exp(K(theta) - theta epsilon),
    # with kap(theta) the largest (1 - e^-u) e^(-theta u)

    def chernoff_epsilon(self, log_slack: float) -> float:
        """Return an epsilon as `epsilon_upper` does, a higher one, in less time."""
        return self._chernoff_at(self._renyi_tilt(log_slack), log_slack)

    def _chernoff_at(self, theta: float, log_slack: float) -> float:
        if theta == 0:
            return max(0.0, self.highest)
        bound = (self.log_chernoff(theta) - log_slack) / theta
        return max(0.0, min(self.highest, bound))

    def chernoff_delta(self, epsilon: float) -> float:
        """Return a delta as `delta_upper` does, a higher one, in less time."""
        if epsilon >= self.highest:
            return self._with_infinite(0.0)
        theta = self.tilt_for(epsilon)
        log_slack = self.log_chernoff(theta) - theta * epsilon if theta > 0 else 0.0
        return self._with_infinite(math.exp(min(0.0, log_slack)))

    def log_chernoff(self, theta: float) -> float:
        log_kap = theta * math.log(theta / (1 + theta)) - math.log1p(theta)
        rounding = 64 * _UNIT * (self.count + theta * self.largest)
        return self.moments(theta).log_moment + log_kap + rounding

    def _renyi_tilt(self, log_slack: float) -> float:
        """Return the tilt of the Renyi bound: least (K(theta) - log slack)/theta."""
        if self.highest <= 0:
            return 0.0
        return self.tilt_where(lambda m, t: t * m.mean - m.log_moment, -log_slack)

    # --- the tilt

    def _steepest(self) -> float:
        """Return a tilt beyond which nothing changes, or rounding takes over."""
        steepest = _STEEPEST / max(release.largest for release in self.releases)
        grids = [release.grid for release in self.releases if release.grid > 0]
        return min(steepest, _SATURATED / min(grids)) if grids else steepest

    def narrow_tilt(self, loss: float) -> float:
        """Return a tilt with which the divergence at `loss` and above can be read."""
        return self._narrowest(self.tilt_for(loss), loss)[0]

    def tilt_for(self, loss: float) -> float:
        """Return theta with a mean a little above `loss`."""
        return self.tilt_where(lambda m, _: m.mean - m.deviation, loss)

    def tilt_where(self, increasing: Callable[[Moments, float], float], value: float) -> float:
        """Return about the theta >= 0 at which a function is `value`."""
        high, low = self._steepest(), 1e-9 / self.largest
        if increasing(self.moments(low), low) >= value:
            return 0.0
        for _ in range(60):
            if high < low * (1 + 1e-4):
                break
            middle = math.sqrt(low * high)
            if increasing(self.moments(middle), middle) < value:
                low = middle
            else:
                high = middle
        return high

    def _narrowest(self, theta: float, loss: float) -> tuple[float, float]:
        """Return this tilt, or a lower one with a far narrower window, for reading at `loss`.

        Where few large losses make up the mean of the tilted distribution, a little less tilt
        leaves them out. It costs digits: rounding is relative to exp(K(theta) - theta loss). The
        second number is the width of the window.
        """
        best, width, least, level = theta, math.inf, math.inf, math.inf
        for share in _LESS_TILT:
            tilt = share * theta
            here = self.moments(tilt)
            height = here.log_moment - tilt * loss
            level = min(level, height)
            if height - level > _DIGITS:
                break
            reach = sum(self._reach(tilt, here, sign) for sign in (1.0, -1.0))
            lower = self.moments(0.5 * tilt)
            if share == 1 and reach < _AS_GAUSSIAN * min(here.deviation, lower.deviation):
                return tilt, reach
            score = math.log(reach) + _DIGIT * (height - level)
            if score < least - _NARROWER:
                best, width, least = tilt, reach, score
        return best, width

    def _reach(self, theta: float, here: Moments, sign: float, outside: float = _OUTSIDE) -> float:
        """Return how far from its mean, to one side, all but exp(-outside) of the tilted one is."""

        def bound(s: float) -> float:  # Chernoff's; it has one minimum
            moment = self.moments(theta + sign * s).log_moment - here.log_moment
            return (moment - sign * s * here.mean + outside) / s

        s = math.sqrt(2 * _OUTSIDE) / max(here.deviation, 1e-9 * self.largest)
        best = bound(s)
        for factor in (0.5, 2.0, 0.7, 1.4):
            for _ in range(_DOUBLINGS):
                other = bound(factor * s)
                if not other < best:
                    break
                s, best = factor * s, other
        return min(best, self.largest - sign * here.mean)

    # --- the lattice

    def frame(self, theta: float) -> Frame:
        """Return the window that holds nearly all at a tilt."""
        here = self.moments(theta)
        up, down = (self._reach(theta, here, sign) for sign in (1.0, -1.0))
        return Frame(theta, here, up, down)

    def narrower_frame(self, frame: Frame, epsilon: float, delta: float) -> Frame:
        """Return the window that holds all but a little of what makes up a delta."""
        theta, here = frame.tilt, frame.here
        log_share = here.log_moment - theta * epsilon - math.log(delta)  # of all, over that
        outside = min(_OUTSIDE_OF_DELTA + max(log_share, 0.0), _OUTSIDE)
        up, down = (self._reach(theta, here, sign, outside) for sign in (1.0, -1.0))
        return frame._replace(up=min(up, frame.up), down=min(down, frame.down))

    def spacings(self, frame: Frame, most: float = math.inf) -> tuple[float, float]:
        """Return the least spacing there is room for in a window, and the one that is wanted.

        `most`: of its points.
        """
        # N h^2/4 <= share of the variance. Where most is at the largest losses, and little is left
        # of it, N h^2/8 (theta + 1), which is added to epsilon, is half that share of the mean.
        here, reach = frame.here, frame.up + frame.down
        variance = max(here.deviation**2, here.mean / (1 + frame.tilt), (1e-9 * reach) ** 2)
        points = _power_of_two(reach / (2 * math.sqrt(self.added_variance * variance / self.count)))
        pads = 2 * self._pad
        room = min(_LARGEST, max(2 ** math.floor(math.log2(min(most, _LARGEST))), 4 * pads))
        return reach / (room - pads), reach / (points - pads)

    def _spacing(self, least: float, wanted: float) -> float:
        """Return a spacing of at least `least`, about as `wanted`, on which most losses lie."""
        grids = np.array([release.grid for release in self.releases if release.grid > 0])
        if not grids.size:
            return max(least, wanted)
        finest = float(grids.min())
        if all(r.is_whole or r.grid == 0 for r in self.releases) and is_whole(grids / finest):
            # Nothing needs splitting, unless there are far more points than are wanted.
            return finest * max(1, math.ceil(least / finest), int(_FINER * wanted / finest))
        # The lattice is laid such that what varies most needs none, if it lies on one.
        spread = [n * release.moments(0.0).deviation ** 2 for release, n in self._pairs()]
        widest, h = self.releases[int(np.argmax(spread))], max(least, wanted)
        if not widest.is_whole:
            return h
        grid = widest.grid
        return grid / math.floor(grid / h) if grid > h else grid * math.ceil(h / grid)

    @property
    def _pad(self) -> int:
        """So many points more at either end, as splits widen the distribution."""
        return 8 + math.ceil(min(2 * self.count, 6 * math.sqrt(self.count)))

    def _lattice(self, frame: Frame) -> _Lattice:
        """Return the points from `down` below the mean to `up` above it."""
        h = self._spacing(*self.spacings(frame))
        start = math.floor((frame.here.mean - frame.down) / h) - self._pad
        return _Lattice(start, h, _power_of_two((frame.up + frame.down) / h + 2 * self._pad))

    def work(self, frame: Frame) -> float:
        """Return how many points a window has, once for a kind of release and once more."""
        return self._lattice(frame).size * (1.0 + len(self.releases))

    def tilted(self, theta: float) -> Tilted:
        return self.tilted_in(self.frame(theta))

    def tilted_in(self, frame: Frame) -> Tilted:
        """Return the losses in a window, of these or of others; what is beyond is bounded."""
        theta, here, up, down = frame
        start, h, size = self._lattice(frame)
        transform = Transform(size)
        parts, centre, first, last, log_scale = [], 0, 0, 0, 0.0
        for release, times in self._pairs():
            part = _on_lattice(release, theta, h, self.is_upper)
            parts.append((part, times))
            log_scale += times * part.log_scale
            centre += times * part.middle
            first += times * (part.middle + int(part.offsets.min()))
            last += times * (part.middle + int(part.offsets.max()))
            transform.multiply(part.offsets, part.weights, times)
        beyond = below = 0.0
        if last > start + size - 1:
            beyond = _chernoff(parts, h, (start + size - 1 - centre) * h, up)
        if first < start:
            below = _chernoff(parts, h, (start - 1 - centre) * h, -down)
        mass, extra, error = transform.masses(centre - start)
        doubt = 32 * _UNIT * (self.count * (1 + theta * h) + theta * self.largest)
        return Tilted(
            mass=mass,
            extra=extra,
            error=error,
            beyond=beyond,
            below=below,
            first=start * h,
            spacing=h,
            tilt=theta,
            log_scale=log_scale - theta * h * (start - centre) + doubt,
            doubt=doubt,
            moments=here,
            rounding=16 * _UNIT * (self.largest + self.count * h),
        )


class RoughLosses(DiscreteLosses):
    """The same on fewer points."""

    added_variance = _IF_ROUGH


def both_directions(releases: dict[Release, int]) -> tuple[DiscreteLosses, ...]:
    """Return releases, so often, from P and from Q, or from P alone where both are the same."""
    forward, counts = tuple(releases), tuple(releases.values())
    backward = tuple(release.swapped for release in forward)
    different = (forward,) if forward == backward else (forward, backward)
    return tuple(DiscreteLosses(each, counts) for each in different)


class _Lattice(NamedTuple):
    """The points (start + m) spacing, m = 0, ..., size - 1."""

    start: int
    spacing: float
    size: int


class _OnLattice(NamedTuple):
    """The loss (middle + offset) h has the probability weight exp(log_scale - theta offset h)."""

    middle: int
    offsets: NDArray[np.int64]
    weights: Array  # positive, 1 in sum
    log_scale: float


def _on_lattice(release: Release, theta: float, h: float, is_upper: bool) -> _OnLattice:
    """Split the losses of one release."""
    values, log_mass = release.values, release.log_mass
    tilted = log_mass + theta * values
    weights = np.exp(tilted - tilted.max())
    # Moved to about its mean, a loss has a transform near 1 where it matters; to an atom that is
    # most of it, everywhere.
    total, first = float(weights.sum()), int(np.argmax(weights))
    mean = float((weights * values).sum()) / total
    middle = round((mean if weights[first] < 0.5 * total else float(values[first])) / h)
    lower = np.floor(values / h)
    share = np.clip(np.expm1(lower * h - values) / math.expm1(-h), 0.0, 1.0)
    nearest = np.rint(values / h)
    there = np.abs(values / h - nearest) <= 4 * _UNIT * np.abs(nearest)
    lower, share = np.where(there, nearest, lower), np.where(there, 0.0, share)
    # The split masses are tilted to where they go.
    offsets = np.concatenate([lower, lower + 1]) - middle
    with np.errstate(divide="ignore"):
        split = np.concatenate([np.log1p(-share), np.log(share)])
    exponents = np.tile(log_mass, 2) + split + theta * h * offsets
    largest = float(exponents.max())
    used = exponents > (-np.inf if is_upper else largest + _UNDERFLOW)
    weights = np.exp(np.maximum(exponents[used] - largest, _UNDERFLOW))
    places = offsets[used].astype(np.int64)
    filled, where = np.unique(places, return_inverse=True)
    folded = np.bincount(where, weights)
    total = float(folded.sum())
    return _OnLattice(middle, filled, folded / total, math.log(total) + largest)


def sum_of_products_upper(terms: Iterable[tuple[float, float]]) -> float:
    """Return the sum of products, rounded up: at an epsilon below the exact one, delta is not 0."""
    exact = sum((Fraction(x) * Fraction(times) for x, times in terms), Fraction(0))
    if exact > Fraction(sys.float_info.max):
        return math.inf
    nearest = float(exact)
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)


def _power_of_two(points: float) -> int:
    """Return so many points or more, as far as there may be."""
    size = min(max(points, float(_SMALLEST)), float(_LARGEST))
    return int(2 ** math.ceil(math.log2(size)))


def _chernoff(
    parts: list[tuple[_OnLattice, int]], h: float, distance: float, reach: float
) -> float:
    """Return at least the probability of the sum at `distance` from its centre, or further.

    Further is up if the reach, which is about that from the mean, is positive, else down.
    """
    # These are tried; about 2 _OUTSIDE / reach is the best.
    tilts = np.exp2(np.arange(-4.0, 7.0)) * math.copysign(2 * _OUTSIDE / max(abs(reach), h), reach)
    log_moments = sum(times * _log_moments(part, h, tilts) for part, times in parts)
    return math.exp(min(0.0, float((log_moments - tilts * distance).min())))


def _log_moments(part: _OnLattice, h: float, tilts: Array) -> Array:
    """Return log E exp(tilt loss) at these tilts, about the middle."""
    exponents = np.log(part.weights)[:, None] + np.outer(h * part.offsets, tilts)
    largest = exponents.max(axis=0)
    log_moments: Array = largest + np.log(np.exp(exponents - largest).sum(axis=0))
    return log_moments
