"""The leaves of noise with bounds: on a number of an interval, and on a vector."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import domain as core
from tightnoise._validate import one_of, positive
from tightnoise.costs._cell_pairs import pair_in_domain
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._gaussian_pair import truncated_variance
from tightnoise.costs._gaussian_profile import gaussian_delta
from tightnoise.costs._leaf import Attained, Leaf, Profile
from tightnoise.costs._lesser import lesser_of
from tightnoise.costs._loss_points import LARGEST_LOSS, losses_of
from tightnoise.costs._pure import pure_profile
from tightnoise.costs._quotients import quotient_upper

Array = NDArray[np.float64]

_MOST_SIGMAS = 75.0  # of a sensitivity: 1 - delta of larger ones is no number, nor a search quick


class _Domain(NamedTuple):
    """The functions of the core for a kind of noise in an interval: all of the worst pair."""

    max_loss: Callable[..., float]
    delta: Callable[..., Any]
    epsilon: Callable[..., float]


_DOMAINS = {
    "truncated-gaussian": _Domain(
        core.truncated_epsilon,
        core.truncated_worst_delta,
        core.truncated_epsilon_at,
    ),
    "rectified-gaussian": _Domain(
        core.rectified_epsilon,
        core.rectified_worst_delta,
        core.rectified_epsilon_at,
    ),
    "bounded-laplace": _Domain(
        core.bounded_laplace_epsilon,
        core.bounded_laplace_worst_delta,
        core.bounded_laplace_epsilon_at,
    ),
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
    has_either_order: ClassVar[bool] = True  # a record may raise the value or lower it
    is_slow: ClassVar[bool] = True

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
    def _is_large(self) -> bool:
        is_gaussian = self.law != "bounded-laplace"
        return is_gaussian and self.sensitivity > _MOST_SIGMAS * self.scale

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

    @property
    def zcdp_rho(self) -> float:
        """Of truncated noise that of `TruncatedPair`, of rectified that of the Gaussian."""
        rho = super().zcdp_rho
        if self.law != "truncated-gaussian":
            return rho
        half = np.asarray(min(self.width / self.scale, 80.0) * (0.5 + 1e-12))
        return min(rho, rho * float(truncated_variance(half)))

    def renyi(self) -> RdpFunction | None:
        """Return a bound by the largest loss, or by zCDP."""
        return lesser_of(self.max_loss, self.zcdp_rho)

    def profile(self, epsilons: Array) -> Profile:
        """Return the largest delta, or that of any release with the largest loss.

        Of a large change, what noise without bounds has, which takes no search.
        """
        if self._is_large:
            delta = pure_profile(self.max_loss, epsilons)
            delta = np.minimum(delta, gaussian_delta(epsilons, self.gdp_mu))
        else:
            delta = np.empty_like(epsilons)
            self._functions.delta(*map(np.array, self._place), epsilons, delta)
        return delta, delta

    @property
    def profile_excess(self) -> Excess | None:
        """That of the cards of cpp/worst/{truncated,rectified,bounded_laplace}_profile.hpp.

        Next to the loss H, they add r H/(H - epsilon) and r H/(e^(H - epsilon) - 1) at most, with
        r = 2e-14 and 5e-15. From H/2 to H, where H - epsilon <= 1, that is what an argument lower
        by a part 4 r does: the profile is convex in e^epsilon and 0 at H, so that its slope is at
        least its height/(e^(H - epsilon) - 1). Elsewhere it is r max(H, 2).

        Of bounded Laplace noise epsilon counts as lower by 2^-47 H at most: from H/2 on that is its
        argument; before, heights rise by no more than so much, and none is below that at H/2.
        """
        loss = self.max_loss
        if self._is_large or not loss < math.inf:
            return None
        if self.law == "bounded-laplace":
            least, _ = self.profile(np.array([0.5 * loss]))
            return Excess(3e-10 + 2.0**-46 * loss / float(least[0]), 2.0**-46)
        if self.law == "rectified-gaussian":
            return Excess(1.1e-12 + 1e-14 * max(loss, 2.0), 4e-14)
        return Excess(1.1e-10 + 2e-14 * max(loss, 2.0), 1e-13)

    def attained(self, tilt: float = 0.0) -> Attained | None:
        """Return that of an end of the interval and a value next to it, or of two further in."""
        width, shift = self.width / self.scale, self.sensitivity / self.scale
        return pair_in_domain(self.law, width, shift, tilt)

    @property
    def gap(self) -> str:
        """The one of all noise with bounds."""
        return super().gap or (
            "which true values cost most depends on epsilon, so that no pair composes like all; "
            "from below it is one of them"
        )

    def epsilon(self, delta: float) -> float | None:
        """Return the exact one."""
        if delta == 0:
            return self.max_loss
        return float(self._functions.epsilon(*self._place, delta))

    def release(self) -> Release | None:
        """Return the losses."""
        if not self.max_loss <= LARGEST_LOSS:
            return None
        return losses_of(
            self.profile, self.max_loss, min(self.gdp_mu, self.max_loss), symmetric=True
        )

    def grouped(self, count: int) -> Leaf:
        """Return the pair of a larger change."""
        return replace(self, sensitivity=self.sensitivity * count * (1 + 2.0**-52))


@dataclass(frozen=True)
class BoxPair(Leaf):
    """A release whose largest loss is known, a mu of Gaussian-DP and a rho of zCDP."""

    loss: float
    mu: float
    rho: float

    kind: ClassVar[str] = "pure-and-gaussian"
    is_attained: ClassVar[bool] = False
    has_least_profile: ClassVar[bool] = False

    def __post_init__(self) -> None:
        both = {"mu": self.mu, "rho": self.rho}
        known = {n: v if v == math.inf else positive(n, v) for n, v in both.items()}
        self._set(loss=positive("loss", self.loss), **known)

    @property
    def max_loss(self) -> float:
        """What was said."""
        return self.loss

    @property
    def gdp_mu(self) -> float:
        """What was said."""
        return self.mu

    @property
    def zcdp_rho(self) -> float:
        """What was said."""
        return self.rho

    def renyi(self) -> RdpFunction | None:
        """Return the lesser of both bounds."""
        return lesser_of(self.loss, self.zcdp_rho)

    def profile(self, epsilons: Array) -> Profile:
        """Return the lesser of both profiles."""
        delta = pure_profile(self.loss, epsilons)
        if self.mu < math.inf:
            delta = np.minimum(delta, gaussian_delta(epsilons, self.mu))
        return delta, delta

    def release(self) -> Release | None:
        """Return the losses."""
        if not self.loss <= LARGEST_LOSS:
            return None
        return losses_of(self.profile, self.loss, min(self.mu, self.loss), symmetric=True)

    def grouped(self, count: int) -> Leaf:
        """Return that of a larger change."""
        grown = count * (1 + 2.0**-52)
        rho = self.rho * grown * grown
        return replace(self, loss=self.loss * grown, mu=self.mu * grown, rho=rho)
