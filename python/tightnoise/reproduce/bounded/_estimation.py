"""Section 6.1 of Hu et al. (2024): an average with noise, clipped, and what that costs.

900 records of 100 coordinates are drawn from N(mu, 1) and clipped to [-1, 1]. Their average gets
Gaussian noise and is clipped to [-a, a]. At mu = 0 the paper finds "up to 30 % reduction in the
privacy cost while only suffering from < 0.5 % change in the MSE loss (e.g. sigma = 0.4)".

One record moves a coordinate by at most 2/900, which is little beside sigma = 0.4. For a shift c so
small D_alpha = alpha (c eta)^2 / 2 in either direction and for either neighbour, so that costs are
as Fisher informations eta^2. Everything here is exact but for that, and for theta, which is taken
at its mean: the average of the records is within 0.06 of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise.mechanisms import CoordinateMechanism, Gaussian, RectifiedGaussian, StochasticSign
from tightnoise.random import NoiseStream
from tightnoise.reproduce._bisection import bisected
from tightnoise.reproduce._table import Figure, Table, beside

Array = NDArray[np.float64]

RECORDS, DIMENSION = 900, 100
SIGMA = 0.4
SENSITIVITY = 2.0 / RECORDS
"""The most that replacing one record moves a coordinate of the average."""

NEARLY = 0.005
"""What the paper calls a small change of the mean squared error."""

LEAST_RATIO = 2.0 / math.pi
"""The ratio of costs in the middle of a support without width: that of the stochastic sign."""


def centred_cost(kappa: float) -> float:
    """Return the cost over the Gaussian's in the middle of [-kappa sigma, kappa sigma].

    Examples
    --------
    >>> from tightnoise.reproduce.bounded._estimation import centred_cost, centred_error
    >>> round(centred_cost(1.0), 4), round(centred_error(1.0), 4)
    (0.9368, 0.5161)
    """
    return float(RectifiedGaussian(1.0, -kappa, kappa).fisher_information(0.0))


def centred_error(kappa: float) -> float:
    """Return the mean squared error over the Gaussian's; there is no bias in the middle."""
    return float(RectifiedGaussian(1.0, -kappa, kappa).var(0.0))


def clipped_mean(mu: float) -> float:
    """Return the mean of a record's coordinate, N(mu, 1) clipped to [-1, 1]: theta."""
    return float(RectifiedGaussian(1.0, -1.0, 1.0).mean(mu))


def support_ratios(mu: float, half_widths: Array) -> tuple[Array, Array]:
    """Return cost and mean squared error, about mu, over the Gaussian's, for supports [-a, a]."""
    theta = clipped_mean(mu)
    mechanism = RectifiedGaussian(SIGMA, -half_widths, half_widths)
    thetas = np.full(half_widths.shape, theta)
    costs = SIGMA**2 * mechanism.fisher_information(thetas)
    errors = mechanism.var(thetas) + (mechanism.mean(thetas) - mu) ** 2
    return costs, errors / (SIGMA**2 + (theta - mu) ** 2)


def tuned_support(mu: float, half_widths: Array) -> float:
    """Return the least cost ratio of these supports whose error is not worse by `NEARLY`."""
    costs, errors = support_ratios(mu, half_widths)
    return float(costs[errors <= 1.0 + NEARLY].min())


def best_support(mu: float) -> tuple[float, float]:
    """Return the narrowest support [-a, a] whose error is not worse by `NEARLY`: a, cost ratio.

    Clipping once more to a narrower support is post-processing, so that the narrowest costs least.
    It is 0, and the figure a limit, where even an output of 0 is close enough to mu.
    """
    theta = clipped_mean(mu)
    if mu**2 <= (1.0 + NEARLY) * (SIGMA**2 + (theta - mu) ** 2):
        return 0.0, SIGMA**2 * float(StochasticSign(SIGMA).fisher_information(theta))

    def is_worse(half_width: float) -> bool:
        return float(support_ratios(mu, np.array([half_width]))[1][0]) > 1.0 + NEARLY

    step = SIGMA / 40.0
    trials = step * np.arange(1.0, 401.0)
    first = float(trials[np.argmax(support_ratios(mu, trials)[1] <= 1.0 + NEARLY)])
    _, narrowest = bisected(is_worse, first - step, first)
    return narrowest, float(support_ratios(mu, np.array([narrowest]))[0][0])


CENTRED: dict[float, tuple[str, str]] = {
    0.133: ("0.700088", "0.0164398"),
    0.25: ("0.749230", "0.0542403"),
    0.39: ("0.800095", "0.121019"),
    0.5: ("0.834327", "0.185128"),
    0.774: ("0.900082", "0.366309"),
    1.0: ("0.936824", "0.516059"),
    1.11: ("0.950150", "0.583654"),
    2.0: ("0.994800", "0.920537"),
    2.5: ("0.998895", "0.977560"),
    3.0: ("0.999810", "0.995007"),
}
"""a / sigma: the ratios of costs and of squared errors at theta = 0, in 40-digit arithmetic."""

SWEEP: dict[float, tuple[str, str, str]] = {
    0.0: ("0.00000", "0.636620", "0.65"),
    0.1: ("0.00000", "0.629927", "0.65"),
    0.2: ("0.00000", "0.610393", "0.63"),
    0.4: ("0.00000", "0.539783", "0.56"),
    0.5: ("0.128612", "0.638426", "0.64"),
    0.6: ("0.288889", "0.738735", "0.74"),
    0.8: ("0.548101", "0.842620", "0.86"),
}
"""mu: the best a and its ratio of costs, in 40-digit arithmetic, and the ratio of a tuned a."""

