"""Epochs in which each record is in exactly one of many steps."""

import math

import mpmath as mp
import numpy as np
import pytest

import tightnoise as tn
from tightnoise.costs._allocated import Allocated, _put
from tightnoise.costs._gaussian_pair import GaussianPair
from tightnoise.costs._gaussian_profile import gaussian_delta


def one_of_two(epsilon, mu):
    """Both divergences of two steps, by quadrature over the first."""

    def put(k):  # E (k - (Y + Z)/2)^+, Z given: (2 k - Z - Y)^+ is a put of one step
        def inner(z):
            strike = 2 * k - mp.exp(mu * z - mu * mu / 2)
            if strike <= 0:
                return mp.mpf(0)
            d = mp.log(strike) / mu
            return mp.npdf(z) * (strike * mp.ncdf(d + mu / 2) - mp.ncdf(d - mu / 2)) / 2

        end = mp.log(2 * k) / mu + mu / 2
        points = [end - s for s in (0, 0.05, 0.3, 1, 2, 4, 8, 14, 24)][::-1]
        return mp.quad(inner, [p for p in points if p > -13] or [-13, end])

    mu, e = mp.mpf(mu), mp.exp(mp.mpf(epsilon))
    return put(e) + 1 - e, e * put(1 / e)


@pytest.mark.parametrize("mu", [0.08, 0.25, 0.5, 1.0, 1.4, 2.0, 2.9])
def test_one_of_two_against_quadrature(mu):
    leaf = Allocated(GaussianPair(1 / mu), 2)
    for epsilon in (0.0, 0.1, 0.6):
        bounds = leaf.profile(np.array([epsilon]))
        with mp.workdps(20):
            truths = one_of_two(epsilon, mu)
        for bound, truth in zip(bounds, truths, strict=True):
            assert bound[0] >= float(truth) * (1 - 1e-9) - 1e-13
            if mu <= 1 and epsilon < 1:
                assert bound[0] <= float(truth) * (1 + 1e-2) + 1e-9


@pytest.mark.parametrize("mu", [1 / 12, 0.2, 1.0, 2.0, 2.9])
def test_the_one_of_one_step_is_the_gaussian(mu):
    table = _put(mu, 1)
    for epsilon in (-1.0, -0.1, 0.0, 0.1, 1.0):
        k = math.exp(epsilon)
        call = float(gaussian_delta(abs(epsilon), mu))
        truth = call + k - 1 if epsilon >= 0 else k * call
        assert table.at(np.array([k]))[0] >= truth
        if mu <= 1:
            assert table.at(np.array([k]))[0] <= truth + 1e-4


@pytest.mark.parametrize("steps", [3, 40])
def test_of_more_steps_by_simulation(steps, rng):
    mu, size = 0.8, 400_000
    w = np.zeros(size)
    for _ in range(steps):
        w += np.exp(mu * rng.standard_normal(size) - mu * mu / 2) / steps
    leaf = Allocated(GaussianPair(1 / mu), steps)
    for epsilon in (0.0, 0.05, 0.2):
        e = math.exp(epsilon)
        forward, backward = leaf.profile(np.array([epsilon]))
        for bound, sample in ((forward, w - e), (backward, 1 - e * w)):
            above = np.maximum(sample, 0.0)
            assert bound[0] == pytest.approx(
                above.mean(), abs=6 * above.std() / math.sqrt(size), rel=1e-3
            )


def test_costs_of_epochs():
    step = tn.Gaussian(1.0).cost(sensitivity=1.0)
    assert step.allocated(1).epsilon(1e-5) == pytest.approx(step.epsilon(1e-5), rel=1e-14)
    epsilons = [(step.allocated(n) * 4).epsilon(1e-5) for n in (1, 10, 100, 10_000)]
    assert epsilons == sorted(epsilons, reverse=True)
    assert epsilons[-1] < 0.1 * epsilons[0]
    assert step.allocated(10**6).delta(0.05) < 1e-4
    assert step.allocated(10**9).epsilon(1e-5) <= step.epsilon(1e-5) * (1 + 1e-14)
    assert (step * 3).allocated(10).adjacency == "add-remove"
    cost = step.allocated(7) * 2
    assert tn.Cost.from_dict(cost.to_dict()) == cost
    assert "in one of 7 steps" in str(cost.explain(1e-5))
    assert cost.epsilon_bounds(1e-5)[0] == 0.0
    assert tn.Cost().allocated(3) == tn.Cost()


def test_what_is_not_allocated():
    step = tn.Gaussian(1.0).cost(sensitivity=1.0)
    for cost in (
        step.sampled(0.1, "poisson"),
        tn.Laplace(1.0).cost(sensitivity=1.0),
        step * 2 + tn.Cost.of_pure(1.0),
    ):
        with pytest.raises(ValueError, match="of Gaussian noise only"):
            cost.allocated(5)
    for cost in (step.for_neighbours("replace-one"), step.group(2)):
        with pytest.raises(ValueError, match="there or not"):
            cost.allocated(5)
    with pytest.raises(ValueError, match="steps"):
        step.allocated(0)
