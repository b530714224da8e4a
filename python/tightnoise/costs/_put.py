"""E (k - W)^+ of the mean W of t log-normals of mean 1, from both sides, by one contour.

Let Y = exp(mu Z - mu^2/2), Z normal, W = (Y_1 + ... + Y_t)/t, s^2 = (exp(mu^2) - 1)/t its variance,
M(v) = E exp(-v (Y - 1)) and psi(u) = E exp(-u (W - 1)) = M(u/t)^t for Re u > 0. Then for c > 0

    put(k) = (1/2 pi i) int e^(u (k - 1)) psi(u)/u^2 du   over   u = c + i y.

Images. The sum over y = 2 pi j/L, divided by L, is sum over m of e^(-c m L) put(k + m L): Poisson's
formula, as e^(-c k) put(k) is continuous, falls exponentially, and its transform like 1/y^2. Of
m >= 1, put(a) = a - 1 + E (W - a)^+: the first is summed in closed form, and E (W - a)^+ <=
s^2/(4 (a - 1)) (Scarf 1958). Of m <= -1, with any d > c, (a - w)^+ <= e^(d (a - w))/(d e), so
that together they are at most e^(d (k - 1)) psi(d)/(d e) r/(1 - r), r = e^(-(d - c) L).

Turned lines. For v = a + i b, b >= 0, and 0 <= g <= arg v, on the line Z - i g/mu

    E exp(-v Y) = int n(z - i g/mu) exp(-v e^(-i g) e^(mu z - mu^2/2)) dz,
    |E exp(-v Y)| <= e^(g^2/(2 mu^2)) E exp(-(a cos g + b sin g) Y).

The right side falls with b. So e^c times its t-th power, at v = u/t and the last frequency y,
bounds |psi| from there on; of J frequencies what is left is at most e^(c (k - 1)) times that over
pi y (1 - 1/J).

The rule for M - 1. With g = min(arg v, mu) the trapezoidal rule of step h on that line is wrong by
at most 2 e^((1 + d)^2/2) (1 + e^a)/(e^(2 pi d/h) - 1), d = min(1, pi/(2 mu)): on the lines of g -+
mu d, v e^(-i g) still has a real part of at least 0. Nodes beyond z add at most (1 + e^a) e^(1/2) 2
P(Z > z). Where frequencies are many, E exp(-v Y) is read between Chebyshev points of octaves. On
the ellipse of rho about one, arg v is at most pi/2 + g, and its modulus e^(g^2/(2 mu^2)); N + 1
points err by 4 rho^-N/(rho - 1) times that, and by their own errors times Lebesgue's constant
(Trefethen, "Approximation Theory and Approximation Practice", chapters 8 and 15).

What rounding moves is summed beside: of an exponent w it is a part of e^w, and the frequencies are
multiples of a number of 24 bits, exactly. Those are summed in runs, e^(i (m + j) x) = e^(i m x)
e^(i j x): three units more for each number of a run, of whose products there are two for each part
of a complex number, and some for the rest.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise import special
from tightnoise._cached import cached_property

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_UNIT = 2.0**-53
_TILT = 1.0  # the most of g/mu
_EXPONENT = 44.0  # of the rule's error, which is then far below what frequencies leave out
_EDGE = 9.7  # deviations, or more
_BEYOND = 2.0**-58  # of the period: frequencies that are left out, a part of what is rounded
_MOST_FREQUENCIES = 2**17
_COUNTS = np.unique(np.geomspace(8, _MOST_FREQUENCIES, 70).astype(int))
_DIRECT = 1024  # frequencies; others between Chebyshev points of so high a degree,
_DEGREE, _STRETCH = 40, 3.0  # with Bernstein ellipses of that
_LEBESGUE = 4.0  # more than 2/pi log(degree + 1) + 1
_BLOCK = 2**15  # numbers at once
_RUN = 32  # frequencies
_LEAST_ROWS, _PRODUCT = 4, 2**15  # epsilons at once: products so small are not given to threads
_CELLS_TO, _CELL = 9.0, 1 / 64  # deviations
_RATES = 60
_STEEPEST = 5.0  # d/c
_LARGEST_EXPONENT = 700.0  # of a number
_MOST_TILTED = 600.0 / _STEEPEST  # c/t: e^(-d/t), and the rule's error, are numbers


@dataclass(frozen=True, eq=False)
class PutBounds:
    """Bounds of put(k) where k - 1 is at most `most`."""

    most: float
    deviation: float
    period: float
    places: Complex  # u
    weights: Complex  # psi(u)/(u^2 L), twice off the real axis
    error: float  # of all terms, without their e^(c (k - 1))
    below: tuple[float, float]  # of the images below: the logarithm at k = 1, and d

    def at(self, excess: Array) -> tuple[Array, Array]:
        """Return the bounds, less k - 1: those of E (W - k)^+."""
        total = np.empty_like(excess)
        rows = max(_LEAST_ROWS, _PRODUCT // self._runs.size)
        for i in range(0, excess.size, rows):
            part = slice(i, i + rows)
            total[part] = self._sum(excess[part])
        call = total - self._images(excess) - excess
        below, above = self._errors(excess)
        return np.maximum(call - below, 0.0), np.maximum(call + above, 0.0)

    def apart(self, excess: Array) -> Array:
        """Return how far both bounds are apart, were they not cut off at 0."""
        below, above = self._errors(excess)
        return below + above

    def _images(self, excess: Array) -> Array:
        step = math.exp(-float(self.places[0].real) * self.period)
        return step / (1 - step) * (excess + self.period / (1 - step))

    def _errors(self, excess: Array) -> tuple[Array, Array]:
        """Return how far what is summed may be above the truth, and below it."""
        c, (size, turn) = float(self.places[0].real), self._sizes
        error = self.error + _UNIT * (
            (64 + 3 * self._runs.shape[0]) * size + 8 * np.abs(excess) * turn
        )
        error = np.exp(c * excess) * error * (1 + 1e-9)
        error += 8 * _UNIT * (self._images(excess) + np.abs(excess))
        step = math.exp(-c * self.period)
        above = step / (1 - step) * self.deviation**2 / (4 * (excess + self.period))
        log_below, rate = self.below
        below = np.exp(np.minimum(log_below + rate * excess, _LARGEST_EXPONENT))
        return error + above + below, error

    @cached_property
    def _sizes(self) -> tuple[float, float]:
        """The sums of the moduli of the weights, and of their products with the places."""
        moduli = np.abs(self.weights)
        return float(moduli.sum()), float((moduli * np.abs(self.places)).sum())

    @cached_property
    def _runs(self) -> Complex:
        """The weights in runs, the columns of a matrix; zeros at the end."""
        length = math.isqrt(self.places.size - 1) + 1
        weights = np.zeros(length * length, dtype=np.complex128)
        weights[: self.weights.size] = self.weights
        return np.ascontiguousarray(weights.reshape(length, length).T)

    def _sum(self, excess: Array) -> Array:
        """Return the sums of weights times e^(u (k - 1)), real parts.

        The frequencies are multiples of one: exponentials of where each run starts, and of the
        places within a run, do for all.
        """
        length = self._runs.shape[0]
        within = float(self.places[1].imag) * np.arange(float(length))
        inner, starts = (
            np.exp(1j * np.multiply.outer(excess, step * within)) for step in (1.0, length)
        )
        total = ((inner @ self._runs) * starts).real.sum(axis=1)
        return np.asarray(np.exp(float(self.places[0].real) * excess) * total)


@dataclass(frozen=True)
class SmallPut:
    """E (1 - e^x W)^+ where it is small: (k - w)^+ <= e^(u (k - w))/(e u) for any u > 0."""

    mu: float
    steps: int

    def at(self, epsilons: Array) -> Array:
        """Return upper bounds."""
        rates, logs = self._rates
        grown = np.multiply.outer(np.exp(-epsilons), rates)
        exponents = grown * (1 + 8 * _UNIT) + logs + 8 * _UNIT * np.abs(logs)
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(epsilons + exponents.min(axis=1) + 1e-9))

    @cached_property
    def _rates(self) -> tuple[Array, Array]:
        """u, and the logarithms of E e^(-u W)/(e u), at most: of cells' lower ends."""
        places = np.arange(-_CELLS_TO, _CELLS_TO, _CELL)
        below = np.append(
            special.ndtr(-_CELLS_TO), np.exp(special.log_ndtr_diff(places, places + _CELL))
        )
        least = np.append(0.0, np.exp(self.mu * places - 0.5 * self.mu**2))
        largest = 0.5 * self.mu**2 + _CELLS_TO * self.mu
        rates = np.exp(np.linspace(-3.0, min(largest, _LARGEST_EXPONENT), _RATES))
        moments = np.exp(-np.multiply.outer(rates, least)) @ below
        moments += special.ndtr(-_CELLS_TO)
        logs = self.steps * np.log(moments * (1 + 1e-12)) - np.log(rates * self.steps) - 1
        return rates * self.steps, np.asarray(logs)


