"""How far the output of a mechanism for a bounded domain is from the truth, exactly.

Mechanisms treat the two ends of the domain alike, so half of it is enough to look at; all but the
optimum on a grid, if the true values are not all alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from tightnoise.compare._grid_optimum import GridOptimum
from tightnoise.compare._integer_errors import (
    IntegerErrors,
    letters_of,
    noise_of,
    places_of,
    reach_of,
)
from tightnoise.compare._middle import Middle
from tightnoise.compare._prior import Prior, prior_of
from tightnoise.compare._tails import PANEL, Array, tail_of
from tightnoise.mechanisms import BoundedLaplace, Gaussian, RectifiedGaussian, TruncatedGaussian

__all__ = [
    "Errors",
    "Utility",
    "errors_of",
    "utility_of",
]


_MOST_INTEGERS = 2**20  # that an error is looked at for, one by one
_ENOUGH = 1e-7  # of a variance: the most that rounding may change


class Errors(Protocol):
    """Bias and mean squared error on a domain, by the distance of the truth from its lower end.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> from tightnoise.compare.bounded_errors import errors_of
    >>> errors = errors_of(tn.Laplace(1.0), lower=0.0, upper=10.0)
    >>> bias, square = errors.at(np.array([0.0, 5.0]))
    >>> bias.round(6), square.round(6)
    (array([0.499977, 0.      ]), array([0.999501, 1.919145]))
    """

    width: float
    edges: Array
    """From the lower end to the middle, or to the upper end: both are smooth between them."""

    def at(self, distance: Array) -> tuple[Array, Array]:
        """Return bias and mean squared error at each distance."""

    def average_square(self) -> float | None:
        """Return the mean squared error, averaged over the domain, if there is a formula."""
        return None


class Utility(NamedTuple):
    """Bias, variance and mean squared error over all true values of a domain.

    "Worst" is the greatest, of the bias in absolute value; the average is over the prior.

    Examples
    --------
    >>> import tightnoise as tn
    >>> from tightnoise.compare.bounded_errors import errors_of, utility_of
    >>> found = utility_of(errors_of(tn.BoundedLaplace(1e9, 0.0, 1.0), 0.0, 1.0))
    >>> round(found.bias_worst, 6), round(found.variance_average, 6)  # the output is uniform
    (0.5, 0.083333)
    """

    bias_worst: float
    variance_average: float
    variance_worst: float
    mse_average: float
    mse_worst: float


def errors_of(mechanism: object, lower: float, upper: float, integer: bool = False) -> Errors:
    """Return the errors of a mechanism whose output is clipped, unless it never is outside.

    Parameters
    ----------
    mechanism : object
        `TruncatedGaussian`, `RectifiedGaussian` or `BoundedLaplace` with these bounds, or noise for
        one number, which is added to the truth and clipped: `Gaussian`, `Laplace`, `Staircase` and
        the others of `compare_bounded`.
    lower, upper : float
        The domain.
    integer : bool
        Whether outputs are rounded to integers, and true values, as the ends, are integers.

    Returns
    -------
    Errors
        Within 1e-12 of the noise's scale, or its square.

    Examples
    --------
    Where noise is far below the width, the middle has the variance of the noise.

    >>> import numpy as np
    >>> import tightnoise as tn
    >>> from tightnoise.compare.bounded_errors import errors_of
    >>> errors = errors_of(tn.RectifiedGaussian(0.1, 0.0, 1.0), 0.0, 1.0)
    >>> errors.at(np.array([0.5]))[1].round(6)
    array([0.01])
    """
    width = upper - lower
    if integer:
        return _of_integers(mechanism, lower, upper)
    if isinstance(mechanism, Middle):
        return _Constant(width)
    if isinstance(mechanism, GridOptimum):
        return _OnGrid(mechanism)
    if isinstance(mechanism, RectifiedGaussian):
        return _Clipped(Gaussian(mechanism.sigma), width)
    if isinstance(mechanism, TruncatedGaussian):
        return _Bounded(TruncatedGaussian, float(mechanism.sigma), width, reach=12.0)
    if isinstance(mechanism, BoundedLaplace):
        return _Bounded(BoundedLaplace, float(mechanism.scale), width, reach=48.0)
    return _Clipped(mechanism, width)


def _of_integers(mechanism: object, lower: float, upper: float) -> Errors:
    width = upper - lower
    if isinstance(mechanism, Middle):
        return IntegerErrors(width, None, math.floor(mechanism.value + 0.5) - lower)
    noise = noise_of(mechanism)
    if reach_of(noise, width) <= _MOST_INTEGERS:
        return IntegerErrors(width, letters_of(mechanism, width))
    plain = float(noise.var())
    added = noise.rounded().var() - plain
    if abs(added) > _ENOUGH * plain:
        raise ValueError(
            f"the noise reaches {_MOST_INTEGERS} integers and more, but hardly ever: its errors "
            "are not known"
        )
    return _Rounded(errors_of(mechanism, lower, upper), added)


def whole(errors: Errors, from_lower: Array, from_upper: Array) -> tuple[Array, Array]:
    """Return bias and mean squared error on the whole domain, by the distances from its ends."""
    if errors.edges[-1] == errors.width:
        return errors.at(from_lower)
    # Near an end the distance from it has the more digits.
    near = from_lower <= from_upper
    bias, square = errors.at(np.where(near, from_lower, from_upper))
    return np.where(near, 1.0, -1.0) * bias, square


def utility_of(errors: Errors, prior: Prior | None = None) -> Utility:
    """Return worst cases and averages; without a prior all values of the domain are alike.

    Averages are by quadrature, within 1e-10. Worst cases are the greatest value found by a search
    of ever finer grids, within 1e-10 for the smooth functions that these are; both say how useful
    an answer is, not how private.

    Examples
    --------
    >>> import tightnoise as tn
    >>> from tightnoise.compare.bounded_errors import errors_of, utility_of
    >>> found = utility_of(errors_of(tn.TruncatedGaussian(2.0, 0.0, 10.0), 0.0, 10.0))
    >>> round(found.mse_average, 6), round(found.mse_worst, 6)
    (3.235017, 3.999941)
    """
    before = prior_of(None, errors.width) if prior is None else prior
    panels = _panels(errors, before)
    at_nodes, at_edges = errors.at(panels.nodes), errors.at(panels.edges)
    bias, square = at_nodes
    known = _average_by_formula(errors, before)
    mse_average = panels.average(square) if known is None else known
    edges, nodes = panels.edges, panels.nodes
    where = np.append(edges, nodes)
    order = np.argsort(where)
    found = [np.append(edge, node)[order] for edge, node in zip(at_edges, at_nodes, strict=True)]

    def worst(of: Callable[[Array, Array], Array]) -> float:
        if isinstance(errors, IntegerErrors):
            return float(of(*found).max())  # the worst is among them
        return greatest(lambda at: of(*errors.at(at)), where[order], of(*found))

    return Utility(
        worst(lambda bias, square: np.abs(bias)),
        max(mse_average - panels.average(bias * bias), 0.0),
        worst(lambda bias, square: np.maximum(square - bias * bias, 0.0)),
        mse_average,
        worst(lambda bias, square: square),
    )


def average_square(errors: Errors, prior: Prior) -> float:
    """Return the mean squared error, averaged over the prior."""
    known = _average_by_formula(errors, prior)
    if known is not None:
        return known
    panels = _panels(errors, prior)
    return panels.average(errors.at(panels.nodes)[1])


def _average_by_formula(errors: Errors, prior: Prior) -> float | None:
    return errors.average_square() if prior.is_uniform else None


class _Panels(NamedTuple):
    edges: Array
    nodes: Array
    weights: Array

    def average(self, values: Array) -> float:
        return float((self.weights * values).sum())


def _panels(errors: Errors, before: Prior) -> _Panels:
    """Return panels of the domain, or of the half of it that the errors are for."""
    if isinstance(errors, IntegerErrors):
        places, mass = places_of(errors.reach, errors.width, before)
        return _Panels(places[:0], places, mass)
    is_half = errors.edges[-1] < errors.width
    ends = np.append(before.edges, errors.width - before.edges) if is_half else before.edges
    edges = np.union1d(errors.edges, ends[ends <= errors.edges[-1]])
    step = np.diff(edges)
    nodes = PANEL.within(edges[:-1], step)
    density = before.density_at(nodes)
    if is_half:
        density = density + before.density_at(errors.width - nodes)
    weights = step[:, np.newaxis] * PANEL.weights * density
    return _Panels(edges, nodes, weights)


def greatest(of: Callable[[Array], Array], where: Array, values: Array, points: int = 65) -> float:
    """Return the greatest value, refined three times between the neighbours of the best."""
    for _ in range(3):
        best = int(np.argmax(values))
        low, high = where[max(best - 1, 0)], where[min(best + 1, where.size - 1)]
        where = np.union1d(np.linspace(low, high, points), where[best])
        values = of(where)
    return float(values.max())


class _Constant(Errors):
    """The middle of the domain, whatever the truth."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.edges = np.array([0.0, 0.5 * width])

    def at(self, distance: Array) -> tuple[Array, Array]:
        bias = 0.5 * self.width - distance
        return bias, bias * bias


