"""Von Mises-Fisher samples, on a grid and off it, against the ideal ones, from the same words.

Fixed seeds. A comparison fails a correct sampler with probability 1e-9 under a random seed.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from by_night import rows_by_night
from mechanisms.test_vmf_sampling import ALARM, FIRST_DRAWS, Angle, key_of
from noise_laws import (
    REFINEMENT,
    assert_bits_are_the_keys,
    block,
    draw_rows,
    keystream,
    pvalue_of_cells,
    refined,
)
from reference.grid import ideal_pair, share_of
from scipy import special, stats

LATER_DRAWS = 1 << 59
FLOATS = 0.0  # a step


def sample(direction, kappa, step, rows=None, *, refine_all=False, **given):
    with refined(refine_all):
        return draw_rows(direction, kappa, rows, step=step, **given)


def default_step(dim):
    return 2.0 ** (np.floor(np.log2(1 / np.sqrt(dim))) - 6)


# --- the ideal sample, in 60 digits ---------------------------------------------------------------


class Ideal:
    """What a row is made of: words, and the blocks of the refinement stream that continue them."""

    def __init__(self, key) -> None:
        self.key = key

    def word(self, batch: int, index: int) -> int:
        words = keystream(self.key, "von_mises_fisher", batch, 1).view(np.uint64)
        return int(words.ravel()[index])

    def block(self, number: int) -> list[int]:
        return block(self.key, "von_mises_fisher", REFINEMENT, number)

    def normal(self, dim: int, row: int, i: int) -> mp.mpf:
        number = row * -(-dim // 128) * 128 + i if dim > 128 else 8 * (row // 8 * dim + i) + row % 8
        batch, k = divmod(number, 128)
        pair = k % 64
        radius, angle = self.word(batch, pair), self.word(batch, 64 + pair)
        return ideal_pair(radius, angle, self.block(batch * 128 + pair))[k // 64]

    def proposals(self, row: int, m: int, g: mp.mpf, G: mp.mpf):
        """Yield g, G, the price before that of the cosine, and -2 log U, of each proposal."""
        word = self.word(FIRST_DRAWS + row // 128, row % 128)
        yield g, G, mp.mpf(0), -2 * mp.log(share_of(word, self.block((1 << 62) + row)))
        for proposal in range(1000):
            batch = LATER_DRAWS + (row // 128 << 20) + 3 * proposal
            number = (1 << 63) + (batch - LATER_DRAWS) * 128 + row % 128
            radius, angle, limit = (self.word(batch + k, row % 128) for k in range(3))
            g, x = ideal_pair(radius, angle, self.block(number))
            exponential = -2 * mp.log(share_of(limit, self.block(number + 256)))
            if m == 1:
                yield g, x * x, mp.mpf(0), exponential
                continue
            d = mp.mpf(m) / 2 - mp.mpf(1) / 3
            v = (1 + x / mp.sqrt(9 * d)) ** 3
            if v > 0:
                yield g, 2 * d * v, -(x * x) - 2 * d * (1 - v + mp.log(v)), exponential

    def sample(self, direction, kappa: float, row: int) -> list[mp.mpf]:
        dim, m, kappa = len(direction), len(direction) - 1, mp.mpf(kappa)
        x = [mp.mpf(value) for value in direction.tolist()]
        n = [self.normal(dim, row, i) for i in range(dim)]
        length = mp.sqrt(mp.fdot(n, n))
        norm = mp.sqrt(mp.fdot(x, x))
        if norm == 0:
            return [value / length for value in n]
        mu = [value / norm for value in x]
        a = mp.fdot(n, mu)
        tangent = [value - a * of for value, of in zip(n, mu, strict=True)]
        across = mp.sqrt(mp.fdot(tangent, tangent))
        x0 = 2 * kappa / (m + mp.sqrt(m**2 + 4 * kappa**2))
        for g, G, price, exponential in self.proposals(row, m, a, across**2):
            v = g / mp.sqrt(g * g + G)
            w = (x0 + v) / (1 + x0 * v)
            log_accept = kappa * (w - x0) + m * (mp.log(1 - x0 * w) - mp.log(1 - x0 * x0))
            if exponential > price - 2 * log_accept:
                break
        s = mp.sqrt((1 - w) * (1 + w)) / across
        return [w * of + s * value for of, value in zip(mu, tangent, strict=True)]


@pytest.mark.parametrize(
    ("dim", "kappa", "rows"),
    [
        (2, 0.0, 4),
        (2, 3.0, 30),
        (2, 1e9, 30),
        (3, 1.0, 25),
        (3, 1e6, 25),
        (5, 20.0, 20),
        (17, 1e-9, 2),
        (128, 400.0, 2),
        (129, 40.0, 1),
        (129, 3e3, 2),
        (1000, 300.0, 1),
    ],
)
def test_points_are_those_nearest_to_the_ideal_sample(dim, kappa, rows, check_error) -> None:
    """And floats are next to it, but in 3 dimensions, where they are made another way."""
    key = key_of("ideal", dim, kappa)
    direction = np.random.default_rng(dim).standard_normal(dim)
    direction[0] *= 1e-3
    ideal = Ideal(key)
    steps = (default_step(dim), 2.0**-32)
    found = {step: sample(direction, kappa, step, rows, key=key) for step in (*steps, FLOATS)}
    with mp.workdps(60):
        norm = mp.sqrt(mp.fdot(direction, direction))
        for row in range(rows):
            expected = ideal.sample(direction, kappa, row)
            if dim != 3:
                wrong = [a - b for a, b in zip(found[FLOATS][row].tolist(), expected, strict=True)]
                largest = float(max(map(abs, wrong)))
                along = float(abs(mp.fdot(wrong, direction)) / norm)
                check_error("von Mises-Fisher sample: coordinates, absolute", largest, 2e-15)
                check_error("von Mises-Fisher sample: |y . mu - w|", along, 1e-15)
            for step in steps:
                points = [float(mp.floor(y / step + 0.5)) * step for y in expected]
                np.testing.assert_array_equal(found[step][row], points)
        zeros = ideal.sample(np.zeros(dim), kappa, 0)
        points = [float(mp.floor(y * 2**20 + 0.5)) / 2**20 for y in zeros]
    np.testing.assert_array_equal(sample(np.zeros((1, dim)), kappa, 2.0**-20, key=key)[0], points)


# --- where doubles leave a point open -------------------------------------------------------------


@pytest.mark.parametrize("step", [None, 2.0**-32, 2.0**-46], ids=["default", "fine", "too fine"])
@pytest.mark.parametrize(
    ("dim", "rows"), [(2, 100), (3, 70), *rows_by_night((20, 20)), (128, 4), (129, 4)]
)
def test_refined_everywhere_is_refined_on_demand(dim, rows, step) -> None:
    """With all bits everywhere; doubles leave 2 % of rows open at "fine", and all at "too fine"."""
    x = np.random.default_rng(dim).standard_normal((rows, dim))
    x[0] = 0.0
    for ratio in (0.0, 0.7, 1e3):
        of = step or default_step(dim)
        points = sample(x, ratio * dim, of)
        np.testing.assert_array_equal(points, sample(x, ratio * dim, of, refine_all=True))


def test_a_direction_between_two_points() -> None:
    """A coordinate of the direction is half a step, and the noise decides: 1e-40 of it."""
    x = np.ones((100, 4))
    for kappa, tied in ((1e20, 100), (1e50, 100), (1e80, 100)):
        points = sample(x, kappa, 1.0, key=key_of("tie"))
        assert set(np.unique(points)) == {0.0, 1.0}
        ones = int(points.sum())
        assert stats.binomtest(ones, 4 * tied, 0.5).pvalue > ALARM
        # The tangent is orthogonal to the direction: some coordinates go up, some down.
        assert (points.sum(axis=1) > 0).all()
        assert (points.sum(axis=1) < 4).all()


# --- what points do not depend on -----------------------------------------------------------------


@pytest.mark.parametrize("dim", [2, 3, 127, 128, 129, 1000, 20_001, 100_000])
def test_points_do_not_depend_on_threads_place_or_type(dim) -> None:
    rows = 2 + 100_000 // dim
    x = np.random.default_rng(5).standard_normal((rows, dim)).astype(np.float32)
    x[-1] = 0.0
    step = default_step(dim)
    for dtype in (np.float32, np.float64):
        assert_bits_are_the_keys(
            lambda x, **given: sample(x, 2.0 * dim, step, **given), x.astype(dtype)
        )
    whole = sample(x, 2.0 * dim, step)
    np.testing.assert_array_equal(whole, sample(x.astype(float), 2.0 * dim, step))
    np.testing.assert_array_equal(whole[0], sample(x[0], 2.0 * dim, step))
    points = whole / step
    assert (points == np.rint(points)).all()
    assert not np.signbit(whole[whole == 0]).any()


@pytest.mark.parametrize("dim", [2, 5, 128, 129, 1000])
def test_only_the_direction_of_the_direction_counts(dim) -> None:
    small = np.random.default_rng(4).integers(-7, 8, dim).astype(float)
    small[0] = 7
    for step in (default_step(dim), 2.0**-32):
        expected = sample(small, 3.0 * dim, step)
        for exponent in (-1074, -1022, -520, 100, 515, 1020):
            np.testing.assert_array_equal(
                sample(np.ldexp(small, exponent), 3.0 * dim, step), expected
            )
    wild = np.full(dim, 1e-300)
    wild[1] = -1.7e308
    axis = np.zeros(dim)
    axis[1] = -3.0
    np.testing.assert_array_equal(sample(wild, 9.0, 2.0**-20), sample(axis, 9.0, 2.0**-20))


# --- the law --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "kappa"), [(2, 1.5), (3, 4.0), (10, 0.0), (50, 60.0), (300, 300)])
def test_points_follow_the_law(dim, kappa) -> None:
    """Chi-square of the coordinate along the direction, in cells, and of one across it."""
    rows = 20_000 if dim > 100 else 100_000
    step = 16 * default_step(dim)
    axis = np.zeros(dim)
    axis[0] = 2.5
    y = sample(axis, kappa, step, rows, key=key_of("law", dim, kappa))
    law = Angle(dim, kappa)
    half = (dim - 1) / 2

    def along(t):
        return 1 - law.cdf(np.arccos(np.clip(t, -1, 1)))

    def uniform(t):  # a coordinate of a uniform direction
        return special.betainc(half, half, (1 + np.clip(t, -1, 1)) / 2)

    each = [(y[:, 0], along)]
    if kappa == 0.0:
        each += [(y[:, 1], uniform), (y[:, -1], uniform)]
    for of, cdf in each:
        points = np.arange(-1 / step, 1 / step + 1)
        share = cdf((points + 0.5) * step) - cdf((points - 0.5) * step)
        seen = np.array([np.count_nonzero(of == point * step) for point in points])
        assert seen.sum() == rows
        assert pvalue_of_cells(seen, share) > ALARM
