"""Samplers of additive noise beside NumPy: a chosen component and a normal, or its own sampler."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from tightnoise import _core

SIGMA, EPSILON, SENSITIVITY, MODES = 0.37, 1.0, 1.0, 11
LOCATIONS = SENSITIVITY * np.arange(-MODES, MODES + 1)
WEIGHTS = np.exp(-EPSILON * np.abs(LOCATIONS) / SENSITIVITY)
WEIGHTS /= WEIGHTS.sum()
VARIANCE = SIGMA**2 + WEIGHTS @ LOCATIONS**2

SIZES = pytest.mark.parametrize("n", [1_000_000, 10_000_000], ids=["1e6", "1e7"])
DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f8", "f4"])
N = 1 << 17


def theta_of(n, dtype=np.float64):
    return np.random.default_rng(1).uniform(-1, 1, n).astype(dtype)


def assert_variance(noisy, theta, variance) -> None:
    noise = (noisy - theta)[:1_000_000]
    assert abs(noise.mean()) < 0.02 * np.sqrt(variance)
    assert abs(noise.var() / variance - 1) < 0.05


def ours(law, *parameters, theta, step=None):
    out = np.empty_like(theta)
    sampler = getattr(_core.random, f"sample_{law}")
    source = _core.random.NoiseSource()
    on_grid = {} if step is None else {"step": np.array([step])}

    def sample():
        sampler(theta, *parameters, out, source, **on_grid)
        return out

    return sample


def multi_gaussian(theta):
    return ours("multi_gaussian", SIGMA, EPSILON, SENSITIVITY, MODES, theta=theta)


def group(n, dtype=np.float64) -> str:
    return f"multi-Gaussian samples, {np.dtype(dtype)}, {n:g} elements"


@SIZES
@DTYPES
@pytest.mark.parametrize("threads", [1, 2])
def test_multi_gaussian(timed, n, dtype, threads) -> None:
    _core.set_num_threads(threads)
    theta = theta_of(n, dtype)
    noisy = timed(group(n, dtype), multi_gaussian(theta), n, 2 * theta.nbytes)
    assert_variance(noisy, theta, VARIANCE)


@SIZES
def test_multi_gaussian_numpy_choice(timed, n) -> None:
    theta, generator = theta_of(n), np.random.default_rng(1)

    def sample():
        return theta + generator.choice(LOCATIONS, n, p=WEIGHTS) + generator.normal(0.0, SIGMA, n)

    assert_variance(timed(group(n), sample, n, 2 * theta.nbytes), theta, VARIANCE)


@SIZES
@DTYPES
def test_multi_gaussian_numpy_searchsorted(timed, n, dtype) -> None:
    """What `choice` does less its checks, everything in place."""
    theta, generator = theta_of(n, dtype), np.random.default_rng(1)
    below = np.cumsum(WEIGHTS)
    below[-1] = 1.0
    locations = LOCATIONS.astype(dtype)
    out, uniform, chosen = np.empty(n, dtype), np.empty(n), np.empty(n, dtype)

    def sample():
        generator.standard_normal(out=out, dtype=dtype)
        np.multiply(out, dtype(SIGMA), out=out)
        generator.random(out=uniform)
        np.take(locations, below.searchsorted(uniform, side="right"), out=chosen)
        np.add(out, chosen, out=out)
        return np.add(out, theta, out=out)

    assert_variance(timed(group(n, dtype), sample, n, 2 * theta.nbytes), theta, VARIANCE)


LAWS = {
    "multi_gaussian": (SIGMA, EPSILON, SENSITIVITY, MODES),
    "multi_gaussian, 401 components": (SIGMA, 0.05, SENSITIVITY, 200),
    "quasi_gaussian": (SIGMA, EPSILON, SENSITIVITY),
    "scale_mixture": (
        np.array([0.0, 0.4, 1.0]),
        np.array([0.9, 0.09, 0.01]),
        np.array([0.01, 0.3, 0.1]),
    ),
    "laplace": (1.0,),
    "truncated_laplace": (1.0, 5.0),
    "tulap": (1.0, 1.0, 11.3),
    "staircase": (1.0, 1.0, 0.3775),
}


@DTYPES
@pytest.mark.parametrize("law", LAWS)
def test_every_law(timed, law, dtype) -> None:
    theta = theta_of(N, dtype)
    sample = ours(law.split(",")[0], *LAWS[law], theta=theta)
    noisy = timed(f"{law} samples, {np.dtype(dtype)}", sample, N, 2 * theta.nbytes)
    assert np.isfinite(noisy).all()


@DTYPES
@pytest.mark.parametrize("law", ["laplace", "truncated_laplace", "tulap", "staircase"])
def test_on_a_grid(timed, law, dtype) -> None:
    theta, out, source = theta_of(N, dtype), np.empty(N, dtype), _core.random.NoiseSource()
    sampler = getattr(_core.random, f"sample_{law}")

    def sample():
        sampler(theta, *LAWS[law], out, source, np.array([2.0**-6]))
        return out

    noisy = timed(f"{law} samples, {np.dtype(dtype)}", sample, N, 2 * theta.nbytes)
    assert (noisy % 2.0**-6 == 0).all()


MIXTURES = [law for law in LAWS if law.endswith(("gaussian", "components", "mixture"))]


@DTYPES
@pytest.mark.parametrize("where", ["plain", "on the grid"])
@pytest.mark.parametrize("law", MIXTURES)
def test_mixtures_on_a_grid(timed, law, where, dtype) -> None:
    """On the grid at most 1.3 times as long."""
    _core.set_num_threads(1)
    n, sigma = 1_000_000, 0.01 if law == "scale_mixture" else SIGMA
    theta = theta_of(n, dtype)
    step = None if where == "plain" else 2.0 ** (np.floor(np.log2(sigma)) - 6)
    sample = ours(law.split(",")[0], *LAWS[law], theta=theta, step=step)
    noisy = timed(f"{law} samples on a grid, {np.dtype(dtype)}", sample, n, 2 * theta.nbytes)
    assert step is None or not np.mod(noisy[np.abs(noisy) < 1], step).any()


def test_laplace_numpy(timed) -> None:
    theta, generator = theta_of(N), np.random.default_rng(1)
    noisy = timed(
        "laplace samples, float64", lambda: theta + generator.laplace(0.0, 1.0, N), N, 16 * N
    )
    assert_variance(noisy, theta, 2.0)


def test_truncated_laplace_numpy(timed) -> None:
    theta, generator = theta_of(N), np.random.default_rng(1)

    def sample():
        signed = generator.uniform(-1.0, 1.0, N)
        return theta - np.copysign(np.log1p(np.abs(signed) * np.expm1(-5.0)), signed)

    noisy = timed("truncated_laplace samples, float64", sample, N, 16 * N)
    assert np.abs(noisy - theta).max() <= 5.0 + 1e-9


def test_tulap_numpy(timed) -> None:
    """Without truncation: a difference of geometrics and a uniform."""
    theta, generator = theta_of(N), np.random.default_rng(1)
    p = -np.expm1(-1.0)

    def sample():
        steps = generator.geometric(p, N) - generator.geometric(p, N)
        return theta + steps + generator.uniform(-0.5, 0.5, N)

    assert np.isfinite(timed("tulap samples, float64", sample, N, 16 * N)).all()


def test_staircase_numpy(timed) -> None:
    """Geng et al.'s four variables: sign, geometric, which part of a step, where in it."""
    theta, generator = theta_of(N), np.random.default_rng(1)
    b, gamma = np.exp(-1.0), 0.3775
    first = gamma / (gamma + (1 - gamma) * b)

    def sample():
        steps = generator.geometric(1 - b, N) - 1
        uniform = generator.random(N)
        second = generator.random(N) >= first
        within = np.where(second, gamma + (1 - gamma) * uniform, gamma * uniform)
        return theta + generator.choice([-1.0, 1.0], N) * (steps + within)

    assert np.isfinite(timed("staircase samples, float64", sample, N, 16 * N)).all()


def test_quasi_gaussian_numpy(timed) -> None:
    """Algorithm 5 with SciPy's quantiles."""
    theta, generator = theta_of(N), np.random.default_rng(1)
    positive = special.ndtr(SENSITIVITY / SIGMA)
    middle = np.exp(EPSILON) / (np.exp(EPSILON) + 2 * positive)

    def sample():
        share = generator.random(N) * positive
        side = SENSITIVITY - SIGMA * special.ndtri(share)
        side *= generator.choice([-1.0, 1.0], N)
        centre = generator.normal(0.0, SIGMA, N)
        return theta + np.where(generator.random(N) < middle, centre, side)

    assert np.isfinite(timed("quasi_gaussian samples, float64", sample, N, 16 * N)).all()
