"""Noise, steps and sampling rate of DP-SGD: judged by the accountant, over every scale."""

import math

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.calibrate import gaussian, noise_multiplier, sampling_rate, steps

inf, nan = math.inf, math.nan
CLOSE = 1e-9  # how far below the target epsilon may be


def epsilon_of(sigma, rate, count, delta, conversion="optimal"):
    curve = tn.accounting.sampled_gaussian(sigma, sampling_rate=rate) * count
    return curve.epsilon(delta, conversion=conversion)


def targets(rng, n):
    epsilon = 10.0 ** rng.uniform(-6, 3, n)
    exponent = np.where(rng.random(n) < 0.3, rng.uniform(-300, 0, n), rng.uniform(-12, 0, n))
    delta = np.minimum(10.0**exponent, 0.999)
    rate = 10.0 ** np.where(rng.random(n) < 0.5, rng.uniform(-12, 0, n), rng.uniform(-4, 0, n))
    count = (10.0 ** rng.uniform(0, 9, n)).astype(np.int64)
    return zip(epsilon.tolist(), delta.tolist(), rate.tolist(), count.tolist(), strict=True)


@pytest.mark.filterwarnings("ignore:the best order is:UserWarning")
def test_noise_multiplier_is_private_and_no_larger_than_needed(rng, check_error):
    worst, steep = 0.0, 0
    for epsilon, delta, rate, count in targets(rng, 300):
        sigma = noise_multiplier(epsilon, delta, sampling_rate=rate, steps=count)
        found = epsilon_of(sigma, rate, count, delta)
        assert found <= epsilon
        # Where epsilon hardly determines sigma: a part in 1e12 less noise is too little.
        if found < epsilon * (1 - CLOSE):
            steep += 1
            assert epsilon_of(sigma * (1 - 1e-12), rate, count, delta) > epsilon
        else:
            worst = max(worst, 1 - found / epsilon)
    assert steep < 15
    check_error("calibrate.noise_multiplier, in epsilon", worst, CLOSE)


@pytest.mark.filterwarnings("ignore:the best order is:UserWarning")
def test_steps_are_private_and_one_more_is_not(rng):
    counts = []
    for epsilon, delta, rate, _ in targets(rng, 200):
        sigma = 10.0 ** rng.uniform(-1, 2)
        count = steps(epsilon, delta, noise_multiplier=sigma, sampling_rate=rate)
        counts.append(count)
        assert isinstance(count, int)
        if count > 0:
            assert epsilon_of(sigma, rate, count, delta) <= epsilon
        if count < 2**53:
            assert epsilon_of(sigma, rate, count + 1, delta) > epsilon
    found = np.array(counts)
    assert ((found > 0) & (found < 2**53)).sum() > 50
    assert (found == 0).any()
    assert (found == 2**53).any()


@pytest.mark.filterwarnings("ignore:the best order is:UserWarning")
def test_sampling_rate_is_private_and_no_smaller_than_needed(rng, check_error):
    worst, steep, whole = 0.0, 0, 0
    for epsilon, _, _, count in targets(rng, 200):
        delta, sigma = 10.0 ** rng.uniform(-12, -0.01), 10.0 ** rng.uniform(-1, 3)
        rate = sampling_rate(epsilon, delta, noise_multiplier=sigma, steps=count)
        found = epsilon_of(sigma, rate, count, delta)
        assert 0 < rate <= 1
        assert found <= epsilon
        if rate == 1:
            whole += 1
        elif found < epsilon * (1 - CLOSE):
            steep += 1
            assert epsilon_of(sigma, min(rate * (1 + 1e-12), 1.0), count, delta) > epsilon
        else:
            worst = max(worst, 1 - found / epsilon)
    assert 0 < whole < 100
    assert steep < 10
    check_error("calibrate.sampling_rate, in epsilon", worst, CLOSE)


@pytest.mark.parametrize("conversion", ["classic", "canonne", "closed_form", "optimal"])
def test_every_conversion(conversion):
    sigma = noise_multiplier(2.0, 1e-6, sampling_rate=0.01, steps=1000, conversion=conversion)
    found = epsilon_of(sigma, 0.01, 1000, 1e-6, conversion)
    assert 2.0 * (1 - CLOSE) <= found <= 2.0
    assert steps(2.0, 1e-6, noise_multiplier=sigma, sampling_rate=0.01, conversion=conversion) in (
        1000,
        1001,
    )
    rate = sampling_rate(2.0, 1e-6, noise_multiplier=sigma, steps=1000, conversion=conversion)
    assert rate == pytest.approx(0.01, rel=1e-8)


def test_better_conversions_need_less_noise():
    names = ["classic", "canonne", "optimal"]
    noise = [
        noise_multiplier(2.0, 1e-6, sampling_rate=0.01, steps=1000, conversion=name)
        for name in names
    ]
    assert noise[0] > noise[1]
    assert noise[1] >= noise[2]


@pytest.mark.parametrize(("epsilon", "count"), [(1, 28), (3, 206), (6, 685)])
def test_iterations_of_a_plain_gaussian_at_sigma_20(epsilon, count):
    # delta = 1e-5: 24.4, 179.4 and 603.7 by Renyi-DP, 28.7, 206.9 and 685.9 exactly.
    by_renyi = {1: 24, 3: 179, 6: 603}[epsilon]
    assert steps(epsilon, 1e-5, noise_multiplier=20.0, sampling_rate=1.0) == by_renyi
    assert gaussian(epsilon, 1e-5, sensitivity=count**0.5) <= 20.0
    assert gaussian(epsilon, 1e-5, sensitivity=(count + 1) ** 0.5) > 20.0


