"""The least parameter with which a cost meets a budget."""

from __future__ import annotations

import contextlib
import contextvars
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from tightnoise._core import cost as core
from tightnoise._validate import positive, require, shown
from tightnoise.calibrate._budget import NOTHING, Budget, budget_of
from tightnoise.calibrate._error import CalibrationError
from tightnoise.calibrate._search import Point, least_point
from tightnoise.costs import By, Cost

Noise = TypeVar("Noise")

FAR = 1e9
"""How many times as much noise as without them is looked at beside other releases."""

_CLOSE = 2e-10  # of log epsilon: how far below the budget the answer of one release may be
CLOSE_OF_MANY = 9e-10
"""The same of several."""
ROUGH = 1e-3
"""The same where an answer only says where to look."""
_SHARP = 1e-7  # and takes half as long as that which is looked for
_LEFT = 1e-12  # of an epsilon: that of many is known to a part of 0.001 only where it is less

_IS_ROUGH = contextvars.ContextVar("_IS_ROUGH", default=False)


def parameter(
    cost_of: Callable[[float], Cost],
    epsilon: float,
    delta: float = 0.0,
    *,
    bracket: Sequence[float],
) -> float:
    """Return the least parameter with which a cost is within (epsilon, delta).

    By the tightest answer, `Cost.epsilon`, which is asked some six times; Renyi divergences say
    where to begin. Everything that a plan depends on by one number can be found this way.

    Parameters
    ----------
    cost_of : callable
        From a parameter to the `Cost` of everything. More of it must mean more noise: for a
        parameter that costs more the larger it is, search for its reciprocal.
    epsilon : float
        The privacy loss that is tolerated, greater than 0.
    delta : float
        The probability of more, at least 0 and below 1.
    bracket : (float, float)
        The least and the greatest parameter that may be the answer, both greater than 0.

    Returns
    -------
    float
        ``cost_of`` of it costs at most epsilon, and at least epsilon (1 - 1e-9), or epsilon - 1e-12
        below 0.001, unless it is the lower end, or the cost jumps there, or the search is long:
        then it ends a little earlier (1.4e-8 was the most of some hundred).

    Raises
    ------
    CalibrationError
        If the cost is too high even at the upper end.
    ValueError, TypeError
        For numbers that are out of range, a bracket that is no two increasing numbers, or if
        `cost_of` returns no `Cost`.

    Examples
    --------
    >>> import tightnoise as tn
    >>> plan = tn.Gaussian(2.0).cost(sensitivity=1.0) * 3
    >>> scale = tn.calibrate.parameter(
    ...     lambda b: plan + tn.Laplace(b).cost(sensitivity=1.0), 8.0, 1e-6, bracket=(0.1, 1e6)
    ... )
    >>> print(f"{scale:.4f}")
    0.2524
    """
    budget = budget_of(epsilon, delta)
    if not callable(cost_of):
        raise TypeError(f"cost_of must be callable, of one number; got {shown(cost_of)}")
    try:
        low, high = bracket
    except (TypeError, ValueError):
        raise TypeError(f"bracket must be two numbers; got {shown(bracket)}") from None
    low, high = positive("bracket", low), positive("bracket", high)
    require(low < high, "bracket", bracket, "two increasing numbers")

    def checked(x: float) -> Cost:
        cost = cost_of(x)
        if not isinstance(cost, Cost):
            raise TypeError(f"cost_of must return a Cost; got {shown(cost)} for {x}")
        return cost

    found = least_parameter(checked, budget, (low, high))
    if found is None:
        raise CalibrationError(
            f"no parameter in the bracket meets epsilon = {budget.epsilon:g} at delta = "
            f"{budget.delta:g}: at its upper end, {high:g}, epsilon is "
            f"{checked(high).epsilon(budget.delta):g}"
        )
    return found.x


@contextlib.contextmanager
def roughly() -> Iterator[None]:
    """Calibrate noise for many releases to about the budget, to judge it: it may not meet it."""
    token = _IS_ROUGH.set(True)
    try:
        yield
    finally:
        _IS_ROUGH.reset(token)


def least_noise(
    make: Callable[[float], Noise],
    budget: Budget,
    bracket: tuple[float, float],
    near: float | Point,
    **search: Any,
) -> tuple[Noise, Point]:
    """Return the noise of the least parameter in the bracket that meets the budget, and where.

    Within `roughly`, where the search would begin: about there.
    """
    if _IS_ROUGH.get():
        by_renyi = search.get("by_renyi", True)
        start = _start(lambda x: budget.total(make(x)), budget, bracket, near, by_renyi=by_renyi)
        return make(start.x), start
    found = least_parameter(lambda x: budget.total(make(x)), budget, bracket, near, **search)
    if found is None:
        raise budget.unmet("the releases, or what is planned beside, leave too little for each")
    return make(found.x), found


