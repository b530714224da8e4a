"""Studies: papers' experiments run anew on data, in cells that a file remembers."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

from tightnoise._files import FileError, reading, write_whole
from tightnoise._validate import shown
from tightnoise.reproduce._table import Table

Results = Mapping[str, Any]
"""What the cells returned, by their names; as JSON has it."""


@dataclass(frozen=True)
class Settings:
    """What a user may choose.

    Data (None: those that are at hand), seeds, all of the study, and sizes of batches (none: those
    that the study takes by itself).
    """

    data: str | None
    seeds: int
    full: bool
    batches: tuple[int, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A study with its settings.

    Parameters
    ----------
    about : dict
        What the results depend on, as JSON: results of another are not taken for those of this.
    cells : mapping of str to callable
        The work, in pieces whose results JSON can hold.
    tables, draw : callable
        What is printed and drawn of the results.
    """

    about: dict[str, Any]
    cells: Mapping[str, Callable[[], Any]]
    tables: Callable[[Results], list[Table]]
    draw: Callable[[Results, IO[bytes]], None]


@dataclass(frozen=True)
class Study:
    """Experiments of a paper: as `Paper`, but for what is computed, which settings decide.

    Parameters
    ----------
    title, authors : str
    year : int
    seeds : int
        The number of seeds if none is chosen.
    plan : callable
        From `Settings` to a `Plan`. May raise ImportError, with the extra to install.

    Examples
    --------
    >>> from tightnoise.reproduce import STUDIES
    >>> STUDIES["training"].seeds
    8
    """

    title: str
    authors: str
    year: int
    seeds: int
    plan: Callable[[Settings], Plan]


def run(
    plan: Plan,
    state: str | None = None,
    progress: Callable[[Sequence[str], str], Iterable[str]] = lambda names, _: names,
) -> Results:
    """Compute the cells, but those that the file `state` holds, and write it after each.

    Raises
    ------
    FileError
        If the file is no such state, is that of another plan, or cannot be written.
    """
    results = _read(state, plan.about) if state is not None and os.path.exists(state) else {}
    missing = [name for name in plan.cells if name not in results]
    for name in progress(missing, "cells"):
        results[name] = plan.cells[name]()
        if state is not None:
            written = {"about": plan.about, "results": results, "sha256": _digest(results)}
            write_whole(state, partial(_write, written), suffix=".json", overwrite=True)
    return results


def _write(state: dict[str, Any], file: IO[bytes]) -> None:
    file.write(json.dumps(state, allow_nan=False).encode())


def _read(path: str, about: dict[str, Any]) -> dict[str, Any]:
    with reading(path, "the state of a study"), open(path, encoding="utf-8") as file:
        state = json.load(file)
    if not isinstance(state, dict) or state.keys() != {"about", "results", "sha256"}:
        raise FileError(f"{path} is not the state of a study")
    if state["sha256"] != _digest(state["results"]) or not isinstance(state["results"], dict):
        raise FileError(f"{path} is damaged: its results are not those that were written")
    known = json.loads(json.dumps(about))
    if state["about"] != known:
        held = state["about"] if isinstance(state["about"], dict) else {}
        wrong = [name for name in known if held.get(name) != known[name]] or ["more"]
        raise FileError(
            f"{path} is the state of another study: its {wrong[0]} is "
            f"{shown(held.get(wrong[0]))}, and here {shown(known.get(wrong[0]))}"
        )
    return dict(state["results"])


def _digest(results: object) -> str:
    return hashlib.sha256(json.dumps(results, sort_keys=True).encode()).hexdigest()
