"""What releases cost: one object."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import number_or_array
from tightnoise._figures import axes_of
from tightnoise._validate import (
    MAX_COUNT,
    integer,
    not_negative,
    number_array,
    one_of,
    real_scalar,
    require,
    require_all,
)
from tightnoise._warn import warn_caller
from tightnoise.costs._answers import both_sides, least, proved_by
from tightnoise.costs._composed import distribution_of, rdp_of
from tightnoise.costs._constructors import Constructors
from tightnoise.costs._costliest import Proof
from tightnoise.costs._dp_events import event_of_terms
from tightnoise.costs._explanation import Explanation, explained
from tightnoise.costs._figure import draw, draw_tradeoff
from tightnoise.costs._leaf import leaf_of
from tightnoise.costs._privacy_loss import PrivacyLossDistribution
from tightnoise.costs._quotients import total_upper
from tightnoise.costs._rdp_curve import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._sampled import root_of_squares
from tightnoise.costs._tradeoff import auc_upper, tradeoff

Array = NDArray[np.float64]
By = Literal["rdp", "losses", "profile"]

_VERSION = 1
_BY = {"rdp": None, "losses": None, "profile": None}


class Cost(Constructors):
    """What releases cost: a sum of leaves, each so many times, of which any answer can be asked.

    A leaf stands for one release, by the pair of output distributions that no two neighbours are
    easier to tell apart than. `mechanism.cost(...)` and the constructors below make costs;
    ``a + b`` is the cost of both, ``cost * n`` of n such releases, `sampled` of one that runs on a
    random sample of the records. ``Cost()`` is nothing. Immutable, with ``==``, hash, pickle and
    `to_dict`.

    Every answer is an upper bound, the least that is proved in any of these ways: in closed form,
    by the sum of the largest losses, by Renyi divergences, by distributions of the privacy loss
    (connected dots, composed by FFT with all errors added). Values may be chosen in view of earlier
    outputs; mechanisms, noise and counts must be fixed beforehand.

    Examples
    --------
    >>> import tightnoise as tn
    >>> training = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson") * 1000
    >>> plan = training + tn.Laplace(20.0).cost(sensitivity=1.0) * 40
    >>> print(f"{plan.epsilon(1e-6):.3f}")
    2.535
    >>> plan.adjacency
    'add-remove'
    """

    __slots__ = ()

    # --- answers

    @overload
    def epsilon(self, delta: float, *, by: By | None = ...) -> float: ...
    @overload
    def epsilon(self, delta: ArrayLike, *, by: By | None = ...) -> Array | float: ...
    def epsilon(self, delta: ArrayLike, *, by: By | None = None) -> Array | float:
        """Return the smallest proven epsilon with which all this is (epsilon, delta)-DP.

        Parameters
        ----------
        delta : array_like
            From 0 to 1.
        by : {None, "rdp", "losses", "profile"}
            One way only: Renyi divergences (fast, for loops), loss distributions, closed forms.
            None: the least of all.

        Returns
        -------
        float or ndarray of float64
            Rounded up; infinity where nothing is proved.

        Raises
        ------
        ValueError, TypeError
            If delta is not from 0 to 1, for an unknown way.

        Examples
        --------
        >>> import tightnoise as tn
        >>> cost = tn.Gaussian(20.0).cost(sensitivity=1.0) * 100
        >>> print(f"{cost.epsilon(1e-5):.4f} {cost.epsilon(1e-5, by='rdp'):.4f}")
        1.9931 2.1657
        """
        if type(delta) is float or np.ndim(delta) == 0:
            target = real_scalar("delta", delta)
            require(0 <= target <= 1, "delta", delta, "from 0 to 1")
            return self._answer("epsilon", target, by)
        targets = number_array("delta", delta)
        require_all((targets >= 0) & (targets <= 1), "delta", targets, "from 0 to 1")
        return _each(targets, lambda target: self._answer("epsilon", target, by))

    @overload
    def delta(self, epsilon: float, *, by: By | None = ...) -> float: ...
    @overload
    def delta(self, epsilon: ArrayLike, *, by: By | None = ...) -> Array | float: ...
    def delta(self, epsilon: ArrayLike, *, by: By | None = None) -> Array | float:
        """Return the smallest proven delta with which all this is (epsilon, delta)-DP.

        Parameters
        ----------
        epsilon : array_like
            At least 0, finite.
        by : {None, "rdp", "losses", "profile"}
            As for `epsilon`.

        Returns
        -------
        float or ndarray of float64
            From 0 to 1, rounded up.

        Raises
        ------
        ValueError, TypeError
            If epsilon is not finite and at least 0, for an unknown way.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print(f"{tn.Laplace(2.0).cost(sensitivity=1.0).delta(0.1):.6f}")
        0.181269
        """
        if type(epsilon) is float or np.ndim(epsilon) == 0:
            return self._answer("delta", not_negative("epsilon", epsilon), by)
        losses = number_array("epsilon", epsilon)
        good = (losses >= 0) & (losses < np.inf)
        require_all(good, "epsilon", losses, "at least 0 and finite")
        return _each(losses, lambda loss: self._answer("delta", loss, by))

    def _answer(self, question: str, at: float, by: str | None) -> float:
        if by is not None:
            one_of("by", by, _BY)
        known = self._answers.get((question, by, at))
        if known is None:
            known = self._answers[question, by, at] = self._solved(question, at, by)
        return known

    def _solved(self, question: str, at: float, by: str | None) -> float:
        if not self._leaves:
            return 0.0
        worst = math.inf if question == "epsilon" else 1.0
        if question == "epsilon" and at == 1:
            return 0.0
        if by is None:
            by, proof = least(question, self.terms, at)
        else:
            proof = proved_by(by, question, self.terms, at) or Proof(worst)
        if proof.doubt is not None:
            warn_caller(proof.doubt)
        return proof.bound

    def epsilon_bounds(self, delta: float) -> tuple[float, float]:
        """Return certified bounds of epsilon at delta; the upper one is at most `epsilon(delta)`.

        No accountant can prove less than the lower one of the leaves' pairs, with any amount of
        work. It is 0 where a leaf is an upper bound only (a guarantee, zCDP, Renyi divergences at
        some orders), or where too little is known of its pair. Of bounded range many times, it is
        that of the best strategy; of noise with bounds many times, that of two values. Of batches
        of a fixed size the pair is the one that dominates all (Balle, Barthe and Gaboardi 2018,
        Theorem 9): which neighbours cost most, composed, is not known, and it may be less.

        Where losses are atoms alone (scalar noise, fixed batches, domains), `epsilon(delta)` is
        some millionths above the upper one, and takes less time.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        lower, upper : float

        Raises
        ------
        ValueError, TypeError
            If delta is not from 0 to 1.

        Examples
        --------
        >>> import tightnoise as tn
        >>> step = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")
        >>> lower, upper = (step * 10_000).epsilon_bounds(1e-6)
        >>> lower <= 6.90738449504508 <= upper <= lower * (1 + 1e-10)
        True
        """
        return self._both_sides("epsilon", real_scalar("delta", delta), self.epsilon(delta))

    def delta_bounds(self, epsilon: float) -> tuple[float, float]:
        """Return certified bounds of delta at epsilon, as `epsilon_bounds` does of epsilon.

        Parameters
        ----------
        epsilon : float
            At least 0, finite.

        Returns
        -------
        lower, upper : float

        Raises
        ------
        ValueError, TypeError
            If epsilon is not finite and at least 0.

        Examples
        --------
        >>> import tightnoise as tn
        >>> step = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")
        >>> lower, upper = (step * 10_000).delta_bounds(2.0)
        >>> f"{lower:.9f} {upper:.9f}"
        '0.082710820 0.082710820'
        """
        return self._both_sides("delta", not_negative("epsilon", epsilon), self.delta(epsilon))

    def _both_sides(self, question: str, at: float, upper: float) -> tuple[float, float]:
        if upper == 0 or not self._leaves or (question == "epsilon" and at == 1):
            return 0.0, upper
        lower, upper = both_sides(question, self.terms, at, upper)
        return lower, upper

    def tradeoff(self, false_positive_rate: ArrayLike) -> Array | float:
        """Return the least false-negative rate of any attacker at a false-positive rate.

        Of tests whether a record is in the data, or which of two, by all outputs together (Dong,
        Roth and Su 2022, Proposition 6: the supremum of lines that the profile gives).

        Parameters
        ----------
        false_positive_rate : array_like
            From 0 to 1.

        Returns
        -------
        float or ndarray of float64
            Rounded down: no attacker does better.

        Raises
        ------
        ValueError, TypeError
            If a rate is not from 0 to 1.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print(f"{tn.Cost.of_gdp(1.0).tradeoff(0.05):.4f}")
        0.7405
        """
        rates = _rates(false_positive_rate)
        return number_or_array(tradeoff(self.terms, rates, both_sides=False).misses_lower)

    def tradeoff_bounds(
        self, false_positive_rate: ArrayLike
    ) -> tuple[Array | float, Array | float]:
        """Return certified bounds of the least false-negative rate: the lower one is `tradeoff`'s.

        The upper one is what some attacker of the leaves' pairs reaches. It is that of guessing,
        1 less the rate, where nothing is known of them from below, as for `epsilon_bounds`.

        Parameters
        ----------
        false_positive_rate : array_like
            From 0 to 1.

        Returns
        -------
        lower, upper : float or ndarray of float64

        Raises
        ------
        ValueError, TypeError
            If a rate is not from 0 to 1.

        Examples
        --------
        >>> import tightnoise as tn
        >>> step = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")
        >>> lower, upper = (step * 1000).tradeoff_bounds(0.05)
        >>> f"{lower:.7f} {upper:.7f}"
        '0.8889985 0.8889985'
        """
        found = tradeoff(self.terms, _rates(false_positive_rate), both_sides=True)
        return number_or_array(found.misses_lower), number_or_array(found.misses_upper)

    def true_positive_rate(self, false_positive_rate: ArrayLike) -> Array | float:
        """Return the greatest true-positive rate of any attacker at a false-positive rate.

        That is 1 less `tradeoff`, with all digits where it is small: what the privacy of those
        records is told by that are easiest to attack (Carlini et al. 2022), at 1e-3 or 1e-5.

        Parameters
        ----------
        false_positive_rate : array_like
            From 0 to 1.

        Returns
        -------
        float or ndarray of float64
            Rounded up: no attacker does better.

        Raises
        ------
        ValueError, TypeError
            If a rate is not from 0 to 1.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Gaussian(1.0).cost(sensitivity=1.0).true_positive_rate([1e-3, 1e-5]).round(7)
        array([0.0182985, 0.0005475])
        """
        rates = _rates(false_positive_rate)
        return number_or_array(tradeoff(self.terms, rates, both_sides=False).power_upper)

    @property
    def advantage(self) -> float:
        """The most that true-positive less false-positive rates can be: delta at epsilon 0."""
        return self.delta(0.0)

    @property
    def auc(self) -> float:
        """The greatest area under the ROC curve of any attacker, rounded up."""
        return auc_upper(self.terms)

    @property
    def gdp_mu(self) -> float:
        """A mu for which all this is mu-Gaussian-DP, rounded up; infinity where none is known."""
        return root_of_squares(self.terms)

    @property
    def zcdp_rho(self) -> float:
        """A rho for which all this is rho-zCDP, rounded up; infinity where none is known."""
        return total_upper((leaf.zcdp_rho, n) for leaf, n in self.terms)

    # --- views

    def rdp(self, alphas: ArrayLike | None = None) -> RdpCurve:
        """Return the Renyi-DP curve: bounds on the divergence by the order, in both directions.

        Parameters
        ----------
        alphas : array_like, shape (n,), optional
            Orders of a table; by default a function of the order, where no leaf is a table.

        Returns
        -------
        RdpCurve
            Infinite where none is known.

        Raises
        ------
        ValueError, TypeError
            For orders outside their domain.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Gaussian(2.0).cost(sensitivity=1.0).rdp([2, 4]).values.round(6)
        array([0.25, 0.5 ])
        """
        curve = rdp_of(self.terms)
        if curve is None:
            orders = (
                DEFAULT_ORDERS if alphas is None else np.atleast_1d(number_array("alphas", alphas))
            )
            return RdpCurve(orders, np.full(orders.shape, np.inf))
        return curve if alphas is None else curve.at(np.atleast_1d(number_array("alphas", alphas)))

    def losses(self) -> PrivacyLossDistribution:
        """Return the distribution of the privacy loss, of a pair that dominates.

        Returns
        -------
        PrivacyLossDistribution

        Raises
        ------
        ValueError
            Where none is known: of bounds on Renyi divergences that are infinite.

        Examples
        --------
        >>> import tightnoise as tn
        >>> losses = (tn.Laplace(20.0).cost(sensitivity=1.0) * 100).losses()
        >>> print(f"{losses.epsilon(1e-5):.3f}")
        1.948
        """
        found = distribution_of(self.terms)
        if found is None:
            raise ValueError(f"losses must be known of every leaf; got {self!r}")
        return found

    def explain(self, delta: float) -> Explanation:
        """Return what each way proves at a delta, what was assumed, and which way won.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        Explanation
            A table to print.

        Raises
        ------
        ValueError, TypeError
            If delta is not from 0 to 1.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print((tn.Gaussian(20.0).cost(sensitivity=1.0) * 100).explain(1e-5))
        epsilon 1.9931 at delta 1e-05, by profile; at least 1.99309
        way      epsilon
        profile   1.9931
        pure         inf
        rdp      2.16572
        losses    1.9931
        release                        count      neighbours
        gaussian, noise multiplier 20    100  those declared
        """
        target = real_scalar("delta", delta)
        require(0 <= target <= 1, "delta", delta, "from 0 to 1")
        return explained(self.terms, self.adjacency, target)

    # --- as data

    def plot(self, delta: float, *, axes: object = None) -> tuple[Any, ...]:
        """Draw the privacy profile, with epsilon at delta, and the trade-off curve.

        Both from above and from below, as far as a lower bound is proved.

        Parameters
        ----------
        delta : float
            Where epsilon is marked; the profile goes a little further down.
        axes : two axes of matplotlib, optional
            Where to draw; by default those of a new figure.

        Returns
        -------
        tuple of two axes

        Raises
        ------
        ImportError
            Without matplotlib (extra `plot`).
        ValueError
            If `axes` are not two axes, or delta is out of range.

        Examples
        --------
        >>> import tightnoise as tn
        >>> cost = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson") * 1000
        >>> profile, tradeoff = cost.plot(1e-6)  # doctest: +SKIP
        """
        epsilon = self.epsilon(delta)  # refuses what is no delta, before a figure is there
        places = axes_of(axes, 2, (12.0, 5.4))
        draw(self, epsilon, float(delta), *places)
        return places

    def plot_tradeoff(self, *, axes: object = None) -> Any:
        """Draw the trade-off curve alone, from above and from below.

        Parameters
        ----------
        axes : axes of matplotlib, optional
            Where to draw; by default those of a new figure.

        Returns
        -------
        axes

        Raises
        ------
        ImportError
            Without matplotlib (extra `plot`).
        ValueError
            If `axes` are not one axes.

        Examples
        --------
        >>> import tightnoise as tn
        >>> axes = tn.Cost.of_gdp(1.0).plot_tradeoff()  # doctest: +SKIP
        """
        (place,) = axes_of(axes, 1, (6.0, 5.4))
        draw_tradeoff(place, self)
        return place

    def to_dict(self) -> dict[str, Any]:
        """Return the leaves as numbers, strings, lists and dicts: ready for JSON.

        Returns
        -------
        dict

        Examples
        --------
        >>> import tightnoise as tn
        >>> cost = tn.Cost.of_zcdp(0.5) * 3
        >>> tn.Cost.from_dict(cost.to_dict()) == cost
        True
        """
        leaves = [{**leaf.to_dict(), "times": n} for leaf, n in self._leaves.items()]
        return {"version": _VERSION, "leaves": leaves}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Cost:
        """Return the cost that `to_dict` made the state of, checked as input from a stranger.

        Parameters
        ----------
        state : dict

        Returns
        -------
        Cost

        Raises
        ------
        ValueError
            If anything is missing, unknown, twice or out of range.
        TypeError
            If it is no mapping.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Cost.from_dict({"version": 1, "leaves": []}) == tn.Cost()
        True
        """
        if not isinstance(state, Mapping):
            raise TypeError(f"state must be a dict; got {type(state).__name__}")
        try:
            return cls._decoded(state)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"state must be that of a Cost: {error}") from None

    @classmethod
    def _decoded(cls, state: Mapping[str, Any]) -> Cost:
        require(set(state) == {"version", "leaves"}, "state", list(state), "version and leaves")
        version, entries = state["version"], state["leaves"]
        require(type(version) is int and version == _VERSION, "version", version, f"{_VERSION}")
        require(isinstance(entries, list), "leaves", entries, "a list")
        leaves = []
        for entry in entries:
            require(isinstance(entry, Mapping), "leaves", entry, "dicts")
            if "times" not in entry:
                raise ValueError("times is missing from a leaf")
            count = integer("times", entry["times"], minimum=1, maximum=MAX_COUNT)
            leaf = leaf_of({key: value for key, value in entry.items() if key != "times"})
            leaves.append((leaf, count))
        cost = cls._of(leaves)
        require(len(cost._leaves) == len(leaves), "leaves", entries, "different")
        return cost

    def to_dp_event(self) -> Any:
        """Return an event of dp-accounting, which must be installed, with the same leaves.

        Returns
        -------
        dp_accounting.DpEvent

        Raises
        ------
        ValueError
            For leaves that are no Gaussian or Laplace noise, zCDP, or Poisson samples of them.
        ImportError
            Without dp-accounting.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Cost.of_bounded_range(1.0).to_dp_event()  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        ...
        ValueError: leaves must be of Gaussian or Laplace noise, zCDP and Poisson samples of them...
        """
        return event_of_terms(self.terms)


def _rates(false_positive_rate: ArrayLike) -> Array:
    rates = number_array("false_positive_rate", false_positive_rate)
    good = (rates >= 0) & (rates <= 1)
    require_all(good, "false_positive_rate", rates, "from 0 to 1")
    return rates


def _each(values: Array, function: Callable[[float], float]) -> Array:
    answers = [function(value) for value in values.ravel().tolist()]
    return np.array(answers, dtype=np.float64).reshape(values.shape)
