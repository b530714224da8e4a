"""The leaf of Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise._core import truncated
from tightnoise._validate import positive
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._gaussian_profile import gaussian_delta, gaussian_epsilon
from tightnoise.costs._leaf import NEGLIGIBLE, Law, Leaf, Profile
from tightnoise.costs._loss_points import LARGEST_LOSS, lattice_losses_of
from tightnoise.costs._quotients import less_noise, quotient_upper
from tightnoise.costs._sampled_gaussian import SampledGaussianRdp
from tightnoise.costs._zcdp import ZcdpRdp

Array = NDArray[np.float64]

_LEAST_NOISE, _LARGEST_NOISE = 0.1, 1e6


@dataclass(frozen=True)
class GaussianPair(Leaf):
    """N(1, s^2) and N(0, s^2), s the noise multiplier: sigma over the L2 sensitivity.

    `is_bound`: something of which only this is known, that it costs no more.
    """

    noise_multiplier: float
    is_bound: bool = False

    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        if not isinstance(self.is_bound, bool):
            raise TypeError(f"is_bound must be a bool; got {self.is_bound!r}")
        self._set(noise_multiplier=positive("noise_multiplier", self.noise_multiplier))

    @property
    def is_attained(self) -> bool:  # type: ignore[override]
        """Whether two neighbours have this pair."""
        return not self.is_bound

    @property
    def gdp_mu(self) -> float:
        """1/s, rounded up."""
        return quotient_upper(1.0, self.noise_multiplier)

    def renyi(self) -> RdpFunction:
        """Return alpha/(2 s^2)."""
        return SampledGaussianRdp(self.noise_multiplier, 1.0)

    def profile(self, epsilons: Array) -> Profile:
        """Return the profile of Balle and Wang 2018, the same in both directions."""
        delta = gaussian_delta(epsilons, self.gdp_mu)
        return delta, delta

    @property
    def profile_excess(self) -> Excess | None:
        """The formula's, and what eight units of mu change.

        With x = mu/2 - epsilon/mu, delta has the derivative phi(x) by mu, mu phi/delta is at most
        z (z + mu) + 2 + mu, z = max(0, -x), and z < 36 where delta is above `LOST`.
        """
        if self.is_bound:
            return None
        return Excess(2e-14 + 8 * 2.0**-53 * (40 + self.gdp_mu) * 40)

    def epsilon(self, delta: float) -> float:
        """Return the exact one."""
        return float(gaussian_epsilon(delta, self.gdp_mu))

    def release(self) -> Release | None:
        """Return the losses N(mu^2/2, mu^2)."""
        largest = self.epsilon(NEGLIGIBLE)
        return lattice_losses_of(self.profile, largest) if largest <= LARGEST_LOSS else None

    def laws(self) -> tuple[Law, ...]:
        """Return the Gaussian one."""
        least = math.nextafter(1.0 / self.noise_multiplier, 0.0)
        return (Law(core.gaussian(self.gdp_mu), core.gaussian(least)),)

    def grouped(self, count: int) -> Leaf:
        """Return the pair at `count` times the distance."""
        return replace(self, noise_multiplier=less_noise(self.noise_multiplier, float(count)))


@dataclass(frozen=True)
class TruncatedPair(GaussianPair):
    """Truncated Gaussian noise: no more than that Gaussian noise, and rho-zCDP.

    With A(t) the logarithm of the normalising constant and V = A'' the variance of the output, in
    units of sigma, D_alpha(M(t) || M(t + s)) is the integral of V times a triangle of the area
    alpha s^2/2, at every order above 0. V is even and does not increase with the distance from the
    centre (Lemma 1 of cpp/sketch/ANALYTIC_BOUND.md), so that D_alpha <= alpha s^2 V(0)/2 wherever t
    is, on the support or off, and rho is that without alpha.
    """

    is_bound: bool = True
    rho: float = math.inf

    kind: ClassVar[str] = "truncated"
    has_least_profile: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(rho=positive("rho", self.rho))

    @property
    def zcdp_rho(self) -> float:
        """The lesser of what was said and what Gaussian noise has."""
        return min(self.rho, super().zcdp_rho)

    def renyi(self) -> RdpFunction:
        """Return that of zCDP."""
        return ZcdpRdp(self.zcdp_rho)

    def grouped(self, count: int) -> Leaf:
        """Return the pair at `count` times the distance."""
        multiplier = less_noise(self.noise_multiplier, float(count))
        rho = self.rho * count * count * (1 + 2.0**-50)
        return replace(self, noise_multiplier=multiplier, rho=rho)


class Noise(NamedTuple):
    """A noise multiplier, rounded down unless it is exact."""

    multiplier: float
    is_exact: bool

    @property
    def is_in_range(self) -> bool:
        """Whether laws of records that are replaced, and of groups, are there for it."""
        return _LEAST_NOISE <= self.multiplier <= _LARGEST_NOISE

    def law(self, of: Callable[[float], Any]) -> Law:
        """Return the law of such noise: two where it is rounded."""
        upper = of(self.multiplier)
        return Law(upper, upper if self.is_exact else of(self.multiplier * (1 + 2.0**-48)))


def truncated_variance(half: Array) -> Array:
    """Return the variance of N(0, 1) between -half and half, which grows with half, rounded up."""
    ends = np.clip(half, 1e-100, 40.0).reshape(-1)  # beyond, it is 1
    out = np.empty(ends.shape)
    truncated.fisher_information(np.zeros(()), np.ones(()), -ends, ends, 2, out)
    return out.reshape(half.shape) * (1 + 1e-11)


def gaussian_of_mu(mu: float, *, is_bound: bool, adjacency: str | None = None) -> GaussianPair:
    """Return the pair of a mu greater than 0."""
    return GaussianPair(less_noise(1.0, mu), is_bound, adjacency=adjacency)
