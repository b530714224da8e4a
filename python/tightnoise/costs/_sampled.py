"""Leaves of releases from a random sample of the records, and of groups of records."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tightnoise._cached import cached_property
from tightnoise._validate import fraction, integer, require
from tightnoise.costs._between import bounds_between
from tightnoise.costs._composed_release import composed_release
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._guarantees import PureRdp
from tightnoise.costs._leaf import Leaf, Profile
from tightnoise.costs._loss_points import losses_of
from tightnoise.costs._pairs import DirectionPair, GaussianPair, Lesser, gaussian_of_mu, ratio
from tightnoise.costs._rdp_curve import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._release_profile import deviation, release_profile
from tightnoise.costs._sampled_gaussian import FixedSizeGaussianRdp, SampledGaussianRdp
from tightnoise.costs._sampled_profile import (
    fixed_size_profile,
    poisson_profile,
    sampled_largest,
)
from tightnoise.costs._sampled_von_mises_fisher import SampledVonMisesFisherRdp
from tightnoise.costs._sampling import adjacency_of
from tightnoise.costs._subsampling import subsampled
from tightnoise.costs._zcdp import ZcdpRdp

__all__ = ["Group", "Sampled", "Terms", "composed_of", "merged_gaussians", "profile_of"]

Array = NDArray[np.float64]
Terms = tuple[tuple[Leaf, int], ...]


def merged_gaussians(terms: Terms) -> Terms:
    """Return the same cost with one Gaussian pair for all: of the root of the sum of mu^2."""
    gaussians = [(leaf, n) for leaf, n in terms if isinstance(leaf, GaussianPair)]
    if len(gaussians) == 0 or (len(gaussians) == 1 and gaussians[0][1] == 1):
        return terms
    if len(gaussians) == 1:
        leaf, n = gaussians[0]
        one = GaussianPair(ratio(leaf.noise_multiplier, _root_upper(n)), leaf.is_bound)
    else:
        squares = math.fsum(n * leaf.gdp_mu**2 for leaf, n in gaussians)
        is_bound = any(leaf.is_bound for leaf, _ in gaussians)
        one = gaussian_of_mu(math.sqrt(squares) * (1 + 2.0**-50), is_bound=is_bound)
    others = tuple((leaf, n) for leaf, n in terms if not isinstance(leaf, GaussianPair))
    return (*others, (one, 1))


def _root_upper(count: int) -> float:
    root = math.sqrt(count)
    return root if root * root == count else math.nextafter(root, math.inf)


@dataclass(frozen=True)
class Sampled(Leaf):
    """All of `terms` on one random sample of the records: each leaf so many times.

    Poisson samples: (1 - q) Q + q P against Q, for a record that is there or not. For a record that
    is replaced, (1 - q) R + q P against (1 - q) R + q P', which costs at most q times the delta of
    P and P', by convexity. Fixed size: by Balle, Barthe and Gaboardi 2018, Theorem 9.
    """

    terms: Terms
    rate: float
    sampling: str

    kind: ClassVar[str] = "sampled"

    def __post_init__(self) -> None:
        adjacency = adjacency_of(self.sampling)
        if self.adjacency is None:
            object.__setattr__(self, "adjacency", adjacency)
        terms = []
        for leaf, count in self.terms:
            if not isinstance(leaf, Leaf):
                raise TypeError(f"terms must hold leaves; got {leaf!r}")
            terms.append((leaf, integer("count", count, minimum=1, maximum=2**53)))
        require(bool(terms), "terms", self.terms, "not empty")
        self._set(terms=tuple(terms), rate=fraction("rate", self.rate))
        require(self.rate < 1, "rate", self.rate, "below 1")
        fits = self.sampling == "poisson" or self.adjacency == "replace-one"
        require(fits, "adjacency", self.adjacency, "'replace-one' for samples of a fixed size")

    @property
    def is_replaced(self) -> bool:
        """Whether a record is replaced in Poisson samples."""
        return self.sampling == "poisson" and self.adjacency == "replace-one"

    @property
    def is_attained(self) -> bool:  # type: ignore[override]
        """Whether two neighbours have this pair."""
        return not self.is_replaced and all(leaf.is_attained for leaf, _ in self.terms)

    @cached_property
    def _merged(self) -> Terms:
        return merged_gaussians(self.terms)

    @property
    def _single(self) -> Leaf | None:
        (leaf, count), *others = self._merged
        return leaf if count == 1 and not others else None

    @property
    def max_loss(self) -> float:
        """That of the release itself, or what is left of it."""
        total = _sum_upper((leaf.max_loss, n) for leaf, n in self.terms)
        return total if self.is_replaced else sampled_largest(total, self.rate)

    @property
    def gdp_mu(self) -> float:
        """That without sampling."""
        return _root_of_squares(self.terms)

    @property
    def zcdp_rho(self) -> float:
        """That without sampling."""
        return _sum_upper((leaf.zcdp_rho, n) for leaf, n in self.terms)

    def renyi(self) -> RdpFunction | None:
        """Return the exact function of a Gaussian or a direction, else the least of bounds.

        Those for any mechanism of that curve, and of Gaussian noise that is no harder to tell
        apart: a random map makes P and Q of two Gaussians, and their mixtures as well.
        """
        leaf, fixed = self._single, self.sampling == "fixed-size"
        if not self.is_replaced:
            if isinstance(leaf, GaussianPair):
                return _sampled_gaussian(leaf.noise_multiplier, self.rate, fixed)
            if isinstance(leaf, DirectionPair):
                place = leaf.kappa, leaf.dim, self.rate, leaf.half_chord, fixed
                return SampledVonMisesFisherRdp(*place)
        functions: list[RdpFunction] = []
        base = [(inner.renyi(), n) for inner, n in self.terms]
        if all(function is not None for function, _ in base):
            curve = RdpCurve.of_terms([(f, n) for f, n in base if f is not None])
            functions.append(
                _Table(curve, self.rate, "none" if self.is_replaced else self.sampling)
            )
        mu = self.gdp_mu
        if mu < math.inf and not self.is_replaced:
            pair = gaussian_of_mu(mu, is_bound=True)
            functions.append(_sampled_gaussian(pair.noise_multiplier, self.rate, fixed))
        if not functions:
            return None
        return functions[0] if len(functions) == 1 else Lesser(tuple(functions))

    def profile(self, epsilons: Array) -> Profile | None:
        """Return the sample's profile, by that of the release itself."""
        base = profile_of(self._merged)
        if base is None:
            return None
        if self.is_replaced:
            forward, backward = base(epsilons)
            share = self.rate * (1 + 2.0**-52)
            return forward * share, backward * share
        sampled = poisson_profile if self.sampling == "poisson" else fixed_size_profile
        return sampled(base, self.rate)(epsilons)

    def release(self) -> Release | None:
        """Return the losses."""
        found = composed_of(self._merged)
        if found is None:
            return None
        largest = found.largest
        if not self.is_replaced:
            largest = sampled_largest(largest, self.rate)

        def profile(epsilons: Array) -> Profile:
            both = self.profile(epsilons)
            assert both is not None
            return both

        width = min(largest, self.rate * min(deviation(found), 1.0))
        symmetric = found.is_symmetric and (self.is_replaced or self.sampling == "fixed-size")
        return losses_of(profile, largest, width, symmetric=symmetric)


