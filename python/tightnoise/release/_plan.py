"""A release that is ready but for its noise: what it will cost is known, and nothing is drawn.

A function that releases is written as what plans it, and `drawing` makes it draw at once; sessions
take the plan, and spend before they draw.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

from tightnoise._adjacency import require_adjacency
from tightnoise._validate import below_one, positive, real_scalar, require
from tightnoise.costs import Adjacency, Cost
from tightnoise.release._columns import Column

Asked = ParamSpec("Asked")
Own = TypeVar("Own", covariant=True)


@dataclass(frozen=True)
class Plan(Generic[Own]):
    """Everything is checked, and the noise is chosen, by public numbers alone."""

    cost: Cost
    statistic: str
    draw: Callable[[], Own]


class Drawing(Protocol[Asked, Own]):
    """A function that releases, and the plan that it draws."""

    @property
    def plan(self) -> Callable[Asked, Plan[Own]]:
        """What returns the release before its noise."""

    def __call__(self, *args: Asked.args, **kwargs: Asked.kwargs) -> Own:
        """Release at once."""


def drawing(plan: Callable[Asked, Plan[Own]]) -> Drawing[Asked, Own]:
    """Make a function that plans a release, and says what is released, draw it at once."""

    @functools.wraps(plan)
    def release(*args: Asked.args, **kwargs: Asked.kwargs) -> Own:
        return plan(*args, **kwargs).draw()

    # What help shows, and the command line reads, is the signature with what is released.
    returned = plan.__annotations__["return"].removeprefix("Plan[").removesuffix("]")
    plan.__annotations__["return"] = returned
    drawn: Any = release
    drawn.plan = plan
    drawing: Drawing[Asked, Own] = drawn
    return drawing


class Budget(NamedTuple):
    """What is asked for, checked."""

    epsilon: float
    delta: float
    adjacency: Adjacency


def budget_of(epsilon: object, delta: object, adjacency: Adjacency) -> Budget:
    """Return the budget; ValueError or TypeError for what is none."""
    require_adjacency(adjacency)
    return Budget(positive("epsilon", epsilon), below_one("delta", delta), adjacency)


def bounds_of(lower: object, upper: object) -> tuple[float, float]:
    """Return the bounds that rows are clipped to; an error says why they must be given."""
    ends = []
    for name, value in (("lower", lower), ("upper", upper)):
        if value is None or isinstance(value, str):
            raise TypeError(
                f"{name} must be a number that is known without these rows (an age is between 0 "
                f"and 120); got {value!r}: a bound taken from the data tells of whoever is at it, "
                "and no noise hides that"
            )
        ends.append(real_scalar(name, value))
    low, high = ends
    require(low < high, "upper", upper, f"greater than lower, {low:g}")
    return low, high


def title(statistic: str, column: Column) -> str:
    """Return what a release is called: by the column's name where it has one."""
    return statistic if column.name is None else f"{statistic} of {column.name}"
