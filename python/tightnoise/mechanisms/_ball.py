"""What a release costs the neighbours within an L2 ball around theta: cpp/sketch/BALL.md.

By duality the cost is at most lambda C^2 + sum_j max_s (g_j(s) - lambda s^2), whatever the price
lambda is, with g_j(s) the worse divergence of coordinate j for a change by s. Of a sketch, the
maxima are tabulated by the place of a coordinate once for a mechanism, an order and sensitivities;
then a cost takes a few sums over the counts of coordinates at these places.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._arrays import Floats
from tightnoise._core import sketch as core
from tightnoise._sketch_panels import count_edges
from tightnoise.costs._between import bounds_between
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._gaussian_pair import truncated_variance
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW
from tightnoise.mechanisms import _laplace_ball, _sketched
from tightnoise.mechanisms._coordinate_law import CoordinateLaw
from tightnoise.mechanisms._laplace_ball import LaplaceSupport
from tightnoise.mechanisms._per_instance import PerInstanceRdp
from tightnoise.mechanisms._sketched import Support
from tightnoise.sketch import Sketch

Array = NDArray[np.float64]
Table = tuple[Array, NDArray[np.float32]]  # prices; for each, the excesses of all places

_MOST_ALONE = 512  # coordinates that are looked at one by one if they can be counted by place
_MOST = 8192  # else
_CHUNK = 1 << 17  # divergences at once
# From one order to the next a quarter more: chords are 1.3 % above, at most.
_ORDERS = np.concatenate(
    [
        [1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.625, 1.75],
        *(2.0**k * np.array([1.0, 1.125, 1.25, 1.5, 1.75]) for k in range(1, 3)),
        *(2.0**k * np.array([1.0, 1.25, 1.5, 1.75]) for k in range(3, 12)),
    ]
)
_ORDER_SET = frozenset(_ORDERS.tolist())
_STEP = 0.12  # from one change to the next, of itself
_FIRST = 0.1  # the first change, of that which all coordinates can make at once
_LEAST = 1e-100  # sigmas of a change whose square is a number
_MOVED = 1e-14  # sigmas that the bounds may move by when the centre is put at 0
_RELATIVE = 1e-10  # error of divergences, with that of a place at the edge of two counts
_TALL, _FLAT, _FINE = 1.1, 1e-4, 0.01  # prices: factors between, of the greatest, and the least one
_NEAR_BOX = 0.97  # chords between orders are up to 1.3 % above
_TAIL = 0.296  # the largest |dV/dt| of a half line, see BALL.md
_DEVIATION = 0.3990  # half the mean of |Z|


def ball_rdp(box: RdpFunction, total: float) -> RdpFunction:
    """Return the cost of the changes whose norm is at most `total`, given that of their box."""
    if not isinstance(box, PerInstanceRdp) or total == 0:
        return box
    law, theta = box.law, box.known
    count = theta.count if isinstance(theta, Sketch) else theta.size
    if count == 1:
        return box
    sides = _sides(box.changes, total, count, law)
    if sides is None:
        return box
    places = _places(box, sides, total)
    return box if places is None else _Ball(box, places, total)


def _sides(changes: Floats, total: float, count: int, law: CoordinateLaw) -> Array | None:
    """Return the box's sides, no longer than the ball; None where the ball is of no use.

    It is not where the box is within, or numbers are too large or small to have squares.
    """
    if changes.size == 1 and law.scale.size == 1:  # as in each step of a training: no arrays
        side, scale = min(float(changes.item()), total), float(law.scale.item())
        within = (side / total) ** 2 * count <= 1 - COST_MARGIN
        if within or side > law.farthest_step or total < _LEAST * scale:
            return None
        return np.full(changes.shape, max(side, 1e-30 * total) if side > 0 else 0.0)
    sides = np.minimum(np.asarray(changes, dtype=np.float64), total)
    shares = sides / total
    if float(np.vdot(shares, shares)) * (count / sides.size) <= 1 - COST_MARGIN:
        return None
    if ((sides > law.farthest_step) | (total < _LEAST * law.scale)).any():
        return None
    return np.where(sides > 0, np.maximum(sides, 1e-30 * total), 0.0)  # squares are numbers


def _places(box: PerInstanceRdp, sides: Array, total: float) -> _Counted | _Alone | None:
    law, theta = box.law, box.known
    support: Support | LaplaceSupport | None = (
        _sketched.support_of(law) if law.is_below_gaussian else _laplace_ball.support_of(law)
    )
    placed = support is not None and sides.size == 1 and support.position_error < _MOVED
    if placed and support is not None and (isinstance(theta, Sketch) or theta.size > _MOST_ALONE):
        side = float(sides.item())
        if isinstance(theta, Sketch):
            sketch = theta
        elif isinstance(support, LaplaceSupport):
            return _Counted.of(support, 0.0, support.counted(theta), theta.size, side, total)
        else:
            lower, upper = support.centre - support.reach, support.centre + support.reach
            sketch = Sketch.of(theta, lower, upper, sigma=support.sigma)
        # Functions are known to be accurate up to 1e4 sigma.
        near = sketch.sigma * count_edges()[-1] < 1e4 * support.sigma
        if sketch.centre == support.centre and near:
            counts = np.append(sketch.counts, 0) if law.name == "bounded_laplace" else sketch.counts
            return _Counted.of(support, sketch.sigma, counts, sketch.count, side, total)
    if isinstance(theta, Sketch) or theta.size > _MOST:
        return None
    return _Alone.of(law, theta, sides, total)


class _Ball:
    """The cost as a function of the order: the lesser of the ball's and the box's."""

    __slots__ = ("_box", "_found", "_places", "_total")

    def __init__(self, box: PerInstanceRdp, places: _Counted | _Alone, total: float) -> None:
        self._box, self._places, self._total = box, places, total
        self._found: dict[float, tuple[float, bool]] = {}

    def __call__(self, orders: Array) -> Array:
        wanted = orders.tolist()
        if _ORDER_SET.issuperset(wanted):
            proved, are_near = zip(*map(self._at, wanted), strict=True)
            upper, near = np.array(proved), np.array(are_near)
            if not any(are_near) and max(proved) < math.inf:
                return upper
        else:
            at = np.searchsorted(_ORDERS, orders)
            between = np.clip(np.stack([at - 1, at]), 0, _ORDERS.size - 1)
            needed = np.unique(between)
            known = [self._at(order) for order in _ORDERS[needed].tolist()]
            bounds, all_near = map(np.array, zip(*known, strict=True))
            upper = bounds_between(_ORDERS[needed], bounds, orders)
            near = np.logical_or(*all_near[np.searchsorted(needed, between)])
        # The box is of no use where so much less is proved.
        doubtful = near | ~np.isfinite(upper)
        if doubtful.any():
            upper[doubtful] = np.minimum(upper[doubtful], self._box(orders[doubtful]))
        return np.asarray(upper)

    @property
    def max_divergence(self) -> float:
        """The box's."""
        return self._box.max_divergence

    def least(self, order: float) -> float:
        """Return what some changes in the ball cost, about: the supremum is not below."""
        return self._places.least(order)

    def _at(self, order: float) -> tuple[float, bool]:
        """Return the bound at an order, and whether that of the box may be less."""
        if order not in self._found:
            bound, least = self._places.bound(order)
            bound = bound * (1 + COST_MARGIN) + self._places.size * COST_UNDERFLOW
            bound = bound if bound >= 0 else math.inf  # what overflows is not known
            self._found[order] = bound, bound > _NEAR_BOX * least
        return self._found[order]

    def __repr__(self) -> str:
        return f"{self._box!r}, changed by {self._total:g} at most"

    def __reduce__(self) -> tuple[Any, ...]:
        return ball_rdp, (self._box, self._total)


