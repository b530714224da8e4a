"""The command `tightnoise`: what a release costs, and the release itself.

One module a command, each with `add_to(commands)`, which declares the command's options and sets
`run`, the function that does the work and may return an exit code. Exit code 0, or 2 with one line
on stderr if the input is at fault, or 3 with a release on stderr that stdout did not take, or 130
with one line after Ctrl-C.
"""

from __future__ import annotations

import argparse
import functools
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import tightnoise as tn
from tightnoise._files import FileError
from tightnoise.cli import (
    account,
    calibrate,
    epsilon,
    rankings,
    release,
    reproduce,
    sample,
    session,
)
from tightnoise.cli._options import with_negative_numbers
from tightnoise.cli._output import abandon, say

__all__ = ["main"]

_COMMANDS = (account, epsilon, calibrate, rankings, release, session, sample, reproduce)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv`, or with the arguments of the process.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the command's name.

    Returns
    -------
    int
        0; 1 after `reproduce` if a figure is not the expected one; 2 after one line on stderr that
        says what is wrong with the input; 3 if stdout did not take a release, which is on stderr;
        130 after Ctrl-C.

    Raises
    ------
    SystemExit
        From argparse: for --help, --version (code 0) and unknown or malformed options (code 2).

    Examples
    --------
    >>> from tightnoise.cli import main
    >>> main(["sample", "missing.npy", "out.npy", "--mechanism", "laplace", "--scale", "1"])
    2
    """
    if argv is None:
        _set_streams()
    try:
        arguments = with_negative_numbers(sys.argv[1:] if argv is None else argv)
        return _run(_parser().parse_args(arguments))
    except KeyboardInterrupt:
        say("tightnoise: interrupted")
        return 130  # as shells have it: 128 and the number of the signal


def _set_streams() -> None:
    """Have no release drawn that stdout does not take: it is open, and for every character."""
    if sys.stderr is None:  # print takes that for stdout
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        say("tightnoise: error: standard output is closed")
        raise SystemExit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _run(options: argparse.Namespace) -> int:
    code = 0
    try:
        code = options.run(options) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        abandon(sys.stdout)  # the reader has gone (`| head`)
    except (FileError, OSError, ValueError, TypeError, MemoryError) as error:
        message = " ".join(str(error).split()) or "not enough memory"
        say(f"tightnoise {options.command}: error: {message}")
        return 2
    return code


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the options."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {' '.join(message.split())}\n")


@functools.cache
def _parser() -> _Parser:
    parser = _Parser(prog="tightnoise", description="Differential privacy with less noise.")
    parser.add_argument("--version", action="version", version=f"tightnoise {tn.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    parser.set_defaults(run=lambda _: parser.print_help())
    for command in _COMMANDS:
        command.add_to(commands)
    return parser
