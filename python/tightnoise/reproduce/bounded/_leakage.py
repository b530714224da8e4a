"""What a bounded mechanism tells of theta: soundly, and by the rule of Hu et al. (2024).

Hu, Mahloujifar, Smith, Chaudhuri and Guo (2024), "Privacy Amplification for the Gaussian Mechanism
via Bounded Support". Their Proposition 5.1 and Algorithm 1 take D(theta || theta + c) for the cost
at theta. A neighbour may be at theta - c too, and the divergence may be larger the other way round,
so that their figure is below the truth: `one_shift` is **not a valid bound**, nor is
`one_shift_both_ways`, the maximum of section 4.2.2. The cost is what `cost_at` says.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tightnoise.mechanisms import RectifiedGaussian, StochasticSign, TruncatedGaussian
from tightnoise.mechanisms.base import CoordinateMechanism

LOWER, UPPER = -1.0, 1.0
"""The support in Figure 1."""

SENSITIVITY = 1.0
ALPHA = 2.0

MECHANISMS: dict[str, Callable[[float], CoordinateMechanism]] = {
    "rectified": lambda sigma: RectifiedGaussian(sigma, LOWER, UPPER),
    "truncated": lambda sigma: TruncatedGaussian(sigma, LOWER, UPPER),
    "sign": StochasticSign,
}
"""The mechanisms of Figure 1, each for a sigma."""

GAUSSIAN = {0.5: (2.0, 4.0), 1.0: (1.0, 1.0)}
"""sigma: 1 / sigma and alpha c^2 / (2 sigma^2), the loss and the cost of the plain Gaussian."""


def eta(mechanism: CoordinateMechanism, theta: float) -> float:
    """Return the Fisher information loss at theta, for a Jacobian of 1."""
    return math.sqrt(float(mechanism.fisher_information(theta)))


def one_shift(mechanism: CoordinateMechanism, theta: float, alpha: float = ALPHA) -> float:
    """Return D(theta || theta + c), which Algorithm 1 takes for the cost. Not a valid bound."""
    return float(mechanism.renyi_divergence(theta, theta + SENSITIVITY, alpha))


def one_shift_both_ways(
    mechanism: CoordinateMechanism, theta: float, alpha: float = ALPHA
) -> float:
    """Return the larger of D(theta || theta + c) and D(theta + c || theta). Not a valid bound."""
    back = float(mechanism.renyi_divergence(theta + SENSITIVITY, theta, alpha))
    return max(one_shift(mechanism, theta, alpha), back)


def sound(mechanism: CoordinateMechanism, theta: float, alpha: float = ALPHA) -> float:
    """Return the cost at theta: the supremum over all neighbours, either way round.

    Examples
    --------
    Far to the right of the support, what counts is the neighbour that is less far.

    >>> import tightnoise as tn
    >>> from tightnoise.reproduce.bounded._leakage import one_shift, sound
    >>> m = tn.StochasticSign(sigma=0.5)
    >>> round(one_shift(m, 3.0), 5), round(sound(m, 3.0), 4)
    (0.00156, 0.7014)
    """
    cost = mechanism.cost_at([theta], coordinate_sensitivity=SENSITIVITY)
    return float(cost.rdp([alpha]).values[0])
