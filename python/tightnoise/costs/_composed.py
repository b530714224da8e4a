"""Releases together: their Renyi curve, and the distribution of their losses."""

from __future__ import annotations

import functools

import numpy as np

from tightnoise.costs._bounds import RdpTable
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._lattice import MAX_LATTICE_COUNT
from tightnoise.costs._leaf import NEGLIGIBLE, Leaf, Terms, losses_of_leaf
from tightnoise.costs._loss_points import points_up_to
from tightnoise.costs._privacy_loss import PrivacyLossDistribution
from tightnoise.costs._quotients import total_upper
from tightnoise.costs._rdp_curve import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._sampled import merged_terms

_LARGEST_LOSS = 1e60  # beyond, losses mean nothing
_EVERY = 16  # point of those that a profile is read at, where one takes a search of orders
_LEAST, _LARGEST = 1e-290, 1e300  # sum of losses on a lattice: sums of others lose their digits


def rdp_of(terms: Terms) -> RdpCurve | None:
    """Return the Renyi-DP curve of the sum, a table if one of the leaves is one; None if unknown.

    Tables are read at their orders and, between the first and the last, at the default ones.
    """
    functions = [(leaf.renyi(), count) for leaf, count in terms]
    known = [(function, count) for function, count in functions if function is not None]
    if len(known) < len(functions):
        return None
    curve = RdpCurve.of_terms(known)
    tables = [leaf for leaf, _ in terms if isinstance(leaf, RdpTable)]
    if not tables:
        return curve
    first = max(table.alphas[0] for table in tables)
    last = min(table.alphas[-1] for table in tables)
    orders = np.unique(np.concatenate([DEFAULT_ORDERS, *(table.alphas for table in tables)]))
    return curve.at(orders[(orders >= min(first, last)) & (orders <= max(first, last))])


@functools.lru_cache(maxsize=64)
def _release_of_curve(terms: Terms) -> Release | None:
    """Return losses of what Renyi divergences prove, of leaves of which nothing else is known.

    A profile is convex in e^epsilon, the least of what the orders prove is not: so this is less.
    """
    curve = rdp_of(terms)
    if curve is None:
        return None
    largest = curve.best("epsilon", NEGLIGIBLE).bound
    if not 0 < largest <= _LARGEST_LOSS:
        return None
    points = points_up_to(largest, largest / 10)
    epsilons = np.append(points[:-1:_EVERY], largest)
    deltas = np.array([curve.best("delta", float(epsilon)).bound for epsilon in epsilons])
    return connect_dots(epsilons, deltas)


@functools.lru_cache(maxsize=16)
def distribution_of(terms: Terms) -> PrivacyLossDistribution | None:
    """Return the distribution of the losses of the sum, if it is known."""
    releases: dict[Release, int] = {}
    by_curve: list[tuple[Leaf, int]] = []
    for leaf, count in merged_terms(terms):
        release = losses_of_leaf(leaf)
        if release is None:
            by_curve.append((leaf, count))
        else:
            releases[release] = releases.get(release, 0) + count
    if by_curve:
        release = _release_of_curve(tuple(by_curve))
        if release is None:
            return None
        releases[release] = 1
    largest = total_upper((r.largest, n) for r, n in releases.items())
    if sum(releases.values()) > MAX_LATTICE_COUNT or not (
        largest == 0 or _LEAST <= largest <= _LARGEST
    ):
        return None
    return PrivacyLossDistribution._of(releases)
