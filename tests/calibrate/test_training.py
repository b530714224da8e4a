"""Noise, steps and sampling rate of DP-SGD: judged by the cost of the training."""

import math

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.calibrate import noise_multiplier, sampling_rate, steps

inf, nan = math.inf, math.nan
CLOSE = 1e-8  # where losses are rare and large, bounds of epsilon are some 1e-9 apart


def training(sigma, rate, count, sampling="poisson"):
    if sampling == "poisson":
        step = tn.Gaussian(sigma).cost(sensitivity=1.0)
    else:
        step = tn.Gaussian(sigma).cost(sensitivity=2.0, adjacency="replace-one")
    return step.sampled(rate, sampling) * count


CASES = [
    # epsilon, delta, sampling rate, steps, sampling
    (2.0, 1e-6, 0.01, 10_000, "poisson"),
    (0.3, 1e-5, 0.01, 1000, "poisson"),
    (8.0, 1e-9, 0.2, 30, "poisson"),
    (1.0, 1e-6, 1e-3, 3000, "poisson"),
    (2.0, 1e-6, 0.01, 1000, "fixed-size"),
]


@pytest.mark.parametrize(("epsilon", "delta", "rate", "count", "sampling"), CASES)
def test_noise_multiplier_is_private_and_no_larger_than_needed(
    epsilon, delta, rate, count, sampling
):
    sigma = noise_multiplier(epsilon, delta, sampling_rate=rate, steps=count, sampling=sampling)
    found = training(sigma, rate, count, sampling).epsilon(delta)
    assert epsilon * (1 - CLOSE) <= found <= epsilon
    if count == 10_000:  # less noise than Renyi divergences allow: they need 2.5033
        assert sigma == pytest.approx(2.3556, rel=1e-4)
        by_renyi = training(2.503333, rate, count).epsilon(delta, by="rdp")
        assert by_renyi == pytest.approx(epsilon, rel=1e-6)


def test_fixed_size_is_calibrated_for_a_change_of_twice_the_norm():
    sigma = noise_multiplier(2.0, 1e-6, sampling_rate=0.05, steps=50, sampling="fixed-size")

    def replaced(multiplier):  # of the change itself
        pair = tn.Gaussian(multiplier).cost(sensitivity=1.0, adjacency="replace-one")
        return pair.sampled(0.05, "fixed-size") * 50

    half = tn.calibrate.parameter(replaced, 2.0, 1e-6, bracket=(0.1, 100.0))
    assert sigma == pytest.approx(2.0 * half, rel=1e-8)


def test_without_sampling_it_is_the_analytic_gaussian():
    sigma = noise_multiplier(1.0, 1e-6, sampling_rate=1.0, steps=10)
    assert sigma == pytest.approx(13.3596, rel=1e-5)
    assert sigma == tn.calibrate.gaussian(1.0, 1e-6, sensitivity=1.0, count=10).sigma
    fixed = noise_multiplier(1.0, 1e-6, sampling_rate=1.0, steps=10, sampling="fixed-size")
    assert fixed == pytest.approx(2 * sigma, rel=1e-13)


def test_epochs_are_steps():
    given = {"sampling_rate": 0.1, "sampling": "poisson"}
    assert noise_multiplier(3.0, 1e-5, epochs=2.05, **given) == noise_multiplier(
        3.0, 1e-5, steps=21, **given
    )
    assert noise_multiplier(3.0, 1e-5, epochs=2, **given) == noise_multiplier(
        3.0, 1e-5, steps=20, **given
    )


def test_beside_other_releases():
    counts = tn.Laplace(4.0).cost(sensitivity=1.0) * 2
    given = {"sampling_rate": 0.02, "steps": 500}
    sigma = noise_multiplier(2.0, 1e-6, **given, beside=counts)
    found = (training(sigma, 0.02, 500) + counts).epsilon(1e-6)
    assert 2.0 * (1 - CLOSE) <= found <= 2.0
    assert sigma > noise_multiplier(2.0, 1e-6, **given)
    most = steps(2.0, 1e-6, noise_multiplier=sigma, sampling_rate=0.02, beside=counts)
    assert most in (500, 501)


@pytest.mark.parametrize(
    ("epsilon", "sigma", "rate", "sampling"),
    [(2.0, 2.5, 0.01, "poisson"), (1.0, 1.0, 1e-3, "poisson"), (3.0, 4.0, 0.05, "fixed-size")],
)
def test_steps_are_private_and_one_more_is_not(epsilon, sigma, rate, sampling):
    count = steps(epsilon, 1e-6, noise_multiplier=sigma, sampling_rate=rate, sampling=sampling)
    assert isinstance(count, int)
    assert training(sigma, rate, count, sampling).epsilon(1e-6) <= epsilon
    assert training(sigma, rate, count + 1, sampling).epsilon(1e-6) > epsilon


@pytest.mark.parametrize(("epsilon", "count"), [(1, 28), (3, 206), (6, 685)])
def test_iterations_of_a_plain_gaussian_at_sigma_20(epsilon, count):
    # delta = 1e-5: 24.4, 179.4 and 603.7 by Renyi-DP, 28.7, 206.9 and 685.9 exactly.
    assert steps(epsilon, 1e-5, noise_multiplier=20.0, sampling_rate=1.0) == count


