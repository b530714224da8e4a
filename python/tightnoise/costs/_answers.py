"""What releases cost together: each way to prove it, and the least of them."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._beside_few import beside_few_sums
from tightnoise.costs._cases import cases_of
from tightnoise.costs._composed import distribution_of, rdp_of
from tightnoise.costs._costliest import Comparison, Proof, Told, costliest
from tightnoise.costs._exact import SMALL, Bounds, composition_of
from tightnoise.costs._few_sums import few_sums
from tightnoise.costs._group import GroupCase
from tightnoise.costs._guarantee import Guarantee, Responses
from tightnoise.costs._large_losses import large_loss_bounds
from tightnoise.costs._lattice_bounds import LEAST_LOSS, lattice_bounds
from tightnoise.costs._leaf import Leaf, Terms, largest_epsilon
from tightnoise.costs._quotients import total_upper
from tightnoise.costs._rare_bounds import rare_bounds
from tightnoise.costs._sampled import Sampled, merged_terms

Array = NDArray[np.float64]

_LITTLE, _LITTLE_PART = 1e-8, 0.05  # as far as its bounds are apart; as a part of itself
_FAR = 1e-4  # relative width, that is not made up for by an upper bound alone
_LARGEST = 1e300
_DOWN = 1 - 2.0**-50  # so that a sum is no larger
_NEXT_TO_NONE = 1e-300  # a delta, at which the epsilon is the largest loss or less
_NEARLY_ALL = 0.99  # of the records


def proved_by(way: str, question: str, terms: Terms, at: float) -> Proof | None:
    """Return what one way proves of releases, one at least, in the case that costs most."""
    if way == "losses":
        told = _told(way, question, terms, at)
        return told and told.proof
    each = [_proved_by(way, question, case, at) for case in cases_of(terms)]
    known = [proof for proof in each if proof is not None]
    return max(known, key=lambda proof: proof.bound) if len(known) == len(each) else None


@functools.lru_cache(maxsize=256)
def _proved_by(way: str, question: str, terms: Terms, at: float) -> Proof | None:
    return WAYS[way](question, terms, at)


def least(question: str, terms: Terms, at: float) -> tuple[str, Proof]:
    """Return the way that proves the least, and what, in the case that costs most."""
    told = _told(None, question, terms, at)
    assert told is not None
    return told.way, told.proof


@functools.lru_cache(maxsize=256)
def _told(way: str | None, question: str, terms: Terms, at: float) -> Told | None:
    """Return what a way proves of all cases, or the best one does; None if it proves nothing."""

    def told_of(case: Terms) -> tuple[str, Proof] | None:
        if way is None:
            return _least_of_case(question, case, at)
        proof = _proved_by(way, question, case, at)
        return proof and (way, proof)

    return costliest(question, terms, at, told_of)


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
            return "losses", Proof(narrow.upper, lower=narrow.lower)
    for way in ways[1:]:
        proof = _proved_by(way, question, terms, at)
        if proof is not None:
            found[way] = proof
    best = min(found, key=lambda way: found[way].bound)
    return best, found[best]


def both_sides(question: str, terms: Terms, at: float, upper: float) -> Bounds:
    """Return what is proved from below, and perhaps an upper bound below the one that is known."""
    if question == "epsilon" and at == 0:
        lower = 0.0 if math.isinf(upper) else _largest_loss_below(terms)
        return Bounds(min(lower, upper), upper)
    told = _told(None, question, terms, at)
    assert told is not None
    lower, most = 0.0, 0.0
    for case in told.cases:
        found = _both_sides_of_case(question, case, at, upper)
        lower, most = max(lower, found.lower), max(most, found.upper)
        if Bounds(lower, upper).is_narrow:
            return Bounds(lower, upper)
    if not any(_has_pairs(case) for case in told.cases):
        for case in filter(_has_pairs, told.others):
            lower = max(lower, _both_sides_of_case(question, case, at, upper).lower)
    if most < upper and Comparison(question, at).is_none_above(told.others, most):
        upper = most
    return Bounds(min(lower, upper), upper)


def _has_pairs(terms: Terms) -> bool:
    """Return whether releases compose from below, too."""
    return all(leaf.has_pair for leaf, _ in terms)


def _both_sides_of_case(question: str, terms: Terms, at: float, upper: float) -> Bounds:
    leaf = _only(terms)
    single = None if leaf is None else _of_profile(question, leaf, at, upper)
    best = Bounds(single or 0.0, upper)
    if best.is_narrow:
        return best
    exact = _by_contours(question, terms, at)
    best = best if exact is None else best.or_tighter(exact)
    if best.is_narrow or single is not None:
        return best
    by_atoms = _by_atoms(question, terms, at)
    best = best if by_atoms is None else best.or_tighter(by_atoms)
    if best.is_narrow or (question == "epsilon" and exact is not None and best.upper < SMALL):
        return best
    ways: list[Callable[[Bounds], Bounds]] = [partial(rare_bounds, question, terms, at)]
    beside = beside_few_sums(terms)
    if beside is not None:
        ways.insert(0 if beside.is_quick else 1, partial(beside.answer, question, at))
    for way in ways:
        if best.is_narrow or _is_small(question, best):
            return best
        best = best.or_tighter(way(best))
    if exact is None and not best.is_narrow:
        exact = _exact(question, terms, at, of_atoms=True, at_last=True)
        best = best if exact is None else best.or_tighter(exact)
    if best.is_narrow:
        return best
    lower = max(
        (_both_sides_of_case(question, part, at, upper).lower for part in _parts(terms, best)),
        default=0.0,
    )
    return best.or_tighter(Bounds(lower, upper))


def _parts(terms: Terms, known: Bounds) -> list[Terms]:
    """Return releases that compose from below, if some do not, and one of those of many pairs.

    Or those of each kind, where nothing is known from below of all together.
    """
    unknown = {leaf for leaf, _ in terms if not leaf.has_pair}
    parts: list[Terms] = [
        ((leaf, 1),) for leaf, _ in terms if leaf.gap is not None and not leaf.is_coarse
    ]
    if unknown:
        parts.append(tuple((leaf, n) for leaf, n in terms if leaf not in unknown))
    elif known.lower == 0:
        parts += [((leaf, n),) for leaf, n in terms]
    return [part for part in parts if part and part != terms]


def _is_small(question: str, known: Bounds) -> bool:
    """Return whether an epsilon is so small that no lattice tells more than a contour did."""
    width = known.upper - known.lower
    is_little = width <= min(_LITTLE, _LITTLE_PART * known.upper)
    return question == "epsilon" and known.upper < SMALL and is_little


def _of_profile(question: str, leaf: Leaf, at: float, upper: float) -> float | None:
    """Return what a profile says from below that is known to a part of itself; None if not."""
    if question == "delta":
        both = leaf.profile_below(np.array([at]))
        return None if both is None else float(max(both[0][0], both[1][0]))
    return largest_epsilon(leaf.profile_below, at, upper)


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


def _largest_loss_below(terms: Terms) -> float:
    """Return a loss that neighbours have, in one direction: each release has its largest one."""

    def of(leaf: Leaf, way: int) -> float:
        def profile(points: Array) -> tuple[Array, Array] | None:
            both = leaf.profile_below(points)
            return None if both is None else (both[way], both[way])

        return largest_epsilon(profile, _NEXT_TO_NONE, leaf.max_loss) or 0.0

    cases = cases_of(terms)
    ways = itertools.product((*cases, *map(merged_terms, cases)), (0, 1))
    return max(math.fsum(n * of(leaf, way) for leaf, n in case) for case, way in ways) * _DOWN


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


def _rdp(question: str, terms: Terms, at: float) -> Proof | None:
    curve = rdp_of(terms)
    if curve is None:
        return None
    if question == "epsilon" and at == 0:  # infinite order is pure differential privacy
        return Proof(float(curve.at([np.inf]).values[0]))
    best = curve.best(question, at)
    return Proof(best.bound, None if curve.is_continuous else best.doubt)


# --- losses


@functools.lru_cache(maxsize=256)
def _exact(
    question: str, terms: Terms, at: float, *, of_atoms: bool = False, at_last: bool = False
) -> Bounds | None:
    few = few_sums(terms)
    if few is not None:
        return few.epsilon(at) if question == "epsilon" else few.delta(at)
    if question == "epsilon" and at == 0:
        return None
    composition = composition_of(terms, of_atoms=of_atoms, at_last=at_last)
    if composition is None:
        return None
    bounds: Bounds = getattr(composition, question)(at)
    return bounds


def _losses(question: str, terms: Terms, at: float) -> Proof | None:
    exact = _by_contours(question, terms, at)
    if exact is not None and (exact.is_narrow or _is_small(question, exact)):
        return Proof(exact.upper)
    # Other cases are compared with what is known of one from both sides.
    found = (_by_atoms if _is_case(terms) else _above)(question, terms, at)
    known = [bounds for bounds in (exact, found) if bounds is not None]
    if not known:
        return None
    return Proof(min(each.upper for each in known), lower=max(each.lower for each in known))


def _is_case(terms: Terms) -> bool:
    return any(isinstance(leaf, GroupCase) for leaf, _ in terms)


def _by_contours(question: str, terms: Terms, at: float) -> Bounds | None:
    return _exact(question, terms, at) or _exact(question, terms, at, of_atoms=True)


@functools.lru_cache(maxsize=256)
def _above(question: str, terms: Terms, at: float) -> Bounds | None:
    """Return what a lattice that serves all questions proves; None if losses are not known."""
    losses = distribution_of(terms)
    if losses is None:
        return None
    known = Bounds(0.0, getattr(losses, question)(at))
    if question == "epsilon" and known.upper < SMALL:
        return known
    return large_loss_bounds(question, terms, at, known, is_rough=True) or known


def _roughly_above(question: str, terms: Terms, at: float) -> Bounds | None:
    losses = distribution_of(terms)
    return None if losses is None else Bounds(0.0, getattr(losses._rough, question)(at))


@functools.lru_cache(maxsize=256)
def _by_atoms(question: str, terms: Terms, at: float) -> Bounds | None:
    """Return what lattices and few atoms prove; None if losses of a leaf are not known."""
    exact = _by_contours(question, terms, at)
    # Of one case of many, of which nothing is known from below, about where it is will do.
    is_about = exact is None and _is_case(terms)
    known = (_roughly_above if is_about else _above)(question, terms, at)
    if known is None:
        return None
    for way in ("pure", "rdp"):
        proof = _proved_by(way, question, terms, at)
        known = known if proof is None else known.or_tighter(Bounds(0.0, proof.bound))
    known = known if exact is None else exact.or_tighter(known)
    is_tiny = question == "epsilon" and known.upper < LEAST_LOSS
    if known.is_narrow or is_tiny or (question == "epsilon" and at == 0):
        return known
    found = rare_bounds(question, terms, at, known, is_patient=False)
    found = large_loss_bounds(question, terms, at, found) or lattice_bounds(
        question, terms, at, found
    )
    is_told = found.is_narrow or found.upper - found.lower > _FAR * min(found.upper, _LARGEST)
    above = None if not is_about or (is_told and found != known) else _above(question, terms, at)
    return found if above is None else found.or_tighter(above)


WAYS: dict[str, Callable[[str, Terms, float], Proof | None]] = {
    "profile": _profile,
    "pure": _pure,
    "rdp": _rdp,
    "losses": _losses,
}
"""By name: closed forms, the sum of the largest losses or of deltas, Renyi divergences, losses.

Each proves an epsilon at a delta or a delta at an epsilon; None: not of these.
"""
