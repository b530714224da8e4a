"""Write worst_pairs.json: the least private pairs of truncated Gaussians on a bounded domain.

Run `python -m reference.make_worst_pairs` from tests/. Needs mpmath; takes a minute.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from mpmath import mp

from reference.worst_pairs import worst_pair
from tightnoise import _core

TABLE = Path(__file__).with_name("worst_pairs.json")
POINTS = 160


def draw(rng: random.Random) -> tuple[float, float, float, float]:
    """Return sigma, width, sensitivity and an epsilon with a delta somewhere below 1."""
    sigma = 2.0 ** rng.randint(-20, 20)
    widths = [10 ** rng.uniform(-1, 2), 10 ** rng.uniform(-9, 0), 10 ** rng.uniform(2, 9)]
    width = sigma * rng.choices(widths, [4, 1, 1])[0]
    shares = [1.0, 0.5, rng.random(), 10 ** rng.uniform(-3, 0), 10 ** rng.uniform(-9, 0)]
    sensitivity = width * rng.choice(shares)
    # The core only says where to look.
    delta = rng.choice([10 ** rng.uniform(-290, -10), 10 ** rng.uniform(-10, -0.01)])
    epsilon = _core.domain.truncated_epsilon_at(sigma, width, sensitivity, delta)
    return sigma, width, sensitivity, epsilon * rng.choice([0.0, 1.0, 0.999, rng.random()])


def main() -> None:
    """Draw points, compute, write."""
    rng = random.Random(24)
    rows = []
    while len(rows) < POINTS:
        given = draw(rng)
        if not 1e-290 < _core.domain.truncated_worst_delta(*given) < 1 - 1e-12:
            continue
        delta, value = worst_pair("truncated", *given)
        rows.append([*given, mp.nstr(delta, 20), value])
    TABLE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
