"""Quantiles of a column, by the exponential mechanism on ranks."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np

from tightnoise._adjacency import require_adjacency
from tightnoise._validate import positive, real_scalar, require
from tightnoise.costs import Adjacency
from tightnoise.random import NoiseStream
from tightnoise.release._columns import Missing, Values, numbers_in
from tightnoise.release._noise import Noise
from tightnoise.release._plan import Plan, bounds_of, drawing, title
from tightnoise.release._rank_law import LEAST_EPSILON, RankLaw, rank_rate
from tightnoise.release._released import QuantileRelease

_LARGEST_INTEGER = 2**31
_STEPS = 30  # the binary logarithm of how many there are in the bounds
_MANTISSA = 52
_PARTS = 10**6  # of a rank


@drawing
def release_quantile(
    values: Values,
    epsilon: float,
    *,
    quantile: float,
    lower: float | None = None,
    upper: float | None = None,
    adjacency: Adjacency,
    missing: Missing = "refuse",
    rng: NoiseStream | None = None,
) -> Plan[QuantileRelease]:
    """Release a quantile of a column: one row a person, each clipped to bounds.

    Parameters
    ----------
    values : array_like, shape (n,), or Series or Arrow array
        A row a person. Of integers, by the column's type, with bounds that are integers, an
        integer is released; numbers in a list count as real.
    epsilon : float
        At least 1e-6. No use could be made of a delta.
    quantile : float
        From 0 to 1, exclusive: the share of rows that is below. It counts as the decimal that is
        written, to six digits and more: 0.9 is 9/10.
    lower, upper : float
        What rows are clipped to: lower < upper. They must be given, and not come from the data.
    adjacency : {"add-remove", "replace-one"}
        Which data sets are neighbours: one row more or less, or one row that is another.
    missing : {"refuse", "drop"}
        What to do with rows without a value (NaN, null): "drop" leaves them out.
    rng : NoiseStream, optional
        Where the random bits come from; by default the operating system's key.

    Returns
    -------
    QuantileRelease
        With `value`, `rank_interval` and `cost`.

    Raises
    ------
    ValueError
        If an argument is out of range, a value is missing, or no row is there with "replace-one".
    TypeError
        If values do not hold numbers, or a bound is not given.

    Notes
    -----
    Points of a grid, 2^30 to 2^31 steps between the bounds (of integers, the integers), are drawn
    with a probability that falls exponentially with how many ranks they are off; rows are rounded
    to the grid first. The exponential mechanism on ranks (Smith 2011, "Privacy-preserving
    Statistical Estimation with Optimal Convergence Rates", Algorithm 2) is bounded range, and so
    costs less in company than other epsilon-DP releases (`Cost.of_bounded_range`). It holds for the
    bits that are released, without any rounding: see the top of `_rank_law.py`.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> ages = np.random.default_rng(0).uniform(18, 90, 500)
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> bounds = {"lower": 0, "upper": 120, "adjacency": "replace-one"}
    >>> release = tn.release_quantile(ages, 1.0, quantile=0.9, **bounds, rng=stream)
    >>> bool(0.8 < (ages < release.value).mean() < 1.0)
    True
    """
    require_adjacency(adjacency)
    loss = positive("epsilon", epsilon)
    require(loss >= LEAST_EPSILON, "epsilon", epsilon, f"at least {LEAST_EPSILON}")
    where = real_scalar("quantile", quantile)
    require(0 < where < 1, "quantile", quantile, "greater than 0 and less than 1")
    low, high = bounds_of(lower, upper)
    column = numbers_in(values, missing, adjacency)
    n = column.values.size
    whole = low.is_integer() and high.is_integer() and max(-low, high) <= _LARGEST_INTEGER
    noise = _rank_noise(loss, where, low, high, column.integer and whole, adjacency)
    law: RankLaw = noise.mechanism
    # Clipped first: what is far out would be no integer.
    inside = np.clip(column.present.astype(np.float64), low, high)
    rows = np.clip(np.rint(inside / law.step).astype(np.int64), law.first, law.last)
    public = adjacency == "replace-one" and missing == "refuse"
    statistic = title("median" if where == 0.5 else f"quantile {where:g}", column)

    def draw() -> QuantileRelease:
        point = law.draw(rows, rng)
        value = point if noise.integer else point * law.step
        return QuantileRelease(
            value=value,
            cost=noise.cost,
            statistic=statistic,
            epsilon=loss,
            delta=0.0,
            adjacency=adjacency,
            sensitivity=noise.sensitivity,
            derivation="a rank, of one row that is another"
            if adjacency == "replace-one"
            else f"max(q, 1 - q) of a rank, of one row more or less, with q = {law.share}",
            n=n if public else None,
            lower=low,
            upper=high,
            noisy=value,
            _noise=noise,
            quantile=float(law.share),
        )

    return Plan(noise.cost, statistic, draw)


@drawing
def release_median(
    values: Values,
    epsilon: float,
    *,
    lower: float | None = None,
    upper: float | None = None,
    adjacency: Adjacency,
    missing: Missing = "refuse",
    rng: NoiseStream | None = None,
) -> Plan[QuantileRelease]:
    """Release the median of a column: `release_quantile` of 1/2.

    Arguments and errors are those of `release_quantile`. One row more or less costs half of what
    another row costs.

    Returns
    -------
    QuantileRelease

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> ages = np.random.default_rng(0).integers(18, 90, 500)
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> bounds = {"lower": 0, "upper": 120, "adjacency": "add-remove"}
    >>> release = tn.release_median(ages, 1.0, **bounds, rng=stream)
    >>> type(release.value).__name__, bool(abs(release.value - 53) < 8)
    ('int', True)
    """
    return release_quantile.plan(
        values,
        epsilon,
        quantile=0.5,
        lower=lower,
        upper=upper,
        adjacency=adjacency,
        missing=missing,
        rng=rng,
    )


@functools.lru_cache(maxsize=1024)
def _rank_noise(
    epsilon: float, quantile: float, low: float, high: float, integer: bool, adjacency: Adjacency
) -> Noise:
    share = Fraction(repr(quantile)).limit_denominator(_PARTS)  # of the decimal that is meant
    require(0 < share < 1, "quantile", quantile, f"from 1/{_PARTS} to 1 - 1/{_PARTS}")
    step = 1.0
    if not integer:
        width, size = math.frexp(high - low)[1], math.frexp(max(abs(low), abs(high)))[1]
        finest = max(width - 1 - _STEPS, size - _MANTISSA)
        good = math.isfinite(high - low) and -960 <= finest <= 900
        require(good, "upper - lower", high - low, "from 2**-930 to 2**900")
        step = math.ldexp(1.0, finest)
    first, last = math.ceil(low / step), math.floor(high / step)
    require(first < last, "upper - lower", high - low, f"more than {step:g}, the step of floats")
    rate = rank_rate(epsilon, share, adjacency)
    law = RankLaw(rate, share, first, last, step, epsilon)
    moved = 1.0 if adjacency == "replace-one" else float(max(share, 1 - share))
    return Noise("exponential mechanism", law, law.cost(adjacency=adjacency), moved, integer)
