"""The bounds on the kernels' evaluation of a pair of normals (cpp/random/ideal_normal.hpp).

Of float32, every word can be tried: TIGHTNOISE_WHOLE_SCAN=1 does it for the level that
TIGHTNOISE_SIMD names, in a few minutes; a suite without it tries a part.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from tightnoise._core.random import normal_pairs

CHUNK = 1 << 20
WHOLE = bool(os.environ.get("TIGHTNOISE_WHOLE_SCAN"))

# NormalError<float> and NormalError<double>
LEAST, MOST, SQUARE, CONSTANT = 2.0**-22, 19.4, 2.8e-7, 4.6e-7
LEAST_64, MOST_64, CONSTANT_64 = 2.0**-44, 33.27, 2.0**-42
ANGLE = 1.58e-7
ROUNDINGS = 4 * 2.0**-24  # of the product, of s, s z and the sum


def evaluated(radius: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    out = tuple(np.empty(len(radius), f"f{radius.itemsize}") for _ in range(3))
    normal_pairs(radius, angle, *out)
    return out


def ideal_radius(k: np.ndarray, mirrored: int) -> np.ndarray:
    near = k * 2.0**-32  # exact, and so is 1 - near
    with np.errstate(divide="ignore"):
        return np.sqrt(-2 * np.log(1 - near if mirrored else near))


def firsts() -> list[int]:
    """Return the first words of chunks: those at the ends of the range, and some or all others."""
    if WHOLE:
        return list(range(0, 1 << 31, CHUNK))
    last = (1 << 31) - CHUNK
    return [0, 1 << 18, last // 4, 1690000000, last]


def test_float32_radius(check_error) -> None:
    """Ideal radii are anywhere between those of a word and the next one."""
    share = 0.0
    for mirrored in (0, 1):
        for first in firsts():
            words = np.arange(first, first + CHUNK, dtype=np.uint32)
            square = evaluated(words | np.uint32(mirrored << 31), np.zeros_like(words))[2]
            known = (square >= np.float32(LEAST)) & (square <= np.float32(MOST))
            if not known.any():
                continue
            ends = ideal_radius(np.arange(first, first + CHUNK + 1, dtype=float), mirrored)
            r = np.sqrt(square).astype(float)  # rounded once, as the kernels do
            error = np.maximum(np.abs(r - ends[:-1]), np.abs(r - ends[1:]))
            rest = 1.0001 * (ANGLE + ROUNDINGS) * r
            allowed = SQUARE * square.astype(float) + CONSTANT
            share = max(share, ((error + rest) / allowed)[known].max())
    check_error("float32 normals on a grid / their bound", share, 0.79)


def words_with_radius_one() -> np.ndarray:
    words = np.uint32(1 << 31) | np.arange(1689000000, 1691000000, dtype=np.uint32)
    return words[np.sqrt(evaluated(words, np.zeros_like(words))[2]) == 1]


def test_float32_angle(check_error) -> None:
    one = words_with_radius_one()[0]
    worst = 0.0
    for first in range(0, 1 << 23, CHUNK if WHOLE else 1 << 22):
        angle = np.arange(first, first + CHUNK, dtype=np.uint32)
        x, y, _ = evaluated(np.full(CHUNK, one), angle << np.uint32(9))
        f = np.pi / 2 * (np.arange(first, first + CHUNK + 1) * 2.0**-23 - 0.5)
        for z, ideal in ((x, np.cos(f)), (y, np.sin(f))):
            worst = max(worst, *(np.abs(z - end).max() for end in (ideal[:-1], ideal[1:])))
    check_error("float32 cosine and sine", worst, ANGLE)


def adversarial(rng: np.random.Generator) -> np.ndarray:
    """Return words of radii: random ones, and those at the ends of u and next to powers of 2."""
    k = [np.uint64(1) << np.uint64(i) for i in range(19, 63)]
    near = np.array([[x - np.uint64(1), x, x + np.uint64(1)] for x in k]).ravel()
    near = np.concatenate([near, np.uint64(2**63 - 1) - near[:60]])
    small = rng.integers(0, 2**63, 20_000, np.uint64) >> rng.integers(0, 44, 20_000, np.uint64)
    some = np.concatenate([near, small, rng.integers(0, 2**63, 30_000, np.uint64)])
    return np.concatenate([some, some | np.uint64(1 << 63)])


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long doubles are doubles here")
def test_float64(check_error) -> None:
    """1e5 words, with both ends of the bits that were not read."""
    rng = np.random.default_rng(31)
    radius = adversarial(rng)
    angle = rng.integers(0, 2**64, len(radius), np.uint64)
    ends = np.array([0, 2**64 - 1, 2**63, 2**63 - 4096], np.uint64)
    angle[:3000] = rng.choice(ends, 3000)
    angle &= ~np.uint64(3)
    x, y, square = evaluated(radius, angle)
    known = (square >= LEAST_64) & (square <= MOST_64)
    assert known.sum() > 8e4
    wide = np.longdouble
    worst = 0.0
    for end in (0, 1):
        near = ((radius & np.uint64(2**63 - 1)).astype(wide) + end) * wide(2) ** -64
        with np.errstate(divide="ignore"):
            log = np.where(radius >> np.uint64(63), np.log1p(-near), np.log(near))
        r = np.sqrt(-2 * log)
        f = ((angle >> np.uint64(12)).astype(wide) + end) * wide(2) ** -52 - wide(0.5)
        half_pi = 2 * np.arctan(wide(1))
        for z, ideal in ((x, r * np.cos(half_pi * f)), (y, r * np.sin(half_pi * f))):
            worst = max(worst, float(np.abs(z - ideal)[known].max()))
    check_error("float64 normals on a grid (absolute)", worst, CONSTANT_64)
