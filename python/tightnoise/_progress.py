"""A progress bar for long work: on a terminal, and with tqdm installed (extra `cli`)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TypeVar

SHOWN_AFTER = 2.0
"""Seconds of a call of the Python interface without a bar."""

Item = TypeVar("Item")


def progress(items: Sequence[Item], name: str, *, delay: float = 0.0) -> Iterable[Item]:
    """Return `items`, with a bar on stderr as they are used up if somebody can see it.

    Seconds of `delay` come first: most calls that show one never last so long.
    """
    if sys.stderr is None or not sys.stderr.isatty():  # None: closed, or a program without one
        return items
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    bar: Iterable[Item] = tqdm(items, desc=name, file=sys.stderr, leave=False, delay=delay)
    return bar


def print_line(line: str) -> None:
    """Print a line of the answer now, above the bar if there is one."""
    if "tqdm" in sys.modules:
        sys.modules["tqdm"].tqdm.write(line)
    else:
        print(line)
    sys.stdout.flush()
