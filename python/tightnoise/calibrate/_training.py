"""The noise, the number of steps and the sampling rate of DP-SGD, one from the others.

A training costs `Cost.epsilon` of so many steps, each on a sample drawn anew, and of what is
planned beside. That same function judges every answer: epsilon is at most the target, and at most
1e-9 of it below, but where it jumps, a little more where the search is long, and with whole steps,
where one more is too many.
"""

from __future__ import annotations

import math

from tightnoise._hints import TRAINING, hinted
from tightnoise._validate import MAX_COUNT, fraction, positive, steps_in
from tightnoise.calibrate._budget import NOTHING, Budget, budget_of
from tightnoise.calibrate._error import CalibrationError
from tightnoise.calibrate._parameter import CLOSE_OF_MANY, FAR, excess_of, least_parameter
from tightnoise.calibrate._scalar import gaussian
from tightnoise.calibrate._search import Point, most_count
from tightnoise.costs import Cost, Sampling
from tightnoise.costs._sampling import is_fixed_size
from tightnoise.costs._training import training_step

_LEAST_RATE = 1e-100
_VERY_RARELY = 1e-3  # a record is in a sample: both ways are steep there, at other places
_ROUGH = 1e-2  # of log epsilon, where an answer only says where to look


@hinted(TRAINING)
def noise_multiplier(
    epsilon: float,
    delta: float,
    *,
    sampling_rate: float,
    steps: int | None = None,
    epochs: float | None = None,
    sampling: Sampling = "poisson",
    beside: Cost = NOTHING,
) -> float:
    """Return the smallest noise multiplier with which DP-SGD is (epsilon, delta)-DP.

    By distributions of the privacy loss, the tightest answer that there is; mostly milliseconds.
    Without sampling (``sampling_rate=1``) in closed form.

    Parameters
    ----------
    epsilon : float
        The privacy loss that is tolerated, greater than 0.
    delta : float
        The probability of more, between 0 and 1, exclusive.
    sampling_rate : float
        The share of the records that takes part in a step, greater than 0 and at most 1.
    steps : int, optional
        From 1 to 2**53.
    epochs : float, optional
        Instead of steps: as many as it takes, epochs/sampling_rate, rounded up.
    sampling : {"poisson", "fixed-size"}
        How batches are drawn. "poisson": each record by itself, and neighbours differ by one that
        is there or not. "fixed-size": neighbours differ in the value of one record, which changes a
        clipped sum by 2 C.
    beside : Cost, optional
        What is planned already: the budget is for that, too.

    Returns
    -------
    float
        sigma/C: the standard deviation of the noise by the norm to which each record's gradient is
        clipped, however batches are drawn.

    Raises
    ------
    CalibrationError
        If delta is 0, if what is beside costs too much by itself, or if no noise is proven to be
        enough: where epsilon or delta is next to 0.
    ValueError, TypeError
        For numbers that are not finite or out of range, an unknown way of sampling, neither or both
        of steps and epochs.

    Examples
    --------
    >>> import tightnoise as tn
    >>> print(f"{tn.calibrate.noise_multiplier(1.0, 1e-6, sampling_rate=1.0, steps=10):.4f}")
    13.3596
    >>> sigma = tn.calibrate.noise_multiplier(2.0, 1e-6, sampling_rate=0.01, epochs=10)
    >>> step = tn.Gaussian(sigma).cost(sensitivity=1.0).sampled(0.01, "poisson")
    >>> 2.0 * (1 - 1e-9) <= (step * 1000).epsilon(1e-6) <= 2.0
    True
    """
    budget = _budget(epsilon, delta, beside)
    rate = fraction("sampling_rate", sampling_rate)
    count = steps_in(rate, steps, epochs)
    change = 2.0 if is_fixed_size(sampling) else 1.0
    # Enough without sampling, and so with it, unless there is something beside.
    most = float(gaussian(epsilon, delta, sensitivity=change, count=count).sigma)
    if rate == 1 and not budget.beside.terms:
        return most

    def total(noise: float, how: Sampling = sampling) -> Cost:
        return training_step(noise, rate, how) * count + budget.beside

    near: float | Point | None = most
    if budget.beside.terms:
        near = most * max(math.sqrt(rate), 1e-3)
    elif change > 1 and _VERY_RARELY < rate * count < 1:
        # Where Renyi divergences say little, about twice what quicker samples take.
        bracket = (most / change / FAR, most / change)
        near = least_parameter(
            lambda noise: total(noise, "poisson"), budget, bracket, most / change, close=_ROUGH
        )
        near = near and near._replace(x=near.x * change, excess=math.nan)
    found = least_parameter(
        total,
        budget,
        (most / FAR, most * (FAR if budget.beside.terms else 1.0)),
        near,
        by_renyi=not isinstance(near, Point),
        close=CLOSE_OF_MANY,
    )
    if found is None:
        raise _unprovable(budget, f"noise multiplier up to {most:g}")
    return found.x


