"""Tables whose every number stands beside the one that is expected, and how they are printed."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

Setting = TypeVar("Setting", bound=float | str)

_WIDTHS = {"ours": 7, "expected": 8, "diff.": 6}  # of printed numbers, in characters, at least
_FEWEST_DIGITS, _MOST_DIGITS = 4, 9  # significant, that are printed where both bounds have them


@dataclass(frozen=True)
class Cell:
    """One number of a table: what this package computes, and what is expected, as printed.

    `ours` is None where nothing in this package computes it, `expected` where nothing is known.
    Where `lower` is given, what is asked for is proved to lie between it and `ours`.
    """

    ours: float | None
    expected: str | None = None
    lower: float | None = None

    @classmethod
    def between(cls, bounds: tuple[float, float]) -> Cell:
        """Return the cell of a number of which proved bounds are known."""
        lower, upper = bounds
        return cls(upper, lower=lower)

    @property
    def decimals(self) -> int:
        """The digits after the point that are expected: -3 for 1.42e+05, whose unit is 1e3."""
        if self.expected is None:
            return 4
        digits, _, exponent = self.expected.partition("e")
        return len(digits.partition(".")[2]) - int(exponent or 0)

    @property
    def difference(self) -> float | None:
        """Ours less the expected number; None if one of them is missing."""
        if self.ours is None or self.expected is None:
            return None
        return self.ours - float(self.expected)

    @property
    def agrees(self) -> bool:
        """Whether ours is within one unit of the expected number's last digit, if both exist."""
        return self.difference is None or abs(self.difference) <= 10.0**-self.decimals


Figure: TypeAlias = Cell | float | str | None
"""A cell; or a number that is ours, a text that is expected, None for neither."""


def _cell(figure: Figure) -> Cell:
    if isinstance(figure, Cell):
        return figure
    return Cell(None, figure) if isinstance(figure, str) else Cell(figure)


def beside(ours: Iterable[float | None], expected: Iterable[str | None]) -> tuple[Figure, ...]:
    """Return our numbers, each beside the one that is expected."""
    return tuple(Cell(*pair) for pair in zip(ours, expected, strict=True))


def mean_and_error(values: ArrayLike) -> tuple[float, float | None]:
    """Return the mean of several runs, and its standard error; None of a single one."""
    every = np.asarray(values, dtype=np.float64)
    error = float(every.std(ddof=1)) / every.size**0.5 if every.size > 1 else None
    return float(every.mean()), error


def figures(text: str, *columns: int, settings: int = 1) -> list[dict[Any, Any]]:
    """Return what is known, of a text with a line a setting: numbers, then figures as printed.

    A dictionary for each so many columns, from the setting to its figures, or to the figure where
    that is one; lines without any are left out. NA: none. Of several settings they are nested.
    """
    parts: list[dict[Any, Any]] = [{} for _ in columns]
    for words in map(str.split, text.strip().splitlines()):
        *outer, last = (int(word) if word.isdigit() else float(word) for word in words[:settings])
        rest = iter(None if word == "NA" else word for word in words[settings:])
        for part, count in zip(parts, columns, strict=True):
            found = tuple(itertools.islice(rest, count))
            if any(found):
                for setting in outer:
                    part = part.setdefault(setting, {})
                part[last] = found if count > 1 else found[0]
    return parts


@dataclass(frozen=True)
class Row:
    """One line of a table: the setting, a number or a name, and a number for each column."""

    setting: float | str
    cells: tuple[Cell, ...]

    @property
    def label(self) -> str:
        """The setting as it is printed."""
        return self.setting if isinstance(self.setting, str) else f"{self.setting:g}"


