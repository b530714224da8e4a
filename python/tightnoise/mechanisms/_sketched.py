"""Costs of a release from a sketch of theta: what a sum over coordinates needs, without the sum.

All coordinates share the mechanism's parameters and the sensitivity c, so the worst divergence of a
coordinate is one function of its distance t from the centre of the support: the greater of the
divergences for a shift by +c and by -c, which change places when t changes its sign. A sketch sums
such a function up, with a bound on its own error; what the mechanism adds is a proof of how well
the function is interpolated (`_analytic_bound`). Answers that are not certain to a few parts in
1e10 are not used: the exact pass over all coordinates is taken then, order by order.
"""

from __future__ import annotations

import functools
from typing import NamedTuple, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats
from tightnoise._cells import Steep
from tightnoise.mechanisms._analytic_bound import (
    Kind,
    fisher_analytic_bound,
    interpolation_error,
    renyi_analytic_bound,
)
from tightnoise.mechanisms._coordinate_law import CoordinateLaw
from tightnoise.sketch import Sketch

Array = NDArray[np.float64]

# A sum is used if its error bound, added to it, is at most this large, relatively.
_ACCEPTED = 4e-10
# Relative error of the core's divergences and Fisher informations (their cards).
_FUNCTION_ERROR = 1e-12
# The least number of coordinates worth a sketch.
_FEWEST = 4096
# Seconds, roughly, of small divergences and of larger ones: the exact pass, a coordinate and order
# (the kernels' closed forms lose too many digits of a small one); a proven bound, a panel and order
# (theorems A and B, and C, in ANALYTIC_BOUND.md).
_EXACT_SMALL, _EXACT_LARGE = 5e-7, 1e-7
_SMALL, _LARGE = 1e-5, 4e-5
_SMALL_EXPONENT = 0.1

# One interval up to so many sigma from the centre is enough for letters; bins resolve them better.
_LETTERS_REACH = 2.4


class Support(NamedTuple):
    """A law whose parameters are numbers, moved so that its support is centred at 0."""

    kind: Kind
    sigma: float
    centre: float
    half_width: float
    levels: int
    position_error: float  # of the bounds after the move, in sigma

    @property
    def law(self) -> CoordinateLaw:
        """The law between the moved bounds."""
        sigma, lower, upper = map(np.array, (self.sigma, -self.half_width, self.half_width))
        return CoordinateLaw(self.kind, "sigma", sigma, lower, upper, self.levels)

    @property
    def reach(self) -> float:
        """How far from the centre the interval of a sketch for this should go."""
        if self.kind in ("sign", "quantized"):
            return min(self.half_width, _LETTERS_REACH * self.sigma)
        return self.half_width


def support_of(law: CoordinateLaw) -> Support | None:
    """Return where a law with numbers for parameters lies; None where nothing is proven."""
    # Kept with the law, as by `cached_property`: each step of a training asks.
    kept = law.__dict__
    if "_support" not in kept:
        kept["_support"] = _support_of(law)
    support: Support | None = kept["_support"]
    return support


def _support_of(law: CoordinateLaw) -> Support | None:
    is_number = law.scale.ndim == law.lower.ndim == law.upper.ndim == 0
    if law.name not in get_args(Kind) or not is_number:
        return None
    kind = cast(Kind, law.name)
    scale, low, high = float(law.scale), float(law.lower), float(law.upper)
    if not 1e-100 < scale < 1e100:  # squares of lengths must be numbers
        return None
    if kind == "sign":  # any interval will do
        return Support(kind, scale, 0.0, _LETTERS_REACH * scale, 2, 0.0)
    centre = 0.5 * low + 0.5 * high
    moved = 0.0 if centre == 0.0 else 4e-16 * max(abs(low), abs(high)) / scale
    return Support(kind, scale, centre, 0.5 * high - 0.5 * low, law.levels, moved)


def sketch_for(
    law: CoordinateLaw, theta: Floats | Sketch, orders: Array, changes: Floats
) -> Sketch | None:
    """Return theta if it is a sketch, a sketch of theta if that is likely to pay, or None."""
    if isinstance(theta, Sketch):
        return theta
    support = support_of(law)
    if support is None or theta.size < _FEWEST or changes.size != 1:
        return None
    if not _worthwhile(support, orders, changes.item(), theta.size, 1).any():
        return None
    lower, upper = support.centre - support.reach, support.centre + support.reach
    if 0.5 * lower + 0.5 * upper != support.centre:
        return None
    return Sketch.of(theta, lower, upper, sigma=support.sigma)


def _worthwhile(
    support: Support, orders: Array, shift: float, count: int, panels: int
) -> NDArray[np.bool_]:
    """Return for which orders the proven bounds take less time than the exact pass."""
    order = np.where(np.isfinite(orders), orders, 1.0)  # order infinity is as easy as order 1
    large = order * (order - 1.0) * (shift / support.sigma) ** 2 > _SMALL_EXPONENT
    seconds = np.where(large & (support.kind != "truncated"), _LARGE, _SMALL)
    exact = count * np.where(large, _EXACT_LARGE, _EXACT_SMALL)
    useful: NDArray[np.bool_] = 4 * panels * seconds < exact
    return useful


