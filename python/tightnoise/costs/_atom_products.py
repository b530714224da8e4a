"""Losses composed as atoms, one by one: rare large losses keep their digits beside frequent ones.

A lattice is as fine for all losses, its window as wide as the rare ones, and an FFT rounds off a
part of the largest mass. Here the sums of two losses are told apart, and then brought back to
points that lie as suits them: close where most is, far where little depends on them. All terms are
positive. So n releases take log n products of as many sums as there are pairs of points.

**From above** a sum between two points is split into both, with the same probabilities under P and
under Q: merging them again is post-processing ("connect the dots", see `_lattice`). One beyond the
last point is split into that and an infinite loss, one below the first into that and one that is
infinite in the other direction. So what is found dominates both ways. **From below**
the sums of a cell are merged into one, which is post-processing, and has the P and the Q of all of
them. Both err by the square of the gaps, times what is there.

**Frequent and rare.** Let A = H + R be the losses next to the centre and the rest, of mass m. Then
A B = H_A B + R_A H_B + R_A R_B, and the last may be told on points f times as far from each other:
that adds about f^2 m times as much as the points themselves do.

**Rounding.** A mass is a sum of a term for each pair, in a row of at most |B| and then over |A|
rows: (|A| + |B| + 64) u of it, with what each term has by itself. It is added, or taken off. Losses
are sums and differences of two numbers, and a share of a split that is 2^-49 of itself too large is
that of a loss which is so much of a gap higher, if it is below 1 (for others, what stays below is
rounded up, too): 64u of the largest sizes go into `wrong`, a shift of all losses that a reader is
to take off x or add to it. Where P's probabilities are kept, that changes Q's by such a part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._discrete_losses import Release

Array = NDArray[np.float64]

LEAST_MASS = 1e-323
"""No product that underflows is larger."""

_UNIT = 2.0**-53
_OVERFLOW = 700.0  # the exponential of more is no number
_COARSER = 0.03  # of what points add, which coarser ones of rare sums may
_COARSEST = 16  # times as far from each other
_CUTS = np.exp2(-np.arange(1.0, 9.0))  # parts of the points that may count as frequent


@dataclass(frozen=True, eq=False)
class LossAtoms:
    """Finite losses of so many P, by how far each is above the centre, and infinite ones.

    The losses rise. `wrong`: how far they may be off; `infinite_swapped`: what Q has where P never
    is.
    """

    centre: float
    losses: Array
    masses: Array
    infinite: float
    infinite_swapped: float
    wrong: float = 0.0

    @classmethod
    def of(cls, release: Release, centre: float, least: float = 0.0) -> LossAtoms:
        """Return those of a distribution, of masses that are so much too large at `least`."""
        masses = np.exp(release.log_mass) + least
        return cls(
            centre,
            release.values[masses > 0] - centre,
            masses[masses > 0],
            release.infinite,
            release.infinite_swapped,
            2 * _UNIT * (abs(centre) + release.largest),
        )

    @property
    def size(self) -> float:
        """The largest size of a loss, or of the centre."""
        return max(abs(self.centre), abs(float(self.losses[0])), abs(float(self.losses[-1])))

    @property
    def swapped(self) -> LossAtoms:
        """Those of the other direction, rounded up."""
        logs = np.log(self.masses)  # of the masses, which are small where losses are far below 0
        rounding = 4 * _UNIT * (4 + abs(self.centre) + np.abs(self.losses) + np.abs(logs))
        # Losses may be off, and Q's probabilities are by as much, if P's are not.
        rounding += 2 * self.wrong
        # What is no number is far more than any probability.
        exponents = np.minimum(logs - self.centre - self.losses, _OVERFLOW)
        return LossAtoms(
            -self.centre,
            -self.losses[::-1],
            (np.exp(exponents) * (1 + rounding))[::-1],
            min(1.0, self.infinite_swapped * (1 + 2 * self.wrong)),
            self.infinite,
            self.wrong,
        )


class _Sums(NamedTuple):
    """Masses at the points of a grid, or in its cells, with what their losses are by."""

    masses: Array
    less: Array
    infinite: float
    infinite_swapped: float


Product = Callable[[LossAtoms, LossAtoms, Array], LossAtoms]


def product_above(a: LossAtoms, b: LossAtoms, grid: Array) -> LossAtoms:
    """Return losses at the points of a grid, which dominate the sums of both."""

    def split(a: LossAtoms, b: LossAtoms, grid: Array) -> _Sums:
        masses, *infinite = core.split_product(a.losses, a.masses, b.losses, b.masses, grid)
        return _Sums(masses, masses, *infinite)

    sums = _in_parts(split, a, b, grid, _split_coarser)
    used = sums.masses > 0
    more = 1 + _rounding(a, b)
    # Of losses less the centre, Q's probabilities are e^centre times as large. Products that
    # underflow count as infinite, either way.
    lost = float(a.losses.size) * float(b.losses.size) * LEAST_MASS
    lowest = float(a.losses[0] + b.losses[0])
    lost_swapped = lost * math.exp(-lowest) if lowest > -_OVERFLOW else math.inf
    swapped = (sums.infinite_swapped + lost_swapped) * math.exp(-a.centre - b.centre)
    # Of finite and infinite losses: those of one may be a little more than 1 in sum.
    either = a.infinite + b.infinite * float(a.masses.sum())
    swapped += a.infinite_swapped + b.infinite_swapped * float(a.swapped.masses.sum())
    return LossAtoms(
        a.centre + b.centre,
        grid[used],
        sums.masses[used] * more,
        min(1.0, (either + sums.infinite + lost) * more),
        min(1.0, swapped * more),
        _wrong(a, b, grid),
    )


def product_below(a: LossAtoms, b: LossAtoms, grid: Array) -> LossAtoms:
    """Return losses in the cells about the points of a grid, dominated by the sums of both."""
    between = 0.5 * (grid[1:] + grid[:-1])
    starts = np.append(grid[0] - (between[0] - grid[0]), between)
    sums = _in_parts(_merged, a, b, starts, _merged_coarser)
    rounding = _rounding(a, b)
    losses = _losses_of_cells(starts, sums, 2 * rounding)
    return LossAtoms(
        a.centre + b.centre,
        losses,
        sums.masses[sums.masses > 0] * (1 - rounding),
        (a.infinite + b.infinite * (1 - a.infinite)) * (1 - 8 * _UNIT),
        0.0,
        _wrong(a, b, losses),
    )


def power(one: LossAtoms, count: int, grid: Array, product: Product) -> list[LossAtoms]:
    """Return one, two, four, ... of these composed, and at last `count` of them."""
    found = []
    whole: LossAtoms | None = None
    while True:
        found.append(one)
        if count & 1:
            whole = one if whole is None else product(whole, one, grid)
        count >>= 1
        if not count:
            assert whole is not None
            return [*found, whole]
        one = product(one, one, grid)


def _rounding(a: LossAtoms, b: LossAtoms) -> float:
    return 2 * _UNIT * (a.losses.size + b.losses.size + 64)


def _wrong(a: LossAtoms, b: LossAtoms, losses: Array) -> float:
    largest = max(a.size, b.size, abs(float(losses[0])), abs(float(losses[-1])))
    return a.wrong + b.wrong + 64 * _UNIT * largest


def _losses_of_cells(starts: Array, sums: _Sums, rounding: float) -> Array:
    """Return the loss of each cell that is used, between its start and the next one's."""
    used = sums.masses > 0
    share = sums.less[used] / sums.masses[used] * (1 - rounding)
    # Of masses that underflow, shares may be anything: their losses must not go beyond others'.
    ends = np.append(starts[1:], math.inf)[used]
    losses: Array = np.minimum(starts[used] - np.log1p(-share), ends)
    return losses


