"""Sums of rows of several numbers, each clipped in L2 norm."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tightnoise import calibrate
from tightnoise._validate import float_array, one_of, positive, require
from tightnoise.costs import Adjacency, Cost
from tightnoise.mechanisms import Laplace
from tightnoise.random import NoiseStream
from tightnoise.release._columns import MOST_ROWS, Missing
from tightnoise.release._noise import Noise, added_noise, require_fit
from tightnoise.release._plan import Plan, budget_of, drawing
from tightnoise.release._released import VectorRelease
from tightnoise.sums import exact_sum


@drawing
def release_vector(
    values: ArrayLike,
    epsilon: float,
    delta: float = 0.0,
    *,
    bound: float | None = None,
    adjacency: Adjacency,
    missing: Missing = "refuse",
    rng: NoiseStream | None = None,
) -> Plan[VectorRelease]:
    """Release the sum of rows of numbers, each scaled down to an L2 norm where it is longer.

    Parameters
    ----------
    values : array_like, shape (n, ...), or DataFrame
        A row a person.
    epsilon : float
        Greater than 0.
    delta : float
        From 0, where noise grows with the square root of the dimension, to 1, exclusive.
    bound : float
        The L2 norm that rows are clipped to, greater than 0. It must be given, and not come from
        the data.
    adjacency : {"add-remove", "replace-one"}
        Which data sets are neighbours: one row more or less moves the sum by `bound`, one row that
        is another by twice that. With "replace-one" the number of rows is public: divide by it.
    missing : {"refuse", "drop"}
        What to do with rows in which a number is missing or infinite: "drop" has them count as 0.
    rng : NoiseStream, optional
        Where the noise comes from; by default the operating system's key.

    Returns
    -------
    VectorRelease
        With `value` (a Series by column, of a pandas DataFrame), `confidence_interval` and `cost`.

    Raises
    ------
    ValueError
        If an argument is out of range, a number is missing, or no row is there with "replace-one".
    TypeError
        If values do not hold numbers, or the bound is not given.

    Notes
    -----
    The noise is the better, by its variance, of Gaussian noise, where there is a delta, and of
    Laplace noise of scale sqrt(d) sensitivity/epsilon: no change is longer in L1 norm than sqrt(d)
    times its L2 norm. Of one number it is the best that `best_noise` has. The clip is a millionth
    below the bound, which leaves room for its roundings: of millions of rows at the bound, a sum is
    less by as many millionths, and so is what intervals are about.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> rows = np.random.default_rng(0).normal(size=(1000, 64))
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> release = tn.release_vector(rows, 1.0, 1e-6, bound=8, adjacency="add-remove", rng=stream)
    >>> release.value.shape, release.mechanism
    ((64,), Gaussian(sigma=33.7974311146147))
    """
    budget = budget_of(epsilon, delta, adjacency)
    if bound is None:
        raise TypeError(
            "bound must be given, the L2 norm that rows are clipped to, from what is known without "
            "these rows: the longest of them would tell of whoever it is"
        )
    longest = positive("bound", bound)
    rows = float_array("values", values, check_finite=False)
    require(rows.ndim >= 2, "values", f"shape {rows.shape}", "rows of numbers, of two axes or more")
    width = math.prod(rows.shape[1:])
    good = width > 0 and (rows.shape[0] > 0 or adjacency == "add-remove")
    require(good, "values", f"shape {rows.shape}", "rows of at least one number each")
    require(rows.shape[0] <= MOST_ROWS, "values", rows.shape, f"at most {MOST_ROWS} rows")
    one_of("missing", missing, {"refuse": None, "drop": None})
    if missing == "refuse":
        flat = rows.reshape(rows.shape[0], width)
        bad = np.flatnonzero(~np.isfinite(flat).all(axis=1))
        require(
            bad.size == 0,
            "values",
            f"{bad.size} rows that are not, first row {bad[0] if bad.size else ''}",
            "finite in every row (missing='drop' has others count as 0)",
        )
    total = exact_sum(rows, bound=longest, capacity=MOST_ROWS, adjacency=adjacency)
    size = int(total.integers.size)
    noise = _noise_of(budget.epsilon, budget.delta, total.sensitivity, size, adjacency)
    require_fit(total, noise, budget.epsilon)
    frame = values if type(values).__module__.partition(".")[0] == "pandas" else None

    def draw() -> VectorRelease:
        noisy = noise.draw(total, rng)
        return VectorRelease(
            value=noisy if frame is None else _by_column(noisy, frame),
            cost=noise.cost,
            statistic="sum of vectors",
            **budget._asdict(),
            sensitivity=total.sensitivity,
            derivation="bound" if adjacency == "add-remove" else "2 bound",
            n=rows.shape[0] if adjacency == "replace-one" else None,
            noisy=noisy,
            _noise=noise,
            bound=longest,
        )

    return Plan(noise.cost, "sum of vectors", draw)


@functools.lru_cache(maxsize=1024)
def _noise_of(
    epsilon: float, delta: float, sensitivity: float, size: int, adjacency: Adjacency
) -> Noise:
    if size == 1:
        return added_noise(epsilon, delta, sensitivity, False, adjacency)
    longest = sensitivity * math.sqrt(size) * (1.0 + 2.0**-50)  # in L1 norm
    law = Laplace(longest / epsilon * (1.0 + 2.0**-50))
    pure = Noise("Laplace", law, Cost.of_pure(epsilon, adjacency=adjacency), sensitivity, False)
    if delta == 0:
        return pure
    gaussian = calibrate.gaussian(epsilon, delta, sensitivity=sensitivity)
    if float(law.var()) <= float(gaussian.var()):
        return pure
    cost = gaussian.cost(sensitivity=sensitivity, adjacency=adjacency)
    return Noise("Gaussian", gaussian, cost, sensitivity, False)


def _by_column(noisy: Any, frame: Any) -> Any:
    import pandas as pd

    return pd.Series(noisy, index=frame.columns)
