"""Numbers and tables for people to read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Context

__all__ = ["columns", "upper_text"]


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return one line a row: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]


def upper_text(value: float, digits: int = 6) -> str:
    """Return `value` rounded upwards to a number of digits: a cost is never shown too low."""
    if not math.isfinite(value):
        return str(value)
    rounded = Context(prec=digits, rounding=ROUND_CEILING).create_decimal_from_float(value)
    return f"{float(rounded):.{digits}g}"
