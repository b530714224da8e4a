"""The special functions in mpmath, at random points of all their range.

A table has rows: the arguments, and the values in two parts (two_floats.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp, mpf

from reference import normal
from reference.two_floats import split


def in_parts(*parts: tuple[Any, ...]) -> Callable[..., list[np.ndarray]]:
    """n points in each part: ("uniform" or "log", lower, upper[, signs])."""

    def points(rng: np.random.Generator, n: int) -> list[np.ndarray]:
        drawn = []
        for kind, lower, upper, *signs in parts:
            x = rng.uniform(lower, upper, n)
            x = 10.0**x if kind == "log" else x
            drawn.append(x * rng.choice(signs, n) if signs else x)
        return [np.concatenate(drawn)]

    return points


def intervals(rng: np.random.Generator, n: int) -> list[np.ndarray]:
    """Narrow and wide intervals, in the middle, in the tails, and on both sides of 0."""
    parts = []
    u = rng.uniform(-8, 8, n)
    parts.append((u, u + 10.0 ** rng.uniform(-17, 2, n)))
    u = rng.uniform(-38, 38, n)
    parts.append((u, u + 10.0 ** rng.uniform(-17, 1.2, n)))
    u = 10.0 ** rng.uniform(0, 150, n)  # widths like the scale of the tail there
    v = u + 10.0 ** rng.uniform(-16, 3, n) / u
    sign = rng.random(n) < 0.5
    parts.append((np.where(sign, u, -v), np.where(sign, v, -u)))
    u = -rng.uniform(0, 5, n)
    parts.append((u, -u * rng.uniform(0.3, 3, n)))
    u = 10.0 ** rng.uniform(-300, 0, n) * rng.choice([-1, 1], n)  # tiny: no rounding of the width
    parts.append((u, u + 10.0 ** rng.uniform(-300, 0, n)))
    u = np.concatenate([part[0] for part in parts])
    v = np.concatenate([part[1] for part in parts])
    v = np.where(v > u, v, np.nextafter(u, np.inf))
    keep = ~((u < -37.5) & (v > 37.5))  # subnormal results
    return [u[keep], v[keep]]


def probabilities(rng: np.random.Generator, n: int) -> list[np.ndarray]:
    """From the smallest on, next to 1/2 and next to 1."""
    (p,) = in_parts(("uniform", 0, 1), ("log", -323, 0))(rng, n)
    half = 0.5 + 10.0 ** rng.uniform(-14, -1, n)
    return [np.concatenate([p, half, 1 - 10.0 ** rng.uniform(-16, -0.01, n)])]


def log_probabilities(rng: np.random.Generator, n: int) -> list[np.ndarray]:
    """Of all sizes, and the numbers next to log(1/2)."""
    (t,) = in_parts(("log", -300, 0), ("log", -2, 3), ("uniform", 0.6, 0.8), ("log", 2, 300))(
        rng, n
    )
    return [-np.concatenate([t, math.log(2) * (1 + np.arange(-50, 50) * 2.0**-52)])]


LINE = (("uniform", -37.5, 37.5), ("uniform", -8, 8), ("log", -20, 0, 1, -1))
FAR = ("log", 1.5, 150)  # beyond what erfc can represent
SUBNORMAL = ("uniform", -38.4, -37.5)
FUNCTIONS: dict[str, tuple[Callable[..., list[np.ndarray]], Callable[..., Any]]] = {
    "exp": (
        in_parts(
            ("uniform", -708, 709.7), ("uniform", -1, 1), ("log", -300, 0, 1, -1),
            ("uniform", -745.1, -708.4),
        ),
        mp.exp,
    ),
    "log": (in_parts(("log", -323, 308), ("uniform", 0.4, 2.5), ("uniform", 0.99, 1.01)), mp.log),
    "log1p": (
        in_parts(("log", -300, 308), ("uniform", -0.999999, 3), ("log", -18, -0.01, 1, -1)),
        mp.log1p,
    ),
    "expm1": (
        in_parts(("uniform", -50, 709), ("uniform", -1, 1), ("log", -300, 0, 1, -1)),
        mp.expm1,
    ),
    "expm1mx": (
        in_parts(("uniform", -50, 709), ("uniform", -2, 2), ("log", -150, 0, 1, -1)),
        normal.expm1mx,
    ),
    "erfcx": (
        in_parts(
            ("uniform", -26.6, 0), ("uniform", -20, 0), ("uniform", 0, 20), ("uniform", 0, 30),
            ("log", -20, 307),
        ),
        normal.erfcx,
    ),
    # Where SciPy 1.17 and PyTorch 2.13 lose digits, or return 0, there are parts for it.
    "ndtr": (
        in_parts(
            *LINE, ("uniform", -6, -1), ("uniform", -8.3, -6), ("uniform", -20, -8.3),
            ("uniform", -37.5, -20), SUBNORMAL,
        ),
        normal.ndtr,
    ),
    "log_ndtr": (
        in_parts(
            *LINE, ("uniform", -40, 1), ("uniform", 1, 8), ("uniform", 8, 37.5),
            ("uniform", 37.5, 38.4), (*FAR, -1),
        ),
        normal.log_ndtr,
    ),
    "hazard": (in_parts(*LINE, SUBNORMAL, FAR), normal.hazard),
    "mills": (in_parts(*LINE, FAR), normal.mills),
    "log_ndtr_diff": (intervals, normal.log_ndtr_diff),
    "ndtri": (probabilities, normal.ndtri),
    "ndtri_exp": (log_probabilities, normal.ndtri_exp),
}  # fmt: skip


def table(name: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """n columns for each part of the range of a function."""
    points, function = FUNCTIONS[name]
    columns = []
    with mp.workdps(50):
        for arguments in zip(*(x.tolist() for x in points(rng, n)), strict=True):
            columns.append((*arguments, *split(function(*map(mpf, arguments)))))
    return np.array(columns).T.copy()
