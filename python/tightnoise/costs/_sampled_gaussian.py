"""The sampled Gaussian mechanism, of which noisy stochastic gradient descent is made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise._validate import fraction, positive
from tightnoise.costs._core_sum import CoreSum

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
    """The function alpha -> Renyi divergence of the sampled Gaussian, Poisson samples.

    Every record takes part with probability q, independently; vectors of norm at most 1 are summed,
    and Gaussian noise of standard deviation s = `noise_multiplier` is added. Neighbours differ by
    one record that is added or removed. In the worst case the outputs are Q = N(0, s^2) and
    P = (1 - q) N(0, s^2) + q N(1, s^2), of whose two divergences D(P || Q) is the larger (Mironov,
    Talwar and Zhang 2019, "Renyi Differential Privacy of the Sampled Gaussian Mechanism", arXiv
    1908.10530, Theorem 5):

        D(alpha) = log E[(1 - q + q exp(z/s - 1/(2 s^2)))^alpha]/(alpha - 1),  z standard normal,

    alpha/(2 s^2) at q = 1. It is integrated numerically for integer and other orders alike: never
    below the formula and less than 1e-10 of it above (more only where alpha/s is in the thousands
    and the divergence just jumps from next to nothing to that of the Gaussian).
    """

    @staticmethod
    def _core_sum(*arrays: Array) -> None:
        core.sampled_gaussian_rdp(*arrays)


@dataclass(frozen=True)
class FixedSizeGaussianRdp(_GaussianOnSample):
    """The same for batches of a fixed size, drawn without replacement, and a record replaced.

    Batches are sets of m of the n records, each as likely, q = m/n. By Balle, Barthe and Gaboardi
    (2018), "Privacy Amplification by Subsampling", Theorem 9, no batch tells them apart better than

        D(alpha) = log(1 + E_Q[r^alpha + r^(1 - alpha) - r - 1; r > 1])/(alpha - 1),

    r = (1 - q) + q exp(z/s - 1/(2 s^2)): the divergence of which the privacy profile is that of
    (P, Q), and the same with the two swapped. The sensitivity is that of a replaced record.
    """

    @staticmethod
    def _core_sum(*arrays: Array) -> None:
        core.fixed_size_gaussian_rdp(*arrays)
