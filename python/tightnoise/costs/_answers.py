"""What releases cost together: each way to prove it, and the least of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs import _best
from tightnoise.costs._bounds import RdpTable
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._lattice import MAX_LATTICE_COUNT
from tightnoise.costs._leaf import NEGLIGIBLE, Leaf
from tightnoise.costs._loss_points import losses_of
from tightnoise.costs._privacy_loss import PrivacyLossDistribution
from tightnoise.costs._rdp_curve import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._sampled import Terms, merged_gaussians

__all__ = ["WAYS", "distribution_of", "rdp_of", "releases_of"]

Array = NDArray[np.float64]

_CURVE_POINTS = 400  # of a profile that is known by Renyi divergences alone


class Way(NamedTuple):
    """A way to prove an epsilon at a delta, and a delta at an epsilon; None: not of these."""

    epsilon: Callable[[Terms, float], float | None]
    delta: Callable[[Terms, float], float | None]


# --- closed forms


def _only(terms: Terms) -> Leaf | None:
    (leaf, count), *others = merged_gaussians(terms)
    return leaf if count == 1 and not others else None


def _profile_epsilon(terms: Terms, delta: float) -> float | None:
    leaf = _only(terms)
    return None if leaf is None else leaf.epsilon(delta)


def _profile_delta(terms: Terms, epsilon: float) -> float | None:
    leaf = _only(terms)
    return None if leaf is None else leaf.delta(epsilon)


# --- the largest loss


def _pure_epsilon(terms: Terms, delta: float) -> float | None:
    total = math.fsum(leaf.max_loss * n for leaf, n in terms)
    return math.nextafter(total * (1 + 2.0**-51), math.inf)


def _pure_delta(terms: Terms, epsilon: float) -> float | None:
    return 0.0 if epsilon >= (_pure_epsilon(terms, 0.0) or 0.0) else 1.0


# --- Renyi divergences


def rdp_of(terms: Terms, adjacency: str | None) -> RdpCurve | None:
    """Return the Renyi-DP curve of the sum, a table if one of the leaves is one; None if unknown.

    Tables are read at their orders and, between the first and the last, at the default ones.
    """
    functions = [(leaf.renyi(), count) for leaf, count in terms]
    known = [(function, count) for function, count in functions if function is not None]
    if len(known) < len(functions):
        return None
    curve = RdpCurve.of_terms(known, adjacency=adjacency)
    tables = [leaf for leaf, _ in terms if isinstance(leaf, RdpTable)]
    if not tables:
        return curve
    first = max(table.alphas[0] for table in tables)
    last = min(table.alphas[-1] for table in tables)
    orders = np.unique(np.concatenate([DEFAULT_ORDERS, *(table.alphas for table in tables)]))
    return curve.at(orders[(orders >= min(first, last)) & (orders <= max(first, last))])


def _rdp_epsilon(terms: Terms, delta: float) -> float | None:
    curve = rdp_of(terms, None)
    if curve is None or not 0 < delta < 1:
        return None
    return _best.epsilon(curve, delta, "optimal", warns=False)[0]


def _rdp_delta(terms: Terms, epsilon: float) -> float | None:
    curve = rdp_of(terms, None)
    return None if curve is None else _best.delta(curve, epsilon, "optimal", warns=False)


# --- loss distributions


@functools.lru_cache(maxsize=256)
def _release(leaf: Leaf) -> Release | None:
    return leaf.release()


def releases_of(terms: Terms) -> dict[Release, int] | None:
    """Return distributions of losses with counts; None where a leaf has neither losses nor curve.

    Leaves of which only Renyi divergences are known are one release of what these prove together.
    """
    merged = merged_gaussians(terms)
    releases: dict[Release, int] = {}
    by_curve: list[tuple[Leaf, int]] = []
    for leaf, count in merged:
        release = _release(leaf)
        if release is None:
            by_curve.append((leaf, count))
        else:
            releases[release] = releases.get(release, 0) + count
    if sum(releases.values()) > MAX_LATTICE_COUNT:
        return None
    if by_curve:
        release = _by_curve(tuple(by_curve))
        if release is None:
            return None
        releases[release] = 1
    return releases


@functools.lru_cache(maxsize=64)
def _by_curve(terms: Terms) -> Release | None:
    curve = rdp_of(terms, None)
    if curve is None:
        return None
    largest, _ = _best.epsilon(curve, NEGLIGIBLE, "optimal", warns=False)
    if not 0 < largest < math.inf:
        return None

    def profile(epsilons: Array) -> tuple[Array, Array]:
        delta = np.array(
            [_best.delta(curve, float(epsilon), "optimal", warns=False) for epsilon in epsilons]
        )
        return delta, delta

    return losses_of(profile, largest, largest / 10, symmetric=True)


@functools.lru_cache(maxsize=64)
def distribution_of(terms: Terms) -> PrivacyLossDistribution | None:
    """Return the distribution of the losses of the sum, if it is known."""
    releases = releases_of(terms)
    return None if releases is None else PrivacyLossDistribution._of(releases)


def _losses_epsilon(terms: Terms, delta: float) -> float | None:
    losses = distribution_of(terms)
    return None if losses is None else losses.epsilon(delta)


def _losses_delta(terms: Terms, epsilon: float) -> float | None:
    losses = distribution_of(terms)
    return None if losses is None else losses.delta(epsilon)


WAYS: dict[str, Way] = {
    "profile": Way(_profile_epsilon, _profile_delta),
    "pure": Way(_pure_epsilon, _pure_delta),
    "rdp": Way(_rdp_epsilon, _rdp_delta),
    "losses": Way(_losses_epsilon, _losses_delta),
}
"""By name: closed forms, the sum of the largest losses, Renyi divergences, loss distributions."""
