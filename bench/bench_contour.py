"""epsilon of training runs by contour inversion, both directions, beside dp-accounting (`bench`).

Each asserts its answer: the epsilon is known to 18 digits.
"""

from __future__ import annotations

import numpy as np
import pytest

import tightnoise as tn
from tightnoise._core import cost
from tightnoise.costs._profile_points import profiles

SIGMA, RATE, STEPS = 1.0, 0.01, 10_000
TRUTHS = {1e-6: 6.90738449504508251, 1e-15: 11.7599785022418834, 1e-100: 40.454844746640101}
MIXED = 5.32550148732412328  # of "add", the smaller one: "remove" is not known so well


def both_directions(terms, delta):
    """Return the larger epsilon of both directions, from below and from above."""
    bounds = [cost.Composition(terms(way)).epsilon(delta) for way in ("remove", "add")]
    return tuple(max(ends) for ends in zip(*bounds, strict=True))


@pytest.mark.parametrize("delta", TRUTHS)
def test_training(timed, delta):
    def terms(direction):
        return [(cost.sampled_gaussian(SIGMA, RATE, direction), STEPS)]

    lower, upper = timed(
        f"epsilon of DP-SGD at delta {delta}", lambda: both_directions(terms, delta), 1
    )
    assert lower <= TRUTHS[delta] <= upper <= lower * (1 + 1e-10)


def test_training_dp_accounting(timed):
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")

    def run():
        once = pld.from_gaussian_mechanism(SIGMA, sampling_prob=RATE)
        return once.self_compose(STEPS).get_epsilon_for_delta(1e-6)

    assert timed("epsilon of DP-SGD at delta 1e-06", run, 1) == pytest.approx(
        TRUTHS[1e-6], rel=1e-3
    )


def test_many_noises(timed):
    def terms(direction):
        sigmas = [1.0 + 0.01 * i for i in range(100)]
        return [(cost.sampled_gaussian(sigma, RATE, direction), 100) for sigma in sigmas]

    lower, upper = timed(
        "epsilon of 100 noises, 100 steps each", lambda: both_directions(terms, 1e-6), 1
    )
    assert 0 < lower <= upper <= lower * (1 + 1e-9)


def test_mixed(timed):
    def terms(direction):
        return [
            (cost.sampled_gaussian(SIGMA, RATE, direction), 3000),
            (cost.gaussian(0.3), 5),
            (cost.laplace(0.05), 40),
        ]

    lower, upper = timed("epsilon of training and counts", lambda: both_directions(terms, 1e-7), 1)
    assert MIXED <= upper <= lower * (1 + 1e-10)


def test_many_deltas(timed):
    training = cost.Composition([(cost.sampled_gaussian(SIGMA, RATE, "remove"), STEPS)])
    epsilons = np.linspace(0.0, 12.0, 1000)
    lower, upper = timed(
        "delta of DP-SGD at 1,000 epsilons", lambda: training.deltas(epsilons), 1000
    )
    assert (upper - lower <= 1e-10 * upper).all()


def test_tradeoff(timed):
    rates = np.concatenate([np.linspace(0, 1, 900), np.logspace(-6, -0.5, 100)])

    def run():
        step = tn.Gaussian(SIGMA).cost(sensitivity=1.0).sampled(RATE, "poisson")
        profiles.cache_clear()
        return (step * STEPS).tradeoff_bounds(rates)

    lower, upper = timed("trade-off curve of DP-SGD, 1,000 rates, both bounds", run, 1000)
    assert np.max(upper - lower) <= 1e-8
