"""The concentration of von Mises-Fisher noise that a budget allows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

from tightnoise._validate import MAX_COUNT, fraction, integer, positive, real_scalar, require
from tightnoise.accounting import amplified, sampled_von_mises_fisher
from tightnoise.calibrate._error import CalibrationError
from tightnoise.calibrate.dp_sgd import noise_multiplier
from tightnoise.calibrate.gaussian import gaussian
from tightnoise.costs._direction_pair import dimension, half_chord_upper
from tightnoise.costs._sampling import adjacency_of
from tightnoise.mechanisms import VonMisesFisher

__all__ = ["concentration"]

_LEAST, _LARGEST = 1e-100, 1e100
_FIRST_RATIO = 1.02
_CLOSE = 5e-10  # of log kappa: half of what is promised
_INSIDE = 0.25 * _CLOSE  # how far from a known kappa the next one is


def concentration(
    epsilon: float,
    delta: float,
    dim: int,
    *,
    angle: float = math.pi,
    sampling_rate: float = 1.0,
    steps: int = 1,
    sampling: str = "poisson",
) -> float:
    """Return the largest kappa with which von Mises-Fisher noise is (epsilon, delta)-DP.

    One release without sampling is accounted exactly, by `VonMisesFisher.epsilon`; more, or sampled
    ones, by Renyi-DP, ``(accounting.sampled_von_mises_fisher(...) * steps).epsilon(delta)``; and
    delta = 0 by the largest privacy loss, 2 kappa sin(angle/2) a release. With the answer, epsilon
    is at most the target by that function, and a part in 1e9 more is too much.

    For `LiftedVonMisesFisher` pass ``dim + 1`` and ``angle=lifted.max_angle(sensitivity)``, which
    does not depend on kappa.

    Parameters
    ----------
    epsilon : float
        The privacy loss that is tolerated, greater than 0.
    delta : float
        The probability of more, at least 0 and less than 1.
    dim : int
        Number of coordinates, from 2 to 2**53.
    angle : float
        The largest angle between the true directions of neighbours, greater than 0 and at most pi,
        which also covers vectors of zeros.
    sampling_rate : float
        The share of the records that takes part in a release, greater than 0 and at most 1.
    steps : int
        The number of releases, from 1 to 2**53.
    sampling : {"poisson", "fixed-size"}
        How they are drawn, as for `accounting.sampled_von_mises_fisher`.

    Returns
    -------
    float
        At most 1e100, the largest kappa of `VonMisesFisher`.

    Raises
    ------
    CalibrationError
        If epsilon is so small beside log(1/delta) that no Renyi order that is searched proves it.
    ValueError, TypeError
        For numbers that are not finite or out of range, or an unknown sampling.

    Examples
    --------
    >>> import tightnoise as tn
    >>> kappa = tn.calibrate.concentration(1.0, 1e-5, 13_700)
    >>> round(kappa, 4)
    15.691
    >>> 1 - 1e-8 < tn.VonMisesFisher(kappa, 13_700).epsilon(1e-5) <= 1
    True
    >>> training = {"sampling_rate": 128 / 60_000, "steps": 1407}
    >>> round(tn.calibrate.concentration(1.0, 1e-5, 13_700, **training), 3)
    64.544
    """
    target = positive("epsilon", epsilon)
    failure = real_scalar("delta", delta)
    require(0 <= failure < 1, "delta", delta, "at least 0 and less than 1")
    theta = positive("angle", angle)
    chord = 2.0 * half_chord_upper(theta)
    rate = fraction("sampling_rate", sampling_rate)
    count = integer("steps", steps, minimum=1, maximum=MAX_COUNT)
    size = dimension(dim)
    adjacency = adjacency_of(sampling)

    def cost(kappa: float) -> float:
        if failure == 0:
            loss = math.nextafter(chord * kappa, math.inf)
            each = amplified(loss, 0.0, rate, adjacency=adjacency)[0]
            return math.nextafter(count * each, math.inf)
        if rate == 1 and count == 1:
            return float(VonMisesFisher(kappa, size).epsilon(failure, theta))
        step = sampled_von_mises_fisher(kappa, size, rate, angle=theta, sampling=sampling)
        return (step * count).epsilon(failure)

    # Two kappas that are known to be private, or nearly: one whose greatest loss is small enough,
    # and one that Gaussian noise covers.
    start = _loss(target / count, rate) / chord
    if failure > 0 and size >= 4:
        mu = _gaussian_mu(target, failure, rate, count)
        start = max(start, mu * math.sqrt(size - 3.0) / chord)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an order at the end of its search proves as much
        kappa = _largest(lambda kappa: _excess(cost(kappa), target), start)
    if kappa == 0:
        raise CalibrationError(
            f"no kappa from {_LEAST:g} on meets epsilon = {target:g} at delta = {failure:g}: no "
            "Renyi order from 1 + 1e-9 to 1e9 proves it (delta = 0 goes by the largest loss)"
        )
    return kappa


def _loss(epsilon: float, rate: float) -> float:
    """Return the l with log(1 + rate (e^l - 1)) = epsilon, about."""
    if epsilon < 1:
        return math.log1p(math.expm1(epsilon) / rate)
    return epsilon - math.log(rate) + math.log1p((rate - 1) * math.exp(-epsilon))


def _gaussian_mu(epsilon: float, delta: float, rate: float, count: int) -> float:
    """Return about the largest mu for which the sampled Gaussian mechanism is private, or 0."""
    try:
        if rate == 1 and count == 1:
            return 1.0 / float(gaussian(epsilon, delta, sensitivity=1.0))
        return 1.0 / noise_multiplier(epsilon, delta, sampling_rate=rate, steps=count)
    except CalibrationError:
        return 0.0


def _excess(cost: float, target: float) -> float:
    """Return log(cost/target), above 0 exactly if the cost is above the target."""
    if cost == 0:
        return -math.inf
    excess = math.log(cost) - math.log(target)
    return min(excess, 0.0) if cost <= target else max(excess, _LEAST)


def _largest(excess: Callable[[float], float], start: float) -> float:
    """Return the largest kappa whose excess is at most 0, within 1e-9; 0 if there is none.

    In log kappa: away from `start` by growing steps, then by the Illinois method. Whatever `excess`
    is, it is at most 0 at the answer, and above 0 next to it, unless that is the largest kappa.
    """
    start = min(max(start, _LEAST), _LARGEST)
    first, ratio = excess(start), _FIRST_RATIO
    low, high = (start, first), (start, first)
    while high[1] <= 0:
        if high[0] == _LARGEST:
            return _LARGEST
        kappa = min(high[0] * ratio, _LARGEST)
        low, high, ratio = high, (kappa, excess(kappa)), min(ratio, 1e100) ** 3
    while low[1] > 0:
        if low[0] == _LEAST:
            return 0.0
        kappa = max(low[0] / ratio, _LEAST)
        low, high, ratio = (kappa, excess(kappa)), low, min(ratio, 1e100) ** 3
    return _between(excess, low, high)


def _between(
    excess: Callable[[float], float], low: tuple[float, float], high: tuple[float, float]
) -> float:
    (x, at_x), (y, at_y) = ((math.log(kappa), value) for kappa, value in (low, high))
    best, kept = low[0], 0
    while y - x > _CLOSE:
        # Subnormal costs may be the target at many kappas: the second step there halves, too.
        is_known = math.isfinite(at_x) and math.isfinite(at_y) and not (at_x == 0 and kept > 0)
        share = at_x / (at_x - at_y) if is_known else 0.5
        middle = min(max(x + share * (y - x), x + _INSIDE), y - _INSIDE)
        kappa = math.exp(middle)
        value = excess(kappa)
        if value <= 0:
            best, x, at_x = kappa, middle, value
            at_y *= 0.5 if kept > 0 else 1.0  # an end that stays twice must not stay for ever
            kept = 1
        else:
            y, at_y = middle, value
            at_x *= 0.5 if kept < 0 else 1.0
            kept = -1
    return best
