"""Losses of a mixture of Gaussians and the same moved, from cells of the number that is released.

Profiles are known to some 1e-11 of themselves, of which the bends at close points, and so the
masses there, keep few digits. What both neighbours give to a cell is known to some 1e-12, however
narrow it is. With p and q that much,

- from below, the cell is one outcome of the loss log(p/q): merging outputs is post-processing;
- from above, its losses are those at the ends of where they are, so that p and q are the same: the
  divergence is convex in p/q.

An outcome adds (p - t q)^+ = q (p/q - t)^+: errors of p/q count by what the ratio is, those of q by
a part of the divergence. So of a sampled release, of which the ratio is 1 + rate (p/q - 1), the
former are as much smaller.

**Where losses are.** With g = log f, the loss is L(y) = g(y - s) - g(y). In a cell of width h it is
within h^2/8 max |L''| of what it is at the ends, or between. With w the shares of the components,
and u_i = (m_i - y)/sigma_i^2 the derivatives of their logarithms,

    g'' = Var_w(u) - E_w(1/sigma^2).

At y + r the logarithms are larger by r u_i - r^2/(2 sigma_i^2), and so the shares by no more than
the factor e^R, R = |r| (max u - min u) + r^2/2 (1/min sigma^2 - 1/max sigma^2). The u_i are less by
r/sigma_i^2. A variance is the least mean square about any number, and its root a norm, so that

    Var <= (e^(R/2) sd_w(u) + |r|/2 (1/min sigma^2 - 1/max sigma^2))^2.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise import special
from tightnoise.costs._discrete_losses import Release

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_SIGMAS = 14.0  # beyond the outermost component: less than 1e-43 is there
_NARROWEST = 1e-6  # of the least sigma; of narrower ones less is known
_LOOKED_AT = 4_000  # numbers, of which the losses tell where others are,
_AT_TURNS, _AT_ALL_TURNS = 64, 1_000  # cells on each side of where a loss turns,
_FLAT, _HALVINGS = 1e-8, 30  # if it changes by more, which is told so closely
_STEPS, _STRIDE = 2, 2.0  # from there, each of so many at most
_ASIDE = 1e-12  # what ends of cells may be off by
_WIDEST = 1e3  # losses of a cell that are farther apart count as infinite
_NOTHING = -105.0  # logarithm of a mass
_LARGEST = 700.0  # of an exponent
_SUMMED = 16  # units, and as many of the logarithms that are summed


class Components(NamedTuple):
    """Of a mixture of normal densities."""

    locations: Array
    weights: Array
    sigmas: Array

    @property
    def reach(self) -> float:
        """A number beyond which next to nothing is."""
        return float(np.abs(self.locations).max() + _SIGMAS * self.sigmas.max())

    def density(self, y: Array) -> _Mixed:
        """Return the logarithm of the density times the root of 2 pi."""
        z = (y[:, None] - self.locations) / self.sigmas
        logs = np.log(self.weights / self.sigmas) - 0.5 * z * z
        moved = np.abs(z) * np.abs(y)[:, None] / self.sigmas  # as y is rounded
        return _Mixed.of(logs, 4 * _UNIT * (z * z + moved))

    def about(self, y: Array) -> tuple[Array, Array]:
        """Return it, and its slope."""
        z = (y[:, None] - self.locations) / self.sigmas
        logs, shares = _summed(np.log(self.weights / self.sigmas) - 0.5 * z * z)
        return logs, -(shares * (z / self.sigmas)).sum(axis=1)

    def masses(self, edges: Array) -> _Mixed:
        """Return logarithms of what is between edges, infinite ones at the ends."""
        z = (edges[:, None] - self.locations) / self.sigmas
        logs = special.log_ndtr_diff(z[:-1], z[1:])
        # A mass changes with an end as the density there, which is so much of it at most:
        far = np.where(np.isfinite(z), np.abs(z), 0.0)
        beside = np.where(np.isfinite(edges), np.abs(edges), 0.0)[:, None] / self.sigmas
        moved = 4 * _UNIT * (far + beside)
        wrong = 16 * _UNIT * (1 + np.abs(logs))
        for end in (slice(None, -1), slice(1, None)):
            near = np.minimum(z[1:] - z[:-1], 1 / (1 + far[end]))
            wrong += moved[end] * np.exp(far[end] * near + 0.5 * near * near) / near
        return _Mixed.of(np.log(self.weights) + logs, wrong)

    def slopes(self, y: Array, radius: Array) -> _Slopes:
        """Return g' at y, and what is known of g'' within such distances."""
        steep = self.sigmas**-2.0
        u = (self.locations - y[:, None]) * steep
        logs = np.log(self.weights / self.sigmas) - 0.5 * u * u / steep
        total, shares = _summed(logs)
        logs -= total[:, None]
        mean, level = (
            (shares * u).sum(axis=1, keepdims=True),
            (shares * steep).sum(axis=1, keepdims=True),
        )
        sizes = (shares * np.abs(u)).sum(axis=1)
        apart = np.abs(u - mean) + 16 * _UNIT * (np.abs(u) + sizes[:, None])
        steeper = np.abs(steep - level) + 16 * _UNIT * steep.max()
        r = radius[:, None]
        grown = np.exp(np.minimum(logs + r * (apart + 0.5 * r * steeper), _LARGEST / 2))
        deviation = np.sqrt((grown * apart**2).sum(axis=1))
        deviation += radius * np.sqrt((grown * steeper**2).sum(axis=1))
        wrong = 64 * _UNIT * (1 + sizes) * (1 + np.abs(y)) * float(steep.max())
        return _Slopes(
            mean[:, 0],
            wrong,
            deviation**2 * (1 + 1e-6),
            level[:, 0],
            (grown * steeper).sum(axis=1) * (1 + 1e-6),
        )


