"""`tightnoise epsilon`: what releases cost together."""

from __future__ import annotations

import warnings

import numpy as np

import tightnoise as tn
from tightnoise._validate import fraction, require, steps_in
from tightnoise.cli._mechanisms import MECHANISMS, add_name, made
from tightnoise.cli._options import Commands, Options, cost_in, finite, whole
from tightnoise.cli._output import print_json, print_notes
from tightnoise.cli._parameters import Function, add_options, given, option, refuse_others
from tightnoise.cli._plot import add_plot_options, check_plot, plot_to

_ASKED: list[tuple[str, Function]] = [
    *((name, kind.cost) for name, kind in MECHANISMS.items()),
    *MECHANISMS.items(),
]
SENSITIVITIES = ("sensitivity", "coordinate_sensitivity")


def add_to(commands: Commands) -> None:
    """Declare the command and its options."""
    epsilon = commands.add_parser(
        "epsilon",
        help="what releases cost together",
        description="Print the smallest epsilon that is proved of releases with one mechanism, "
        "sampled or not, so many times, or of a plan, and what every way proves. --sigma alone is "
        "Gaussian noise and the noise multiplier of DP-SGD: sigma over the norm that each record's "
        "part is clipped to (--sensitivity is then 1); --kappa and --dim alone are von "
        "Mises-Fisher noise on directions.",
        epilog="Values may be fractions: 128/60000. The table rounds epsilon upwards. In JSON, "
        "infinity is the string 'inf', and what is printed there may be given to --plan.",
    )
    add_name(epsilon, list(MECHANISMS), help=f"one of {', '.join(MECHANISMS)}")
    epsilon.add_argument(
        "--plan",
        type=cost_in,
        metavar="FILE.json",
        help="releases beside these, or alone: Cost.to_dict(), or what --json printed",
    )
    add_options(epsilon, *_ASKED)
    epsilon.add_argument(
        "--sampling-rate",
        type=finite,
        metavar="Q",
        help="the share of the records that takes part in a step; default: 1, all",
    )
    epsilon.add_argument(
        "--sampling",
        choices=["poisson", "fixed-size"],
        default="poisson",
        help="each record by itself, with that probability, or so many records; a record that is "
        "replaced counts as two changes, unless --adjacency says replace-one; default: poisson",
    )
    steps = epsilon.add_mutually_exclusive_group()
    steps.add_argument("--steps", type=whole, metavar="N", help="how often; default: 1")
    steps.add_argument(
        "--epochs", type=finite, metavar="E", help="in place of steps: E over the sampling rate"
    )
    epsilon.add_argument("--delta", type=finite, required=True, metavar="D")
    add_plot_options(epsilon, "the privacy profile and the trade-off curve, with both bounds")
    epsilon.add_argument("--json", action="store_true", help="print JSON")
    epsilon.set_defaults(run=_run)


def _run(options: Options) -> None:
    require(0 <= options.delta <= 1, "delta", options.delta, "from 0 to 1")
    check_plot(options)
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cost = tn.Cost() if options.plan is None else options.plan
        name = _name(options)
        if name is None:
            _refuse_all(options)
        else:
            cost = _released(options, name, notes) + cost
        explanation = cost.explain(options.delta)
    plot_to(options, lambda axes: cost.plot(options.delta, axes=axes), (12.0, 5.4))
    notes += dict.fromkeys(str(warning.message) for warning in caught)
    if not options.json:
        print(explanation)
        print_notes("epsilon", notes)
        return
    print_json(
        {
            "version": tn.__version__,
            "delta": options.delta,
            "epsilon": explanation.epsilon,
            "lower": explanation.lower,
            "way": explanation.way,
            "ways": dict(explanation.ways),
            "adjacency": cost.adjacency,
            "cost": cost.to_dict(),
            "notes": notes,
        }
    )


def _name(options: Options) -> str | None:
    """Return which mechanism is asked for; None: a plan alone."""
    if options.mechanism is not None:
        return str(options.mechanism)
    for parameter, short in (("kappa", "von-mises-fisher"), ("sigma", "gaussian")):
        if getattr(options, parameter) is not None:
            return short
    if options.plan is None:
        raise ValueError("--mechanism, --sigma, --kappa or --plan must be given")
    return None


def _refuse_all(options: Options) -> None:
    """Refuse what a plan alone makes no use of: nobody shall think that it was counted."""
    refuse_others(options, _ASKED)
    for name in ("sampling_rate", "steps", "epochs"):
        allowed = "left out where a plan alone is given: it says its own"
        require(getattr(options, name) is None, option(name), getattr(options, name), allowed)


def _released(options: Options, name: str, notes: list[str]) -> tn.Cost:
    """Return the cost of all steps."""
    mechanism = made(options, name)
    refuse_others(options, _ASKED, type(mechanism), mechanism.cost)
    known = given(options, mechanism.cost)
    if options.mechanism is None and name == "gaussian" and not known.keys() & {*SENSITIVITIES}:
        known["sensitivity"] = 1.0
    if options.sampling == "fixed-size" and "adjacency" not in known:
        for bound in known.keys() & {*SENSITIVITIES}:
            known[bound] = (2.0 * np.asarray(known[bound]))[()]
            known["adjacency"] = "replace-one"
            notes.append(f"{bound} counted twice: where one record goes, another comes")
    asked = options.sampling_rate
    rate = 1.0 if asked is None else fraction("sampling_rate", asked)
    once: tn.Cost = mechanism.cost(**known).sampled(rate, options.sampling)
    steps = 1 if options.steps is None and options.epochs is None else options.steps
    return once * steps_in(rate, steps, options.epochs, minimum=0)
