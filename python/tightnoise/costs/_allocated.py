"""The leaf of one epoch in which each record is in exactly one of t Gaussian steps, at random.

Let Q be the output without the record and Y_i the ratio of densities of step i with and without it,
given what came before. With it the output has the density W = (Y_1 + ... + Y_t)/t beside Q, and

    delta(P, Q) = E (W - e^x)^+ = put(e^x) + 1 - e^x,   delta(Q, P) = E (1 - e^x W)^+
                = e^x put(e^-x),                         put(k) = E (k - W)^+       (under Q).

Balls in bins: Chua et al. 2024, "Balls-and-Bins Sampling for DP-SGD"; Feldman and Shenfeld 2025.
What the record adds at step i may follow from earlier outputs; it has a norm of a <= mu standard
deviations, so given these Y_i = e^(a Z - a^2/2), Z normal. That is a martingale in a: in the convex
order Y_i is at most the Y of mu. Replacing the last one, then the one before and so on, in convex
functions of the sum, W is at most the mean of t independent such Y, and both divergences are the
expectations of convex functions of W. So the pair of these dominates. Where other records are is
independent of it, and divergences are jointly convex.

Both ends are reached: by a record that adds mu in one direction at each step. `_put` has put from
both sides, to about 1e-12 of k; where it is not known, the cost of the release on all records is
the bound from above, that of the largest output alone (`_cell_pairs`) the one from below.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import MAX_COUNT, integer
from tightnoise.costs._call import CallBounds, call_bounds, log_call_least
from tightnoise.costs._cell_pairs import pair_of_largest
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._gaussian_pair import GaussianPair
from tightnoise.costs._leaf import Attained, Leaf, Profile, losses_of_leaf
from tightnoise.costs._loss_points import losses_of
from tightnoise.costs._put import PutBounds, SmallPut, put_bounds

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_LEAST_MU, _MOST_MU = 1e-12, 6.5  # of put
_MOST_EXCESS = 1e7  # k - 1 of put
_REACHES = (8.0, 12.0, 16.0, 24.0, 32.0, 48.0)  # deviations: where nothing else is known, put
_LOG_SMALL = -40.0  # goes on to where the largest output alone makes so small a call
_EXACT = 1e-6  # what bounds may be wrong by
_MOST_TOLD = 18.0  # of mu, by the largest output: beyond, its cells have too little in common


@dataclass(frozen=True)
class Allocated(Leaf):
    """One epoch of `steps` releases of Gaussian noise, of which each record is in exactly one.

    No more than that release on all records, to which divergences are jointly convex.
    """

    leaf: GaussianPair
    steps: int

    kind: ClassVar[str] = "allocated"

    def __post_init__(self) -> None:
        if not isinstance(self.leaf, GaussianPair):
            raise TypeError(f"leaf must be a Gaussian one; got {self.leaf!r}")
        self._set(steps=integer("steps", self.steps, minimum=1, maximum=MAX_COUNT))

    @property
    def gdp_mu(self) -> float:
        """That of the release on all records."""
        return self.leaf.gdp_mu

    def renyi(self) -> RdpFunction:
        """Return that of the release on all records."""
        return self.leaf.renyi()

    @property
    def is_attained(self) -> bool:  # type: ignore[override]
        """Whether put is known as far as it says something."""
        return self.profile_excess is not None

    @property
    def profile_excess(self) -> Excess | None:
        """The most that both bounds are apart."""
        if self.steps == 1 or not self.leaf.is_attained:
            return self.leaf.profile_excess
        put = _put_of(self.leaf.gdp_mu, self.steps)
        return None if put is None or put.width > _EXACT else Excess(2.0**-48, absolute=put.width)

    def profile(self, epsilons: Array) -> Profile:
        """Return the lesser of both bounds, in each direction."""
        return self._both_sides(epsilons)[1]

    def profile_below(self, epsilons: Array) -> Profile | None:
        """Return the lower bounds, which are nearer than the excess says."""
        if self.steps == 1 or not self.leaf.is_attained:
            return super().profile_below(epsilons)
        found = self._of_largest
        excess = found.excess
        largest = (
            np.maximum((heights - excess.absolute) * (1 - excess.height), 0.0)
            for heights in found.profile(epsilons)
        )
        ahead, behind = map(np.maximum, self._both_sides(epsilons)[0], largest)
        return ahead, behind

    def _both_sides(self, epsilons: Array) -> tuple[Profile, Profile]:
        """Return bounds from below, without the largest output's, and from above."""
        whole, _ = self.leaf.profile(epsilons)
        nothing = np.zeros_like(whole)
        put = _put_of(self.leaf.gdp_mu, self.steps) if self.steps > 1 else None
        if put is None:
            return (nothing, nothing), (whole, whole)
        (ahead, upper), (behind, other) = put.forward(epsilons), put.backward(epsilons)
        return (ahead, behind), (np.minimum(whole, upper), np.minimum(whole, other))

    def attained(self, tilt: float = 0.0) -> Attained | None:
        """Return that of all outputs where put is known, else that of the largest one."""
        known = super().attained(tilt)
        if self.steps == 1 or not self.leaf.is_attained:
            return known
        return self._of_largest if known is None else known._replace(both_sides=self._both_sides)

    @property
    def _of_largest(self) -> Attained:
        # What more tells is more: noise beside the outputs makes of a large mu a smaller one.
        return pair_of_largest(min(self.leaf.gdp_mu, _MOST_TOLD) * (1 - 2.0**-48), self.steps)

    @property
    def gap(self) -> str | None:
        """That of little noise."""
        if self.is_attained or self.steps == 1 or not self.leaf.is_attained:
            return super().gap
        return "of so little noise the largest output alone is told from below"

    def release(self) -> Release | None:
        """Return the losses."""
        found = losses_of_leaf(self.leaf)
        if found is None:
            return None
        mu = self.leaf.gdp_mu
        width = min(math.sqrt(math.expm1(min(mu * mu, 9.0)) / self.steps), mu, found.largest)
        return losses_of(self.profile, found.largest, width, symmetric=False)

    def describe(self) -> str:
        """Return what runs, and in how many steps a record may be."""
        return f"in one of {self.steps} steps: {self.leaf.describe()}"


