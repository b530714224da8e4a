"""Write bounded_losses.npz: `python -m reference.make_bounded_losses` from tests/.

k and w, and for each family of bounded_losses.py an array of losses and slopes. Takes minutes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from mpmath import mp, mpf

from reference.bounded_losses import DIGITS, FAMILIES


def points() -> tuple[np.ndarray, np.ndarray]:
    """Return k and w: everywhere, where formulas change, and at the ends."""
    rng = np.random.default_rng(20260601)
    n = 2000
    w = 10.0 ** rng.uniform(-10, 10, n)
    ordinary = rng.random(n) < 0.6
    w[ordinary] = 10.0 ** rng.uniform(-2, 2, n)[ordinary]
    share = 10.0 ** rng.uniform(-12, 0, n)
    wide = rng.random(n) < 0.4
    share[wide] = rng.random(n)[wide]
    share[::20] = 1.0
    share[1::20] = 0.5
    k = np.minimum(share * w, w)
    w[2::20] = 1.25 + 1e-6 * rng.uniform(-1, 1, w[2::20].size)
    k[2::20] = w[2::20] * share[2::20]
    edge = np.maximum(w[3::20], 1.0)  # k w = 1
    w[3::20], k[3::20] = edge, (1.0 + 1e-6 * rng.uniform(-1, 1, edge.size)) / edge
    return np.minimum(k, w), w


def main() -> None:
    k, w = points()
    tables = {"k": k, "w": w}
    with mp.workdps(DIGITS):
        for name, family in FAMILIES.items():
            rows = [family(mpf(float(a)), mpf(float(b))) for a, b in zip(k, w, strict=True)]
            tables[name] = np.array([[float(x) for x in row] for row in rows]).T
    np.savez_compressed(Path(__file__).with_name("bounded_losses.npz"), **tables)


if __name__ == "__main__":
    main()
