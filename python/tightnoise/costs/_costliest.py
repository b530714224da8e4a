"""The case of a group that costs most, without telling all of them.

Of the others it is enough to see that they cost no more, or so little more that an answer is narrow
still; and where not even the first is narrow, no more than a part of what is unknown of it. Where
several were told and another one is not seen to cost no more, the bound is raised: what all of them
take together is limited, and known beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from tightnoise.costs._cases import cases_of
from tightnoise.costs._composed import distribution_of, rdp_of
from tightnoise.costs._exact import NARROW, Bounds, composition_of
from tightnoise.costs._lattice import Work
from tightnoise.costs._lattice_bounds import is_at_most
from tightnoise.costs._leaf import Terms

_MOST_TOLD = 3  # cases; more only if they are far above those
_WORK = 4e7  # points of lattices, to see that others cost no more
_NEAR = 10.0  # times a delta: more points may show less
_OF_NARROW = 0.9  # of what is left of a narrow width,
_OF_UNKNOWN = 0.3  # or of a wide one
_MORE, _MOST = 10.0, 1e-2  # so many times as much is tried in the end, up to this


class Proof(NamedTuple):
    """What a way proves; `doubt`: what is to be said of a table of orders.

    `lower`: what is proved from below at the same time; 0 if nothing.
    """

    bound: float
    doubt: str | None = None
    lower: float = 0.0


class Told(NamedTuple):
    """What is proved of all cases: by which way, those that were told, and the others."""

    way: str
    proof: Proof
    cases: tuple[Terms, ...]  # the costliest first
    others: tuple[Terms, ...]


def costliest(
    question: str, terms: Terms, at: float, tell: Callable[[Terms], tuple[str, Proof] | None]
) -> Told | None:
    """Return what is proved of all cases, where `tell` proves it of one; None if it does not."""
    comparison = Comparison(question, at)
    told: dict[Terms, tuple[str, Proof]] = {}
    others: list[Terms] = []
    most, times = 0.0, 1.0  # of what was told, and by how much that is raised
    for case in cases_of(terms):
        tried = (times, *_raised([proof for _, proof in told.values()], times)) if told else ()
        shown = comparison.least_factor(case, most, tried)
        if shown is not None:
            times = shown
            others.append(case)
            continue
        found = tell(case)
        if found is None:
            return None
        told[case] = found
        most = max(most, found[1].bound)
    cases = sorted(told, key=lambda case: -told[case][1].bound)
    way, proof = told[cases[0]]
    bound = most if times == 1 else most * times
    return Told(way, proof._replace(bound=bound), tuple(cases), tuple(others))


def _raised(told: list[Proof], times: float) -> Iterator[float]:
    """Return the factors, above one that is used already, by which a bound may be raised."""
    known = [proof for proof in told if 0 < proof.lower < math.inf]
    width = min((1 - proof.lower / proof.bound for proof in known), default=0.0)
    more = max(_OF_NARROW * (NARROW - width), _OF_UNKNOWN * width)
    while more > 0:
        if 1 + more > times:
            yield 1 + more
        more *= _MORE
        if len(told) < _MOST_TOLD or more > _MOST:
            return


class Comparison:
    """Whether cases cost no more than a bound: first by what showed it last."""

    def __init__(self, question: str, at: float) -> None:
        self._question, self._at = question, at
        self._work = Work(_WORK)
        self._ways = [self._by_orders, self._by_contours, self._by_points]

    def is_at_most(self, case: Terms, bound: float) -> bool:
        """Return whether little work shows that a case costs no more."""
        if self._question == "epsilon" and self._at == 0:
            return False
        if bound == (math.inf if self._question == "epsilon" else 1.0):
            return True
        for way in self._ways:
            if way(case, bound):
                self._ways.remove(way)
                self._ways.insert(0, way)
                return True
        return False

    def least_factor(self, case: Terms, most: float, factors: tuple[float, ...]) -> float | None:
        """Return the least factor, of some that rise, by which it shows that; None if none.

        Before a narrow answer becomes a wide one by it, contours of more points are tried.
        """
        for factor, larger in pairwise((*factors, math.inf)):
            if self.is_at_most(case, most * factor):
                return factor
            is_last = factor <= 1 + NARROW < larger
            if is_last and self._by_more_points(case, most * factor):
                return factor
        return None

    def is_none_above(self, cases: Iterable[Terms], bound: float) -> bool:
        """Return whether it shows that of all."""
        return all(self.is_at_most(case, bound) for case in cases)

    def _by_orders(self, case: Terms, bound: float) -> bool:
        curve = rdp_of(case)
        return curve is not None and curve.best(self._question, self._at).bound <= bound

    def _by_contours(self, case: Terms, bound: float) -> bool:
        composition = composition_of(case)
        return composition is not None and composition.is_at_most(self._question, self._at, bound)

    def _by_more_points(self, case: Terms, bound: float) -> bool:
        composition = composition_of(case)
        if composition is None or not composition.is_nearly(self._question, self._at, bound):
            return False
        found: Bounds = getattr(composition, self._question)(self._at)
        return found.upper <= bound

    def _by_points(self, case: Terms, bound: float) -> bool:
        """Few points, or more while there is work left."""
        composition, losses = composition_of(case), distribution_of(case)
        if losses is None or (composition is not None and composition.is_easy):
            return False
        epsilon, delta = self._place(bound)
        rough = losses._rough.delta(epsilon)
        return rough <= delta or (
            rough <= _NEAR * delta and is_at_most(case, epsilon, delta, self._work)
        )

    def _place(self, bound: float) -> tuple[float, float]:
        """Return the epsilon and the delta that are to be shown."""
        return (bound, self._at) if self._question == "epsilon" else (self._at, bound)
