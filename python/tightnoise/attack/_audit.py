"""A lower bound of epsilon from samples: a membership test with its error told."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._core import special as core
from tightnoise._progress import SHOWN_AFTER, progress
from tightnoise._text import Parts, Printed, exact_text, lower_text, upper_text
from tightnoise._validate import below_one, float_array, integer, require, shown
from tightnoise.costs import Cost
from tightnoise.random import NoiseStream, default_stream

Array = NDArray[np.float64]
Statistic = Callable[[NDArray[np.floating]], ArrayLike]

_MOST_TRIALS = 10**9
_CHUNK = 1 << 20  # numbers that are released at once
_CHOOSING = 4  # one release of so many chooses the test
_MISSED = 0.1  # of the risk, for the true positives: alarms are few, and their bound is wider
_RATES = np.geomspace(1e-9, 0.5, 400)  # false-positive rates at which tests are looked at


class Sampler(Protocol):
    """A mechanism."""

    def sample(
        self, theta: NDArray[np.floating], *, rng: NoiseStream | None = None
    ) -> NDArray[np.floating]:
        """Return theta with noise."""


@dataclass(frozen=True)
class Audit(Printed):
    """What releases of two neighbours told apart; printed, a few lines.

    Attributes
    ----------
    epsilon : float
        The mechanism is not (epsilon', delta)-DP for any epsilon' below this, unless chance had
        it: with a probability of at most 1 - confidence.
    delta, confidence : float
    trials : int
        Of each neighbour; one quarter chose the test, the others judged it.
    true_positive_rate, false_positive_rate : float
        Of the test, by those that judged it.
    proved : float or None
        What the cost proves; nothing sound is below `epsilon`.
    ceiling : float or None
        About what the best test of so many trials would show of a mechanism whose trade-off curve
        is the proved one: no audit of this size and confidence can be expected to say more. For
        Gaussian noise with sigma 1 at delta 1e-5 that is 70 % of what is proved with a million
        releases of each (76 % at confidence 0.95), 91 % with a hundred million: the best test
        raises some false alarms in 100,000 releases, and bounds of so few are wide.

    Examples
    --------
    >>> import tightnoise as tn
    >>> found = tn.attack.audit(tn.Laplace(1.0), 1.0, 0.0, 0.0, rng=tn.random.NoiseStream(1))
    >>> isinstance(found, tn.attack.Audit), 0.8 < found.epsilon < 1.0
    (True, True)
    """

    epsilon: float
    delta: float
    confidence: float
    trials: int
    true_positive_rate: float
    false_positive_rate: float
    proved: float | None = None
    ceiling: float | None = None

    def _parts(self) -> Parts:
        lines = [
            f"epsilon is at least {lower_text(self.epsilon, 4)} at delta {exact_text(self.delta)}"
            f" (confidence {self.confidence:g}, {self.trials:,} releases of each)",
            f"by a test with true-positive rate {self.true_positive_rate:.4g}"
            f" at false-positive rate {self.false_positive_rate:.4g}",
        ]
        if self.proved is not None and self.ceiling is not None:
            lines.append(
                f"proved: {upper_text(self.proved, 4)}; so many releases can show about "
                f"{self.ceiling:.4g}"
            )
        return lines


def audit(
    mechanism: Sampler,
    theta: ArrayLike,
    theta_prime: ArrayLike,
    delta: float,
    *,
    trials: int = 100_000,
    confidence: float = 0.999,
    cost: Cost | None = None,
    statistic: Statistic | None = None,
    rng: NoiseStream | None = None,
) -> Audit:
    """Return a lower bound of epsilon, from releases of two neighbouring values.

    A statistic of each release is compared with a threshold, either way round. A quarter of the
    releases choose the threshold; of the others, one-sided Clopper-Pearson bounds of both rates, at
    a tenth (TPR) and nine tenths (FPR) of what the confidence leaves, give epsilon >=
    log((TPR - delta)/FPR) (Kairouz, Oh and Viswanath 2015; Jagielski, Ullman and Oprea 2020,
    "Auditing Differentially Private Machine Learning").

    Parameters
    ----------
    mechanism : mechanism
        Whose ``sample(theta, rng=...)`` is called with many copies of a theta along the first axis;
        so that numbers and vectors of coordinate mechanisms, and directions, can be audited.
    theta, theta_prime : array_like
        The values with and without a record, of one shape.
    delta : float
        At least 0 and below 1.
    trials : int, default 100,000
        Releases of each, at least 1,000.
    confidence : float
        Between 0 and 1.
    cost : Cost, optional
        What was proved: told beside the answer, with what an audit of this size can show at most.
    statistic : callable, optional
        Of releases along the first axis, a number for each. By default the inner product with
        theta - theta_prime: the best one for Gaussian noise, and for any noise on one number whose
        likelihood ratio rises.
    rng : NoiseStream, optional
        Where the noise comes from.

    Returns
    -------
    Audit

    Raises
    ------
    ValueError, TypeError
        If shapes differ, an argument is out of its range, or the statistic is no number.

    Examples
    --------
    >>> import tightnoise as tn
    >>> noise = tn.Gaussian(1.0)
    >>> found = tn.attack.audit(
    ...     noise, 1.0, 0.0, 1e-2, trials=20_000, cost=noise.cost(sensitivity=1.0),
    ...     rng=tn.random.NoiseStream(1),
    ... )
    >>> found.epsilon <= found.proved
    True
    """
    if not hasattr(mechanism, "sample"):
        raise TypeError(f"mechanism must have a method `sample`; got {shown(mechanism)}")
    pair = [float_array(n, v) for n, v in (("theta", theta), ("theta_prime", theta_prime))]
    require(pair[0].shape == pair[1].shape, "theta_prime", pair[1].shape, "of theta's shape")
    at = below_one("delta", delta)
    count = integer("trials", trials, minimum=1000, maximum=_MOST_TRIALS)
    require(0 < confidence < 1, "confidence", confidence, "between 0 and 1")
    stream = default_stream() if rng is None else rng
    if statistic is None:
        difference = (pair[0] - pair[1]).astype(np.float64).reshape(-1)
        require(bool(difference.any()), "theta_prime", theta_prime, "other than theta")

        def statistic(released: NDArray[np.floating]) -> ArrayLike:
            return released.reshape(len(released), -1) @ difference

    seen = [_statistics(mechanism, one, count, statistic, stream) for one in pair]
    first, risk = count // _CHOOSING, 1 - confidence
    chosen = [np.sort(values[:first]) for values in seen]
    judged = [np.sort(values[first:]) for values in seen]
    best = max(
        (
            (*_best(positive, negative, at, risk, sign), sign, swapped)
            for swapped, (positive, negative) in enumerate((chosen, chosen[::-1]))
            for sign in (1, -1)
        ),
        key=lambda found: found[0],
    )
    _, threshold, sign, swapped = best
    positive, negative = judged[::-1] if swapped else judged
    hits, alarms = (_beyond(values, threshold, sign) for values in (positive, negative))
    known = None
    if cost is not None:
        proved = cost.epsilon(at)
        known = proved, min(proved, _ceiling(cost, count - first, at, risk))
    return Audit(
        epsilon=_epsilon(hits, alarms, len(positive), at, risk),
        delta=at,
        confidence=confidence,
        trials=count,
        true_positive_rate=hits / len(positive),
        false_positive_rate=alarms / len(negative),
        proved=None if known is None else known[0],
        ceiling=None if known is None else known[1],
    )


def _statistics(
    mechanism: Sampler, theta: NDArray[np.floating], count: int, of: Statistic, rng: NoiseStream
) -> Array:
    found = np.empty(count)
    rows = max(1, _CHUNK // max(1, theta.size))
    for start in progress(range(0, count, rows), "releases", delay=SHOWN_AFTER):
        many = np.repeat(theta[np.newaxis], min(rows, count - start), axis=0)
        values = np.asarray(of(mechanism.sample(many, rng=rng)), dtype=np.float64)
        good = values.shape == (len(many),) and not bool(np.isnan(values).any())
        require(good, "statistic", values.shape, f"a number for each of {len(many)} releases")
        found[start : start + len(many)] = values
    return found


def _beyond(ordered: Array, threshold: float, sign: int) -> int:
    """Return how many are at least the threshold, or at most that."""
    if sign > 0:
        return int(ordered.size - np.searchsorted(ordered, threshold, side="left"))
    return int(np.searchsorted(ordered, threshold, side="right"))


def _best(
    positive: Array, negative: Array, delta: float, risk: float, sign: int
) -> tuple[float, float]:
    """Return the largest bound of these releases, and its threshold."""
    ranks = np.unique((np.r_[0, 1 / negative.size, _RATES] * negative.size).astype(int))
    ranks = ranks[ranks < negative.size]
    places = negative[::-1][ranks] if sign > 0 else negative[ranks]
    ends = positive[[-1, -max(2, positive.size // 1000)]] if sign > 0 else positive[[0, 1]]
    thresholds = np.unique(np.concatenate([places, np.nextafter(places, sign * math.inf), ends]))
    found = [
        (
            _epsilon(
                _beyond(positive, t, sign), _beyond(negative, t, sign), positive.size, delta, risk
            ),
            t,
        )
        for t in thresholds.tolist()
    ]
    return max(found)


def _epsilon(hits: float, alarms: float, trials: int, delta: float, risk: float) -> float:
    """Return the bound of epsilon, at least 0."""
    power, _ = core.binomial_bounds(hits, trials, _MISSED * risk)
    _, size = core.binomial_bounds(alarms, trials, (1 - _MISSED) * risk)
    return max(0.0, math.log((power - delta) / size)) if power > delta else 0.0


def _ceiling(cost: Cost, trials: int, delta: float, risk: float) -> float:
    """Return the largest bound that the expected counts of a test give."""
    rates = np.append(_RATES, 1 - _RATES)
    power = np.asarray(cost.true_positive_rate(rates))
    return max(
        _epsilon(trials * float(p), trials * float(f), trials, delta, risk)
        for p, f in zip(power, rates, strict=True)
    )
