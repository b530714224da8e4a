"""epsilon of training runs by contour inversion, both directions, beside dp-accounting (`bench`).

Each asserts its answer: the epsilon is known to 18 digits.
"""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest

import tightnoise as tn
from tightnoise._core import cost
from tightnoise.costs._profile_points import profiles

SIGMA, RATE, STEPS = 1.0, 0.01, 10_000
SETTINGS = 2000
REPLACED = 150
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


@pytest.mark.parametrize(
    ("half_chord", "name"), [(1.0, "opposite"), (0.5, "60 degrees apart")], ids=["180", "60"]
)
def test_directions(timed, half_chord, name):
    # kappa 75 in 13,700 dimensions, three epochs of batches of 128 of 60,000 records.
    def terms(direction):
        return [(cost.sampled_direction(75.0, 13_700, half_chord, 128 / 60_000, direction), 1407)]

    lower, upper = timed(
        f"epsilon of directions, {name}", lambda: both_directions(terms, 1 / 60_000), 1
    )
    assert 0 < lower <= upper <= lower * (1 + 1e-9)
    if half_chord == 1:
        assert upper == pytest.approx(0.7904714883, abs=1e-9)


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


def another(delta, others):
    """Return nearly that delta, of which no answer is kept."""
    return delta * (1 - 1e-9 * next(others))


def test_replaced_records(timed):
    once = tn.Gaussian(SIGMA).cost(sensitivity=1.0)
    others = itertools.count()

    def run():
        cost = once.sampled(RATE, "poisson", adjacency="replace-one") * STEPS
        return cost.epsilon_bounds(another(1e-6, others))

    lower, upper = timed("epsilon of DP-SGD, a record replaced", run, 1)
    assert 11.956 <= lower <= upper <= lower * (1 + 1e-9)


def test_allocated_records(timed):
    once = tn.Gaussian(SIGMA).cost(sensitivity=1.0)
    epsilon = timed(
        "epsilon of 10 epochs, each record in one of 10,000 steps",
        lambda: (once.allocated(STEPS) * 10).epsilon(1e-6),
        1,
    )
    assert 0 < epsilon < 0.156


def test_random_settings(timed):
    """All of `SETTINGS`; prints how many are narrow and quick, by rate times count.

    Processor time: other work on the machine is not counted.
    """
    rng = np.random.default_rng(2026)
    low, high = np.log([0.3, 1e-5, 1.0, 1e-15]), np.log([20.0, 1.0, 1e6, 1e-2])
    settings = np.exp(rng.uniform(low, high, (SETTINGS, 4)))
    rows = []

    def run():
        rows.clear()
        for sigma, rate, count, delta in settings.tolist():
            start, found = time.process_time(), (0.0, 0.0)
            for way in ("remove", "add"):
                law = cost.sampled_gaussian(sigma, rate, way)
                composed = cost.Composition([(law, math.floor(count))])
                here = composed.epsilon(delta, found[0])
                found = (max(found[0], here[0]), max(found[1], here[1]))
            width = (found[1] - found[0]) / found[1] if found[1] > 1e-3 else 0.0
            rows.append((rate * math.floor(count), width, time.process_time() - start))

    timed(f"epsilon of {SETTINGS} random trainings", run, SETTINGS)
    share, widths, seconds = np.array(rows).T
    for least, most in ((0, 0.01), (0.01, 1), (1, 100), (100, math.inf), (0, math.inf)):
        here = (share >= least) & (share < most)
        print(
            f"rate * count {least} to {most}: {np.mean(widths[here] <= 1e-6):.2%} to 1e-6, "
            f"{np.mean(seconds[here] < 2e-3):.1%} below 2 ms, "
            f"{np.mean(seconds[here] < 0.05):.1%} below 50 ms, {seconds[here].max():.3f} s at most"
        )
    assert np.mean(widths <= 1e-6) > 0.99


def fixed_size(sigma, rate):
    return (
        tn.Gaussian(sigma)
        .cost(sensitivity=1.0, adjacency="replace-one")
        .sampled(rate, "fixed-size")
    )


def replaced(sigma, rate):
    return (
        tn.Gaussian(sigma)
        .cost(sensitivity=1.0, adjacency="add-remove")
        .sampled(rate, "poisson", adjacency="replace-one")
    )


def three_records(sigma, rate):
    return tn.Gaussian(sigma).cost(sensitivity=1.0).sampled(rate, "poisson").group(3)


@pytest.mark.parametrize("kind", [fixed_size, replaced, three_records])
def test_random_replaced_records(timed, kind):
    """Through the package; prints how many are narrow, by count."""
    rng = np.random.default_rng(7)
    low, high = np.log([0.5, 1e-4, 1.0, 1e-12]), np.log([10.0, 0.5, 1e5, 1e-2])
    settings = np.exp(rng.uniform(low, high, (REPLACED, 4)))
    rows, others = [], itertools.count()

    def run():
        rows.clear()
        for sigma, rate, count, delta in settings.tolist():
            start = time.perf_counter()
            cost = kind(sigma, rate) * math.floor(count)
            lower, upper = cost.epsilon_bounds(another(delta, others))
            assert lower <= upper
            width = (upper - lower) / upper if upper > 1e-3 else 0.0
            rows.append((math.floor(count), width, time.perf_counter() - start))

    timed(f"epsilon of {REPLACED} random trainings, {kind.__name__}", run, REPLACED)
    counts, widths, seconds = np.array(rows).T
    for least, most in ((1, 20), (20, math.inf)):
        here = (counts >= least) & (counts < most)
        print(f"count {least} to {most}: {np.mean(widths[here] <= 1e-6):.1%} to 1e-6")
    print(f"median {np.median(seconds):.4f} s, 90 % below {np.quantile(seconds, 0.9):.3f} s")


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