@dataclass(frozen=True)
class _Put:
    """Both divergences by put and, far out, by the call; one may be unknown."""

    near: PutBounds | None
    far: CallBounds | None
    left: SmallPut

    def forward(self, epsilons: Array) -> tuple[Array, Array]:
        """Return bounds of E (W - e^x)^+, which does not increase with x."""
        lower, upper = np.zeros_like(epsilons), np.ones_like(epsilons)
        if self.near is not None:
            end = self.near.highest
            lower, upper = self.near.call(np.minimum(epsilons, end))
            lower = np.where(epsilons <= end, lower, 0.0)
        with np.errstate(over="ignore"):
            excess = np.expm1(epsilons)
        is_far = excess >= (math.inf if self.far is None else self.far.least)
        if self.far is not None and is_far.any():
            lower[is_far], upper[is_far] = self.far.at(excess[is_far])
        return lower, upper

    def backward(self, epsilons: Array) -> tuple[Array, Array]:
        """Return bounds of E (1 - e^x W)^+, which does not increase with x either."""
        small = self.left.at(epsilons)
        if self.near is None:
            return np.zeros_like(epsilons), small
        x = np.minimum(epsilons, -self.near.lowest)
        lower, upper = self.near.at(-x)
        scale = np.exp(x)
        lower = np.where(epsilons <= x, scale * lower * (1 - 8 * _UNIT), 0.0)
        return lower, np.minimum(scale * upper * (1 + 8 * _UNIT), small)

    @functools.cached_property
    def width(self) -> float:
        """How far the upper bounds may exceed the truth.

        In each range the logarithm of the error is convex in k, that over k, too: it is largest at
        an end, or at 1. Beyond the ends of all, all of a bound may be error.
        """
        if self.near is None:
            return math.inf
        most = 0.0
        for one in self.near.ranges:
            low, high = one.ends
            places = np.unique(np.clip([low, 0.0, high], low, high))
            _, wrong = one.at(places)
            apart = 2 * wrong * np.exp(np.maximum(-places, 0.0))
            most = max(most, float(apart.max()) + 16 * _UNIT * math.exp(max(high, 0.0)))
        # Beyond, that of the last place is kept: the truth there, at most, and that error.
        most = max(most, float(self.backward(np.array([-self.near.lowest]))[1][0]))
        # That goes on to where the far ones begin, which may be farther out.
        if self.far is None or self.far.least > _MOST_EXCESS:
            most = max(most, float(self.near.call(np.array([self.near.highest]))[1][0]))
        if self.far is not None:
            most = max(most, self.far.apart)
        return most * (1 + 1e-6)


@functools.lru_cache(maxsize=32)
def _put_of(mu: float, steps: int) -> _Put | None:
    """Return the bounds; None where none are to be had."""
    far, near = call_bounds(mu, steps), None
    if _LEAST_MU <= mu <= _MOST_MU:
        deviation = math.sqrt(math.expm1(mu * mu) / steps)
        places = [deviation * reach for reach in _REACHES]
        small = [place for place in places if log_call_least(mu, steps, place) < _LOG_SMALL]
        most = min(small, default=places[-1]) if far is None else far.least
        near = put_bounds(mu, steps, min(most, _MOST_EXCESS))
    return None if near is None and far is None else _Put(near, far, SmallPut(mu, steps))
