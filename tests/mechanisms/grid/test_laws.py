"""Samples on a grid of every mechanism: their law, and that float arithmetic has left no trace.

Fixed seeds. A comparison fails a correct sampler with probability 1e-8 under a random seed, and
there are fewer than 100 of them: 1e-6 in all.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from noise_laws import (
    ADDED,
    BETWEEN_BOUNDS,
    ON_A_GRID,
    assert_bits_are_the_keys,
    pvalue_of_cells,
    refined,
)
from scipy import stats

import tightnoise as tn
from tightnoise.random import NoiseStream

ALARM = 1e-8
WHOLE = bool(os.environ.get("TIGHTNOISE_WHOLE_SCAN"))
MANY = 10**7 if WHOLE else 10**6
DTYPES = [np.float64, np.float32]
EVERY_LAW = pytest.mark.parametrize("law", ON_A_GRID)


# --- traces of float arithmetic -------------------------------------------------------------------


def fine(y: np.ndarray) -> np.ndarray:
    """Where an output below 1/2 has digits that 1 + noise in floats cannot have."""
    place = 2.0**-53 if y.dtype == np.float64 else 2.0**-24
    return (np.abs(y) < 0.5) & (np.mod(y.astype(float), place) != 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [1.3, 0.37, 21.7])
@EVERY_LAW
def test_no_output_says_what_theta_is_not(law, scale, dtype) -> None:
    y = ON_A_GRID[law](scale).sample(np.zeros(100_000, dtype), rng=NoiseStream(1))
    assert not fine(y).any()


def test_floats_say_what_theta_is_not() -> None:
    for dtype in DTYPES:
        y = tn.Gaussian(1.3).sample(np.zeros(100_000, dtype), rng=NoiseStream(1), grid=None)
        assert fine(y).mean() > 0.15


def no_multiple(y: np.ndarray, scale: float) -> int:
    """Count outputs that are no float times scale."""
    z = y / scale
    return int(np.all([scale * near != y for near in (z, *np.nextafter(z, [[-9], [9]]))], 0).sum())


@pytest.mark.parametrize("law", [tn.Gaussian, tn.Laplace])
@pytest.mark.parametrize("grid", ["auto", None])
def test_factors_of_outputs(law, grid) -> None:
    n = 10**6
    counts = [
        no_multiple(law(1.3).sample(np.full(n, t), rng=NoiseStream(s), grid=grid), 1.3)
        for t, s in ((0.0, 2), (1e-3, 3))
    ]
    same = stats.fisher_exact([counts, [n - count for count in counts]]).pvalue > 1e-8
    assert same == (grid == "auto")


@EVERY_LAW
def test_outputs_are_points_of_the_grid_or_bounds(law) -> None:
    m = ON_A_GRID[law](0.77)
    theta = np.random.default_rng(4).uniform(-1, 1, 10_000)
    y = m.sample(theta, rng=NoiseStream(4))
    k = y / float(m._automatic_steps)
    at_bound = np.zeros(len(y), bool)
    if law in BETWEEN_BOUNDS:
        at_bound = (y == m.lower) | (y == m.upper)
        assert ((y >= m.lower) & (y <= m.upper)).all()
    assert ((k == np.round(k)) | at_bound).all()
    assert not np.signbit(y[y == 0]).any()


# --- the law --------------------------------------------------------------------------------------


def cells(m, theta: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points that hold nearly all samples, and the probability of each, ends included."""
    if hasattr(m, "lower"):
        ends = np.array([m.lower, m.upper])
    else:
        ends = np.array([m.ppf(1e-4, theta), m.ppf(1 - 1e-4, theta)])
    least, most = np.floor(ends / step + 0.5)
    while most - least > 2000:  # as many cells as samples are enough for
        least, most = least + 1, most - 1
    k = np.arange(least, most + 1)
    below = m.cdf((k[:-1] + 0.5) * step, theta)
    return k, np.diff(below, prepend=0.0, append=1.0)


