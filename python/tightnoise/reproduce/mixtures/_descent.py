"""Private proximal coordinate descent for l1-regularised logistic regression, at one price.

Mangold et al. (2022), "Differentially Private Coordinate Descent for Composite Empirical Risk
Minimization", Algorithm 1, as in section D.7 of the paper: noise is added to one coordinate of the
gradient at a time, so that each release is a scalar. All releases are (epsilon, delta)-DP together,
by exact composition, with each kind of noise.

**Sensitivity.** Neighbours differ in the value of one record, features and label, and their number
N is public. A record's part of coordinate j of the gradient of the mean loss is
-y x_j sigmoid(-y <h, x>) / N, and lies strictly between -1/N and 1/N where abs(x_j) <= 1: one
record moves the coordinate by less than `sensitivity(N)` = 2/N, whatever h. (Multiplied by N, this
is the paper's 2.) All else is a function of noisy coordinates and of what no record influences:
which coordinates are updated, the step, and the regularisation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

import tightnoise.calibrate as calibrate
from tightnoise.compare import best_noise
from tightnoise.mechanisms import Gaussian, MultiGaussianMixture, QuasiGaussianMixture
from tightnoise.mechanisms.additive import AdditiveNoise
from tightnoise.random import NoiseStream
from tightnoise.reproduce._bisection import bisected
from tightnoise.reproduce._paper import require_for_examples
from tightnoise.reproduce._table import Table, mean_and_error

Array = NDArray[np.float64]


class Splits(NamedTuple):
    """y x_j for many random splits: arrays of shape (features, splits, records)."""

    train: Array
    test: Array


def load() -> tuple[Array, Array]:
    """Return 569 records of 30 features in [-1, 1], and their labels -1 or 1.

    The data come with scikit-learn; nothing is downloaded. The description published with them
    lists the smallest and the largest value of every feature. These ranges are taken as public, and
    are all that the scaling knows of the data.
    """
    require_for_examples("sklearn", "scikit-learn")
    from sklearn.datasets import load_breast_cancer

    features, labels = load_breast_cancer(return_X_y=True)
    ranges = features.min(axis=0), features.max(axis=0)
    return scaled(features, *ranges), np.where(labels == 1, 1.0, -1.0)


def scaled(features: Array, lowest: Array, largest: Array) -> Array:
    """Return the features moved from their public ranges to [-1, 1]; beyond them, clipped."""
    unit = (features - lowest) / (largest - lowest)
    return np.clip(2.0 * unit - 1.0, -1.0, 1.0)


def split_of(features: Array, labels: Array, splits: int, rng: np.random.Generator) -> Splits:
    """Return `splits` random splits into 80 % for training and 20 % for testing."""
    signed = (labels[:, None] * features).T
    records = len(labels)
    orders = np.stack([rng.permutation(records) for _ in range(splits)])
    at = round(0.8 * records)
    return Splits(signed[:, orders[:, :at]], signed[:, orders[:, at:]])


# --- the descent

STEP = 4.0
"""One over the largest curvature of the mean logistic loss along a coordinate: max(x_j^2) / 4."""

PENALTY = 1e-8
"""The paper's lambda."""


Schedule = NDArray[np.intp]
"""Which coordinate each update is about, of shape (iterations, updates)."""


