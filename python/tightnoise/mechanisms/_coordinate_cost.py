"""What noise on each coordinate costs wherever theta lies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise import _core
from tightnoise._arrays import broadcast_shape
from tightnoise._validate import (
    float_array,
    not_negative,
    number_array,
    real_scalar,
    require,
    require_all,
)
from tightnoise.costs import Cost
from tightnoise.costs._pairs import BoxPair, DomainPair, GaussianPair, gaussian_of_mu, ratio

__all__ = ["domain_cost", "gaussian_cost"]

Array = NDArray[np.float64]


def gaussian_cost(
    sigma: float | Array,
    sensitivity: float | None,
    coordinate_sensitivity: ArrayLike | None,
    *,
    is_bound: bool,
    adjacency: Any,
) -> Cost:
    """Return the cost of Gaussian noise, or of a function of its output, on every coordinate."""
    if sensitivity is None and coordinate_sensitivity is None:
        raise TypeError("sensitivity or coordinate_sensitivity must be given, or both")
    pairs = []
    if sensitivity is not None:
        change = not_negative("sensitivity", sensitivity)
        if change == 0:
            return Cost()
        multiplier = ratio(float(np.min(sigma)), change)
        pairs.append(GaussianPair(multiplier, is_bound, adjacency=adjacency))
    if coordinate_sensitivity is not None:
        mu = _distance(sigma, coordinate_sensitivity)
        if mu == 0:
            return Cost()
        pairs.append(gaussian_of_mu(mu, is_bound=is_bound, adjacency=adjacency))
    return Cost.of_leaf(max(pairs, key=lambda pair: pair.noise_multiplier))


def _distance(sigma: float | Array, coordinate_sensitivity: ArrayLike) -> float:
    """Return the root of the sum of (c_j/sigma_j)^2, rounded up."""
    change = float_array("coordinate_sensitivity", coordinate_sensitivity)
    require_all(change >= 0, "coordinate_sensitivity", change, "at least 0")
    if change.ndim == 0 and np.ndim(sigma) == 0:
        raise ValueError(
            "coordinate_sensitivity must be an array of the release's shape, as "
            "numpy.broadcast_to(c, d) is: a number says nothing of how many coordinates there are; "
            f"got {coordinate_sensitivity!r}"
        )
    shape = broadcast_shape(sigma=np.asarray(sigma), coordinate_sensitivity=change)
    steps = np.asarray(change / sigma, dtype=np.float64)
    if steps.ndim and 0 in steps.strides and change.base is not None:
        unique = change[
            tuple(
                slice(0, 1) if stride == 0 else slice(None)
                for stride in np.broadcast_to(change, shape).strides
            )
        ]
        steps = np.asarray(unique / sigma, dtype=np.float64)
    repeats = math.prod(shape) / steps.size
    largest = float(steps.max())
    if largest == 0:
        return 0.0
    scaled = steps / largest
    root = largest * math.sqrt(float(np.sum(scaled * scaled)) * repeats)
    return root * (1 + 1e-12)


def domain_cost(
    law: str,
    scale: float | Array,
    bounds: tuple[float | Array, float | Array],
    domain: Any,
    sensitivity: float | None,
    coordinate_sensitivity: ArrayLike | None,
    adjacency: Any,
) -> Cost:
    """Return the cost of noise with bounds where theta lies between them, or in a narrower domain.

    One number: the worst pair of that interval. Several: the pure epsilon of the box, and for
    Gaussians the noise without bounds beside it.
    """
    lower, upper = (np.asarray(bound) for bound in bounds)
    low, high = (number_array("domain", side) for side in domain)
    inside = (low >= lower) & (high <= upper) & (low < high)
    require(bool(np.all(inside)), "domain", domain, "within the bounds of the mechanism")
    if sensitivity is None and coordinate_sensitivity is None:
        raise TypeError("sensitivity or coordinate_sensitivity must be given")
    if np.ndim(scale):
        raise ValueError("scale must be one number for a domain; got an array")
    width = np.atleast_1d(_width_upper(lower, upper))
    is_box = (
        lower.ndim > 0
        or upper.ndim > 0
        or (coordinate_sensitivity is not None and np.ndim(coordinate_sensitivity) > 0)
    )
    if not is_box:
        given = sensitivity if sensitivity is not None else coordinate_sensitivity
        change = real_scalar("sensitivity", given)
        require(change >= 0, "sensitivity", given, "at least 0")
        if change == 0:
            return Cost()
        leaf = DomainPair(law, float(scale), float(width[0]), change, adjacency=adjacency)
        return Cost.of_leaf(leaf)
    found = np.empty(())
    name = law.replace("-gaussian", "").replace("-", "_")
    at = np.asarray(float(scale))
    if sensitivity is not None:
        change = not_negative("sensitivity", sensitivity)
        _core.domain.ball_epsilon(name, np.ascontiguousarray(width), change, at, found)
    else:
        each = float_array("coordinate_sensitivity", coordinate_sensitivity)
        shape = np.broadcast_shapes(width.shape, each.shape)
        changes = np.array(np.broadcast_to(each, shape), dtype=np.float64)
        widths = np.array(np.broadcast_to(width, shape))
        _core.domain.corner_epsilon(name, widths, changes, at, found)
        change = float(np.linalg.norm(changes)) * (1 + 1e-12)
    mu = math.inf if law == "bounded-laplace" else change / float(scale) * (1 + 1e-12)
    return Cost.of_leaf(BoxPair(float(found), mu, adjacency=adjacency))


def _width_upper(lower: Array, upper: Array) -> Array:
    """Return upper - lower, rounded up: a wider domain costs more."""
    with np.errstate(over="ignore"):
        width = np.asarray(upper - lower)
        part = width + lower
        left_out = (upper - part) - (lower + (width - part))  # Knuth's sum of two
    return np.asarray(np.where(left_out > 0, np.nextafter(width, np.inf), width))
