"""Leaves of which a table is known, or a bound: what others say of their release."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import not_negative, number_array, require, require_all
from tightnoise.costs._between import Chords
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._leaf import Leaf, Profile, losses_of_leaf
from tightnoise.costs._log_moments import renyi_upper
from tightnoise.costs._loss_table import release_of_losses
from tightnoise.costs._pure import rho_of_pure
from tightnoise.costs._rdp_curve import RdpCurve
from tightnoise.costs._release_profile import release_profile
from tightnoise.costs._zcdp import ZcdpRdp

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Zcdp(Leaf):
    """A rho-zCDP release (Bun and Steinke 2016, Definition 1.1)."""

    rho: float

    kind: ClassVar[str] = "zcdp"
    is_attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._set(rho=not_negative("rho", self.rho))

    @property
    def zcdp_rho(self) -> float:
        """What was said."""
        return self.rho

    def renyi(self) -> RdpFunction:
        """Return rho alpha."""
        return ZcdpRdp(self.rho)

    def grouped(self, count: int) -> Leaf:
        """Return count^2 rho (Bun and Steinke 2016, Proposition 1.9)."""
        return replace(self, rho=self.rho * count * count * (1 + 2.0**-50))


@dataclass(frozen=True)
class RdpTable(Leaf):
    """Bounds on the Renyi divergence, in both directions, at some orders."""

    alphas: tuple[float, ...]
    values: tuple[float, ...]

    kind: ClassVar[str] = "rdp"
    is_attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        curve = RdpCurve(self.alphas, self.values)
        require(bool((curve.alphas > 1).any()), "alphas", self.alphas, "above 1 at least once")
        self._set(alphas=tuple(curve.alphas.tolist()), values=tuple(curve.values.tolist()))

    @property
    def max_loss(self) -> float:
        """The bound at infinite order, if there is one."""
        return self.values[-1] if math.isinf(self.alphas[-1]) else math.inf

    def renyi(self) -> RdpFunction:
        """Return the chords between the orders of (alpha - 1) times the bound."""
        return Chords(self.alphas, self.values)


@dataclass(frozen=True)
class LossTable(Leaf):
    """Losses log(dP/dQ) with their probabilities under P: of a release with discrete outputs."""

    losses: tuple[float, ...]
    probabilities: tuple[float, ...]

    kind: ClassVar[str] = "losses"

    def __post_init__(self) -> None:
        losses = number_array("losses", self.losses)
        masses = number_array("probabilities", self.probabilities)
        self._set(losses=tuple(losses.tolist()), probabilities=tuple(masses.tolist()))
        self.release()  # refuses what is no distribution

    @property
    def max_loss(self) -> float:
        """The largest, in both directions."""
        release = losses_of_leaf(self)
        assert release is not None
        if release.infinite > 0 or release.infinite_swapped > 0:
            return math.inf
        return release.largest

    @property
    def zcdp_rho(self) -> float:
        """That of a pure release."""
        return rho_of_pure(self.max_loss)

    def renyi(self) -> RdpFunction | None:
        """Return log-moments of the losses, where none is infinite."""
        return Moments(self) if self.max_loss < math.inf else None

    def profile(self, epsilons: Array) -> Profile:
        """Return the sums over the losses beyond epsilon."""
        return _profile_of_losses(self, epsilons)

    @property
    def profile_excess(self) -> Excess | None:
        """The rounding of sums over all losses, and of the losses: not that of what is missing.

        Sums are raised by as much as they may be too low; masses by their logarithms' errors, and
        by those of losses that are the same in both directions but for rounding.
        """
        if self.max_loss == math.inf:
            return None
        logs = -math.log(min(self.probabilities))
        return Excess(2.0**-49 * (len(self.losses) + 18 + 2 * self.max_loss + logs), 2.0**-49)

    def release(self) -> Release:
        """Return the losses."""
        return release_of_losses(self.losses, self.probabilities)

    def reached(self) -> Release | None:
        """Return the losses."""
        return losses_of_leaf(self)


@dataclass(frozen=True)
class ProfileTable(Leaf):
    """Points on or above the privacy profile, the larger of both directions."""

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]

    kind: ClassVar[str] = "profile"
    is_attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        points = number_array("epsilons", self.epsilons)
        heights = number_array("deltas", self.deltas)
        good = points.ndim == 1 and points.size >= 2 and points.shape == heights.shape
        require(good, "epsilons", points.shape, "as many as deltas, two or more")
        require(points[0] == 0, "epsilons", points[0], "0 first")
        require(bool((points[1:] > points[:-1]).all()), "epsilons", points, "increasing")
        require_all(points <= 1e100, "epsilons", points, "at most 1e100")
        require_all((heights >= 0) & (heights <= 1), "deltas", heights, "between 0 and 1")
        self._set(epsilons=tuple(points.tolist()), deltas=tuple(heights.tolist()))

    @property
    def max_loss(self) -> float:
        """The first epsilon with a delta of 0."""
        zeros = np.flatnonzero(np.array(self.deltas) == 0)
        return self.epsilons[int(zeros[0])] if zeros.size else math.inf

    @property
    def zcdp_rho(self) -> float:
        """That of a pure release."""
        return rho_of_pure(self.max_loss)

    def renyi(self) -> RdpFunction | None:
        """Return log-moments of the losses, where none is infinite."""
        return Moments(self) if self.max_loss < math.inf else None

    def profile(self, epsilons: Array) -> Profile:
        """Return the polygon through the points, in exp(epsilon)."""
        return _profile_of_losses(self, epsilons)

    def release(self) -> Release:
        """Return the losses of the connected dots."""
        return connect_dots(np.array(self.epsilons), np.array(self.deltas))


def _profile_of_losses(leaf: Leaf, epsilons: Array) -> Profile:
    release = losses_of_leaf(leaf)
    assert release is not None
    return release_profile(release, epsilons)


@dataclass(frozen=True)
class Moments:
    """The function alpha -> Renyi divergence of a leaf's losses, in the worse direction."""

    leaf: Leaf

    def __call__(self, orders: object) -> Array:
        """Return the bounds at `orders`, greater than 1."""
        release = losses_of_leaf(self.leaf)
        assert release is not None
        return renyi_upper(release, np.asarray(orders, dtype=np.float64))

    @property
    def max_divergence(self) -> float:
        """The largest loss."""
        return self.leaf.max_loss
