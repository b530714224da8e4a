"""What `grid` and integers as theta may be."""

from __future__ import annotations

import numpy as np
import pytest

import tightnoise as tn

G = tn.Gaussian(1.3)
R = tn.RectifiedGaussian(1.3, -1.0, 1.0)
BOTH = pytest.mark.parametrize("m", [G, R], ids=["Gaussian", "rectified"])


@BOTH
@pytest.mark.parametrize("grid", [3.0, 0.1, 0.0, -0.5, np.nan, np.inf, [0.5, 0.75], 1 - 2**-52])
def test_no_power_of_two(m, grid) -> None:
    with pytest.raises(ValueError, match=r"^grid must be .*(power of two|finite)"):
        m.sample(np.zeros(2), grid=grid)


@BOTH
@pytest.mark.parametrize("grid", ["fine", "Auto", ""])
def test_no_such_word(m, grid) -> None:
    with pytest.raises(ValueError, match="grid must be 'auto', a power of two or None"):
        m.sample(0.0, grid=grid)


@BOTH
@pytest.mark.parametrize("grid", [2.0**-32, 2.0**11, 2.0**-1074, 2.0**1023])
def test_too_fine_or_too_coarse(m, grid) -> None:
    with pytest.raises(ValueError, match=r"grid must be from 2\*\*-32 to 2\*\*10 times sigma"):
        m.sample(0.0, grid=grid)


def test_too_coarse_for_the_bounds() -> None:
    with pytest.raises(ValueError, match="grid must be finer for these bounds"):
        R.sample(0.0, grid=4.0)
    assert set(R.sample(np.zeros(100), grid=2.0)) == {-1.0, 1.0}  # two letters: K is 0 or 1
    assert set(R.sample(np.zeros(100), grid=1.0)) == {-1.0, 0.0, 1.0}


@pytest.mark.parametrize("scale", [1e-300, 1e305])
def test_scales_beyond_the_range(scale) -> None:
    with pytest.raises(ValueError, match=r"grid must be from 2\*\*-960 to 2\*\*960"):
        tn.Gaussian(scale).sample(0.0)
    assert np.isfinite(tn.Gaussian(scale).sample(0.0, grid=None))


@BOTH
@pytest.mark.parametrize("shape", [(2,), (3, 1), (1, 3, 1)])
def test_wrong_shape(m, shape) -> None:
    with pytest.raises(ValueError, match="grid must be a number or broadcast"):
        m.sample(np.zeros(3), grid=np.ones(shape))


@BOTH
@pytest.mark.parametrize("grid", [b"auto", [None], {}, 1j])
def test_no_numbers(m, grid) -> None:
    with pytest.raises(TypeError, match="grid"):
        m.sample(0.0, grid=grid)


def test_a_grid_for_each_element() -> None:
    grid = np.array([0.25, 1.0, 4.0])
    y = G.sample(np.full((1000, 3), 0.3), grid=grid)
    np.testing.assert_array_equal(y / grid, np.round(y / grid))
    assert (y[:, 0] != np.round(y[:, 0])).any()


@pytest.mark.parametrize("m", [tn.StochasticSign(1.3), tn.QuantizedGaussian(1.3, -1.0, 1.0, 5)])
def test_letters_have_no_grid(m) -> None:
    with pytest.raises(ValueError, match="grid must be 'auto' or None: there is none"):
        m.sample(0.0, grid=0.5)
    assert m.sample(0.0, grid=None) in np.linspace(-1, 1, 5)


def test_integers_of_no_grid() -> None:
    with pytest.raises(ValueError, match="grid must be 'auto' or a power of two; got None"):
        G.sample_integers(0.0, grid=None)


@BOTH
@pytest.mark.parametrize("theta", [2**62 + 1, -(2**62) - 1, 2**63 - 1, -(2**63)])
def test_integers_beyond_2_62(m, theta) -> None:
    with pytest.raises(ValueError, match=r"theta must be at most 2\*\*62 in magnitude"):
        m.sample(np.array([0, theta]))


@BOTH
def test_kinds_of_integers(m) -> None:
    for kind in (np.int8, np.uint8, np.int32, np.uint64, np.int64):
        y = m.sample(np.array([1, 2, 3], kind), rng=tn.random.NoiseStream(1))
        assert y.dtype == np.float64
        np.testing.assert_array_equal(y, m.sample([1.0, 2.0, 3.0], rng=tn.random.NoiseStream(1)))
    with pytest.raises(ValueError, match=r"theta must be at most 2\*\*62 in magnitude"):
        m.sample(np.array([2**63], np.uint64))


@BOTH
@pytest.mark.parametrize("theta", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_theta_that_is_no_number(m, theta, dtype) -> None:
    with pytest.raises(ValueError, match="theta"):
        m.sample(np.array([0.0, theta], dtype))


def test_units_too_coarse_for_the_grid() -> None:
    total = tn.ExactSum(np.ones(2, np.int64), 1, 1e30, 2.0, 2**22, "add-remove")
    for m, shift in ((tn.Gaussian(1e-3), 60), (tn.RectifiedGaussian(1e-3, -1.0, 1.0), 40)):
        with pytest.raises(ValueError, match=rf"grid must be at least 2\*\*-{shift} of the unit"):
            m.sample(total)


@pytest.mark.parametrize("law", [tn.TruncatedGaussian, tn.BoundedLaplace, tn.RectifiedGaussian])
def test_float32_on_a_fine_grid_stays_within_bounds(law) -> None:
    m = law(1.0, -1 / 3, 1 / 3)
    y = m.sample(np.full(50_000, 5.0, np.float32), grid=2.0**-12)
    assert y.dtype == np.float32
    assert m.lower <= y.astype(float).min() <= y.astype(float).max() <= m.upper
