"""The leaf of releases from a random sample of the records."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tightnoise._adjacency import common_adjacency
from tightnoise._cached import cached_property
from tightnoise._core import cost as core
from tightnoise._validate import MAX_COUNT, fraction, integer, require, shown
from tightnoise.costs._atoms_below import hidden_below
from tightnoise.costs._between import bounds_between
from tightnoise.costs._bounded_range import BoundedRange, in_blocks
from tightnoise.costs._direction_pair import DirectionPair
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._few_samples import RareRelease
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._gaussian_pair import GaussianPair, Noise, TruncatedPair, gaussian_of_mu
from tightnoise.costs._group import Group, GroupCase
from tightnoise.costs._grouped_gaussian import MOST_RECORDS, GroupedGaussian, is_in_range
from tightnoise.costs._leaf import Attained, Law, Leaf, Profile, Terms, losses_of_leaf
from tightnoise.costs._lesser import Lesser
from tightnoise.costs._loss_points import losses_of
from tightnoise.costs._noise_cells import Cells
from tightnoise.costs._quotients import less_noise, total_upper
from tightnoise.costs._rdp_curve import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._sampled_gaussian import FixedSizeGaussianRdp, SampledGaussianRdp
from tightnoise.costs._sampled_profile import (
    fixed_size_profile,
    poisson_losses,
    poisson_profile,
    sampled_excess,
    sampled_largest,
)
from tightnoise.costs._sampled_von_mises_fisher import SampledVonMisesFisherRdp
from tightnoise.costs._sampling import adjacency_of
from tightnoise.costs._subsampling import subsampled
from tightnoise.costs._together import composed_of, pair_of, profile_of

Array = NDArray[np.float64]

_LEAST_LOSS = 1e-280  # smaller ones have no digits left to be laid at points
_LEAST_RATE = 1e-100  # that the law in the core takes
_READ = 200  # points of a profile, about
_OVERFLOW = 700.0  # the exponential of more is not needed


def merged_terms(terms: Terms) -> Terms:
    """Return the same cost with leaves that say more of what releases cost together.

    One Gaussian pair for all, of the root of the sum of mu^2; and those of bounded range in blocks.
    """
    plain: list[tuple[Leaf, int]] = []
    for leaf, n in terms:
        one = leaf.larger or leaf if isinstance(leaf, Group) else leaf
        plain += in_blocks(one, n) if isinstance(one, BoundedRange) else [(one, n)]
    gaussians = [(leaf, n) for leaf, n in plain if isinstance(leaf, GaussianPair)]
    others = tuple((leaf, n) for leaf, n in plain if not isinstance(leaf, GaussianPair))
    if not gaussians:
        return others
    is_bound = any(leaf.is_bound for leaf, _ in gaussians)
    if len(gaussians) == 1:
        merged, n = gaussians[0]
        if n > 1:
            multiplier = less_noise(merged.noise_multiplier, _root_upper(n))
            merged = GaussianPair(multiplier, is_bound)
    else:
        mu = root_of_squares(tuple(gaussians))
        if mu == math.inf:
            return tuple(plain)
        merged = gaussian_of_mu(mu, is_bound=is_bound)
    if any(isinstance(leaf, TruncatedPair) for leaf, _ in gaussians):
        rho = total_upper((leaf.zcdp_rho, n) for leaf, n in gaussians)
        merged = TruncatedPair(merged.noise_multiplier, rho=rho)
    return (*others, (merged, 1))


def _root_upper(count: int) -> float:
    root = math.sqrt(count)
    return root if root * root == count else math.nextafter(root, math.inf)


@dataclass(frozen=True)
class Sampled(Leaf):
    """All of `terms` on one random sample of the records: each leaf so many times.

    Poisson samples: (1 - q) Q + q P against Q, for a record that is there or not. For a record that
    is replaced, (1 - q) R + q P against (1 - q) R + q P', which costs at most q times the delta of
    P and P', by convexity; and where each is a group of two of what costs so much beside R, that
    of `_grouped_gaussian`. Fixed size: by Balle, Barthe and Gaboardi 2018, Theorem 9.
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
        if not isinstance(self.terms, tuple):
            raise TypeError(f"terms must be a tuple; got {shown(self.terms)}")
        for term in self.terms:
            if not (isinstance(term, tuple) and len(term) == 2 and isinstance(term[0], Leaf)):
                raise TypeError(f"terms must hold leaves with counts; got {shown(term)}")
            leaf, count = term
            _require_one_record(leaf, self.adjacency)
            terms.append((leaf, integer("count", count, minimum=1, maximum=MAX_COUNT)))
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
        if self.is_replaced:
            return self._is_opposite
        return all(leaf.is_attained for leaf, _ in self.terms)

    @property
    def has_least_profile(self) -> bool:  # type: ignore[override]
        """Whether the profile is that of the pair, and not of many composed."""
        leaf = self._single
        if self.is_replaced:
            return self._is_opposite
        return leaf is not None and leaf.has_least_profile

    @property
    def is_slow(self) -> bool:  # type: ignore[override]
        """Whether that of one of the leaves is."""
        return any(leaf.is_slow for leaf, _ in self.terms)

    @property
    def is_coarse(self) -> bool:  # type: ignore[override]
        """Whether that of one of the leaves is."""
        return any(leaf.is_coarse for leaf, _ in self.terms)

    @cached_property
    def _beside_none(self) -> Terms:
        """What costs so much beside a sample without the record; empty if it is not known."""
        inner = tuple((leaf.leaf, n) for leaf, n in self.terms if isinstance(leaf, Group))
        return inner if self.is_replaced and len(inner) == len(self.terms) else ()

    @cached_property
    def _opposite(self) -> GroupedGaussian | None:
        mu = root_of_squares(self._beside_none)
        return GroupedGaussian(mu, self.rate, 1, 1) if is_in_range(mu, self.rate) else None

    @property
    def _is_opposite(self) -> bool:
        """Whether the two values of a replaced record may be on both sides of none, Gaussian."""
        known = all(isinstance(leaf, GaussianPair) for leaf, _ in self._beside_none)
        attained = all(leaf.is_attained for leaf, _ in self._beside_none)
        return self._opposite is not None and known and attained

    def group_cases(self, group: Group) -> tuple[GroupCase, ...]:
        """Return what data sets that differ in a group may be, if the pairs are told."""
        terms = self._beside_none if self.is_replaced else self.terms
        known = bool(terms) and all(isinstance(leaf, GaussianPair) for leaf, _ in terms)
        mu, count = root_of_squares(terms), group.count
        is_told = self.sampling == "poisson" and known and is_in_range(mu, self.rate)
        if not is_told or count > MOST_RECORDS:
            return ()
        each = [(count, count)]
        if not self.is_replaced:
            each = [(count - n, n) for n in range(count // 2 + 1)]
        noise = _merged_noise(terms)
        is_pair = all(leaf.is_attained for leaf, _ in terms)
        is_least = all(leaf.has_least_profile for leaf, _ in terms)
        return tuple(
            GroupCase(group, GroupedGaussian(mu, self.rate, *both), noise, is_pair, is_least)
            for both in each
        )

    @cached_property
    def _merged(self) -> Terms:
        return merged_terms(self.terms)

    @property
    def _single(self) -> Leaf | None:
        (leaf, count), *others = self._merged
        return leaf if count == 1 and not others else None

    @property
    def direction(self) -> DirectionPair | None:
        """The direction on a Poisson sample that the record is in or not, if it is one."""
        leaf = self._single
        is_there_or_not = self.sampling == "poisson" and not self.is_replaced
        return leaf if isinstance(leaf, DirectionPair) and is_there_or_not else None

    @property
    def max_loss(self) -> float:
        """That of the release itself, or what is left of it."""
        total = total_upper((leaf.max_loss, n) for leaf, n in self.terms)
        return total if self.is_replaced else sampled_largest(total, self.rate)

    @property
    def gdp_mu(self) -> float:
        """That without sampling."""
        return root_of_squares(self.terms)

    @property
    def zcdp_rho(self) -> float:
        """That without sampling."""
        return total_upper((leaf.zcdp_rho, n) for leaf, n in self.terms)

    def renyi(self) -> RdpFunction | None:
        """Return the exact function of a Gaussian or a direction, else the least of bounds.

        Those for any mechanism of that curve, and of Gaussian noise that is no harder to tell
        apart: a random map makes P and Q of two Gaussians, and their mixtures as well.
        """
        return self._renyi

    @cached_property
    def _renyi(self) -> RdpFunction | None:
        leaf, fixed = self._single, self.sampling == "fixed-size"
        if not self.is_replaced:
            if isinstance(leaf, GaussianPair) and leaf.has_least_profile:
                return _sampled_gaussian(leaf.noise_multiplier, self.rate, fixed)
            if isinstance(leaf, DirectionPair):
                place = leaf.kappa, leaf.dim, self.rate, leaf.half_chord, fixed
                return SampledVonMisesFisherRdp(*place)
        functions: list[RdpFunction] = []
        base = [(inner.renyi(), n) for inner, n in self.terms]
        if all(function is not None for function, _ in base):
            curve = RdpCurve.of_terms([(f, n) for f, n in base if f is not None])
            if self.is_replaced:
                functions.append(_Replaced(curve, self.rate))
            else:
                functions.append(_AnySampled(curve, self.rate, fixed))
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
            if self._opposite is None:
                return forward * share, backward * share
            beside = self._opposite.delta(epsilons)
            return np.minimum(forward * share, beside), np.minimum(backward * share, beside)
        sampled = poisson_profile if self.sampling == "poisson" else fixed_size_profile
        return sampled(base, self.rate)(epsilons)

    @property
    def profile_excess(self) -> Excess | None:
        """That of a single leaf, carried through the formulas."""
        if self._opposite is not None and self._is_opposite:
            return self._opposite.excess
        leaf, release = self._single, losses_of_leaf(self)
        if leaf is None or leaf.profile_excess is None or release is None or self.is_replaced:
            return None
        return sampled_excess(leaf.profile_excess, self.rate, release.largest)

    def profile_below(self, epsilons: Array) -> Profile | None:
        """Return that of a single leaf, of which another pair may count at each epsilon.

        Or that of several together.
        """
        known, release = super().profile_below(epsilons), losses_of_leaf(self)
        inner = self._inner_below
        if known is not None or inner is None or release is None:
            return known
        sampled = poisson_profile if self.sampling == "poisson" else fixed_size_profile
        excess = sampled_excess(Excess(0.0), self.rate, release.largest)
        beyond = epsilons * (1 + 1.01 * excess.argument) * (1 + 2.0**-50)
        forward, backward = sampled(inner, self.rate)(beyond)
        part = (beyond <= release.highest) / (1 + excess.height) * (1 - 2.0**-50)
        return forward * part, backward * part

    @property
    def _inner_below(self) -> Callable[[Array], Profile] | None:
        """Lower bounds of the profile of what is released on the sample, of a pair or of more."""
        leaf, pair = self._single, self._pair
        if pair is not None and pair.both_sides is not None:
            both_sides = pair.both_sides
            return lambda points: both_sides(points)[0]
        if leaf is None or self.is_replaced:
            return None
        if leaf.profile_below(np.zeros(1)) is None:
            return None

        def inner(points: Array) -> Profile:
            both = leaf.profile_below(points)
            assert both is not None
            return both

        return inner

    @cached_property
    def _pair(self) -> Attained | None:
        """That of several releases together, which neighbours have both ways."""
        if self._single is not None or self.is_replaced:
            return None
        pair = pair_of(self._merged)
        is_both = pair is not None and (self.sampling == "poisson" or pair.is_symmetric)
        return pair if is_both else None

    def attained(self, tilt: float = 0.0) -> Attained | None:
        """Return that of a single leaf or of several, or of what replaced records attain."""
        leaf, release = self._single, losses_of_leaf(self)
        if self._pair is not None and release is not None:
            symmetric = self.sampling != "poisson"
            pair = self._pair._replace(profile=self.known_profile, is_symmetric=symmetric)
            return pair._replace(both_sides=self._both_sides)
        if self.is_replaced or leaf is None:
            return super().attained(tilt)
        found = leaf.attained(tilt)
        if found is None or release is None:
            return None
        excess = sampled_excess(found.excess, self.rate, release.largest)
        if leaf.has_either_order and 0 < leaf.max_loss < math.inf:
            found = _in_worse_order(found, leaf.max_loss, tilt)
        if self.sampling == "fixed-size" and found.is_symmetric:
            return Attained(fixed_size_profile(found.profile, self.rate), excess, True)
        return Attained(poisson_profile(found.profile, self.rate), excess, False)

    def _both_sides(self, epsilons: Array) -> tuple[Profile, Profile]:
        below = self.profile_below(epsilons)
        assert below is not None
        return below, self.known_profile(epsilons)

    @property
    def gap(self) -> str | None:
        """That of what runs on the sample, or of replaced records, or of several releases."""
        if self.is_replaced and not self._is_opposite:
            known = "of a record that is replaced in a Poisson sample an upper bound is known only"
            other = "of an add-remove cost, sampled(..., adjacency='replace-one') has both bounds"
            return f"{known}; {other}" if isinstance(self._single, GaussianPair) else known
        if self._single is None and not self.is_replaced and self._pair is None:
            return "several releases on one sample, composed from above only"
        inner = () if self.is_replaced else (leaf.gap for leaf, _ in self._merged)
        return next(filter(None, inner), None) or super().gap

    def release(self) -> Release | None:
        """Return the losses."""
        found = composed_of(self._merged)
        if found is None:
            return None
        largest, bends = found.largest, []
        if not self.is_replaced:
            # That of Q over P, which there may be an atom at as there is at the largest.
            bends = [-math.log1p(self.rate * math.expm1(-largest))]
            # As it is of many, nothing may be left beyond that is not there.
            rounding = sampled_excess(Excess(0.0), self.rate, largest).argument
            largest = sampled_largest(largest, self.rate) * (1 + rounding)
            if found.infinite_swapped > 0 and self.reached() is not None:
                # An atom more: of what only the others have, 1 - rate is left.
                bends += [largest, -math.log1p(-self.rate)]
                largest = max(bends)
        if self._opposite is not None:
            largest = min(largest, self._opposite.largest)
        if largest < _LEAST_LOSS:
            return None

        width = min(largest, self.rate * min(found.deviation, 1.0))
        symmetric = found.is_symmetric and (self.is_replaced or self.sampling == "fixed-size")
        return losses_of(self.known_profile, largest, width, bends, symmetric=symmetric)

    def reached(self) -> Release | None:
        """Return the losses of a single leaf's pair on a Poisson sample."""
        leaf = self._single
        if leaf is None or self.sampling != "poisson" or self.is_replaced:
            return None
        found = leaf.reached()
        if found is None:
            return None
        if found.infinite_swapped > 0 and not found.is_symmetric:
            found = replace(found, infinite_swapped=hidden_below(found), is_short=True)
        return poisson_losses(found, self.rate)

    @property
    def has_cells(self) -> bool:
        """Whether a single leaf has, of which records are in Poisson samples, or not."""
        leaf = self._single
        is_there_or_not = self.sampling == "poisson" and not self.is_replaced
        return leaf is not None and is_there_or_not and leaf.has_cells

    def cells(self, losses: Array) -> Cells | None:
        """Return those of the leaf."""
        leaf = self._single
        if leaf is None or not self.has_cells:
            return None
        with np.errstate(over="ignore"):
            ratios = np.expm1(losses) / self.rate
        inner = leaf.cells(np.log1p(ratios[(ratios > -1) & np.isfinite(ratios)]))
        return inner and inner.sampled(self.rate)

    def laws(self) -> tuple[Law, ...] | None:
        """Return those of one Gaussian release, or of a direction on a Poisson sample."""
        leaf = self._single
        if self.rate < _LEAST_RATE:
            return None
        if self.is_replaced:
            return self._replaced_laws(self._beside_none) if self._is_opposite else None
        if self.sampling == "fixed-size":
            return self._replaced_laws(self.terms) if isinstance(leaf, GaussianPair) else None
        if self.direction is not None:
            pair = [self.direction.sampled_law(self.rate, way) for way in ("remove", "add")]
            return None if None in pair else tuple(law for law in pair if law is not None)
        if not isinstance(leaf, GaussianPair):
            return None

        noise = _merged_noise(self.terms)

        def of(way: str) -> Law:
            return noise.law(lambda sigma: core.sampled_gaussian(sigma, self.rate, way))

        return of("remove"), of("add")

    def _replaced_laws(self, terms: Terms) -> tuple[Law, ...] | None:
        """Return that of a replaced record, which is symmetric."""
        noise = _merged_noise(terms)
        if not noise.is_in_range:
            return None
        if self.is_replaced:
            return (noise.law(lambda sigma: core.grouped_gaussian(sigma, self.rate, 1, 1)),)
        return (noise.law(lambda sigma: core.fixed_size_gaussian(sigma, self.rate)),)

    @property
    def replaced_gaussian(self) -> RareRelease | None:
        """The pair of one record that is replaced, if it is that of noise known exactly."""
        is_opposite = self.is_replaced and self._is_opposite
        is_one = self.sampling == "fixed-size" and isinstance(self._single, GaussianPair)
        if not (is_opposite or is_one):
            return None
        noise = _merged_noise(self._beside_none if is_opposite else self.terms)
        return RareRelease(1 / noise.multiplier, self.rate, is_one) if noise.is_exact else None

    def describe(self) -> str:
        """Return what runs on the sample."""
        return f"sampled ({self.sampling}, {self.rate:g}): {described(self.terms)}"


def _merged_noise(terms: Terms) -> Noise:
    """Return the noise of Gaussians, which are one."""
    merged = merged_terms(terms)
    ((leaf, _),) = merged
    assert isinstance(leaf, GaussianPair)
    return Noise(leaf.noise_multiplier, merged == terms)


def described(terms: Terms) -> str:
    """Return what people are told of some releases together."""
    texts = [leaf.describe() if n == 1 else f"{n} x [{leaf.describe()}]" for leaf, n in terms[:3]]
    return " + ".join([*texts, f"{len(terms) - 3} more"] if len(terms) > 3 else texts)


def _require_one_record(leaf: Leaf, adjacency: str | None) -> None:
    """Refuse what is of several records, each of which would be in the sample or not."""
    if isinstance(leaf, Group):
        is_one = not isinstance(leaf.leaf, Group | Sampled)
        is_replacement = is_one and leaf.count == 2 and leaf.leaf.adjacency == "add-remove"
        if not (is_replacement and leaf.adjacency == "replace-one"):
            raise ValueError(
                "terms must be of one record to be sampled: take the group of what is sampled, "
                f"cost.sampled(...).group(n); got {leaf.describe()}"
            )
    common_adjacency(leaf.adjacency, adjacency)


@dataclass(frozen=True)
class _AnySampled:
    """The bounds for any mechanism of a curve, at the default orders and between them."""

    curve: RdpCurve
    rate: float
    fixed_size: bool

    @cached_property
    def _at(self) -> tuple[Array, Array]:
        orders = np.append(DEFAULT_ORDERS, np.inf)
        return orders, subsampled(self.curve, orders, self.rate, fixed_size=self.fixed_size)

    def __call__(self, orders: object) -> Array:
        return bounds_between(*self._at, np.asarray(orders, dtype=np.float64))

    @property
    def max_divergence(self) -> float:
        return float(self._at[1][-1])


@dataclass(frozen=True)
class _Replaced:
    """(1 - q) R + q P and (1 - q) R + q P': e^((alpha - 1) D) is convex in both arguments jointly.

    So it is at most 1 - q + q e^((alpha - 1) D(P, P')).
    """

    curve: RdpCurve
    rate: float

    def __call__(self, orders: object) -> Array:
        alphas = np.asarray(orders, dtype=np.float64)
        whole = self.curve.at(alphas).values
        x = (alphas - 1) * whole
        small = np.minimum(x, _OVERFLOW)
        near = np.log1p(self.rate * np.expm1(small)) * (1 + 2.0**-50 * (8 + small))
        far = x + math.log(self.rate) + np.exp(-_OVERFLOW) / self.rate + 2.0**-49 * x
        mixed = np.where(x <= _OVERFLOW, near, far) / (alphas - 1) * (1 + 2.0**-50)
        return np.asarray(np.minimum(mixed, whole))

    @property
    def max_divergence(self) -> float:
        return float(self.curve.at([np.inf]).values[0])


def _sampled_gaussian(multiplier: float, rate: float, fixed_size: bool) -> RdpFunction:
    return (FixedSizeGaussianRdp if fixed_size else SampledGaussianRdp)(multiplier, rate)


def _in_worse_order(pair: Attained, largest: float, tilt: float) -> Attained:
    """Return a pair of which neighbours have either order in the one with the larger moment.

    E e^(tilt L) is tilt (tilt + 1) times the integral of e^(tilt x) D(x), but for what is below 0.
    """
    epsilons = largest * np.arange(1.0, _READ) / _READ
    weights = np.exp(tilt * (epsilons - largest))
    ahead, behind = (float((weights * each).sum()) for each in pair.profile(epsilons))
    if ahead >= behind:
        return pair
    return pair._replace(profile=lambda epsilons: pair.profile(epsilons)[::-1], both_sides=None)


def root_of_squares(terms: Terms) -> float:
    """Return the mu of all together, rounded up: the root of the sum of the squares."""
    largest = max((leaf.gdp_mu for leaf, _ in terms), default=0.0)
    if not 0 < largest < math.inf:
        return largest
    shares = math.fsum((leaf.gdp_mu / largest) ** 2 * n for leaf, n in terms)
    return math.nextafter(largest * math.sqrt(shares) * (1 + 2.0**-49), math.inf)