def draw_schedule(dim: int, rng: np.random.Generator, iterations: int = 100) -> Schedule:
    """Return ceil(dim / 4) coordinates an iteration, drawn uniformly and without the data."""
    return rng.integers(dim, size=(iterations, -(-dim // 4)))


def sensitivity(records: int) -> float:
    """Return the most that one of `records` can move a coordinate of the mean gradient."""
    return 2.0 / records


def mean_gradient(column: Array, margins: Array) -> Array:
    """Return a coordinate of the gradient of the mean logistic loss, for each data set.

    Parameters
    ----------
    column : ndarray
        y x_j of each record, of shape (data sets, records).
    margins : ndarray
        y <h, x> of each record, of the same shape.
    """
    # -column / (1 + exp(margin)): an exponential that overflows gives 0, which is right.
    with np.errstate(over="ignore"):
        gradient: Array = -np.mean(column / (1.0 + np.exp(margins)), axis=-1)
    return gradient


def descend(signed: Array, schedule: Schedule, noise: Array) -> Array:
    """Return the classifiers that noisy proximal coordinate descent finds.

    Parameters
    ----------
    signed : ndarray
        y x_j, of shape (features, data sets, records); many data sets are worked on at once.
    schedule : ndarray
        The coordinates.
    noise : ndarray
        What is added to the coordinates of the gradients: (iterations, updates, data sets).

    Returns
    -------
    ndarray
        h, of shape (features, data sets).
    """
    dim, sets, _ = signed.shape
    h = np.zeros((dim, sets))
    margins = np.zeros(signed.shape[1:])
    for chosen, noises in zip(schedule, noise, strict=True):
        # An iteration ends with the mean of the classifiers that it went through.
        h_sum, margins_sum = np.zeros_like(h), np.zeros_like(margins)
        for j, z in zip(chosen, noises, strict=True):
            stepped = h[j] - STEP * (mean_gradient(signed[j], margins) + z)
            shrunk = np.sign(stepped) * np.maximum(np.abs(stepped) - STEP * PENALTY, 0.0)
            margins += (shrunk - h[j])[:, None] * signed[j]
            h[j] = shrunk
            h_sum += h
            margins_sum += margins
        h, margins = h_sum / len(chosen), margins_sum / len(chosen)
    return h


def error_rates(h: Array, signed: Array) -> Array:
    """Return the share of records on the wrong side, for each data set.

    Parameters
    ----------
    h : ndarray
        Of shape (features, data sets).
    signed : ndarray
        y x_j, of shape (features, data sets, records).
    """
    margins = np.einsum("js,jsn->sn", h, signed)
    rates: Array = np.mean(margins <= 0.0, axis=-1)
    return rates


# --- the noises

MODES = 10
"""The paper's rule of thumb."""

TOLERANCE = 1e-6
"""How far above the least sigma the one that is found may be, relative."""

Noise = TypeVar("Noise", bound=AdditiveNoise)


class Budget(NamedTuple):
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
    """Return the Gaussian mechanism of least sigma that the budget allows.

    As k releases cost what one with sqrt(k) the sensitivity does.
    """
    together = budget.sensitivity * budget.releases**0.5
    return calibrate.gaussian(budget.epsilon, budget.delta, sensitivity=together)


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
    high = float(gaussian(budget).sigma)
    while not budget.allows(with_sigma(high)):
        high *= 1.02
    low = 0.98 * high
    while budget.allows(with_sigma(low)):
        low, high = 0.98 * low, low
    _, high = bisected(lambda sigma: not budget.allows(with_sigma(sigma)), low, high, TOLERANCE)
    return with_sigma(high)


# --- the table

EPSILON = 5.0
SPLITS = 100

Mechanism = Gaussian | AdditiveNoise

NOISES: dict[str, Callable[[Budget], Mechanism]] = {
    "Gaussian": gaussian,
    "quasi-Gaussian": quasi_gaussian,
    "multi-Gaussian": multi_gaussian,
}


def coordinate_descent() -> Table:
    """Return the errors on scikit-learn's breast-cancer data, over random splits."""
    rng = np.random.default_rng(20260)
    features, labels = load()
    splits = split_of(features, labels, SPLITS, rng)
    schedule = draw_schedule(features.shape[1], rng)
    records = splits.train.shape[-1]
    budget = Budget(EPSILON, records**-2.0, sensitivity(records), schedule.size)
    mechanisms = {name: calibrated(budget) for name, calibrated in NOISES.items()}
    best = best_noise(
        budget.epsilon,
        budget.delta,
        sensitivity=budget.sensitivity,
        loss="l2",
        count=budget.releases,
    ).best
    mechanisms[f"best of all ({best.name})"] = best.mechanism
    return errors_table(splits, schedule, budget, mechanisms)


def errors_table(
    splits: Splits,
    schedule: Schedule,
    budget: Budget,
    mechanisms: dict[str, Mechanism],
) -> Table:
    """Return the errors with each mechanism; the first of them is what the others are held to."""
    shape = (*schedule.shape, splits.train.shape[1])
    zeros = np.zeros(shape)
    noises = {"none": zeros} | {
        name: mechanism.sample(zeros, rng=NoiseStream(seed))
        for seed, (name, mechanism) in enumerate(mechanisms.items())
    }
    inside, outside = {}, {}
    for name, noise in noises.items():
        h = descend(splits.train, schedule, noise)
        inside[name], outside[name] = error_rates(h, splits.train), error_rates(h, splits.test)
    first = next(iter(mechanisms))
    variance = {"none": 0.0} | {name: float(m.var(0.0)) for name, m in mechanisms.items()}
    return Table.of(
        f"Logistic regression by {schedule.size} noisy scalars, ({budget.epsilon:g}, "
        f"{budget.delta:.1e})-DP together: errors in %",
        "noise",
        (
            *("deviation", "variance, +%", "in-sample", "its sd"),
            *("out-of-sample", "sd of it", "difference", "its se"),
        ),
        {
            name: (
                variance[name] ** 0.5 / budget.sensitivity,
                100.0 * (variance[name] / variance[first] - 1.0),
                *_spread(inside[name]),
                *_spread(outside[name]),
                *mean_and_error(100.0 * (outside[name] - outside[first])),
            )
            for name in noises
        },
        f"Over {shape[-1]} random splits of {splits.train.shape[-1]} records to learn from and "
        f"{splits.test.shape[-1]} to test. Deviation: of the noise, over the sensitivity. "
        f"Variance: above the {first}'s. Difference: of the out-of-sample error from the {first}'s "
        "on the same splits, and its standard error, which leaves out that splits overlap.",
    )


def _spread(errors: Array) -> tuple[float, float]:
    return 100.0 * float(errors.mean()), 100.0 * float(errors.std(ddof=1))
