"""Options that several commands have, and how their values are read."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import MAX_COUNT

__all__ = [
    "Options",
    "add_budget_option",
    "add_budget_options",
    "finite",
    "orders",
    "require_given",
    "whole",
    "with_negative_numbers",
]

Options = argparse.Namespace


def finite(text: str) -> float:
    """Read a finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"not a finite number: {text!r}")
    return number


def whole(text: str) -> int:
    """Read a whole number, as digits or as 1e4."""
    try:
        return int(text)
    except ValueError:
        number = finite(text)
    if not number.is_integer() or abs(number) > MAX_COUNT:
        raise argparse.ArgumentTypeError(f"not a whole number: {text!r}")
    return int(number)


def modes_or_best(text: str) -> int | str:
    """Read a number of modes, or "best"."""
    return text if text == "best" else whole(text)


def with_negative_numbers(arguments: Sequence[str]) -> list[str]:
    """Join options and their negative values: argparse takes a -1e3 of its own for an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and _is_long_option(joined[-1]) and _is_negative(argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _is_long_option(argument: str) -> bool:
    return argument.startswith("--") and len(argument) > 2 and "=" not in argument


def _is_negative(argument: str) -> bool:
    try:
        float(argument)
    except ValueError:
        return False
    return argument.startswith("-")


_BUDGET_OPTIONS: dict[str, dict[str, Any]] = {
    "epsilon": {"type": finite, "metavar": "E", "help": "the privacy loss that is tolerated"},
    "delta": {
        "type": finite,
        "metavar": "D",
        "help": "the probability that is given up, well below one over the number of people",
    },
    "sensitivity": {
        "type": finite,
        "metavar": "C",
        "help": "the most one person changes the value by: one number, or for Gaussian noise alone "
        "a vector, in Euclidean norm",
    },
    "sigma": {
        "type": finite,
        "metavar": "S",
        "help": "noise multiplier: standard deviation of the noise over the norm that each "
        "record's part is clipped to",
    },
    "kappa": {"type": finite, "metavar": "K", "help": "concentration of von Mises-Fisher noise"},
    "dim": {"type": whole, "metavar": "P", "help": "number of coordinates of the directions"},
    "angle": {
        "type": finite,
        "metavar": "A",
        "help": "the most one record turns the direction by, in radians; below pi vectors of zeros "
        "are not covered",
    },
    "sampling-rate": {
        "type": finite,
        "metavar": "Q",
        "help": "the probability with which each record takes part in a step, independently",
    },
    "steps": {"type": whole, "metavar": "T", "help": "number of steps"},
    "modes": {
        "type": modes_or_best,
        "metavar": "K",
        "help": "components on each side of the middle one, or 'best'",
    },
    "loss": {
        "choices": ["l1", "l2"],
        "help": "what the best modes are chosen by: the mean of abs(noise), or its variance",
    },
    "method": {
        "choices": ["exact", "paper"],
        "help": "the smallest noise, or what the paper's algorithm asks for; either with proof",
    },
}


def orders(text: str) -> NDArray[np.float64]:
    """Read orders with commas between; return them sorted, each once."""
    try:
        values = np.unique(np.array([float(part) for part in text.split(",")]))
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a list of numbers: {text!r}") from None
    if not (values > 0).all() or not (values > 1).any():
        raise argparse.ArgumentTypeError(f"orders must be above 0, one above 1; got {text!r}")
    return values


def add_budget_option(command: Any, name: str, *, required: bool = False) -> None:
    """Add an option of accounting that has no default."""
    command.add_argument(f"--{name}", required=required, **_BUDGET_OPTIONS[name])


def add_budget_options(command: Any, *names: str, **defaults: Any) -> None:
    """Add the named options of accounting; those without a default must be given."""
    for name in names:
        default = defaults.get(name.replace("-", "_"))
        if default is None:
            add_budget_option(command, name, required=True)
            continue
        option = _BUDGET_OPTIONS[name]
        text = f"{option['help']}; default: {default}"
        command.add_argument(f"--{name}", default=default, **(option | {"help": text}))
    command.add_argument("--json", action="store_true", help="print JSON")


def require_given(options: Options, names: Sequence[str], reason: str) -> None:
    """Refuse options that lack one of `names`, and say why it is needed."""
    missing = [f"--{name}" for name in names if getattr(options, name) is None]
    if missing:
        raise ValueError(f"{' and '.join(missing)} must be given: {reason}")
