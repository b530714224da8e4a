"""How long it takes to compare every mechanism for a number in a known range.

Beside SciPy's adaptive quadrature of one of the averages, that of the truncated Gaussian.
"""

from __future__ import annotations

import pytest
from scipy import integrate, stats

import tightnoise as tn
from tightnoise.compare.bounded_errors import errors_of, utility_of

LOWER, UPPER, SENSITIVITY = 0.0, 10.0, 1.0


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (1.0, 1e-5), (0.1, 1e-9), (10.0, 1e-5)])
def test_compare_bounded(timed, epsilon, delta) -> None:
    ranking = timed(
        "compare_bounded, all mechanisms",
        lambda: tn.compare_bounded(
            epsilon, delta, lower=LOWER, upper=UPPER, sensitivity=SENSITIVITY
        ),
        1,
    )
    assert all(choice.epsilon <= epsilon for choice in ranking)


@pytest.fixture
def choice():
    return tn.compare_bounded(1.0, 0.0, lower=LOWER, upper=UPPER, sensitivity=SENSITIVITY)[
        "truncated Gaussian"
    ]


def test_average_error(timed, choice) -> None:
    found = timed(
        "errors of the truncated Gaussian",
        lambda: utility_of(errors_of(choice.mechanism, LOWER, UPPER)),
        1,
    )
    assert found.mse_average == choice.mse_average


def test_average_error_scipy(timed, choice) -> None:
    sigma = choice.mechanism.sigma

    def square(theta):
        ends = (LOWER - theta) / sigma, (UPPER - theta) / sigma
        mean, variance = stats.truncnorm.stats(*ends, loc=theta, scale=sigma, moments="mv")
        return float(variance + (mean - theta) ** 2)

    average = timed(
        "errors of the truncated Gaussian",
        lambda: integrate.quad(square, LOWER, UPPER)[0] / (UPPER - LOWER),
        1,
    )
    assert average == pytest.approx(choice.mse_average, rel=1e-8)
