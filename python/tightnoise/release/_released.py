"""What a release returns: the value, how near it is, what it cost, and what that rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tightnoise._text import Parts, Printed, exact_text, lower_text, upper_text
from tightnoise.costs import Adjacency, Cost
from tightnoise.release._noise import Noise, below_half

_LEVEL = 0.95  # of the interval that is printed
_MOST_CELLS = 12  # that are printed


class Interval(NamedTuple):
    """Two ends: numbers, or arrays of the shape of a value.

    Examples
    --------
    >>> import tightnoise as tn
    >>> count = tn.release_count([True] * 90, 1.0, adjacency="add-remove")
    >>> low, high = count.confidence_interval(0.99)
    >>> high - low
    8
    """

    low: Any
    high: Any


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release(Printed):
    """A number that was released: printed, all that may be published beside it.

    Attributes
    ----------
    value : float or int
        What was released.
    cost : Cost
        Of this release: accountants and filters take the release as it is.
    statistic : str
        What it is: "mean of age".
    epsilon, delta : float
        The budget that was asked for.
    adjacency : {"add-remove", "replace-one"}
        Which data sets are neighbours.
    sensitivity : float
        The most that the true value moves between neighbours.
    derivation : str
        Where that comes from.
    n : int or None
        The number of rows, where it is public.
    lower, upper : float or None
        What rows were clipped to.
    noisy : float or int
        What it drew, before what is known anyway was made use of.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> ages = np.random.default_rng(0).uniform(18, 90, 500)
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> release = tn.release_mean(
    ...     ages, 1.0, lower=0, upper=120, adjacency="replace-one", rng=stream
    ... )
    >>> low, high = release.confidence_interval(0.95)
    >>> low <= release.value <= high
    True
    >>> tn.Accountant().compose(release).epsilon(0.0) <= 1.0
    True
    """

    _later = "left"
    value: Any
    cost: Cost
    statistic: str
    epsilon: float
    delta: float
    adjacency: Adjacency
    sensitivity: float
    derivation: str
    n: int | None = None
    lower: float | None = None
    upper: float | None = None
    noisy: Any
    _noise: Noise
    # The value is noisy/factor + shift, held within what is known anyway.
    _factor: float = 1.0
    _shift: float = 0.0
    _within: tuple[float, float] = (-math.inf, math.inf)

    @property
    def mechanism(self) -> Any:
        """What drew the noise."""
        return self._noise.mechanism

    @property
    def grid(self) -> float:
        """The step that `noisy` is a multiple of, unless it is a bound."""
        return self._noise.step

    def confidence_interval(self, level: float = _LEVEL) -> Interval:
        """Return an interval that holds the true value with a probability of at least `level`.

        The true value is that of these rows, as they were clipped and truncated (`exact_sum`): of
        whom the rows are a sample of, it says nothing. It costs nothing more, and holds whatever
        the rows are: the law of the mechanism is known exactly.

        Parameters
        ----------
        level : float
            Greater than 0 and less than 1.

        Returns
        -------
        low, high : float

        Raises
        ------
        ValueError, TypeError
            If the level is no such number.
        """
        ends = self._noise.interval(self.noisy, level)
        low, high = (self._of(end) for end in ends)
        return Interval(low, high)

    def _of(self, drawn: float) -> float:
        value = released(drawn, self._factor, self._shift, self._within)
        return int(value) if isinstance(self.value, int) else value

    def _shown(self) -> list[tuple[str, str]]:
        """Return the value and how near it is, as lines."""
        low, high = self.confidence_interval()
        return [
            ("value", _number(self.value)),
            (f"{100 * _LEVEL:g} % interval", f"{_number(low)} to {_number(high)}"),
        ]

    def _law(self) -> str:
        return f"{self._noise.name}, {self.mechanism}"

    def _grid_text(self) -> str:
        grid = "integers" if self._noise.integer else f"multiples of {self.grid:g}"
        return grid if self._factor == 1.0 else f"{grid}, for the sum"

    def _parts(self) -> Parts:
        lines = [("release", self.statistic), *self._shown()]
        if self.n is not None:
            lines.append(("n", f"{self.n} (public)"))
        if self.lower is not None:
            lines.append(("clipped to", f"{self.lower:.12g} to {self.upper:.12g}"))
        lines += [
            ("sensitivity", f"{self.sensitivity:.6g} = {self.derivation}"),
            ("neighbours", _NEIGHBOURS[self.adjacency]),
            ("mechanism", self._law()),
            ("drawn on", self._grid_text()),
            ("cost", self._cost_text()),
        ]
        return [lines]

    def _cost_text(self) -> str:
        cost = float(self.cost.epsilon(self.delta))
        spent = upper_text(cost)
        if self.epsilon * (1 - 1e-6) < cost < self.epsilon * (1 + 1e-14):
            spent = upper_text(self.epsilon, 12)  # as given: no more is spent, but for rounding
        return f"epsilon {spent}, delta {exact_text(self.delta)}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.statistic} {_number(self.value)}>"


def released(drawn: Any, factor: float, shift: float, within: tuple[float, float]) -> float:
    """Return drawn/factor + shift, held between two ends: from public numbers alone."""
    least, most = within
    return min(max(float(drawn) / factor + shift, least), most)


_NEIGHBOURS = {
    "add-remove": "add-remove: one person more or less",
    "replace-one": "replace-one: one person is another",
}


def _cell_text(cell: object) -> str:
    return " to ".join(f"{edge:g}" for edge in cell) if isinstance(cell, tuple) else str(cell)


def _number(value: Any) -> str:
    return str(value) if isinstance(value, (int, np.integer)) else f"{float(value):.8g}"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RatioRelease(Release):
    """A mean of rows whose number is private: a noisy sum over a noisy count.

    Attributes
    ----------
    noisy : tuple of float
        Two noisy sums: of how far rows are above the lower bound, and below the upper one. Together
        they are the number of rows times the width.

    Examples
    --------
    >>> import tightnoise as tn
    >>> ages = [float(age) for age in range(20, 80)] * 50
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> release = tn.release_mean(ages, 1.0, lower=0, upper=120, adjacency="add-remove", rng=stream)
    >>> release.n is None, abs(release.noisy_count - 3000) < 30
    (True, True)
    """

    @property
    def noisy_count(self) -> float:
        """The noisy number of rows; it costs nothing more."""
        least, most = self._within
        return float(sum(self.noisy) / (most - least))

    def confidence_interval(self, level: float = _LEVEL) -> Interval:
        """Return an interval that holds the true mean with a probability of at least `level`.

        From both noisy sums, each in an interval of the square root of `level`: they are
        independent. The mean is low + (high - low) a/(a + b), with a the sum of what is above the
        lower bound and b that of what is below the upper one.

        Parameters
        ----------
        level : float
            Greater than 0 and less than 1.

        Returns
        -------
        low, high : float

        Raises
        ------
        ValueError, TypeError
            If the level is no such number.
        """
        half = self._noise.half_width(below_half(level, 2))
        above, below = self.noisy
        low, high = ((max(above + side, 0.0), max(below - side, 0.0)) for side in (-half, half))
        least, most = self._within
        return Interval(
            ratio_mean(*low, self._within) if sum(low) > 0 else least,
            ratio_mean(*high, self._within) if sum(high) > 0 else most,
        )

    def _law(self) -> str:
        return f"{super()._law()}, on each of two sums"


def ratio_mean(above: float, below: float, bounds: tuple[float, float]) -> float:
    """Return a mean by the sums of what is above the lower bound and below the upper one."""
    low, high = bounds
    total = above + below
    share = above / total if total > 0 else 0.5
    return low + (high - low) * min(max(share, 0.0), 1.0)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HistogramRelease(Release):
    """Counts of disjoint cells.

    Attributes
    ----------
    value : ndarray of int64, or pandas Series
        A count a cell, in their order; a Series, by cells, where the column was one. They may be
        negative: so sums of cells err by no bias.
    cells : tuple
        The names, or pairs of edges.

    Examples
    --------
    >>> import tightnoise as tn
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> answers = ["yes"] * 40 + ["no"] * 70
    >>> release = tn.release_histogram(
    ...     answers, 1.0, cells=["yes", "no"], adjacency="add-remove", rng=stream
    ... )
    >>> release.cells, release.value.dtype
    (('yes', 'no'), dtype('int64'))
    """

    cells: tuple[Any, ...] = ()

    def confidence_interval(self, level: float = _LEVEL, *, simultaneous: bool = False) -> Interval:
        """Return intervals, one a cell, that hold the true counts.

        Parameters
        ----------
        level : float
            The probability, at least, that a cell's count is in its interval.
        simultaneous : bool
            Whether it is the probability that all cells' counts are: noise is independent.

        Returns
        -------
        low, high : ndarray of int64
            One a cell; no count is below 0.

        Raises
        ------
        ValueError, TypeError
            If the level is no number between 0 and 1.
        """
        count = len(self.cells) if simultaneous else 1
        half = int(self._noise.half_width(below_half(level, count)))
        most = np.iinfo(np.int64).max if self.n is None else self.n
        low, high = (np.clip(self.noisy + side, 0, most) for side in (-half, half))
        return Interval(low, high)

    def _shown(self) -> list[tuple[str, str]]:
        low, high = self.confidence_interval()
        rows = [
            (_cell_text(cell), f"{count} ({100 * _LEVEL:g} % interval {first} to {last})")
            for cell, count, first, last in zip(
                self.cells, self.noisy.tolist(), low.tolist(), high.tolist(), strict=True
            )
        ]
        more = len(rows) - _MOST_CELLS
        return rows if more <= 0 else [*rows[:_MOST_CELLS], ("...", f"{more} more cells")]

    def __repr__(self) -> str:
        return f"<HistogramRelease: {self.statistic}, {len(self.cells)} cells>"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class VectorRelease(Release):
    """A sum of rows of several numbers.

    Attributes
    ----------
    value : ndarray of float64
        Of the shape of a row.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> rows = np.ones((1000, 3)) / 2
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> release = tn.release_vector(
    ...     rows, 1.0, 1e-6, bound=1.0, adjacency="add-remove", rng=stream
    ... )
    >>> low, high = release.confidence_interval(0.95, simultaneous=True)
    >>> low.shape
    (3,)
    """

    bound: float = 0.0

    def confidence_interval(self, level: float = _LEVEL, *, simultaneous: bool = False) -> Interval:
        """Return intervals, one a coordinate, that hold the true sums of the clipped rows.

        They are clipped to a millionth less than `bound`, and truncated (`exact_sum`).

        Parameters
        ----------
        level : float
            The probability, at least, that a coordinate is in its interval.
        simultaneous : bool
            Whether it is the probability that all of them are: noise is independent.

        Returns
        -------
        low, high : ndarray of float64

        Raises
        ------
        ValueError, TypeError
            If the level is no number between 0 and 1.
        """
        half = self._noise.half_width(below_half(level, self.value.size if simultaneous else 1))
        return Interval(self.noisy - half, self.noisy + half)

    def _shown(self) -> list[tuple[str, str]]:
        half = self._noise.half_width(below_half(_LEVEL))
        shown = np.array2string(self.value, precision=6, threshold=_MOST_CELLS)
        return [
            ("value", " ".join(shown.split())),
            (f"{100 * _LEVEL:g} % interval", f"each number -+ {upper_text(half)}"),
            ("rows clipped to", f"{self.bound:.12g} in L2 norm"),
        ]

    def __repr__(self) -> str:
        return f"<VectorRelease: {self.statistic}, {self.value.size} numbers>"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class QuantileRelease(Release):
    """A quantile, drawn by how near in rank each point of a grid is.

    Attributes
    ----------
    quantile : float
        The share of rows that is meant to be below.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> ages = np.random.default_rng(0).uniform(18, 90, 500)
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> release = tn.release_median(
    ...     ages, 1.0, lower=0, upper=120, adjacency="replace-one", rng=stream
    ... )
    >>> low, high = release.rank_interval(0.95)
    >>> low < 0.5 < high
    True
    """

    quantile: float = 0.5

    def confidence_interval(self, level: float = _LEVEL) -> Interval:
        """Raise ValueError: an interval of values would tell more about the rows.

        How near the true quantile is depends on how the rows lie around it, which is private.
        `rank_interval` says between which ranks the value lies; two quantiles more, released at
        such ranks, make an interval.
        """
        raise ValueError(
            "an interval of values depends on how the rows lie, which is private: rank_interval() "
            "says between which ranks the value is, and quantiles released there make an interval"
        )

    def rank_interval(self, level: float = _LEVEL) -> Interval:
        """Return the shares of rows between which the value's rank lies, with that probability.

        With a probability of at least `level` the value v has at least a share `low` of the rows at
        or below it, and at most a share `high` of them below it. Where the number of rows is
        private, the ends are in rows, from the quantile's own rank: -12.5 and 12.5. The rows are as
        they were clipped, and rounded to the grid. It holds for whatever rows: there are rows
        (many ties at the quantile, the others far away) for which no narrower one does.

        Parameters
        ----------
        level : float
            Greater than 0 and less than 1.

        Returns
        -------
        low, high : float

        Raises
        ------
        ValueError, TypeError
            If the level is no such number.
        """
        far = self._noise.mechanism.rank_error(2.0 * below_half(level))
        if self.n is None:
            return Interval(-far, far)
        ends = self.quantile - far / self.n, self.quantile + far / self.n
        return Interval(max(ends[0], 0.0), min(ends[1], 1.0))

    def _shown(self) -> list[tuple[str, str]]:
        low, high = self.rank_interval()
        text = f"between the quantiles {lower_text(low, 4)} and {upper_text(high, 4)} of the rows"
        if self.n is None:
            text = f"within {upper_text(high)} ranks of the rows' quantile"
        return [("value", _number(self.value)), (f"with {100 * _LEVEL:g} %", text)]
