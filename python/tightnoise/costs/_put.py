"""E (k - W)^+ of the mean W of t log-normals of mean 1, from both sides, by one bent contour.

Let Y = exp(mu Z - mu^2/2), Z normal, W = (Y_1 + ... + Y_t)/t, s^2 = (exp(mu^2) - 1)/t its variance,
phi(v) = E exp(-v Y), M(v) = e^v phi(v) and psi(u) = E exp(-u (W - 1)) = M(u/t)^t. Then for c > 0

    put(k) = (1/2 pi i) int e^(u (k - 1)) psi(u)/u^2 du   over   u = c + i y.

Turned lines. Let v = r e^(i f), f >= 0. On the line Z - i g/mu, |f - g| <= pi/2,

    phi(v) = int n(z - i g/mu) exp(-v e^(-i g) e^(mu z - mu^2/2)) dz,
    |phi(v)| <= e^(g^2/(2 mu^2)) E exp(-R Y),   R = r cos(f - g).

So phi is known, and analytic, in the plane without the negative axis, and the contour may be
bent to the left, where e^(u k) vanishes. As Re v - R = -2 r sin(f - g/2) sin(g/2),

    log |M(v)| <= g^2/(2 mu^2) - 2 r sin(f - g/2) sin(g/2) + log E exp(-R (Y - 1)).

The contour is the branch u(w) = m - l sin(a - i w) of a hyperbola, w real, of bend a = b/2
(Weideman and Trefethen 2007). For w = x + i y, |y| <= a, that is a branch of bend a + y: from the
straight line of real part m to one of bend b, to the right of 0. For x >= 0 along each of them
arg u rises, the real part of u falls and |u| rises if l >= m sin b. So all above is bounded in a
cell of x by its ends; beyond the last, |u'|/|u|^2 is at most cosh x/(l (cos b sinh x)^2).

The trapezoidal rule of step h errs by at most the sum of the integrals of moduli over both edges,
over 2 pi (e^(2 pi a/h) - 1) (Trefethen and Weideman 2014). As functions of k, these, the sums of
moduli that are left out, and those of what rounding moves are mixtures of exponentials: their
logarithms are convex, and at most the line between those at both ends of a range of k.

The rule for E exp(-v (Y - q)) - 1, q = 1 or, where Re v is far below 0, q = 0. The trapezoidal
rule of step h on the line of g = min(f, S mu) errs by at most the integrals of moduli over the
lines of g -+ mu d, d = min(1, pi/(2 mu)), over e^(2 pi d/h) - 1. For S >= d + (f - pi/2)/mu,
v e^(-i g) has a real part R of at least 0 on both; they are at most e^((g/mu -+ d)^2/2) times

    1 + e^(q (Re v - R)) E exp(-q R (Y - 1)),   E exp(-R (Y - 1)) <= e^min(R, mu^2 R (R + 1)/2),

as Y - 1 >= mu Z - mu^2/2. Nodes beyond z add at most what the tails of those integrals are.

What rounding moves is summed beside, in units of each term: u, which is never below a quarter of
its parts, counts 16, in 1/u^2 twice, in the exponent by that, in v (Y - q) with 4 of its own by
that, too; w = j h is exact, h being of 24 bits. Elementary functions are taken to err by at most
2 units, sinh and cosh by 4.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise import special
from tightnoise._cached import cached_property

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_UNIT = 2.0**-53
_TILT = 1.0  # the most of g/mu, or more where the contour is bent
_EXPONENT = 44.0  # of the rule's error, which is then far below what rounding moves
_EDGE = 9.7  # deviations, or more
_BLOCK = 2**15  # numbers at once
_CLEAR = 0.1  # how far the edge keeps from 0, as a share of m
_MOST_BENT = 1.2  # where l >= m sin b
_LEAST_BENT = 1.5  # times sqrt(m/t) mu: of much more, the bounds of |psi| grow with t
_MORE_BENT = 1.5
_STEEP, _STEEPER = 4.0, 7.0  # m (k - 1), and that where W varies less than that
_LITTLE = 1.0
_LEFT_OUT = 2.0**-55  # by the step and by the cut, as a share of k, or of k - 1
_FARTHEST = 1e5  # of the last cell's end, beside 1/k, 1/s and m
_CELL = 0.05
_TURNS = np.append(0.0, np.geomspace(0.02, 1.0, 24))  # g: the best is about mu^2 r if that is small
_LEAST_RATE = 1e-4  # R, beside the nearest u/t: smaller ones as that
_RATIO = 2 ** (1 / 10)  # of R, at which log E exp(-R (Y - 1)) is known
_FAR_LEFT = -0.5  # Re v
_MOST_BESIDE = 16.0  # r, or r mu
_NARROW, _WIDE = 4.0, 16.0  # k - 1 of a range, and how many times that of the one before
_FAR_BELOW = 9.0  # deviations
_LOW, _LOWER, _LOWEST = 2.0, 5.0, 60.0  # -log k of the range about 1, and how far others go
_NOTHING = 1e-14  # of put(k)/k
_MOST_NODES = 2**13
_LANES = 16  # sums of each lane, then of all
_CELLS_TO, _SMALL_CELL = 9.0, 1 / 64  # deviations
_RATES, _LEAST_LARGEST = 60, 4.0  # and the logarithm of the last, or more
_LARGEST_EXPONENT = 700.0  # of a number
_ROUNDED = 1e-9  # logarithms of bounds are


@dataclass(frozen=True)
class PutBounds:
    """Bounds of put(k), in ranges of k."""

    ranges: tuple[_Range, ...]

    @property
    def lowest(self) -> float:
        """The least log k."""
        return self.ranges[0].ends[0]

    @property
    def highest(self) -> float:
        """The largest log k."""
        return self.ranges[-1].ends[1]

    def at(self, log_k: Array) -> tuple[Array, Array]:
        """Return the bounds."""
        places, index = np.unique(log_k, return_inverse=True)  # the end of all, often
        put, wrong = np.empty_like(places), np.empty_like(places)
        before = np.searchsorted([one.ends[1] for one in self.ranges[:-1]], places)
        for i, one in enumerate(self.ranges):
            found = before == i
            put[found], wrong[found] = one.at(places[found])
        return np.maximum(put - wrong, 0.0)[index], (put + wrong)[index]

    def call(self, log_k: Array) -> tuple[Array, Array]:
        """Return those of put(k) - (k - 1) = E (W - k)^+."""
        excess = np.expm1(log_k)
        moved = 4 * _UNIT * np.abs(excess)
        lower, upper = self.at(log_k)
        return np.maximum(lower - excess - moved, 0.0), np.maximum(upper - excess + moved, 0.0)


@dataclass(frozen=True, eq=False)
class _Range:
    """One contour, and the logarithms of k between which it is told."""

    ends: tuple[float, float]
    places: Complex  # u
    origins: Array  # q, in e^(u (k - q))
    logs: Complex  # of the weights
    log_errors: Array  # at the ends

    def at(self, log_k: Array) -> tuple[Array, Array]:
        """Return put(k) and how far it may be wrong."""
        put = np.empty_like(log_k)
        rows = max(1, _BLOCK // self.places.size)
        for i in range(0, log_k.size, rows):
            part = slice(i, i + rows)
            beside = _beside(log_k[part, None], self.origins)
            sizes = np.exp(beside * self.places.real + self.logs.real)
            put[part] = _sums(sizes * np.cos(beside * self.places.imag + self.logs.imag))
        low, high = self.ends
        share = np.expm1(log_k - low) / math.expm1(high - low)
        first, last = self.log_errors
        return put, np.exp(first + share * (last - first) + _ROUNDED)


def _beside(log_k: Array | float, origins: Array) -> Array:
    """Return k - q, to two units."""
    return np.where(origins > 0, np.expm1(log_k), np.exp(log_k))


def _sums(terms: Array) -> Array:
    """Return the sums of rows, of each lane and then of all, which rounds the less."""
    return np.asarray(terms.reshape(len(terms), _LANES, -1).sum(axis=2).sum(axis=1))


@dataclass(frozen=True)
class SmallPut:
    """E (1 - e^x W)^+ where it is small: (k - w)^+ <= e^(u (k - w))/(e u) for any u > 0."""

    mu: float
    steps: int

    def at(self, epsilons: Array) -> Array:
        """Return upper bounds: as they fall with x, that at u e^-x = 1 does beyond."""
        rates, logs = self._rates
        grown = np.maximum(np.multiply.outer(np.exp(-epsilons), rates), 1.0)
        exponents = grown * (1 + 8 * _UNIT) - 1 - np.log(grown) + logs + 8 * _UNIT * np.abs(logs)
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(exponents.min(axis=1) + _ROUNDED))

    @cached_property
    def _rates(self) -> tuple[Array, Array]:
        """u, and the logarithms of E e^(-u W), at most: of cells' lower ends."""
        places = np.arange(-_CELLS_TO, _CELLS_TO, _SMALL_CELL)
        below = np.append(
            special.ndtr(-_CELLS_TO), np.exp(special.log_ndtr_diff(places, places + _SMALL_CELL))
        )
        least = np.append(0.0, np.exp(self.mu * places - 0.5 * self.mu**2))
        largest = max(0.5 * self.mu**2 + _CELLS_TO * self.mu, _LEAST_LARGEST)
        rates = np.exp(np.linspace(-3.0, min(largest, _LARGEST_EXPONENT), _RATES))
        moments = np.exp(-np.multiply.outer(rates, least)) @ below
        moments += special.ndtr(-_CELLS_TO)
        return rates * self.steps, self.steps * np.log(moments * (1 + 1e-12))


