"""`tightnoise calibrate`: what a budget allows."""

from __future__ import annotations

import inspect
from typing import Any

import tightnoise as tn
from tightnoise._text import exact_text, upper_text
from tightnoise._validate import steps_in
from tightnoise.cli._options import Commands, Options
from tightnoise.cli._output import print_json
from tightnoise.cli._parameters import add_options, given, parameters_of
from tightnoise.costs._training import training_step

# Every function whose arguments options can give.
KINDS = {
    name.replace("_", "-"): function
    for name, function in ((name, getattr(tn.calibrate, name)) for name in tn.calibrate.__all__)
    if inspect.isfunction(function)
    and len(parameters_of(function)) == len(inspect.signature(function).parameters)
}


def add_to(commands: Commands) -> None:
    """Declare the command and its options."""
    calibrate = commands.add_parser(
        "calibrate",
        help="what a budget allows",
        description="Print the least noise, or the most steps or sampling, that stays within "
        "epsilon and delta, and the epsilon that it costs when accounted for.",
        epilog="The answer has all digits: rounding it could cost more than the budget.",
    )
    kinds = calibrate.add_subparsers(dest="kind", metavar="KIND")
    calibrate.set_defaults(run=lambda _: calibrate.print_help())
    for name, function in KINDS.items():
        does = (inspect.getdoc(function) or name).partition("\n")[0]
        parser = kinds.add_parser(
            name, help=does.removeprefix("Return ").rstrip("."), description=does
        )
        add_options(parser, (name, function))
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.set_defaults(run=_run)


def _run(options: Options) -> None:
    function = KINDS[options.kind]
    asked = given(options, function)
    found = function(**asked)
    if isinstance(found, tn.Mechanism):
        answers = {name: getattr(found, name) for name in parameters_of(type(found))}
        cost = _releases(found, asked)
    else:
        answers = {options.kind.replace("-", "_"): found}
        cost = _training(**(asked | answers))
    delta = asked.get("delta", 0.0)
    epsilon = cost.epsilon(delta)
    if options.json:
        print_json(
            {
                "version": tn.__version__,
                "parameters": asked,
                "answer": answers,
                "delta": delta,
                "epsilon": epsilon,
                "cost": cost.to_dict(),
            }
        )
        return
    for name, answer in answers.items():
        print(f"{name.replace('_', '-')}  {answer!r}")
    print(f"costs epsilon {upper_text(epsilon, 12)} at delta {exact_text(delta)}")


def _releases(mechanism: tn.Mechanism, asked: dict[str, Any]) -> tn.Cost:
    """Return the cost of the releases that the budget is for, and of what is beside."""
    read = parameters_of(mechanism.cost)
    bounds = {name: value for name, value in asked.items() if name in read}
    if "domain" in read and "lower" in asked:
        bounds["domain"] = asked["lower"], asked["upper"]
    once: tn.Cost = mechanism.cost(**bounds)
    beside: tn.Cost = asked.get("beside", tn.Cost())
    return once * int(asked.get("count", 1)) + beside


def _training(
    noise_multiplier: float,
    sampling_rate: float,
    steps: int | None = None,
    epochs: float | None = None,
    sampling: Any = "poisson",
    beside: tn.Cost | None = None,
    **_: Any,
) -> tn.Cost:
    """Return the cost of DP-SGD, and of what is beside."""
    step = training_step(noise_multiplier, sampling_rate, sampling)
    return step * steps_in(sampling_rate, steps, epochs, minimum=0) + (
        tn.Cost() if beside is None else beside
    )
