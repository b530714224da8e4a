"""An accountant's ledger as plain data, and back: exact, and checked as input from a stranger.

    version       1
    alphas        the orders that were asked for, or null
    adjacency     "add-remove", "replace-one" or null
    per_instance  true or false
    steps         the number of releases
    functions     [{"kind": a name below, "count": how often, and its parameters}, ...]
    table         {"alphas": [...], "values": [...]} or null

Floats are written by `json` with the digits that give them back; infinity is the string "inf".
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import MAX_COUNT, integer, one_of, real_scalar, require
from tightnoise.accounting._ledger import Ledger
from tightnoise.accounting._sampling import adjacency_of
from tightnoise.accounting.guarantees import PureRdp, pure, zcdp
from tightnoise.accounting.sampled_gaussian import (
    FixedSizeGaussianRdp,
    SampledGaussianRdp,
    fixed_size_gaussian,
    sampled_gaussian,
)
from tightnoise.accounting.sampled_von_mises_fisher import SampledVonMisesFisherRdp
from tightnoise.costs import DEFAULT_ORDERS, RdpCurve, ZcdpRdp
from tightnoise.mechanisms._direction_pair import VonMisesFisherRdp, rdp_curve
from tightnoise.mechanisms._laplace_rdp import LaplaceRdp

__all__ = ["decode", "encode", "is_known"]

Array = NDArray[np.float64]

_VERSION = 1
_KEYS = ("version", "alphas", "adjacency", "per_instance", "steps", "functions", "table")


class _Kind(NamedTuple):
    """A function of the package: a frozen dataclass of numbers, and what makes its curve."""

    function: type
    curve: Callable[..., RdpCurve]

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(field.name for field in dataclasses.fields(self.function))


def _sampled_von_mises_fisher(**parameters: Any) -> RdpCurve:
    function = SampledVonMisesFisherRdp(**parameters)
    adjacency = adjacency_of("fixed-size" if function.fixed_size else "poisson")
    return RdpCurve.of_function(function, adjacency=adjacency)


def _laplace(**parameters: Any) -> RdpCurve:
    return RdpCurve.of_function(LaplaceRdp(**parameters))


_KINDS = {
    "sampled-gaussian": _Kind(SampledGaussianRdp, sampled_gaussian),
    "fixed-size-gaussian": _Kind(FixedSizeGaussianRdp, fixed_size_gaussian),
    "sampled-von-mises-fisher": _Kind(SampledVonMisesFisherRdp, _sampled_von_mises_fisher),
    "zcdp": _Kind(ZcdpRdp, zcdp),
    "pure": _Kind(PureRdp, pure),
    "laplace": _Kind(LaplaceRdp, _laplace),
    "von-mises-fisher": _Kind(VonMisesFisherRdp, rdp_curve),
}
_NAMES = {kind.function: name for name, kind in _KINDS.items()}


def is_known(function: Any) -> bool:
    """Return whether a function can be written with its parameters."""
    return type(function) in _NAMES


def encode(ledger: Ledger) -> dict[str, Any]:
    """Return the ledger as plain data."""
    functions, others = [], []
    for entry in ledger.entries:
        name = _NAMES.get(type(entry.function))
        if name is None:
            others.append((entry.function, entry.count))
        else:
            parameters = {key: getattr(entry.function, key) for key in _KINDS[name].parameters}
            functions.append({"kind": name, **parameters, "count": entry.count})
    table = ledger.table
    if others:
        curve = RdpCurve.of_terms(others)
        if table is not None:
            table = curve + table
        else:
            table = curve.at(DEFAULT_ORDERS if ledger.alphas is None else ledger.alphas)
    return {
        "version": _VERSION,
        "alphas": None if ledger.alphas is None else _plain(ledger.alphas),
        "adjacency": ledger.adjacency,
        "per_instance": ledger.per_instance,
        "steps": ledger.steps,
        "functions": functions,
        "table": table and {"alphas": _plain(table.alphas), "values": _plain(table.values)},
    }


def decode(state: Mapping[str, Any]) -> Ledger:
    """Return the ledger that `encode` made the state of; ValueError names what is wrong."""
    if not isinstance(state, Mapping):
        raise TypeError(f"state must be a dict; got {type(state).__name__}")
    try:
        return _decoded(state)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"state must be that of an RdpAccountant: {error}") from None


def _decoded(state: Mapping[str, Any]) -> Ledger:
    _require_keys("state", state, _KEYS)
    integer("version", state["version"], minimum=_VERSION, maximum=_VERSION)
    steps = integer("steps", state["steps"], minimum=0, maximum=MAX_COUNT)
    per_instance, adjacency = state["per_instance"], state["adjacency"]
    require(isinstance(per_instance, bool), "per_instance", per_instance, "true or false")

    ledger = Ledger(None if state["alphas"] is None else _numbers("alphas", state["alphas"]))
    ledger.declare(adjacency, per_instance)
    for entry in _list("functions", state["functions"]):
        ledger.add_cost(*_function(entry))
    if state["table"] is not None:
        ledger.add_cost(_table(state["table"]), 1)
    require(ledger.adjacency == adjacency, "adjacency", adjacency, f"{ledger.adjacency!r}")
    is_empty = not ledger.entries and ledger.table is None
    require(steps > 0 or is_empty, "steps", steps, "at least 1 where there are costs")
    ledger.steps = steps
    return ledger


def _function(entry: Any) -> tuple[RdpCurve, int]:
    require(isinstance(entry, Mapping) and "kind" in entry, "functions", entry, "dicts with a kind")
    name = entry["kind"]
    kind = one_of("kind", name, _KINDS)
    _require_keys(f"function {name}", entry, ("kind", *kind.parameters, "count"))
    curve = kind.curve(**{key: _parameter(key, entry[key]) for key in kind.parameters})
    return curve, integer("count", entry["count"], minimum=1, maximum=MAX_COUNT)


def _parameter(name: str, value: Any) -> bool | int | float:
    """Return what JSON has for a parameter; the function itself refuses what is out of range."""
    return value if isinstance(value, (bool, int)) else real_scalar(name, value)


def _table(table: Any) -> RdpCurve:
    require(isinstance(table, Mapping), "table", table, "a dict or null")
    _require_keys("table", table, ("alphas", "values"))
    return RdpCurve(_numbers("alphas", table["alphas"]), _numbers("values", table["values"]))


def _require_keys(name: str, mapping: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in keys:
        if key not in mapping:
            raise ValueError(f"{key} is missing from {name}")
    for key in mapping:
        if key not in keys:
            raise ValueError(f"{key!r} is unknown in {name}")


def _list(name: str, value: Any) -> list[Any]:
    require(isinstance(value, list), name, value, "a list")
    items: list[Any] = value
    return items


def _numbers(name: str, value: Any) -> list[float]:
    return [math.inf if item == "inf" else real_scalar(name, item) for item in _list(name, value)]


def _plain(array: Array) -> list[float | str]:
    return ["inf" if math.isinf(number) else number for number in array.tolist()]
