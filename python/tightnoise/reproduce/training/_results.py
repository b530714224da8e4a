"""What the cells found, and mechanisms at equal accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.reproduce._study import Results
from tightnoise.reproduce.training._cells import GAUSSIAN

Array = NDArray[np.float64]
Norm = Literal["l2", "linf"]

SHARES: dict[Norm, tuple[float, ...]] = {
    "l2": (1 / 6000, 1 / 1500, 1 / 375, 1 / 190, 1 / 95),
    "linf": (1 / 160, 1 / 110, 1 / 75, 1 / 50, 1 / 33, 1 / 20),
}
"""Sigma in units of the clip times the number of examples, by the norm that is clipped.

Only those that are at least the clip: below, epsilon is above 20 with an L2 clip.
"""

RESAMPLES = 200


def shares_of(norm: Norm, examples: int) -> list[float]:
    """Return the noises to run with so many examples."""
    return [share for share in SHARES[norm] if share * examples >= 1.0]


def cell_name(norm: Norm, noise: str, share: float) -> str:
    """Return the name of a cell in the state of the study."""
    return f"{norm}, sigma 1/{1 / share:.0f}, {noise}"


def proven(cell: Any) -> float:
    """Return the epsilon that holds for every data set."""
    return float(cell["epsilon"])


def accounted(cell: Any) -> Array:
    """Return the epsilon along each run, of the realised and the proven one the lesser.

    Of the Gaussian, which costs all data the same, the proven one.
    """
    return np.asarray(np.minimum(cell["realised"], cell["epsilon"]))


def greatest_loss(cell: Any) -> Array:
    """Return the square of the greatest Fisher information loss of an example, of each run."""
    return np.asarray(np.max(cell["eta squared"], axis=1))


def middle_loss(cell: Any) -> Array:
    """Return the square of the median Fisher information loss, of each run."""
    return np.asarray(np.median(cell["eta squared"], axis=1))


class Line(NamedTuple):
    """One mechanism with growing noise: arrays of shape (noises, seeds)."""

    accuracies: Array
    costs: Array

    @property
    def means(self) -> Array:
        return np.asarray(self.accuracies.mean(axis=1))

    @property
    def mean_costs(self) -> Array:
        return np.asarray(self.costs.mean(axis=1))


class Found(NamedTuple):
    """The results, with what tables say of the data."""

    data: str
    examples: int
    """To learn from."""
    numbers: int
    """Released at each step."""
    seeds: int
    watched: int
    """Examples whose own costs were computed."""
    noises: Sequence[str]
    results: Results

    def shares(self, norm: Norm) -> list[float]:
        """Return the noises that were run."""
        return shares_of(norm, self.examples)

    def of(self, norm: Norm, noise: str, share: float) -> Any:
        """Return what one cell found."""
        return self.results[cell_name(norm, noise, share)]

    def line(self, norm: Norm, noise: str, cost: Callable[[Any], Any]) -> Line:
        """Return a mechanism with all noises; `cost` takes one number or more from a cell."""
        found = [self.of(norm, noise, share) for share in self.shares(norm)]
        accuracies = np.array([cell["accuracies"] for cell in found])
        costs = [np.broadcast_to(cost(cell), accuracies.shape[1]) for cell in found]
        return Line(accuracies, np.array(costs, dtype=np.float64))

    def changes(self, norm: Norm, noise: str, cost: Callable[[Any], Any]) -> list[Change]:
        """Return, for each noise, the change against the Gaussian at equal accuracy."""
        line, gaussian = self.line(norm, noise, cost), self.line(norm, GAUSSIAN, cost)
        return [
            _change(line.accuracies[i], line.costs[i], gaussian) for i in range(len(line.costs))
        ]


class Change(NamedTuple):
    """How much less a noise costs than the Gaussian that is as accurate, as a logarithm."""

    value: float
    """-inf where the Gaussian is as accurate with no noise of the study, NaN where it is more
    accurate with each."""
    error: float
    """The standard error, by resampled seeds; NaN where most of those are not finite."""
    less: float
    """The share of resampled seeds with which it costs less."""
    more: float
    """The share with which it costs more."""


def reached_at(accuracy: float, line: Line) -> float:
    """Return the least cost at which a mechanism is as accurate: inf if it never is.

    NaN if it is more accurate with the most noise that was run. Between noises the logarithm of the
    cost is linear in the accuracy.
    """
    means, costs = line.means[::-1], line.mean_costs[::-1]  # from the most noise on
    reached = np.flatnonzero(means >= accuracy)
    if not reached.size:
        return math.inf
    i = int(reached[0])
    if i == 0:
        return float(costs[0]) if means[0] == accuracy else math.nan
    share = (accuracy - means[i - 1]) / (means[i] - means[i - 1])
    return float(costs[i - 1] * (costs[i] / costs[i - 1]) ** share)


def _change(accuracies: Array, costs: Array, held_to: Line) -> Change:
    rng = np.random.default_rng(0)
    seeds = len(accuracies)

    def change(own: NDArray[np.intp], theirs: NDArray[np.intp]) -> float:
        line = Line(
            np.take_along_axis(held_to.accuracies, theirs, axis=1),
            np.take_along_axis(held_to.costs, theirs, axis=1),
        )
        cost = reached_at(float(accuracies[own].mean()), line)
        return -math.inf if math.isinf(cost) else math.log(float(costs[own].mean()) / cost)

    resampled = np.array(
        [
            change(rng.integers(seeds, size=seeds), rng.integers(seeds, size=held_to.costs.shape))
            for _ in range(RESAMPLES)
        ]
    )
    every = np.arange(seeds)
    known = resampled[np.isfinite(resampled)]
    return Change(
        change(every, np.broadcast_to(every, held_to.accuracies.shape)),
        float(known.std(ddof=1)) if 2 * known.size > resampled.size else math.nan,
        float((resampled < 0).mean()),
        float((resampled > 0).mean()),
    )
