"""Von Mises-Fisher samples beside NumPy and SciPy: one long vector, and batches of short ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import tightnoise as tn

DIM = 1_000_000
KAPPA = 0.3 * DIM
ROWS, ROW_DIM, ROW_KAPPA = 1000, 1000, 300.0
SHORT_ROWS = 100_000

DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f8", "f4"])


def direction_of(dtype, dim):
    return np.random.default_rng(1).standard_normal(dim).astype(dtype)


def mean_cosine(dim, kappa):
    """Return the mean of y . mu for large dim: the ratio I_(nu+1) / I_nu to O(1/dim)."""
    return 2 * kappa / (dim - 1 + np.hypot(dim - 1, 2 * kappa))


def assert_samples(y, direction, kappa) -> None:
    """Unit norm, up to a grid, and a mean cosine that is that of the law."""
    y = np.atleast_2d(y).astype(float)
    rows, dim = y.shape
    np.testing.assert_allclose(np.linalg.norm(y, axis=1), 1, atol=1e-3)
    cosine = y @ direction.astype(float) / np.linalg.norm(direction.astype(float))
    assert abs(cosine.mean() - mean_cosine(dim, kappa)) < 8 / np.sqrt(rows * dim) + 2 / dim


def by_hand(generator, direction, kappa, out, projections, mu):
    """Sample in O(dim) with NumPy: Wood's cosine, and a normal vector for the tangent.

    mu is room for the unit vector: a large array is slow to allocate.
    """
    dim = direction.size
    m = dim - 1.0
    x0 = 2 * kappa / (m + np.hypot(m, 2 * kappa))
    while True:
        v = 1 - 2 * generator.beta(m / 2, m / 2)
        if np.log(generator.random()) < m * (x0 * v / (1 + x0 * v) - np.log1p(x0 * v)):
            break
    w = (x0 + v) / (1 + x0 * v)
    np.divide(direction, np.linalg.norm(direction), out=mu)
    generator.standard_normal(out=out, dtype=out.dtype)
    for _ in range(projections):
        out -= (out @ mu) * mu
    out *= np.sqrt(1 - w * w) / np.linalg.norm(out)
    mu *= w
    out += mu
    return out


def name_of_one(dtype) -> str:
    return f"von Mises-Fisher sample, {np.dtype(dtype)}, dim {DIM:g}, a coordinate"


GRIDS = pytest.mark.parametrize("grid", ["auto", None], ids=["grid", "floats"])


@GRIDS
@pytest.mark.parametrize("threads", [1, 2])
@DTYPES
def test_one(timed, dtype, threads, grid) -> None:
    tn.set_num_threads(threads)
    vmf = tn.VonMisesFisher(KAPPA, DIM)
    direction, out = direction_of(dtype, DIM), np.empty(DIM, dtype)
    timed(name_of_one(dtype), lambda: vmf.sample(direction, out=out, grid=grid), DIM)
    assert_samples(out, direction, KAPPA)


# Orthogonal to mu up to a few roundings of n . mu; or with what it takes where the tangent may be
# short.
@pytest.mark.parametrize("projections", [1, 2], ids=["numpy", "careful"])
@DTYPES
def test_one_by_hand(timed, dtype, projections) -> None:
    generator = np.random.default_rng(1)
    direction, out = direction_of(dtype, DIM), np.empty(DIM, dtype)
    mu = np.empty_like(out)
    timed(
        name_of_one(dtype),
        lambda: by_hand(generator, direction, KAPPA, out, projections, mu),
        DIM,
    )
    assert_samples(out, direction, KAPPA)


@GRIDS
@DTYPES
def test_batch(timed, dtype, grid) -> None:
    vmf = tn.VonMisesFisher(ROW_KAPPA, ROW_DIM)
    direction, out = direction_of(dtype, ROW_DIM), np.empty((ROWS, ROW_DIM), dtype)
    directions = np.tile(direction, (ROWS, 1))
    timed(
        f"{ROWS} von Mises-Fisher samples, dim {ROW_DIM}, a coordinate",
        lambda: vmf.sample(directions, out=out, grid=grid),
        out.size,
    )
    assert_samples(out, direction, ROW_KAPPA)


def test_batch_scipy(timed) -> None:
    mu = direction_of(np.float64, ROW_DIM)
    mu /= np.linalg.norm(mu)
    generator = np.random.default_rng(1)
    y = timed(
        f"{ROWS} von Mises-Fisher samples, dim {ROW_DIM}, a coordinate",
        lambda: stats.vonmises_fisher.rvs(mu, ROW_KAPPA, size=ROWS, random_state=generator),
        ROWS * ROW_DIM,
    )
    assert_samples(y, mu, ROW_KAPPA)


@pytest.mark.parametrize("way", ["tightnoise", "tightnoise_floats", "tightnoise_f4", "scipy"])
@pytest.mark.parametrize("dim", [2, 3, 10])
def test_short_rows(timed, dim, way) -> None:
    kappa = 5.0
    mu = direction_of(np.float64, dim)
    mu /= np.linalg.norm(mu)
    generator = np.random.default_rng(1)
    vmf = tn.VonMisesFisher(kappa, dim)
    dtype = np.float32 if way == "tightnoise_f4" else np.float64
    directions, out = np.tile(mu.astype(dtype), (SHORT_ROWS, 1)), np.empty((SHORT_ROWS, dim), dtype)

    grid = None if way == "tightnoise_floats" else "auto"

    def scipy():
        return stats.vonmises_fisher.rvs(mu, kappa, size=SHORT_ROWS, random_state=generator)

    y = timed(
        f"{SHORT_ROWS} von Mises-Fisher samples, dim {dim}, a row",
        scipy if way == "scipy" else lambda: vmf.sample(directions, out=out, grid=grid),
        SHORT_ROWS,
    )
    ratio = special.ive(dim / 2, kappa) / special.ive(dim / 2 - 1, kappa)
    assert abs((y @ mu).mean() - ratio) < 8 / np.sqrt(SHORT_ROWS)
