"""Private proximal coordinate descent for l1-regularised logistic regression.

Mangold et al. (2022), "Differentially Private Coordinate Descent for Composite Empirical Risk
Minimization", Algorithm 1, as in section D.7 of the paper: noise is added to one coordinate of the
gradient at a time, so that each release is a scalar.

**Sensitivity.** Neighbours differ in the value of one record, features and label, and their number
N is public. A record's part of coordinate j of the gradient of the mean loss is
-y x_j sigmoid(-y <h, x>) / N, and lies strictly between -1/N and 1/N where abs(x_j) <= 1: one
record moves the coordinate by less than `sensitivity(N)` = 2/N, whatever h. (Multiplied by N, this
is the paper's 2.) All else is a function of noisy coordinates and of what no record influences:
which coordinates are updated, the step, and the regularisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEP = 4.0
"""One over the largest curvature of the mean logistic loss along a coordinate: max(x_j^2) / 4."""

PENALTY = 1e-8
"""The paper's lambda."""


@dataclass(frozen=True)
class Schedule:
    """Which coordinate each update is about: an array of shape (iterations, updates)."""

    coordinates: NDArray[np.intp]

    @property
    def releases(self) -> int:
        """The number of scalars that are released."""
        return self.coordinates.size


def draw_schedule(dim: int, rng: np.random.Generator, iterations: int = 100) -> Schedule:
    """Return ceil(dim / 4) coordinates an iteration, drawn uniformly and without the data."""
    return Schedule(rng.integers(dim, size=(iterations, -(-dim // 4))))


def sensitivity(records: int) -> float:
    """Return the most that one of `records` can move a coordinate of the mean gradient."""
    return 2.0 / records


def mean_gradient(column: Array, margins: Array) -> Array:
    """Return a coordinate of the gradient of the mean logistic loss, for each data set.

    Parameters
    ----------
    column : ndarray
        y x_j of each record, of shape (data sets, records).
    margins : ndarray
        y <h, x> of each record, of the same shape.
    """
    # -column / (1 + exp(margin)): an exponential that overflows gives 0, which is right.
    with np.errstate(over="ignore"):
        gradient: Array = -np.mean(column / (1.0 + np.exp(margins)), axis=-1)
    return gradient


def descend(signed: Array, schedule: Schedule, noise: Array) -> Array:
    """Return the classifiers that noisy proximal coordinate descent finds.

    Parameters
    ----------
    signed : ndarray
        y x_j, of shape (features, data sets, records); many data sets are worked on at once.
    schedule : Schedule
    noise : ndarray
        What is added to the coordinates of the gradients: (iterations, updates, data sets).

    Returns
    -------
    ndarray
        h, of shape (features, data sets).
    """
    dim, sets, _ = signed.shape
    h = np.zeros((dim, sets))
    margins = np.zeros(signed.shape[1:])
    for chosen, noises in zip(schedule.coordinates, noise, strict=True):
        # An iteration ends with the mean of the classifiers that it went through.
        h_sum, margins_sum = np.zeros_like(h), np.zeros_like(margins)
        for j, z in zip(chosen, noises, strict=True):
            stepped = h[j] - STEP * (mean_gradient(signed[j], margins) + z)
            shrunk = np.sign(stepped) * np.maximum(np.abs(stepped) - STEP * PENALTY, 0.0)
            margins += (shrunk - h[j])[:, None] * signed[j]
            h[j] = shrunk
            h_sum += h
            margins_sum += margins
        h, margins = h_sum / len(chosen), margins_sum / len(chosen)
    return h


def error_rates(h: Array, signed: Array) -> Array:
    """Return the share of records on the wrong side, for each data set.

    Parameters
    ----------
    h : ndarray
        Of shape (features, data sets).
    signed : ndarray
        y x_j, of shape (features, data sets, records).
    """
    margins = np.einsum("js,jsn->sn", h, signed)
    rates: Array = np.mean(margins <= 0.0, axis=-1)
    return rates
