"""The search for a Gaussian scale mixture of little loss, in units of the sensitivity.

What is asked of a mixture is that no shift from 0 to 1 costs more than delta at epsilon. As a
constraint that is hard to follow: D jumps from next to nothing to far more than delta where a peak
becomes a little too high. The epsilon that a shift costs at delta says the same and changes as
smoothly as the logarithm of the density. Its derivatives by every parameter are exact, so that a
barrier method takes some hundred evaluations of some tens of shifts.

Nothing here is proven: the caller certifies what it takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise import _core
from tightnoise.calibrate._barrier import minimise_inside
from tightnoise.special import ndtr

__all__ = ["Goal", "Mixture", "improved", "loss_and_slopes"]

Array = NDArray[np.float64]

# Of the barrier. Larger ones would first of all lead away from where the search starts.
_WEIGHTS = (4e-3, 8e-4, 2e-4, 4e-5)
_FINE_WEIGHTS = (2e-4, 4e-5)
_ITERATIONS = 25  # for each weight
_ROUNDS = 5  # of looking for shifts between those that are watched
_CLOSE = 5e-4  # by so much may a shift that was not watched cost more than epsilon
_SLIGHTLY = 1e-4  # how much wider a mixture is made at first to be inside the constraints
_ATTEMPTS = 20


class Mixture(NamedTuple):
    """The fields of a GaussianScaleMixture, as arrays; the sensitivity is 1."""

    locations: Array
    weights: Array
    sigmas: Array


@dataclass(frozen=True)
class Goal:
    """What is searched for: the least loss that is (epsilon, delta)-private."""

    epsilon: float
    delta: float
    loss: str  # "l1" or "l2"


def loss_and_slopes(mixture: Mixture, loss: str) -> tuple[float, Array]:
    """Return the loss and its derivatives by location, weight and sigma, shape (3, n)."""
    mu, w, s = mixture
    if loss == "l2":
        each = s * s + mu * mu
        return float(w @ each), np.array([2 * w * mu, each, 2 * w * s])
    # The mean of |x| under N(mu, s^2).
    peak = math.sqrt(2 / math.pi) * np.exp(-0.5 * (mu / s) ** 2)
    right = 2 * np.asarray(ndtr(mu / s)) - 1
    each = s * peak + mu * right
    return float(w @ each), np.array([w * right, each, w * peak])


def improved(start: Mixture, goal: Goal) -> Mixture | None:
    """Return a mixture of less loss near `start`, which need not be private; None if none is."""
    search = _Search(start.locations.size, goal)
    point = search.inside(start)
    if point is None:
        return None
    weights: Sequence[float] = _WEIGHTS
    for _ in range(_ROUNDS):
        point = minimise_inside(search.loss, search.slacks, point, weights, _ITERATIONS)
        if not search.watch_worst(point):
            break
        point = search.inside(search.mixture(point))
        if point is None:
            return None
        weights = _FINE_WEIGHTS
    return search.mixture(point)


class _Search:
    """A point is the locations and log weights of all pairs but the first, and all log sigmas."""

    def __init__(self, pairs: int, goal: Goal) -> None:
        self._pairs = pairs
        self._goal = goal
        # At the best mixtures nearly all shifts from 0.2 on cost about the same.
        self._shifts = np.union1d(np.linspace(0.1, 1.0, 25), [0.975, 0.99, 0.997])

    def point(self, mixture: Mixture) -> Array:
        mu, w, s = mixture
        return np.concatenate([mu[1:], np.log(w[1:] / w[0]), np.log(s)])

    def mixture(self, point: Array) -> Mixture:
        others = self._pairs - 1
        w = np.concatenate([[0.0], point[others : 2 * others]])
        w = np.exp(w - w.max())
        return Mixture(
            np.concatenate([[0.0], point[:others]]), w / w.sum(), np.exp(point[2 * others :])
        )

    def loss(self, point: Array) -> tuple[Array, Array]:
        """Return the logarithm of the loss, and its gradient."""
        mixture = self.mixture(point)
        value, (by_location, by_weight, by_sigma) = loss_and_slopes(mixture, self._goal.loss)
        w = mixture.weights
        by_log_weight = w * (by_weight - value)  # they stay divided by their sum
        rows = np.concatenate([by_location[1:], by_log_weight[1:], by_sigma * mixture.sigmas])
        return np.array([math.log(value)]), rows[np.newaxis] / value

    def slacks(self, point: Array) -> tuple[Array, Array]:
        """Return how far below the target the epsilon of each shift is, and the gradients."""
        epsilons, _, by_location, by_log_weight, by_log_sigma = _shift_epsilons(
            self.mixture(point), self._shifts, self._goal
        )
        rows = np.hstack([by_location[:, 1:], by_log_weight[:, 1:], by_log_sigma])
        return self._goal.epsilon - epsilons, -rows

    def inside(self, mixture: Mixture) -> Array | None:
        """Return the point of `mixture`, made wider until no constraint binds."""
        margin = 1e-4 * self._goal.epsilon
        for attempt in range(_ATTEMPTS):
            point = self.point(mixture)
            if self.slacks(point)[0].min() > margin:
                return point
            mixture = mixture._replace(sigmas=mixture.sigmas * (1.0 + _SLIGHTLY * 2**attempt))
        return None

    def watch_worst(self, point: Array) -> bool:
        """Watch the shifts, too, that cost most between those watched; False if none matters."""
        mixture = self.mixture(point)
        shifts = _every_shift(mixture)
        epsilons, slopes, *_ = _shift_epsilons(mixture, shifts, self._goal)
        excess = epsilons - self._goal.epsilon
        rises, falls = slopes[:-1] > 0, slopes[1:] <= 0
        peaks = np.flatnonzero(rises & falls & (np.maximum(excess[:-1], excess[1:]) > -1e-2))
        fraction = slopes[peaks] / (slopes[peaks] - slopes[peaks + 1])
        between = shifts[peaks] + fraction * (shifts[peaks + 1] - shifts[peaks])
        self._shifts = np.union1d(self._shifts, between)
        return bool(excess.max() > _CLOSE)


def _every_shift(mixture: Mixture) -> Array:
    """Return shifts so close that the epsilon at delta is smooth between them."""
    narrow = float(mixture.sigmas.min())
    count = int(min(400.0, max(60.0, 1.5 / narrow)))
    return np.union1d(np.linspace(0.02, 1.0, count), 1 - np.geomspace(1e-5, 0.5, 60))


def _shift_epsilons(mixture: Mixture, shifts: Array, goal: Goal) -> tuple[Array, ...]:
    count, pairs = shifts.size, mixture.sigmas.size
    numbers = [np.empty(count) for _ in range(2)]
    rows = [np.empty((count, pairs)) for _ in range(3)]
    _core.additive.shift_epsilons(*mixture, shifts, goal.delta, goal.epsilon, *numbers, *rows)
    return (*numbers, *rows)
