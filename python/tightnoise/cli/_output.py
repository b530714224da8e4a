"""How commands print: JSON that any reader takes, and notes beside the answer."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TextIO

import numpy as np

from tightnoise.costs import Cost


def json_text(report: dict[str, Any]) -> str:
    """Return `report` as JSON; infinity becomes the string 'inf'."""
    return json.dumps(_plain(report), indent=2, allow_nan=False)


def print_json(report: dict[str, Any]) -> None:
    """Print `report` as JSON."""
    print(json_text(report))


def print_paid(command: str, text: str) -> int:
    """Print what was paid for, on stderr if stdout does not take it; return the exit code, 0 or 3.

    Nothing tells before that a disk is full or that the reader of a pipe will go.
    """
    try:
        print(text, flush=True)
    except OSError as error:
        abandon(sys.stdout)
        say(f"tightnoise {command}: error: standard output: {error.strerror}; what was paid for:")
        say(text)
        return 3
    return 0


def say(text: str) -> None:
    """Print a line on stderr, unless nobody takes it."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        abandon(sys.stderr)


def abandon(stream: TextIO) -> None:
    """Have what a stream still holds go nowhere: Python would complain as it closes it."""
    with suppress(OSError):  # a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_notes(command: str, notes: Sequence[str]) -> None:
    """Print what a person should know about the answer, where it does not disturb a pipe."""
    for note in notes:
        say(f"tightnoise {command}: note: {note}")


def _plain(value: object) -> Any:
    """Return what JSON can hold: it has no number for infinity, and no costs."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Cost):
        return _plain(value.to_dict())
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
