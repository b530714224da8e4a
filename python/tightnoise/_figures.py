"""Where pictures go: onto axes that are given, onto new ones, or into a PNG file; their colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import IO, Any, TypeAlias

# Colours that the colour-blind can tell apart (Okabe and Ito).
BLACK, ORANGE, BLUE, GREEN = "#000000", "#D55E00", "#0072B2", "#009E73"
PINK, YELLOW, SKY, GREY = "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F"
DASHED = (0, (5, 4))

Axes: TypeAlias = Any
"""Those of matplotlib, an extra."""


def axes_of(axes: object, count: int, size: tuple[float, float]) -> tuple[Axes, ...]:
    """Return the axes that are given, or those of a new figure of pyplot's, side by side.

    ValueError if they are not as many; ImportError, with what to install, without matplotlib.
    """
    if axes is None:
        try:
            from matplotlib import pyplot  # an extra, and slow to import
        except ImportError as error:
            raise ImportError(
                "plots need matplotlib: pip install 'tightnoise[plot]'", name="matplotlib"
            ) from error
        axes = pyplot.subplots(1, count, figsize=size, layout="constrained", squeeze=False)[1]
    given = tuple(axes.flat) if hasattr(axes, "flat") else axes
    given = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if len(given) != count or not all(hasattr(each, "set_xlabel") for each in given):
        raise ValueError(f"axes must be {count} axes of matplotlib; got {axes!r}")
    return given


def write_png(
    file: IO[bytes],
    plot: Callable[[tuple[Axes, ...]], object],
    count: int,
    size: tuple[float, float],
    *,
    rows: int = 1,
    dpi: int = 150,
) -> None:
    """Write what `plot` draws on so many axes into a file; ImportError without matplotlib."""
    from matplotlib.figure import Figure  # an extra, and slow to import; needs no screen

    figure = Figure(figsize=size, layout="constrained")
    every = figure.subplots(rows, math.ceil(count / rows), squeeze=False).flat
    plot(tuple(every[:count]))
    for axes in every[count:]:
        axes.remove()
    figure.savefig(file, format="png", dpi=dpi)


def write_panels(
    file: IO[bytes],
    panels: Sequence[Callable[[Axes], object]],
    size: tuple[float, float],
    *,
    rows: int = 1,
    dpi: int = 150,
) -> None:
    """Write what each of `panels` draws on axes of its own, as `write_png`."""

    def plot(axes: tuple[Axes, ...]) -> None:
        for place, draw in zip(axes, panels, strict=True):
            draw(place)

    write_png(file, plot, len(panels), size, rows=rows, dpi=dpi)


def finish(axes: Axes, legend: str, **said: Any) -> None:
    """Draw the grid and the legend, and set what axes say of themselves."""
    axes.set(**said)
    axes.grid(alpha=0.3)
    axes.legend(loc=legend)
