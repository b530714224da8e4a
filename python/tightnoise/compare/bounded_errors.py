"""How far the output of a mechanism for a bounded domain is from the truth, exactly.

Every mechanism here treats the two ends of the domain alike, so half of it is enough to look at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from tightnoise.compare._middle import Middle
from tightnoise.compare._tails import Array, GaussLegendre, tail_of
from tightnoise.mechanisms import BoundedLaplace, Gaussian, RectifiedGaussian, TruncatedGaussian

__all__ = ["Errors", "Utility", "errors_of", "utility_of"]

Measure = Callable[[Array, Array], Array]
"""Of bias and mean squared error."""


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
    """From the lower end to the middle: both are smooth between them."""

    def at(self, distance: Array) -> tuple[Array, Array]:
        """Return bias and mean squared error at each distance."""

    def average_square(self) -> float | None:
        """Return the mean squared error, averaged over the domain, if there is a formula."""


class Utility(NamedTuple):
    """Bias, variance and mean squared error over all true values of a domain.

    "Worst" is the greatest, of the bias in absolute value; the average is over all values alike.

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


def errors_of(mechanism: Any, lower: float, upper: float) -> Errors:
    """Return the errors of a mechanism whose output is clipped, unless it never is outside.

    Parameters
    ----------
    mechanism : object
        `TruncatedGaussian`, `RectifiedGaussian` or `BoundedLaplace` with these bounds, or noise for
        one number, which is added to the truth and clipped: `Gaussian`, `Laplace`, `Staircase` and
        the others of `compare_bounded`.
    lower, upper : float
        The domain.

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
    if isinstance(mechanism, Middle):
        return _Constant(width)
    if isinstance(mechanism, RectifiedGaussian):
        return _Clipped(Gaussian(mechanism.sigma), width)
    if isinstance(mechanism, TruncatedGaussian):
        return _Bounded(TruncatedGaussian, float(mechanism.sigma), width, reach=12.0)
    if isinstance(mechanism, BoundedLaplace):
        return _Bounded(BoundedLaplace, float(mechanism.scale), width, reach=48.0)
    return _Clipped(mechanism, width)


def utility_of(errors: Errors) -> Utility:
    """Return worst cases and averages.

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
    left, step = errors.edges[:-1], np.diff(errors.edges)
    nodes = GaussLegendre.within(left, step)
    share = step / (0.5 * errors.width)
    at_nodes, at_edges = errors.at(nodes), errors.at(errors.edges)

    def average(values: Array) -> float:
        return float(share @ (values @ GaussLegendre.weights))

    bias, square = at_nodes
    known = errors.average_square()
    mse_average = average(square) if known is None else known
    where = np.append(errors.edges, nodes)
    order = np.argsort(where)
    found = [np.append(edge, node)[order] for edge, node in zip(at_edges, at_nodes, strict=True)]
    bias_worst, variance_worst, mse_worst = (
        _greatest(errors, where[order], of(*found), of)
        for of in (_size_of_bias, _variance, _square)
    )
    return Utility(
        bias_worst,
        max(mse_average - average(bias * bias), 0.0),
        variance_worst,
        mse_average,
        mse_worst,
    )


def _size_of_bias(bias: Array, square: Array) -> Array:
    return np.abs(bias)


def _variance(bias: Array, square: Array) -> Array:
    return np.maximum(square - bias * bias, 0.0)


def _square(bias: Array, square: Array) -> Array:
    return square


def _greatest(errors: Errors, where: Array, values: Array, of: Measure) -> float:
    """Return the greatest value, refined three times between the neighbours of the best."""
    for _ in range(3):
        best = int(np.argmax(values))
        low, high = where[max(best - 1, 0)], where[min(best + 1, where.size - 1)]
        where = np.union1d(np.linspace(low, high, 65), where[best])
        values = of(*errors.at(where))
    return float(values.max())


class _Constant:
    """The middle of the domain, whatever the truth."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.edges = np.array([0.0, 0.5 * width])

    def at(self, distance: Array) -> tuple[Array, Array]:
        bias = 0.5 * self.width - distance
        return bias, bias * bias

    def average_square(self) -> None:
        return None


class _Clipped:
    """Noise that is added and clipped."""

    def __init__(self, noise: Any, width: float) -> None:
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


class _Bounded:
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

    def average_square(self) -> None:
        return None
