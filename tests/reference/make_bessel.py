"""Write bessel.npz: `python -m reference.make_bessel` from tests/. Some minutes.

Rows of "mean": nu, x; log M_nu(x), I_(nu+1)(x) / I_nu(x) and log I_nu(x). Rows of "rise": nu, x,
increase; log M_nu(sqrt(x^2 + increase)) - log M_nu(x). Rows of "limit": nu, x; x - log M_nu(x) and
1 - I_(nu+1)(x) / I_nu(x), where they are small, too, and where the formula changes. Every value
has two rows (two_floats.py).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from mpmath import mp

from reference import bessel
from reference.two_floats import split


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


def ordinary(rng: np.random.Generator, count: int) -> list[tuple[float, float]]:
    """Orders and arguments of all kinds."""
    points = []
    for i in range(count):
        nu = order(rng, i % 7)
        points.append((nu, argument(rng, nu, i // 7 % 4)))
    return points


def around_changes(rng: np.random.Generator) -> np.ndarray:
    """Where the core changes its formula: order 24 and argument 50, and the recurrence's orders."""
    ends = [np.nextafter(24, 0), 24, 23.5, 23.49, 0, 1e-300, 0.5, 1, 2.5]
    nu = np.concatenate([ends, rng.uniform(0, 25, 20)])
    x = np.concatenate([[np.nextafter(50, 0), 50, 1e-5, 1e3], 10.0 ** rng.uniform(0, 3, 6)])
    return np.stack(np.meshgrid(nu, x), axis=-1).reshape(-1, 2)


def tiny(rng: np.random.Generator) -> np.ndarray:
    """Arguments down to the smallest number, of tiny and other orders."""
    nu = np.concatenate([np.zeros(50), 10.0 ** rng.uniform(-300, 8, 250)])
    return np.column_stack([nu, 10.0 ** rng.uniform(-320, -9, nu.size)])


def mean_row(nu: float, x: float) -> list[float]:
    """One of "mean"; 1 + nu takes as many digits as nu is small."""
    with mp.workdps(60 if nu == 0 or nu > 1e-20 else 350):
        mean, ratio = bessel.mean_and_ratio(nu, x, mp.dps - 10)
        log_iv = bessel.log_iv_from_mean(nu, x, mean)
        return [nu, x, *split(mean), *split(ratio), *split(log_iv)]


def rise_row(nu: float, x: float, more: float) -> list[float]:
    """One of "rise"."""
    with mp.workdps(60):
        return [nu, x, more, *split(bessel.mean_rise(nu, x, more))]


def limit_row(nu: float, x: float) -> list[float]:
    """One of "limit"."""
    with mp.workdps(60):
        mean, ratio = bessel.mean_and_ratio(nu, x)
        return [nu, x, *split(x - mean), *split(1 - ratio)]


def limits(means: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points of "limit", a part of them those of "mean"."""
    rng = np.random.default_rng(20240501)
    orders = np.concatenate([rng.uniform(0, 3, 60), rng.uniform(0, 26, 180), np.zeros(2)])
    near = np.concatenate([rng.uniform(20, 50, 120), 10 ** rng.uniform(1.6, 12, 120)])
    arguments = np.concatenate([near, [np.nextafter(50, 0), 50.0]])
    return [*means[::10], *zip(orders.tolist(), arguments.tolist(), strict=True)]


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(20241105)
    means = ordinary(rng, 1400)
    rises = []
    for i in range(840):
        nu = order(rng, i % 7)
        x = argument(rng, nu, i // 7 % 4)
        rises.append((nu, x, increase(rng, x, i // 28 % 4)))
    hard = np.concatenate([around_changes(rng), tiny(rng)]).tolist()
    tables = {
        "mean": [mean_row(nu, x) for nu, x in [*means, *hard]],
        "rise": [rise_row(*point) for point in rises],
        "limit": [limit_row(nu, x) for nu, x in limits(means)],
    }
    arrays = {name: np.array(rows).T.copy() for name, rows in tables.items()}
    np.savez_compressed(Path(__file__).with_name("bessel.npz"), **arrays)


if __name__ == "__main__":
    main()
