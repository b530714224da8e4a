"""Numbers and tables for people to read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

__all__ = ["columns", "lower_text", "upper_text"]


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return one line a row: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]


def upper_text(value: float, digits: int = 6) -> str:
    """Return `value` rounded upwards to a number of digits: a cost is never shown too low."""
    return _rounded(value, digits, ROUND_CEILING)


def lower_text(value: float, digits: int = 6) -> str:
    """Return `value` rounded downwards: a lower bound is never shown too high."""
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return str(value)
    rounded = Context(prec=digits, rounding=rounding).create_decimal_from_float(value)
    return f"{float(rounded):.{digits}g}"
