"""How the records of a release are drawn: what a way of sampling is called, and its neighbours."""

from __future__ import annotations

from tightnoise._validate import one_of

_ADJACENCY = {"poisson": "add-remove", "fixed-size": "replace-one"}


def is_fixed_size(sampling: object) -> bool:
    """Return whether batches have a fixed size; ValueError unless `sampling` is known."""
    return adjacency_of(sampling) == "replace-one"


def adjacency_of(sampling: object) -> str:
    """Return the neighbours for which costs of a way of sampling hold."""
    if isinstance(sampling, str) and sampling in ("shuffle", "shuffled"):
        raise ValueError(
            f"sampling must be 'poisson' or 'fixed-size'; got {sampling!r}: no pair is known that "
            "dominates the batches of a shuffled order, which are neither"
        )
    return one_of("sampling", sampling, _ADJACENCY)
