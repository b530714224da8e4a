"""accounting.privacy_loss: one release costs its profile, many what is known by other ways."""

import itertools
import math

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.accounting import cost_of, kairouz_oh_viswanath, privacy_loss

INF = float("inf")

STAIRCASE = tn.Staircase(epsilon=1.0, sensitivity=1.0, gamma=1 / (1 + math.exp(0.5)))
TRUNCATED = tn.TruncatedLaplace(scale=1.0, bound=13.6)
MECHANISMS = [
    (tn.Laplace(scale=1.0), 1.0),
    (tn.Laplace(scale=3.0), 0.1),
    (tn.Laplace(scale=0.02), 1.0),
    (STAIRCASE, 1.0),
    (STAIRCASE, 0.7),
    (STAIRCASE, 3.2),
    (TRUNCATED, 1.0),
    (TRUNCATED, 0.4),
    (tn.Tulap(epsilon=1.0, sensitivity=1.0), 1.0),
    (tn.Tulap(epsilon=0.5, sensitivity=2.0, bound=40.0), 2.0),
]


@pytest.mark.parametrize(("mechanism", "sensitivity"), MECHANISMS)
def test_one_release_costs_its_profile(mechanism, sensitivity, check_error):
    once = privacy_loss(mechanism, sensitivity=sensitivity)
    largest = mechanism.epsilon_at(
        float(mechanism.delta(1e300, sensitivity)) * (1 + 1e-9), sensitivity
    )
    worst = 0.0
    for epsilon in np.linspace(0.0, 0.97, 12) * largest:
        exact = float(mechanism.delta(epsilon, sensitivity))
        got = once.delta(epsilon)
        assert got >= exact * (1 - 2e-9)  # the exact one is rounded up, too
        worst = max(worst, got / exact - 1)
    check_error("privacy_loss, one release of piecewise noise", worst, 1e-5)


@pytest.mark.parametrize("times", [1, 3, 40, 2000])
def test_pure_mechanisms_cost_no_more_than_randomised_response(times):
    """The staircase's and Tulap noise's losses at their own sensitivity are of size 0 or 1 only."""
    for mechanism in (tn.Laplace(1.0), STAIRCASE, tn.Tulap(epsilon=1.0, sensitivity=1.0)):
        losses = privacy_loss(mechanism, sensitivity=1.0) * times
        for delta in (1e-2, 1e-6, 1e-12):
            most = kairouz_oh_viswanath(1.0, 0.0, times, delta)
            assert losses.epsilon(delta) <= most * (1 + 1e-9)
        assert losses.epsilon(0.0) == pytest.approx(times, rel=1e-12)


def test_staircase_is_a_lottery_of_three(check_error):
    """Sensitivity 1: losses of 1, 0, -1; the steps of the density are e^-1 each."""
    gamma, b = STAIRCASE.gamma, math.exp(-1)
    # A shift by 1 takes every step to the next, but for the middle one, from -gamma to gamma, of
    # width 2 gamma, which overlaps with itself where gamma > 1/2.
    total = float(STAIRCASE.delta(0.0, 1.0))
    one = total / (1 - b)
    three = tn.costs.PrivacyLossDistribution.of_losses(
        [1.0, 0.0, -1.0], [one, 1 - one * (1 + b), one * b]
    )
    assert gamma < 0.5
    for times, delta in itertools.product((1, 7, 300), (1e-3, 1e-8)):
        exact = (three * times).epsilon(delta)
        got = (privacy_loss(STAIRCASE, sensitivity=1.0) * times).epsilon(delta)
        check_error("privacy_loss, staircase, many times", abs(got / exact - 1), 1e-7)


@pytest.mark.parametrize(
    ("mixture", "printed"),
    [
        # Calibrated to (1, 1e-5) and (3, 1e-5); epsilon of 1, 10, 100 and 1000 releases at 1e-5.
        (
            tn.MultiGaussianMixture(0.35815370759801224, 1.0, 1.0, 11),
            ("1.00", "10.8", "71.0", "499"),
        ),
        (tn.MultiGaussianMixture(0.2762784363290848, 3.0, 1.0, 4), ("3.0", "32.1", "283", "2542")),
    ],
)
def test_multi_gaussian_mixtures(mixture, printed):
    """The worst shift lies between 0.9 and 1 of the sensitivity, where it matters."""
    once = privacy_loss(mixture, sensitivity=1.0)
    spacing = mixture.epsilon_at(1e-40, 1.0) / 9999
    one_shift = tn.costs.PrivacyLossDistribution.of_profile(
        spacing, mixture.hockey_stick(0.0, 1.0, spacing * np.arange(10_000))
    )
    for times, figures in zip((1, 10, 100, 1000), printed, strict=True):
        epsilon = (once * times).epsilon(1e-5)
        assert f"{epsilon:.{len(figures.partition('.')[2])}f}" == figures
        # The neighbours that differ by the sensitivity: no less than without the blur.
        assert epsilon >= (one_shift * times).epsilon(1e-5) * (1 - 1e-12) - times * spacing
        assert once.delta(mixture.epsilon) >= 1e-5 * (1 - 1e-9)


