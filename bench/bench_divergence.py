"""Divergences and Fisher information beside NumPy/SciPy: the same 100,000 coordinates, one thread.

The NumPy way is the best one: log-domain throughout (the textbook formula is faster and often NaN).
"""

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
}
DISCRETE = {
    "sign": tn.StochasticSign(SIGMA),
    "quantized": tn.QuantizedGaussian(SIGMA, LOWER, UPPER, LEVELS),
}
ALL = MECHANISMS | DISCRETE


@pytest.fixture(autouse=True)
def one_thread():
    before = tn._core.num_threads()
    tn._core.set_num_threads(1)
    yield
    tn._core.set_num_threads(before)


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


NUMPY = {"rectified": numpy_rectified, "truncated": numpy_truncated}


def by_mechanism(group, mechanisms=MECHANISMS):
    return [
        pytest.param(name, marks=pytest.mark.benchmark(group=f"{group} {name}"))
        for name in mechanisms
    ]


@pytest.mark.parametrize("name", by_mechanism("renyi"))
def test_renyi_numpy(benchmark, name, theta):
    benchmark(NUMPY[name], theta)


@pytest.mark.parametrize("name", by_mechanism("renyi"))
def test_renyi(benchmark, name, theta):
    prime = theta + STEP
    value = benchmark(MECHANISMS[name].renyi_divergence, theta, prime, ALPHA)
    np.testing.assert_allclose(value, NUMPY[name](theta), rtol=1e-10)


@pytest.mark.parametrize("name", by_mechanism("renyi"))
def test_renyi_per_coordinate_parameters(benchmark, name, theta):
    shape = theta.shape
    m = type(MECHANISMS[name])(np.full(shape, SIGMA), np.full(shape, LOWER), np.full(shape, UPPER))
    value = benchmark(m.renyi_divergence, theta, theta + STEP, np.full(shape, ALPHA))
    np.testing.assert_allclose(value, NUMPY[name](theta), rtol=1e-10)


@pytest.mark.parametrize("name", by_mechanism("renyi, small step,"))
def test_renyi_of_a_small_step(benchmark, name, theta):
    """Where the NumPy way has lost its digits and the closed form is not used."""
    few = theta[: N // 10]
    m = MECHANISMS[name]
    value = benchmark(m.renyi_divergence, few, few + 2.0**-20, ALPHA)
    local = 0.5 * ALPHA * m.fisher_information(few) * 2.0**-40
    np.testing.assert_allclose(value, local, rtol=1e-4)


@pytest.mark.parametrize("name", by_mechanism("exact sums at 32 orders"))
def test_exact_sums(benchmark, name, theta):
    """Both directions and both signs: 128 divergences a coordinate."""
    m, few, alphas = MECHANISMS[name], theta[: N // 100], np.arange(2.0, 34.0)
    forward, backward = benchmark(m._rdp_sums, few, alphas, np.array(STEP))
    worst = np.maximum(
        m.renyi_divergence(few, few + STEP, 8.0), m.renyi_divergence(few, few - STEP, 8.0)
    )
    np.testing.assert_allclose(forward[6], worst.sum(), rtol=1e-12)
    assert (backward > 0).all()


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


def fisher_quantized(theta):
    t = thresholds(theta)
    phi = [0.0, *(np.exp(log_phi(z)) for z in t), 0.0]
    terms = [
        (a - b) ** 2 * np.exp(-mass)
        for (a, b), mass in zip(itertools.pairwise(phi), log_masses(t), strict=True)
    ]
    return sum(terms) / SIGMA**2


FISHER = {
    "rectified": fisher_rectified,
    "truncated": fisher_truncated,
    "sign": fisher_sign,
    "quantized": fisher_quantized,
}


@pytest.mark.parametrize("name", by_mechanism("fisher information", ALL))
def test_fisher_information_numpy(benchmark, name, theta):
    benchmark(FISHER[name], theta)


@pytest.mark.parametrize("name", by_mechanism("fisher information", ALL))
def test_fisher_information(benchmark, name, theta):
    value = benchmark(ALL[name].fisher_information, theta)
    np.testing.assert_allclose(value, FISHER[name](theta), rtol=1e-10)


@pytest.mark.parametrize("name", by_mechanism("fisher sum", ALL))
def test_fil_numpy(benchmark, name, theta):
    benchmark(lambda: np.sqrt(np.sum(STEP**2 * FISHER[name](theta))))


@pytest.mark.parametrize("name", by_mechanism("fisher sum", ALL))
def test_fil(benchmark, name, theta):
    """The exact sum over all coordinates, not a sketch's."""
    total = benchmark(ALL[name]._fisher_sum, theta, np.array(STEP))
    np.testing.assert_allclose(total, np.sum(STEP**2 * FISHER[name](theta)), rtol=1e-10)