class _Clipped(Errors):
    """Noise that is added and clipped."""

    def __init__(self, noise: object, width: float) -> None:
        self.width = width
        self._tail = tail_of(noise, width)
        ends = np.concatenate([self._tail.edges, width - self._tail.edges])
        middle = 0.5 * width
        self.edges = np.unique(np.append(ends[(ends >= 0.0) & (ends < middle)], [0.0, middle]))

    def at(self, distance: Array) -> tuple[Array, Array]:
        below, square_below = self._tail.cut(distance)
        above, square_above = self._tail.cut(self.width - distance)
        return above - below, square_above + square_below

    def average_square(self) -> float:
        return 2.0 * self._tail.average_square(self.width)


class _Bounded(Errors):
    """A mechanism with outputs in the domain alone, in units of its scale from the lower end.

    There the mean less the truth, a difference, is exact to 1e-15 scales or so, wherever the
    domain lies. Beyond `reach` scales from both ends nothing is felt of them any more.
    """

    def __init__(self, family: Any, scale: float, width: float, reach: float) -> None:
        self.width, self._scale = width, scale
        self._mechanism = family(1.0, 0.0, width / scale)
        middle = 0.5 * width
        layers = scale * np.arange(0.0, min(reach, middle / scale))
        self.edges = np.unique(np.append(layers, middle))

    def at(self, distance: Array) -> tuple[Array, Array]:
        theta = distance / self._scale
        bias = self._scale * (self._mechanism.mean(theta) - theta)
        # One factor at a time: the square of a scale far beyond the domain may overflow.
        return bias, self._scale * (self._scale * self._mechanism.var(theta)) + bias * bias


