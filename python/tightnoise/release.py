"""A value of a known range, calibrated for and released in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise import calibrate
from tightnoise._arrays import Floats, broadcast_shape
from tightnoise._validate import float_array, one_of, real_scalar, require
from tightnoise.mechanisms import BoundedLaplace, Mechanism, RectifiedGaussian, TruncatedGaussian
from tightnoise.random import NoiseStream

__all__ = ["BoundedRelease", "release_bounded"]


@dataclass(frozen=True, eq=False)  # == of arrays has no truth value
class BoundedRelease:
    """What was released, and what it cost.

    Parameters
    ----------
    value : float or ndarray
        The noisy value, between the bounds.
    epsilon, delta : float
        What the release spends of a budget, whatever the true value in the domain was.
    mechanism : TruncatedGaussian, RectifiedGaussian or BoundedLaplace
        That drew it: calibrated, and able to draw more at the same price each.

    Examples
    --------
    >>> import tightnoise as tn
    >>> stream = tn.random.NoiseStream(seed=7)
    >>> release = tn.release_bounded(41, 1.0, lower=0, upper=120, sensitivity=2, rng=stream)
    >>> 0 <= release.value <= 120, release.epsilon, release.delta
    (True, 1.0, 0.0)
    >>> round(release.mechanism.sigma, 6)
    14.690489
    """

    value: float | NDArray[np.floating[Any]]
    epsilon: float
    delta: float
    mechanism: Mechanism


class _Noise(NamedTuple):
    scale: Callable[..., Any]
    mechanism: Callable[..., Mechanism]
    uses_delta: bool


_NOISES = {
    "truncated_gaussian": _Noise(calibrate.truncated_gaussian, TruncatedGaussian, True),
    "rectified_gaussian": _Noise(calibrate.rectified_gaussian, RectifiedGaussian, True),
    "bounded_laplace": _Noise(calibrate.bounded_laplace, BoundedLaplace, False),
}


def release_bounded(
    value: ArrayLike,
    epsilon: float,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: ArrayLike,
    *,
    delta: float = 0.0,
    mechanism: str = "truncated_gaussian",
    rng: NoiseStream | None = None,
) -> BoundedRelease:
    """Release a value that is known to lie between bounds, as a noisy value between them.

    The noise is the least of its kind that is (epsilon, delta)-DP for *every* true value in the
    domain, so neither the noise nor the cost depends on the value; see
    `calibrate.truncated_gaussian` for how it is found. Which kind has the least error is what
    `compare_bounded` tells.

    Parameters
    ----------
    value : array_like
        The true value; a number, or an array of any shape whose entries are released together.
    epsilon : float
        Greater than 0; with delta > 0 also 0.
    lower, upper : array_like
        The domain: lower < upper. Numbers, or one for each entry. They must not come from the data.
    sensitivity : array_like
        The most that one person can change the value by. A number bounds the change of a number, or
        the L2 norm of the change of an array; an array bounds the change of each entry.
    delta : float, optional
        From 0 to 1, exclusive of 1. Arrays are released with delta = 0 only; so is what is drawn
        from "bounded_laplace", which makes no use of it.
    mechanism : {"truncated_gaussian", "rectified_gaussian", "bounded_laplace"}, optional
    rng : NoiseStream, optional
        Where the noise comes from; by default the operating system's key.

    Returns
    -------
    BoundedRelease
        The noisy `value` (float64), the `epsilon` and `delta` spent, and the calibrated
        `mechanism`.

    Raises
    ------
    ValueError
        If the value does not lie between the bounds, or an argument is NaN, infinite or out of
        range, or shapes do not fit. The message for a value outside shows that it is outside: clip
        beforehand where even that must stay private.
    CalibrationError
        If no noise can meet the target.
    TypeError
        If an argument does not hold real numbers.

    Examples
    --------
    >>> import tightnoise as tn
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> release = tn.release_bounded(
    ...     [3.2, 4.0], 1.0, lower=[0, 1], upper=[10, 9], sensitivity=[4, 2], rng=stream
    ... )
    >>> release.value.shape, round(release.mechanism.sigma**2, 5)
    ((2,), 31.72006)
    """
    noise = one_of("mechanism", mechanism, _NOISES)
    loss = real_scalar("epsilon", epsilon)
    failure = real_scalar("delta", delta)
    require(0 <= failure < 1, "delta", delta, "at least 0 and less than 1")
    spent = failure if noise.uses_delta else 0.0
    theta = float_array("value", value)
    low, high = float_array("lower", lower), float_array("upper", upper)
    change = float_array("sensitivity", sensitivity)
    shape = broadcast_shape(value=theta, lower=low, upper=high)
    require(theta.shape == shape, "value", theta.shape, f"of the shape {shape} of the bounds")
    require(theta.size > 0, "value", theta.shape, "not empty")
    scale = noise.scale(
        loss,
        _entries(low, shape),
        _entries(high, shape),
        _entries(change, shape) if change.ndim else change[()],  # a number bounds the norm
        **({"delta": spent} if noise.uses_delta else {}),
    )
    drawn = noise.mechanism(scale, low, high)
    noisy = drawn.sample(_inside(theta, low, high), rng=rng)
    return BoundedRelease(noisy if shape else float(noisy), loss, spent, drawn)


def _inside(value: Floats, lower: Floats, upper: Floats) -> NDArray[np.float64]:
    """Return the value as float64; ValueError for the first entry outside its bounds."""
    # A float32 that was clipped to the bounds may lie half a unit outside them.
    with np.errstate(over="ignore"):  # bounds may be beyond what a float32 can be
        outside = (value < lower.astype(value.dtype)) | (value > upper.astype(value.dtype))
    if outside.any():
        entry, least, most = (
            float(np.broadcast_to(array, value.shape)[outside].flat[0])
            for array in (value, lower, upper)
        )
        raise ValueError(
            f"value must lie between its bounds {least} and {most}; got {entry} (if such values "
            "are possible, clip them or widen the domain: the noise hides only what is inside)"
        )
    return np.clip(value.astype(np.float64), lower, upper)


def _entries(array: Floats, shape: tuple[int, ...]) -> Any:
    """Return `array` with one element for each entry of a value of `shape`, in turn."""
    try:
        entries = np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(
            f"sensitivity must be a number or of the shape {shape} of value; got shape "
            f"{array.shape}"
        ) from None
    return entries.ravel() if shape else entries[()]
