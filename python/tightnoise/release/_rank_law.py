"""A quantile by the exponential mechanism on ranks, drawn exactly.

Of rows x on a grid, and a share q = a/b, a point r of the grid is off by so many ranks:

    d(r) = max(0, #{x < r} - q n, q n - #{x <= r}),

which is 0 at the quantile itself, a row. A row more or less moves #{x < r} - q n by 1 - q or -q,
and q n - #{x <= r} likewise, so d by max(q, 1 - q) at most; a row that is another moves d by 1 at
most.
Drawn is r with probability proportional to W(d(r)), W(d) the integer below 10^38 exp(-y) with
y = min(rate d, 44): the exponential mechanism (McSherry and Talwar 2007), with scores cut off.

The loss of an output r between neighbours is log W(d(r))/W(d'(r)) and a number that is the same for
all r. So it lies in an interval of width 2 rate max(q, 1 - q), or 2 rate, but for W: a cut moves no
score further (it is 1-Lipschitz), and an integer of 7e18 or more (10^38 e^-44) is less than its
real number by 1.3e-19 of it at most, its exponential correctly rounded to 60 digits before: the
width grows by 2.6e-19. The rate leaves 2^-40 of epsilon for that, which is more from epsilon 1e-6
on. This is what bounded range is (Dong, Durfee and Rogers 2020), and with a width of epsilon the
release is epsilon-DP. All weights are integers, as are the numbers of points with the same d: the
draw is a uniform integer below their sum, of keystream bits by rejection, and nothing is rounded.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import real_scalar, require
from tightnoise.costs import Adjacency, Cost
from tightnoise.mechanisms import Mechanism
from tightnoise.mechanisms._drawing import source_of
from tightnoise.random import NoiseStream, default_stream

Integers = NDArray[np.int64]

LEAST_EPSILON = 1e-6
_LOWEST = 44  # of y
_ONE = Decimal(10) ** 38
_DIGITS = Context(prec=60)
_WORD = 52  # bits of a uniform number


def rank_rate(epsilon: float, share: Fraction, adjacency: Adjacency) -> float:
    """Return the rate at which losses lie in an interval of width epsilon."""
    moved = 2.0 if adjacency == "replace-one" else 2.0 * float(max(share, 1 - share))
    return epsilon / moved * (1.0 - 2.0**-40)


@functools.lru_cache(maxsize=2**16)
def weight(rate: float, parts: int, off: int) -> int:
    """Return W of off/parts ranks."""
    y = _DIGITS.divide(_DIGITS.multiply(Decimal(rate), Decimal(off)), Decimal(parts))
    # (A minus sign would round to the digits of the thread's own context.)
    y = _DIGITS.minus(min(y, Decimal(_LOWEST)))
    return int(_DIGITS.multiply(_ONE, _DIGITS.exp(y)))


@dataclass(frozen=True)
class RankLaw(Mechanism):
    """The exponential mechanism for a quantile.

    Parameters
    ----------
    rate : float
        The exponent of one rank.
    share : Fraction
        The quantile.
    first, last : int
        The points of the grid, times the step.
    step : float
        A power of two.
    width : float
        Of the interval that all losses lie in.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from tightnoise.release._rank_law import RankLaw, rank_rate
    >>> rate = rank_rate(1.0, Fraction(1, 2), "replace-one")
    >>> law = RankLaw(rate, Fraction(1, 2), 0, 120, 1.0, 1.0)
    >>> law.rank_error(0.05)
    15.0
    """

    rate: float
    share: Fraction
    first: int
    last: int
    step: float
    width: float

    _has_grid = True

    def _steps(self, grid: object) -> Any:
        return np.asarray(self.step)

    def __str__(self) -> str:
        return f"exp(-{self.rate:.6g} ranks)"

    def cost(self, *, adjacency: Adjacency | None = None) -> Cost:
        """Return what a release costs, between the neighbours that the rate is for."""
        return Cost.of_bounded_range(self.width, adjacency=adjacency)

    def rank_error(self, beta: float) -> float:
        """Return how many ranks the output is off, at most, but with probability `beta`.

        One of M points is off by 0. If all others are off by t or more, the output is so with a
        probability of (M - 1) W(t)/(W(0) + (M - 1) W(t)) at most, and that is the case of some
        rows: no smaller answer holds for all.
        """
        require(0 < real_scalar("beta", beta) < 1, "beta", beta, "between 0 and 1")
        others = self.last - self.first
        parts = self.share.denominator
        if others == 0:
            return 0.0
        y = math.log(others) + math.log1p(-beta) - math.log(beta)
        steps = max(math.ceil(y * (1.0 + 1e-12) / self.rate * parts) - 1, 0)
        return steps / parts if y < _LOWEST - 1e-6 else math.inf

    def draw(self, rows: Integers, rng: NoiseStream | None) -> int:
        """Return a point of the grid, times the step, for rows that are such points."""
        starts, sizes, off = self._classes(rows)
        which, place = np.unique(off, return_inverse=True)
        together = np.zeros(which.size, np.int64)
        np.add.at(together, place, sizes)
        weights = [weight(self.rate, self.share.denominator, d) for d in which.tolist()]
        masses = [w * count for w, count in zip(weights, together.tolist(), strict=True)]
        left = _uniform_below(sum(masses), rng)
        at = 0
        while left >= masses[at]:
            left -= masses[at]
            at += 1
        number = left // weights[at]  # of the points that are so far off
        mine = np.flatnonzero(place == at)
        ends = np.cumsum(sizes[mine])
        run = int(np.searchsorted(ends, number, side="right"))
        before = int(ends[run - 1]) if run else 0
        return int(starts[mine[run]]) + number - before

    def _classes(self, rows: Integers) -> tuple[Integers, Integers, Integers]:
        """Return runs of points that are alike: their starts, sizes, and d in parts of a rank.

        Rows and the gaps between them. What is beyond the cut is as far off as the cut.
        """
        a, b = self.share.numerator, self.share.denominator
        points, counts = np.unique(rows, return_counts=True)
        upto = np.cumsum(counts)
        target = a * rows.size
        off_rows = np.maximum(np.maximum(b * (upto - counts) - target, target - b * upto), 0)
        ends = np.concatenate([[self.first - 1], points, [self.last + 1]])
        gaps = np.diff(ends) - 1
        off_gaps = np.abs(b * np.concatenate([[0], upto]) - target)
        starts = np.concatenate([points, ends[:-1] + 1])
        sizes = np.concatenate([np.ones_like(points), gaps])
        cut = min(math.ceil((_LOWEST + 1) / self.rate * b), 2**62)
        off = np.minimum(np.concatenate([off_rows, off_gaps]), cut)
        there = sizes > 0
        return starts[there], sizes[there], off[there]


def _uniform_below(total: int, rng: NoiseStream | None) -> int:
    """Return an integer from 0 to total - 1, all alike: of random bits, by rejection."""
    source_of(rng)  # refuses what is no stream
    stream = default_stream() if rng is None else rng
    words = -(-(total.bit_length() + 64) // _WORD)
    while True:
        number = 0
        for word in (stream.uniform(words) * 2.0**_WORD - 0.5).tolist():
            number = (number << _WORD) | int(word)
        if number < (1 << words * _WORD) // total * total:
            return number % total
