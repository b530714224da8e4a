"""Write special.npz: `python -m reference.make_special` from tests/. Half a minute."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reference import special

COUNT = 1000  # random points in each part of the range of a function


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(20240501)
    tables = {name: special.table(name, rng, COUNT) for name in special.FUNCTIONS}
    np.savez_compressed(Path(__file__).with_name("special.npz"), **tables)


if __name__ == "__main__":
    main()
