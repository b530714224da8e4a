"""The mechanism of least average squared error on a grid: a linear program, made private exactly.

The range is cut into cells, and what is released depends on the cell of the true value alone: in
cell i, value j with probability P[i, j]. With k cells to a sensitivity, values within it are at
most k cells apart, and the release is epsilon-DP if and only if P[a, j] <= e^epsilon P[b, j] for
all j and all |a - b| <= k. That, and rows that sum to 1, is linear in P, and so is the squared
error for given values; the best values for a given P are the means of the true value given j.

No tolerance of a solver is trusted. Its answer is mixed with rows that are all alike, rounded to
multiples of 2^-52, and the epsilon of *these* probabilities, with which values are drawn, is
computed from their ratios, rounded upwards; the share of equal rows grows until it is within the
budget, as it is when they are all there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats
from tightnoise._core import random as core
from tightnoise._core.random import NoiseSource
from tightnoise._validate import float_array
from tightnoise.calibrate import CalibrationError
from tightnoise.compare._prior import Prior
from tightnoise.costs import Cost
from tightnoise.mechanisms._drawing import drawn
from tightnoise.random import NoiseStream

Array = NDArray[np.float64]

_CELLS = 30
_MARGIN = 1e-11  # relative, of a cell's width: more than floats err by when they find the cell
_UNITS = 2**52  # as many values has a uniform number of a stream
_FIRST_SHARE = 1e-8  # of rows that are all alike
_UNUSED = 1e-9  # the probability of a value that the solver does not mean to use
# More is of no use in a cell, and numbers that far apart are none for a solver.
_MOST_EPSILON = 20.0


@dataclass(frozen=True)
class GridOptimum:
    """Release one of some values, by the cell of the true value.

    Parameters
    ----------
    lower, upper : float
        The domain.
    step : float
        The width of a cell; those at the ends may be narrower.
    values : tuple of float
        What may be released.
    counts : tuple of tuple of int
        For each cell the probability of each value, in units of 2^-52.
    """

    lower: float
    upper: float
    step: float
    values: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def cells(self) -> int:
        """How many there are."""
        return len(self.counts)

    @property
    def probabilities(self) -> Array:
        """A row for each cell, exactly."""
        return np.array(self.counts, dtype=np.float64) / _UNITS

    @property
    def edges(self) -> Array:
        """Of the cells, as distances from the lower end."""
        width = self.upper - self.lower
        inner = np.arange(1, self.cells) * self.step - self._offset
        return np.concatenate([[0.0], inner, [width]])

    @property
    def _offset(self) -> float:
        return 0.5 * (self.cells * self.step - (self.upper - self.lower))

    def cell(self, theta: Array) -> NDArray[np.intp]:
        """Return the cells of true values.

        The quotient is at most `cells`, and within 2^-50 of itself. So with cells that are wider
        than a k-th of the sensitivity by the margin, neighbours are at most k cells apart.
        """
        place = np.floor((theta - self.lower + self._offset) / self.step)
        return np.clip(place, 0, self.cells - 1).astype(np.intp)

    def sample(self, theta: ArrayLike, *, rng: NoiseStream | None = None) -> Any:
        """Return one of the values for each true value, of the shape and dtype of theta."""
        return drawn(self._fill, float_array("theta", theta), rng)

    def _fill(self, theta: Floats, out: Floats, source: NoiseSource) -> None:
        cell, flat = self.cell(theta.ravel().astype(np.float64)), out.reshape(-1)
        # (m + 1/2)/2^52 with m uniform, exactly, is below a multiple of 2^-52 as often as it says.
        uniform = np.empty(flat.shape)
        core.uniform(uniform, source)
        ends = np.cumsum(self.counts, axis=1)[:, :-1] / _UNITS
        values = np.array(self.values)
        for number in np.unique(cell):
            here = cell == number
            flat[here] = values[np.searchsorted(ends[number], uniform[here])]

    def cost(self, *, sensitivity: float) -> Cost:
        """Return what a release costs."""
        apart = math.ceil(sensitivity / self.step * (1.0 + 0.1 * _MARGIN))
        return Cost.of_pure(_epsilon(np.array(self.counts), min(apart, self.cells - 1)))

    def average_square(self, prior: Prior) -> float:
        """Return the mean squared error, averaged over the prior."""
        mass, mean, variance = prior.moments_between(self.edges)
        error = np.subtract.outer(mean, np.array(self.values) - self.lower)
        return float(mass @ ((self.probabilities * error**2).sum(axis=1) + variance))


def _epsilon(counts: NDArray[np.int64], apart: int) -> float:
    """Return the largest log of a ratio of counts, in a column and so many rows apart, upwards."""
    worst = 1.0
    for lag in range(1, apart + 1):
        one, other = counts[lag:], counts[:-lag]
        if ((one > 0) != (other > 0)).any():
            return math.inf
        used = one > 0
        # Integers up to 2^52 are floats, and a quotient is off by 2^-53 of itself.
        ratio = one[used] / other[used]
        worst = max(worst, float(ratio.max()), float((1.0 / ratio).max()))
    if worst == 1.0:
        return 0.0
    # Two roundings of the ratio and one of its logarithm.
    return math.nextafter(math.log(worst) * (1.0 + 2.0**-51) + 2.0**-51, math.inf)


def grid_optimum(
    epsilon: float, lower: float, upper: float, sensitivity: float, prior: Prior
) -> GridOptimum:
    """Return the mechanism on a grid whose squared error is least on average over the prior.

    Values that are released are means of the true value given them, so that no estimate has less
    error. Every probability that is drawn with keeps within epsilon, whatever the solver does.
    """
    width = upper - lower
    if sensitivity * _CELLS < width:
        raise CalibrationError(
            f"sensitivity must be at least 1/{_CELLS} of upper - lower for an optimum on a grid: "
            f"where it is less, the staircase is nearly one; got {sensitivity} of {width}"
        )
    # Some numbers of cells suit better than others.
    most = min(int(_CELLS * (sensitivity / width)), _CELLS - 1)
    found = [
        _private(epsilon, lower, upper, sensitivity, apart, prior)
        for apart in {most, max(most - 1, 1)}
    ]
    return min(found, key=lambda grid: grid.average_square(prior))


def _private(
    epsilon: float, lower: float, upper: float, sensitivity: float, apart: int, prior: Prior
) -> GridOptimum:
    width = upper - lower
    step, cells = width / _CELLS, _CELLS
    if apart < _CELLS - 1:
        step = sensitivity / apart * (1.0 + _MARGIN)
        cells = math.ceil(width / step)
        apart = min(apart, cells - 1)
    blank = GridOptimum(lower, upper, step, (), ((),) * cells)
    mass, mean, _ = prior.moments_between(blank.edges)
    solved = _solved(epsilon, apart, mass, mean)
    share = _FIRST_SHARE
    while True:
        counts = _counts((1.0 - share) * solved + share / solved.shape[1])
        if _epsilon(counts, apart) <= epsilon:
            break
        share = min(10.0 * share, 1.0)
    values = np.clip(lower + _means(counts / _UNITS, mass, mean), lower, upper)
    return GridOptimum(
        lower, upper, step, tuple(values.tolist()), tuple(map(tuple, counts.tolist()))
    )


def _solved(epsilon: float, apart: int, mass: Array, mean: Array) -> Array:
    """Return the solver's probabilities, of the values that it uses."""
    values = mean
    for _ in range(2):  # the second time the best values of the first are among those to choose of
        table = _linear_program(epsilon, apart, mass, mean, values)
        table = table[:, mass @ table > _UNUSED]
        table /= table.sum(axis=1, keepdims=True)
        values = np.append(mean, _means(table, mass, mean))
    return table


