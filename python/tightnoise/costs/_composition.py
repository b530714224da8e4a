"""What many (epsilon, delta)-DP releases cost together.

A release that is (e, d)-DP can be simulated from randomised response: with probability d it tells
all, else it answers a yes-no question truthfully with probability 1/(1 + exp(-e)) (Kairouz, Oh and
Viswanath 2017, "The Composition Theorem for Differential Privacy", IEEE Transactions on Information
Theory 63(6), section 6). So the worst that N such releases can do together, even if each is chosen
after seeing the ones before, is what N of these mechanisms do. They fail with probability

    failure = 1 - (1 - d_1) ... (1 - d_N);

and if they do not, the hockey-stick divergence of N randomised responses counts, the slack:

    total_delta = failure + (1 - failure) slack.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise import _core
from tightnoise._arrays import broadcast_shape
from tightnoise._validate import (
    MAX_COUNT,
    not_negative,
    number_array,
    one_of,
    real_scalar,
    require,
    require_all,
)
from tightnoise.costs._lattice import MAX_LATTICE_COUNT
from tightnoise.costs._responses import ResponseLosses

__all__ = ["basic_composition", "kairouz_oh_viswanath", "kairouz_oh_viswanath_delta"]

Array = NDArray[np.float64]

# Sums of epsilons beyond would overflow on the way, and come out as nothing.
_LARGEST_SUM, _LEAST_ON_LATTICE = 1e305, 1e-290


class _Releases(NamedTuple):
    """One-dimensional arrays of one length, as the core takes them."""

    epsilon: Array
    delta: Array
    times: Array


def basic_composition(
    epsilon: ArrayLike, delta: ArrayLike = 0.0, count: ArrayLike = 1
) -> tuple[float, float]:
    """Add up the guarantees: the sum of the epsilons and the sum of the deltas.

    Dwork, Kenthapadi, McSherry, Mironov and Naor 2006, "Our Data, Ourselves: Privacy via
    Distributed Noise Generation", Theorem 1. Always valid; `kairouz_oh_viswanath` proves less
    epsilon at the price of a larger delta.

    Parameters
    ----------
    epsilon : array_like
        The epsilon of each release, at least 0.
    delta : array_like
        Its delta, at least 0 and below 1.
    count : array_like of int
        How often it is made, from 0 to 2**53. The three broadcast together.

    Returns
    -------
    total_epsilon, total_delta : float
        Rounded upwards; delta is at most 1.

    Raises
    ------
    ValueError, TypeError
        For values that are not finite or out of range, counts that are no integers.

    Examples
    --------
    >>> import tightnoise.accounting as accounting
    >>> epsilon, delta = accounting.basic_composition([0.5, 0.25], [1e-6, 0.0], count=[10, 4])
    >>> round(epsilon, 9), round(delta, 12)
    (6.0, 1e-05)
    """
    releases = _releases(epsilon, delta, count)
    total = _core.accounting.weighted_sum_upper(releases.epsilon, releases.times)
    failures = _core.accounting.weighted_sum_upper(releases.delta, releases.times)
    return total, min(failures, 1.0)


def kairouz_oh_viswanath(
    epsilon: ArrayLike,
    delta: ArrayLike,
    count: ArrayLike,
    total_delta: float,
    *,
    method: str = "optimal",
) -> float:
    """Return the smallest epsilon that many (epsilon, delta)-DP releases prove at `total_delta`.

    Kairouz, Oh and Viswanath 2017. "optimal" is what no other theorem can beat when nothing is
    known of the releases but epsilon and delta: Theorem 3.3, also between the points that it lists.
    The slack (see the module) at a total epsilon x is

        sum over L_k > x of C(N, k) exp(k e)/(1 + exp(e))^N (1 - exp(x - L_k)),  L_k = (2 k - N) e,

    and x solves total_delta = failure + (1 - failure) slack(x). If the epsilons differ, the losses
    are sums of +-e, too many to go through: they are moved to a lattice, such that privacy can only
    seem to be lost (the connected dots of Doroshenko et al. 2022).

    "closed_form" is Theorem 3.5 (3.4 for equal releases): with A = sum of e tanh(e/2) and
    V = sum of e^2,

        min{sum of e, A + sqrt(2 V log(exp(1) + sqrt(V)/slack)), A + sqrt(2 V log(1/slack))}.

    Parameters
    ----------
    epsilon : array_like
        The epsilon of each release, at least 0.
    delta : array_like
        Its delta, at least 0 and below 1.
    count : array_like of int
        How often it is made, from 0 to 2**53. The three broadcast together.
    total_delta : float
        The delta of all releases together, at least 0 and below 1.
    method : str
        "optimal" or "closed_form".

    Returns
    -------
    float
        Never below the formula; above it by no more than a factor 1 + 1e-12, and what total_delta
        is worth in its 20th digit. "optimal" with different epsilons: never below the optimum nor
        above the closed form. As measured it is above the optimum by less than 1e-5 of it for up
        to 10,000 releases and 1e-4 for up to a million, and what 1e-5 of total_delta is worth.

    Raises
    ------
    ValueError
        If no epsilon can do since `total_delta` is less than the probability that one of the
        releases fails; if "optimal" is asked for more than 2**36 releases, or 2**30 that differ in
        epsilon; for values out of range.
    TypeError
        For values that are no real numbers, counts that are no integers.

    Examples
    --------
    >>> import tightnoise.accounting as accounting
    >>> round(accounting.kairouz_oh_viswanath(0.1, 0.0, 1407, total_delta=1e-5), 3)
    22.294
    >>> round(accounting.kairouz_oh_viswanath(0.1, 0.0, 1407, 1e-5, method="closed_form"), 3)
    25.028
    >>> round(accounting.basic_composition(0.1, 0.0, 1407)[0], 3)  # at delta = 0
    140.7

    Different releases, 1000 of one kind and 10 of another:

    >>> kinds = [0.05, 0.7], [0.0, 1e-8], [1000, 10]
    >>> round(accounting.kairouz_oh_viswanath(*kinds, total_delta=1e-5), 3)
    12.93
    >>> round(accounting.kairouz_oh_viswanath(*kinds, 1e-5, method="closed_form"), 3)
    16.663
    """
    bound = _method(method)
    releases = _releases(epsilon, delta, count)
    failure = real_scalar("total_delta", total_delta)
    require(0 <= failure < 1, "total_delta", total_delta, "at least 0 and below 1")
    result = bound.epsilon(releases, failure)
    if np.isinf(result):
        least = _core.accounting.failure_upper(*releases)
        raise ValueError(
            f"total_delta must be at least {least!r}, the probability that one of the releases "
            f"fails; got {total_delta!r}"
        )
    return result


def kairouz_oh_viswanath_delta(
    epsilon: ArrayLike,
    delta: ArrayLike,
    count: ArrayLike,
    total_epsilon: float,
    *,
    method: str = "optimal",
) -> float:
    """Return the smallest delta that many (epsilon, delta)-DP releases prove at `total_epsilon`.

    `kairouz_oh_viswanath` read the other way.

    Parameters
    ----------
    epsilon, delta, count : array_like
        As in `kairouz_oh_viswanath`.
    total_epsilon : float
        The epsilon of all releases together, at least 0.
    method : str
        "optimal" or "closed_form".

    Returns
    -------
    float
        In [0, 1]. Never below the formula, and above it by no more than a factor 1 + 1e-12
        (the closed form: and 1e-14 times the logarithm of delta). "optimal" with different
        epsilons: as for an epsilon smaller by what is said there.

    Raises
    ------
    ValueError, TypeError
        As in `kairouz_oh_viswanath`, except that every total epsilon has a delta.

    Examples
    --------
    One person answers a hundred questions by randomised response, the truth with probability 3/4:

    >>> import math
    >>> import tightnoise.accounting as accounting
    >>> f"{accounting.kairouz_oh_viswanath_delta(math.log(3), 0.0, 100, 75.0):.2e}"
    '1.02e-02'
    """
    bound = _method(method)
    releases = _releases(epsilon, delta, count)
    loss = not_negative("total_epsilon", total_epsilon)
    return bound.delta(releases, loss)


class _Method(NamedTuple):
    epsilon: Callable[[_Releases, float], float]
    delta: Callable[[_Releases, float], float]


def _optimal_epsilon(releases: _Releases, total_delta: float) -> float:
    losses = _losses(releases)
    if losses.epsilon.size <= 1:
        return _core.accounting.exact_epsilon_upper(*releases, total_delta)
    easy = _core.accounting.closed_form_epsilon_upper(*releases, total_delta)
    slack = _core.accounting.slack_lower(*releases, total_delta)
    if slack <= 0 or losses.largest < _LEAST_ON_LATTICE:
        return easy
    return min(easy, losses.epsilon_upper(math.log(slack)))


def _optimal_delta(releases: _Releases, total_epsilon: float) -> float:
    losses = _losses(releases)
    if losses.epsilon.size <= 1:
        return _core.accounting.exact_delta_upper(*releases, total_epsilon)
    easy = _core.accounting.closed_form_delta_upper(*releases, total_epsilon)
    if losses.largest < _LEAST_ON_LATTICE:
        return easy
    slack = losses.slack_upper(total_epsilon)
    return min(easy, _core.accounting.total_delta_upper(*releases, slack))


def _losses(releases: _Releases) -> ResponseLosses:
    used = (releases.epsilon > 0) & (releases.times > 0)
    distinct, which = np.unique(releases.epsilon[used], return_inverse=True)
    limit = MAX_LATTICE_COUNT if distinct.size > 1 else int(_core.accounting.MAX_EXACT_COUNT)
    count = sum(int(n) for n in releases.times[used])
    kind = "different releases" if distinct.size > 1 else "releases"
    require(count <= limit, "count", count, f"at most {limit} {kind} in all for method 'optimal'")
    counts = np.bincount(which, weights=releases.times[used], minlength=distinct.size)
    return ResponseLosses(distinct, counts.astype(np.float64))


_METHODS = {
    "optimal": _Method(_optimal_epsilon, _optimal_delta),
    "closed_form": _Method(
        lambda releases, at: _core.accounting.closed_form_epsilon_upper(*releases, at),
        lambda releases, at: _core.accounting.closed_form_delta_upper(*releases, at),
    ),
}


def _method(name: str) -> _Method:
    return one_of("method", name, _METHODS)


def _releases(epsilon: ArrayLike, delta: ArrayLike, count: ArrayLike) -> _Releases:
    epsilons, deltas = number_array("epsilon", epsilon), number_array("delta", delta)
    counts = np.asarray(count)
    if counts.dtype.kind not in "iu":
        raise TypeError(f"count must hold integers; got {count!r}")
    require_all((epsilons >= 0) & (epsilons < np.inf), "epsilon", epsilons, "at least 0, finite")
    require_all((deltas >= 0) & (deltas < 1), "delta", deltas, "at least 0 and below 1")
    require_all((counts >= 0) & (counts <= MAX_COUNT), "count", counts, "from 0 to 2**53")
    times = counts.astype(np.float64)
    shape = broadcast_shape(epsilon=epsilons, delta=deltas, count=times)
    releases = _Releases(
        *(
            np.ascontiguousarray(np.broadcast_to(array, shape)).ravel()
            for array in (epsilons, deltas, times)
        )
    )
    with np.errstate(over="ignore"):
        total = float(releases.epsilon @ releases.times)
    require(total <= _LARGEST_SUM, "epsilon", epsilon, f"at most {_LARGEST_SUM:g} in sum")
    return releases
