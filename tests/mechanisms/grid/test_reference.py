"""Samples on a grid against the definition: K of ideal normals made of the keystream's bits."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from noise_laws import NoiseSource, refined
from reference.grid import exact, letter_of, nearest_integers, rounded

import tightnoise as tn
from tightnoise.random import NoiseStream

ELEMENTS = 192  # a batch and a half of float64, three quarters of one of float32
DTYPES = [np.float64, np.float32]
KEY = hashlib.sha256(b"samples by definition").digest()


def thetas(step: float, dtype: type, seed: int, n: int = ELEMENTS) -> np.ndarray:
    """Return odd values and, for the rest, random ones of many sizes: all within 1e99 steps."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    odd = [0.0, -0.0, info.smallest_subnormal, -info.smallest_subnormal, info.tiny]
    odd += [float(info.max), -float(info.max), 2.0**52 + 1, -(2.0**52) - 1, 2.0**24 + 1]
    odd += [step * k / 2 for k in (1, -1, 3, -3, 1001)] + [step / 4, 2.0**60 * step]
    if dtype is np.float64:
        odd += [1e300, -1e300, 1e98, (2.0**53 + 2) * step, np.nextafter(step / 2, 0)]
    sizes = np.ldexp(rng.uniform(-1, 1, n), rng.integers(-30, 60, n)) * step
    largest = min(1e99 * step, float(info.max))
    values = np.concatenate([[x for x in odd if abs(x) <= largest], sizes])
    return rng.permutation(values[:n].astype(dtype))


def words_of(dtype: type, sigma: float, step: float) -> int:
    """Return how many bits the words have that an array is drawn from."""
    fits = 2.0**-100 <= step <= 2.0**100 and sigma <= 2.0**11 * step
    return 32 if dtype is np.float32 and fits else 64


def stream() -> NoiseStream:
    """Return a stream of this very key."""
    made = NoiseStream(0)
    made._source = NoiseSource(KEY)
    return made


# sigma / step about 2^-3, ..., 2^24
RATIOS = [0.125, 0.7, 5.2, 83.0, 1331.0, 2.0**17 / 3, 2.0**24]


def points(law: str, theta, sigma: float, step: float, bits: int) -> list[int]:
    n = len(theta)
    values = [exact(t) for t in theta]
    return nearest_integers(KEY, law, values, [exact(sigma)] * n, [exact(step)] * n, bits)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("exponent", [-6, 3])
def test_gaussian(ratio, exponent, dtype) -> None:
    step = 2.0**exponent
    sigma = ratio * step
    theta = thetas(step, dtype, int(ratio * 8))
    y = tn.Gaussian(sigma).sample(theta, rng=stream(), grid=step)
    expected = points("gaussian", theta, sigma, step, words_of(dtype, sigma, step))
    assert y.dtype == dtype
    assert y.tolist() == [rounded(k * exact(step), dtype) for k in expected]
    assert not np.signbit(y[y == 0]).any()


