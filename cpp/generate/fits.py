"""What the headers of coefficients share: fits in 60 digits, their errors, and the C++ text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mpmath import mp, mpf

mp.dps = 60


def chebyshev_points(lower: mpf, upper: mpf, n: int) -> list[mpf]:
    """Return the n Chebyshev points of an interval."""
    return [
        (lower + upper) / 2 + (upper - lower) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * n))
        for k in range(n)
    ]


def rational(
    points: Sequence[mpf], values: Sequence[mpf], above: int, below: int
) -> tuple[list[mpf], list[mpf]]:
    """Return numerator and denominator, with constant term 1, that have the values in the points.

    Lowest powers first, as all coefficients here. below = 0: a polynomial.
    """
    rows = [
        [x**j for j in range(above + 1)] + [-y * x**j for j in range(1, below + 1)]
        for x, y in zip(points, values, strict=True)
    ]
    solution = rounded(mp.lu_solve(mp.matrix(rows), mp.matrix(values)))
    return solution[: above + 1], [mpf(1), *solution[above + 1 :]]


def chebyshev(
    f: Callable[[mpf], mpf], lower: mpf, upper: mpf, terms: int, real: type = float
) -> list[mpf]:
    """Return the polynomial of a truncated Chebyshev series, rounded to a type."""
    return rounded(reversed(mp.chebyfit(f, [lower, upper], terms)), real)


def rounded(coefficients: Iterable[Any], real: type = float) -> list[mpf]:
    """Return the coefficients as the numbers that a header holds."""
    return [mpf(float(real(c))) for c in coefficients]


def horner(coefficients: Sequence[mpf], x: mpf) -> mpf:
    """Return sum_k coefficients[k] x^k."""
    return mp.polyval(coefficients[::-1], x)


def grid(lower: mpf, upper: mpf, n: int = 200) -> list[mpf]:
    """Return n + 1 equally spaced points strictly inside an interval."""
    return [lower + (upper - lower) * (k + mpf(1) / 2) / (n + 1) for k in range(n + 1)]


def worst(errors: Iterable[Any]) -> str:
    """Return the largest absolute value with two digits."""
    return mp.nstr(max(abs(mpf(e)) for e in errors), 2)


def array(name: str, values: Sequence[Any]) -> str:
    """Return the C++ definition of an array of doubles, four a line, each with all its digits."""
    digits = [f"{float(value)!r}," for value in values]
    lines = [f"    {' '.join(digits[i : i + 4])}\n" for i in range(0, len(digits), 4)]
    return f"constexpr double {name}[{len(values)}] = {{\n{''.join(lines)}}};\n"


def table(name: str, rows: Sequence[Sequence[Any]]) -> str:
    """Return the same of rows, the shorter ones filled up with zeros."""
    lines = [f"    {{{', '.join(repr(float(value)) for value in row)}}},\n" for row in rows]
    shape = f"[{len(rows)}][{max(map(len, rows))}]"
    return f"constexpr double {name}{shape} = {{\n{''.join(lines)}}};\n"


def struct(declaration: str, members: str) -> str:
    """Return the C++ definition of a struct of arrays."""
    static = textwrap.indent(members.replace("constexpr", "static constexpr"), "    ")
    return f"struct {declaration} {{\n{static}}};\n"


def header(says: str, body: str, namespace: str | None = None) -> str:
    """Return the text of a header, `says` its first lines of comment."""
    opened, closed = "", ""
    if namespace is not None:
        opened, closed = f"namespace {namespace} {{\n", f"}}  // namespace {namespace}\n"
    return f"""\
{textwrap.indent(says, "// ")}
//
// Written by cpp/generate: do not edit.
// clang-format off
#pragma once

namespace tightnoise {{
namespace {{
{opened}
{body}
{closed}}}  // namespace
}}  // namespace tightnoise
"""
