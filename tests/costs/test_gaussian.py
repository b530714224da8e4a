"""The Gaussian mechanism's privacy profile against its definition at 50 digits and more."""

import numpy as np
import pytest
from by_night import by_night
from mpmath import mp, mpf
from reference.gaussian_profile import profile

import tightnoise as tn
from tightnoise.costs._gaussian_profile import gaussian_delta, gaussian_epsilon

inf, nan = np.inf, np.nan

# Computed from the definition at 50 and at 66 digits; the inputs are exact.
DELTAS = [
    (0.0, 1.0, "0.382924922548026207275409221217"),
    (1.0, 1.0, "0.126936737506643945800829624758"),
    (4.0, 1.0, "0.0000471224120079311986742112149948"),
    (10.0, 2.5, "0.00130465920818161390730051438525"),
    (30.0, 5.0, "0.000131326271113373263159116267212"),
]
EPSILONS = [
    ("1e-5", 0.5, "1.99309140441511963114946158809"),
    ("1e-5", 1.5, "7.05141322379395791959890243112"),
    ("1e-9", 2.0, "13.5347722191655376554566268370"),
    ("1e-5", 7.0, "53.5751667691568759811111656911"),
]


def points(rng, n=600):
    """Epsilon and mu for which delta runs from 1e-300 to 1 - 1e-15, over all scales of mu."""
    mu = 10.0 ** np.concatenate([rng.uniform(-280, 2, n // 3), rng.uniform(-4, 5, n - n // 3)])
    z = np.where(rng.random(n) < 0.5, rng.uniform(-8, 37, n), rng.uniform(-3, 5, n))
    epsilon = np.maximum(mu * (mu / 2 + z), 0.0)
    epsilon[::20] = 0.0
    return epsilon, mu


def exact(epsilon, mu):
    return profile(mpf(float(epsilon)), mpf(float(mu)))


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


def test_delta_is_exact_rounded_upwards(rng, check_error):
    epsilon, mu = points(rng)
    worst = worst_complement = 0.0
    for e, m, delta in zip(epsilon, mu, gaussian_delta(epsilon, mu), strict=True):
        truth, complement = exact(e, m)
        excess = mpf(float(delta)) - truth
        assert excess >= 0
        if truth > 1e-300:
            worst = max(worst, float(excess / truth))
        if truth > 0.9:  # 1 - delta in double precision is what delta can show of it
            worst_complement = max(worst_complement, float((excess - mpf(2) ** -53) / complement))
    check_error("gaussian_delta", worst, 1.3e-14)
    check_error("gaussian_delta: 1 - delta", worst_complement, 1.3e-14)


def test_epsilon_is_exact_rounded_upwards(rng, check_error):
    n = 1000
    delta = np.where(rng.random(n) < 0.5, 10.0 ** rng.uniform(-300, 0, n), rng.uniform(0, 1, n))
    delta[::25] = 1 - 10.0 ** rng.uniform(-15, -2, n)[::25]
    mu = 10.0 ** rng.uniform(-12, 2.5, n)
    worst = 0.0
    positive = 0
    for d, m, epsilon in zip(delta, mu, gaussian_epsilon(delta, mu), strict=True):
        target = mpf(float(d))
        assert exact(epsilon, m)[0] <= target
        if epsilon > 0:
            positive += 1
            before = epsilon * (1 - 1e-15)  # the rounding of epsilon is no error of delta
            worst = max(worst, float((target - exact(before, m)[0]) / target))
    assert positive > n // 2
    check_error("gaussian_epsilon, in delta", worst, 1e-13)


def test_relative_error_of_epsilon_away_from_zero(rng, check_error):
    n = 300
    mu = 10.0 ** rng.uniform(-6, 2, n)
    epsilon = 10.0 ** rng.uniform(-6, 3, n)
    delta = gaussian_delta(epsilon, mu)
    # The answer cannot be better than delta's own rounding: keep where that moves epsilon little.
    moved = np.abs(gaussian_epsilon(np.nextafter(delta, 0), mu) / epsilon - 1)
    keep = (delta > 1e-300) & (delta < 1) & (moved < 1e-10)
    assert keep.sum() > 50
    back = gaussian_epsilon(delta[keep], mu[keep])
    check_error("gaussian_epsilon", np.abs(back / epsilon[keep] - 1).max(), 1e-9)


@pytest.mark.parametrize(("epsilon", "mu", "truth"), DELTAS)
def test_reference_deltas(epsilon, mu, truth):
    assert mpf(truth) <= mpf(float(gaussian_delta(epsilon, mu))) <= mpf(truth) * (1 + mpf(1.3e-14))


@pytest.mark.parametrize(("delta", "mu", "truth"), EPSILONS)
def test_reference_epsilons(delta, mu, truth):
    assert gaussian_epsilon(float(delta), mu) == pytest.approx(float(truth), rel=1e-14)


def test_far_out_nothing_overflows():
    epsilon, mu = (
        np.array([0.0, 1e-300, 1.0, 1e6, 1e300])[:, None],
        10.0 ** np.arange(-300, 301, 10),
    )
    delta = gaussian_delta(epsilon, mu)
    assert np.isfinite(delta).all()
    assert (delta > 0).all()
    assert (np.diff(delta, axis=1) >= 0).all()  # more mu, more delta
    assert (np.diff(delta, axis=0) <= 0).all()  # more epsilon, less
    back = gaussian_epsilon(np.minimum(delta, 1 - 2**-53), mu)
    assert (gaussian_delta(back, mu) <= delta).all()


def test_limits():
    assert gaussian_delta(1.0, 0.0) == 0.0
    assert gaussian_delta(1.0, inf) == 1.0
    assert gaussian_delta(inf, 1.0) == 0.0
    assert gaussian_delta(inf, inf) == 1.0
    assert gaussian_epsilon(0.5, 0.0) == 0.0
    assert gaussian_epsilon(0.0, 0.0) == 0.0
    assert gaussian_epsilon(0.0, 1.0) == inf
    assert gaussian_epsilon(0.5, inf) == inf
    assert gaussian_epsilon(1.0, inf) == 0.0
    assert gaussian_epsilon(0.5, 1.0) == 0.0  # more than the total variation distance


@pytest.mark.parametrize("mu", [16.0, 40.0, 322.0, 12360.0])
def test_a_delta_next_to_1_is_told_from_both_sides(mu, rng):
    cost = tn.Gaussian(1.0 / mu).cost(sensitivity=1.0)
    mu = 1 / mpf(cost.terms[0][0].noise_multiplier)
    for missing in 10.0 ** -rng.uniform(2, 15.5, 20):
        delta = float(1 - missing)
        for upper in (cost.epsilon_bounds(delta)[1], cost.epsilon(delta, by="losses")):
            assert profile(mpf(upper), mu)[0] <= delta
        lower = cost.epsilon_bounds(delta)[0]
        assert profile(mpf(lower), mu)[0] >= delta


@pytest.mark.parametrize("rate", [1e-30, 1e-10])
@pytest.mark.parametrize("loss", [*by_night(1.0, 640.0, 690.0), 30.0, 699.9, 701.0])
@pytest.mark.parametrize("sampling", ["poisson", "fixed-size"])
def test_a_rare_sample_may_lose_much(rate, loss, sampling):
    place = mp.log1p(mp.expm1(mpf(loss)) / mpf(rate))
    noise = tn.Gaussian(float(1 / mp.sqrt(2 * place)))
    relation = "replace-one" if sampling == "fixed-size" else None
    cost = noise.cost(sensitivity=1.0, adjacency=relation).sampled(rate, sampling)
    truth = mpf(rate) * profile(place, 1 / mpf(noise.sigma))[0]
    most = cost.delta(loss, by="losses")
    assert truth <= most
    assert sampling == "fixed-size" or most < truth * (1 + 1e-9)  # no law has so little noise
    assert cost.delta_bounds(loss)[0] <= truth
    epsilon = cost.epsilon(float(truth), by="losses")
    place = mp.log1p(mp.expm1(mpf(epsilon)) / mpf(rate))
    assert mpf(rate) * profile(place, 1 / mpf(noise.sigma))[0] <= float(truth)
    assert cost.delta_bounds(2.0 * loss + 500.0)[1] > 0  # it underflows


def test_never_above_any_renyi_conversion():
    curve = tn.RdpCurve(tn.costs.DEFAULT_ORDERS, tn.costs.DEFAULT_ORDERS * 0.5 * 0.5**2)
    for delta in (1e-10, 1e-5, 1e-2):
        assert gaussian_epsilon(delta, 0.5) < curve.epsilon(delta)