class _Slopes(NamedTuple):
    """g', wrong by so much; the largest Var_w(u), and how far E_w(1/sigma^2) is from its level."""

    at: Array
    wrong: Array
    variance: Array
    level: Array
    aside: Array


class _Mixed(NamedTuple):
    """Logarithms of sums over components, what they are wrong by, and the shares of each."""

    logs: Array
    wrong: Array
    shares: Array

    @classmethod
    def of(cls, logs: Array, wrong: Array) -> _Mixed:
        total, shares = _summed(logs)
        summed = _SUMMED * _UNIT * (1 + np.abs(logs))
        errors = (np.where(shares > 0, wrong + summed, 0.0) * shares).sum(axis=1) * (1 + 1e-6)
        return cls(total, errors, shares)


def _summed(logs: Array) -> tuple[Array, Array]:
    """Return logarithms of sums over components, and the shares of each."""
    largest = logs.max(axis=1, keepdims=True)
    shares = np.exp(logs - largest)
    total = shares.sum(axis=1, keepdims=True)
    shares /= total
    return (largest + np.log(total))[:, 0], shares


def cells_of(components: Components, shift: float, losses: Array) -> Cells:
    """Return cells of outputs between two of these losses, which rise.

    Or between more of them, where the loss turns.
    """
    curve = _Curve(components, shift)
    edges = curve.edges(losses)
    low, high = curve.between(edges)
    # Ends are where they should be but for rounding.
    knots = np.concatenate([[low.min()], losses, [high.max()]])
    knots = np.sort(knots)
    aside = _ASIDE * (1 + np.abs(knots))
    first = np.searchsorted(knots - aside, low, "right") - 1
    last = np.searchsorted(knots + aside, high, "left")
    whole = np.concatenate([[-np.inf], edges, [np.inf]])
    p, q = components.masses(whole - shift), components.masses(whole)
    # What is beyond both ends comes first, and last.
    keys = np.concatenate([[-1], first * knots.size + last, [knots.size**2]])
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-2) > 0)
    first, last = np.divmod(keys[order][starts][1:-1], knots.size)
    (log_p, wrong_p), (log_q, wrong_q) = (_grouped(each, order, starts) for each in (p, q))
    return Cells(
        log_q,
        wrong_q,
        log_p - log_q,
        wrong_p + wrong_q,
        (knots - aside)[first],
        (knots + aside)[last],
        (knots + aside)[first],
        (knots - aside)[last],
    )


