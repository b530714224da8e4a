"""`tightnoise reproduce`: a paper's tables and figures beside what is expected."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tightnoise as tn
from tightnoise._core import end_long_work
from tightnoise._progress import progress
from tightnoise.cli._options import Options
from tightnoise.cli._output import print_json
from tightnoise.cli._plot import add_plot_options, check_plot, write_plot
from tightnoise.reproduce import PAPERS, Paper
from tightnoise.reproduce._table import Table


def add_to(commands: Any) -> None:
    """Declare the command and its options."""
    reproduce = commands.add_parser(
        "reproduce",
        help="a paper's tables and figures beside what is expected",
        description="Compute a paper's tables anew and print every number beside the expected one. "
        "Exit code 1 if one differs by more than a unit of its last digit.",
    )
    listed = "; ".join(f"{name}: {paper.title} ({paper.year})" for name, paper in PAPERS.items())
    reproduce.add_argument("paper", choices=list(PAPERS), metavar="PAPER", help=listed)
    add_plot_options(reproduce, "the paper's figures too")
    reproduce.add_argument(
        "--examples",
        action="store_true",
        help="print what the paper tries its mechanisms on, in place of its tables",
    )
    reproduce.add_argument("--json", action="store_true", help="print JSON instead of tables")
    reproduce.set_defaults(run=_run)


def _run(options: Options) -> int:
    paper = PAPERS[options.paper]
    check_plot(options)
    tables = _examples(options.paper) if options.examples else _tables(paper)
    if options.json:
        print_json(_report(paper, tables))
    else:
        print("\n\n".join([_heading(paper), *(table.text() for table in tables)]))
    write_plot(options, paper.draw)
    wrong = [f"{table.title}: {where}" for table in tables for where in table.disagreements]
    for where in wrong:
        print(f"tightnoise reproduce: not as expected: {where}", file=sys.stderr)
    return 1 if wrong else 0


def _tables(paper: Paper) -> list[Table]:
    """Compute the tables, after their long parts on as many threads as the core uses."""
    if paper.cells:
        pool = ThreadPoolExecutor(tn.num_threads())
        try:
            futures = [pool.submit(cell) for cell in paper.cells]
            for future in progress(futures, "cells"):
                future.result()
        finally:
            # Ctrl-C reaches this thread; the others end with it.
            end_long_work(True)
            pool.shutdown(cancel_futures=True)
            end_long_work(False)
    return [compute() for compute in progress(paper.tables, "tables")]


def _examples(name: str) -> list[Table]:
    examples = PAPERS[name].examples
    if not examples:
        raise ValueError(f"{name} has no examples")
    try:
        return [compute() for compute in progress(examples, "examples")]
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from error


def _heading(paper: Paper) -> str:
    lines = f"{paper.authors} ({paper.year}),", f'"{paper.title}"'
    return "\n".join(textwrap.fill(line, 100) for line in lines)


def _report(paper: Paper, tables: Sequence[Table]) -> dict[str, Any]:
    return {
        "version": tn.__version__,
        "paper": {"title": paper.title, "authors": paper.authors, "year": paper.year},
        "tables": [table.as_dict() for table in tables],
    }
