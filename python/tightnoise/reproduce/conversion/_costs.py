"""What composed Gaussian releases and noisy SGD cost, by each way of the paper and exactly."""

from __future__ import annotations

import math
from collections.abc import Callable

from tightnoise.costs import Cost
from tightnoise.mechanisms import Gaussian
from tightnoise.reproduce._bisection import bisected

SIGMA = 20.0
SGD_SIGMA = 4.0
DELTA = 1e-5

CONVERSIONS = {
    "moments accountant": "classic",
    "Lemma 1": "closed_form",
    "Theorem 3": "optimal",
}
"""The conversions of this package by their names in the paper."""

EXACT, EXACT_RDP, CLASSIC_RDP = "exact", "exact RDP", "classic RDP"


def epsilon_after(rounds: float, method: str) -> float:
    """Return the epsilon of composed Gaussian releases, sigma 20, delta 1e-5, rounded up.

    Parameters
    ----------
    rounds : float
        The number T of releases; any positive number, for drawing.
    method : str
        "moments accountant", "Lemma 1", "Theorem 3" or "exact", as in the paper.

    Examples
    --------
    >>> from tightnoise.reproduce.conversion import epsilon_after
    >>> round(epsilon_after(600, "moments accountant"), 3)
    6.627
    >>> round(epsilon_after(600, "Theorem 3"), 3)
    5.979
    """
    if method == EXACT:
        return Cost.of_gdp(math.sqrt(rounds) / SIGMA).epsilon(DELTA)
    return Cost.of_zcdp(rounds / (2 * SIGMA**2)).rdp().epsilon(DELTA, CONVERSIONS[method])


def sgd_epsilon_after(epochs: float, method: str, sampling_rate: float) -> float:
    """Return the epsilon of noisy SGD, sigma 4, at delta = 1e-5.

    Parameters
    ----------
    epochs : float
        Passes over the data, of 1 / sampling_rate steps each.
    method : str
        "moments accountant" or "Lemma 1": the paper's, with Abadi's rho, **not a valid bound**.
        "exact RDP": the sampled Gaussian's, with the optimal conversion; "classic RDP": with the
        classic one; "exact": what the sampled Gaussian costs. The number of steps is rounded up.
    sampling_rate : float
        The probability q that a record is in a step.

    Examples
    --------
    >>> from tightnoise.reproduce.conversion import sgd_epsilon_after
    >>> round(sgd_epsilon_after(10, "moments accountant", 0.01), 3)
    0.546
    >>> round(sgd_epsilon_after(10, "exact RDP", 0.01), 3)
    0.301
    >>> round(sgd_epsilon_after(10, "exact", 0.01), 3)
    0.272
    """
    if method == EXACT:
        return _sgd_cost(epochs, sampling_rate).epsilon(DELTA)
    if method in (EXACT_RDP, CLASSIC_RDP):
        conversion = "optimal" if method == EXACT_RDP else "classic"
        return _sgd_cost(epochs, sampling_rate).rdp().epsilon(DELTA, conversion)
    rho = sampling_rate**2 / ((1 - sampling_rate) * SGD_SIGMA**2)
    return Cost.of_zcdp(rho * epochs / sampling_rate).rdp().epsilon(DELTA, CONVERSIONS[method])


def _sgd_cost(epochs: float, sampling_rate: float) -> Cost:
    step = Gaussian(SGD_SIGMA).cost(sensitivity=1.0).sampled(sampling_rate, "poisson")
    return step * math.ceil(epochs / sampling_rate)


def rounds_within(epsilon: float, epsilon_after: Callable[[float], float]) -> float:
    """Return how far one may go, a real number, until `epsilon_after` reaches `epsilon`.

    Within 1e-8, relatively, and never more than the budget allows.

    Parameters
    ----------
    epsilon : float
        The budget.
    epsilon_after : callable
        From a number of rounds (or epochs) to epsilon; it must grow without bound.

    Examples
    --------
    >>> from tightnoise.reproduce.conversion import rounds_within
    >>> round(rounds_within(3.0, lambda rounds: rounds**0.5), 4)
    9.0
    """
    least, most = 0.0, 1.0
    while epsilon_after(most) <= epsilon:
        least, most = most, 2 * most
    return bisected(lambda rounds: epsilon_after(rounds) <= epsilon, least, most, 1e-8)[0]
