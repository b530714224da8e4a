"""Both sides of an epsilon and a delta of releases together, by their losses on a lattice.

The upper side is that of `PrivacyLossDistribution`. For the lower one, the law of each leaf is laid
on a common lattice anew, from its profile, such that its pair dominates it: as fine as the upper
side's at that epsilon, and such that the atoms of all are at multiples, or nearly.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._discrete_losses import DiscreteLosses, Release
from tightnoise.costs._lattice import MAX_LATTICE_COUNT
from tightnoise.costs._lattice_below import Below, below_of_profile, below_of_release
from tightnoise.costs._leaf import Leaf, losses_of_leaf
from tightnoise.costs._losses_below import LossesBelow
from tightnoise.costs._privacy_loss import PrivacyLossDistribution
from tightnoise.costs._sampled import Terms, merged_gaussians

__all__ = ["delta_bounds", "deltas_below", "epsilon_bounds"]

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_POINTS = 20_000  # of a profile that are read, at least, up to its largest loss
_MOST_POINTS = 16  # a spacing
_FINEST = 40_000  # spacings up to the largest loss, at most
_STEPS = 4.0  # spacings, between one and its double, that are asked for
_ROOM = 1.1  # a spacing is this much wider than the upper side's
_LEEWAY, _FINER = 1.5, 3.0  # from the least spacing to the most, and from the most to the least
_NEAR = 1e-9  # relative: multiples are so close
_ATOM = 1e-4  # losses that are this probable, and
_ALONE = 20.0  # so much more than those beside them, are to be at multiples
_FEW = 64  # losses are all atoms
_MOST_ATOMS = 8  # of one release


def epsilon_bounds(terms: Terms, delta: float) -> tuple[float, float]:
    """Return an epsilon that is not reached at `delta` and one that is; 0 and infinity if unknown.

    The lower one is of the pairs of the leaves, in the worse direction of the two.
    """
    upper = _upper(terms)
    if upper is None:
        return 0.0, math.inf
    above = upper.epsilon(delta)
    return max(_epsilons_below(terms, delta, above), default=0.0), above


def delta_bounds(terms: Terms, epsilon: float) -> tuple[float, float]:
    """Return the same of the least delta at `epsilon`."""
    upper = _upper(terms)
    if upper is None:
        return 0.0, 1.0
    above = upper.delta(epsilon)
    return max(_deltas_below(terms, epsilon), default=0.0), above


def deltas_below(terms: Terms, epsilons: Array) -> Array:
    """Return, in both directions, deltas that are reached at these epsilons; 0 if unknown."""
    found = np.zeros((2, epsilons.size))
    if _upper(terms) is not None:
        for i, epsilon in enumerate(epsilons.tolist()):
            found[:, i] = [*_deltas_below(terms, epsilon)] or 0.0
    return np.maximum(found, 0.0)


def _epsilons_below(terms: Terms, delta: float, above: float) -> Iterator[float]:
    for losses in _below(terms, above):
        slack = delta - losses.infinite
        if slack < 0:
            yield math.inf
        elif slack == 0:
            yield max(0.0, losses.highest * (1 - 16 * _UNIT) - losses.raised)
        else:
            yield losses.epsilon_lower(math.log(slack) + 8 * _UNIT)


def _deltas_below(terms: Terms, epsilon: float) -> Iterator[float]:
    for losses in _below(terms, epsilon):
        yield (losses.infinite + losses.slack_lower(epsilon)) * (1 - 8 * _UNIT)


# --- the releases


@functools.lru_cache(maxsize=32)
def _releases(terms: Terms) -> tuple[tuple[Leaf, Release, int], ...] | None:
    """Return the leaves with their losses from above, if they are known."""
    found = []
    for leaf, count in merged_gaussians(terms):
        release = losses_of_leaf(leaf)
        if release is None:
            return None
        found.append((leaf, release, count))
    return tuple(found) if sum(n for _, _, n in found) <= MAX_LATTICE_COUNT else None


@functools.lru_cache(maxsize=16)
def _upper(terms: Terms) -> PrivacyLossDistribution | None:
    releases = _releases(terms)
    if releases is None:
        return None
    counts: dict[Release, int] = {}
    for _, release, count in releases:
        counts[release] = counts.get(release, 0) + count
    return PrivacyLossDistribution._of(counts)


def _below(terms: Terms, epsilon: float) -> tuple[LossesBelow, ...]:
    """Return the losses from below, in one or both directions, as fine as suits an epsilon."""
    releases = _releases(terms)
    assert releases is not None
    if not all(_is_known(leaf) for leaf, _, _ in releases):
        return ()
    above = DiscreteLosses(tuple(r for _, r, _ in releases), tuple(n for _, _, n in releases))
    if above.largest <= 0:
        return ()
    least, wanted = above.spacings(above.narrow_tilt(min(epsilon, above.highest)))
    widest = max(release.largest for _, release, _ in releases)
    finest = _step(max(_ROOM * least, widest / _FINEST))
    return _losses_below(terms, finest, max(_step(wanted), _LEEWAY * finest))


def _step(spacing: float) -> float:
    """Return it or a little more: one of few, that others will want, too."""
    return float(2.0 ** (math.ceil(_STEPS * math.log2(spacing)) / _STEPS))


@functools.lru_cache(maxsize=16)
def _losses_below(terms: Terms, least: float, most: float) -> tuple[LossesBelow, ...]:
    """Return them on a lattice of such a spacing; none if one is not known."""
    releases = _releases(terms)
    assert releases is not None
    spacing = _aligned(max(least, most / _FINER), most, releases)
    both = [(_below_of(leaf, spacing), n) for leaf, _, n in releases]
    known = [(below, n) for below, n in both if below is not None]
    if len(known) < len(both):
        return ()
    directions = [LossesBelow.of([(below[i], n) for below, n in known], spacing) for i in (0, 1)]
    is_symmetric = all(below[0] is below[1] for below, _ in known)
    return tuple(directions[:1] if is_symmetric else directions)


def _is_known(leaf: Leaf) -> bool:
    """Return whether a pair of a leaf is known: by its losses, or by its profile."""
    return leaf.reached() is not None or leaf.profile_excess is not None


@functools.lru_cache(maxsize=64)
def _below_of(leaf: Leaf, spacing: float) -> tuple[Below, Below] | None:
    """Return the losses of a leaf in both directions, on a lattice."""
    release, excess = losses_of_leaf(leaf), leaf.profile_excess
    assert release is not None
    reached = leaf.reached()
    if reached is not None:
        forward = below_of_release(reached, spacing)
        if reached.is_symmetric:
            return forward, forward
        return forward, below_of_release(reached.swapped, spacing)
    assert excess is not None
    ends = max(release.highest, 0.0), max(release.swapped.highest, 0.0)
    points = math.ceil(_POINTS * spacing / max(ends)) if max(ends) > 0 else 1

    def profile(epsilons: Array) -> tuple[Array, Array]:
        both = leaf.profile(epsilons)
        assert both is not None
        return both

    return below_of_profile(
        profile,
        ends,
        spacing,
        min(max(points, 2), _MOST_POINTS),
        excess,
        symmetric=release.is_symmetric,
    )


# --- the lattice


def _aligned(least: float, most: float, releases: tuple[tuple[Leaf, Release, int], ...]) -> float:
    """Return a spacing in this range of which atoms are multiples, or nearly."""
    atoms = [(atom, mass, n) for _, release, n in releases for atom, mass in _atoms(release)]
    longest = max((atom for atom, _, _ in atoms), default=0.0)
    if longest < least:
        return most
    # Round numbers go into others; with one kind of atom any of these will do.
    numbers = np.arange(math.ceil(longest / most * (1 - _NEAR)), longest / least * (1 + _NEAR))
    spacings = longest / np.maximum(numbers, 1.0)
    costs = np.zeros_like(spacings)
    for atom, mass, n in atoms:
        above = atom / spacings - np.floor(atom / spacings + _NEAR)
        # An atom is lowered, or all sums are told too high.
        costs += n * spacings * np.minimum(mass * np.abs(above), 1 - above)
    return float(spacings[int(np.argmin(costs > costs.min() + _NEAR * longest))])


def _atoms(release: Release) -> list[tuple[float, float]]:
    """Return losses that are far more probable than those beside them, with their masses."""
    masses = np.exp(release.log_mass)
    beside = np.maximum(np.append(masses[1:], 0.0), np.append(0.0, masses[:-1]))
    alone = (masses > _ALONE * beside) | (masses.size <= _FEW)
    alone = np.flatnonzero((masses > _ATOM) & alone & (release.values != 0))
    largest = alone[np.argsort(-masses[alone])][:_MOST_ATOMS]
    return [(abs(float(release.values[i])), float(masses[i])) for i in largest]
