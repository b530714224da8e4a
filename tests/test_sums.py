"""Exact sums: the theorem in Python's integers, and what sums of floats do instead."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from simd_levels import digests_at_levels
from thread_counts import with_threads

import tightnoise as tn

NORMS = [1, 2, math.inf]


def norm_of_integers(row: np.ndarray, norm: float) -> Fraction:
    """Return the norm of a row of integers, squared for norm=2, exactly."""
    sizes = [abs(int(value)) for value in row.ravel()]
    if norm == math.inf:
        return Fraction(max(sizes))
    return Fraction(sum(size**norm for size in sizes))


def assert_within_bound(total: tn.ExactSum, norm: float) -> None:
    """The integers, of one row, obey the bound exactly."""
    limit = Fraction(total.bound) / Fraction(total.unit)
    assert norm_of_integers(total.integers, norm) <= limit ** (2 if norm == 2 else 1)


def random_row(rng: np.random.Generator, kind: int, least: float, greatest: float) -> np.ndarray:
    """Return a row of one size, of many sizes, of equal numbers, or of one that dwarfs the rest."""
    width = int(10.0 ** rng.uniform(0.0, 3.2))
    size = 10.0 ** rng.uniform(least, greatest)
    row = rng.standard_normal(width) * size
    if kind == 1:
        row = 10.0 ** rng.uniform(least, greatest, width) * rng.choice([-1.0, 1.0], width)
    elif kind == 2:
        row = np.full(width, size)
    elif kind == 3:
        row[width // 2] = 10.0**greatest
    return row


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    ("dtype", "least", "greatest"), [(np.float32, -30, 30), (np.float64, -165, 300)]
)
def test_no_row_counts_for_more_than_the_bound(rng, norm, dtype, least, greatest):
    for kind in range(300):
        row = random_row(rng, kind % 4, least, greatest).astype(dtype)
        bound = float(np.abs(row).max()) * 10.0 ** rng.uniform(-8, 8)
        if kind % 3 == 0:  # just about the bound
            scaled = row.astype(float) / np.abs(row).max()
            bound = float(np.abs(row).max()) * np.linalg.norm(scaled, norm)
            bound *= 1 + rng.normal() * 1e-6
        if not 1e-200 < bound < 1e250:
            bound = 1.0
        capacity = 2 ** int(rng.integers(0, 41))
        total = tn.exact_sum(row[None], bound=bound, norm=norm, capacity=capacity)
        assert_within_bound(total, norm)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    ("number", "bound"), [(1e-165, 1e-170), (1e-163, 1e-165), (1e-250, 1e-255), (3e-310, 1e-270)]
)
def test_squares_that_underflow_do_not_lengthen_a_row(norm, number, bound):
    total = tn.exact_sum(np.full((1, 1000), number), bound=bound, norm=norm)
    assert_within_bound(total, norm)
    within = np.linalg.norm(np.full(1000, number / bound), norm) < 1
    assert within or norm_of_integers(total.integers, norm) > 2**38


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("norm", NORMS)
def test_rows_within_the_bound_are_truncated_others_scaled(rng, norm, dtype):
    rows = (rng.standard_normal((40, 37)) * np.geomspace(1e-9, 1e3, 40)[:, None]).astype(dtype)
    for row in rows:
        total = tn.exact_sum(row[None], bound=3.0, norm=norm)
        unit = Fraction(total.unit)
        length = float(np.linalg.norm(row.astype(float), norm))
        if length < 3.0 * (1 - 2e-6):
            wanted = [int(Fraction(float(x)) / unit) for x in row]
            assert total.integers.tolist() == wanted
        elif norm == math.inf:
            wanted = [int(Fraction(float(np.clip(x, -3.0, 3.0))) / unit) for x in row]
            assert total.integers.tolist() == wanted
        else:
            clipped = row.astype(float) * (3.0 / length)
            np.testing.assert_allclose(
                total.integers * total.unit, clipped, rtol=1.1e-6, atol=1e-11
            )


@pytest.mark.parametrize("norm", NORMS)
def test_sums_are_equal_in_any_order_and_partition(rng, norm):
    rows = rng.standard_normal((700, 3, 431)).astype(np.float32)
    rows *= 10.0 ** rng.uniform(-6, 6, (700, 1, 1)).astype(np.float32)

    def total(part):
        return tn.exact_sum(part, bound=2.5, norm=norm)

    def same(other):
        assert np.array_equal(other.integers, whole.integers)

    whole = total(rows)
    assert whole.integers.shape == (3, 431)
    same(total(rows[rng.permutation(700)]))
    same(total(rows.astype(np.float64)))
    same(total(np.asfortranarray(rows)))
    same(sum(total(rows[i : i + 64]) for i in range(0, 700, 64)))
    same(total(rows[:1]) + (total(rows[1:300]) + total(rows[300:])))
    same(whole + total(rows[:0]))
    each = [tn.exact_sum(row[None], bound=2.5, norm=norm).integers for row in rows]
    assert np.array_equal(np.sum(each, axis=0), whole.integers)
    with_threads(lambda: same(total(rows)), 1, 2, 3)


LEVELS = """
import hashlib, numpy as np, tightnoise as tn
rng, digest = np.random.default_rng(3), hashlib.sha256()
for width in [*range(1, 71), 3001]:
    rows = rng.standard_normal((33, width)) * 10.0 ** rng.uniform(-12, 12, (33, width))
    rows[::7, -1] = rng.choice([np.nan, np.inf, 1e200, 5e-324], 5)
    for dtype in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            cast = rows.astype(dtype)
        for norm in (1, 2, np.inf):
            digest.update(tn.exact_sum(cast, bound=0.7, norm=norm).integers.tobytes())
