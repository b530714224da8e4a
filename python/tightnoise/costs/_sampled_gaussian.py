"""The sampled Gaussian mechanism, of which noisy stochastic gradient descent is made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise import _core
from tightnoise._validate import fraction, positive
from tightnoise.costs._core_sum import CoreSum
from tightnoise.costs._rdp_curve import RdpCurve
from tightnoise.costs._sampling import adjacency_of, is_fixed_size

__all__ = [
    "FixedSizeGaussianRdp",
    "SampledGaussianRdp",
    "sampled_gaussian",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _GaussianOnSample(CoreSum):
    """What the functions of both ways of sampling have in common."""

    noise_multiplier: float
    sampling_rate: float

    def __post_init__(self) -> None:
        sigma = positive("noise_multiplier", self.noise_multiplier)
        object.__setattr__(self, "noise_multiplier", sigma)
        object.__setattr__(self, "sampling_rate", fraction("sampling_rate", self.sampling_rate))

    @property
    def _core_arguments(self) -> tuple[float, ...]:
        return self.noise_multiplier, self.sampling_rate


@dataclass(frozen=True)
class SampledGaussianRdp(_GaussianOnSample):
    """The function alpha -> Renyi divergence of the sampled Gaussian; see `sampled_gaussian`.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise by the sensitivity, greater than 0.
    sampling_rate : float
        The probability with which each record takes part, greater than 0 and at most 1.

    Raises
    ------
    ValueError, TypeError
        For numbers out of range.

    Examples
    --------
    >>> from tightnoise.accounting import SampledGaussianRdp
    >>> SampledGaussianRdp(1.0, 0.01)([1.0, 2.5, 16.0]).round(6)
    array([8.400000e-05, 2.180000e-04, 3.087851e+00])
    """

    @staticmethod
    def _core_sum(*arrays: Array) -> None:
        _core.accounting.sampled_gaussian_rdp(*arrays)


@dataclass(frozen=True)
class FixedSizeGaussianRdp(_GaussianOnSample):
    """The same for batches of a fixed size, drawn without replacement, and a record replaced.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise by the sensitivity, greater than 0.
    sampling_rate : float
        The size of a batch by the number of records, greater than 0 and at most 1.

    Raises
    ------
    ValueError, TypeError
        For numbers out of range.

    Examples
    --------
    >>> from tightnoise.accounting import FixedSizeGaussianRdp
    >>> FixedSizeGaussianRdp(1.0, 0.01)([1.0, 2.5, 16.0]).round(6)
    array([1.400000e-04, 3.510000e-04, 3.087851e+00])
    """

    @staticmethod
    def _core_sum(*arrays: Array) -> None:
        _core.accounting.fixed_size_gaussian_rdp(*arrays)


def sampled_gaussian(
    noise_multiplier: float, sampling_rate: float = 1.0, *, sampling: str = "poisson"
) -> RdpCurve:
    """Return the cost of one step of the sampled Gaussian mechanism, exact at every order.

    A step lets every record take part with probability q = `sampling_rate`, independently (Poisson
    sampling), sums vectors of norm at most 1 and adds Gaussian noise of standard deviation
    s = `noise_multiplier`. Neighbours differ by one record that is added or removed. In the worst
    case the outputs are Q = N(0, s^2) and P = (1 - q) N(0, s^2) + q N(1, s^2), of whose two
    divergences D(P || Q) is the larger (Mironov, Talwar and Zhang 2019, "Renyi Differential Privacy
    of the Sampled Gaussian Mechanism", arXiv 1908.10530, Theorem 5):

        D(alpha) = log E[(1 - q + q exp(z/s - 1/(2 s^2)))^alpha]/(alpha - 1),  z standard normal.

    It is integrated numerically for integer and other orders alike.

    With sampling="fixed-size", batches are sets of m of the n records, each as likely, q = m/n, and
    neighbours differ in the value of one record. By Balle, Barthe and Gaboardi (2018), "Privacy
    Amplification by Subsampling", Theorem 9, no batch tells them apart better than

        D(alpha) = log(1 + E_Q[r^alpha + r^(1 - alpha) - r - 1; r > 1])/(alpha - 1),

    r = (1 - q) + q exp(z/s - 1/(2 s^2)): the divergence of which the privacy profile is that of
    (P, Q), and the same with the two swapped. It is less than `sampled_without_replacement` gives.

    Shuffled batches, one after the other, are neither.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise by the sensitivity (the norm to which each record's vector
        is clipped; the largest distance between two of them, if records are replaced), greater
        than 0.
    sampling_rate : float
        The probability with which each record takes part, greater than 0 and at most 1. At 1 this
        is the Gaussian mechanism, alpha/(2 s^2).
    sampling : {"poisson", "fixed-size"}
        How the records are drawn.

    Returns
    -------
    RdpCurve
        Known at every order, never below the formula and less than 1e-10 of it above (more only
        where alpha/s is in the thousands and the divergence just jumps from next to nothing to that
        of the Gaussian). Its adjacency is "add-remove" or "replace-one"; without sampling it is
        whatever the sensitivity was declared for. Costs of steps add up, `curve * n` is n steps.

    Raises
    ------
    ValueError, TypeError
        For numbers that are not finite or out of range, an unknown way of sampling.

    Examples
    --------
    Ten thousand steps at noise multiplier 1, each with a hundredth of the data:

    >>> import tightnoise.accounting as accounting
    >>> training = accounting.sampled_gaussian(1.0, sampling_rate=0.01) * 10_000
    >>> round(training.epsilon(1e-6), 1)
    7.4
    """
    adjacency = adjacency_of(sampling)
    if is_fixed_size(sampling) and fraction("sampling_rate", sampling_rate) < 1:
        return fixed_size_gaussian(noise_multiplier, sampling_rate)
    function = SampledGaussianRdp(noise_multiplier, sampling_rate)
    sampled = function.sampling_rate < 1
    return RdpCurve.of_function(function, adjacency=adjacency if sampled else None)


def fixed_size_gaussian(noise_multiplier: float, sampling_rate: float) -> RdpCurve:
    """Return the same for batches of a fixed size."""
    function = FixedSizeGaussianRdp(noise_multiplier, sampling_rate)
    return RdpCurve.of_function(function, adjacency="replace-one")
