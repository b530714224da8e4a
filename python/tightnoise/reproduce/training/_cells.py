"""The mechanisms that are compared, and each with one noise: tuned, trained, and accounted for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs import IndividualCost, InstanceLedger
from tightnoise.leakage import fil_logistic
from tightnoise.mechanisms import (
    CoordinateMechanism,
    Gaussian,
    QuantizedGaussian,
    RankOne,
    RectifiedGaussian,
    StochasticSign,
    TruncatedGaussian,
)
from tightnoise.reproduce.training._descent import (
    STEPS,
    Clip,
    Release,
    accuracy,
    descend,
    residuals,
)
from tightnoise.reproduce.training._features import Examples, Task

Noise = Callable[[float], CoordinateMechanism]

GAUSSIAN = "Gaussian"


def _rectified(half_width: float) -> Noise:
    return lambda s: RectifiedGaussian(s, -half_width * s, half_width * s)


def _truncated(half_width: float) -> Noise:
    return lambda s: TruncatedGaussian(s, -half_width * s, half_width * s)


SOME: dict[str, Noise] = {
    GAUSSIAN: Gaussian,
    "rectified, 0.5 sigma": _rectified(0.5),
    "truncated, 2 sigma": _truncated(2.0),
    "sign": StochasticSign,
    "8 levels, 1 sigma": lambda s: QuantizedGaussian(s, -s, s, 8),
}
"""From sigma to the mechanism; the width is half of that of the support about 0."""

ALL = SOME | {
    "rectified, 1 sigma": _rectified(1.0),
    "truncated, 1 sigma": _truncated(1.0),
}


Array = NDArray[np.float64]

DELTA = 1e-5
ORDER = 8.0
"""The order at which the costs of single examples are compared."""

_ORDERS = (1.5, 2.0, 3.0, 4.0, ORDER, 16.0, 32.0, 64.0, 128.0, 256.0)
_TUNING_SEEDS = (1_000_001, 1_000_002)  # never those of the runs that are reported


class Grid(NamedTuple):
    """What is searched, for each mechanism and each noise by itself; and what is watched."""

    clips: Sequence[Clip]
    """All with one norm."""
    rates: Sequence[float]
    """Learning rates."""
    watched: int
    """The examples whose own costs are computed."""


def cell(task: Task, noise: Noise, share: float, grid: Grid, seeds: int) -> dict[str, Any]:
    """Return accuracies and costs of training with a noise of sigma = share * examples * clip.

    Clip and learning rate are the best of the grid on the held-out examples, which neither the
    training nor the test sees. What that choice tells of them is not accounted for.
    """
    count = len(task.train.labels)
    tuned = []
    for clip in grid.clips:
        mechanism = noise(share * count * clip.bound)
        found, rate = _best_rate(task, clip, mechanism, grid.rates)
        tuned.append((found, rate, clip, mechanism))
    held_out, rate, clip, mechanism = max(tuned, key=lambda row: row[0])
    watched = (
        _Box(mechanism, clip, seeds)
        if clip.norm == "linf"
        else _Records(mechanism, clip, task.train, grid.watched, seeds)
    )
    runs = range(1, seeds + 1)
    weights = descend(
        task.train, task.classes, clip, mechanism, [rate] * seeds, runs, seen=watched.see
    )
    return {
        "clip": clip.bound,
        "rate": rate,
        "held out": held_out,
        "accuracies": accuracy(weights, task.test).tolist(),
        "epsilon": (mechanism.cost(sensitivity=clip.length(weights[0].size)) * STEPS).epsilon(
            DELTA
        ),
        **watched.found(),
    }


def _best_rate(
    task: Task, clip: Clip, mechanism: CoordinateMechanism, rates: Sequence[float]
) -> tuple[float, float]:
    """Return the best accuracy on the held-out examples, and the rate that has it."""
    each = [rate for rate in rates for _ in _TUNING_SEEDS]
    seeds = [*_TUNING_SEEDS] * len(rates)
    weights = descend(task.train, task.classes, clip, mechanism, each, seeds)
    means = accuracy(weights, task.held_out).reshape(len(rates), -1).mean(axis=1)
    best = int(means.argmax())
    return float(means[best]), rates[best]


class _Box:
    """Sums up, along each run, what its releases cost all neighbours in the box of the clip."""

    def __init__(self, mechanism: CoordinateMechanism, clip: Clip, seeds: int) -> None:
        self._mechanism, self._clip = mechanism, clip
        # Each sum depends on earlier outputs: along a run this is no bound, and is called so.
        self._ledgers = [InstanceLedger(history="realised") for _ in range(seeds)]

    def see(self, release: Release) -> None:
        here = self._mechanism.cost_at(release.theta, coordinate_sensitivity=self._clip.bound)
        self._ledgers[release.run].compose(here)

    def found(self) -> dict[str, Any]:
        return {"realised": [ledger.realised_epsilon(DELTA) for ledger in self._ledgers]}


class _Records:
    """Sums up, along each run, what its releases cost and tell of some examples."""

    def __init__(
        self,
        mechanism: CoordinateMechanism,
        clip: Clip,
        examples: Examples,
        watched: int,
        seeds: int,
    ) -> None:
        self._mechanism, self._clip = mechanism, clip
        self._gaussian = Gaussian(mechanism.sigma)
        chosen = np.random.default_rng(0).permutation(len(examples.labels))[:watched]
        self._examples = examples.some(chosen)
        self._eta_squared = np.zeros((seeds, len(chosen)))
        # Along a run no bound, as those of `_Box`.
        self._own, self._gaussians = (
            [InstanceLedger(history="realised") for _ in range(seeds)] for _ in range(2)
        )

    def see(self, release: Release) -> None:
        run, weights, theta = release
        features, labels = self._examples
        information = np.broadcast_to(self._mechanism.fisher_information(theta), theta.shape)
        eta = fil_logistic(weights, features, labels, information, clip=self._clip.scaled_to)
        self._eta_squared[run] += eta**2
        residual = residuals(weights[np.newaxis], self._examples)
        left = (residual * self._clip.factors(residual, features)[:, :, np.newaxis])[:, 0]
        contributions = RankOne(left, features)
        for mechanism, ledgers in ((self._mechanism, self._own), (self._gaussian, self._gaussians)):
            here = mechanism.individual_cost_at(theta, contributions, orders=_ORDERS)
            ledgers[run].compose(here)

    def found(self) -> dict[str, Any]:
        own, gaussian = (
            [ledger.realised_individual for ledger in ledgers]
            for ledgers in (self._own, self._gaussians)
        )
        at = _ORDERS.index(ORDER)
        shares = [
            a.individual[:, at] / b.individual[:, at] for a, b in zip(own, gaussian, strict=True)
        ]
        return {
            # Of the matrices' sum in expectation, the mean over runs of the sum is an upper bound
            # of the greatest eigenvalue, here estimated from as many runs as there are seeds.
            "eta squared": self._eta_squared.tolist(),
            "shares": [np.quantile(share, (0.5, 0.99, 1.0)).tolist() for share in shares],
            "individual": [_middle_and_most(cost) for cost in own],
            "Gaussian's": [_middle_and_most(cost) for cost in gaussian],
        }


def _middle_and_most(cost: IndividualCost) -> list[float]:
    epsilons = cost.epsilon(DELTA)
    return [float(np.median(epsilons)), float(epsilons.max())]
