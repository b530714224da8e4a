"""Costs of what is said about a release: guarantees, tables, events of other packages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._adjacency import adjacency_or_none
from tightnoise._validate import (
    MAX_COUNT,
    integer,
    not_negative,
    number_array,
    real_scalar,
    require,
    shown,
)
from tightnoise.costs._bounded_range import BoundedRange
from tightnoise.costs._bounds import LossTable, ProfileTable, RdpTable, Zcdp
from tightnoise.costs._dp_events import cost_of_event
from tightnoise.costs._gaussian_pair import GaussianPair, gaussian_of_mu
from tightnoise.costs._guarantee import Guarantee
from tightnoise.costs._leaf_sum import Adjacency, LeafSum
from tightnoise.costs._rdp_curve import RdpCurve

if TYPE_CHECKING:
    from typing_extensions import Self

Array = NDArray[np.float64]


class Constructors(LeafSum):
    """How a cost is made that no mechanism says."""

    __slots__ = ()

    @classmethod
    def of_pure(cls, epsilon: float, *, adjacency: Adjacency | None = None) -> Self:
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
    ) -> Self:
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
    def of_zcdp(cls, rho: float, *, adjacency: Adjacency | None = None) -> Self:
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
    def of_gdp(cls, mu: float, *, adjacency: Adjacency | None = None) -> Self:
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
    ) -> Self:
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
    ) -> Self:
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
    ) -> Self:
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
    ) -> Self:
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
        return cls._of_response(Fraction(p), k, adjacency)

    @classmethod
    def _of_response(cls, truth: Fraction, options: int, adjacency: Adjacency | None) -> Self:
        """Return that of a probability below 1, without a float in between: 1 - truth is small."""
        other = (1 - truth) / (options - 1)
        if truth <= other:
            return cls()
        loss = math.log1p((truth - other) / other) * (1 + 2.0**-50)
        losses, masses = [loss, -loss], [float(truth), float(other)]
        if options > 2:
            losses, masses = [*losses, 0.0], [*masses, float(1 - truth - other)]
        return cls.of_losses(losses, masses, adjacency=adjacency)

    @classmethod
    def of_bounded_range(cls, eta: float, *, adjacency: Adjacency | None = None) -> Self:
        """Return the cost of a release of bounded range, as the exponential mechanism's.

        Of many, each of which may be chosen by what was released before, the largest delta of all
        strategies counts, to a few thousandths in epsilon (proof in `_bounded_range`).

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
        2.2520
        """
        leaf = BoundedRange(eta, adjacency=adjacency)
        return cls._of([(leaf, int(leaf.eta > 0))])

    @classmethod
    def of_dp_event(cls, event: object) -> Self:
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
        cost: Self = cost_of_event(event, cls)
        return cost

    @classmethod
    def of_opacus_history(cls, history: Iterable[tuple[float, float, int]]) -> Self:
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
        try:
            rows = [(noise, rate, count) for noise, rate, count in history]
        except (TypeError, ValueError):
            asked = "a list of (noise_multiplier, sample_rate, steps)"
            raise TypeError(f"history must be {asked}; got {shown(history)}") from None
        steps = [
            cls.of_leaf(GaussianPair(noise)).sampled(rate, "poisson") * count
            for noise, rate, count in rows
        ]
        return sum(steps, cls())
