"""Write vmf_divergence.json: `python -m reference.make_vmf_divergence` from tests/.

Rows of dim, kappa, half_chord, alpha, divergence. Numbers are in float's shortest form, which is
exact; values have 20 digits. Needs mpmath, and gmpy2 to finish in minutes.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from mpmath import mp

from reference import vmf_divergence

POINTS = 2400
DIMS = [2, 3, 4, 5, 10, 47, 49, 52, 53, 1000, 13_700, 10**6, 10**9]


def point(rng: np.random.Generator, kind: int) -> tuple[int, float, float, float]:
    """All dimensions and concentrations, every regime of the angle and the order."""
    dim = int(rng.choice(DIMS)) if kind % 2 else int(2 + 10 ** rng.uniform(0, 9))
    kappa = [
        lambda: 10 ** rng.uniform(-8, 9),
        lambda: dim * 10 ** rng.uniform(-3, 3),
        lambda: math.sqrt(dim) * 10 ** rng.uniform(-2, 2),
    ][kind % 3]()
    half_chord = [
        lambda: 1.0,
        lambda: 10 ** rng.uniform(-9, 0),
        lambda: math.sin(0.5 * rng.uniform(0, math.pi)),
        lambda: 1 - 10 ** rng.uniform(-12, -1),
    ][kind // 6 % 4]()
    alpha = [
        lambda: 1 + 10 ** rng.uniform(-9, 4),
        lambda: rng.uniform(1, 64),
        lambda: 1.0,
        lambda: 1 + 10 ** rng.uniform(4, 9),
        lambda: rng.uniform(0, 1),
        lambda: 0.5 + 10 ** rng.uniform(-12, -1),
        lambda: 1 - 10 ** rng.uniform(-9, -1),
    ][rng.choice(7, p=[0.45, 0.15, 0.05, 0.1, 0.1, 0.05, 0.1])]()
    return dim, float(kappa), float(half_chord), float(alpha)


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(20241122)
    lines = []
    for i in range(POINTS):
        row = point(rng, i % 24)
        with mp.workdps(40):
            lines.append("  " + json.dumps([*row, mp.nstr(vmf_divergence.renyi(*row), 20)]))
    text = "[\n" + ",\n".join(lines) + "\n]\n"
    Path(__file__).with_name("vmf_divergence.json").write_text(text)


if __name__ == "__main__":
    main()
