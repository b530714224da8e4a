"""Keystream, normals and samplers beside NumPy and SciPy on the same data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import tightnoise as tn
from tightnoise import _core

N = 1 << 17
LARGE = 10_000_000
KEY = bytes(range(32))
core = _core.random
RECTIFIED = tn.RectifiedGaussian(1.0, -1.0, 1.0)
TRUNCATED = tn.TruncatedGaussian(1.0, -1.0, 1.0)
LAPLACE = tn.BoundedLaplace(1.0, -1.0, 1.0)

DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f8", "f4"])


def theta_of(dtype, n=N):
    return np.random.default_rng(1).uniform(-1, 1, n).astype(dtype)


def test_keystream(timed) -> None:
    words = timed("keystream", lambda: core.chacha20_keystream(KEY, 0, 0, 64), 1 << 13, 1 << 16)
    assert abs(np.unpackbits(words.view(np.uint8)).mean() - 0.5) < 0.01


def test_numpy_pcg64(timed) -> None:
    generator = np.random.default_rng(1).bit_generator
    words = timed("keystream", lambda: generator.random_raw(1 << 13), 1 << 13, 1 << 16)
    assert words.nbytes == 1 << 16


@DTYPES
def test_standard_normal(timed, dtype) -> None:
    stream, out = tn.random.NoiseStream(), np.empty(N, dtype)
    timed(f"standard normals, {np.dtype(dtype)}", lambda: stream.standard_normal(out=out), N)
    assert abs(out.mean()) < 0.05
    assert abs(out.std() - 1) < 0.05


@DTYPES
def test_standard_normal_numpy(timed, dtype) -> None:
    generator, out = np.random.default_rng(1), np.empty(N, dtype)
    timed(
        f"standard normals, {np.dtype(dtype)}",
        lambda: generator.standard_normal(out=out, dtype=dtype),
        N,
    )
    assert abs(out.std() - 1) < 0.05


@DTYPES
def test_rectified(timed, dtype) -> None:
    theta, out = theta_of(dtype), np.empty(N, dtype)
    timed(
        f"rectified samples, {np.dtype(dtype)}",
        lambda: RECTIFIED.sample(theta, out=out),
        N,
    )
    assert abs((out == 1).mean() - special.ndtr(theta - 1.0).mean()) < 0.01


@DTYPES
def test_rectified_numpy_in_place(timed, dtype) -> None:
    generator = np.random.default_rng(1)
    theta, out = theta_of(dtype), np.empty(N, dtype)

    def rectified():
        generator.standard_normal(out=out, dtype=dtype)
        np.add(out, theta, out=out)  # sigma = 1
        np.clip(out, -1, 1, out=out)

    timed(f"rectified samples, {np.dtype(dtype)}", rectified, N)
    assert abs((out == 1).mean() - special.ndtr(theta - 1.0).mean()) < 0.01


# theta for bounds -1 and 1 and sigma = 1
PLACES = {
    "inside": theta_of(np.float64),
    "8 sigma outside": np.full(N, 9.0),
    "50 sigma outside": np.full(N, 51.0),
}
EVERY_PLACE = pytest.mark.parametrize("place", PLACES)


def assert_truncated_mean(x, theta) -> None:
    assert -1 <= x.min() <= x.max() <= 1
    expected = stats.truncnorm.mean(-1 - theta[:1000], 1 - theta[:1000], theta[:1000])
    assert abs(x[:1000].mean() - expected.mean()) < 0.1


@EVERY_PLACE
def test_truncated(timed, place) -> None:
    theta, out = PLACES[place], np.empty(N)
    timed(
        f"truncated samples, {place}",
        lambda: TRUNCATED.sample(theta, out=out),
        N,
    )
    assert_truncated_mean(out, theta)


# The same time for every theta, for otherwise time tells of it; for bounds 0 and 1, sigma = 1.
def one_in_each_batch(theta):
    return np.where(np.arange(N) % 128 == 5, theta, np.linspace(0, 1, N))


GRID_PLACES = {
    "inside": np.linspace(0, 1, N),
    "at the edge": np.zeros(N),
    "3 sigma outside": np.full(N, 4.0),
    "50 sigma outside": np.full(N, -50.0),
    "1e300": np.full(N, 1e300),
    "subnormal": np.full(N, 5e-324),
    "one at the edge": one_in_each_batch(0.0),
    "one 3 sigma outside": one_in_each_batch(4.0),
    "one 50 sigma outside": one_in_each_batch(-50.0),
    "one at 1e300": one_in_each_batch(1e300),
    "one subnormal": one_in_each_batch(5e-324),
}


@DTYPES
@pytest.mark.parametrize("place", GRID_PLACES)
@pytest.mark.parametrize("name", ["truncated_gaussian", "bounded_laplace"])
def test_conditioned_on_grid(timed, name, place, dtype) -> None:
    with np.errstate(over="ignore"):
        theta = np.minimum(GRID_PLACES[place], np.finfo(dtype).max).astype(dtype)
    out, source, step = np.empty(N, dtype), core.NoiseSource(KEY), np.array([1 / 64])
    draw, parameters = getattr(core, f"sample_{name}"), [np.array([v]) for v in (1.0, 0.0, 1.0)]
    timed(
        f"{name} on a grid, {place}, {np.dtype(dtype)}",
        lambda: draw(theta, *parameters, out, source, step),
        N,
    )
    assert (out * 64 == np.rint(out * 64)).all()
    assert 0 <= out.min() <= out.max() <= 1


@EVERY_PLACE
def test_truncated_scipy(timed, place) -> None:
    theta, generator = PLACES[place], np.random.default_rng(1)
    out = timed(
        f"truncated samples, {place}",
        lambda: stats.truncnorm.rvs(-1 - theta, 1 - theta, theta, random_state=generator),
        N,
    )
    assert_truncated_mean(out, theta)


def test_truncated_numpy_inverse(timed) -> None:
    theta, generator = PLACES["inside"], np.random.default_rng(1)

    def truncated():
        below, above = special.ndtr(-1 - theta), special.ndtr(1 - theta)
        return theta + special.ndtri(below + generator.random(N) * (above - below))

    assert_truncated_mean(timed("truncated samples, inside", truncated, N), theta)


@DTYPES
def test_bounded_laplace(timed, dtype) -> None:
    theta, out = theta_of(dtype), np.empty(N, dtype)
    timed(
        f"bounded Laplace samples, {np.dtype(dtype)}",
        lambda: LAPLACE.sample(theta, out=out),
        N,
        2 * theta.nbytes,
    )
    assert abs(out.mean() - LAPLACE.mean(theta).mean()) < 0.01


@DTYPES
def test_bounded_laplace_numpy_inverse(timed, dtype) -> None:
    generator, theta = np.random.default_rng(1), theta_of(dtype)

    def inverse():
        below, above = np.exp(-1 - theta), np.exp(theta - 1)
        share = generator.random(N, dtype=dtype) * (2 - below - above) - (1 - below)
        return theta - np.sign(share) * np.log1p(-np.abs(share))

    out = timed(f"bounded Laplace samples, {np.dtype(dtype)}", inverse, N, 2 * theta.nbytes)
    assert abs(out.mean() - LAPLACE.mean(theta).mean()) < 0.01


@pytest.mark.parametrize("threads", [1, 2])
@DTYPES
def test_rectified_large(timed, dtype, threads) -> None:
    _core.set_num_threads(threads)
    theta = theta_of(dtype, LARGE)
    out = np.empty_like(theta)
    timed(
        f"rectified samples, {np.dtype(dtype)}, {LARGE:g} elements",
        lambda: RECTIFIED.sample(theta, out=out),
        LARGE,
        2 * theta.nbytes,
    )
    assert abs((out == 1).mean() - special.ndtr(theta[:100_000] - 1.0).mean()) < 0.01


# --- on a grid, and in float arithmetic -----------------------------------------------------------

MILLION = 1_000_000
WITH_AND_WITHOUT = pytest.mark.parametrize("grid", ["auto", None], ids=["grid", "floats"])
FAMILY = {
    "Gaussian": tn.Gaussian(1.3),
    "rectified": RECTIFIED,
    "sign": tn.StochasticSign(1.3),
    "quantized": tn.QuantizedGaussian(1.3, -1.0, 1.0, 16),
}


@WITH_AND_WITHOUT
@DTYPES
@pytest.mark.parametrize("law", FAMILY)
def test_on_a_grid(timed, law, dtype, grid) -> None:
    theta = theta_of(dtype, MILLION)
    out = np.empty_like(theta)
    timed(
        f"{law} samples, {np.dtype(dtype)}, {MILLION:g} elements",
        lambda: FAMILY[law].sample(theta, out=out, grid=grid),
        MILLION,
        2 * theta.nbytes,
    )
    assert np.isfinite(out).all()


def test_gaussian_opendp(timed) -> None:
    """Exact, too; k = -6 says that its noise is rounded to 1/64, which is its fastest way."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    n = 1000
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=n)
    measure = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=1.3, k=-6)
    theta = theta_of(np.float64, n).tolist()
    out = timed(f"Gaussian samples, float64, {MILLION:g} elements", lambda: measure(theta), n)
    assert len(out) == n
