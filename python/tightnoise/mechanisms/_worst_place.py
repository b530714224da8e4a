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

__all__ = ["worst_sums"]

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
    """Return upper bounds (2, orders) of the sums: D(theta' || theta) and D(theta || theta').

    theta' is theta +- the change; `low` and `high` are (d,), numbers broadcast to that.
    """
    columns = np.broadcast_arrays(law.scale, law.lower, law.upper, changes)
    if columns[0].size == 1:
        numbers = np.array([[column.item() for column in columns]])
        which: Indices = np.zeros(low.size, dtype=np.int64)
    else:
        table = np.stack([np.broadcast_to(column, low.shape) for column in columns], axis=1)
        numbers, which = np.unique(table, axis=0, return_inverse=True)
        which = which.reshape(-1)
    total = np.zeros((2, orders.size))
    for group, (scale, lower, upper, change) in enumerate(numbers):
        here = which == group
        place = np.array(scale), np.array(lower), np.array(upper)
        one = CoordinateLaw(law.name, law.scale_name, *place, law.levels)
        total += _of_one_law(one, low[here], high[here], float(change), orders)
    return total


def _of_one_law(law: CoordinateLaw, low: Array, high: Array, change: float, orders: Array) -> Array:
    total = np.zeros((2, orders.size))
    if change == 0.0:
        return total
    is_known = low == high
    if is_known.any():
        away, toward = law.rdp_sums(low[is_known], orders, np.array(change))
        total += np.array([toward, away])
        low, high = low[~is_known], high[~is_known]
    if not low.size:
        return total
    gaussian = 0.5 * orders * (change / float(law.scale)) ** 2
    support = _sketched.support_of(law)
    if support is None:
        total += low.size * gaussian
        return total
    moved = 4e-16 * (np.abs(low) + np.abs(high) + abs(support.centre))
    low = (low - support.centre - moved) / support.sigma
    high = (high - support.centre + moved) / support.sigma
    far = np.maximum(-low, high) > _FARTHEST
    if far.any():
        total += int(far.sum()) * gaussian
    if not far.all():
        total += _Cells.around(support, low[~far], high[~far], change, orders).sums(gaussian)
    return total


class _Cells(NamedTuple):
    """The worst divergences in each cell, and the intervals as ranges of cells."""

    worst: Array  # (2, orders, cells)
    first: Indices
    last: Indices
    counts: Indices

    @classmethod
    def around(
        cls, support: _sketched.Support, low: Array, high: Array, change: float, orders: Array
    ) -> _Cells:
        """Cut the panels that the intervals touch, in sigma from the centre, into cells."""
        begin, end = (np.floor(ends / _PANEL).astype(np.int64) for ends in (low, high))
        origin = int(begin.min())
        touched = np.zeros(int(end.max()) - origin + 2, dtype=np.int64)
        np.add.at(touched, begin - origin, 1)
        np.add.at(touched, end - origin + 1, -1)
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
        pairs, counts = np.unique(first * (panels.size * parts) + last, return_counts=True)
        left = np.multiply(panels + origin, _PANEL, dtype=np.float64)
        worst = _worst_in_cells(support, left, parts, change, orders)
        return cls(worst, *np.divmod(pairs, panels.size * parts), counts)

    def sums(self, gaussian: Array) -> Array:
        """Return the sums over intervals, each at the worst of its cells."""
        total = np.zeros(self.worst.shape[:2])
        longest = np.minimum(self.worst, gaussian[:, np.newaxis])  # of 2^level cells from each one
        length = self.last - self.first + 1
        level = np.frexp(length)[1] - 1
        for power in range(int(level.max()) + 1):
            here = np.flatnonzero(level == power)
            for start in range(0, here.size, _QUERIES):
                part = here[start : start + _QUERIES]
                ends = self.first[part], self.last[part] + 1 - (1 << power)
                total += np.maximum(longest[..., ends[0]], longest[..., ends[1]]) @ self.counts[
                    part
                ].astype(np.float64)
            step = 1 << power
            longest = np.maximum(longest[..., :-step], longest[..., step:])
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
