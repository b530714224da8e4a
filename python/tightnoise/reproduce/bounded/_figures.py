"""The figures, a panel each, in one picture."""

from __future__ import annotations

import math
from typing import IO

from tightnoise.reproduce.bounded._figures_table import PANELS as OF_TABLE_ONE
from tightnoise.reproduce.bounded._leakage_figures import PANELS as OF_LEAKAGE

__all__ = ["draw"]

PANELS = (*OF_TABLE_ONE, *OF_LEAKAGE)
COLUMNS = 4


def draw(file: IO[bytes]) -> None:
    """Draw the panels into a PNG file; ImportError without matplotlib."""
    from matplotlib.figure import Figure  # an extra, and slow to import; needs no screen

    rows = math.ceil(len(PANELS) / COLUMNS)
    figure = Figure(figsize=(5.4 * COLUMNS, 4.8 * rows), layout="constrained")
    every = figure.subplots(rows, COLUMNS, squeeze=False).flat
    for axes, draw_panel in zip(every, PANELS, strict=False):
        draw_panel(axes)
    for axes in every[len(PANELS) :]:
        axes.remove()
    figure.savefig(file, format="png", dpi=110)
