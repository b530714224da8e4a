"""Which mechanisms can be drawn in parts of an array, wherever these begin and end."""

from __future__ import annotations

import numpy as np

from tightnoise.mechanisms.additive import AdditiveNoise
from tightnoise.mechanisms.base import CoordinateMechanism


def require_parts(mechanism: object) -> CoordinateMechanism | AdditiveNoise:
    """Return a mechanism that draws coordinates alike; TypeError or ValueError for others."""
    if not isinstance(mechanism, (CoordinateMechanism, AdditiveNoise)):
        raise TypeError(f"mechanism must be for coordinates; got {mechanism!r}")
    if isinstance(mechanism, CoordinateMechanism) and any(map(np.ndim, mechanism._values())):
        raise ValueError(f"mechanism must have numbers as parameters; got {mechanism!r}")
    return mechanism
