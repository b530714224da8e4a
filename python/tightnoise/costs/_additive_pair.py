"""The leaf of additive noise on one number."""

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

from tightnoise._arrays import elementwise
from tightnoise._cached import cached_property
from tightnoise._core import additive as core
from tightnoise._core import cost as contour
from tightnoise._validate import integer, one_of, positive, real_scalar, require
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._excess import Excess
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._laplace_rdp import LaplaceRdp
from tightnoise.costs._lattice import sum_of_products_upper
from tightnoise.costs._leaf import NEGLIGIBLE, Attained, Law, Leaf, Profile, losses_of_leaf
from tightnoise.costs._lesser import lesser_of
from tightnoise.costs._loss_points import LARGEST_LOSS, lattice_losses_of, losses_of, points_up_to
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW
from tightnoise.costs._noise_cells import Cells, Components, cells_of
from tightnoise.costs._pure import rho_of_pure
from tightnoise.costs._shifted_pair import EXACT, shifted_pair, worst_shifts_below
from tightnoise.costs._staircase_losses import staircase_losses

Array = NDArray[np.float64]

_FAR = 1e300  # an epsilon at which delta is what no epsilon improves on
_APART, _FAR_APART = 10.0, 50.0  # sigmas, between modes: one delta takes long, and there are
_EVERY = 8  # fewer points, one of so many where the change is far, too:
_FAR_CHANGE = 150.0  # its largest loss
_FARTHEST = 300.0  # sigmas, between modes: so long that none is looked for from below
_REACHED = 1e-9  # relative: deltas are as close to the truth
_TOLERANCE = 1e-7  # relative: of deltas that only have to be as close as their points make them
_LARGEST_SEARCHED = 1000.0  # of noise with several modes, whose every delta is searched for
_RAREST, _LARGEST_STEP = 1e-100, 300.0  # of staircases: changes in steps, and losses
_MOST_SIGMAS = 1e150  # squares of larger numbers overflow
_MOST_MODES = 10**6
_MOST_COMPONENTS = 50  # modes, of which each cell is told,
_MOST_CELLS = 1000.0  # and sigmas, that these are parts of
_LARGEST_STEP = 700.0  # an epsilon: what noise of steps and ladders may have


def _bound(name: str, value: Any) -> None:
    if value != math.inf:
        positive(name, value)


def _share(name: str, value: Any) -> None:
    require(0 <= real_scalar(name, value) <= 1, name, value, "between 0 and 1")


def _step(name: str, value: Any) -> None:
    allowed = f"greater than 0 and at most {_LARGEST_STEP:g}"
    require(positive(name, value) <= _LARGEST_STEP, name, value, allowed)


def _modes(name: str, value: Any) -> None:
    integer(name, value, minimum=0, maximum=_MOST_MODES)


def _list(name: str, values: Any) -> None:
    require(isinstance(values, tuple) and len(values) > 0, name, values, "numbers")
    for value in values:
        require(real_scalar(name, value) >= 0, name, value, "at least 0")


def _sigmas(name: str, values: Any) -> None:
    _list(name, values)
    for value in values:
        positive(name, value)


class _Law(NamedTuple):
    """A law of additive noise: how the core makes it, and what is known of its losses.

    `allowed`: its parameters, as a saved cost may have them; mechanisms allow no more.
    """

    make: Callable[..., Any]
    allowed: dict[str, Callable[[str, Any], object]]
    bend: Callable[..., float] = lambda *_: math.inf  # its profile bends at multiples of this
    sigma: Callable[..., float] | None = None  # of the narrowest component, all of which move
    apart: Callable[..., float] = lambda *_: 0.0  # how far the modes are, about


