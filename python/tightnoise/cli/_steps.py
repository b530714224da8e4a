"""Steps of training, counted or by epochs."""

from __future__ import annotations

import math
from fractions import Fraction

from tightnoise._validate import MAX_COUNT, integer, positive

__all__ = ["steps_in"]


def steps_in(sampling_rate: float, steps: int | None, epochs: float | None) -> int:
    """Return the number of steps, or of those that epochs take; 1 where nothing is given."""
    if epochs is None:
        return integer("steps", 1 if steps is None else steps, minimum=0, maximum=MAX_COUNT)
    # Of the decimals that are meant: 10 epochs at a rate of 0.1 are 100 steps.
    exact = Fraction(repr(positive("epochs", epochs))) / Fraction(repr(sampling_rate))
    return integer("epochs / sampling_rate", math.ceil(exact), minimum=1, maximum=MAX_COUNT)
