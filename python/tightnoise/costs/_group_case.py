"""The leaf of a group of records, so many of which only the one data set has, or the other one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._gaussian_pair import Noise
from tightnoise.costs._grouped_gaussian import GroupedGaussian
from tightnoise.costs._leaf import Law, Leaf, Profile
from tightnoise.costs._loss_points import losses_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GroupCase(Leaf):
    """Gaussian noise on a Poisson sample, of a `group` of which the pair is told.

    What is proved of all data sets that differ in such a group is proved here. Not a leaf of costs:
    these have the group, and `_cases.cases_of` goes through what it may be.
    """

    group: Leaf
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