@functools.lru_cache(maxsize=32)
def put_bounds(mu: float, steps: int, most: float) -> PutBounds | None:
    """Return the bounds from where next to nothing is left up to k - 1 = most, or None."""
    ends = [math.log1p(most)]
    while math.expm1(ends[0]) > _NARROW:
        ends.insert(0, math.log1p(math.expm1(ends[0]) / _WIDE))
    # On the left W is at most as far from 1 as a normal variable.
    left = _FAR_BELOW * math.sqrt(math.expm1(mu * mu) / steps)
    ends.insert(0, math.log1p(-min(left, -math.expm1(-_LOW))))
    small = SmallPut(mu, steps)
    while -_LOWEST < ends[0] <= -_LOW and small.at(-np.array(ends[:1]))[0] > _NOTHING:
        ends.insert(0, ends[0] - _LOWER)
    ranges = [_range(mu, float(steps), part) for part in itertools.pairwise(ends)]
    found = [one for one in ranges if one is not None]
    return PutBounds(tuple(found)) if len(found) == len(ranges) else None


def _range(mu: float, t: float, ends: tuple[float, float]) -> _Range | None:
    """Return the bounds in a range; None if it takes too many nodes."""
    low, high = map(math.exp, ends)
    deviation = math.sqrt(math.expm1(mu * mu) / t)
    scale = high if high < 1 else max(high - 1, min(deviation, 1.0) * high)
    m = (_STEEPER if high > 1 and scale < _LITTLE else _STEEP) / scale
    log_small = math.log(_LEFT_OUT * scale)
    sizes = _Sizes.of(mu, t, m, low)
    bend, most_bent = _LEAST_BENT * math.sqrt(m / t) * mu, min(_MOST_BENT, 2 * mu)
    rule = _rule(sizes, _Contour(m, min(bend, most_bent)), ends, log_small)
    while bend < most_bent:
        bend *= _MORE_BENT
        other = _rule(sizes, _Contour(m, min(bend, most_bent)), ends, log_small)
        if other.last >= rule.last:
            break
        rule = other
    if not rule.last < _MOST_NODES:
        return None
    contour, bend = rule.contour, 0.5 * rule.contour.bend
    x = rule.step * np.arange(rule.last + 1)
    u = contour.places(bend, x)
    parts = np.log(contour.slopes(bend, x)), -2 * np.log(u), math.log(rule.step / math.pi) + 0 * u
    parts[2][0] -= math.log(2)
    origins = np.where((u.real < _FAR_LEFT * t) | (high < 1), 0.0, 1.0)
    powers, log_wrong = _Moments.of(mu, t, contour.bend).log_powers(u / t, origins)
    logs = sum(parts, powers)
    beside = [_beside(end, origins) for end in ends]
    rounded = 80 + x.size / _LANES + 8 * sum(map(np.abs, parts)) + 16 * np.abs(powers)
    rounded += 16 * np.abs(u) * np.maximum(*map(np.abs, beside))
    log_sizes = np.logaddexp(np.log(_UNIT * rounded), log_wrong - powers.real) + logs.real
    errors = [np.logaddexp.reduce(log_sizes + u.real * each) for each in beside]
    pad = (0, -x.size % _LANES)
    return _Range(
        ends,
        np.pad(u, pad),
        np.pad(origins, pad),
        np.pad(logs, pad, constant_values=-math.inf),
        np.logaddexp(errors, rule.log_left_out) + _ROUNDED,
    )


