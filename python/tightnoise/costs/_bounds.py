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
from tightnoise.costs._pure import rho_of_pure
from tightnoise.costs._rdp_curve import RdpCurve
from tightnoise.costs._zcdp import ZcdpRdp

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_SUM = 1e-9  # probabilities may be off by so much in sum
_HIDDEN = 1e-12  # outputs that P never has: more than this is never taken for rounding
_INPUT = 16 * _UNIT  # losses and log-probabilities are rounded by the caller: a few units of each


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
class _Losses(Leaf):
    """A release of which a distribution of losses is all that is known."""

    @property
    def zcdp_rho(self) -> float:
        """That of a pure release."""
        return rho_of_pure(self.max_loss)

    def renyi(self) -> RdpFunction | None:
        """Return log-moments of the losses, where none is infinite."""
        return Moments(self) if self.max_loss < math.inf else None

    def profile(self, epsilons: Array) -> Profile:
        """Return the sums over the losses beyond epsilon."""
        release = losses_of_leaf(self)
        assert release is not None
        return release.profile(epsilons)


@dataclass(frozen=True)
class LossTable(_Losses):
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
class ProfileTable(_Losses):
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

    def release(self) -> Release:
        """Return the losses of the connected dots."""
        return connect_dots(np.array(self.epsilons), np.array(self.deltas))


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


def release_of_losses(losses: object, probabilities: object) -> Release:
    """Return the losses log(P/Q) of outputs with these probabilities under P.

    The other order of the two neighbours follows: Q has an output with the probability of P times
    exp(-loss). What is then missing to 1 are outputs that P never has. So little that it may come
    from rounding, some 1e-15 or, beside a probability of exp(-epsilon), up to 1e-12, is taken for
    none, as it would be an infinite loss.
    """
    losses = number_array("losses", losses)
    masses = number_array("probabilities", probabilities)
    if losses.ndim != 1 or losses.size == 0 or losses.shape != masses.shape:
        raise ValueError(
            "losses and probabilities must be lists of one length, 1 or more; "
            f"got shapes {losses.shape} and {masses.shape}"
        )
    require_all(losses > -np.inf, "losses", losses, "greater than -infinity")
    finite = losses < np.inf
    require_all(np.abs(losses[finite]) <= 1e100, "losses", losses[finite], "at most 1e100")
    require_all(masses > 0, "probabilities", masses, "greater than 0")
    total = float(masses.sum())
    require(abs(total - 1) <= _SUM, "probabilities", total, "1 in sum")
    with np.errstate(over="ignore", under="ignore"):
        other = np.exp(np.log(masses[finite]) - losses[finite])
    other_total = math.fsum(other.tolist())
    allowed = "log(P/Q), for which probabilities times exp(-losses) are up to 1 in sum"
    require(other_total <= 1 + _SUM, "losses", other_total, allowed)
    # Losses are rounded, and a probability that is 1 less the others is so to a unit of 1.
    noise = _INPUT * (1 + float(other @ np.abs(losses[finite])))
    with np.errstate(over="ignore"):
        noise += min(_HIDDEN, 2 * _UNIT * float(np.exp(-losses[finite]).sum()))
    infinite, missing = float(masses[~finite].sum()), 1 - other_total
    if missing <= noise:
        hidden = 0.0
    elif abs(missing - infinite) <= noise:
        hidden = infinite
    else:
        hidden = missing + noise
    return _release_of(losses[finite], masses[finite], infinite, hidden)


def _release_of(values: Array, masses: Array, infinite: float, infinite_swapped: float) -> Release:
    """Return the losses with these probabilities, not sorted."""
    if not values.size:
        values, masses = np.zeros(1), np.full(1, _UNIT)
    order = np.argsort(values)
    values, log_mass = values[order] + 0.0, np.log(masses[order])
    sizes = np.abs(values[values != 0])
    # Symmetric but for rounding: the larger of both masses dominates both.
    mirrored = (log_mass - values)[::-1]
    noise = _INPUT * (1 + np.abs(values))
    is_symmetric = (
        bool((values == -values[::-1]).all() and (np.abs(log_mass - mirrored) <= noise).all())
        and infinite == infinite_swapped
    )
    if is_symmetric:
        log_mass = np.maximum(log_mass, mirrored)
    return Release(
        values=values,
        log_mass=log_mass,
        infinite=min(infinite, 1.0),
        infinite_swapped=min(infinite_swapped, 1.0),
        is_symmetric=is_symmetric,
        grid=float(sizes.min()) if sizes.size else 0.0,
    )