@pytest.mark.parametrize(("count", "epsilon"), [(100, 2.1657), (600, 5.9785), (1000, 8.0784)])
def test_noise_of_a_plain_gaussian(count, epsilon):
    sigma = noise_multiplier(epsilon, 1e-5, sampling_rate=1.0, steps=count)
    assert sigma == pytest.approx(20.0, rel=5e-5)
    assert gaussian(epsilon, 1e-5, sensitivity=count**0.5) < sigma


@pytest.mark.parametrize(("steps_of_epoch", "epsilon"), [(1000, 0.3012), (40000, 2.2099)])
def test_noise_of_a_sampled_gaussian(steps_of_epoch, epsilon):
    sigma = noise_multiplier(epsilon, 1e-5, sampling_rate=0.01, steps=steps_of_epoch)
    assert sigma == pytest.approx(4.0, rel=2e-4)


def test_monotone_in_every_argument():
    base = {"epsilon": 1.0, "delta": 1e-6, "sampling_rate": 0.01, "steps": 1000}

    def answers(function, fixed, **varied):
        ((name, values),) = varied.items()
        return [function(**{**fixed, name: value}) for value in values]

    def strictly(increasing, values):
        steps_up = np.diff(np.array(values, dtype=float))
        return (steps_up > 0).all() if increasing else (steps_up < 0).all()

    epsilons, deltas = [0.01, 0.1, 1.0, 10.0], [1e-50, 1e-9, 1e-4, 0.1]
    rates, counts, noises = [1e-6, 1e-3, 0.1, 1.0], [1, 10, 1000, 10**6], [0.8, 1.0, 2.0, 5.0]
    assert strictly(False, answers(noise_multiplier, base, epsilon=epsilons))
    assert strictly(False, answers(noise_multiplier, base, delta=deltas))
    assert strictly(True, answers(noise_multiplier, base, sampling_rate=rates))
    assert strictly(True, answers(noise_multiplier, base, steps=counts))
    known = {"epsilon": 2.0, "delta": 1e-6, "noise_multiplier": 1.0, "sampling_rate": 1e-3}
    assert strictly(True, answers(steps, known, epsilon=[0.5, 1.0, 5.0]))
    assert strictly(True, answers(steps, known, delta=[1e-9, 1e-6, 1e-4]))
    assert strictly(True, answers(steps, known, noise_multiplier=noises))
    assert strictly(False, answers(steps, known, sampling_rate=[1e-4, 1e-3, 1e-2]))
    known = {"epsilon": 1.0, "delta": 1e-6, "noise_multiplier": 1.0, "steps": 1000}
    assert strictly(True, answers(sampling_rate, known, epsilon=epsilons))
    assert strictly(True, answers(sampling_rate, known, delta=deltas))
    assert strictly(True, answers(sampling_rate, known, noise_multiplier=noises))
    assert strictly(False, answers(sampling_rate, known, steps=[10, 1000, 10**6]))


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("rate", [1e-4, 0.02, 1.0])
@pytest.mark.parametrize("count", [1, 3000])
def test_round_trips(epsilon, rate, count):
    sigma = noise_multiplier(epsilon, 1e-6, sampling_rate=rate, steps=count)
    assert steps(epsilon, 1e-6, noise_multiplier=sigma, sampling_rate=rate) == count
    again = sampling_rate(epsilon, 1e-6, noise_multiplier=sigma, steps=count)
    assert again == pytest.approx(rate, rel=1e-7)


# --- what stops or misleads other packages -------------------------------------------------------
@pytest.mark.parametrize("epsilon", [0.13, 0.1, 0.01, 1e-6])
def test_small_targets(epsilon):
    sigma = noise_multiplier(epsilon, 1e-6, sampling_rate=0.01, steps=10_000)
    found = epsilon_of(sigma, 0.01, 10_000, 1e-6)
    assert epsilon * (1 - CLOSE) <= found <= epsilon


def test_steps_over_the_budget_may_overflow():
    epsilon, delta, count = 1.1051217774454885e-12, 7.00803836349877e-284, 2**53
    sigma = noise_multiplier(epsilon, delta, sampling_rate=1.0, steps=count)
    assert epsilon_of(sigma, 1.0, count, delta) <= epsilon


@pytest.mark.parametrize("epsilon", [6.8, 56.7, 384.0, 1000.0, 1e5])
def test_large_targets(epsilon):
    sigma = noise_multiplier(epsilon, 1e-6, sampling_rate=0.125, steps=1000)
    found = epsilon_of(sigma, 0.125, 1000, 1e-6)
    assert epsilon * (1 - CLOSE) <= found <= epsilon


@pytest.mark.parametrize("bad", [nan, inf, -1.0, 0.0])
def test_numbers_that_must_be_positive_and_finite(bad):
    with pytest.raises(ValueError, match="epsilon must be"):
        noise_multiplier(bad, 1e-6, sampling_rate=0.01, steps=10)
    with pytest.raises(ValueError, match="sampling_rate must be"):
        noise_multiplier(1.0, 1e-6, sampling_rate=bad, steps=10)
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
    with pytest.raises(ValueError, match="conversion must be one of"):
        steps(1.0, 1e-6, noise_multiplier=1.0, sampling_rate=0.1, conversion="best")


def test_infeasible_targets_say_why():
    with pytest.raises(tn.CalibrationError, match=r"no noise multiplier.*'classic'"):
        noise_multiplier(1e-9, 1e-300, sampling_rate=0.5, steps=10, conversion="classic")
    with pytest.raises(tn.CalibrationError, match="no sampling rate from 1e-100 on"):
        sampling_rate(1.0, 1e-6, noise_multiplier=1e-3, steps=10, conversion="classic")
    assert steps(1.0, 1e-6, noise_multiplier=0.1, sampling_rate=0.5) == 0
