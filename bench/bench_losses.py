"""Exact composition by privacy-loss distributions, beside dp-accounting (extra `bench`).

Each asserts its answer: Gaussian releases, of which the exact epsilon is known, and where both are
right to about 1e-6 of it; and Laplace releases. Building and composing are timed apart.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.costs._composed import distribution_of

SIGMA, TIMES, DELTA = 20.0, 1000, 1e-6
EXACT = tn.Cost.of_gdp(math.sqrt(TIMES) / SIGMA).epsilon(DELTA)
LAPLACE = 8.2044404
GAUSSIAN = tn.Gaussian(SIGMA).cost(sensitivity=1.0)
ROUNDED = tn.Cost.of_profile(
    np.linspace(0.0, GAUSSIAN.epsilon(1e-40), 10_000),
    GAUSSIAN.delta(np.linspace(0.0, GAUSSIAN.epsilon(1e-40), 10_000)),
)
"""A Gaussian by points of its profile: not known to be one, it is composed as losses are."""
SPACING = 1e-4  # of dp-accounting; ours is that of 10,000 points


@pytest.fixture
def pld():
    return pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")


def test_build_gaussian_dp_accounting(timed, pld):
    def run():
        return pld.from_gaussian_mechanism(SIGMA, value_discretization_interval=SPACING)

    once = timed("losses of a Gaussian release", run, 1)
    assert once.self_compose(TIMES).get_epsilon_for_delta(DELTA) == pytest.approx(EXACT, rel=1e-5)


def test_build_gaussian(timed):
    def run():
        return next(iter(GAUSSIAN.terms))[0].release()

    timed("losses of a Gaussian release", run, 1)
    assert EXACT <= (ROUNDED * TIMES).epsilon(DELTA) <= EXACT * (1 + 1e-6)


def test_compose_gaussian_dp_accounting(timed, pld):
    once = pld.from_gaussian_mechanism(SIGMA, value_discretization_interval=SPACING)

    def run():
        return once.self_compose(TIMES).get_epsilon_for_delta(DELTA)

    assert timed("epsilon of 1000 Gaussian releases", run, 1) == pytest.approx(EXACT, rel=1e-5)


def composed(cost, delta=DELTA):
    """Compose the losses anew, and answer."""
    distribution_of.cache_clear()
    return cost.losses().epsilon(delta)


def test_compose_gaussian(timed):
    found = timed("epsilon of 1000 Gaussian releases", lambda: composed(ROUNDED * TIMES), 1)
    assert EXACT <= found <= EXACT * (1 + 1e-6)


def test_compose_laplace_dp_accounting(timed, pld):
    once = pld.from_laplace_mechanism(SIGMA, value_discretization_interval=SPACING)

    def run():
        return once.self_compose(TIMES).get_epsilon_for_delta(DELTA)

    assert timed("epsilon of 1000 Laplace releases", run, 1) == pytest.approx(LAPLACE, rel=1e-6)


def test_compose_laplace(timed):
    cost = tn.Laplace(SIGMA).cost(sensitivity=1.0) * TIMES
    found = timed("epsilon of 1000 Laplace releases", lambda: composed(cost), 1)
    assert found == pytest.approx(LAPLACE, rel=1e-6)


def test_compose_a_million_gaussians(timed):
    exact = 1462.2946
    found = timed("epsilon of a million releases", lambda: composed(ROUNDED * 10**6, 1e-5), 1)
    assert exact <= found <= exact * (1 + 1e-4)
