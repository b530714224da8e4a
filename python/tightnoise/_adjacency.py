"""Which data sets are neighbours: what a cost says of it, and that two relations never mix."""

from __future__ import annotations

from typing import Any

from tightnoise._validate import require

_KNOWN = ("add-remove", "replace-one")


def require_adjacency(value: object) -> None:
    """Refuse what is no relation, None too: where it decides what is proven."""
    require(_is_known(value), "adjacency", value, "'add-remove' or 'replace-one'")


def adjacency_or_none(value: Any) -> str | None:
    """Return a relation, or None for whichever the sensitivity was declared for."""
    known = value is None or _is_known(value)
    require(known, "adjacency", value, "None, 'add-remove' or 'replace-one'")
    adjacency: str | None = value
    return adjacency


def common_adjacency(first: str | None, second: str | None) -> str | None:
    """Return the relation of a sum: None fits either; ValueError if the two differ."""
    if first is not None and second is not None and first != second:
        raise ValueError(
            "costs for different neighbours must not be added: adjacency must be the same; "
            f"got {first!r} and {second!r}"
        )
    return second if first is None else first


def _is_known(value: object) -> bool:
    return isinstance(value, str) and value in _KNOWN
