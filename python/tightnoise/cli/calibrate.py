"""`tightnoise calibrate`: what a budget allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import tightnoise as tn
from tightnoise._text import upper_text
from tightnoise.cli import calibrate_bounded
from tightnoise.cli._options import Options, add_budget_options
from tightnoise.cli._output import print_json


class Kind(NamedTuple):
    """What can be asked for: its name, how it is found, and the epsilon that it then costs.

    An answer that is a mechanism is shown by its `fields`.
    """

    answer: str
    help: str
    options: tuple[str, ...]
    find: Callable[[Options], Any]
    epsilon: Callable[[Options, Any], float]
    defaults: Mapping[str, Any] = MappingProxyType({})
    fields: tuple[str, ...] = ()


def _gaussian(o: Options) -> float:
    sigma: float = tn.calibrate.gaussian(o.epsilon, o.delta, sensitivity=o.sensitivity)
    return sigma


def _noise_multiplier(o: Options) -> float:
    return tn.calibrate.noise_multiplier(
        o.epsilon, o.delta, sampling_rate=o.sampling_rate, steps=o.steps
    )


def _steps(o: Options) -> float:
    return tn.calibrate.steps(
        o.epsilon, o.delta, noise_multiplier=o.sigma, sampling_rate=o.sampling_rate
    )


def _sampling_rate(o: Options) -> float:
    return tn.calibrate.sampling_rate(o.epsilon, o.delta, noise_multiplier=o.sigma, steps=o.steps)


def _concentration(o: Options) -> float:
    return tn.calibrate.concentration(
        o.epsilon, o.delta, o.dim, angle=o.angle, sampling_rate=o.sampling_rate, steps=o.steps
    )


def _multi_gaussian(o: Options) -> tn.MultiGaussianMixture:
    modes = None if o.modes == "best" else o.modes
    return tn.calibrate.multi_gaussian(
        o.epsilon, o.delta, o.sensitivity, modes, loss=o.loss, method=o.method
    )


def _quasi_gaussian(o: Options) -> tn.QuasiGaussianMixture:
    return tn.calibrate.quasi_gaussian(o.epsilon, o.delta, o.sensitivity, method=o.method)


def _gaussian_epsilon(o: Options, sigma: float) -> float:
    distance = o.sensitivity / sigma * (1.0 + 2.0**-52)  # rounded upwards
    epsilon: float = tn.accounting.gaussian_epsilon(o.delta, distance)
    return epsilon


def _training_epsilon(delta: float, sigma: float, sampling_rate: float, steps: int) -> float:
    accountant = tn.RdpAccountant()
    accountant.compose(tn.Gaussian(sigma), steps, sampling_rate=sampling_rate)
    return accountant.epsilon(delta)


def _concentration_epsilon(o: Options, kappa: float) -> float:
    """Return what `tightnoise.calibrate.concentration` goes by."""
    if o.sampling_rate == 1 and o.steps == 1:
        return float(tn.VonMisesFisher(kappa, o.dim).epsilon(o.delta, o.angle))
    step = tn.accounting.sampled_von_mises_fisher(kappa, o.dim, o.sampling_rate, angle=o.angle)
    return tn.RdpAccountant().compose(step, o.steps).epsilon(o.delta)


KINDS = {
    "gaussian": Kind(
        "sigma",
        "the smallest sigma of one Gaussian release, exactly",
        ("sensitivity",),
        _gaussian,
        _gaussian_epsilon,
    ),
    "multi-gaussian": Kind(
        "sigma",
        "the multi-Gaussian mixture with the least noise of one release, with proof",
        ("sensitivity", "modes", "loss", "method"),
        _multi_gaussian,
        lambda o, noise: noise.epsilon_at(o.delta, o.sensitivity),
        MappingProxyType({"modes": "best", "loss": "l1", "method": "exact"}),
        ("sigma", "modes"),
    ),
    "quasi-gaussian": Kind(
        "sigma",
        "the quasi-Gaussian mixture with the least noise of one release, with proof",
        ("sensitivity", "method"),
        _quasi_gaussian,
        lambda o, noise: noise.epsilon_at(o.delta, o.sensitivity),
        MappingProxyType({"method": "exact"}),
        ("sigma",),
    ),
    "noise-multiplier": Kind(
        "noise-multiplier",
        "the smallest noise multiplier of DP-SGD",
        ("sampling-rate", "steps"),
        _noise_multiplier,
        lambda o, sigma: _training_epsilon(o.delta, sigma, o.sampling_rate, o.steps),
    ),
    "steps": Kind(
        "steps",
        "the largest number of steps of DP-SGD",
        ("sigma", "sampling-rate"),
        _steps,
        lambda o, steps: _training_epsilon(o.delta, o.sigma, o.sampling_rate, int(steps)),
    ),
    "sampling-rate": Kind(
        "sampling-rate",
        "the largest sampling rate of DP-SGD",
        ("sigma", "steps"),
        _sampling_rate,
        lambda o, rate: _training_epsilon(o.delta, o.sigma, rate, o.steps),
    ),
    "concentration": Kind(
        "kappa",
        "the largest concentration of von Mises-Fisher noise",
        ("dim", "angle", "sampling-rate", "steps"),
        _concentration,
        _concentration_epsilon,
        MappingProxyType({"angle": math.pi, "sampling_rate": 1.0, "steps": 1}),
    ),
}


def add_to(commands: Any) -> None:
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
    for name, kind in KINDS.items():
        parser = kinds.add_parser(name, help=kind.help, description=f"Print {kind.help}.")
        add_budget_options(parser, "epsilon", "delta", *kind.options, **kind.defaults)
        parser.set_defaults(run=_run)
    calibrate_bounded.add_to(kinds)


def _run(options: Options) -> None:
    kind = KINDS[options.kind]
    found = kind.find(options)
    cost = kind.epsilon(options, found)
    answers = {name: getattr(found, name) for name in kind.fields} or {kind.answer: found}
    given = ["epsilon", "delta", *(name.replace("-", "_") for name in kind.options)]
    if options.json:
        print_json(
            {
                "version": tn.__version__,
                "parameters": {name: getattr(options, name) for name in given},
                **{name.replace("-", "_"): answer for name, answer in answers.items()},
                "cost": {"epsilon": cost, "delta": options.delta},
            }
        )
        return
    for name, answer in answers.items():
        print(f"{name}  {answer!r}")
    print(f"costs epsilon {upper_text(cost, 12)} at delta {options.delta:g}")
