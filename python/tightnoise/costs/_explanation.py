"""Why an epsilon is what it is."""

from __future__ import annotations

from dataclasses import dataclass

from tightnoise._text import Parts, Printed, exact_text, lower_text, upper_text
from tightnoise.costs._answers import WAYS, both_sides, least, proved_by
from tightnoise.costs._cases import cases_of
from tightnoise.costs._exact import NARROW
from tightnoise.costs._lattice import MAX_LATTICE_COUNT
from tightnoise.costs._leaf import Terms


@dataclass(frozen=True)
class Explanation(Printed):
    """What each way proves of a cost at one delta; printed as a table.

    Attributes
    ----------
    delta, epsilon : float
        The question, and the answer.
    lower, upper : float
        Proved bounds of what any accountant can answer, as of `Cost.epsilon_bounds`, which may take
        longer than `epsilon` and come lower.
    is_narrow : bool
        Whether these are within a millionth of each other.
    reason : str
        If not, why: which release, and what is not known of it, or which limit was reached.
    way : str
        Which way proved it.
    ways : tuple of (str, float)
        Every way that knows the leaves, and what it proves.
    leaves : tuple of (str, int, str)
        What, how often, and for which neighbours: "assumed" where a leaf did not say, and takes
        the relation of the others.

    Examples
    --------
    >>> import tightnoise as tn
    >>> explanation = (tn.Cost.of_pure(0.1) * 10).explain(1e-6)
    >>> explanation.way, round(explanation.epsilon, 6)
    ('profile', 0.999371)
    """

    delta: float
    epsilon: float
    lower: float
    upper: float
    is_narrow: bool
    reason: str
    way: str
    ways: tuple[tuple[str, float], ...]
    leaves: tuple[tuple[str, int, str], ...]

    def _parts(self) -> Parts:
        at = f"delta {exact_text(self.delta)}, by {self.way}"
        head = f"epsilon {upper_text(self.epsilon)} at {at}"
        if self.lower > 0:
            head += f"; at least {lower_text(self.lower)}"
        if self.upper < self.epsilon * (1 - NARROW):
            head += f", at most {upper_text(self.upper)}"
        told = [head]
        if self.reason:
            what = "bounds within 1e-6 are" if self.lower > 0 else "lower bound is"
            told.append(f"no {what} proved: {self.reason}")
        ways = [("way", "epsilon"), *((way, upper_text(e)) for way, e in self.ways)]
        leaves = [("release", "count", "neighbours")]
        leaves += [(leaf, str(count), note) for leaf, count, note in self.leaves]
        return [*told, ways, leaves]


def explained(terms: Terms, adjacency: str | None, delta: float) -> Explanation:
    """Return the explanation of a cost with these leaves."""
    leaves = tuple((leaf.describe(), n, _note(leaf.adjacency, adjacency)) for leaf, n in terms)
    if not terms or delta == 1:
        return Explanation(delta, 0.0, 0.0, 0.0, True, "", "nothing", (), leaves)
    found = [(name, proved_by(name, "epsilon", terms, delta)) for name in WAYS]
    known = tuple((name, proof.bound) for name, proof in found if proof is not None)
    way, best = least("epsilon", terms, delta)
    both = both_sides("epsilon", terms, delta, best.bound)
    # Nothing costs less than nothing.
    is_narrow = both.is_narrow or best.bound == 0
    reason = "" if is_narrow else _reason(cases_of(terms)[0])
    bounds = best.bound, both.lower, both.upper
    return Explanation(delta, *bounds, is_narrow, reason, way, known, leaves)


def _reason(terms: Terms) -> str:
    """Return why the bounds of a cost with these leaves are not narrow."""
    for leaf, _ in terms:
        gap = leaf.gap
        if gap is not None:
            return f"[{leaf.describe()}]: {gap}"
    if sum(n for _, n in terms) > MAX_LATTICE_COUNT:
        return f"of more than {MAX_LATTICE_COUNT} releases that are atoms no sum is laid out"
    return (
        "so many losses, so far apart or so rare, take more points of a lattice and of contours "
        "than the limit of work allows"
    )


def _note(own: str | None, common: str | None) -> str:
    if own is not None:
        return own
    return "those declared" if common is None else f"{common}, assumed"
