"""Third and fourth central moments of laws of one number, by quadrature."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._arrays import Floats
from tightnoise.mechanisms._coordinate_law import CoordinateLaw
from tightnoise.mechanisms._panels import gauss_legendre, mean_over_panels
from tightnoise.special import log_ndtr, log_ndtr_diff

Array = NDArray[np.float64]

_CHUNK = 2**10  # thetas at a time
_NEGLIGIBLE = 1e-30  # of what is beyond, the fourth power adds less than 1e-22
# Between these quantiles densities are polynomials to 1e-12, and they are as close as the law.
_SHARES = np.array([_NEGLIGIBLE, 1e-22, 1e-15, 1e-10, 1e-6, 1e-3, 0.03, 0.2, 0.5])


def fourth_moment_of_panels(noise: Any) -> float:
    """Return that of symmetric noise, whose density is a polynomial to 1e-13 in each panel."""
    return mean_over_panels(noise, _NEGLIGIBLE, lambda x, _: x**4)


def central_moments(law: CoordinateLaw, theta: Floats, mean: Array, order: int) -> Array:
    """Return the mean of (output - mean)^order, order 3 or 4, at each theta."""
    if law.name == "gaussian":
        variance = law.call("variance", theta.shape, theta)
        return np.asarray(3.0 * variance**2 if order == 4 else 0.0 * variance)
    if law.name in ("sign", "quantized"):
        return _of_letters(law, theta, mean, order)
    if law.name == "rectified":
        low, high = ((bound - theta) / law.scale for bound in (law.lower, law.upper))
        atoms = (np.exp(log_ndtr(low)), law.lower), (np.exp(log_ndtr(-high)), law.upper)
        between = dataclasses.replace(law, name="truncated")
        spread = np.exp(log_ndtr_diff(low, high)) * _of_density(between, theta, mean, order)
        return np.asarray(spread + sum(mass * (at - mean) ** order for mass, at in atoms))
    return _of_density(law, theta, mean, order)


def _of_letters(law: CoordinateLaw, theta: Floats, mean: Array, order: int) -> Array:
    letters = np.linspace(0.0, 1.0, law.levels).tolist()
    total = np.zeros(theta.shape)
    for letter in letters:
        if law.name == "sign":
            place = np.asarray(2.0 * letter - 1.0)
        else:
            place = np.asarray(law.lower + letter * (law.upper - law.lower))
        likely = np.exp(law.call("log_pdf", theta.shape, place, theta))
        total += likely * (place - mean) ** order
    return total


def _of_density(law: CoordinateLaw, theta: Floats, mean: Array, order: int) -> Array:
    def column(array: Floats) -> Array:
        return np.broadcast_to(array, theta.shape).astype(np.float64).reshape(-1, 1)

    values, centre = column(theta), column(mean)
    scale, lower, upper = (column(array) for array in (law.scale, law.lower, law.upper))
    found = np.empty(len(values))
    for begin in range(0, len(values), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        own = dataclasses.replace(law, scale=scale[part], lower=lower[part], upper=upper[part])
        found[part] = _of_rows(own, values[part], centre[part], order)
    return found.reshape(theta.shape)


def _of_rows(law: CoordinateLaw, theta: Array, centre: Array, order: int) -> Array:
    shape = (len(theta), _SHARES.size)
    ends = [law.call(f"{which}quantile", shape, _SHARES, theta) for which in ("", "upper_")]
    kink = np.clip(theta, law.lower, law.upper)  # of Laplace noise
    edges = np.sort(np.concatenate([*ends, kink], axis=1), axis=1)
    middle, half = 0.5 * (edges[:, 1:] + edges[:, :-1]), 0.5 * np.diff(edges, axis=1)
    nodes, weights = gauss_legendre()
    x = middle[..., np.newaxis] + half[..., np.newaxis] * nodes
    flat = np.ascontiguousarray(x.reshape(len(theta), -1))
    density = np.exp(law.call("log_pdf", flat.shape, flat, theta))
    powers = density * (flat - centre) ** order
    return np.asarray(np.einsum("nij,j,ni->n", powers.reshape(x.shape), weights, half))
