"""Releases on random samples, accounted as (epsilon, delta): convert, amplify, compose.

The first approach of Biswas et al. 2025, "Comparing privacy notions for protection against
reconstruction attacks in machine learning", section III-A. Nothing but two numbers is left of a
release when it is composed: for few releases of little cost that is less than by the curve of a
sampled mechanism, and always more than by the distribution of its losses.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tightnoise._core import cost as core
from tightnoise._validate import MAX_COUNT, integer, one_of
from tightnoise.costs import RdpCurve

# The splits that are tried first, as u: the share 1/(1 + exp(-u)) of delta pays for failures. The
# last leaves a slack of 1e-12 of delta: basic composition, but for room for rounding.
_SPLITS = (-30.0, -24.0, -18.0, -12.0, *map(float, range(-6, 29, 2)))
_GOLDEN = (math.sqrt(5) - 1) / 2
_SECTIONS = 16  # leave 2e-3 of u, and 1e-6 of epsilon at most where it is smooth

_LARGEST_COUNTS = {"optimal": int(core.MAX_EXACT_COUNT), "closed_form": MAX_COUNT}
_COMPOSITIONS = {"optimal": core.exact_epsilon_upper, "closed_form": core.closed_form_epsilon_upper}

# Sums of epsilons beyond would overflow on the way; failures below have no digits to share.
_LARGEST_SUM, _LEAST_FAILURE = 1e305, 1e-300


def amplified_composition(
    curve: RdpCurve,
    sampling_rate: float,
    count: int,
    delta: float,
    composition: str,
) -> float:
    """Return the epsilon of many releases on random samples, by way of (epsilon, delta).

    The first approach of Biswas et al. (2025), section III-A1, for any mechanism. One release is
    (e, d)-DP, e being what the curve's best order proves at d by `canonne`. On a sample it is
    (log(1 + q (exp(e) - 1)), q d)-DP (`amplified`, equation (9) of the paper), q being the sampling
    rate. `count` of these compose by Kairouz, Oh and Viswanath 2017 (`costs._guarantee.Responses`;
    the paper's Theorem 2 lacks the factor count * epsilon in front of its second and third term; as
    printed it can be far below the truth). Part of `delta` pays for d, `count` times; the rest is
    the slack of the composition. Every split of it proves an epsilon, and the smallest that a
    search finds is returned.
    """
    most = one_of("composition", composition, _LARGEST_COUNTS)
    times = integer("count", count, minimum=0, maximum=most)
    if times == 0:
        return 0.0

    def composed(failure: float) -> float:
        """Return the epsilon of all if one may fail with this probability, before sampling."""
        if failure == 0:
            of_one = float(curve.at([np.inf]).values[0])
        else:
            of_one = 0.0 if failure == 1 else curve.epsilon(failure, "canonne")
        loss, sampled = amplified(of_one, failure, sampling_rate)
        if loss * times > _LARGEST_SUM:
            return math.inf
        one = np.array([loss]), np.array([sampled]), np.array([float(times)])
        return float(_COMPOSITIONS[composition](*one, delta))

    def epsilon(split: float) -> float:
        """Return what is proven if the share 1/(1 + exp(-split)) of delta pays for failures."""
        failures = delta / (1 + math.exp(-split))
        # The failures of all are 1 - (1 - that of one)^count. A rounding too many makes the slack
        # smaller: the composition only looks at what it is given.
        sampled = -math.expm1(math.log1p(-failures) / times)
        return composed(min(sampled / sampling_rate, 1.0) if sampled > _LEAST_FAILURE else 0.0)

    return min(epsilon(_best_split(epsilon)), composed(0.0))


def amplified(epsilon: float, delta: float, rate: float) -> tuple[float, float]:
    """Return the (epsilon, delta) of an (epsilon, delta)-DP mechanism on a sample, rounded up.

    It is (log(1 + q (exp(epsilon) - 1)), q delta)-DP, q being the sampling rate (Balle, Barthe and
    Gaboardi 2018, "Privacy Amplification by Subsampling", Theorems 8 and 9): for records added or
    removed under Poisson sampling, and for records replaced in samples of a fixed size.
    """
    loss = np.empty(1)
    core.amplified_epsilon_upper(np.array([rate]), np.array([epsilon]), loss)
    product = rate * delta
    exact = rate in (0.0, 1.0) or delta in (0.0, 1.0)
    return float(loss[0]), product if exact else math.nextafter(product, 1.0)


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
