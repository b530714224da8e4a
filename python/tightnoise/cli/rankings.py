"""`tightnoise best-noise` and `compare-bounded`: all mechanisms within a budget, the best first."""

from __future__ import annotations

from typing import Any, NamedTuple

import tightnoise as tn
from tightnoise.cli._options import Commands, Options
from tightnoise.cli._output import print_json, print_notes
from tightnoise.cli._parameters import Function, add_options, given, parameters_of
from tightnoise.cli._plot import add_plot_options, check_plot, plot_to
from tightnoise.compare._ranking import SIZE


class Ranking(NamedTuple):
    """A function that ranks, and what its answers show when they are drawn."""

    function: Function
    help: str
    description: str
    drawn: str


RANKINGS = {
    "best-noise": Ranking(
        tn.best_noise,
        "which noise answers one number best within a budget",
        "Calibrate every mechanism for one number to epsilon and delta, exactly, and print them by "
        "increasing loss: the mean size of the noise (l1) or its variance (l2). Noise for one "
        "number is not noise for a vector, unless it is Gaussian: where one person changes several "
        "numbers, each is a release (--count).",
        "the densities, and the losses against epsilon",
    ),
    "compare-bounded": Ranking(
        tn.compare_bounded,
        "every mechanism for one number in a known range, by its exact error",
        "Calibrate every mechanism for one number in a known range to epsilon and delta, for all "
        "true values in the range, and print them by their exact errors; outputs lie in the range.",
        "the mean squared errors against the true value and epsilon",
    ),
}


def add_to(commands: Commands) -> None:
    """Declare the commands and their options."""
    for name, ranking in RANKINGS.items():
        command = commands.add_parser(
            name,
            help=ranking.help,
            description=ranking.description,
            epilog="The parameters are printed rounded; --json has all digits, and "
            f"`tightnoise.{name.replace('-', '_')}` the mechanisms themselves.",
        )
        add_options(command, (name, ranking.function))
        command.add_argument("--json", action="store_true", help="print JSON")
        add_plot_options(command, ranking.drawn)
        command.set_defaults(run=_run)


def _run(options: Options) -> None:
    ranking = RANKINGS[options.command]
    check_plot(options)
    asked = given(options, ranking.function)
    found = ranking.function(**asked)
    try:
        if options.json:
            print_json(_report(asked, found))
        else:
            print(found)
            notes = [f"no {name}: {why}" for name, why in found.left_out.items()]
            print_notes(options.command, notes)
    finally:  # also where the reader of the ranking has gone
        plot_to(options, lambda axes: found.plot(axes=axes), SIZE)


def _report(asked: dict[str, Any], found: Any) -> dict[str, Any]:
    return {
        "version": tn.__version__,
        "parameters": asked,
        "mechanisms": [_row(choice) for choice in found],
        "left_out": dict(found.left_out),
    }


def _row(choice: Any) -> dict[str, Any]:
    """Return a choice's mechanism, and whatever else it says in words or numbers."""
    mechanism = choice.mechanism
    kind: Function = type(mechanism)
    names = [name for name in dir(choice) if not name.startswith("_") and name != "name"]
    said = {name: getattr(choice, name) for name in names}
    return {
        "name": choice.name,
        "parameters": {name: getattr(mechanism, name) for name in parameters_of(kind)},
        **{
            name: value
            for name, value in said.items()
            if isinstance(value, (str, float, int, tn.Cost))
        },
    }
