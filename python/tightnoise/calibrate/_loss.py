"""What noise is judged by where a calibration has a choice."""

from __future__ import annotations

from tightnoise._core import additive as core
from tightnoise.mechanisms import AdditiveNoise, Gaussian, RoundedNoise

LOSSES = {"l1": core.Loss.l1, "l2": core.Loss.l2}
"""The mean of abs(noise), and its variance: as the core calls them."""


def loss_of(noise: AdditiveNoise | Gaussian | RoundedNoise, loss: str) -> float:
    """Return the exact loss, "l1" or "l2"."""
    return noise.mean_abs() if loss == "l1" else float(noise.var())
