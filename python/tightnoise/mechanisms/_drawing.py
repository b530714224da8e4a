"""How every mechanism for coordinates draws: the checks of `sample`'s arguments, in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tightnoise._arrays import Floats, output
from tightnoise.random import NoiseStream, default_stream

__all__ = ["LARGEST_FLOAT32", "draw"]

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


def draw(
    function: Callable[[Floats, Floats, bytes, int], None],
    theta: Floats,
    rng: NoiseStream | None,
    out: Floats | None,
) -> Any:
    """Return what `function(theta, out, key, stream)` of the next stream of `rng` writes."""
    noisy = output(out, theta.shape, theta.dtype)
    if rng is not None and not isinstance(rng, NoiseStream):
        raise TypeError(f"rng must be a NoiseStream or None; got {type(rng).__name__}")
    key, stream = (default_stream() if rng is None else rng)._next()
    function(theta, noisy, key, stream)
    return noisy if out is not None else noisy[()]