@pytest.mark.parametrize("theta", [0.0, 0.3])
@pytest.mark.parametrize("coarseness", [1, 32])
@EVERY_LAW
def test_chi_square(law, coarseness, theta) -> None:
    """The nearest points to samples of the law, with steps of 1/100 of the scale and of 1/3."""
    dtype = np.float32 if theta == 0 else np.float64
    m = ON_A_GRID[law](1.3)
    step = coarseness * float(m._automatic_steps)
    y = m.sample(np.full(MANY, theta, dtype), rng=NoiseStream(5), grid=step).astype(float)
    k, shares = cells(m, theta, step)
    integers = np.floor(y / step + 0.5)
    if law in BETWEEN_BOUNDS:  # bounds are written as such
        low, high = (float(np.asarray(bound).astype(dtype)) for bound in (m.lower, m.upper))
        integers = np.where(y <= low, k[0], np.where(y >= high, k[-1], integers))
    counts = np.bincount((np.clip(integers, k[0], k[-1]) - k[0]).astype(int), minlength=len(k))
    assert pvalue_of_cells(counts, shares) > ALARM


@pytest.mark.parametrize("theta", [-0.4, 0.0, 1.7])
@pytest.mark.parametrize("m", [tn.StochasticSign(1.3), tn.QuantizedGaussian(1.3, -1.0, 2.0, 17)])
def test_chi_square_of_letters(m, theta) -> None:
    y = m.sample(np.full(MANY, theta), rng=NoiseStream(6))
    letters, counts = np.unique(y, return_counts=True)
    assert stats.chisquare(counts, m.pdf(letters, theta) * MANY, sum_check=False).pvalue > ALARM


# --- places ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", BETWEEN_BOUNDS)
def test_refined_everywhere_between_bounds_of_integers(law) -> None:
    """Of integers that no double is, near bounds: rounded first, theta would move by 1."""
    theta = np.full(80, 2**53 + 1)
    m = {
        "RectifiedGaussian": tn.RectifiedGaussian,
        "TruncatedGaussian": tn.TruncatedGaussian,
        "BoundedLaplace": tn.BoundedLaplace,
    }[law](3.0, 2.0**53 - 8, 2.0**53 + 8)
    expected = m.sample(theta, rng=NoiseStream(9))
    with refined():
        np.testing.assert_array_equal(m.sample(theta, rng=NoiseStream(9)), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@EVERY_LAW
def test_prefixes_threads_and_places(law, dtype) -> None:
    m, theta = ON_A_GRID[law](1.3), np.linspace(-4, 4, 120_001).astype(dtype)
    assert_bits_are_the_keys(lambda x, **given: m.sample(x, rng=NoiseStream(10), **given), theta)


@pytest.mark.parametrize("law", ADDED)
def test_integers_of_points(law) -> None:
    m, theta = ADDED[law](1.3), np.linspace(-4, 4, 1000)
    k, step = m.sample_integers(theta, rng=NoiseStream(11))
    np.testing.assert_array_equal(k * step, m.sample(theta, rng=NoiseStream(11)))


# --- directions -----------------------------------------------------------------------------------

DIRECTIONS = {
    "VonMisesFisher": tn.VonMisesFisher(100.0, 64),
    "ProductVonMisesFisher": tn.ProductVonMisesFisher((50.0, 70.0), (24, 40)),
    "LiftedVonMisesFisher": tn.LiftedVonMisesFisher(100.0, 64, 1.5),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DIRECTIONS)
def test_directions_lie_on_a_grid(name, dtype) -> None:
    rows = np.random.default_rng(12).normal(size=(200, 64)).astype(dtype)
    y = DIRECTIONS[name].sample(rows, rng=NoiseStream(12)).astype(float)
    np.testing.assert_array_equal(y, np.round(y * 2.0**20) * 2.0**-20)
