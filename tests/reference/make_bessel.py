"""Write bessel.json: `python -m reference.make_bessel` from tests/.

Rows of "mean": nu, x, log M_nu(x), I_(nu+1)(x) / I_nu(x). Rows of "rise": nu, x, increase,
log M_nu(sqrt(x^2 + increase)) - log M_nu(x). Rows of "limit": nu, x, x - log M_nu(x),
1 - I_(nu+1)(x) / I_nu(x), where they are small, too, and where the formula changes. Numbers are in
float's shortest form, which is exact;
values have 25 digits. Needs mpmath, and gmpy2 to finish in minutes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from mpmath import mp

from reference import bessel


def order(rng: np.random.Generator, kind: int) -> float:
    """All orders, more of them where the recurrence is used and around its ends."""
    return float(
        [
            lambda: 10 ** rng.uniform(0, 8.7),
            lambda: rng.uniform(0, 25),
            lambda: rng.integers(0, 60) / 2,
            lambda: 10 ** rng.uniform(-12, 1.4),
            lambda: rng.uniform(22, 100),
            lambda: 10 ** rng.uniform(8, 15),
            lambda: 0.0,
        ][kind]()
    )


def argument(rng: np.random.Generator, nu: float, kind: int) -> float:
    """All arguments, more of them where the function bends: x about nu, and about 50."""
    return float(
        [
            lambda: 10 ** rng.uniform(-8, 9),
            lambda: (nu + 1) * 10 ** rng.uniform(-2, 2),
            lambda: rng.uniform(0, 100),
            lambda: np.sqrt(nu + 1) * 10 ** rng.uniform(-2, 2),
        ][kind]()
    )


def increase(rng: np.random.Generator, x: float, kind: int) -> float:
    """Up and down, from a rounding error to all of x^2 and far beyond it."""
    return float(
        [
            lambda: x * x * 10 ** rng.uniform(-12, 2),
            lambda: -x * x * 10 ** rng.uniform(-12, -1e-3),
            lambda: x * x * 10 ** rng.uniform(-17, 12),
            lambda: 10 ** rng.uniform(-16, 18),
        ][kind]()
    )


def limits(means: list[list[Any]]) -> list[list[Any]]:
    """Rows of "limit", a part of them at the points of "mean"."""
    rng = np.random.default_rng(20240501)
    points = [row[:2] for row in means[::10]]
    orders = np.concatenate([rng.uniform(0, 3, 60), rng.uniform(0, 26, 180), np.zeros(2)])
    near = np.concatenate([rng.uniform(20, 50, 120), 10 ** rng.uniform(1.6, 12, 120)])
    arguments = np.concatenate([near, [np.nextafter(50, 0), 50.0]])
    points += np.column_stack([orders, arguments]).tolist()
    rows = []
    with mp.workdps(60):
        for nu, x in points:
            mean, ratio = bessel.mean_and_ratio(nu, x)
            rows.append([nu, x, mp.nstr(x - mean, 25), mp.nstr(1 - ratio, 25)])
    return rows


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(20241105)
    means, rises = [], []
    for i in range(1400):
        nu = order(rng, i % 7)
        x = argument(rng, nu, i // 7 % 4)
        with mp.workdps(60):
            mean, ratio = bessel.mean_and_ratio(nu, x)
            means.append([nu, x, mp.nstr(mean, 25), mp.nstr(ratio, 25)])
    for i in range(840):
        nu = order(rng, i % 7)
        x = argument(rng, nu, i // 7 % 4)
        more = increase(rng, x, i // 28 % 4)
        with mp.workdps(60):
            rises.append([nu, x, more, mp.nstr(bessel.mean_rise(nu, x, more), 25)])
    parts = [
        f' "{name}": [\n' + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]"
        for name, rows in (("mean", means), ("rise", rises), ("limit", limits(means)))
    ]
    Path(__file__).with_name("bessel.json").write_text("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    main()
