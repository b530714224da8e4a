"""The mean of the true value given what a mechanism released, and how far it is from the truth.

All is in distances from the lower end of the range. With the prior density p(t) and the density
f(y | t) of the output, and the integrals over t of p f, p f n and p f n^2, n = y - t,

    posterior mean(y) = y - M1/M0,    average squared error = integral of M2 - M1^2/M0 over y,

the latter plus the same of outputs that have a probability of their own. Every integral is a sum
over panels within which the integrand is smooth, wherever densities jump.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.compare._prior import Prior
from tightnoise.compare._tails import PANEL, Array, GaussLegendre
from tightnoise.mechanisms import (
    BoundedLaplace,
    Gaussian,
    Laplace,
    RectifiedGaussian,
    Staircase,
    TruncatedGaussian,
    TruncatedLaplace,
    Tulap,
)

_NEGLIGIBLE = 1e-14  # a probability
_NARROW = 1e-3  # a range, in deviations of the noise: with 1e-7 of the error the prior's mean does
_MOST_STEPS = 20_000  # of more each is next to nothing: errors are Laplace's within epsilon
_PART = GaussLegendre(8)  # of a panel of smooth noise, and of the outputs
_STEP = GaussLegendre(2)  # of a step, where integrands are parabolas
_CHUNK = 2**14  # outputs at a time


class _Atom(NamedTuple):
    """An output with a probability of its own."""

    at: float
    mean: float
    """Of the true value given it."""
    error: float
    """Its part of the average squared error."""


class Posterior(ABC):
    """The true value given an output whose density is known."""

    def __init__(self, width: float, prior: Prior, edges: Array, first: float, last: float) -> None:
        """Take the panels of the noise, from the least to the greatest, and where outputs lie."""
        self.width, self._prior = width, prior
        self._edges, self._first, self._last = edges, first, last
        self._breaks = self._within(np.add.outer(prior.edges, edges).ravel(), prior.edges)
        self._atoms: tuple[_Atom, ...] = ()

    def mean(self, y: Array) -> Array:
        """Return the mean of the true value given each output."""
        flat = np.clip(y.ravel(), self._first, self._last)
        found = np.empty(flat.shape)
        for start in range(0, flat.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            zeroth, first, _ = self._moments(flat[part])
            found[part] = flat[part] - first / zeroth
        for atom in self._atoms:
            found[flat == atom.at] = atom.mean
        return np.clip(found, 0.0, self.width).reshape(y.shape)

    def average_square(self) -> float:
        """Return the mean squared error of that mean, averaged over the prior."""
        total = sum(atom.error for atom in self._atoms)
        step = np.diff(self._breaks)
        for start in range(0, step.size, _CHUNK // 8):
            part = slice(start, start + _CHUNK // 8)
            y = _PART.within(self._breaks[:-1][part], step[part])
            zeroth, first, second = self._moments(y.ravel())
            spread = np.maximum(second - first * (first / zeroth), 0.0)
            total += float(step[part] @ (spread.reshape(y.shape) @ _PART.weights))
        return total

    def square(self, theta: Array) -> Array:
        """Return the mean squared error for each true value."""
        return np.array([self._square(each) for each in theta.tolist()])

    def places(self) -> Array:
        """Return true values among which the worst lies: the ends are where errors change."""
        reach = 0.25 * float(self._edges[-1])
        near = np.append(np.linspace(0.0, min(reach, 0.5 * self.width), 9), 0.5 * self.width)
        return np.unique(np.concatenate([near, self.width - near, self._prior.edges]))

    def _square(self, theta: float) -> float:
        breaks = self._within(self._breaks, theta + self._edges)
        end = (theta + self._edges[0], theta + self._edges[-1])
        breaks = breaks[(breaks >= end[0]) & (breaks <= end[1])]
        step = np.diff(breaks)
        y = _PART.within(breaks[:-1], step)
        error = self._density(y.ravel(), theta).reshape(y.shape) * (self.mean(y) - theta) ** 2
        atoms = sum(
            self._probability(atom.at, np.array(theta)) * (atom.mean - theta) ** 2
            for atom in self._atoms
        )
        return float(step @ (error @ _PART.weights) + atoms)

    def _within(self, *edges: Array) -> Array:
        """Return the edges where outputs are, with the ends."""
        inside = np.concatenate([*edges, [self._first, self._last]])
        return np.unique(np.clip(inside, self._first, self._last))

    @abstractmethod
    def _moments(self, y: Array) -> tuple[Array, Array, Array]:
        """Return M0, M1 and M2."""

    @abstractmethod
    def _density(self, y: Array, theta: float) -> Array:
        """Return the density of the output given the true value."""

    def _probability(self, at: float, theta: Array) -> Array:
        """Return the probability of an atom; there is none unless a kind of noise says so."""
        return np.zeros(theta.shape)


class _Added(Posterior):
    """Of noise that is added; integrals over its panels, summed up from the far end."""

    def __init__(self, noise: Any, width: float, prior: Prior, is_cut: bool) -> None:
        self._noise = noise
        self._half, self._rule = _half_of(noise)
        end = float(self._half[-1])
        parts = self._panels(self._half[:-1], np.diff(self._half))
        self._sums = np.zeros((3, self._half.size))
        self._sums[:, :-1] = np.cumsum(parts[:, ::-1], axis=1)[:, ::-1]
        edges = np.concatenate([-self._half[:0:-1], self._half])
        # A little less, for at the very end there is nothing.
        far = 0.0 if is_cut else end * (1.0 - 1e-6)
        super().__init__(width, prior, edges, -far, width + far)
        if is_cut:
            self._atoms = tuple(map(self._atom, (0.0, width)))

    def _moments(self, y: Array) -> tuple[Array, Array, Array]:
        total = np.zeros((3, y.size))
        edges = self._prior.edges
        for left, right, density in zip(edges[:-1], edges[1:], self._prior.density, strict=True):
            total += density * self._between(y - right, y - left)
        return total[0], total[1], total[2]

    def _density(self, y: Array, theta: float) -> Array:
        density: Array = self._noise.pdf(y - theta)
        return density

    def _probability(self, at: float, theta: Array) -> Array:
        probability: Array = self._noise.cdf(-np.abs(at - theta))
        return probability

    def _atom(self, at: float) -> _Atom:
        edges = np.concatenate([self._half, self.width - self._half, self._prior.edges])
        edges = np.unique(np.clip(edges, 0.0, self.width))
        step = np.diff(edges)
        theta = PANEL.within(edges[:-1], step)
        weight = step[:, np.newaxis] * PANEL.weights * self._prior.density_at(theta)
        weight *= self._probability(at, theta)
        total = float(weight.sum())
        mean = float((weight * theta).sum()) / total if total > 0.0 else at  # of no probability
        return _Atom(at, mean, float((weight * (theta - mean) ** 2).sum()))

    def _between(self, low: Array, high: Array) -> Array:
        """Return the integrals of the density, n times it and n^2 times it over low < n < high."""
        from_low, from_high = self._beyond(np.abs(low)), self._beyond(np.abs(high))
        sign = np.array([1.0, -1.0, 1.0])[:, np.newaxis]
        half = self._sums[:, :1]
        right, left = from_low - from_high, sign * (from_high - from_low)
        across = (half - from_high) + sign * (half - from_low)
        return np.where(low >= 0.0, right, np.where(high <= 0.0, left, across))

    def _beyond(self, n: Array) -> Array:
        n = np.minimum(n, self._half[-1])
        panel = np.searchsorted(self._half[1:-1], n, side="right") + 1
        found: Array = self._sums[:, panel] + self._panels(n, self._half[panel] - n)
        return found

    def _panels(self, left: Array, step: Array) -> Array:
        n = self._rule.within(left, step)
        density = self._noise.pdf(n)
        parts = [step * ((n**k * density) @ self._rule.weights) for k in range(3)]
        return np.array(parts)


class _Bounded(Posterior):
    """Of a mechanism with outputs in the range alone, whose density depends on the true value."""

    def __init__(self, mechanism: Any, width: float, prior: Prior, panels: Array) -> None:
        self._mechanism = mechanism
        edges = np.unique(np.clip(panels, -width, width))
        super().__init__(width, prior, edges, 0.0, width)

    def _moments(self, y: Array) -> tuple[Array, Array, Array]:
        total = np.zeros((3, y.size))
        edges, ends = self._prior.edges, self._edges
        for left, right, density in zip(edges[:-1], edges[1:], self._prior.density, strict=True):
            panels = np.clip(ends, (y - right)[:, np.newaxis], (y - left)[:, np.newaxis])
            step = np.diff(panels)
            n = _PART.within(panels[:, :-1], step)
            at = y[:, np.newaxis, np.newaxis]
            theta = np.clip(at - n, 0.0, self.width)
            values = self._mechanism.pdf(np.broadcast_to(at, n.shape), theta)
            values *= density * step[..., np.newaxis] * _PART.weights
            total += [(values * n**k).sum(axis=(1, 2)) for k in range(3)]
        return total[0], total[1], total[2]

    def _density(self, y: Array, theta: float) -> Array:
        density: Array = self._mechanism.pdf(y, np.full(y.shape, theta))
        return density


def posterior_of(mechanism: Any, lower: float, upper: float, prior: Prior) -> Posterior | None:
    """Return the posterior given an output before any clip; None if that tells next to nothing."""
    width = upper - lower
    if isinstance(mechanism, (TruncatedGaussian, BoundedLaplace)):
        return _bounded(mechanism, width, prior)
    is_cut = isinstance(mechanism, RectifiedGaussian)
    noise = Gaussian(mechanism.sigma) if is_cut else mechanism
    if width < _NARROW * math.sqrt(float(noise.var())):
        return None
    return _Added(_with_few_steps(noise), width, prior, is_cut)


def _bounded(mechanism: Any, width: float, prior: Prior) -> Posterior | None:
    is_normal = isinstance(mechanism, TruncatedGaussian)
    scale = float(mechanism.sigma if is_normal else mechanism.scale)
    if width < _NARROW * scale:
        return None
    panels: NDArray[np.float64]
    panels = np.arange(-8.0, 9.0) if is_normal else np.arange(-34.0, 35.0, 2.0)
    return _Bounded(type(mechanism)(scale, 0.0, width), width, prior, scale * panels)


def _with_few_steps(noise: Any) -> Any:
    if not isinstance(noise, (Staircase, Tulap)) or _steps(noise) <= _MOST_STEPS:
        return noise
    scale, bound = noise.sensitivity / noise.epsilon, getattr(noise, "bound", math.inf)
    return Laplace(scale) if bound == math.inf else TruncatedLaplace(scale, bound)


def _steps(noise: Any) -> float:
    """Return how many steps there are, up to the bound or to where nothing is left."""
    bound = getattr(noise, "bound", math.inf)
    return 1.0 + float(min(-math.log(_NEGLIGIBLE) / noise.epsilon, bound / noise.sensitivity))


def _half_of(noise: Any) -> tuple[Array, GaussLegendre]:
    """Return the panels of symmetric noise, from 0, and a rule for its parts."""
    if isinstance(noise, (Staircase, Tulap)):
        gamma, bound = getattr(noise, "gamma", 0.5), getattr(noise, "bound", math.inf)
        ends = noise.sensitivity * (gamma + np.arange(math.ceil(_steps(noise))))
        return np.unique(np.clip(np.append(ends, 0.0), 0.0, bound)), _STEP
    end = -float(noise.ppf(_NEGLIGIBLE))
    if isinstance(noise, TruncatedLaplace) and noise.bound < 40.0 * noise.scale:
        end = noise.bound  # where the density jumps, with less than that beyond `end`
    return noise._panels(end), _PART
