"""Write gaussian_mixtures.json: `python -m reference.make_gaussian_mixtures` from tests/.

Rows of a law's name and arguments, shift, epsilon, the divergence, its derivatives by shift and by
sigma (null where there is none), and by epsilon. Numbers are in float's shortest form, which is
exact; values have 20 digits. Needs mpmath, and gmpy2 to finish in minutes.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from mpmath import mp, mpf

from reference import gaussian_mixtures as reference

TABLE = Path(__file__).with_name("gaussian_mixtures.json")
POINTS = 260
STEP = mpf(10) ** -20  # of the differences: their error is about its square


def power(rng: random.Random, low: float, high: float) -> float:
    return float(f"{10 ** rng.uniform(low, high):.6g}")


def draw_law(rng: random.Random) -> tuple[str, list[Any]]:
    sensitivity = rng.choice([1.0, 1.0, 0.37, 12.5])
    sigma = float(
        f"{sensitivity * 10 ** rng.choice([rng.uniform(-1, 0.5), rng.uniform(-3, 4)]):.6g}"
    )
    epsilon = rng.choice([power(rng, -1.5, 1.3), power(rng, -6, 2.8)])
    kind = rng.choice(["multi", "multi", "quasi", "scale"])
    if kind == "multi":
        return kind, [sigma, epsilon, sensitivity, rng.choice([0, 1, 2, 3, 4, 6])]
    if kind == "quasi":
        return kind, [sigma, epsilon, sensitivity]
    n = rng.choice([1, 2, 3])
    locations = [float(f"{rng.uniform(0, 2):.6g}") * rng.choice([0, 1, 1]) for _ in range(n)]
    base = rng.choice([sigma, power(rng, -1, 0.5)])
    sigmas = [float(f"{base * 10 ** rng.uniform(0, 1.2):.6g}") for _ in range(n)]
    return kind, [locations, [power(rng, -5, 0) for _ in range(n)], sigmas]


def build(kind: str, arguments: list[Any], factor: mpf) -> reference.Law:
    """Return the law with all sigmas times factor."""
    if kind == "scale":
        locations, weights, sigmas = arguments
        return reference.scale_mixture(locations, weights, [mpf(s) * factor for s in sigmas])
    sigma = mpf(arguments[0]) * factor
    if kind == "multi":
        return reference.multi_gaussian(sigma, *arguments[1:])
    return reference.QuasiGaussian(sigma, *arguments[1:])


def draw_point(rng: random.Random, kind: str, arguments: list[Any]) -> tuple[float, float]:
    sigma = min(arguments[2]) if kind == "scale" else arguments[0]
    unit = 1.0 if kind == "scale" else arguments[2]
    shift = unit * rng.choice(
        [
            rng.uniform(0.01, 1),
            rng.uniform(0.3, 1),
            1 - 10 ** rng.uniform(-8, -1),
            rng.uniform(1, 3.5),
            1.0,
            2.0,
            sigma / unit * 10 ** rng.uniform(-2, 1),
            sigma / unit * 10 ** rng.uniform(-9, 6),
        ]
    )
    of_law = power(rng, -1, 1) if kind == "scale" else arguments[1]
    where = rng.uniform(0, 36)  # in sigmas, a single normal density's root
    epsilon = rng.choice(
        [
            of_law,
            of_law * rng.uniform(0, 1.3),
            power(rng, -6, 1),
            of_law * shift / unit,
            0.0,
            min(shift / sigma * where, 600 * where / 36),
        ]
    )
    return float(f"{shift:.12g}"), float(f"{epsilon:.12g}")


def main() -> None:
    mp.dps = 60
    rng = random.Random(4)
    rows: list[list[Any]] = []
    while len(rows) < POINTS:
        kind, arguments = draw_law(rng)
        shift, epsilon = draw_point(rng, kind, arguments)
        law = build(kind, arguments, mpf(1))
        if not law.pdf(mpf(0)) > 0:
            continue
        e, by = mpf(epsilon), mpf(shift)
        where = reference.positive_intervals(law, by, e)
        mp.dps = 110
        value = reference.hockey_stick(law, by, e, where)
        row = None
        if value > mpf("1e-300"):
            # The ends of the intervals need not move: the integrand is 0 there.
            def slope(a: mpf, b: mpf, step: mpf) -> mpf:
                return (a - b) / (2 * step)

            h = STEP * by
            d_shift = slope(
                reference.hockey_stick(law, by + h, e, where),
                reference.hockey_stick(law, by - h, e, where),
                h,
            )
            d_sigma = None
            if kind != "scale":
                more, less = build(kind, arguments, 1 + STEP), build(kind, arguments, 1 - STEP)
                d_sigma = slope(
                    reference.hockey_stick(more, by, e, where),
                    reference.hockey_stick(less, by, e, where),
                    STEP * mpf(arguments[0]),
                )
            bottom = -mp.exp(e) * mp.fsum(law.mass(a, b) for a, b in where)
            derivatives = [
                None if d is None else mp.nstr(d, 20) for d in (d_shift, d_sigma, bottom)
            ]
            row = [kind, arguments, shift, epsilon, mp.nstr(value, 20), *derivatives]
        mp.dps = 60
        if row:
            rows.append(row)
    TABLE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