def least_parameter(
    total_of: Callable[[float], Cost],
    budget: Budget,
    bracket: tuple[float, float],
    near: float | Point | None = None,
    *,
    by_renyi: bool = True,
    close: float | None = None,
) -> Point | None:
    """Return the least parameter in the bracket whose total meets the budget; None: none does.

    `near` is a guess, or where an earlier search ended. Where there is no closed form, Renyi
    divergences, whose epsilon is never less, improve a guess, unless their bounds are poor.
    """
    require(budget.epsilon > 0, "epsilon", budget.epsilon, "greater than 0 where it is searched by")
    low, high = bracket
    start = _start(total_of, budget, bracket, near, by_renyi=by_renyi)
    if close is None:
        # An epsilon of a delta near 1 is known that much less well.
        close = (_CLOSE if budget.is_single else CLOSE_OF_MANY) / min(1.0, 2 - 2 * budget.delta)
    if close >= CLOSE_OF_MANY:
        close = max(close, _LEFT / budget.epsilon)
    if by_renyi and math.isnan(start.excess):
        start = _where_told(total_of, budget, bracket, start, close)
    return least_point(lambda x: excess_of(total_of(x), budget), low, high, start, close)


def _start(
    total_of: Callable[[float], Cost],
    budget: Budget,
    bracket: tuple[float, float],
    near: float | Point | None,
    *,
    by_renyi: bool,
) -> Point:
    low, high = bracket
    guess = math.sqrt(low) * math.sqrt(high) if near is None else near
    start = guess if isinstance(guess, Point) else Point(min(max(guess, low), high))
    return rough_start(total_of, budget, bracket, start) if by_renyi else start


def _where_told(
    total_of: Callable[[float], Cost],
    budget: Budget,
    bracket: tuple[float, float],
    start: Point,
    close: float,
) -> Point:
    """Return where it begins, with what is left there; where Renyi divergences alone tell it, end.

    They take no time, the other ways that prove no more a second where they are at their worst.
    """
    known = start._replace(excess=excess_of(total_of(start.x), budget))
    if not math.isfinite(known.excess) or known.excess != _excess_by_renyi(
        total_of(start.x), budget
    ):
        return known
    found = least_point(lambda x: _excess_by_renyi(total_of(x), budget), *bracket, known, close)
    return known if found is None else Point(found.x, slope=found.slope)


def rough_start(
    total_of: Callable[[float], Cost], budget: Budget, bracket: tuple[float, float], near: Point
) -> Point:
    """Return where Renyi divergences meet the budget, unless there is a closed form, or none do.

    They say little where delta is more than a half, and epsilon is 0 or large: there, deltas do.
    Elsewhere they may exceed the budget by as much as they do of Gaussian noise that meets it.
    """
    if budget.delta == 0 or excess_of(total_of(near.x), budget, "profile") < math.inf:
        return near
    is_large = budget.delta > 0.5
    excess = _excess_of_delta if is_large else _excess_by_renyi
    more = 0.0 if is_large else _excess_by_renyi(_gaussian(budget), budget)
    more = more if 0 < more < math.inf else 0.0
    close = _SHARP if is_large else ROUGH
    found = least_point(lambda x: excess(total_of(x), budget) - more, *bracket, near, close)
    if found is not None and is_large:
        return Point(found.x)
    return near if found is None else Point(found.x, slope=found.slope)


def _excess_by_renyi(total: Cost, budget: Budget) -> float:
    return excess_of(total, budget, "rdp")


def _gaussian(budget: Budget) -> Cost:
    """Return the cost of Gaussian noise that meets the budget."""
    sigma = np.empty(())
    core.gaussian_sigma(np.array(budget.epsilon), np.array(budget.delta), np.array(1.0), sigma)
    mu = 1.0 / float(sigma)
    return Cost.of_gdp(mu) if 0 < mu < math.inf else NOTHING


def _excess_of_delta(total: Cost, budget: Budget) -> float:
    """Return how much less than the budget's 1 - delta is, as a logarithm."""
    left = 1.0 - total.delta(budget.epsilon)
    return math.log(1.0 - budget.delta) - math.log(left) if left > 0 else math.inf


def excess_of(total: Cost, budget: Budget, by: By | None = None) -> float:
    """Return log(epsilon of the total/epsilon of the budget), above 0 exactly if it is too much."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an order at the end of its search proves as much
        epsilon = total.epsilon(budget.delta, by=by)
    if epsilon == 0 or epsilon == math.inf:
        return -math.inf if epsilon == 0 else math.inf
    excess = math.log(epsilon) - math.log(budget.epsilon)
    return min(excess, 0.0) if epsilon <= budget.epsilon else max(excess, 5e-324)