@pytest.mark.parametrize(("sigma", "exponent"), [(3e-280, -934), (7e270, 896), (1.0, -24)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gaussian_at_the_ends_of_the_range(sigma, exponent, dtype) -> None:
    if dtype is np.float32 and sigma > 1e38:
        pytest.skip("no such float32")
    step = 2.0**exponent
    theta = thetas(step, dtype, 5, 64)
    y = tn.Gaussian(sigma).sample(theta, rng=stream(), grid=step)
    expected = points("gaussian", theta, sigma, step, words_of(dtype, sigma, step))
    assert y.tolist() == [rounded(k * exact(step), dtype) for k in expected]


@pytest.mark.parametrize("dtype", DTYPES)
def test_gaussian_with_parameters_for_each_element(dtype) -> None:
    rng = np.random.default_rng(8)
    theta = thetas(1e-10, dtype, 9)
    sigma = np.ldexp(rng.uniform(0.5, 1, ELEMENTS), rng.integers(-20, 20, ELEMENTS))
    m = tn.Gaussian(sigma)
    y = m.sample(theta, rng=stream())
    step = m._automatic_steps
    assert ((sigma / 128 < step) & (step <= sigma / 64)).all()
    values = [list(map(exact, array)) for array in (theta, sigma, step)]
    expected = nearest_integers(KEY, "gaussian", *values, 32 if dtype is np.float32 else 64)
    assert y.tolist() == [rounded(k * exact(g), dtype) for k, g in zip(expected, step, strict=True)]


BOUNDS = [(-1.0, 1.0), (0.999 / 64, 1.0), (-3.3, 1e30), (-1e-7, 0.02), (0.3, 0.3 + 1 / 64)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_rectified(lower, upper, dtype) -> None:
    step, sigma = 2.0**-6, 0.9
    theta = thetas(step, dtype, 11)
    theta[::2] = np.random.default_rng(3).uniform(max(lower, -4), min(upper, 4), ELEMENTS // 2)
    m = tn.RectifiedGaussian(sigma, lower, upper)
    y = m.sample(theta, rng=stream(), grid=step)
    least, most = letter_of(lower, step), letter_of(upper, step)
    ends = [
        float(bound) for bound in (m._float32_bounds if dtype is np.float32 else (m.lower, m.upper))
    ]
    for k, value in zip(
        points("rectified_gaussian", theta, sigma, step, words_of(dtype, sigma, step)),
        y.tolist(),
        strict=True,
    ):
        point = rounded(min(max(k, least), most) * exact(step), dtype)
        inside = min(max(point, ends[0]), ends[1])
        assert value == (ends[0] if k <= least else ends[1] if k >= most else inside)
    assert not np.signbit(y[y == 0]).any()


def letters_of(law, theta, sigma, lower, upper, levels, bits) -> list[int]:
    """Return the letters of samples between bounds, as numbers."""
    n = len(theta)
    low, high = ([exact(x) for x in np.broadcast_to(bound, n)] for bound in (lower, upper))
    widths = [(b - a) / (levels - 1) for a, b in zip(low, high, strict=True)]
    values = [exact(t) - a for t, a in zip(theta, low, strict=True)]
    letters = nearest_integers(KEY, law, values, [exact(sigma)] * n, widths, bits)
    return [min(max(k, 0), levels - 1) for k in letters]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sigma", [1.0, 0.013, 3e7, 1e-30, 3e-42, 2.9e38])
def test_sign(sigma, dtype) -> None:
    theta = thetas(min(sigma, 1e18), dtype, 12)
    theta[::2] = sigma * np.random.default_rng(4).uniform(-1.1, 1.1, ELEMENTS // 2)
    y = tn.StochasticSign(sigma).sample(theta, rng=stream())
    bits = 32 if dtype is np.float32 and 2.0**-90 < sigma < 2.0**90 else 64
    letters = letters_of("stochastic_sign", theta, sigma, -sigma, sigma, 2, bits)
    assert y.tolist() == [2.0 * k - 1.0 for k in letters]


def test_sign_at_the_end_of_the_range() -> None:
    theta = np.full(ELEMENTS, 1.2e308)
    with pytest.raises(ValueError, match=r"2\*\*960"):
        tn.StochasticSign(8e307).sample(theta)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("sigma", "lower", "upper", "levels"),
    [(1.0, -1.0, 1.0, 2), (0.3, -1.0, 2.1, 5), (2.0, 0.1, 7.3, 999), (0.5, 0.0, 1.0, 1024)],
)
def test_quantized(sigma, lower, upper, levels, dtype) -> None:
    theta = thetas((upper - lower) / (levels - 1), dtype, 13)
    theta[::2] = np.random.default_rng(5).uniform(lower, upper, ELEMENTS // 2)
    m = tn.QuantizedGaussian(sigma, lower, upper, levels)
    y = m.sample(theta, rng=stream())
    letters = letters_of("quantized_gaussian", theta, sigma, lower, upper, levels, 64)
    step = (upper - lower) / (levels - 1)
    written = np.where(
        np.array(letters) == levels - 1, upper, lower + np.array(letters, float) * step
    )
    np.testing.assert_array_equal(y, written.astype(dtype))


# --- integers -------------------------------------------------------------------------------------


def wholes(seed: int, n: int = ELEMENTS) -> np.ndarray:
    """Return integers of all sizes up to 2^62."""
    rng = np.random.default_rng(seed)
    odd = [0, 1, -1, 2**62, -(2**62), 2**53 + 1, 2**62 - 1, -(2**60) - 3]
    sizes = rng.integers(-(2**62), 2**62, n) >> rng.integers(0, 62, n)
    return rng.permutation(np.concatenate([odd, sizes])[:n])


def saturated(k: int) -> int:
    return min(max(k, -(2**63)), 2**63 - 1)


@pytest.mark.parametrize("step", [2.0**-10, 0.25, 1.0, 4.0, 2.0**30])
def test_gaussian_of_integers(step) -> None:
    sigma, n = 5.2 * step, wholes(1)
    m = tn.Gaussian(sigma)
    expected = points("gaussian", list(map(int, n)), sigma, step, 64)
    k, unit = m.sample_integers(n, rng=stream(), grid=step)
    assert unit == step
    assert k.tolist() == [saturated(value) for value in expected]
    y = m.sample(n, rng=stream(), grid=step)
    assert y.tolist() == [rounded(value * exact(step), np.float64) for value in expected]


def exact_sum(n: np.ndarray, bound: float) -> tn.ExactSum:
    return tn.ExactSum(np.array(n), 1, bound, 2.0, 2**22, "add-remove")


def test_gaussian_of_an_exact_sum() -> None:
    total = exact_sum(wholes(2), 0.3)
    sigma = 0.77
    m = tn.Gaussian(sigma)
    step = float(m._automatic_steps)
    theta = [int(n) * exact(total.unit) for n in total.integers]
    y = m.sample(total, rng=stream())
    expected = points("gaussian", theta, sigma, step, 64)
    assert y.tolist() == [rounded(value * exact(step), np.float64) for value in expected]


def between(n: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return bounds next to integers, of which each is between its own."""
    lower = np.ldexp(np.round(n / 2.0**12) - 3.0, 12)
    return lower, lower + 6.0 * 2**12, list(map(int, n))


@pytest.mark.parametrize("sigma", [1.0, 40.0, 2000.0])
def test_laws_between_bounds_of_integers(sigma) -> None:
    """Of integers that no double is: rounding them first would move theta by up to 256."""
    n = wholes(3)
    lower, upper, theta = between(n)
    step = float(tn.Gaussian(sigma)._automatic_steps)
    y = tn.RectifiedGaussian(sigma, lower, upper).sample(n, rng=stream(), grid=step)
    for k, value, low, high in zip(
        points("rectified_gaussian", theta, sigma, step, 64), y, lower, upper, strict=True
    ):
        is_low, is_high = k <= letter_of(low, step), k >= letter_of(high, step)
        point = rounded(k * exact(step), np.float64)
        assert value == (low if is_low else high if is_high else min(max(point, low), high))
    levels = 1023  # as many as are allowed: cells of 24 and a fraction
    y = tn.QuantizedGaussian(sigma, lower, upper, levels).sample(n, rng=stream())
    letters = letters_of("quantized_gaussian", theta, sigma, lower, upper, levels, 64)
    width = (upper - lower) / (levels - 1)
    written = np.where(np.array(letters) == levels - 1, upper, lower + np.array(letters) * width)
    np.testing.assert_array_equal(y, written)


def test_integers_beyond_64_bits_are_the_nearest_ones() -> None:
    theta = np.array([2.0**63 - 1024, 2.0**63, 2.0**63 + 2048, 1e300, -(2.0**63), -1e30] * 32)
    sigma = 700.0
    k, _ = tn.Gaussian(sigma).sample_integers(theta, rng=stream(), grid=1.0)
    expected = points("gaussian", theta, sigma, 1.0, 64)
    assert k.tolist() == [saturated(value) for value in expected]


# --- refinement -----------------------------------------------------------------------------------


SCANNED = {
    "Gaussian": tn.Gaussian(1.3),
    "rectified": tn.RectifiedGaussian(1.3, -1.0, 1.1),
    "sign": tn.StochasticSign(1.3),
    "quantized": tn.QuantizedGaussian(1.3, -1.0, 1.1, 17),
}
LONG = pytest.param(200_000, marks=pytest.mark.nightly)


@pytest.mark.parametrize("n", [3000, LONG])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SCANNED)
def test_refined_everywhere_is_refined_on_demand(name, dtype, n) -> None:
    theta = np.random.default_rng(6).uniform(-3, 3, n).astype(dtype)

    def draw():
        return SCANNED[name].sample(theta, rng=NoiseStream(21))

    on_demand = draw()
    with refined():
        np.testing.assert_array_equal(on_demand, draw())


@pytest.mark.parametrize("n", [3000, LONG])
@pytest.mark.parametrize("ratio", [0.01, 1.2, 1331.0, 2.0**24])
@pytest.mark.parametrize("dtype", DTYPES)
def test_refined_everywhere_of_fine_and_coarse_grids(ratio, dtype, n) -> None:
    theta = np.random.default_rng(7).uniform(-3, 3, n).astype(dtype)

    def draw():
        return tn.Gaussian(ratio).sample(theta, rng=NoiseStream(22), grid=1.0)

    on_demand = draw()
    with refined():
        np.testing.assert_array_equal(on_demand, draw())


@pytest.mark.parametrize("theta", [0.0, 0.25, 0.5])
def test_float32_settled_by_64_bits_is_settled_by_all(theta) -> None:
    """In 4e6 float32 samples next to a fine grid's middles, 2 % of the pairs take the second way.

    What they come to must be what float64 arithmetic makes of the same words: K never moves by
    more than one, and in less than 1e-4 of the elements.
    """
    values = np.full(1 << 20, theta, np.float32)
    k = tn.Gaussian(1331.0).sample(values, rng=NoiseStream(23), grid=1.0)
    part = slice(0, 2048)
    with refined():
        everywhere = tn.Gaussian(1331.0).sample(values[part], rng=NoiseStream(23), grid=1.0)
    np.testing.assert_array_equal(k[part], everywhere)
