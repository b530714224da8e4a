"""How commands print: JSON that any reader takes, and notes beside the answer."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tightnoise.costs import Cost


def print_json(report: dict[str, Any]) -> None:
    """Print `report`; infinity becomes the string 'inf'."""
    print(json.dumps(_plain(report), indent=2, allow_nan=False))


def print_notes(command: str, notes: Sequence[str]) -> None:
    """Print what a person should know about the answer, where it does not disturb a pipe."""
    for note in notes:
        print(f"tightnoise {command}: note: {note}", file=sys.stderr)


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
