"""What a function returns, however many threads there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tightnoise import _core

T = TypeVar("T")


def with_threads(function: Callable[[], T], *counts: int) -> list[T]:
    """Return what a function returns with these numbers of threads, one after the other."""
    before, found = _core.num_threads(), []
    try:
        for count in counts:
            _core.set_num_threads(count)
            found.append(function())
    finally:
        _core.set_num_threads(before)
    return found
