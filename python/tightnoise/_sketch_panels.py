"""Panels of a sketch: stretches on which functions are interpolated, and what their sums err by.

`Sketch` says what it is about. Here is how a function's values at Chebyshev nodes become
coefficients on a panel and on parts of it, and how far the moments of the elements there may be
rounded off.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import sketch as core

Float64s = NDArray[np.float64]

BINS: int = core.bins
BIN_MOMENTS: int = core.bin_moments
SIGMAS_PER_COUNT_SCALE = 2.0  # counts are sigma * 2 / 128 wide up to t = 2 sigma
_EPS = float(np.finfo(np.float64).eps)
_BINS_PER_OCTAVE: int = core.bins_per_octave
_BINS_PER_PANEL = 8
_PANEL_NODES = 32


class _Basis(NamedTuple):
    """From values at the Chebyshev nodes of a panel to Chebyshev coefficients on parts of it."""

    points: Float64s  # the nodes in [-1, 1]
    whole: Float64s  # (nodes, nodes): coefficients on the panel
    summing: Float64s  # (nodes, parts, terms): on each part that has moments of its own
    deciding: Float64s  # (nodes, parts, terms): on each part that functions are compared on
    lebesgue: float


class Panels(NamedTuple):
    """Stretches of [0, inf), all with the same basis, and the moments of the elements there."""

    left: Float64s
    right: Float64s
    nodes: Float64s  # where functions must be known, (panels, nodes)
    moments: Float64s  # (panels, parts, moments)
    basis: _Basis
    roundings: Float64s  # largest error of a moment, per element

    @classmethod
    def of(
        cls, left: Float64s, right: Float64s, moments: Float64s, basis: _Basis, roundings: Float64s
    ) -> Panels:
        centre, half = 0.5 * (left + right), 0.5 * (right - left)
        nodes = centre[:, None] + half[:, None] * basis.points
        return cls(left, right, nodes, moments, basis, roundings)

    def only(self, chosen: NDArray[np.bool_]) -> Panels:
        """Return the panels that are chosen."""
        return self._replace(
            left=self.left[chosen],
            right=self.right[chosen],
            nodes=self.nodes[chosen],
            moments=self.moments[chosen],
        )

    def sum_max(
        self, values: Float64s, proven: Float64s | None, relative_error: float
    ) -> tuple[Float64s, Float64s, Float64s]:
        """Return sums over the elements of each panel and error bounds, (orders, panels).

        And (functions, orders, panels) how far from the functions their interpolants may be.
        """
        functions, orders, panels, nodes = values.shape
        # Roundings on the way from values to coefficients: at most 2 nodes a coefficient.
        value_error = self.basis.lebesgue * relative_error + 2.0 * nodes**2 * _EPS
        sums, errors = np.empty((orders, panels)), np.empty((orders, panels))
        closeness = np.empty((functions, orders, panels))
        core.sum_max(
            values,
            proven,
            self.moments,
            self.roundings,
            self.basis.whole,
            self.basis.summing,
            self.basis.deciding,
            value_error,
            sums.reshape(-1),
            errors.reshape(-1),
            closeness.reshape(-1),
        )
        return sums, errors, closeness


def interval_panels(interval: Float64s, half_width: float, roundings: int) -> Panels:
    """Return the interval of a sketch, of its moments."""
    return Panels.of(
        np.zeros(1),
        np.full(1, half_width),
        interval.reshape(1, 1, -1),
        _interval_basis(interval.size),
        _interval_roundings(interval.size) + _EPS * roundings,
    )


def bin_panels(bins: Float64s, scale: float, count: int, roundings: int) -> Panels:
    """Return the panels of bins with an element in them, of all of a sketch's `count`."""
    occupied = np.flatnonzero(bins[:, 0].reshape(-1, _BINS_PER_PANEL).any(axis=1))
    edges = scale * panel_edges()
    return Panels.of(
        edges[occupied],
        edges[occupied + 1],
        bins.reshape(-1, _BINS_PER_PANEL, BIN_MOMENTS)[occupied],
        _bin_basis(),
        _bin_roundings(count, roundings),
    )


