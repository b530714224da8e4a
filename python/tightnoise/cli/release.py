"""`tightnoise release`: a count, sum, mean, histogram or quantile of a column, with its noise."""

from __future__ import annotations

from typing import Any

import numpy as np

import tightnoise as tn
from tightnoise.cli._options import Commands, Options, several
from tightnoise.cli._output import json_text, print_paid
from tightnoise.cli._parameters import Function, add_options, given, option, refuse_others
from tightnoise.cli._tables import read_column
from tightnoise.release import HistogramRelease, QuantileRelease, Release
from tightnoise.release._columns import Column

STATISTICS: dict[str, Function] = {
    "count": tn.release_count,
    "sum": tn.release_sum,
    "mean": tn.release_mean,
    "histogram": tn.release_histogram,
    "quantile": tn.release_quantile,
    "median": tn.release_median,
}
_LEVEL = 0.95


def add_to(commands: Commands) -> None:
    """Declare the command and its options."""
    release = commands.add_parser(
        "release",
        help="a count, sum, mean, histogram, quantile or median of a column",
        description="Release a statistic of a column of a CSV or Parquet file, one row a person, "
        "and print all that may be published of it.",
        epilog="Bounds, cells and edges are what is known without the file. Numbers in CSV files "
        "are real unless --integer says more; of a Parquet file the column's type says so. An "
        "empty field is missing. With --session the neighbours are the session's.",
    )
    release.add_argument("statistic", choices=list(STATISTICS), help="what to release")
    release.add_argument("table", metavar="FILE", help=".csv with a first line of names, .parquet")
    release.add_argument("--column", metavar="NAME", help="default: the only one")
    add_options(release, *STATISTICS.items())
    release.add_argument(
        "--cells", type=several(str), metavar="NAME,NAME,...", help="the cells' names (histogram)"
    )
    release.add_argument(
        "--equals", metavar="TEXT", help="count the rows in which the column is this (count)"
    )
    release.add_argument(
        "--integer", action="store_true", help="the CSV column holds integers, and no other number"
    )
    release.add_argument(
        "--session", metavar="BUDGET.json", help="spend from this session; see `tightnoise session`"
    )
    release.add_argument("--name", metavar="NAME", help="what the session's list calls it")
    release.add_argument("--json", action="store_true", help="print JSON")
    release.set_defaults(run=_run)


def _run(options: Options) -> int:
    function = STATISTICS[options.statistic]
    refuse_others(options, STATISTICS.items(), function)
    for name, statistic in (("cells", "histogram"), ("equals", "count")):
        if getattr(options, name) is not None and options.statistic != statistic:
            raise ValueError(f"{option(name)} is for a {statistic} only")
    session = None
    if options.session is None:
        asked = given(options, function)
        if options.name is not None:
            raise ValueError("--name is what a session's list calls a release: give --session, too")
    else:
        if options.adjacency is not None:
            raise ValueError("--adjacency must be left out with --session, which names it")
        session = tn.Session.load(options.session)
        function = getattr(session, f"release_{options.statistic}")
        asked = given(options, function)
    if options.cells is not None:
        asked["cells"] = options.cells
    column = _column(options)
    release = function(column, **asked)
    return print_paid("release", json_text(_report(release)) if options.json else str(release))


def _column(options: Options) -> Column:
    names = options.statistic == "count" or options.cells is not None
    kind = "names" if names else "integer" if options.integer else "real"
    column = read_column(options.table, options.column, kind)
    if options.equals is None:
        return column
    same = np.array([str(value) == options.equals for value in column.values.tolist()], np.bool_)
    called = f"{column.name} = {options.equals}"
    return column._replace(values=same, name=called)


def _report(release: Release) -> dict[str, Any]:
    known = ("n", "lower", "upper", "sensitivity", "derivation", "adjacency", "epsilon", "delta")
    return {
        "version": tn.__version__,
        "statistic": release.statistic,
        "value": np.asarray(release.value),
        **_near(release),
        **{name: getattr(release, name) for name in known},
        "mechanism": str(release.mechanism),
        "grid": release.grid,
        "cost": release.cost,
    }


def _near(release: Release) -> dict[str, Any]:
    if isinstance(release, QuantileRelease):
        low, high = release.rank_interval(_LEVEL)
        return {"quantile": release.quantile, "level": _LEVEL, "rank_interval": [low, high]}
    low, high = release.confidence_interval(_LEVEL)
    near: dict[str, Any] = {"level": _LEVEL, "interval": [np.asarray(low), np.asarray(high)]}
    if isinstance(release, HistogramRelease):
        near["cells"] = list(release.cells)
    return near
