"""What the package is for, as a newcomer would write it."""

import json

import numpy as np
import pytest

import tightnoise as tn


@pytest.fixture(scope="module")
def training():
    return tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")


@pytest.fixture(scope="module")
def plan(training):
    gaussians = tn.Gaussian(20.0).cost(sensitivity=1.0) * 5
    return training * 3000 + gaussians + tn.Laplace(20.0).cost(sensitivity=1.0) * 40


def test_one_number_with_the_least_noise(rng):
    best = tn.best_noise(1.0, 1e-5, sensitivity=1.0).best
    assert np.isfinite(best.sample(1000.0))
    assert best.cost.epsilon(1e-5) <= 1.0


def test_a_mean_age_ten_times():
    mean = tn.release_bounded(
        37.4, 1.0, lower=0, upper=120, sensitivity=120 / 500, adjacency="replace-one"
    )
    assert (mean.cost * 10).epsilon(1e-5) < 10.0
    assert mean.cost.epsilon(0.0) <= 1 + 1e-9


def test_training_by_both_ways_of_sampling():
    poisson = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")
    fixed = tn.Gaussian(1.0).cost(sensitivity=2.0, adjacency="replace-one")
    fixed = fixed.sampled(0.01, "fixed-size")
    lower, upper = (poisson * 10_000).epsilon_bounds(1e-6)
    assert lower <= 6.90738449504508 <= upper == (poisson * 10_000).epsilon(1e-6)
    assert upper <= lower * (1 + 1e-10)
    assert (fixed * 1000).epsilon(1e-6) > (poisson * 1000).epsilon(1e-6)


def test_a_plan_of_many_kinds(plan):
    text = str(plan.explain(1e-6))
    assert "by losses" in text
    assert "add-remove, assumed" in text
    assert plan.tradeoff(np.linspace(0, 1, 101)).shape == (101,)


def test_directions():
    wind = tn.VonMisesFisher(75.0, 13_700)
    assert (wind.cost().sampled(128 / 60_000, "poisson") * 1407).epsilon(1 / 60_000) < 0.7906
    assert wind.cost(angle=0.1).epsilon(1e-6) < wind.cost().epsilon(1e-6)
    step = tn.LiftedVonMisesFisher(20_000.0, 1_000_000, anchor=32.0).cost(sensitivity=1.0)
    assert 0 < step.epsilon(1e-6) < np.inf


def test_from_a_budget_to_the_mechanism(plan):
    noise = tn.calibrate.gaussian(1.0, 1e-6, sensitivity=1.0, count=10)
    assert (noise.cost(sensitivity=1.0) * 10).epsilon(1e-6) <= 1.0
    counts = noise.cost(sensitivity=1.0) * 3
    multiplier = tn.calibrate.noise_multiplier(
        2.0, 1e-6, sampling_rate=0.01, steps=10_000, beside=counts
    )
    step = tn.Gaussian(multiplier).cost(sensitivity=1.0).sampled(0.01, "poisson")
    assert (step * 10_000 + counts).epsilon(1e-6) <= 2.0
    scale = tn.calibrate.parameter(
        lambda b: plan + tn.Laplace(b).cost(sensitivity=1.0), 8.0, 1e-6, bracket=(0.1, 1e6)
    )
    assert (plan + tn.Laplace(scale).cost(sensitivity=1.0)).epsilon(1e-6) <= 8.0


def test_a_ledger_resumed_to_the_bit():
    best = tn.best_noise(1.0, 1e-5, sensitivity=1.0).best
    accountant = tn.Accountant()
    accountant.step(noise_multiplier=1.0, sampling_rate=0.01)
    accountant.compose(tn.Gaussian(4.0).cost(sensitivity=1.0), 3).compose(best)
    again = tn.Accountant()
    again.load_state_dict(json.loads(json.dumps(accountant.state_dict())))
    assert again.epsilon(1e-6) == accountant.epsilon(1e-6)


@pytest.mark.filterwarnings("ignore:the best order")
def test_a_mechanism_of_someone_else():
    class Response(tn.Mechanism):
        def cost(self, *, epsilon: float = 1.0) -> tn.Cost:
            p = 1 / (1 + np.exp(-epsilon))
            return tn.Cost.of_losses([epsilon, -epsilon], [p, 1 - p])

    mine = Response().cost() * 10 + tn.Cost.of_rdp([2, 8], [0.1, 0.5])
    assert mine.sampled(0.1, "poisson").epsilon(1e-5) <= mine.epsilon(1e-5)


def test_the_next_release_depends_on_the_last_one():
    noise = tn.calibrate.gaussian(1.0, 1e-6, sensitivity=1.0, count=10)
    budget, releases = tn.PrivacyFilter(3.0, 1e-5), 0
    while budget.admits(noise.cost(sensitivity=1.0)):
        budget.spend(noise.cost(sensitivity=1.0))
        noise.sample(412.0)
        releases += 1
    with pytest.raises(tn.BudgetError):
        budget.spend(noise.cost(sensitivity=1.0))
    assert 0.8 < (noise.cost(sensitivity=1.0) * releases).epsilon(1e-5) / 3.0 <= 1
