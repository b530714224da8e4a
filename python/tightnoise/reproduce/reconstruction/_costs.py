"""What the trainings and the releases cost."""

from __future__ import annotations

from tightnoise.reproduce.reconstruction._noises import Noise
from tightnoise.reproduce.reconstruction._scope import Scope

__all__ = ["epsilon", "epsilon_of_one", "paper_epsilon"]


def paper_epsilon(scope: Scope, noise: Noise) -> float:
    """Return epsilon of the training in the relation that the paper's numbers are for."""
    cost = noise.cost(scope.weights, replaced=False).sampled(scope.rate, "poisson")
    return (cost * scope.steps).epsilon(scope.delta)


def epsilon(scope: Scope, noise: Noise) -> float:
    """Return epsilon of the training for batches of a fixed size and a record that is replaced."""
    cost = noise.cost(scope.weights, replaced=True).sampled(scope.rate, "fixed-size")
    return (cost * scope.steps).epsilon(scope.delta)


def epsilon_of_one(scope: Scope, noise: Noise) -> float:
    """Return epsilon of one release of a sum in which a record is replaced."""
    return noise.cost(scope.weights, replaced=True).epsilon(scope.delta)
