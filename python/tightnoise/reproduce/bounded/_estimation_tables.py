"""Section 6.1 of Hu et al. (2024): what clipping a noisy average saves, exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tightnoise.mechanisms import CoordinateMechanism, Gaussian, RectifiedGaussian
from tightnoise.reproduce._bisection import bisected
from tightnoise.reproduce._table import Figure, Table, beside
from tightnoise.reproduce.bounded._estimation import (
    LEAST_RATIO,
    NEARLY,
    SENSITIVITY,
    SIGMA,
    best_support,
    centred_cost,
    centred_error,
    tuned_support,
)

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


def _cost_at_0(mechanism: CoordinateMechanism) -> float:
    """Return the divergence of order 2 that a release of 0 costs."""
    return float(mechanism.cost_at([0.0], coordinate_sensitivity=SENSITIVITY).rdp([2]).values[0])


def centred_table() -> Table:
    """Return what a support around the mean saves."""
    gaussian = _cost_at_0(Gaussian(SIGMA))

    def figures(kappa: float) -> tuple[Figure, ...]:
        cost = _cost_at_0(RectifiedGaussian(SIGMA, -kappa * SIGMA, kappa * SIGMA))
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
