"""The leaf of a group of records, and what data sets that differ in it may be."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tightnoise._cached import cached_property
from tightnoise._core import cost as core
from tightnoise._validate import MAX_COUNT, integer, shown
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._gaussian_pair import Noise
from tightnoise.costs._grouped_gaussian import GroupedGaussian
from tightnoise.costs._leaf import Law, Leaf, Profile, losses_of_leaf
from tightnoise.costs._lesser import lesser_of
from tightnoise.costs._loss_points import losses_of
from tightnoise.costs._quotients import total_upper

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GroupCase(Leaf):
    """Gaussian noise on a Poisson sample, of a `group` of which the pair is told.

    What is proved of all data sets that differ in such a group is proved here. Not a leaf of costs:
    these have the group, and `_cases.cases_of` goes through what it may be.
    """

    group: Group
    pair: GroupedGaussian
    noise: Noise
    is_pair: bool
    is_least: bool

    @property
    def is_attained(self) -> bool:  # type: ignore[override]
        """Whether two data sets have this pair."""
        return self.is_pair

    @property
    def has_least_profile(self) -> bool:  # type: ignore[override]
        """Whether that of each release is."""
        return self.is_least

    @property
    def max_loss(self) -> float:
        """That of the group."""
        return self.group.max_loss

    @property
    def gdp_mu(self) -> float:
        """That of the group."""
        return self.group.gdp_mu

    @property
    def zcdp_rho(self) -> float:
        """That of the group."""
        return self.group.zcdp_rho

    def renyi(self) -> RdpFunction | None:
        """Return that of the group."""
        return self.group.renyi()

    @property
    def rate(self) -> float:
        """How often one of the records is in a sample, or more."""
        return min(1.0, self.pair.rate * (self.pair.ours + self.pair.theirs))

    @property
    def is_symmetric(self) -> bool:
        """Whether both directions are one: as many records in the one data set as in the other."""
        return self.pair.ours == self.pair.theirs

    def profile(self, epsilons: Array) -> Profile:
        """Return the profile of the pair."""
        forward = self.pair.delta(epsilons)
        return forward, forward if self.is_symmetric else self.pair.swapped.delta(epsilons)

    @property
    def profile_excess(self) -> Excess | None:
        """The formula's, the larger of both directions."""
        if not self.is_pair:
            return None
        one, other = self.pair.excess, self.pair.swapped.excess
        return Excess(max(one.height, other.height), max(one.argument, other.argument))

    @property
    def largest(self) -> float:
        """A loss that is exceeded with a probability of at most 1e-40, either way."""
        return max(self.pair.largest, self.pair.swapped.largest)

    @property
    def width(self) -> float:
        """About the deviation of losses, or less: as many records' as the one of a sampled one."""
        records = self.pair.ours + self.pair.theirs
        return min(self.largest, records * self.pair.rate * min(self.pair.mu, 1.0))

    def release(self) -> Release:
        """Return the losses."""
        bends = [one.most for one in (self.pair, self.pair.swapped) if one.most < math.inf]
        symmetric = self.is_symmetric
        return losses_of(self.profile, self.largest, self.width, bends, symmetric=symmetric)

    def laws(self) -> tuple[Law, ...] | None:
        """Return those of both directions."""
        if not self.noise.is_in_range:
            return None
        pairs = (self.pair,) if self.is_symmetric else (self.pair, self.pair.swapped)

        def of(pair: GroupedGaussian) -> Law:
            numbers = pair.rate, pair.ours, pair.theirs
            return self.noise.law(lambda sigma: core.grouped_gaussian(sigma, *numbers))

        return tuple(of(pair) for pair in pairs)

    def describe(self) -> str:
        """Return what is released, and for which records."""
        return f"{self.pair.ours} and {self.pair.theirs} of the {self.group.describe()}"