def test_costs_of_noise_without_renyi_divergence():
    with pytest.raises(TypeError, match=r"TruncatedLaplace: compose accounting\.privacy_loss"):
        tn.accounting.RdpAccountant().compose(TRUNCATED, 3, sensitivity=1.0)
    with pytest.raises(TypeError, match=r"QuasiGaussian.*: compose accounting\.privacy_loss"):
        cost_of(tn.QuasiGaussianMixture(0.5, 1.0, 1.0))


@pytest.mark.parametrize(
    "mixture",
    [
        tn.MultiGaussianMixture(0.7, 1.0, 1.0, 5),
        tn.GaussianScaleMixture([0.0, 1.0], [0.9, 0.1], [0.7, 2.0]),
    ],
)
def test_mixtures_in_renyi_accountants(mixture):
    """As Gaussians of the narrowest component: valid, far above the truth."""
    accountant = tn.accounting.RdpAccountant().compose(mixture, 20, sensitivity=1.0)
    gaussian = tn.accounting.RdpAccountant().compose(tn.Gaussian(0.7), 20, sensitivity=1.0)
    assert accountant.epsilon(1e-5) == pytest.approx(gaussian.epsilon(1e-5), rel=1e-6)
    exact = (privacy_loss(mixture, sensitivity=1.0) * 20).epsilon(1e-5)
    assert exact < accountant.epsilon(1e-5)
    sampled = cost_of(mixture, sampling_rate=0.01)
    assert 0 < sampled.epsilon(1e-5) < cost_of(mixture).epsilon(1e-5)


def test_noise_that_ends_fails():
    """Bounded noise tells all with the probability that the neighbour cannot answer so."""
    once = privacy_loss(TRUNCATED, sensitivity=1.0)
    failure = float(TRUNCATED.delta(100.0, 1.0))
    for times in (1, 10, 1000):
        least = -math.expm1(times * math.log1p(-failure))
        assert (once * times).epsilon(0.99 * least) == INF
        assert (once * times).epsilon(2 * least) < times
        assert (once * times).delta(1e6) == pytest.approx(least, rel=1e-8)


def test_different_mechanisms_together():
    """More than either alone, less than both epsilons and deltas added up."""
    parts = [
        privacy_loss(tn.Laplace(2.0)) * 30,
        privacy_loss(tn.Gaussian(3.0)) * 20,
        privacy_loss(STAIRCASE, sensitivity=1.0) * 5,
        privacy_loss(TRUNCATED, sensitivity=0.3) * 3,
    ]
    together = parts[0] + parts[1] + parts[2] + parts[3]
    assert together.count == 58
    separate = [part.epsilon(1e-5) for part in parts]
    assert max(separate) < together.epsilon(4e-5) < sum(separate)
    in_steps = parts[3].compose(parts[2]).compose(parts[1] + parts[0])
    assert in_steps.epsilon(4e-5) == pytest.approx(together.epsilon(4e-5), rel=1e-9)


@pytest.mark.parametrize("points", [200, 1000])
def test_points(points):
    fine = (privacy_loss(tn.Laplace(1.0)) * 50).epsilon(1e-6)
    coarse = (privacy_loss(tn.Laplace(1.0), points=points) * 50).epsilon(1e-6)
    assert fine <= coarse <= fine * (1 + 30 / points**2)


BAD = [
    (tn.StochasticSign(1.0), {}, TypeError, "mechanism must be a Gaussian or AdditiveNoise"),
    (1.0, {}, TypeError, "mechanism"),
    (tn.Gaussian([1.0, 2.0]), {}, ValueError, "sigma must be one number"),
    (tn.Gaussian(1.0), {"sensitivity": 0.0}, ValueError, "sensitivity"),
    (tn.Gaussian(1.0), {"sensitivity": INF}, ValueError, "sensitivity"),
    (tn.Gaussian(1.0), {"sensitivity": "1"}, TypeError, "sensitivity"),
    (tn.Gaussian(1e-300), {"sensitivity": 1e300}, ValueError, "sensitivity"),
    (tn.Laplace(1.0), {"sensitivity": -1.0}, ValueError, "sensitivity"),
    (tn.Gaussian(1.0), {"points": 1}, ValueError, "points"),
    (tn.Gaussian(1.0), {"points": 2**19}, ValueError, "points"),
    (tn.Laplace(1.0), {"points": 10.5}, TypeError, "points"),
]


@pytest.mark.parametrize(("mechanism", "arguments", "kind", "match"), BAD)
def test_bad_input_is_refused_by_name(mechanism, arguments, kind, match):
    with pytest.raises(kind, match=match):
        privacy_loss(mechanism, **arguments)


def test_losses_without_meaning_are_refused_at_once():
    spikes = tn.MultiGaussianMixture(sigma=1e-3, epsilon=1.0, sensitivity=1.0, modes=10)
    with pytest.raises(ValueError, match="sensitivity must be such that no privacy loss"):
        privacy_loss(spikes)


@pytest.mark.parametrize("mechanism", [tn.Laplace(1e300), tn.Gaussian(1e300)])
def test_next_to_no_loss(mechanism):
    composed = privacy_loss(mechanism) * 3
    assert composed.epsilon(1e-5) <= 1e-99
    assert composed.delta(1.0) <= 1e-99
