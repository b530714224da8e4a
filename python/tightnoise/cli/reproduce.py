"""`tightnoise reproduce`: a paper's tables and figures beside what is expected, or its study."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import IO, Any

import tightnoise as tn
from tightnoise._core import end_long_work
from tightnoise._files import check_writable
from tightnoise._progress import progress
from tightnoise._validate import integer
from tightnoise.cli._options import Commands, Options, several, whole
from tightnoise.cli._output import print_json, say
from tightnoise.cli._plot import add_plot_options, check_plot, write_plot
from tightnoise.reproduce import PAPERS, STUDIES, Paper, Study
from tightnoise.reproduce._study import Settings, run
from tightnoise.reproduce._table import Table

_OF_STUDIES = ("data", "seeds", "full", "batches", "state")


def add_to(commands: Commands) -> None:
    """Declare the command and its options."""
    reproduce = commands.add_parser(
        "reproduce",
        help="a paper's tables and figures beside what is expected",
        description="Compute a paper's tables anew and print every number beside the expected one. "
        "Exit code 1 if one differs by more than a unit of its last digit. Or run its experiments "
        "on data.",
    )
    known: dict[str, Paper | Study] = {**PAPERS, **STUDIES}
    listed = "; ".join(f"{name}: {paper.title} ({paper.year})" for name, paper in known.items())
    reproduce.add_argument("paper", choices=list(known), metavar="PAPER", help=listed)
    add_plot_options(reproduce, "the paper's figures too")
    reproduce.add_argument(
        "--examples",
        action="store_true",
        help="print what the paper tries its mechanisms on, in place of its tables",
    )
    reproduce.add_argument("--json", action="store_true", help="print JSON instead of tables")
    study = reproduce.add_argument_group(f"studies ({', '.join(STUDIES)})")
    study.add_argument(
        "--data",
        metavar="DIR",
        help="a folder with the files of MNIST or Fashion-MNIST (as the Debian package "
        "dataset-fashion-mnist has them in /usr/share/datasets/fashion-mnist) or CIFAR, or a .npz "
        "file with x_train, y_train, x_test and y_test; by default scikit-learn's digits",
    )
    study.add_argument("--seeds", type=whole, metavar="N", help="runs of each setting, 2 or more")
    study.add_argument(
        "--full", action="store_true", help="all of the data and settings: more than five minutes"
    )
    study.add_argument(
        "--batches",
        type=several(whole),
        default=[],
        metavar="N,N",
        help="of reconstruction: batches of 16, 32 or 64, too, beside those of 128",
    )
    study.add_argument(
        "--state",
        metavar="FILE.json",
        help="remember what is done in this file, and go on from there",
    )
    reproduce.set_defaults(run=_run)


def _run(options: Options) -> int:
    check_plot(options)
    paper, tables, draw = _study(options) if options.paper in STUDIES else _paper(options)
    try:
        if options.json:
            print_json(_report(paper, tables))
        else:
            print("\n\n".join([_heading(paper), *(table.text() for table in tables)]))
    finally:  # also where the reader of the tables has gone
        write_plot(options, draw)
    wrong = [f"{table.title}: {where}" for table in tables for where in table.disagreements]
    for where in wrong:
        say(f"tightnoise reproduce: not as expected: {where}")
    return 1 if wrong else 0


Answer = tuple[Paper | Study, list[Table], Callable[[IO[bytes]], None]]


def _paper(options: Options) -> Answer:
    given = [name for name in _OF_STUDIES if getattr(options, name)]
    if given:
        raise ValueError(f"--{given[0]} is for studies ({', '.join(STUDIES)})")
    paper = PAPERS[options.paper]
    tables = _examples(options.paper) if options.examples else _tables(paper)
    return paper, tables, paper.draw


def _study(options: Options) -> Answer:
    if options.examples:
        raise ValueError(f"{options.paper} has no examples")
    study = STUDIES[options.paper]
    seeds = study.seeds if options.seeds is None else options.seeds
    seeds = integer("--seeds", seeds, minimum=2, maximum=1000)
    if options.state is not None:
        check_writable(options.state, suffix=".json", overwrite=True)
    try:
        plan = study.plan(Settings(options.data, seeds, options.full, tuple(options.batches)))
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from error
    results = run(plan, options.state, progress)
    return study, plan.tables(results), partial(plan.draw, results)


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
    except ImportError as error:
        raise ValueError(str(error)) from error


def _heading(paper: Paper | Study) -> str:
    lines = f"{paper.authors} ({paper.year}),", f'"{paper.title}"'
    return "\n".join(textwrap.fill(line, 100) for line in lines)


def _report(paper: Paper | Study, tables: Sequence[Table]) -> dict[str, Any]:
    return {
        "version": tn.__version__,
        "paper": {"title": paper.title, "authors": paper.authors, "year": paper.year},
        "tables": [table.as_dict() for table in tables],
    }
