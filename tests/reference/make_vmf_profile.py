"""Write vmf_profile.json: delta(epsilon) of von Mises-Fisher pairs.

Run `python -m reference.make_vmf_profile` from tests/. Needs mpmath, and gmpy2 to be done soon.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np
from mpmath import mp

from reference.vmf_profile import profile
from tightnoise import _core

TABLE = Path(__file__).with_name("vmf_profile.json")
DIGITS = 45
POINTS = 400


def draw(rng: random.Random) -> tuple[int, float, float, float]:
    """Return dim, kappa, half_chord and an epsilon where delta is somewhere below 0.9."""
    if rng.random() < 0.5:
        dim = rng.choice([2, 3, 4, 5, 10, 30, 50, 51, 52, 100])
    else:
        dim = int(10 ** rng.uniform(0.4, 9.3))
    near = rng.random() < 0.5
    kappa = math.sqrt(dim) * 10 ** rng.uniform(-2, 3) if near else 10 ** rng.uniform(-8, 9)
    half_chord = rng.choice(
        [1.0, rng.random(), 10 ** rng.uniform(-9, 0), 1 - 10 ** rng.uniform(-16, -1)]
    )
    # The core only says where to look.
    delta = 10 ** rng.choice([rng.uniform(-300, -10), rng.uniform(-10, -0.05)])
    epsilon = np.empty(())
    chord, where = np.asarray(half_chord), np.asarray(delta)
    _core.von_mises_fisher.epsilon(kappa, dim, chord, where, epsilon)
    return dim, kappa, half_chord, float(epsilon) * rng.choice([0.0, 1.0, 0.999, rng.random()])


def main() -> None:
    """Draw points, compute, write."""
    mp.dps = DIGITS
    rng = random.Random(20)
    rows = []
    while len(rows) < POINTS:
        dim, kappa, half_chord, epsilon = draw(rng)
        guess = np.empty(())
        chord, at = np.asarray(half_chord), np.asarray(epsilon)
        _core.von_mises_fisher.hockey_stick(kappa, dim, chord, at, guess)
        if not 1e-300 < guess < 0.9:
            continue
        value = profile(kappa, dim, half_chord, epsilon)
        rows.append([dim, kappa, half_chord, epsilon, mp.nstr(value, 20)])
    TABLE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
