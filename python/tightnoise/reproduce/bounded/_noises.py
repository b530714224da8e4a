"""The mechanisms of Table 1: the noise that each takes, its cost, and how far the output is off.

The paper's numerical example is two numbers of a graph with 10 nodes: the algebraic connectivity,
in [0, 10], and the degree of one node, in [1, 9]. Graphs are neighbours if they differ in `EDGES`
edges. An edge changes the connectivity by at most 2 and the degree by at most 1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tightnoise import calibrate
from tightnoise.compare.bounded_errors import errors_of, utility_of
from tightnoise.mechanisms import BoundedLaplace, TruncatedGaussian
from tightnoise.reproduce.bounded._theorem import generalized_sigma, theorem_sigma

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


def _theorem(epsilon: float) -> float:
    return theorem_sigma(epsilon, LOWER, UPPER, SENSITIVITY)


def _generalized(epsilon: float) -> float:
    return generalized_sigma(epsilon, LOWER, UPPER, SENSITIVITIES)


def _gaussian(epsilon: float, **sensitivity: Any) -> float:
    noise = calibrate.truncated_gaussian(epsilon, lower=LOWER, upper=UPPER, **sensitivity)
    return float(noise.sigma)


def _laplace(epsilon: float, **sensitivity: Any) -> float:
    noise = calibrate.bounded_laplace(epsilon, lower=LOWER, upper=UPPER, **sensitivity)
    return float(noise.scale)


_BALL: dict[str, Any] = {"sensitivity": SENSITIVITY}
_BOX: dict[str, Any] = {"coordinate_sensitivity": SENSITIVITIES}

SIGMA: dict[str, Callable[[float], float]] = {
    "generalized": functools.cache(_generalized),
    "Theorem 13": functools.cache(_theorem),
    "ball": functools.cache(functools.partial(_gaussian, **_BALL)),
    "box": functools.cache(functools.partial(_gaussian, **_BOX)),
}
"""What gives sigma for an epsilon. Ball: exact for the L2 sensitivity; box: for one of each."""

LAPLACE: dict[str, Callable[[float], float]] = {
    "ball": functools.cache(functools.partial(_laplace, **_BALL)),
    "box": functools.cache(functools.partial(_laplace, **_BOX)),
}
"""The same for the scale of the bounded Laplace mechanism."""


def true_epsilon(sigma: float, sensitivity: float | tuple[float, ...]) -> float:
    """Return what one release of both numbers costs."""
    noise = TruncatedGaussian(sigma, np.array(LOWER), np.array(UPPER))
    if isinstance(sensitivity, tuple):
        cost = noise.cost(coordinate_sensitivity=sensitivity, domain=(LOWER, UPPER))
    else:
        cost = noise.cost(sensitivity=sensitivity, domain=(LOWER, UPPER))
    return cost.epsilon(0.0)


@functools.cache
def gaussian_averages(sigma: float) -> Averages:
    """Return how far the truncated Gaussian is off."""
    return _averages(functools.partial(TruncatedGaussian, sigma))


@functools.cache
def laplace_averages(scale: float) -> Averages:
    """Return how far the bounded Laplace mechanism is off."""
    return _averages(functools.partial(BoundedLaplace, scale))


def _averages(within: Callable[[float, float], object]) -> Averages:
    """Add up the coordinates; `within` makes a mechanism from the ends of its domain."""
    both = [
        utility_of(errors_of(within(lower, upper), lower, upper))
        for lower, upper in zip(LOWER, UPPER, strict=True)
    ]
    return Averages(sum(one.variance_average for one in both), sum(one.mse_average for one in both))
