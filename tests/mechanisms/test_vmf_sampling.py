"""The von Mises-Fisher sampler of the core against the exact law; test_vmf_grid has each sample.

Fixed seeds. A comparison fails a correct sampler with probability 1e-9 under a random seed, and
there are fewer than 1000 of them: 1e-6 in all.
"""

from __future__ import annotations

from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night
from noise_laws import NoiseSource, assert_bits_are_the_keys, key_of, keystream, normals_of
from noise_laws import draw_rows as sample
from scipy import interpolate, special, stats

from tightnoise import _core

ALARM = 1e-9
SIX_SIGMA = 6.11  # a normal is beyond with probability 1e-9
DTYPES = [np.float64, np.float32]
BOTH = pytest.mark.parametrize("dtype", DTYPES, ids=["f8", "f4"])
FIRST_DRAWS = 1 << 58  # the keystream batch with the first acceptances


def a_direction(dim, dtype=np.float64, seed=1):
    return np.random.default_rng(seed).standard_normal(dim).astype(dtype)


def unit(x):
    x = np.asarray(x, np.longdouble)
    return x / np.sqrt((x * x).sum(axis=-1, keepdims=True))


def along_and_across(y, direction):
    """Return y . mu, the length of the rest, and the rest, of samples as rows."""
    mu = unit(direction).astype(float)
    y = y.astype(float, copy=False)
    along = y @ mu
    tangent = np.multiply.outer(-along, mu)
    tangent += y  # in place: memory for large arrays takes longer than the sum
    return along, np.sqrt(np.einsum("ij,ij->i", tangent, tangent)), tangent


class Angle:
    """The law of the angle t between y and mu: density e^(kappa cos t) sin^(dim - 2) t.

    Integrated by a cubic spline over the range where the density is above e^-60 of its greatest
    value, which is at cos t = c with kappa (1 - c^2) = (dim - 2) c. In logarithms and differences:
    cos t - cos u = -2 sin((t - u)/2) sin((t + u)/2).
    """

    def __init__(self, dim: int, kappa: float, points: int = 20_001) -> None:
        m = dim - 2.0
        if dim == 2:
            mode = 0.0 if kappa > 0 else np.pi / 2
        else:
            c = 2 * kappa / (m + np.hypot(m, 2 * kappa))
            mode = np.arctan2(np.sqrt(m * c / kappa), c) if kappa > 0 else np.pi / 2

        def log_density(t):
            with np.errstate(divide="ignore"):
                power = m * np.log(np.sin(t) / np.sin(mode)) if m else 0.0
            return -2 * kappa * np.sin((t - mode) / 2) * np.sin((t + mode) / 2) + power

        def edge(outer):
            if log_density(outer) > -60:
                return outer
            inner = mode
            for _ in range(60):
                middle = (inner + outer) / 2
                inner, outer = (inner, middle) if log_density(middle) < -60 else (middle, outer)
            return outer

        self.t = np.linspace(edge(0.0), edge(np.pi), points)
        density = np.exp(log_density(self.t))
        integral = interpolate.CubicSpline(self.t, density).antiderivative()
        self.mass = integral(self.t[-1])
        self._integral = integral
        self.density = density

    def cdf(self, t):
        return self._integral(np.clip(t, self.t[0], self.t[-1])) / self.mass

    def expectation(self, function) -> float:
        spline = interpolate.CubicSpline(self.t, function(self.t) * self.density)
        return float(spline.integrate(self.t[0], self.t[-1]) / self.mass)


@pytest.mark.parametrize(("dim", "kappa"), [(2, 3.0), (3, 0.2), (5, 40.0), (50, 1e4), (1000, 900)])
def test_the_law_of_the_angle_itself(dim, kappa, check_error) -> None:
    law = Angle(dim, kappa)
    worst = 0.0
    with mp.workdps(30):
        cuts = [*map(float, np.interp(np.linspace(0, 1, 9), law.cdf(law.t), law.t))]

        def density(t):  # about 1 in the middle: mpmath's quadrature ends at an absolute error
            power = (mp.sin(t) / mp.sin(cuts[4])) ** (dim - 2)
            return mp.exp(kappa * (mp.cos(t) - mp.cos(cuts[4]))) * power

        parts = [mp.quad(density, [a, b]) for a, b in pairwise(cuts)]
        for i in range(1, 8):
            worst = max(worst, abs(float(sum(parts[:i]) / sum(parts)) - law.cdf(cuts[i])))
        if dim == 3:
            closed = mp.coth(kappa) - 1 / mp.mpf(kappa)
            worst = max(worst, abs(float(closed) - law.expectation(np.cos)))
    check_error("law of the angle, absolute (the test's own)", worst, 1e-9)


