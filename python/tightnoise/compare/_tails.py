"""Integrals of the tail of symmetric noise: all that a clip leaves of it.

With S(n) = P(noise > n), the noise of one side, cut down by a clip that is t away, has

    E[min(noise, t); noise > 0]   = integral of S(n) over 0 < n < t,
    E[min(noise, t)^2; noise > 0] = integral of 2 n S(n) over 0 < n < t,

and the latter, averaged over t uniform on (0, width), is the integral of 2 n (1 - n/width) S(n) up
to the width. Every integrand is positive, and S is computed as a tail, so nothing cancels, however
narrow or wide the noise is beside t.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tightnoise._cached import cached_property
from tightnoise.mechanisms import Staircase, Tulap
from tightnoise.mechanisms._panels import gauss_legendre, up_to

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-20  # a probability


class Tail(Protocol):
    """The tail of a law, for clips up to some width away."""

    @property
    def edges(self) -> Array:
        """Increasing, from 0: S is smooth between them, and nothing beyond the last."""

    def cut(self, t: Array) -> tuple[Array, Array]:
        """Return the two integrals up to each t, within 1e-12 of themselves."""

    def average_square(self, width: float) -> float:
        """Return the second, averaged over t uniform on (0, width)."""


class GaussLegendre:
    """Quadrature with some nodes a panel."""

    def __init__(self, count: int) -> None:
        self._count = count

    @cached_property
    def nodes(self) -> Array:
        """Between 0 and 1."""
        return 0.5 * (1.0 + gauss_legendre(self._count)[0])

    @cached_property
    def weights(self) -> Array:
        """Of which the sum is 1."""
        return 0.5 * gauss_legendre(self._count)[1]

    def within(self, left: Array, width: Array) -> Array:
        """Return the nodes of panels, a row for each."""
        at: Array = left[..., np.newaxis] + width[..., np.newaxis] * self.nodes
        return at


PANEL = GaussLegendre(16)


def tail_of(mechanism: Any, width: float) -> Tail:
    """Return the tail of the noise of a mechanism, up to `width`."""
    if isinstance(mechanism, Staircase):
        return _Steps(mechanism.epsilon, mechanism.sensitivity, mechanism.gamma, math.inf, width)
    if isinstance(mechanism, Tulap):
        return _Steps(mechanism.epsilon, mechanism.sensitivity, 0.5, mechanism.bound, width)
    end = min(-float(mechanism.ppf(_NEGLIGIBLE)), width)
    return _Smooth(mechanism, mechanism._panels(end))


class _Smooth:
    """By quadrature between the edges."""

    def __init__(self, mechanism: Any, edges: Array) -> None:
        self.edges = edges
        self._mechanism = mechanism
        parts = self._panels(edges[:-1], np.diff(edges))
        self._sums = [np.concatenate([[0.0], np.cumsum(part)]) for part in parts]

    def cut(self, t: Array) -> tuple[Array, Array]:
        flat = np.minimum(t.ravel(), self.edges[-1])
        panel = np.searchsorted(self.edges[1:-1], flat, side="right")
        left = self.edges[panel]
        first, second = (
            (sums[panel] + part).reshape(t.shape)
            for sums, part in zip(self._sums, self._panels(left, flat - left), strict=True)
        )
        return first, second

    def average_square(self, width: float) -> float:
        left, step = self.edges[:-1], np.diff(self.edges)
        n = PANEL.within(left, step)
        values = 2.0 * n * (1.0 - n / width) * self._tail(n)
        return float(step @ (values @ PANEL.weights))

    def _panels(self, left: Array, step: Array) -> tuple[Array, Array]:
        n = PANEL.within(left, step)
        tail = self._tail(n)
        return (
            step * (tail @ PANEL.weights),
            step * ((2.0 * n * tail) @ PANEL.weights),
        )

    def _tail(self, n: Array) -> Array:
        tail: Array = self._mechanism.cdf(-n)  # by symmetry
        return tail


class _Steps:
    """Of a staircase, in closed form; with a bound, what is left of it within the bound.

    In units of a step's width, with b = e^-epsilon and K = 1/(2 (gamma + b (1 - gamma))), S is 1/2
    - (1 - b) K n up to gamma, and b^k K (1 - (1 - b) u) at n = k - 1 + gamma + u, 0 <= u <= 1.
    Truncated at a bound, it is (S(n) - S(bound))/(1 - 2 S(bound)).
    """

    _MOST_EDGES = 256

    def __init__(
        self, epsilon: float, step: float, gamma: float, bound: float, width: float
    ) -> None:
        self._epsilon, self._step, self._gamma = epsilon, step, gamma
        self._fall = -math.expm1(-epsilon)  # 1 - b
        self._height = 0.5 / (gamma + (1.0 - self._fall) * (1.0 - gamma))
        self._bound = bound / step
        self._beyond = float(self._tail(np.asarray(self._bound))) if bound < math.inf else 0.0
        end = min(-math.log(_NEGLIGIBLE) / epsilon + 1.0, self._bound, width / step)
        # Of more steps each is so small a kink that averages over several move by 2e-12.
        stride = max(math.ceil(end / self._MOST_EDGES), 1)
        self.edges = step * up_to(gamma + np.arange(0.0, end, stride), end)

    def cut(self, t: Array) -> tuple[Array, Array]:
        zeroth, first, _ = self._integrals(t / self._step)
        return zeroth * self._step, 2.0 * first * self._step**2

    def average_square(self, width: float) -> float:
        _, first, second = self._integrals(np.asarray(width / self._step))
        end = width / self._step
        return float(2.0 * (first - second / end)) * self._step**2

    def _integrals(self, t: Array) -> tuple[Array, ...]:
        """Return the integrals of S, n S and n^2 S up to t."""
        end = np.minimum(t, self._bound)
        whole = self._unbounded(end)
        if not self._beyond:
            return whole
        kept = 1.0 - 2.0 * self._beyond
        return tuple(
            (part - self._beyond * end**power / power) / kept
            for power, part in enumerate(whole, start=1)
        )

    def _unbounded(self, t: Array) -> tuple[Array, ...]:
        fall, gamma, height = self._fall, self._gamma, self._height
        start = np.minimum(t, gamma)
        flat = tuple(
            start ** (k + 1) * (0.5 / (k + 1) - fall * height * start / (k + 2)) for k in range(3)
        )
        # Steps that are gone through, up to where nothing is left of any.
        steps = np.floor(np.minimum(np.maximum(t - gamma, 0.0), 80.0 / self._epsilon))
        ones, counts, squares = self._sums(steps.astype(np.int64))
        part = np.clip(t - gamma - steps, 0.0, 1.0)
        origin = steps + gamma
        # Of u^k (1 - fall u) over one step, and over a part of one.
        full = [1.0 / (k + 1) - fall / (k + 2) for k in range(3)]
        rest = [part ** (k + 1) * (1.0 / (k + 1) - fall * part / (k + 2)) for k in range(3)]
        ratio, last = 1.0 - fall, np.exp(-self._epsilon * (steps + 1.0))
        moved = counts + gamma * ones  # sums of (j + gamma) b^j and of its square
        twice = squares + gamma * (2.0 * counts + gamma * ones)
        return (
            flat[0] + height * (ratio * full[0] * ones + last * rest[0]),
            flat[1]
            + height * (ratio * (full[0] * moved + full[1] * ones))
            + height * last * (origin * rest[0] + rest[1]),
            flat[2]
            + height * (ratio * (full[0] * twice + 2.0 * full[1] * moved + full[2] * ones))
            + height * last * (origin * (origin * rest[0] + 2.0 * rest[1]) + rest[2]),
        )

    def _sums(self, counts: NDArray[np.int64]) -> tuple[Array, Array, Array]:
        """Return the sums of b^j, j b^j and j^2 b^j over 0 <= j < count.

        By doubling: a sum of 2 m terms is that of m terms, and b^m times the same with j + m for j.
        All terms are positive; the closed forms cancel for small epsilon.
        """
        done = np.zeros(counts.shape)
        ones, firsts, squares = np.zeros((3, *counts.shape))
        for bit in reversed(range(int(counts.max(initial=0)).bit_length())):
            ratio = np.exp(-self._epsilon * done)
            squares = squares + ratio * (squares + done * (2.0 * firsts + done * ones))
            firsts = firsts + ratio * (firsts + done * ones)
            ones = ones + ratio * ones
            done = 2.0 * done
            one_more = (counts >> bit) & 1
            term = one_more * np.exp(-self._epsilon * done)
            ones, firsts, squares = ones + term, firsts + done * term, squares + done**2 * term
            done = done + one_more
        return ones, firsts, squares

    def _tail(self, n: Array) -> Array:
        step = np.floor(np.maximum(n - self._gamma, 0.0))
        height = self._height * np.exp(-self._epsilon * (step + 1.0))
        outer = height * (1.0 - self._fall * (n - self._gamma - step))
        return np.where(n < self._gamma, 0.5 - self._fall * self._height * n, outer)
