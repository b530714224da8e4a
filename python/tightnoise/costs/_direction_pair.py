"""What two von Mises-Fisher distributions of one concentration cost, by the angle between them.

The angle counts by half_chord = sin(angle/2) = |x - x'|/2, x and x' the mean directions; all costs
increase with it. With z = kappa half_chord, the privacy loss is 2 z t, t the cosine between the
output and x - x'. The divergence's formula is in the core, cpp/mechanisms/vmf_divergence.hpp.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tightnoise._arrays import elementwise
from tightnoise._core import cost as cost_core
from tightnoise._core import von_mises_fisher as core
from tightnoise._validate import (
    MAX_COUNT,
    integer,
    not_negative,
    number_array,
    real_scalar,
    require,
    require_all,
)
from tightnoise.costs._core_sum import CoreSum
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._leaf import NEGLIGIBLE, Law, Leaf, Profile
from tightnoise.costs._loss_points import LARGEST_LOSS, lattice_losses_of
from tightnoise.special import ndtri_exp

Array = NDArray[np.float64]

_LARGEST_KAPPA = 1e100  # squares of larger numbers could leave the range of floats in products
_MOST_EXACT = 1e28  # beyond, a loss that is all but constant is known less well
_UNIT = 2.0**-52
_LAW_KAPPA = 1e8  # what the core knows a law up to, and from which kappa half_chord on
_LEAST_ALONG = 1e-11
_LARGEST_ANGLE = math.pi * (1.0 + 4 * _UNIT)  # sums that should be pi may be a few units above

# A cost is the core's divergence with a margin: that is within 1.5e-15 of the truth (its card), and
# below 1e-300 it may underflow. Sums add a rounding of the product and one of the sum a term.
_MARGIN = 1e-14
_UNDERFLOW = 1e-300

# The quantile for randomised response has an error of a few units of 1, mu not much less than the
# loss; below this loss its tangent is as good (a relative 2e-10).
_SMALL_LOSS = 1e-4


def concentration(kappa: object) -> float:
    """Return kappa as a float from 0 to 1e100."""
    number = not_negative("kappa", kappa)
    require(number <= _LARGEST_KAPPA, "kappa", kappa, "at most 1e100")
    return number + 0.0  # not -0.0


def dimension(dim: object) -> int:
    """Return dim as an int from 2 to 2**53."""
    return integer("dim", dim, minimum=2, maximum=MAX_COUNT)


def radians(angle: object) -> Array:
    """Return angles from 0 to pi as an array."""
    array = number_array("angle", angle)
    good = (array >= 0) & (array <= _LARGEST_ANGLE)
    require_all(good, "angle", array, "between 0 and pi")
    return np.asarray(array + 0.0)  # not -0.0


def checked_half_chord(half_chord: object) -> float:
    """Return half_chord as a float from 0 to 1."""
    number = not_negative("half_chord", half_chord)
    require(number <= 1, "half_chord", half_chord, "at most 1")
    return number + 0.0  # not -0.0


def half_chord_upper(angle: object) -> float:
    """Return sin(angle/2), rounded upwards, of one angle from 0 to pi."""
    value = real_scalar("angle", angle)
    require(0 <= value <= _LARGEST_ANGLE, "angle", angle, "between 0 and pi")
    if value == 0 or value >= math.pi:
        return 1.0 if value else 0.0
    return min(math.nextafter(math.sin(0.5 * value), 1.0), 1.0)


def renyi_divergence(
    kappa: float, dim: int, half_chord: Array, alpha: Array, half_cosine: Array | None = None
) -> Array:
    """Return the Renyi divergences of orders above 0, elementwise: the nearest values.

    half_cosine is cos(angle/2), for orders below 1 next to opposite directions, where
    1 - half_chord^2 has lost its digits.
    """
    if half_cosine is None:
        half_cosine = np.asarray(_half_cosine(half_chord))
    return elementwise(
        core.renyi_divergence,
        nu=np.asarray(0.5 * dim - 1.0),
        kappa=np.asarray(kappa),
        half_chord=half_chord,
        half_cosine=half_cosine,
        alpha=alpha,
    )


def hockey_stick_upper(kappa: float, dim: int, half_chord: Array, epsilon: Array) -> Array:
    """Return the smallest delta at each epsilon >= 0, elementwise, rounded upwards.

    By less than 1e-10 of it, and 1e-289. (For kappa beyond 1e28, where the loss is all but a
    constant, it may be 1 up to 1e-8 above that constant.)

    It is the hockey-stick divergence, and increases with the half chord at every epsilon. For let m
    be the direction of x + x'. Given a = y . m, which has the same law under both, the rest of y is
    a pair of opposite directions in dim - 1 dimensions, of concentration
    kappa half_chord sqrt(1 - a^2). That of opposite directions increases with the concentration
    (their densities along x - x' are e^(h t) times the same function, a family of monotone
    likelihood ratio in h); and the larger the half chord, the less weight the law of |a| has on
    large |a|. It is cosh(kappa sqrt(1 - half_chord^2) a) A(kappa half_chord sqrt(1 - a^2)), A the
    mean over the sphere across, times what does not depend on the half chord: the first rises less
    with |a|, and the second falls more, as z A'(z)/A(z) increases.
    """
    delta = elementwise(
        functools.partial(core.hockey_stick, kappa, dim),
        half_chord=half_chord,
        epsilon=epsilon,
    )
    return np.where(np.isnan(delta), 1.0, delta)  # beyond the core's range nothing is known


def epsilon_upper(kappa: float, dim: int, half_chord: Array, delta: Array) -> Array:
    """Return the smallest epsilon >= 0 for each delta from 0 to 1, elementwise, rounded upwards.

    `hockey_stick_upper` of it is at most delta; it is at most the exact epsilon of
    delta (1 - 1e-10), rounded upwards.
    """
    return elementwise(
        functools.partial(core.epsilon, kappa, dim),
        half_chord=half_chord,
        delta=delta,
    )


@dataclass(frozen=True)
class VonMisesFisherRdp(CoreSum):
    """The function alpha -> Renyi divergence of two von Mises-Fisher distributions, rounded up.

    Parameters
    ----------
    kappa : float
        Concentration, from 0 to 1e100.
    dim : int
        Dimension of the space, from 2 to 2**53.
    half_chord : float
        sin(angle/2), from 0 to 1.

    Raises
    ------
    ValueError, TypeError
        For numbers out of range.
    """

    kappa: float
    dim: int
    half_chord: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "kappa", concentration(self.kappa))
        object.__setattr__(self, "dim", dimension(self.dim))
        object.__setattr__(self, "half_chord", checked_half_chord(self.half_chord))

    @property
    def _core_arguments(self) -> tuple[float, ...]:
        return 0.5 * self.dim - 1.0, self.kappa, self.half_chord, _half_cosine(self.half_chord)

    @staticmethod
    def _core_sum(*arrays: Array) -> None:
        core.renyi_sum(*arrays)

    @classmethod
    def weighted_sum(
        cls, functions: Sequence[VonMisesFisherRdp], counts: Sequence[int], orders: object
    ) -> Array:
        """Return the sum of counts[i] functions[i](orders), rounded upwards, in one call."""
        out = super().weighted_sum(functions, counts, orders)
        if any(f._costs for f in functions):
            out *= 1.0 + (_MARGIN + 2 * _UNIT * len(functions))
            out += _UNDERFLOW * sum(counts)
        return out

    @property
    def max_divergence(self) -> float:
        """The bound at infinite order: the largest privacy loss, 2 kappa half_chord."""
        return math.nextafter(_loss(self.kappa, self.half_chord), math.inf) if self._costs else 0.0

    @property
    def _costs(self) -> bool:
        return self.kappa > 0 and self.half_chord > 0


def zcdp_rho_upper(kappa: float, dim: int, half_chord: float) -> float:
    """Return the smallest rho with D_alpha <= rho alpha at every alpha > 1, rounded up.

    D_alpha = 4 alpha z^2 S, where S is the slope of a secant of L as a function of kappa^2, from
    kappa^2 to c^2 kappa^2. L is concave in kappa^2, so S decreases as c grows with alpha, and with
    it D_alpha/alpha: its supremum is the limit at alpha = 1, the Kullback-Leibler divergence. (The
    closed form 2 z^2/dim takes the slope at 0, which is larger.)

    L is concave as the log of 0F1(; dim/2; kappa^2/4), the product of all 1 + kappa^2/j^2 over the
    positive zeros j of the Bessel function J_(dim/2 - 1) (DLMF 10.21.15).
    """
    return float(VonMisesFisherRdp(kappa, dim, half_chord)(np.ones(1))[0])


def gdp_mu_upper(kappa: float, dim: int, half_chord: float) -> float:
    """Return a mu for which the pair is mu-GDP, rounded up: the smaller of two bounds.

    mu = 2 z/sqrt(dim - 3), for dim >= 4. Let P_h be the law of t with density proportional to

        exp(h t) (1 - t^2)^((dim - 3)/2) A(sqrt(1 - t^2)),

    A the mean of the rest over the sphere of directions across: its log is a concave and increasing
    function of 1 - t^2 (L is one of kappa^2), hence concave in t. The pair is h = -z and z. The log
    density has a second derivative of at most -(dim - 3) for every h, so t is T(Z), Z standard
    normal and T increasing and Lipschitz with (dim - 3)^(-1/2) (Caffarelli 2000, "Monotonicity
    properties of optimal transportation"). With P_h(t > x) = P(Z > w),

        -dw/dh = Cov_h(t, 1(t > x))/phi(w) <= (dim - 3)^(-1/2) Cov(Z, 1(Z > w))/phi(w)
               = (dim - 3)^(-1/2),

    so the normal quantiles of any test t > x, and these are the best ones, differ by 2 z times that
    at most.

    mu = -2 Phi^-1(1/(1 + e^(2 z))), in any dimension. The loss is at most 2 z, so the trade-off
    function is at least that of randomised response: straight from (0, 1) to (p, p) to (1, 0), p
    the probability above. That of N(0, 1) and N(mu, 1) is convex and goes through these points, so
    it is below.
    """
    if kappa == 0 or half_chord == 0:
        return 0.0
    loss = _loss(kappa, half_chord)
    mu = _randomised_response_mu_upper(loss)
    if dim > 3:
        mu = min(mu, loss / math.sqrt(dim - 3.0) * (1.0 + 4 * _UNIT))
    return math.nextafter(mu, math.inf)  # more than 0, whatever underflows


def _randomised_response_mu_upper(loss: float) -> float:
    if loss < _SMALL_LOSS:
        # mu/2 = x solves Phi(x) - 1/2 = tanh(e/2)/2, and is at most y = sqrt(2 pi) e/4:
        # Phi(y) - 1/2 >= (y - y^3/6)/sqrt(2 pi) >= e/4 - 0.0164 e^3 is more than the upper bound
        # e/4 - e^3/48 + e^5/480 of tanh(e/2)/2.
        return math.sqrt(0.5 * math.pi) * loss * (1.0 + 4 * _UNIT)
    log_p = -(loss + math.log1p(math.exp(-loss)))
    return -2.0 * float(ndtri_exp(log_p)) * (1.0 + _MARGIN) + 16 * _UNIT


def _half_cosine(half_chord: Any) -> Any:
    return np.sqrt((1.0 - half_chord) * (1.0 + half_chord))


def _loss(kappa: float, half_chord: float) -> float:
    return 2.0 * kappa * half_chord


@dataclass(frozen=True)
class DirectionPair(Leaf):
    """Two von Mises-Fisher distributions; half_chord is sin(angle/2)."""

    kappa: float
    dim: int
    half_chord: float

    kind: ClassVar[str] = "direction"
    is_slow: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._set(
            kappa=concentration(self.kappa),
            dim=dimension(self.dim),
            half_chord=checked_half_chord(self.half_chord),
        )

    @property
    def max_loss(self) -> float:
        """The loss 2 kappa half_chord."""
        return self.renyi().max_divergence

    @property
    def gdp_mu(self) -> float:
        """See `gdp_mu_upper`."""
        return gdp_mu_upper(self.kappa, self.dim, self.half_chord)

    @property
    def zcdp_rho(self) -> float:
        """The Kullback-Leibler divergence; see `zcdp_rho_upper`."""
        return zcdp_rho_upper(self.kappa, self.dim, self.half_chord)

    def renyi(self) -> VonMisesFisherRdp:
        """Return the exact divergence."""
        return VonMisesFisherRdp(self.kappa, self.dim, self.half_chord)

    def profile(self, epsilons: Array) -> Profile:
        """Return the exact profile: a reflection exchanges P and Q."""
        half_chord = np.asarray(self.half_chord)
        delta = hockey_stick_upper(self.kappa, self.dim, half_chord, epsilons)
        return delta, delta

    @property
    def profile_excess(self) -> Excess | None:
        """That of `hockey_stick_upper`."""
        return Excess(1.1e-10) if self.kappa <= _MOST_EXACT else None

    def epsilon(self, delta: float) -> float:
        """Return the exact one."""
        half_chord = np.asarray(self.half_chord)
        return float(epsilon_upper(self.kappa, self.dim, half_chord, np.asarray(delta)))

    @property
    def overlap(self) -> float:
        """At least what each gives to outputs that the other makes likelier: e^(-D/2) at order 1/2.

        So much less as half chords that are rounded up are too large, and as D is wrong.
        """
        half_chord, order = np.asarray(self.half_chord), np.asarray(0.5)
        least = float(renyi_divergence(self.kappa, self.dim, half_chord, order)) * (1 - 1e-9)
        return math.exp(-0.5 * least)

    def release(self) -> Release | None:
        """Return the losses."""
        largest = min(self.epsilon(NEGLIGIBLE), self.max_loss)
        if not largest <= LARGEST_LOSS:
            return None
        return lattice_losses_of(self.profile, largest)

    def laws(self) -> tuple[Law, ...] | None:
        """Return the one of both directions."""
        law = self.sampled_law(1.0, "remove")
        return None if law is None else (law,)

    def sampled_law(self, rate: float, way: str) -> Law | None:
        """Return the law on a Poisson sample, "remove" or "add", in the core's range.

        The half chord of an angle is rounded up, by two units of the last place at most.
        """
        if self.kappa > _LAW_KAPPA or self.kappa * self.half_chord < _LEAST_ALONG:
            return None
        least = self.half_chord
        if least < 1:
            least = math.nextafter(math.nextafter(least, 0.0), 0.0)

        def law(half_chord: float) -> cost_core.Law:
            return cost_core.sampled_direction(self.kappa, self.dim, half_chord, rate, way)

        most = law(self.half_chord)
        return Law(most, most if least == self.half_chord else law(least))
