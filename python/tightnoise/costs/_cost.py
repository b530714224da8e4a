"""What releases cost: one object."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._adjacency import adjacency_or_none, common_adjacency
from tightnoise._arrays import number_or_array
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
from tightnoise.costs._answers import Proof, distribution_of, least, proved_by, rdp_of
from tightnoise.costs._bounds import BoundedRange, LossTable, ProfileTable, RdpTable, Zcdp
from tightnoise.costs._dp_events import cost_of_event, event_of_terms
from tightnoise.costs._explanation import Explanation, explained
from tightnoise.costs._guarantee import Guarantee
from tightnoise.costs._leaf import Leaf, leaf_of
from tightnoise.costs._pairs import DirectionPair, GaussianPair, gaussian_of_mu
from tightnoise.costs._privacy_loss import PrivacyLossDistribution
from tightnoise.costs._rdp_curve import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._sampled import (
    Group,
    Sampled,
    Terms,
    described,
    root_of_squares,
    sum_upper,
)
from tightnoise.costs._sampling import adjacency_of
from tightnoise.costs._tradeoff import auc_upper, false_negative_rate_lower

__all__ = ["Adjacency", "By", "Cost", "Sampling"]

Array = NDArray[np.float64]
Adjacency = Literal["add-remove", "replace-one"]
Sampling = Literal["poisson", "fixed-size"]
By = Literal["rdp", "losses", "profile"]

_VERSION = 1
_BY = {"rdp": None, "losses": None, "profile": None}


class Cost:
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

    __slots__ = ("_answers", "_leaves")
    __array_ufunc__ = None  # numpy integers times a cost are a cost

    _leaves: dict[Leaf, int]
    _answers: dict[tuple[str, str | None, float], float]

    def __init__(self) -> None:
        self._leaves, self._answers = {}, {}

    @classmethod
    def _of(cls, leaves: Iterable[tuple[Leaf, int]]) -> Cost:
        cost = cls()
        adjacency = None
        total = 0
        for leaf, count in leaves:
            adjacency = common_adjacency(adjacency, leaf.adjacency)
            if count:
                cost._leaves[leaf] = cost._leaves.get(leaf, 0) + count
                total += count
        require(total <= MAX_COUNT, "count", total, "at most 2**53 in all")
        return cost

    @classmethod
    def of_leaf(cls, leaf: Leaf) -> Cost:
        return cls._of([(leaf, 1)])

    # --- of what is said about a release

    @classmethod
    def of_pure(cls, epsilon: float, *, adjacency: Adjacency | None = None) -> Cost:
        """Return the cost of a release that is epsilon-DP, of which nothing else is known.

        Parameters
        ----------
        epsilon : float
            At least 0.
        adjacency : {None, "add-remove", "replace-one"}
            Which data sets are neighbours; None: those of what it is added to.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            If epsilon is not a finite number of at least 0, for an unknown adjacency.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print(f"{(tn.Cost.of_pure(0.1) * 100).epsilon(1e-6):.4f}")
        4.7746
        """
        return cls.of_approximate(epsilon, 0.0, adjacency=adjacency)

    @classmethod
    def of_approximate(
        cls, epsilon: float, delta: float, *, adjacency: Adjacency | None = None
    ) -> Cost:
        """Return the cost of an (epsilon, delta)-DP release, of which nothing else is known.

        What many of these cost together is exact (Kairouz, Oh and Viswanath 2017): no theorem that
        knows epsilon and delta alone proves less.

        Parameters
        ----------
        epsilon, delta : float
            At least 0; delta below 1.
        adjacency : {None, "add-remove", "replace-one"}
            As for `of_pure`.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            For numbers out of range, an unknown adjacency.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print(f"{(tn.Cost.of_approximate(0.1, 1e-8) * 100).epsilon(1e-5):.4f}")
        4.3296
        """
        leaf = Guarantee(epsilon, delta, adjacency=adjacency)
        return cls._of([(leaf, int(leaf.loss > 0 or leaf.failure > 0))])

    @classmethod
    def of_zcdp(cls, rho: float, *, adjacency: Adjacency | None = None) -> Cost:
        """Return the cost of a release that is rho-zCDP (Bun and Steinke 2016).

        Parameters
        ----------
        rho : float
            At least 0.
        adjacency : {None, "add-remove", "replace-one"}
            As for `of_pure`.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            If rho is not a finite number of at least 0, for an unknown adjacency.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print(f"{(tn.Cost.of_zcdp(0.02) * 3).epsilon(1e-6):.4f}")
        1.6238
        """
        leaf = Zcdp(rho, adjacency=adjacency)
        return cls._of([(leaf, int(leaf.rho > 0))])

    @classmethod
    def of_gdp(cls, mu: float, *, adjacency: Adjacency | None = None) -> Cost:
        """Return the cost of a release that is mu-Gaussian-DP (Dong, Roth and Su 2022).

        Parameters
        ----------
        mu : float
            At least 0.
        adjacency : {None, "add-remove", "replace-one"}
            As for `of_pure`.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            If mu is not a finite number of at least 0, for an unknown adjacency.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print(f"{(tn.Cost.of_gdp(0.05) * 100).epsilon(1e-5):.4f}")
        1.9931
        """
        distance = not_negative("mu", mu)
        adjacency_or_none(adjacency)
        if distance == 0:
            return cls()
        return cls._of([(gaussian_of_mu(distance, is_bound=True, adjacency=adjacency), 1)])

    @classmethod
    def of_rdp(
        cls,
        alphas: ArrayLike,
        values: ArrayLike | Callable[[Array], Any],
        *,
        adjacency: Adjacency | None = None,
    ) -> Cost:
        """Return the cost of a release with these bounds on its Renyi divergence.

        Parameters
        ----------
        alphas : array_like, shape (n,)
            Orders, strictly increasing, one above 1 at least; the last may be infinity.
        values : array_like, shape (n,), or callable
            Bounds in both directions, at least 0; or a function of the orders that returns them,
            called once, now. Between two orders the chord of (alpha - 1) times the bound counts.
        adjacency : {None, "add-remove", "replace-one"}
            As for `of_pure`.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            For what is no Renyi-DP curve; see `RdpCurve`.

        Examples
        --------
        >>> import tightnoise as tn
        >>> cost = tn.Cost.of_rdp(tn.DEFAULT_ORDERS, lambda alpha: 0.02 * alpha)
        >>> print(f"{cost.epsilon(1e-6):.4f}")
        0.8999
        """
        orders = number_array("alphas", alphas)
        bounds = values(orders) if callable(values) else values
        curve = RdpCurve(orders, bounds)
        leaf = RdpTable(
            tuple(curve.alphas.tolist()), tuple(curve.values.tolist()), adjacency=adjacency
        )
        return cls._of([(leaf, int(bool(curve.values.any())))])

    @classmethod
    def of_profile(
        cls, epsilons: ArrayLike, deltas: ArrayLike, *, adjacency: Adjacency | None = None
    ) -> Cost:
        """Return the cost of a release of which points of the privacy profile are known.

        Parameters
        ----------
        epsilons : array_like, shape (n,)
            From 0 on, increasing, two or more.
        deltas : array_like, shape (n,)
            No less than the larger delta of both directions at each: from 0 to 1. Between the
            points straight lines in exp(epsilon) are taken, above which no profile can be. What is
            left at the last counts as an infinite loss.
        adjacency : {None, "add-remove", "replace-one"}
            As for `of_pure`.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            For values out of range, lengths that differ.

        Examples
        --------
        >>> import numpy as np
        >>> import tightnoise as tn
        >>> cost = tn.Cost.of_profile([0.0, 0.5], [np.tanh(0.25), 0.0])
        >>> print(f"{(cost * 100).epsilon(1e-5):.3f}")
        31.173
        """
        points, heights = number_array("epsilons", epsilons), number_array("deltas", deltas)
        leaf = ProfileTable(
            tuple(points.ravel().tolist()), tuple(heights.ravel().tolist()), adjacency=adjacency
        )
        return cls._of([(leaf, 1)])

    @classmethod
    def of_losses(
        cls, losses: ArrayLike, probabilities: ArrayLike, *, adjacency: Adjacency | None = None
    ) -> Cost:
        """Return the cost of a release with discrete outputs, by its privacy losses.

        Parameters
        ----------
        losses : array_like, shape (n,)
            log(P/Q) of each output; +infinity where Q has none. The other direction is derived.
            Where records are added and removed, P is of the data set with the record.
        probabilities : array_like, shape (n,)
            Of each under P: greater than 0, 1 in sum.
        adjacency : {None, "add-remove", "replace-one"}
            As for `of_pure`.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            For lengths that differ, probabilities that are not 1 in sum, losses that no Q has.

        Examples
        --------
        Randomised response, the truth with probability 3/4, a hundred times:

        >>> import math
        >>> import tightnoise as tn
        >>> e = math.log(3)
        >>> once = tn.Cost.of_losses([e, -e], [0.75, 0.25])
        >>> print(f"{(once * 100).delta(75.0):.2e}")
        1.02e-02
        """
        values, masses = (
            number_array("losses", losses),
            number_array("probabilities", probabilities),
        )
        leaf = LossTable(
            tuple(values.ravel().tolist()), tuple(masses.ravel().tolist()), adjacency=adjacency
        )
        return cls._of([(leaf, 1)])

    @classmethod
    def of_response(
        cls, probability: float, options: int = 2, *, adjacency: Adjacency | None = None
    ) -> Cost:
        """Return the cost of randomised response: the truth, or another option, all as likely.

        Parameters
        ----------
        probability : float
            Of the truth, from 1/options to 1, exclusive of 1.
        options : int
            How many answers there are, at least 2.
        adjacency : {None, "add-remove", "replace-one"}
            As for `of_pure`.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            For numbers out of range.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print(f"{tn.Cost.of_response(0.75).epsilon(0.0):.6f}")
        1.098612
        >>> print(f"{(tn.Cost.of_response(0.5, 10) * 4).epsilon(1e-3):.4f}")
        8.7728
        """
        k = integer("options", options, minimum=2, maximum=MAX_COUNT)
        p = real_scalar("probability", probability)
        require(1 / k <= p < 1, "probability", probability, "from 1/options to 1, exclusive")
        other = (1 - p) / (k - 1)
        if p <= other:
            return cls()
        loss = math.log(p / other) * (1 + 2.0**-50)
        rest = 1 - p - other
        losses, masses = [loss, -loss], [p, other]
        if k > 2:
            losses, masses = [*losses, 0.0], [*masses, rest]
        return cls.of_losses(losses, masses, adjacency=adjacency)

    @classmethod
    def of_bounded_range(cls, eta: float, *, adjacency: Adjacency | None = None) -> Cost:
        """Return the cost of a release of bounded range, as the exponential mechanism's.

        Parameters
        ----------
        eta : float
            The width of the interval that all losses lie in, at least 0: the epsilon of an
            exponential mechanism.
        adjacency : {None, "add-remove", "replace-one"}
            As for `of_pure`.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            If eta is not a finite number of at least 0.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print(f"{(tn.Cost.of_bounded_range(0.1) * 100).epsilon(1e-6):.4f}")
        2.4191
        """
        leaf = BoundedRange(eta, adjacency=adjacency)
        return cls._of([(leaf, int(leaf.eta > 0))])

    @classmethod
    def of_dp_event(cls, event: Any) -> Cost:
        """Return the cost of an event of dp-accounting.

        Parameters
        ----------
        event : dp_accounting.DpEvent
            Gaussian, Laplace, zCDP, randomised response, nothing; Poisson samples, samples of a
            fixed size, and compositions of these. A noise multiplier is the noise over what one
            record contributes, of which a replaced one, in samples of a fixed size, changes twice
            as much.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError
            For any other event.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Cost.of_dp_event("GaussianDpEvent")
        Traceback (most recent call last):
        ...
        ValueError: event must be one that a Cost knows; got str
        """
        cost: Cost = cost_of_event(event, cls)
        return cost

    @classmethod
    def of_opacus_history(cls, history: Iterable[tuple[float, float, int]]) -> Cost:
        """Return the cost of a training that an accountant of Opacus has recorded.

        Parameters
        ----------
        history : list of (noise_multiplier, sample_rate, steps)
            As in ``accountant.history``, of Poisson samples.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            For numbers out of range.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print(f"{tn.Cost.of_opacus_history([(1.0, 0.01, 1000)]).epsilon(1e-6):.4f}")
        2.1245
        """
        steps = [
            cls.of_leaf(GaussianPair(noise_multiplier)).sampled(rate, "poisson") * count
            for noise_multiplier, rate, count in history
        ]
        return sum(steps, cls())

    # --- sums

    @property
    def adjacency(self) -> str | None:
        """Which data sets are neighbours; None: those that the sensitivities were declared for."""
        return next((leaf.adjacency for leaf in self._leaves if leaf.adjacency), None)

    @property
    def count(self) -> int:
        """How many releases there are."""
        return sum(self._leaves.values())

    @property
    def terms(self) -> Terms:
        """The leaves, each with its count."""
        return tuple(self._leaves.items())

    def __add__(self, other: Cost) -> Cost:
        if not isinstance(other, Cost):
            return NotImplemented
        return Cost._of([*self._leaves.items(), *other._leaves.items()])

    def __mul__(self, count: SupportsIndex) -> Cost:
        times = integer("count", count, minimum=0, maximum=MAX_COUNT)
        return Cost._of([(leaf, n * times) for leaf, n in self._leaves.items()])

    __rmul__ = __mul__

    def sampled(self, rate: float, sampling: Sampling) -> Cost:
        """Return the cost of all this on ONE random sample of the records.

        ``cost.sampled(q, how) * n`` is n samples, each drawn anew. Shuffled batches, one after the
        other, are neither.

        Parameters
        ----------
        rate : float
            The share of the records that takes part, from 0 to 1.
        sampling : {"poisson", "fixed-size"}
            "poisson": each record with that probability, independently of all else; neighbours
            differ by one record that is there or not. "fixed-size": a set of so many records, all
            sets as likely; neighbours differ in the value of one record, so the cost must say
            adjacency="replace-one" (a clipped sum changes by twice the norm), or be of directions
            at any angle.

        Returns
        -------
        Cost
            Of Poisson samples of samples: the product of the rates.

        Raises
        ------
        ValueError
            For a rate outside [0, 1], an unknown way of sampling, other neighbours, a cost that is
            sampled already (but as above).
        TypeError
            If the rate is not a real number.

        Examples
        --------
        >>> import tightnoise as tn
        >>> step = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")
        >>> print(f"{(step * 10_000).epsilon(1e-6):.3f}")
        6.907
        >>> replaced = tn.Gaussian(1.0).cost(sensitivity=2.0, adjacency="replace-one")
        >>> print(f"{(replaced.sampled(0.01, 'fixed-size') * 1000).epsilon(1e-6):.2f}")
        16.96
        """
        share = real_scalar("rate", rate)
        require(0 <= share <= 1, "rate", rate, "from 0 to 1")
        relation = adjacency_of(sampling)
        if share == 0 or not self._leaves:
            return Cost()
        if sampling == "fixed-size" and self.adjacency != "replace-one":
            turned = all(
                isinstance(leaf, DirectionPair) and leaf.half_chord == 1 for leaf in self._leaves
            )
            if not turned or self.adjacency is not None:
                raise ValueError(
                    "adjacency must be 'replace-one' for samples of a fixed size, where a record "
                    "is replaced and a clipped sum changes by twice the norm: make the cost with "
                    f"that sensitivity and adjacency; got {self.adjacency!r}"
                )
        if any(isinstance(leaf, Sampled) for leaf in self._leaves):
            (leaf, count), *others = self._leaves.items()
            poisson = isinstance(leaf, Sampled) and leaf.sampling == sampling == "poisson"
            if others or count > 1 or not poisson or not isinstance(leaf, Sampled):
                raise ValueError(
                    "sampled must not be asked of what is sampled already, but for one Poisson "
                    f"sample of another; got {self!r}"
                )
            product = min(math.nextafter(leaf.rate * share, 1.0), leaf.rate)
            twice = Sampled(leaf.terms, product, "poisson", adjacency=leaf.adjacency)
            return Cost._of([(twice, 1)])
        if share == 1:
            return self  # every record takes part
        keeps = sampling == "poisson" and self.adjacency == "replace-one"
        terms = tuple(
            (leaf if isinstance(leaf, Group) else leaf.with_adjacency(None), n)
            for leaf, n in self._leaves.items()
        )
        adjacency = self.adjacency if keeps else relation
        return Cost._of([(Sampled(terms, share, sampling, adjacency=adjacency), 1)])

    def for_neighbours(self, adjacency: Adjacency | None) -> Cost:
        """Return the same cost for named neighbours, if it names none.

        Parameters
        ----------
        adjacency : {None, "add-remove", "replace-one"}
            The relation that the sensitivities were declared for; None changes nothing.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError
            For an unknown adjacency, or another than the cost names.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Cost.of_pure(1.0).for_neighbours("replace-one").adjacency
        'replace-one'
        """
        relation = common_adjacency(self.adjacency, adjacency_or_none(adjacency))
        return Cost._of((leaf.with_adjacency(relation), n) for leaf, n in self._leaves.items())

    def group(self, count: SupportsIndex) -> Cost:
        """Return the cost for data sets that differ in `count` records.

        Parameters
        ----------
        count : int
            At least 1. Two records added and removed make a replaced one: ``group(2)`` of an
            add-remove cost is a replace-one cost.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            If count is not an integer of at least 1.

        Examples
        --------
        >>> import tightnoise as tn
        >>> one = tn.Gaussian(4.0).cost(sensitivity=1.0, adjacency="add-remove")
        >>> one.group(2) == tn.Gaussian(4.0).cost(sensitivity=2.0, adjacency="replace-one")
        True
        """
        k = integer("count", count, minimum=1, maximum=MAX_COUNT)
        if k == 1:
            return self
        return Cost._of((_group(leaf, k), n) for leaf, n in self._leaves.items())

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
        rates = number_array("false_positive_rate", false_positive_rate)
        good = (rates >= 0) & (rates <= 1)
        require_all(good, "false_positive_rate", rates, "from 0 to 1")
        return number_or_array(false_negative_rate_lower(self.terms, rates))

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
        return sum_upper((leaf.zcdp_rho, n) for leaf, n in self.terms)

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
        curve = rdp_of(self.terms, self.adjacency)
        if curve is None:
            orders = (
                DEFAULT_ORDERS if alphas is None else np.atleast_1d(number_array("alphas", alphas))
            )
            return RdpCurve(orders, np.full(orders.shape, np.inf), adjacency=self.adjacency)
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
        epsilon 1.9931 at delta 1e-05, by profile
        way      epsilon
        profile   1.9931
        pure         inf
        rdp      2.16572
        losses   1.99312
        release                        count      neighbours
        gaussian, noise multiplier 20    100  those declared
        """
        target = real_scalar("delta", delta)
        require(0 <= target <= 1, "delta", delta, "from 0 to 1")
        return explained(self.terms, self.adjacency, target)

    # --- as data

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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cost):
            return NotImplemented
        return self._leaves == other._leaves

    def __hash__(self) -> int:
        return hash(frozenset(self._leaves.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Cost._of, (self.terms,)

    def __repr__(self) -> str:
        return f"Cost({described(self.terms)})"


def _group(leaf: Leaf, count: int) -> Leaf:
    if count == 2 and leaf.adjacency == "add-remove" and not isinstance(leaf, Group):
        larger = leaf.grouped(2)
        pair = Group(leaf, 2) if larger is None else larger
        return pair.with_adjacency("replace-one")
    if isinstance(leaf, Group):
        return leaf.grouped(count)
    return Group(leaf, count, adjacency=leaf.adjacency)


def _each(values: Array, function: Callable[[float], float]) -> Array:
    answers = [function(value) for value in values.ravel().tolist()]
    return np.array(answers, dtype=np.float64).reshape(values.shape)