def rdp_sums(
    law: CoordinateLaw, sketch: Sketch, orders: Array, changes: Floats
) -> tuple[Array, Array]:
    """Return upper bounds of the sums of the worst divergences at orders above 1, both directions.

    D(theta || theta') and D(theta' || theta); at most 1e-9 above the truth, relatively. Where the
    sketch is not good enough, from the arrays it was made of; infinity if it has none any more.
    """
    upper = np.full((2, orders.size), np.inf)
    support = support_of(law)
    if support is not None and changes.size == 1:
        chosen = np.full(orders.shape, True)
        if sketch.has_sources:
            panels = sketch.panel_count
            chosen = _worthwhile(support, orders, changes.item(), sketch.count, panels)
        if chosen.any() and _fits(support, sketch):
            upper[:, chosen] = _rdp_upper(support, sketch, orders[chosen], changes.item())
    missing = ~np.isfinite(upper).all(axis=0)
    if missing.any() and sketch.has_sources:
        upper[:, missing] = 0.0
        for values in exact_sources(law, sketch, changes):
            bound = law.changes(changes, values.shape)
            upper[:, missing] += law.rdp_sums(values, orders[missing], bound)
    return upper[0], upper[1]


def fisher_sum(law: CoordinateLaw, sketch: Sketch, changes: Floats) -> float:
    """Return an upper bound of the sum of (c_j eta_j)^2, at most 1e-9 above the truth."""
    support = support_of(law)
    if support is not None and changes.size == 1 and _fits(support, sketch):
        (total,), (error,) = sketch.sum_max(
            [functools.partial(_fisher, support)],
            relative_error=_relative_error(support, sketch),
            tails=[functools.partial(_fisher_tails, support)],
        )
        if error <= _ACCEPTED * total:
            shift = float(changes.item())
            return float(shift * shift * (total + error))
    arrays = exact_sources(law, sketch, changes)
    return sum(law.fisher_sum(values, law.changes(changes, values.shape)) for values in arrays)


def greatest_fisher(law: CoordinateLaw, sketch: Sketch) -> float:
    """Return the greatest eta^2 of a coordinate.

    With more than two letters it rises and falls with the place: that takes an exact pass. Else it
    is that of the coordinate nearest to the centre, since the information does not increase with
    the distance t > 0 from it. Proof, with lambda the hazard of the normal law, 0 < lambda' < 1
    (Sampford 1953), a = h + t and b = h - t the distances from the bounds, in sigma:

    - sign, lambda(t) lambda(-t): the derivative of the logarithm is lambda(t) - lambda(-t) - 2 t,
      which is 0 at t = 0 and has the derivative lambda'(t) + lambda'(-t) - 2 < 0.
    - rectified: the derivative is g(a) - g(b), g(x) = phi(x) (lambda(x) - x)^2. As a > |b|, both
      phi(a) <= phi(b) and lambda(a) - a <= lambda(b) - b, so it is not positive.
    - truncated: the variance of the output, see Lemma 1 of ANALYTIC_BOUND.md.
    """
    support = support_of(law)
    falls = support is not None and (support.kind != "quantized" or support.levels == 2)
    if support is not None and falls and _fits(support, sketch):
        return float(_fisher(support, np.array([sketch.nearest]))[0])
    arrays = exact_sources(law, sketch, 0.0)
    return max(float(np.max(law.map("fisher_information", array))) for array in arrays)


def exact_sources(law: CoordinateLaw, sketch: Sketch, changes: ArrayLike) -> list[Floats]:
    """Return the arrays that were sketched, for an exact pass.

    One after the other in one array, if there is a number for each coordinate: it would be
    ambiguous which part it is for.
    """
    arrays = [array for array in sketch.sources() if array.size]
    shared = all(np.size(number) == 1 for number in (law.scale, law.lower, law.upper, changes))
    if len(arrays) > 1 and not shared:
        arrays = [np.concatenate(arrays, axis=None)]
    return [law.theta(array) for array in arrays]


def _fits(support: Support, sketch: Sketch) -> bool:
    # Functions are computed all over the panels, and known to be accurate up to 1e4 sigma.
    return sketch.centre == support.centre and sketch.reach < 1e4 * support.sigma


def _relative_error(support: Support, sketch: Sketch) -> float:
    # Moving a bound by d sigma changes log D by less than d times its distance from theta, plus 4.
    distance = (support.half_width + sketch.reach) / support.sigma
    return _FUNCTION_ERROR + support.position_error * (distance + 4.0)


