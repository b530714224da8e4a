"""Section 6.1 of Hu et al. (2024) run: data, noise, cost and error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise.mechanisms import CoordinateMechanism, Gaussian, RectifiedGaussian
from tightnoise.random import NoiseStream
from tightnoise.reproduce._table import Table
from tightnoise.reproduce.bounded._estimation import DIMENSION, RECORDS, SENSITIVITY, SIGMA

Array = NDArray[np.float64]

REPETITIONS = 100
ALPHA = 2.0


@dataclass(frozen=True)
class Averages:
    """The averages of the clipped records, and the variance of the records about them.

    Arrays of shape (repetitions, `DIMENSION`).
    """

    mu: float
    average: Array
    variance: Array


@dataclass(frozen=True)
class Setting:
    """Noise of `sigma`, clipped to [-half_width, half_width]."""

    mu: float
    sigma: float
    half_width: float


@dataclass(frozen=True)
class Study:
    """What a setting gives, each over that of the plain Gaussian.

    Parameters
    ----------
    cost : float
        Of the Renyi cost of order 2, the mean over the repetitions.
    error, standard_error : float
        Of the squared error about mu, as sampled, over what is expected of the Gaussian.
    expected_error : float
        The same, expected.
    distance : float
        Of the expected squared distance to the records.
    """

    cost: float
    error: float
    standard_error: float
    expected_error: float
    distance: float


def draw_averages(
    means: Sequence[float], rng: np.random.Generator, repetitions: int
) -> dict[float, Averages]:
    """Draw N(mu, 1), clip to [-1, 1], and average over the records; the same draws for all mu."""
    shape = len(means), repetitions, DIMENSION
    averages, squares = np.empty(shape), np.empty(shape)
    for repetition in range(repetitions):
        centred = rng.standard_normal((RECORDS, DIMENSION))
        for number, mu in enumerate(means):
            records = np.clip(centred + mu, -1.0, 1.0)
            averages[number, repetition] = records.mean(axis=0)
            squares[number, repetition] = np.einsum("ij,ij->j", records, records) / RECORDS
    return {
        mu: Averages(mu, average, square - average**2)
        for mu, average, square in zip(means, averages, squares, strict=True)
    }


def _cost_at(mechanism: CoordinateMechanism, theta: ArrayLike) -> float:
    """Return the divergence of order `ALPHA` that a release of theta costs."""
    cost = mechanism.cost_at(theta, coordinate_sensitivity=SENSITIVITY)
    return float(cost.rdp([ALPHA]).values[0])


def run(averages: Averages, setting: Setting, rng: NoiseStream) -> Study:
    """Release the averages with noise, clipped, and compare with the plain Gaussian."""
    mechanism = RectifiedGaussian(setting.sigma, -setting.half_width, setting.half_width)
    theta, mu = averages.average, averages.mu
    costs = [_cost_at(mechanism, one) for one in theta]
    gaussian = _cost_at(Gaussian(setting.sigma), theta[0])
    squares = (mechanism.sample(theta, rng=rng) - mu) ** 2
    mean, var = mechanism.mean(theta), mechanism.var(theta)
    plain = setting.sigma**2 + np.mean((theta - mu) ** 2)
    to_records = np.mean(var + (mean - theta) ** 2 + averages.variance)
    return Study(
        cost=float(np.mean(costs) / gaussian),
        error=float(squares.mean() / plain),
        standard_error=float(squares.std() / squares.size**0.5 / plain),
        expected_error=float(np.mean(var + (mean - mu) ** 2) / plain),
        distance=float(to_records / (setting.sigma**2 + averages.variance.mean())),
    )


SETTINGS = (
    *(Setting(0.0, SIGMA, kappa * SIGMA) for kappa in (0.133, 0.5, 1.0, 3.0)),
    *(Setting(mu, SIGMA, a) for mu, a in ((0.4, 0.0133), (0.8, 0.549))),
    *(Setting(0.0, SIGMA * SENSITIVITY, a) for a in (1e-4, 0.01, 0.05)),
)
"""The paper's sigma at several a, with the best of them at some mu, and much less noise."""


def mean_estimation(repetitions: int = REPETITIONS) -> Table:
    """Return the study run with a fixed seed: costs by `rdp`, errors as sampled."""
    generator = np.random.default_rng(20240307)
    means = sorted({setting.mu for setting in SETTINGS})
    every = draw_averages(means, generator, repetitions)
    rows = {}
    for seed, setting in enumerate(SETTINGS):
        study = run(every[setting.mu], setting, NoiseStream(seed))
        label = f"{setting.mu:g}, {setting.sigma:.4g}, {setting.half_width:.4g}"
        rows[label] = (
            *(study.cost, study.error, study.standard_error, study.expected_error),
            100.0 * (study.distance - 1.0),
        )
    return Table.of(
        f"Hu et al. (2024), section 6.1: {RECORDS} records, {DIMENSION} coordinates, "
        f"{repetitions} repetitions; rectified over plain Gaussian",
        "mu, sigma, a",
        ("cost", "error", "its se", "expected", "to records, %"),
        rows,
        f"Cost: per-instance Renyi-DP of order {ALPHA:g} when one record is replaced. Error: "
        "squared, about mu, as sampled; expected: given the averages. To records: change of the "
        "expected squared distance to the records. The last rows have noise of 0.4 times the "
        "sensitivity, far less than the spread of the averages: most coordinates lie beyond a "
        "bound that is near 0, and cost nothing, and the distance to the records hardly changes.",
    )


EXAMPLES: tuple[Callable[[], Table], ...] = (mean_estimation,)
"""What computes each example."""
