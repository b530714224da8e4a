"""How the values of options are read."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import MAX_COUNT
from tightnoise.costs import Cost

Options = argparse.Namespace
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def finite(text: str) -> float:
    """Read a finite number, also as a fraction such as 128/60000."""
    above, slash, below = text.strip().partition("/")
    try:
        number = float(above) / float(below if slash else 1)
    except (ValueError, ZeroDivisionError):
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"not a finite number: {text.strip()!r}")
    return number


def whole(text: str) -> int:
    """Read a whole number, as digits or as 1e4."""
    try:
        return int(text)
    except ValueError:
        number = finite(text)
    if not number.is_integer() or abs(number) > MAX_COUNT:
        raise argparse.ArgumentTypeError(f"not a whole number: {text.strip()!r}")
    return int(number)


def several(read: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """Return what reads values with commas between."""
    return lambda text: [read(part) for part in text.split(",")]


def numbers(text: str) -> float | list[float]:
    """Read a finite number, or several with commas between."""
    values = several(finite)(text)
    return values if len(values) > 1 else values[0]


def orders(text: str) -> NDArray[np.float64]:
    """Read orders with commas between; return them sorted, each once."""
    try:
        values = np.unique(np.array([float(part) for part in text.split(",")]))
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a list of numbers: {text!r}") from None
    if not (values > 0).all() or not (values > 1).any():
        raise argparse.ArgumentTypeError(f"orders must be above 0, one above 1; got {text!r}")
    return values


def cost_in(path: str) -> Cost:
    """Read a cost from a file: `Cost.to_dict()`, or what holds it as "cost", as --json prints."""
    try:
        state = json.loads(Path(path).read_text(encoding="utf-8"))
        return Cost.from_dict(state.get("cost", state) if isinstance(state, dict) else state)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"{path} must hold a Cost as JSON: {error}") from error


def with_negative_numbers(arguments: Sequence[str]) -> list[str]:
    """Put a space before negative numbers: argparse takes -1e3 for an option, and ' -1e3' not."""
    return [f" {text}" if _is_negative(text) else text for text in arguments]


def _is_negative(text: str) -> bool:
    try:
        finite(text)
    except argparse.ArgumentTypeError:
        return text in ("-inf", "-nan")
    return text.startswith("-")
