"""Samplers of the mechanisms against their distribution functions.

Fixed seeds. A comparison fails a correct sampler with probability 1e-9 under a random seed, and
there are fewer than 1000 of them: 1e-6 in all.
"""

from __future__ import annotations

from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from noise_laws import (
    assert_bad_out_is_refused,
    assert_bits_are_the_keys,
    draw,
    key_of,
    keystream,
)
from scipy import special, stats

ALARM = 1e-9
DTYPES = [np.float64, np.float32]


def assert_follows(x: np.ndarray, cdf) -> None:
    """Kolmogorov-Smirnov against cdf, which takes a sorted float64 array."""
    x = np.sort(x.astype(np.float64))
    assert stats.kstest(x, cdf).pvalue > ALARM


def assert_shares(counts, shares) -> None:
    """Every count is binomial with its share of the whole."""
    n = int(np.sum(counts))
    for count, share in zip(counts, shares, strict=True):
        assert stats.binomtest(int(count), n, float(np.clip(share, 0, 1))).pvalue > ALARM


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("theta", "sigma"), [(0.0, 1.0), (-3.5, 0.01), (1e4, 250.0)])
def test_gaussian(theta, sigma, dtype) -> None:
    x = draw("gaussian", theta, sigma, n=200_000, dtype=dtype)
    assert_follows(x, lambda t: special.ndtr((t - theta) / sigma))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("theta", [-9.0, -1.3, -1.0, 0.0, 0.4, 1.0, 5.0])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 30.0])
def test_rectified_gaussian(theta, sigma, dtype) -> None:
    lower, upper = -1.0, 0.75
    x = draw("rectified_gaussian", theta, sigma, lower, upper, n=50_000, dtype=dtype)
    assert x.min() >= lower
    assert x.max() <= upper
    at_lower = special.ndtr((lower - theta) / sigma)
    at_upper = special.ndtr((theta - upper) / sigma)
    counts = [(x == lower).sum(), ((x > lower) & (x < upper)).sum(), (x == upper).sum()]
    assert_shares(counts, [at_lower, 1 - at_lower - at_upper, at_upper])
    inside = x[(x > lower) & (x < upper)]
    if len(inside) > 100:
        mass = 1 - at_lower - at_upper
        assert_follows(inside, lambda t: (special.ndtr((t - theta) / sigma) - at_lower) / mass)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("theta", [-4.0, -1.0, 0.0, 0.3, 2.0, 12.0])
