"""What an accountant remembers: kinds of releases with their counts, and the sum of all tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._adjacency import adjacency_or_none, common_adjacency
from tightnoise._validate import MAX_COUNT, number_array, require, shown
from tightnoise.costs import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._functions import Term, key_of

__all__ = ["Entry", "Ledger"]

Array = NDArray[np.float64]


class Entry:
    """A release that costs a sum of functions of the order, and how often it was made."""

    __slots__ = ("count", "terms")

    def __init__(self, terms: tuple[Term, ...], count: int) -> None:
        self.terms = terms
        self.count = count

    @property
    def size(self) -> int:
        """How many functions the sum is of, each as often as it is in it."""
        return sum(times for _, times in self.terms)


class Ledger:
    """Costs that have been paid. Nothing is ever taken out; a refused cost leaves no trace.

    Tables are added up as they come, rounded upwards each time: a million of them raise the sum by
    a relative 2.2e-10 at most, and take no more room than one.
    """

    __slots__ = (
        "_entries",
        "_size",
        "_total",
        "adjacency",
        "alphas",
        "per_instance",
        "steps",
        "table",
    )

    alphas: Array | None  # orders to keep to
    table: RdpCurve | None
    steps: int  # the counts of the entries, and of the tables

    def __init__(self, alphas: ArrayLike | None = None) -> None:
        self.alphas = None
        if alphas is not None:
            orders = number_array("alphas", alphas)
            orders = RdpCurve(orders, np.zeros(orders.shape)).alphas  # refuses bad orders
            require(bool((orders > 1).any()), "alphas", alphas, "greater than 1 at least once")
            self.alphas = orders
        self.table = None
        self.adjacency: str | None = None
        self.per_instance = False
        self.steps = 0
        self._size = 0  # how many functions and tables all that is
        self._entries: dict[Any, Entry] = {}
        self._total: RdpCurve | None = None

    def copy(self) -> Ledger:
        """Return a ledger with the same past and a future of its own."""
        other = Ledger()
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        other._entries = {key: Entry(e.terms, e.count) for key, e in self._entries.items()}
        return other

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The kinds of releases with known functions, in the order in which they first came."""
        return tuple(self._entries.values())

    def declare(self, adjacency: str | None, per_instance: bool) -> None:
        """State what holds of an empty ledger from the start."""
        self.adjacency = adjacency_or_none(adjacency)
        self.per_instance = per_instance

    def add(
        self,
        curve: RdpCurve,
        count: int,
        adjacency: str | None = None,
        history: str | None = None,
    ) -> None:
        """Add `count` releases at the cost `curve`; ValueError, and no change, if that is refused.

        What has no terms costs nothing, and is no release.
        """
        relation = common_adjacency(
            common_adjacency(adjacency_or_none(adjacency), curve.adjacency), self.adjacency
        )
        new = Entry(curve.terms, count)
        size = count * (new.size if curve.is_continuous else 1)
        if size == 0:
            return
        require(self._size + size <= MAX_COUNT, "count", count, "at most 2**53 in all")
        if curve.per_instance and self._size + size > 1:
            _require_fixed(history)
        if curve.is_continuous:
            self._entries.setdefault(_key_of(new.terms), Entry(new.terms, 0)).count += count
        else:
            self.table = self._with(curve * count)
        self.adjacency = relation
        self.per_instance |= curve.per_instance
        self._grow(count, size)

    def add_table(self, total: RdpCurve, count: int) -> None:
        """Add `count` releases that cost `total` together, of the adjacency and kind declared."""
        require(self._size + count <= MAX_COUNT, "count", count, "at most 2**53 in all")
        self.table = self._with(total)
        self._grow(count, count)

    def _grow(self, steps: int, size: int) -> None:
        self.steps += steps
        self._size += size
        self._total = None

    def repeat(self, entry: Entry) -> None:
        """Count one more step that is exactly this entry, of one function."""
        require(self._size < MAX_COUNT, "count", 1, "at most 2**53 in all")
        entry.count += 1
        self._grow(1, 1)

    def entry(self, curve: RdpCurve) -> Entry:
        """Return the entry of a curve that has been added."""
        return self._entries[_key_of(curve.terms)]

    def total(self) -> RdpCurve:
        """Return the sum of all costs."""
        if self._total is None:
            self._total = self._sum()
        return self._total

    def _sum(self) -> RdpCurve:
        curve = RdpCurve.of_terms(
            (
                (function, times * entry.count)
                for entry in self._entries.values()
                for function, times in entry.terms
            ),
            alphas=DEFAULT_ORDERS if self.alphas is None else self.alphas,
            per_instance=self.per_instance,
            adjacency=self.adjacency,
        )
        if self.table is not None:
            return curve + self.table
        return curve if self.alphas is None else curve.at(self.alphas)

    def _with(self, table: RdpCurve) -> RdpCurve:
        """Return the sum of the tables so far and one more."""
        kept = self.alphas if self.table is None else self.table.alphas
        if kept is not None and not np.array_equal(kept, table.alphas):
            raise ValueError(
                f"alphas must be the {kept.size} orders from {kept[0]:g} to {kept[-1]:g} that the "
                f"accountant keeps to; got {table}: read it there, curve.at(accountant.alphas)"
            )
        return table if self.table is None else self.table + table


def _key_of(terms: tuple[Term, ...]) -> Any:
    """Return what equal sums share as a key."""
    return frozenset((key_of(function), times) for function, times in terms)


def _require_fixed(history: str | None) -> None:
    """Refuse a per-instance cost beside others, unless told why it adds up."""
    if history != "fixed":
        raise ValueError(
            "history must be 'fixed' for a per-instance cost beside other releases: it adds up "
            "only if the value released does not depend on earlier outputs (along one run of "
            "values that do, the sum is no bound: compose the mechanism itself); "
            f"got {shown(history)}"
        )
