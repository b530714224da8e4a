"""The sum of losses of some releases as atoms, from both sides: by positive numbers alone.

Where losses have few sums, each is told (`_few_sums`). Else they lie on a lattice and are convolved
as they are, without a transform, which would round off a part of the largest mass. Above, those
between two multiples of the spacing are split into both. Below, they are told by the number next to
them, and what P and Q give to the sum of numbers is convolved apart, as in `_losses_below`: it has
the loss log P/Q.

**Rounding.** A mass of a convolution is a sum of at most as many terms as the shorter list has: so
many u of it, with what the terms have by themselves.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._atom_laws import Refinement
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._few_sums import few_sums
from tightnoise.costs._lattice import DiscreteLosses
from tightnoise.costs._lattice_bounds import Laws, laws_on_lattice
from tightnoise.costs._leaf import Terms
from tightnoise.costs._losses_below import infinite_below

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_PLACES = 8_000  # on the lattice
_LOST = 1e-300
_FEW_SUMS = 2.0**-43  # relative: what masses of few sums are off by, at most


class Sum(NamedTuple):
    """Finite losses with their probabilities, wrong by so much and by such a part, and infinite."""

    losses: Array
    masses: Array
    infinite: float
    wrong: float
    rounding: float


class BothSides(NamedTuple):
    """The sum of losses in one direction, dominating it and dominated by it."""

    above: Sum
    below: Sum


_NOTHING = Sum(np.zeros(1), np.ones(1), 0.0, 0.0, 0.0)


@functools.lru_cache(maxsize=4)
def sums_of(terms: Terms, span: float) -> tuple[BothSides, ...] | None:
    """Return the sum of losses of at most `span` in size, in both directions; None if not known."""
    if not terms:
        return (BothSides(_NOTHING, _NOTHING),) * 2
    few = few_sums(terms)
    if few is not None:
        told = [
            BothSides(*(Sum(one.losses, one.masses, one.infinite, 0.0, _FEW_SUMS) for one in both))
            for both in few.ways
        ]
        return told[0], told[-1]
    wanted = 2 * span / _PLACES
    laid = laws_on_lattice(terms, wanted, 0.5 * wanted, Refinement((1.0,), _PLACES))
    if laid is None:
        return None
    return tuple(_on_lattice(laid.laws, laid.spacing, way) for way in (0, 1))


def _on_lattice(laws: Laws, h: float, way: int) -> BothSides:
    aboves = [(above.swapped if way else above, n) for above, _, n in laws]
    belows = [(below[way], n) for _, below, n in laws]
    up = _convolved([(_split(one, h), n) for one, n in aboves])
    p = _convolved([(_placed(one, h, 0.0), n) for one, n in belows])
    q = _convolved([(_placed(one, h, 1.0), n) for one, n in belows])
    used = (p.masses > 0) & (q.masses > _LOST)  # less has lost digits: losses would be too large
    losses = np.log(p.masses[used]) - np.log(q.masses[used])
    # Q's probability of each may be more, and so the loss less.
    wrong = p.rounding + q.rounding + 4 * _UNIT * (1 + float(np.abs(losses).max()))
    wrong += 4 * _UNIT * float(np.abs(np.log(p.masses[used])).max())
    releases, counts = zip(*aboves, strict=True)
    infinite = DiscreteLosses(releases, counts).infinite
    return BothSides(
        Sum(up.losses(h), up.masses, infinite, 0.0, up.rounding),
        Sum(losses, p.masses[used], infinite_below(belows), wrong, p.rounding),
    )


class _Masses(NamedTuple):
    """Masses at the multiples of a spacing from the first on, of which a part is rounded off."""

    first: int
    masses: Array
    rounding: float

    def losses(self, h: float) -> Array:
        """Return where they are."""
        return h * np.arange(self.first, self.first + self.masses.size, dtype=np.float64)

    def and_(self, other: _Masses) -> _Masses:
        """Return those of sums."""
        terms = min(self.masses.size, other.masses.size)
        return _Masses(
            self.first + other.first,
            np.convolve(self.masses, other.masses),
            self.rounding + other.rounding + _UNIT * (terms + 8),
        )


def _convolved(parts: list[tuple[_Masses, int]]) -> _Masses:
    whole: _Masses | None = None
    for one, count in parts:
        while count:
            if count & 1:
                whole = one if whole is None else whole.and_(one)
            count >>= 1
            if count:
                one = one.and_(one)
    assert whole is not None
    return whole


def _split(release: Release, h: float) -> _Masses:
    """Return losses between multiples as both, with the same P and Q."""
    first = math.floor(release.values[0] / h)
    places = h * np.arange(first, math.ceil(release.values[-1] / h) + 2, dtype=np.float64)
    nothing = np.zeros(1), np.ones(1)
    masses, _, _ = core.split_product(release.values, np.exp(release.log_mass), *nothing, places)
    return _Masses(first, masses, _UNIT * (release.values.size + 64))


def _placed(release: Release, h: float, swapped: float) -> _Masses:
    """Return what P (0), or Q (1), gives to the number next to a loss, in units of h."""
    places = np.rint(release.values / h).astype(np.int64)
    exponents = release.log_mass - swapped * release.values
    masses: Array = np.bincount(places - places[0], np.exp(exponents)).astype(np.float64)
    rounding = _UNIT * (release.values.size + 16 + 2 * float(np.abs(exponents).max()))
    return _Masses(int(places[0]), masses, rounding)
