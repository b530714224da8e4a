"""Write boost_bessel.npz: `python -m reference.make_boost_bessel` from tests/.

Rows: nu, x, and Boost's I_nu(x) and I_(nu+1)(x), where they neither overflow nor underflow. Needs a
C++ compiler and the package libboost-headers; a few seconds.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def compiled(folder: str) -> Path:
    """Return the program boost_bessel.cpp."""
    (package,) = find_spec("libboost_headers").submodule_search_locations
    options = ["-std=c++17", "-O1", "-DBOOST_MATH_STANDALONE=1", f"-isystem{package}/include"]
    program = Path(folder) / "boost_bessel"
    source = HERE / "boost_bessel.cpp"
    subprocess.run([os.environ.get("CXX", "c++"), *options, source, "-o", program], check=True)
    return program


def values(program: Path, nu: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return I_nu(x)."""
    pairs = np.column_stack([nu, x]).tobytes()
    return np.frombuffer(
        subprocess.run([program], input=pairs, stdout=subprocess.PIPE, check=True).stdout
    )


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(20240501)
    nu = np.concatenate([rng.uniform(0, 200, 3000), rng.integers(0, 100, 1000) / 2])
    x = 10.0 ** rng.uniform(-3, 2.84, nu.size)
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        value, above = values(program, nu, x), values(program, nu + 1, x)
    rows = np.stack([nu, x, value, above])[:, (value < 1e307) & (above > 1e-300)]
    np.savez_compressed(HERE / "boost_bessel.npz", rows=rows)


if __name__ == "__main__":
    main()