# --- places ---------------------------------------------------------------------------------------


class _Counted:
    """Coordinates counted by their distances from the centre, as a sketch of `sigma` does.

    Or, with a sigma of 0, between the places that the support itself has.
    """

    def __init__(self, key: tuple[Any, ...], counts: Array, size: int, total: float) -> None:
        self._key, self._counts, self.size, self._total = key, counts, size, total

    @classmethod
    def of(
        cls,
        support: Support | LaplaceSupport,
        sigma: float,
        counts: Array,
        size: int,
        side: float,
        total: float,
    ) -> _Counted:
        first = _FIRST * total / 2.0 ** math.ceil(0.5 * math.log2(size))
        moved = support._replace(centre=0.0, position_error=0.0)
        return cls((moved, sigma, min(first, 0.5 * side), side), counts, size, total)

    def bound(self, order: float) -> tuple[float, float]:
        """Return the ball's bound, and about the least that the box can cost."""
        tables, least = _tables(*self._key, order)
        counts, budget = self._counts, self._total * self._total
        bound = max([core.ball_least(*table, counts, budget) for table in tables])
        return bound, max((least @ counts).tolist())

    def least(self, order: float) -> float:
        """Return what some changes cost, divergences taken at the cheaper end of each place."""
        support, sigma, first, side = self._key
        steps, t = _steps(first / side, order, support.law), _edges(support, sigma)
        changes, counts = np.broadcast_to(side * steps, (t.size - 1, steps.size)), self._counts[:-1]
        ends = (_divergences(support.law, t, side * steps, order, away) for away in (False, True))
        known = (np.minimum(end[:-1], end[1:]) for end in ends)
        return max(_dearest(changes, values, counts, self._total) for values in known)


