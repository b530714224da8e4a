"""Compositions: epsilon and delta, certified from both sides.

The privacy profile of a sum of losses is a contour integral of its moment generating function; the
core sums it by the trapezoidal rule and bounds all that this leaves out (cpp/cost/contour,
CONTOUR.md). Each direction of neighbours is composed apart, and the larger answer counts. Leaves of
which the core does not know the law are atoms above and below (`_atom_laws`), at more points where
the answer is not narrow yet.
"""

from __future__ import annotations

import functools
import math
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._atom_laws import Answer, Refinement, composed, laws_of
from tightnoise.costs._far_apart import FarApart
from tightnoise.costs._few_samples import RareRelease, few_releases
from tightnoise.costs._group import GroupCase
from tightnoise.costs._leaf import Leaf, Terms, losses_of_leaf
from tightnoise.costs._sampled import Sampled, merged_terms

Array = NDArray[np.float64]

NARROW = 1e-6
"""Relative: no answer is looked for more closely."""

SMALL = 1e-3
"""Answers below are wanted to a part of this: a contour tells enough of such an epsilon."""

_POINTS = (8_000, 24_000)  # of all leaves that are atoms; more from the start of so few releases
_FEW_POINTS, _MOST_POINTS = 1_000, 60_000  # of atoms alone: from these on, as many as it takes
_ROUNDS, _MORE = 3, 6  # times as many from one round to the next
_AIM = 0.5  # of what is narrow
_FAR, _LESS = 0.1, 0.7  # relative width; of the last one
_RARE = 0.1  # the probability of losses that are not typical
_FINITE = 1e300
_SAME = 1e-11  # relative: of the last digits
_LEAST = 3_000  # of one
_WORK = 6e8  # nodes times frequencies of what others may tell, too: a second at most
_MORE_WORK = 1.2e9  # of laws at points
_FEW = 20  # samples, most of them without a record
_VERY_MANY = 2_000
_OFTEN = 0.01  # times a record is in a sample, of such
_SPREAD = 200.0  # times the largest loss: two atoms of one release are lost in the sum
_MANY, _MANY_ON_LATTICES = 100, 1_000  # releases: less are quicker on lattices; where these do well
_MANY_OF_LAWS = 1_000  # of laws with atoms: so much work may tell them, or more of more kinds
_TRIED, _KINDS = 3e7, 32
_NEARLY = 1.01  # times a bound


class Bounds(NamedTuple):
    """An answer is proved to lie between these; lower is 0 where only upper bounds are known."""

    lower: float
    upper: float

    @property
    def is_narrow(self) -> bool:
        """Whether no other way could prove anything better."""
        if math.isinf(self.upper):
            return math.isinf(self.lower)
        return self.upper - self.lower <= NARROW * self.upper

    def or_tighter(self, other: Bounds) -> Bounds:
        """Return the better of both on either side; the lower one is no more than the upper.

        Proofs do not contradict each other, but for the last digits. If they ever do, one of them
        is wrong, and the larger upper one counts: a cost must not be too low.
        """
        lower, upper = max(self.lower, other.lower), min(self.upper, other.upper)
        if lower > upper * (1 + _SAME):
            text = f"bounds contradict each other: {self} and {other}; please report this"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
            lower, upper = min(self.lower, other.lower), max(self.upper, other.upper)
        return Bounds(min(lower, upper), upper)


