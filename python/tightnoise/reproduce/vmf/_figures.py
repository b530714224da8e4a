"""Epsilon against kappa, and Bayes capacity against epsilon."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

import numpy as np

from tightnoise._figures import BLACK, BLUE, DASHED, GREEN, ORANGE, Axes, finish, write_panels
from tightnoise.reproduce.vmf._costs import (
    ANCHOR,
    BATCH,
    EPOCHS,
    STEPS,
    approach_2,
    equal_sigma,
    exact_epsilon,
    gaussian_capacity,
    gaussian_epsilon,
    lifted_capacity,
    lifted_epsilon,
    tight_epsilon_above,
    vmf_capacity,
)
from tightnoise.reproduce.vmf._tables import PRINTED_EPSILON, PRINTED_SIGMA

KAPPAS = np.linspace(25, 500, 39)


def draw(file: IO[bytes]) -> None:
    """Draw both figures side by side into a PNG file; ImportError without matplotlib."""
    write_panels(file, (_draw_epsilon, _draw_capacity), (12, 5.4))


def _draw_epsilon(axes: Axes) -> None:
    printed = {kappa: float(text) for kappa, text in PRINTED_EPSILON.items()}
    axes.plot(printed.keys(), printed.values(), "s", color=ORANGE, label="as printed, N = 3")
    _line(axes, lambda kappa: approach_2(kappa, EPOCHS), "approach 2, N = 3", color=ORANGE)
    _line(axes, lambda kappa: approach_2(kappa, STEPS), "approach 2, N = 1407", color=BLUE)
    _line(axes, exact_epsilon, "exact RDP, N = 1407", color=BLACK)
    _line(
        axes,
        lambda kappa: gaussian_epsilon(equal_sigma(kappa)),
        "Gaussian, sigma as private",
        color=GREEN,
        linestyle=DASHED,
    )
    tight = [tight_epsilon_above(kappa) for kappa in printed]
    axes.plot(printed.keys(), tight, ".", color=BLACK, label="PLD, N = 1407")
    axes.set(title="von Mises-Fisher noise, p = 13,700", xlabel="kappa")
    axes.set(ylabel="epsilon at delta = 1/60000", yscale="log", ylim=(None, 1e5))
    finish(axes, "lower right")


def _line(axes: Axes, epsilon: Callable[[float], float], label: str, **style: Any) -> None:
    axes.plot(KAPPAS, [epsilon(kappa) for kappa in KAPPAS], label=label, **style)


def _draw_capacity(axes: Axes) -> None:
    directions = [(exact_epsilon(kappa), vmf_capacity(kappa)) for kappa in KAPPAS]
    axes.plot(*zip(*directions, strict=True), color=BLACK, label="von Mises-Fisher")
    lifted = [(lifted_epsilon(kappa), lifted_capacity(kappa)) for kappa in 2 * ANCHOR * KAPPAS]
    style: dict[str, Any] = {"color": BLACK, "linestyle": DASHED}
    axes.plot(*zip(*lifted, strict=True), label=f"lifted, anchor {ANCHOR:g}", **style)
    sigmas = np.geomspace(0.15, 3, 39)
    costs = [gaussian_epsilon(sigma) for sigma in sigmas]
    for radius, color, label in (
        (1.0, GREEN, "Gaussian, radius 1"),
        (BATCH, BLUE, f"Gaussian, sum of {BATCH}"),
    ):
        capacities = [gaussian_capacity(sigma, radius) for sigma in sigmas]
        axes.plot(costs, capacities, color=color, label=label)
    for mark, label, capacity in (
        ("o", "pairs of the paper: von Mises-Fisher", vmf_capacity),
        ("s", "pairs of the paper: Gaussian", _printed_capacity),
    ):
        axes.plot(
            [float(PRINTED_EPSILON[kappa]) for kappa in PRINTED_SIGMA],
            [capacity(kappa) for kappa in PRINTED_SIGMA],
            mark,
            color=ORANGE,
            fillstyle="none",
            label=label,
        )
    axes.set(title="One release of 1407", xlabel="epsilon of all at delta = 1/60000", xscale="log")
    axes.set(ylabel="log Bayes capacity of one", yscale="log", ylim=(None, 2e6))
    finish(axes, "upper left")


def _printed_capacity(kappa: int) -> float:
    return gaussian_capacity(float(PRINTED_SIGMA[kappa]), as_printed=True)