@dataclass(frozen=True)
class Table:
    """A table of `Cell`: `setting` heads the first column, `columns` the groups of numbers."""

    title: str
    setting: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        title: str,
        setting: str,
        columns: Iterable[str],
        rows: Mapping[Setting, Iterable[Figure]] | Iterable[tuple[Setting, Iterable[Figure]]],
        *notes: str,
    ) -> Table:
        """Return the table of the figures of each setting; a note is a paragraph."""
        pairs = rows.items() if isinstance(rows, Mapping) else rows
        return cls(
            title,
            setting,
            tuple(columns),
            tuple(Row(name, tuple(map(_cell, figures))) for name, figures in pairs),
            tuple(line for text in notes for line in textwrap.wrap(text, 100)),
        )

    @property
    def disagreements(self) -> list[str]:
        """What is not within one unit of the last digit of the expected number, one line each."""
        return [
            f"{column}, {self.setting} {row.label}: {cell.ours!r}, expected {cell.expected}"
            for row in self.rows
            for column, cell in zip(self.columns, row.cells, strict=True)
            if not cell.agrees
        ]

    def text(self) -> str:
        """Return the table as lines of text, at most 120 characters wide."""
        label = max(len(self.setting), *(len(row.label) for row in self.rows))
        labels = ["", self.setting, *(row.label for row in self.rows)]
        groups = [self._group(number) for number in range(len(self.columns))]
        lines = [
            "   ".join([name.rjust(label), *parts]).rstrip()
            for name, *parts in zip(labels, *groups, strict=True)
        ]
        return "\n".join([self.title, "", *lines, *self.notes])

    def _group(self, number: int) -> list[str]:
        """Return the lines of one column, all of one width: name, heads, and its numbers."""
        cells = [row.cells[number] for row in self.rows]
        known = [name for name in _WIDTHS if any(_known(cell, name) for cell in cells)]
        parts = [[name, *(_show(cell, name) for cell in cells)] for name in known or ["ours"]]
        widths = [max(_WIDTHS[part[0]], *map(len, part)) for part in parts]
        lines = [
            " ".join(text.rjust(width) for text, width in zip(texts, widths, strict=True))
            for texts in zip(*parts, strict=True)
        ]
        width = max(len(self.columns[number]), len(lines[0]))
        return [self.columns[number].center(width), *(line.rjust(width) for line in lines)]

    def as_dict(self) -> dict[str, Any]:
        """Return the table as JSON has it: full numbers, expected ones as printed."""
        return {
            "title": self.title,
            "setting": self.setting,
            "rows": [
                {
                    self.setting: row.setting,
                    "figures": {
                        column: {
                            "ours": cell.ours,
                            **({} if cell.lower is None else {"lower": cell.lower}),
                            "expected": None if cell.expected is None else float(cell.expected),
                            "difference": cell.difference,
                            "agrees": cell.agrees,
                        }
                        for column, cell in zip(self.columns, row.cells, strict=True)
                    },
                }
                for row in self.rows
            ],
            "notes": list(self.notes),
        }


def _known(cell: Cell, name: str) -> bool:
    number = {"ours": cell.ours, "expected": cell.expected, "diff.": cell.difference}
    return number[name] is not None


def _show(cell: Cell, name: str) -> str:
    if name == "diff.":
        return "-" if cell.difference is None else f"{cell.difference:+.0e}"
    if name == "expected":
        return cell.expected or "-"
    if cell.ours is None:
        return "-"
    if cell.lower is not None:
        return _show_bounds(cell.lower, cell.ours)
    mantissa, exponent, _ = (cell.expected or "").partition("e")
    if exponent:
        return f"{cell.ours:.{len(mantissa.partition('.')[2])}e}"
    return f"{cell.ours:.{cell.decimals}f}"


def _show_bounds(lower: float, upper: float) -> str:
    """Return the digits on which both agree, or both, rounded outwards, where these are few."""
    for digits in range(_MOST_DIGITS, _FEWEST_DIGITS - 1, -1):
        text = f"{upper:#.{digits}g}"
        if f"{lower:#.{digits}g}" == text:
            return text
    below, above = (
        Context(_FEWEST_DIGITS + 1, rounding).create_decimal_from_float(bound)
        for bound, rounding in ((lower, ROUND_FLOOR), (upper, ROUND_CEILING))
    )
    return f"{below} to {above}"
