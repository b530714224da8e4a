"""Divergences and Fisher information beside NumPy/SciPy: the same 100,000 coordinates, one thread.

The NumPy way is the best one: log-domain throughout (the textbook formula is faster and often NaN).
"""

import functools
import itertools

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

import tightnoise as tn

N = 100_000
SIGMA, LOWER, UPPER, STEP, ALPHA = 0.7, -1.0, 1.0, 0.5, 8.0
LEVELS = 5
MECHANISMS = {
    "rectified": tn.RectifiedGaussian(SIGMA, LOWER, UPPER),
    "truncated": tn.TruncatedGaussian(SIGMA, LOWER, UPPER),
    "sign": tn.StochasticSign(SIGMA),
    "quantized": tn.QuantizedGaussian(SIGMA, LOWER, UPPER, LEVELS),
}


@pytest.fixture
def theta():
    return 0.5 * np.random.default_rng(0).standard_normal(N)


def log_ndtr_diff(u, v):
    mirror = u + v < 0
    u, v = np.where(mirror, -v, u), np.where(mirror, -u, v)
    upper = log_ndtr(-u)
    return upper + np.log(-np.expm1(log_ndtr(-v) - upper))


def numpy_rectified(theta):
    u, v, k, beta = (LOWER - theta) / SIGMA, (UPPER - theta) / SIGMA, STEP / SIGMA, ALPHA - 1
    left = ALPHA * log_ndtr(u) - beta * log_ndtr(u - k)
    right = ALPHA * log_ndtr(-v) - beta * log_ndtr(k - v)
    inside = 0.5 * ALPHA * beta * k * k + log_ndtr_diff(u + beta * k, v + beta * k)
    return np.logaddexp(np.logaddexp(left, right), inside) / beta


def numpy_truncated(theta):
    u, v, k, beta = (LOWER - theta) / SIGMA, (UPPER - theta) / SIGMA, STEP / SIGMA, ALPHA - 1
    tilted = 0.5 * ALPHA * beta * k * k + log_ndtr_diff(u + beta * k, v + beta * k)
    return (tilted - ALPHA * log_ndtr_diff(u, v) + beta * log_ndtr_diff(u - k, v - k)) / beta


def log_phi(z):
    return -0.5 * z * z - 0.5 * np.log(2 * np.pi)


def fisher_rectified(theta):
    u, v = (LOWER - theta) / SIGMA, (UPPER - theta) / SIGMA
    below, above = log_phi(u), log_phi(v)
    left = np.exp(below) * (u + np.exp(below - log_ndtr(u)))
    right = np.exp(above) * (np.exp(above - log_ndtr(-v)) - v)
    return (left + right + ndtr(v) - ndtr(u)) / SIGMA**2


def fisher_truncated(theta):
    u, v = (LOWER - theta) / SIGMA, (UPPER - theta) / SIGMA
    mass = log_ndtr_diff(u, v)
    below, above = np.exp(log_phi(u) - mass), np.exp(log_phi(v) - mass)
    return (1 + u * below - v * above - (below - above) ** 2) / SIGMA**2


def fisher_sign(theta):
    t = theta / SIGMA
    return np.exp(2 * log_phi(t) - log_ndtr(t) - log_ndtr(-t)) / SIGMA**2


def thresholds(theta):
    letters = np.linspace(LOWER, UPPER, LEVELS)
    return [(x - theta) / SIGMA for x in 0.5 * (letters[1:] + letters[:-1])]


def log_masses(t):
    inside = [log_ndtr_diff(u, v) for u, v in itertools.pairwise(t)]
    return [log_ndtr(t[0]), *inside, log_ndtr(-t[-1])]


def numpy_cells(t):
    k, beta = STEP / SIGMA, ALPHA - 1
    p, q = log_masses(t), log_masses([z - k for z in t])
    terms = [ALPHA * x - beta * y for x, y in zip(p, q, strict=True)]
    return functools.reduce(np.logaddexp, terms) / beta


