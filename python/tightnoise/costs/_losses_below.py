"""The hockey-stick divergence of many privacy losses together, from below.

The losses of each release lie on one lattice, and are dominated by what they stand for
(`_lattice_below`). So nothing is split, and all errors are taken off where `Tilted` adds them:

- rounding in the FFT and in powers of characteristic functions, from every mass;
- what lies beyond the window counts for nothing, and what an FFT wraps around from there is at most
  its tilted probability W, wherever it comes to lie: at losses of at least max(first, epsilon), so
  that it adds at most W exp(log_scale - tilt (epsilon - first)) to the divergence;
- sums of losses are `raised` too high, at most: what is read at epsilon holds that much below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tightnoise._cached import cached_property
from tightnoise._core import cost as core
from tightnoise.costs._discrete_losses import DiscreteLosses
from tightnoise.costs._lattice import Frame, Tilted
from tightnoise.costs._lattice_below import Below

__all__ = ["LossesBelow", "LossesOn"]

_UNIT = 2.0**-53
_UNDERFLOW = -600.0  # the logarithm of numbers that are far from it
_ROUNDS = 3  # frames that are tried for an epsilon
_CENTRED = 4.0  # deviations
_ALLOWANCES = (1e-12, 1e-9, 1e-6, 1e-3, 1.0)  # of the divergence, for what is taken off


@dataclass(frozen=True, eq=False)
class LossesOn(DiscreteLosses):
    """The losses of releases, on a lattice of this spacing."""

    spacing: float

    def _spacing(self, least: float, wanted: float) -> float:
        return self.spacing


@dataclass(frozen=True, eq=False)
class LossesBelow(LossesOn):
    """The losses of releases on one lattice, to be read from below; `raised` too high in sum."""

    is_upper: ClassVar[bool] = False

    raised: float

    @classmethod
    def of(cls, terms: Iterable[tuple[Below, int]], spacing: float) -> LossesBelow:
        """Return those of so many of each."""
        each = list(terms)
        raised = math.fsum(below.raised * n for below, n in each) * (1 + 4 * _UNIT)
        releases = tuple(below.release for below, _ in each)
        return cls(releases, tuple(n for _, n in each), spacing, raised)

    @cached_property
    def infinite(self) -> float:
        """The probability that one of the losses is infinite, rounded down."""
        kept = hidden = 0.0
        for release, n in self._pairs():
            finite = math.fsum(np.exp(release.log_mass).tolist())
            kept += n * math.log(finite + release.infinite)
            hidden += n * math.log1p(release.infinite / finite)
        rounding = 32 * _UNIT * (1 + self.count)
        return max(0.0, math.exp(kept) * -math.expm1(-hidden) * (1 - rounding))

    def slack_lower(self, epsilon: float, frame: Frame) -> float:
        """Return at most the divergence of the finite losses at `epsilon`."""
        epsilon += self.raised
        if epsilon >= self.highest:
            return 0.0
        return self._slack(self.tilted_in(frame), epsilon)

    def epsilon_lower(self, log_slack: float, frame: Frame) -> float:
        """Return an epsilon at which the divergence of the finite losses exceeds exp(log_slack).

        If it is far from where the frame is, others are tried.
        """
        if self.highest <= 0:
            return 0.0
        best = 0.0
        for _ in range(_ROUNDS):
            found = self._epsilon(self.tilted_in(frame), log_slack)
            best = max(best, found)
            if found > 0 and abs(found - frame.here.mean) < _CENTRED * frame.here.deviation:
                break
            tilt = self._renyi_tilt(log_slack)
            frame = self.frame(self.narrow_tilt(found or self._chernoff_at(tilt, log_slack)))
        return max(0.0, best - self.raised)

    def _epsilon(self, tilted: Tilted, log_slack: float) -> float:
        """Return such an epsilon, but for `raised`; 0 if none is found."""
        for allowance in _ALLOWANCES:
            found = self._read(core.lattice_epsilon, tilted, log_slack + allowance)
            found *= 1 - 4 * _UNIT
            slack = self._slack(tilted, found) if found > 0 else 0.0
            if slack > 0 and math.log(slack) > log_slack:
                return found
        return 0.0

    def _slack(self, tilted: Tilted, epsilon: float) -> float:
        """Return at most the divergence at `epsilon`."""
        rounded = epsilon + tilted.rounding
        log_slack = self._read(core.lattice_log_delta, tilted, rounded)
        # In the units of the reading, whose numbers lose their digits where they underflow.
        log_unit = tilted.log_scale - tilted.tilt * (epsilon - tilted.first)
        if log_slack - log_unit < _UNDERFLOW:
            return 0.0
        outside = (tilted.beyond + tilted.below) * (1 + 1e-9)
        share = outside * math.exp(log_unit - log_slack)
        return math.exp(min(log_slack, 0.0)) * max(0.0, 1 - share - 8 * _UNIT * tilted.mass.size)

    def _read(self, function: Callable[..., float], tilted: Tilted, at: float) -> float:
        mass = np.maximum(tilted.mass * (1 - 4 * _UNIT) - tilted.extra, 0.0)
        tail = tilted.first, tilted.spacing, tilted.tilt
        log_scale = tilted.log_scale - 2 * tilted.doubt - self._mass_doubt
        return function(mass, 0.0, 0.0, *tail, log_scale, at)

    @cached_property
    def _mass_doubt(self) -> float:
        """What rounding of logarithms may have raised the log of a mass of the sum."""
        sizes = ((1 - float(release.log_mass.min())) * n for release, n in self._pairs())
        return 16 * _UNIT * sum(sizes)
