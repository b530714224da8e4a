"""What the data sets of a group may be: how many of its records the one has, and the other.

The two data sets are the same in all releases, so that a composition has one case throughout, and
the worst composition counts. (One distribution of losses that dominates in all cases, as
`Cost.losses` has it, may cost more.) Beside samples of which a record is replaced, no two data sets
have cases of more records in the one than in the other: these are upper bounds there.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from tightnoise.costs._atom_laws import is_symmetric
from tightnoise.costs._gaussian_pair import GaussianPair
from tightnoise.costs._group import Group, GroupCase
from tightnoise.costs._leaf import Leaf, Terms
from tightnoise.costs._sampled import Sampled, merged_terms


@functools.lru_cache(maxsize=64)
def cases_of(terms: Terms) -> tuple[Terms, ...]:
    """Return the releases of each case, one of which costs the most; the same if there are none.

    Groups of different sizes are left as they are, with the largest profile of their cases.
    """
    groups = [leaf for leaf, _ in terms if isinstance(leaf, Group) and leaf.cases]
    sizes = {group.count for group in groups if len(group.cases) > 1}
    if not groups or len(sizes) > 1:
        return (terms,)
    cases: dict[Leaf, tuple[GroupCase, ...]] = {group: group.cases for group in groups}
    if any(_is_of_replaced(leaf) for leaf, _ in terms):
        cases = {group: tuple(map(_beside_replaced, own)) for group, own in cases.items()}
    numbers = range(max(len(own) for own in cases.values()))
    found = [_one(terms, cases, number) for number in numbers]
    if all(_is_same_both_ways(leaf) for leaf, _ in merged_terms(terms) if leaf not in cases):
        return tuple(found)
    turned = [tuple((_turned(leaf), n) for leaf, n in one) for one in found]
    return tuple(dict.fromkeys([*found, *turned]))


def _one(terms: Terms, cases: dict[Leaf, tuple[GroupCase, ...]], number: int) -> Terms:
    """Return one case of all groups; those that have one only are symmetric."""

    def of(leaf: Leaf) -> Leaf:
        own = cases.get(leaf)
        return leaf if own is None else own[number % len(own)]

    return tuple((of(leaf), n) for leaf, n in terms)


def _is_same_both_ways(leaf: Leaf) -> bool:
    """Return whether both directions are one in all that is known of a leaf."""
    if isinstance(leaf, GaussianPair | Group):
        return True
    laws = leaf.laws()
    return (laws is None or len(laws) == 1) and is_symmetric(leaf)


def _turned(leaf: Leaf) -> Leaf:
    return replace(leaf, pair=leaf.pair.swapped) if isinstance(leaf, GroupCase) else leaf


def _is_of_replaced(leaf: Leaf) -> bool:
    one = leaf.leaf if isinstance(leaf, Group) else leaf
    return isinstance(one, Sampled) and one.adjacency == "replace-one"


def _beside_replaced(case: GroupCase) -> GroupCase:
    return case if case.is_symmetric else replace(case, is_pair=False)