def profile_of(terms: Terms) -> Any:
    """Return the profile of releases together, a function; None where a leaf has none."""
    if len(terms) == 1 and terms[0][1] == 1:
        leaf = terms[0][0]
        return None if leaf.profile(np.zeros(1)) is None else leaf.profile
    release = composed_of(terms)
    if release is None:
        return None
    return functools.partial(release_profile, release)


@functools.lru_cache(maxsize=64)
def composed_of(terms: Terms) -> Release | None:
    """Return one distribution of losses that dominates all together, if each has one."""
    releases: dict[Release, int] = {}
    for leaf, count in terms:
        release = leaf.release()
        if release is None:
            return None
        releases[release] = releases.get(release, 0) + count
    if len(releases) == 1 and sum(releases.values()) == 1:
        return next(iter(releases))
    return composed_release(releases)


@dataclass(frozen=True)
class _Table:
    """The bounds for any mechanism of a curve, at the default orders and between them."""

    curve: RdpCurve
    rate: float
    sampling: str

    @cached_property
    def _at(self) -> tuple[Array, Array]:
        orders = np.append(DEFAULT_ORDERS, np.inf)
        if self.sampling == "none":
            return orders, self.curve.at(orders).values
        return orders, subsampled(
            self.curve, orders, self.rate, fixed_size=self.sampling == "fixed-size"
        )

    def __call__(self, orders: Any) -> Array:
        return bounds_between(*self._at, np.asarray(orders, dtype=np.float64))

    @property
    def max_divergence(self) -> float:
        return float(self._at[1][-1])


