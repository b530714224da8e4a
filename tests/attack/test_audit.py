"""Audits: below what is proved for every mechanism, near it where that is possible."""

import math

import numpy as np
import pytest
from scipy import stats

import tightnoise as tn
from tightnoise._core import special as core

E = np.eye(8)[0]
# A true bound above the proved one has a probability of at most 1e-6 a case; streams are fixed.
CASES = [
    (tn.Gaussian(1.0), 1.0, 0.0, {"sensitivity": 1.0}),
    (tn.Gaussian(2.0), np.full(4, 0.5), np.zeros(4), {"sensitivity": 1.0}),
    (tn.RectifiedGaussian(1.0, -1.0, 1.0), 0.8, -0.2, {"sensitivity": 1.0}),
    (tn.TruncatedGaussian(1.0, -1.0, 1.0), 5.0, 4.0, {"sensitivity": 1.0}),
    (tn.StochasticSign(1.0), 2.0, 1.0, {"sensitivity": 1.0}),
    (tn.QuantizedGaussian(1.0, -1.0, 1.0, levels=4), 0.0, 1.0, {"sensitivity": 1.0}),
    (tn.BoundedLaplace(1.0, 0.0, 1.0), 0.0, 1.0, {"sensitivity": 1.0, "domain": (0.0, 1.0)}),
    (tn.Laplace(1.0), 1.0, 0.0, {"sensitivity": 1.0}),
    (tn.TruncatedLaplace(1.0, 10.0), 1.0, 0.0, {"sensitivity": 1.0}),
    (tn.Staircase(1.0, 1.0, 0.4), 1.0, 0.0, {"sensitivity": 1.0}),
    (tn.Tulap(1.0, sensitivity=1.0), 1.0, 0.0, {"sensitivity": 1.0}),
    (tn.calibrate.multi_gaussian(1.0, 1e-3, sensitivity=1.0), 1.0, 0.0, {"sensitivity": 1.0}),
    (tn.calibrate.quasi_gaussian(1.0, 1e-3, sensitivity=1.0), 1.0, 0.0, {"sensitivity": 1.0}),
    (tn.GaussianScaleMixture([0, 0.4], [0.9, 0.1], [0.5, 0.3]), 1.0, 0.0, {"sensitivity": 1.0}),
    (tn.VonMisesFisher(2.0, 8), E, -E, {}),
    (tn.ProductVonMisesFisher(2.0, [30, 50]), np.ones(80), -np.ones(80), {}),
    (tn.LiftedVonMisesFisher(2.0, 7, anchor=0.5), E[:7], np.zeros(7), {"sensitivity": 1.0}),
    (tn.VonMisesFisher(20.0, 8), E, np.sqrt([0.96, 0.04, 0, 0, 0, 0, 0, 0]), {"angle": 0.2014}),
]


@pytest.mark.parametrize(("mechanism", "theta", "other", "neighbours"), CASES, ids=repr)
def test_no_audit_is_above_what_is_proved(mechanism, theta, other, neighbours):
    cost = mechanism.cost(**neighbours)
    lifted = isinstance(mechanism, tn.LiftedVonMisesFisher)  # a release has one number more
    found = tn.attack.audit(
        mechanism,
        theta,
        other,
        1e-3,
        trials=20_000,
        confidence=1 - 1e-6,
        cost=cost,
        statistic=(lambda y: y[:, 0]) if lifted else None,
        rng=tn.random.NoiseStream(11),
    )
    assert found.epsilon <= found.proved == cost.epsilon(1e-3)
    assert found.ceiling <= found.proved


def test_every_mechanism_is_audited():
    concrete = {
        kind
        for kind in vars(tn).values()
        if isinstance(kind, type) and issubclass(kind, tn.Mechanism)
    }
    assert {type(mechanism) for mechanism, *_ in CASES} == concrete - {tn.Mechanism}


def test_it_is_near_what_is_proved_where_that_is_possible():
    noise = tn.Gaussian(1.0)
    found = tn.attack.audit(
        noise,
        1.0,
        0.0,
        1e-2,
        trials=1_000_000,
        cost=noise.cost(sensitivity=1.0),
        rng=tn.random.NoiseStream(1),
    )
    assert 0.9 * found.proved <= found.epsilon <= found.proved
    assert f"at least {found.epsilon:.4g}" in str(found)
    assert "proved: 2.318" in str(found)