def _merged(a: LossAtoms, b: LossAtoms, grid: Array) -> _Sums:
    return _Sums(*core.merged_product(a.losses, a.masses, b.losses, b.masses, grid), 0.0, 0.0)


# --- rare sums on fewer points


def _in_parts(
    product: Callable[[LossAtoms, LossAtoms, Array], _Sums],
    a: LossAtoms,
    b: LossAtoms,
    grid: Array,
    coarser: Callable[[LossAtoms, int], LossAtoms],
) -> _Sums:
    """Return the sums, those of two rare losses on points that are farther from each other."""
    is_square = a is b
    cut, times = _cut(a, b)
    if times == 1:
        return product(a, b, grid)
    (frequent_a, rare_a), (frequent_b, rare_b) = (_parted(one, cut) for one in (a, b))
    if is_square:  # H H + 2 H R + R R
        rest = coarser(rare_a, times)
        twice = replace(a, masses=np.where(np.abs(a.losses) > cut, 2.0, 1.0) * a.masses)
        found = [product(frequent_a, twice, grid), product(rest, rest, grid)]
    else:
        found = [
            product(frequent_a, b, grid),
            product(rare_a, frequent_b, grid),
            product(coarser(rare_a, times), coarser(rare_b, times), grid),
        ]
    return _Sums(*(sum(each[1:], each[0]) for each in zip(*found, strict=True)))


def _cut(a: LossAtoms, b: LossAtoms) -> tuple[float, int]:
    """Return up to where losses are frequent, and how much coarser the rest of sums may be."""
    whole = float(a.losses.size) * float(b.losses.size)
    best = whole, math.inf, 1
    for cut in np.quantile(np.abs(a.losses), _CUTS).tolist():
        rare = max(_mass_beyond(one, cut) for one in (a, b))
        times = min(math.sqrt(_COARSER / max(rare, 1e-300)), _COARSEST)
        if times < 2:
            break
        left = [float((np.abs(one.losses) <= cut).sum()) for one in (a, b)]
        if not all(0 < count < one.losses.size for count, one in zip(left, (a, b), strict=True)):
            continue
        work = left[0] * b.losses.size + left[1] * a.losses.size * (a is not b)
        work += whole / int(times) ** 2
        if work < best[0]:
            best = work, cut, int(times)
    return best[1:]


def _mass_beyond(one: LossAtoms, cut: float) -> float:
    return float(one.masses[np.abs(one.losses) > cut].sum())


def _parted(one: LossAtoms, cut: float) -> tuple[LossAtoms, LossAtoms]:
    near = np.abs(one.losses) <= cut
    frequent, rare = (
        replace(one, losses=one.losses[part], masses=one.masses[part]) for part in (near, ~near)
    )
    return frequent, rare


_NONE = LossAtoms(0.0, np.zeros(1), np.ones(1), 0.0, 0.0)


def _split_coarser(one: LossAtoms, times: int) -> LossAtoms:
    grid = np.append(one.losses[:-1:times], one.losses[-1])
    masses, _, _ = core.split_product(one.losses, one.masses, _NONE.losses, _NONE.masses, grid)
    return replace(one, losses=grid, masses=masses)


def _merged_coarser(one: LossAtoms, times: int) -> LossAtoms:
    grid = one.losses[::times]
    sums = _merged(one, _NONE, grid)
    losses = _losses_of_cells(grid, sums, _rounding(one, _NONE))
    return replace(one, losses=losses, masses=sums.masses[sums.masses > 0])
