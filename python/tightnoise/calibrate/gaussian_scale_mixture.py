"""Gaussian mixtures of several widths, by a search whose result is certified."""

from __future__ import annotations

import math

import numpy as np
from numpy import random  # now: NumPy loads it when first used

from tightnoise._validate import integer, one_of, positive
from tightnoise.calibrate._loss import LOSSES, loss_of
from tightnoise.calibrate._mixture_search import Goal, Mixture, improved, loss_and_slopes
from tightnoise.calibrate.multi_gaussian import multi_gaussian
from tightnoise.mechanisms import GaussianScaleMixture, MultiGaussianMixture

__all__ = ["gaussian_scale_mixture"]

_MOST_COMPONENTS = 8
_MOST_EFFORT = 20
_MOST_MODES_TO_VARY = 4  # beyond, the weight of the outermost component hardly matters
# Peaks become so narrow beyond that a certificate, which looks at shifts closer than they are wide,
# takes minutes.
_LARGEST_EPSILON = 12.0
_LARGEST_DELTA = 0.5
# By how much noise is made wider, relatively, until its certificate accepts it.
_WIDER = (0.0, 1e-10, 1e-8, 1e-6, 1e-5, 3e-5, 1e-4, 2e-4, 4e-4, 1e-3, 2e-3, 5e-3, 1e-2, 0.1)
_SEED = 20260522  # of the starts beyond the first: the same search every time

# The least loss at epsilon from 3 to 10 has this shape, whatever delta: a narrow peak at 0 and at
# each sensitivity, and broad bases between. Rows: location, a and b of log weight = a - b epsilon
# beside the first, sigma (of the first: see `_template`).
_TEMPLATE = np.array([
    [0.00, 0.0, 0.00, 0.000],
    [0.42, 0.0, 0.52, 0.280],
    [0.83, -1.3, 0.50, 0.135],
    [1.75, 0.7, 1.60, 0.300],
    [1.00, -2.0, 0.52, 0.090],
    [2.70, 0.0, 2.30, 0.400],
    [1.90, 0.0, 1.60, 0.150],
    [3.70, 0.0, 3.20, 0.500],
])  # fmt: skip


def gaussian_scale_mixture(
    epsilon: float,
    delta: float,
    sensitivity: float,
    *,
    loss: str = "l1",
    components: int = 6,
    effort: int = 2,
) -> GaussianScaleMixture | MultiGaussianMixture:
    """Return Gaussian noise of several places and widths that is (epsilon, delta)-DP.

    A search from `multi_gaussian` and from a shape that is known to be good: all locations, weights
    and sigmas are free. It ends at a local optimum, of which nothing is claimed but this: its loss
    is less than that of the best `multi_gaussian`; or else that is the answer. In either case
    ``noise.delta(epsilon, sensitivity)``, which is proven, is at most delta. The same arguments
    always give the same noise.

    What is to be had (sensitivity 1, delta 1e-6; the loss of `multi_gaussian` first): at epsilon =
    10, l1 0.1475 -> 0.0083 and l2 0.0342 -> 0.0012; at 5, 0.2000 -> 0.095 and 0.0698 -> 0.036; at
    4, 0.2325 -> 0.156. From epsilon = 2 down it is next to nothing, except at delta of 0.1 and
    above: 7 % of l1 and 15 % of l2 at epsilon = 1. Above epsilon = 12, or delta = 0.5, nothing is
    searched for, as certificates would take minutes, and the answer is that of `multi_gaussian`.

    Parameters
    ----------
    epsilon : float
        The privacy loss that is tolerated, greater than 0.
    delta : float
        The probability of more, between 0 and 1, exclusive.
    sensitivity : float
        How far one person can move the value, greater than 0. The value is one number: for vectors
        see `tightnoise.mechanisms.AdditiveNoise`.
    loss : {"l1", "l2"}
        What to make small: the mean of abs(noise), or its variance.
    components : int
        Locations that are searched for, each with a weight and a sigma, from 2 to 8.
    effort : int
        Starting points to try, from 1 to 20. Each takes about a second.

    Returns
    -------
    GaussianScaleMixture or MultiGaussianMixture
        The latter where the search found nothing better than `multi_gaussian`.

    Raises
    ------
    CalibrationError
        As `multi_gaussian`.
    ValueError, TypeError
        For numbers that are not finite or out of range, or an unknown loss.

    Examples
    --------
    >>> import tightnoise as tn
    >>> noise = tn.calibrate.gaussian_scale_mixture(6.0, 1e-6, 1.0, effort=1)
    >>> noise.delta(6.0, 1.0) <= 1e-6
    True
    >>> lattice = tn.calibrate.multi_gaussian(6.0, 1e-6, 1.0)
    >>> noise.mean_abs() < 0.4 * lattice.mean_abs()
    True
    """
    one_of("loss", loss, LOSSES)
    scale = positive("sensitivity", sensitivity)
    pairs = integer("components", components, minimum=2, maximum=_MOST_COMPONENTS)
    starts = integer("effort", effort, minimum=1, maximum=_MOST_EFFORT)
    lattice = multi_gaussian(epsilon, delta, scale, loss=loss)
    goal = Goal(float(epsilon), float(delta), loss)
    found = [improved(start, goal) for start in _starts(lattice, goal, pairs, starts)]
    better = [mixture for mixture in found if mixture is not None]
    for candidate in sorted(better, key=lambda mixture: loss_and_slopes(mixture, loss)[0]):
        noise = _certified(candidate, goal, scale)
        if noise is not None and loss_of(noise, loss) < loss_of(lattice, loss):
            return noise
    return lattice


