"""The analytic Gaussian: private at 60 digits, and not with a part in 1e12 less noise."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from reference.gaussian_profile import profile

import tightnoise as tn

inf, nan = np.inf, np.nan


def gaussian(epsilon, delta, *, sensitivity):
    """Return sigma, elementwise."""
    arrays = np.broadcast_arrays(epsilon, delta, sensitivity)
    cases = zip(*(array.ravel().tolist() for array in arrays), strict=True)
    sigmas = [tn.calibrate.gaussian(e, d, sensitivity=c).sigma for e, d, c in cases]
    return np.array(sigmas).reshape(arrays[0].shape)[()]


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


def exact(epsilon, sensitivity, sigma):
    with mp.workdps(400):
        mu = mpf(float(sensitivity)) / mpf(sigma)
    return profile(mpf(float(epsilon)), mu)[0]


def test_private_and_no_larger_than_needed(rng, check_error):
    n = 500
    epsilon = 10.0 ** rng.uniform(-6, 3, n)
    epsilon[::10] = 0.0
    epsilon[1::30] = 10.0 ** rng.uniform(3, 6, n)[1::30]
    delta = np.where(rng.random(n) < 0.6, 10.0 ** rng.uniform(-300, 0, n), rng.uniform(0, 1, n))
    delta[::25] = 1 - 10.0 ** rng.uniform(-15, -2, n)[::25]
    sensitivity = 10.0 ** rng.uniform(-3, 3, n)
    sigma = gaussian(epsilon, delta, sensitivity=sensitivity)
    for e, d, c, s in zip(epsilon, delta, sensitivity, sigma, strict=True):
        assert tn.Gaussian(s).cost(sensitivity=c).epsilon(d) <= e
    less = [1e-12, 1e-13, 3e-14]
    worst = 0.0
    for e, d, c, s in zip(epsilon, delta, sensitivity, sigma, strict=True):
        target, noise = mpf(float(d)), mpf(float(s))
        assert exact(e, c, noise) <= target
        for share in less:
            if exact(e, c, noise * (1 - mpf(share))) <= target:
                worst = max(worst, share)
    check_error("calibrate.gaussian: what sigma could lose", worst, 3e-14)


def test_known_values():
    # accounting: sigma = 20, 100 releases, delta 1e-5 cost epsilon 1.99309140441511963...
    assert gaussian(1.99309140441511963, 1e-5, sensitivity=10.0) == pytest.approx(20.0, rel=1e-13)
    # Phi(mu/2) - Phi(-mu/2) = 0.382924922548026207... at epsilon = 0, mu = 1
    assert gaussian(0.0, 0.382924922548026207, sensitivity=1.0) == pytest.approx(1.0, rel=1e-13)


def test_round_trip_with_epsilon():
    for sigma in (1e-2, 0.5, 1.0, 30.0):
        epsilon = tn.Gaussian(sigma).cost(sensitivity=1.0).epsilon(1e-6)
        assert gaussian(epsilon, 1e-6, sensitivity=1.0) == pytest.approx(sigma, rel=1e-11)


def test_monotone():
    epsilons, deltas = np.geomspace(1e-6, 1e6, 200), np.geomspace(1e-300, 0.999, 200)
    assert (np.diff(gaussian(epsilons, 1e-6, sensitivity=1.0)) < 0).all()
    assert (np.diff(gaussian(1.0, deltas, sensitivity=1.0)) < 0).all()
    sigma = gaussian(1.0, 1e-6, sensitivity=np.geomspace(1e-100, 1e100, 200))
    assert (np.diff(sigma) > 0).all()


def test_less_noise_than_the_classical_formula():
    # Dwork and Roth 2014, Theorem A.1, holds for epsilon < 1 only.
    assert gaussian(0.9, 1e-5, sensitivity=1.0) < math.sqrt(2 * math.log(1.25 / 1e-5)) / 0.9


def test_extremes_end():
    sigma = gaussian([0.0, 1e-300, 1e-6, 1e300], [[1e-307], [1e-300], [1 - 2**-53]], sensitivity=1)
    assert (sigma > 0).all()
    assert gaussian(1.0, 1e-5, sensitivity=5e-324) == 2.0**-1022  # the least that Gaussian takes
    assert gaussian(1.0, 1e-5, sensitivity=1e300) == pytest.approx(3.730632e300, rel=1e-6)
