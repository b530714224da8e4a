"""Profiles of sampled releases against integrals, closed forms and references of 18 digits."""

import math

import mpmath as mp
import numpy as np
import pytest

from tightnoise.costs._gaussian_profile import gaussian_delta, gaussian_epsilon
from tightnoise.costs._loss_points import losses_of
from tightnoise.costs._privacy_loss import PrivacyLossDistribution
from tightnoise.costs._sampled_profile import (
    fixed_size_profile,
    poisson_profile,
    sampled_largest,
)


def gaussian_profile(mu):
    def profile(epsilons):
        delta = np.asarray(gaussian_delta(epsilons, mu))
        return delta, delta

    return profile


def sampled_gaussian(sigma, rate):
    mu = 1 / sigma
    largest = sampled_largest(gaussian_epsilon(1e-40, mu), rate)
    width = sampled_largest(min(mu, 1.0), rate)
    return losses_of(poisson_profile(gaussian_profile(mu), rate), largest, width, symmetric=False)


def exact_poisson(mu, rate, epsilon):
    """Both divergences of the sampled Gaussian, from where the densities cross, to 40 digits."""
    q, mu = mp.mpf(rate), mp.mpf(mu)

    def tails(weight):  # of the pair at log(dP/dQ) = log weight: above it under P, and under Q
        z = mp.log(weight) / mu + mu / 2
        return mp.ncdf(mu - z), mp.ncdf(-z)

    e = mp.exp(mp.mpf(epsilon))
    p, base = tails((e - (1 - q)) / q)
    forward = (1 - q - e) * base + q * p
    crossing = (1 / e - (1 - q)) / q
    if crossing <= 0:
        return forward, mp.mpf(0)
    p, base = tails(crossing)
    return forward, (1 - base) - e * ((1 - q) * (1 - base) + q * (1 - p))


@pytest.mark.parametrize("mu", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("rate", [1e-12, 1e-3, 0.3, 1.0])
def test_poisson_against_closed_form(mu, rate, check_error):
    largest = min(sampled_largest(6 * mu + mu * mu, rate), 50.0)
    edge = -math.log1p(-rate) if rate < 1 else largest
    epsilons = np.concatenate([[0.0], np.geomspace(1e-3, 0.99, 8) * edge, [largest / 2, largest]])
    forward, backward = poisson_profile(gaussian_profile(mu), rate)(epsilons)
    with mp.workdps(60):
        for x, high, low in zip(epsilons.tolist(), forward, backward, strict=True):
            exact, exact_backward = exact_poisson(mu, rate, x)
            for got, truth in ((high, exact), (low, exact_backward)):
                assert got >= truth
                if truth > 1e-250:
                    check_error("poisson_profile", float(got / truth - 1), 1e-9)


def test_backward_direction_against_an_integral():
    mu, rate = 1.3, 0.2
    with mp.workdps(20):
        for x in (0.0, 0.05, 0.15, 0.21):
            z = mp.log((mp.exp(-x) - (1 - rate)) / rate) / mu + mp.mpf(mu) / 2
            exact = mp.quad(
                lambda t, x=x: (
                    mp.npdf(t) - mp.exp(x) * ((1 - rate) * mp.npdf(t) + rate * mp.npdf(t - mu))
                ),
                [-12, -6, -3, z],
            )
            got = poisson_profile(gaussian_profile(mu), rate)(np.array([x]))[1][0]
            assert got == pytest.approx(float(exact), rel=1e-9)


def test_everybody_sampled_is_no_sampling():
    epsilons = np.array([0.0, 1e-12, 0.1, 3.0, 40.0, 1000.0])
    base = gaussian_profile(2.0)(epsilons)[0]
    for sampled in (poisson_profile, fixed_size_profile):
        for got in sampled(gaussian_profile(2.0), 1.0)(epsilons):
            assert (got >= base).all()
            assert got == pytest.approx(base, rel=1e-9, abs=1e-300)


def test_fixed_size_at_zero_and_far_out():
    """At epsilon = 0 the rate times the total variation; no overflow anywhere."""
    forward, backward = fixed_size_profile(gaussian_profile(1.0), 0.01)(np.array([0.0, 800.0]))
    assert forward == pytest.approx([0.01 * gaussian_delta(0.0, 1.0), 0.0], rel=1e-12)
    assert (forward == backward).all()


@pytest.mark.parametrize("rate", [1e-12, 1e-3, 0.5, 1.0])
@pytest.mark.parametrize("largest", [1e-9, 1.0, 100.0, 5000.0])
def test_largest_loss(rate, largest):
    with mp.workdps(4000 if largest > 1000 else 100):
        exact = mp.log1p(mp.mpf(rate) * mp.expm1(mp.mpf(largest)))
        got = sampled_largest(largest, rate)
        assert exact <= got <= exact * (1 + mp.mpf(1e-13))


# (sigma, rate, steps, delta, epsilon): the add and the remove direction, the larger counts
REFERENCES = [
    (1.0, 0.01, 10_000, 1e-6, 6.90738449504508251),
    (1.0, 0.01, 1000, 1e-6, 2.12451517112012133),
    (1.1, 0.001, 100_000, 1e-5, 1.39041676449559267),
    (0.8, 0.02, 500, 1e-5, 4.66801175211573351),
    (4.0, 0.1, 100, 1e-6, 1.13191897609453259),
    (0.6, 0.01, 1000, 1e-5, 7.43361382104102765),
    (0.5, 0.001, 10_000, 1e-6, 6.34611212353064007),
    (2.0, 0.05, 3000, 1e-10, 10.22150148407246),
    (1.23, 0.0021333333333333334, 1407, 1.6666666666666667e-5, 0.262391978179981462),
    (3.0, 0.5, 20, 1e-5, 3.39972383358619382),
    (1.5, 0.9, 10, 1e-5, 9.7665009673285729),
    (1.0, 0.1, 30, 1e-3, 2.57290638166056828),
]


@pytest.mark.parametrize(("sigma", "rate", "steps", "delta", "exact"), REFERENCES)
def test_private_training(sigma, rate, steps, delta, exact, check_error):
    losses = PrivacyLossDistribution._of({sampled_gaussian(sigma, rate): steps})
    got = losses.epsilon(delta)
    assert got >= exact
    check_error("epsilon of sampled Gaussians", got / exact - 1, 3e-5)
    assert delta * (1 - 1e-9) <= losses.delta(exact) <= delta * 1.001


def test_different_sampled_gaussians_in_the_direction_of_adding():
    parts = [(1.0, 0.02), (0.8, 0.01), (1.4, 0.03)]
    losses = PrivacyLossDistribution._of({sampled_gaussian(*one).swapped: 1000 for one in parts})
    got = losses._directions[0].epsilon_upper(math.log(1e-6))
    assert 5.83388458792969144 <= got <= 5.83388458792969144 * (1 + 3e-5)


@pytest.mark.parametrize(("sigma", "rate"), [(0.3, 0.01), (1.0, 0.2), (5.0, 0.9)])
def test_one_sampled_release(sigma, rate):
    """One step: both directions against the closed form with Phi."""
    losses = PrivacyLossDistribution._of({sampled_gaussian(sigma, rate): 1})
    for x in (0.0, 0.02, 0.5, 3.0):
        with mp.workdps(40):
            exact = float(max(exact_poisson(1 / sigma, rate, x)))
        assert exact * (1 - 1e-12) <= losses.delta(x) <= exact * (1 + 1e-3) + 1e-38
