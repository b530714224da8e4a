"""Renyi divergences of loss distributions against closed forms: never below, hardly above."""

import math

import numpy as np
import pytest

from tightnoise.costs._bounds import release_of_losses
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._log_moments import renyi_upper
from tightnoise.costs._loss_points import points_up_to

ORDERS = np.array([1.001, 1.1, 1.5, 2.0, 5.0, 32.0, 256.0])


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 8.0])
def test_randomised_response(epsilon, check_error):
    true = 1 / (1 + math.exp(-epsilon))
    release = release_of_losses([epsilon, -epsilon], [true, 1 - true])
    s = ORDERS[:-1] - 1
    # log E exp(s L) with masses true and 1 - true, without cancellation
    exact = np.log1p(
        2 * np.sinh(s * epsilon / 2) * np.sinh((s + 1) * epsilon / 2) / np.cosh(epsilon / 2)
    )
    got = renyi_upper(release, s + 1)
    assert (got >= exact / s * (1 - 1e-13)).all()
    check_error("renyi_upper, randomised response", float((got / (exact / s) - 1).max()), 1e-8)


def test_laplace(check_error):
    epsilon = 1.0
    points = points_up_to(epsilon, 0.5)
    release = connect_dots(points, np.maximum(0.0, -np.expm1((points - epsilon) / 2)))
    a = ORDERS
    exact = np.log((a * np.exp((a - 1) * epsilon) + (a - 1) * np.exp(-a * epsilon)) / (2 * a - 1))
    got = renyi_upper(release, a) * (a - 1)
    assert (got >= exact * (1 - 1e-12)).all()
    check_error("renyi_upper, Laplace", float((got / exact - 1).max()), 2e-5)


def test_the_worse_direction_counts(rng):
    for _ in range(20):
        p, q = rng.dirichlet(np.ones(5), 2)
        release = release_of_losses(np.log(p / q), p)
        exact = [
            max(math.log(a @ (a / b) ** (x - 1)) for a, b in ((p, q), (q, p))) / (x - 1)
            for x in ORDERS[1:5]
        ]
        assert renyi_upper(release, ORDERS[1:5]) == pytest.approx(exact, rel=1e-9)
        assert renyi_upper(release, ORDERS[1:5]) == pytest.approx(
            renyi_upper(release.swapped, ORDERS[1:5]), rel=1e-12
        )


def test_large_orders_do_not_overflow():
    release = release_of_losses([50.0, -50.0], [1 / (1 + math.exp(-50)), 1 / (1 + math.exp(50))])
    assert renyi_upper(release, np.array([1e3, 1e6])) == pytest.approx([50.0, 50.0], rel=1e-9)
