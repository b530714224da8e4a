"""What attackers get: trade-off curves and areas under ROC curves, from privacy profiles.

A test with false-positive rate a and power b has b <= e^x a + delta(x) for every x, in both
directions (Wasserman and Zhou 2010; Dong, Roth and Su 2022, Proposition 6). So its false-negative
rate is at least

    f(a) = max over x >= 0 of max(1 - delta(x) - e^x a, e^-x (1 - delta(x) - a)),

and any x gives a valid bound: few enough points are as sound as many.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._answers import least
from tightnoise.costs._exact import composition_of
from tightnoise.costs._gaussian_pair import GaussianPair
from tightnoise.costs._release_profile import release_profile
from tightnoise.costs._sampled import Terms, composed_of, merged_gaussians
from tightnoise.special import ndtr, ndtri

__all__ = ["auc_upper", "false_negative_rate_lower"]

Array = NDArray[np.float64]

_ROUNDING = 2.0**-48
_MIDPOINTS = 20_000
_POINTS, _FAR = 400, 1e-12  # of an exact profile: how many, and delta at the last


def false_negative_rate_lower(terms: Terms, rates: Array) -> Array:
    """Return f at these rates, rounded down."""
    if not terms:
        return 1.0 - rates
    merged = merged_gaussians(terms)
    if len(merged) == 1 and isinstance(merged[0][0], GaussianPair):
        return _of_gaussian(merged[0][0].gdp_mu, rates)
    epsilons, deltas = _profile(terms)
    best = np.zeros(rates.size)
    flat = rates.ravel()
    with np.errstate(over="ignore", under="ignore"):
        grown, shrunk = np.exp(epsilons), np.exp(-epsilons)
    for x, y, rest in zip(grown.tolist(), shrunk.tolist(), (1 - deltas).tolist(), strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            np.maximum(best, np.where(flat > 0, rest - x * flat, rest), out=best)
        np.maximum(best, y * (rest - flat), out=best)
    return np.asarray(np.maximum(best - _ROUNDING, 0.0)).reshape(rates.shape)


def _of_gaussian(mu: float, rates: Array) -> Array:
    """Return Phi(Phi^-1(1 - a) - mu); far out, what the argument is rounded by counts."""
    with np.errstate(divide="ignore"):
        quantile = -np.asarray(ndtri(rates))
    far = np.where(np.isfinite(quantile), np.abs(quantile), 0.0)
    argument = quantile - mu - 2.0**-46 * (far + mu)
    return np.asarray(np.maximum(np.asarray(ndtr(argument)) * (1 - _ROUNDING) - 1e-300, 0.0))


@functools.lru_cache(maxsize=16)
def _profile(terms: Terms) -> tuple[Array, Array]:
    """Return points of the profile, the larger of both directions."""
    exact = composition_of(terms)
    if exact is not None:
        far = exact.epsilon(_FAR).upper
        if far < math.inf:
            points = far * np.linspace(0.0, 1.0, _POINTS) ** 2  # most where most losses are
            return points, exact.deltas(points)
    release = composed_of(terms)
    if release is None:
        pure = least("epsilon", terms, 0.0)[1].bound
        points = np.append(np.linspace(0.0, 20.0, 81), [pure] if pure < math.inf else [])
        return points, np.array([least("delta", terms, x)[1].bound for x in points.tolist()])
    epsilons = np.concatenate([[0.0], release.values[release.values > 0]])
    if epsilons.size > 1000:
        epsilons = epsilons[np.linspace(0, epsilons.size - 1, 1000).astype(int)]
    return epsilons, np.maximum(*release_profile(release, epsilons))


def auc_upper(terms: Terms) -> float:
    """Return 1 less the integral of f: by midpoints, which are below that of a convex function."""
    merged = merged_gaussians(terms)
    if not terms:
        return 0.5
    if len(merged) == 1 and isinstance(merged[0][0], GaussianPair):
        return float(ndtr(merged[0][0].gdp_mu / math.sqrt(2.0))) * (1 + _ROUNDING)
    rates = (np.arange(_MIDPOINTS) + 0.5) / _MIDPOINTS
    return min(1.0, 1.0 - float(np.mean(false_negative_rate_lower(terms, rates))) + _ROUNDING)