def test_stochastic_sign(theta, dtype) -> None:
    x = draw("stochastic_sign", theta, 1.0, n=50_000, dtype=dtype)
    assert set(np.unique(x)) <= {-1.0, 1.0}
    assert_shares([(x < 0).sum(), (x > 0).sum()], [special.ndtr(-theta), special.ndtr(theta)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("levels", [2, 3, 16, 1001])
@pytest.mark.parametrize(
    ("theta", "lower", "upper"), [(0.1, -1.0, 1.0), (-7.0, -1.0, 1.0), (2.5, -0.3, 7.1)]
)
def test_quantized_gaussian(theta, lower, upper, levels, dtype) -> None:
    x = draw("quantized_gaussian", theta, 1.0, lower, upper, levels, n=50_000, dtype=dtype)
    letters = np.linspace(lower, upper, levels)
    index = np.searchsorted(letters.astype(dtype), x)
    np.testing.assert_array_equal(letters.astype(dtype)[index], x)  # nothing but letters
    middles = (letters[1:] + letters[:-1]) / 2
    below = np.concatenate(([0.0], special.ndtr(middles - theta), [1.0]))
    counts = np.bincount(index, minlength=levels)
    edges = np.unique(np.linspace(0, levels, min(levels, 16) + 1).astype(int))
    assert_shares(
        [counts[a:b].sum() for a, b in pairwise(edges)],
        [below[b] - below[a] for a, b in pairwise(edges)],
    )


def truncated_cdf(theta, sigma, lower, upper):
    """Return the distribution function of truncated samples and the mass of the support."""
    theta, sigma, lower, upper = map(mp.mpf, (theta, sigma, lower, upper))

    def mass(a, b):
        u, v = (a - theta) / sigma, (b - theta) / sigma
        return mp.ncdf(v) - mp.ncdf(u) if u + v < 0 else mp.ncdf(-u) - mp.ncdf(-v)

    whole = mass(lower, upper)
    return (lambda x: mass(lower, mp.mpf(float(x))) / whole), whole


def spread(theta, sigma, lower, upper) -> float:
    """Return the length on which a truncated density changes: how far apart samples are."""
    distance = max(lower - theta, theta - upper, 0.0)
    return min(upper - lower, sigma, sigma**2 / distance if distance else sigma)


# theta, sigma, lower, upper
TRUNCATED = {
    "centre": (0.0, 1.0, -1.0, 1.0),
    "inside": (0.4, 1.0, -1.0, 1.0),
    "on the edge": (1.0, 1.0, -1.0, 1.0),
    "inside, narrow": (0.99, 9.0, -1.0, 1.0),
    "inside, very narrow": (0.9, 1e3, -1.0, 1.0),
    "inside, width 1e-6": (0.2, 2e6, -1.0, 1.0),
    "inside, wide": (0.3, 0.1, -1.0, 1.0),
    "inside, very wide": (0.3, 1e-4, -1.0, 1.0),
    "just outside": (1.2, 0.5, -1.0, 1.0),
    "1.99 sigma outside": (2.99, 1.0, -1.0, 1.0),
    "2.01 sigma outside": (-3.01, 1.0, -1.0, 1.0),
    "8 sigma outside": (9.0, 1.0, -1.0, 1.0),
    "50 sigma outside": (-51.0, 1.0, -1.0, 1.0),
    "50 sigma outside, narrow": (50.5, 1.0, 0.499, 0.5),
    "1e4 sigma outside": (1e4, 1.0, -1.0, 1.0),
    "1e4 sigma outside, width 1e-6": (-1e4, 1.0, 0.0, 1e-6),
    "1e4 sigma outside, width 1e-4": (1e4, 1.0, 0.0, 1e-4),
    "uneven bounds": (3.0, 2.0, -1.0, 17.0),
}  # fmt: skip


ALL_TRUNCATED = pytest.mark.parametrize("parameters", TRUNCATED.values(), ids=TRUNCATED.keys())
SHARED = pytest.mark.parametrize("shared", [True, False], ids=["shared", "per coordinate"])


def sample_truncated(parameters, n: int, shared: bool, dtype=np.float64) -> np.ndarray:
    theta, *rest = parameters
    given = rest if shared else [np.full(n, value) for value in rest]
    return draw("truncated_gaussian", theta, *given, n=n, dtype=dtype, key=key_of(parameters))


@SHARED
@ALL_TRUNCATED
def test_truncated_gaussian_follows_its_distribution(parameters, shared) -> None:
    n = 100_000
    lower, upper = parameters[2:]
    x = np.sort(sample_truncated(parameters, n, shared))
    assert lower <= x[0]
    assert x[-1] <= upper
    # far fewer distinct values would be holes; float spacing at the bounds allows this many
    places = spread(*parameters) / np.spacing(max(abs(lower), abs(upper)))
    assert len(np.unique(x)) > 0.999 * n if places > 1e9 else len(np.unique(x)) > 1000
    with mp.workdps(50):
        cdf, _ = truncated_cdf(*parameters)
        at = np.arange(n // 200, n, n // 100)
        worst = max(abs(float(cdf(x[i])) - i / n) for i in at)
    # Dvoretzky-Kiefer-Wolfowitz-Massart: P(largest deviation > e) <= 2 exp(-2 n e^2)
    assert worst < np.sqrt(np.log(2 / ALARM) / (2 * n)) + 1 / n


def inverse_error(x, word, theta, sigma, lower, upper, by_interpolation) -> float:
    """Return how far x is from where its random bits put it, in units of the spread."""
    cdf, whole = truncated_cdf(theta, sigma, lower, upper)
    if by_interpolation:
        share = ((word >> 12) + mp.mpf(0.5)) / 2**52
    else:
        near = (word % 2**63 + mp.mpf(0.5)) / 2**64
        mirrored = theta - upper > lower - theta
        share = near if (word >> 63) ^ mirrored else 1 - near
    density = mp.npdf((mp.mpf(x) - mp.mpf(theta)) / sigma) / sigma / whole
    scale = max(abs(x), min(abs(theta), max(abs(lower), abs(upper))))
    rounding = 3 * np.spacing(scale)  # of x itself
    return (abs(float((cdf(x) - share) / density)) - rounding) / spread(theta, sigma, lower, upper)


@SHARED
@ALL_TRUNCATED
def test_truncated_gaussian_is_the_exact_inverse(parameters, shared, check_error) -> None:
    n = 128
    theta, sigma, lower, upper = parameters
    x = sample_truncated(parameters, n, shared).tolist()
    words = keystream(key_of(parameters), "truncated_gaussian", 0, 1).view(np.uint64).tolist()
    fast = shared and lower <= theta <= upper and 1 / 16 <= (upper - lower) / sigma <= 2
    with mp.workdps(50):
        worst = max(
            inverse_error(x[i], words[i], theta, sigma, lower, upper, fast) for i in range(n)
        )
    check_error("truncated sample / spread of its density", worst, 2e-14)


def test_truncated_gaussian_with_random_parameters(check_error, rng) -> None:
    n = 128 * 16
    sigma = 10 ** rng.uniform(-3, 3, n)
    width = sigma * np.where(rng.random(n) < 0.5, 10 ** rng.uniform(-6, 4, n), rng.uniform(0, 4, n))
    distance = np.where(rng.random(n) < 0.3, 10 ** rng.uniform(-2, 4, n), rng.uniform(0, 4, n))
    inside = rng.random(n) < 0.3
    # The nearer bound is 0, where floats are dense, so that rounding of x hides nothing.
    theta = np.where(inside, rng.uniform(0, 0.5, n) * width, -distance * sigma)
    lower, upper = np.zeros(n), width
    flip = rng.random(n) < 0.5
    theta, lower, upper = (
        np.where(flip, -theta, theta),
        np.where(flip, -upper, lower),
        np.where(flip, lower, upper),
    )
    x = draw("truncated_gaussian", theta, sigma, lower, upper, key=bytes(32)).tolist()
    words = keystream(bytes(32), "truncated_gaussian", 0, n // 128).view(np.uint64).tolist()
    with mp.workdps(50):
        errors = [
            inverse_error(
                x[i], words[i], *map(float, (theta[i], sigma[i], lower[i], upper[i])), False
            )
            for i in range(n)
        ]
    check_error("truncated sample / spread of its density", max(errors), 2e-14)


@ALL_TRUNCATED
def test_truncated_float32_is_float64_rounded(parameters) -> None:
    theta, *rest = parameters
    theta = float(np.float32(theta))
    wide = sample_truncated((theta, *rest), 1000, True)
    key = key_of((theta, *rest))
    x = draw("truncated_gaussian", theta, *rest, n=1000, dtype=np.float32, key=key)
    np.testing.assert_array_equal(x, wide.astype(np.float32))


def test_truncated_gaussian_at_the_ends_of_the_range() -> None:
    for theta, sigma, lower, upper in [
        (1e8, 1.0, -1.0, 1.0),
        (1e300, 1e-300, -1.0, 1.0),
        (-1e300, 1.0, -1.0, 1.0),
        (0.0, 5e-324, -1.0, 1.0),
        (-1.0, 5e-324, -1.0, 1.0),
        (2.0, 5e-324, -1.0, 1.0),
        (0.0, 1e308, -1.0, 1.0),
        (0.0, 1e308, -1e308, 1e307),
        (0.0, 1.0, -1e-308, 1e-308),
        (1.0, 1e-3, 1.0, np.nextafter(1.0, 2.0)),
    ]:
        for shared in (True, False):
            x = sample_truncated((theta, sigma, lower, upper), 1000, shared)
            assert np.isfinite(x).all()
            assert lower <= x.min() <= x.max() <= upper
    # 1e8 sigma outside: exponential with mean sigma / 1e8
    x = 1.0 - sample_truncated((1e8, 1.0, -1.0, 1.0), 100_000, True)
    assert_follows(x, lambda t: -np.expm1(-1e8 * t))


def test_truncated_mixture_of_regions() -> None:
    """Neighbours of another region do not change an element."""
    rng = np.random.default_rng(5)
    theta = rng.choice([0.0, 0.3, -1.0, 1.5, 4.0, 60.0, -1e5], 3000)
    key = key_of("mixture")
    mixed = draw("truncated_gaussian", theta, 1.0, -1.0, 1.0, key=key)
    for value in np.unique(theta):
        alone = draw("truncated_gaussian", value, 1.0, -1.0, 1.0, n=3000, key=key)
        np.testing.assert_array_equal(mixed[theta == value], alone[theta == value])


MECHANISMS = {
    "gaussian": (1.5,),
    "rectified_gaussian": (1.5, -1.0, 1.25),
    "truncated_gaussian": (1.5, -1.0, 1.25),
    "quantized_gaussian": (1.5, -1.0, 1.25, 9),
    "stochastic_sign": (1.5,),
    "bounded_laplace": (1.5, -1.0, 1.25),
}
EVERY_MECHANISM = pytest.mark.parametrize("mechanism", MECHANISMS)
THREE = np.array([0.0, 1.0, 3.0])
LAWS = MECHANISMS | {
    "multi_gaussian": (0.37, 0.7, 1.1, 12),
    "quasi_gaussian": (0.3, 0.1, 1.0),
    "scale_mixture": (THREE, 1.0 / (1.0 + THREE), 0.1 + THREE),
    "laplace": (1.5,),
    "truncated_laplace": (1.5, 3.0),
    "tulap": (1.0, 1.0, 3.7),
    "staircase": (1.0, 2.0, 0.3),
}
EVERY_LAW = pytest.mark.parametrize(("law", "parameters"), LAWS.items(), ids=LAWS)


@EVERY_LAW
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_do_not_depend_on_threads_length_or_place(law, parameters, dtype) -> None:
    key = key_of(law)

    def sample(theta, **given):
        return draw(law, theta, *parameters, dtype=dtype, key=key, **given)

    theta = np.linspace(-4, 4, 200_003).astype(dtype)
    assert_bits_are_the_keys(sample, theta)
    assert (sample(theta) != sample(theta, number=1)).any()


@EVERY_MECHANISM
@pytest.mark.parametrize("dtype", DTYPES)
def test_per_coordinate_parameters(mechanism, dtype) -> None:
    """Every element obeys its own parameters: huge thetas and tiny sigmas give them back."""
    n = 1000
    theta = np.linspace(-2, 2, n).astype(dtype)
    sigma = np.full(n, 1e-30)
    lower, upper = np.linspace(-1, 0, n), np.linspace(0.5, 3, n)
    parameters = {
        "gaussian": (sigma,),
        "rectified_gaussian": (sigma, lower, upper),
        "truncated_gaussian": (sigma, lower, upper),
        "quantized_gaussian": (sigma, lower, upper, 2**30 + 1),
        "stochastic_sign": (sigma,),
        "bounded_laplace": (sigma, lower, upper),
    }[mechanism]
    x = draw(mechanism, theta, *parameters, dtype=dtype, key=bytes(32))
    expected = {
        "gaussian": theta,
        "stochastic_sign": np.where(theta >= 0, 1, -1),
    }.get(mechanism, np.clip(theta, lower, upper))
    np.testing.assert_allclose(x, expected, rtol=1e-6, atol=4e-9)


def test_float32_noise_is_never_less_than_asked_for() -> None:
    """Sigma is rounded up to float32: half the spacing below would be accounted as more noise."""
    for sigma in (0.1, 1 + 2**-30, 1e-50, 3.4e38):
        x = draw("gaussian", 0.0, sigma, n=4096, dtype=np.float32, key=bytes(32))
        z = draw("gaussian", 0.0, 1.0, n=4096, dtype=np.float32, key=bytes(32))
        used = np.float32(sigma)
        used = used if float(used) >= sigma else np.nextafter(used, np.float32(np.inf))
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(x, used * z)


@EVERY_LAW
def test_out_must_not_overlap_another_place(law, parameters) -> None:
    assert_bad_out_is_refused(law, parameters)
