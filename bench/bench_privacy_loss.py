"""Exact composition by privacy-loss distributions, beside dp-accounting (extra `bench`).

Each asserts its answer: Gaussian releases, of which the exact epsilon is known, and where both are
right to about 1e-6 of it; and Laplace releases. Building and composing are timed apart.
"""

from __future__ import annotations

import math

import pytest

import tightnoise as tn

SIGMA, TIMES, DELTA = 20.0, 1000, 1e-6
EXACT = tn.accounting.gaussian_epsilon(DELTA, math.sqrt(TIMES) / SIGMA)
LAPLACE = 8.2044404
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
        return tn.accounting.privacy_loss(tn.Gaussian(SIGMA))

    once = timed("losses of a Gaussian release", run, 1)
    assert EXACT <= (once * TIMES).epsilon(DELTA) <= EXACT * (1 + 1e-6)


def test_compose_gaussian_dp_accounting(timed, pld):
    once = pld.from_gaussian_mechanism(SIGMA, value_discretization_interval=SPACING)

    def run():
        return once.self_compose(TIMES).get_epsilon_for_delta(DELTA)

    assert timed("epsilon of 1000 Gaussian releases", run, 1) == pytest.approx(EXACT, rel=1e-5)


def test_compose_gaussian(timed):
    once = tn.accounting.privacy_loss(tn.Gaussian(SIGMA))

    def run():
        return (once * TIMES).epsilon(DELTA)

    assert EXACT <= timed("epsilon of 1000 Gaussian releases", run, 1) <= EXACT * (1 + 1e-6)


def test_compose_laplace_dp_accounting(timed, pld):
    once = pld.from_laplace_mechanism(SIGMA, value_discretization_interval=SPACING)

    def run():
        return once.self_compose(TIMES).get_epsilon_for_delta(DELTA)

    assert timed("epsilon of 1000 Laplace releases", run, 1) == pytest.approx(LAPLACE, rel=1e-6)


def test_compose_laplace(timed):
    once = tn.accounting.privacy_loss(tn.Laplace(SIGMA))

    def run():
        return (once * TIMES).epsilon(DELTA)

    assert timed("epsilon of 1000 Laplace releases", run, 1) == pytest.approx(LAPLACE, rel=1e-6)


def test_compose_a_million_gaussians(timed):
    once, exact = tn.accounting.privacy_loss(tn.Gaussian(SIGMA)), 1462.2946

    def run():
        return (once * 10**6).epsilon(1e-5)

    assert exact <= timed("epsilon of a million releases", run, 1) <= exact * (1 + 1e-4)
