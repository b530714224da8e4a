"""`tightnoise sample`: a noisy copy of an array."""

from __future__ import annotations

from typing import Any

import tightnoise as tn
from tightnoise._files import check_writable, read_array, write_array
from tightnoise.cli._noise import KINDS, add_noise
from tightnoise.cli._options import Options, require_given, whole
from tightnoise.cli._output import print_notes


def add_to(commands: Any) -> None:
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
    sample.add_argument("--mechanism", choices=list(KINDS), required=True)
    add_noise(sample, sigma_required=True)
    sample.add_argument(
        "--seed",
        type=whole,
        metavar="N",
        help="reproducible noise, for experiments: who knows N can take the noise off; "
        "default: a key from the operating system",
    )
    sample.add_argument("--force", action="store_true", help="replace OUT.npy if it exists")
    sample.set_defaults(run=_run)


def _run(options: Options) -> None:
    kind = KINDS[options.mechanism]
    if kind.bounded:
        require_given(
            options, ["lower", "upper"], f"{options.mechanism} noise has a bounded support"
        )
    check_writable(options.output, overwrite=options.force)
    mechanism = kind.make(options)
    stream = None
    if options.seed is not None:
        stream = tn.random.NoiseStream(options.seed)
        print_notes("sample", ["whoever knows the seed can take this noise off"])
    noisy = mechanism.sample(read_array(options.input, options.key), rng=stream)
    write_array(options.output, noisy, overwrite=options.force)
