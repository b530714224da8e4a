"""Write bayes_capacity.json: `python -m reference.make_bayes_capacity` from tests/.

A table a function of bayes_capacity.py: rows of its arguments and its value. Numbers are in float's
shortest form, which is exact; values have 25 digits. Takes some minutes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mpmath import mp

from reference import bayes_capacity

Row = tuple[Any, ...]


def power(rng: np.random.Generator, low: float, high: float) -> float:
    return float(f"{10 ** rng.uniform(low, high):.6g}")


def ball(rng: np.random.Generator) -> Row:
    dim = int(power(rng, 0, rng.choice([1, 2.2, 4, 9])))
    short = power(rng, -9, 6)
    about = power(rng, -1.5, 2) / dim**0.5  # log C of ordinary size
    return dim, float(f"{rng.choice([short, about]):.6g}")


def cap(rng: np.random.Generator) -> Row:
    dim = int(power(rng, 0.31, rng.choice([1, 2, 4, 7.5])))
    kappa = rng.choice([power(rng, -8, 9), dim * power(rng, -3, 3), dim**0.5 * power(rng, -2, 2)])
    angle = rng.choice([power(rng, -9, 0), rng.uniform(0, 1.57), np.pi / 2])
    near = min(angle, power(rng, -2, 2) / (dim + kappa) ** 0.5)
    return float(f"{kappa:.6g}"), dim, float(f"{rng.choice([angle, near]):.6g}")


def bounds(rng: np.random.Generator, farthest: float) -> tuple[float, float, float, float, float]:
    """sigma, a mechanism's bounds, and a domain within, across, around or beside them."""
    sigma = power(rng, -3, 3)
    width = sigma * power(rng, -4, 3)
    lower = sigma * rng.uniform(-2, 2)
    length = sigma * power(rng, -9, 3)
    offset = [
        rng.uniform(0, 1) * width,
        -rng.uniform(0, 1) * length,
        rng.uniform(-farthest, farthest) * sigma,
    ][rng.integers(3)]
    start = lower + offset
    ends = float(start), float(start + min(length, farthest * sigma))
    return sigma, float(lower), float(lower + width), *ends


def box(rng: np.random.Generator) -> Row:
    return bounds(rng, 20.0)


def box_of_truncated(rng: np.random.Generator) -> Row:
    return bounds(rng, 12.0)


def box_of_quantized(rng: np.random.Generator) -> Row:
    sigma, lower, upper, start, end = bounds(rng, 20.0)
    return sigma, lower, upper, int(rng.choice([2, 3, 4, 17, 256])), start, end


def box_of_sign(rng: np.random.Generator) -> Row:
    sigma, _, _, start, end = bounds(rng, 20.0)
    return sigma, start, end


TABLES: dict[str, tuple[Callable[[np.random.Generator], Row], int]] = {
    "ball": (ball, 160),
    "cap": (cap, 160),
    "rectified": (box, 120),
    "quantized": (box_of_quantized, 80),
    "sign": (box_of_sign, 60),
    "truncated": (box_of_truncated, 80),
}


def main() -> None:
    rng = np.random.default_rng(7)
    tables = {}
    for name, (draw, count) in TABLES.items():
        function = getattr(bayes_capacity, name)
        rows = [draw(rng) for _ in range(count)]
        tables[name] = [[*row, mp.nstr(function(*row), 25)] for row in rows]
    lines = [
        f' "{name}": [\n' + ",\n".join(f"  {json.dumps(row)}" for row in rows) + "\n ]"
        for name, rows in tables.items()
    ]
    path = Path(__file__).parent / "bayes_capacity.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
