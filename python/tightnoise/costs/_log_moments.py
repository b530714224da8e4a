"""Renyi divergences of a distribution of losses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._discrete_losses import Release

__all__ = ["renyi_upper"]

Array = NDArray[np.float64]


def renyi_upper(release: Release, orders: Array) -> Array:
    """Return the larger divergence of both directions at orders above 1, rounded up."""
    worst = np.zeros(orders.shape)
    for one in {release, release.swapped}:
        if one.infinite > 0:
            return np.full(orders.shape, np.inf)
        exponents = np.multiply.outer(orders - 1, one.values) + one.log_mass
        largest = exponents.max(axis=-1)
        sums = np.exp(exponents - largest[..., None]).sum(axis=-1)
        worst = np.maximum(worst, (largest + np.log(sums)) / (orders - 1))
    return np.asarray(worst * (1 + 1e-12) + 1e-15)
