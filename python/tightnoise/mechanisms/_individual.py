"""What one release costs each record in it, from the record's own contribution.

The bound. One coordinate in units of sigma, a change of s at most c, order a > 1, u = a (a - 1)
s^2 / 2. Outputs are cells I of N(t, 1) (points are cells of variance 0), P_t(I) their probabilities
and V_I(t) the variance within. Since (log P_t(I))'' = -(1 - V_I(t)), with K the triangle over
[t*, t + s] of area a s^2 / 2, peak s at t, and t* = t - (a - 1) s,

    exp((a - 1) D_a(t || t + s)) = sum_I P_t*(I) exp((a - 1) integral (1 - V_I) K),

where the exponent is between 0 and u: exp is below its chord, log(1 + y) <= y, and so
D_a <= (expm1(u) / u) (a s^2 / 2) max over r of sum_I P_t*(I) (1 - V_I(r)). In both directions and
for both signs t* and r are within a c of t. There

- a half line [b, inf): P and V grow with t (V' > 0 is Sampford 1953: the second derivative of the
  inverse Mills ratio is positive), so P_t*(I) V_I(r) is at least their product at t - a c, as if b
  were b + a c. Both half lines of a rectified Gaussian: the bound is its Fisher information on the
  interval widened by a c at both ends. The sign's interval is a point;
- a cell between: P and V are even about its centre and fall with the distance from it (V by the
  inequality of Griffiths, Hurst and Sherman for the even density exp(-x^2/2 - (x/h)^(2n)), n to
  infinity), so their product is at least that at the distance plus a c. It may be left out.

Truncated Gaussian: D_a(t || t + s) is the integral of V K, without exp, at most (a s^2 / 2) V where
t is nearest to the centre, a c nearer than t. Changes of coordinates add up; expm1(u) / u is that
of the largest. All cost at most what Gaussian noise does, a s^2 / 2: they are functions of its
output, or truncated, and V is at most 1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise import special
from tightnoise._arrays import Floats
from tightnoise._progress import SHOWN_AFTER, progress
from tightnoise._validate import float_array, number_array, require
from tightnoise.costs import IndividualCost
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW
from tightnoise.mechanisms._coordinate_law import CoordinateLaw

Array = NDArray[np.float64]

_ORDERS = (1.5, 2.0, 3.0, *(2.0**k for k in range(2, 11)))
_GREATEST = 1e6  # the order up to which divergences are known to be accurate
_FARTHEST = 1e90  # sigmas: beyond, it is the Gaussian's cost
_CHUNK = 1 << 21  # numbers: 16 MB
_TIERS = 8  # powers of 2 by which records are told apart: each tier has its own table
_MOST_CELLS = 64  # of a quantised Gaussian; those inside are taken as points beyond
_SUMS = 1e-9  # relative: above the rounding of products of a million numbers
# Squares and weights that underflow are taken for this, and so is each coordinate's product of the
# two: charged before anything large multiplies it.
_TINY = float(np.finfo(np.float64).tiny)


class RankOne(NamedTuple):
    """Contributions that are outer products: record i adds ``np.outer(left[i], right[i])``.

    So are the gradients of a linear layer, and of logistic regression: softmax(W x) - e_y, and x.

    Attributes
    ----------
    left : array_like, shape (n, k)
    right : array_like, shape (n, p)

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> left, right = np.array([[0.3, -0.3]]), np.array([[1.0, 2.0, 0.0]])
    >>> m = tn.StochasticSign(4.0)
    >>> theta = np.zeros((2, 3))
    >>> here = m.individual_cost_at(theta, tn.RankOne(left, right), orders=[2.0])
    >>> whole = m.individual_cost_at(theta, np.einsum("ik,ip->ikp", left, right), orders=[2.0])
    >>> bool(np.allclose(here.individual, whole.individual))
    True
    """

    left: ArrayLike
    right: ArrayLike


def individual_cost(
    law: CoordinateLaw,
    theta: ArrayLike,
    contributions: ArrayLike | RankOne,
    orders: ArrayLike | None,
    exact: bool,
) -> IndividualCost:
    """Return the cost of each record.

    The bound is a sum of squares with weights, which records share whose largest changes are within
    a power of 2: products of matrices.
    """
    if law.name not in _WEIGHTS:
        raise TypeError(f"mechanism must have a Gaussian underneath; got {law}")
    values = law.theta(theta)
    alphas = number_array("orders", _ORDERS if orders is None else orders)
    good = alphas.ndim == 1 and alphas.size > 0 and bool((np.diff(alphas) > 0).all())
    good = good and bool(alphas[0] >= 1 + 1e-6) and bool(alphas[-1] <= _GREATEST)
    require(good, "orders", orders, "increasing, from 1 + 1e-6 to 1e6")
    rows = _rows(contributions, values.shape)
    found = np.empty((rows.count, alphas.size))
    size = max(1, _CHUNK // rows.width)
    least_scale = float(law.scale.min())
    tables = _Tables(law, values, alphas)
    with np.errstate(all="ignore"):
        for start in progress(range(0, rows.count, size), "records", delay=SHOWN_AFTER):
            part = slice(start, start + size)
            largest = rows.largest(part)
            costs = (
                _divergences(law, values, rows.whole(part), alphas)
                if exact
                else _bounds(tables, rows.squared(part), largest, alphas, least_scale)
            )
            costs = costs * (1 + COST_MARGIN) + values.size * COST_UNDERFLOW
            costs = np.where(np.isnan(costs), np.inf, costs)
            found[part] = np.where(largest[:, np.newaxis] > 0, costs, 0.0)
    # D does not decrease with the order: a bound holds at all smaller orders too.
    least = np.minimum.accumulate(found[:, ::-1], axis=1)[:, ::-1]
    return IndividualCost(alphas, np.ascontiguousarray(least))


# --- contributions --------------------------------------------------------------------------------


class _Dense:
    def __init__(self, array: Floats, width: int) -> None:
        self._array = array.reshape(len(array), -1)
        self.count, self.width = len(array), width

    def whole(self, part: slice) -> Array:
        return np.array(self._array[part], dtype=np.float64)

    def largest(self, part: slice) -> Array:
        rows = self._array[part]
        return np.array(np.maximum(rows.max(axis=1), -rows.min(axis=1)), dtype=np.float64)

    def squared(self, part: slice) -> _Squares:
        return _Squares(_square(self.whole(part)), None)


class _Outer:
    def __init__(self, left: Floats, right: Floats) -> None:
        self._left, self._right = left, right
        self._cells = left.shape[1], right.shape[1]
        self.count, self.width = len(left), max(right.shape[1], left.shape[1])

    def whole(self, part: slice) -> Array:
        left, right = self._left[part].astype(np.float64), self._right[part].astype(np.float64)
        return np.asarray(np.einsum("ik,ip->ikp", left, right).reshape(len(left), -1))

    def largest(self, part: slice) -> Array:
        sides = (np.abs(side[part]).max(axis=1) for side in (self._left, self._right))
        left, right = (side.astype(np.float64) for side in sides)
        products = np.maximum(left * right * (1 + COST_MARGIN), _TINY)
        return np.where((left > 0) & (right > 0), products, 0.0)

    def squared(self, part: slice) -> _Squares:
        left, right = self._left[part].astype(np.float64), self._right[part].astype(np.float64)
        # The same products, of a left side whose squares are at most 1.
        powers = np.frexp(np.abs(left).max(axis=1, keepdims=True))[1]
        return _Squares(_square(np.ldexp(right, powers)), _square(np.ldexp(left, -powers)))


def _square(array: Array) -> Array:
    """Square an array in place, upwards where that underflows."""
    np.multiply(array, array, out=array)
    return np.maximum(array, _TINY, out=array)


class _Squares(NamedTuple):
    """Squares of contributions: of a part of the rows, or of both factors."""

    own: Array
    left: Array | None

    def sums(self, which: NDArray[np.bool_] | slice, weights: Array) -> Array:
        """Return sums of weights, of shape (d, m), times the squares of some records."""
        if not isinstance(which, slice) and which.all():
            which = slice(None)  # no copy
        if self.left is None:
            return np.asarray(self.own[which] @ weights)
        k, m = self.left.shape[1], weights.shape[1]
        tall = weights.reshape(k, -1, m).transpose(1, 0, 2).reshape(-1, k * m)
        inner = (self.own[which] @ tall).reshape(-1, k, m)
        return np.asarray(np.einsum("ik,ikm->im", self.left[which], inner))


def _rows(contributions: ArrayLike | RankOne, shape: tuple[int, ...]) -> _Dense | _Outer:
    count = int(np.prod(shape))
    if isinstance(contributions, RankOne):
        left = float_array("left", contributions.left)
        right = float_array("right", contributions.right)
        for name, side in (("left", left), ("right", right)):
            require(side.ndim == 2, name, side.shape, "of shape (n, .)")
        require(len(left) == len(right), "right", right.shape, f"of {len(left)} rows, as left has")
        cells = left.shape[1], right.shape[1]
        fits = shape == cells or shape == (cells[0] * cells[1],)
        require(fits, "contributions", cells, f"outer products of the shape {shape} of theta")
        return _Outer(left, right)
    array = float_array("contributions", contributions)
    fits = array.ndim >= 1 and array.shape[1:] in (shape, (count,))
    require(fits, "contributions", array.shape, f"of shape (n, {count}), as theta has {count}")
    return _Dense(array, count)


# --- costs ----------------------------------------------------------------------------------------


def _divergences(law: CoordinateLaw, theta: Floats, rows: Array, alphas: Array) -> Array:
    """Return the greater of both sums of exact divergences."""
    here = theta.astype(np.float64).ravel()
    scale, lower, upper = (
        np.array(np.broadcast_to(own, theta.shape), order="C").ravel()
        for own in (law.scale, law.lower, law.upper)
    )
    if law.name != "sign":  # seen from theta: far out, its neighbour would be rounded
        lower, upper, here = lower - here, upper - here, np.zeros_like(here)
    flat = dataclasses.replace(law, scale=scale, lower=lower, upper=upper)
    here = np.array(np.broadcast_to(here, rows.shape), order="C")
    there = here - rows
    costs = np.empty((len(rows), alphas.size))
    for i, alpha in enumerate(alphas):
        order = np.array(float(alpha))
        sums = (
            flat.call("renyi", rows.shape, shift, order, start).sum(axis=1)
            for start, shift in ((here, -rows), (there, rows))
        )
        costs[:, i] = np.maximum(*sums)
    return costs


def _bounds(
    tables: _Tables, squares: _Squares, largest: Array, alphas: Array, least_scale: float
) -> Array:
    costs = np.zeros((len(largest), alphas.size))
    for reach, which in _tiers(largest):
        weights = tables.of(reach)
        both = squares.sums(which, weights) * (1 + _SUMS) + len(weights) * _TINY
        own, gaussian = both[:, :-1], both[:, -1:]
        if not tables.is_exponential_family:
            steps = (largest[which] / least_scale)[:, np.newaxis]
            u = 0.5 * alphas * (alphas - 1) * steps * steps
            own = own * np.where(u > 0, np.expm1(u) / u, 1.0)
        costs[which] = 0.5 * alphas * np.fmin(own, gaussian)
    return costs


def _tiers(largest: Array) -> Iterator[tuple[float, NDArray[np.bool_]]]:
    """Return records by the power of 2 that is not below their largest change."""
    with np.errstate(divide="ignore"):
        powers = np.ceil(np.log2(largest))
    powers += 2.0**powers < largest  # log2 may be rounded down
    powers[largest == 0] = powers.max() if largest.any() else 0.0
    powers = np.maximum(powers, powers.max() - _TIERS)
    for power in np.unique(powers):
        yield float(2.0**power), powers == power


class _Tables:
    """The weights of squares, for each order, and last those of Gaussian noise."""

    def __init__(self, law: CoordinateLaw, theta: Floats, alphas: Array) -> None:
        self._law, self._theta, self._alphas = law, theta, alphas
        self._known: dict[float, Array] = {}
        self.is_exponential_family = law.name in ("truncated", "gaussian")

    def of(self, reach: float) -> Array:
        if reach not in self._known:
            scale = np.broadcast_to(self._law.scale, self._theta.shape)
            gaussian = np.maximum(1.0 / (scale * scale), _TINY).ravel()
            weights = _WEIGHTS[self._law.name]
            # What underflows is below COST_UNDERFLOW in units of 1 / sigma^2.
            columns = [
                np.maximum(weights(self._law, self._theta, alpha * reach).ravel(), 0.0)
                + np.maximum(COST_UNDERFLOW * gaussian, _TINY)
                if alpha * reach < _FARTHEST * scale.min()
                else gaussian
                for alpha in self._alphas
            ]
            self._known[reach] = np.stack([*columns, gaussian], axis=1)
        return self._known[reach]


def _gaussian(law: CoordinateLaw, theta: Floats, reach: float) -> Array:
    return np.asarray(np.broadcast_to(1.0 / (law.scale * law.scale), theta.shape))


def _truncated(law: CoordinateLaw, theta: Floats, reach: float) -> Array:
    centre = 0.5 * law.lower + 0.5 * law.upper
    # Rounded towards the centre, where the information is greatest.
    rounding = 1e-15 * (np.abs(theta) + np.abs(centre) + np.abs(law.upper - law.lower))
    away = np.maximum(np.abs(theta - centre) - reach * (1 + 1e-15) - rounding, 0.0)
    return np.asarray(law.map("fisher_information", np.asarray(centre + away)))


def _rectified(law: CoordinateLaw, theta: Floats, reach: float) -> Array:
    return _between(law, theta, law.lower, law.upper, reach)


def _sign(law: CoordinateLaw, theta: Floats, reach: float) -> Array:
    return _between(law, theta, np.zeros(1), np.zeros(1), reach)


def _quantized(law: CoordinateLaw, theta: Floats, reach: float) -> Array:
    step = (law.upper - law.lower) / (law.levels - 1)
    weights = _between(law, theta, law.lower + 0.5 * step, law.upper - 0.5 * step, reach)
    if law.levels > _MOST_CELLS:
        return weights
    for i in range(1, law.levels - 1):
        centre = law.lower + i * step
        away = np.abs(theta - centre) + reach
        ends = (-0.5 * step - away) / law.scale, (0.5 * step - away) / law.scale
        inside = np.exp(special.log_ndtr_diff(*np.broadcast_arrays(*ends)))
        cell = dataclasses.replace(
            law, name="truncated", lower=np.asarray(-0.5 * step), upper=np.asarray(0.5 * step)
        )
        information = cell.map("fisher_information", np.asarray(away))
        weights = weights - inside * information * (1 - 1e-9)
    return weights * (1 + 1e-9)


def _between(law: CoordinateLaw, theta: Floats, lower: Array, upper: Array, reach: float) -> Array:
    """Return the information of the rectified Gaussian on an interval widened by `reach`."""
    size = np.maximum(np.abs(lower), np.abs(upper)) + reach
    wider = reach + 1e-15 * size
    wide = dataclasses.replace(
        law, name="rectified", lower=np.asarray(lower - wider), upper=np.asarray(upper + wider)
    )
    return np.asarray(wide.map("fisher_information", theta))


_WEIGHTS = {
    "gaussian": _gaussian,
    "truncated": _truncated,
    "rectified": _rectified,
    "sign": _sign,
    "quantized": _quantized,
}