@functools.lru_cache(maxsize=64)
def _tables(
    support: Support | LaplaceSupport, sigma: float, first: float, side: float, order: float
) -> tuple[list[Table], Array]:
    """Return the prices and excesses of all places that a sketch counts, for both directions.

    And what the whole side costs there, roughly and not more.
    """
    law, t = support.law, _edges(support, sigma)
    steps = _steps(first / side, order, law)
    most = _most(law, side * steps, order)
    reach = np.full(t.size, side)
    tables, least = [], np.zeros((2, t.size))
    for away in (False, True):
        at_edges = _divergences(law, t, side * steps, order, away)
        low, high = at_edges[:-1], at_edges[1:]
        if isinstance(support, LaplaceSupport):
            between = support.between(t, at_edges, side * steps, order, away)
        else:
            between = _between(support, t, at_edges, side * steps, order)
        values = np.concatenate([np.minimum(between, most), most[np.newaxis]])
        tables.append(_tabulated(steps, reach, _curved(law, order, away, reach), values))
        least[int(away), :-1] = np.minimum(low, high)[:, -1]
    return tables, least


def _edges(support: Support | LaplaceSupport, sigma: float) -> Array:
    """Return the ends of the places that are counted; the last place is beyond the last of them."""
    if isinstance(support, LaplaceSupport):
        return support.edges(sigma)
    return sigma * count_edges()


def _between(support: Support, t: Array, at_edges: Array, s: Array, order: float) -> Array:
    """Return what changes by s cost at most from one place to the next."""
    z, width = s / support.sigma, np.diff(t)[:, np.newaxis] / support.sigma
    slope, bend = _slope(support, order, z), _bend(support, order, z)
    low, high = at_edges[:-1], at_edges[1:]
    convex = np.maximum(low, high) + bend * (0.25 * width**2)
    return np.asarray(np.minimum(convex, 0.5 * (low + high + slope * width)))


