"""The rectified Gaussian in an interval: pure DP, at 120 digits at most epsilon, and not far below.

Boxes and delta > 0 have tests of their own.
"""

import math

import numpy as np
import pytest
from calibrated import epsilon_of, scale_of
from mpmath import mp, mpf
from reference import bounded_losses
from scipy.special import log_ndtr

import tightnoise as tn

rectified_gaussian = scale_of("rectified")
rectified_gaussian_epsilon = epsilon_of("rectified")


def test_private_and_no_larger_than_needed(rng, check_error):
    slack, excess = [], []
    for _ in range(250):
        epsilon, width = 10.0 ** rng.uniform(-9, 3), 10.0 ** rng.uniform(-6, 6)
        share = rng.choice([1.0, rng.random(), 10.0 ** rng.uniform(-9, 0)])
        lower = width * rng.uniform(-1, 1)
        upper = lower + width
        sigma = rectified_gaussian(epsilon, lower, upper, share * width)
        accounted = rectified_gaussian_epsilon(sigma, lower, upper, share * width)
        with mp.workdps(bounded_losses.DIGITS):
            w = (mpf(upper) - mpf(lower)) / mpf(sigma)
            loss = bounded_losses.rectified(min(mpf(float(share * width)) / mpf(sigma), w), w)[0]
        assert loss <= min(epsilon, accounted)
        slack.append(float(1 - loss / mpf(epsilon)))
        excess.append(float(mpf(accounted) / loss - 1))
    check_error("rectified_gaussian: epsilon not used", max(slack), 5e-13)
    check_error("rectified_gaussian_epsilon: above the truth", max(excess), 3e-14)


@pytest.mark.parametrize("steps", [1, 7, 20, 33, 40])  # the sensitivity, in steps of the grid
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_by_brute_force(epsilon, steps):
    """All pairs of values on a grid, both atoms and outputs between."""
    lower, upper = -2.0, 3.0
    grid = np.linspace(lower, upper, 41)
    sensitivity = steps * (upper - lower) / 40
    sigma = rectified_gaussian(epsilon, lower, upper, sensitivity)
    s = grid[:, np.newaxis]
    inside = -0.5 * ((grid[1:-1] - s) / sigma) ** 2
    logs = np.hstack([log_ndtr((lower - s) / sigma), log_ndtr((s - upper) / sigma), inside])
    ratios = (logs[:, np.newaxis] - logs).max(axis=2)
    near = np.abs(np.subtract.outer(np.arange(41), np.arange(41))) <= steps
    assert ratios[near].max() == pytest.approx(epsilon, rel=1e-9)


def test_the_mechanism_agrees():
    """The loss of RectifiedGaussian itself at the worst pair."""
    sigma = rectified_gaussian(0.7, 1.0, 9.0, 2.5)
    mechanism = tn.RectifiedGaussian(sigma, 1.0, 9.0)
    assert float(mechanism.renyi_divergence(6.5, 9.0, np.inf)) == pytest.approx(0.7, rel=1e-11)


@pytest.mark.parametrize("share", [1.0, 0.999, 0.5, 0.1, 1e-3, 1e-9])
def test_monotone(share):
    """Also from one number to the next."""
    for epsilon in (1e-9, 1e-3, 0.3, 1.0, 7.0, 1e3):
        adjacent = epsilon * (1 + np.arange(100) * 2.0**-52)
        assert (np.diff(rectified_gaussian(adjacent, 0.0, 3.0, 3.0 * share)) <= 0).all()
    dense = np.geomspace(1e-9, 1e3, 500)
    assert (np.diff(rectified_gaussian(dense, 0.0, 3.0, 3.0 * share)) < 0).all()


def test_more_noise_than_the_truncated_gaussian():
    """Its atoms tell more."""
    epsilon = np.geomspace(1e-6, 10.0, 50)
    for share in (1.0, 0.5, 1e-3):
        truncated = scale_of("truncated")(epsilon, 0.0, 1.0, share)
        assert (rectified_gaussian(epsilon, 0.0, 1.0, share) > truncated).all()


def test_extremes():
    epsilon = np.geomspace(1e-9, 1e3, 13)
    for ratio in 10.0 ** np.arange(10):
        sigma = rectified_gaussian(epsilon, 0.0, ratio, 1.0)
        assert rectified_gaussian_epsilon(sigma, 0.0, ratio, 1.0) == pytest.approx(
            epsilon, rel=1e-12
        )
        for length in (2.0**-990, 2.0**980):  # only ratios count
            scaled = rectified_gaussian(epsilon, 0.0, ratio * length, length)
            assert (scaled == sigma * length).all()
    sigma = rectified_gaussian([1e-100, 1e100], 0.0, 1.0, 1e-100)
    assert sigma == pytest.approx([1.330155990, 1e-100], rel=1e-9)
    assert rectified_gaussian_epsilon(1e-300, 0.0, 1e10, 1.0) == math.inf
    assert 0 < rectified_gaussian_epsilon(1e300, 0.0, 1.0, 1.0) < 1e-299
    assert rectified_gaussian(1.0, 0.0, 2.0, 3.0) == rectified_gaussian(1.0, 0.0, 2.0, 2.0)


def test_shapes():
    assert type(rectified_gaussian(1, 0, 2, 1)) is float
    assert type(rectified_gaussian_epsilon(1, 0, 2, 1)) is float
    assert rectified_gaussian([[1.0], [2.0]], 0, 2, 1).shape == (2, 1)
    assert rectified_gaussian_epsilon(np.ones((3, 2)), 0, 2, 1).shape == (3, 2)


def test_bad_input():
    with pytest.raises(tn.CalibrationError, match="no scale between"):
        rectified_gaussian(1e-100, 0.0, 1e300, 1e300)
    with pytest.raises(ValueError, match="epsilon must be between 1e-100"):
        rectified_gaussian(0, 0.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="lower must be less than upper"):
        rectified_gaussian(1.0, 2.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="sensitivity must be greater than 0"):
        rectified_gaussian(1.0, 0.0, 1.0, 0)
    with pytest.raises(ValueError, match="sigma must be greater than 0"):
        rectified_gaussian_epsilon(0.0, 0.0, 1.0, 1.0)
