"""What to make of a noisy value: estimates of the truth, and their exact errors.

They cost no privacy, being made of what is public: the noisy value and what was known before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tightnoise.compare._grid_optimum import GridOptimum
from tightnoise.compare._integer_errors import IntegerErrors, Unclipped, places_of
from tightnoise.compare._integer_posterior import IntegerPosterior, is_countable
from tightnoise.compare._middle import Middle
from tightnoise.compare._posterior import Posterior, posterior_of
from tightnoise.compare._prior import Prior
from tightnoise.compare._tails import PANEL, Array
from tightnoise.compare.bounded_errors import Errors, errors_of, greatest, whole
from tightnoise.mechanisms import BoundedLaplace, RectifiedGaussian, TruncatedGaussian

_ROUNDING = 1e-24  # of squares
_IN_DOMAIN = (TruncatedGaussian, RectifiedGaussian, BoundedLaplace, Middle, GridOptimum)


class Linear:
    """Noise shrunk towards the prior's mean: a + b y of least average squared error."""

    def __init__(
        self, mechanism: Any, lower: float, upper: float, prior: Prior, integer: bool = False
    ) -> None:
        self._lower = lower
        self._errors: Errors
        width = upper - lower
        if isinstance(mechanism, _IN_DOMAIN):
            self._errors = errors_of(mechanism, lower, upper, integer)
        elif integer:
            self._errors = Unclipped(width, mechanism)
        else:
            self._errors = _Unclipped(width, float(mechanism.var()))
        if isinstance(self._errors, IntegerErrors):
            self._nodes, self._weights = places_of(self._errors.reach, width, prior)
            self._edges = self._nodes[:0]
            self._mean = self._average(self._nodes)
        else:
            edges = np.append(self._errors.edges, width - self._errors.edges)
            self._edges = np.union1d(edges, prior.edges)
            step = np.diff(self._edges)
            self._nodes = PANEL.within(self._edges[:-1], step)
            self._weights = step[:, np.newaxis] * PANEL.weights * prior.density_at(self._nodes)
            self._mean, _ = prior.moments()
        bias, square = self._whole(self._nodes)
        mean, variance = self._nodes + bias, np.maximum(square - bias * bias, 0.0)
        self._centre = self._average(mean)
        away = mean - self._centre
        total = self._average(away * away) + self._average(variance)
        together = self._average(away * (self._nodes - self._mean))
        # What always is the same, but for rounding, tells nothing.
        self.slope = together / total if total > _ROUNDING * (upper - lower) ** 2 else 0.0

    def of(self, noisy: Array) -> Array:
        """Return the estimate for each noisy value."""
        estimate: Array = self._mean + self.slope * (noisy - self._lower - self._centre)
        return self._lower + estimate

    def average(self) -> float:
        """Return the mean squared error, averaged over the prior."""
        return self._average(self._square(self._nodes))

    def worst(self) -> float:
        """Return the greatest mean squared error of any true value."""
        if isinstance(self._errors, IntegerErrors):
            return float(self._square(self._nodes).max())
        where = np.union1d(self._edges, self._nodes)
        return greatest(self._square, where, self._square(where))

    def _square(self, distance: Array) -> Array:
        bias, square = self._whole(distance)
        variance = np.maximum(square - bias * bias, 0.0)
        shift = self._mean - distance + self.slope * (distance + bias - self._centre)
        noise = self.slope * (self.slope * variance) if self.slope else 0.0  # it may be infinite
        return noise + shift * shift

    def _whole(self, distance: Array) -> tuple[Array, Array]:
        return whole(self._errors, distance, self._errors.width - distance)

    def _average(self, values: Array) -> float:
        return float((self._weights * values).sum())


class PosteriorMean:
    """The mean of the true value given the noisy one: no estimate has less average error."""

    def __init__(
        self, mechanism: object, lower: float, upper: float, prior: Prior, integer: bool = False
    ) -> None:
        self._lower, self._prior = lower, prior
        self._mean, self._variance = prior.moments()
        self._width = upper - lower
        self._posterior: Posterior | IntegerPosterior | None = None
        self._grid: GridOptimum | None = None
        if isinstance(mechanism, GridOptimum):
            self._grid = mechanism  # its values are such means
        elif not isinstance(mechanism, Middle):
            if integer and is_countable(mechanism, self._width):
                self._posterior = IntegerPosterior(mechanism, self._width, prior)
            else:
                self._posterior = posterior_of(mechanism, lower, upper, prior)
        if integer:
            nodes, weights = places_of(0, self._width, prior)
            self._mean = float(weights @ nodes)
            self._variance = float(weights @ (nodes - self._mean) ** 2)

    def of(self, noisy: Array) -> Array:
        """Return the estimate for each noisy value."""
        if self._grid is not None:
            return noisy
        if self._posterior is None:
            return np.full(noisy.shape, self._lower + self._mean)
        return self._lower + self._posterior.mean(noisy - self._lower)

    def average(self) -> float:
        """Return the mean squared error, averaged over the prior."""
        if self._grid is not None:
            return self._grid.average_square(self._prior)
        return self._variance if self._posterior is None else self._posterior.average_square()

    def worst(self) -> float:
        """Return the greatest mean squared error of any true value."""
        if self._grid is not None:
            errors = errors_of(self._grid, self._grid.lower, self._grid.upper)
            return float(errors.at(errors.edges)[1].max())
        if self._posterior is None:
            return max(self._mean, self._width - self._mean) ** 2
        where = self._posterior.places()
        if isinstance(self._posterior, IntegerPosterior):
            return float(self._posterior.square(where).max())
        return greatest(self._posterior.square, where, self._posterior.square(where), points=5)


class _Unclipped(Errors):
    """Noise that is added, and no more."""

    def __init__(self, width: float, variance: float) -> None:
        self.width, self._variance = width, variance
        self.edges = np.array([0.0, 0.5 * width])

    def at(self, distance: Array) -> tuple[Array, Array]:
        return np.zeros(distance.shape), np.full(distance.shape, self._variance)


ESTIMATES: dict[str, type[Linear] | type[PosteriorMean]] = {
    "linear": Linear,
    "posterior_mean": PosteriorMean,
}