print(tn._core.simd_level(), digest.hexdigest())
"""


def test_sums_are_equal_at_every_level():
    assert len(digests_at_levels(LEVELS)) == 1


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_count_as_zeros(rng, norm, dtype, bad):
    rows = rng.standard_normal((9, 50)).astype(dtype)
    spoiled = rows.copy()
    spoiled[[0, 4, 5], [49, 0, 17]] = bad
    total = tn.exact_sum(spoiled, bound=1.0, norm=norm)
    wanted = tn.exact_sum(np.delete(rows, [0, 4, 5], axis=0), bound=1.0, norm=norm)
    assert np.array_equal(total.integers, wanted.integers)
    assert not tn.exact_sum(spoiled[[0, 4, 5]], bound=1.0, norm=norm).integers.any()


def test_rows_whose_norm_overflows_count_as_zeros():
    for norm, multiple in ((2, 1e155), (1, 1e308)):
        row = np.full((1, 100), multiple)
        assert not tn.exact_sum(row, bound=0.5, norm=norm).integers.any()
    for norm, multiple in ((2, 1e153), (1, 1e305), (math.inf, 1e308)):
        total = tn.exact_sum(np.full((1, 100), multiple), bound=0.5, norm=norm)
        assert_within_bound(total, norm)
        share = {1: 0.005, 2: 0.05, math.inf: 0.5}[norm]
        np.testing.assert_allclose(total.integers * total.unit, share, rtol=1.1e-6)


def test_numbers_are_rows_of_one_number():
    total = tn.exact_sum(np.array([0.5, 3.0, -0.25, np.nan]), bound=1.0)
    assert total.integers.shape == ()
    assert float(total.integers) * total.unit == pytest.approx(1.25, abs=1.1e-6)
    assert (total + total).integers.shape == ()


@pytest.mark.parametrize("capacity", [1, 2, 3, 2**22, 2**22 + 1, 2**40])
@pytest.mark.parametrize("bound", [2.0**-900, 0.7, 1.0, np.nextafter(2.0, 0.0), 2.0**900])
def test_unit_follows_the_capacity_and_sums_have_room(bound, capacity):
    total = tn.exact_sum(np.zeros(0), bound=bound, norm=math.inf, capacity=capacity)
    assert math.frexp(total.unit)[0] == 0.5
    most = Fraction(bound) / Fraction(total.unit)
    assert capacity * most < 2**62
    assert most >= 2**39 if capacity <= 2**22 else capacity * most > 2**60
    largest = tn.exact_sum(np.full(1, bound), bound=bound, norm=math.inf, capacity=capacity)
    assert int(largest.integers) == int(most)


def test_more_rows_than_the_capacity_are_refused():
    full = tn.exact_sum(np.ones((3, 2)), bound=1.0, capacity=3)
    one = tn.exact_sum(np.ones((1, 2)), bound=1.0, capacity=3)
    for refused in (
        lambda: tn.exact_sum(np.ones((5, 2)), bound=1.0, capacity=3),
        lambda: full + one,
    ):
        with pytest.raises(
            ValueError, match=r"rows must be at most capacity = 3 in all; got more$"
        ):
            refused()
    assert (one + one + one).integers.tolist() == full.integers.tolist()


@pytest.mark.parametrize(
    "other",
    [{"bound": 2.0}, {"norm": 1}, {"capacity": 2**21}, {"adjacency": "replace-one"}],
    ids=str,
)
def test_only_sums_of_one_kind_add_up(other):
    mine = tn.exact_sum(np.ones((2, 3)), bound=1.0)
    with pytest.raises(ValueError, match="add up only"):
        mine + tn.exact_sum(np.ones((2, 3)), **{"bound": 1.0, **other})
    with pytest.raises(ValueError, match="add up only"):
        mine + tn.exact_sum(np.ones((2, 4)), bound=1.0)
    for stranger in (1, np.ones(3), None):
        with pytest.raises(TypeError):
            mine + stranger
        with pytest.raises(TypeError):
            stranger + mine


def test_sensitivity_is_that_of_the_norm_and_the_neighbours():
    def total(norm, adjacency="add-remove", width=7):
        return tn.exact_sum(np.ones((2, width)), bound=0.3, norm=norm, adjacency=adjacency)

    for norm in (1, 2):
        assert total(norm).sensitivity == total(norm).coordinate_sensitivity == 0.3
        assert total(norm, "replace-one").sensitivity == 0.6
    for width in (1, 2, 3, 7, 16, 1000):
        vector = total(math.inf, width=width)
        assert vector.coordinate_sensitivity == 0.3
        assert Fraction(vector.sensitivity) ** 2 >= width * Fraction(0.3) ** 2
        assert vector.sensitivity <= 0.3 * math.sqrt(width) * (1 + 2**-51)
    assert total(math.inf, width=1).sensitivity == 0.3
    assert total(math.inf, "replace-one").coordinate_sensitivity == 0.6
    assert total(math.inf, "replace-one", 16).sensitivity == 2.4


def test_a_sum_is_frozen_and_shows_no_data():
    rows = np.random.default_rng(5).standard_normal((41, 3))
    total = tn.exact_sum(rows, bound=1.0)
    assert repr(total) == "ExactSum(bound=1.0, norm=2, capacity=4194304, adjacency='add-remove')"
    for again in (pickle.loads(pickle.dumps(total)), copy.deepcopy(total)):
        assert np.array_equal(again.integers, total.integers)
        assert (repr(again), again.unit) == (repr(total), total.unit)
        assert (again + total)._count == 82
        with pytest.raises(ValueError, match="read-only"):
            again.integers[0] = 1
    with pytest.raises(AttributeError):
        total.bound = 2.0


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"bound": 0.0}, ValueError, "bound must be greater than 0"),
        ({"bound": 1e300}, ValueError, "bound must be from 2"),
        ({"bound": "1"}, TypeError, "bound must be a real number"),
        ({"norm": 3}, ValueError, "norm must be 1, 2 or inf; got 3"),
        ({"norm": "2"}, ValueError, "norm must be 1, 2 or inf"),
        ({"capacity": 0}, ValueError, "capacity must be between 1 and"),
        ({"capacity": 2**41}, ValueError, "capacity must be between 1 and"),
        ({"capacity": 2.5}, TypeError, "capacity must be an integer"),
        ({"adjacency": None}, ValueError, "adjacency must be 'add-remove' or 'replace-one'"),
        ({"rows": 1.0}, ValueError, "rows must be an array of rows; got 1.0"),
        ({"rows": np.ones((2, 2), complex)}, TypeError, "rows must hold float32, float64"),
        ({"rows": np.ma.masked_array([1.0, 2.0])}, TypeError, "rows must not be a masked array"),
        ({"rows": np.ones((0, 2**28 + 1))}, ValueError, "rows must be of at most 2"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_input_is_refused(wrong, error, message):
    arguments = {"rows": np.ones((2, 2)), "bound": 1.0, **wrong}
    with pytest.raises(error, match=message):
        tn.exact_sum(arguments.pop("rows"), **arguments)


def rising(dtype, most: int) -> np.ndarray:
    """Return numbers in (0, 1] each of which a running sum of all, and the 1 before, rounds up."""
    unit = float(np.finfo(dtype).eps) / 2
    numbers, total = [], 1.0
    while len(numbers) < most:
        number = unit * 2.0 ** math.floor(math.log2(total)) * (1 + 2**-12)
        for _ in range(min(most - len(numbers), 2000)):
            numbers.append(number)
            total = float(dtype(total) + dtype(number))
    return np.array(numbers, dtype)


def sequential(values: np.ndarray) -> float:
    """Return the sum of a column, added up one by one: NumPy's, along the first axis."""
    return float(np.stack([values, values], axis=1).sum(axis=0)[0])


