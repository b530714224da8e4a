"""Write box_losses.json: the greatest losses in boxes of 2 and 5 coordinates.

Run `python -m reference.make_box_losses` from tests/. Needs mpmath; takes a minute.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

from mpmath import mp

from reference.box_losses import ball_loss

TABLE = Path(__file__).with_name("box_losses.json")
NOISES = ("truncated", "rectified", "bounded_laplace", "truncated_theorem")


def main() -> None:
    """Draw boxes, compute, write."""
    rng = random.Random(25)
    rows = []
    for noise in NOISES:
        for dim in (2, 2, 5) * 2:
            width = [10 ** rng.uniform(-1.5, 1.5) for _ in range(dim)]
            limit = math.hypot(*width) * (0.5 if noise == "truncated_theorem" else 1.0)
            sensitivity = limit * rng.choice([10 ** rng.uniform(-3, 0), rng.uniform(0.5, 1)])
            scale = max(width) * 10 ** rng.uniform(-1.5, 1.5)
            loss = ball_loss(noise, width, sensitivity, scale)
            rows.append([noise, width, sensitivity, scale, mp.nstr(loss, 30)])
    lines = ",\n".join(json.dumps(row) for row in rows)
    TABLE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
