"""Noise on a bounded domain for delta > 0: the least sigma and the least epsilon."""

import math
import random

import numpy as np
import pytest
from calibrated import epsilon_of, scale_of
from mpmath import mp, mpf
from reference.worst_pairs import delta_of_pair, places

import tightnoise as tn
from tightnoise import _core
from tightnoise.calibrate import CalibrationError

CALIBRATIONS = {kind: (scale_of(kind), epsilon_of(kind)) for kind in ("truncated", "rectified")}
WORST_DELTA = {
    "truncated": _core.domain.truncated_worst_delta,
    "rectified": _core.domain.rectified_worst_delta,
}
every_mechanism = pytest.mark.parametrize("mechanism", CALIBRATIONS)

# On [0, 10]: sensitivity, epsilon, delta, then sigma of the Gaussian, rectified and truncated.
KNOWN = [
    (1.0, 0.1, 1e-5, 30.75, 13.10, 7.415),
    (1.0, 1.0, 1e-3, 2.575, 2.575, 2.290),
    (1.0, 1.0, 1e-5, 3.731, 3.223, 2.697),
    (1.0, 3.0, 1e-5, 1.391, 1.391, 1.375),
    (5.0, 0.1, 1e-5, 153.7, 45.30, 15.78),
    (5.0, 1.0, 1e-5, 18.65, 7.589, 5.295),
    (5.0, 3.0, 1e-5, 6.953, 3.871, 3.237),
]


@pytest.mark.parametrize(("sensitivity", "epsilon", "delta", "gaussian", "clip", "cut"), KNOWN)
def test_known(sensitivity, epsilon, delta, gaussian, clip, cut):
    given = (epsilon, 0.0, 10.0, sensitivity, delta)
    assert tn.calibrate.gaussian(epsilon, delta, sensitivity=sensitivity).sigma == pytest.approx(
        gaussian, rel=5e-4
    )
    assert scale_of("rectified")(*given) == pytest.approx(clip, rel=5e-4)
    assert scale_of("truncated")(*given) == pytest.approx(cut, rel=5e-4)


def random_target(rng):
    epsilon = rng.choice([0.0, 10 ** rng.uniform(-9, 3)])
    delta = rng.choice([10 ** rng.uniform(-300, -0.302), 10 ** rng.uniform(-12, -0.302)])
    width = 10 ** rng.uniform(-3, 3)
    share = rng.choice([1.0, rng.random(), 10 ** rng.uniform(-9, 0)])
    return epsilon, delta, width, width * share


@every_mechanism
def test_least_sigma_that_is_certified(mechanism):
    calibrate, _ = CALIBRATIONS[mechanism]
    worst_delta = WORST_DELTA[mechanism]
    rng = random.Random(1)
    for _ in range(150):
        epsilon, delta, width, sensitivity = random_target(rng)
        sigma = calibrate(epsilon, 0.0, width, sensitivity, delta=delta)
        assert worst_delta(sigma, width, sensitivity, epsilon) <= delta
        if epsilon > 0.0:
            pure = calibrate(epsilon, 0.0, width, sensitivity)
            assert sigma <= pure * (1 + 1e-13)  # as the cost is rounded
        if epsilon == 0.0 or sigma < pure * (1 - 2e-9):
            assert worst_delta(sigma * (1 - 1e-9), width, sensitivity, epsilon) > delta


@every_mechanism
def test_least_epsilon_that_is_certified(mechanism):
    calibrate, epsilon_of = CALIBRATIONS[mechanism]
    worst_delta = WORST_DELTA[mechanism]
    rng = random.Random(2)
    for _ in range(150):
        asked, delta, width, sensitivity = random_target(rng)
        sigma = calibrate(asked, 0.0, width, sensitivity, delta=delta)
        epsilon = epsilon_of(sigma, 0.0, width, sensitivity, delta=delta)
        assert 0.0 <= epsilon <= asked * (1 + 1e-12) + 1e-9
        assert worst_delta(sigma, width, sensitivity, epsilon) <= delta
        sigma *= rng.uniform(0.5, 1.0)
        epsilon = epsilon_of(sigma, 0.0, width, sensitivity, delta=delta)
        assert worst_delta(sigma, width, sensitivity, epsilon) <= delta
        less = epsilon * (1 - 1e-9) - 1e-9
        if less > 0.0:
            assert worst_delta(sigma, width, sensitivity, less) > delta