class _Rounded(Errors):
    """Of so many integers that rounding changes next to nothing but the variance of the noise.

    It adds 1/12, or takes that away from a staircase whose steps end between integers.
    """

    def __init__(self, errors: Errors, added: float) -> None:
        self.width, self.edges = errors.width, errors.edges
        self._errors, self._added = errors, added

    def at(self, distance: Array) -> tuple[Array, Array]:
        bias, square = self._errors.at(distance)
        return bias, square + self._added

    def average_square(self) -> float | None:
        average = self._errors.average_square()
        return None if average is None else average + self._added


class _OnGrid(Errors):
    """One of some values, by the cell of the truth."""

    def __init__(self, grid: GridOptimum) -> None:
        self.width = grid.upper - grid.lower
        # On both sides of where one cell ends and the next begins.
        inner = grid.edges[1:-1]
        self.edges = np.unique(np.concatenate([grid.edges, np.nextafter(inner, 0.0)]))
        self._grid = grid
        table, values = grid.probabilities, np.array(grid.values) - grid.lower
        self._mean = table @ values
        self._variance = (table * np.subtract.outer(self._mean, values) ** 2).sum(axis=1)

    def at(self, distance: Array) -> tuple[Array, Array]:
        cell = self._grid.cell(self._grid.lower + distance)
        bias = self._mean[cell] - distance
        return bias, self._variance[cell] + bias * bias