@functools.cache
def panel_edges() -> Float64s:
    """Return the ends of all panels of bins, in units of the scale."""
    return _log_linear(np.arange(0, BINS + 1, _BINS_PER_PANEL), _BINS_PER_OCTAVE)


@functools.cache
def count_edges() -> Float64s:
    """Return the ends of all counts but the last of `Sketch.counts`, in units of its sigma."""
    return SIGMAS_PER_COUNT_SCALE * _log_linear(np.arange(core.counts), core.counts_per_octave)


def _log_linear(rows: NDArray[np.int64], per_octave: int) -> Float64s:
    octave, place = np.divmod(rows, per_octave)
    edges: Float64s = np.ldexp(1.0 + place / per_octave, octave) - 1.0
    return edges


def _chebyshev(nodes: int) -> tuple[Float64s, Float64s]:
    """Return the zeros of T_nodes, and the matrix from values there to coefficients."""
    angle = np.pi * (np.arange(nodes) + 0.5) / nodes
    points = np.sin(np.pi * (nodes - 1 - 2 * np.arange(nodes)) / (2 * nodes))
    matrix = 2.0 / nodes * np.cos(np.outer(angle, np.arange(nodes)))
    matrix[:, 0] /= 2.0
    return points, matrix


def _basis(nodes: int, summing_parts: int, deciding_parts: int) -> _Basis:
    points, whole = _chebyshev(nodes)

    def on_parts(parts: int) -> Float64s:
        part = np.arange(parts)[:, None]
        at = (2.0 * part + 1.0 + points) / parts - 1.0  # the nodes of each part in [-1, 1]
        at_parts = np.polynomial.chebyshev.chebvander(at, nodes - 1)  # (parts, nodes, degree)
        matrix = np.zeros((nodes, parts, -(-nodes // 8) * 8))  # the core wants multiples of 8
        matrix[:, :, :nodes] = np.einsum("vd,pnd,nk->vpk", whole, at_parts, whole)
        return matrix

    lebesgue = 1.0 + 2.0 / np.pi * np.log(nodes + 1.0)
    return _Basis(points, whole, on_parts(summing_parts), on_parts(deciding_parts), lebesgue)


@functools.cache
def _interval_basis(moments: int) -> _Basis:
    # Functions are compared on parts of about sigma / 5 each.
    return _basis(2 * moments, 1, moments - 4)


@functools.cache
def _bin_basis() -> _Basis:
    return _basis(_PANEL_NODES, _BINS_PER_PANEL, _BINS_PER_PANEL)


@functools.cache
def _interval_roundings(moments: int) -> Float64s:
    """Return the largest errors of a moment of the interval, per element.

    A block of 2048 elements is added up in at most 1024 steps, blocks with compensation;
    2 M = T + T' doubles a moment's error once in four. x and T_k(x) themselves: 24 k^2.
    """
    k = np.arange(moments)
    return _EPS * (1100.0 * (1.0 + k / 2.0) + 24.0 * k**2)


def _bin_roundings(count: int, more: int) -> Float64s:
    """Return the largest errors of a moment of a bin, per element.

    Power moments are added one by one up to the run length of the core, then run by run; the last
    bits of t are lost in 1 + t / scale, which moves an element by up to 800 eps within its bin.
    """
    run = min(count, core.bin_run + 512)
    runs = count // (64 * 4 * core.bin_run) + 64
    powers, squares = _bin_rounding_weights()
    return _EPS * ((run + runs + more + 8.0) * powers + 800.0 * squares)


@functools.cache
def _bin_rounding_weights() -> tuple[Float64s, Float64s]:
    """Return the sums of the sizes of the coefficients of T_k in powers of x, and k^2."""
    k = np.arange(BIN_MOMENTS)
    sizes = [np.abs(np.polynomial.chebyshev.cheb2poly([0] * j + [1])).sum() for j in k]
    return np.array(sizes), np.square(k.astype(np.float64))
