"""What float arithmetic gives away, and samples on a grid do not: an attack by inversion.

The attacker has one release and two candidates for theta, 0 and another one, and asks whether the
release is one that float arithmetic can come to with theta = 0. preimages.cpp, compiled here,
inverts the kernels. Fixed seeds; the law of Gaussian(1) leaves 50.00 % for shifts of 1e-6.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.random import NoiseStream

HERE = Path(__file__).parent
COMPILER = shutil.which(os.environ.get("CXX", "c++"))
RELEASES = 2000
CHANCE = 1.96 * np.sqrt(0.25 / RELEASES)  # half of a 95 % interval
PAIR = 64  # elements of a pair, in a batch of 128 float64 normals


@pytest.fixture(scope="module")
def can_come_from_zero(tmp_path_factory):
    """Return can(releases, way, *parameters): for each, whether floats can come to it."""
    if COMPILER is None:
        pytest.skip("no C++ compiler")
    program = tmp_path_factory.mktemp("attack") / "preimages"
    options = ["-std=c++17", "-O2", "-ffp-contract=off", f"-I{HERE.parents[2] / 'cpp'}"]
    options += ["-DTIGHTNOISE_LEVEL=test", "-DTIGHTNOISE_EXACT_BITS"]
    subprocess.run([COMPILER, *options, HERE / "preimages.cpp", "-o", program], check=True)

    def can(releases, *way):
        given = np.ascontiguousarray(releases, float).tobytes()
        run = subprocess.run(
            [program, *map(str, way)], input=given, capture_output=True, check=True
        )
        return np.frombuffer(run.stdout) == 1

    return can


def pairs(shift: float, seed: int, n: int, **grid) -> np.ndarray:
    """Return n pairs of elements, each drawn from the two words of a pair."""
    theta = np.full(2 * n, shift)
    y = tn.Gaussian(1.0).sample(theta, rng=NoiseStream(seed), **grid).reshape(-1, 2, PAIR)
    return y.transpose(0, 2, 1).reshape(-1, 2)


def successes(can_be_zero: np.ndarray, can_be_other: np.ndarray) -> float:
    """Return the share of right answers where both candidates are equally likely."""
    return (can_be_zero.mean() + 1 - can_be_other.mean()) / 2


@pytest.mark.parametrize("shift", [1e-9, 1e-6])
def test_a_pair(can_come_from_zero, shift) -> None:
    n = -(-RELEASES // PAIR) * PAIR

    def success(**grid):
        seen = [can_come_from_zero(pairs(t, s, n, **grid), "pair") for t, s in ((0, 1), (shift, 2))]
        return successes(*seen)

    assert success(grid=None) > 0.8
    assert abs(success() - 0.5) < CHANCE


def test_a_vector(can_come_from_zero) -> None:
    """128 coordinates, moved by 1e-6: floats say which theta it was in 200 of 200 releases."""
    for grid, least, most in (({"grid": None}, 200, 200), ({}, 100, 100)):
        right = 0
        for shift, seed in ((0.0, 3), (1e-6, 4)):
            seen = can_come_from_zero(pairs(shift, seed, 100 * PAIR, **grid), "pair")
            is_zero = seen.reshape(100, PAIR).all(axis=1)
            right += int((is_zero == (shift == 0)).sum())
        assert least <= right <= most


@pytest.mark.parametrize("shift", [1e-9, 1e-3])
def test_a_truncated_sample(can_come_from_zero, shift) -> None:
    m = tn.TruncatedGaussian(1.0, -1.0, 1.0)

    def success(**grid):
        seen = [
            can_come_from_zero(
                m.sample(np.full(RELEASES, t), rng=NoiseStream(s), **grid), "inside", 1, -1, 1
            )
            for t, s in ((0.0, 5), (shift, 6))
        ]
        return successes(*seen)

    assert success(grid=None) > 0.8
    assert abs(success() - 0.5) < CHANCE
