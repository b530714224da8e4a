"""Neighbours are as far apart as is said, in the numbers that the mechanism is given."""

from fractions import Fraction

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.release._noise import Noise
from tightnoise.sums import ExactSum

EXTREMES = [-np.inf, -1e300, -7.0, -3.1, 0.0, 1e-300, 0.1, 2 / 3, 3.3, 5.0, 1e17, np.inf]


@pytest.fixture
def given(monkeypatch):
    """Return given(function, *args): what the mechanism is given, as exact fractions."""
    seen = []

    def draw(self, theta, rng):
        seen.append(theta)
        return np.zeros(np.shape(getattr(theta, "integers", theta)), np.int64)[()]

    monkeypatch.setattr(Noise, "draw", draw)

    def run(function, *args, **kwargs):
        seen.clear()
        release = function(*args, **kwargs)
        exact = []
        for theta in seen:
            if isinstance(theta, ExactSum):
                flat, unit = theta.integers.ravel().tolist(), Fraction(theta.unit)
            else:
                flat, unit = np.ravel(theta).tolist(), Fraction(1)
            exact.append([Fraction(number) * unit for number in flat])
        return release, exact

    return run


def l1(first, second):
    return sum(
        abs(a - b) for f, s in zip(first, second, strict=True) for a, b in zip(f, s, strict=True)
    )


@pytest.mark.parametrize("function", [tn.release_sum, tn.release_mean])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("bounds", [(-3.1, 5.0), (0.0, 0.3), (-7, -2), (1 / 3, 1e6)])
@pytest.mark.parametrize("missing", ["refuse", "drop"])
def test_sums_move_by_the_sensitivity_at_most(function, adjacency, bounds, missing, given, rng):
    kwargs = dict(zip(("lower", "upper"), bounds, strict=True))
    kwargs |= {"adjacency": adjacency, "missing": missing}
    base = rng.choice(EXTREMES, 40)
    row = EXTREMES + ([np.nan] if missing == "drop" else [])
    far = Fraction(0)
    for _ in range(60):
        first, second = rng.choice(row, 2)
        one = np.append(base, first)
        other = base if adjacency == "add-remove" else np.append(base, second)
        release, a = given(function, one, 1.0, **kwargs)
        _, b = given(function, other, 1.0, **kwargs)
        far = max(far, l1(a, b))
    noise = release._noise.sensitivity
    assert far <= Fraction(noise)
    assert far >= Fraction(noise) * Fraction(99, 100)
    if release.n:
        size = release.n if function is tn.release_mean else 1
        assert release.sensitivity == pytest.approx(noise / size, rel=1e-12)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.bool_, np.int64])
def test_integers_are_added_up_as_integers(adjacency, dtype, given):
    rows = np.array([0, 1, 1, 0, 1], dtype)
    release, theta = given(tn.release_sum, rows, 1.0, lower=0, upper=1, adjacency=adjacency)
    assert theta == [[3]]
    assert release._noise.integer
    assert isinstance(release.value, int)
    _, theta = given(tn.release_mean, rows, 1.0, lower=0, upper=1, adjacency="replace-one")
    assert theta == [[3]]
    largest = np.array([np.iinfo(np.uint64).max, 7], np.uint64)
    _, theta = given(tn.release_sum, largest, 1.0, lower=-3, upper=5, adjacency=adjacency)
    assert theta == [[10]]


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_a_mean_s_two_sums_are_the_whole_width_of_each_row(adjacency, given, rng):
    rows = rng.uniform(-2, 4, 77)
    release, (above, below) = given(
        tn.release_mean,
        np.append(rows, np.nan),
        1.0,
        lower=-1.7,
        upper=2.9,
        adjacency=adjacency,
        missing="drop",
    )
    width = Fraction(above[0] + below[0]) / 77
    assert Fraction(2.9 - (-1.7)) * (1 - Fraction(1, 2**30)) <= width <= Fraction(2.9 - (-1.7))
    assert release.mechanism.scale >= release._noise.sensitivity
    truth = np.clip(rows, -1.7, 2.9).mean()
    assert float(-1.7 + 4.6 * above[0] / (above[0] + below[0])) == pytest.approx(truth, rel=1e-7)


def test_cells_change_one_or_two(given):
    names = ["a", "b", "c"]
    for adjacency, changed in (("add-remove", 1), ("replace-one", 2)):
        kwargs = {"cells": names, "adjacency": adjacency}
        release, first = given(tn.release_histogram, ["a", "b", "b"], 1.0, **kwargs)
        other = ["a", "b"] if adjacency == "add-remove" else ["a", "b", "c"]
        _, second = given(tn.release_histogram, other, 1.0, **kwargs)
        assert l1(first, second) == changed
        assert first == [[1, 2, 0]]
        once = release.mechanism.cost(sensitivity=1.0, adjacency=adjacency)
        assert release.cost == once * changed


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_vectors_move_by_the_sensitivity_in_l2_norm(adjacency, given, rng):
    base = rng.normal(size=(30, 5)) * rng.uniform(0, 5, (30, 1))
    kwargs = {"bound": 2.0, "adjacency": adjacency, "missing": "drop"}
    for row in (np.full(5, 9.0), np.full(5, np.nan), np.full(5, 1e-3)):
        other = base if adjacency == "add-remove" else np.vstack([base, -np.full(5, 9.0)])
        release, a = given(tn.release_vector, np.vstack([base, row]), 1.0, 1e-6, **kwargs)
        _, b = given(tn.release_vector, other, 1.0, 1e-6, **kwargs)
        square = sum((x - y) ** 2 for x, y in zip(a[0], b[0], strict=True))
        assert square <= Fraction(release.sensitivity) ** 2
        if row[0] == 9:
            assert square >= Fraction(release.sensitivity) ** 2 * Fraction(99, 100)
