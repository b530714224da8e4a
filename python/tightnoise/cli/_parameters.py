"""Options made of the parameters of functions: their names, types, defaults and documentation."""

from __future__ import annotations

import functools
import inspect
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, SupportsIndex, get_args, get_origin

from numpy.typing import ArrayLike

from tightnoise._validate import require
from tightnoise.cli._options import Options, cost_in, finite, numbers, several, whole
from tightnoise.costs import Cost
from tightnoise.mechanisms.base import Parameter

Function = Callable[..., Any]

# How argparse reads what has this type, or None.
_NUMBERS = {"type": numbers, "metavar": "X[,X...]"}
_READ: tuple[tuple[Any, dict[str, Any]], ...] = (
    (ArrayLike, _NUMBERS),
    (float, {"type": finite, "metavar": "X"}),
    (Parameter, {"type": finite, "metavar": "X"}),
    (int, {"type": whole, "metavar": "N"}),
    (SupportsIndex, {"type": whole, "metavar": "N"}),
    (bool, {"action": "store_const", "const": True}),
    (str, {"metavar": "NAME"}),
    (Cost, {"type": cost_in, "metavar": "FILE.json"}),
    (Sequence[float], {"type": several(finite), "metavar": "X,X,..."}),
    (tuple[float, ...], {"type": several(finite), "metavar": "X,X,..."}),
    (tuple[int, ...], {"type": several(whole), "metavar": "N,N,..."}),
    (tuple[ArrayLike, ArrayLike], {"type": finite, "nargs": 2, "metavar": ("LOW", "HIGH")}),
)


class Readable(NamedTuple):
    """A parameter that an option can give: for argparse, and its default if it has one."""

    how: dict[str, Any]
    default: Any
    help: str

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


def option(name: str) -> str:
    """Return a parameter's name as an option."""
    return f"--{name.replace('_', '-')}"


@functools.cache
def parameters_of(function: Function) -> dict[str, Readable]:
    """Return the parameters of a function or class, but those that no option can give."""
    texts = _described(function)
    signature = inspect.signature(function, eval_str=True).parameters
    return {
        name: Readable(how, parameter.default, texts.get(name, ""))
        for name, parameter in signature.items()
        if (how := _read(parameter.annotation))
    }


def _read(hint: object) -> dict[str, Any]:
    for part in (hint, *get_args(hint)):
        if get_origin(part) is Literal:
            return {"choices": list(get_args(part))}
    return next((how for kind, how in _READ if hint in (kind, kind | None)), {})


def _described(function: Function) -> dict[str, str]:
    """Return the first sentence that a NumPy docstring has about each parameter."""
    _, _, section = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
    entry = r"^(\S.*?) : .*\n((?:[ \t]+.*\n?)+)"
    texts: dict[str, str] = {}
    for names, text in re.findall(entry, section.split("\n\n")[0], re.MULTILINE):
        sentence = " ".join(text.split()).partition(". ")[0].rstrip(".")
        texts |= dict.fromkeys(names.split(", "), sentence)
    return texts


def add_options(command: ArgumentParser, *functions: tuple[str, Function]) -> None:
    """Add an option for each parameter of these functions, one where they share a name.

    Of a single function those without a default must be given; of several, help says whose
    parameter it is, by the names before the functions, where it is not that of most.
    """
    owners: dict[str, dict[str, Readable]] = {}
    for label, function in functions:
        for name, parameter in parameters_of(function).items():
            owners.setdefault(name, {}).setdefault(label, parameter)
    labels = {label for label, _ in functions}
    for name, shared in owners.items():
        alike = list(shared.values())
        first = next((one for one in alike if one.how is _NUMBERS), alike[0])
        texts = [one.help for one in alike]
        text = max(texts, key=lambda text: (bool(text), texts.count(text), -len(text)))
        text = text[:1].lower() + text[1:]
        if first.default is not False and isinstance(first.default, (int, float, str)):
            text += f"; default: {first.default}"
        if len(shared) <= len(labels) / 2:
            text += f" ({', '.join(shared)})"
        required = first.required and len(functions) == 1
        command.add_argument(
            option(name), required=required, help=text.replace("%", "%%"), **first.how
        )


def given(options: Options, function: Function) -> dict[str, Any]:
    """Return a function's parameters that were given, by name; refuse to go without one."""
    values = _given(options, function)
    read = parameters_of(function)
    missing = [option(name) for name in read if read[name].required and name not in values]
    if missing:
        with_all = ", ".join(map(option, read))
        raise ValueError(f"{' and '.join(missing)} must be given: there are {with_all}")
    return values


def _given(options: Options, function: Function) -> dict[str, Any]:
    values = {name: getattr(options, name) for name in parameters_of(function)}
    return {name: value for name, value in values.items() if value is not None}


def refuse_others(
    options: Options, functions: Iterable[tuple[str, Function]], *used: Function
) -> None:
    """Refuse what was given of the functions' parameters and is none of those that are used."""
    known = set().union(*map(parameters_of, used))
    for _, function in functions:
        for name, value in _given(options, function).items():
            can_be = ", ".join(map(option, sorted(known))) or "nothing else"
            allowed = f"left out here, where {can_be} can be given"
            require(name in known, option(name), value, allowed)
