"""Sums of vectors: the better noise, rows that are not finite, columns of a frame."""

import numpy as np
import pytest

import tightnoise as tn


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize(
    ("size", "delta", "kind"),
    [(1, 0.0, tn.Staircase), (2, 1e-9, tn.Laplace), (3, 0.0, tn.Laplace), (500, 1e-6, tn.Gaussian)],
)
def test_the_better_noise_within_the_budget(size, delta, kind, adjacency, rng):
    rows = rng.normal(size=(200, size))
    release = tn.release_vector(rows, 0.8, delta, bound=1.5, adjacency=adjacency)
    assert isinstance(release.mechanism, kind)
    assert release.cost.epsilon(delta) <= 0.8 * (1 + 1e-9)
    assert release.sensitivity == (1.5 if adjacency == "add-remove" else 3.0)
    if kind is tn.Gaussian:
        assert release.cost == release.mechanism.cost(
            sensitivity=release.sensitivity, adjacency=adjacency
        )
    elif size > 1:  # in L1 norm, by Cauchy and Schwarz
        assert release.mechanism.scale * 0.8 >= release.sensitivity * size**0.5
    assert release.value.shape == (size,)


def test_the_value_is_the_sum_with_noise(rng):
    rows = rng.normal(size=(100, 4))
    clipped = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
    release = tn.release_vector(rows, 1000.0, 1e-3, bound=1, adjacency="add-remove")
    low, high = release.confidence_interval(1 - 1e-9, simultaneous=True)  # false alarm
    assert (low - 1e-6 <= clipped.sum(axis=0)).all()
    assert (clipped.sum(axis=0) <= high + 1e-6).all()


def test_rows_that_are_not_finite():
    rows = np.ones((4, 2))
    rows[1, 1], rows[3, 0] = np.nan, np.inf
    with pytest.raises(ValueError, match="2 rows that are not, first row 1"):
        tn.release_vector(rows, 1.0, bound=1, adjacency="add-remove")
    tn.release_vector(rows, 1.0, bound=1, adjacency="add-remove", missing="drop")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"bound": None}, TypeError, "the longest of them would tell of whoever it is"),
        ({"bound": 0}, ValueError, "bound must be greater than 0"),
        ({"values": [1.0, 2.0]}, ValueError, "rows of numbers, of two axes or more"),
        ({"values": np.ones((3, 0))}, ValueError, "at least one number each"),
        ({"values": [["a"]]}, TypeError, "values must hold"),
        ({"delta": -1}, ValueError, "delta must be"),
        ({"adjacency": "x"}, ValueError, "adjacency must be"),
    ],
)
def test_bad_input(change, error, message):
    given = {"values": np.ones((3, 2)), "bound": 1.0, "adjacency": "add-remove"} | change
    with pytest.raises(error, match=message):
        tn.release_vector(given.pop("values"), 1.0, **given)
