"""How a law ends and where its tail is smooth: panels, from 0 outwards, and sums over them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.polynomial import legendre  # now: NumPy loads it when first used
from numpy.typing import NDArray

Array = NDArray[np.float64]
Tails = Literal["gaussian", "exponential", "bounded"]

ONE_BY_ONE = 32
"""As many points of a panel, or fewer, are added up."""
_NODES = 16
_CHUNK = 2**14  # panels at a time
_OFFSETS = np.arange(-10.0, 11.0)  # of a Gaussian nothing is left beyond, to 1e-23


@functools.cache
def gauss_legendre(count: int = _NODES) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss's rule from -1 to 1."""
    return legendre.leggauss(count)


def exponential(scale: float, end: float) -> Array:
    """Return the edges for exp(-|x|/scale), up to `end`: at most 64, for beyond nothing is left."""
    width = 2.0 * scale
    return up_to(width * np.arange(min(end / width, 64.0)), end)


def up_to(edges: NDArray[Any], end: float) -> Array:
    """Return the edges between 0 and `end`, increasing, with both."""
    inside = edges[(edges > 0.0) & (edges < end)]
    return np.unique(np.concatenate([[0.0], inside, [end]]))


def around(centre: object, sigma: object, reach: float = np.inf) -> Array:
    """Return edges about each centre in each of which a Gaussian's tail is a polynomial to 1e-15.

    None is farther from its centre than `reach`.
    """
    offsets = np.multiply.outer(np.asarray(sigma), _OFFSETS)
    offsets = np.where(np.abs(offsets) <= reach, offsets, 0.0)
    edges: Array = np.asarray(centre)[..., np.newaxis] + offsets
    return edges.ravel()


def lattice(sigma: float, apart: float, modes: int, end: float, least: float) -> Array:
    """Return panels for Gaussians at multiples of `apart`; between them the tail may be flat."""
    if apart <= sigma:  # they merge
        return up_to(sigma * np.arange(np.ceil(end / sigma)), end)
    if apart <= least:
        return up_to(np.arange(0.0, end, least), end)
    centres = apart * np.arange(min(modes, np.ceil(end / apart)) + 1.0)
    beyond = around(centres[-1:], sigma)
    return up_to(np.append(around(centres, sigma, 0.5 * apart), beyond), end)


def steps(width: float, gamma: float, end: float, least: float) -> Array:
    """Return the ends of steps; of narrower steps than `least` panels of that width."""
    if width <= least:
        return up_to(np.arange(0.0, end, least), end)
    return up_to(width * (gamma + np.arange(np.ceil(end / width))), end)


def mean_over_panels(
    noise: Any, negligible: float, function: Callable[[Array, Array], Array]
) -> float:
    """Return the mean of function(x, log density) over symmetric noise, by Gauss's rule.

    To where the tail is negligible; the function is even.
    """
    nodes, weights = gauss_legendre()
    edges = noise._panels(-float(noise.ppf(negligible)))
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    total = 0.0
    for at in range(0, half.size, _CHUNK):
        part = slice(at, at + _CHUNK)
        x = middle[part, np.newaxis] + half[part, np.newaxis] * nodes
        log_density = noise.logpdf(x)
        values = function(x, log_density) * np.exp(log_density)
        total += float((values @ weights) @ half[part])
    return 2.0 * total


@functools.lru_cache(maxsize=4096)
def sum_rule(count: int) -> tuple[Array, Array]:
    """Return nodes and weights for the sum over 0, 1, ..., count - 1: all of these, or Gauss's.

    Gauss's rule for so many equal masses is exact for polynomials of degree 31. Its orthogonal
    polynomials are Gram's, with recurrence coefficients n^2 (count^2 - n^2)/(4 (4 n^2 - 1))
    (Gautschi 2004, "Orthogonal Polynomials: Computation and Approximation", table 1.2).
    """
    if count <= ONE_BY_ONE:
        return np.arange(float(count)), np.ones(count)
    n = np.arange(1.0, _NODES)
    beta = 0.5 * n * np.sqrt((1.0 - (n / count) ** 2) / (4.0 * n * n - 1.0))
    roots, vectors = np.linalg.eigh(np.diag(beta, 1) + np.diag(beta, -1))
    return 0.5 * (count - 1.0) + count * roots, count * vectors[0] ** 2
