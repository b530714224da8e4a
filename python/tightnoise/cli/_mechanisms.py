"""The mechanisms by their names on the command line."""

from __future__ import annotations

import inspect
import re
from argparse import ArgumentParser
from typing import Any

import tightnoise as tn
from tightnoise.cli._options import Options
from tightnoise.cli._parameters import given, parameters_of


def _name_of(mechanism: type) -> str:
    """Return the name of a class in small letters: TruncatedGaussian is truncated-gaussian."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", mechanism.__name__).lower()


def _is_made_of_options(mechanism: type) -> bool:
    read = parameters_of(mechanism)
    return bool(read) and len(read) == len(inspect.signature(mechanism).parameters)


MECHANISMS: dict[str, type[tn.Mechanism]] = {
    _name_of(kind): kind
    for kind in (getattr(tn.mechanisms, name) for name in tn.mechanisms.__all__)
    if issubclass(kind, tn.Mechanism) and _is_made_of_options(kind)
}
COORDINATE = {
    name: kind
    for name, kind in MECHANISMS.items()
    if issubclass(kind, tn.mechanisms.CoordinateMechanism)
}


def add_name(command: ArgumentParser, names: list[str], **settings: Any) -> None:
    """Add --mechanism, which takes underscores for hyphens."""
    command.add_argument(
        "--mechanism",
        type=lambda text: text.replace("_", "-"),
        choices=names,
        metavar="NAME",
        **settings,
    )


def made(options: Options, name: str) -> Any:
    """Return the mechanism of this name, with the parameters that were given."""
    return MECHANISMS[name](**given(options, MECHANISMS[name]))