def _sampled_gaussian(multiplier: float, rate: float, fixed_size: bool) -> RdpFunction:
    return (FixedSizeGaussianRdp if fixed_size else SampledGaussianRdp)(multiplier, rate)


@dataclass(frozen=True)
class Group(Leaf):
    """A release and `count` changed records: delta_k(k e) <= delta(e) (e^(k e) - 1)/(e^e - 1).

    (A chain of k neighbours, each at epsilon e: Vadhan 2017, "The Complexity of Differential
    Privacy", Lemma 2.2.)
    """

    leaf: Leaf
    count: int

    kind: ClassVar[str] = "group"
    is_attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.leaf, Leaf):
            raise TypeError(f"leaf must be a leaf; got {self.leaf!r}")
        self._set(count=integer("count", self.count, minimum=2, maximum=2**53))

    @property
    def max_loss(self) -> float:
        """As many times that of one record."""
        return _sum_upper([(self.leaf.max_loss, self.count)])

    @property
    def gdp_mu(self) -> float:
        """As many times that of one record (Dong, Roth and Su 2022, Theorem 2.14)."""
        return _sum_upper([(self.leaf.gdp_mu, self.count)])

    @property
    def zcdp_rho(self) -> float:
        """As many times squared (Bun and Steinke 2016, Proposition 1.9)."""
        return _sum_upper([(self.leaf.zcdp_rho, self.count**2)])

    def renyi(self) -> RdpFunction | None:
        """Return a bound by the largest loss or by zCDP."""
        known: list[RdpFunction] = []
        if self.max_loss < math.inf:
            known.append(PureRdp(self.max_loss))
        if self.zcdp_rho < math.inf:
            known.append(ZcdpRdp(self.zcdp_rho))
        return Lesser(tuple(known)) if known else None

    def profile(self, epsilons: Array) -> Profile | None:
        """Return the chain's bound."""
        each = np.nextafter(epsilons / self.count, 0.0)
        base = self.leaf.profile(each)
        if base is None:
            return None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            grown = np.where(each > 0, np.expm1(self.count * each) / np.expm1(each), self.count)
        grown = np.where(np.isnan(grown), np.inf, grown) * (1 + 2.0**-48)
        worst = np.maximum(*base)
        with np.errstate(over="ignore", invalid="ignore"):
            delta = np.where(worst > 0, np.minimum(worst * grown, 1.0), 0.0)
        return delta, delta

    def release(self) -> Release | None:
        """Return the losses."""
        one = self.leaf.release()
        if one is None:
            return None

        def profile(epsilons: Array) -> Profile:
            both = self.profile(epsilons)
            assert both is not None
            return both

        largest = self.count * one.largest
        return losses_of(profile, largest, self.count * deviation(one), symmetric=True)


def _sum_upper(terms: Any) -> float:
    total = math.fsum(value * n for value, n in terms)
    return math.nextafter(total * (1 + 2.0**-50), math.inf) if total > 0 else 0.0


def _root_of_squares(terms: Terms) -> float:
    total = math.fsum(leaf.gdp_mu**2 * n for leaf, n in terms)
    return math.nextafter(math.sqrt(total) * (1 + 2.0**-50), math.inf)
