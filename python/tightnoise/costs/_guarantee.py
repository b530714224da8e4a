"""Releases of which an epsilon and a delta are known, and what many of them cost together.

An (e, d)-DP release can be simulated from randomised response: with probability d it tells all,
else it answers a yes-no question truthfully with probability 1/(1 + exp(-e)) (Kairouz, Oh and
Viswanath 2017, "The Composition Theorem for Differential Privacy", IEEE Transactions on Information
Theory 63(6), section 6). That pair dominates: the worst that N such releases do together is what N
such responses do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise._validate import not_negative, real_scalar, require
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._leaf import Leaf, Profile
from tightnoise.costs._pure import PureRdp, pure_profile, rho_of_pure

Array = NDArray[np.float64]

_LARGEST_SUM = 1e305  # of epsilons: beyond, the core's sums could overflow


@dataclass(frozen=True)
class Guarantee(Leaf):
    """An (epsilon, delta)-DP release, of which nothing else is known."""

    loss: float
    failure: float = 0.0

    kind: ClassVar[str] = "guarantee"
    is_attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        failure = real_scalar("delta", self.failure)
        require(0 <= failure < 1, "delta", self.failure, "at least 0 and below 1")
        self._set(loss=not_negative("epsilon", self.loss), failure=math.fabs(failure))

    @property
    def max_loss(self) -> float:
        """Epsilon, if delta is 0."""
        return self.loss if self.failure == 0 else math.inf

    @property
    def zcdp_rho(self) -> float:
        """That of a pure release."""
        return rho_of_pure(self.max_loss)

    def renyi(self) -> RdpFunction | None:
        """Return that of randomised response, if delta is 0."""
        return PureRdp(self.loss) if self.failure == 0 else None

    def profile(self, epsilons: Array) -> Profile:
        """Return delta + (1 - delta) that of randomised response."""
        slack = (1 - self.failure) * pure_profile(self.loss, epsilons)
        delta = np.minimum((self.failure + slack) * (1 + 2.0**-50), 1.0)
        return delta, delta

    def epsilon(self, delta: float) -> float | None:
        """Return the least epsilon."""
        return Responses(((self, 1),)).epsilon(delta)

    def release(self) -> Release:
        """Return two losses, and infinity."""
        log_kept = math.log1p(-self.failure)
        if self.loss == 0:
            values, log_mass = np.zeros(1), np.array([log_kept])
        else:
            true = log_kept - math.log1p(math.exp(-self.loss))
            values, log_mass = np.array([-self.loss, self.loss]), np.array([true - self.loss, true])
        return Release(
            values=values,
            log_mass=log_mass + 2.0**-50 * (1 + np.abs(log_mass)),
            infinite=self.failure,
            infinite_swapped=self.failure,
            is_symmetric=True,
            grid=self.loss,
        )

    def grouped(self, count: int) -> Leaf | None:
        """Return that of group privacy, if delta is 0."""
        larger = self.loss * count * (1 + 2.0**-52)
        return replace(self, loss=larger) if self.failure == 0 else None

    def describe(self) -> str:
        """Return the guarantee."""
        return f"({self.loss:g}, {self.failure:g})-DP"


class Responses:
    """Guarantees, each so many times: exact if all have the same epsilon.

    The releases fail with probability 1 - (1 - d_1) ... (1 - d_N) =: failure; if they do not, the
    hockey-stick divergence of N randomised responses counts. At epsilon x, for N equal ones,

        slack = sum over L_k > x of C(N, k) exp(k e)/(1 + exp(e))^N (1 - exp(x - L_k)),
        L_k = (2 k - N) e,    delta = failure + (1 - failure) slack,

    which is Theorem 3.3 of Kairouz, Oh and Viswanath, also between the points that it lists.
    Otherwise Theorem 3.5: with A = sum of e tanh(e/2) and V = sum of e^2, epsilon is at most

        min{sum of e, A + sqrt(2 V log(exp(1) + sqrt(V)/slack)), A + sqrt(2 V log(1/slack))}.
    """

    def __init__(self, terms: Sequence[tuple[Guarantee, int]]) -> None:
        self._arrays = (
            np.array([leaf.loss for leaf, _ in terms]),
            np.array([leaf.failure for leaf, _ in terms]),
            np.array([float(count) for _, count in terms]),
        )
        losses, _, counts = self._arrays
        with np.errstate(over="ignore"):
            self.is_known = bool(losses @ counts <= _LARGEST_SUM)
        used = losses > 0
        same = bool((losses[used] == losses[used][:1]).all())
        self.is_exact = same and float(counts[used].sum()) <= core.MAX_EXACT_COUNT

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon at delta, infinity below the probability of failure."""
        if not self.is_known:
            return math.inf
        if delta == 1:
            return 0.0
        way = core.exact_epsilon_upper if self.is_exact else core.closed_form_epsilon_upper
        return float(way(*self._arrays, delta))

    def delta(self, epsilon: float) -> float:
        """Return the least delta."""
        if not self.is_known:
            return 1.0
        way = core.exact_delta_upper if self.is_exact else core.closed_form_delta_upper
        return float(way(*self._arrays, epsilon))
