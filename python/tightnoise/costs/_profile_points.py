"""Privacy profiles of both directions at points, from both sides: what trade-offs are read from.

The profile at e^-x of a pair is that of the swapped pair at e^x: 1 - e^-x + e^-x delta(x). So two
directions, at epsilons of at least 0, say all.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise._cached import cached_property
from tightnoise.costs._answers import least, proved_by
from tightnoise.costs._composed import distribution_of
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._exact import Composition, composition_of
from tightnoise.costs._lattice_bounds import deltas_below
from tightnoise.costs._leaf import Leaf, Terms, losses_of_leaf
from tightnoise.costs._privacy_loss import PrivacyLossDistribution
from tightnoise.costs._sampled import Sampled
from tightnoise.costs._together import composed_of

Array = NDArray[np.float64]

_POINTS, _SLOW_POINTS = 1024, 32  # of which so many take a contour each at most; no more than
_FEW_SLOW = 2  # where contours take long: unless records are, as is to be expected,
_MANY_TIMES = 5.0  # so often in a sample
_LEAF_POINTS, _LATTICE_POINTS, _FEW = 256, 128, 40
_LEAST = 1e-320  # that logarithms are taken of
_BESIDE = 2.0**-24  # a kink, relative: so near it is read, too


@dataclass(frozen=True, eq=False)
class Profile:
    """delta of one direction, between `lower` and `upper` at rising epsilons from 0.

    `more` reads it elsewhere, at rising epsilons: 0 and 1 where it cannot. `is_smooth`: without
    kinks, which are among the points.
    """

    epsilons: Array
    lower: Array
    upper: Array
    more: Callable[[Array], tuple[Array, Array]] | None = None
    is_smooth: bool = False

    @cached_property
    def falls(self) -> tuple[Array, Array, Array]:
        """About how tests at these epsilons do, as logarithms of FPR and TPR, and the FPR's rate.

        delta = TPR - e^x FPR, and its slope is -e^x FPR. Nothing that is proved depends on this.
        """
        x, delta = self.epsilons, np.maximum(0.5 * (self.lower + self.upper), _LEAST)
        rate = np.maximum(-np.gradient(np.log(delta), x, edge_order=2), 0.0)
        power = np.minimum.accumulate(np.log(delta) + np.log1p(rate))
        errors = np.minimum.accumulate(np.log(delta) + np.log(np.maximum(rate, _LEAST)) - x)
        return errors, power, np.maximum(-np.gradient(errors, x), 1 / x[-1])


@functools.lru_cache(maxsize=16)
def profiles(terms: Terms, far: float, *, both_sides: bool) -> tuple[Profile, Profile]:
    """Return both directions' as far as delta is about `far`; the same object where they are one.

    Lower sides that take long are 0 unless both sides are asked for.
    """
    known = quick_profiles(terms, far)
    if known is not None:
        return known
    release = composed_of(terms)
    if release is None:
        return _of_answers(terms, distribution_of(terms))
    if release.highest <= 0:  # there is no loss but infinite ones
        return _of_answers(terms, None)
    return _of_release(terms, release, far, both_sides=both_sides)


@functools.lru_cache(maxsize=16)
def quick_profiles(terms: Terms, far: float) -> tuple[Profile, Profile] | None:
    """Return those that are read from both sides in little time: by contours, or of a leaf."""
    exact = composition_of(terms)
    if exact is not None and exact.is_smooth and exact.is_exact:
        last = exact.epsilon(far).upper
        found = None
        if last < math.inf:
            most_slow = _POINTS if _is_many(terms) else _FEW_SLOW
            found = _of_composition(exact, max(last, 1e-300), far, most_slow)
        if found is not None:
            return found
    (leaf, count), *others = terms
    return _of_leaf(leaf) if count == 1 and not others else None


def _is_many(terms: Terms) -> bool:
    return sum(n * leaf.rate for leaf, n in terms if isinstance(leaf, Sampled)) >= _MANY_TIMES


def _of_composition(
    exact: Composition, last: float, far: float, most_slow: int
) -> tuple[Profile, Profile] | None:
    """Return the profiles by contours; None where that is slow, and a lattice is about as good.

    Beyond the first epsilon at which delta is at most `far`,
    as those before it say, none is read.
    """
    epsilons = last * np.linspace(0.0, 1.0, _POINTS) ** 2  # most where most losses are

    def one(way: int) -> Profile | None:
        def more(at: Array) -> tuple[Array, Array]:
            return exact.deltas_one_way(way, at)

        lower, upper = more(epsilons)
        known = upper - lower < 1
        slow = np.flatnonzero(~known & (np.minimum.accumulate(upper) > far))
        if slow.size > most_slow:
            return None
        slow = slow[np.linspace(0, slow.size - 1, min(slow.size, _SLOW_POINTS)).astype(int)]
        for i in slow.tolist():
            lower[i], upper[i] = exact.delta_one_way(way, float(epsilons[i]))
        known[slow] = True
        return Profile(epsilons[known], lower[known], upper[known], more, is_smooth=True)

    ahead = one(0)
    behind = ahead if exact.is_symmetric or ahead is None else one(1)
    return None if ahead is None or behind is None else (ahead, behind)


def _of_leaf(leaf: Leaf) -> tuple[Profile, Profile] | None:
    """Return those of a profile that is known."""
    release = losses_of_leaf(leaf)
    if release is None or release.highest <= 0 or leaf.profile(np.zeros(1)) is None:
        return None
    epsilons = release.highest * np.linspace(0.0, 1.0, _LEAF_POINTS) ** 2
    epsilons = np.unique(np.concatenate([epsilons, _kinks(release)]))

    def one(way: int) -> Profile:
        def more(at: Array) -> tuple[Array, Array]:
            below = leaf.profile_below(at)
            upper = np.minimum(leaf.known_profile(at)[way], 1.0)
            lower = np.zeros_like(at) if below is None else below[way]
            return np.minimum(lower, upper), upper

        return Profile(epsilons, *more(epsilons), more)

    ahead = one(0)
    return ahead, ahead if release.is_symmetric else one(1)


def _of_release(
    terms: Terms, release: Release, far: float, *, both_sides: bool
) -> tuple[Profile, Profile]:
    """Return the sums over the losses of a distribution, and what its lattice says from below."""
    losses = release.values[release.values > 0]
    most = _LATTICE_POINTS if both_sides else _POINTS
    if losses.size > most:
        losses = losses[np.linspace(0, losses.size - 1, most).astype(int)]
    epsilons = np.unique(np.concatenate([[0.0], losses, _kinks(release)]))
    uppers = release.profile(epsilons)
    below = np.zeros((2, epsilons.size))
    if both_sides:
        seen = int(np.argmax(np.append(np.maximum(*uppers) <= far, True)))
        below[:, :seen] = deltas_below(terms, epsilons[:seen])
    ahead, behind = (
        Profile(epsilons, np.minimum(low, high), high)
        for low, high in zip(below, uppers, strict=True)
    )
    return ahead, ahead if release.is_symmetric else behind


def _of_answers(terms: Terms, losses: PrivacyLossDistribution | None) -> tuple[Profile, Profile]:
    """Return what is proved in any way, from above only."""
    pure = least("epsilon", terms, 0.0)[1].bound
    epsilons = np.linspace(0.0, min(pure, 20.0) or 1.0, 81)
    upper = np.ones_like(epsilons)
    for way in ("profile", "pure", "rdp"):
        for i, x in enumerate(epsilons.tolist()):
            proof = proved_by(way, "delta", terms, x)
            if proof is None:
                break
            upper[i] = min(upper[i], proof.bound)
    if losses is not None:  # a lattice serves many points
        both_ways = losses._composed().profile(epsilons)
        upper = np.minimum(upper, np.maximum(*both_ways))
    both = Profile(epsilons, np.zeros_like(upper), upper)
    return both, both


def _kinks(release: Release) -> Array:
    """Return atoms, or the last one alone, with points beside them and beside 0."""
    atoms = release.values[release.values > 0]
    if atoms.size > _FEW or atoms.size == 0:
        atoms = np.array([max(release.highest, 1e-300)])
    beside = _BESIDE * atoms
    return np.concatenate([beside[:1], atoms - beside, atoms, atoms + beside])