def fisher_quantized(theta):
    t = thresholds(theta)
    phi = [0.0, *(np.exp(log_phi(z)) for z in t), 0.0]
    terms = [
        (a - b) ** 2 * np.exp(-mass)
        for (a, b), mass in zip(itertools.pairwise(phi), log_masses(t), strict=True)
    ]
    return sum(terms) / SIGMA**2


NUMPY = {
    "rectified": numpy_rectified,
    "truncated": numpy_truncated,
    "sign": lambda theta: numpy_cells([-theta / SIGMA]),
    "quantized": lambda theta: numpy_cells(thresholds(theta)),
}
FISHER = {
    "rectified": fisher_rectified,
    "truncated": fisher_truncated,
    "sign": fisher_sign,
    "quantized": fisher_quantized,
}


EVERY_MECHANISM = pytest.mark.parametrize("name", MECHANISMS)


@EVERY_MECHANISM
def test_renyi_numpy(timed, name, theta):
    timed(f"renyi {name}", lambda: NUMPY[name](theta), N)


@EVERY_MECHANISM
def test_renyi(timed, name, theta):
    m, prime = MECHANISMS[name], theta + STEP
    value = timed(f"renyi {name}", lambda: m.renyi_divergence(theta, prime, ALPHA), N)
    np.testing.assert_allclose(value, NUMPY[name](theta), rtol=1e-10)


@pytest.mark.parametrize("name", ["rectified", "truncated"])
def test_renyi_per_coordinate_parameters(timed, name, theta):
    each = [np.full(theta.shape, number) for number in (SIGMA, LOWER, UPPER)]
    m, prime, alpha = type(MECHANISMS[name])(*each), theta + STEP, np.full(theta.shape, ALPHA)
    value = timed(f"renyi {name}", lambda: m.renyi_divergence(theta, prime, alpha), N)
    np.testing.assert_allclose(value, NUMPY[name](theta), rtol=1e-10)


@EVERY_MECHANISM
def test_renyi_of_a_small_step(timed, name, theta):
    """Where the NumPy way has lost its digits and the closed form is not used."""
    few, m = theta[: N // 10], MECHANISMS[name]
    prime = few + 2.0**-20
    value = timed(
        f"renyi, small step, {name}", lambda: m.renyi_divergence(few, prime, ALPHA), few.size
    )
    local = 0.5 * ALPHA * m.fisher_information(few) * 2.0**-40
    np.testing.assert_allclose(value, local, rtol=1e-4)


@EVERY_MECHANISM
def test_exact_sums(timed, name, theta):
    """Both directions and both signs: 4 divergences an element, which is a coordinate and order."""
    m, few, alphas = MECHANISMS[name], theta[: N // 100], np.arange(2.0, 34.0)
    forward, backward = timed(
        f"exact sums, 32 orders, {name}",
        lambda: m._law.rdp_sums(few, alphas, np.array(STEP)),
        few.size * alphas.size,
    )
    worst = np.maximum(
        m.renyi_divergence(few, few + STEP, 8.0), m.renyi_divergence(few, few - STEP, 8.0)
    )
    np.testing.assert_allclose(forward[6], worst.sum(), rtol=1e-12)
    assert (backward > 0).all()


@EVERY_MECHANISM
def test_fisher_information_numpy(timed, name, theta):
    timed(f"fisher information {name}", lambda: FISHER[name](theta), N)


@EVERY_MECHANISM
def test_fisher_information(timed, name, theta):
    m = MECHANISMS[name]
    value = timed(f"fisher information {name}", lambda: m.fisher_information(theta), N)
    np.testing.assert_allclose(value, FISHER[name](theta), rtol=1e-10)


@EVERY_MECHANISM
def test_fil_numpy(timed, name, theta):
    timed(f"fisher sum {name}", lambda: np.sum(STEP**2 * FISHER[name](theta)), N)


@EVERY_MECHANISM
def test_fil(timed, name, theta):
    """The exact sum over all coordinates, not a sketch's."""
    m, c = MECHANISMS[name], np.array(STEP)
    total = timed(f"fisher sum {name}", lambda: m._law.fisher_sum(theta, c), N)
    np.testing.assert_allclose(total, np.sum(STEP**2 * FISHER[name](theta)), rtol=1e-10)
