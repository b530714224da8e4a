"""A progress bar for long work: on a terminal, and with tqdm installed (extra `cli`)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TypeVar

__all__ = ["print_line", "progress"]

Item = TypeVar("Item")


def progress(items: Sequence[Item], name: str) -> Iterable[Item]:
    """Return `items`, with a bar on stderr as they are used up if somebody can see it."""
    if not sys.stderr.isatty():
        return items
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    bar: Iterable[Item] = tqdm(items, desc=name, file=sys.stderr, leave=False)
    return bar


def print_line(line: str) -> None:
    """Print a line of the answer now, above the bar if there is one."""
    if "tqdm" in sys.modules:
        sys.modules["tqdm"].tqdm.write(line)
    else:
        print(line)
    sys.stdout.flush()