def _grouped(
    masses: _Mixed, order: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[Array, Array]:
    """Return logarithms of sums of groups, and what part of them they are wrong by."""
    logs, wrong = masses.logs[order], masses.wrong[order]
    largest = np.maximum.reduceat(logs, starts)
    each = np.exp(logs - np.repeat(largest, np.diff(np.append(starts, logs.size))))
    total = np.add.reduceat(each, starts)
    errors = np.add.reduceat(each * wrong, starts) / total * (1 + 1e-6) + _SUMMED * _UNIT
    rounding = 4 * _UNIT * (1 + np.abs(largest))
    return largest + np.log(total), errors + rounding


class _Curve(NamedTuple):
    """The loss L of what is released."""

    components: Components
    shift: float

    def at(self, y: Array) -> tuple[Array, Array]:
        """Return it, and what it is wrong by."""
        here, there = (self.components.density(x) for x in (y - self.shift, y))
        return here.logs - there.logs, here.wrong + there.wrong

    def about(self, y: Array) -> tuple[Array, Array]:
        """Return it and its slope, about."""
        (at, slope), (other, less) = (self.components.about(x) for x in (y - self.shift, y))
        return at - other, slope - less

    def between(self, edges: Array) -> tuple[Array, Array]:
        """Return the least losses between neighbouring numbers, and the largest."""
        at, wrong = self.at(edges)
        middles, widths = 0.5 * (edges[1:] + edges[:-1]), np.diff(edges) * (1 + 1e-9)
        radius = 0.5 * widths + 4 * _UNIT * np.abs(middles)
        here, there = (self.components.slopes(y, radius) for y in (middles - self.shift, middles))
        bent = np.maximum(here.variance, there.variance)
        bent += np.abs(here.level - there.level) + here.aside + there.aside
        # Where it only rises, or falls, the ends have the largest and the least.
        wrong_slope = here.wrong + there.wrong
        turns = np.abs(here.at - there.at) <= wrong_slope + radius * bent * (1 + 1e-6)
        beyond = np.where(turns, 0.125 * widths * widths * bent * (1 + 1e-9), 0.0)
        beyond += np.maximum(wrong[1:], wrong[:-1])
        return np.minimum(at[1:], at[:-1]) - beyond, np.maximum(at[1:], at[:-1]) + beyond

    def edges(self, losses: Array) -> Array:
        """Return numbers that have these losses, all that do, and some more."""
        reach = self.components.reach
        places = np.linspace(-reach, self.shift + reach, _LOOKED_AT)
        about, _ = self.about(places)
        rises = np.diff(about) > 0
        turns = np.flatnonzero(rises[1:] != rises[:-1]) + 1
        found, wanted = [], []
        for start, stop in itertools.pairwise([0, *turns.tolist(), places.size - 1]):
            x, y = (each[start : stop + 1] for each in (about, places))
            x, y = (x, y) if rises[start] else (x[::-1], y[::-1])
            wanted.append(losses[(losses > x[0]) & (losses < x[-1])])
            found.append(np.interp(wanted[-1], x, y))
        edges, goals = np.concatenate(found), np.concatenate(wanted)
        most = _STRIDE * float(places[1] - places[0])
        for _ in range(_STEPS):
            at, slope = self.about(edges)
            step = (at - goals) / np.where(slope != 0, slope, np.inf)
            edges = edges - np.clip(step, -most, most)
        change = np.abs(np.diff(about))
        turns = turns[np.maximum(change[turns - 1], change[turns]) > _FLAT]
        edges = np.concatenate([edges, places, self._about_turns(places, turns)])
        edges.sort()
        least = _NARROWEST * float(self.components.sigmas.min())
        kept: Array = edges[np.append(True, np.diff(edges) > least)]
        return kept

    def _about_turns(self, places: Array, turns: NDArray[np.int64]) -> Array:
        """Return numbers next to where the loss turns, about these; its changes there are even."""
        low, high = places[turns - 1], places[turns + 1]
        _, first = self.about(low)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            is_before = self.about(middle)[1] * first > 0
            low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
        count = min(_AT_TURNS, _AT_ALL_TURNS // max(turns.size, 1))
        aside = (places[1] - places[0]) * np.sqrt(np.linspace(0.0, 1.0, count))
        found: Array = np.add.outer(high, np.append(-aside, aside)).ravel()
        return found


@dataclass(frozen=True, eq=False)
class Cells:
    """Logarithms of what Q gives to cells, and log(p/q) there, with what both are wrong by.

    All losses in a cell, but for the first and the last, are from `low` to `high`. Of samples at a
    `rate` P is (1 - rate) Q + rate P. A loss of `low` may count as `low_up`, one of `high` as
    `high_down`: where the cell's neighbours have an end, or begin.
    """

    log_q: Array
    wrong_q: Array
    losses: Array
    wrong: Array
    low: Array
    high: Array
    low_up: Array
    high_down: Array
    rate: float = 1.0

    def sampled(self, rate: float) -> Cells:
        """Return those of Poisson samples."""
        return replace(self, rate=rate)

    def above(self, grid: float) -> Release:
        """Return losses that dominate both directions."""
        forward, backward = self._above(1, grid), self._above(-1, grid)
        forward.__dict__["swapped"], backward.__dict__["swapped"] = backward, forward
        return forward

    def below(self) -> tuple[Release, Release]:
        """Return losses of both directions that the pair dominates."""
        return self._below(1), self._below(-1)

    def _ratio(self, losses: Array, side: int) -> Array:
        """Return losses of samples, rounded up (1) or down (-1)."""
        if self.rate == 1:
            return losses
        change = self.rate * np.expm1(np.minimum(losses, _LARGEST))
        with np.errstate(divide="ignore"):
            # Where little is left of 1, by what is left.
            left = np.log((1 - self.rate) + self.rate * np.exp(np.minimum(losses, _LARGEST)))
            near = np.where(change < -0.5, left, np.log1p(np.maximum(change, -0.5)))
        found = np.where(losses < _LARGEST, near, losses + math.log(self.rate))
        return np.asarray(found + side * 16 * _UNIT * np.abs(found))

    def _above(self, way: int, grid: float) -> Release:
        mean = way * self._ratio(self.losses + way * self.wrong, way)
        log_q = self.log_q + self.wrong_q
        log_mass = log_q + mean if way > 0 else log_q
        told = np.append(self.high - self.low < _WIDEST, False)
        told = np.append(False, told)  # nor is what is beyond both ends
        infinite = float(np.exp(log_mass[~told]).sum()) * (1 + 1e-9)
        mean, log_mass, told = mean[told], log_mass[told], told[1:-1]
        low, high = self._ratio(self.low[told], -1), self._ratio(self.high[told], 1)
        if way > 0:
            last, counted = high, self._ratio(self.low_up[told], 1)
        else:
            low, high = -high, -low
            last, counted = high, -self._ratio(self.high_down[told], -1)
        low, high = np.minimum(low, mean), np.maximum(high, mean)
        share = np.clip(np.expm1(low - mean) / np.expm1(np.minimum(low - high, -5e-324)), 0.0, 1.0)
        with np.errstate(divide="ignore"):
            below, above = np.log1p(4 * _UNIT - share), np.log(share * (1 + 8 * _UNIT))
        values = np.concatenate([np.maximum(low, counted), np.maximum(high, last)])
        masses = np.concatenate([log_mass + below, log_mass + above])
        infinite += float(np.exp(masses[masses <= _NOTHING]).sum()) * (1 + 1e-9)
        return _sorted(values, masses, infinite, grid)

    def _below(self, way: int) -> Release:
        losses = way * self._ratio(self.losses - way * self.wrong, -way)
        log_q = self.log_q - self.wrong_q
        return _sorted(losses, log_q + losses if way > 0 else log_q)


def _sorted(values: Array, log_mass: Array, infinite: float = 0.0, grid: float = 0.0) -> Release:
    """Return losses, of which the same ones are one."""
    used = np.isfinite(values) & (log_mass > _NOTHING)
    order = np.argsort(values[used], kind="stable")
    values, log_mass = values[used][order], log_mass[used][order]
    starts = np.flatnonzero(np.append(True, np.diff(values) > 0))
    return Release(
        values=values[starts],
        log_mass=np.logaddexp.reduceat(log_mass, starts),
        infinite=infinite,
        infinite_swapped=0.0,
        is_symmetric=False,
        grid=grid,
    )