def _linear_program(epsilon: float, apart: int, mass: Array, mean: Array, values: Array) -> Array:
    """Return P of least sum of mass[i] P[i, j] (mean[i] - values[j])^2.

    A window is apart + 1 cells in a row, and all P[i, j] of one lie between some m and e^epsilon m.
    If the prior is its own mirror image, half of the mean of P and its mirror image is as good, so
    the columns of one half of the values are asked for, and the others are their mirror images.
    """
    try:
        from scipy.optimize import linprog
        from scipy.sparse import coo_array
    except ImportError as error:
        raise CalibrationError(
            "an optimum on a grid needs SciPy: pip install 'tightnoise[optimum]'"
        ) from error
    cells, middle = mean.size, 0.5 * (mean[0] + mean[-1])
    sum_of = np.arange(cells)
    mirrored = np.allclose(mass, mass[::-1]) and np.allclose(mean + mean[::-1], 2.0 * middle)
    if mirrored:
        values = values[values <= middle * (1.0 + 1e-9)]
        sum_of = np.minimum(sum_of, sum_of[::-1])  # a row and its mirror image add up to 1
    letters = values.size
    windows = cells - apart
    window, place, letter = (index.ravel() for index in np.indices((windows, apart + 1, letters)))
    probability = (window + place) * letters + letter
    least = cells * letters + window * letters + letter
    row, one = np.arange(window.size), np.ones(window.size)
    # In the unit e^(epsilon/2) m, so that both sides are of one size: least e^-x <= P <= least e^x.
    spread = math.exp(0.5 * min(epsilon, _MOST_EPSILON))
    bounds = coo_array(
        (
            np.concatenate([one / spread, -one, one, -spread * one]),
            (
                np.concatenate([row, row, row + row.size, row + row.size]),
                np.concatenate([least, probability, probability, least]),
            ),
        )
    )
    variables = (cells + windows) * letters
    sums = coo_array(
        (
            np.ones(cells * letters),
            (np.repeat(sum_of, letters), np.arange(cells * letters)),
        ),
        shape=(sum_of.max() + 1, variables),
    )
    scale = float(np.ptp(mean)) or 1.0
    cost = mass[:, np.newaxis] * ((mean[:, np.newaxis] - values) / scale) ** 2
    found = linprog(
        np.append(cost.ravel(), np.zeros(windows * letters)),
        A_ub=bounds.tocsr(),
        b_ub=np.zeros(2 * row.size),
        A_eq=sums.tocsr(),
        b_eq=np.bincount(sum_of) / (1.0 + mirrored),
        method="highs",
    )
    if found.x is None:
        raise CalibrationError(f"no optimum on a grid was found: {found.message}")
    table: Array = np.maximum(found.x[: cells * letters].reshape(cells, letters), 0.0)
    if not mirrored:
        return table
    image, own = table[::-1], np.isclose(values, middle)  # the value in the middle is its own image
    return np.hstack([table + own * image, image[:, ~own]])


def _counts(table: Array) -> NDArray[np.int64]:
    """Return integers near 2^52 times the probabilities, each row with a sum of 2^52."""
    counts = np.floor(table * _UNITS).astype(np.int64)
    largest = int(np.argmax(counts.min(axis=0)))  # where a few units more matter least
    counts[:, largest] += _UNITS - counts.sum(axis=1)
    return counts


def _means(table: Array, mass: Array, mean: Array) -> Array:
    weights = mass[:, np.newaxis] * table
    means: Array = (mean @ weights) / weights.sum(axis=0)
    return means
