"""What one value costs its neighbours at some orders: as the package says it, and in full."""

import numpy as np

import tightnoise as tn


def bounded(kind, sigma, lower, upper, levels=4):
    """Return the mechanism of a kind, by the core's name."""
    if kind == "sign":
        return tn.StochasticSign(sigma)
    if kind == "quantized":
        return tn.QuantizedGaussian(sigma, lower, upper, levels)
    make = {"rectified": tn.RectifiedGaussian, "truncated": tn.TruncatedGaussian}
    return make.get(kind, tn.BoundedLaplace)(sigma, lower, upper)


def rdp_at(mechanism, theta, orders, c):
    """Return the bounds of `cost_at`."""
    return mechanism.cost_at(theta, coordinate_sensitivity=c).rdp(orders).values


def exact_rdp(mechanism, theta, orders, c):
    """Return the sums over all coordinates, without margins and sketches."""
    values = np.asarray(theta, np.float64)
    return np.maximum(*mechanism._law.rdp_sums(values, np.asarray(orders, float), np.asarray(c)))
