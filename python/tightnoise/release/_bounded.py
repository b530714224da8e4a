"""A value of a known range, calibrated for and released in one call."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise import calibrate
from tightnoise._arrays import Floats, broadcast_shape
from tightnoise._validate import float_array, one_of, real_scalar, require
from tightnoise.compare._estimates import ESTIMATES
from tightnoise.compare._families import BOUNDED_FAMILIES
from tightnoise.compare._prior import prior_of, weights_of
from tightnoise.compare.bounded import BoundedChoice, best_choice, choice_of, question_of
from tightnoise.compare.bounded_errors import average_square, errors_of
from tightnoise.costs import Adjacency, Cost
from tightnoise.mechanisms import CoordinateMechanism
from tightnoise.mechanisms._grid import grid_of
from tightnoise.random import NoiseStream
from tightnoise.release._plan import Plan, drawing


@dataclass(frozen=True, eq=False)  # == of arrays has no truth value
class BoundedRelease:
    """What was released, and what it cost.

    Parameters
    ----------
    value : float or ndarray
        The noisy value, between the bounds.
    cost : Cost
        Of this release, for every true value in the domain: accountants take it as it is.
    mechanism : object
        That drew it: calibrated, and able to draw more at the same price each. Its `sample` may be
        outside the bounds: `choice.sample` is not.
    noisy : float or ndarray
        What the mechanism drew: the value, before it was clipped where it had to be.
    grid : float or ndarray or None
        The step that `noisy` is a multiple of, unless it is a bound (docs/threat-model.md). None of
        mechanisms with a few fixed outputs.
    prior : tuple of float or None
        What was said to be known beforehand.
    choice : BoundedChoice or None
        The mechanism's row of `compare_bounded`, with its errors; None of an array.

    Examples
    --------
    >>> import tightnoise as tn
    >>> stream = tn.random.NoiseStream(seed=7)
    >>> release = tn.release_bounded(41, 1.0, lower=0, upper=120, sensitivity=2, rng=stream)
    >>> 0 <= release.value <= 120, round(release.cost.epsilon(0.0), 6)
    (True, 1.0)
    >>> release.mechanism
    Staircase(epsilon=1.0, sensitivity=2.0, gamma=0.41673743492888243)
    >>> release.noisy % release.grid
    0.0
    """

    value: float | NDArray[np.floating[Any]]
    cost: Cost
    mechanism: Any
    noisy: float | NDArray[np.floating[Any]]
    grid: float | NDArray[np.floating[Any]] | None = None
    prior: tuple[float, ...] | None = None
    choice: BoundedChoice | None = None

    def estimate(self, kind: str = "posterior_mean") -> Any:
        """Return an estimate of the true value by what was released: it costs nothing more.

        Parameters
        ----------
        kind : {"posterior_mean", "linear"}
            "posterior_mean": the mean of the true value given what was drawn and the prior, by
            default all values alike; on average no estimate errs less, at small budgets by far.
            "linear": a + b noisy with the best a and b; it may lie outside the bounds.

        Returns
        -------
        float or ndarray
            Of the shape of `value`; of an array each entry by itself.

        Raises
        ------
        ValueError
            If `kind` is none of these.

        Examples
        --------
        >>> import tightnoise as tn
        >>> stream = tn.random.NoiseStream(seed=7)
        >>> release = tn.release_bounded(8.5, 0.33, lower=0, upper=10, sensitivity=1, rng=stream)
        >>> round(release.value, 3), round(release.estimate(), 3)
        (10.0, 7.359)
        >>> round(release.choice.mse_average, 2), round(release.choice.posterior_mean_average, 2)
        (8.28, 5.17)
        """
        family = one_of("kind", kind, ESTIMATES)
        if self.choice is not None:
            return float(self.choice.of(self.noisy, kind))
        noisy = np.asarray(self.noisy)
        bounds = np.broadcast_arrays(noisy, self.mechanism.lower, self.mechanism.upper)[1:]
        pairs, place = np.unique(
            np.stack([np.ravel(side) for side in bounds]), axis=1, return_inverse=True
        )
        flat, found = noisy.ravel(), np.empty(noisy.size)
        where = np.argsort(place.ravel(), kind="stable")
        starts = np.searchsorted(place.ravel()[where], np.arange(1, pairs.shape[1]))
        for (low, high), entries in zip(pairs.T.tolist(), np.split(where, starts), strict=True):
            alike = dataclasses.replace(self.mechanism, lower=low, upper=high)
            estimate = family(alike, low, high, prior_of(self.prior, high - low))
            found[entries] = estimate.of(flat[entries])
        return found.reshape(noisy.shape)


_ARRAY_NOISES: dict[str, Callable[..., Any]] = {
    "truncated Gaussian": calibrate.truncated_gaussian,
    "rectified Gaussian": calibrate.rectified_gaussian,
    "bounded Laplace": calibrate.bounded_laplace,
}
"""What can be calibrated for a box."""
_SNAKE_CASE = {re.sub(r"\W+", "_", name).lower(): name for name in BOUNDED_FAMILIES}
_WIDTHS = 8  # of a box, by which mechanisms for it are judged


@drawing
def release_bounded(
    value: ArrayLike,
    epsilon: float,
    delta: float = 0.0,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: float | None = None,
    coordinate_sensitivity: ArrayLike | None = None,
    mechanism: str = "best",
    count: int = 1,
    adjacency: Adjacency | None = None,
    prior: ArrayLike | None = None,
    rng: NoiseStream | None = None,
) -> Plan[BoundedRelease]:
    """Release a value that is known to lie between bounds, as a noisy value between them.

    The noise is the least of its kind that is (epsilon, delta)-DP for *every* true value in the
    domain, so neither the noise nor the cost depends on the value. It is of the kind whose value
    has the least error, as `compare_bounded` ranks them, or the one that is named.

    Parameters
    ----------
    value : array_like
        The true value; a number, or an array of any shape whose entries are released together.
    epsilon : float
        Greater than 0.
    delta : float
        From 0 to 1, exclusive of 1. What is drawn once from the "grid optimum" makes no use of it.
    lower, upper : float or array_like
        The domain: lower < upper. Numbers, or one for each entry. They must not come from the data.
    sensitivity : float
        The most that one person can change the value by: a number, or an array in L2 norm.
    coordinate_sensitivity : array_like
        Instead, the most that one person can change each entry of an array by.
    mechanism : str
        "best", or the name of a row of `compare_bounded`: "staircase + clip", "truncated Gaussian"
        and so on, also as "staircase_clip", "truncated_gaussian". "best" is the row of least
        average squared error, of those that look at the data and need no search: "middle" and
        "grid optimum" have to be named. Of an array "truncated Gaussian", "rectified Gaussian" and
        "bounded Laplace" can be calibrated, and "best" is the best of these (in a box of many
        different widths, by eight of them).
    count : int
        How many such values are released, this one among them, each by itself with the same
        mechanism: the budget is for all together, and what is best for many is not what is best
        for one.
    adjacency : {None, "add-remove", "replace-one"}
        The neighbours that the sensitivity is declared for; None: those of what the cost is added
        to.
    prior : array_like, optional
        What is known of the true value beforehand, without the data: weights, greater than 0, of
        equally wide cells of the domain. By default all values are alike. What is best goes by it,
        and estimates; privacy does not.
    rng : NoiseStream, optional
        Where the noise comes from; by default the operating system's key.

    Returns
    -------
    BoundedRelease
        The noisy `value` (float64), `estimate` beside it, its `cost`, the calibrated `mechanism`,
        and the `grid` that it drew on.

    Raises
    ------
    ValueError
        If the value does not lie between the bounds, or an argument is NaN, infinite or out of
        range, or shapes do not fit. The message for a value outside shows that it is outside: clip
        beforehand where even that must stay private.
    CalibrationError
        If no noise can meet the target.
    TypeError
        If an argument does not hold real numbers.

    Notes
    -----
    The first call for a budget and a domain compares all mechanisms (20 ms without a delta, up to
    0.3 s with one, seconds for a `count`); what it finds is kept.

    Examples
    --------
    >>> import tightnoise as tn
    >>> stream = tn.random.NoiseStream(seed=1)
    >>> mean = tn.release_bounded(37.4, 1.0, lower=0, upper=120, sensitivity=0.24, rng=stream)
    >>> mean.choice.name, round((mean.cost * 10).epsilon(1e-5), 3)
    ('staircase + clip', 10.0)
    >>> ages = {"lower": 0, "upper": 120, "sensitivity": 0.24}
    >>> tn.release_bounded(37.4, 10.0, 1e-6, **ages, count=100).choice.name
    'Gaussian + clip'
    >>> release = tn.release_bounded(
    ...     [3.2, 4.0], 1.0, lower=[0, 1], upper=[10, 9], coordinate_sensitivity=[4, 2], rng=stream
    ... )
    >>> release.value.shape, type(release.mechanism).__name__
    ((2,), 'TruncatedGaussian')
    """
    if isinstance(mechanism, str):
        mechanism = _SNAKE_CASE.get(mechanism, mechanism)
    one_of("mechanism", mechanism, {"best": None, **BOUNDED_FAMILIES})
    theta = float_array("value", value, exact=True)
    low, high = float_array("lower", lower), float_array("upper", upper)
    if (sensitivity is None) == (coordinate_sensitivity is None):
        raise TypeError("sensitivity or coordinate_sensitivity must be given, and not both")
    if sensitivity is not None:
        change = np.asarray(real_scalar("sensitivity", sensitivity))
    else:
        change = float_array("coordinate_sensitivity", coordinate_sensitivity)
    shape = broadcast_shape(value=theta, lower=low, upper=high)
    require(theta.shape == shape, "value", theta.shape, f"of the shape {shape} of the bounds")
    require(theta.size > 0, "value", theta.shape, "not empty")
    if change.ndim:
        change = _entries(change, shape)
    if shape:
        inside = _inside(theta, low, high)
        drawn, weights = _of_array(
            theta.shape, epsilon, low, high, change, delta, mechanism, count, prior
        )
        cost = drawn.cost(
            sensitivity=None if sensitivity is None else float(change),
            coordinate_sensitivity=None if sensitivity is not None else change.reshape(shape),
            domain=(low, high),
            adjacency=adjacency,
        )
        grid = grid_of(drawn)

        def draw_array() -> BoundedRelease:
            noisy = drawn.sample(inside, rng=rng)
            return BoundedRelease(noisy, cost, drawn, noisy, grid, weights)

        return Plan(cost, "value", draw_array)
    ends = (float(low), float(high), float(change))
    asked = question_of(epsilon, delta, *ends, count, prior)
    inside = _inside(theta, low, high)
    choice = best_choice(asked) if mechanism == "best" else choice_of(mechanism, asked)
    step = grid_of(choice.mechanism)
    cost = choice.cost.for_neighbours(adjacency)

    def draw() -> BoundedRelease:
        noisy = choice.mechanism.sample(inside, rng=rng)
        return BoundedRelease(
            float(choice.of(noisy, "value")),
            cost,
            choice.mechanism,
            float(noisy),
            step,
            asked.weights,
            choice,
        )

    return Plan(cost, "value", draw)


def _of_array(
    shape: tuple[int, ...],
    epsilon: float,
    lower: Floats,
    upper: Floats,
    change: Floats,
    delta: float,
    mechanism: str,
    count: int,
    prior: ArrayLike | None,
) -> tuple[CoordinateMechanism, tuple[float, ...] | None]:
    weights = None if prior is None else weights_of(prior)
    low, high = _entries(lower, shape), _entries(upper, shape)
    found = [
        calibrated(
            epsilon,
            delta,
            count=count,
            lower=low,
            upper=high,
            sensitivity=None if change.ndim else float(change),
            coordinate_sensitivity=change if change.ndim else None,
        )
        for name, calibrated in _ARRAY_NOISES.items()
        if mechanism in ("best", name)
    ]
    if not found:
        names = ", ".join(map(repr, _ARRAY_NOISES))
        raise ValueError(
            f"mechanism must be one of 'best', {names} for an array; got {mechanism!r}"
        )
    if len(found) > 1:
        widths = np.quantile(high - low, np.linspace(0, 1, _WIDTHS), method="nearest")
        found.sort(key=lambda noise: _square(noise, widths, weights))
    drawn: CoordinateMechanism = dataclasses.replace(found[0], lower=lower, upper=upper)
    return drawn, weights


def _square(noise: Any, widths: Floats, weights: tuple[float, ...] | None) -> float:
    """Return the sum of the average squared errors in domains of some widths."""
    alike = [dataclasses.replace(noise, lower=0.0, upper=width) for width in widths.tolist()]
    return sum(
        average_square(errors_of(one, 0.0, one.upper), prior_of(weights, one.upper))
        for one in alike
    )


def _inside(value: Floats, lower: Floats, upper: Floats) -> NDArray[np.float64]:
    """Return the value as float64; ValueError for the first entry outside its bounds."""
    # A float32 that was clipped to the bounds may lie half a unit outside them.
    with np.errstate(over="ignore"):  # bounds may be beyond what a float32 can be
        outside = (value < lower.astype(value.dtype)) | (value > upper.astype(value.dtype))
    if outside.any():
        entry, least, most = (
            float(np.broadcast_to(array, value.shape)[outside].flat[0])
            for array in (value, lower, upper)
        )
        raise ValueError(
            f"value must lie between its bounds {least} and {most}; got {entry} (if such values "
            "are possible, clip them or widen the domain: the noise hides only what is inside)"
        )
    return np.clip(value.astype(np.float64), lower, upper)


def _entries(array: Floats, shape: tuple[int, ...]) -> Any:
    """Return `array` with one element for each entry of a value of `shape`, in turn."""
    try:
        return np.broadcast_to(array, shape).ravel()
    except ValueError:
        raise ValueError(
            f"sensitivity must be a number or of the shape {shape} of value; got shape "
            f"{array.shape}"
        ) from None