@dataclass(frozen=True)
class _Contour:
    """Branches of hyperbolas, from a straight line to that of the largest bend."""

    m: float
    bend: float

    @property
    def length(self) -> float:
        """l, such that the branches keep clear of 0."""
        return (1 - _CLEAR) * self.m / math.sin(self.bend)

    def places(self, bend: float, x: Array) -> Complex:
        """Return u."""
        across = math.cos(bend) * np.sinh(x)
        return np.asarray(self.m - self.length * (math.sin(bend) * np.cosh(x) - 1j * across))

    def slopes(self, bend: float, x: Array) -> Complex:
        """Return u', over i."""
        aside = 1j * math.sin(bend) * np.sinh(x)
        return np.asarray(self.length * (math.cos(bend) * np.cosh(x) + aside))


class _Rule(NamedTuple):
    contour: _Contour
    step: float
    last: float  # node
    log_left_out: Array  # at both ends


def _rule(sizes: _Sizes, contour: _Contour, ends: tuple[float, float], log_small: float) -> _Rule:
    """Return the step and the last node that leave out about so much."""
    length, bend = contour.length, 0.5 * contour.bend
    first, last = sizes.near / length, sizes.far / length
    x = np.arange(math.ceil(math.asinh(last / first) / _CELL) + 1.0)
    x = np.arcsinh(first * np.sinh(_CELL * x))
    widths = np.append(np.diff(x), 1.0)
    left, right, inside = (
        sizes.log_cells(contour, each, x, ends) for each in (contour.bend, 0.0, bend)
    )
    logs = np.logaddexp.reduce(np.logaddexp(left, right) + np.log(widths), axis=1)
    exponent = min(max(float(logs.max()) - log_small, 1.0), _LARGEST_EXPONENT)
    step = float(np.float32(2 * math.pi * bend / exponent))
    log_step = logs - math.log(math.expm1(2 * math.pi * bend / step))
    beyond = inside + np.log(widths + step)
    beyond = np.logaddexp.accumulate(beyond[:, ::-1], axis=1)[:, ::-1]
    enough = np.flatnonzero(beyond.max(axis=0) <= log_small)
    cut = int(enough[0]) if enough.size else x.size - 1
    log_left_out = np.logaddexp(log_step, beyond[:, cut]) - math.log(math.pi)
    return _Rule(contour, step, math.floor(x[cut] / step), log_left_out)


