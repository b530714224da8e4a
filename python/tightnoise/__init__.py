"""tightnoise: differential privacy with less noise, and exactly what each release costs."""

from tightnoise import _core, random, special
from tightnoise.mechanisms import (
    Gaussian,
    QuantizedGaussian,
    RectifiedGaussian,
    StochasticSign,
    TruncatedGaussian,
)
from tightnoise.sketch import Sketch

__version__: str = _core.__version__

__all__ = [
    "Gaussian",
    "QuantizedGaussian",
    "RectifiedGaussian",
    "Sketch",
    "StochasticSign",
    "TruncatedGaussian",
    "__version__",
    "random",
    "special",
]
