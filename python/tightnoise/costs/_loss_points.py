"""The epsilons at which a privacy profile is read, to make losses of it.

Straight lines between points a gap g apart add up to g^2/6 or so to the mean square of a loss there
(see `_connected_dots`). Composed epsilons follow the standard deviation of the losses, so it is the
gap relative to that which counts where most losses are, and relative to the loss itself far out,
where few large ones may decide. So the gaps grow in proportion to the hypotenuse of the two: 3,000
points do what on a lattice takes 100,000.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._discrete_losses import Release

Array = NDArray[np.float64]

# Upper bounds of D(P||Q) and of D(Q||P) at epsilons >= 0. P is the data set with the record.
Profile = Callable[[Array], tuple[Array, Array]]

LARGEST_LOSS = 1e60
"""Beyond, losses mean nothing."""

_SMALLEST_LOSS = 1e-100  # smaller ones are taken for this
_LATTICE = 10_000  # points up to the largest loss
_NEAR = 1 / 300  # a gap near 0, as a share of the width,
_FAR = 1 / 400  # and far from 0, as a share of the loss
_FINEST = 1e-18  # a width, as a share of the largest loss
_APART = 0.3  # of the gap there: points nearer to a bend are left out


def points_up_to(largest: float, width: float, bends: Sequence[float] | Array = ()) -> Array:
    """Return epsilons from 0 to `largest` > 0, denser where losses of deviation `width` > 0 are.

    Those in `bends` are hit exactly: corners of the profile, which straight lines would cut.
    """
    scale = max(width, _FINEST * largest) * (_NEAR / _FAR)
    n = math.ceil(math.asinh(largest / scale) / _FAR) + 1
    points = scale * np.sinh(np.linspace(0.0, math.asinh(largest / scale), n))
    corners = np.unique(np.asarray(bends, dtype=np.float64))
    fixed = np.concatenate([[0.0], corners[(corners > 0) & (corners < largest)], [largest]])
    gaps = _FAR * np.hypot(scale, points)
    after = np.minimum(np.searchsorted(fixed, points), fixed.size - 1)
    nearest = np.minimum(np.abs(fixed[after] - points), np.abs(points - fixed[after - 1]))
    return np.union1d(fixed, points[(nearest > _APART * gaps) & (points < largest)])


def losses_of(
    profile: Profile,
    largest: float,
    width: float,
    bends: Sequence[float] | Array = (),
    *,
    symmetric: bool,
) -> Release:
    """Return losses that dominate the pair with this profile, in both directions.

    They lie at `points_up_to(largest, width, bends)`; what the profile has left at `largest` is
    the probability of infinite ones. `symmetric`: both directions have the same profile.
    """
    least = _SMALLEST_LOSS  # squares of smaller ones underflow
    epsilons = points_up_to(max(largest, least), max(width, least), bends)
    forward, backward = profile(epsilons)
    return connect_dots(epsilons, forward, None if symmetric else backward)


def lattice_losses_of(profile: Profile, largest: float, bend: float = math.inf) -> Release:
    """Return losses at multiples of a spacing, of a pair that is the same in both directions.

    Sums of such losses are multiples again, so that composing them splits none. The losses at
    multiples of `bend`, where the profile has corners, are among them.
    """
    loss = max(largest, _SMALLEST_LOSS)
    spacing = max(loss / (_LATTICE - 1) * (1 + 2.0**-51), sys.float_info.min)
    if spacing < bend <= loss:
        spacing = bend / math.ceil(bend / spacing)
    count = math.ceil(loss / spacing * (1 + 2.0**-51)) + 1
    points = spacing * np.arange(count, dtype=np.float64)
    return connect_dots(points, profile(points)[0])
