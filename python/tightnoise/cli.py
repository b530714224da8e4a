"""The command `tightnoise`: what a release costs, and the release itself.

`tightnoise account` prints what releasing a gradient costs with each mechanism; `tightnoise sample`
writes the noisy array. Exit code 0, or 2 with one line on stderr if the input is at fault.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

import tightnoise as tn
from tightnoise._arrays import Floats
from tightnoise._files import FileError, check_writable, read_array, write_array
from tightnoise._validate import require
from tightnoise.costs import DEFAULT_ORDERS
from tightnoise.data import digits_gradient

__all__ = ["main"]

DIGITS_SIGMA, DIGITS_LOWER, DIGITS_UPPER = 1.5, -1.5, 1.5
CONVERSION = "canonne"
PER_INSTANCE = (
    "These costs are per-instance: they depend on the data, and must not themselves be published "
    "unprotected."
)

Options = argparse.Namespace


class Kind(NamedTuple):
    """A mechanism by its name on the command line."""

    bounded: bool
    make: Callable[[Options], Any]


KINDS = {
    "gaussian": Kind(False, lambda o: tn.Gaussian(o.sigma)),
    "rectified": Kind(True, lambda o: tn.RectifiedGaussian(o.sigma, o.lower, o.upper)),
    "truncated": Kind(True, lambda o: tn.TruncatedGaussian(o.sigma, o.lower, o.upper)),
    "quantized": Kind(True, lambda o: tn.QuantizedGaussian(o.sigma, o.lower, o.upper, o.levels)),
    "sign": Kind(False, lambda o: tn.StochasticSign(o.sigma)),
}


@dataclass(frozen=True)
class Row:
    """What one mechanism costs; `ratio` is its epsilon over plain Gaussian's, if that is one."""

    mechanism: str
    rdp: float
    order: float
    epsilon: float
    fil: float
    ratio: float | None
    per_instance: bool


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv`, or with the arguments of the process.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the command's name.

    Returns
    -------
    int
        0, or 2 after one line on stderr that says what is wrong with the input.

    Raises
    ------
    SystemExit
        From argparse: for --help, --version (code 0) and unknown or malformed options (code 2).

    Examples
    --------
    >>> from tightnoise.cli import main
    >>> main(["sample", "missing.npy", "out.npy", "--mechanism", "sign", "--sigma", "1"])
    2
    """
    options = _parser().parse_args(argv)
    try:
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone (`| head`). Python would complain once more as it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (FileError, OSError, ValueError, TypeError, MemoryError) as error:
        message = " ".join(str(error).split()) or "not enough memory"
        print(f"tightnoise {options.command}: error: {message}", file=sys.stderr)
        return 2
    return 0


# Arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tightnoise", description="Differential privacy with bounded-support Gaussian noise."
    )
    parser.add_argument("--version", action="version", version=f"tightnoise {tn.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_account(commands)
    _add_sample(commands)
    return parser


def _add_account(commands: Any) -> None:
    account = commands.add_parser(
        "account",
        help="what releasing a gradient costs",
        description="Print what releasing a gradient costs with each mechanism: its Renyi "
        "divergence at the best order, epsilon at delta, Fisher information loss, and epsilon "
        "beside that of plain Gaussian noise.",
        epilog="Without a file, the gradient is one of scikit-learn's digits, shipped with the "
        f"package, and the defaults are sigma {DIGITS_SIGMA}, bounds {DIGITS_LOWER} and "
        f"{DIGITS_UPPER}. With a file, --sigma and --sensitivity have no default, nor have "
        "--lower and --upper where a bounded mechanism is asked for: no default would be right "
        "for other data. In JSON, an infinite cost is the string 'inf'.",
    )
    account.add_argument("gradient", nargs="?", metavar="GRADIENT", help=".npy or .npz file")
    account.add_argument("--key", metavar="NAME", help="the array to take from a .npz file")
    account.add_argument("--mechanism", choices=[*KINDS, "all"], default="all", help="default: all")
    _add_noise(account, sigma_required=False)
    account.add_argument(
        "--sensitivity",
        type=_finite,
        metavar="C",
        help="the most one person changes a coordinate by",
    )
    account.add_argument(
        "--alphas",
        type=_orders,
        default=DEFAULT_ORDERS,
        metavar="A,A,...",
        help=f"orders, such as 1.5,2,32; default: {DEFAULT_ORDERS.size} from 1.001 to 1e6",
    )
    account.add_argument("--delta", type=_finite, default=1e-5, metavar="D", help="default: 1e-5")
    account.add_argument("--json", action="store_true", help="print JSON instead of a table")
    account.set_defaults(run=_account)


def _add_sample(commands: Any) -> None:
    sample = commands.add_parser(
        "sample",
        help="write a noisy copy of an array",
        description="Write IN.npy with noise to OUT.npy, of the same shape and dtype: all of it, "
        "or nothing if anything fails.",
    )
    sample.add_argument("input", metavar="IN.npy", help=".npy or .npz file")
    sample.add_argument("output", metavar="OUT.npy", help="must not exist, unless --force is given")
    sample.add_argument("--key", metavar="NAME", help="the array to take from a .npz file")
    sample.add_argument("--mechanism", choices=list(KINDS), required=True)
    _add_noise(sample, sigma_required=True)
    sample.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="reproducible noise, for experiments: who knows N can take the noise off; "
        "default: a key from the operating system",
    )
    sample.add_argument("--force", action="store_true", help="replace OUT.npy if it exists")
    sample.set_defaults(run=_sample)


def _add_noise(command: argparse.ArgumentParser, *, sigma_required: bool) -> None:
    command.add_argument(
        "--sigma", type=_finite, required=sigma_required, metavar="S", help="standard deviation"
    )
    bound = "of the support (rectified, truncated, quantized)"
    command.add_argument(
        "--lower", type=_finite, metavar="A", help=f"lower end {bound}, as in --lower=-1e-3"
    )
    command.add_argument("--upper", type=_finite, metavar="B", help=f"upper end {bound}")
    command.add_argument(
        "--levels", type=int, default=4, metavar="L", help="values of quantized; default: 4"
    )


def _finite(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"not a finite number: {text!r}")
    return number


def _orders(text: str) -> Any:
    try:
        orders = np.unique([float(part) for part in text.split(",")])
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a list of numbers: {text!r}") from None
    if not (orders > 0).all() or not (orders > 1).any():
        raise argparse.ArgumentTypeError(f"orders must be above 0, one above 1; got {text!r}")
    return orders


def _require_given(options: Options, names: Sequence[str], reason: str) -> None:
    missing = [f"--{name}" for name in names if getattr(options, name) is None]
    if missing:
        raise ValueError(f"{' and '.join(missing)} must be given: {reason}")


# account


def _account(options: Options) -> None:
    names = list(KINDS) if options.mechanism == "all" else [options.mechanism]
    source, gradient = _gradient(options, names)
    require(0 < options.delta < 1, "delta", options.delta, "between 0 and 1, exclusive")
    rows, notes = _rows(options, names, gradient)
    if options.json:
        print(json.dumps(_report(options, source, gradient, rows, notes), indent=2))
        return
    print(_table(options, source, gradient, rows))
    for note in notes:
        print(f"tightnoise account: note: {note}", file=sys.stderr)


def _gradient(options: Options, names: Sequence[str]) -> tuple[str, Floats]:
    """Return the gradient and where it is from; fill in defaults if it is the shipped one."""
    if options.gradient is None:
        if options.key is not None:
            raise ValueError("--key needs a .npz file")
        gradient, sensitivity = digits_gradient()
        defaults = {
            "sigma": DIGITS_SIGMA,
            "lower": DIGITS_LOWER,
            "upper": DIGITS_UPPER,
            "sensitivity": sensitivity,
        }
        for name, value in defaults.items():
            if getattr(options, name) is None:
                setattr(options, name, value)
        return "digits gradient shipped with tightnoise", gradient
    _require_given(options, ["sigma", "sensitivity"], "no default is right for every gradient")
    bounded = [name for name in names if KINDS[name].bounded]
    if bounded:
        _require_given(options, ["lower", "upper"], f"{bounded[0]} noise has a bounded support")
    return options.gradient, read_array(options.gradient, options.key)


def _rows(options: Options, names: Sequence[str], gradient: Floats) -> tuple[list[Row], list[str]]:
    """Return one row a mechanism, and what the accounting warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plain = _row(options, "gaussian", gradient, None)
        rows = [_row(options, name, gradient, plain.epsilon) for name in names]
    return rows, list(dict.fromkeys(str(warning.message) for warning in caught))


def _row(options: Options, name: str, gradient: Floats, plain: float | None) -> Row:
    mechanism = KINDS[name].make(options)
    curve = mechanism.rdp(gradient, options.alphas, sensitivity=options.sensitivity)
    order = curve.best_order(options.delta, CONVERSION)
    epsilon = curve.epsilon(options.delta, CONVERSION)
    return Row(
        mechanism=name,
        rdp=float(curve.values[curve.alphas == order][0]),
        order=order,
        epsilon=epsilon,
        fil=mechanism.fil(gradient, sensitivity=options.sensitivity),
        ratio=epsilon / plain if plain and math.isfinite(plain) else None,
        per_instance=curve.per_instance,
    )


def _table(options: Options, source: str, gradient: Floats, rows: Sequence[Row]) -> str:
    heading = ["mechanism", "RDP", "at order", "epsilon", "FIL", "epsilon/gaussian"]
    cells = [heading] + [
        [
            row.mechanism,
            f"{row.rdp:.4g}",
            f"{row.order:.4g}",
            f"{row.epsilon:.4g}",
            f"{row.fil:.4g}",
            "-" if row.ratio is None else f"{row.ratio:.3f}",
        ]
        for row in rows
    ]
    widths = [max(len(line[i]) for line in cells) for i in range(len(heading))]
    table = [
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in cells
    ]
    noise = f"sigma {options.sigma:g}"
    if any(KINDS[row.mechanism].bounded for row in rows):
        inside = 100 * _share_inside(options, gradient)
        noise += (
            f", bounds {options.lower:g} and {options.upper:g} "
            f"({inside:.1f} % of the coordinates lie between)"
        )
    if any(row.mechanism == "quantized" for row in rows):
        noise += f", {options.levels} levels"
    return "\n".join(
        [
            f"gradient     {source}: {gradient.size:,} coordinates, {gradient.dtype}",
            f"noise        {noise}",
            f"sensitivity  {options.sensitivity:g}: the most one person changes a coordinate by",
            f"delta        {options.delta:g}",
            "",
            *table,
            *_warning(rows),
        ]
    )


def _warning(rows: Sequence[Row]) -> list[str]:
    return ["", PER_INSTANCE] if any(row.per_instance for row in rows) else []


def _share_inside(options: Options, gradient: Floats) -> float:
    return float(np.mean((gradient >= options.lower) & (gradient <= options.upper)))


def _report(
    options: Options, source: str, gradient: Floats, rows: Sequence[Row], notes: Sequence[str]
) -> dict[str, Any]:
    report = {
        "version": tn.__version__,
        "gradient": {
            "source": source,
            "shape": list(gradient.shape),
            "dtype": str(gradient.dtype),
        },
        "parameters": {
            "sigma": options.sigma,
            "lower": options.lower,
            "upper": options.upper,
            "levels": options.levels,
            "sensitivity": options.sensitivity,
            "delta": options.delta,
            "conversion": CONVERSION,
            "alphas": options.alphas.tolist(),
        },
        "costs": [asdict(row) for row in rows],
        "notes": [*_warning(rows)[1:], *notes],
    }
    finite: dict[str, Any] = _without_infinities(report)
    return finite


def _without_infinities(value: Any) -> Any:
    """Spell infinity as a string: JSON has no number for it."""
    if isinstance(value, dict):
        return {key: _without_infinities(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_infinities(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


# sample


def _sample(options: Options) -> None:
    kind = KINDS[options.mechanism]
    if kind.bounded:
        _require_given(
            options, ["lower", "upper"], f"{options.mechanism} noise has a bounded support"
        )
    check_writable(options.output, overwrite=options.force)
    mechanism = kind.make(options)
    stream = None
    if options.seed is not None:
        stream = tn.random.NoiseStream(options.seed)
        print(
            "tightnoise sample: note: whoever knows the seed can take this noise off",
            file=sys.stderr,
        )
    noisy = mechanism.sample(read_array(options.input, options.key), rng=stream)
    write_array(options.output, noisy, overwrite=options.force)
