"""`tightnoise account`: what releasing a gradient costs with each mechanism."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import tightnoise as tn
from tightnoise._arrays import Floats
from tightnoise._files import read_array
from tightnoise._text import columns
from tightnoise._validate import require
from tightnoise.cli._noise import KINDS, add_noise
from tightnoise.cli._options import Options, finite, orders, require_given
from tightnoise.cli._output import print_json, print_notes
from tightnoise.costs import DEFAULT_ORDERS
from tightnoise.data import digits_gradient

DIGITS_SIGMA, DIGITS_LOWER, DIGITS_UPPER = 1.5, -1.5, 1.5
CONVERSION = "optimal"
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
        "for other data. In JSON, an infinite cost is the string 'inf'.",
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
        default=DEFAULT_ORDERS,
        metavar="A,A,...",
        help=f"orders, such as 1.5,2,32; default: {DEFAULT_ORDERS.size} from 1.001 to 1e6",
    )
    account.add_argument("--delta", type=finite, default=1e-5, metavar="D", help="default: 1e-5")
    account.add_argument("--json", action="store_true", help="print JSON instead of a table")
    account.set_defaults(run=_run)


def _run(options: Options) -> None:
    names = list(KINDS) if options.mechanism == "all" else [options.mechanism]
    source, gradient = _gradient(options, names)
    require(0 < options.delta < 1, "delta", options.delta, "between 0 and 1, exclusive")
    rows, notes = _rows(options, names, gradient)
    if options.json:
        print_json(_report(options, source, gradient, rows, notes))
        return
    print(_table(options, source, gradient, rows))
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
            *columns(cells),
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
            "alphas": options.alphas.tolist(),
        },
        "costs": [asdict(row) for row in rows],
        "notes": [*_warning(rows)[1:], *notes],
    }
