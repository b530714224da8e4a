"""The figures, a panel each, in one picture."""

from __future__ import annotations

import math
from typing import IO, Any

from tightnoise._figures import write_png
from tightnoise.reproduce.bounded._figures_table import PANELS as OF_TABLE_ONE
from tightnoise.reproduce.bounded._leakage_figures import PANELS as OF_LEAKAGE

__all__ = ["draw"]

PANELS = (*OF_TABLE_ONE, *OF_LEAKAGE)
COLUMNS = 4


def draw(file: IO[bytes]) -> None:
    """Draw the panels into a PNG file; ImportError without matplotlib."""

    def every(axes: tuple[Any, ...]) -> None:
        for place, draw_panel in zip(axes, PANELS, strict=True):
            draw_panel(place)

    rows = math.ceil(len(PANELS) / COLUMNS)
    write_png(file, every, len(PANELS), (5.4 * COLUMNS, 4.8 * rows), rows=rows, dpi=110)
