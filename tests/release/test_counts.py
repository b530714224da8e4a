"""Counts and histograms: what is counted, which neighbours, and what is refused."""

import numpy as np
import pytest

import tightnoise as tn


@pytest.fixture
def ages(rng):
    return rng.integers(18, 90, 500)


def test_truth_values_are_counted_where_they_are_true_and_other_rows_all():
    stream = tn.random.NoiseStream(seed=1)
    for adjacency in ("add-remove", "replace-one"):
        release = tn.release_count(np.arange(100) < 30, 60.0, adjacency=adjacency, rng=stream)
        assert release.value == 30
        assert release.n == (100 if adjacency == "replace-one" else None)
    for rows in (range(7), ["a"] * 7, np.zeros(7)):
        assert tn.release_count(rows, 60.0, adjacency="add-remove", rng=stream).value == 7
    lost = np.where(np.arange(9) < 2, np.nan, 1.0)
    for adjacency in ("add-remove", "replace-one"):
        release = tn.release_count(lost, 60.0, adjacency=adjacency, missing="drop", rng=stream)
        assert release.value == 7
        assert release.n is None


def test_the_number_of_all_rows_is_no_secret_where_one_is_replaced():
    with pytest.raises(ValueError, match="the number of all rows is public there"):
        tn.release_count(range(7), 1.0, adjacency="replace-one")


def test_counts_have_integer_noise_of_the_least_error(ages):
    release = tn.release_count(ages > 60, 1.0, adjacency="add-remove")
    best = tn.best_noise(1.0, sensitivity=1, loss="l2", integer=True).best
    assert release.mechanism == best.mechanism
    assert isinstance(release.value, int)
    low, high = release.confidence_interval(0.9)
    assert isinstance(low, int)
    assert 0 <= low <= release.value <= high
    known = tn.release_count(ages > 60, 1.0, adjacency="replace-one")
    table = tn.compare_bounded(1.0, lower=0, upper=500, sensitivity=1, integer=True)
    assert known.mechanism == table.best.mechanism
    for _ in range(100):
        assert 0 <= tn.release_count([False] * 3, 0.1, adjacency="replace-one").value <= 3


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.5, 1e-6)])
def test_a_histogram_is_within_its_budget(adjacency, epsilon, delta, ages):
    release = tn.release_histogram(
        ages, epsilon, delta, edges=[0, 30, 60, 120], adjacency=adjacency
    )
    assert release.cost.epsilon(delta) <= epsilon * (1 + 1e-9)
    assert release.cost.epsilon(delta) >= epsilon * (1 - 1e-3)
    assert release.cells == ((0.0, 30.0), (30.0, 60.0), (60.0, 120.0))
    assert release.value.dtype == np.int64
    assert "changes one" in str(release) if adjacency == "add-remove" else "changes two"


def test_one_cell_alone_changes_by_one_row_whatever_the_neighbours(ages):
    one = tn.release_histogram(ages, 1.0, cells=[50], adjacency="replace-one")
    two = tn.release_histogram(ages, 1.0, cells=[50, 51], adjacency="replace-one")
    assert one.mechanism.var() < two.mechanism.var()
    assert one.cost.epsilon(0.0) <= 1 + 1e-9


def test_rows_are_in_the_cells_they_belong_to():
    rows = [0.0, 1.0, 1.5, 2.0, 2.5, 3.0, -1.0, np.inf]
    given = {"adjacency": "add-remove", "rng": tn.random.NoiseStream(seed=1)}
    by_edges = tn.release_histogram(rows, 60.0, edges=[0, 1, 2, 3], **given)
    assert by_edges.value.tolist() == [1, 2, 3]  # the last one to its end
    open_ = tn.release_histogram(rows, 60.0, edges=[-np.inf, 0, np.inf], **given)
    assert open_.value.tolist() == [1, 7]
    names = ["b", "a", "d"]
    named = tn.release_histogram(
        ["a", "b", "a", "c", None], 60.0, cells=names, missing="drop", **given
    )
    assert named.value.tolist() == [1, 2, 0]
    many = tn.release_histogram(range(50), 60.0, cells=range(50), **given)
    assert "38 more cells" in str(many)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({}, TypeError, "cells or edges must be given, and not both"),
        ({"cells": ["a"], "edges": [0, 1]}, TypeError, "and not both"),
        ({"cells": "abc"}, TypeError, "cells must be a sequence of names"),
        ({"cells": []}, ValueError, "one name or more"),
        ({"cells": ["a", "b", "a"]}, ValueError, r"each name once; got \['a'\]"),
        ({"cells": [[1], [2]]}, TypeError, "cells must be names that can be compared"),
        ({"edges": [0, 0, 1]}, ValueError, "edges must be increasing"),
        ({"edges": [1]}, ValueError, "two numbers or more"),
        ({"edges": [0, np.nan]}, ValueError, "edges must be a number; got nan"),
        ({"edges": [0, 1], "values": ["a"]}, TypeError, "values must hold real numbers"),
        ({"cells": ["a"], "values": [None, "a"]}, ValueError, "1 of them are, first that of row 0"),
        ({"cells": ["a"], "adjacency": "both"}, ValueError, "adjacency must be"),
    ],
)
def test_bad_input(change, error, message):
    given = {"values": [1.0, 2.0], "adjacency": "add-remove"} | change
    with pytest.raises(error, match=message):
        tn.release_histogram(given.pop("values"), 1.0, **given)


def test_a_budget_that_no_noise_meets():
    for release, options in ((tn.release_count, {}), (tn.release_sum, {"lower": 0, "upper": 1})):
        with pytest.raises(tn.CalibrationError, match=r"no noise meets epsilon = 4\.94"):
            release([1, 2, 3], 5e-324, adjacency="add-remove", **options)
