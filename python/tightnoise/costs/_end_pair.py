"""The pair of an end of a domain and a change away: in cells, as a pair that it dominates.

Which two true values of noise with bounds have the largest delta depends on epsilon, and in which
order. No pair has that profile in both directions, and compositions of one pair cost less. What is
composed from below is therefore one pair: a value at an end, and one that is `shift` away from it.
Merging outputs to cells is post-processing.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from tightnoise import special
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._leaf import Attained
from tightnoise.costs._release_profile import release_profile

__all__ = ["end_pair"]

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_CELLS = (2_000, 500, 100, 20)  # fewer where a change is small beside the interval
_MOST_ERROR = 1e-9  # of a probability: narrower cells, or losses that are larger, are not known


@functools.lru_cache(maxsize=64)
def end_pair(law: str, width: float, shift: float) -> Attained | None:
    """Return the profiles, in units of the scale; None where they are not known so well.

    The errors of edges count by the cells' width, and those of a density by its exponent. Of a
    probability p that is wrong by a part r, and a loss by 2 r, (p - t q)^+ is by r and 2 r t q, and
    t Q(L > log t) <= 1.
    """
    for cells in _CELLS:
        inner = shift / cells * np.arange(cells)
        edges = np.unique(np.append(inner, np.linspace(shift, width, cells + 1)))
        narrowest = float(np.diff(edges).min())
        error = 32 * _UNIT * (1 + width) ** 2 * (1 + width / narrowest)
        if error <= _MOST_ERROR:
            break
    else:
        return None
    here, there = (_LAWS[law](edges, value) for value in (0.0, shift))
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

    def profile(epsilons: Array) -> tuple[Array, Array]:
        return release_profile(release, epsilons)

    rounding = 4 * _UNIT * (edges.size + 16)
    return Attained(profile, Excess(2 * error + rounding, absolute=4 * error), is_symmetric=False)


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
