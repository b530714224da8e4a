"""One release in place of many: losses that dominate a whole composition.

The profile of the composition is read off a few tilted lattices, in both directions, and its dots
are connected. What it costs is the blur of one more set of points, once. So a composition can be
sampled as one draw, or composed many times as one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._lattice import DiscreteLosses, Tilted, Work, both_directions
from tightnoise.costs._loss_points import points_up_to

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_BEYOND = math.log(1e-40)  # of the probability of losses that count as infinite
_SHARP = 1e-7  # relative: what rounding may add to a value that is good enough
_LATTICES = 24  # read at most,
_WORK = 2.0**23  # as far as this suffices for a direction
_PASSED = 8  # points that are left as they are, if one lattice says nothing of the first
_WHOLE = 4000  # so many multiples of a common grid are all taken for points


def composed_release(releases: dict[Release, int]) -> Release:
    """Return losses that dominate these releases, so often, together, in both directions."""
    directions = both_directions(releases)
    largest = max(losses.chernoff_epsilon(_BEYOND) for losses in directions)
    if largest <= 0:  # no finite loss is positive, in either direction
        points = np.array([0.0, 1.0])
    else:
        # Half way between P and Q, where rare large losses weigh little in both directions.
        width = directions[0].moments(-0.5).deviation
        points = points_up_to(largest, width, _bends(directions[0]))
    profiles = [
        np.minimum(1.0, one.infinite + _slacks_upper(one, points)) * (1 + 4 * _UNIT)
        for one in directions
    ]
    return connect_dots(points, profiles[0], profiles[1] if len(profiles) > 1 else None)


def _bends(losses: DiscreteLosses) -> Array:
    """Return the multiples of a grid on which all losses lie, if they are few."""
    grids = [release.grid for release in losses.releases if release.grid > 0]
    finest = min(grids, default=0.0)
    lie = all(r.grid == 0 or (r.is_whole and r.grid == finest) for r in losses.releases)
    if not lie or finest == 0 or losses.largest > _WHOLE * finest:
        return np.zeros(0)
    return finest * np.arange(1.0, losses.largest / finest + 1)


def _slacks_upper(losses: DiscreteLosses, epsilons: Array) -> Array:
    """Return at least the divergences at these increasing epsilons.

    Each lattice gives bounds at all of them, sharp ones near its own; the least counts. Where the
    work is not allowed, those are left as they are.
    """
    best = np.where(epsilons >= losses.highest, 0.0, 1.0)
    sharp = best == 0
    work = Work(_WORK)
    passed_over = _PASSED  # twice as many after each lattice that is not sharp at the first
    for _ in range(_LATTICES):
        if sharp.all():
            break
        # Up to the first epsilon that has none yet, and on.
        frame = losses.frame(losses.narrow_tilt(float(epsilons[np.argmin(sharp)])))
        if not work.takes(losses, frame):
            break
        tilted = losses.tilted_in(frame)
        bounds, exact = read_upper(tilted, epsilons - tilted.rounding)
        best = np.minimum(best, bounds)
        first = int(np.argmin(sharp))
        sharp |= bounds <= exact * (1 + _SHARP)
        if sharp[first]:
            passed_over = _PASSED
        else:
            sharp[first : first + passed_over] = True
            passed_over *= 2
    return best


def read_upper(tilted: Tilted, epsilons: Array) -> tuple[Array, Array]:
    """Return at least the divergences at rising epsilons, and what they were but for rounding."""
    last = tilted.first + tilted.spacing * (tilted.mass.size - 1)
    inside = (tilted.first < epsilons) & (epsilons <= last)
    tail = tilted.first, tilted.spacing, tilted.tilt, tilted.log_scale
    results = []
    for extra, beyond in ((tilted.extra, tilted.beyond), (0.0, 0.0)):
        log_value = core.lattice_log_deltas(tilted.mass, extra, beyond, *tail, epsilons)
        results.append(np.where(inside, np.exp(np.minimum(log_value, 0.0)), 1.0))
    rounding = 8 * tilted.mass.size + 32 * (1 + abs(tilted.log_scale))
    return np.nextafter(results[0] * (1 + _UNIT * rounding), 1.0), results[1]
