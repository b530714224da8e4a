"""Figure 1 of Hu et al. (2024): loss and cost against theta, soundly and as printed."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from tightnoise._figures import BLACK, BLUE, DASHED, GREEN, ORANGE, Axes
from tightnoise.reproduce.bounded._errata import printed_rectified_information
from tightnoise.reproduce.bounded._leakage import GAUSSIAN, MECHANISMS, eta, one_shift, sound

COLORS = {"rectified": ORANGE, "truncated": BLUE, "sign": GREEN}
THETAS = np.linspace(-3.0, 3.0, 121)


def draw_loss(axes: Axes, sigma: float) -> None:
    """Draw the Fisher information loss for one sigma into matplotlib axes."""
    axes.axhline(GAUSSIAN[sigma][0], color=BLACK, label="Gaussian")
    for name, of_sigma in MECHANISMS.items():
        mechanism = of_sigma(sigma)
        losses = [eta(mechanism, float(theta)) for theta in THETAS]
        axes.plot(THETAS, losses, color=COLORS[name], label=name)
    axes.plot(
        THETAS,
        [_printed_eta(float(theta), sigma) for theta in THETAS],
        color=COLORS["rectified"],
        linestyle=DASHED,
        label="as printed: Eq. (4), if not negative",
    )
    axes.set(title=f"Fisher information loss, sigma {sigma:g}", xlabel="theta")
    _finish(axes, GAUSSIAN[sigma][0])


def _printed_eta(theta: float, sigma: float) -> float:
    squared = printed_rectified_information(theta, sigma)
    return math.sqrt(squared) if squared >= 0.0 else math.nan


def draw_cost(axes: Axes, sigma: float) -> None:
    """Draw the Renyi cost of order 2 for one sigma into matplotlib axes."""
    axes.axhline(GAUSSIAN[sigma][1], color=BLACK, label="Gaussian")
    for name, of_sigma in MECHANISMS.items():
        mechanism = of_sigma(sigma)
        for rule, style, label in ((sound, "-", name), (one_shift, DASHED, None)):
            costs = [rule(mechanism, float(theta)) for theta in THETAS]
            axes.plot(THETAS, costs, color=COLORS[name], linestyle=style, label=label)
    axes.plot([], [], color=BLACK, linestyle=DASHED, label="as printed: Algorithm 1")
    axes.set(title=f"Per-instance Renyi cost of order 2, sigma {sigma:g}", xlabel="theta")
    _finish(axes, GAUSSIAN[sigma][1])


def _finish(axes: Axes, highest: float) -> None:
    axes.set(ylim=(0.0, 1.35 * highest))  # the legend above the curves
    axes.grid(alpha=0.3)
    axes.legend(loc="upper center", ncols=2)


PANELS: tuple[Callable[[Axes], None], ...] = tuple(
    functools.partial(draw, sigma=sigma) for draw in (draw_loss, draw_cost) for sigma in GAUSSIAN
)
"""What draws each panel into matplotlib axes."""
