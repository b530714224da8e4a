"""Staircase noise for a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from tightnoise._validate import one_of, require
from tightnoise.calibrate._budget import NOTHING, scalar_budget, settled
from tightnoise.calibrate._loss import loss_of
from tightnoise.calibrate._many import of_shares
from tightnoise.calibrate._scalar import aim, require_steps
from tightnoise.costs import Cost
from tightnoise.mechanisms import Staircase
from tightnoise.mechanisms._steps import LARGEST_EPSILON, SMALLEST_EPSILON

_NEAR = 3  # steps' ends to either side that are tried for integers


def staircase(
    epsilon: float,
    delta: float = 0.0,
    *,
    sensitivity: float,
    loss: Literal["l1", "l2"] = "l1",
    integer: bool = False,
    count: int = 1,
    beside: Cost = NOTHING,
) -> Staircase:
    """Return the staircase noise of the smallest loss that is (epsilon, delta)-DP.

    For delta = 0 that is the least of all noise: gamma is 1/(1 + e^(epsilon/2)) for the mean of
    abs(noise), and for its variance, with b = e^-epsilon, ((b (1 + b)/2)^(1/3) - b)/(1 - b) (Geng,
    Kairouz, Oh and Viswanath 2015, "The Staircase Mechanism in Differential Privacy").

    For delta > 0 the noise has a larger epsilon of its own, which for each gamma is solved for in
    closed form, and gamma is searched for. It is the best of all staircases as wide as the
    sensitivity, within 1e-6 of the loss; other noise, bounded or Gaussian, may have less.

    For an integer that is released as one, the loss is that of the rounded noise. Its steps then
    end half way between two integers, where rounding loses nothing of them: a staircase on the
    integers, for delta = 0 the least of all noise there (Geng and Viswanath 2016, "The Optimal
    Noise-Adding Mechanism in Differential Privacy"). Of these gammas it is the best near the one
    that is best without rounding.

    Several releases are of the largest epsilon for each, without a delta, with which all of them
    meet the budget, and of the gamma that is best for that.

    Parameters
    ----------
    epsilon : float
        From 0 to 700 (less for delta > 0: that of the noise itself is larger).
    delta : float
        From 0 to 1, exclusive of 1.
    sensitivity : float
        The most that one record changes the value by, greater than 0. The value is one number: for
        vectors see `tightnoise.mechanisms.AdditiveNoise`.
    loss : {"l1", "l2"}
        What is smallest: the mean of abs(noise), or its variance.
    integer : bool
        Whether outputs are rounded to integers; the sensitivity must then be one.
    count, beside
        As for `gaussian`.

    Returns
    -------
    Staircase

    Raises
    ------
    CalibrationError
        If the noise's own epsilon would be outside [1e-15, 700], or what is beside costs too much
        by itself.
    ValueError, TypeError
        If an argument is no finite number or out of range, or the loss is unknown.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.calibrate.staircase(3.0, sensitivity=1.0)
    >>> m.epsilon, round(m.gamma, 6), round(m.mean_abs(), 6)
    (3.0, 0.182426, 0.234821)
    >>> m = tn.calibrate.staircase(3.0, 0.1, sensitivity=1.0)
    >>> round(m.epsilon, 4), round(m.mean_abs(), 4)
    (3.1186, 0.22)
    >>> m = tn.calibrate.staircase(3.0, sensitivity=2, integer=True)
    >>> m.gamma, round(m.rounded().mean_abs(), 4)
    (0.25, 0.2781)
    """
    budget, change = scalar_budget(epsilon, delta, sensitivity, count, beside)
    best_gamma = one_of("loss", loss, _BEST_GAMMA)

    def single(epsilon: float, failure: float) -> Staircase:
        def own_epsilon(gamma: float) -> float:
            return epsilon if failure == 0 else _own_epsilon(epsilon, aim(failure), gamma)

        def lost(gamma: float, step: float, is_rounded: bool) -> float:
            own = own_epsilon(gamma)
            if not SMALLEST_EPSILON <= own <= LARGEST_EPSILON:
                return math.inf
            noise = Staircase(own, step, gamma)
            return loss_of(noise.rounded() if is_rounded else noise, loss)

        if failure == 0:
            require_steps(epsilon)
            gamma = best_gamma(epsilon)
        else:
            gamma = _least(lambda gamma: lost(gamma, 1.0, False), epsilon)
        if integer:
            gammas = _between_integers(gamma, change)
            gamma = min(gammas, key=lambda gamma: lost(gamma, change, True))
        own = own_epsilon(gamma)
        require_steps(own)
        if failure == 0:
            return Staircase(own, change, gamma)
        one = budget.for_one(epsilon, failure)
        return settled(lambda steps: Staircase(steps, change, gamma), own, one, toward=0.0)

    if budget.is_single:
        return single(budget.epsilon, budget.delta)
    return of_shares(single, budget, is_pure=True)


def _between_integers(gamma: float, sensitivity: float) -> list[float]:
    """Return the gammas next to one with which steps end half way between two integers."""
    good = sensitivity == math.floor(sensitivity)
    require(good, "sensitivity", sensitivity, "an integer, for noise that is rounded to integers")
    nearest = math.floor(gamma * sensitivity)
    ends = range(max(nearest - _NEAR, 0), min(nearest + _NEAR + 1, int(sensitivity)))
    return [(end + 0.5) / sensitivity for end in ends]


def _best_gamma_l1(epsilon: float) -> float:
    half = math.exp(-0.5 * epsilon)
    return half / (1.0 + half)


def _best_gamma_l2(epsilon: float) -> float:
    # (a - b)/(1 - b) with a^3 = b (1 + b)/2, multiplied by a^2 + a b + b^2: nothing cancels.
    b = math.exp(-epsilon)
    a = math.pow(0.5 * b * (1.0 + b), 1.0 / 3.0)
    return 0.5 * b * (1.0 + 2.0 * b) / (a * a + a * b + b * b)


_BEST_GAMMA = {"l1": _best_gamma_l1, "l2": _best_gamma_l2}  # by epsilon, for delta = 0


def _own_epsilon(epsilon: float, delta: float, gamma: float) -> float:
    """Return the largest epsilon of steps with this gamma that is private; infinite for any.

    With b = e^-own, a shift of one step has delta = (1 - e^epsilon b) (b/(1 - b) + min(2 gamma,
    1))/(2 (b/(1 - b) + gamma)). That is linear in b for gamma >= 1/2, and else quadratic.
    """
    small = math.exp(-epsilon)
    if gamma >= 0.5:
        share = (1.0 - 2.0 * delta * gamma) / (1.0 + 2.0 * delta * (1.0 - gamma) * small)
    else:
        # For share = e^epsilon b: square share^2 - linear share - constant = 0.
        square = (1.0 - 2.0 * gamma) * small
        linear = square - 2.0 * gamma - 2.0 * delta * (1.0 - gamma) * small
        constant = 2.0 * gamma * (1.0 - delta)
        root = math.sqrt(linear * linear + 4.0 * square * constant)
        sum_of_two = root + abs(linear)  # the one that does not cancel
        share = 0.5 * sum_of_two / square if linear > 0 else 2.0 * constant / sum_of_two
    return epsilon - math.log(share) if share > 0 else math.inf


def _least(function: Callable[[float], float], epsilon: float) -> float:
    """Return the gamma in (0, 1] of the least value: the best of a grid, then golden sections.

    On a scale on which the best gamma of delta = 0 is about epsilon/2 (l1) or epsilon/3 (l2): at
    -x <= 0 it is (1 + x)/2, at x > 0 1/(1 + e^x).
    """

    def gamma(x: float) -> float:
        return 1.0 / (1.0 + math.exp(x)) if x > 0 else 0.5 * (1.0 - x)

    top = min(epsilon, LARGEST_EPSILON) + 4.0
    grid = [-1.0 + k / 16.0 for k in range(16)] + [top * k / 48.0 for k in range(49)]
    values = [function(gamma(x)) for x in grid]
    best = min(range(len(grid)), key=values.__getitem__)
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    for _ in range(40):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if function(gamma(left)) <= function(gamma(right)):
            high = right
        else:
            low = left
    found = 0.5 * (low + high)
    return gamma(found if function(gamma(found)) <= values[best] else grid[best])
