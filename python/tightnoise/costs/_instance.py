"""What releasing one value costs, and what such releases cost together."""

from __future__ import annotations

from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from tightnoise._adjacency import common_adjacency
from tightnoise._text import exact_text, upper_text
from tightnoise._validate import MAX_COUNT, integer, one_of, require
from tightnoise.costs._between import Chords
from tightnoise.costs._cost import Cost
from tightnoise.costs._functions import RdpFunction, Term, WeightedSum, add_upper, times_upper
from tightnoise.costs._individual import IndividualCost
from tightnoise.costs._rdp_curve import RdpCurve

_HISTORIES = {"fixed": None, "realised": None}


class InstanceCost:
    """The cost of releasing one value, to its own neighbours: what `mechanism.cost_at` returns.

    And, of the sum of a random sample, `mechanism.sampled_cost_at`.

    It depends on the data, and must not itself be published unprotected. It is no `Cost`: it cannot
    be sampled, saved, or added to others but in an `InstanceLedger`, since sums along a run of
    values that depend on earlier outputs are no bound. ``cost * n`` is n releases of the same
    value. theta is read when the cost is made.

    Examples
    --------
    >>> import tightnoise as tn
    >>> here = tn.StochasticSign(1.0).cost_at([0.3, -0.2], coordinate_sensitivity=0.5)
    >>> print(f"{here.epsilon(1e-5):.4f} {(here * 4).epsilon(1e-5):.4f}")
    1.1429 4.5568
    """

    __slots__ = ("_anywhere", "_terms", "adjacency")
    __array_ufunc__ = None

    def __init__(
        self,
        function: RdpFunction,
        *,
        adjacency: str | None = None,
        anywhere: Cost | None = None,
    ) -> None:
        self._terms: tuple[Term, ...] = ((function, 1),)
        self._anywhere = anywhere  # for all data: nothing here costs more
        self.adjacency = common_adjacency(None, adjacency)

    def __mul__(self, count: SupportsIndex) -> InstanceCost:
        times = integer("count", count, minimum=0, maximum=MAX_COUNT)
        cost = InstanceCost.__new__(InstanceCost)
        cost._terms = tuple((function, n * times) for function, n in self._terms if times)
        cost._anywhere = None if self._anywhere is None else self._anywhere * times
        cost.adjacency = self.adjacency
        return cost

    __rmul__ = __mul__

    def rdp(self, alphas: ArrayLike | None = None) -> RdpCurve:
        """Return the per-instance Renyi-DP curve; with `alphas`, its table at these orders.

        Never below the truth; how far above, `mechanism.cost_at` says. Orders are as for
        `RdpCurve.at`.

        Examples
        --------
        >>> import tightnoise as tn
        >>> m = tn.TruncatedGaussian(1.0, -1.0, 1.0)
        >>> here = m.cost_at([0.5, 0.0], coordinate_sensitivity=1.0)
        >>> here.rdp([2]).values.round(5)
        array([0.55831])
        """
        curve = RdpCurve.of_terms(self._terms)
        return curve if alphas is None else curve.at(np.atleast_1d(alphas))

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon that an order proves, as `RdpCurve.epsilon`.

        With an L2 sensitivity, and of a sampled release, that of the same release of any data
        where it is less.

        Examples
        --------
        >>> import tightnoise as tn
        >>> here = tn.Gaussian(2.0).cost_at([0.0] * 4, coordinate_sensitivity=0.5)
        >>> print(f"{here.epsilon(1e-5):.4f}")
        2.1657
        """
        here = self.rdp().epsilon(delta)
        return here if self._anywhere is None else min(here, self._anywhere.epsilon(delta))

    def delta(self, epsilon: float) -> float:
        """Return the smallest delta that an order proves, as `RdpCurve.delta`.

        Examples
        --------
        >>> import tightnoise as tn
        >>> here = tn.Gaussian(2.0).cost_at([0.0] * 4, coordinate_sensitivity=0.5)
        >>> print(f"{here.delta(2.1657):.2e}")
        1.00e-05
        """
        here = self.rdp().delta(epsilon)
        return here if self._anywhere is None else min(here, self._anywhere.delta(epsilon))

    def explain(self, delta: float) -> str:
        """Return epsilon, the order that proves it, and how far above the truth that is at most.

        Secret, as the cost. With an L2 sensitivity the Renyi bound is compared with what some
        changes in the ball cost: computed in floating point, and for a sketch with each coordinate
        at the cheaper end of its place; a figure to judge by, no part of a proof.

        Examples
        --------
        >>> import numpy as np
        >>> import tightnoise as tn
        >>> theta = np.random.default_rng(0).normal(size=2000)
        >>> m = tn.RectifiedGaussian(1.0, -1.0, 1.0)
        >>> print(m.cost_at(theta, sensitivity=1.0, coordinate_sensitivity=0.05).explain(1e-5))
        epsilon 4.378 at delta 1e-05
          of this value: 4.593, by a Renyi divergence of 2.831 at order 6
          of any value: 4.378
          the divergence is at most 0.77 % above the worst neighbour's
        """
        curve = self.rdp()
        order, here = curve.best_order(delta), curve.epsilon(delta)
        bound = float(curve.at([order]).values[0])
        by = f"by a Renyi divergence of {upper_text(bound, 4)} at order {order:.4g}"
        lines = [
            f"epsilon {upper_text(self.epsilon(delta), 4)} at delta {exact_text(delta)}",
            f"  of this value: {upper_text(here, 4)}, {by}",
        ]
        if self._anywhere is not None:
            lines.append(f"  of any value: {upper_text(self._anywhere.epsilon(delta), 4)}")
        least = sum(n * float(f.least(order)) for f, n in self._terms if hasattr(f, "least"))
        if least > 0 and bound < np.inf:
            above = 100 * max(bound / least - 1, 0.0)
            lines.append(f"  the divergence is at most {above:.2g} % above the worst neighbour's")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"InstanceCost({self.rdp()!r})"


class InstanceLedger:
    """Adds up per-instance costs, and says what the sum is.

    Those of values (`mechanism.cost_at`), or those of each record (`individual_cost_at`): one
    ledger takes one kind, as neighbours differ.

    Parameters
    ----------
    history : {"fixed", "realised"}
        "fixed": no value released depends on earlier outputs, neither on those here nor on others:
        then costs add up, and `epsilon`, `delta` and `individual` answer. "realised": values depend
        on outputs, as in training. The sum along one run is **no bound**, for other runs may cost
        more; only `realised_epsilon` and `realised_individual` answer.

    Raises
    ------
    ValueError
        For another history.

    Notes
    -----
    A coin that shows heads once in a hundred times costs nothing. Let it choose the value whose
    sign is released, one that a person changes by 2.82: 60 after tails, 0 after heads. Of all runs
    99 % report next to nothing, and coin and sign together cost 4.586 at order 8, whatever the coin
    shows:

    >>> import math
    >>> import tightnoise as tn
    >>> sign = tn.StochasticSign(1.0)
    >>> tails, heads = (
    ...     float(sign.cost_at([theta], coordinate_sensitivity=2.8214).rdp([8.0]).values[0])
    ...     for theta in (60.0, 0.0)
    ... )
    >>> print(f"{tails:.0e} {heads:.3f}")
    5e-211 5.244
    >>> both = math.log(0.99 * math.exp(7 * tails) + 0.01 * math.exp(7 * heads)) / 7
    >>> round(both, 3)
    4.586

    Values that are computed from outputs, as in training, are accounted by `mechanism.cost(...)`.

    Examples
    --------
    >>> ledger = tn.InstanceLedger(history="fixed")
    >>> here = sign.cost_at([0.3, -0.2], coordinate_sensitivity=0.5)
    >>> print(f"{ledger.compose(here, 4).epsilon(1e-5):.4f}")
    4.5568
    """

    def __init__(self, *, history: Literal["fixed", "realised"]) -> None:
        one_of("history", history, _HISTORIES)
        self._history = history
        self._terms: tuple[Term, ...] = ()
        self._individual: IndividualCost | None = None
        self._adjacency: str | None = None
        self._steps = 0

    @property
    def history(self) -> str:
        """What is said of the values: "fixed" or "realised"."""
        return self._history

    @property
    def steps(self) -> int:
        """The number of releases, counting repetitions."""
        return self._steps

    def compose(
        self, cost: InstanceCost | IndividualCost | Cost | Any, count: SupportsIndex = 1
    ) -> InstanceLedger:
        """Add `count` releases, and return this ledger, so that calls can be chained.

        `cost` is an InstanceCost or a Cost, or has a property `cost`; or all are IndividualCosts of
        the same records and orders. ValueError for costs of different neighbours, records or
        orders, or one without a Renyi-DP curve.

        Examples
        --------
        >>> import tightnoise as tn
        >>> ledger = tn.InstanceLedger(history="realised")
        >>> ledger.compose(tn.Gaussian(2.0).cost(sensitivity=1.0), 3).steps
        3
        """
        own = cost if isinstance(cost, _KINDS) else getattr(cost, "cost", cost)
        if not isinstance(own, _KINDS):
            kind = type(cost).__name__
            raise TypeError(f"cost must be an InstanceCost, IndividualCost or Cost; got {kind}")
        times = integer("count", count, minimum=0, maximum=MAX_COUNT)
        known = self._individual
        if isinstance(own, IndividualCost):
            alone = known is not None or self._steps == 0
            require(alone, "cost", cost, "an InstanceCost or a Cost, as those before")
            self._individual = _added(known, own, times)
            self._steps += times
            return self
        require(known is None, "cost", cost, "an IndividualCost, as those before")
        curve = own.rdp()
        require(
            curve.is_continuous or bool(curve.values.min() < np.inf),
            "cost",
            cost,
            "known by Renyi divergences",
        )
        adjacency = common_adjacency(self._adjacency, own.adjacency)
        terms = curve.terms
        if not curve.is_continuous:
            terms = ((Chords(tuple(curve.alphas.tolist()), tuple(curve.values.tolist())), 1),)
        both = (*self._terms, *((function, n * times) for function, n in terms))
        self._terms, self._adjacency = WeightedSum(both).terms, adjacency
        self._steps += times
        return self

    def epsilon(self, delta: float) -> float:
        """Return epsilon of all together, as `RdpCurve.epsilon`; ValueError for a realised history.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.InstanceLedger(history="realised").epsilon(1e-5)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: history must be 'fixed' for a bound: along one run of values ...
        """
        self._require_fixed()
        return self._curve().epsilon(delta)

    def delta(self, epsilon: float) -> float:
        """Return delta of all together, as `RdpCurve.delta`; ValueError for a realised history.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.InstanceLedger(history="fixed").delta(1.0)
        0.0
        """
        self._require_fixed()
        return self._curve().delta(epsilon)

    def realised_epsilon(self, delta: float) -> float:
        """Return the epsilon of the sum along this run, which bounds nothing if values were chosen.

        Examples
        --------
        >>> import tightnoise as tn
        >>> ledger = tn.InstanceLedger(history="realised")
        >>> _ = ledger.compose(tn.Gaussian(2.0).cost_at([0.0], coordinate_sensitivity=1.0))
        >>> print(f"{ledger.realised_epsilon(1e-5):.4f}")
        2.1657
        """
        return self._curve().epsilon(delta)

    @property
    def individual(self) -> IndividualCost:
        """What all cost each record together; ValueError for a realised history.

        Examples
        --------
        >>> import tightnoise as tn
        >>> ledger = tn.InstanceLedger(history="fixed")
        >>> here = tn.Gaussian(10.0).individual_cost_at([3.0], [[1.0], [0.5]])
        >>> ledger.compose(here, 4).individual.epsilon(1e-5).round(4)
        array([0.8376, 0.3876])
        """
        self._require_fixed()
        return self.realised_individual

    @property
    def realised_individual(self) -> IndividualCost:
        """The sum along this run for each record, which bounds nothing if values were chosen.

        ValueError where no IndividualCost was composed.

        Examples
        --------
        >>> import tightnoise as tn
        >>> ledger = tn.InstanceLedger(history="realised")
        >>> here = tn.Gaussian(10.0).individual_cost_at([3.0], [[1.0], [0.5]])
        >>> print(ledger.compose(here, 4).realised_individual.report(1e-5))
        epsilon of 2 records at delta 1e-05
          least 0.3877, 25 % 0.5002, 50 % 0.6127, 75 % 0.7252, 99 % 0.8332, most 0.8377
          dearest: record 0 0.8377, record 1 0.3877
        """
        if self._individual is None:
            raise ValueError("cost must be an IndividualCost for an answer for each record")
        return self._individual

    def _curve(self) -> RdpCurve:
        if self._individual is not None:
            raise ValueError(
                "cost must be an InstanceCost or a Cost for one answer for all; of records ask "
                "individual or realised_individual"
            )
        return RdpCurve.of_terms(self._terms)

    def _require_fixed(self) -> None:
        allowed = (
            "'fixed' for a bound: along one run of values that depend on earlier outputs the sum "
            "is none; ask realised_epsilon, or account mechanism.cost(...)"
        )
        require(self._history == "fixed", "history", self._history, allowed)

    def __repr__(self) -> str:  # without what is secret
        return f"InstanceLedger({self._steps} steps, history={self._history!r})"


_KINDS = (InstanceCost, IndividualCost, Cost)


def _added(known: IndividualCost | None, cost: IndividualCost, times: int) -> IndividualCost:
    """Return the sum of costs of the same records, rounded up."""
    own = times_upper(cost.individual, times)
    if known is None:
        return IndividualCost(cost.orders, own.copy())  # `cost` may share its array
    shape = known.individual.shape
    require(own.shape == shape, "cost", own.shape, f"of the shape {shape} of those before")
    same = np.array_equal(known.orders, cost.orders)
    require(same, "cost", cost.orders, f"known at the orders of those before, {known.orders}")
    return IndividualCost(known.orders, add_upper(known.individual, own))
