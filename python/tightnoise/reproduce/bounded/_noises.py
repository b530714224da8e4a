"""The mechanisms of Table 1: the noise that each takes, its cost, and how far the output is off.

The paper's numerical example is two numbers of a graph with 10 nodes: the algebraic connectivity,
in [0, 10], and the degree of one node, in [1, 9]. Graphs are neighbours if they differ in `EDGES`
edges. An edge changes the connectivity by at most 2 and the degree by at most 1.

`theorem_sigma`: Theorem 6, or 13 for a box, of "The Bounded Gaussian Mechanism for Differential
Privacy", the fixed point of sigma^2 = (L + c/2) c/(epsilon - log Delta C(sigma)), whose sigma^2 is
up to 3.25 times as large as it must be. `generalized_sigma`: the bound that they compare with, of
the generalized Gaussian mechanism (Liu 2019, "Generalized Gaussian Mechanism for Differential
Privacy", Definition 5), sigma^2 = sum (2 L c + c^2)/epsilon over the coordinates, for an L2
sensitivity by Cauchy-Schwarz. Sensitivities are numbers (of a box in L2 norm) or one for each
coordinate.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tightnoise import calibrate
from tightnoise._core import domain as core
from tightnoise.calibrate._domain import Domain, domain_of
from tightnoise.compare.bounded_errors import errors_of, utility_of
from tightnoise.mechanisms import BoundedLaplace, TruncatedGaussian


def theorem_sigma(
    epsilon: float, lower: ArrayLike, upper: ArrayLike, sensitivity: ArrayLike
) -> float:
    """Return the sigma of the theorem, rounded up: at most a part in 1e12 of epsilon is unused."""
    where = _domain(lower, upper, sensitivity)
    if not where.is_box:
        place = float(where.width), float(where.change)
        return float(core.truncated_theorem_sigma(epsilon, *place))
    sigma = np.empty(())
    of_box = core.ball_scale if where.is_ball else core.corner_scale
    change: Any = float(where.change) if where.is_ball else where.change
    of_box("truncated_theorem", where.width, change, np.array(float(epsilon)), sigma)
    return float(sigma)


def generalized_sigma(
    epsilon: float, lower: ArrayLike, upper: ArrayLike, sensitivity: ArrayLike
) -> float:
    """Return the sigma of the generalized Gaussian mechanism, rounded up."""
    where = _domain(lower, upper, sensitivity)
    # In units of the widest side, so that squares do not overflow.
    unit = float(np.max(where.width))
    width = where.width / unit
    if where.change.ndim == 0:
        width = np.sqrt(np.sum(width * width))  # of the farthest values, and by Cauchy-Schwarz
    shift = np.minimum(where.change / unit, width)
    bound = np.sum(shift * (2.0 * width + shift))
    # A sum of up to 1e8 numbers by pairs, and a root: off by less than 1e-14.
    return float(unit * (np.sqrt(bound / epsilon) * (1.0 + 1e-14)))


def _domain(lower: ArrayLike, upper: ArrayLike, sensitivity: ArrayLike) -> Domain:
    if np.ndim(sensitivity):
        return domain_of(lower, upper, None, sensitivity)
    return domain_of(lower, upper, sensitivity, None)


LOWER = (0.0, 1.0)
UPPER = (10.0, 9.0)
WIDTHS = (10.0, 8.0)

EDGES = 2
SENSITIVITIES = (2.0 * EDGES, 1.0 * EDGES)
SENSITIVITY = math.hypot(*SENSITIVITIES)
"""Of both together, by the L2 norm: the square root of 5, times `EDGES`."""

EPSILONS = (0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
"""The rows of Table 1."""

MIDDLE = sum(width * width for width in WIDTHS) / 12.0
"""The mean squared error of a release that is always the middle of the domain, and costs nothing.

Over true values that are uniform on the domain, both coordinates together.
"""


class Averages(NamedTuple):
    """Over true values that are uniform on the domain, both coordinates together."""

    variance: float
    square: float
    """The mean squared error of the output."""


_DOMAIN: dict[str, Any] = {"lower": LOWER, "upper": UPPER}
_BALL: dict[str, Any] = {**_DOMAIN, "sensitivity": SENSITIVITY}
_BOX: dict[str, Any] = {**_DOMAIN, "coordinate_sensitivity": SENSITIVITIES}


@functools.cache
def _sigma(method: str, epsilon: float) -> float:
    if method == "generalized":
        return generalized_sigma(epsilon, LOWER, UPPER, SENSITIVITIES)
    if method == "Theorem 13":
        return theorem_sigma(epsilon, LOWER, UPPER, SENSITIVITY)
    where = _BALL if method == "ball" else _BOX
    return float(calibrate.truncated_gaussian(epsilon, **where).sigma)


@functools.cache
def _scale(method: str, epsilon: float) -> float:
    where = _BALL if method == "ball" else _BOX
    return float(calibrate.bounded_laplace(epsilon, **where).scale)


SIGMA: dict[str, Callable[[float], float]] = {
    method: functools.partial(_sigma, method)
    for method in ("generalized", "Theorem 13", "ball", "box")
}
"""What gives sigma for an epsilon. Ball: exact for the L2 sensitivity; box: for one of each."""

LAPLACE: dict[str, Callable[[float], float]] = {
    method: functools.partial(_scale, method) for method in ("ball", "box")
}
"""The same for the scale of the bounded Laplace mechanism."""


def true_epsilon(sigma: float, sensitivity: float | tuple[float, ...]) -> float:
    """Return what one release of both numbers costs."""
    noise = TruncatedGaussian(sigma, np.array(LOWER), np.array(UPPER))
    bound: dict[str, Any] = {
        "coordinate_sensitivity" if isinstance(sensitivity, tuple) else "sensitivity": sensitivity
    }
    return noise.cost(**bound, domain=(LOWER, UPPER)).epsilon(0.0)


@functools.cache
def _averages(family: Any, scale: float) -> Averages:
    both = [
        utility_of(errors_of(family(scale, lower, upper), lower, upper))
        for lower, upper in zip(LOWER, UPPER, strict=True)
    ]
    return Averages(sum(one.variance_average for one in both), sum(one.mse_average for one in both))


gaussian_averages = functools.partial(_averages, TruncatedGaussian)
"""What says how far the truncated Gaussian is off, for a sigma."""

laplace_averages = functools.partial(_averages, BoundedLaplace)
"""The same of the bounded Laplace mechanism, for a scale."""