@functools.lru_cache(maxsize=32)
def put_bounds(mu: float, steps: int, most: float) -> PutBounds | None:
    """Return the bounds; None if they take too many frequencies."""
    t = float(steps)
    deviation = math.sqrt(math.expm1(mu * mu) / t)
    step = float(np.float32(2 * math.pi / (12 * most)))
    period = 2 * math.pi / step
    c = 40 / period
    if c > _MOST_TILTED * t:
        return None
    rule = _Rule.of(mu, t, c)
    for count in _COUNTS.tolist():
        y = step * (count - 1)
        log_size = min(rule.log_psi_upper(c, y), _LARGEST_EXPONENT)
        beyond = math.exp(log_size) / (math.pi * y * (1 - 1 / count)) * (1 + 1e-9)
        if beyond <= _BEYOND * period:
            break
    else:
        return None
    places = np.asarray(c + 1j * (step * np.arange(count)), dtype=np.complex128)
    psi, wrong = rule.psi(places)
    weights = np.asarray(psi / (places**2 * period), dtype=np.complex128)
    weights[1:] *= 2
    error = 2 * float((wrong / np.abs(places) ** 2).sum()) / period + beyond
    return PutBounds(
        most, deviation, period, places, weights, error, _below(mu, t, c, period, most)
    )


