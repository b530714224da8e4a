"""What rankings have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

__all__ = ["Ranking"]

Choice = TypeVar("Choice", covariant=True)


class Ranking(Sequence[Choice]):
    """Choices, the best first."""

    choices: tuple[Choice, ...]

    @property
    def best(self) -> Choice:
        """The choice that comes first."""
        return self.choices[0]

    @overload
    def __getitem__(self, index: int) -> Choice: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Choice, ...]: ...
    def __getitem__(self, index: int | slice) -> Choice | tuple[Choice, ...]:
        return self.choices[index]

    def __len__(self) -> int:
        return len(self.choices)

    def __iter__(self) -> Iterator[Choice]:
        return iter(self.choices)
