"""Numbers and tables for people to read."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

Parts = Sequence[str | Sequence[Sequence[str]]]
"""Of what is printed: lines, and tables of which each row is a sequence of texts."""


class Printed:
    """What `print` shows as text and a notebook as a page."""

    _later = "right"
    """Where columns after the first stand: words do on the left."""

    @abstractmethod
    def _parts(self) -> Parts:
        """Return lines and tables."""

    def __str__(self) -> str:
        parts = self._parts()
        return "\n".join(
            line
            for part in parts
            for line in ([part] if isinstance(part, str) else columns(part, self._later))
        )

    def _repr_html_(self) -> str:
        return "\n".join(_html(part, self._later) for part in self._parts())


def _html(part: str | Sequence[Sequence[str]], later: str) -> str:
    import html  # a notebook's, and half of what importing this module would take

    if isinstance(part, str):
        return f"<div>{html.escape(part.strip())}</div>"
    sides = "left", later  # as in `columns`
    rows = (
        "".join(
            f'<td style="text-align: {sides[i > 0]}">{html.escape(text)}</td>'
            for i, text in enumerate(row)
        )
        for row in part
    )
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def columns(rows: Sequence[Sequence[str]], later: str = "right") -> list[str]:
    """Return one line a row: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    place = str.rjust if later == "right" else str.ljust
    return [
        "  ".join([row[0].ljust(widths[0]), *map(place, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]


def upper_text(value: float, digits: int = 6) -> str:
    """Return `value` rounded upwards to a number of digits: a cost is never shown too low."""
    return _rounded(value, digits, ROUND_CEILING)


def lower_text(value: float, digits: int = 6) -> str:
    """Return `value` rounded downwards: a lower bound is never shown too high."""
    return _rounded(value, digits, ROUND_FLOOR)


def exact_text(value: float) -> str:
    """Return `value` with all its digits, and no more: what a bound is for is not rounded."""
    return repr(float(value)).removesuffix(".0")


def _rounded(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return str(value)
    rounded = Context(prec=digits, rounding=rounding).create_decimal_from_float(value)
    return f"{float(rounded):.{digits}g}"
