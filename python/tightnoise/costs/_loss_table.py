"""Losses that are given with their probabilities, checked."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import number_array, require, require_all
from tightnoise.costs._discrete_losses import Release

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_SUM = 1e-9  # probabilities may be off by so much in sum
_HIDDEN = 1e-12  # outputs that P never has: more than this is never taken for rounding
_INPUT = 16 * _UNIT  # losses and log-probabilities are rounded by the caller: a few units of each


def release_of_losses(losses: object, probabilities: object) -> Release:
    """Return the losses log(P/Q) of outputs with these probabilities under P.

    The other order of the two neighbours follows: Q has an output with the probability of P times
    exp(-loss). What is then missing to 1 are outputs that P never has. So little that it may come
    from rounding, some 1e-15 or, beside a probability of exp(-epsilon), up to 1e-12, is taken for
    none, as it would be an infinite loss.
    """
    losses = number_array("losses", losses)
    masses = number_array("probabilities", probabilities)
    if losses.ndim != 1 or losses.size == 0 or losses.shape != masses.shape:
        raise ValueError(
            "losses and probabilities must be lists of one length, 1 or more; "
            f"got shapes {losses.shape} and {masses.shape}"
        )
    require_all(losses > -np.inf, "losses", losses, "greater than -infinity")
    finite = losses < np.inf
    require_all(np.abs(losses[finite]) <= 1e100, "losses", losses[finite], "at most 1e100")
    require_all(masses > 0, "probabilities", masses, "greater than 0")
    total = float(masses.sum())
    require(abs(total - 1) <= _SUM, "probabilities", total, "1 in sum")
    with np.errstate(over="ignore", under="ignore"):
        other = np.exp(np.log(masses[finite]) - losses[finite])
    other_total = math.fsum(other.tolist())
    allowed = "log(P/Q), for which probabilities times exp(-losses) are up to 1 in sum"
    require(other_total <= 1 + _SUM, "losses", other_total, allowed)
    # Losses are rounded, and a probability that is 1 less the others is so to a unit of 1.
    noise = _INPUT * (1 + float(other @ np.abs(losses[finite])))
    with np.errstate(over="ignore"):
        noise += min(_HIDDEN, 2 * _UNIT * float(np.exp(-losses[finite]).sum()))
    infinite, missing = float(masses[~finite].sum()), 1 - other_total
    if missing <= noise:
        hidden = 0.0
    elif abs(missing - infinite) <= noise:
        hidden = infinite
    else:
        hidden = missing + noise
    return _release_of(losses[finite], masses[finite], infinite, hidden)


def _release_of(values: Array, masses: Array, infinite: float, infinite_swapped: float) -> Release:
    """Return the losses with these probabilities, not sorted."""
    if not values.size:
        values, masses = np.zeros(1), np.full(1, _UNIT)
    order = np.argsort(values)
    values, log_mass = values[order] + 0.0, np.log(masses[order])
    sizes = np.abs(values[values != 0])
    # Symmetric but for rounding: the larger of both masses dominates both.
    mirrored = (log_mass - values)[::-1]
    noise = _INPUT * (1 + np.abs(values))
    is_symmetric = (
        bool((values == -values[::-1]).all() and (np.abs(log_mass - mirrored) <= noise).all())
        and infinite == infinite_swapped
    )
    if is_symmetric:
        log_mass = np.maximum(log_mass, mirrored)
    return Release(
        values=values,
        log_mass=log_mass,
        infinite=min(infinite, 1.0),
        infinite_swapped=min(infinite_swapped, 1.0),
        is_symmetric=is_symmetric,
        grid=float(sizes.min()) if sizes.size else 0.0,
    )