TUNED = np.linspace(SIGMA / 30.0, 10.0 * SIGMA, 100)
"""The supports that are tried."""


def _cost_at(mechanism: CoordinateMechanism, theta: ArrayLike) -> float:
    """Return the divergence of order 2 that a release of theta costs."""
    return float(mechanism.cost_at(theta, coordinate_sensitivity=SENSITIVITY).rdp([2]).values[0])


def centred_table() -> Table:
    """Return what a support around the mean saves."""
    gaussian = _cost_at(Gaussian(SIGMA), [0.0])

    def figures(kappa: float) -> tuple[Figure, ...]:
        cost = _cost_at(RectifiedGaussian(SIGMA, -kappa * SIGMA, kappa * SIGMA), [0.0])
        ours = centred_cost(kappa), centred_error(kappa)
        return *beside(ours, CENTRED[kappa]), cost / gaussian

    return Table.of(
        "Hu et al. (2024), section 6.1: rectified over plain Gaussian, mu = 0",
        "a / sigma",
        ("cost", "squared error", "cost, c = 2/900"),
        {kappa: figures(kappa) for kappa in CENTRED},
        "Cost: of Fisher informations, to which the Renyi divergences of all orders tend for small "
        f"shifts. The last column has those of order 2 for sigma {SIGMA:g} and the shift that one "
        "of 900 records makes.",
    )


def claim_table() -> Table:
    """Return what "30 % less cost and less than 0.5 % change of the error" can mean."""
    _, almost = bisected(lambda kappa: centred_error(kappa) < 1.0 - NEARLY, 2.0, 4.0)
    _, thrifty = bisected(lambda kappa: centred_cost(kappa) < 0.7, 0.05, 0.5)

    def figures(kappa: float, cost: float, error: float, *expected: str) -> tuple[Figure, ...]:
        return beside((kappa, 100.0 * (1.0 - cost), 100.0 * (error - 1.0)), expected)

    def centred(kappa: float, *expected: str) -> tuple[Figure, ...]:
        return figures(kappa, centred_cost(kappa), centred_error(kappa), *expected)

    return Table.of(
        "Hu et al. (2024), section 6.1: the most that can be saved at mu = 0",
        "with",
        ("a / sigma", "cost saved, %", "change of error, %"),
        {
            "error within 0.5 %": centred(almost, "2.99955", "0.0190815", "-0.500000"),
            "30 % saved": centred(thrifty, "0.132803", "30.0000", "-98.3607"),
            "limit of narrow supports": figures(
                *(0.0, LEAST_RATIO, 0.0), "0.000", "36.3380", "-100.000"
            ),
        },
        "For shifts this small cost and accuracy are one Fisher information: what saves 30 % says "
        "next to nothing of the data, and its error is small only because the truth lies in the "
        "middle. Of the error about the mean, the paper's claim holds one-sidedly (not worse by "
        "0.5 %) or not at all. The other reading is of the distance to the records with noise of "
        "0.4 times the sensitivity, beside which noise hardly matters (--examples).",
    )


def sweep_table() -> Table:
    """Return what can be saved where the truth is not in the middle."""
    return Table.of(
        f"Hu et al. (2024), Figure 2: least cost over the Gaussian's, error not worse by 0.5 %, "
        f"sigma {SIGMA:g}",
        "mu",
        ("a of the best", "its cost", f"cost, best of {TUNED.size}"),
        {
            mu: beside((*best_support(mu), tuned_support(mu, TUNED)), texts)
            for mu, texts in SWEEP.items()
        },
        "The average of the clipped records is nearer to 0 than mu, and so is the middle of the "
        f"support. The last column: a from {TUNED[0]:.4f} to {TUNED[-1]:g} in equal steps. The "
        "paper's text has no numbers of its figure. It says that less is saved as mu grows, which "
        "is so beyond 0.4.",
    )


TABLES: tuple[Callable[[], Table], ...] = (centred_table, claim_table, sweep_table)


# --- the study run: data, noise, cost and error

REPETITIONS = 100


class Averages(NamedTuple):
    """The averages of the clipped records, and the variance of the records about them.

    Arrays of shape (repetitions, `DIMENSION`).
    """

    mu: float
    average: Array
    variance: Array


class Setting(NamedTuple):
    """Noise of `sigma`, clipped to [-half_width, half_width]."""

    mu: float
    sigma: float
    half_width: float


class Study(NamedTuple):
    """What a setting gives, each over that of the plain Gaussian."""

    cost: float
    """Of the Renyi cost of order 2, the mean over the repetitions."""
    error: float
    """Of the squared error about mu, as sampled, over what is expected of the Gaussian."""
    standard_error: float
    expected_error: float
    distance: float
    """Change of the expected squared distance to the records, in %."""


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
        distance=100.0 * float(to_records / (setting.sigma**2 + averages.variance.mean()) - 1.0),
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
        label = f"{setting.mu:g}, {setting.sigma:.4g}, {setting.half_width:.4g}"
        rows[label] = run(every[setting.mu], setting, NoiseStream(seed))
    return Table.of(
        f"Hu et al. (2024), section 6.1: {RECORDS} records, {DIMENSION} coordinates, "
        f"{repetitions} repetitions; rectified over plain Gaussian",
        "mu, sigma, a",
        ("cost", "error", "its se", "expected", "to records, %"),
        rows,
        "Cost: per-instance Renyi-DP of order 2 when one record is replaced. Error: "
        "squared, about mu, as sampled; expected: given the averages. To records: change of the "
        "expected squared distance to the records. The last rows have noise of 0.4 times the "
        "sensitivity, far less than the spread of the averages: most coordinates lie beyond a "
        "bound that is near 0, and cost nothing, and the distance to the records hardly changes.",
    )
