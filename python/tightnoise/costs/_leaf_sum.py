"""Leaves, each so many times: what a cost is made of, and how costs are put together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from tightnoise._adjacency import adjacency_or_none, common_adjacency
from tightnoise._validate import MAX_COUNT, integer, real_scalar, require
from tightnoise.costs._allocated import Allocated
from tightnoise.costs._direction_pair import DirectionPair
from tightnoise.costs._gaussian_pair import GaussianPair
from tightnoise.costs._group import Group
from tightnoise.costs._leaf import Leaf, Terms
from tightnoise.costs._sampled import Sampled, described, merged_terms
from tightnoise.costs._sampling import adjacency_of

if TYPE_CHECKING:
    from typing_extensions import Self

Adjacency = Literal["add-remove", "replace-one"]
Sampling = Literal["poisson", "fixed-size"]


class LeafSum:
    """A sum of leaves. Immutable, with ``==``, hash and pickle."""

    __slots__ = ("_answers", "_leaves")
    __array_ufunc__ = None  # numpy integers times a cost are a cost

    _leaves: dict[Leaf, int]
    _answers: dict[tuple[str, str | None, float], float]

    def __init__(self) -> None:
        self._leaves, self._answers = {}, {}

    @classmethod
    def _of(cls, leaves: Iterable[tuple[Leaf, int]]) -> Self:
        cost = cls()
        adjacency = None
        total = 0
        for leaf, count in leaves:
            adjacency = common_adjacency(adjacency, leaf.adjacency)
            if count:
                cost._leaves[leaf] = cost._leaves.get(leaf, 0) + count
                total += count
        require(total <= MAX_COUNT, "count", total, "at most 2**53 in all")
        return cost

    @classmethod
    def of_leaf(cls, leaf: Leaf) -> Self:
        return cls._of([(leaf, 1)])

    @property
    def adjacency(self) -> str | None:
        """Which data sets are neighbours; None: those that the sensitivities were declared for."""
        return next((leaf.adjacency for leaf in self._leaves if leaf.adjacency), None)

    @property
    def count(self) -> int:
        """How many releases there are."""
        return sum(self._leaves.values())

    @property
    def terms(self) -> Terms:
        """The leaves, each with its count."""
        return tuple(self._leaves.items())

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, LeafSum):
            return NotImplemented
        return self._of([*self._leaves.items(), *other._leaves.items()])

    def __mul__(self, count: SupportsIndex) -> Self:
        times = integer("count", count, minimum=0, maximum=MAX_COUNT)
        return self._of([(leaf, n * times) for leaf, n in self._leaves.items()])

    __rmul__ = __mul__

    def sampled(
        self, rate: float, sampling: Sampling, *, adjacency: Adjacency | None = None
    ) -> Self:
        """Return the cost of all this on ONE random sample of the records.

        ``cost.sampled(q, how) * n`` is n samples, each drawn anew. Shuffled batches, one after the
        other, are neither.

        Parameters
        ----------
        rate : float
            The share of the records that takes part, from 0 to 1.
        sampling : {"poisson", "fixed-size"}
            "poisson": each record with that probability, independently of all else; neighbours
            differ by one record that is there or not. "fixed-size": a set of so many records, all
            sets as likely; neighbours differ in the value of one record, so the cost must say
            adjacency="replace-one" (a clipped sum changes by twice the norm), or be of directions
            at any angle.
        adjacency : {None, "add-remove", "replace-one"}, optional
            "replace-one", of Poisson samples and what a record costs that is there or not: that of
            one that is replaced, whose values are each within the sensitivity of none. A cost that
            says replace-one itself bounds the difference of two values only, and costs more.

        Returns
        -------
        Cost
            Of Poisson samples of samples: the product of the rates.

        Raises
        ------
        ValueError
            For a rate outside [0, 1], an unknown way of sampling, other neighbours, a cost that is
            sampled already (but as above).
        TypeError
            If the rate is not a real number.

        Examples
        --------
        >>> import tightnoise as tn
        >>> step = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")
        >>> print(f"{(step * 10_000).epsilon(1e-6):.3f}")
        6.907
        >>> replaced = tn.Gaussian(1.0).cost(sensitivity=2.0, adjacency="replace-one")
        >>> print(f"{(replaced.sampled(0.01, 'fixed-size') * 1000).epsilon(1e-6):.2f}")
        16.96
        >>> one = tn.Gaussian(1.0).cost(sensitivity=1.0)
        >>> each = one.sampled(0.01, "poisson", adjacency="replace-one")
        >>> print(f"{(each * 1000).epsilon(1e-6):.2f}")
        3.21
        """
        share = real_scalar("rate", rate)
        require(0 <= share <= 1, "rate", rate, "from 0 to 1")
        relation = adjacency_of(sampling)
        if sampling == "poisson":
            if adjacency_or_none(adjacency) == "replace-one" != self.adjacency:
                pairs = self._of((_replaced(leaf), n) for leaf, n in self._leaves.items())
                return pairs.sampled(share, sampling)
            relation = self.adjacency or relation
        require(adjacency in (None, relation), "adjacency", adjacency, f"{relation!r} here")
        if share == 0 or not self._leaves:
            return type(self)()
        if sampling == "fixed-size" and self.adjacency != "replace-one":
            turned = all(
                isinstance(leaf, DirectionPair) and leaf.half_chord == 1 for leaf in self._leaves
            )
            if not turned or self.adjacency is not None:
                raise ValueError(
                    "adjacency must be 'replace-one' for samples of a fixed size, where a record "
                    "is replaced and a clipped sum changes by twice the norm: make the cost with "
                    f"that sensitivity and adjacency; got {self.adjacency!r}"
                )
        if any(isinstance(leaf, Sampled) for leaf in self._leaves):
            (leaf, count), *others = self._leaves.items()
            poisson = isinstance(leaf, Sampled) and leaf.sampling == sampling == "poisson"
            if others or count > 1 or not poisson or not isinstance(leaf, Sampled):
                raise ValueError(
                    "sampled must not be asked of what is sampled already, but for one Poisson "
                    f"sample of another; got {self!r}"
                )
            product = min(math.nextafter(leaf.rate * share, 1.0), leaf.rate)
            twice = Sampled(leaf.terms, product, "poisson", adjacency=leaf.adjacency)
            return self._of([(twice, 1)])
        if share == 1:
            return self  # every record takes part
        terms = tuple(
            (leaf if isinstance(leaf, Group) else leaf.with_adjacency(None), n)
            for leaf, n in self._leaves.items()
        )
        return self._of([(Sampled(terms, share, sampling, adjacency=relation), 1)])

    def allocated(self, steps: SupportsIndex) -> Self:
        """Return the cost of an epoch of `steps` such releases, each record in exactly one.

        In which one is drawn for each record, independently and anew for each epoch (balls in
        bins); ``cost.allocated(steps) * n`` is n epochs. Batches in a shuffled order are not that.

        Parameters
        ----------
        steps : int
            At least 1. All of this cost is one step.

        Returns
        -------
        Cost
            Never more than that of one step on all records. One epoch is told from both sides,
            delta to about 1e-12 (with noise below 0.4 sensitivities and few steps less closely),
            and rare large losses to nearly all digits, where noise is at least 0.16
            sensitivities; several to about 1e-6, where it is at least 0.2, else only roughly
            from below.

        Raises
        ------
        ValueError
            If the cost is not of Gaussian noise, for records that are there or not.
        TypeError
            If steps is not an integer.

        Examples
        --------
        >>> import tightnoise as tn
        >>> epoch = tn.Gaussian(1.0).cost(sensitivity=1.0).allocated(100)
        >>> print(f"{(epoch * 10).epsilon(1e-5):.2f}")
        1.70
        """
        count = integer("steps", steps, minimum=1, maximum=MAX_COUNT)
        if not self._leaves:
            return type(self)()
        (leaf, times), *others = merged_terms(self.terms)
        if others or times > 1 or not isinstance(leaf, GaussianPair):
            raise ValueError(f"allocated must be asked of Gaussian noise only; got {self!r}")
        if self.adjacency == "replace-one" or any(isinstance(leaf, Group) for leaf in self._leaves):
            raise ValueError(
                "allocated must be asked of what one record costs that is there or not; "
                f"got {self!r}"
            )
        return self._of(
            [(Allocated(replace(leaf, adjacency=None), count, adjacency="add-remove"), 1)]
        )

    def for_neighbours(self, adjacency: Adjacency | None) -> Self:
        """Return the same cost for named neighbours, if it names none.

        Parameters
        ----------
        adjacency : {None, "add-remove", "replace-one"}
            The relation that the sensitivities were declared for; None changes nothing.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError
            For an unknown adjacency, or another than the cost names.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Cost.of_pure(1.0).for_neighbours("replace-one").adjacency
        'replace-one'
        """
        relation = common_adjacency(self.adjacency, adjacency_or_none(adjacency))
        return self._of((leaf.with_adjacency(relation), n) for leaf, n in self._leaves.items())

    def group(self, count: SupportsIndex) -> Self:
        """Return the cost for data sets that differ in `count` records.

        Some of them in the one data set and the others in the other, or all in one: what costs
        most counts. Gaussian noise on Poisson samples, for up to 16 records, is known from both
        sides (Ganesh 2024 has those that are all in one), as is what has no sample. Of anything
        else on samples a chain of neighbours is an upper bound. `Cost.losses` has losses that
        cost no less than any such data sets, composed perhaps more.

        Parameters
        ----------
        count : int
            At least 1. Two records added and removed make a replaced one: ``group(2)`` of an
            add-remove cost is a replace-one cost, also of two records that are only added. Of a
            cost that is replace-one itself, so many records are replaced.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            If count is not an integer of at least 1.

        Examples
        --------
        >>> import tightnoise as tn
        >>> one = tn.Gaussian(4.0).cost(sensitivity=1.0, adjacency="add-remove")
        >>> one.group(2) == tn.Gaussian(4.0).cost(sensitivity=2.0, adjacency="replace-one")
        True
        >>> step = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")
        >>> print(f"{(step.group(3) * 1000).epsilon(1e-6):.6f}")
        7.189969
        """
        k = integer("count", count, minimum=1, maximum=MAX_COUNT)
        if k == 1:
            return self
        return self._of((_group(leaf, k), n) for leaf, n in self._leaves.items())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LeafSum):
            return NotImplemented
        return self._leaves == other._leaves

    def __hash__(self) -> int:
        return hash(frozenset(self._leaves.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return self._of, (self.terms,)

    def __repr__(self) -> str:
        return f"Cost({described(self.terms)})"


def _replaced(leaf: Leaf) -> Leaf:
    """Return the cost of one value instead of another, each next to none."""
    return Group(leaf.with_adjacency("add-remove"), 2, adjacency="replace-one")


def _group(leaf: Leaf, count: int) -> Leaf:
    if count == 2 and leaf.adjacency == "add-remove" and not isinstance(leaf, Group):
        larger = leaf.grouped(2)
        pair = Group(leaf, 2) if larger is None else larger
        return pair.with_adjacency("replace-one")
    if isinstance(leaf, Group):
        return leaf.grouped(count)
    return Group(leaf, count, adjacency=leaf.adjacency)