class Composition:
    """Releases composed, in the directions in which they differ."""

    def __init__(self, terms: Terms, directions: tuple[core.Composition, ...], kind: _Kind) -> None:
        self._terms = terms
        self._directions = directions
        self._kind = kind

    def epsilon(self, delta: float) -> Bounds:
        """Return bounds of epsilon at a delta above 0."""
        return self._narrowed("epsilon", "tilt_at_delta", delta)

    def delta(self, epsilon: float) -> Bounds:
        """Return bounds of delta at an epsilon of at least 0."""
        return self._narrowed("delta", "tilt_at_epsilon", epsilon)

    def is_at_most(self, question: str, at: float, bound: float) -> bool:
        """Return whether one contour in each direction says that an answer is at most that."""
        return self._answer(question, at, bound).upper <= bound

    def is_nearly(self, question: str, at: float, bound: float) -> bool:
        """Return whether more points may say so where one contour does not."""
        return not self._kind.is_exact and self._answer(question, at, bound).upper < _NEARLY * bound

    def _answer(self, question: str, at: float, floor: float = 0.0) -> Bounds:
        """Return the larger answer of the directions, if it is above a floor."""
        found: list[tuple[float, float]] = []
        for way, direction in enumerate(self._directions):  # only the larger one is needed
            least = max([floor, *(low for low, _ in found)])
            apart = self._apart(question, at) if way == 0 else None  # of a record more
            found.append(apart or getattr(direction, question)(at, least))
        return self._larger(found)

    def _apart(self, question: str, at: float) -> tuple[float, float] | None:
        """Return bounds by the others alone, beside directions that are far apart; None if wide."""
        known = FarApart.of(merged_terms(self._terms)) if self._kind.is_exact else None
        if known is None:
            return None
        others = composition_of(known.others) if known.others else None
        if known.others and (others is None or not others.is_exact):
            return None

        def rest(question: str, at: float) -> tuple[float, float]:
            return (0.0, 0.0) if others is None else getattr(others._directions[0], question)(at)

        found: tuple[float, float] | None = getattr(known, question)(at, rest)
        is_told = found is not None and found[1] - found[0] <= NARROW * max(found[1], SMALL)
        return found if is_told else None

    def _narrowed(self, question: str, tilt: str, at: float) -> Bounds:
        """Return an answer, by atoms at points that suit its tilt."""
        if self._kind.is_exact:
            found = self._answer(question, at)
            release = None if found.is_narrow or at == 0 else _few_samples(self._terms)
            if release is None:
                return found
            few = few_releases(question, release, self._terms[0][1], at, found)
            found = found if few is None else found.or_tighter(self._one_way(*few))
            if found.is_narrow:
                return found
            full = _composition(self._terms, None)
            return found if full is None else found.or_tighter(full._answer(question, at))
        tilts = tuple(getattr(direction, tilt)(at) for direction in self._directions)
        best = Bounds(0.0, math.inf)
        is_few = sum(n for _, n in self._terms) < _VERY_MANY
        is_alone = self._kind.is_attained and not self._kind.is_smooth
        points, work = _POINTS[is_few], self._kind.work_at_points
        if is_alone:
            points, work = _FEW_POINTS, _WORK
        answer: Answer | None = None
        width = math.inf
        for _ in range(_ROUNDS):
            share = (_MOST_POINTS if is_alone else points) // len(self._terms)
            each = max(min(points, _LEAST), min(points, share))
            finer = _composition(self._terms, Refinement(tilts, each, answer=answer), work)
            if finer is None:
                return best if best.upper < math.inf else self._answer(question, at)
            found = finer._answer(question, at, best.lower)
            best = best.or_tighter(found)
            if best.is_narrow or not self._kind.is_attained:
                break
            last, width = width, (found.upper - found.lower) / min(found.upper, _FINITE)
            if width > _LESS * last:
                break
            # Three times as many points tell nine times as much, and more where the answer looks.
            wanted = points * math.sqrt(width / (_AIM * NARROW)) if is_alone else math.inf
            most = _MOST_POINTS if is_alone else _POINTS[-1]
            is_hopeless = width * (points / most) ** 2 > NARROW
            if is_alone and answer is None:  # not yet, but where more frequencies are wanted
                is_hopeless = width > _FAR
            if points >= most or is_hopeless:
                break
            if is_alone:
                answer = self._answer_at(best.upper if question == "epsilon" else at)
            points = math.ceil(min(wanted, most, _MORE * points))
            work = self._kind.work_at_points
        return best

    def _answer_at(self, epsilon: float) -> Answer | None:
        """Return where an answer is, and how far all losses but rare large ones spread."""
        square = 0.0
        for leaf, n in self._terms:
            losses = losses_of_leaf(leaf)
            if losses is None:
                return None
            square += n * losses.spread(_RARE / (n * len(self._terms))) ** 2
        return Answer(epsilon, math.sqrt(square))

    @property
    def is_exact(self) -> bool:
        """Whether the core knows all laws, none as atoms only."""
        return self._kind.is_exact

    @property
    def is_easy(self) -> bool:
        """Whether contours may take all the work that they ask for."""
        return self._kind.is_easy

    @property
    def is_smooth(self) -> bool:
        """Whether the profile has no corners."""
        return self._kind.is_smooth

    @property
    def is_symmetric(self) -> bool:
        """Whether both directions are one."""
        return len(self._directions) == 1

    def delta_one_way(self, way: int, epsilon: float, floor: float = 0.0) -> Bounds:
        """Return bounds of delta in one direction; the other one's pair is the swapped one.

        Any bounds up to a `floor` that it does not exceed.
        """
        direction = self._directions[way % len(self._directions)]
        return self._one_way(*direction.delta(epsilon, floor))

    def deltas_one_way(self, way: int, epsilons: Array) -> tuple[Array, Array]:
        """Return the same at epsilons that rise; 0 and 1 where it would take a while."""
        lower, upper = self._directions[way].deltas(epsilons, is_quick=True)
        return lower if self._kind.is_attained else np.zeros_like(lower), upper

    def _one_way(self, lower: float, upper: float) -> Bounds:
        return Bounds(lower if self._kind.is_attained else 0.0, upper)

    def _larger(self, bounds: list[tuple[float, float]]) -> Bounds:
        lower = max(low for low, _ in bounds) if self._kind.is_attained else 0.0
        return Bounds(lower, max(high for _, high in bounds))


