"""What attackers get: trade-off curves and areas under ROC curves, from privacy profiles.

A test of a pair (P, Q) with false-positive rate a (under Q) and power b has b <= t a + delta(log t)
for every t > 0, and some test attains the least of these (Wasserman and Zhou 2010; Dong, Roth and
Su 2022, Proposition 6). So its false-negative rate is at least

    f(a) = max over t of h(t),   h(t) = 1 - delta(log t) - t a,

where any t gives a lower bound. For t = e^-x < 1, h is e^-x (1 - a - delta'(x)), delta' being that
of the swapped pair. Attackers choose the order of the neighbours: the less of both orders counts.

*From above.* delta is convex in t, so h is concave, and three points t1 < t2 < t3 bound its
maximum: between t1 and t2 it is below the line through t2 and t3, between t2 and t3 below that
through t1 and t2; beyond t1, which ends at t = 0, and beyond t3, where h <= 1 - t a ends at t =
1/a, below lines through t1 and t2, t2 and t3. With t2 near the maximum and all bounds narrow this
is narrow, too.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs._cases import cases_of
from tightnoise.costs._gaussian_pair import GaussianPair
from tightnoise.costs._lattice_tradeoff import Tests, lattice_tradeoff
from tightnoise.costs._leaf import Terms
from tightnoise.costs._profile_points import Profile, profiles, quick_profiles
from tightnoise.costs._sampled import merged_terms
from tightnoise.special import ndtr, ndtri

Array = NDArray[np.float64]

_ROUNDING = 2.0**-48
_ROUNDING_OF_H = 2.0**-51
_FAR = 1e-12  # delta at the last point, where no rate is so small; powers of it otherwise
_BESIDE = 2e-4  # the three points, in lengths over which the FPR falls by e
_WIDE = 1e-6  # apart, of bounds that a lattice may tell better
_CHUNK = 2048  # rates at a time
_STEEPEST = 700.0  # x of lines, whose slopes are e^x


def tradeoff(terms: Terms, rates: Array, *, both_sides: bool) -> Tests:
    """Return what the best attackers do at these rates, all rounded outwards.

    Unless both sides are asked for, less is done for an upper bound of the least misses.
    """
    if not terms:
        return Tests(1.0 - rates, 1.0 - rates, rates)
    gaussian = _gaussian(terms)
    if gaussian is not None:
        return _of_gaussian(gaussian, rates)
    flat = rates.ravel()
    found = Tests.any_of([_found(case, flat, both_sides=both_sides) for case in cases_of(terms)])
    return Tests(
        np.clip(found.misses_lower - _ROUNDING, 0.0, 1.0 - flat).reshape(rates.shape),
        np.clip(found.misses_upper + _ROUNDING, 0.0, _guessing(flat)).reshape(rates.shape),
        np.clip(found.power_upper * (1 + _ROUNDING), flat, 1.0).reshape(rates.shape),
    )


def _found(terms: Terms, rates: Array, *, both_sides: bool) -> Tests:
    """Return what is proved, of rates as a vector."""
    known = quick_profiles(terms, _far(rates))
    if known is None:
        each = lattice_tradeoff(terms, rates, both_sides=both_sides)
        if each is not None:
            return Tests.any_of(each)
        known = profiles(terms, _far(rates), both_sides=both_sides)
    ahead, behind = known
    orders = [(ahead, behind), (behind, ahead)][: 1 if behind is ahead else 2]
    if ahead.more is None or behind.more is None:
        return Tests.any_of([_at_points(*order, rates) for order in orders])
    each, rest = _near_the_best(orders, rates, both_sides=both_sides)
    found = Tests.any_of(each)
    if both_sides:
        rest |= found.misses_upper - found.misses_lower > _WIDE
    rest &= (rates > 0) & (rates < 1)
    if ahead.is_smooth and rest.any():  # contours take long there, or three points are too few
        other = lattice_tradeoff(terms, rates[rest], both_sides=both_sides)
        _tighten(found, rest, [] if other is None else [Tests.any_of(other)])
    return found


def _tighten(found: Tests, some: NDArray[np.bool_], others: list[Tests]) -> None:
    """Put what is proved of some rates together with what others prove of them."""
    here = Tests.all_of([Tests(*(values[some] for values in found)), *others])
    for values, better in zip(found, here, strict=True):
        values[some] = better


def auc_upper(terms: Terms) -> float:
    """Return 1 less the area under the lines of which f is the largest: any of them at any rate."""
    if not terms:
        return 0.5
    gaussian = _gaussian(terms)
    if gaussian is not None:
        return min(1.0, float(ndtr(gaussian.gdp_mu / math.sqrt(2.0))) * (1 + _ROUNDING))
    return max(_auc_upper(case) for case in cases_of(terms))


def _auc_upper(terms: Terms) -> float:
    x, _, upper = _both_branches(*profiles(terms, _FAR, both_sides=False))
    near = x < _STEEPEST
    slopes, tops = _lines(x[near], upper[near])
    slopes, tops = np.append(slopes[::-1], 0.0), np.append(tops[::-1], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = np.nan_to_num((tops[:-1] - tops[1:]) / (slopes[:-1] - slopes[1:]))
    ends = np.concatenate([[0.0], np.maximum.accumulate(np.clip(meet, 0.0, 1.0)), [1.0]])
    areas = np.diff(ends) * (tops - slopes * 0.5 * (ends[1:] + ends[:-1]))
    return min(1.0, 1.0 - math.fsum(areas.tolist()) + _ROUNDING)


# --- Gaussian noise alone


def _gaussian(terms: Terms) -> GaussianPair | None:
    (leaf, _), *others = merged_terms(terms)
    return leaf if isinstance(leaf, GaussianPair) and not others else None


def _of_gaussian(pair: GaussianPair, rates: Array) -> Tests:
    """Return Phi(Phi^-1(1 - a) - mu); far out, what the argument is rounded by counts."""
    mu = pair.gdp_mu
    if mu == math.inf:  # as nothing hides them
        nothing = np.zeros(rates.shape)
        return Tests(nothing, np.array(_guessing(rates)), np.ones(rates.shape))
    with np.errstate(divide="ignore"):
        quantile = -np.asarray(ndtri(rates))
    error = 2.0**-45 * (np.where(np.isfinite(quantile), np.abs(quantile), 0.0) + mu)
    below, above = quantile - mu - error, quantile - mu + error
    misses_upper = np.asarray(ndtr(above)) * (1 + _ROUNDING) + 1e-300
    return Tests(
        np.maximum(np.asarray(ndtr(below)) * (1 - _ROUNDING) - 1e-300, 0.0),
        np.minimum(misses_upper, _guessing(rates)) if pair.is_attained else _guessing(rates),
        np.minimum(np.asarray(ndtr(-below)) * (1 + _ROUNDING) + 1e-300, 1.0),
    )


# --- profiles, in one order of the neighbours


def _far(rates: Array) -> float:
    """Return a delta so small that the FPR there is below all rates above 0."""
    least = float(np.min(rates, where=rates > 0, initial=1.0)) * 1e-6
    digits = 12.0 * max(1.0, math.ceil(-math.log10(max(least, 1e-300)) / 12.0))
    return float(max(10.0**-digits, 1e-300))


def _near_the_best(
    orders: list[tuple[Profile, Profile]], rates: Array, *, both_sides: bool
) -> tuple[list[Tests], NDArray[np.bool_]]:
    """Return what is proved in each order where h at t >= 1 is of its first, at t < 1 of the other.

    And which rates points that are known are to prove. Each profile is read once for both orders.
    """
    beside = (-1.0, 0.0, 1.0) if both_sides else (0.0,)
    points = [_nearly_best(*order, rates, beside) for order in orders]
    signed = [x if i == 0 else -x for i, x in enumerate(points)]
    lower, upper = _read(*orders[0], np.stack(signed))
    each, every = [], np.zeros(rates.size, dtype=bool)
    for order, x, low, high in zip(orders, points, lower, upper, strict=True):
        found = _proved(x, low, high, rates)
        is_smooth = order[0].is_smooth and order[1].is_smooth
        rest = (high - low >= 1).any(axis=0) if is_smooth else np.ones(rates.size, dtype=bool)
        if rest.any():
            _tighten(found, rest, [_at_points(*order, rates[rest])])
        each.append(found)
        every |= rest
    return each, every


def _nearly_best(ahead: Profile, behind: Profile, rates: Array, beside: tuple[float, ...]) -> Array:
    """Return about the x of the largest h for each rate, and points so far beside it as rows."""
    errors, _, falls = ahead.falls
    _, power, falls_behind = behind.falls
    with np.errstate(divide="ignore"):
        log_rates, log_others = np.log(rates), np.log1p(-rates)
    above = np.interp(-log_rates, -errors, ahead.epsilons)
    below = np.interp(-log_others, -power, behind.epsilons)
    is_above = log_rates <= errors[0]
    length = 1 / np.where(
        is_above,
        np.interp(above, ahead.epsilons, falls),
        np.interp(below, behind.epsilons, falls_behind),
    )
    x = np.where(is_above, above, -below)
    return np.asarray(x + _BESIDE * length * np.array(beside)[:, None] + 0.0)  # no -0.0


def _read(ahead: Profile, behind: Profile, at: Array) -> tuple[Array, Array]:
    """Return both bounds of delta at x, that of `behind` at -x for x < 0, and for -0.0."""
    lower, upper = np.empty_like(at), np.empty_like(at)
    is_behind = np.signbit(at)
    for profile, chosen in ((ahead, ~is_behind), (behind, is_behind)):
        assert profile.more is not None
        epsilons = np.abs(at[chosen])
        order = np.argsort(epsilons)
        found = profile.more(epsilons[order])
        places = np.flatnonzero(chosen)[order]
        lower.flat[places], upper.flat[places] = found
    return lower, upper


def _at_points(ahead: Profile, behind: Profile, rates: Array) -> Tests:
    """Return what the points that are known prove."""
    x, lower, upper = _both_branches(ahead, behind)
    slopes, tops = _lines(np.minimum(x, _STEEPEST), upper)
    best = np.empty(rates.size, dtype=int)
    for start in range(0, rates.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        best[part] = np.argmax(tops[:, None] - slopes[:, None] * rates[part], axis=0)
    found = []
    for width in (1, 2, 4):  # those that are closest may be told apart by their errors only
        three = best + width * np.array([[-1], [0], [1]])
        three = np.clip(three, [[0], [1], [2]], x.size - np.array([[3], [2], [1]]))
        found.append(_proved(x[three], lower[three], upper[three], rates))
    return Tests.all_of(found)


def _both_branches(ahead: Profile, behind: Profile) -> tuple[Array, Array, Array]:
    """Return x that rise, and both bounds of delta there, that of `behind` at -x for x < 0."""
    at, before = slice(None), slice(None, 0, -1)
    return (
        np.concatenate([-behind.epsilons[before], ahead.epsilons[at]]),
        np.concatenate([behind.lower[before], ahead.lower[at]]),
        np.concatenate([behind.upper[before], ahead.upper[at]]),
    )


def _lines(x: Array, delta: Array) -> tuple[Array, Array]:
    """Return slopes and tops: h = top - slope a."""
    return np.exp(x), np.exp(np.minimum(x, 0.0)) * (1 - delta)


def _proved(x: Array, lower: Array, upper: Array, rates: Array) -> Tests:
    """Return what points x prove for each rate, arrays of shape (1, n), or x1 < x2 < x3, (3, n)."""
    # Where t >= 1, h - 1 is told by all digits, which small rates need.
    is_less_one = np.asarray((x >= 0).all(axis=0))
    low, high = (_h(x, delta, rates, is_less_one) for delta in (upper, lower))
    best = low.max(axis=0)
    three = x.shape[0] == 3
    above = _above(x, low, high, rates, is_less_one) + is_less_one if three else None
    return Tests(
        best + is_less_one,
        _guessing(rates) if above is None else np.where(np.isnan(above), 1.0, above),
        np.where(is_less_one, -best, 1 - best),
    )


def _above(
    x: Array, low: Array, high: Array, rates: Array, is_less_one: NDArray[np.bool_]
) -> Array:
    """Return a bound of all h from bounds at x1 < x2 < x3.

    Points may be far closer on one side than on the other: what h is rounded by counts as often.
    """
    sizes = np.abs(high).max(axis=0) + np.abs(low).max(axis=0)
    rounding = _ROUNDING_OF_H * np.where(is_less_one, sizes, 1.0 + sizes)

    def rise(i: int, j: int) -> Array:
        return np.asarray(np.maximum(high[i] - low[j] + rounding, 0.0))

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        ratio = -np.expm1(x[0] - x[1]) / np.expm1(x[2] - x[1])  # (t2 - t1)/(t3 - t2)
        to_zero = 1 / np.expm1(x[1] - x[0])  # t1/(t2 - t1)
        to_end = np.maximum(np.exp(-x[2]) / rates - 1, 0.0) / -np.expm1(x[1] - x[2])
        return np.asarray(
            np.max(
                [
                    high[1] + rise(1, 2) * ratio,
                    high[1] + rise(1, 0) / ratio,
                    high[0] + rise(0, 1) * to_zero,
                    high[2] + rise(2, 1) * to_end,
                ],
                axis=0,
            )
        )


def _h(x: Array, delta: Array, rates: Array, is_less_one: NDArray[np.bool_]) -> Array:
    """Return h, less one where that is asked for."""
    with np.errstate(over="ignore"):
        t = np.exp(x)
        ahead = -(delta + _times(t, rates))
        return np.where(x >= 0, np.where(is_less_one, ahead, 1 + ahead), t * (1 - rates - delta))


def _guessing(rates: Array) -> Array:
    """Return 1 - rates, rounded up."""
    rest = 1 - rates
    return np.asarray(np.where(1 - rest > rates, np.nextafter(rest, 2.0), rest))


def _times(t: Array, rates: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.where(rates > 0, t * rates, 0.0))
