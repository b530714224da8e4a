"""What releasing the sum of a random sample of some records costs their neighbours."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._adjacency import adjacency_or_none
from tightnoise._arrays import Floats
from tightnoise._validate import float_array, fraction, not_negative, require, require_all
from tightnoise.costs import DEFAULT_ORDERS, Cost, InstanceCost
from tightnoise.costs._between import Chords
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW
from tightnoise.costs._sampling import adjacency_of
from tightnoise.costs._subsampling import log_mean_exp, subsampled_pair
from tightnoise.mechanisms._analytic_bound import Kind
from tightnoise.mechanisms._coordinate_law import CoordinateLaw
from tightnoise.mechanisms._mechanism import Mechanism
from tightnoise.mechanisms._per_instance import per_instance_rdp
from tightnoise.mechanisms._sampled_sums import ColumnSums
from tightnoise.mechanisms._worst_place import worst_sums

Array = NDArray[np.float64]

# What may go wrong with the intervals: less is charged, but intervals are wider.
_FAILURES = (1e-8, 1e-14, 1e-26)
# Of the mechanism itself: all integers that small sums are made of, then some, with infinity.
_INTEGERS = np.unique(np.concatenate([np.arange(2.0, 33.0), np.rint(np.geomspace(32, 8192, 25))]))
_WITH_INFINITY = np.append(_INTEGERS, np.inf)
_ORDERS = np.append(DEFAULT_ORDERS, np.inf)


def sampled_instance_cost(
    mechanism: Mechanism,
    law: CoordinateLaw,
    rows: ArrayLike,
    rate: float,
    sampling: object,
    sensitivity: float | None,
    coordinate_sensitivity: ArrayLike | None,
    adjacency: object,
) -> InstanceCost:
    """Return the cost of releasing the sum of a sample; arguments as of `sampled_cost_at`."""
    if law.name not in get_args(Kind):
        raise TypeError(
            "sampled_cost_at is of rectified, truncated, sign and quantised Gaussians; got "
            f"{type(mechanism).__name__}: its cost(...).sampled(rate, 'poisson') is for all data"
        )
    if sensitivity is None and coordinate_sensitivity is None:
        raise TypeError("sensitivity or coordinate_sensitivity must be given, or both")
    rate = fraction("rate", rate)
    is_poisson = adjacency_of(sampling) == "add-remove"
    require(is_poisson, "sampling", sampling, "'poisson': no bound is known for others")
    fits = adjacency_or_none(adjacency) != "replace-one"
    require(fits, "adjacency", adjacency, "'add-remove': no bound is known for others")
    array = _rows(law, rows)
    coordinates = array.shape[1:]
    columns = ColumnSums.of(array)
    if sensitivity is not None:
        sensitivity = not_negative("sensitivity", sensitivity)
        longest = columns.longest * (1.0 + (columns.below.size + 8) * 2.0**-52)
        known = sensitivity * (1.0 + (columns.below.size + 8) * 2.0**-51) >= longest
        allowed = f"at least {columns.longest}, the norm of a row"
        require(known, "sensitivity", sensitivity, allowed)
        sensitivity = max(sensitivity, longest)
    box: Any = sensitivity if coordinate_sensitivity is None else coordinate_sensitivity
    changes = np.broadcast_to(law.changes(box, coordinates).astype(np.float64), coordinates)
    greatest = np.maximum(columns.greatest, -columns.least)
    allowed = "at least what every record contributes"
    require_all(changes >= greatest, "coordinate_sensitivity", changes, allowed)
    if not changes.any():
        return InstanceCost(Chords((math.inf,), (0.0,)), adjacency="add-remove")
    given = None if coordinate_sensitivity is None else changes
    anywhere = mechanism.cost(sensitivity=sensitivity, coordinate_sensitivity=given)
    anywhere = anywhere.sampled(rate, "poisson")
    if rate == 1.0:
        theta = columns.below + columns.above
        here = per_instance_rdp(law, theta, changes)(_ORDERS)
    else:
        here = _values(law, columns, rate, changes, anywhere)
    values = np.minimum(anywhere.rdp(_ORDERS).values, here)
    function = Chords(tuple(_ORDERS.tolist()), tuple(values.tolist()))
    return InstanceCost(function, adjacency="add-remove", anywhere=anywhere)


def _rows(law: CoordinateLaw, rows: ArrayLike) -> Floats:
    array = float_array("rows", rows, check_finite=False)
    require(array.ndim == 2, "rows", array.shape, "of shape (records, coordinates)")
    require(array.shape[1] > 0, "rows", array.shape, "of at least one coordinate")
    law.require_shape(array.shape[1:])
    law.require_near(rows=array)
    return array


def _values(
    law: CoordinateLaw, columns: ColumnSums, rate: float, changes: Floats, anywhere: Cost
) -> Array:
    """Return bounds at all orders: the least over the failures that are allowed for."""
    best = np.full(_ORDERS.size, np.inf)
    if (changes > law.farthest_step).any():
        return best
    gaussian = (_ORDERS - 1.0) * anywhere.rdp(_ORDERS).values
    found = [columns.intervals(rate, failure) for failure in _FAILURES]
    low, high = (np.array([interval[end] for interval in found]) for end in (0, 1))
    all_sums = np.maximum(worst_sums(law, low, high, changes, _WITH_INFINITY), 0.0)
    underflow = columns.below.size * COST_UNDERFLOW if changes.any() else 0.0
    all_sums = all_sums * (1.0 + COST_MARGIN) + underflow
    all_sums[np.isnan(all_sums)] = np.inf
    for (*_, failed), sums in zip(found, all_sums, strict=True):
        inside = subsampled_pair(_WITH_INFINITY, sums[0], sums[1], rate, _ORDERS)
        if failed > 0.0:
            mixed = log_mean_exp((_ORDERS - 1.0) * inside, gaussian, failed)[:-1]
            inside[:-1] = mixed / (_ORDERS[:-1] - 1.0) * (1.0 + COST_MARGIN)
            inside[-1] = np.inf
        best = np.fmin(best, inside)
    return best
