"""What is known of the true value before the release: a density on the range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import number_array, require, require_all

Array = NDArray[np.float64]


class Prior(NamedTuple):
    """A density that is constant on cells, by the distance from the lower end of the range."""

    edges: Array
    mass: Array
    """The probability of each cell; they sum to 1."""

    @property
    def is_uniform(self) -> bool:
        """Whether all true values are alike."""
        return self.mass.size == 1

    @property
    def density(self) -> Array:
        """The density on each cell."""
        density: Array = self.mass / np.diff(self.edges)
        return density

    def moments(self) -> tuple[float, float]:
        """Return mean and variance."""
        _, mean, variance = self.moments_between(self.edges[[0, -1]])
        return float(mean[0]), float(variance[0])

    def moments_between(self, edges: Array) -> tuple[Array, Array, Array]:
        """Return the probability, the mean and the variance within each of some intervals."""
        fine = np.union1d(self.edges, edges)
        middle, length = 0.5 * (fine[1:] + fine[:-1]), np.diff(fine)
        mass = length * self.density_at(middle)
        inside = np.searchsorted(edges, middle) - 1

        def total(values: Array) -> Array:
            return np.bincount(inside, values, minlength=edges.size - 1).astype(np.float64)

        probability = total(mass)
        mean = total(mass * middle) / probability
        spread = length * length / 12.0 + (middle - mean[inside]) ** 2
        return probability, mean, total(mass * spread) / probability

    def density_at(self, distance: Array) -> Array:
        """Return the density at each distance."""
        cell = np.searchsorted(self.edges[1:-1], distance, side="right")
        density: Array = self.density[cell]
        return density


def weights_of(prior: object) -> tuple[float, ...]:
    """Return the weights of equally wide cells of the range, after checking them."""
    given = number_array("prior", prior)
    require(given.ndim == 1 and given.size > 0, "prior", prior, "a list of weights")
    good = (given > 0) & (given < np.inf)
    require_all(good, "prior", given, "greater than 0 and finite: weights of equally wide cells")
    return tuple(given.tolist())


def prior_of(weights: Sequence[float] | None, width: float) -> Prior:
    """Return the prior with these weights of equally wide cells; None is the uniform one."""
    mass = np.ones(1) if weights is None else np.array(weights) / max(weights)
    changes = np.flatnonzero(np.diff(mass)) + 1  # equal neighbours are one cell
    starts = np.concatenate([[0], changes])
    edges = width * (np.append(starts, mass.size) / mass.size)
    return Prior(edges, np.add.reduceat(mass, starts) / mass.sum())
