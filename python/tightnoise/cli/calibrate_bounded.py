"""`tightnoise calibrate bounded`: which mechanism for a number in a known range."""

from __future__ import annotations

import dataclasses
from typing import Any

import tightnoise as tn
from tightnoise.cli._options import Options, add_budget_options, finite
from tightnoise.cli._output import print_json, print_notes
from tightnoise.cli._plot import add_plot_options, check_plot, write_plot
from tightnoise.compare import BoundedChoice, BoundedRanking
from tightnoise.compare.bounded import CRITERIA
from tightnoise.compare.bounded_figure import draw

_HELP = "every mechanism for one number in a known range, by its exact error"


def add_to(kinds: Any) -> None:
    """Declare the kind and its options."""
    bounded = kinds.add_parser(
        "bounded",
        help=_HELP,
        description=f"Print {_HELP}: each is calibrated to epsilon and delta for all true values "
        "in the range, and releases numbers in it.",
        epilog="The parameters are printed rounded; --json has all digits, and "
        "`tightnoise.compare_bounded` the mechanisms themselves.",
    )
    add_budget_options(bounded, "epsilon", "delta", "sensitivity", delta=0.0)
    for name, metavar in (("lower", "A"), ("upper", "B")):
        bounded.add_argument(
            f"--{name}",
            type=finite,
            required=True,
            metavar=metavar,
            help=f"{name} end of the range, known without the data",
        )
    bounded.add_argument(
        "--by",
        choices=list(CRITERIA),
        default="mse_average",
        help="what to sort by, over the true values of the range; default: mse_average",
    )
    bounded.add_argument(
        "--count",
        type=int,
        default=1,
        metavar="T",
        help="how many such values are released within the budget; default: 1",
    )
    bounded.add_argument(
        "--optimum",
        action="store_true",
        help="look for the optimum on a grid as well; takes a second or two, and SciPy",
    )
    bounded.add_argument(
        "--integer",
        action="store_true",
        help="the true value is an integer, and outputs are rounded to integers",
    )
    add_plot_options(bounded, "the mean squared errors against the true value and epsilon")
    bounded.set_defaults(run=_run)


def _run(options: Options) -> None:
    check_plot(options)
    ranking = tn.compare_bounded(
        options.epsilon,
        options.delta,
        lower=options.lower,
        upper=options.upper,
        sensitivity=options.sensitivity,
        by=options.by,
        count=options.count,
        optimum=options.optimum,
        integer=options.integer,
    )
    if options.json:
        print_json(_report(ranking))
    else:
        print(ranking)
        left_out = [f"no {name}: {why}" for name, why in ranking.left_out.items()]
        print_notes("calibrate", left_out)
    write_plot(options, lambda file: draw(ranking, file))


def _report(ranking: BoundedRanking) -> dict[str, Any]:
    given = ("epsilon", "delta", "lower", "upper", "sensitivity", "by", "releases", "integer")
    return {
        "version": tn.__version__,
        "parameters": {name: getattr(ranking, name) for name in given},
        "mechanisms": [_row(choice) for choice in ranking],
        "left_out": dict(ranking.left_out),
    }


def _row(choice: BoundedChoice) -> dict[str, Any]:
    mechanism = choice.mechanism
    return {
        "name": choice.name,
        "parameters": {
            field.name: getattr(mechanism, field.name) for field in dataclasses.fields(mechanism)
        },
        "clip": choice.clip,
        "epsilon": choice.epsilon,
        **{name: getattr(choice, name) for name in CRITERIA},
        "note": choice.note,
    }
