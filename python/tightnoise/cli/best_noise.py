"""`tightnoise best-noise`: which noise answers one number best within a budget."""

from __future__ import annotations

import dataclasses
from typing import Any

import tightnoise as tn
from tightnoise.cli._options import Options, add_budget_options, whole
from tightnoise.cli._output import print_json, print_notes
from tightnoise.cli._plot import add_plot_options, check_plot, write_plot
from tightnoise.compare import NoiseRanking
from tightnoise.compare.figure import draw


def add_to(commands: Any) -> None:
    """Declare the command and its options."""
    best = commands.add_parser(
        "best-noise",
        help="which noise answers one number best within a budget",
        description="Calibrate every mechanism for one number to epsilon and delta, exactly, and "
        "print them by increasing loss: the mean size of the noise (l1) or its variance (l2). "
        "Noise for one number is not noise for a vector, unless it is Gaussian: where one person "
        "changes several numbers, each is a release (--count).",
        epilog="The answer's parameters are printed rounded; --json has all digits, and "
        "`tightnoise.best_noise` the mechanisms themselves.",
    )
    add_budget_options(best, "epsilon", "delta", "sensitivity")
    best.add_argument("--loss", choices=["l1", "l2"], default="l1", help="default: l1")
    best.add_argument(
        "--count",
        type=whole,
        default=1,
        metavar="T",
        help="how many such numbers are released within the budget; default: 1",
    )
    best.add_argument(
        "--integer",
        action="store_true",
        help="the number is an integer, and outputs are rounded to integers, which costs nothing: "
        "rank by what is left of the losses",
    )
    add_plot_options(best, "the densities, and the losses against epsilon")
    best.set_defaults(run=_run)


def _run(options: Options) -> None:
    check_plot(options)
    ranking = tn.best_noise(
        options.epsilon,
        options.delta,
        sensitivity=options.sensitivity,
        loss=options.loss,
        count=options.count,
        integer=options.integer,
    )
    if options.json:
        print_json(_report(ranking))
    else:
        print(ranking)
        print_notes("best-noise", [f"no {name}: {why}" for name, why in ranking.left_out.items()])
    write_plot(options, lambda file: draw(ranking, file))


def _report(ranking: NoiseRanking) -> dict[str, Any]:
    return {
        "version": tn.__version__,
        "parameters": {
            "epsilon": ranking.epsilon,
            "delta": ranking.delta,
            "sensitivity": ranking.sensitivity,
            "loss": ranking.loss,
            "releases": ranking.releases,
            "integer": ranking.integer,
        },
        "mechanisms": [
            {
                "name": choice.name,
                "parameters": {
                    field.name: _plain(getattr(choice.mechanism, field.name))
                    for field in dataclasses.fields(choice.mechanism)
                },
                "mean_abs": choice.mean_abs,
                "variance": choice.variance,
                "tails": choice.tails,
                "composes_as_gaussian": choice.composes_as_gaussian,
            }
            for choice in ranking
        ],
        "left_out": dict(ranking.left_out),
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
