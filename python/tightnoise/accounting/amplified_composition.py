"""Releases on random samples, accounted as (epsilon, delta): convert, amplify, compose.

There are two ways from the RDP curve of one release to the epsilon of many sampled ones (Biswas et
al. 2025, "Comparing privacy notions for protection against reconstruction attacks in machine
learning", section III-A):

1. `amplified_composition`: convert one release to (epsilon, delta), amplify that by sampling, and
   compose what results. Nothing but two numbers is left of the release when it is composed.
2. `poisson_subsampled(curve, sampling_rate) * count`, then `epsilon(delta)`: the whole curve is
   amplified and composed, and converted at the end.

The second wins when there are many releases, since curves add up with little loss. The first can
win for a few releases of little cost: amplifying (epsilon, delta) loses nothing, converting the
curve of a sampled mechanism does.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tightnoise import _core
from tightnoise._adjacency import require_adjacency
from tightnoise._validate import MAX_COUNT, integer, one_of, real_scalar, require
from tightnoise.costs import RdpCurve
from tightnoise.costs._composition import kairouz_oh_viswanath
from tightnoise.costs._conversions import conversion_named
from tightnoise.costs._subsampling import amplified, require_sampleable

__all__ = ["amplified_composition"]

# The splits that are tried first, as u: the share 1/(1 + exp(-u)) of delta pays for failures. The
# last leaves a slack of 1e-12 of delta: basic composition, but for room for rounding.
_SPLITS = (-30.0, -24.0, -18.0, -12.0, *map(float, range(-6, 29, 2)))
_GOLDEN = (math.sqrt(5) - 1) / 2
_SECTIONS = 16  # leave 2e-3 of u, and 1e-6 of epsilon at most where it is smooth

_LARGEST_COUNTS = {"optimal": int(_core.accounting.MAX_EXACT_COUNT), "closed_form": MAX_COUNT}

# Sums of epsilons beyond would overflow on the way; failures below have no digits to share.
_LARGEST_SUM, _LEAST_FAILURE = 1e305, 1e-300


def amplified_composition(
    curve: RdpCurve,
    sampling_rate: float,
    count: int,
    delta: float,
    *,
    adjacency: str = "add-remove",
    conversion: str = "optimal",
    composition: str = "optimal",
) -> float:
    """Return the epsilon of many releases on random samples, by way of (epsilon, delta).

    The first approach of Biswas et al. (2025), section III-A1, for any mechanism. One release is
    (e, d)-DP, e being what the curve's best order proves at d. On a sample it is
    (log(1 + q (exp(e) - 1)), q d)-DP (`amplified`, equation (9) of the paper), q being the sampling
    rate. `count` of these compose to the epsilon of `kairouz_oh_viswanath` at `delta` (the paper's
    Theorem 2 lacks the factor count * epsilon in front of its second and third term; as printed it
    can be far below the truth). Part of `delta` pays for d, `count` times; the rest is the slack of
    the composition. Every split of it proves an epsilon, and the smallest that a search finds is
    returned.

    Parameters
    ----------
    curve : RdpCurve
        The cost of one release, on the sample. Its adjacency must be `adjacency`, or None: then the
        caller vouches that the sensitivity was declared for such neighbours. It must hold for every
        data set, since the sample is random.
    sampling_rate : float
        Between 0 and 1: each record's probability to be sampled, or the share of the records.
    count : int
        How many releases there are, each on a new sample; from 0 to 2**36 (closed form: 2**53).
    delta : float
        Of all releases together, between 0 and 1, exclusive.
    adjacency : {"add-remove", "replace-one"}
        As in `amplified`: "add-remove" is for Poisson samples, "replace-one" for samples of a fixed
        size.
    conversion : str
        As in `rdp_to_epsilon`.
    composition : str
        The method of `kairouz_oh_viswanath`: "optimal", or "closed_form" as in the paper, for more
        than 2**36 releases too.

    Returns
    -------
    float
        epsilon, never below what the best split would prove, and rounded upwards; infinity where
        nothing finite is proven.

    Raises
    ------
    ValueError
        For numbers out of range, an unknown adjacency or conversion, a curve of another adjacency,
        a per-instance curve.
    TypeError
        For anything but an RdpCurve, real numbers and an integer count.

    Warns
    -----
    UserWarning
        As `RdpCurve.epsilon`, for the conversion that is used in the end.

    Notes
    -----
    The second approach is `poisson_subsampled(curve, sampling_rate) * count`, which composes
    curves. Both are proven, so keep the smaller. This one wins for a few releases of little cost:
    three of the von Mises-Fisher mechanism in 13,700 dimensions, with concentration 25 and
    q = 128/60000 at delta = 1/60000, cost 0.0137 by this approach and 0.0189 by the second; with
    concentration 75 it is 0.480 and 0.329. It is hopeless for many, as it forgets all but two
    numbers of each: after 1,407 releases at concentration 150 it proves 12,299 and the second
    approach 14. (In the paper it wins at very large cost too, up to the factor 3 and the integer
    orders of the paper's second approach, which `poisson_subsampled` does not need.)

    Examples
    --------
    >>> import tightnoise as tn
    >>> gaussian = tn.costs.RdpCurve.of_function(tn.costs.ZcdpRdp(0.5))
    >>> few = tn.accounting.amplified_composition(gaussian, 0.01, 3, 1e-5)
    >>> many = tn.accounting.amplified_composition(gaussian, 0.01, 1000, 1e-5)
    >>> round(few, 3), round(many, 1)
    (1.14, 643.8)
    >>> curve = tn.accounting.poisson_subsampled(gaussian, 0.01)
    >>> round((curve * 3).epsilon(1e-5), 3), round((curve * 1000).epsilon(1e-5), 3)
    (0.65, 2.107)
    """
    require_adjacency(adjacency)
    require_sampleable(curve, adjacency)
    rate = real_scalar("sampling_rate", sampling_rate)
    require(0 <= rate <= 1, "sampling_rate", sampling_rate, "between 0 and 1")
    most = one_of("composition", composition, _LARGEST_COUNTS)
    times = integer("count", count, minimum=0, maximum=most)
    failure = real_scalar("delta", delta)
    require(0 < failure < 1, "delta", delta, "between 0 and 1, exclusive")
    conversion_named(conversion)
    if times == 0 or rate == 0:
        return 0.0
    releases = _Releases(curve, rate, times, failure, adjacency, conversion, composition)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # orders matter where the search ends, not on the way
        best = _best_split(releases.epsilon)
    without_failures = releases.composed(releases.epsilon_of_one(0.0), 0.0)
    return min(releases.epsilon(best), without_failures)


@dataclass(frozen=True)
class _Releases:
    curve: RdpCurve
    rate: float
    count: int
    delta: float
    adjacency: str
    conversion: str
    composition: str

    def epsilon(self, split: float) -> float:
        """Return what is proven if the share 1/(1 + exp(-split)) of delta pays for failures."""
        failures = self.delta / (1 + math.exp(-split))
        # The failures of all are 1 - (1 - that of one)^count. A rounding too many makes the slack
        # smaller: the composition only looks at what it is given.
        sampled = -math.expm1(math.log1p(-failures) / self.count)
        of_one = min(sampled / self.rate, 1.0) if sampled > _LEAST_FAILURE else 0.0
        return self.composed(self.epsilon_of_one(of_one), of_one)

    def epsilon_of_one(self, delta: float) -> float:
        """Return the epsilon of one release on its sample, before amplification."""
        if delta == 0:
            return float(self.curve.at([np.inf]).values[0])
        return 0.0 if delta == 1 else self.curve.epsilon(delta, self.conversion)

    def composed(self, epsilon: float, delta: float) -> float:
        """Return the epsilon of all releases, if one is (epsilon, delta)-DP on its sample."""
        loss, failure = amplified(epsilon, delta, self.rate, adjacency=self.adjacency)
        if loss * self.count > _LARGEST_SUM:
            return math.inf
        return kairouz_oh_viswanath(loss, failure, self.count, self.delta, method=self.composition)


def _best_split(epsilon: Callable[[float], float]) -> float:
    """Return the split of the smallest epsilon that is found.

    That is the best of a coarse grid, and of a golden-section search between its neighbours.
    Whatever the search misses errs upwards, as every split is proven.
    """
    tried = {split: epsilon(split) for split in _SPLITS}
    middle = _SPLITS.index(min(tried, key=tried.__getitem__))
    low, high = _SPLITS[max(middle - 1, 0)], _SPLITS[min(middle + 1, len(_SPLITS) - 1)]
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    for _ in range(_SECTIONS):
        for split in (left, right):
            if split not in tried:
                tried[split] = epsilon(split)
        if tried[left] < tried[right]:
            high, left, right = right, right - _GOLDEN * (right - low), left
        else:
            low, left, right = left, right, left + _GOLDEN * (high - left)
    return min(tried, key=tried.__getitem__)
