"""E (W - k)^+ far out, W the mean of t log-normals of mean 1, from both sides.

`_put` has the notation: Y = exp(mu Z - mu^2/2), M(v) = E exp(-v (Y - 1)), psi(u) = M(u/t)^t; n is
the normal density. There small values lose their digits in k - 1. Here none is subtracted.

The path. From arg v = pi/2 on M(v) is the integral of n(z) exp(-v (Y_z - 1)) along the real axis up
to x, straight down to x - i pi/mu and then to the right: between both ways the real part of v Y_z
is at least 0 far to the right. That goes on to arg v < 3 pi/2. For v = -a, a > 0, it is a real
integral and two that are not: V, down, and H, to the right. By the mirror image of the path, from
below, it is the conjugate.

The jump. psi is 1 + O(u^2) at 0 for |arg u| <= pi, and bounded in vertical strips. So the upper
half of put's contour may go along the negative axis to -R and up from there, the lower half like
its mirror image; the pole at 0 leaves k - 1. As u = -r on the axis,

    E (W - k)^+ = (1/pi) int_0^R e^(-r (k - 1)) F(r) dr/r^2 + (what goes up from -R),
    F(r) = -Im M(-r/t)^t, from above, which V and H alone make.

On the way up, Re v = -a, a = R/t, the bounds of M below are largest where it starts: of v Y_z the
real part is -Y_x (a cos(mu y) - b sin(mu y)), b >= 0. That part is at most B(a)^t e^(-R (k -
1))/(2 R).

Bounds, for |arg a| <= beta, of M from both sides, and of half their difference. The integral up to
x is the same. As E Y = 1, and |e^w - 1 - w| is at most g(w), the lesser of e^|w| - 1 - |w| and
|w|^2 max(1, e^(Re w))/2, its modulus is no more than

    1 + int_(z<x) n max(g(|a| (Y - 1))) dz + int_(z>x) n (1 + |a| |Y - 1|) dz,

that of V than e^(-Re a) n(x) int_0^(pi/mu) e^(y^2/2 + |a| Y_x cos(max(mu y - beta, 0))) dy, that
of H than e^(-(1 + Y_x) Re a + (pi/mu)^2/2) P(Z > x). B is the sum of all, D that of the last two:
|F| <= t B^(t-1) D. The integrals are bounded by cells.

The rules are Gauss-Legendre's: N nodes in a panel of half-length h err by at most (64/15) h S
rho^(-2N)/(1 - rho^-2), S the largest integrand on the Bernstein ellipse of rho (Trefethen,
"Approximation Theory and Approximation Practice", Theorem 19.3). Panels are of log r, and of z. An
error of M's real part moves F by t |M|^(t-1) min(1, (t - 1) |arg M|) times that, one of its
imaginary part by t |M|^(t-1) times that.

Below the first panel, at a = e^-l, l >= mu, the path with x = l/mu has Y_x a <= 1, so that V and H
are at most e^((pi/mu)^2/2) (e pi/mu + 1) n(l/mu) together. What is left out is at most

    e^((pi/mu)^2/2) (e pi/mu + 1) mu e^(mu^2/2) P(Z > (l - mu^2)/mu) B^(t-1)/pi.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from tightnoise import special
from tightnoise._cached import cached_property

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_UNIT = 2.0**-53
_ROOT = 1 / math.sqrt(2 * math.pi)
_RHO = 4.0
_WIDE, _HIGH = (
    (_RHO + 1 / _RHO) / 2,
    (_RHO - 1 / _RHO) / 2,
)  # half-axes of an ellipse, by h
_LEAST_NODES, _MOST_NODES = 12, 80  # of a panel of log r
_HALF, _NARROW = 0.25, 0.5  # its half-length, or that over r deviations of W
_INNER_NODES, _INNER_HALF, _TURNS = 24, 0.5, 8  # of panels of z, and how many go down
_STEM, _RIGHT = 9.5, 8.0  # deviations to the left, and from x to the right
_CELLS, _DOWN_CELLS = 0.02, 256
_LOG_REST = -100.0  # of what is below the first panel
_ROUNDED = 1e-9  # logarithms of bounds are
_BITS = 120  # of numbers in fixed point
_STARTS = (4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 16.0, 20.0, 28.0, 40.0)  # deviations of W
_ENDS = np.geomspace(0.05, 20.0, 80)  # R, in units of one over the deviation
_LOG_CLOSE, _LOG_NOTHING = (
    -25.0,
    -50.0,
)  # of what goes up from R, beside the least call, or of itself
_LOG_EXACT = -32.0  # of a rule's error, beside the least call
_CLOSE, _NOTHING = 1e-8, 1e-22  # bounds are no farther apart, relative or absolute, from there on
_LEAST_LOG = -700.0
_LEAST_MU, _MOST_MU = 0.02, 6.5  # noise of less, or more, leaves next to nothing to tell
_MOST_PANELS = 400
_ROWS = 16  # epsilons at once
_GONE = 100.0  # of r (k - 1), from where on terms are left out
_FARTHEST = 1e200  # no call is larger farther out


@dataclass(frozen=True, eq=False)
class CallBounds:
    """Bounds of E (W - k)^+ where k - 1 is at least `least`."""

    least: float
    rates: Array  # r, rising
    weights: Array  # of e^(-r (k - 1))
    error_rates: Array
    errors: Array  # the same of what may be wrong
    rest: float

    def at(self, excess: Array) -> tuple[Array, Array]:
        """Return the bounds at values of k - 1, known to two units."""
        excess = np.minimum(excess, _FARTHEST)
        call = np.empty_like(excess)
        for i in range(0, excess.size, _ROWS):
            part = slice(i, i + _ROWS)
            end = int(np.searchsorted(self.rates, _GONE / excess[part].min(), side="right"))
            terms = np.exp(np.multiply.outer(excess[part], -self.rates[:end]))
            call[part] = terms @ self.weights[:end]
        before = np.searchsorted(self._places, excess, side="right") - 1
        wrong = self._wrong[np.maximum(before, 0)]
        return np.maximum(call - wrong, 0.0), call + wrong

    @property
    def apart(self) -> float:
        """The most that both bounds are apart, were they not cut off at 0."""
        return 2 * float(self._wrong[0])

    @cached_property
    def _places(self) -> Array:
        """Where errors are known, which fall: (32 + 8 z) e^-z does."""
        return np.append(self.least * np.geomspace(1.0, 1e12, 1000), _FARTHEST)

    @cached_property
    def _wrong(self) -> Array:
        turned = np.multiply.outer(self._places, self.rates)
        each = (2 * self.rates.size + 32 + 8 * turned) * np.exp(-turned)
        rounded = _UNIT * (each @ np.abs(self.weights))
        wrong = np.exp(np.multiply.outer(self._places, -self.error_rates)) @ self.errors
        gone = math.exp(-_GONE) * float(np.abs(self.weights).sum())
        return np.asarray((rounded + wrong + gone + self.rest) * (1 + 1e-9))


@functools.lru_cache(maxsize=32)
def call_bounds(mu: float, steps: int) -> CallBounds | None:
    """Return the bounds; None where they say little."""
    if not _LEAST_MU < mu < _MOST_MU:
        return None
    jump = _Jump(mu, float(steps))
    with np.errstate(over="ignore", invalid="ignore"):
        found = jump.start()
        if found is None:
            return None
        least, end, log_up = found
        panels: list[tuple[Array, ...]] = [(np.zeros(0),) * 4]
        first, scale = jump.first_rate(), end
        while scale > first and len(panels) < _MOST_PANELS:
            half = min(_HALF, _NARROW / (scale * jump.deviation))
            panels.append(jump.panel(scale * math.exp(-half), half, least))
            scale *= math.exp(-2 * half)
        rates, weights, error_rates, errors = map(np.concatenate, zip(*panels, strict=True))
        rest = jump.rest(scale)
    order = np.argsort(rates)
    rates, weights = rates[order], weights[order]
    error_rates, errors = np.append(error_rates, end), np.append(errors, math.exp(log_up))
    if not math.isfinite(rest + float(errors.sum()) + float(np.abs(weights).sum())):
        return None
    bounds = CallBounds(least, rates, weights, error_rates, errors, rest)
    starts = np.array([start * jump.deviation for start in _STARTS])
    lower, upper = bounds.at(starts)
    told = (starts >= least) & (upper - lower <= np.maximum(_CLOSE * upper, _NOTHING))
    return replace(bounds, least=float(starts[np.argmax(told)])) if told.any() else None


def log_call_least(mu: float, steps: float, excess: float) -> float:
    """Return about the logarithm of E (Y - t (k - 1) - 1)^+/t: no more than the call."""
    log_strike = math.log1p(steps * excess)
    d = 0.5 * mu - log_strike / mu
    log_first = float(special.log_ndtr(d))
    log_second = log_strike + float(special.log_ndtr(d - mu))
    fall = -math.expm1(min(log_second - log_first, -1e-12))
    return max(log_first + math.log(fall) - math.log(steps), _LEAST_LOG)


@functools.lru_cache(maxsize=128)
def _gauss_legendre(count: int) -> tuple[Array, Array]:
    """Return nodes and weights, to a unit each.

    By steps of Newton's method in fixed point: formulas for weights at nodes that are rounded, such
    as `leggauss` takes, are wrong by up to count^3/6 units near the ends.
    """
    one = 1 << _BITS
    nodes, weights = [], []
    for start in leggauss(count)[0][count // 2 :].tolist():
        x = int(start * float(one))
        for _ in range(2):
            before, value = one, x
            for k in range(2, count + 1):
                grown = (2 * k - 1) * (x * value >> _BITS)
                before, value = value, (grown - (k - 1) * before) // k
            beside = one - (x * x >> _BITS)
            slope = (count * (before - (x * value >> _BITS)) << _BITS) // beside
            node, weight = x / one, 2 * one**3 / (beside * slope * slope)
            x -= (value << _BITS) // slope
        nodes.append(node)
        weights.append(weight)
    skipped = count % 2  # the one in the middle is not its own mirror image
    left = [-node for node in nodes[skipped:][::-1]]
    return np.array(left + nodes), np.array(weights[skipped:][::-1] + weights)


class _Panels:
    """Gauss-Legendre's rule in panels of at most a half-length."""

    def __init__(self, start: float, end: float, half: float) -> None:
        nodes, weights = _gauss_legendre(_INNER_NODES)
        count = max(1, math.ceil((end - start) / (2 * half) - 1e-9))
        self.half = (end - start) / (2 * count)
        self.middles = start + self.half * (2 * np.arange(float(count)) + 1)
        self.places = (self.middles[:, None] + self.half * nodes).ravel()
        self.weights = np.tile(self.half * weights, count)
        self.reach, self.aside = self.half * _WIDE, self.half * _HIGH

    def error(self, logs: Array) -> float:
        """Return what it is wrong by, with logarithms of the largest integrands on ellipses."""
        return float(np.exp(logs + _log_rule(self.half, _INNER_NODES)).sum())