class _Kind(NamedTuple):
    """`is_attained`: a pair of each leaf is known; `is_exact`: no points make the laws better."""

    is_attained: bool
    is_exact: bool
    is_smooth: bool
    is_easy: bool
    work_at_points: float


@functools.lru_cache(maxsize=256)
def composition_of(
    terms: Terms, *, of_atoms: bool = False, at_last: bool = False
) -> Composition | None:
    """Return the composition, if the law of every leaf is known, and that of one is smooth.

    Or of so much Laplace noise that nothing is left of its atoms. `of_atoms`: also of many
    releases that are atoms, which a lattice takes longer for; less are quicker on a lattice. And of
    those with a law that has atoms, such as Laplace noise, if a little work tells them: the more
    scales there are, the less. `at_last`: where a lattice does not tell them either.
    """
    laws = [(leaf, leaf.laws(), n) for leaf, n in merged_terms(terms)]
    if any(law is None and leaf.is_slow for leaf, law, _ in laws):
        return None
    smooth = [(leaf, n) for leaf, law, n in laws if law is not None and law[0].is_smooth]
    is_spread = any(
        law is not None and not law[0].is_smooth and n * min(leaf.max_loss, 1.0) >= _SPREAD
        for leaf, law, n in laws
    )
    has_atoms = any(law is None for _, law, _ in laws)
    has_points = any(law is None and leaf.reached() is None for leaf, law, _ in laws)
    is_all = len(smooth) == len(laws) and _few_samples(terms) is None  # no other way tells it
    most_work = math.inf if is_all else _WORK
    if smooth or is_spread:
        is_seldom = all(isinstance(leaf, Sampled | GroupCase) for leaf, _ in smooth)
        is_seldom &= has_atoms and not is_spread and sum(n for _, n in smooth) <= _FEW
        if is_seldom and has_points and not at_last and sum(n for _, n in terms) < _MANY:
            return None
        if is_seldom:
            return _composition(terms, None, _WORK, _WORK)
        return _composition(terms, None, most_work)
    # Lattices are as good where losses lie on one, or are only known from above.
    has_lattice = any(leaf.reached() is not None or not leaf.has_pair for leaf, _, _ in laws)
    least = 0 if at_last else _MANY_ON_LATTICES if has_lattice else _MANY
    if of_atoms and any(law is None and _is_many(leaf, n, least) for leaf, law, n in laws):
        return _composition(terms, None, most_work, _WORK if has_lattice else _MORE_WORK)
    is_known = all(law is not None or leaf.reached() is not None for leaf, law, _ in laws)
    is_long = sum(n for _, law, n in laws if law is not None) >= _MANY_OF_LAWS
    tried = _TRIED * max(1.0, len(laws) / _KINDS)
    return _composition(terms, None, tried) if of_atoms and is_known and is_long else None


def _few_samples(terms: Terms) -> RareRelease | None:
    """Return what is released on each of a few samples, if it is told outcome by outcome."""
    (leaf, n), *others = terms
    release = leaf.replaced_gaussian if isinstance(leaf, Sampled) and not others else None
    return release if release is not None and release.is_told(n) else None


def _is_many(leaf: Leaf, n: int, least: int) -> bool:
    """Return whether so many of a leaf are nearly Gaussian, so that few frequencies tell them."""
    if n < least or not isinstance(leaf, Sampled | GroupCase) or n * leaf.rate >= _OFTEN:
        return n >= least
    # Nor is a record ever in a sample, if noise tells so little that no loss is a large one.
    losses = losses_of_leaf(leaf)
    if losses is None or not losses.largest > 0:
        return False
    return n * (losses.moments(0.0).deviation / losses.largest) ** 2 >= _OFTEN


def _composition(
    terms: Terms,
    finer: Refinement | None,
    most_work: float = math.inf,
    work_at_points: float = _MORE_WORK,
) -> Composition | None:
    laws = [(laws_of(leaf, finer), count) for leaf, count in merged_terms(terms)]
    known = [(found, count) for found, count in laws if found is not None]
    if len(known) < len(laws) or not known:
        return None
    kind = _Kind(
        is_attained=all(found.is_attained for found, _ in known)
        and all(law.lower is not None for found, _ in known for law in found.laws),
        is_exact=all(found.is_exact for found, _ in known),
        is_smooth=any(found.laws[0].is_smooth for found, _ in known),
        is_easy=most_work == math.inf,
        work_at_points=work_at_points,
    )
    return Composition(terms, composed(known, most_work), kind)
