"""What the cost within a ball needs of bounded Laplace noise: cpp/sketch/BALL.md, section 4."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._arrays import Floats
from tightnoise._sketch_panels import count_edges
from tightnoise.costs._margins import COST_MARGIN
from tightnoise.mechanisms._coordinate_law import CoordinateLaw

Array = NDArray[np.float64]

_CELLS = 256  # that many coordinates are counted by: narrow ones at the bound, where D bends most
_CHUNK = 1 << 20  # coordinates at once
_STEP, _LEAST_STEP = 0.06, 0.01  # from one change to the next, of itself: narrow supports bend more


class LaplaceSupport(NamedTuple):
    """A law whose parameters are numbers, as `Support` of the others."""

    sigma: float  # the scale
    centre: float
    half_width: float
    position_error: float

    @property
    def law(self) -> CoordinateLaw:
        """The law between the moved bounds."""
        scale, lower, upper = map(np.array, (self.sigma, -self.half_width, self.half_width))
        return CoordinateLaw("bounded_laplace", "scale", scale, lower, upper)

    def edges(self, sigma: float) -> Array:
        """Return the ends of a sketch's counts, or of `counted` for 0, within the bound, and it."""
        if sigma:
            ends = np.minimum(sigma * count_edges(), self.half_width)
        else:
            ends = self.half_width * np.sin(np.linspace(0.0, 0.5 * np.pi, _CELLS + 1))
        return np.append(ends, self.half_width)

    def counted(self, theta: Floats) -> Array:
        """Return how many numbers there are between these ends; what is beyond a bound is at it."""
        ends, counts = self.edges(0.0)[:-1], np.zeros(_CELLS + 2)
        for part in np.array_split(theta.reshape(-1), 1 + theta.size // _CHUNK):
            distance = np.minimum(np.abs(part.astype(np.float64) - self.centre), ends[-1])
            place = np.minimum(np.searchsorted(ends, distance, "right") - 1, _CELLS - 1)
            counts[:-2] += np.bincount(place, minlength=_CELLS)
        return counts

    def between(self, t: Array, values: Array, s: Array, order: float, away: bool) -> Array:
        """Return what changes cost at most between one place and the next; values: at the places.

        A row for each place, a column for each change.
        """
        places, change = t[:, np.newaxis] / self.sigma, s.reshape(1, -1) / self.sigma
        cell = _Cell(self.half_width / self.sigma, places[:-1], places[1:], change)
        bend = np.maximum(cell.bend(order, away, up=True), cell.bend(order, away, up=False))
        convex = np.maximum(values[:-1], values[1:]) + 0.125 * bend * np.diff(places, axis=0) ** 2
        return np.asarray(np.minimum(convex, cell.small(order)) * (1 + COST_MARGIN))


def support_of(law: CoordinateLaw) -> LaplaceSupport | None:
    """Return where a law with numbers for parameters lies."""
    if law.shape:
        return None
    scale, low, high = float(law.scale), float(law.lower), float(law.upper)
    if not high - low < 2e4 * scale:  # functions are known to be accurate up to there
        return None
    centre = 0.5 * low + 0.5 * high
    moved = 0.0 if centre == 0.0 else 4e-16 * max(abs(low), abs(high)) / scale
    return LaplaceSupport(scale, centre, 0.5 * high - 0.5 * low, moved)


def step(law: CoordinateLaw) -> float:
    """Return by how much of itself one change should exceed the one before."""
    width = float(((law.upper - law.lower) / law.scale).min())
    return max(_LEAST_STEP, _STEP * math.sqrt(-math.expm1(-width)))


def most(law: CoordinateLaw, s: Array, order: float) -> Array:
    """Return what the change costs at most, wherever theta is: (8)."""
    change = s / law.scale
    return np.asarray(np.minimum(2.0 * order * change**2, 2.0 * change) * (1 + COST_MARGIN))


def curved(width: Array, order: float, away: bool) -> Array:
    """Return b such that D + b s^2 is convex, in units of the scale: (9)."""
    if not away:
        return np.asarray(-1.0 / np.expm1(-width))
    c = 2.0 * order - 1.0
    return np.asarray(order * c / ((order - 1.0) * -np.expm1(-c * width)))


class _Cell:
    """Places from low to high, in units of the scale from the centre, and changes by s."""

    def __init__(self, half: float, low: Array, high: Array, s: Array) -> None:
        self.half, self.low, self.high, self.s = half, low, high, s
        across = (low < 0) & (high > 0)
        self.near = np.where(across, 0.0, np.minimum(np.abs(low), np.abs(high)))
        self.far = np.maximum(np.abs(low), np.abs(high))
        self.beyond = np.minimum(self.far + s, half)

    def small(self, order: float) -> Array:
        """Return what suits small changes: (10)."""
        half, near = self.half, np.maximum(self.near - self.s, 0.0)
        bend = 1.0 + 2.0 / _mass(self.beyond, half) - _fall(near, half)
        with np.errstate(over="ignore"):
            square = np.expm1(0.5 * bend * self.s**2)
            return np.asarray(0.5 * order * square * np.exp(2.0 * abs(order - 2.0) * self.s))

    def bend(self, order: float, away: bool, *, up: bool) -> Array:
        """Return b such that D + b theta^2/2 is convex within the cell: (11)."""
        half, s, c = self.half, self.s, 2.0 * order - 1.0
        # The laws of order and 1 - order are at `at` and above: away, and downwards, seen mirrored.
        ends = [self.low, self.high] if up else [-self.high, -self.low]
        base_near = np.broadcast_to(self.near, np.broadcast_shapes(self.near.shape, s.shape))
        if away:
            ends = [-(end + s) for end in ends]
            base_near = np.maximum(self.near - s, 0.0)
        at = [np.clip(end, -half, np.maximum(half - s, -half)) for end in ends]
        left = [np.exp(-half - t) for t in at]
        rest = [np.maximum(half - t - s, 0.0) for t in at]
        decay = np.exp(-c * s)
        right = [decay * np.exp(-r) for r in rest]
        masses = [
            (1.0 - u) - np.expm1(-c * s) / c - decay * np.expm1(-r)
            for u, r in zip(left, rest, strict=True)
        ]
        mass = np.minimum(*masses)
        fall = np.maximum(*(u + v for u, v in zip(left, right, strict=True))) / mass
        tilt = np.maximum(*(np.abs(u - v) for u, v in zip(left, right, strict=True))) / mass
        logs = np.maximum(fall + tilt**2 - order * _fall(base_near, half), 0.0) / (order - 1.0)
        bend = logs + _fall(self.beyond, half)
        width = np.asarray(2.0 * half)
        edge = 2.0 * max(float(curved(width, order, kind)) for kind in (False, True))
        return np.asarray(np.where(self.far + s >= half, np.maximum(bend, edge), bend))


def _mass(distance: Array, half: float) -> Array:
    """Return the normalising factor Z at a distance from the centre."""
    return np.asarray(-np.expm1(distance - half) - np.expm1(-distance - half))


def _fall(distance: Array, half: float) -> Array:
    """Return -(log Z)'', which rises with the distance from the centre."""
    a, b = distance - half, -distance - half
    spread = -np.exp(a) * np.expm1(b) - np.exp(b) * np.expm1(a)
    return np.asarray(2.0 * spread / _mass(distance, half) ** 2)
