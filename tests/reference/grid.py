"""Samples on a grid by definition: integers K of ideal normals, from the bits of the keystream.

All arithmetic is of Python integers, fractions and 450 bits of mpmath. Nothing here knows how the
kernels work: only where the bits of a pair stand (cpp/random/ideal_normal.hpp).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor

import mpmath as mp
import numpy as np
from noise_laws import REFINEMENT, block, keystream

BITS = 450


def continued(head: int, words: list[int], exponent: int) -> mp.mpf:
    """Return an integer continued by 192 bits and half a unit, times 2^exponent."""
    for word in words:
        head = head << 32 | word
    return mp.ldexp(2 * head + 1, exponent - 193)


def share_of(word: int, more: list[int]) -> mp.mpf:
    """Return the uniform number behind a word of 64 bits, from the end that its first bit names."""
    near = continued(word & (2**63 - 1), more[2:8], -64)
    return 1 - near if word >> 63 else near


def ideal_pair(radius: int, angle: int, more: list[int], bits: int = 64) -> tuple[mp.mpf, mp.mpf]:
    """Return the normals behind two words of 64 bits, or of 32."""
    if bits == 32:
        radius = radius << 32 | more[0]
        angle = (angle >> 9) << 41 | (more[1] >> 3) << 12 | angle & 3
    f = continued(angle >> 12, more[8:14], -52) - mp.mpf(0.5)
    r = mp.sqrt(-2 * mp.log(share_of(radius, more))) * (-1 if angle & 2 else 1)
    pair = r * mp.cos(mp.pi / 2 * f), r * mp.sin(mp.pi / 2 * f)
    return pair[::-1] if angle & 1 else pair


def ideal_normals(
    key: bytes, law: str, n: int, bits: int
) -> Iterator[tuple[int, int, mp.mpf, mp.mpf]]:
    """Yield the first n pairs from words of `bits` bits: places of both elements, and normals."""
    per_batch = 8192 // bits
    half = per_batch // 2
    words = keystream(key, law, 0, -(-n // half)).view(f"u{bits // 8}").reshape(-1, per_batch)
    for pair in range(n):
        batch, i = divmod(pair, half)
        radius, angle = int(words[batch, i]), int(words[batch, half + i])
        number = batch * per_batch + i
        with mp.workprec(BITS):
            more = block(key, law, REFINEMENT, number)
            first, second = ideal_pair(radius, angle, more, bits)
        yield number, number + half, first, second


def exact(x: float | int | Fraction) -> Fraction:
    return Fraction(x) if isinstance(x, (int, Fraction)) else Fraction(float(x))


def nearest(x: Fraction, noise: Fraction, z: mp.mpf) -> int:
    """Return floor(x + noise z + 1/2)."""
    whole = floor(x)
    with mp.workprec(BITS):
        rest, s = (mp.mpf(v.numerator) / v.denominator for v in (x - whole, noise))
        return whole + int(mp.floor(rest + s * z + mp.mpf(0.5)))


def nearest_integers(
    key: bytes,
    law: str,
    theta: list[Fraction],
    sigma: list[Fraction],
    step: list[Fraction],
    bits: int,
) -> list[int]:
    """Return K of every element."""
    n, half = len(theta), 4096 // bits
    pairs = -(-n // (2 * half)) * half
    integers = [0] * n
    for i, k, first, second in ideal_normals(key, law, pairs, bits):
        for j, z in ((i, first), (k, second)):
            if j < n:
                integers[j] = nearest(theta[j] / step[j], sigma[j] / step[j], z)
    return integers


def rounded(x: Fraction, dtype: type) -> float:
    """Return the float next to x, of two the even one."""
    try:
        guess = float(x)
    except OverflowError:
        guess = np.inf if x > 0 else -np.inf
    if dtype is np.float64:
        return guess
    with np.errstate(over="ignore"):
        near = np.float32(guess)
        assert np.isfinite(near)
        around = [near, *(np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf))]
    finite = [y for y in around if np.isfinite(y)]
    return float(min(finite, key=lambda y: (abs(exact(y) - x), int(y.view(np.uint32)) & 1)))


def letter_of(x: float, step: float) -> int:
    """Return the integer nearest to x / step, of two the upper one."""
    return floor(exact(x) / exact(step) + Fraction(1, 2))
