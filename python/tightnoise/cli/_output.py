"""How commands print: JSON that any reader takes, and notes beside the answer."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["print_json", "print_notes"]


def print_json(report: dict[str, Any]) -> None:
    """Print `report`; infinity becomes the string 'inf'."""
    print(json.dumps(_without_infinities(report), indent=2, allow_nan=False))


def print_notes(command: str, notes: Sequence[str]) -> None:
    """Print what a person should know about the answer, where it does not disturb a pipe."""
    for note in notes:
        print(f"tightnoise {command}: note: {note}", file=sys.stderr)


def _without_infinities(value: Any) -> Any:
    """Spell infinity as a string: JSON has no number for it."""
    if isinstance(value, dict):
        return {key: _without_infinities(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_infinities(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