def _rdp_upper(support: Support, sketch: Sketch, orders: Array, c: float) -> Array:
    """Return upper bounds (2, orders) of the sums for both directions; infinity: do not use."""
    if c == 0.0:
        return np.zeros((2, orders.size))
    key, bend = tuple(orders.tolist()), bend_of(support, orders, c)
    relative_error = _relative_error(support, sketch)
    upper = np.empty((2, orders.size))
    for direction, away in enumerate((False, True)):
        functions, tails = [], []
        for start, step in moves(c, away):
            functions.append(functools.partial(_renyi, support, key, start, step))
            tails.append(functools.partial(_renyi_tails, support, key, start, step))
        sums, errors = sketch.sum_max(
            functions,
            relative_error=relative_error,
            tails=tails,
            steep=Steep(functools.partial(_greater, support, key, c, away), bend),
            accepted=_ACCEPTED,
        )
        upper[direction] = np.where(errors <= _ACCEPTED * sums, sums + errors, np.inf)
    return upper


def moves(c: float, away: bool) -> list[tuple[float, float]]:
    """Return the starts, beside theta, and steps of both neighbours.

    From theta to theta + shift; or from theta' = theta + shift back to theta.
    """
    return [(shift, -shift) if away else (0.0, shift) for shift in (c, -c)]


def bend_of(support: Support, orders: Array, c: float) -> Array:
    """Return how convex the greater divergence is: "Convexity" in ANALYTIC_BOUND.md."""
    if support.kind == "truncated":
        # On a strip of this height |D| <= most, so |D''| <= 2 most / height^2.
        rho, most = renyi_analytic_bound(
            support.kind, support.sigma, support.half_width, c, orders, 0.0, support.sigma, terms=2
        )
        height = 0.25 * support.sigma * (rho - 1.0 / rho)
        strip: Array = most / height**2
        return strip
    curvature: Array = 1.0 / (orders - 1.0) + min(1.0, 2.0 * c / support.sigma)
    return 0.5 * curvature / support.sigma**2


def _greater(
    support: Support, orders: tuple[float, ...], c: float, away: bool, which: int, t: Array
) -> Array:
    """Return the greater divergence of one order, (n,)."""
    order = (orders[which],)
    both = [renyi_at(support, order, t + start, step) for start, step in moves(c, away)]
    greater: Array = np.maximum(*both)[0]
    return greater


def renyi_at(support: Support, orders: tuple[float, ...], theta: Array, step: float) -> Array:
    """Return D_alpha(M(theta) || M(theta + step)), (orders, n)."""
    alphas = np.array(orders)[:, np.newaxis]
    return support.law.call("renyi", (len(orders), theta.size), np.array(step), alphas, theta)


def _renyi(
    support: Support, orders: tuple[float, ...], start: float, step: float, t: Array
) -> Array:
    """Return D_alpha(M(t + start) || M(t + start + step)), (orders, n)."""
    return _renyi_values(support, orders, start, step, t.tobytes())


def _fisher(support: Support, t: Array) -> Array:
    return _fisher_values(support, t.tobytes())


def _renyi_tails(
    support: Support,
    orders: tuple[float, ...],
    start: float,
    step: float,
    left: Array,
    right: Array,
    nodes: int,
    enough: Array,
) -> Array:
    """Return bounds of the interpolation error of what `_renyi` returns, (orders, panels)."""
    ends = left.tobytes(), right.tobytes()
    return _renyi_bound(support, orders, start, step, *ends, nodes, tuple(enough.tolist()))


def _fisher_tails(support: Support, left: Array, right: Array, nodes: int, _: Array) -> Array:
    panels = zip(left.tolist(), right.tolist(), strict=True)
    return np.array([[_fisher_tail(support, *panel, nodes) for panel in panels]])


# Neither values at the nodes nor proven bounds depend on the data, and the same mechanism is asked
# about at every step of a training.


@functools.lru_cache(maxsize=64)
def _renyi_values(
    support: Support, orders: tuple[float, ...], start: float, step: float, nodes: bytes
) -> Array:
    out = renyi_at(support, orders, np.frombuffer(nodes) + start, step)
    out.flags.writeable = False
    return out


@functools.lru_cache(maxsize=64)
def _fisher_values(support: Support, nodes: bytes) -> Array:
    t = np.frombuffer(nodes)
    out = support.law.call("fisher_information", t.shape, t)
    out.flags.writeable = False
    return out


@functools.lru_cache(maxsize=256)
def _renyi_bound(
    support: Support,
    orders: tuple[float, ...],
    start: float,
    step: float,
    left: bytes,
    right: bytes,
    nodes: int,
    enough: tuple[float, ...],
) -> Array:
    rho, bound = renyi_analytic_bound(
        support.kind,
        support.sigma,
        support.half_width,
        step,
        np.array(orders),
        np.frombuffer(left) + start,
        np.frombuffer(right) + start,
        terms=nodes,
        levels=support.levels,
        enough=enough,
    )
    out = interpolation_error(rho, bound, nodes)
    out.flags.writeable = False
    return out


@functools.lru_cache(maxsize=4096)
def _fisher_tail(support: Support, left: float, right: float, nodes: int) -> float:
    place = support.kind, support.sigma, support.half_width, left, right
    ellipse = fisher_analytic_bound(*place, terms=nodes, levels=support.levels)
    return float(interpolation_error(*ellipse, nodes))
