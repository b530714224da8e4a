"""Noise on directions for a budget."""

from __future__ import annotations

import math

from tightnoise._validate import positive
from tightnoise.calibrate._budget import NOTHING, budget_of, settled
from tightnoise.calibrate._parameter import least_noise
from tightnoise.calibrate._scalar import gaussian
from tightnoise.costs import Cost
from tightnoise.mechanisms import VonMisesFisher

_LEAST, _LARGEST = 1e-100, 1e100  # kappa


def von_mises_fisher(
    epsilon: float,
    delta: float = 0.0,
    *,
    dim: int,
    angle: float = math.pi,
    count: int = 1,
    beside: Cost = NOTHING,
) -> VonMisesFisher:
    """Return the von Mises-Fisher noise of the largest kappa that is (epsilon, delta)-DP.

    For `LiftedVonMisesFisher` pass ``dim + 1`` and ``angle=lifted.max_angle(sensitivity)``, which
    does not depend on kappa; for releases of random samples `parameter` finds 1/kappa.

    Parameters
    ----------
    epsilon : float
        The privacy loss that is tolerated, greater than 0.
    delta : float
        The probability of more, at least 0 and less than 1.
    dim : int
        Number of coordinates, from 2 to 2**53.
    angle : float
        The largest angle between the true directions of neighbours, greater than 0 and at most pi,
        which also covers vectors of zeros.
    count, beside
        As for `gaussian`.

    Returns
    -------
    VonMisesFisher
        Epsilon is at most the target, and at most 1e-9 of it below (a little more where the search
        is long), unless kappa is 1e100.

    Raises
    ------
    CalibrationError
        If no kappa from 1e-100 on does, or what is beside costs too much by itself.
    ValueError, TypeError
        For numbers that are not finite or out of range.

    Examples
    --------
    >>> import tightnoise as tn
    >>> noise = tn.calibrate.von_mises_fisher(1.0, 1e-5, dim=13_700)
    >>> round(noise.kappa, 4)
    15.691
    >>> 1 - 1e-8 < noise.cost().epsilon(1e-5) <= 1
    True
    """
    budget = budget_of(epsilon, delta, count, beside, angle=positive("angle", angle))
    positive("epsilon", epsilon)
    unit = VonMisesFisher(1.0, dim)
    chord = unit.cost(**budget.bounds).epsilon(0.0)  # the largest loss is proportional to kappa
    if budget.delta == 0:
        kappa = min(budget.pure_share / chord, _LARGEST)
        return settled(lambda k: VonMisesFisher(k, unit.dim), kappa, budget, toward=0.0)
    # Two kappas that are nearly private: one whose greatest losses are small enough, and one that
    # Gaussian noise covers.
    near = budget.epsilon / budget.count / chord
    if unit.dim >= 4:
        noise = gaussian(budget.epsilon, budget.delta, sensitivity=1.0, count=budget.count)
        widest = float(noise.sigma) * chord
        near = max(near, math.sqrt(unit.dim - 3.0) / widest) if widest > 0 else _LARGEST
    return least_noise(
        lambda inverse: VonMisesFisher(1.0 / inverse, unit.dim),
        budget,
        (1.0 / _LARGEST, 1.0 / _LEAST),
        1.0 / min(max(near, _LEAST), _LARGEST),
    )[0]
