"""A budget under full adaptivity: also the mechanisms may be chosen by what earlier ones said."""

from __future__ import annotations

import math
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import cost as core
from tightnoise._spending import Spending, plain
from tightnoise._text import exact_text
from tightnoise._validate import below_one, not_negative, number_array, one_of, require
from tightnoise.costs import Adjacency, Cost, budget_to_rdp
from tightnoise.costs._functions import add_upper
from tightnoise.costs._gaussian_profile import gaussian_delta

Array = NDArray[np.float64]

_BY = {"rdp": None, "gdp": None}

# Of few digits: the order of a saved filter is the same on every machine.
_ORDERS = 1 + np.outer(10.0 ** np.arange(-3, 6), np.arange(10, 100) / 10).ravel()
_LARGEST_MU = 1e150  # its square is no infinity


class PrivacyFilter(Spending):
    """A budget of (epsilon, delta) that holds whatever is chosen by what was seen.

    An `Accountant` and a `Cost` cover values chosen in view of earlier outputs. A filter also
    covers mechanisms, noise, counts and the time to stop that are chosen so: never by the data
    themselves, and everything that is chosen so is spent here, before its noise is drawn. All
    outputs together are then (epsilon, delta)-DP. How little has been spent proves no more than
    that; for this there is the `PrivacyOdometer`. Costs and sums are rounded upwards: what should
    fill a budget to the last digit may not be admitted.

    Threads may share a filter. A copy, a forked child's too, has the same budget once more: only
    one of them may go on.

    Parameters
    ----------
    epsilon : float
        At least 0.
    delta : float
        At least 0 and below 1. 0 is pure differential privacy: the largest losses add up.
    by : {"rdp", "gdp"}
        What adds up: Renyi divergences at one order, or mu^2 of Gaussian-DP, which spends Gaussian
        noise by its exact profile. Beside that the largest losses add up: what either has room for
        is admitted, so that few pure releases, and many, cost what they should.
    order : float, optional
        The order, greater than 1, infinity too. By default the one at which most Gaussian noise is
        admitted.
    adjacency : {None, "add-remove", "replace-one"}
        Which data sets are neighbours. It must be known beforehand: costs that name another one are
        refused, and by None all that name one.

    Raises
    ------
    ValueError, TypeError
        For values outside their domain, a finite order with delta 0, an order with "gdp".

    Notes
    -----
    Let L be the likelihood ratio of all outputs so far, of one data set P to its neighbour Q, and S
    the sum of their divergences at order a, each known before its output. Given the past, a release
    of cost r multiplies the expectation of L^a under Q by at most exp((a - 1) r), so L^a
    exp(-(a - 1) S) is a supermartingale under Q. S never exceeds the budget b: E[L^a] is at most
    exp((a - 1) b), the Renyi divergence of everything at most b, as if nothing had been chosen
    (Feldman and Zrnic 2021, "Individual Privacy Accounting via a Renyi Filter"; Lecuyer 2021,
    "Practical Privacy Filters and Odometers with Renyi Differential Privacy and Applications to
    Differentially Private Deep Learning"). At infinite order this is Rogers, Roth, Ullman and
    Vadhan 2016, "Privacy Odometers and Filters: Pay-as-you-Go Composition".

    For Gaussian-DP (Smith and Thakurta 2022, "Fully Adaptive Composition for Gaussian Differential
    Privacy"; Koskela, Tobaben and Honkela 2022, "Individual Privacy Accounting with Gaussian
    Differential Privacy") by induction over the number of releases to come: where m^2 is left, they
    have at every threshold at most the hockey-stick divergence of Gaussian noise of m. One of mu
    leaves m^2 - mu^2 to the others, known before its output. Whatever it is, by induction Gaussian
    noise of that much in their place only adds; and so does Gaussian noise of mu in place of the
    one, for domination survives products. Both together are Gaussian noise of m.

    Both proofs need that what is left is one number. Going on while some order has room is wrong:
    with orders 2 and 8 and a budget of (2, 0.01), delta can exceed 0.014, since it may be the one
    order after one output and the other after another. Adding up loss distributions that were
    chosen so is wrong as well; Renyi beside Gaussian-DP is not proved.

    But the largest losses may have room instead. Where in the end they add up to epsilon at most,
    log L is at most epsilon, for certain, and such transcripts add nothing to the hockey-stick
    divergence at epsilon, E[(1 - e^epsilon/L)^+] under P. On all others the first sum is within its
    budget in the end, hence at all times, for it does not fall: there the releases are those of a
    run that stops before the first sum would exceed its budget, of which the divergence is at most
    delta by the above. All that is added up is >= 0.

    Examples
    --------
    >>> import tightnoise as tn
    >>> noise = tn.Gaussian(20.0).cost(sensitivity=1.0)
    >>> budget = tn.PrivacyFilter(2.0, 1e-5)
    >>> while budget.admits(noise):
    ...     _ = budget.spend(noise)  # and then draws the noise, with more or less of it next time
    >>> budget
    PrivacyFilter(epsilon=2, delta=1e-05; spent 1.097 of 1.104 Renyi divergence at order 10.2)
    >>> tn.PrivacyFilter(2.0, 1e-5, by="gdp").admits(noise, 100)
    True
    """

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        by: Literal["rdp", "gdp"] = "rdp",
        order: float | None = None,
        adjacency: Adjacency | None = None,
    ) -> None:
        one_of("by", by, _BY)
        self._by = by
        self._epsilon, self._delta = not_negative("epsilon", epsilon), below_one("delta", delta)
        orders, budgets = [math.inf], [self._epsilon]
        if by == "gdp":
            require(order is None, "order", order, "None with by='gdp'")
            require(self._delta > 0, "delta", delta, "greater than 0 with by='gdp'")
            budgets = [_mu_within(self._epsilon, self._delta) ** 2 * (1 - 2.0**-52), *budgets]
        else:
            fixed = _order_or_best(order, self._epsilon, self._delta)
            if fixed < math.inf:
                orders = [fixed, *orders]
                budgets = [budget_to_rdp(fixed, self._epsilon, self._delta), *budgets]
            elif self._delta > 0:
                budgets = [budget_to_rdp(fixed, self._epsilon, self._delta)]
        super().__init__(np.array(orders), np.array(budgets), adjacency, squares=by == "gdp")

    def _rule(self) -> dict[str, Any]:
        order = None if self.order is None else plain(self.order)
        return {"epsilon": self._epsilon, "delta": self._delta, "by": self._by, "order": order}

    def admits(self, cost: Cost | Any, count: SupportsIndex = 1) -> bool:
        """Return whether `count` releases could be spent now; other threads may be faster.

        Parameters
        ----------
        cost, count
            As for `spend`.

        Returns
        -------
        bool

        Raises
        ------
        ValueError, TypeError
            As `spend`, but for a BudgetError.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.PrivacyFilter(1.0).admits(tn.Cost.of_pure(0.25), 5)
        False
        """
        return bool(self._is_within(add_upper(self._spent, self._measured(cost, count))))

    @property
    def order(self) -> float | None:
        """The order of the Renyi divergences that are spent; None with by="gdp"."""
        return None if self._by == "gdp" else float(self._orders[0])

    @property
    def budget(self) -> float:
        """What may be spent in all: a Renyi divergence at `order`, or the square of a mu."""
        return float(self._budget[0])

    @property
    def spent(self) -> float:
        """What is spent of `budget`, rounded up."""
        return float(self._spent[0])

    @property
    def remaining(self) -> float:
        """What is left of `budget`, but for rounding."""
        return max(self.budget - self.spent, 0.0)

    def __repr__(self) -> str:
        unit = "mu^2" if self._by == "gdp" else f"Renyi divergence at order {self.order:g}"
        within = f"epsilon={exact_text(self._epsilon)}, delta={exact_text(self._delta)}"
        spent = f"spent {self.spent:.4g} of {self.budget:.4g} {unit}"
        if self._budget.size > 1 and self._spent[-1] <= self._budget[-1]:
            spent += f", or {self._spent[-1]:.4g} of {self._budget[-1]:g} in largest losses"
        return f"PrivacyFilter({within}; {spent})"


def _order_or_best(order: object, epsilon: float, delta: float) -> float:
    """Return an order, or the one whose budget holds the largest multiple of the order."""
    if order is None:
        if delta == 0:
            return math.inf
        return float(_ORDERS[np.argmax(budget_to_rdp(_ORDERS, epsilon, delta) / _ORDERS)])
    given = number_array("order", order)
    require(given.ndim == 0 and bool(given > 1), "order", order, "a number greater than 1")
    require(delta > 0 or bool(np.isinf(given)), "order", order, "infinite where delta is 0")
    return float(given)


def _mu_within(epsilon: float, delta: float) -> float:
    """Return the mu of which Gaussian noise is (epsilon, delta)-DP, rounded down."""
    sigma = np.empty(())
    core.gaussian_sigma(np.array(epsilon), np.array(delta), np.array(1.0), sigma)
    with np.errstate(divide="ignore"):
        mu = min(float(1 / sigma), _LARGEST_MU)
    step = 2.0**-53
    while gaussian_delta(epsilon, mu) > delta:
        mu, step = mu * (1 - step), 2 * step
    return mu
