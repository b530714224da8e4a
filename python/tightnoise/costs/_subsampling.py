"""What a mechanism costs that is run on a random sample of the records.

The formulas, their proofs and their rounding are in cpp/cost/subsampling.cpp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise import _core
from tightnoise._adjacency import require_adjacency
from tightnoise._arrays import broadcast_shape, elementwise, number_or_array
from tightnoise._validate import (
    MAX_COUNT,
    integer,
    number_array,
    real_scalar,
    require,
    require_all,
)
from tightnoise.costs._rdp_curve import RdpCurve

__all__ = [
    "amplified",
    "poisson_subsampled",
    "sampled_without_replacement",
]

Array = NDArray[np.float64]


def poisson_subsampled(curve: RdpCurve, sampling_rate: float) -> RdpCurve:
    """Return the cost of a mechanism run on a Poisson sample of the records.

    Each record belongs to the sample with probability `sampling_rate`, independently of the
    others. Neighbours differ in one record that is there or not. With q the sampling rate and tau
    the curve, the bound at an integer order alpha is

        log(sum over l = 0 ... alpha of C(alpha, l) (1 - q)^(alpha - l) q^l exp((l - 1) tau(l)))

    divided by alpha - 1, where the exponential is 1 for l = 0 and 1. It is an equality if one pair
    of outputs attains the curve at all orders (Gaussian noise, the von Mises-Fisher distribution).
    The sum is that of Zhu and Wang (2019), "Poisson Subsampled Renyi Differential Privacy", without
    the factor 3 that their bound for general mechanisms puts before the terms from l = 3 on: it is
    there for the other direction of the divergence, which the sum bounds as it is (the core has the
    proof). Orders above 8192 have log(1 + q (exp((alpha - 1) tau(alpha)) - 1)) in its place. What
    the bound at infinite order implies is used too, if the curve has one.

    Parameters
    ----------
    curve : RdpCurve
        The cost of the mechanism itself, on the sample, when one record is added or removed. Its
        adjacency must be "add-remove", or None: then the caller vouches that the sensitivity was
        declared for such neighbours. It must hold for every data set, since the sample is random.
    sampling_rate : float
        Between 0 and 1.

    Returns
    -------
    RdpCurve
        A table at the orders of `curve.alphas`, of adjacency "add-remove", rounded upwards: above
        the smallest of the bounds by at most 1e-9 relative.

    Raises
    ------
    ValueError
        For a rate outside [0, 1], a curve of another adjacency, a per-instance curve.
    TypeError
        For anything but an RdpCurve and a real number.

    Notes
    -----
    Between integers the chord of (alpha - 1) times the bound is a bound, as that is convex; the
    chord of the bound itself is not. `sampled_gaussian` has the exact values at real orders too.
    A curve that already is the cost of a sampled mechanism may be sampled again, if its sample is
    what is sampled.

    `poisson_subsampled(curve, sampling_rate) * count` is the second of the two approaches that
    `amplified_composition` compares; that is the first.

    Examples
    --------
    Randomised response with epsilon 1, asked of a tenth of the people:

    >>> import tightnoise as tn
    >>> response = tn.RdpCurve([2.0, 4.0, 8.0, float("inf")], [0.735, 0.924, 0.984, 1.0])
    >>> sampled = tn.accounting.poisson_subsampled(response, 0.1)
    >>> sampled.values.round(4)
    array([0.0108, 0.0226, 0.047 , 0.1586])
    """
    require_sampleable(curve, "add-remove")
    rate = real_scalar("sampling_rate", sampling_rate)
    require(0 <= rate <= 1, "sampling_rate", sampling_rate, "between 0 and 1")
    return _sampled(curve, rate, "add-remove", _core.accounting.poisson_subsampled_rdp)


def sampled_without_replacement(curve: RdpCurve, sample_size: int, population: int) -> RdpCurve:
    """Return the cost of a mechanism run on a sample of fixed size.

    The sample is one of all sets of `sample_size` out of `population` records, each as likely.
    Neighbours differ in the value of one record. With q their ratio and tau the curve, the bound at
    an integer order alpha is

        log(1 + sum over j = 2 ... alpha of C(alpha, j) q^j w(j) (exp((j - 1) tau(j)) - 1))

    divided by alpha - 1, with weights w(j) of at most 4: that of Wang, Balle and Kasiviswanathan
    (2019), "Subsampled Renyi Differential Privacy and Analytical Moments Accountant", Theorem 9,
    with terms that vanish with tau (the core has the proof). Where q alpha is large, the Poisson
    bound at two larger orders gives a smaller one, by Hoelder's inequality, and that is used.
    Orders above 8192 and infinite order are as in `poisson_subsampled`. For small costs the result
    is about 1.5 to 4 times that of Poisson sampling.

    Parameters
    ----------
    curve : RdpCurve
        The cost of the mechanism itself, on the sample, when one record is replaced. Its adjacency
        must be "replace-one", or None: then the caller vouches that the sensitivity was declared
        for such neighbours. It must hold for every data set, since the sample is random.
    sample_size, population : int
        1 <= sample_size <= population <= 2**53.

    Returns
    -------
    RdpCurve
        A table at the orders of `curve.alphas`, of adjacency "replace-one", rounded upwards: above
        the smallest of the bounds by at most 1e-9 relative.

    Raises
    ------
    ValueError
        For a sample larger than the population, a curve of another adjacency, a per-instance curve.
    TypeError
        For anything but an RdpCurve and integers.

    Examples
    --------
    >>> import tightnoise as tn
    >>> response = tn.RdpCurve([2.0, 4.0, 8.0, float("inf")], [0.735, 0.924, 0.984, 1.0])
    >>> sampled = tn.accounting.sampled_without_replacement(response, 100, 1000)
    >>> sampled.values.round(4)
    array([0.0166, 0.0449, 0.0831, 0.1586])
    """
    size = integer("sample_size", sample_size, minimum=1, maximum=MAX_COUNT)
    total = integer("population", population, minimum=size, maximum=MAX_COUNT)
    return fixed_size_sampled(curve, size / total)


def fixed_size_sampled(curve: RdpCurve, sampling_rate: float) -> RdpCurve:
    """Return the same for a share of the records: a quotient rounded to the nearest."""
    require_sampleable(curve, "replace-one")
    # The bounds do not decrease with the rate, so a rate rounded up is on the safe side.
    rate = sampling_rate if sampling_rate == 1 else float(np.nextafter(sampling_rate, 1.0))
    return _sampled(curve, rate, "replace-one", _core.accounting.sampled_without_replacement_rdp)


@overload
def amplified(
    epsilon: float, delta: float, sampling_rate: float, *, adjacency: str
) -> tuple[float, float]: ...
@overload
def amplified(
    epsilon: ArrayLike, delta: ArrayLike, sampling_rate: ArrayLike, *, adjacency: str
) -> tuple[Array | float, Array | float]: ...
def amplified(
    epsilon: ArrayLike, delta: ArrayLike, sampling_rate: ArrayLike, *, adjacency: str
) -> tuple[Array | float, Array | float]:
    """Return the (epsilon, delta) of a mechanism run on a random sample of the records.

    If the mechanism is (epsilon, delta)-DP, then on a sample it is
    (log(1 + q (exp(epsilon) - 1)), q delta)-DP, q being the sampling rate (Balle, Barthe and
    Gaboardi 2018, "Privacy Amplification by Subsampling", Theorems 8 and 9).

    Parameters
    ----------
    epsilon : array_like
        At least 0; infinity is allowed.
    delta : array_like
        Between 0 and 1.
    sampling_rate : array_like
        Between 0 and 1: each record's probability to be sampled, or the share of the records.
    adjacency : {"add-remove", "replace-one"}
        "add-remove": neighbours differ in one record that is there or not, for the mechanism and
        for the result, and each record is sampled independently (Poisson). "replace-one":
        neighbours differ in the value of one record, for both, and the sample has a fixed size and
        is drawn without replacement. The two do not mix: Poisson sampling has another bound for
        replaced records.

    Returns
    -------
    tuple of float, or of ndarray of float64
        epsilon and delta, rounded upwards, of the shape the arguments broadcast to; floats if all
        are scalars.

    Raises
    ------
    ValueError
        For NaN, a value outside its domain, an unknown adjacency, shapes that do not broadcast.
    TypeError
        For anything but real numbers.

    Examples
    --------
    >>> import tightnoise as tn
    >>> epsilon, delta = tn.accounting.amplified(1.0, 1e-6, 0.01, adjacency="add-remove")
    >>> print(f"{epsilon:.6f}, {delta:.3e}")
    0.017037, 1.000e-08
    """
    require_adjacency(adjacency)
    loss = number_array("epsilon", epsilon)
    require_all(loss >= 0, "epsilon", loss, "at least 0 (infinity is allowed)")
    failure = number_array("delta", delta)
    require_all((failure >= 0) & (failure <= 1), "delta", failure, "between 0 and 1")
    rate = number_array("sampling_rate", sampling_rate)
    require_all((rate >= 0) & (rate <= 1), "sampling_rate", rate, "between 0 and 1")
    shape = broadcast_shape(epsilon=loss, delta=failure, sampling_rate=rate)
    loss, failure = np.broadcast_to(loss, shape).copy(), np.broadcast_to(failure, shape)
    upper = elementwise(_core.accounting.amplified_epsilon_upper, sampling_rate=rate, epsilon=loss)
    product = rate * failure
    exact = (rate == 0) | (failure == 0) | (rate == 1) | (failure == 1)
    probability = np.where(exact, product, np.nextafter(product, 1.0))
    return number_or_array(upper), number_or_array(probability)


def require_sampleable(curve: RdpCurve, adjacency: str) -> None:
    """Refuse a curve that is not known to hold for every sample and such neighbours."""
    if not isinstance(curve, RdpCurve):
        raise TypeError(f"curve must be an RdpCurve; got {curve!r}")
    if curve.per_instance:
        raise ValueError(
            "curve must hold for every data set, since the sample is random; "
            f"got a per-instance curve, {curve!r}"
        )
    if curve.adjacency not in (None, adjacency):
        raise ValueError(f"curve must be of adjacency {adjacency!r} or None; got {curve!r}")


def _sampled(
    curve: RdpCurve,
    rate: float,
    adjacency: str,
    subsample: Callable[[Array, float, float, Array, Array, Array], None],
) -> RdpCurve:
    """Return the table of the core's bounds at the curve's own orders."""
    alphas, costs = curve.alphas, curve.values
    if rate in (0.0, 1.0):
        values = costs if rate else np.zeros_like(costs)
        return RdpCurve(alphas, values, adjacency=adjacency)
    return RdpCurve(alphas, subsampled_at(curve, alphas, rate, subsample), adjacency=adjacency)


def subsampled_at(
    curve: RdpCurve,
    alphas: Array,
    rate: float,
    subsample: Callable[[Array, float, float, Array, Array, Array], None],
) -> Array:
    """Return the core's bounds at increasing orders, for a rate between 0 and 1, exclusive."""
    costs = curve.at(alphas).values
    values = np.empty(alphas.shape)
    used = alphas > 1
    largest = 2 * np.max(alphas, where=np.isfinite(alphas), initial=2.0)
    most = min(int(largest), _core.accounting.LARGEST_SUMMED_ORDER)
    above = np.empty(int(used.sum()))
    subsample(
        curve.at(np.arange(2.0, most + 1)).values,
        float(curve.at([np.inf]).values[0]),
        rate,
        alphas[used],
        costs[used],
        above,
    )
    values[used] = above
    # Up to order 1: no more than the mechanism itself, and no more than at any larger order.
    values[~used] = np.minimum(costs[~used], np.min(above, initial=np.inf))
    return values


def subsampled(curve: RdpCurve, alphas: Array, rate: float, *, fixed_size: bool) -> Array:
    """Return the bounds for any mechanism of a curve, with a batch by Poisson or of fixed size."""
    if fixed_size:
        # The bounds do not decrease with the rate, so a rate rounded up is on the safe side.
        above = min(float(np.nextafter(rate, 1.0)), 1.0 - 2.0**-53)
        return subsampled_at(curve, alphas, above, _core.accounting.sampled_without_replacement_rdp)
    return subsampled_at(curve, alphas, rate, _core.accounting.poisson_subsampled_rdp)