def _log_rule(half: float, nodes: int) -> float:
    return math.log(64 / 15 * half / (1 - _RHO**-2)) - 2 * nodes * math.log(_RHO)


@dataclass(frozen=True)
class _Jump:
    mu: float
    t: float

    @property
    def deviation(self) -> float:
        return math.sqrt(math.expm1(self.mu * self.mu) / self.t)

    @property
    def turn(self) -> float:
        """How far down the path goes."""
        return math.pi / self.mu

    def start(self) -> tuple[float, float, float] | None:
        """Return the least k - 1, R, and the logarithm of what goes up from there at k = 1."""
        ends = _ENDS / self.deviation
        logs = np.array([self._log_up(end) for end in ends.tolist()])
        for start in _STARTS:
            least = start * self.deviation
            wanted = max(log_call_least(self.mu, self.t, least) + _LOG_CLOSE, _LOG_NOTHING)
            enough = np.flatnonzero(logs - ends * least <= wanted)
            if enough.size:
                return least, float(ends[enough[0]]), float(logs[enough[0]])
        return None

    def _log_up(self, end: float) -> float:
        a = end / self.t
        growth, _ = self._sizes(a, a, 0.0, self._turning_point(a))
        return self.t * math.log1p(growth) - math.log(2 * end) + _ROUNDED

    def _turning_point(self, a: float) -> float:
        """Return about the place to the right where n(z) e^(a Y_z) is least."""
        log_share = 2 * math.log(self.mu) + math.log(a) - 0.5 * self.mu**2
        turn = max(1.0, -log_share)
        for _ in range(40):  # turn e^-turn = share, the larger root; 1 where there is none
            turn = max(1.0, math.log(turn) - log_share)
        return turn / self.mu

    def _y(self, z: float) -> float:
        return math.exp(self.mu * z - 0.5 * self.mu**2)

    def _sizes(self, low: float, high: float, beta: float, x: float) -> tuple[float, float]:
        """Return B - 1, of whose digits B to the t needs all, and D for low <= |a| <= high."""
        fall, far = low * math.cos(beta), self._y(x)
        down = np.linspace(0.0, self.turn, _DOWN_CELLS + 1)
        cosine = np.cos(np.maximum(self.mu * down[:-1] - beta, 0.0))
        grown = 0.5 * down[1:] ** 2 + np.where(cosine > 0, high, low) * far * cosine
        vertical = float(np.exp(grown - 0.5 * x * x - fall).sum() * down[1]) * _ROOT
        right = float(np.exp(0.5 * self.turn**2 - fall * (1 + far) + special.log_ndtr(-x)))
        edges = np.linspace(-_STEM, x, math.ceil((x + _STEM) / _CELLS))
        apart = high * np.expm1(self.mu * edges - 0.5 * self.mu**2)
        if not apart[-1] < -_LEAST_LOG:
            return math.inf, math.inf
        sizes = np.abs(apart)
        g = np.minimum(
            0.5 * sizes**2 * np.exp(np.maximum(apart, 0.0)), np.expm1(sizes) - sizes * (1 - 1e-9)
        )
        masses = np.exp(special.log_ndtr_diff(edges[:-1], edges[1:]))
        inner = float((np.maximum(g[:-1], g[1:]) * masses).sum())
        inner += 0.5 * high * high * float(special.ndtr(-_STEM))
        inner += (1 + high) * float(special.ndtr(-x)) + high * float(special.ndtr(self.mu - x))
        both = (vertical + right) * (1 + 1e-9)
        return inner * (1 + 1e-9) + both, both

    def first_rate(self) -> float:
        """Return a rate below which next to nothing is left."""
        length = max(self.mu, self.mu**2)
        while self._log_rest(length) > _LOG_REST:
            length += 0.25 * self.mu
        return self.t * math.exp(-length)

    def _log_rest(self, length: float) -> float:
        log_down = 0.5 * self.turn**2 + math.log((math.e * self.turn + 1) * self.mu)
        tail = float(special.log_ndtr((self.mu**2 - length) / self.mu))
        return log_down + 0.5 * self.mu**2 + tail

    def rest(self, first: float) -> float:
        """Return a bound of what is below the first panel."""
        a = first / self.t
        growth, _ = self._sizes(0.0, a, 0.0, self._turning_point(a))
        log = self._log_rest(-math.log(a)) + (self.t - 1) * math.log1p(growth)
        return float(np.exp(log + _ROUNDED)) / math.pi

    def panel(self, centre: float, half: float, least: float) -> tuple[Array, Array, Array, Array]:
        """Return rates and weights of a panel about log r, and those of its errors."""
        x, t = self._turning_point(centre / self.t), self.t
        low, high = centre * math.exp(-half * _WIDE), centre * math.exp(half * _WIDE)
        beta = half * _HIGH
        growth, jump = self._sizes(low / t, high / t, beta, x)
        log_most = math.log(max(jump, 1e-300)) + math.log(t / low)
        log_most += (t - 1) * math.log1p(growth) if t > 1 else 0.0
        least_rate = low * math.cos(beta)
        beside = log_most - least_rate * least - log_call_least(self.mu, self.t, least) - _LOG_EXACT
        wanted = 0.5 * beside / math.log(_RHO)
        # Of few kinds: each takes some milliseconds.
        count = 4 * math.ceil(min(max(wanted, _LEAST_NODES), _MOST_NODES) / 4)
        nodes, weights = _gauss_legendre(count)
        rates = centre * np.exp(half * nodes)
        scale = half * weights / (math.pi * rates)
        found, wrong = self._f(rates / t, x)
        rule = float(np.exp(log_most + _log_rule(half, count))) / math.pi
        errors = np.append(scale * wrong, rule) * (1 + 1e-9)
        return rates, scale * found, np.append(rates, least_rate), errors

    def _f(self, a: Array, x: float) -> tuple[Array, Array]:
        """Return F and bounds of its errors, a known to four units."""
        real, imaginary, wrong_real, wrong = self._moment(a, x)
        t = self.t
        size = 2 * real + real * real + imaginary * imaginary
        log = 0.5 * np.log1p(np.maximum(size, _UNIT - 1))
        angle, power = np.arctan2(imaginary, 1 + real), np.exp(t * log)
        found = -power * np.sin(t * angle)
        least = 1 + real - wrong_real
        turned = np.where(least > 0, (t - 1) * (np.abs(imaginary) + wrong) / least, 1.0)
        most = np.exp((t - 1) * (log + np.log1p((wrong + wrong_real) * np.exp(-log))))
        error = t * most * (wrong_real * np.minimum(turned, 1.0) + wrong)
        moved = 2 * np.abs(real) + real * real + imaginary * imaginary
        rounded = np.abs(found) * (16 + 8 * t * moved / np.maximum(1 + size, _UNIT))
        rounded += power * 8 * t * np.abs(angle)
        return found, error + _UNIT * rounded

    def _moment(self, a: Array, x: float) -> tuple[Array, Array, Array, Array]:
        """Return M(-a) - 1 from above, both parts, and bounds of the errors of each."""
        low, high, beyond = float(a.min()), float(a.max()), float(special.ndtr(-x))
        whole, wrong_whole = self._up_to(a, x, high)
        down, wrong_down = self._down(a, x, low, high)
        right, wrong_right = self._to_the_right(a, x, low)
        wrong = wrong_down + wrong_right
        real = whole + down.real + right.real - beyond
        wrong_whole = wrong_whole + wrong + 8 * _UNIT * (np.abs(whole) + beyond)
        return real, down.imag + right.imag, wrong_whole, wrong

    def _up_to(self, a: Array, x: float, high: float) -> tuple[Array, Array]:
        """Return the integral of n (e^(a (Y - 1)) - 1) up to x."""
        rule = _Panels(-_STEM, x, _INNER_HALF)
        z = rule.places
        normal = rule.weights * np.exp(-0.5 * z * z) * _ROOT
        y = np.expm1(self.mu * z - 0.5 * self.mu**2)
        exponent = np.multiply.outer(a, y)
        terms = np.expm1(exponent) * normal
        moved = (y + 1) * (16 + 4 * self.mu * np.abs(z) + self.mu**2) * normal
        moved = a[:, None] * np.exp(np.maximum(exponent, 0.0)) * moved
        moved = (moved + np.abs(terms) * (48 + 4 * z * z)).sum(axis=1)
        nearest = np.maximum(np.abs(rule.middles) - rule.reach, 0.0)
        grown = high * np.expm1(self.mu * (rule.middles + rule.reach) - 0.5 * self.mu**2)
        logs = np.logaddexp(np.maximum(grown, 0.0), 0.0) + 0.5 * (rule.aside**2 - nearest**2)
        wrong = rule.error(logs) * _ROOT + a * float(special.ndtr(-_STEM))
        return terms.sum(axis=1), _UNIT * moved + wrong

    def _down(self, a: Array, x: float, low: float, high: float) -> tuple[Complex, Array]:
        """Return V."""
        rule = _Panels(0.0, self.turn, 0.5 * self.turn / _TURNS)
        y, far = rule.places, self._y(x)
        sine = np.sin(0.5 * self.mu * y)
        real = 0.5 * (y * y - x * x) + np.multiply.outer(a, (far - 1) - 2 * far * sine * sine)
        imaginary = x * y - np.multiply.outer(a, far * np.sin(self.mu * y))
        sizes = np.exp(real) * (rule.weights * _ROOT)
        moved = 48 + 4 * (x * x + y * y) + 4 * a[:, None] * far * (16 + self.mu * x + self.mu**2)
        most = rule.middles + rule.reach
        cosine = np.cos(self.mu * np.maximum(rule.middles - rule.reach, 0.0))
        grown = np.where(cosine > 0, high * math.exp(self.mu * rule.aside), 0.0) * far * cosine
        nearest = max(x - rule.aside, 0.0)
        wrong = rule.error(grown + 0.5 * (most**2 - nearest**2)) * _ROOT
        total = (sizes * (-1j * np.exp(1j * imaginary))).sum(axis=1)
        return total, _UNIT * (moved * sizes).sum(axis=1) + wrong

    def _to_the_right(self, a: Array, x: float, low: float) -> tuple[Complex, Array]:
        """Return H."""
        # On ellipses of that length the real part of Y is positive, and so is that of z.
        rule = _Panels(x, x + _RIGHT, min(_INNER_HALF, 0.5 / self.mu))
        z, turn = rule.places, self.turn
        y = np.exp(self.mu * z - 0.5 * self.mu**2)
        sizes = np.exp(0.5 * (turn**2 - z * z) - np.multiply.outer(a, y + 1))
        sizes = sizes * (rule.weights * _ROOT)
        moved = 48 + 4 * (turn**2 + z * z) + 4 * turn * z
        moved = moved + 4 * a[:, None] * y * (16 + self.mu * z + self.mu**2)
        nearest = rule.middles - rule.reach
        least = np.exp(self.mu * nearest - 0.5 * self.mu**2) * math.cos(self.mu * rule.aside)
        logs = 0.5 * ((turn + rule.aside) ** 2 - nearest**2) - low * least
        beyond = float(np.exp(0.5 * turn**2 + special.log_ndtr(-x - _RIGHT)))
        wrong = rule.error(logs) * _ROOT + beyond
        total = (sizes * np.exp(1j * turn * z)).sum(axis=1)
        return total, _UNIT * (moved * sizes).sum(axis=1) + wrong
