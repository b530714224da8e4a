"""What the literature takes for the sigma of a truncated Gaussian without a delta.

`theorem_sigma`: Theorem 6, or 13 for a box, of "The Bounded Gaussian Mechanism for Differential
Privacy", the fixed point of sigma^2 = (L + c/2) c/(epsilon - log Delta C(sigma)), whose sigma^2 is
up to 3.25 times as large as it must be. `generalized_sigma`: the bound that they compare with, of
the generalized Gaussian mechanism (Liu 2019, "Generalized Gaussian Mechanism for Differential
Privacy", Definition 5), sigma^2 = sum (2 L c + c^2)/epsilon over the coordinates, for an L2
sensitivity by Cauchy-Schwarz. Sensitivities are numbers (of a box in L2 norm) or one for each
coordinate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tightnoise._core import domain as core
from tightnoise.calibrate._domain import Domain, domain_of


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