_LAWS = {
    "laplace": _Law(core.Laplace, {"scale": positive, "bound": _bound}),
    "staircase": _Law(
        core.Staircase,
        {"epsilon": _step, "step": positive, "gamma": _share, "bound": _bound},
        bend=lambda epsilon, *_: epsilon,
    ),
    "multi-gaussian": _Law(
        core.MultiGaussian,
        {"sigma": positive, "epsilon": _step, "sensitivity": positive, "modes": _modes},
        bend=lambda _, epsilon, *__: epsilon,
        sigma=lambda sigma, *_: sigma,
        apart=lambda sigma, _, step, *__: step / sigma,
    ),
    "quasi-gaussian": _Law(
        core.QuasiGaussian,
        {"sigma": positive, "epsilon": _step, "sensitivity": positive},
        bend=lambda _, epsilon, *__: epsilon,
        apart=lambda sigma, _, step: step / sigma,
    ),
    "gaussian-scale-mixture": _Law(
        core.ScaleMixture,
        {"locations": _list, "weights": _sigmas, "sigmas": _sigmas},
        sigma=lambda _, __, sigmas: min(sigmas),
        apart=lambda locations, _, sigmas: max(locations) / min(sigmas),
    ),
}
_OF_PIECES = ("laplace", "staircase")  # whose divergences have a closed form


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
        allowed = _LAWS[self.law].allowed
        names = ", ".join(allowed)
        require(len(self.parameters) == len(allowed), "parameters", self.parameters, names)
        for (name, check), value in zip(allowed.items(), self.parameters, strict=True):
            check(name, value)
        lengths = {len(value) for value in self.parameters if isinstance(value, tuple)}
        require(len(lengths) < 2, "parameters", self.parameters, "of one length")

    @property
    def _core_law(self) -> Any:
        return law_of(self.law, self.parameters)

    @property
    def _apart(self) -> float:
        return _LAWS[self.law].apart(*self.parameters)

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
            return lesser_of(math.inf, self.zcdp_rho)
        return lesser_of(self.max_loss, math.inf)

    def profile(self, epsilons: Array) -> Profile:
        """Return the greatest delta of all shifts."""
        at = np.ascontiguousarray(epsilons, dtype=np.float64)
        delta = _worst_shifts(self._core_law, self.sensitivity, at.tobytes()).reshape(at.shape)
        return delta, delta

    @property
    def profile_excess(self) -> Excess | None:
        """That of a divergence which is rounded upwards (cpp/worst/worst_shift.hpp).

        Of mixtures none, one mode or not: where the loss is epsilon all along a flank, the
        divergence may be far above the truth.
        """
        return EXACT if self.law in _OF_PIECES else None

    def profile_below(self, epsilons: Array) -> Profile | None:
        """Return that of the worst shift at each epsilon."""
        if self.law in _OF_PIECES:
            return super().profile_below(epsilons)
        if not self.is_attained and self._apart > _FARTHEST:
            return None
        return worst_shifts_below(self._core_law, self.sensitivity, epsilons, self._apart)

    def attained(self, tilt: float = 0.0) -> Attained | None:
        """Return that of the largest shift, or of one where there are several modes."""
        if self.law in _OF_PIECES:
            return super().attained(tilt)
        if self._apart > _FAR_APART:  # positions have fewer digits there, too
            return None
        return shifted_pair(self._core_law, self.sensitivity, tilt)

    @property
    def gap(self) -> str | None:
        """That of several modes."""
        known = super().gap
        if self.is_attained or self.attained() is None:
            return known
        return "noise of several modes: which shift costs most depends on epsilon; from below " + (
            "it is one of them"
        )

    def delta(self, epsilon: float) -> float:
        """Return it to 1e-9."""
        shift = np.asarray(self.sensitivity)
        return float(
            elementwise(self._core_law.delta, epsilon=np.asarray(epsilon), sensitivity=shift)
        )

    def epsilon(self, delta: float) -> float:
        """Return the exact one."""
        return float(self._core_law.epsilon_at(delta, self.sensitivity))

    @cached_property
    def is_attained(self) -> bool:
        """Whether one pair has this profile: that of the largest shift, where there is one mode."""
        return bool(self._core_law.worst_shift(1.0, self.sensitivity)[2] == "unimodal")

    @property
    def is_slow(self) -> bool:  # type: ignore[override]
        """Whether the worst shift is looked for, where there are several modes."""
        return not self.is_attained

    @cached_property
    def is_coarse(self) -> bool:
        """Whether it takes milliseconds to find, as modes are far apart, and the change is far."""
        if self.is_attained or self._apart <= _APART:
            return False
        return self.epsilon(NEGLIGIBLE) > _FAR_CHANGE

    def release(self) -> Release | None:
        """Return the losses; None of noise with several modes whose losses are too large."""
        if self._is_staircase:
            epsilon, step, gamma, bound = self.parameters
            change = Fraction(self.sensitivity) / Fraction(step)
            end = Fraction(bound) / Fraction(step) if bound < math.inf else bound
            return staircase_losses(epsilon, gamma, change, end)
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
        if not largest <= LARGEST_LOSS:
            return None
        if self.is_coarse:
            points = points_up_to(largest, 0.1 * largest)
            epsilons = np.append(points[:-1:_EVERY], largest)
            return connect_dots(epsilons, self.profile(epsilons)[0])
        if not self.is_attained and self._apart > _FAR_APART:
            return losses_of(self.profile, largest, min(largest, 1.0), symmetric=True)
        bend = _LAWS[self.law].bend(*self.parameters)
        return lattice_losses_of(self.profile, largest, bend)

    @property
    def _is_staircase(self) -> bool:
        """Whether each finite loss is a step or none, and neither is too rare for a float."""
        if self.law != "staircase":
            return False
        epsilon, step = self.parameters[:2]
        return bool(_RAREST * step <= self.sensitivity <= step and epsilon <= _LARGEST_STEP)

    def reached(self) -> Release | None:
        """Return those of staircase noise."""
        return losses_of_leaf(self) if self._is_staircase else None

    def laws(self) -> tuple[Law, ...] | None:
        """Return that of Laplace noise."""
        if self.law != "laplace" or self.parameters[1] < math.inf:
            return None
        loss = self.sensitivity / self.parameters[0]
        if not sys.float_info.min < loss < LARGEST_LOSS:
            return None
        upper, lower = (contour.laplace(math.nextafter(loss, end)) for end in (math.inf, 0.0))
        return (Law(upper, lower, is_smooth=False),)

    @property
    def has_cells(self) -> bool:
        """Whether it is a mixture of a few Gaussians with one mode."""
        components = _components(self.law, self.parameters)
        if components is None or not self.is_attained:
            return False
        whole = 2 * components.reach + self.sensitivity
        return bool(whole <= _MOST_CELLS * components.sigmas.min())

    def cells(self, losses: Array) -> Cells | None:
        """Return those of the number that is released."""
        components = _components(self.law, self.parameters)
        if components is None or not self.has_cells:
            return None
        return cells_of(components, self.sensitivity, losses)

    def grouped(self, count: int) -> Leaf:
        """Return the pair of a larger change."""
        return replace(self, sensitivity=sum_of_products_upper([(self.sensitivity, count)]))