@dataclass(frozen=True, eq=False)
class _Sizes:
    """Upper bounds of log E exp(-r (Y - 1)), which rises with r, and of log E exp(-r Y)."""

    mu: float
    t: float
    near: float
    far: float  # of |u|: cells are about even up to the one, and end at the other
    rates: Array  # r
    log_moments: Array
    log_transforms: Array

    @classmethod
    def of(cls, mu: float, t: float, m: float, low: float) -> _Sizes:
        """Return the bounds that are wanted with such a contour."""
        deviation = math.sqrt(math.expm1(mu * mu) / t)
        near, far = min(m, 1 / deviation), _FARTHEST * max(m, 1 / deviation, 1 / low)
        least, most = _LEAST_RATE * near / t, far / t
        rates = least * _RATIO ** np.arange(math.ceil(math.log(most / least, _RATIO)) + 1.0)
        # Beyond, e^(r (1 - Y)) may be no number.
        origins = np.where(rates <= _MOST_BESIDE / min(mu, 1.0), 1.0, 0.0)
        found, wrong = _Moments.of(mu, t, 0.0).moments(rates.astype(np.complex128), origins)
        logs = np.log1p(found.real + wrong) + _ROUNDED / t
        transforms = np.minimum.accumulate(np.minimum(logs - rates * origins, 0.0))
        return cls(mu, t, near, far, rates, logs + rates * (1 - origins), transforms)

    def log_cells(
        self, contour: _Contour, bend: float, x: Array, ends: tuple[float, float]
    ) -> Array:
        """Return, at both ends of log k, logarithms of bounds of what is summed in cells.

        Of the one beyond the last of x, of its integral, and of its value there, too.
        """
        u, t = contour.places(bend, x), self.t
        highest, angles = u.real, np.append(np.angle(u), 0.5 * math.pi + bend)
        lowest = np.append(highest[1:], -math.inf)
        start, end, size = angles[:-1, None], angles[1:, None], np.abs(u)[:, None] / t
        after = np.append(size[1:], [[math.inf]], axis=0)
        least = np.maximum(end - 0.5 * math.pi, 0.0)
        usual = np.minimum(self.mu**2 * size, 1.0)
        turns = least + np.maximum(start - least, 0.0) * usual * _TURNS
        falls = np.minimum(np.sin(start - 0.5 * turns), np.sin(end - 0.5 * turns))
        before, behind = np.cos(start - turns), np.maximum(np.cos(end - turns), 0.0)
        largest = after * np.where(turns <= start, before, 1.0)
        moments = np.append(self.log_moments, math.inf)[np.searchsorted(self.rates, largest)]
        index = np.searchsorted(self.rates, size * np.minimum(before, behind), "right")
        transforms = np.append(0.0, self.log_transforms)[index]
        grown = turns**2 / (2 * self.mu**2)
        # Where large terms cancel, what rounding takes off is added.
        beside = grown - 2 * np.where(falls < 0, after, size) * falls * np.sin(0.5 * turns)
        beside += moments + 32 * _UNIT * (grown + 2 * size + np.abs(moments))
        alone = grown + transforms + 8 * _UNIT * (grown - transforms)
        psi, phi = (t * part.min(axis=1) for part in (beside, alone))
        psi += 8 * _UNIT * np.abs(np.append(u[1:], math.inf))
        slopes = np.log(np.abs(contour.slopes(bend, x[1:]))) - 2 * np.log(t * size[:-1, 0])
        far = contour.length * (math.cos(bend) * math.sinh(x[-1])) ** 2
        shares = np.append(slopes, math.log(math.cosh(x[-1]) / far))
        logs = [
            np.minimum(
                (highest if end > 0 else lowest) * math.expm1(end) + psi,
                highest * math.exp(end) + phi,
            )
            for end in ends
        ]
        return np.asarray(logs + shares + _ROUNDED)