class _Alone:
    """Coordinates one by one, each with parameters and a side of its own."""

    def __init__(self, law: CoordinateLaw, theta: Array, sides: Array, total: float) -> None:
        self._law, self._theta, self._sides, self._total = law, theta, sides, total
        self.size = theta.shape[0]

    @classmethod
    def of(cls, law: CoordinateLaw, theta: Floats, sides: Array, total: float) -> _Alone:
        def column(array: Floats) -> Array:
            wide = np.broadcast_to(array, theta.shape).astype(np.float64)
            return wide.reshape(-1, 1)

        moves = column(sides).reshape(-1) > 0
        scale, lower, upper = (column(array)[moves] for array in (law.scale, law.lower, law.upper))
        alone = CoordinateLaw(law.name, law.scale_name, scale, lower, upper, law.levels)
        return cls(alone, column(theta)[moves], column(sides)[moves], total)

    def bound(self, order: float) -> tuple[float, float]:
        """Return the ball's bound, and what the box costs."""
        known = [self._bound(order, away) for away in (False, True)]
        return max(bound for bound, _ in known), max(box for _, box in known)

    def least(self, order: float) -> float:
        """Return what some changes cost."""
        steps = self._steps(order)
        ones, changes = np.ones(self._sides.size), self._sides * steps
        known = (self._values(steps, order, away) for away in (False, True))
        return max(_dearest(changes, each, ones, self._total) for each in known)

    def _steps(self, order: float) -> Array:
        reach = self._sides.reshape(-1)
        first = min(_FIRST * self._total / math.sqrt(float(reach @ reach)), 0.5)
        return _steps(first, order, self._law)

    def _bound(self, order: float, away: bool) -> tuple[float, float]:
        reach, steps = self._sides.reshape(-1), self._steps(order)
        values = self._values(steps, order, away)
        prices, excesses = _tabulated(steps, reach, _curved(self._law, order, away, reach), values)
        ones, budget = np.ones(reach.size), self._total * self._total
        return core.ball_least(prices, excesses, ones, budget), float(values[:, -1].sum())

    def _values(self, steps: Array, order: float, away: bool) -> Array:
        law = self._law
        values = np.empty((self._sides.size, steps.size))
        rows = max(1, _CHUNK // steps.size)
        for begin in range(0, len(values), rows):
            part = slice(begin, begin + rows)
            arrays = (law.scale[part], law.lower[part], law.upper[part])
            piece = CoordinateLaw(law.name, law.scale_name, *arrays, law.levels)
            changes = self._sides[part] * steps
            found = _divergences(piece, self._theta[part], changes, order, away)
            values[part] = np.minimum(found, _most(piece, changes, order))
        return values


def _dearest(changes: Array, values: Array, counts: Array, total: float) -> float:
    """Return the greatest cost where all that change make the same step of their sides.

    As many coordinates as the ball has room for, those first that cost most for their squares.
    """
    greatest, budget = 0.0, total * total * (1 + COST_MARGIN)
    for squares, costs in zip((changes**2).T[1:], values.T[1:], strict=True):
        first = np.argsort(-costs / squares)
        used = np.cumsum((counts * squares)[first])
        room = np.maximum(budget - np.append(0.0, used[:-1]), 0.0) // squares[first]
        greatest = max(greatest, float(np.minimum(counts[first], room) @ costs[first]))
    return greatest


# --- functions of a place and a change ------------------------------------------------------------


def _steps(first: float, order: float, law: CoordinateLaw) -> Array:
    """Return changes of which the last is 1, the first 0: closer where the chord bends more."""
    step = _STEP if law.is_below_gaussian else _laplace_ball.step(law)
    ratio = 1.0 + step * math.sqrt(min(order - 1.0, 1.0))
    count = max(1, math.ceil(-math.log(first) / math.log(ratio)))
    return np.concatenate([[0.0], first ** (np.arange(count, -1.0, -1.0) / count)])


def _divergences(law: CoordinateLaw, theta: Array, s: Array, order: float, away: bool) -> Array:
    """Return the worse divergence of both signs, (places, nodes), rounded up."""
    at = theta.reshape(-1, 1)
    shape = np.broadcast_shapes(at.shape, s.shape)
    worse = np.zeros(shape)
    for step in (s, -s):
        start, shift = (at + step, -step) if away else (at, step)
        found = law.call("renyi", shape, shift, np.array(order), start)
        worse = np.maximum(worse, np.where(np.isnan(found), np.inf, found))
    return worse * (1 + _RELATIVE)


def _most(law: CoordinateLaw, s: Array, order: float) -> Array:
    """Return what the change costs at most, wherever theta is."""
    if law.name == "bounded_laplace":
        return _laplace_ball.most(law, s, order)
    rate = 0.5 * order * (1 + COST_MARGIN) / law.scale**2
    if law.name == "truncated":
        rate = rate * truncated_variance(0.5 * (law.upper - law.lower) / law.scale)
    return np.asarray(rate * s**2)


def _slope(support: Support, order: float, z: Array) -> Array:
    """Return the largest slope of D by theta, in units of sigma; z: the change."""
    area = 0.5 * order * z * z
    half = support.half_width / support.sigma
    if support.kind == "truncated":
        return area * _steepest(half)
    steepest = _TAIL
    if support.kind == "quantized" and support.levels > 2:
        steepest = max(_TAIL, _steepest(half / (support.levels - 1)))
    u = 2.0 * (order - 1.0) * area
    with np.errstate(over="ignore", invalid="ignore"):
        growth = np.where(u > 0, np.expm1(u) / u, 1.0)
    return area * (_DEVIATION * growth + steepest)


def _steepest(half: float) -> float:
    """Return a bound on |dV/dt| of a cell: at most 2 V, and 2 V times its width."""
    variance = float(truncated_variance(np.asarray(half)))
    return 2.0 * variance * min(1.0, 2.0 * half)


def _bend(support: Support, order: float, z: Array) -> Array:
    """Return b such that D + b theta^2 is convex: "Convexity" in ANALYTIC_BOUND.md."""
    if support.kind == "truncated":
        return np.full(z.shape, np.inf)
    return np.asarray(0.5 * (1.0 / (order - 1.0) + np.minimum(1.0, 2.0 * z)))


def _curved(law: CoordinateLaw, order: float, away: bool, reach: Array) -> Array:
    """Return b such that D + b s^2 is convex."""
    scale = np.broadcast_to(law.scale.reshape(-1), reach.shape)
    if law.name == "bounded_laplace":
        width = np.asarray((law.upper - law.lower).reshape(-1) / scale)
        return np.asarray(_laplace_ball.curved(width, order, away) / scale**2)
    bend = 0.5 * order / (order - 1.0) if away else 0.0
    return np.asarray(bend / scale**2)


def _tabulated(steps: Array, reach: Array, bend: Array, values: Array) -> Table:
    rates = np.empty(reach.size)
    nodes = steps, reach, bend, np.ascontiguousarray(values)
    core.ball_rates(*nodes, rates)
    greatest = float(rates.max())
    prices = np.zeros(1)
    if 0 < greatest < math.inf:
        prices = np.append(prices, _prices(rates, greatest))
    excesses = np.empty((prices.size, reach.size), dtype=np.float32)
    core.ball_excesses(*nodes, prices, excesses)
    return prices, excesses


def _prices(rates: Array, greatest: float) -> Array:
    """Return increasing prices: close to every rate that counts, and not far from each other."""
    count = math.ceil(-math.log(_FLAT) / math.log(_TALL))
    useful = np.append(rates[rates > _FLAT * greatest], greatest * _TALL ** -np.arange(count + 1.0))
    # The greatest of those that are nearly the same.
    place = np.floor(np.log(useful / greatest) / _FINE).astype(np.int64)
    prices = np.zeros(place.max() - place.min() + 2)
    np.maximum.at(prices, place - place.min() + 1, useful)
    return prices[prices > 0]
