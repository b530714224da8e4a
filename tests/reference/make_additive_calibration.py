"""Write additive_calibration.json: divergences of calibrated mixtures.

Run `python -m reference.make_additive_calibration` from tests/. Needs mpmath, and gmpy2 to be done
soon. Nothing but sigma and the worst shift comes from the library.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

from mpmath import mp

import tightnoise as tn
from reference.gaussian_mixtures import QuasiGaussian, divergence, multi_gaussian

TABLE = Path(__file__).with_name("additive_calibration.json")
SETTINGS = 200


def draw(rng: random.Random) -> tuple[float, float, int | None]:
    """Return epsilon, delta and modes, None for the quasi-Gaussian mixture."""
    epsilon = rng.choice([rng.uniform(0.05, 1), rng.uniform(1, 12), 10 ** rng.uniform(-1, 1.3)])
    delta = rng.choice([rng.uniform(0.01, 0.6), 10 ** rng.uniform(-9, -1)])
    modes = None if rng.random() < 0.25 else rng.choice([0, 1, 2, 3, rng.randrange(4, 13)])
    return epsilon, delta, modes


def main() -> None:
    """Draw settings, calibrate, compute, write."""
    mp.dps = 60
    rng = random.Random(5)
    rows = []
    for i in range(SETTINGS):
        epsilon, delta, modes = draw(rng)
        if modes is None:
            noise = tn.calibrate.quasi_gaussian(epsilon, delta, sensitivity=1.0)
            law = QuasiGaussian(noise.sigma, epsilon, 1.0)
        else:
            noise = tn.calibrate.multi_gaussian(epsilon, delta, sensitivity=1.0, modes=modes)
            law = multi_gaussian(noise.sigma, epsilon, 1.0, modes)
        _, worst, _ = noise._law.worst_shift(epsilon, 1.0)
        shift = worst if i % 2 == 0 else 1.0 - math.sqrt(rng.random()) * rng.random()
        value = divergence(law, shift, epsilon)
        rows.append([epsilon, delta, modes, noise.sigma, shift, mp.nstr(value, 20)])
        print(i, *rows[-1], flush=True)
    TABLE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
