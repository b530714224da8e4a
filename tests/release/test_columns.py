"""Columns of pandas, polars and Arrow, where they are installed, and what is no column."""

import contextlib
import datetime

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.release._columns import labels_in, numbers_in
from tightnoise.release._noise import Noise


def made(package, values, dtype=None):
    """Return a column of a package; a missing value is None."""
    module = pytest.importorskip(package)
    if package == "pandas":
        return module.Series(values, dtype=dtype, name="age")
    if package == "polars":
        return module.Series("age", values)
    return module.array(values)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_numbers_come_as_they_are(package):
    for values, kind in (([1, 2, 3], "i"), ([1.5, 2.0, 3.0], "f"), ([True, False, True], "b")):
        column = numbers_in(made(package, values), "refuse", "add-remove")
        assert column.values.dtype.kind == kind
        assert column.values.tolist() == values
        assert column.missing is None
        assert column.name == (None if package == "pyarrow" else "age")


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    ("values", "dtype", "kind"),
    [([1, None, 3], "Int64", "i"), ([1.5, None, 3.0], None, "f"), ([True, None], "boolean", "b")],
)
def test_nulls_are_missing_and_change_no_type(package, values, dtype, kind):
    column = made(package, values, dtype)
    with pytest.raises(ValueError, match="1 of them are, first that of row 1"):
        numbers_in(column, "refuse", "add-remove")
    found = numbers_in(column, "drop", "add-remove")
    assert found.values.dtype.kind == kind
    assert found.present.tolist() == [value for value in values if value is not None]


@pytest.mark.parametrize("dtype", ["int64[pyarrow]", "double[pyarrow]", "bool[pyarrow]"])
def test_pandas_columns_of_arrow(dtype):
    pytest.importorskip("pyarrow")
    column = made("pandas", [1, None, 0], dtype)
    found = numbers_in(column, "drop", "add-remove")
    assert found.values.dtype.kind == dtype[0].replace("d", "f")
    assert found.present.tolist() == [1, 0]


def planned(release, column, **how):
    """Return the kind of noise and the true value of a release that draws nothing."""
    found = []

    def draw(noise, theta, rng):
        found.append((noise.integer, np.asarray(getattr(theta, "integers", theta)).tolist()))
        return theta

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Noise, "draw", draw)
        with contextlib.suppress(TypeError):  # what is drawn has no noise to be a value of
            release(column, 1.0, adjacency="add-remove", missing="drop", **how)
    return found[0]


@pytest.mark.parametrize("unit", ["ns", "us"])
@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_times_are_read_alike_whether_one_is_missing(package, unit):
    # Of nanoseconds NumPy makes integers, so that a missing row once put all others into cells.
    module = pytest.importorskip(package)
    times = [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)]

    def column(rows):
        if package == "pandas":
            return module.Series(rows, dtype=f"datetime64[{unit}]")
        if package == "polars":
            return module.Series(rows, dtype=module.Datetime(unit))
        return module.array(rows, module.timestamp(unit))

    rows = [*times, times[0]]
    one, other = (
        planned(tn.release_histogram, column(each), cells=times) for each in (rows, [*rows, None])
    )
    assert one == other
    assert one[1] == [2, 1] or (package, unit) == ("pandas", "ns")


@pytest.mark.parametrize("values", [[1, 2, 5], [True, False], [1.5, 2.0]])
@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_categories_of_numbers_are_read_alike_whether_one_is_missing(package, values):
    # With a missing row they were real, and had noise of another kind, or were refused.
    module = pytest.importorskip(package)

    def column(rows):
        if package == "pandas":
            return module.Series(module.Categorical(rows, categories=values))
        return module.array(rows).dictionary_encode()

    bounds = {"lower": 0, "upper": 3}
    one, other = (
        planned(tn.release_sum, column(rows), **bounds) for rows in (values, [*values, None])
    )
    assert one == other
    assert one[0] == (type(values[0]) is not float)
    found = labels_in(column([*values, None]), "drop", "add-remove")
    assert found.present.tolist() == values
    nothing = numbers_in(column([values[0], None])[1:], "drop", "add-remove")
    assert nothing.present.size == 0


def test_lists_with_what_is_missing_or_beyond_floats():
    found = numbers_in([1, None, True, 10**400, -(10**400), 2**64], "drop", "add-remove")
    assert found.present.tolist() == [1.0, 1.0, np.inf, -np.inf, 2.0**64]
    with pytest.raises(ValueError, match="1 of them are, first that of row 1"):
        numbers_in([1.0, None], "refuse", "add-remove")
    for bad in ([1, "2"], [1, 1j], [{}, None]):
        with pytest.raises(TypeError, match="must hold real numbers"):
            numbers_in(bad, "drop", "add-remove")
    bounds = {"lower": 0, "upper": 3}
    assert (
        planned(tn.release_sum, [1, 10**400], **bounds)[1]
        == (planned(tn.release_sum, [1, 3.0], **bounds)[1])
    )


def test_integers_that_numpy_has_not():
    polars = pytest.importorskip("polars")
    column = polars.Series([1, 2], dtype=polars.Int128)
    with pytest.raises(TypeError, match="at most 64 bits"):
        numbers_in(column, "drop", "add-remove")
    assert labels_in(column, "drop", "add-remove").values.tolist() == [1, 2]


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_names(package):
    column = labels_in(made(package, ["a", None, "b"]), "drop", "add-remove")
    assert column.present.tolist() == ["a", "b"]
    stream = tn.random.NoiseStream(seed=1)
    release = tn.release_histogram(
        made(package, ["a", "b", "b"]), 60.0, cells=["a", "b"], adjacency="add-remove", rng=stream
    )
    assert list(release.value) == [1, 2]


