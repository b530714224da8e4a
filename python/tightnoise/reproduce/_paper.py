"""What a module of this package tells of its paper."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO

from tightnoise.reproduce._table import Table


@dataclass(frozen=True)
class Paper:
    """A paper whose tables and figures a module recomputes.

    Parameters
    ----------
    title, authors : str
    year : int
    tables : sequence of callables
        Each computes one table, in the order in which they are printed.
    draw : callable
        Draws the paper's figures as a PNG into a binary file. Needs matplotlib.
    cells : sequence of callables, optional
        Long work that the tables are made of, in pieces that several threads may share; each
        remembers what it has computed.
    examples : sequence of callables, optional
        As `tables`, for what the paper tries its mechanisms on. May raise ModuleNotFoundError, with
        the extra to install.

    Examples
    --------
    >>> from tightnoise.reproduce import PAPERS
    >>> PAPERS["conversion"].year
    2020
    """

    title: str
    authors: str
    year: int
    tables: Sequence[Callable[[], Table]]
    draw: Callable[[IO[bytes]], None]
    cells: Sequence[Callable[[], object]] = ()
    examples: Sequence[Callable[[], Table]] = ()


def require_for_examples(module: str, name: str) -> None:
    """Raise ModuleNotFoundError, with how to install it, if what examples need is missing."""
    if importlib.util.find_spec(module) is None:
        raise ModuleNotFoundError(f"the examples need {name}: pip install 'tightnoise[examples]'")
