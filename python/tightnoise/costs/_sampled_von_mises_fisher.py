"""Von Mises-Fisher mechanisms on a random sample of the records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise._validate import fraction
from tightnoise.costs import _direction_pair as pair
from tightnoise.costs._core_sum import CoreSum

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SampledVonMisesFisherRdp(CoreSum):
    """The function alpha -> Renyi divergence of a sampled von Mises-Fisher mechanism.

    Of the records of a sample a vector is computed, and its direction is released. P and Q are the
    outputs for two directions, `half_chord` the sine of half of their angle, and l the log ratio of
    their densities:

    - Poisson samples: every record takes part with probability q, independently, and neighbours
      differ by one record that is there or not. D(alpha) = log E_Q[(1 - q + q e^l)^alpha]/
      (alpha - 1), the divergence of (1 - q) Q + q P from Q; the other direction's is smaller
      (Mironov, Talwar and Zhang 2019, arXiv 1908.10530, Theorem 5: a reflection swaps P and Q).
    - `fixed_size`: batches have m of the n records, each set as likely, q = m/n, and neighbours
      differ in the value of one record. The formula is that of `FixedSizeGaussianRdp`, with
      r = 1 - q + q e^l.

    Never below the formula and less than 1e-10 of it above (more only where alpha times the losses
    is in the thousands and the divergence just jumps from next to nothing to that without
    sampling). Below an angle of pi no vector of zeros is covered, and so no empty sample whose
    vector that is: its release is uniform.
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
        core.sampled_vmf_rdp(*arrays)

    @property
    def max_divergence(self) -> float:
        """The bound at infinite order, log(1 + q (exp(2 kappa half_chord) - 1))."""
        return core.sampled_vmf_max_divergence(
            self.kappa, self.dim, self.half_chord, self.sampling_rate
        )