def test_a_series_of_pandas_gives_a_series():
    pandas = pytest.importorskip("pandas")
    stream = tn.random.NoiseStream(seed=1)
    given = {"adjacency": "add-remove", "rng": stream}
    named = tn.release_histogram(pandas.Series(["a", "b", "b"]), 60.0, cells=["b", "a"], **given)
    assert named.value.to_dict() == {"b": 2, "a": 1}
    ages = pandas.Series([1, 2, 30], name="age")
    edged = tn.release_histogram(ages, 60.0, edges=[0, 2, 40], **given)
    assert edged.value.name == "age"
    assert edged.value[1] == 1
    assert edged.value[30] == 2
    assert edged.statistic == "histogram of age"
    frame = pandas.DataFrame({"x": [0.5, 0.5], "y": [0.0, 0.5]})
    vector = tn.release_vector(frame, 1.0, 1e-6, bound=1, **given)
    assert list(vector.value.index) == ["x", "y"]
    with pytest.raises(TypeError, match=r"values must be one column, such as table\['age'\]"):
        tn.release_mean(frame, 1.0, lower=0, upper=1, **given)


def test_lists_have_no_type_so_that_one_person_s_value_decides_nothing():
    for values in ([1, 2, 3], [True, False], (True, 2)):
        assert numbers_in(values, "refuse", "add-remove").values.dtype == np.float64
    assert numbers_in(range(3), "refuse", "add-remove").integer
    assert numbers_in(np.float32([0.5]), "refuse", "add-remove").values.dtype == np.float64


@pytest.mark.parametrize("other", ["x", 0.5, None, float("nan"), 2**70, b"x", (1, 2)])
def test_an_item_of_a_list_is_what_it_is_whatever_the_others_are(other):
    # NumPy makes an array of text of a list with one text in it, and of reals with one real.
    large = 2**53 + 1
    items = [1, large, "a", other]
    found = labels_in(items, "drop", "add-remove").present.tolist()
    assert found == (
        items if isinstance(other, (str, bytes, tuple, int)) or other == 0.5 else items[:3]
    )
    given = {"adjacency": "add-remove", "missing": "drop"}
    for rows in ([1] * 40, [large] * 40, [True] * 40):
        cells = {"cells": [rows[0], large - 1], **given}
        for column in (rows, [*rows, other]):
            stream = tn.random.NoiseStream(seed=1)
            assert tn.release_histogram(column, 60.0, **cells, rng=stream).value.tolist() == [40, 0]


@pytest.mark.parametrize("other", [None, float("nan"), np.float32("nan")])
def test_truth_values_stay_truth_values_where_some_are_missing(other):
    rows = [True] * 3 + [False] * 50
    stream = tn.random.NoiseStream(seed=1)
    given = {"adjacency": "add-remove", "missing": "drop", "rng": stream}
    untyped = np.empty(54, object)
    untyped[:] = [*rows, other]
    for column in (rows, [*rows, other], untyped):
        assert tn.release_count(column, 60.0, **given).value == 3
    for mixed in ([*rows, 1], [*rows, "x"], [*rows, 0.5]):
        with pytest.raises(TypeError, match="values must all be truth values"):
            tn.release_count(mixed, 60.0, **given)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_no_row_is_a_number_of_rows_unless_that_is_public(adjacency):
    given = {"adjacency": adjacency, "rng": tn.random.NoiseStream(seed=1)}
    ends = {"lower": -1.0, "upper": 3.0}
    releases = [
        lambda: tn.release_count(np.zeros(0, np.bool_), 60.0, **given).value,
        lambda: tn.release_sum([], 60.0, **ends, **given).value,
        lambda: tn.release_sum(np.zeros(0, np.int64), 60.0, **ends, **given).value,
        lambda: tn.release_histogram([], 60.0, cells=["a", "b"], **given).value,
        lambda: tn.release_histogram([], 60.0, edges=[0, 1], **given).value,
        lambda: tn.release_vector(np.zeros((0, 3)), 60.0, bound=1.0, **given).value,
        lambda: tn.release_mean([], 60.0, **ends, **given).noisy_count,
        lambda: tn.release_median([], 60.0, lower=-1e-9, upper=1e-9, **given).value,
    ]
    for release in releases:
        if adjacency == "add-remove":
            assert np.abs(release()).max() < 1
        else:
            with pytest.raises(ValueError, match="at least one"):
                release()


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ("text", TypeError, "values must be a column of values; got str"),
        (None, TypeError, "got NoneType"),
        (
            [1 + 2j],
            TypeError,
            "real numbers of at most 64 bits, or truth values; got dtype complex",
        ),
        ([[1.0, 2.0]], ValueError, r"of one axis; got shape \(1, 2\)"),
        ([1.0, [2.0]], ValueError, "got lists of them"),
        (np.ma.array([1.0]), TypeError, "must not be a masked array"),
        (np.array(["2020-01-01"], "M8[D]"), TypeError, "got dtype datetime64"),
        ([1, {}], TypeError, "got dtype object"),
        (np.longdouble([1]), TypeError, "at most 64 bits"),
    ],
)
def test_what_is_no_column_of_numbers(values, error, message):
    with pytest.raises(error, match=message):
        numbers_in(values, "refuse", "add-remove")
