"""What rankings have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, overload

from tightnoise._figures import axes_of
from tightnoise._text import Printed

SIZE = (13.0, 5.4)
"""Of a figure, in inches."""

Choice = TypeVar("Choice", covariant=True)


class Ranking(Printed, Sequence[Choice]):
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

    def plot(self, *, axes: object = None) -> tuple[Any, ...]:
        """Draw the ranking: what each choice does, and its losses at other epsilons.

        Those are of one release at the ranking's delta. Mechanisms that are searched for are drawn
        at the ranking's epsilon only.

        Parameters
        ----------
        axes : two axes of matplotlib, optional
            Where to draw; by default those of a new figure.

        Returns
        -------
        tuple of two axes

        Raises
        ------
        ImportError
            Without matplotlib (extra `plot`).
        ValueError
            If `axes` are not two axes.

        Examples
        --------
        >>> import tightnoise as tn
        >>> ranking = tn.best_noise(1.0, sensitivity=1.0)
        >>> left, right = ranking.plot()  # doctest: +SKIP
        """
        places = axes_of(axes, 2, SIZE)
        self._draw(*places)
        return places

    @abstractmethod
    def _draw(self, left: object, right: object) -> None:
        """Draw on two axes."""

    def __len__(self) -> int:
        return len(self.choices)

    def __iter__(self) -> Iterator[Choice]:
        return iter(self.choices)