@dataclass(frozen=True, eq=False)
class _Moments:
    """The trapezoidal rule for E exp(-v (Y - q)) - 1, and powers by it."""

    mu: float
    t: float
    tilt: float
    apart: float  # d
    exponent: float  # 2 pi d/h
    nodes: Array
    weight: float

    @classmethod
    def of(cls, mu: float, t: float, bend: float) -> _Moments:
        """Return the rule for contours of at most that bend."""
        d = min(_TILT, math.pi / (2 * mu))
        tilt = max(_TILT, 0.5 * bend / mu + d) * (1 + 1e-9)
        exponent = _EXPONENT + 0.5 * (tilt + d) ** 2 + math.log(t)
        step = 2 * math.pi * d / exponent
        half = math.ceil(math.sqrt(_EDGE**2 + 2 * math.log(t)) / step)
        half += (_LANES // 2 - 1 - half) % (_LANES // 2)
        nodes = step * (np.arange(-half, half + 2.0) - 0.5)  # as many as make lanes
        return cls(mu, t, tilt, d, exponent * (1 - 1e-9), nodes, step / math.sqrt(2 * math.pi))

    def log_powers(self, v: Complex, origins: Array) -> tuple[Complex, Array]:
        """Return logarithms of E exp(-v (Y - q)) to the t, and those of its errors."""
        g, e = self.moments(v, origins)
        g[g == -1] += _UNIT  # within the error
        near = 0.5 * np.log1p(np.maximum(2 * g.real + np.abs(g) ** 2, -0.9))
        log = np.where(np.abs(g) < 0.5, near, np.log(np.abs(1 + g))) + 1j * np.angle(1 + g)
        # What is added to 1 must not be lost: it counts t times.
        most = log.real + np.log1p(e / np.abs(1 + g))
        return self.t * log, np.log(self.t * e) + (self.t - 1) * most + _ROUNDED

    def moments(self, v: Complex, origins: Array) -> tuple[Complex, Array]:
        """Return E exp(-v (Y - q)) - 1 and bounds of its errors, some at once."""
        g, e = np.empty_like(v), np.empty(v.shape)
        rows = max(1, _BLOCK // self.nodes.size)
        for i in range(0, v.size, rows):
            part = slice(i, i + rows)
            g[part], e[part] = self._some(v[part], origins[part])
        return g, e

    def _some(self, v: Complex, origins: Array) -> tuple[Complex, Array]:
        """Return sums of e^w - 1 times normal densities."""
        z, shift = self.nodes[None, :], np.minimum(np.angle(v) / self.mu, self.tilt)[:, None]
        grown, turn, q = self.mu * z - 0.5 * self.mu**2, self.mu * shift, origins[:, None]
        real, imag = v.real[:, None], v.imag[:, None]
        scale = np.exp(grown)
        y = np.expm1(grown) * np.cos(turn) - 2 * np.sin(0.5 * turn) ** 2
        y = np.where(q > 0, y, scale * np.cos(turn))
        across = scale * np.sin(turn)  # w = -v (y - i across)
        exponent = real * y + imag * across
        grows = np.expm1(-exponent)
        half = 0.5 * (real * across - imag * y)
        sine, rise = np.sin(half), grows + 1  # of e^w
        along, aside = grows - 2 * rise * sine * sine, 2 * rise * sine * np.cos(half)
        normal = np.exp(-0.5 * z * z) * self.weight
        density = np.exp(0.5 * shift[:, 0] ** 2)
        cosine, turned = np.cos(shift * z), np.sin(shift * z)
        terms_real = _sums((along * cosine - aside * turned) * normal)
        terms_imag = _sums((along * turned + aside * cosine) * normal)
        sizes = np.sqrt(along * along + aside * aside)
        # Sums beside: of what moves y and across, of v, and of each term.
        far, normal = np.abs(z[0]), normal[0]
        apart = (16 + self.mu * (3 * far + self.mu)) * scale[0] * normal
        moved = np.abs(v) * (rise @ apart + 16 * origins * (rise @ normal))
        moved += 20 * ((rise * (np.abs(exponent) + 2 * np.abs(half))) @ normal)
        each = (48 + _LANES + z.size / _LANES + 2 * far * far) * normal
        moved += sizes @ each + 2 * shift[:, 0] * (sizes @ (far * normal))
        moved += 2 * shift[:, 0] ** 2 * (sizes @ normal)
        error = self._missed(v, shift[:, 0], origins)
        return density * (terms_real + 1j * terms_imag), _UNIT * density * moved + error

    def _missed(self, v: Complex, shift: Array, origins: Array) -> Array:
        """Return what the step and the nodes left out add."""
        total = np.zeros(v.shape)
        for side in (-self.apart, self.apart):
            least, log_grown = self._grown(v, shift + side, origins)
            log_most = (
                log_grown + np.minimum(least, 0.5 * self.mu**2 * least * (least + 1)) * origins
            )
            total += np.exp(0.5 * (shift + side) ** 2) * (1 + np.exp(log_most))
        total /= math.expm1(self.exponent)
        least, log_grown = self._grown(v, shift, origins)
        end, moved = float(self.nodes[-1]), self.mu * least * origins
        log_tail = float(special.log_ndtr(-end))
        left = 0.5 * moved * (moved + self.mu) + special.log_ndtr(moved - end)
        left = np.where(
            moved < end, np.minimum(left, least * origins + log_tail), least * origins + log_tail
        )
        with np.errstate(over="ignore"):
            tails = 2 * math.exp(log_tail) + np.exp(log_grown + np.logaddexp(left, log_tail))
        return np.asarray((total + np.exp(0.5 * shift**2) * tails) * (1 + _ROUNDED))

    def _grown(self, v: Complex, shift: Array, origins: Array) -> tuple[Array, Array]:
        """Return R, and q (Re v - R)."""
        least = np.maximum(np.abs(v) * np.cos(np.angle(v) - self.mu * shift), 0.0)
        return least, origins * (v.real - least)
