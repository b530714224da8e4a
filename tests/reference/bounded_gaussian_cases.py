"""The random points of the reference table: made of exact operations, so the same everywhere.

The table (bounded_gaussian.npz, written by make_bounded_gaussian.py) holds the values only, and a
fingerprint of the points.
"""

from __future__ import annotations

import hashlib

import numpy as np

MECHANISMS = ("rectified", "truncated", "quantized", "sign")
POINTS = 5000  # a mechanism and function
FAR_POINTS = 500


def _log_uniform(rng, n, low, high):
    """Between 2^low and 2^high, spread evenly over the binades."""
    return np.ldexp(1.0 + rng.random(n), rng.integers(low, high, n))


def _signs(rng, n):
    return np.where(rng.random(n) < 0.5, -1.0, 1.0)


def parameters(rng, n):
    """theta, sigma, lower, upper with |theta|/sigma, |lower - theta|/sigma up to 1e4."""
    sigma = _log_uniform(rng, n, -20, 20)
    theta = _signs(rng, n) * _log_uniform(rng, n, -20, 13) * sigma
    width = _log_uniform(rng, n, -20, 20)
    near = 6.0 * (rng.random(n) - 0.5)  # theta a few sigma from an edge
    far = _log_uniform(rng, n, -3, 13)  # theta far below the support
    inside = -rng.random(n) * np.minimum(width, 8192.0)
    kind = rng.integers(0, 6, n)
    offset = np.choose(kind, [near, near, near, inside, inside, far])
    mirror = rng.random(n) < 0.5
    offset = np.where(mirror, -offset - width, offset)
    offset = np.clip(offset, -10000.0 - width, 10000.0)
    lower = theta + offset * sigma
    upper = lower + width * sigma
    return {"theta": theta, "sigma": sigma, "lower": lower, "upper": upper}


def sign_parameters(rng, n):
    """The sign flips at 0: theta itself a few sigma from it, or far."""
    points = parameters(rng, n)
    near = 8.0 * (rng.random(n) - 0.5)
    far = _signs(rng, n) * _log_uniform(rng, n, -20, 13)
    points["theta"] = np.where(rng.random(n) < 0.9, near, far) * points["sigma"]
    return points


def _orders(rng, n):
    alpha = 1.0 + _log_uniform(rng, n, -20, 17)
    alpha = np.minimum(alpha, 1e5)
    kind = rng.integers(0, 40, n)
    alpha = np.where(kind < 6, rng.random(n) + 2.0**-20, alpha)
    alpha = np.where(kind == 6, 1.0, alpha)
    alpha = np.where(kind == 7, np.inf, alpha)
    return np.where(kind == 8, rng.integers(2, 65, n).astype(float), alpha)


def points(function: str, mechanism: str) -> dict[str, np.ndarray]:
    seed = [MECHANISMS.index(mechanism), *function.encode()]
    rng = np.random.Generator(np.random.PCG64(seed))
    n = FAR_POINTS if function == "renyi_far" else POINTS
    out = (sign_parameters if mechanism == "sign" else parameters)(rng, n)
    out["levels"] = rng.integers(2, 9, n)
    if function == "renyi_far":
        return _far_tail(rng, n, out, mechanism)
    if function in ("renyi", "hockey_stick"):
        out["shift"] = _signs(rng, n) * _log_uniform(rng, n, -30, 6) * out["sigma"]
    if function == "renyi":
        out["alpha"] = _orders(rng, n)
    if function == "hockey_stick":
        # Around the size of the log ratio, where delta is neither 0 nor 1 - e^epsilon.
        reach = np.abs(out["shift"]) / out["sigma"]
        distance = np.minimum(
            np.abs(out["lower"] - out["theta"]), np.abs(out["upper"] - out["theta"])
        )
        scale = reach * (1.0 + reach + distance / out["sigma"])
        out["epsilon"] = np.clip((4.0 * rng.random(n) - 2.0) * scale, -30.0, 700.0)
    if function in ("pdf", "cdf"):
        fraction = rng.random(n)
        x = out["lower"] + fraction * (out["upper"] - out["lower"])
        near = out["theta"] + 12.0 * (rng.random(n) - 0.5) * out["sigma"]
        x = np.where(rng.random(n) < 0.5, x, np.clip(near, out["lower"], out["upper"]))
        out["x"] = np.clip(x, out["lower"], out["upper"])
    return out


def _far_tail(rng, n, out, mechanism):
    """A cell of probability e^-5e3 to e^-5e7 that the order alpha lifts to about 1."""
    sigma = out["sigma"]
    z = _log_uniform(rng, n, 7, 13)
    if mechanism == "sign":
        out["theta"] = -z * sigma
        edge = z
    else:
        out["lower"] = out["theta"] + z * sigma
        out["upper"] = out["lower"] + _log_uniform(rng, n, -4, 4) * sigma
        edge = (out["upper"] - out["theta"]) / sigma
        if mechanism == "quantized":
            edge = edge - (out["upper"] - out["lower"]) / sigma / (out["levels"] - 1.0) / 2.0
    k = _log_uniform(rng, n, -3, 5)
    out["shift"] = -k * sigma
    beta = (edge * edge / 2.0 + 4.0 * (rng.random(n) - 0.5)) / (k * k / 2.0 + edge * k)
    out["alpha"] = 1.0 + beta
    return out


def fingerprint(function: str, mechanism: str) -> str:
    digest = hashlib.sha256()
    for name, values in sorted(points(function, mechanism).items()):
        digest.update(name.encode() + np.ascontiguousarray(values, dtype="<f8").tobytes())
    return digest.hexdigest()
