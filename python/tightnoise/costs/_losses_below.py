"""The hockey-stick divergence of many privacy losses together, from below.

The losses of each release lie on one lattice, and are dominated by what they stand for
(`_lattice_below`). So nothing is split, and all errors are taken off where `Tilted` adds them:

- rounding in the FFT and in powers of characteristic functions, from every mass or in sum;
- what lies beyond the window counts for nothing, and what an FFT wraps around from there is at most
  its tilted probability W, wherever it comes to lie: at losses of at least max(first, epsilon), so
  that it adds at most W exp(log_scale - tilt (epsilon - first)) to the divergence;
- sums of losses are `raised` too high, at most: what is read at epsilon holds that much below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._cached import cached_property
from tightnoise._core import cost as core
from tightnoise.costs._discrete_losses import DiscreteLosses
from tightnoise.costs._lattice import ALLOWANCES, Frame, Tilted
from tightnoise.costs._lattice_below import Below

__all__ = ["LossesBelow", "LossesOn"]

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_UNDERFLOW = -600.0  # the logarithm of numbers that are far from it
_ROUNDS = 3  # frames that are tried for an epsilon
_SHARP = 1e-6


@dataclass(frozen=True, eq=False)
class LossesOn(DiscreteLosses):
    """The losses of releases, on a lattice of this spacing."""

    spacing: float

    def _spacing(self, least: float, wanted: float) -> float:
        return self.spacing


class _Reading(NamedTuple):
    """Masses, and what is to be taken off the divergence."""

    tilted: Tilted
    mass: Array
    outside: float


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
        return max(self._slack(reading, epsilon) for reading in self._readings(frame))

    def epsilon_lower(self, log_slack: float, frame: Frame) -> float:
        """Return an epsilon at which the divergence of the finite losses exceeds exp(log_slack).

        If nothing sharp is found where the frame is, others are tried.
        """
        if self.highest <= 0:
            return 0.0
        best = 0.0
        for _ in range(_ROUNDS):
            found = [self._epsilon(reading, log_slack) for reading in self._readings(frame)]
            best = max(best, *(epsilon for epsilon, _ in found))
            if any(is_sharp for _, is_sharp in found):
                break
            tilt = self._renyi_tilt(log_slack)
            frame = self.frame(self.narrow_tilt(best or self._chernoff_at(tilt, log_slack)))
        return max(0.0, best - self.raised)

    def _readings(self, frame: Frame) -> tuple[_Reading, _Reading]:
        """Return the masses less all that each may be too large by, and what errors add in sum."""
        tilted = self.tilted_in(frame)
        mass = tilted.mass * (1 - 4 * _UNIT)
        outside = tilted.beyond + tilted.below
        return (
            _Reading(tilted, np.maximum(mass - tilted.extra, 0.0), outside),
            _Reading(tilted, mass, outside + tilted.noise),
        )

    def _epsilon(self, reading: _Reading, log_slack: float) -> tuple[float, bool]:
        """Return such an epsilon, but for `raised`, and whether it is sharp; 0 if none is found."""
        for allowance in ALLOWANCES:
            found = self._read(core.lattice_epsilon, reading, log_slack + allowance)
            found *= 1 - 4 * _UNIT
            slack = self._slack(reading, found) if found > 0 else 0.0
            if slack > 0 and math.log(slack) > log_slack:
                return found, allowance <= _SHARP
        return 0.0, False

    def _slack(self, reading: _Reading, epsilon: float) -> float:
        """Return at most the divergence at `epsilon`."""
        tilted = reading.tilted
        log_slack = self._read(core.lattice_log_delta, reading, epsilon + tilted.rounding)
        # In the units of the reading, whose numbers lose their digits where they underflow.
        log_unit = tilted.log_scale - tilted.tilt * (epsilon - tilted.first)
        if log_slack - log_unit < _UNDERFLOW:
            return 0.0
        share = reading.outside * (1 + 1e-9) * math.exp(log_unit - log_slack)
        return math.exp(min(log_slack, 0.0)) * max(0.0, 1 - share - 8 * _UNIT * tilted.mass.size)

    def _read(self, function: Callable[..., float], reading: _Reading, at: float) -> float:
        tilted = reading.tilted
        log_scale = tilted.log_scale - 2 * tilted.doubt - self._mass_doubt
        tail = tilted.first, tilted.spacing, tilted.tilt, log_scale
        return function(reading.mass, 0.0, 0.0, *tail, at)

    @cached_property
    def _mass_doubt(self) -> float:
        """What rounding of logarithms may have raised the log of a mass of the sum."""
        sizes = ((1 - float(release.log_mass.min())) * n for release, n in self._pairs())
        return 16 * _UNIT * sum(sizes)