@functools.lru_cache(maxsize=16)
def _worst_shifts(law: Any, sensitivity: float, epsilons: bytes) -> Array:
    """Return the greatest delta of all shifts: both sides ask for the same ones."""
    at = np.frombuffer(epsilons)
    delta = np.empty_like(at)
    law.worst_shift_curve(sensitivity, at, _TOLERANCE, delta)
    delta = np.minimum(delta, 1.0)
    delta.flags.writeable = False
    return delta


@functools.lru_cache(maxsize=64)
def _components(law: str, parameters: tuple[Any, ...]) -> Components | None:
    """Return those of a mixture of few normal densities; None of other laws."""
    if law == "multi-gaussian" and parameters[3] <= _MOST_COMPONENTS:
        sigma, epsilon, step, modes = parameters
        places = np.arange(-modes, modes + 1.0)
        weights = np.exp(-epsilon * np.abs(places))
        return Components(places * step, weights / weights.sum(), np.full(places.size, sigma))
    if law == "gaussian-scale-mixture" and len(parameters[0]) <= _MOST_COMPONENTS:
        locations, weights, sigmas = (np.array([*each, *each]) for each in parameters)
        locations[: locations.size // 2] *= -1
        return Components(locations, weights / weights.sum(), sigmas)
    return None


@functools.lru_cache(maxsize=256)
def law_of(name: str, parameters: tuple[Any, ...]) -> Any:
    """Return the law, an object of the core."""
    return _LAWS[name].make(*parameters)
