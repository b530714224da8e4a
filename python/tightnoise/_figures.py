"""Where pictures go: onto axes that are given, onto new ones, or into a PNG file."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

__all__ = ["axes_of", "write_png"]


def axes_of(axes: object, count: int, size: tuple[float, float]) -> tuple[Any, ...]:
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
    plot: Callable[[tuple[Any, ...]], object],
    count: int,
    size: tuple[float, float],
) -> None:
    """Write what `plot` draws on so many axes into a file; ImportError without matplotlib."""
    from matplotlib.figure import Figure  # needs no screen

    figure = Figure(figsize=size, layout="constrained")
    plot(tuple(figure.subplots(1, count, squeeze=False).flat))
    figure.savefig(file, format="png", dpi=150)