def test_no_step_and_every_step():
    assert steps(1.0, 1e-6, noise_multiplier=0.1, sampling_rate=0.5) == 0
    assert steps(1.0, 1e-6, noise_multiplier=1e12, sampling_rate=1.0) == 2**53


@pytest.mark.parametrize(
    ("epsilon", "sigma", "count", "sampling"),
    [(2.0, 2.5, 10_000, "poisson"), (1.0, 1.0, 100, "poisson"), (2.0, 4.0, 200, "fixed-size")],
)
def test_sampling_rate_is_private_and_no_smaller_than_needed(epsilon, sigma, count, sampling):
    rate = sampling_rate(epsilon, 1e-6, noise_multiplier=sigma, steps=count, sampling=sampling)
    found = training(sigma, rate, count, sampling).epsilon(1e-6)
    assert 0 < rate < 1
    assert epsilon * (1 - CLOSE) <= found <= epsilon


def test_every_record_where_the_noise_allows_it():
    assert sampling_rate(2.0, 1e-6, noise_multiplier=100.0, steps=10) == 1.0


def test_monotone_without_sampling():
    def sigmas(epsilons, deltas, counts):
        cases = np.broadcast(epsilons, deltas, counts)
        return [noise_multiplier(e, d, sampling_rate=1.0, steps=int(n)) for e, d, n in cases]

    assert (np.diff(sigmas([0.01, 0.1, 1.0, 10.0], 1e-6, 10)) < 0).all()
    assert (np.diff(sigmas(1.0, [1e-50, 1e-9, 1e-4, 0.1], 10)) < 0).all()
    assert (np.diff(sigmas(1.0, 1e-6, [1, 10, 1000, 10**6])) > 0).all()


@pytest.mark.parametrize("bad", [nan, inf, -1.0, 0.0])
def test_numbers_that_must_be_positive_and_finite(bad):
    with pytest.raises(ValueError, match="epsilon must be"):
        noise_multiplier(bad, 1e-6, sampling_rate=0.01, steps=10)
    with pytest.raises(ValueError, match="sampling_rate must be"):
        noise_multiplier(1.0, 1e-6, sampling_rate=bad, steps=10)
    with pytest.raises(ValueError, match="epochs must be"):
        noise_multiplier(1.0, 1e-6, sampling_rate=0.1, epochs=bad)
    with pytest.raises(ValueError, match="noise_multiplier must be"):
        steps(1.0, 1e-6, noise_multiplier=bad, sampling_rate=0.01)
    with pytest.raises(ValueError, match="noise_multiplier must be"):
        sampling_rate(1.0, 1e-6, noise_multiplier=bad, steps=10)


@pytest.mark.parametrize("bad", [nan, inf, -0.1, 1.0, 2.0])
def test_delta_is_a_probability(bad):
    for function, known in (
        (noise_multiplier, {"sampling_rate": 0.01, "steps": 10}),
        (steps, {"sampling_rate": 0.01, "noise_multiplier": 1.0}),
        (sampling_rate, {"noise_multiplier": 1.0, "steps": 10}),
    ):
        with pytest.raises(ValueError, match="delta must be"):
            function(1.0, bad, **known)
        with pytest.raises(tn.CalibrationError, match="delta must be greater than 0"):
            function(1.0, 0.0, **known)


@pytest.mark.parametrize("bad", [0, -5, 2**53 + 1])
def test_steps_are_counted_from_one(bad):
    with pytest.raises(ValueError, match="steps must be"):
        noise_multiplier(1.0, 1e-6, sampling_rate=0.01, steps=bad)
    with pytest.raises(ValueError, match="steps must be"):
        sampling_rate(1.0, 1e-6, noise_multiplier=1.0, steps=bad)


def test_other_bad_input():
    with pytest.raises(TypeError, match="steps must be an integer"):
        noise_multiplier(1.0, 1e-6, sampling_rate=0.01, steps=1.5)
    with pytest.raises(ValueError, match="sampling_rate must be greater than 0 and at most 1"):
        noise_multiplier(1.0, 1e-6, sampling_rate=1.5, steps=1)
    with pytest.raises(ValueError, match="got 'shuffled': no pair is known"):
        noise_multiplier(1.0, 1e-6, sampling_rate=0.1, steps=1, sampling="shuffled")
    for given in ({}, {"steps": 10, "epochs": 1}):
        with pytest.raises(ValueError, match="steps must be given, or epochs, not both"):
            noise_multiplier(1.0, 1e-6, sampling_rate=0.1, **given)
    spent = tn.Cost.of_gdp(3.0)
    with pytest.raises(tn.CalibrationError, match="beside must cost less than the budget"):
        noise_multiplier(1.0, 1e-6, sampling_rate=0.1, steps=10, beside=spent)


def test_infeasible_targets_say_why():
    with pytest.raises(
        tn.CalibrationError, match=r"no (noise multiplier up to|finite sigma is enough)"
    ):
        noise_multiplier(1e-320, 1e-320, sampling_rate=0.5, steps=10)


def test_next_to_no_epsilon():
    noise = noise_multiplier(1e-6, 1e-6, sampling_rate=1e-7, steps=1000)

    def spent(multiplier):
        step = tn.Gaussian(multiplier).cost(sensitivity=1.0).sampled(1e-7, "poisson")
        return (step * 1000).epsilon(1e-6)

    assert spent(noise) <= 1e-6 < spent(noise * 0.999)