@pytest.mark.parametrize(
    ("delta", "trials", "confidence", "part"),
    [(1e-2, 10**6, 0.999, 0.957), (1e-5, 10**6, 0.999, 0.701), (1e-5, 10**6, 0.95, 0.756)],
)
def test_the_ceiling_is_the_best_test_s(delta, trials, confidence, part):
    """Of all tests of so many Gaussian releases, by SciPy; no more than three quarters judge."""
    cost, judged, risk = tn.Gaussian(1.0).cost(sensitivity=1.0), 3 * trials // 4, 1 - confidence
    false = np.geomspace(1e-8, 0.5, 2000)
    true = stats.norm.cdf(stats.norm.ppf(false) + 1.0)
    hits, alarms = judged * true, judged * false
    power = stats.beta.ppf(0.1 * risk, hits, judged - hits + 1)
    size = stats.beta.ppf(1 - 0.9 * risk, alarms + 1, judged - alarms)
    best = np.log(np.maximum(power - delta, 1e-300) / size).max()
    found = tn.attack._audit._ceiling(cost, judged, delta, risk)
    assert found == pytest.approx(best, rel=2e-4)
    assert found / cost.epsilon(delta) == pytest.approx(part, abs=1e-3)


def test_a_mechanism_with_too_little_noise_is_caught():
    """With half the noise that its cost claims."""
    claimed = tn.Gaussian(1.0).cost(sensitivity=1.0)
    found = tn.attack.audit(
        tn.Gaussian(0.5), 1.0, 0.0, 1e-2, cost=claimed, rng=tn.random.NoiseStream(2)
    )
    assert found.epsilon > found.proved > found.ceiling


def test_a_statistic_of_ones_own_and_no_cost():
    found = tn.attack.audit(
        tn.Laplace(0.5),
        1.0,
        0.0,
        0.0,
        trials=5000,
        statistic=lambda y: np.abs(y) < 0.5,
        rng=tn.random.NoiseStream(3),
    )
    assert 0 < found.epsilon < 2.0
    assert found.proved is found.ceiling is None
    assert len(str(found).splitlines()) == 2


@pytest.mark.parametrize("alpha", [0.05, 1e-6, 1e-12])
def test_bounds_of_a_probability_are_those_of_clopper_and_pearson(alpha):
    for k, n in [(0, 5), (5, 5), (3, 7), (1, 10**6), (500_000, 10**6), (999_999, 10**6)]:
        lower, upper = core.binomial_bounds(k, n, alpha)
        assert lower == pytest.approx(stats.beta.ppf(alpha, k, n - k + 1) if k else 0, rel=1e-9)
        assert 1 - upper == pytest.approx(
            stats.beta.ppf(alpha, n - k, k + 1) if k < n else 0, rel=1e-7, abs=1e-15
        )


def test_what_is_not_audited():
    noise = tn.Gaussian(1.0)
    for arguments, options, message in [
        ((1.0, [0.0, 1.0], 0.1), {}, "theta_prime must be of theta's shape"),
        ((1.0, 1.0, 0.1), {}, "other than theta"),
        ((1.0, 0.0, 1.0), {}, "delta must be at least 0 and below 1"),
        ((1.0, 0.0, 0.1), {"trials": 10}, "trials"),
        ((1.0, 0.0, 0.1), {"confidence": 1.0}, "confidence must be between 0 and 1"),
        ((1.0, 0.0, 0.1), {"statistic": lambda y: y[:3]}, "a number for each"),
        ((1.0, 0.0, 0.1), {"statistic": lambda y: y * math.nan}, "a number for each"),
        ((math.nan, 0.0, 0.1), {}, "theta"),
    ]:
        with pytest.raises(ValueError, match=message):
            tn.attack.audit(noise, *arguments, **options)
    with pytest.raises(TypeError, match="mechanism must have a method `sample`; got None"):
        tn.attack.audit(None, 1.0, 0.0, 0.1)
