"""Von Mises-Fisher mechanisms on a random sample of the records."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise import _core
from tightnoise._validate import fraction
from tightnoise.costs import _direction_pair as pair
from tightnoise.costs._core_sum import CoreSum
from tightnoise.costs._rdp_curve import RdpCurve
from tightnoise.costs._sampling import adjacency_of, is_fixed_size

__all__ = [
    "SampledVonMisesFisherRdp",
    "sampled_von_mises_fisher",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SampledVonMisesFisherRdp(CoreSum):
    """The function alpha -> Renyi divergence of a sampled von Mises-Fisher mechanism.

    See `sampled_von_mises_fisher`.

    Parameters
    ----------
    kappa : float
        Concentration, from 0 to 1e100.
    dim : int
        Dimension of the space, from 2 to 2**53.
    sampling_rate : float
        The share of the records that takes part, greater than 0 and at most 1.
    half_chord : float
        sin(angle/2), from 0 to 1.
    fixed_size : bool
        Whether all batches have one size, and neighbours differ in the value of a record; else each
        record takes part independently, and neighbours differ in one that is there or not.

    Raises
    ------
    ValueError, TypeError
        For numbers out of range.

    Examples
    --------
    >>> from tightnoise.accounting import SampledVonMisesFisherRdp
    >>> SampledVonMisesFisherRdp(75.0, 13_700, 0.01)([1.0, 2.5, 16.0]).round(6)
    array([1.940000e-04, 5.440000e-04, 8.044034e+00])
    """

    kappa: float
    dim: int
    sampling_rate: float
    half_chord: float = 1.0
    fixed_size: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "kappa", pair.concentration(self.kappa))
        object.__setattr__(self, "dim", pair.dimension(self.dim))
        object.__setattr__(self, "sampling_rate", fraction("sampling_rate", self.sampling_rate))
        object.__setattr__(self, "half_chord", pair.checked_half_chord(self.half_chord))
        if not isinstance(self.fixed_size, (bool, np.bool_)):
            raise TypeError(f"fixed_size must be True or False; got {self.fixed_size!r}")
        object.__setattr__(self, "fixed_size", bool(self.fixed_size))

    @property
    def _core_arguments(self) -> tuple[float, ...]:
        return self.kappa, self.dim, self.half_chord, self.sampling_rate, self.fixed_size

    @staticmethod
    def _core_sum(*arrays: Array) -> None:
        _core.accounting.sampled_vmf_rdp(*arrays)

    @property
    def max_divergence(self) -> float:
        """The bound at infinite order, log(1 + q (exp(2 kappa half_chord) - 1))."""
        return _core.accounting.sampled_vmf_max_divergence(
            self.kappa, self.dim, self.half_chord, self.sampling_rate
        )


def sampled_von_mises_fisher(
    kappa: float,
    dim: int,
    sampling_rate: float = 1.0,
    *,
    angle: float = math.pi,
    sampling: str = "poisson",
) -> RdpCurve:
    """Return the cost of a von Mises-Fisher release from a random sample, exact at every order.

    Of the records of a sample a vector is computed, and its direction x is released by
    `VonMisesFisher(kappa, dim)`. With q = `sampling_rate`, P and Q the outputs for two directions
    at `angle`, and l the log ratio of their densities:

    - "poisson": every record takes part with probability q, independently, and neighbours differ
      by one record that is there or not. The cost is D(alpha) = log E_Q[(1 - q + q e^l)^alpha]/
      (alpha - 1), the divergence of (1 - q) Q + q P from Q; the other direction's is smaller
      (Mironov, Talwar and Zhang 2019, arXiv 1908.10530, Theorem 5: a reflection swaps P and Q).
      At integer orders it is what `poisson_subsampled` gives.
    - "fixed-size": batches have m of the n records, each set as likely, q = m/n, and neighbours
      differ in the value of one record. By Balle, Barthe and Gaboardi (2018), "Privacy
      Amplification by Subsampling", Theorem 9, no batch tells neighbours apart better than

          D(alpha) = log(1 + E_Q[r^alpha + r^(1 - alpha) - r - 1; r > 1])/(alpha - 1),

      r = 1 - q + q e^l: the divergence of which the privacy profile is that of
      ((1 - q) Q + q P, Q), and the same with the two swapped. It lies below the general bound of
      `sampled_without_replacement`.

    Shuffled batches, one after the other, are neither.

    Parameters
    ----------
    kappa : float
        Concentration, from 0 to 1e100.
    dim : int
        Dimension of the space, from 2 to 2**53.
    sampling_rate : float
        q, greater than 0 and at most 1. At 1 this is `VonMisesFisher(kappa, dim).rdp(angle=angle)`.
    angle : float
        The largest angle between the directions of a sample's vector with and without a record, or
        with one replaced, from 0 to pi. One record can turn a sum of clipped gradients around,
        however large the batch is: this is pi, unless what is released guarantees less. Below pi no
        vector of zeros is covered, and so no empty sample whose vector that is: its release is
        uniform.
    sampling : {"poisson", "fixed-size"}
        How the records are drawn.

    Returns
    -------
    RdpCurve
        Known at every order, never below the formula and less than 1e-10 of it above (more only
        where alpha times the losses is in the thousands and the divergence just jumps from next to
        nothing to that without sampling). Its adjacency is "add-remove" or "replace-one"; without
        sampling it is None.

    Raises
    ------
    ValueError, TypeError
        For numbers that are not finite or out of range, an unknown way of sampling.

    Examples
    --------
    Three epochs of 469 batches of 128 of 60,000 records:

    >>> import tightnoise as tn
    >>> step = tn.accounting.sampled_von_mises_fisher(75.0, 13_700, 128 / 60_000)
    >>> round((step * 1407).epsilon(1 / 60_000), 3)
    1.421
    >>> fixed = tn.accounting.sampled_von_mises_fisher(
    ...     75.0, 13_700, 128 / 60_000, sampling="fixed-size"
    ... )
    >>> round((fixed * 1407).epsilon(1 / 60_000), 3)
    1.525
    """
    half_chord = pair.half_chord_upper(angle)
    fixed_size, adjacency = is_fixed_size(sampling), adjacency_of(sampling)
    if fraction("sampling_rate", sampling_rate) == 1:
        return pair.rdp_curve(kappa, dim, half_chord)
    function = SampledVonMisesFisherRdp(kappa, dim, sampling_rate, half_chord, fixed_size)
    return RdpCurve.of_terms([(function, int(half_chord > 0))], adjacency=adjacency)