@every_mechanism
def test_private_for_every_pair(mechanism):
    # Against divergences of 50 digits.
    calibrate, _ = CALIBRATIONS[mechanism]
    rng = random.Random(3)
    for _ in range(12):
        epsilon, delta, width, sensitivity = random_target(rng)
        delta = max(delta, 1e-30)
        sigma = calibrate(epsilon, 0.0, width, sensitivity, delta=delta)
        for value in places(sigma, width, sensitivity, 4):
            assert delta_of_pair(mechanism, sigma, width, sensitivity, epsilon, value) <= delta


def test_total_variation():
    # epsilon = 0 at the full width: the distance of half-normal laws, Phi(w/2)-like, by hand.
    sigma = scale_of("truncated")(0.0, 0.0, 1.0, 1.0, delta=0.1)
    with mp.workdps(30):
        w = 1 / mpf(sigma)
        distance = 2 * mp.ncdf(w / 2) - mp.ncdf(w) - mpf(1) / 2
        distance /= mp.ncdf(w) - mpf(1) / 2
    assert float(distance) == pytest.approx(0.1, rel=2e-10)
    rectified = scale_of("rectified")(0.0, 0.0, 1.0, 1.0, delta=0.1)
    assert rectified == pytest.approx(
        tn.calibrate.gaussian(0.0, 0.1, sensitivity=1.0).sigma, rel=1e-12
    )


@every_mechanism
def test_monotone(mechanism):
    calibrate, epsilon_of = CALIBRATIONS[mechanism]
    epsilons = np.concatenate([[0.0], np.geomspace(1e-9, 1e3, 49)])
    for sensitivity, delta in [(1.0, 1e-5), (0.3, 0.2), (1e-3, 1e-12), (1e-9, 1e-100)]:
        sigma = calibrate(epsilons, 0.0, 1.0, sensitivity, delta=delta)
        assert sigma.shape == epsilons.shape
        assert (np.diff(sigma) <= 0).all()
        back = epsilon_of(np.geomspace(1e-3, 1e3, 40), 0.0, 1.0, sensitivity, delta=delta)
        assert (np.diff(back) <= 0).all()
    for epsilon in (0.0, 0.1, 3.0):
        by_delta = [
            calibrate(epsilon, 0.0, 1.0, 0.3, delta=d) for d in np.geomspace(1e-300, 0.9, 40)
        ]
        # Next to the pure sigma there is nothing but rounding.
        assert (np.diff(by_delta) <= 1e-12 * np.array(by_delta[1:])).all()


@every_mechanism
def test_limits(mechanism):
    calibrate, _ = CALIBRATIONS[mechanism]
    # Far wider than sigma: the Gaussian. delta that gains nothing: the pure sigma.
    assert calibrate(1.0, 0.0, 1e6, 1.0, delta=1e-5) == pytest.approx(
        tn.calibrate.gaussian(1.0, 1e-5, sensitivity=1.0).sigma, rel=1e-9
    )
    assert calibrate(1.0, 0.0, 2.0, 1.0, delta=1e-300) == pytest.approx(
        calibrate(1.0, 0.0, 2.0, 1.0), rel=1e-12
    )


@every_mechanism
def test_an_answer_at_extremes(mechanism):
    calibrate, epsilon_of = CALIBRATIONS[mechanism]
    for epsilon in (0.0, 1e-100, 1e-9, 1.0, 1e3, 1e100):
        for delta in (1e-300, 1e-5, 0.5, 1 - 1e-6):
            for sensitivity in (5.0, 1.0, 1e-9, 1e-100):
                sigma = calibrate(epsilon, 0.0, 1.0, sensitivity, delta=delta)
                assert 0.0 < sigma < math.inf
                assert WORST_DELTA[mechanism](sigma, 1.0, sensitivity, epsilon) <= delta
                back = epsilon_of(sigma, 0.0, 1.0, sensitivity, delta=delta)
                assert 0.0 <= back <= epsilon * (1 + 1e-5) + 1e-9


@every_mechanism
def test_arguments(mechanism):
    calibrate, epsilon_of = CALIBRATIONS[mechanism]
    for function in (calibrate, epsilon_of):
        for delta in (-1e-3, 1.5, math.nan, math.inf):
            with pytest.raises(ValueError, match="delta"):
                function(1.0, 0.0, 1.0, 0.5, delta=delta)
        with pytest.raises(TypeError, match="delta"):
            function(1.0, 0.0, 1.0, 0.5, delta="small")
    with pytest.raises(ValueError, match="epsilon"):
        calibrate(0.0, 0.0, 1.0, 0.5)
    with pytest.raises(ValueError, match="epsilon"):
        calibrate(-1.0, 0.0, 1.0, 0.5, delta=0.1)
    with pytest.raises(CalibrationError, match="scale"):
        calibrate(0.0, 0.0, 1e300, 1e300, delta=1e-30)
