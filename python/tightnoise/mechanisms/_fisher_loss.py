"""The Fisher information loss of releasing one value."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats
from tightnoise._validate import float_array, require
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW
from tightnoise.mechanisms import _sketched
from tightnoise.mechanisms._coordinate_law import CoordinateLaw
from tightnoise.sketch import Sketch

Array = NDArray[np.float64]
Theta = ArrayLike | Sketch

_SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


def loss_of_box(law: CoordinateLaw, theta: Theta, coordinate_sensitivity: ArrayLike) -> float:
    """Return sqrt(sum (c_j eta_j)^2)."""
    if isinstance(theta, Sketch):
        count = _count(theta)
        changes = law.changes(coordinate_sensitivity)
        total = _sketched.fisher_sum(law, theta, changes)
    else:
        values = law.theta(theta)
        count = values.size
        changes = law.changes(coordinate_sensitivity, values.shape)
        total = law.fisher_sum(values, changes)
    return _upper(law, math.sqrt(total), changes, count)


def loss_of_norm(law: CoordinateLaw, theta: Theta, sensitivity: float) -> float:
    """Return the largest eta_j times a bound on the spectral norm of the Jacobian."""
    if isinstance(theta, Sketch):
        count, greatest = _count(theta), _sketched.greatest_fisher(law, theta)
    else:
        count, greatest = 1, float(np.max(law.map("fisher_information", law.theta(theta))))
    eta = _upper(law, math.sqrt(max(greatest, 0.0)), np.ones(1), count)
    return eta if sensitivity == 1.0 else sensitivity * eta * (1.0 + COST_MARGIN)


def loss_of_jacobian(law: CoordinateLaw, theta: Theta, jacobian: ArrayLike) -> float:
    """Return the spectral norm of diag(eta_j) J."""
    if isinstance(theta, Sketch):
        _count(theta)
        theta = np.concatenate(theta.sources(), axis=None)
    values, matrix = law.theta(theta), float_array("jacobian", jacobian)
    information = np.maximum(law.map("fisher_information", values), 0.0).ravel()
    return _upper(law, _spectral_norm(np.sqrt(information), matrix), matrix, matrix.size)


def _count(sketch: Sketch) -> int:
    require(sketch.count > 0, "theta", sketch, "not empty")
    return sketch.count


def _upper(law: CoordinateLaw, eta: float, weights: Floats, count: int) -> float:
    """Return eta with its margins: it was made of `count` numbers of at most max |weights|.

    What underflows to 0 is below COST_UNDERFLOW before the division by sigma^2, or below the
    smallest normal number after it.
    """
    largest = float(np.max(np.abs(weights)))
    if largest == 0.0:
        return 0.0
    in_sigmas = largest / float(np.min(law.scale))
    lost = math.sqrt(COST_UNDERFLOW) * in_sigmas + math.sqrt(_SMALLEST_NORMAL)
    return eta * (1.0 + COST_MARGIN) + math.sqrt(count) * lost


def _spectral_norm(eta: Array, jacobian: Floats) -> float:
    if jacobian.ndim != 2 or jacobian.shape[0] != eta.size or jacobian.shape[1] == 0:
        raise ValueError(
            f"jacobian must have shape ({eta.size}, m), m at least 1; got shape {jacobian.shape}"
        )
    entry = float(np.abs(jacobian).max())
    if entry == 0.0:
        return 0.0
    if not np.isfinite(eta).all():
        return math.inf
    scaled = eta[:, np.newaxis] * np.divide(jacobian, entry, dtype=np.float64)
    largest = float(np.abs(scaled).max())
    if not 0.0 < largest < np.inf:
        return largest
    scaled /= largest  # no square can overflow, nor all of them underflow
    gram = scaled.T @ scaled if jacobian.shape[1] <= eta.size else scaled @ scaled.T
    return entry * largest * math.sqrt(float(np.linalg.eigvalsh(gram)[-1]))
