"""ChaCha20 written out from RFC 8439, one block at a time, in Python integers."""

from __future__ import annotations

import struct

MASK = 0xFFFFFFFF


def _quarter_round(x: list[int], a: int, b: int, c: int, d: int) -> None:
    for p, q, r, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x[p] = (x[p] + x[q]) & MASK
        x[r] ^= x[p]
        x[r] = ((x[r] << bits) | (x[r] >> (32 - bits))) & MASK


def block(key: bytes, counter: int, stream: int) -> bytes:
    """Return the 64 keystream bytes of one block; counter and stream are 64-bit."""
    state = [
        *struct.unpack("<4I", b"expand 32-byte k"),
        *struct.unpack("<8I", key),
        counter & MASK,
        counter >> 32,
        stream & MASK,
        stream >> 32,
    ]
    x = list(state)
    for _ in range(10):
        for column in range(4):
            _quarter_round(x, column, 4 + column, 8 + column, 12 + column)
        for column in range(4):
            _quarter_round(
                x, column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4
            )
    return struct.pack("<16I", *((a + b) & MASK for a, b in zip(x, state, strict=True)))
