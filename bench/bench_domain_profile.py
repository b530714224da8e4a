"""How long it takes to be sure of the worst delta in an interval, and to find the least noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize
from scipy.special import ndtr

import tightnoise as tn
from tightnoise import _core

DOMAIN = _core.domain
WORST, LEAST = "worst delta in an interval", "least sigma in an interval, delta > 0"
# sigma, width, sensitivity, epsilon: what the maximum is like
PROBLEMS = {
    "inside": (2.0, 10.0, 1.0, 1.0),
    "at the end": (7.0, 10.0, 5.0, 0.3),
    "flat": (1.0, 1e9, 1.0, 1.0),
    "narrow": (10.0, 1.0, 0.1, 0.0),
}
# epsilon, delta, sensitivity, in [0, 10]
TARGETS = [(0.1, 1e-5, 1.0), (1.0, 1e-3, 1.0), (3.0, 1e-5, 1.0), (1.0, 1e-5, 5.0), (0.0, 0.1, 1.0)]


def worst_by_scipy(sigma, width, sensitivity, epsilon):
    """Return the greatest delta on a grid of 1000 values, as one would write it."""
    s = np.linspace(0.0, width - sensitivity, 1000) / sigma
    w, k = width / sigma, sensitivity / sigma
    near, far = ndtr(w - s) - ndtr(-s), ndtr(w - s - k) - ndtr(-s - k)
    t = np.clip(k / 2 - (epsilon + np.log(near / far)) / k, -s, w - s)
    below = (ndtr(t) - ndtr(-s)) / near
    return np.max(below - math.exp(epsilon) * (ndtr(t - k) - ndtr(-s - k)) / far)


@pytest.mark.parametrize("where", PROBLEMS)
def test_worst(timed, where) -> None:
    given = PROBLEMS[where]
    assert 0 < timed(WORST, lambda: DOMAIN.truncated_worst_delta(*given), 1) < 1


def test_worst_rectified(timed) -> None:
    given = PROBLEMS["at the end"]
    assert 0 < timed(WORST, lambda: DOMAIN.rectified_worst_delta(*given), 1) < 1


def test_worst_scipy(timed) -> None:
    given = PROBLEMS["inside"]
    delta = timed(WORST, lambda: worst_by_scipy(*given), 1)
    assert delta == pytest.approx(DOMAIN.truncated_worst_delta(*given), rel=1e-4)


@pytest.mark.parametrize("noise", ["truncated", "rectified"])
@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), TARGETS)
def test_least(timed, noise, epsilon, delta, sensitivity) -> None:
    calibrate = getattr(tn.calibrate, f"{noise}_gaussian")
    domain = {"lower": 0.0, "upper": 10.0, "sensitivity": sensitivity}
    assert timed(LEAST, lambda: calibrate(epsilon, delta, **domain), 1).sigma > 0


def test_least_scipy(timed) -> None:
    def excess(sigma):
        return worst_by_scipy(sigma, 10.0, 1.0, 1.0) - 1e-5

    sigma = timed(LEAST, lambda: optimize.brentq(excess, 1.0, 10.0, xtol=1e-10), 1)
    best = tn.calibrate.truncated_gaussian(1.0, 1e-5, lower=0.0, upper=10.0, sensitivity=1.0)
    assert sigma == pytest.approx(best.sigma, rel=1e-4)


def test_least_epsilon(timed) -> None:
    def epsilon():
        noise = tn.TruncatedGaussian(2.7, 0.0, 10.0)
        return noise.cost(sensitivity=1.0, domain=(0.0, 10.0)).epsilon(1e-5)

    assert timed(LEAST, epsilon, 1) == pytest.approx(1.0, rel=0.01)