@hinted(TRAINING)
def steps(
    epsilon: float,
    delta: float,
    *,
    noise_multiplier: float,
    sampling_rate: float,
    sampling: Sampling = "poisson",
    beside: Cost = NOTHING,
) -> int:
    """Return the largest number of DP-SGD steps that are (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : float
        The privacy loss that is tolerated, greater than 0.
    delta : float
        The probability of more, between 0 and 1, exclusive.
    noise_multiplier : float
        Standard deviation of the noise by the clipping norm, greater than 0.
    sampling_rate, sampling, beside
        As for `noise_multiplier`.

    Returns
    -------
    int
        0 if one step is too many: no training is private, and nothing else would be. At most
        2**53, the largest number of steps that accountants take.

    Raises
    ------
    CalibrationError
        If delta is 0, or what is beside costs too much by itself.
    ValueError, TypeError
        For numbers that are not finite or out of range, an unknown way of sampling.

    Examples
    --------
    >>> import tightnoise as tn
    >>> tn.calibrate.steps(2.0, 1e-6, noise_multiplier=20.0, sampling_rate=1.0)
    80
    """
    budget = _budget(epsilon, delta, beside)
    noise, rate = positive("noise_multiplier", noise_multiplier), sampling_rate
    step = training_step(noise, rate, sampling)
    most = MAX_COUNT - budget.beside.count
    by_renyi = most_count(
        lambda count: excess_of(step * count + budget.beside, budget, "rdp"), 1, most
    )
    return most_count(lambda count: excess_of(step * count + budget.beside, budget), by_renyi, most)


@hinted(TRAINING)
def sampling_rate(
    epsilon: float,
    delta: float,
    *,
    noise_multiplier: float,
    steps: int,
    sampling: Sampling = "poisson",
    beside: Cost = NOTHING,
) -> float:
    """Return the largest sampling rate with which DP-SGD is (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : float
        The privacy loss that is tolerated, greater than 0.
    delta : float
        The probability of more, between 0 and 1, exclusive.
    noise_multiplier : float
        Standard deviation of the noise by the clipping norm, greater than 0.
    steps : int
        From 1 to 2**53.
    sampling, beside
        As for `noise_multiplier`.

    Returns
    -------
    float
        The share of the records that may take part in a step, at most 1.

    Raises
    ------
    CalibrationError
        If delta is 0, if what is beside costs too much by itself, or if there is so little noise
        that a rate of 1e-100 is too large.
    ValueError, TypeError
        For numbers that are not finite or out of range, an unknown way of sampling.

    Examples
    --------
    >>> import tightnoise as tn
    >>> rate = tn.calibrate.sampling_rate(2.0, 1e-6, noise_multiplier=2.5, steps=1000)
    >>> step = tn.Gaussian(2.5).cost(sensitivity=1.0).sampled(rate, "poisson")
    >>> 2.0 * (1 - 1e-9) <= (step * 1000).epsilon(1e-6) <= 2.0
    True
    """
    budget = _budget(epsilon, delta, beside)
    noise, count = positive("noise_multiplier", noise_multiplier), steps_in(1.0, steps, None)
    # Of small rates epsilon is about rate sqrt(2 steps log(1/delta))/noise.
    inverse = math.sqrt(2 * count * -math.log(budget.delta)) / (noise * budget.epsilon)
    found = least_parameter(
        lambda inverse: training_step(noise, 1.0 / inverse, sampling) * count + budget.beside,
        budget,
        (1.0, 1.0 / _LEAST_RATE),
        inverse,
        close=CLOSE_OF_MANY,
    )
    if found is None:
        raise _unprovable(budget, f"sampling rate from {_LEAST_RATE:g} on")
    return 1.0 / found.x


def _budget(epsilon: object, delta: object, beside: object) -> Budget:
    positive("epsilon", epsilon)
    budget = budget_of(epsilon, delta, 1, beside)
    if budget.delta == 0:
        raise CalibrationError(
            "delta must be greater than 0 for Gaussian noise: its privacy loss has no bound, so "
            "nothing gives pure epsilon-DP; got 0"
        )
    return budget


def _unprovable(budget: Budget, what: str) -> CalibrationError:
    return CalibrationError(
        f"no {what} is proven to meet epsilon = {budget.epsilon:g} at delta = {budget.delta:g}"
    )
