"""How long it takes to find the least noise for one number in an interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize
from scipy.special import log_ndtr, ndtr

import tightnoise as tn
from tightnoise import _core

WIDTH, SENSITIVITY = 10.0, 4.0
ONE, MANY = "least sigma in an interval", "least sigma in an interval, many epsilons"
EPSILONS = np.geomspace(1e-3, 1e2, 100_000)

DOMAIN = {"lower": 0.0, "upper": WIDTH, "sensitivity": SENSITIVITY}
NOISES = {
    "truncated": (tn.calibrate.truncated_gaussian, _core.domain.truncated_sigma),
    "rectified": (tn.calibrate.rectified_gaussian, _core.domain.rectified_sigma),
    "bounded_laplace": (tn.calibrate.bounded_laplace, _core.domain.bounded_laplace_scale),
}


def scale_of(noise, epsilon=1.0):
    mechanism = NOISES[noise][0](epsilon, **DOMAIN)
    return mechanism.scale if noise == "bounded_laplace" else mechanism.sigma


def calibrated_by_scipy(epsilon, noise):
    """Return the root of the same formulas, as one would write them."""

    def truncated(sigma):
        k, w = SENSITIVITY / sigma, WIDTH / sigma
        masses = (ndtr(w - k) - ndtr(-k)) / (ndtr(w) - 0.5)
        return k * (2 * w - k) / 2 - math.log(masses) - epsilon

    def rectified(sigma):
        return log_ndtr((SENSITIVITY - WIDTH) / sigma) - log_ndtr(-WIDTH / sigma) - epsilon

    loss = {"truncated": truncated, "rectified": rectified}[noise]
    return optimize.brentq(loss, 0.1, 1e5, xtol=1e-12, rtol=1e-13)


@pytest.mark.parametrize("noise", NOISES)
def test_one(timed, noise) -> None:
    assert timed(ONE, lambda: scale_of(noise), 1) > 0


@pytest.mark.parametrize("noise", ["truncated", "rectified"])
def test_one_scipy(timed, noise) -> None:
    sigma = timed(ONE, lambda: calibrated_by_scipy(1.0, noise), 1)
    assert sigma == pytest.approx(scale_of(noise), rel=1e-10)


def test_one_epsilon(timed) -> None:
    noise, domain = tn.TruncatedGaussian(5.0, 0.0, WIDTH), (0.0, WIDTH)

    def epsilon():
        return noise.cost(sensitivity=SENSITIVITY, domain=domain).epsilon(0.0)

    assert timed(ONE, epsilon, 1) > 0


@pytest.mark.parametrize("noise", NOISES)
def test_many(timed, noise) -> None:
    sigma, place = np.empty(EPSILONS.size), (np.array(WIDTH), np.array(SENSITIVITY))
    timed(MANY, lambda: NOISES[noise][1](EPSILONS, *place, sigma), EPSILONS.size)
    assert (np.diff(sigma) < 0).all()


@pytest.mark.parametrize("noise", ["truncated", "rectified"])
def test_many_scipy(timed, noise) -> None:
    some = EPSILONS[::1000]
    sigma = timed(MANY, lambda: [calibrated_by_scipy(one, noise) for one in some], some.size)
    assert sigma == pytest.approx([scale_of(noise, one) for one in some.tolist()], rel=1e-8)
