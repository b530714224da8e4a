"""Counts of rows: all of them, those that are true, those of each cell of a histogram."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._validate import number_array, require
from tightnoise.costs import Adjacency
from tightnoise.random import NoiseStream
from tightnoise.release._columns import Column, Missing, Values, are_truths, labels_in, numbers_in
from tightnoise.release._noise import added_noise, bounded_noise
from tightnoise.release._plan import Plan, budget_of, drawing, title
from tightnoise.release._released import HistogramRelease, Release, released

_MOST_CELLS = 2**24


@drawing
def release_count(
    values: Values,
    epsilon: float,
    delta: float = 0.0,
    *,
    adjacency: Adjacency,
    missing: Missing = "refuse",
    rng: NoiseStream | None = None,
) -> Plan[Release]:
    """Release how many rows there are, or how many of them are true.

    Parameters
    ----------
    values : array_like, shape (n,), or Series or Arrow array
        A row a person. Truth values, such as ``ages >= 65``, are counted where they are true;
        of any other column all rows are counted. A list holds truth values alone, or none.
    epsilon : float
        Greater than 0.
    delta : float
        From 0 to 1, exclusive of 1.
    adjacency : {"add-remove", "replace-one"}
        Which data sets are neighbours: one row more or less, or one row that is another. With
        "replace-one" the number of rows is public, and only truth values are counted.
    missing : {"refuse", "drop"}
        What to do with rows without a value (NaN, null): "drop" does not count them.
    rng : NoiseStream, optional
        Where the noise comes from; by default the operating system's key.

    Returns
    -------
    Release
        With an integer `value`, `confidence_interval` and `cost`.

    Raises
    ------
    ValueError
        If an argument is out of range, a value is missing, or the count is public.
    TypeError
        If values are no column, or some of them are truth values and others are not.
    CalibrationError
        If no noise can meet the target.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> ages = np.random.default_rng(0).uniform(18, 90, 500)
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> old = tn.release_count(ages >= 65, 1.0, adjacency="replace-one", rng=stream)
    >>> int((ages >= 65).sum()), old.value, old.confidence_interval(0.95)
    (191, 191, Interval(low=188, high=194))
    """
    budget = budget_of(epsilon, delta, adjacency)
    column = labels_in(values, missing, adjacency)
    n = column.values.size
    truths = are_truths(column.present)
    count = int(column.present.sum()) if truths else column.present.size
    within = 0.0, math.inf
    public = adjacency == "replace-one" and missing == "refuse"
    if public:
        if not truths:
            raise ValueError(
                "values must be truth values, such as ages >= 65, with adjacency='replace-one': "
                "the number of all rows is public there"
            )
        within = 0.0, float(n)
        noise = bounded_noise(budget.epsilon, budget.delta, 0.0, float(n), 1.0, True, adjacency)
    else:
        noise = added_noise(budget.epsilon, budget.delta, 1.0, True, adjacency)
    statistic = title("count", column)

    def draw() -> Release:
        noisy = noise.draw(count, rng)
        return Release(
            value=int(released(noisy, 1.0, 0.0, within)),
            cost=noise.cost,
            statistic=statistic,
            **budget._asdict(),
            sensitivity=1.0,
            derivation="one row counts or does not",
            n=n if public else None,
            noisy=noisy,
            _noise=noise,
            _within=within,
        )

    return Plan(noise.cost, statistic, draw)


@drawing
def release_histogram(
    values: Values,
    epsilon: float,
    delta: float = 0.0,
    *,
    cells: Sequence[object] | None = None,
    edges: ArrayLike | None = None,
    adjacency: Adjacency,
    missing: Missing = "refuse",
    rng: NoiseStream | None = None,
) -> Plan[HistogramRelease]:
    """Release how many rows are in each of some disjoint cells, all cells at once.

    Parameters
    ----------
    values : array_like, shape (n,), or Series or Arrow array
        A row a person: names, or numbers.
    epsilon : float
        Greater than 0: for all cells together, since a person is in one of them.
    delta : float
        From 0 to 1, exclusive of 1.
    cells : sequence, optional
        The names of the cells. They must be given and not come from the data: a cell that is listed
        because somebody is in it tells of them. Rows of other names are in no cell.
    edges : array_like, shape (k + 1,), optional
        Instead, of numbers: cell i is from edges[i] to below edges[i + 1], the last one to its end.
        Increasing; the first and the last may be infinite. Rows beyond are in no cell.
    adjacency : {"add-remove", "replace-one"}
        Which data sets are neighbours: one row more or less changes one cell by 1; one row that is
        another changes two.
    missing : {"refuse", "drop"}
        What to do with rows without a value (NaN, null): "drop" has them in no cell.
    rng : NoiseStream, optional
        Where the noise comes from; by default the operating system's key.

    Returns
    -------
    HistogramRelease
        With `value`, integers by cell, `confidence_interval` and `cost`. Of a pandas Series it is
        one, by cell.

    Raises
    ------
    ValueError
        If an argument is out of range, a value is missing, cells are listed twice, or no row is
        there with "replace-one".
    TypeError
        If cells and edges are both given or neither, or values do not fit them.
    CalibrationError
        If no noise can meet the target.

    Notes
    -----
    The first call for a budget with "replace-one" and a delta takes a fifth of a second, or some
    seconds where delta is above 1e-4 or epsilon below 0.05.

    Examples
    --------
    >>> import tightnoise as tn
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> answers = ["yes"] * 40 + ["no"] * 70 + ["?"]
    >>> names = ["yes", "no", "perhaps"]
    >>> bounds = {"cells": names, "adjacency": "replace-one"}
    >>> release = tn.release_histogram(answers, 1.0, **bounds, rng=stream)
    >>> release.value.shape, f"{release.cost.epsilon(0.0):.6f}"
    ((3,), '1.000000')
    """
    budget = budget_of(epsilon, delta, adjacency)
    if (cells is None) == (edges is None):
        raise TypeError(
            "cells or edges must be given, and not both: what is known without these rows (cells "
            "that are listed because somebody is in them tell of them)"
        )
    if edges is not None:
        ends = _edges(edges)
        column = numbers_in(values, missing, adjacency)
        counts = np.histogram(column.present.astype(np.float64), bins=ends)[0]
        names: tuple[Any, ...] = tuple(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
    else:
        names = _names(cells)
        column = labels_in(values, missing, adjacency)
        counts = _counted(column.present, names)
    n = column.values.size
    replaced = adjacency == "replace-one"
    changed = min(2, len(names)) if replaced else 1
    noise = added_noise(budget.epsilon, budget.delta, 1.0, True, adjacency, changed)
    statistic = title("histogram", column)

    def draw() -> HistogramRelease:
        noisy = noise.draw(counts, rng)
        return HistogramRelease(
            value=_indexed(noisy, names, column, is_edges=edges is not None),
            cost=noise.cost,
            statistic=statistic,
            **budget._asdict(),
            sensitivity=1.0,
            derivation="a row is in one cell: one more or less changes one"
            if not replaced
            else "a row is in one cell: another changes two, each by 1",
            n=n if replaced and missing == "refuse" else None,
            noisy=noisy,
            _noise=noise,
            cells=names,
        )

    return Plan(noise.cost, statistic, draw)


def _edges(edges: ArrayLike) -> NDArray[np.float64]:
    ends = number_array("edges", edges)
    good = ends.ndim == 1 and 2 <= ends.size <= _MOST_CELLS
    require(good, "edges", f"shape {ends.shape}", "two numbers or more")
    require(bool((ends[1:] > ends[:-1]).all()), "edges", edges, "increasing")
    return ends


def _names(cells: object) -> tuple[Any, ...]:
    if isinstance(cells, (str, bytes)) or not hasattr(cells, "__iter__"):
        raise TypeError(f"cells must be a sequence of names; got {cells!r}")
    names = tuple(cells.tolist() if isinstance(cells, np.ndarray) else cells)
    require(0 < len(names) <= _MOST_CELLS, "cells", cells, "one name or more")
    try:
        twice = [name for name, count in Counter(names).items() if count > 1]
    except TypeError:
        raise TypeError("cells must be names that can be compared, such as text") from None
    require(not twice, "cells", twice, "disjoint, each name once")
    return names


def _counted(present: NDArray[Any], names: tuple[Any, ...]) -> NDArray[np.int64]:
    if present.dtype.kind == "O":
        try:
            found: Any = Counter(present.tolist())
        except TypeError:
            raise TypeError("values must be names that can be compared, such as text") from None
    else:
        values, counts = np.unique(present, return_counts=True)
        found = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return np.array([found.get(name, 0) for name in names], np.int64)


def _indexed(
    counts: NDArray[np.int64], names: tuple[Any, ...], column: Column, *, is_edges: bool
) -> Any:
    """Return a pandas Series by cell where the column was one."""
    if column.series is None:
        return counts
    index: Any = list(names)
    if is_edges:
        import pandas as pd

        index = pd.IntervalIndex.from_tuples(index, closed="left")
    return column.series(counts, index=index, name=column.name)
