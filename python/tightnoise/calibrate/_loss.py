"""What noise is judged by where a calibration has a choice."""

from __future__ import annotations

from tightnoise import _core
from tightnoise.mechanisms import AdditiveNoise, Gaussian, RoundedNoise

__all__ = ["LOSSES", "loss_of"]

LOSSES = {"l1": _core.additive.Loss.l1, "l2": _core.additive.Loss.l2}
"""The mean of abs(noise), and its variance: as the core calls them."""


def loss_of(noise: AdditiveNoise | Gaussian | RoundedNoise, loss: str) -> float:
    """Return the exact loss, "l1" or "l2"."""
    return noise.mean_abs() if loss == "l1" else float(noise.var())
