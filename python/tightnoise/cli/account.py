"""`tightnoise account`: what releasing a gradient costs with each mechanism."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import tightnoise as tn
from tightnoise._arrays import Floats
from tightnoise._files import read_array
from tightnoise._text import upper_text
from tightnoise._validate import require
from tightnoise.cli._noise import KINDS, add_noise
from tightnoise.cli._options import Options, finite, orders, require_given
from tightnoise.cli._output import print_json, print_notes
from tightnoise.cli._progress import print_line, progress
from tightnoise.data import digits_gradient
from tightnoise.mechanisms import CoordinateMechanism

DIGITS_SIGMA, DIGITS_LOWER, DIGITS_UPPER = 1.5, -1.5, 1.5
CONVERSION = "optimal"
HEADING = ("mechanism", "RDP", "at order", "epsilon", "FIL", "epsilon/gaussian")
DIGITS = 4
WIDTHS = (9, 9, 9, 9, 9, 16)  # of the columns: known before the first row is
PER_INSTANCE = (
    "These costs are per-instance: they depend on the data, and must not themselves be published "
    "unprotected."
)


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


def add_to(commands: Any) -> None:
    """Declare the command and its options."""
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
        "for other data. Rows are printed as they are ready, costs rounded upwards. In JSON, an "
        "infinite cost is the string 'inf', and alphas is null unless given.",
    )
    account.add_argument("gradient", nargs="?", metavar="GRADIENT", help=".npy or .npz file")
    account.add_argument("--key", metavar="NAME", help="the array to take from a .npz file")
    account.add_argument("--mechanism", choices=[*KINDS, "all"], default="all", help="default: all")
    add_noise(account, sigma_required=False)
    account.add_argument(
        "--sensitivity",
        type=finite,
        metavar="C",
        help="the most one person changes a coordinate by",
    )
    account.add_argument(
        "--alphas",
        type=orders,
        metavar="A,A,...",
        help="only these orders, such as 1.5,2,32; default: the best real order",
    )
    account.add_argument("--delta", type=finite, default=1e-5, metavar="D", help="default: 1e-5")
    account.add_argument("--json", action="store_true", help="print JSON instead of a table")
    account.set_defaults(run=_run)


def _run(options: Options) -> None:
    names = list(KINDS) if options.mechanism == "all" else [options.mechanism]
    source, gradient = _gradient(options, names)
    require(0 < options.delta < 1, "delta", options.delta, "between 0 and 1, exclusive")
    notes: list[str] = []
    rows = _rows(options, names, gradient, notes)
    if options.json:
        print_json(_report(options, source, gradient, list(rows), notes))
        return
    shown: list[Row] = []
    for row in rows:
        if not shown:  # once one is ready: whatever is wrong was refused by now
            print_line(_heading(options, names, source, gradient))
        print_line(_line(row))
        shown.append(row)
    for warning in _warning(shown):
        print_line(f"\n{warning}")
    print_notes("account", notes)


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
    require_given(options, ["sigma", "sensitivity"], "no default is right for every gradient")
    bounded = [name for name in names if KINDS[name].bounded]
    if bounded:
        require_given(options, ["lower", "upper"], f"{bounded[0]} noise has a bounded support")
    return options.gradient, read_array(options.gradient, options.key)


def _rows(
    options: Options, names: Sequence[str], gradient: Floats, notes: list[str]
) -> Iterator[Row]:
    """Yield one row a mechanism, and add what the accounting warned of to the notes."""
    made = {name: KINDS[name].make(options) for name in ("gaussian", *names)}
    plain = None
    for name in progress(names, "mechanisms"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if plain is None:
                plain = _row(options, "gaussian", made["gaussian"], gradient, None).epsilon
            row = _row(options, name, made[name], gradient, plain)
        told = [str(warning.message) for warning in caught]
        notes.extend(text for text in dict.fromkeys(told) if text not in notes)
        yield row


def _row(
    options: Options,
    name: str,
    mechanism: CoordinateMechanism,
    gradient: Floats,
    plain: float | None,
) -> Row:
    curve = mechanism.rdp(gradient, options.alphas, sensitivity=options.sensitivity)
    order = curve.best_order(options.delta, CONVERSION)
    epsilon = curve.epsilon(options.delta, CONVERSION)
    return Row(
        mechanism=name,
        rdp=float(curve.at([order]).values[0]),
        order=order,
        epsilon=epsilon,
        fil=mechanism.fil(gradient, sensitivity=options.sensitivity),
        ratio=epsilon / plain if plain and math.isfinite(plain) else None,
        per_instance=curve.per_instance,
    )


def _heading(options: Options, names: Sequence[str], source: str, gradient: Floats) -> str:
    noise = f"sigma {options.sigma:g}"
    if any(KINDS[name].bounded for name in names):
        inside = 100 * _share_inside(options, gradient)
        noise += (
            f", bounds {options.lower:g} and {options.upper:g} "
            f"({inside:.1f} % of the coordinates lie between)"
        )
    if "quantized" in names:
        noise += f", {options.levels} levels"
    return "\n".join(
        [
            f"gradient     {source}: {gradient.size:,} coordinates, {gradient.dtype}",
            f"noise        {noise}",
            f"sensitivity  {options.sensitivity:g}: the most one person changes a coordinate by",
            f"delta        {options.delta:g}",
            "",
            _aligned(HEADING),
        ]
    )


def _line(row: Row) -> str:
    costs = [upper_text(value, DIGITS) for value in (row.rdp, row.epsilon, row.fil)]
    ratio = "-" if row.ratio is None else f"{row.ratio:.3f}"
    return _aligned((row.mechanism, costs[0], f"{row.order:.{DIGITS}g}", *costs[1:], ratio))


def _aligned(cells: Sequence[str]) -> str:
    name, *numbers = cells
    padded = map(str.rjust, numbers, WIDTHS[1:])
    return "  ".join([name.ljust(WIDTHS[0]), *padded])


def _warning(rows: Sequence[Row]) -> list[str]:
    return [PER_INSTANCE] if any(row.per_instance for row in rows) else []


def _share_inside(options: Options, gradient: Floats) -> float:
    return float(np.mean((gradient >= options.lower) & (gradient <= options.upper)))


def _report(
    options: Options, source: str, gradient: Floats, rows: Sequence[Row], notes: Sequence[str]
) -> dict[str, Any]:
    return {
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
            "alphas": None if options.alphas is None else options.alphas.tolist(),
        },
        "costs": [asdict(row) for row in rows],
        "notes": [*_warning(rows), *notes],
    }
