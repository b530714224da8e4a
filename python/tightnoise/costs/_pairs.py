"""Leaves of mechanisms: pairs of Gaussians, directions, additive noise, bounded domains."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise import _core
from tightnoise._arrays import elementwise
from tightnoise._validate import one_of, positive, require
from tightnoise.costs import _direction_pair as direction
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._gaussian_profile import gaussian_delta, gaussian_epsilon
from tightnoise.costs._laplace_rdp import LaplaceRdp
from tightnoise.costs._leaf import NEGLIGIBLE, Leaf, Profile
from tightnoise.costs._loss_points import losses_of
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW
from tightnoise.costs._pure import PureRdp
from tightnoise.costs._sampled_gaussian import SampledGaussianRdp
from tightnoise.costs._zcdp import ZcdpRdp

__all__ = [
    "AdditivePair",
    "BoxPair",
    "DirectionPair",
    "DomainPair",
    "GaussianPair",
    "Lesser",
    "gaussian_of_mu",
    "law_of",
    "pure_profile",
    "quotient_upper",
    "ratio",
    "rho_of_pure",
]

Array = NDArray[np.float64]

_FAR = 1e300  # an epsilon at which delta is what no epsilon improves on
_REACHED = 1e-9  # relative: deltas are as close to the truth
_TOLERANCE = 1e-7  # relative: of deltas that only have to be as close as their points make them
_LARGEST_SEARCHED = 1000.0  # of noise with several modes, whose every delta is searched for
_LARGEST_LOSS = 1e60  # beyond, losses mean nothing
_SMALLEST_LOSS = 1e-100  # smaller ones are taken for this
_LATTICE = 10_000  # points up to the largest loss
_MOST_SIGMAS = 1e150  # squares of larger numbers overflow


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

    def epsilon(self, delta: float) -> float:
        """Return the exact one."""
        return float(gaussian_epsilon(delta, self.gdp_mu))

    def release(self) -> Release | None:
        """Return the losses N(mu^2/2, mu^2)."""
        largest = self.epsilon(NEGLIGIBLE)
        return _on_lattice(self, largest) if largest <= _LARGEST_LOSS else None

    def grouped(self, count: int) -> Leaf:
        """Return the pair at `count` times the distance."""
        return replace(self, noise_multiplier=ratio(self.noise_multiplier, float(count)))


def gaussian_of_mu(mu: float, *, is_bound: bool, adjacency: str | None = None) -> GaussianPair:
    """Return the pair of a mu greater than 0."""
    multiplier = math.nextafter(1.0 / mu, 0.0)  # less noise costs more
    exact = Fraction(1) / Fraction(mu)
    nearest = 1.0 / mu
    if nearest <= exact:
        multiplier = nearest
    return GaussianPair(min(multiplier, sys.float_info.max), is_bound, adjacency=adjacency)


@dataclass(frozen=True)
class DirectionPair(Leaf):
    """Two von Mises-Fisher distributions; half_chord is sin(angle/2), see `_direction_pair`."""

    kappa: float
    dim: int
    half_chord: float

    kind: ClassVar[str] = "direction"

    def __post_init__(self) -> None:
        self._set(
            kappa=direction.concentration(self.kappa),
            dim=direction.dimension(self.dim),
            half_chord=direction.checked_half_chord(self.half_chord),
        )

    @property
    def max_loss(self) -> float:
        """The loss 2 kappa half_chord."""
        return self.renyi().max_divergence

    @property
    def gdp_mu(self) -> float:
        """See `gdp_mu_upper`."""
        return direction.gdp_mu_upper(self.kappa, self.dim, self.half_chord)

    @property
    def zcdp_rho(self) -> float:
        """The Kullback-Leibler divergence; see `zcdp_rho_upper`."""
        return direction.zcdp_rho_upper(self.kappa, self.dim, self.half_chord)

    def renyi(self) -> direction.VonMisesFisherRdp:
        """Return the exact divergence."""
        return direction.VonMisesFisherRdp(self.kappa, self.dim, self.half_chord)

    def profile(self, epsilons: Array) -> Profile:
        """Return the exact profile: a reflection exchanges P and Q."""
        half_chord = np.asarray(self.half_chord)
        delta = direction.hockey_stick_upper(self.kappa, self.dim, half_chord, epsilons)
        return delta, delta

    def epsilon(self, delta: float) -> float:
        """Return the exact one."""
        half_chord = np.asarray(self.half_chord)
        return float(direction.epsilon_upper(self.kappa, self.dim, half_chord, np.asarray(delta)))

    def release(self) -> Release | None:
        """Return the losses."""
        largest = min(self.epsilon(NEGLIGIBLE), self.max_loss)
        if not largest <= _LARGEST_LOSS:
            return None
        return _on_lattice(self, largest)


class _Law(NamedTuple):
    """A law of additive noise: how the core makes it, and what is known of its losses."""

    make: Callable[..., Any]
    bend: Callable[..., float] = lambda *_: math.inf  # its profile bends at multiples of this
    sigma: Callable[..., float] | None = None  # of the narrowest component, all of which move


_LAWS = {
    "laplace": _Law(_core.additive.Laplace),
    "staircase": _Law(_core.additive.Staircase, bend=lambda epsilon, *_: epsilon),
    "multi-gaussian": _Law(
        _core.additive.MultiGaussian,
        bend=lambda _, epsilon, *__: epsilon,
        sigma=lambda sigma, *_: sigma,
    ),
    "quasi-gaussian": _Law(_core.additive.QuasiGaussian, bend=lambda _, epsilon, *__: epsilon),
    "gaussian-scale-mixture": _Law(
        _core.additive.ScaleMixture, sigma=lambda _, __, sigmas: min(sigmas)
    ),
}


@dataclass(frozen=True)
class AdditivePair(Leaf):
    """Noise of a symmetric law on a number that a record changes by at most `sensitivity`.

    The profile is the largest of all shifts up to there, which is one of a pair again (a maximum of
    convex curves) that dominates all of them.
    """

    law: str
    parameters: tuple[Any, ...]  # as the core's constructor takes them
    sensitivity: float

    kind: ClassVar[str] = "additive"

    def __post_init__(self) -> None:
        one_of("law", self.law, _LAWS)
        if not isinstance(self.parameters, tuple):
            raise TypeError(f"parameters must be a tuple; got {self.parameters!r}")
        self._set(sensitivity=positive("sensitivity", self.sensitivity))
        law_of(self.law, self.parameters)  # refuses what is out of range

    @property
    def _core_law(self) -> Any:
        return law_of(self.law, self.parameters)

    @property
    def max_loss(self) -> float:
        """The pure epsilon."""
        return float(self._core_law.epsilon_at(0.0, self.sensitivity))

    @property
    def zcdp_rho(self) -> float:
        """Of mixtures of Gaussians that of the narrowest component, else as of a pure release.

        The Renyi divergence between mixtures of the same weights is at most the largest between
        their components (van Erven and Harremoes 2014, Theorem 13; for one sigma Corollary 3.7 of
        Liu, Selvi and Wiesemann 2026).
        """
        sigma = _LAWS[self.law].sigma
        if sigma is None:
            return rho_of_pure(self.max_loss)
        with np.errstate(over="ignore"):
            sigmas = float(np.float64(self.sensitivity) / sigma(*self.parameters))
        if sigmas > _MOST_SIGMAS:
            return math.inf
        # The margin is far wider than the rounding of a quotient and a square.
        return 0.5 * sigmas * sigmas * (1.0 + COST_MARGIN) + COST_UNDERFLOW

    def renyi(self) -> RdpFunction | None:
        """Return the exact one of Laplace noise, else a bound by zCDP or the largest loss."""
        if self.law == "laplace" and self.parameters[1] == math.inf:
            return LaplaceRdp(self.parameters[0], self.sensitivity)
        if _LAWS[self.law].sigma is not None:
            return _known(math.inf, self.zcdp_rho)
        return _known(self.max_loss, math.inf)

    def profile(self, epsilons: Array) -> Profile:
        """Return the greatest delta of all shifts."""
        delta = np.empty_like(epsilons)
        self._core_law.worst_shift_curve(self.sensitivity, epsilons, _TOLERANCE, delta)
        delta = np.minimum(delta, 1.0)
        return delta, delta

    def delta(self, epsilon: float) -> float:
        """Return it to 1e-9."""
        shift = np.asarray(self.sensitivity)
        return float(
            elementwise(self._core_law.delta, epsilon=np.asarray(epsilon), sensitivity=shift)
        )

    def epsilon(self, delta: float) -> float:
        """Return the exact one."""
        return float(self._core_law.epsilon_at(delta, self.sensitivity))

    @property
    def is_attained(self) -> bool:  # type: ignore[override]
        """Whether one pair has this profile: that of the largest shift, where there is one mode."""
        return bool(self._core_law.worst_shift(1.0, self.sensitivity)[2] == "unimodal")

    def release(self) -> Release | None:
        """Return the losses; None of noise with several modes whose losses are too large."""
        law, shift = self._core_law, self.sensitivity
        if not self.is_attained:
            far = np.empty(1)
            law.hockey_stick(np.array([shift]), np.array([_LARGEST_SEARCHED]), far)
            if float(far[0]) > NEGLIGIBLE:
                return None
        disjoint = self.delta(_FAR)
        if disjoint > NEGLIGIBLE:
            largest = self.epsilon(min(1.0, disjoint * (1 + _REACHED)))
        else:
            largest = min(self.max_loss, self.epsilon(NEGLIGIBLE))
        if not largest <= _LARGEST_LOSS:
            return None
        return _on_lattice(self, largest, _LAWS[self.law].bend(*self.parameters))

    def grouped(self, count: int) -> Leaf:
        """Return the pair of a larger change."""
        return replace(self, sensitivity=self.sensitivity * count * (1 + 2.0**-52))


@functools.lru_cache(maxsize=256)
def law_of(name: str, parameters: tuple[Any, ...]) -> Any:
    """Return the law, an object of the core."""
    return _LAWS[name].make(*parameters)


class _Domain(NamedTuple):
    """The functions of the core for a kind of noise in an interval: all of the worst pair."""

    max_loss: Callable[..., float]
    delta: Callable[..., Any] | None = None
    epsilon: Callable[..., float] | None = None


_DOMAINS = {
    "truncated-gaussian": _Domain(
        _core.domain.truncated_epsilon,
        _core.domain.truncated_worst_delta,
        _core.domain.truncated_epsilon_at,
    ),
    "rectified-gaussian": _Domain(
        _core.domain.rectified_epsilon,
        _core.domain.rectified_worst_delta,
        _core.domain.rectified_epsilon_at,
    ),
    "bounded-laplace": _Domain(_core.domain.bounded_laplace_epsilon),
}


@dataclass(frozen=True)
class DomainPair(Leaf):
    """Noise with bounds on a number between these bounds, which a record changes by `sensitivity`.

    The profile is the largest over all true values there, in both directions.
    """

    law: str
    scale: float
    width: float
    sensitivity: float

    kind: ClassVar[str] = "domain"

    def __post_init__(self) -> None:
        one_of("law", self.law, _DOMAINS)
        numbers = {name: positive(name, getattr(self, name)) for name in ("scale", "width")}
        shift = min(positive("sensitivity", self.sensitivity), numbers["width"])
        self._set(**numbers, sensitivity=shift)

    @property
    def _functions(self) -> _Domain:
        return _DOMAINS[self.law]

    @property
    def _place(self) -> tuple[float, float, float]:
        return self.scale, self.width, self.sensitivity

    @property
    def max_loss(self) -> float:
        """The pure epsilon."""
        return float(self._functions.max_loss(*self._place))

    @property
    def gdp_mu(self) -> float:
        """Of Gaussians that of the noise without bounds.

        The rectified output is a function of that. The truncated one has a density of which the
        log has a second derivative of at most -1/sigma^2 for every true value, so that the argument
        of `gdp_mu_upper` in `_direction_pair` holds for it with sigma (Caffarelli 2000).
        """
        if self.law == "bounded-laplace":
            return math.inf
        return quotient_upper(self.sensitivity, self.scale)

    def renyi(self) -> RdpFunction | None:
        """Return a bound by the largest loss, or by the noise without bounds."""
        return _known(self.max_loss, self.zcdp_rho)

    def profile(self, epsilons: Array) -> Profile:
        """Return the largest delta, or that of any release with the largest loss."""
        function = self._functions.delta
        if function is None:
            delta = pure_profile(self.max_loss, epsilons)
        else:
            delta = np.empty_like(epsilons)
            function(*map(np.array, self._place), epsilons, delta)
        return delta, delta

    def epsilon(self, delta: float) -> float | None:
        """Return the exact one."""
        if delta == 0 or self._functions.epsilon is None:
            return self.max_loss if delta == 0 else None
        return float(self._functions.epsilon(*self._place, delta))

    def release(self) -> Release | None:
        """Return the losses."""
        if not self.max_loss <= _LARGEST_LOSS:
            return None
        return _symmetric_losses(self, self.max_loss, min(self.gdp_mu, self.max_loss))

    def grouped(self, count: int) -> Leaf:
        """Return the pair of a larger change."""
        return replace(self, sensitivity=self.sensitivity * count * (1 + 2.0**-52))


@dataclass(frozen=True)
class BoxPair(Leaf):
    """A release whose largest loss is known, and a mu for which it is mu-Gaussian-DP."""

    loss: float
    mu: float

    kind: ClassVar[str] = "pure-and-gaussian"
    is_attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        mu = self.mu if self.mu == math.inf else positive("mu", self.mu)
        self._set(loss=positive("loss", self.loss), mu=mu)

    @property
    def max_loss(self) -> float:
        """What was said."""
        return self.loss

    @property
    def gdp_mu(self) -> float:
        """What was said."""
        return self.mu

    def renyi(self) -> RdpFunction | None:
        """Return the lesser of both bounds."""
        return _known(self.loss, self.zcdp_rho)

    def profile(self, epsilons: Array) -> Profile:
        """Return the lesser of both profiles."""
        delta = pure_profile(self.loss, epsilons)
        if self.mu < math.inf:
            delta = np.minimum(delta, np.asarray(gaussian_delta(epsilons, self.mu)))
        return delta, delta

    def epsilon(self, delta: float) -> float | None:
        """Return the loss for delta 0."""
        if delta > 0:
            return None
        return self.loss

    def release(self) -> Release | None:
        """Return the losses."""
        if not self.loss <= _LARGEST_LOSS:
            return None
        return _symmetric_losses(self, self.loss, min(self.mu, self.loss))

    def grouped(self, count: int) -> Leaf:
        """Return that of a larger change."""
        grown = count * (1 + 2.0**-52)
        return replace(self, loss=self.loss * grown, mu=self.mu * grown)


def _known(loss: float, rho: float) -> RdpFunction | None:
    """Return the lesser of what a largest loss and zCDP prove; None where both are infinite."""
    functions: list[RdpFunction] = []
    if loss < math.inf:
        functions.append(PureRdp(loss))
    if rho < math.inf:
        functions.append(ZcdpRdp(rho))
    return Lesser(tuple(functions)) if functions else None


@dataclass(frozen=True)
class Lesser:
    """The least of several functions of the order, each a bound."""

    functions: tuple[RdpFunction, ...]

    def __call__(self, orders: Any) -> Array:
        """Return the least at each order."""
        return np.asarray(np.minimum.reduce([function(orders) for function in self.functions]))

    @property
    def max_divergence(self) -> float:
        """The least at infinite order."""
        return min(float(getattr(f, "max_divergence", math.inf)) for f in self.functions)


def rho_of_pure(epsilon: float) -> float:
    """Return epsilon^2/2: an epsilon-DP release is so much zCDP (Bun and Steinke 2016, 1.4)."""
    if epsilon == 0 or epsilon > 1e150:
        return 0.0 if epsilon == 0 else math.inf
    return math.nextafter(0.5 * epsilon * epsilon * (1 + 2.0**-50), math.inf)


def pure_profile(epsilon: float, epsilons: Array) -> Array:
    """Return delta of randomised response, which no release of that largest loss exceeds."""
    with np.errstate(over="ignore", under="ignore"):
        gap = np.maximum(-np.expm1(epsilons - epsilon), 0.0) / (1 + math.exp(-epsilon))
    return np.asarray(np.minimum(gap * (1 + 2.0**-50), 1.0))


def _on_lattice(leaf: Leaf, largest: float, bend: float = math.inf) -> Release:
    """Return losses at multiples of a spacing, those at which the profile bends among them.

    Sums of such losses are multiples again, so that composing them splits none.
    """
    loss = max(largest, _SMALLEST_LOSS)
    spacing = max(loss / (_LATTICE - 1) * (1 + 2.0**-51), sys.float_info.min)
    if spacing < bend <= loss:
        spacing = bend / math.ceil(bend / spacing)
    count = math.ceil(loss / spacing * (1 + 2.0**-51)) + 1
    points = spacing * np.arange(count, dtype=np.float64)
    both = leaf.profile(points)
    assert both is not None
    return connect_dots(points, both[0])


def _symmetric_losses(leaf: Leaf, largest: float, width: float) -> Release:
    def profile(epsilons: Array) -> Profile:
        both = leaf.profile(epsilons)
        assert both is not None
        return both

    return losses_of(profile, largest, width, symmetric=True)


def quotient_upper(numerator: float, denominator: float) -> float:
    """Return numerator/denominator of positive numbers, rounded up."""
    exact = Fraction(numerator) / Fraction(denominator)
    if exact >= sys.float_info.max:
        return math.inf
    quotient = float(exact)
    quotient = quotient if quotient >= exact else math.nextafter(quotient, math.inf)
    return max(quotient, sys.float_info.min)


def ratio(sigma: float, sensitivity: float) -> float:
    """Return sigma / sensitivity, rounded downwards: with less noise the cost is higher."""
    if sensitivity == 1:
        return sigma
    exact = Fraction(sigma) / Fraction(sensitivity)
    if exact >= sys.float_info.max:
        return sys.float_info.max
    quotient = float(exact)
    quotient = quotient if quotient <= exact else math.nextafter(quotient, 0.0)
    require(quotient > 0, "sigma / sensitivity", f"{sigma} / {sensitivity}", "greater than 0")
    return quotient
