"""`tightnoise sample`: a noisy copy of an array."""

from __future__ import annotations

import argparse
import math
import re

import tightnoise as tn
from tightnoise._files import check_writable, read_array, write_array
from tightnoise.cli._mechanisms import MECHANISMS, add_name, made
from tightnoise.cli._options import Commands, Options, finite, whole
from tightnoise.cli._output import print_notes
from tightnoise.cli._parameters import add_options, refuse_others
from tightnoise.mechanisms._grid import grid_of


def add_to(commands: Commands) -> None:
    """Declare the command and its options."""
    sample = commands.add_parser(
        "sample",
        help="write a noisy copy of an array",
        description="Write IN.npy with noise to OUT.npy, of the same shape and dtype (float16 "
        "becomes float32, integers become float64): all of it, or nothing if anything fails.",
    )
    sample.add_argument("input", metavar="IN.npy", help=".npy or .npz file")
    sample.add_argument("output", metavar="OUT.npy", help="must not exist, unless --force is given")
    sample.add_argument("--key", metavar="NAME", help="the array to take from a .npz file")
    add_name(sample, list(MECHANISMS), required=True, help=f"one of {', '.join(MECHANISMS)}")
    add_options(sample, *MECHANISMS.items())
    sample.add_argument(
        "--seed",
        type=whole,
        metavar="N",
        help="reproducible noise, for experiments: who knows N can take the noise off; "
        "default: a key from the operating system",
    )
    sample.add_argument(
        "--grid",
        type=_grid,
        default="auto",
        metavar="G",
        help="the output is made of multiples of this power of two, such as 2**-10; 'auto', the "
        "default: 1/128 to 1/64 of the noise; 'none' leaves digits that no cost covers",
    )
    sample.add_argument("--force", action="store_true", help="replace OUT.npy if it exists")
    sample.set_defaults(run=_run)


def _run(options: Options) -> None:
    check_writable(options.output, overwrite=options.force)
    mechanism = made(options, options.mechanism)
    refuse_others(options, MECHANISMS.items(), type(mechanism))
    notes = []
    stream = None
    if options.seed is not None:
        stream = tn.random.NoiseStream(options.seed)
        notes.append("whoever knows the seed can take this noise off")
    theta = read_array(options.input, options.key)
    noisy = mechanism.sample(theta, rng=stream, grid=options.grid)
    write_array(options.output, noisy, overwrite=options.force)
    step = grid_of(mechanism, options.grid)
    if step is not None:
        ends = ", and the bounds" if options.lower is not None else ""
        notes.append(f"on multiples of 2^{int(math.log2(step))}{ends}")
    if options.grid is None:
        notes.append("without a grid: no cost covers the last digits of the output")
    print_notes("sample", notes)


def _grid(text: str) -> float | str | None:
    """Read a grid: a number, also as 2**-10, or one of two names."""
    if text in ("auto", "none"):
        return None if text == "none" else text
    power = re.fullmatch(r"2(?:\*\*|\^)(-?\d{1,3})", text)
    try:
        return 2.0 ** int(power[1]) if power else finite(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"not 'auto', 'none' or a number: {text!r}") from None
