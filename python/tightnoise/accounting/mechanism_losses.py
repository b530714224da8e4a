"""The privacy loss distribution of a mechanism, one function for each kind of them."""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import integer, positive, real_scalar, require
from tightnoise.costs._gaussian_profile import gaussian_delta, gaussian_epsilon
from tightnoise.costs._privacy_loss import PrivacyLossDistribution
from tightnoise.mechanisms import AdditiveNoise, Gaussian

__all__ = ["privacy_loss"]

Array = NDArray[np.float64]

_POINTS = 10_000
_MOST_POINTS = 2**18
_BEYOND = 1e-40  # the probability of losses beyond the lattice, which count as infinite
_LARGEST_LOSS = 1e60
_LARGEST_SEARCHED = 1000.0  # of noise with several modes, whose every delta is searched for
_SMALLEST_LOSS = 1e-100  # smaller ones are taken for this
_FAR = 1e300  # an epsilon at which delta is what no epsilon improves on
_REACHED = 1e-9  # relative: deltas are as close to the truth
_TOLERANCE = 1e-7  # relative: of deltas that only have to be as close as the lattice makes them


@functools.singledispatch
def privacy_loss(
    mechanism: Any, *, sensitivity: float = 1.0, points: int = _POINTS
) -> PrivacyLossDistribution:
    """Return the privacy loss of one release that holds for every data set, to be composed exactly.

    A mechanism of another package takes part by `privacy_loss.register(ItsClass)(function)`, where
    the function has this signature: `PrivacyLossDistribution.of_profile` makes the answer from the
    largest delta over all pairs of neighbours at each epsilon.

    Parameters
    ----------
    mechanism : Gaussian or AdditiveNoise
        - `Gaussian`: by its exact profile, `gaussian_delta`.
        - `AdditiveNoise` (Laplace, staircase, Gaussian mixtures and more): by the delta that
          `mechanism.certificate` proves for the worst shift, at each epsilon. (The largest of the
          curves of all shifts is a convex curve again, that of a pair that dominates all of them.)
    sensitivity : float
        The most that one record changes the value by, in Euclidean norm over all coordinates.
        `AdditiveNoise` adds noise to each number by itself: compose as many releases as there are
        numbers, of the sensitivity of each.
    points : int
        From 2 to 2**18: how many points the lattice of losses has up to the largest one, or to the
        one that is exceeded with probability 1e-40. Where losses spread as a Gaussian's, up to
        mu = 10, the relative error of epsilon is below 100/points^2; a single release of noise
        whose profile bends sharply has a larger one, 2e-5 for a multi-Gaussian mixture (of one
        release, `mechanism.epsilon_at` is exact).

    Returns
    -------
    PrivacyLossDistribution

    Raises
    ------
    ValueError
        For a sensitivity that is not positive and finite, or so large that privacy losses mean
        nothing (above 1e60, or above 1000 for noise with several modes), too few or too many
        points, a sigma for each coordinate.
    TypeError
        For a mechanism that is of neither kind.

    Examples
    --------
    >>> import tightnoise as tn
    >>> once = tn.accounting.privacy_loss(tn.Gaussian(2.0), sensitivity=0.5)
    >>> round((once * 64).epsilon(1e-6), 3)
    10.997
    >>> round(tn.accounting.gaussian_epsilon(1e-6, 8 * 0.5 / 2.0), 3)
    10.997
    """
    name = type(mechanism).__name__
    raise TypeError(f"mechanism must be a Gaussian or AdditiveNoise; got {name}")


@privacy_loss.register(Gaussian)
def _of_gaussian(
    mechanism: Gaussian, *, sensitivity: float = 1.0, points: int = _POINTS
) -> PrivacyLossDistribution:
    if np.ndim(mechanism.sigma):
        raise ValueError("sigma must be one number to be composed; got an array")
    shift = positive("sensitivity", sensitivity)
    sigma = real_scalar("sigma", mechanism.sigma)
    mu = max(math.nextafter(shift / sigma, math.inf), sys.float_info.min)  # less noise loses more
    largest = max(gaussian_epsilon(_BEYOND, mu), _SMALLEST_LOSS)
    spacing, epsilons = _lattice(largest, points, shift)
    return PrivacyLossDistribution.of_profile(spacing, np.asarray(gaussian_delta(epsilons, mu)))


@privacy_loss.register(AdditiveNoise)
def _of_additive_noise(
    mechanism: AdditiveNoise, *, sensitivity: float = 1.0, points: int = _POINTS
) -> PrivacyLossDistribution:
    shift = positive("sensitivity", sensitivity)
    # Where noise repeats itself every `sensitivity` times exp(-epsilon), its profile bends at
    # multiples of that epsilon: chords between points of the lattice must not cut the corners.
    bend = getattr(mechanism, "epsilon", math.inf)
    if mechanism.certificate(1.0, shift).proof != "unimodal":
        far = float(mechanism.hockey_stick(0.0, shift, _LARGEST_SEARCHED))
        allowed = f"such that no privacy loss is above {_LARGEST_SEARCHED:g} for such noise"
        require(far <= _BEYOND, "sensitivity", sensitivity, allowed)
    largest = max(_largest_loss(mechanism, shift), _SMALLEST_LOSS)
    spacing, epsilons = _lattice(largest, points, shift, bend)
    delta = np.empty_like(epsilons)
    mechanism._law.worst_shift_curve(shift, epsilons, _TOLERANCE, delta)
    return PrivacyLossDistribution.of_profile(spacing, np.minimum(delta, 1.0))


def _largest_loss(mechanism: AdditiveNoise, sensitivity: float) -> float:
    """Return the epsilon from which on delta is as good as constant."""
    disjoint = float(mechanism.delta(_FAR, sensitivity))
    if disjoint > _BEYOND:
        return mechanism.epsilon_at(min(1.0, disjoint * (1 + _REACHED)), sensitivity)
    pure = mechanism.epsilon_at(0.0, sensitivity)
    return pure if pure < math.inf else mechanism.epsilon_at(_BEYOND, sensitivity)


def _lattice(
    largest: float, points: int, sensitivity: float, bend: float = math.inf
) -> tuple[float, Array]:
    """Return the spacing and the points of a lattice up to there, `bend` among them if it can be.

    For that the lattice has up to twice the points.
    """
    n = integer("points", points, minimum=2, maximum=_MOST_POINTS)
    allowed = f"such that no privacy loss is above {_LARGEST_LOSS:g}"
    require(largest <= _LARGEST_LOSS, "sensitivity", sensitivity, allowed)
    # The last point is not below the largest loss; without any loss, a lattice needs a spacing.
    spacing = max(largest / (n - 1) * (1 + 2**-51), sys.float_info.min)
    if spacing < bend <= largest:
        spacing = bend / math.ceil(bend / spacing)
        n = math.ceil(largest / spacing * (1 + 2**-51)) + 1
    return spacing, spacing * np.arange(n, dtype=np.float64)