def draw(dim, kappa, dtype, rows, direction, key):
    """Yield blocks of samples that together make `rows`."""
    block = max(1, min(rows, 2_000_000 // dim))
    for stream in range(-(-rows // block)):
        yield sample(direction, kappa, block, key=key, number=stream)


ROWS = {2: 40_000, 3: 40_000, 10: 40_000, 50: 20_000, 1000: 2000, 13_700: 200, 100_000: 50}
RATIOS = [1e-9, *by_night(1e-3), 0.1, 1.0, *by_night(10.0), 1e3, 1e9]


@BOTH
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("dim", ROWS)
def test_angle_and_tangent_follow_their_laws(dim, ratio, dtype) -> None:
    kappa = ratio * dim
    key = key_of(dim, ratio)
    # Rounding to float32 would show in an angle of 1e-5, save where the direction is an axis.
    axis = dtype == np.float32 and ratio > 1e6
    direction = np.eye(1, dim, dtype=dtype)[0] if axis else a_direction(dim, dtype)
    other = np.random.default_rng(2).standard_normal(dim)
    mu = unit(direction).astype(float)
    other -= (other @ mu) * mu
    other -= (other @ mu) * mu
    other /= np.linalg.norm(other)
    angles, projections = [], []
    for y in draw(dim, kappa, dtype, ROWS[dim], direction, key):
        along, across, tangent = along_and_across(y, direction)
        angles.append(np.arctan2(across, along))
        projections.append(tangent @ other / across)
    angle, projection = np.concatenate(angles), np.concatenate(projections)
    n = len(angle)
    law = Angle(dim, kappa)
    assert stats.kstest(angle, law.cdf).pvalue > ALARM
    # mean resultant length, by the versine: 1 - w keeps its digits
    versine = 2 * np.sin(angle / 2) ** 2
    expected = law.expectation(lambda t: 2 * np.sin(t / 2) ** 2)
    assert abs(versine.mean() - expected) < SIX_SIGMA * versine.std() / np.sqrt(n)
    # The tangent is uniform on the sphere of dim - 1 dimensions about mu, whatever w is.
    if dim == 2:
        positive = int((projection > 0).sum())
        np.testing.assert_allclose(np.abs(projection), 1, atol=1e-6)
        assert stats.binomtest(positive, n, 0.5).pvalue > ALARM
    else:
        half = (dim - 2) / 2
        cdf = lambda t: special.betainc(half, half, (1 + t) / 2)  # noqa: E731
        assert stats.kstest(projection.clip(-1, 1), cdf).pvalue > ALARM
    rank = stats.rankdata(angle) / n - 0.5
    for of_tangent in (projection, projection**2 - (projection**2).mean()):
        scale = rank.std() * of_tangent.std() * np.sqrt(n)
        assert abs((rank * of_tangent).sum()) <= SIX_SIGMA * scale + 1e-9


def normals_of_rows(dim, rows, key):
    """Return the normals that the rows are made of."""
    padded = -(-dim // 128) * 128 if dim > 128 else dim
    octets = -(-rows // 8)
    flat = normals_of(key, "von_mises_fisher", octets * 8 * padded)
    if dim > 128:
        return flat.reshape(-1, padded)[:rows, :dim]
    return flat.reshape(octets, dim, 8).transpose(0, 2, 1).reshape(-1, dim)[:rows]


def first_words(rows, key):
    words = keystream(key, "von_mises_fisher", FIRST_DRAWS, -(-rows // 128))
    return np.ascontiguousarray(words).view(np.uint64).ravel()[:rows]


def cosine_on_sphere(kappa, word):
    """Return w for dim = 3 by inversion, and sqrt(1 - w^2)."""
    near = (mp.mpf(int(word) & (2**63 - 1)) + 0.5) / mp.mpf(2) ** 64
    u = 1 - near if int(word) >> 63 else near
    from_1 = -mp.log1p((1 - u) * mp.expm1(-2 * mp.mpf(kappa))) / kappa
    return 1 - from_1, mp.sqrt(from_1 * (2 - from_1))


KAPPAS_ON_SPHERE = [1e-100, 1e-18, 1e-9, 0.03, 0.7, 5, 17, 25, 45, 60, 1e3, 1e9, 1e100]


def test_inversion_on_the_ordinary_sphere(check_error) -> None:
    """With 300 digits from the same word: the cosine and the sine."""
    worst_w = worst_s = 0.0
    axis = np.array([1.0, 0.0, 0.0])
    rows = 60
    for kappa in KAPPAS_ON_SPHERE:
        key = key_of("sphere", kappa)
        y = sample(axis, kappa, rows, key=key)
        with mp.workdps(300):
            for of, word in zip(y, first_words(rows, key), strict=True):
                w, s = cosine_on_sphere(kappa, word)
                across = mp.hypot(mp.mpf(of[1]), mp.mpf(of[2]))
                worst_w = max(worst_w, float(abs(of[0] - w)))
                worst_s = max(worst_s, float(abs(across / s - 1)))
    check_error("von Mises-Fisher cosine, dim 3, absolute", worst_w, 5e-16)
    check_error("von Mises-Fisher sine, dim 3, relative", worst_s, 2e-15)


@pytest.mark.parametrize("ratio", [0.0, 1e-9, 0.5, 50.0, 1e9])
@pytest.mark.parametrize("dim", [2, 3, 20, 128, 129, 1000, *by_night(127, 200, 100_001), 1_000_003])
def test_unit_norm(dim, ratio, check_error) -> None:
    rows = min(10_000, 1 + 1_000_000 // dim)
    rng = np.random.default_rng(3)
    directions = rng.standard_normal((rows, dim)) * 10.0 ** rng.uniform(-9, 9, (rows, 1))
    y = sample(directions, ratio * dim, key=key_of("norm", dim)).astype(np.longdouble)
    norm = np.sqrt((y * y).sum(axis=1))
    check_error("von Mises-Fisher sample: ||y| - 1|", float(np.abs(norm - 1).max()), 3e-16)
    y = sample(directions.astype(np.float32), ratio * dim, key=key_of("norm", dim))
    norm = np.linalg.norm(y.astype(float), axis=1)
    check_error("von Mises-Fisher float32 sample: ||y| - 1|", np.abs(norm - 1).max(), 6e-8)


@BOTH
@pytest.mark.parametrize("dim", [2, 3, 100, 128, 129, 5000, 120_000])
def test_uniform(dim, dtype) -> None:
    """Kappa = 0 and a direction of zeros give the same uniform sample: normals, divided."""
    zeros = np.zeros(dim, dtype)
    key = key_of("uniform", dim)
    rows = 2 if dim > 1000 else 20_000
    y = sample(zeros, 5.0 * dim, rows, key=key)
    np.testing.assert_array_equal(y, sample(a_direction(dim, dtype), 0.0, rows, key=key))
    np.testing.assert_array_equal(y, sample(zeros, 0.0, rows, key=key))
    if dim > 128:
        first = normals_of(key, "von_mises_fisher", dim, dtype)
    else:
        first = normals_of_rows(dim, 1, key)[0]
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(y[0], first / np.linalg.norm(first.astype(float)), rtol=5 * eps)
    half = (dim - 1) / 2
    t = y.ravel()[:: max(1, dim // 2 * 2 - 1)].astype(float).clip(-1, 1)
    if dim <= 1000:
        assert stats.kstest(t, lambda t: special.betainc(half, half, (1 + t) / 2)).pvalue > ALARM


def test_directions_of_any_size() -> None:
    """Only the direction of the direction counts: powers of two do not change a bit."""
    for dim in (2, 5, 128, 129, 1000, 150_000):
        small = np.random.default_rng(4).integers(-7, 8, dim).astype(float)
        small[0] = 7
        expected = sample(small, 3.0 * dim)
        for exponent in (-1074, -1060, -1022, -900, -520, -440, 100, 500, 515, 900, 1020):
            scaled = np.ldexp(small, exponent)
            np.testing.assert_array_equal(sample(scaled, 3.0 * dim), expected)
            np.testing.assert_array_equal(sample(scaled, 3.0 * dim, out=scaled), expected)
    # Coordinates of all sizes at once: the largest ones are the direction.
    for dim in (3, 1000):
        wild = np.full(dim, 1e-300)
        wild[1] = -1.7e308
        y = sample(wild, 1e9 * dim, 100, key=bytes(32))
        assert (y[:, 1] < -0.9999).all()
    for dim in (3, 1000):
        for value in (1e-45, 3e38):
            x = np.zeros(dim, np.float32)
            x[2] = value
            plain = np.eye(1, dim, 2, dtype=np.float32)
            np.testing.assert_allclose(sample(x[None], 9.0), sample(plain, 9.0), rtol=1e-6)


@pytest.mark.parametrize("dim", [2, 3, 128, 129, 5000])
def test_kappa_without_bound(dim) -> None:
    direction = a_direction(dim)
    mu = unit(direction).astype(float)
    for kappa in (1e150, 1e300, 1.7e308, np.inf):
        np.testing.assert_allclose(sample(direction, kappa, 50), [mu] * 50, rtol=0, atol=4e-16)
    for kappa in (5e-324, 1e-300) if dim != 3 else ():  # for dim = 3 w is not made of the normals
        y = sample(direction, kappa, 50)
        np.testing.assert_allclose(y, sample(direction, 0.0, 50), rtol=0, atol=1e-15)


@pytest.mark.parametrize("dim", [2, 3, 128, 129, 5000])
def test_what_is_no_number_ends(dim) -> None:
    direction = a_direction(dim)
    assert np.isnan(sample(direction, np.nan)).all()
    for bad in (np.nan, np.inf):
        direction[1] = bad
        assert np.isnan(sample(direction, 2.0)).any()


@pytest.mark.parametrize("dim", [2, 3, 64, 128])
def test_short_float32_is_float64_rounded(dim) -> None:
    direction = a_direction(dim, np.float32)
    wide = sample(direction.astype(float), 4.0 * dim, 1000, key=bytes(32))
    x = sample(direction, 4.0 * dim, 1000, key=bytes(32))
    np.testing.assert_array_equal(x, wide.astype(np.float32))


@BOTH
@pytest.mark.parametrize("dim", [2, 3, 127, 128, 129, 1000, 20_001, 99_999, 100_000, 300_007])
def test_bits_do_not_depend_on_threads_or_place(dim, dtype) -> None:
    rows = 2 + 300_000 // dim
    directions = np.random.default_rng(5).standard_normal((rows, dim)).astype(dtype)
    assert_bits_are_the_keys(lambda x, **given: sample(x, 2.0 * dim, number=7, **given), directions)
    # A batch begins with the rows of a smaller one, down to a single vector.
    whole = sample(directions, 2.0 * dim, number=7)
    np.testing.assert_array_equal(whole[0], sample(directions[0], 2.0 * dim, number=7))
    few = min(rows, 3)
    same = np.tile(directions[:1], (few, 1))
    expected = sample(same, 2.0 * dim, number=7)
    np.testing.assert_array_equal(expected, sample(directions[0], 2.0 * dim, few, number=7))
    assert (expected[0] != expected[1]).any()
    assert (whole != sample(directions, 2.0 * dim, number=8)).any()


def test_what_the_core_refuses() -> None:
    core = _core.random.sample_von_mises_fisher
    x, source = np.ones((4, 5)), NoiseSource(bytes(32))
    for direction, out in [
        (x, np.empty((3, 5))),
        (np.ones(4), np.empty((3, 5))),
        (np.ones(1), np.empty(1)),
        (np.ones(()), np.empty(())),
        (x, np.empty((2, 2, 5))),
        (x, np.empty((4, 5), np.float32)),
        (x.astype(int), np.empty((4, 5))),
        (np.asfortranarray(x), np.empty((4, 5))),
    ]:
        with pytest.raises(TypeError, match="core"):
            core(direction, 1.0, out, source)
    buffer = np.ones(11)
    with pytest.raises(ValueError, match="must not overlap"):
        core(buffer[:-1], 1.0, buffer[1:], source)
    with pytest.raises(ValueError, match="must not overlap"):
        core(x[0], 1.0, x, source)  # rows would be read after they were written
    core(np.empty((0, 5)), 1.0, np.empty((0, 5)), source)
