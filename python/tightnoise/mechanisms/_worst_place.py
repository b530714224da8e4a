"""Sums over coordinates of the worst Renyi divergence while each theta_j lies in an interval.

The line is cut into cells. Where D + b t^2 is convex, no point of a cell of width w has a value
above the greater of those at its ends plus b w^2 / 4. b is that of "Convexity" in
cpp/sketch/ANALYTIC_BOUND.md, or comes from an ellipse of the same file: with D analytic and at most
M there, Cauchy's inequality gives b = M / r^2, r the distance from the panel to the ellipse. An
interval gets the worst of the cells that it touches. D is no more than that of Gaussian noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._arrays import Floats
from tightnoise.mechanisms import _sketched
from tightnoise.mechanisms._analytic_bound import renyi_analytic_bound
from tightnoise.mechanisms._coordinate_law import CoordinateLaw

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_PANEL = 0.25  # sigma: where one ellipse is looked for
_PARTS = 16  # the most cells of a panel
_CELLS = 4096  # and about the most of all
_FARTHEST = 500.0  # sigma from the centre: beyond, what is known of Gaussian noise is taken
_QUERIES = 4096  # intervals looked up at once


def worst_sums(
    law: CoordinateLaw, low: Array, high: Array, changes: Floats, orders: Array
) -> Array:
    """Return upper bounds (k, 2, orders) of the sums: D(theta' || theta) and D(theta || theta').

    theta' is theta +- the change; `low` and `high` are (k, d): k intervals for each coordinate.
    """
    columns = np.broadcast_arrays(law.scale, law.lower, law.upper, changes)
    if all((column == column.flat[0]).all() for column in columns):
        numbers = np.array([[column.flat[0] for column in columns]])
        which: Indices = np.zeros(low.shape[-1], dtype=np.int64)
    else:
        table = np.stack([np.broadcast_to(column, low.shape[-1:]) for column in columns], axis=1)
        numbers, which = np.unique(table, axis=0, return_inverse=True)
        which = which.reshape(-1)
    total = np.zeros((len(low), 2, orders.size))
    for group, (scale, lower, upper, change) in enumerate(numbers):
        here = which == group
        place = np.array(scale), np.array(lower), np.array(upper)
        one = CoordinateLaw(law.name, law.scale_name, *place, law.levels)
        total += _of_one_law(one, low[:, here], high[:, here], float(change), orders)
    return total


def _of_one_law(law: CoordinateLaw, low: Array, high: Array, change: float, orders: Array) -> Array:
    total = np.zeros((len(low), 2, orders.size))
    if change == 0.0:
        return total
    is_known = np.all((low == high) & (low == low[:1]), axis=0)
    if is_known.any():
        away, toward = law.rdp_sums(low[0, is_known], orders, np.array(change))
        total += np.array([toward, away])
        low, high = low[:, ~is_known], high[:, ~is_known]
    if not low.size:
        return total
    gaussian = 0.5 * orders * (change / float(law.scale)) ** 2
    support = _sketched.support_of(law)
    if support is None:
        total += low.shape[1] * gaussian
        return total
    moved = 4e-16 * (np.abs(low) + np.abs(high) + abs(support.centre))
    low = (low - support.centre - moved) / support.sigma
    high = (high - support.centre + moved) / support.sigma
    far = np.any(np.maximum(-low, high) > _FARTHEST, axis=0)
    if far.any():
        total += int(far.sum()) * gaussian
    if not far.all():
        total += _Cells.around(support, low[:, ~far], high[:, ~far], change, orders).sums(gaussian)
    return total


class _Cells(NamedTuple):
    """The worst divergences in each cell, and the intervals as ranges of cells."""

    worst: Array  # (2, orders, cells)
    first: Indices  # (k, d)
    last: Indices

    @classmethod
    def around(
        cls, support: _sketched.Support, low: Array, high: Array, change: float, orders: Array
    ) -> _Cells:
        """Cut the panels that the intervals touch, in sigma from the centre, into cells."""
        begin, end = (np.floor(ends / _PANEL).astype(np.int64) for ends in (low, high))
        origin = int(begin.min())
        touched = np.zeros(int(end.max()) - origin + 2, dtype=np.int64)
        np.add.at(touched, begin.ravel() - origin, 1)
        np.add.at(touched, end.ravel() - origin + 1, -1)
        is_used = np.cumsum(touched)[:-1] > 0
        panels = np.flatnonzero(is_used)
        place = np.cumsum(is_used) - 1  # of a panel among those that are used
        parts = max(1, min(_PARTS, _CELLS // panels.size))
        inside = [
            np.clip(np.floor((ends / _PANEL - panel) * parts).astype(np.int64), 0, parts - 1)
            for ends, panel in ((low, begin), (high, end))
        ]
        first = place[begin - origin] * parts + inside[0]
        last = place[end - origin] * parts + inside[1]
        left = np.multiply(panels + origin, _PANEL, dtype=np.float64)
        return cls(_worst_in_cells(support, left, parts, change, orders), first, last)

    def sums(self, gaussian: Array) -> Array:
        """Return the sums over intervals, each at the worst of its cells, (k, 2, orders)."""
        greatest = np.minimum(self.worst, gaussian[:, np.newaxis])
        total = np.empty((len(self.first), *greatest.shape[:2]))
        for which, (first, last) in enumerate(zip(self.first, self.last, strict=True)):
            total[which] = _sum_of_greatest(greatest, first, last)
        return total


def _sum_of_greatest(values: Array, first: Indices, last: Indices) -> Array:
    """Return the sums over ranges of the greatest of each range along the last axis."""
    pairs, counts = np.unique(first * values.shape[-1] + last, return_counts=True)
    first, last = np.divmod(pairs, values.shape[-1])
    level = np.frexp(last - first + 1)[1] - 1  # two spans of 2^level cover the range
    total = np.zeros(values.shape[:-1])
    for power in range(int(level.max()) + 1):
        span = 1 << power
        here = np.flatnonzero(level == power)
        for start in range(0, here.size, _QUERIES):
            part = here[start : start + _QUERIES]
            ends = values[..., first[part]], values[..., last[part] + 1 - span]
            total += np.maximum(*ends) @ counts[part].astype(np.float64)
        values = np.maximum(values[..., :-span], values[..., span:])
    return total


def _worst_in_cells(
    support: _sketched.Support, left: Array, parts: int, change: float, orders: Array
) -> Array:
    """Return bounds of the worst divergence in each cell, (2, orders, panels * parts)."""
    sigma = support.sigma
    key = tuple(orders.tolist())
    ends = left[:, np.newaxis] + _PANEL / parts * np.arange(parts + 1)
    everywhere = _sketched.bend_of(support, orders, change)[:, np.newaxis] * sigma**2
    quarter = 0.25 * (_PANEL / parts) ** 2
    worst = np.zeros((2, orders.size, left.size, parts))
    for direction, away in enumerate((True, False)):
        for start, step in _sketched.moves(change, away):
            t = ends * sigma + start
            values = _sketched.renyi_at(support, key, t.reshape(-1), step)
            values = values.reshape(orders.size, *ends.shape)
            rho, most = renyi_analytic_bound(
                support.kind,
                sigma,
                support.half_width,
                step,
                orders,
                t[:, 0],
                t[:, -1],
                terms=8,
                levels=support.levels,
            )
            with np.errstate(invalid="ignore", divide="ignore"):
                reach = 0.25 * _PANEL * np.maximum(rho - 1.0, 0.0) ** 2 / rho
                local = np.where(reach > 0.0, most / reach**2, np.inf)
            bend = np.fmin(local, everywhere)[..., np.newaxis]
            greater = np.maximum(values[..., :-1], values[..., 1:]) + bend * quarter
            worst[direction] = np.maximum(worst[direction], greater)
    furthest = support.half_width / sigma + float(np.abs(left).max()) + 1.0
    error = 1e-9 + support.position_error * (furthest + 4.0)
    return worst.reshape(2, orders.size, -1) * (1.0 + error)
