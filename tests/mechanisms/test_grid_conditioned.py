"""Noise conditioned on bounds, on a grid: the core's samplers against 60-digit references.

That the ideal samples follow the law is seen in grid/test_laws.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from noise_laws import REFINEMENT, block, draw_points, keystream, refined
from reference.grid import share_of

NAMES = ["truncated_gaussian", "bounded_laplace"]
DTYPES = [np.float64, np.float32]
EVERY_LAW = pytest.mark.parametrize("name", NAMES)
EVERY_DTYPE = pytest.mark.parametrize("dtype", DTYPES)
KEY = bytes(range(32))
# scale, lower, upper: wide, narrow, bounds off the grid, one of them on the end of a cell.
CASES = [
    (1.0, -1.0, 1.0),
    (0.3, 0.1, 1.3),
    (9.0, 0.0, 1.0),
    (1e5, -0.3, 0.7),
    (0.01, -3.0, 5.0),
    (1.0, 0.0078125, 1.0078125),
]
# In units of the scale beyond a bound, but for the last.
OUTSIDE = [0.0, 1e-9, 0.1, 1.0, 3.0, 50.0, 1e4, 1e9, 1e30]


def step_of(scale, lower, upper):
    return 2.0 ** (np.floor(np.log2(min(scale, upper - lower))) - 6)


def thetas(scale, lower, upper, n, dtype):
    """Return values inside, at the bounds and beyond them."""
    inside = np.random.default_rng(3).uniform(lower, upper, n)
    odd = [-0.0, 5e-324, 1e-310, lower, upper]
    outside = [lower - t * scale for t in OUTSIDE] + [upper + t * scale for t in OUTSIDE]
    return np.concatenate([odd, outside, inside]).astype(dtype)


def sample(name, theta, *parameters, refine=False, **given):
    *parameters, step = parameters
    with refined(refine):
        return draw_points(name, parameters, theta, step, theta.dtype, key=KEY, **given)


def shares_above(name, dtype, n):
    """Return the ideal shares of the mass above n samples."""
    words = keystream(KEY, name, 0, n // 128 + 1).ravel()
    if dtype is np.float64:
        words = words.view(np.uint64)
    shares = []
    for j, word in enumerate(words[:n].tolist()):
        more = block(KEY, name, REFINEMENT, j)
        shares.append(share_of(word << 32 | more[0] if dtype is np.float32 else word, more))
    return shares


def mass_beyond(name, t, reference):
    """Return the mass of the law beyond t >= reference, relative to the density there."""
    if name == "bounded_laplace":
        if reference > 0:
            return mp.exp(reference - t)
        return mp.exp(-t) if t > 0 else 2 - mp.exp(t)
    if reference < 0:
        return mp.ncdf(-t)
    if t < 100:
        ratio = mp.sqrt(mp.pi / 2) * mp.exp(t * t / 2) * mp.erfc(t / mp.sqrt(2))
    else:
        ratio = mp.nsum(lambda k: (-1) ** k * mp.fac2(2 * k - 1) / t ** (2 * k + 1), [0, 20])
    return mp.exp((reference - t) * (reference + t) / 2) * ratio


def is_below(name, theta, scale, lower, upper, share, end):
    """Whether the sample that has this share of the mass above it lies below `end`."""
    flip = theta > upper or (theta > lower and upper - theta < theta - lower)
    if flip:
        theta, lower, upper, end, share = -theta, -upper, -lower, -end, 1 - share
    if not lower < end < upper:
        below = end >= upper
        return below != flip
    edge = (lower - theta) / scale
    beyond = [mass_beyond(name, edge + (x - lower) / scale, edge) for x in (lower, end, upper)]
    below = share > (beyond[1] - beyond[2]) / (beyond[0] - beyond[2])
    return below != flip


def assert_nearest(name, theta, low, parameters, step, y, dtype):
    """Every output is the letter of the cell that the ideal sample lies in."""
    scale, lower, upper, step = (mp.mpf(float(v)) for v in (*parameters, step))
    least, most = (int(mp.floor(bound / step + 0.5)) for bound in (lower, upper))
    letters = {}
    for bound, k, inwards in ((lower, least, np.inf), (upper, most, -np.inf)):
        letter = dtype(float(bound))
        if (mp.mpf(float(letter)) - bound) * inwards < 0:
            letter = np.nextafter(letter, dtype(inwards))
        letters[letter] = k
    for j, share in enumerate(shares_above(name, dtype, theta.size)):
        k = letters.get(y[j])
        if k is None:
            assert float(y[j]) / float(step) == int(float(y[j]) / float(step))
            k = int(float(y[j]) / float(step))
        of = (name, mp.mpf(float(theta[j])) + mp.mpf(float(low[j])), scale, lower, upper, share)
        assert k == least or not is_below(*of, (k - mp.mpf(0.5)) * step), (j, theta[j])
        assert k == most or is_below(*of, (k + mp.mpf(0.5)) * step), (j, theta[j])


@EVERY_DTYPE
@EVERY_LAW
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_sample_is_the_nearest_point_to_the_ideal_one(name, dtype, case) -> None:
    theta = thetas(*case, 20, dtype)
    with mp.workdps(100):
        y = sample(name, theta, *case, step_of(*case))
        assert_nearest(name, theta, np.zeros(theta.size), case, step_of(*case), y, dtype)
    assert not (np.signbit(y) & (y == 0)).any()


@EVERY_LAW
@pytest.mark.parametrize("scale", [300.0, 1e60, 1e97, 1e300])
def test_bounds_much_closer_than_the_scale(name, scale) -> None:
    """The law is all but uniform: at 1e97, what lies beyond each bound agrees in 320 bits."""
    case = (scale, -0.3, 0.7)
    theta = np.concatenate([np.linspace(-1.0, 1.0, 9), [-0.3, 0.7, -scale, -3 * scale, 2 * scale]])
    with mp.workdps(720):
        y = sample(name, theta, *case, step_of(*case), refine=True)
        assert_nearest(name, theta, np.zeros(theta.size), case, step_of(*case), y, np.float64)
    np.testing.assert_array_equal(sample(name, theta, *case, step_of(*case)), y)


@EVERY_LAW
def test_what_theta_has_below_its_last_place_counts(name) -> None:
    case = (2.0, 2.0**53 - 64, 2.0**53 + 64)
    theta = 2.0**53 + np.arange(-96.0, 96.0, 4)
    low = np.tile([-1.0, 0.5, 1.0, 0.0], 12)
    with mp.workdps(100):
        y = sample(name, theta, *case, 1 / 32, low=low)
        # Points so far out are not doubles: the cells of their neighbours decide.
        exact = sample(name, theta - 2.0**53, 2.0, -64.0, 64.0, 1 / 32, low=low)
    np.testing.assert_array_equal(y, 2.0**53 + exact)


@EVERY_DTYPE
@EVERY_LAW
@pytest.mark.parametrize("case", CASES, ids=str)
def test_refined_everywhere_is_refined_on_demand(name, dtype, case) -> None:
    theta = thetas(*case, 60, dtype)
    on_demand = sample(name, theta, *case, step_of(*case))
    everywhere = sample(name, theta, *case, step_of(*case), refine=True)
    np.testing.assert_array_equal(on_demand, everywhere)


@EVERY_DTYPE
@pytest.mark.parametrize("case", CASES[:2], ids=str)
@pytest.mark.parametrize("finer", [1, 16])
@pytest.mark.parametrize("outside", [0.0, 4.0, 40.0])
def test_single_precision_decides_what_double_precision_does(dtype, case, finer, outside) -> None:
    # Whether a batch is drawn in float32 first depends on its least width: one narrow element in
    # each makes all of it float64.
    n = 1 << 16
    scale, lower, upper = case
    span = outside * scale
    theta = np.random.default_rng(5).uniform(lower - span, upper + span, n).astype(dtype)
    step = step_of(*case) / finer
    rough = sample("truncated_gaussian", theta, *case, step)
    uppers = np.full(n, upper)
    uppers[::128] = lower + scale / 4
    full = sample("truncated_gaussian", theta, scale, lower, uppers, step)
    same = np.arange(n) % 128 != 0
    np.testing.assert_array_equal(rough[same], full[same])


@pytest.mark.parametrize("far", [1.0, 2.0**14, 2.0**20, 2.0**60])
def test_float32_of_float64_theta_and_of_bounds_far_from_zero(far) -> None:
    """What leaves float32 no room is drawn in float64: the integers are the same."""
    scale, lower, upper, step = far, -3 * far, 5 * far, far / 64
    theta = far * np.linspace(-4.0, 6.0, 5000).astype(np.float32)
    y = sample("truncated_gaussian", theta, scale, lower, upper, step)
    wide = np.empty_like(theta)
    sample("truncated_gaussian", theta.astype(float), scale, lower, upper, step, out=wide)
    np.testing.assert_array_equal(y, wide)
    np.testing.assert_array_equal(
        y, far * sample("truncated_gaussian", theta / np.float32(far), 1.0, -3.0, 5.0, 1 / 64)
    )
    # Bounds that are 2^21 cells from 0.
    theta = np.arange(-2048, 2048, dtype=np.float32) / 256
    here = sample("truncated_gaussian", theta, 1.0, -3.0, 5.0, 1 / 64)
    away = sample("truncated_gaussian", theta + 2**15, 1.0, 2**15 - 3.0, 2**15 + 5.0, 1 / 64)
    np.testing.assert_array_equal(away - 2**15, here)


@EVERY_DTYPE
@EVERY_LAW
def test_parameters_for_each_element(name, dtype) -> None:
    step = step_of(*CASES[1])
    theta = thetas(*CASES[1], 1000, dtype)
    arrays = [np.full(theta.size, v) for v in (*CASES[1], step)]
    whole = sample(name, theta, *CASES[1], step)
    np.testing.assert_array_equal(sample(name, theta, *arrays), whole)


@EVERY_LAW
def test_theta_far_outside_gives_the_bound(name) -> None:
    for bound, sign in ((-1.0, -1), (1.0, 1)):
        for size in (1e30, 1e200, 1.7e308):
            y = sample(name, np.full(300, sign * size), 1.0, -1.0, 1.0, 1 / 64)
            if name == "truncated_gaussian":
                assert (y == bound).all()
            assert (np.abs(y) <= 1).all()


def test_integers_are_refused() -> None:
    with pytest.raises(TypeError, match="floats"):
        sample("bounded_laplace", np.zeros(3), 1.0, -1.0, 1.0, 1 / 64, out=np.zeros(3, np.int64))
