"""Epsilon against kappa."""

from __future__ import annotations

from typing import IO, Any

import numpy as np

from tightnoise.reproduce.vmf._costs import (
    EPOCHS,
    STEPS,
    approach_2,
    equal_sigma,
    gaussian_epsilon,
)
from tightnoise.reproduce.vmf._tables import ALL_RELEASES, PRINTED_EPSILON

__all__ = ["draw"]

# Colours that the colour-blind can tell apart (Okabe and Ito).
ORANGE, BLUE, GREEN, BLACK = "#D55E00", "#0072B2", "#009E73", "#000000"

KAPPAS = np.linspace(25, 500, 39)


def draw(file: IO[bytes]) -> None:
    """Draw the figure into a PNG file; ImportError without matplotlib."""
    from matplotlib.figure import Figure  # an extra, and slow to import; needs no screen

    figure = Figure(figsize=(9, 5.5), layout="constrained")
    _draw_epsilon(figure.subplots())
    figure.savefig(file, format="png", dpi=150)


def _draw_epsilon(axes: Any) -> None:
    printed = {kappa: float(text) for kappa, text in PRINTED_EPSILON.items()}
    axes.plot(printed.keys(), printed.values(), "s", color=ORANGE, label="as printed, N = 3")
    _line(axes, lambda kappa: approach_2(kappa, EPOCHS), "approach 2, N = 3", color=ORANGE)
    _line(axes, lambda kappa: approach_2(kappa, STEPS), "approach 2, N = 1407", color=BLUE)
    _line(
        axes,
        lambda kappa: gaussian_epsilon(equal_sigma(kappa)),
        "Gaussian, sigma as private",
        color=GREEN,
        linestyle=(0, (5, 4)),
    )
    tight = {kappa: float(texts[-1]) for kappa, texts in ALL_RELEASES.items()}
    axes.plot(tight.keys(), tight.values(), ".", color=BLACK, label="PLD (expected)")
    axes.set(title="von Mises-Fisher noise, p = 13,700", xlabel="kappa")
    axes.set(ylabel="epsilon at delta = 1/60000", yscale="log", ylim=(None, 1e5))
    _finish(axes)


def _line(axes: Any, epsilon: Any, label: str, **style: Any) -> None:
    axes.plot(KAPPAS, [epsilon(kappa) for kappa in KAPPAS], label=label, **style)


def _finish(axes: Any) -> None:
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