@dataclass(frozen=True)
class Group(Leaf):
    """A release and `count` changed records: delta_k(k e) <= delta(e) (e^(k e) - 1)/(e^e - 1).

    (A chain of k neighbours, each at epsilon e: Vadhan 2017, "The Complexity of Differential
    Privacy", Lemma 2.2.) Where the leaf knows the pair of such data sets, that is taken instead, or
    the pairs, by how many of the records are in the one and how many in the other: the profile here
    is the largest, and `cases_of` composes each apart.
    """

    leaf: Leaf
    count: int

    kind: ClassVar[str] = "group"
    is_attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.leaf, Leaf):
            raise TypeError(f"leaf must be a leaf; got {shown(self.leaf)}")
        self._set(count=integer("count", self.count, minimum=2, maximum=MAX_COUNT))

    @property
    def is_slow(self) -> bool:  # type: ignore[override]
        """Whether that of the leaf is."""
        return self.leaf.is_slow

    @property
    def is_coarse(self) -> bool:  # type: ignore[override]
        """Whether that of the leaf is."""
        return self.leaf.is_coarse

    @cached_property
    def larger(self) -> Leaf | None:
        """The leaf of so many changed records, if it is one of the same kind."""
        return self.leaf.grouped(self.count)

    @cached_property
    def cases(self) -> tuple[GroupCase, ...]:
        """What the two data sets may be, as pairs that are told; empty if they are not."""
        return self.leaf.group_cases(self)

    @property
    def has_least_profile(self) -> bool:  # type: ignore[override]
        """Whether the leaf's own is."""
        return self.larger is not None and self.larger.has_least_profile

    @property
    def max_loss(self) -> float:
        """As many times that of one record."""
        larger = self.larger
        return (
            total_upper([(self.leaf.max_loss, self.count)]) if larger is None else larger.max_loss
        )

    @property
    def gdp_mu(self) -> float:
        """As many times that of one record (Dong, Roth and Su 2022, Theorem 2.14)."""
        larger = self.larger
        return total_upper([(self.leaf.gdp_mu, self.count)]) if larger is None else larger.gdp_mu

    @property
    def zcdp_rho(self) -> float:
        """As many times squared (Bun and Steinke 2016, Proposition 1.9)."""
        larger = self.larger
        own = total_upper([(self.leaf.zcdp_rho, self.count**2)])
        return own if larger is None else larger.zcdp_rho

    def renyi(self) -> RdpFunction | None:
        """Return a bound by the largest loss or by zCDP."""
        if self.larger is not None:
            return self.larger.renyi()
        return lesser_of(self.max_loss, self.zcdp_rho)

    def profile(self, epsilons: Array) -> Profile | None:
        """Return the largest of the cases, or the chain's bound."""
        if self.larger is not None:
            return self.larger.profile(epsilons)
        if self.cases:
            delta = np.max([one for case in self.cases for one in case.profile(epsilons)], axis=0)
            return delta, delta
        each = np.nextafter(epsilons / self.count, 0.0)
        base = self.leaf.profile(each)
        if base is None:
            return None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            grown = np.where(each > 0, np.expm1(self.count * each) / np.expm1(each), self.count)
        grown = np.where(np.isnan(grown), np.inf, grown) * (1 + 2.0**-48)
        worst = np.maximum(*base)
        with np.errstate(over="ignore", invalid="ignore"):
            delta = np.where(worst > 0, np.minimum(worst * grown, 1.0), 0.0)
        return delta, delta

    def epsilon(self, delta: float) -> float | None:
        """Return the leaf's own, or what the chain proves."""
        return super().epsilon(delta) if self.larger is None else self.larger.epsilon(delta)

    def release(self) -> Release | None:
        """Return the losses."""
        if self.larger is not None:
            return losses_of_leaf(self.larger)
        if self.cases:
            largest = max(case.largest for case in self.cases)
            width = max(case.width for case in self.cases)
        else:
            one = losses_of_leaf(self.leaf)
            if one is None or self.leaf.profile(np.zeros(1)) is None:
                return None
            largest, width = self.count * one.largest, self.count * one.deviation

        return losses_of(self.known_profile, largest, width, symmetric=True)

    def grouped(self, count: int) -> Leaf:
        """Return that of as many times as many records."""
        return replace(self, count=self.count * count)

    @property
    def gap(self) -> str | None:
        """That of the larger pair, or of the chain, or of cases that are not told apart."""
        if self.larger is not None:
            return self.larger.gap
        if self.cases:
            return "of groups of different sizes together an upper bound is known only"
        return "of a chain of neighbours an upper bound is known only"

    def describe(self) -> str:
        """Return what is released, and for how many records."""
        return f"{self.count} records: {self.leaf.describe()}"
