"""One number in [0, 10]: Theorem 6, exact calibration, and other mechanisms.

The paper has no figures for it. Expected ones were computed apart from this package, by quadrature
and, where delta is not 0, by a scan over the true value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from tightnoise import calibrate
from tightnoise.compare.bounded_errors import errors_of, utility_of
from tightnoise.mechanisms import BoundedLaplace, TruncatedGaussian
from tightnoise.reproduce._table import Table, beside, figures
from tightnoise.reproduce.bounded._noises import theorem_sigma

WIDTH = 10.0

MIDDLE = WIDTH * WIDTH / 12.0
"""The mean squared error of a release that is always the middle."""

(VARIANCES,) = figures(
    """
 1.0 1e-06 1.50000e+07 5.00001e+06 3.0000
 1.0   0.1     147.519      56.223 2.6238
 1.0   1.0      13.007       7.608 1.7097
 1.0   3.0       3.927       2.818 1.3935
 1.0 100.0      0.1057      0.0943 1.1207
 4.0 1e-06 6.00000e+07 2.00000e+07 3.0000
 4.0   0.1     598.338     204.801 2.9216
 4.0   1.0      58.392      23.572 2.4772
 4.0   3.0      18.566       8.954 2.0735
 4.0 100.0      0.4834      0.3178 1.5209
10.0 1e-06 1.62500e+08 5.00000e+07 3.2500
10.0   0.1    1624.360     500.000 3.2487
10.0   1.0     161.870      50.000 3.2374
10.0   3.0      53.562      16.667 3.2137
10.0 100.0      1.5105      0.5000 3.0209
""",
    3,
    settings=2,
)
"""Sensitivity, epsilon: sigma^2 by Theorem 6, the least, and their ratio."""

(ERRORS,) = figures(
    """
 1.0 0.1 15.571 13.942  18.7727 14.658
 1.0 0.3 13.500 10.533   6.0806 10.974
 1.0 1.0  8.114  5.553   1.6116  3.313
 1.0 3.0  3.183  2.367   0.4245  0.326
 4.0 0.1 16.390 15.870  63.5464 16.060
 4.0 0.3 15.845 14.472  20.8731 14.854
 4.0 1.0 14.034 10.965   5.9232 10.845
 4.0 3.0  9.870  6.289   1.6897  3.544
