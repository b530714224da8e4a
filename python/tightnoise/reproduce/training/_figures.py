"""The paper's figures 3 and 4 on the data of the study, and what single examples pay."""

from __future__ import annotations

from typing import IO

import numpy as np

from tightnoise._figures import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, YELLOW, Axes, write_png
from tightnoise.reproduce.training._cells import DELTA, GAUSSIAN, ORDER
from tightnoise.reproduce.training._results import (
    Found,
    Line,
    accounted,
    greatest_loss,
    middle_loss,
    proven,
)

_COLOURS = (BLACK, BLUE, YELLOW, GREEN, PINK, SKY, ORANGE)  # the Gaussian is black


def draw(found: Found, file: IO[bytes]) -> None:
    """Draw four panels into a PNG file; ImportError without matplotlib."""
    write_png(file, lambda axes: _draw(found, *axes), 4, (11, 8.6), rows=2)


def _draw(found: Found, spent: Axes, people: Axes, greatest: Axes, middle: Axes) -> None:
    shares = found.shares("l2")
    for noise, colour in zip(found.noises, _COLOURS, strict=False):
        _line(spent, found.line("linf", noise, accounted), noise, colour)
        _line(greatest, _root(found.line("l2", noise, greatest_loss)), noise, colour)
        _line(middle, _root(found.line("l2", noise, middle_loss)), noise, colour)
        if noise != GAUSSIAN:
            medians = [np.mean(found.of("l2", noise, s)["shares"], axis=0)[0] for s in shares]
            people.plot(shares, medians, "o-", color=colour, label=noise)
    _line(spent, found.line("l2", GAUSSIAN, proven), "Gaussian, L2 clip", "#999999")
    label = f"epsilon at delta {DELTA:g} (bounded noise: realised)"
    _finish(spent, "Clipped in L-inf (Figure 3)", label, "accuracy")
    _finish(greatest, "Clipped in L2 (Figure 4)", "max eta", "accuracy")
    _finish(middle, "Clipped in L2 (Figure 4)", "median eta", "accuracy")
    people.axhline(1.0, color=BLACK, linewidth=1)
    label = f"D of order {ORDER:g} over the Gaussian's, median example"
    _finish(people, "What an example pays (realised)", "sigma / (n C)", label)


def _root(line: Line) -> Line:
    return Line(line.accuracies, np.sqrt(line.costs))


def _line(axes: Axes, line: Line, label: str, colour: str) -> None:
    errors = line.accuracies.std(axis=1, ddof=1) / line.accuracies.shape[1] ** 0.5
    axes.errorbar(line.mean_costs, line.means, errors, fmt="o-", color=colour, label=label)


def _finish(axes: Axes, title: str, xlabel: str, ylabel: str) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set(title=title, xlabel=xlabel, ylabel=ylabel, xscale="log")
    # 1, 2, 5, 10: of two or three decades, tenths and hundredths of them would run into each other.
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
