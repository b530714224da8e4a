"""Figures 2 and 3 of the paper, with the exact costs beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

import numpy as np

from tightnoise._figures import BLACK, BLUE, DASHED, GREEN, ORANGE, PINK, Axes, finish, write_panels
from tightnoise.reproduce.conversion._costs import (
    CONVERSIONS,
    EXACT,
    EXACT_RDP,
    SGD_SIGMA,
    SIGMA,
    epsilon_after,
    sgd_epsilon_after,
)
from tightnoise.reproduce.conversion._tables import ROUNDS_WITHIN

SAMPLING_RATE = 0.01

STYLES: dict[str, dict[str, Any]] = {
    "moments accountant": {"color": ORANGE},
    "Lemma 1": {"color": BLUE, "linewidth": 3.5, "alpha": 0.45},
    "Theorem 3": {"color": BLACK, "linestyle": DASHED},  # it lies on Lemma 1
    EXACT: {"color": GREEN},
    EXACT_RDP: {"color": PINK},
}


def draw(file: IO[bytes]) -> None:
    """Draw both figures side by side into a PNG file; ImportError without matplotlib."""
    write_panels(file, (_draw_releases, _draw_sgd), (11, 4.8))


def _draw_releases(axes: Axes) -> None:
    for method in (*CONVERSIONS, EXACT):
        _draw_line(axes, 2000, method, method, epsilon_after)
    before, after, exact = (float(ROUNDS_WITHIN[6][i]) for i in (0, 2, 3))
    axes.annotate("", (after, 6), (before, 6), arrowprops={"arrowstyle": "->", "linewidth": 1.5})
    axes.text(exact + 40, 6, f"{after - before:+.0f} releases", verticalalignment="center")
    _finish(axes, f"Gaussian releases of sigma {SIGMA:g}", "T, number of releases")


def _draw_sgd(axes: Axes) -> None:
    def epsilon(epochs: float, method: str) -> float:
        return sgd_epsilon_after(epochs, method, SAMPLING_RATE)

    labels = {
        "moments accountant": "moments accountant (not proven)",
        "Lemma 1": "Lemma 1 (not proven)",
        EXACT_RDP: "exact RDP, Theorem 3",
        EXACT: "exact",
    }
    for method, label in labels.items():
        _draw_line(axes, 1000, method, label, epsilon)
    title = f"Noisy SGD, sigma {SGD_SIGMA:g}, sampling rate {SAMPLING_RATE:g}"
    _finish(axes, title, f"epochs of {1 / SAMPLING_RATE:g} steps")


def _draw_line(
    axes: Axes, most: int, method: str, label: str, epsilon: Callable[[float, str], float]
) -> None:
    settings = np.linspace(1, most**0.5, 80) ** 2  # denser where the curves bend
    axes.plot(
        settings, [epsilon(float(n), method) for n in settings], label=label, **STYLES[method]
    )


def _finish(axes: Axes, title: str, xlabel: str) -> None:
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    finish(axes, "lower right", title=title, xlabel=xlabel, ylabel="epsilon at delta = 1e-5")
