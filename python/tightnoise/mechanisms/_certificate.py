"""What additive noise of one number costs, and why no shift costs more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._validate import number_array, real_scalar, require, require_all

__all__ = ["Certificate", "Proof", "Tails", "delta_to_invert", "epsilon_and_sensitivity"]

Proof = Literal["unimodal", "semiconvex"]
Tails = Literal["gaussian", "exponential", "bounded"]


@dataclass(frozen=True)
class Certificate:
    """The privacy cost of additive noise at one epsilon, with the proof that it is one.

    Attributes
    ----------
    delta : float
        An upper bound of the hockey-stick divergence over all shifts from 0 to the sensitivity, at
        most a fraction 1e-9 above the greatest.
    worst_shift : float
        Where that is attained, or nearly.
    proof : {"unimodal", "semiconvex"}
        Why no other shift costs more. "unimodal": the density decreases on both sides of the
        centre, so that the divergence does not decrease with the shift. "semiconvex": log f + x^2 /
        (2 sigma^2) is convex, which bounds the divergence between two shifts by those at both; such
        pairs cover all shifts.

    Examples
    --------
    >>> import tightnoise as tn
    >>> certificate = tn.Laplace(scale=2.0).certificate(0.1, sensitivity=1.0)
    >>> round(certificate.delta, 6), certificate.worst_shift, certificate.proof
    (0.181269, 1.0, 'unimodal')
    """

    delta: float
    worst_shift: float
    proof: Proof


def epsilon_and_sensitivity(
    epsilon: ArrayLike, sensitivity: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both as arrays after checking them."""
    losses, shifts = number_array("epsilon", epsilon), number_array("sensitivity", sensitivity)
    for name, array in (("epsilon", losses), ("sensitivity", shifts)):
        require_all((array >= 0) & (array < np.inf), name, array, "at least 0 and finite")
    return losses, shifts


def delta_to_invert(delta: Any) -> float:
    """Return delta as a float after checking it."""
    number = real_scalar("delta", delta)
    require(0 <= number <= 1, "delta", delta, "between 0 and 1")
    return math.fabs(number)  # not -0.0
