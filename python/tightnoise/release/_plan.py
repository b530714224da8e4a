"""A release that is ready but for its noise: what it will cost is known, and nothing is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from tightnoise._validate import real_scalar, require
from tightnoise.costs import Cost
from tightnoise.random import NoiseStream
from tightnoise.release._columns import Column

__all__ = ["MOST_ROWS", "Plan", "bounds_of", "title"]

MOST_ROWS = 2**30
"""Of a column: integers with a sign that is added up stay below 2**62."""

Own = TypeVar("Own")


@dataclass(frozen=True)
class Plan(Generic[Own]):
    """Everything is checked, and the noise is chosen, by public numbers alone."""

    cost: Cost
    statistic: str
    draw: Callable[[NoiseStream | None], Own]


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
