"""What releases cost together: each way to prove it, and the least of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._beside_few import beside_few_sums
from tightnoise.costs._bounds import RdpTable
from tightnoise.costs._cases import cases_of
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._exact import Bounds, composition_of
from tightnoise.costs._few_sums import few_sums
from tightnoise.costs._guarantee import Guarantee, Responses
from tightnoise.costs._lattice import MAX_LATTICE_COUNT
from tightnoise.costs._lattice_bounds import lattice_bounds
from tightnoise.costs._leaf import NEGLIGIBLE, Leaf, largest_epsilon, losses_of_leaf
from tightnoise.costs._loss_points import points_up_to
from tightnoise.costs._privacy_loss import PrivacyLossDistribution
from tightnoise.costs._quotients import total_upper
from tightnoise.costs._rare_bounds import rare_bounds
from tightnoise.costs._rdp_curve import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._sampled import Sampled, Terms, merged_terms

Array = NDArray[np.float64]

_LARGEST_LOSS = 1e60  # beyond, losses mean nothing
_SMALL = 1e-3  # an epsilon of which a contour tells enough
_LITTLE = 1e-8  # as far as its bounds are apart

_NEARLY_ALL = 0.99  # of the records
_EVERY = 16  # point of those that a profile is read at, where one takes a search of orders
_LEAST, _LARGEST = 1e-290, 1e300  # sum of losses on a lattice: sums of others lose their digits


class Proof(NamedTuple):
    """What a way proves; `doubt`: what is to be said of a table of orders."""

    bound: float
    doubt: str | None = None


def proved_by(way: str, question: str, terms: Terms, at: float) -> Proof | None:
    """Return what one way proves of releases, one at least, in the case that costs most."""
    each = [_proved_by(way, question, case, at) for case in cases_of(terms)]
    known = [proof for proof in each if proof is not None]
    return max(known, key=lambda proof: proof.bound) if len(known) == len(each) else None


@functools.lru_cache(maxsize=256)
def _proved_by(way: str, question: str, terms: Terms, at: float) -> Proof | None:
    return WAYS[way](question, terms, at)


def least(question: str, terms: Terms, at: float) -> tuple[str, Proof]:
    """Return the way that proves the least, and what, in the case that costs most."""
    first, *others = cases_of(terms)
    worst = _least_of_case(question, first, at)
    for case in others:
        if not _is_at_most(question, case, at, worst[1].bound):
            found = _least_of_case(question, case, at)
            worst = max(worst, found, key=lambda each: each[1].bound)
    return worst


@functools.lru_cache(maxsize=256)
def _is_at_most(question: str, case: Terms, at: float, bound: float) -> bool:
    """Return whether little work shows that a case costs no more."""
    if question == "epsilon" and at == 0:
        return False
    composition = composition_of(case)
    if composition is not None:
        return composition.is_at_most(question, at, bound)
    epsilon, delta = (bound, at) if question == "epsilon" else (at, bound)
    return epsilon == math.inf or _rough_delta(case, epsilon) <= delta


@functools.lru_cache(maxsize=256)
def _rough_delta(case: Terms, epsilon: float) -> float:
    losses = distribution_of(case)
    return 1.0 if losses is None else losses._rough_delta(epsilon)


def _least_of_case(question: str, terms: Terms, at: float) -> tuple[str, Proof]:
    """Return that of one case.

    Releases on nearly all records cost no more than on all: rounding must not say otherwise.
    """
    way, proof = _least(question, terms, at)
    whole = _on_all_records(terms)
    if whole != terms:
        other, proof_of_all = _least(question, whole, at)
        if proof_of_all.bound < proof.bound:
            return other, proof_of_all
    return way, proof


def _on_all_records(terms: Terms) -> Terms:
    """Return what runs on samples of nearly all records as if it ran on all of them."""
    found: dict[Leaf, int] = {}
    for leaf, n in terms:
        each: Terms = ((leaf, 1),)
        if isinstance(leaf, Sampled) and leaf.rate >= _NEARLY_ALL:
            each = leaf.terms
        for inner, times in each:
            found[inner] = found.get(inner, 0) + n * times
    return tuple(found.items())


def _least(question: str, terms: Terms, at: float) -> tuple[str, Proof]:
    found = {"nothing": Proof(math.inf if question == "epsilon" else 1.0)}
    leaf = _only(terms)
    ways = ["profile", "pure", "rdp", "losses"]
    exact = _proved_by("profile", question, terms, at)
    if exact is not None:
        found["profile"] = exact
        if _is_least(terms):
            return "profile", exact
        if leaf is not None:
            ways.remove("losses")  # which are those of the profile
    elif question == "epsilon" and _any_difference(terms) <= at:
        return "pure", Proof(0.0)
    else:
        narrow = _exact(question, terms, at)
        is_least = all(leaf.has_least_profile for leaf, _ in terms)
        if is_least and narrow is not None and narrow.is_narrow:
            return "losses", Proof(narrow.upper)
    for way in ways[1:]:
        proof = _proved_by(way, question, terms, at)
        if proof is not None:
            found[way] = proof
    best = min(found, key=lambda way: found[way].bound)
    return best, found[best]


def both_sides(question: str, terms: Terms, at: float, upper: float) -> Bounds:
    """Return what is proved from below, and perhaps an upper bound below the one that is known."""
    epsilon = upper if question == "epsilon" else at
    first, *others = _costliest_first(cases_of(terms), epsilon)
    worst = _both_sides_of_case(question, first, at, upper)
    for case in others:
        no_worse = worst.upper if worst.is_narrow else worst.lower
        if not _costs_no_more(question, case, at, no_worse):
            found = _both_sides_of_case(question, case, at, upper)
            worst = Bounds(max(worst.lower, found.lower), max(worst.upper, found.upper))
    return worst


def _costliest_first(cases: tuple[Terms, ...], epsilon: float) -> list[Terms]:
    """Return the cases as they are, or where only lattices tell them, by about their deltas."""
    if len(cases) == 1 or all(composition_of(case) is not None for case in cases):
        return list(cases)
    return sorted(cases, key=lambda case: -_rough_delta(case, epsilon))


def _costs_no_more(question: str, case: Terms, at: float, bound: float) -> bool:
    """Return whether this is known before a case is known from below."""
    if _is_at_most(question, case, at, bound):
        return True
    composition = composition_of(case)
    if composition is not None and composition.is_exact:
        return False
    return _least_of_case(question, case, at)[1].bound <= bound


def _both_sides_of_case(question: str, terms: Terms, at: float, upper: float) -> Bounds:
    leaf = _only(terms)
    single = None if leaf is None else _of_profile(question, leaf, at, upper)
    best = Bounds(single or 0.0, upper)
    if best.is_narrow:
        return best
    exact = _exact(question, terms, at) or _exact(question, terms, at, of_atoms=True)
    best = best if exact is None else best.or_tighter(exact)
    if best.is_narrow or single is not None:
        return best
    if question == "epsilon" and exact is not None and best.upper < _SMALL:
        return best
    if question == "epsilon" and at == 0:
        return best
    ways: list[Callable[[Bounds], Bounds]] = [
        partial(rare_bounds, question, terms, at, is_patient=False),
        partial(lattice_bounds, question, terms, at),
        partial(rare_bounds, question, terms, at),
    ]
    beside = beside_few_sums(terms)
    if beside is not None:
        ways.insert(2 if beside.is_quick else 3, partial(beside.answer, question, at))
    for way in ways:
        best = best.or_tighter(way(best))
        if best.is_narrow:
            return best
    lower = max(
        (_both_sides_of_case(question, part, at, upper).lower for part in _parts(terms)),
        default=0.0,
    )
    return best.or_tighter(Bounds(lower, upper))


def _parts(terms: Terms) -> list[Terms]:
    """Return releases that compose from below, if some do not, and one of those of many pairs."""
    unknown = {leaf for leaf, _ in terms if not leaf.has_pair}
    parts: list[Terms] = [
        ((leaf, 1),) for leaf, _ in terms if leaf.gap is not None and not leaf.is_coarse
    ]
    if unknown:
        parts.append(tuple((leaf, n) for leaf, n in terms if leaf not in unknown))
    return [part for part in parts if part and part != terms]


def _is_small(question: str, known: Bounds) -> bool:
    """Return whether an epsilon is so small that no lattice tells more than a contour did."""
    width = known.upper - known.lower
    return question == "epsilon" and known.upper < _SMALL and width <= _LITTLE


def _of_profile(question: str, leaf: Leaf, at: float, upper: float) -> float | None:
    """Return what a profile says from below that is known to a part of itself; None if not."""
    if question == "delta":
        both = leaf.profile_below(np.array([at]))
        return None if both is None else float(max(both[0][0], both[1][0]))
    return largest_epsilon(leaf.profile_below, at, upper) if at > 0 else None


# --- closed forms


def _only(terms: Terms) -> Leaf | None:
    (leaf, count), *others = merged_terms(terms)
    return leaf if count == 1 and not others else None


def _responses(terms: Terms) -> Responses | None:
    guarantees = [(leaf, n) for leaf, n in terms if isinstance(leaf, Guarantee)]
    return Responses(guarantees) if len(guarantees) == len(terms) else None


def _is_least(terms: Terms) -> bool:
    leaf, responses = _only(terms), _responses(terms)
    if responses is not None:
        return responses.is_known and responses.is_exact
    return leaf is not None and leaf.has_least_profile


def _profile(question: str, terms: Terms, at: float) -> Proof | None:
    told = _responses(terms) or _only(terms)
    bound = None if told is None else getattr(told, question)(at)
    return None if bound is None else Proof(float(bound))


# --- the largest loss, and none at all


def _pure(question: str, terms: Terms, at: float) -> Proof:
    if question == "delta":
        return Proof(0.0 if at >= _largest_loss(terms) else _any_difference(terms))
    return Proof(0.0 if _any_difference(terms) <= at else _largest_loss(terms))


def _largest_loss(terms: Terms) -> float:
    return total_upper((leaf.max_loss, n) for leaf, n in terms)


@functools.lru_cache(maxsize=256)
def _any_difference(terms: Terms) -> float:
    """Return at least the probability that outputs differ, of those that are alike most often.

    One of them does: of each, the delta at epsilon 0 is that probability.
    """
    each = [leaf.delta(0.0) for leaf, _ in terms]
    known = np.array([1.0 if one is None else one for one in each])
    times = np.array([n for _, n in terms], dtype=np.float64)
    return min(1.0, float(core.failure_upper(np.zeros_like(known), known, times)))


# --- Renyi divergences


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


def _rdp(question: str, terms: Terms, at: float) -> Proof | None:
    curve = rdp_of(terms)
    if curve is None:
        return None
    if question == "epsilon" and at == 0:  # infinite order is pure differential privacy
        return Proof(float(curve.at([np.inf]).values[0]))
    best = curve.best(question, at)
    return Proof(best.bound, None if curve.is_continuous else best.doubt)


# --- loss distributions


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


@functools.lru_cache(maxsize=256)
def _exact(question: str, terms: Terms, at: float, *, of_atoms: bool = False) -> Bounds | None:
    few = few_sums(terms)
    if few is not None:
        return few.epsilon(at) if question == "epsilon" else few.delta(at)
    if question == "epsilon" and at == 0:
        return None
    composition = composition_of(terms, of_atoms=of_atoms)
    if composition is None:
        return None
    bounds: Bounds = getattr(composition, question)(at)
    return bounds


def _losses(question: str, terms: Terms, at: float) -> Proof | None:
    exact = _exact(question, terms, at)
    if exact is not None and (exact.is_narrow or _is_small(question, exact)):
        return Proof(exact.upper)
    losses = distribution_of(terms)
    bounds = [] if exact is None else [exact.upper]
    if losses is not None:
        bounds.append(getattr(losses, question)(at))
    return Proof(min(bounds)) if bounds else None


WAYS: dict[str, Callable[[str, Terms, float], Proof | None]] = {
    "profile": _profile,
    "pure": _pure,
    "rdp": _rdp,
    "losses": _losses,
}
"""By name: closed forms, the sum of the largest losses or of deltas, Renyi divergences, losses.

Each proves an epsilon at a delta or a delta at an epsilon; None: not of these.
"""
