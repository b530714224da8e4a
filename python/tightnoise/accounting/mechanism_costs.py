"""What a mechanism costs wherever its value lies, for accountants.

A mechanism does not know how it is composed: that knowledge is here, one function a mechanism,
registered with `cost_of`.
"""

from __future__ import annotations

import functools
import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np

from tightnoise._validate import fraction, positive, real_scalar, require
from tightnoise.accounting.sampled_product import SampledProductRdp
from tightnoise.costs import RdpCurve
from tightnoise.costs._guarantees import pure
from tightnoise.costs._sampled_gaussian import sampled_gaussian
from tightnoise.costs._sampled_von_mises_fisher import sampled_von_mises_fisher
from tightnoise.costs._sampling import adjacency_of, is_fixed_size
from tightnoise.costs._subsampling import fixed_size_sampled, poisson_subsampled
from tightnoise.mechanisms import (
    AdditiveNoise,
    Gaussian,
    LiftedVonMisesFisher,
    Mechanism,
    ProductVonMisesFisher,
    QuantizedGaussian,
    RectifiedGaussian,
    Staircase,
    StochasticSign,
    Tulap,
    VonMisesFisher,
)

__all__ = ["cost_of"]


@functools.singledispatch
def cost_of(
    mechanism: Any,
    *,
    sampling_rate: float = 1.0,
    sampling: str = "poisson",
    sensitivity: float = 1.0,
) -> RdpCurve:
    """Return the cost of one release that holds for every data set: what an accountant adds up.

    A mechanism of another package takes part by `cost_of.register(ItsClass)(function)`, where the
    function has this signature and returns a cost that is proved for all pairs of neighbours. It
    may do without `sampling`, which an accountant passes on only if it is not "poisson".

    Parameters
    ----------
    mechanism : Mechanism or RdpCurve
        - `Gaussian`: the (sampled) Gaussian mechanism of noise multiplier sigma / sensitivity.
        - `RectifiedGaussian`, `QuantizedGaussian`, `StochasticSign`: as `Gaussian`, since each is a
          function of its output and a function of an output tells no more than the output. What one
          release of a known value costs is less: that is `mechanism.rdp(theta, ...)`, an
          `RdpCurve`, which adds up with others only if no output chooses theta.
        - `VonMisesFisher`: for opposite directions, as `sampled_von_mises_fisher`. One record can
          turn a sum around, however many it is of, so `sensitivity` has no meaning: it must be 1.
          Where angles are bounded, compose `sampled_von_mises_fisher(..., angle=...)`, or release
          by `LiftedVonMisesFisher`, which bounds them.
        - `ProductVonMisesFisher`: likewise, for opposite directions of all blocks; sampled, as
          `sampled_product.SampledProductRdp`.
        - `LiftedVonMisesFisher`: for the angle that a change of `sensitivity` can make, as
          `sampled_von_mises_fisher`.
        - `AdditiveNoise` that has a curve, `rdp(sensitivity=...)`: that. `Laplace`: the exact one;
          mixtures of Gaussians: by zero-concentrated DP, often far above the truth, which
          `privacy_loss` composes. `Staircase` and `Tulap` without a bound: that of any release
          with their largest privacy loss, as `pure`. Sampled, as an `RdpCurve`. (Bounded noise has
          no such cost: compose its privacy-loss distribution.)
        - `RdpCurve`: itself, amplified if `sampling_rate` is below 1: by `poisson_subsampled`, or,
          for batches of a fixed size, as by `sampled_without_replacement`. (That takes
          milliseconds: in a loop, do it once and compose the curve that it returns.)
        - `TruncatedGaussian` and `BoundedLaplace` are no functions of the output of additive noise
          and have no such cost.
    sampling_rate : float
        The share, in (0, 1], of the records that takes part.
    sampling : {"poisson", "fixed-size"}
        "poisson": each record takes part with this probability, independently; below 1 the cost is
        for add-remove neighbours. "fixed-size": batches of a fixed number of records, without
        replacement, `sampling_rate` is that number by the number of all records; below 1 the cost
        is for replace-one neighbours.
    sensitivity : float
        The most that one record changes the value by, in Euclidean norm over all coordinates:
        by being there or not, in Poisson samples; by being another, in batches of a fixed size
        (2 C, for a sum of vectors that are clipped to norm C). (That of `Mechanism.rdp` is for each
        coordinate.) An `RdpCurve` has its own: 1 only.

    Returns
    -------
    RdpCurve

    Raises
    ------
    ValueError
        For a sampling rate outside (0, 1], a sensitivity that is not positive and finite, a sigma
        for each coordinate, a per-instance curve with a sampling rate below 1.
    TypeError
        For anything else.

    Examples
    --------
    >>> import tightnoise as tn
    >>> from tightnoise.accounting import cost_of
    >>> cost_of(tn.Gaussian(2.0), sensitivity=0.5).at([2, 4]).values
    array([0.0625, 0.125 ])
    """
    name = type(mechanism).__name__
    if isinstance(mechanism, Mechanism):
        raise TypeError(
            f"mechanism must have a cost that holds for every value, and {name} has none here: "
            "pass what it costs to release a value that does not depend on earlier outputs, "
            "mechanism.rdp(theta, sensitivity=...)"
        )
    raise TypeError(f"mechanism must be a mechanism or an RdpCurve; got {name}")


