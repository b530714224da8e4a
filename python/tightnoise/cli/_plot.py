"""The option --plot of commands that can draw their answer."""

from __future__ import annotations

import importlib.util
from argparse import ArgumentParser
from collections.abc import Callable
from typing import IO, Any

from tightnoise._figures import write_png
from tightnoise._files import FileError, check_writable, write_whole
from tightnoise.cli._options import Options

_SUFFIX = ".png"


def add_plot_options(command: ArgumentParser, drawn: str) -> None:
    """Add --plot, whose help says what is drawn, and --force."""
    command.add_argument(
        "--plot",
        metavar=f"FILE{_SUFFIX}",
        help=f"draw {drawn}; must not exist, unless --force is given "
        "(needs matplotlib: pip install 'tightnoise[plot]')",
    )
    command.add_argument("--force", action="store_true", help=f"replace FILE{_SUFFIX}")


def check_plot(options: Options) -> None:
    """Refuse a plot that could not be drawn, before the work."""
    if options.plot is None:
        return
    check_writable(options.plot, suffix=_SUFFIX, overwrite=options.force)
    if importlib.util.find_spec("matplotlib") is None:
        raise FileError(
            f"cannot draw {options.plot} without matplotlib: pip install 'tightnoise[plot]'"
        )


def plot_to(
    options: Options, plot: Callable[[tuple[Any, ...]], object], size: tuple[float, float]
) -> None:
    """Write what `plot` draws on two axes to the file that --plot names, if it is given."""
    write_plot(options, lambda file: write_png(file, plot, 2, size))


def write_plot(options: Options, draw: Callable[[IO[bytes]], None]) -> None:
    """Write what `draw` draws to the file that --plot names, if it is given."""
    if options.plot is not None:
        write_whole(options.plot, draw, suffix=_SUFFIX, overwrite=options.force)
