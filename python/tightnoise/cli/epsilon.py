"""`tightnoise epsilon`: what training with sampled records and noise costs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tightnoise as tn
from tightnoise._text import columns, upper_text
from tightnoise._validate import MAX_COUNT, integer, positive, require
from tightnoise.cli._options import (
    Options,
    add_budget_option,
    add_budget_options,
    require_given,
)
from tightnoise.cli._output import print_json, print_notes

CONVERSIONS = ("optimal", "classic")
ADJACENCIES = {
    "add-remove": "add-remove: neighbours have one record more or less",
    None: "the one for which {} is declared",
}


class Noise(NamedTuple):
    """What is released in a step: its parameters, its cost, and what all steps cost exactly.

    The last is None where only curves of Renyi divergences are known. `declared` is what says who
    the neighbours are.
    """

    parameters: dict[str, float]
    declared: str
    step: tn.RdpCurve
    exact: Callable[[float], float] | None


class Row(NamedTuple):
    """An epsilon, and the conversion and the order that prove it."""

    conversion: str
    epsilon: float
    order: float | None


def add_to(commands: Any) -> None:
    """Declare the command and its options."""
    epsilon = commands.add_parser(
        "epsilon",
        help="what DP-SGD costs",
        description="Print the epsilon of DP-SGD: of sums over sampled, clipped records with "
        "Gaussian noise (--sigma), or of their directions with von Mises-Fisher noise (--kappa, "
        "--dim), by Renyi differential privacy, beside what the classic conversion would say. "
        "Without sampling (--sampling-rate 1), also the exact epsilon where it is known.",
        epilog="The table rounds epsilon upwards. In JSON, epsilon is the least of the table, and "
        "infinity is the string 'inf'.",
    )
    noise = epsilon.add_mutually_exclusive_group(required=True)
    for name in ("sigma", "kappa"):
        add_budget_option(noise, name)
    for name in ("dim", "angle"):
        add_budget_option(epsilon, name)
    add_budget_options(epsilon, "sampling-rate", "steps", "delta", sampling_rate=1.0, steps=1)
    epsilon.set_defaults(run=_run)


def _run(options: Options) -> None:
    steps = integer("steps", options.steps, minimum=0, maximum=MAX_COUNT)
    noise = (_gaussian if options.kappa is None else _directional)(options, steps)
    accountant = tn.RdpAccountant().compose(noise.step, steps)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = [_row(accountant, options.delta, name) for name in CONVERSIONS]
    if noise.exact is not None:
        rows.append(Row("exact", noise.exact(options.delta), None))
    notes = list(dict.fromkeys(str(warning.message) for warning in caught))
    if options.json:
        print_json(_report(options, noise, accountant.adjacency, rows, notes))
        return
    print(_table(options, noise, accountant.adjacency, rows))
    print_notes("epsilon", notes)


def _gaussian(options: Options, steps: int) -> Noise:
    for name in ("dim", "angle"):
        given = getattr(options, name)
        require(given is None, name, given, "left out: it goes with --kappa")
    sigma = positive("sigma", options.sigma)
    # T equal releases are one with noise smaller by sqrt(T); rounded upwards.
    distance = math.sqrt(steps) / sigma * (1.0 + 2.0**-51)
    return Noise(
        {"sigma": sigma},
        "sigma",
        tn.accounting.sampled_gaussian(sigma, options.sampling_rate),
        (lambda delta: tn.accounting.gaussian_epsilon(delta, distance))
        if options.sampling_rate == 1
        else None,
    )


def _directional(options: Options, steps: int) -> Noise:
    require_given(options, ("dim",), "--kappa says nothing without the number of coordinates")
    angle = math.pi if options.angle is None else options.angle
    vmf = tn.VonMisesFisher(options.kappa, options.dim)
    return Noise(
        {"kappa": vmf.kappa, "dim": vmf.dim, "angle": angle},
        "the angle",
        tn.accounting.sampled_von_mises_fisher(
            vmf.kappa, vmf.dim, options.sampling_rate, angle=angle
        ),
        (lambda delta: float(vmf.epsilon(delta, angle)))
        if options.sampling_rate == 1 and steps == 1
        else None,
    )


def _row(accountant: tn.RdpAccountant, delta: float, conversion: str) -> Row:
    order = accountant.best_order(delta, conversion) if accountant.steps else None
    return Row(conversion, accountant.epsilon(delta, conversion), order)


def _table(options: Options, noise: Noise, adjacency: str | None, rows: Sequence[Row]) -> str:
    cells = [["conversion", "epsilon", "at order"]] + [
        [row.conversion, upper_text(row.epsilon), "-" if row.order is None else f"{row.order:.4g}"]
        for row in rows
    ]
    return "\n".join(
        [
            *(f"{name:13}  {_shown(value)}" for name, value in noise.parameters.items()),
            f"sampling rate  {options.sampling_rate:g}",
            f"steps          {options.steps:,}",
            f"delta          {options.delta:g}",
            f"adjacency      {ADJACENCIES[adjacency].format(noise.declared)}",
            "",
            *columns(cells),
        ]
    )


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _report(
    options: Options,
    noise: Noise,
    adjacency: str | None,
    rows: Sequence[Row],
    notes: Sequence[str],
) -> dict[str, Any]:
    least = min(rows, key=lambda row: row.epsilon)
    return {
        "version": tn.__version__,
        "parameters": {
            **noise.parameters,
            "sampling_rate": options.sampling_rate,
            "steps": options.steps,
            "delta": options.delta,
        },
        "adjacency": adjacency,
        "epsilon": least.epsilon,
        "conversion": least.conversion,
        "order": least.order,
        "conversions": [row._asdict() for row in rows],
        "notes": notes,
    }
