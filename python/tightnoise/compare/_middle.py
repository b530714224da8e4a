"""The answer that needs no data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats
from tightnoise._core.random import NoiseSource
from tightnoise._validate import float_array
from tightnoise.mechanisms._drawing import drawn
from tightnoise.random import NoiseStream


@dataclass(frozen=True)
class Middle:
    """Release the middle of the domain, whatever the truth: it costs nothing."""

    lower: float
    upper: float

    @property
    def value(self) -> float:
        """What is released."""
        return self.lower + 0.5 * (self.upper - self.lower)

    def sample(self, theta: ArrayLike, *, rng: NoiseStream | None = None) -> Any:
        """Return the middle, of the shape and dtype of theta."""
        return drawn(self._fill, float_array("theta", theta), rng)

    def sample_integers(
        self, theta: ArrayLike, *, rng: NoiseStream | None = None, grid: float = 1.0
    ) -> tuple[NDArray[np.int64], float]:
        """Return the number of grid steps nearest to the middle for each true value, and a step."""
        nearest = math.floor(self.value / grid + 0.5)
        return np.full(np.shape(float_array("theta", theta)), nearest, dtype=np.int64), grid

    def _fill(self, theta: Floats, out: Floats, source: NoiseSource) -> None:
        out.fill(self.value)
