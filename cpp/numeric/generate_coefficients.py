"""Write the generated headers of this directory: python generate_coefficients.py.

Everything is computed by mpmath and rounded once to double, so the text is the same on every
machine; tests/test_special.py checks that the committed headers are what this script writes.
"""

from __future__ import annotations

from pathlib import Path

from mpmath import mp, mpf

HERE = Path(__file__).parent
GAUSS_LEGENDRE_POINTS = (6, 8, 16, 20, 32, 64)


def table(name: str, values: list[mpf]) -> str:
    """Return the C++ definition of an array of doubles, each with 17 significant digits."""
    body = "".join(f"        {float(value)!r},\n" for value in values)
    return f"    static constexpr double {name}[{len(values)}] = {{\n{body}    }};\n"


def legendre(n: int, x: mpf) -> tuple[mpf, mpf]:
    """Return P_n(x) and its derivative."""
    before, now = mpf(1), x
    for k in range(2, n + 1):
        before, now = now, ((2 * k - 1) * x * now - (k - 1) * before) / k
    return now, n * (x * now - before) / (x * x - 1)


def gauss_legendre(n: int) -> tuple[list[mpf], list[mpf]]:
    """Return nodes (ascending) and weights for the integral over [0, 1]; n is even."""
    lower = []
    for k in range(n // 2):
        x = mp.cos(mp.pi * (k + mpf(3) / 4) / (n + mpf(1) / 2))
        for _ in range(6):
            value, slope = legendre(n, x)
            x -= value / slope
        slope = legendre(n, x)[1]
        lower.append(((1 - x) / 2, 1 / ((1 - x * x) * slope * slope)))
    nodes = [x for x, _ in lower] + [1 - x for x, _ in reversed(lower)]
    weights = [w for _, w in lower] + [w for _, w in reversed(lower)]
    return nodes, weights


def render_gauss_legendre() -> str:
    """Return the text of gauss_legendre.hpp."""
    parts = [
        """\
// Gauss-Legendre quadrature on [0, 1]: integral_0^1 f(y) dy ~ sum_k weights[k] f(nodes[k]), exact
// for polynomials of degree 2 Points - 1. Nodes ascend and nodes[Points - 1 - k] = 1 - nodes[k];
// nodes and weights are the exact values rounded to double (those near 0 keep their relative
// accuracy). Kernel-side header: internal linkage.
//
// Written by generate_coefficients.py: do not edit.
// clang-format off
#pragma once

namespace tightnoise {
namespace {

template <int Points>
struct GaussLegendre;
"""
    ]
    for n in GAUSS_LEGENDRE_POINTS:
        nodes, weights = gauss_legendre(n)
        parts.append(
            f"\ntemplate <>\nstruct GaussLegendre<{n}> {{\n"
            f"{table('nodes', nodes)}{table('weights', weights)}}};\n"
        )
    parts.append("\n}  // namespace\n}  // namespace tightnoise\n")
    return "".join(parts)


def headers() -> dict[str, str]:
    """Return the generated headers: file name to text."""
    with mp.workdps(50):
        return {"gauss_legendre.hpp": render_gauss_legendre()}


if __name__ == "__main__":
    for name, text in headers().items():
        (HERE / name).write_text(text)
