"""Figure 1 of the paper: the variance of the noise against epsilon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tightnoise.reproduce.bounded._generalized import generalized_gaussian_variance
from tightnoise.reproduce.bounded._setting import EPSILONS, SENSITIVITIES, WIDTHS

__all__ = ["PANELS"]


def _draw_variance(axes: Any) -> None:
    axes.plot(
        EPSILONS,
        [generalized_gaussian_variance(epsilon, WIDTHS, SENSITIVITIES) for epsilon in EPSILONS],
        label="generalized Gaussian",
    )
    axes.set(title="Variance of the noise", xlabel="epsilon", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend()


PANELS: tuple[Callable[[Any], None], ...] = (_draw_variance,)
"""What draws each panel into matplotlib axes."""
