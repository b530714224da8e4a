"""What one value costs its neighbours at some orders: as the package says it, and in full."""

import numpy as np


def rdp_at(mechanism, theta, orders, c):
    """Return the bounds of `cost_at`."""
    return mechanism.cost_at(theta, coordinate_sensitivity=c).rdp(orders).values


def exact_rdp(mechanism, theta, orders, c):
    """Return the sums over all coordinates, without margins and sketches."""
    values = np.asarray(theta, np.float64)
    return np.maximum(*mechanism._law.rdp_sums(values, np.asarray(orders, float), np.asarray(c)))
