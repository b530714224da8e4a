"""Everyday releases of a column: the first with a budget, and those after it.

Beside NumPy's Laplace noise on a clipped mean, which is neither exact nor the best.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tightnoise as tn

N = 500
GROUP = f"a mean of {N} values"
AGES = {"lower": 0, "upper": 120}
REAL = np.random.default_rng(0).uniform(0, 120, N)
WHOLE = np.random.default_rng(0).integers(0, 120, N)
COLUMNS = pytest.mark.parametrize("column", [REAL, WHOLE], ids=["real", "integer"])


@COLUMNS
def test_release_mean(timed, column) -> None:
    release = timed(GROUP, lambda: tn.release_mean(column, 1.0, **AGES, adjacency="replace-one"), 1)
    assert abs(release.value - column.mean()) < 10


@COLUMNS
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_release_mean_with_a_new_budget(timed, column, delta) -> None:
    budgets = (1.0 + step * 1e-9 for step in itertools.count())
    release = timed(
        f"{GROUP}, calibrated anew, delta {delta:g}",
        lambda: tn.release_mean(column, next(budgets), delta, **AGES, adjacency="replace-one"),
        1,
    )
    assert abs(release.value - column.mean()) < 10


def test_release_mean_of_rows_that_come_and_go(timed) -> None:
    release = timed(GROUP, lambda: tn.release_mean(REAL, 1.0, **AGES, adjacency="add-remove"), 1)
    assert abs(release.value - REAL.mean()) < 20


def test_laplace_by_numpy(timed) -> None:
    rng = np.random.default_rng(1)

    def mean() -> float:
        return float(np.clip(REAL, 0, 120).mean() + rng.laplace(0, 120 / N))

    assert abs(timed(GROUP, mean, 1) - REAL.mean()) < 10


@pytest.mark.parametrize("n", [N, 1_000_000])
def test_release_median(timed, n) -> None:
    rows = np.random.default_rng(0).uniform(0, 120, n)
    release = timed(
        f"a median of {n:,} values",
        lambda: tn.release_median(rows, 1.0, **AGES, adjacency="replace-one"),
        1,
    )
    low, high = release.rank_interval(1 - 1e-6)
    assert low <= (rows < release.value).mean() <= high


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_release_histogram(timed, adjacency) -> None:
    rows = np.random.default_rng(0).integers(0, 50, 100_000)
    release = timed(
        "a histogram of 100,000 values in 50 cells",
        lambda: tn.release_histogram(rows, 1.0, cells=range(50), adjacency=adjacency),
        1,
    )
    assert abs(release.noisy - 2000).max() < 400
