"""Write sampled_von_mises_fisher.json: `python -m reference.make_sampled_von_mises_fisher`.

To be run in tests/. Each row is (kappa, p, half chord, q, fixed size, alpha, D): the numbers in
float's shortest form, which is exact, fixed size 0 or 1, and D with 22 digits. Needs mpmath, and
gmpy2 to finish in half an hour.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from mpmath import mp

from reference.sampled_von_mises_fisher import real_order

Case = tuple[float, float, float, float, float]
DIMS = (2.0, 3.0, 4.0, 10.0, 100.0, 13700.0, 1e6, 1e9)


def random_cases(rng: np.random.Generator) -> Iterator[Case]:
    """All that the card of the function names, for the whole sphere."""
    for _ in range(160):
        kappa, rate = 10 ** rng.uniform(-4, 9), 10 ** rng.uniform(-9, 0)
        yield kappa, rng.choice(DIMS), 1.0, rate, 1 + 10 ** rng.uniform(-6, 6)


def typical_cases(rng: np.random.Generator) -> Iterator[Case]:
    """About as hard as Gaussian noise of 0.05 to 100 sensitivities."""
    for _ in range(120):
        dim, distance = rng.choice(DIMS), 10 ** rng.uniform(-2, 1.3)
        kappa = distance * math.sqrt(dim) / 2
        yield kappa, dim, 1.0, 10 ** rng.uniform(-4, 0), 1 + 10 ** rng.uniform(-2, 2.5)


def angle_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Directions that are not opposite."""
    for _ in range(90):
        dim, s, distance = rng.choice(DIMS), 10 ** rng.uniform(-3, 0), 10 ** rng.uniform(-2, 1.3)
        kappa = distance * math.sqrt(dim) / (2 * s)
        if rng.random() < 0.3:  # concentrated, and as hard to tell apart
            kappa = (distance / (2 * s)) ** 2 * 10 ** rng.uniform(0, 3)
        yield min(kappa, 1e9), dim, s, 10 ** rng.uniform(-5, 0), 1 + 10 ** rng.uniform(-2, 3)


def bend_cases(rng: np.random.Generator) -> Iterator[Case]:
    """The integrand is largest, or not far from it, where 1 - q and q e^l are the same."""
    for _ in range(40):
        dim, distance = rng.choice(DIMS[3:]), 10 ** rng.uniform(0, 1.4)
        rate = math.exp(-rng.uniform(0.2, 1.2) * distance**2 / 2)
        kappa = distance * math.sqrt(dim) / 2
        yield kappa, dim, 1.0, max(rate, 1e-300), 1 + 10 ** rng.uniform(-9, 0.5)


def balance_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Two modes far apart that weigh alike."""
    for _ in range(40):
        dim, distance = rng.choice(DIMS[3:]), 10 ** rng.uniform(-2, 1)
        alpha = 1 + 10 ** rng.uniform(0, 3)
        exponent = (alpha - 1) * distance**2 / 2 + rng.uniform(-10, 10) / alpha
        rate = max(min(math.exp(-exponent), 0.999), 1e-300)
        yield distance * math.sqrt(dim) / 2, dim, 1.0, rate, alpha


def flat_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Modes much wider than a Gaussian: as many orders as make two modes one."""
    for _ in range(25):
        dim, noise = rng.choice(DIMS), 10 ** rng.uniform(0, 2.5)
        alpha = 4 * noise**2 * rng.uniform(0.8, 1.5)
        yield math.sqrt(dim) / (2 * noise), dim, 1.0, 1 / (1 + math.exp(rng.uniform(1.5, 3))), alpha


def nearly_all_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Sampling rates next to 1."""
    for _ in range(30):
        rate = min(1 - 10 ** rng.uniform(-16, -1), 1 - 2**-53)
        yield 10 ** rng.uniform(-2, 5), rng.choice(DIMS), 1.0, rate, 1 + 10 ** rng.uniform(-6, 4)


def kullback_leibler_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Order 1."""
    for _ in range(30):
        yield 10 ** rng.uniform(-3, 7), rng.choice(DIMS), 1.0, 10 ** rng.uniform(-9, 0), 1.0


def extreme_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Far beyond what anybody needs."""
    for _ in range(30):
        kappa, dim = 10 ** rng.uniform(-30, 14), float(2 ** int(rng.integers(1, 54)))
        yield kappa, dim, 1.0, 10 ** rng.uniform(-100, 0), 1 + 10 ** rng.uniform(-15, 9)


def far_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Concentrated directions in few dimensions, and orders that look far beyond them."""
    for _ in range(14):
        s = 10 ** rng.uniform(-2.5, -0.2)
        kappa = 2500 / (1 - s * s) * 10 ** rng.uniform(0, 1.5)
        alpha = 1 + 10 ** rng.uniform(0, 1.5) / s
        yield kappa, rng.choice([3.0, 4.0, 5.0, 10.0]), s, 10 ** rng.uniform(-7, -1), alpha


GROUPS = {
    "typical": typical_cases,
    "random": random_cases,
    "bend": bend_cases,
    "balance": balance_cases,
    "flat": flat_cases,
    "nearly all": nearly_all_cases,
    "Kullback-Leibler": kullback_leibler_cases,
    "extreme": extreme_cases,
    "angle": angle_cases,
    "far": far_cases,
}


def row(case: Case, fixed_size: int) -> list[float | int | str]:
    kappa, p, s, q, alpha = exact = tuple(float(x) for x in case)
    value = real_order(kappa, p, q, alpha, half_chord=s, fixed_size=bool(fixed_size))
    return [*exact[:4], fixed_size, alpha, mp.nstr(value, 22)]


def main() -> None:
    table = {}
    for name, cases in GROUPS.items():
        rng = np.random.default_rng(20261122)
        table[name] = [row(case, i % 2) for i, case in enumerate(cases(rng))]
        print(name, len(table[name]), flush=True)
    lines = [
        f" {json.dumps(name)}: [\n  " + ",\n  ".join(json.dumps(r) for r in rows) + "\n ]"
        for name, rows in table.items()
    ]
    Path(__file__).with_name("sampled_von_mises_fisher.json").write_text(
        "{\n" + ",\n".join(lines) + "\n}\n"
    )


if __name__ == "__main__":
    main()
