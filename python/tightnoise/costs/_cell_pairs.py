"""One pair of neighbours, its outputs merged to cells: a pair that it dominates.

Which two true values of noise with bounds have the largest delta depends on epsilon, and in which
order. No pair has that profile in both directions, and compositions of one pair cost less. What is
composed from below is therefore one pair: a value at an end and one that is `shift` away from it,
or two such values further in, up to the middle, whichever have the largest moments. Merging outputs
to cells is post-processing, and what compositions of any pair cost, those of all together cost at
least.

Of one of t Gaussian outputs, which one is drawn, that is moved by mu, the largest is told alone:

    P(max <= c) = Phi(c - mu) Phi(c)^(t-1),   Q(max <= c) = Phi(c)^t.

It is next to all that matters where mu is large, or t small.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from tightnoise import special
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._leaf import Attained

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_STARTS = np.exp2(np.arange(-7.0, 0.0))  # of all that is possible
_CELLS = (2_000, 500, 100, 20)  # fewer where a change is small beside the interval
_LEAST_TILT = 1e-4  # times the largest loss
_LARGEST_CELLS = 2_000  # of the largest of several outputs,
_DEEPEST, _HIGHEST = 60.0, 12.0  # from a probability of e^-60 up to so far beyond mu
_LEAST_LOG = -300.0  # of a cell's probability: others are left out
_MOST_ERROR = 1e-9  # of a probability: narrower cells, or losses that are larger, are not known


@functools.lru_cache(maxsize=64)
def pair_in_domain(law: str, width: float, shift: float, tilt: float) -> Attained | None:
    """Return the profiles, in units of the scale; None where they are not known so well."""
    if not width > 0:  # of the scale
        return None
    starts = dict.fromkeys([0.0, *((width - shift) * _STARTS).tolist()])
    found = [_cells(law, width, shift, start) for start in starts]
    pairs = [cells for cells in found if cells is not None]
    if not pairs:
        return None
    here, there, error = max(pairs, key=lambda cells: moment(cells[0], cells[1], tilt))
    return pair_of_cells(here, there, error)


@functools.lru_cache(maxsize=64)
def _cells(law: str, width: float, shift: float, start: float) -> tuple[Array, Array, float] | None:
    """Return logarithms of probabilities under both values, and to what part they are known.

    The errors of edges count by the cells' width, and those of a density by its exponent.
    """
    end = start + shift
    for cells in _CELLS:
        inner = start + shift / cells * np.arange(1.0, cells)
        before = start / cells * np.arange(cells)  # all 0 at the end of the domain
        edges = np.unique(np.concatenate([before, [start], inner, np.linspace(end, width, cells)]))
        narrowest = float(np.diff(edges).min())
        error = 32 * _UNIT * (1 + width) * (1 + width) * (1 + width / narrowest)
        if error <= _MOST_ERROR:
            return _LAWS[law](edges, start), _LAWS[law](edges, end), error
    return None


@functools.lru_cache(maxsize=32)
def pair_of_largest(mu: float, steps: int) -> Attained:
    """Return the profiles of the largest output, with P where one of so many is moved by mu.

    A cell is told by the upper end's probability and the part of it that the lower end has: that is
    (1 - r)^t, where r is the cell's share of one output. The logarithms are at most _DEEPEST.
    """
    lowest = float(special.ndtri(math.exp(-_DEEPEST / steps)))
    edges = np.linspace(lowest, max(mu, 0.0) + _HIGHEST, _LARGEST_CELLS)

    def log_share(places: Array) -> Array:  # of what is below an end, above the one before
        cells = special.log_ndtr_diff(places[:-1], places[1:]) - special.log_ndtr(places[1:])
        return np.asarray(np.log1p(-np.minimum(np.exp(cells), 1.0)))

    one, other = log_share(edges), log_share(edges - mu)

    def cells(first: Array, below: Array, kept: Array) -> Array:
        with np.errstate(divide="ignore"):
            inside = below + np.log(-np.expm1(kept))
            return np.concatenate([first, inside, np.log(-np.expm1(below[-1:]))])

    free = np.asarray(special.log_ndtr(edges))
    shifted = np.asarray(special.log_ndtr(edges - mu))
    with_it, without = shifted + (steps - 1) * free, steps * free
    here = cells(with_it[:1], with_it[1:], other + (steps - 1) * one)
    there = cells(without[:1], without[1:], steps * one)
    far = 1 + max(abs(lowest), float(edges[-1]) + mu)
    # Places are rounded, by which the share of a cell changes by its width and by its hazard.
    error = 64 * _UNIT * (far * (far + 1 / float(edges[1] - edges[0])) + _DEEPEST - _LEAST_LOG)
    known = (here > _LEAST_LOG) & (there > _LEAST_LOG)
    return pair_of_cells(here[known], there[known], error)


def moment(here: Array, there: Array, tilt: float) -> float:
    """Return about the logarithm of E e^(tilt L) over the tilt, in the worse order of the pair."""
    theta = max(tilt, _LEAST_TILT / float(np.abs(here - there).max(initial=1e-300)))
    ways = ((here, here - there), (there, there - here))
    return max(float(np.logaddexp.reduce(log_p + theta * loss)) / theta for log_p, loss in ways)


def pair_of_cells(here: Array, there: Array, error: float) -> Attained:
    """Return the profiles of P and Q from logarithms of what they give to cells, to such a part.

    Of a probability p that is wrong by a part r, and a loss by 2 r, (p - t q)^+ is by r and 2 r t
    q, and t Q(L > log t) <= 1.
    """
    values = here - there
    order = np.argsort(values)
    release = Release(
        values=values[order],
        log_mass=here[order],
        infinite=0.0,
        infinite_swapped=0.0,
        is_symmetric=False,
        grid=float(np.abs(values).max()),
    )

    # What a profile is raised by, for its sums and for each mass, and as much that they may be off.
    sizes = float(np.abs(here).max()) + float(np.abs(values).max())
    rounding = 16 * _UNIT * (here.size + 16) + 8 * _UNIT * (1 + sizes)
    excess = Excess(2 * error + rounding, absolute=4 * error)
    return Attained(release.profile, excess, is_symmetric=False)


def _truncated(edges: Array, value: float) -> Array:
    logs = special.log_ndtr_diff(edges[:-1] - value, edges[1:] - value)
    return np.asarray(logs - special.log_ndtr_diff(-value, edges[-1] - value))


def _rectified(edges: Array, value: float) -> Array:
    places = np.concatenate([[-np.inf], edges - value, [np.inf]])
    return np.asarray(special.log_ndtr_diff(places[:-1], places[1:]))


def _bounded_laplace(edges: Array, value: float) -> Array:
    """Return logarithms of probabilities; `value` is among the edges."""
    nearest = np.where(edges[:-1] >= value, edges[:-1] - value, value - edges[1:])
    logs = np.log(-np.expm1(-np.diff(edges))) - nearest
    whole = -np.expm1(-value) - np.expm1(value - edges[-1])
    return np.asarray(logs - np.log(whole))


_LAWS = {
    "truncated-gaussian": _truncated,
    "rectified-gaussian": _rectified,
    "bounded-laplace": _bounded_laplace,
}
