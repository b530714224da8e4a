"""What filters and odometers share: sums in units that add up under full adaptivity."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from tightnoise._adjacency import adjacency_or_none
from tightnoise._ledger import cost_in, ledger_lock
from tightnoise._validate import (
    MAX_COUNT,
    integer,
    number_array,
    require,
    require_all,
)
from tightnoise.costs import Cost
from tightnoise.costs._functions import add_upper

Array = NDArray[np.float64]
Own = TypeVar("Own", bound="Spending")

_VERSION = 1


class BudgetError(ValueError):
    """What a release costs is not left in the budget; nothing is spent."""


class Sums(ABC):
    """What is spent, sums within budgets, and how it is saved."""

    def __init__(self, budget: Array, adjacency: object) -> None:
        self._adjacency = adjacency_or_none(adjacency)
        self._budget = budget
        self._spent: Array = np.zeros(budget.shape)  # replaced, never changed: readers need no lock

    @abstractmethod
    def _rule(self) -> dict[str, Any]:
        """Return what the budget was made of, as JSON has it."""

    @property
    def adjacency(self) -> str | None:
        """The neighbours for which all holds; None: those of the declared sensitivities."""
        return self._adjacency

    def state_dict(self) -> dict[str, Any]:
        """Return the parameters and what is spent, ready for JSON; infinity is the string 'inf'.

        Returns
        -------
        dict

        Examples
        --------
        >>> import tightnoise as tn
        >>> state = tn.PrivacyFilter(1.0).spend(tn.Cost.of_pure(0.25)).state_dict()
        >>> resumed = tn.PrivacyFilter(1.0)
        >>> resumed.load_state_dict(state)
        >>> resumed.spent
        0.25
        """
        rule = {"kind": type(self).__name__, **self._rule(), "adjacency": self._adjacency}
        return {"version": _VERSION, "rule": rule, "spent": list(map(plain, self._spent.tolist()))}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Put what `state_dict` returned in the place of what is spent.

        Parameters
        ----------
        state : dict
            Of one with the same parameters. It is checked as input from a stranger.

        Raises
        ------
        ValueError
            If anything in it is missing, unknown, or outside its domain; nothing changes then.
        TypeError
            If it is not a mapping.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.PrivacyFilter(1.0).load_state_dict({})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: state must be that of a PrivacyFilter: it must hold version, rule and spent; ...
        """
        if not isinstance(state, Mapping):
            raise TypeError(f"state must be a dict; got {type(state).__name__}")
        try:
            spent = self._decoded(state)
        except (TypeError, ValueError) as error:
            raise ValueError(f"state must be that of a {type(self).__name__}: {error}") from None
        with ledger_lock:
            self._spent = spent

    def _decoded(self, state: Mapping[str, Any]) -> Array:
        own = self.state_dict()
        if set(state) != set(own):
            raise ValueError(f"it must hold version, rule and spent; got {sorted(state)}")
        version, rule, values = state["version"], state["rule"], state["spent"]
        require(type(version) is int and version == _VERSION, "version", version, f"{_VERSION}")
        require(rule == own["rule"], "rule", rule, f"{own['rule']}")
        plain = isinstance(values, list) and all(
            type(value) is float or value == "inf" for value in values
        )
        require(plain and len(values) == self._spent.size, "spent", values, "a list of its floats")
        spent = number_array("spent", [float(value) for value in values])
        require_all(spent >= 0, "spent", spent, "at least 0")
        require_all(self._is_within(spent), "spent", spent, "within the budget")
        return spent

    def _is_within(self, spent: Array) -> Any:
        """Return which sums are within their budgets."""
        return spent <= self._budget


class Spending(Sums):
    """Sums of costs in units that add up under full adaptivity; of one, what is left may be spent.

    The units are mu^2 of Gaussian-DP, if so asked, and the Renyi divergences at fixed orders.
    """

    def __init__(
        self, orders: Array, budget: Array, adjacency: object, *, squares: bool = False
    ) -> None:
        super().__init__(budget, adjacency)
        self._orders, self._squares = orders, squares

    def _measured(self, cost: object, count: SupportsIndex) -> Array:
        own = cost_in(cost) * integer("count", count, minimum=0, maximum=MAX_COUNT)
        if own.adjacency not in (None, self._adjacency):
            raise ValueError(
                f"cost must be for the neighbours named beforehand, {self._adjacency!r}; got "
                f"{own.adjacency!r}: say {type(self).__name__}(..., adjacency={own.adjacency!r})"
            )
        divergences = own.rdp(self._orders).values
        if not self._squares:
            return divergences
        mu = own.gdp_mu
        return np.append(math.nextafter(mu * mu, math.inf) if mu > 0 else 0.0, divergences)

    def _is_within(self, spent: Array) -> Any:
        return np.asarray((spent <= self._budget).any())

    def spend(self: Own, cost: Cost | Any, count: SupportsIndex = 1) -> Own:
        """Reserve what `count` releases cost, before their noise is drawn.

        Parameters
        ----------
        cost : Cost, or anything with a property `cost`
            What one release costs, whatever the data: it may be chosen by earlier outputs, not by
            the data themselves.
        count : int
            At least 0.

        Returns
        -------
        PrivacyFilter or PrivacyOdometer
            This one.

        Raises
        ------
        BudgetError
            Where that is more than a filter has left. Nothing is spent then.
        ValueError, TypeError
            For a cost of other neighbours than those named beforehand, or anything else.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.PrivacyFilter(1.0).spend(tn.Cost.of_pure(0.25), 3).spent
        0.7500000000000001
        """
        costs = self._measured(cost, count)
        with ledger_lock:
            spent = add_upper(self._spent, costs)
            if not self._is_within(spent):
                at = int(np.argmax(self._spent <= self._budget))
                raise BudgetError(
                    f"cost must be at most the {self._budget[at] - self._spent[at]:.6g} that are "
                    f"left of {self._budget[at]:.6g}; got {costs[at]:.6g} ({self!r})"
                )
            self._spent = spent
        return self


def plain(value: float) -> float | str:
    """Return a number as strict JSON can hold it."""
    return "inf" if value == math.inf else value