def test_one_person_of_value_1_moves_a_float32_sum_by_32():
    parts, gap = [np.ones(2**16 - 1)], 1.0
    for exponent in range(16, 21):  # half a unit in the last place, and a little more
        few = int(gap * 2.0 ** (24 - exponent))
        parts.append(np.full(few, 2.0 ** (exponent - 24) * (1 + 2**-12)))
        gap *= 2
        if exponent < 20:
            parts.append(np.ones(2**exponent - int(few * 2.0 ** (exponent - 23))))
    without = np.concatenate(parts).astype(np.float32)
    everyone = np.concatenate([np.ones(1, np.float32), without])
    assert everyone.size == 1_049_826
    assert 0 <= everyone.min() <= everyone.max() == 1.0
    moved = sequential(everyone) - sequential(without)
    assert moved == 32.0
    assert moved <= tn.float_sum_sensitivity(everyone.size, 1.0, np.float32, adjacency="add-remove")
    sums = [tn.exact_sum(values, bound=1.0, norm=math.inf) for values in (everyone, without)]
    assert (sums[0].integers - sums[1].integers) * sums[0].unit == 1.0 == sums[0].sensitivity


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [2, 3, 100, 10_000, 100_000])
def test_directed_roundings_stay_within_the_sensitivity_of_float_sums(dtype, n):
    without = rising(dtype, n - 1)
    everyone = np.concatenate([np.ones(1, dtype), without])
    moved = sequential(everyone) - sequential(without)
    bound = tn.float_sum_sensitivity(n, 1.0, dtype, adjacency="add-remove")
    assert moved <= bound
    assert n < 100 or moved > 1.0 + 0.2 * n * np.finfo(dtype).eps / 2  # so 1 is no bound


