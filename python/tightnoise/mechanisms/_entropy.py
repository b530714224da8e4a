"""Entropies, means of the negative log density, of laws that have no closed form at hand."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._arrays import Floats
from tightnoise.mechanisms._coordinate_law import CoordinateLaw
from tightnoise.mechanisms._panels import gauss_legendre, mean_over_panels
from tightnoise.special import log_ndtr, log_ndtr_diff

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-25  # what is beyond adds less than 1e-22


def entropy_of_panels(noise: Any) -> float:
    """Return that of symmetric noise, whose density is a polynomial to 1e-13 in each panel."""
    return mean_over_panels(noise, _NEGLIGIBLE, lambda _, log_density: -log_density)


def entropy(law: CoordinateLaw, theta: Floats) -> Array:
    """Return the entropy of the output at each theta, of shape theta."""
    return _OF[law.name](law, theta)


def _gaussian(law: CoordinateLaw, theta: Floats) -> Array:
    each = 0.5 * math.log(2.0 * math.pi * math.e) + np.log(law.scale)
    return np.broadcast_to(each, theta.shape).copy()


def _truncated(law: CoordinateLaw, theta: Floats) -> Array:
    """-log f(mean) + variance/(2 sigma^2): log f is a parabola of that bend."""
    mean = np.asarray(np.clip(law.call("mean", theta.shape, theta), law.lower, law.upper))
    variance = law.call("variance", theta.shape, theta)
    at_mean = law.call("log_pdf", theta.shape, mean, theta)
    return np.asarray(0.5 * variance / law.scale / law.scale - at_mean)


def _bounded_laplace(law: CoordinateLaw, theta: Floats) -> Array:
    """-log f(mode) + E|x - mode|/scale, the mode being theta or the bound next to it."""
    mode = np.asarray(np.clip(theta.astype(np.float64), law.lower, law.upper))
    ends = [np.asarray((mode - law.lower) / law.scale), np.asarray((law.upper - mode) / law.scale)]
    mass = sum(-np.expm1(-end) for end in ends)
    moment = sum(_first_moment(end) for end in ends)
    return np.asarray(moment / mass - law.call("log_pdf", theta.shape, mode, theta))


def _first_moment(end: Array) -> Array:
    """Return the integral of x e^-x from 0 to `end`, of positive terms where it is short."""
    near = np.minimum(end, 4.0)
    nodes, weights = gauss_legendre()
    x = 0.5 * near[..., np.newaxis] * (1.0 + nodes)
    short = 0.5 * near * ((x * np.exp(-x)) @ weights)
    far = np.maximum(end, 4.0)
    return np.where(end <= 4.0, short, -np.expm1(-far) - far * np.exp(-far))


def _rectified(law: CoordinateLaw, theta: Floats) -> Array:
    """Those of the atoms, and of the truncated law on the share that is between them."""
    low, high = ((bound - theta) / law.scale for bound in (law.lower, law.upper))
    atoms = [np.asarray(log_ndtr(low)), np.asarray(log_ndtr(-high))]
    inside = np.asarray(log_ndtr_diff(low, high))
    between = _truncated(dataclasses.replace(law, name="truncated"), theta)
    with np.errstate(invalid="ignore"):  # of 0 times infinity
        spread = np.where(inside > -math.inf, np.exp(inside) * (between - inside), 0.0)
    return np.asarray(spread + sum(_surprise(atom) for atom in atoms))


def _letters(law: CoordinateLaw, theta: Floats) -> Array:
    letters = [-1.0, 1.0]
    if law.name == "quantized":
        letters = np.linspace(0.0, 1.0, law.levels).tolist()
    total = np.zeros(theta.shape)
    for letter in letters:
        place = letter if law.name == "sign" else law.lower + letter * (law.upper - law.lower)
        total += _surprise(law.call("log_pdf", theta.shape, np.asarray(place), theta))
    return total


def _surprise(log_probability: Array) -> Array:
    with np.errstate(invalid="ignore"):
        term = -np.exp(log_probability) * log_probability
    return np.where(log_probability > -math.inf, term, 0.0)


_OF = {
    "gaussian": _gaussian,
    "truncated": _truncated,
    "bounded_laplace": _bounded_laplace,
    "rectified": _rectified,
    "quantized": _letters,
    "sign": _letters,
}
