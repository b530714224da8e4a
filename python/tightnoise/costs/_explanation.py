"""Why an epsilon is what it is."""

from __future__ import annotations

from dataclasses import dataclass

from tightnoise._text import columns, upper_text
from tightnoise._validate import shown
from tightnoise.costs._answers import WAYS
from tightnoise.costs._sampled import Terms

__all__ = ["Explanation", "explained"]


@dataclass(frozen=True)
class Explanation:
    """What each way proves of a cost at one delta; printed as a table.

    Attributes
    ----------
    delta, epsilon : float
        The question, and the answer.
    way : str
        Which way proved it.
    ways : tuple of (str, float)
        Every way that knows the leaves, and what it proves.
    leaves : tuple of (int, str, str)
        How often, what, and for which neighbours: "assumed" where a leaf did not say, and takes
        the relation of the others.

    Examples
    --------
    >>> import tightnoise as tn
    >>> explanation = (tn.Cost.of_pure(0.1) * 10).explain(1e-6)
    >>> explanation.way, round(explanation.epsilon, 6)
    ('losses', 0.999994)
    """

    delta: float
    epsilon: float
    way: str
    ways: tuple[tuple[str, float], ...]
    leaves: tuple[tuple[int, str, str], ...]

    def __str__(self) -> str:
        head = f"epsilon {upper_text(self.epsilon)} at delta {self.delta:g}, by {self.way}"
        ways = columns([("way", "epsilon"), *((way, upper_text(e)) for way, e in self.ways)])
        rows = [("count", "release", "neighbours")]
        rows += [(str(count), leaf, note) for count, leaf, note in self.leaves]
        widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
        lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in rows]
        return "\n".join([head, *ways, *lines])


def explained(terms: Terms, adjacency: str | None, delta: float) -> Explanation:
    """Return the explanation of a cost with these leaves."""
    leaves = tuple(
        (n, shown(leaf.with_adjacency(None)), _note(leaf.adjacency, adjacency)) for leaf, n in terms
    )
    if not terms or delta == 1:
        return Explanation(delta, 0.0, "nothing", (), leaves)
    found = [(name, way.epsilon(terms, delta)) for name, way in WAYS.items()]
    known = tuple((name, float(epsilon)) for name, epsilon in found if epsilon is not None)
    way, epsilon = min(known, key=lambda item: item[1])
    return Explanation(delta, epsilon, way, known, leaves)


def _note(own: str | None, common: str | None) -> str:
    if own is not None:
        return own
    return "those declared" if common is None else f"{common}, assumed"
