"""Densities of the mixtures, and what they gain over the Gaussian."""

from __future__ import annotations

import functools
from typing import IO

import numpy as np

import tightnoise.calibrate as calibrate
from tightnoise._figures import BLACK, BLUE, DASHED, GREEN, ORANGE, Axes, finish, write_panels
from tightnoise.reproduce.mixtures import _printed as printed
from tightnoise.reproduce.mixtures._cells import multi_cell, printed_mixture, quasi_cell


def draw(file: IO[bytes]) -> None:
    """Draw the figures side by side into a PNG file; ImportError without matplotlib."""
    gains = (functools.partial(_draw_gains, delta=delta) for delta in (1e-5, 0.01))
    write_panels(file, (_draw_densities, *gains), (16, 5.4))


def _draw_densities(axes: Axes, epsilon: float = 1.0, delta: float = 1e-5) -> None:
    x = np.linspace(-5.0, 5.0, 2001)
    gaussian = calibrate.gaussian(epsilon, delta, sensitivity=1.0)
    as_printed = printed_mixture(epsilon, delta)
    if as_printed is not None:
        label = f"as Table 1 has it (delta is {multi_cell(epsilon, delta).excess:.0f} times that)"
        axes.plot(x, as_printed.pdf(x), color=ORANGE, linewidth=1, label=label)
    for mechanism, color, label in (
        (gaussian, BLACK, "Gaussian"),
        (calibrate.quasi_gaussian(epsilon, delta, sensitivity=1.0), GREEN, "quasi-Gaussian"),
        (calibrate.multi_gaussian(epsilon, delta, sensitivity=1.0), BLUE, "multi-Gaussian"),
    ):
        axes.plot(x, mechanism.pdf(x), color=color, label=label)
    axes.set(ylim=(0.0, 0.95))  # the legend above the peaks
    axes.set(title=f"Densities, epsilon {epsilon:g}, delta {delta:g}", xlabel="noise")
    finish(axes, "upper right")


def _draw_gains(axes: Axes, delta: float) -> None:
    epsilons = printed.EPSILONS
    published = [float(printed.MULTI_L1[epsilon, delta] or 0) for epsilon in epsilons]
    cells = [multi_cell(epsilon, delta) for epsilon in epsilons]
    quasi = [quasi_cell(epsilon, delta) for epsilon in epsilons]
    axes.plot(epsilons, published, "s", color=ORANGE, label="Table 1, as printed")
    axes.plot(epsilons, [cell.free.l1 for cell in cells], color=BLUE, label="multi-Gaussian")
    axes.plot(
        epsilons,
        [cell.capped.l1 for cell in cells],
        color=BLUE,
        linestyle=DASHED,
        label="multi-Gaussian, K <= 20",
    )
    axes.plot(epsilons, [cell.exact.l1 for cell in quasi], color=GREEN, label="quasi-Gaussian")
    axes.set(title=f"l1 loss below the Gaussian's, in %, delta {delta:g}", xlabel="epsilon")
    axes.set(xscale="log")
    finish(axes, "upper left")
