"""What noise on each coordinate costs wherever theta lies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import broadcast_shape, difference_upper, elementwise
from tightnoise._core import domain as core
from tightnoise._validate import (
    float_array,
    not_negative,
    number_array,
    require,
    require_all,
    shown,
)
from tightnoise.costs import Cost
from tightnoise.costs._domain_pair import BoxPair, DomainPair
from tightnoise.costs._gaussian_pair import (
    GaussianPair,
    TruncatedPair,
    gaussian_of_mu,
    truncated_variance,
)
from tightnoise.costs._quotients import quotient_lower
from tightnoise.mechanisms._coordinate_law import CoordinateLaw

Array = NDArray[np.float64]
Domain = tuple[Array, Array]

_ROUNDING = 1e-12  # relative: far above that of sums by pairs, of quotients and roots
_TINY = float(np.finfo(np.float64).tiny)


class _Interval(NamedTuple):
    """What is known of a law on a number between its bounds."""

    law: str  # what `DomainPair` calls it
    epsilon: Callable[..., Any]  # the largest loss, of the core


_INTERVALS = {
    "truncated": _Interval("truncated-gaussian", core.truncated_epsilon),
    "rectified": _Interval("rectified-gaussian", core.rectified_epsilon),
    "bounded_laplace": _Interval("bounded-laplace", core.bounded_laplace_epsilon),
}


class _Changes(NamedTuple):
    """The most that one record changes the coordinates, and how many there are."""

    total: float  # in Euclidean norm; infinite: not given
    each: Array | None  # without what a broadcast view repeats
    shape: tuple[int, ...]  # of all coordinates

    @property
    def is_zero(self) -> bool:
        return self.total == 0 or (self.each is not None and not self.each.any())

    def repeats(self, part: Array) -> float:
        """Return how often the coordinates of a part stand for all."""
        return math.prod(self.shape) / part.size


def coordinate_cost(
    law: CoordinateLaw,
    sensitivity: float | None,
    coordinate_sensitivity: ArrayLike | None,
    domain: Any,
    adjacency: Any,
) -> Cost:
    """Return the cost of one release: on an interval or a box that is known, or anywhere."""
    require(math.prod(law.shape) > 0, law.scale_name, law.shape, "of a shape that is not empty")
    if domain is None and not law.is_below_gaussian:
        domain = law.lower, law.upper  # what is beyond a bound is released as the bound would be
    ends = None if domain is None else _ends(law, domain)
    changes = _changes(law, sensitivity, coordinate_sensitivity, ends)
    if changes.is_zero:
        return Cost()
    if ends is None or law.name not in _INTERVALS:
        return Cost.of_leaf(_gaussian(law, changes, adjacency))
    if math.prod(changes.shape) == 1:
        place = law.scale.item(), difference_upper(law.upper, law.lower).item()
        inside = difference_upper(ends[1], ends[0])  # both values are in the domain
        change = min(float(np.min(_least_changes(changes))), float(np.min(inside)))
        kind = _INTERVALS[law.name].law
        return Cost.of_leaf(DomainPair(kind, *place, change, adjacency=adjacency))
    mu = rho = math.inf
    if law.is_below_gaussian:
        pair = _gaussian(law, changes, adjacency)
        mu, rho = pair.gdp_mu, pair.zcdp_rho
    return Cost.of_leaf(BoxPair(_box_loss(law, changes, ends), mu, rho, adjacency=adjacency))


# --- arguments ------------------------------------------------------------------------------------


def _ends(law: CoordinateLaw, domain: Any) -> Domain:
    """Return the two ends of a domain after checking them."""
    try:
        start, end = domain
    except (TypeError, ValueError):
        raise ValueError(f"domain must be a pair (lower, upper); got {shown(domain)}") from None
    low, high = number_array("domain", start), number_array("domain", end)
    broadcast_shape(domain_lower=low, domain_upper=high, parameters=np.empty(law.shape))
    require(bool(np.all(low < high)), "domain", domain, "a pair lower < upper")
    if law.name in _INTERVALS:
        inside = np.all(low >= law.lower) and np.all(high <= law.upper)
        require(bool(inside), "domain", domain, "within the bounds of the mechanism")
    return low, high


def _changes(
    law: CoordinateLaw,
    sensitivity: float | None,
    coordinate_sensitivity: ArrayLike | None,
    ends: Domain | None,
) -> _Changes:
    if sensitivity is None and coordinate_sensitivity is None:
        raise TypeError("sensitivity or coordinate_sensitivity must be given, or both")
    total = math.inf if sensitivity is None else not_negative("sensitivity", sensitivity)
    others = {"parameters": np.broadcast_to(0.0, law.shape)}
    if ends is not None:
        others["domain"] = np.broadcast_to(0.0, np.broadcast_shapes(*(end.shape for end in ends)))
    if coordinate_sensitivity is None:
        return _Changes(total, None, broadcast_shape(**others))
    whole = np.shape(coordinate_sensitivity)
    each = float_array("coordinate_sensitivity", _distinct(coordinate_sensitivity))
    require(each.size > 0, "coordinate_sensitivity", coordinate_sensitivity, "not empty")
    require_all(each >= 0, "coordinate_sensitivity", each, "at least 0")
    shape = broadcast_shape(coordinate_sensitivity=np.broadcast_to(0.0, whole), **others)
    # A parameter of one element broadcasts to any theta: it says no more than a number does.
    if not whole and math.prod(shape) == 1:
        raise ValueError(
            "coordinate_sensitivity must be an array of the release's shape, as "
            "numpy.broadcast_to(c, d) is: a number says nothing of how many coordinates there are; "
            f"got {coordinate_sensitivity!r}"
        )
    if shape not in (whole, *(array.shape for array in others.values())):
        raise ValueError(
            "coordinate_sensitivity must have the shape of the release, as parameters and domain; "
            f"got shape {whole} beside {[array.shape for array in others.values()]}"
        )
    return _Changes(total, each.astype(np.float64), shape)


def _distinct(values: ArrayLike) -> ArrayLike:
    """Return an array without what a broadcast view repeats: one element of each such axis."""
    if not isinstance(values, np.ndarray):
        return values
    return values[tuple(slice(0, 1) if step == 0 else slice(None) for step in values.strides)]


# --- Gaussian noise without bounds ----------------------------------------------------------------


def _gaussian(law: CoordinateLaw, changes: _Changes, adjacency: Any) -> GaussianPair:
    """Return the pair of Gaussian noise, or of a function of its output: the lesser of two."""
    is_bound = law.name != "gaussian"
    pairs = []
    if changes.total < math.inf:
        multiplier = quotient_lower(float(law.scale.min()), changes.total)
        pairs.append(GaussianPair(multiplier, is_bound, adjacency=adjacency))
    if changes.each is not None:
        mu = _distance_upper(law, changes, changes.each, law.scale)
        pairs.append(gaussian_of_mu(mu, is_bound=is_bound, adjacency=adjacency))
    pair = max(pairs, key=lambda pair: pair.noise_multiplier)
    rho = _truncated_rho(law, changes) if law.name == "truncated" else math.inf
    if rho == math.inf:
        return pair
    return TruncatedPair(pair.noise_multiplier, rho=rho, adjacency=adjacency)


def _truncated_rho(law: CoordinateLaw, changes: _Changes) -> float:
    """Return half the largest sum of (s_j eta_j)^2, rounded up: eta_j that at the centre."""
    with np.errstate(over="ignore", under="ignore"):
        half = difference_upper(law.upper, law.lower) / law.scale * (0.5 + _ROUNDING)
    scale = law.scale * (1 - _ROUNDING) / np.sqrt(truncated_variance(np.asarray(half)))
    norms = [changes.total / float(scale.min())]
    if changes.each is not None:
        norms.append(_distance_upper(law, changes, changes.each, scale))
    norm = min(norms)
    return max(0.5 * norm * norm * (1 + 2 * _ROUNDING), _TINY)  # a power of floats would overflow


def _distance_upper(law: CoordinateLaw, changes: _Changes, each: Array, scale: Array) -> float:
    """Return the root of the sum of (c_j/scale_j)^2, rounded up."""
    with np.errstate(over="ignore", under="ignore"):
        steps = np.divide(each, scale)
    # What underflows, or is not a normal number, is not free.
    steps = np.where(np.broadcast_to(each, steps.shape) > 0, np.maximum(steps, _TINY), 0.0)
    largest = float(steps.max())
    require(largest < 1e150, "coordinate_sensitivity", largest, f"within 1e150 {law.scale_name}")
    scaled = steps / largest
    root = largest * math.sqrt(float(np.sum(scaled * scaled)) * changes.repeats(scaled))
    return root * (1 + _ROUNDING)


# --- noise with bounds, in a box ------------------------------------------------------------------


def _box_loss(law: CoordinateLaw, changes: _Changes, ends: Domain) -> float:
    """Return the largest loss, rounded up: that of coordinates adds up, since noise is independent.

    With an L2 sensitivity the worst change within the ball, for one scale; with several scales each
    coordinate may change by all of it, which is sound, not tight.
    """
    width = difference_upper(law.upper, law.lower)
    found = math.inf
    inside = difference_upper(ends[1], ends[0])  # both values are in the domain
    each = np.asarray(np.minimum(_least_changes(changes), inside))
    if law.scale.size == 1:
        loss, scale = np.empty(()), law.scale.reshape(())
        widths = np.array(np.broadcast_to(width, changes.shape)).ravel()
        if changes.total < math.inf:
            core.ball_epsilon(law.name, widths, changes.total, scale, loss)
            found = float(loss)
            if changes.each is None:
                return found
        shifts = np.array(np.broadcast_to(each, changes.shape)).ravel()
        if (shifts > 0).all():
            core.corner_epsilon(law.name, widths, shifts, scale, loss)
            return min(found, float(loss))
    losses = elementwise(
        _INTERVALS[law.name].epsilon,
        **{law.scale_name: law.scale, "width": width, "coordinate_sensitivity": each},
    )
    # A loss that underflows is not free.
    losses = np.where(np.broadcast_to(each, losses.shape) > 0, np.maximum(losses, _TINY), 0.0)
    return min(found, float(losses.sum()) * changes.repeats(losses) * (1 + _ROUNDING))


def _least_changes(changes: _Changes) -> Array:
    """Return the most that each coordinate changes: no more than all of them together."""
    return np.minimum(np.inf if changes.each is None else changes.each, changes.total)