def test_sensitivity_of_float_sums_is_rounded_up():
    for n in (1, 2, 1000, 2**24):
        for dtype, bits in ((np.float32, 24), (np.float64, 53), ("float64", 53)):
            for rows, adjacency in ((1, "add-remove"), (2, "replace-one")):
                u = Fraction(1, 2**bits)
                growth = (n - 1) * u / (1 - (n - 1) * u)
                wanted = Fraction(0.1) * (rows + 2 * n * growth)
                found = tn.float_sum_sensitivity(n, 0.1, dtype, adjacency=adjacency)
                assert wanted <= Fraction(found) <= wanted * (1 + Fraction(1, 2**51))
    assert tn.float_sum_sensitivity(1, 1.0, np.float32, adjacency="add-remove") == 1.0


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"n": 0}, ValueError, "n must be between 1 and 16777216"),
        ({"n": 2**24 + 1}, ValueError, "n must be between 1 and 16777216"),
        ({"bound": -1.0}, ValueError, "bound must be greater than 0"),
        ({"n": 1000, "bound": 1e38}, ValueError, "bound must be so small that no sum overflows"),
        ({"dtype": np.float16}, ValueError, "dtype must be float32 or float64"),
        ({"dtype": 1.5}, TypeError, "dtype must be float32 or float64; got 1.5"),
        ({"adjacency": "any"}, ValueError, "adjacency must be 'add-remove' or 'replace-one'"),
    ],
    ids=str,
)
def test_bad_input_for_float_sums_is_refused(wrong, error, message):
    arguments = {"n": 10, "bound": 1.0, "dtype": np.float32, "adjacency": "add-remove", **wrong}
    with pytest.raises(error, match=message):
        tn.float_sum_sensitivity(
            arguments.pop("n"), arguments.pop("bound"), arguments.pop("dtype"), **arguments
        )