def _below(mu: float, t: float, c: float, period: float, most: float) -> tuple[float, float]:
    if period > 1 + most:
        return -math.inf, 0.0  # k - L < 0
    rates = np.geomspace(1.5 * c, _STEEPEST * c, 60)
    rule = _Rule.of(mu, t, float(rates[-1]))
    apart = (rates - c) * period
    psi = np.array([rule.log_psi_upper(rate, 0.0) for rate in rates.tolist()])
    logs = psi - np.log(rates) - 1 - apart - np.log1p(-np.exp(-apart)) + 1e-9
    best = int(np.argmin(logs + rates * most))
    return float(logs[best]), float(rates[best])


@dataclass(frozen=True, eq=False)
class _Rule:
    """The trapezoidal rule for M - 1, and psi by it."""

    mu: float
    t: float
    nodes: Array
    weight: float
    error: float  # without 1 + e^a

    @classmethod
    def of(cls, mu: float, t: float, c: float) -> _Rule:
        d = min(_TILT, math.pi / (2 * mu))
        exponent = _EXPONENT + 0.5 * (_TILT + d) ** 2 + math.log(t) + c / t
        step = 2 * math.pi * d / exponent
        edge = math.sqrt(_EDGE**2 + 2 * (c / t + math.log(t)))
        half = math.ceil(edge / step)
        error = 2.1 * math.exp(0.5 * (_TILT + d) ** 2 - exponent)
        error += 2 * math.exp(0.5 * (_TILT**2 - edge * edge)) / edge
        nodes = step * np.arange(-half, half + 1.0)
        return cls(mu, t, nodes, step / math.sqrt(2 * math.pi), error)

    def psi(self, u: Complex) -> tuple[Complex, Array]:
        """Return psi and bounds of its errors."""
        v = u / self.t
        g, e = self._moments(v[:_DIRECT])
        first = float(v[-1].imag) + 1.0 if v.size <= _DIRECT else float(v[_DIRECT].imag)
        while first <= v[-1].imag:
            inside = (v.imag >= first) & (v.imag <= 2 * first)
            more, wrong = self._in_octave(float(v[0].real), first, v[inside].imag)
            g, e = np.append(g, more), np.append(e, np.full(more.size, wrong))
            first = float(v[g.size].imag) if g.size < v.size else math.inf
        g[g == -1] += _UNIT  # within the error
        near = 0.5 * np.log1p(np.maximum(2 * g.real + np.abs(g) ** 2, -0.9))
        log = np.where(np.abs(g) < 0.5, near, np.log(np.abs(1 + g))) + 1j * np.angle(1 + g)
        psi = np.exp(self.t * log)
        # What is added to 1 must not be lost: it counts t times.
        most = log.real + np.log1p(e / np.abs(1 + g))
        log_moved = np.log(self.t * e) + (self.t - 1) * most
        moved = np.exp(np.minimum(log_moved, _LARGEST_EXPONENT))
        return psi, (moved + 16 * _UNIT * self.t * np.abs(log) * np.abs(psi)) * (1 + 1e-9)

    def _moments(self, v: Complex) -> tuple[Complex, Array]:
        """Return M - 1 and bounds of its errors, some at once."""
        g, e = np.empty_like(v), np.empty(v.shape)
        rows = max(1, _BLOCK // self.nodes.size)
        for i in range(0, v.size, rows):
            part = slice(i, i + rows)
            g[part], e[part] = self._moment(v[part])
        return g, e

    def _in_octave(self, a: float, first: float, b: Array) -> tuple[Complex, float]:
        """Return M - 1 at a + i b, first <= b <= 2 first, by its values at Chebyshev points."""
        nodes = np.cos(np.pi * np.arange(_DEGREE + 1.0) / _DEGREE)
        places = np.asarray(a + 0.5j * first * (3 + nodes))
        moments, wrong = self._moments(places)
        values = np.exp(-places) * (1 + moments)
        signs = (-1.0) ** np.arange(_DEGREE + 1)
        signs[[0, -1]] *= 0.5
        apart = np.subtract.outer(2 * b / first - 3, nodes)
        apart[apart == 0] = _UNIT**2
        shares = signs / apart
        found = np.asarray(np.exp(a + 1j * b) * ((shares @ values) / shares.sum(axis=1)) - 1)
        half = 0.5 * first
        beside = half * (_STRETCH - 1 / _STRETCH) / 2
        turn = math.atan2(beside, first - half * ((_STRETCH + 1 / _STRETCH) / 2 - 1))
        size = math.exp(min(a + 0.5 * (turn / self.mu) ** 2, _LARGEST_EXPONENT))
        missed = 4 * size * _STRETCH**-_DEGREE / (_STRETCH - 1)
        rounded = _UNIT * ((8 * _DEGREE + 8 * first) * float(np.abs(1 + moments).max()) + 8)
        return found, _LEBESGUE * (float(wrong.max()) + rounded) * (1 + 1e-9) + missed

    def _moment(self, v: Complex) -> tuple[Complex, Array]:
        """Return M - 1 and bounds of its errors: sums of e^w - 1 times normal densities."""
        z, shift = self.nodes[None, :], np.minimum(np.angle(v) / self.mu, _TILT)[:, None]
        grown, turn = self.mu * z - 0.5 * self.mu**2, self.mu * shift
        real, imag = v.real[:, None], v.imag[:, None]
        scale = np.exp(grown)
        y = np.expm1(grown) * np.cos(turn) - 2 * np.sin(0.5 * turn) ** 2  # Y - 1, less i times
        across = scale * np.sin(turn)  # this
        grows = np.expm1(-(real * y + imag * across))
        half = 0.5 * (real * across - imag * y)
        sine, rise = np.sin(half), grows + 1  # of e^w
        along, aside = grows - 2 * rise * sine * sine, 2 * rise * sine * np.cos(half)
        normal = np.exp(-0.5 * z * z) * self.weight
        cosine, turned = self._turned(shift)
        terms_real = ((along * cosine - aside * turned) * normal).sum(axis=1)
        terms_imag = ((along * turned + aside * cosine) * normal).sum(axis=1)
        sizes = np.sqrt(along * along + aside * aside) * normal
        moved = (rise * (((8 + 2 * np.abs(grown)) * scale + 8) * normal)).sum(axis=1)
        moved = np.abs(v) * moved + (sizes * (96 + 2 * z * z)).sum(axis=1)
        moved += 2 * shift[:, 0] ** 2 * sizes.sum(axis=1)
        density = np.exp(0.5 * shift[:, 0] ** 2)
        moment = density * (terms_real + 1j * terms_imag)
        return moment, _UNIT * density * moved + self.error * (1 + np.exp(v.real))

    def _turned(self, shift: Array) -> tuple[Array, Array]:
        """Return cosines and sines of the nodes times each shift, by runs as above."""
        starts, within = self.nodes[::_RUN], self.nodes[:_RUN] - self.nodes[0]
        starts, within = np.exp(1j * shift * starts), np.exp(1j * shift * within)
        both = (starts[:, :, None] * within[:, None, :]).reshape(shift.size, -1)
        return both.real[:, : self.nodes.size], both.imag[:, : self.nodes.size]

    def log_psi_upper(self, c: float, y: float) -> float:
        """Return the logarithm of a bound on |psi(c + i b)|, for all b from y on."""
        # The best turn is about mu^2 y/t, be that small or large.
        turns = np.append(0.0, math.atan2(y, c) * np.geomspace(1e-9, 1.0, 90))
        v = (c * np.cos(turns) + y * np.sin(turns))[:, None] / self.t
        terms = np.exp(-v * np.exp(self.mu * self.nodes - 0.5 * self.mu**2) - 0.5 * self.nodes**2)
        moment = self.weight * terms.sum(axis=1) * (1 + 1e-12) + self.error
        return float(c + self.t * (turns**2 / (2 * self.mu**2) + np.log(moment)).min() + 1e-9)
