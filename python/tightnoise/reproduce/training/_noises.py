"""The mechanisms that are compared, by what is printed of them."""

from __future__ import annotations

from collections.abc import Callable

from tightnoise.mechanisms import (
    CoordinateMechanism,
    Gaussian,
    QuantizedGaussian,
    RectifiedGaussian,
    StochasticSign,
    TruncatedGaussian,
)

Noise = Callable[[float], CoordinateMechanism]

GAUSSIAN = "Gaussian"


def _rectified(half_width: float) -> Noise:
    return lambda s: RectifiedGaussian(s, -half_width * s, half_width * s)


def _truncated(half_width: float) -> Noise:
    return lambda s: TruncatedGaussian(s, -half_width * s, half_width * s)


SOME: dict[str, Noise] = {
    GAUSSIAN: Gaussian,
    "rectified, 0.5 sigma": _rectified(0.5),
    "truncated, 2 sigma": _truncated(2.0),
    "sign": StochasticSign,
    "8 levels, 1 sigma": lambda s: QuantizedGaussian(s, -s, s, 8),
}
"""From sigma to the mechanism; the width is half of that of the support about 0."""

ALL = SOME | {
    "rectified, 1 sigma": _rectified(1.0),
    "truncated, 1 sigma": _truncated(1.0),
}
