"""How long it takes to find the least noise for a box of many coordinates.

The NumPy way nests three searches, each to its end, with vectors over coordinates: it is timed at
10,000 of them, a hundredth of what the core is timed at.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize
from scipy.special import log_ndtr

import tightnoise as tn

GROUP = "least scale in a box"
NOISES = {
    "truncated": tn.calibrate.truncated_gaussian,
    "rectified": tn.calibrate.rectified_gaussian,
    "bounded_laplace": tn.calibrate.bounded_laplace,
}


def scale_of(noise, width, **change):
    mechanism = NOISES[noise](1.0, lower=0.0, upper=width, **change)
    return mechanism.scale if noise == "bounded_laplace" else mechanism.sigma


def box(dim):
    """Return the widths, all different, and an L2 sensitivity."""
    width = 10.0 ** np.random.default_rng(1).uniform(-1, 1, dim)
    return width, 0.1 * math.sqrt(np.square(width).sum())


def rectified_by_numpy(epsilon, width, sensitivity):
    """Return the least sigma of the rectified Gaussian: sigma, multiplier, differences in turn."""

    def slopes(k, w):
        t = w - k
        return np.exp(-t * t / 2 - 0.5 * math.log(2 * math.pi) - log_ndtr(-t))

    def steps(nu, w):
        low, high = np.zeros_like(w), w.copy()
        for _ in range(45):
            middle = 0.5 * (low + high)
            below = slopes(middle, w) > nu * middle
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low

    def loss(log_sigma):
        w, radius = width / math.exp(log_sigma), sensitivity / math.exp(log_sigma)

        def excess(log_nu):
            return np.square(steps(math.exp(log_nu), w)).sum() / radius**2 - 1

        nu = math.exp(optimize.brentq(excess, -30, 60, xtol=1e-9))
        k = steps(nu, w)
        return (log_ndtr(k - w) - log_ndtr(-w)).sum() - epsilon

    return math.exp(optimize.brentq(loss, math.log(sensitivity), math.log(1e6 * sensitivity)))


@pytest.mark.parametrize("dim", [2, 1000, 1_000_000])
@pytest.mark.parametrize("noise", NOISES)
def test_ball(timed, noise, dim) -> None:
    width, sensitivity = box(dim)
    scale = timed(GROUP, lambda: scale_of(noise, width, sensitivity=sensitivity), dim)
    assert scale > 0


@pytest.mark.parametrize("noise", NOISES)
def test_coordinates(timed, noise) -> None:
    width, _ = box(1_000_000)
    change = 0.1 * width
    scale = timed(GROUP, lambda: scale_of(noise, width, coordinate_sensitivity=change), width.size)
    assert scale > 0


def test_ball_numpy(timed) -> None:
    width, sensitivity = box(10_000)
    scale = timed(GROUP, lambda: rectified_by_numpy(1.0, width, sensitivity), width.size)
    expected = scale_of("rectified", width, sensitivity=sensitivity)
    assert scale == pytest.approx(expected, rel=1e-6)
