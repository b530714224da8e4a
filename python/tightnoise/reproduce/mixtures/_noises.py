"""Noise for many scalar releases that are (epsilon, delta)-DP together, by exact composition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import tightnoise.calibrate as calibrate
from tightnoise.mechanisms import Gaussian, MultiGaussianMixture, QuasiGaussianMixture
from tightnoise.mechanisms.additive import AdditiveNoise
from tightnoise.reproduce._bisection import bisected

MODES = 10
"""The paper's rule of thumb."""

TOLERANCE = 1e-6
"""How far above the least sigma the one that is found may be, relative."""

Noise = TypeVar("Noise", bound=AdditiveNoise)


@dataclass(frozen=True)
class Budget:
    """What all releases may cost together, and what one person can change each of them by."""

    epsilon: float
    delta: float
    sensitivity: float
    releases: int

    def allows(self, mechanism: AdditiveNoise) -> bool:
        """Return whether the releases cost no more."""
        cost = mechanism.cost(sensitivity=self.sensitivity) * self.releases
        return cost.epsilon(self.delta, by="losses") <= self.epsilon


def gaussian(budget: Budget) -> Gaussian:
    """Return the Gaussian mechanism of least sigma that the budget allows."""
    return Gaussian(_gaussian_sigma(budget))


def _gaussian_sigma(budget: Budget) -> float:
    """Return its sigma: k releases cost what one with sqrt(k) the sensitivity does."""
    together = budget.sensitivity * budget.releases**0.5
    return float(calibrate.gaussian(budget.epsilon, budget.delta, sensitivity=together).sigma)


def multi_gaussian(budget: Budget) -> MultiGaussianMixture:
    """Return the least noisy mixture of 2 `MODES` + 1 Gaussians with the weights of epsilon."""
    epsilon, sensitivity = budget.epsilon, budget.sensitivity
    return _least(budget, lambda s: MultiGaussianMixture(s, epsilon, sensitivity, MODES))


def quasi_gaussian(budget: Budget) -> QuasiGaussianMixture:
    """Return the least noisy quasi-Gaussian with the weights of epsilon."""
    epsilon, sensitivity = budget.epsilon, budget.sensitivity
    return _least(budget, lambda s: QuasiGaussianMixture(s, epsilon, sensitivity))


def _least(budget: Budget, with_sigma: Callable[[float], Noise]) -> Noise:
    """Return the mechanism of least sigma that the budget allows, by bisection from above.

    Both mixtures are near the Gaussian where many small releases call for a sigma far above the
    sensitivity, so the search starts at the Gaussian's.
    """
    high = _gaussian_sigma(budget)
    while not budget.allows(with_sigma(high)):
        high *= 1.02
    low = 0.98 * high
    while budget.allows(with_sigma(low)):
        low, high = 0.98 * low, low
    _, high = bisected(lambda sigma: not budget.allows(with_sigma(sigma)), low, high, TOLERANCE)
    return with_sigma(high)