def _starts(lattice: MultiGaussianMixture, goal: Goal, pairs: int, count: int) -> list[Mixture]:
    if goal.epsilon > _LARGEST_EPSILON or goal.delta > _LARGEST_DELTA:
        return []
    starts = [_template(goal, pairs)]
    if lattice.modes <= _MOST_MODES_TO_VARY:
        starts.append(_pairs_of(lattice))
    rng = random.default_rng(_SEED)
    while len(starts) < count:
        like = starts[0]
        noise = np.exp(rng.normal(scale=0.3, size=(3, pairs)))
        weights = like.weights * noise[1]
        starts.append(
            Mixture(like.locations * noise[0], weights / weights.sum(), like.sigmas * noise[2])
        )
    return starts[:count]


def _template(goal: Goal, pairs: int) -> Mixture:
    location, level, fall, sigma = _TEMPLATE[:pairs].T.copy()
    # The width of the peak falls with epsilon as that of the optimal staircase.
    epsilon = goal.epsilon
    sigma[0] = 0.65 * math.exp(-epsilon / 2) if goal.loss == "l1" else 0.5 * math.exp(-epsilon / 3)
    weights = np.exp(level - fall * epsilon)
    return Mixture(location, weights / weights.sum(), sigma)


def _pairs_of(lattice: MultiGaussianMixture) -> Mixture:
    """Return the same law as pairs of Gaussians, in units of the sensitivity."""
    locations = np.arange(lattice.modes + 1.0)
    weights = np.where(locations > 0, 2.0, 1.0) * np.exp(-lattice.epsilon * locations)
    weights = np.maximum(weights, np.finfo(np.float64).tiny)  # some may underflow
    sigmas = np.full(locations.size, lattice.sigma / lattice.sensitivity)
    return Mixture(locations, weights / weights.sum(), sigmas)


def _certified(mixture: Mixture, goal: Goal, scale: float) -> GaussianScaleMixture | None:
    """Return the noise, as much wider as its certificate asks for; None if that is too much."""
    locations = np.abs(mixture.locations) * scale
    sigmas = mixture.sigmas * scale
    weights = mixture.weights / math.fsum(mixture.weights)
    for wider in _WIDER:
        noise = GaussianScaleMixture(
            locations.tolist(), weights.tolist(), (sigmas * (1.0 + wider)).tolist()
        )
        # A refusal is soon found; what `delta` gives is the proof that users can repeat.
        holds, *_ = noise._law.certify_at_most(goal.epsilon, scale, goal.delta)
        if holds and noise.delta(goal.epsilon, scale) <= goal.delta:
            return noise
    return None
