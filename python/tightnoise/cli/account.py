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
from tightnoise._progress import print_line, progress
from tightnoise._text import exact_text, upper_text
from tightnoise._validate import require
from tightnoise.cli._mechanisms import COORDINATE, add_name, made
from tightnoise.cli._options import Commands, Options, finite, orders
from tightnoise.cli._output import print_json, print_notes
from tightnoise.cli._parameters import add_options, option, parameters_of
from tightnoise.data import digits_gradient
from tightnoise.mechanisms import CoordinateMechanism

DIGITS_SIGMA, DIGITS_LOWER, DIGITS_UPPER = 1.5, -1.5, 1.5
# One sigma serves all of these.
NAMES = [name for name, kind in COORDINATE.items() if "sigma" in parameters_of(kind)]
SENSITIVITIES = {
    "coordinate_sensitivity": "the most one person changes a coordinate by",
    "sensitivity": "the most one person changes the gradient by, in Euclidean norm",
}
HEADING = ("mechanism", "RDP", "at order", "epsilon", "FIL", "epsilon/gaussian")
DIGITS = 4
# Of the columns: known before the first row is.
WIDTHS = (max(map(len, COORDINATE)), 9, 9, 9, 9, 16)
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


def add_to(commands: Commands) -> None:
    """Declare the command and its options."""
    account = commands.add_parser(
        "account",
        help="what releasing a gradient costs",
        description="Print what releasing a gradient costs with each mechanism: its Renyi "
        "divergence at the best order, epsilon at delta, Fisher information loss, and epsilon "
        "beside that of plain Gaussian noise.",
        epilog="Without a file, the gradient is one of scikit-learn's digits, shipped with the "
        f"package, and the defaults are sigma {DIGITS_SIGMA}, bounds {DIGITS_LOWER} and "
        f"{DIGITS_UPPER}. With a file, the noise and the sensitivity have no default: none would "
        "be right for other data. Rows are printed as they are ready, costs rounded upwards. In "
        "JSON, an infinite cost is the string 'inf', and alphas is null unless given.",
    )
    account.add_argument("gradient", nargs="?", metavar="GRADIENT", help=".npy or .npz file")
    account.add_argument("--key", metavar="NAME", help="the array to take from a .npz file")
    add_name(
        account,
        [*COORDINATE, "all"],
        default="all",
        help=f"one of {', '.join(COORDINATE)}; default: all with a sigma",
    )
    add_options(account, *COORDINATE.items())
    account.set_defaults(levels=4)
    for name, meaning in SENSITIVITIES.items():
        account.add_argument(option(name), type=finite, metavar="C", help=meaning)
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
    names = NAMES if options.mechanism == "all" else [options.mechanism]
    source, gradient = _gradient(options)
    require(0 < options.delta < 1, "delta", options.delta, "between 0 and 1, exclusive")
    for name, bound in _bounds(options).items():
        require(bound >= 0, option(name), bound, "at least 0")
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


def _gradient(options: Options) -> tuple[str, Floats]:
    """Return the gradient and where it is from; fill in defaults if it is the shipped one."""
    if options.gradient is None:
        if options.key is not None:
            raise ValueError("--key needs a .npz file")
        gradient, sensitivity = digits_gradient()
        defaults = {
            "sigma": DIGITS_SIGMA,
            "lower": DIGITS_LOWER,
            "upper": DIGITS_UPPER,
        }
        if not _bounds(options):
            options.coordinate_sensitivity = sensitivity
        for name, value in defaults.items():
            if getattr(options, name) is None:
                setattr(options, name, value)
        return "digits gradient shipped with tightnoise", gradient
    if not _bounds(options):
        raise ValueError(
            f"{' or '.join(map(option, SENSITIVITIES))} must be given: one says what "
            "one person changes of every coordinate, the other of the whole gradient"
        )
    return options.gradient, read_array(options.gradient, options.key)


def _bounds(options: Options) -> dict[str, Any]:
    """Return the sensitivities that are given."""
    values = {name: getattr(options, name) for name in SENSITIVITIES}
    return {name: value for name, value in values.items() if value is not None}


def _rows(
    options: Options, names: Sequence[str], gradient: Floats, notes: list[str]
) -> Iterator[Row]:
    """Yield one row a mechanism, and add what the accounting warned of to the notes."""
    mechanisms = {name: made(options, name) for name in names}
    plain = None
    for name in progress(names, "mechanisms"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if plain is None and options.sigma is not None:
                plain = _row(options, "gaussian", made(options, "gaussian"), gradient, None).epsilon
            row = _row(options, name, mechanisms[name], gradient, plain)
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
    bounds = _bounds(options)
    curve = mechanism.cost_at(gradient, **bounds).rdp(options.alphas)
    order = curve.best_order(options.delta)
    epsilon = curve.epsilon(options.delta)
    return Row(
        mechanism=name,
        rdp=float(curve.at([order]).values[0]),
        order=order,
        epsilon=epsilon,
        fil=mechanism.fil(gradient, **bounds),
        ratio=epsilon / plain if plain and math.isfinite(plain) else None,
        per_instance=not isinstance(mechanism, tn.Gaussian),
    )


def _heading(options: Options, names: Sequence[str], source: str, gradient: Floats) -> str:
    parameters = _parameters(options, names)
    noise = ", ".join(f"{name} {value:g}" for name, value in parameters.items())
    if "lower" in parameters:
        inside = 100 * np.mean((gradient >= options.lower) & (gradient <= options.upper))
        noise += f" ({inside:.1f} % of the coordinates lie between)"
    return "\n".join(
        [
            f"gradient     {source}: {gradient.size:,} coordinates, {gradient.dtype}",
            f"noise        {noise}",
            *(
                f"sensitivity  {bound:g}: {SENSITIVITIES[name]}"
                for name, bound in _bounds(options).items()
            ),
            f"delta        {exact_text(options.delta)}",
            "",
            _aligned(HEADING),
        ]
    )


def _parameters(options: Options, names: Sequence[str]) -> dict[str, float]:
    """Return the parameters of all the noise."""
    used = dict.fromkeys(name for kind in names for name in parameters_of(COORDINATE[kind]))
    return {name: getattr(options, name) for name in used}


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
            **_parameters(options, [row.mechanism for row in rows]),
            **_bounds(options),
            "delta": options.delta,
            "alphas": None if options.alphas is None else options.alphas.tolist(),
        },
        "costs": [asdict(row) for row in rows],
        "notes": [*_warning(rows), *notes],
    }
