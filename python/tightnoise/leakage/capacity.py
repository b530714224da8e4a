"""Bayes capacity: the most by which a release multiplies the chance of any guess.

Which formula a mechanism has is registered with `log_bayes_capacity`, one function a mechanism.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats, broadcast_shape, elementwise, operand
from tightnoise._core import leakage, special
from tightnoise._validate import (
    MAX_COUNT,
    float_array,
    integer,
    not_negative,
    number_array,
    require,
    require_all,
    shown,
)
from tightnoise.mechanisms import (
    Gaussian,
    LiftedVonMisesFisher,
    ProductVonMisesFisher,
    QuantizedGaussian,
    RectifiedGaussian,
    StochasticSign,
    TruncatedGaussian,
    VonMisesFisher,
)

__all__ = ["log_bayes_capacity"]

Array = NDArray[np.float64]

# Added relatively to every result, so that rounding cannot bring it below the truth: the core is
# within 1e-14 (its cards, checked by the tests), a ratio such as radius / sigma is rounded by
# 1e-16, which log C feels by a factor of 2 at most. Well inside the promised 1e-12.
MARGIN = 2e-13

# C - 1 of a coordinate below this may come back as 0 (the kernels' card): added once a coordinate.
UNDERFLOW = 1e-300

# Beyond this many sigma squares overflow.
FARTHEST = 1e100


@functools.singledispatch
def log_bayes_capacity(
    mechanism: object,
    *,
    dim: int | ArrayLike = 1,
    radius: ArrayLike | None = None,
    domain: tuple[ArrayLike, ArrayLike] | None = None,
) -> float:
    """Return the natural logarithm of the Bayes capacity (the capacity itself would overflow).

    The capacity C is the integral over outputs y of the largest density that any input x gives
    them, sup_x f(y | x) (for discrete outputs, the sum of the largest probabilities). It is the
    most by which seeing one release multiplies an adversary's expected gain, whatever it knew
    before and whatever it wants to guess: the record itself, something close to it, or one property
    of it. A reconstruction that succeeds with probability p by guessing blindly succeeds with C p
    at most after the release. The bound is attained by somebody who wants all of a uniformly
    distributed input. log C is also the Sibson mutual information of order infinity.

    Releases of the same data with independent noise: their log capacities add up to an upper bound
    of that of all together. What is computed from a release has no more than the release.

    Where x is a function of the data, as a clipped gradient is, this is an upper bound, and
    attained if the data can produce every x of the ball, box or sphere. log C is then also at most
    the logarithm of the number of data sets that are possible.

    Parameters
    ----------
    mechanism : Mechanism
        - `Gaussian`: with `radius` on a ball (Theorem 5, without its factor of 2 too many in the
          first term), with `domain` on a box.
        - `RectifiedGaussian`, `TruncatedGaussian`, `QuantizedGaussian`, `StochasticSign`: on a box.
        - `VonMisesFisher`, `ProductVonMisesFisher`: any direction (Theorem 6), so there is nothing
          else to say.
        - `LiftedVonMisesFisher`: the sum S in the ball of `radius`, or anywhere if that is None.
          Directions of (S, anchor) fill a cap, at most half of the sphere.

        Other mechanisms take part by `log_bayes_capacity.register(TheirClass)(function)`.
    dim : int or sequence of int
        The number of dimensions of the ball, or of coordinates of the box that share the same
        numbers. Where there is an array with one number a coordinate, that says how many there are;
        directions have their own `dim`.
    radius : float or sequence of float
        The input is anywhere in the ball of this radius: what gradients are clipped to, times how
        many are added. For a `Gaussian` also a sequence, or `dim` one, or both: a product of balls,
        such as layers that are clipped one by one; log capacities add.
    domain : (lower, upper)
        Every coordinate of the input is anywhere between these numbers, or arrays with one number a
        coordinate. By default the mechanism's own bounds, if it has them. May be infinite for
        `RectifiedGaussian`, `QuantizedGaussian` and `StochasticSign`.

    Returns
    -------
    float
        log C >= 0, in [truth, truth (1 + 1e-12)].

    Raises
    ------
    ValueError
        If a number is out of its range, `lower` is above `upper`, shapes do not fit, or `radius` or
        `domain` is missing, or given to a mechanism that has no use for it.
    TypeError
        If the mechanism is not one of the above, or an argument does not hold real numbers.

    Notes
    -----
    Definition: "Comparing privacy notions for protection against reconstruction attacks in machine
    learning", section V. On a box everything is, for each coordinate,

        C - 1 = integral over the domain of -dF_theta/dtheta at the output that theta explains best,

    derived in cpp/leakage/bayes_capacity_box.hpp. For the Gaussian that is
    (upper - lower)/(sigma sqrt(2 pi)), and the same for the rectified Gaussian as long as the
    domain lies within its bounds: clipping saves nothing there. The sign has Phi(upper/sigma) -
    Phi(lower/sigma). All are closed forms but that of the truncated Gaussian, which is a
    quadrature (of a smooth positive function, with an error of 1e-14), as is the cap of the lifted
    directions (cpp/leakage/bayes_capacity_cap.cpp).

    Examples
    --------
    >>> import tightnoise as tn
    >>> round(tn.log_bayes_capacity(tn.Gaussian(1.23), dim=13_700, radius=1.0), 6)
    94.993368
    >>> layers = tn.log_bayes_capacity(tn.Gaussian(1.23), dim=[12_800, 750, 150], radius=1.0)
    >>> round(layers, 6)
    123.684767
    >>> round(tn.log_bayes_capacity(tn.VonMisesFisher(75.0, 13_700)), 6)
    74.794711
    >>> lifted = tn.LiftedVonMisesFisher(75.0, 13_700, anchor=8.0)
    >>> round(tn.log_bayes_capacity(lifted, radius=1.0), 6)
    9.298971
    >>> round(tn.log_bayes_capacity(tn.StochasticSign(0.5), dim=100, domain=(-1, 1)), 6)
    67.013427
    """
    name = type(mechanism).__name__
    raise TypeError(f"mechanism must be one that has a Bayes capacity here; got {name}")


@log_bayes_capacity.register(Gaussian)
def _of_gaussian(
    mechanism: Gaussian,
    *,
    dim: int | ArrayLike = 1,
    radius: ArrayLike | None = None,
    domain: tuple[ArrayLike, ArrayLike] | None = None,
) -> float:
    if radius is None and domain is None:
        raise ValueError("radius or domain must say where the input may lie; got neither")
    if radius is None:
        return _of_coordinates(mechanism, dim=dim, domain=domain)
    require(domain is None, "domain", domain, "None where there is a radius")
    if np.ndim(mechanism.sigma):
        raise ValueError(
            f"sigma must be one number on a ball; got an array of shape {np.shape(mechanism.sigma)}"
        )
    return _upwards(float(_on_balls(float(mechanism.sigma), _dims(dim), radius).sum()))


@log_bayes_capacity.register(RectifiedGaussian)
@log_bayes_capacity.register(TruncatedGaussian)
@log_bayes_capacity.register(QuantizedGaussian)
@log_bayes_capacity.register(StochasticSign)
def _of_coordinates(
    mechanism: Any,
    *,
    dim: int | ArrayLike = 1,
    radius: ArrayLike | None = None,
    domain: tuple[ArrayLike, ArrayLike] | None = None,
) -> float:
    """Return the sum over coordinates of log C."""
    _refuse("radius", radius, mechanism, "lies in a box")
    law = next(law for kind, law in _LAWS.items() if isinstance(mechanism, kind))
    bounds = (mechanism.lower, mechanism.upper) if law.is_bounded else (0.0, 0.0)
    ends = _domain(bounds if law.is_bounded and domain is None else domain, finite=law.is_finite)
    names = ("sigma", "lower", "upper", "domain start", "domain end")
    arrays = [np.asarray(a, dtype=np.float64) for a in (mechanism.sigma, *bounds, *ends)]
    shape = broadcast_shape(**dict(zip(names, arrays, strict=True)))
    size = int(np.prod(shape))
    require(size > 0, "domain", shape, "not empty")
    count = integer("dim", dim, minimum=1, maximum=MAX_COUNT)
    if shape:
        require(count in (1, size), "dim", dim, f"{size}, the number of coordinates, or left out")
        count = 1
    farthest = FARTHEST * float(arrays[0].min())
    for name, array in zip(names[1:], arrays[1:], strict=True):
        near = (np.abs(array) <= farthest) | np.isinf(array)
        require_all(near, name, array, f"within {FARTHEST} sigma of 0")
    levels = getattr(mechanism, "levels", 2)
    total = law.core(*(operand(array, shape) for array in arrays), levels, size)
    below = UNDERFLOW * size if np.any(ends[0] < ends[1]) else 0.0
    return _upwards(count * (total + below))


class _Law(NamedTuple):
    """What is known of a mechanism on a box."""

    core: Callable[..., float]
    is_bounded: bool
    is_finite: bool
    """Whether its domain must be."""


_LAWS: dict[type, _Law] = {
    Gaussian: _Law(leakage.gaussian, is_bounded=False, is_finite=True),
    RectifiedGaussian: _Law(leakage.rectified, is_bounded=True, is_finite=False),
    TruncatedGaussian: _Law(leakage.truncated, is_bounded=True, is_finite=True),
    QuantizedGaussian: _Law(leakage.quantized, is_bounded=True, is_finite=False),
    StochasticSign: _Law(leakage.sign, is_bounded=False, is_finite=False),
}


@log_bayes_capacity.register(VonMisesFisher)
@log_bayes_capacity.register(ProductVonMisesFisher)
def _of_directions(
    mechanism: VonMisesFisher | ProductVonMisesFisher,
    *,
    dim: int | ArrayLike = 1,
    radius: ArrayLike | None = None,
    domain: tuple[ArrayLike, ArrayLike] | None = None,
) -> float:
    # Every output has a mean direction that is the output itself. (A vector of zeros, whose output
    # is uniform, explains none better than that.)
    _refuse_dim(dim, mechanism)
    _refuse("radius", radius, mechanism, "is any direction")
    _refuse("domain", domain, mechanism, "does not lie in a box")
    blocks = mechanism.layers if isinstance(mechanism, ProductVonMisesFisher) else (mechanism,)
    order = np.array([0.5 * block.dim - 1.0 for block in blocks])
    kappa = np.array([block.kappa for block in blocks])
    return _upwards(float(elementwise(special.log_peak_to_mean, nu=order, x=kappa).sum()))


@log_bayes_capacity.register(LiftedVonMisesFisher)
def _of_lifted(
    mechanism: LiftedVonMisesFisher,
    *,
    dim: int | ArrayLike = 1,
    radius: ArrayLike | None = None,
    domain: tuple[ArrayLike, ArrayLike] | None = None,
) -> float:
    _refuse_dim(dim, mechanism)
    _refuse("domain", domain, mechanism, "does not lie in a box")
    farthest = math.inf if radius is None else not_negative("radius", radius)
    if mechanism.kappa == 0 or farthest == 0:
        return 0.0
    core = leakage.log_cap_capacity
    log_capacity = elementwise(
        core,
        kappa=np.array(mechanism.kappa),
        dim=np.array(mechanism.dim + 1.0),
        half_angle=np.array(math.atan2(farthest, mechanism.anchor)),
    )
    return _upwards(max(float(log_capacity), UNDERFLOW))


def _refuse_dim(dim: int | ArrayLike, mechanism: Any) -> None:
    good = np.ndim(dim) == 0 and dim in (1, mechanism.dim)
    require(good, "dim", dim, f"left out: {type(mechanism).__name__} has dim {mechanism.dim}")


def _refuse(name: str, value: object, mechanism: object, why: str) -> None:
    require(value is None, name, value, f"None: the input of {type(mechanism).__name__} {why}")


# --- balls ----------------------------------------------------------------------------------------


def _dims(dim: int | ArrayLike) -> Array:
    """Return one count of dimensions, or a sequence of them, as float64: exact up to MAX_COUNT."""
    if np.ndim(dim) == 0:
        return np.array(float(integer("dim", dim, minimum=1, maximum=MAX_COUNT)))
    array = np.asarray(dim)
    if array.dtype.kind not in "iu":
        raise TypeError(f"dim must hold integers; got dtype {array.dtype}")
    require_all((array >= 1) & (array <= MAX_COUNT), "dim", array, f"between 1 and {MAX_COUNT}")
    return array.astype(np.float64)


def _on_balls(sigma: float, dims: Array, radius: ArrayLike) -> Array:
    radii = float_array("radius", radius).astype(np.float64)
    require_all(radii >= 0, "radius", radii, "at least 0")
    with np.errstate(over="ignore"):
        reach = radii / sigma
    require_all(reach <= FARTHEST, "radius", radii, f"within {FARTHEST} sigma")
    shape = broadcast_shape(dim=dims, radius=radii)
    require(len(shape) < 2 and 0 not in shape, "radius", radius, "a number or a sequence of them")
    # A quotient that underflows would count for too little.
    reach = np.where(radii > 0, np.maximum(reach, sys.float_info.min), 0.0)
    return elementwise(leakage.log_ball_capacity, dim=dims, radius=reach)


# --- boxes ----------------------------------------------------------------------------------------


def _domain(domain: Any, *, finite: bool = False) -> tuple[Floats, Floats]:
    """Return the two ends of the input's coordinates."""
    if domain is None:
        raise ValueError("domain must say between which numbers the input lies; got None")
    try:
        start, end = domain
    except (TypeError, ValueError):
        raise ValueError(f"domain must be a pair (lower, upper); got {shown(domain)}") from None
    check = float_array if finite else number_array
    low, high = (np.asarray(check("domain", side), dtype=np.float64) for side in (start, end))
    broadcast_shape(domain_lower=low, domain_upper=high)
    good = (low <= high) & (low < np.inf) & (high > -np.inf)
    if not good.all():
        bad = [float(np.broadcast_to(side, good.shape)[~good].flat[0]) for side in (low, high)]
        raise ValueError(f"domain must be a pair lower <= upper; got {bad[0]} and {bad[1]}")
    return low, high


def _upwards(log_capacity: float) -> float:
    # The next number, too: subnormal ones are too coarse for the margin.
    return 0.0 if log_capacity <= 0 else math.nextafter(log_capacity * (1.0 + MARGIN), math.inf)
