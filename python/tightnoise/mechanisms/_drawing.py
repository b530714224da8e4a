"""How every mechanism for coordinates draws: the checks of `sample`'s arguments, in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tightnoise._arrays import Floats, output
from tightnoise._core.random import NoiseSource
from tightnoise.random import NoiseStream, default_stream

__all__ = ["LARGEST_FLOAT32", "draw", "source_of"]

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


def draw(
    function: Callable[[Floats, Floats, NoiseSource], None],
    theta: Floats,
    rng: NoiseStream | None,
    out: Floats | None,
) -> Any:
    """Return what `function(theta, out, source)` writes, with the source of `rng`."""
    noisy = output(out, theta.shape, theta.dtype)
    function(theta, noisy, source_of(rng))
    return noisy if out is not None else noisy[()]


def source_of(rng: NoiseStream | None) -> NoiseSource:
    """Return where the core draws from: `rng`, or the default stream."""
    if rng is None:
        return default_stream()._source
    if not isinstance(rng, NoiseStream):
        raise TypeError(f"rng must be a NoiseStream or None; got {type(rng).__name__}")
    return rng._source