10.0 0.1 16.564 16.336 100.0000 16.280
10.0 0.3 16.361 15.693  33.3333 15.519
10.0 1.0 15.665 13.637  10.0000 13.017
10.0 3.0 13.819  9.348   3.3333  7.565
""",
    4,
    settings=2,
)
"""Sensitivity, epsilon: mean squared error with sigma by Theorem 6 and with the least; the scale of
bounded Laplace noise and its error."""

BUDGETS: dict[float, dict[tuple[float, float], tuple[str | None, str, str]]] = {
    1.0: {
        (0.1, 0.0): (None, "13.098", "7.498"),
        (0.1, 1e-5): ("30.75", "13.095", "7.415"),
        (1.0, 0.0): (None, "3.229", "2.758"),
        (1.0, 1e-5): ("3.731", "3.223", "2.697"),
        (1.0, 1e-3): ("2.575", "2.575", "2.290"),
        (3.0, 0.0): (None, "1.810", "1.679"),
        (3.0, 1e-5): ("1.391", "1.391", "1.375"),
    },
    5.0: {
        (0.1, 0.0): (None, "45.313", "15.939"),
        (0.1, 1e-5): ("153.7", "45.30", "15.78"),
        (1.0, 0.0): (None, "7.589", "5.311"),
        (1.0, 1e-5): ("18.65", "7.589", "5.295"),
        (3.0, 0.0): (None, "3.871", "3.244"),
        (3.0, 1e-5): ("6.953", "3.871", "3.237"),
    },
}
"""Sensitivity, (epsilon, delta): sigma of the Gaussian, the rectified and the truncated one."""


def _variance_table(sensitivity: float) -> Table:
    def variances(epsilon: float) -> tuple[float, float, float]:
        theorem = theorem_sigma(epsilon, 0.0, WIDTH, sensitivity) ** 2
        domain: Any = {"lower": 0.0, "upper": WIDTH, "sensitivity": sensitivity}
        exact = float(calibrate.truncated_gaussian(epsilon, **domain).sigma) ** 2
        return theorem, exact, theorem / exact

    least = (WIDTH + 0.5 * sensitivity) / (WIDTH - 0.5 * sensitivity)
    expected = VARIANCES[sensitivity].items()
    return Table.of(
        f"One number in [0, 10], sensitivity {sensitivity:g}: sigma^2 of the truncated Gaussian",
        "epsilon",
        ("Theorem 6", "exact", "ratio"),
        {epsilon: beside(variances(epsilon), texts) for epsilon, texts in expected},
        f"As epsilon grows the ratio falls to {least:.4f}.",
    )


class Mechanisms(NamedTuple):
    """Calibrated to one epsilon."""

    theorem: TruncatedGaussian
    exact: TruncatedGaussian
    laplace: BoundedLaplace


def mechanisms(epsilon: float, sensitivity: float) -> Mechanisms:
    """Return the truncated Gaussian by Theorem 6 and of least sigma, and bounded Laplace noise."""
    theorem = theorem_sigma(epsilon, 0.0, WIDTH, sensitivity)
    domain: Any = {"lower": 0.0, "upper": WIDTH, "sensitivity": sensitivity}
    return Mechanisms(
        TruncatedGaussian(theorem, 0.0, WIDTH),
        calibrate.truncated_gaussian(epsilon, **domain),
        calibrate.bounded_laplace(epsilon, **domain),
    )


def average_error(mechanism: TruncatedGaussian | BoundedLaplace) -> float:
    """Return the mean squared error, over true values that are uniform on the domain."""
    return utility_of(errors_of(mechanism, 0.0, WIDTH)).mse_average


def _error_table(sensitivity: float) -> Table:
    def errors(epsilon: float) -> tuple[float, ...]:
        theorem, exact, laplace = mechanisms(epsilon, sensitivity)
        scale = float(laplace.scale)
        return average_error(theorem), average_error(exact), scale, average_error(laplace)

    expected = ERRORS[sensitivity].items()
    return Table.of(
        f"One number in [0, 10], sensitivity {sensitivity:g}: mean squared error of the output",
        "epsilon",
        ("Theorem 6", "exact", "scale", "bounded Laplace"),
        {epsilon: beside(errors(epsilon), texts) for epsilon, texts in expected},
        "Averaged over true values that are uniform on the domain. Always to answer with the "
        f"middle has {MIDDLE:.3f}.",
    )


def _budget_table(sensitivity: float) -> Table:
    def sigmas(epsilon: float, delta: float) -> tuple[float | None, ...]:
        domain: Any = {"lower": 0.0, "upper": WIDTH, "sensitivity": sensitivity}
        plain = calibrate.gaussian(epsilon, delta, sensitivity=sensitivity) if delta else None
        return (
            None if plain is None else float(plain.sigma),
            float(calibrate.rectified_gaussian(epsilon, delta, **domain).sigma),
            float(calibrate.truncated_gaussian(epsilon, delta, **domain).sigma),
        )

    expected = BUDGETS[sensitivity].items()
    return Table.of(
        f"One number in [0, 10], sensitivity {sensitivity:g}: sigma at (epsilon, delta)",
        "epsilon, delta",
        ("Gaussian", "rectified", "truncated"),
        {f"{e:g}, {d:g}": beside(sigmas(e, d), texts) for (e, d), texts in expected},
        "For the worst true value in the domain. Rectified: the Gaussian, clipped to the domain. "
        "In a domain that is known it is epsilon-DP without delta, too.",
    )


TABLES: tuple[Callable[[], Table], ...] = (
    *(functools.partial(_variance_table, sensitivity) for sensitivity in VARIANCES),
    *(functools.partial(_error_table, sensitivity) for sensitivity in ERRORS),
    *(functools.partial(_budget_table, sensitivity) for sensitivity in BUDGETS),
)
"""What computes each table, in the order in which they are printed."""
