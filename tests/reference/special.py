"""The special functions in mpmath, at random points of all their range.

A table has rows: the arguments, the value rounded to float64, and the rest of it relative to that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp, mpf

from reference import normal


def in_parts(*parts: tuple[Any, ...]) -> Callable[..., list[np.ndarray]]:
    """Points, a share from each part: ("uniform" or "log", lower, upper[, signs])."""

    def points(rng: np.random.Generator, n: int) -> list[np.ndarray]:
        drawn = []
        for kind, lower, upper, *signs in parts:
            x = rng.uniform(lower, upper, n // len(parts) + 1)
            x = 10.0**x if kind == "log" else x
            drawn.append(x * rng.choice(signs, x.size) if signs else x)
        return [np.concatenate(drawn)[:n]]

    return points


def intervals(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Narrow and wide intervals, in the middle, in the tails, and on both sides of 0."""
    n = count // 5
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
    (p,) = in_parts(("uniform", 0, 1), ("log", -323, 0), ("log", -16, -0.01))(rng, n)
    p[2 * (n // 3 + 1) :] = 1 - p[2 * (n // 3 + 1) :]
    p[: n // 10] = 0.5 + 10.0 ** rng.uniform(-14, -1, n // 10)
    return [p]


def log_probabilities(rng: np.random.Generator, n: int) -> list[np.ndarray]:
    (t,) = in_parts(("log", -300, 0), ("log", -2, 3), ("uniform", 0.6, 0.8), ("log", 2, 300))(
        rng, n
    )
    return [-t]


LINE = in_parts(("uniform", -37.5, 37.5), ("uniform", -8, 8), ("log", -20, 0, 1, -1))
FUNCTIONS: dict[str, tuple[Callable[..., list[np.ndarray]], Callable[..., Any]]] = {
    "exp": (
        in_parts(("uniform", -708, 709.7), ("uniform", -1, 1), ("log", -300, 0, 1, -1)),
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
        in_parts(("uniform", -26.6, 0), ("uniform", 0, 20), ("log", -20, 307)),
        normal.erfcx,
    ),
    "ndtr": (LINE, normal.ndtr),
    "log_ndtr": (LINE, normal.log_ndtr),
    "hazard": (LINE, normal.hazard),
    "mills": (LINE, normal.mills),
    "log_ndtr_diff": (intervals, normal.log_ndtr_diff),
    "ndtri": (probabilities, normal.ndtri),
    "ndtri_exp": (log_probabilities, normal.ndtri_exp),
}


def table(name: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """About n columns of a function."""
    points, function = FUNCTIONS[name]
    columns = []
    with mp.workdps(50):
        for arguments in zip(*(x.tolist() for x in points(rng, n)), strict=True):
            exact = function(*map(mpf, arguments))
            value = float(exact)
            columns.append((*arguments, value, float((exact - value) / value)))
    return np.array(columns).T
