"""An accountant's ledger as plain data, and back: exact, and checked as input from a stranger.

    version       1
    alphas        the orders that were asked for, or null
    adjacency     "add-remove", "replace-one" or null
    per_instance  true or false
    steps         the number of releases: the sum of all counts in `functions` and `table`
    functions     [{"kind": a name below, "count": how many releases, and its parameters}, ...]; the
                  kind "sum" has as "terms" such functions, "count": how often each is in it
    table         {"alphas": [...], "values": [...], "count": how many releases} or null

Nothing can be left out, given twice or counted otherwise without notice. Floats are written by
`json` with the digits that give them back; infinity is the string "inf".
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import MAX_COUNT, integer, one_of, positive, real_scalar, require
from tightnoise.accounting._ledger import Entry, Ledger
from tightnoise.costs import DEFAULT_ORDERS, RdpCurve, ZcdpRdp
from tightnoise.costs._direction_pair import VonMisesFisherRdp, rdp_curve
from tightnoise.costs._guarantees import PureRdp, pure, zcdp
from tightnoise.costs._laplace_rdp import LaplaceRdp
from tightnoise.costs._sampled_gaussian import (
    FixedSizeGaussianRdp,
    SampledGaussianRdp,
    fixed_size_gaussian,
    sampled_gaussian,
)
from tightnoise.costs._sampled_von_mises_fisher import SampledVonMisesFisherRdp
from tightnoise.costs._sampling import adjacency_of

__all__ = ["decode", "encode", "is_known"]

Array = NDArray[np.float64]

_VERSION = 1
_KEYS = ("version", "alphas", "adjacency", "per_instance", "steps", "functions", "table")
_CHANGES = ("sensitivity", "half_chord")  # what a record changes: nothing, if 0, and free


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
_SUM = "sum"
_NAMES = {kind.function: name for name, kind in _KINDS.items()}


def is_known(entry: Entry) -> bool:
    """Return whether all functions of an entry can be written with their parameters."""
    return all(type(function) in _NAMES for function, _ in entry.terms)


def encode(ledger: Ledger) -> dict[str, Any]:
    """Return the ledger as plain data."""
    known = [entry for entry in ledger.entries if is_known(entry)]
    others = [entry for entry in ledger.entries if not is_known(entry)]
    table = ledger.table
    if others:
        curve = RdpCurve.of_terms(
            (function, times * entry.count) for entry in others for function, times in entry.terms
        )
        if table is not None:
            table = curve + table
        else:
            table = curve.at(DEFAULT_ORDERS if ledger.alphas is None else ledger.alphas)
    in_table = ledger.steps - sum(entry.count for entry in known)
    return {
        "version": _VERSION,
        "alphas": None if ledger.alphas is None else _plain(ledger.alphas),
        "adjacency": ledger.adjacency,
        "per_instance": ledger.per_instance,
        "steps": ledger.steps,
        "functions": [_plain_entry(entry) for entry in known],
        "table": table
        and {"alphas": _plain(table.alphas), "values": _plain(table.values), "count": in_table},
    }


def _plain_entry(entry: Entry) -> dict[str, Any]:
    terms = [_plain_function(function, times) for function, times in entry.terms]
    if entry.size == 1:
        return {**terms[0], "count": entry.count}
    return {"kind": _SUM, "terms": terms, "count": entry.count}


def _plain_function(function: Any, count: int) -> dict[str, Any]:
    name = _NAMES[type(function)]
    parameters = {key: getattr(function, key) for key in _KINDS[name].parameters}
    return {"kind": name, **parameters, "count": count}


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
    version, adjacency, per_instance = state["version"], state["adjacency"], state["per_instance"]
    require(type(version) is int and version == _VERSION, "version", version, f"{_VERSION}")
    require(isinstance(per_instance, bool), "per_instance", per_instance, "true or false")
    steps = integer("steps", state["steps"], minimum=0, maximum=MAX_COUNT)

    ledger = Ledger(None if state["alphas"] is None else _numbers("alphas", state["alphas"]))
    ledger.declare(adjacency, per_instance)
    entries = _list("functions", state["functions"])
    for entry in entries:
        ledger.add(*_entry(entry))
    if len(ledger.entries) != len(entries):
        raise ValueError("functions must differ; got one of them twice")
    if state["table"] is not None:
        ledger.add_table(*_table(state["table"]))
    require(ledger.adjacency == adjacency, "adjacency", adjacency, f"{ledger.adjacency!r}")
    require(ledger.steps == steps, "steps", steps, f"{ledger.steps}, the sum of all counts")
    return ledger


def _entry(entry: Any) -> tuple[RdpCurve, int]:
    """Return what releases cost, and how many they are."""
    if not isinstance(entry, Mapping) or entry.get("kind") != _SUM:
        return _function(entry)
    _require_keys(_SUM, entry, ("kind", "terms", "count"))
    curve = RdpCurve.of_terms(())
    terms = _list("terms", entry["terms"])
    for term in terms:
        function, times = _function(term)
        curve += function * times
    require(len(curve.terms) == len(terms) > 0, "terms", terms, "functions that differ")
    return curve, _count(entry)


def _function(entry: Any) -> tuple[RdpCurve, int]:
    require(isinstance(entry, Mapping) and "kind" in entry, "functions", entry, "dicts with a kind")
    name = entry["kind"]
    kind = one_of("kind", name, _KINDS)
    _require_keys(f"function {name}", entry, ("kind", *kind.parameters, "count"))
    curve = kind.curve(**{key: _parameter(key, entry[key]) for key in kind.parameters})
    return curve, _count(entry)


def _count(entry: Mapping[str, Any]) -> int:
    return integer("count", entry["count"], minimum=1, maximum=MAX_COUNT)


def _parameter(name: str, value: Any) -> bool | int | float:
    """Return what JSON has for a parameter; the function itself refuses what is out of range."""
    if name in _CHANGES:
        return positive(name, value)
    return value if isinstance(value, (bool, int)) else real_scalar(name, value)


def _table(table: Any) -> tuple[RdpCurve, int]:
    require(isinstance(table, Mapping), "table", table, "a dict or null")
    _require_keys("table", table, ("alphas", "values", "count"))
    curve = RdpCurve(_numbers("alphas", table["alphas"]), _numbers("values", table["values"]))
    return curve, _count(table)


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