@cost_of.register(RdpCurve)
def _of_curve(
    curve: RdpCurve,
    *,
    sampling_rate: float = 1.0,
    sampling: str = "poisson",
    sensitivity: float = 1.0,
) -> RdpCurve:
    fixed_size = is_fixed_size(sampling)
    rate = fraction("sampling_rate", sampling_rate)
    own = real_scalar("sensitivity", sensitivity) == 1
    require(own, "sensitivity", sensitivity, "1 for a curve, which has its own")
    if rate == 1:
        return curve
    return fixed_size_sampled(curve, rate) if fixed_size else poisson_subsampled(curve, rate)


@cost_of.register(Gaussian)
@cost_of.register(RectifiedGaussian)
@cost_of.register(QuantizedGaussian)
@cost_of.register(StochasticSign)
def _of_gaussian(
    mechanism: Gaussian | RectifiedGaussian | QuantizedGaussian | StochasticSign,
    *,
    sampling_rate: float = 1.0,
    sampling: str = "poisson",
    sensitivity: float = 1.0,
) -> RdpCurve:
    if np.ndim(mechanism.sigma):
        raise ValueError(
            "sigma must be one number to be composed; got an array: "
            "pass mechanism.rdp(theta, sensitivity=...)"
        )
    multiplier = _ratio_lower(float(mechanism.sigma), positive("sensitivity", sensitivity))
    return sampled_gaussian(multiplier, fraction("sampling_rate", sampling_rate), sampling=sampling)


@cost_of.register(AdditiveNoise)
def _of_additive_noise(
    mechanism: AdditiveNoise,
    *,
    sampling_rate: float = 1.0,
    sampling: str = "poisson",
    sensitivity: float = 1.0,
) -> RdpCurve:
    rdp = getattr(mechanism, "rdp", None)
    if rdp is None:
        raise TypeError(
            "mechanism must have a Renyi-DP curve, and none is known for "
            f"{type(mechanism).__name__}: compose accounting.privacy_loss(mechanism, "
            "sensitivity=...) instead, which is exact"
        )
    curve = rdp(sensitivity=positive("sensitivity", sensitivity))
    return _of_curve(curve, sampling_rate=sampling_rate, sampling=sampling)


@cost_of.register(Staircase)
@cost_of.register(Tulap)
def _of_staircase(
    mechanism: Staircase | Tulap,
    *,
    sampling_rate: float = 1.0,
    sampling: str = "poisson",
    sensitivity: float = 1.0,
) -> RdpCurve:
    greatest_loss = mechanism.epsilon_at(0.0, positive("sensitivity", sensitivity))
    if not math.isfinite(greatest_loss):
        raise ValueError(
            "mechanism must not be bounded to have a Renyi-DP curve: outputs next to an end are "
            f"possible from one of two neighbours only; got {mechanism}"
        )
    return _of_curve(pure(greatest_loss), sampling_rate=sampling_rate, sampling=sampling)


@cost_of.register(VonMisesFisher)
def _of_von_mises_fisher(
    mechanism: VonMisesFisher,
    *,
    sampling_rate: float = 1.0,
    sampling: str = "poisson",
    sensitivity: float = 1.0,
) -> RdpCurve:
    _require_direction(mechanism, sensitivity)
    return sampled_von_mises_fisher(
        mechanism.kappa, mechanism.dim, sampling_rate, sampling=sampling
    )


@cost_of.register(LiftedVonMisesFisher)
def _of_lifted_von_mises_fisher(
    mechanism: LiftedVonMisesFisher,
    *,
    sampling_rate: float = 1.0,
    sampling: str = "poisson",
    sensitivity: float = 1.0,
) -> RdpCurve:
    angle = mechanism.max_angle(positive("sensitivity", sensitivity))
    return sampled_von_mises_fisher(
        mechanism.kappa, mechanism.dim + 1, sampling_rate, angle=angle, sampling=sampling
    )


@cost_of.register(ProductVonMisesFisher)
def _of_product_von_mises_fisher(
    mechanism: ProductVonMisesFisher,
    *,
    sampling_rate: float = 1.0,
    sampling: str = "poisson",
    sensitivity: float = 1.0,
) -> RdpCurve:
    if len(mechanism.layers) == 1:
        return cost_of(
            mechanism.layers[0],
            sampling_rate=sampling_rate,
            sampling=sampling,
            sensitivity=sensitivity,
        )
    _require_direction(mechanism, sensitivity)
    adjacency = adjacency_of(sampling)
    if fraction("sampling_rate", sampling_rate) == 1:
        return mechanism.rdp()
    function = SampledProductRdp(mechanism, sampling_rate, sampling)
    return RdpCurve.of_function(function, adjacency=adjacency)


def _require_direction(mechanism: VonMisesFisher | ProductVonMisesFisher, sensitivity: Any) -> None:
    own = real_scalar("sensitivity", sensitivity) == 1
    allowed = (
        f"1 for {type(mechanism).__name__}, which releases directions and no lengths: one record "
        "can turn them around; if angles are bounded, compose mechanism.rdp(angle=...) or "
        "sampled_von_mises_fisher(..., angle=...)"
    )
    require(own, "sensitivity", sensitivity, allowed)


def _ratio_lower(sigma: float, sensitivity: float) -> float:
    """Return sigma / sensitivity, rounded downwards: with less noise the cost is higher."""
    if sensitivity == 1:
        return sigma
    exact = Fraction(sigma) / Fraction(sensitivity)
    if exact >= sys.float_info.max:
        return sys.float_info.max
    ratio = float(exact)
    ratio = ratio if ratio <= exact else math.nextafter(ratio, 0.0)
    require(ratio > 0, "sigma / sensitivity", f"{sigma} / {sensitivity}", "greater than 0")
    return ratio
