"""Renyi-DP curves: what releases cost at each order, and what that proves."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._validate import (
    not_negative,
    number_array,
    real_scalar,
    require,
    require_all,
    shown,
)
from tightnoise._warn import warn_caller
from tightnoise.costs._best import AtAnyOrder, AtSomeOrders, Best
from tightnoise.costs._conversions import conversion_named
from tightnoise.costs._functions import (
    RdpFunction,
    Term,
    WeightedSum,
    require_growth,
    without_lone_zeros,
)

Array = NDArray[np.float64]


def _default_orders() -> Array:
    orders = np.concatenate(
        [
            1.0 + np.geomspace(1e-3, 1.0, 33)[:-1],
            np.arange(2.0, 4.0, 0.25),
            np.arange(4.0, 12.0, 0.5),
            np.arange(12.0, 65.0),
            np.geomspace(64.0, 1e6, 61)[1:],
        ]
    )
    orders.flags.writeable = False
    return orders


DEFAULT_ORDERS: Array = _default_orders()
"""169 orders from 1.001 to 1e6, read-only.

1 + 10^(-3 ... 0) for large costs, quarters to 4, halves to 12, integers to 64, then a factor 1.175
a step: bounded mechanisms keep a finite cost at any order, and their best order is often in the
thousands. The epsilon of a Gaussian, if above 0.01 and for delta up to 1e-3, is within 0.6 % of
that of the best real order.
"""


class RdpCurve:
    """A bound on the Renyi divergence between neighbours, at each order: a view of a cost.

    Either a table of bounds at some orders, of which `epsilon` and `delta` try all, or
    (`of_function`) a function of any real order, of which they find the best. Immutable. It answers
    and is drawn; what is added up and repeated is a `Cost` (`Cost.of_rdp` makes one of a curve).

    Parameters
    ----------
    alphas : array_like, shape (n,)
        Orders, strictly increasing, greater than 0; the last may be infinity. Orders up to 1 (1 is
        the Kullback-Leibler divergence) are kept for reading; only orders above 1 give an epsilon.
    values : array_like, shape (n,)
        The bounds, at least 0, infinity where there is none. Negative numbers and NaN are refused,
        since either would make the release look free; so are bounds for which (alpha - 1) times the
        bound decreases by more than rounding from alpha = 1 on, as it does for no divergence. A 0
        at an order above 1 and before a cost must have underflowed: it becomes that cost.

    Raises
    ------
    ValueError
        For empty, unordered or mismatched arrays, values outside their domain.
    TypeError
        For anything but real numbers.

    Examples
    --------
    A hundred Gaussian releases at noise four times the sensitivity (Mironov 2017):

    >>> import tightnoise.costs as costs
    >>> alphas = costs.DEFAULT_ORDERS
    >>> curve = costs.RdpCurve(alphas, 100 * alphas / (2 * 4.0**2))
    >>> round(curve.epsilon(1e-5), 4)
    14.1425
    """

    __slots__ = ("_alphas", "_known", "_values")

    _alphas: Array
    _known: AtSomeOrders | AtAnyOrder
    _values: Array | None  # None: not computed yet

    def __init__(self, alphas: ArrayLike, values: ArrayLike) -> None:
        orders = _orders(alphas)
        bounds = number_array("values", values).copy()
        if orders.shape != bounds.shape:
            raise ValueError(
                "alphas and values must be of one shape; "
                f"got shapes {orders.shape} and {bounds.shape}"
            )
        require_all(bounds >= 0, "values", bounds, "at least 0 (infinity is allowed)")
        require_growth("values", orders, bounds)
        if not bounds.all():
            above = orders > 1
            bounds[above] = without_lone_zeros(bounds[above])
        self._fill(orders, bounds, AtSomeOrders(orders, bounds))

    @classmethod
    def of_function(cls, function: RdpFunction, *, alphas: ArrayLike = DEFAULT_ORDERS) -> RdpCurve:
        """Return a curve that is known at every real order above 1.

        Parameters
        ----------
        function : callable
            Takes a read-only float64 array of finite orders greater than 1, of shape (n,), and
            returns bounds on the divergence at them, shape (n,). It must give the same answer each
            time. A sum counts equal functions instead of keeping them all, so a frozen dataclass
            with a `__call__` is best; a module-level function or such a class can be pickled. If
            its class has a classmethod `weighted_sum(functions, counts, orders)`, that is called
            once for all the functions of the class in a sum; it must round upwards. An attribute
            `max_divergence` is the bound at infinite order; without it there is none.
        alphas : array_like, shape (n,)
            The orders that `alphas` and `values` show; the best order is searched elsewhere too.

        Returns
        -------
        RdpCurve
            Known as continuous by `is_continuous`. What the function returns is checked each time:
            a NaN, a negative bound or a wrong shape raises ValueError with the function's name.

        Raises
        ------
        ValueError
            For orders outside their domain.
        TypeError
            If `function` cannot be called.

        Examples
        --------
        The zero-concentrated cost 0.02 alpha, at its best real order:

        >>> import tightnoise.costs as costs
        >>> curve = costs.RdpCurve.of_function(lambda alpha: 0.02 * alpha)
        >>> round(curve.epsilon(1e-6), 6)
        0.899935
        >>> round(curve.best_order(1e-6), 3)
        24.059
        """
        return cls.of_terms(((function, 1),), alphas=alphas)

    @classmethod
    def of_terms(cls, terms: Iterable[Term], *, alphas: ArrayLike = DEFAULT_ORDERS) -> RdpCurve:
        """Return the sum of functions, each so many times: the curve that has these `terms`.

        Parameters
        ----------
        terms : iterable of (callable, int)
            Functions as for `of_function`, and counts of at least 0. Equal functions are merged.
        alphas : array_like, shape (n,)
            As for `of_function`.

        Returns
        -------
        RdpCurve

        Raises
        ------
        ValueError
            For a count outside its domain, or one that is above 2**53 in all; as `of_function`.
        TypeError
            If a function cannot be called or a count is no integer.

        Examples
        --------
        >>> import tightnoise.costs as costs
        >>> curve = costs.RdpCurve.of_terms([(costs.ZcdpRdp(0.02), 3), (costs.ZcdpRdp(0.1), 1)])
        >>> costs.RdpCurve.of_terms(curve.terms).epsilon(1e-6) == curve.epsilon(1e-6)
        True
        """
        curve = cls.__new__(cls)
        orders = alphas if alphas is DEFAULT_ORDERS else _orders(alphas)
        curve._fill(orders, None, AtAnyOrder(WeightedSum(terms)))
        return curve

    def _fill(self, alphas: Array, values: Array | None, known: AtSomeOrders | AtAnyOrder) -> None:
        if values is not None:
            values.flags.writeable = False
        for name, field in {"_alphas": alphas, "_values": values, "_known": known}.items():
            object.__setattr__(self, name, field)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an RdpCurve cannot be changed; got a new {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"an RdpCurve cannot be changed; {name} stays")

    @property
    def alphas(self) -> Array:
        """The orders of the table, or those at which `values` shows a function; read-only."""
        return self._alphas

    @property
    def values(self) -> Array:
        """The bounds at `alphas`, read-only; those of a function are computed when first read."""
        if self._values is None:
            values = self._known.at(self._alphas)
            values.flags.writeable = False
            object.__setattr__(self, "_values", values)
            return values
        return self._values

    @property
    def is_continuous(self) -> bool:
        """Whether the curve is known at every real order above 1."""
        return isinstance(self._known, AtAnyOrder)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The functions whose sum a continuous curve is, each with its count; () for a table."""
        return self._known.terms

    def __repr__(self) -> str:
        if not self.is_continuous:
            what = f"{self.alphas.size} orders from {self.alphas[0]:g} to {self.alphas[-1]:g}"
        else:
            named = [
                shown(function) if count == 1 else f"{count} * {shown(function)}"
                for function, count in self.terms[:3]
            ]
            more = [f"{len(self.terms) - 3} more"] if len(self.terms) > 3 else []
            what = f"any order, {' + '.join(named + more) or 'nothing'}"
        return f"RdpCurve({what})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and unpickled curves pass the same checks and are as read-only as this one.
        if self.is_continuous:
            return partial(RdpCurve.of_terms, alphas=self.alphas), (self.terms,)
        return RdpCurve, (self.alphas, self.values)

    def at(self, alphas: ArrayLike) -> RdpCurve:
        """Return the table of this curve's bounds at any orders.

        Parameters
        ----------
        alphas : array_like, shape (n,)
            Orders, strictly increasing, greater than 0; the last may be infinity.

        Returns
        -------
        RdpCurve
            A table. A function is evaluated (infinite order: its `max_divergence`, or no bound;
            orders up to 1: its bound close to 1, which holds below too). A table is read between
            its orders, rounded upwards: D does not decrease with the order, and (alpha - 1) D is
            convex and 0 at alpha = 1 (van Erven and Harremoes 2014, Theorem 3 and Corollary 2), so
            it is below its chords. The chord of D itself can be below D. Below the first order, the
            first bound holds; beyond the last there is none, unless that is infinite.

        Raises
        ------
        ValueError
            For orders that are empty, unordered or outside their domain.
        TypeError
            For anything but real numbers.

        Examples
        --------
        >>> import tightnoise.costs as costs
        >>> table = costs.RdpCurve([2.0, 3.0, 4.0], [0.2, 0.3, 0.4])
        >>> table.at([1.5, 2.5, 4.0, 5.0]).values.round(4)
        array([0.2   , 0.2667, 0.4   ,    inf])
        """
        orders = _orders(alphas)
        values = self._known.at(orders)
        if not self.is_continuous:
            return RdpCurve(orders, values)
        table = RdpCurve.__new__(RdpCurve)  # all that is checked there was checked now
        table._fill(orders, values, AtSomeOrders(orders, values))
        return table

    def epsilon(self, delta: float, conversion: str = "optimal") -> float:
        """Return the smallest epsilon that any order above 1 proves at `delta`.

        That is any order of a table, and any real alpha with alpha - 1 from 1e-9 to 1e9 of a
        function: the epsilon of the best order to 1e-10 of itself, if its bounds are those of a
        divergence (with (alpha - 1) times the bound convex), or else perhaps of one nearly as good.

        Parameters
        ----------
        delta : float
            The probability that is given up, between 0 and 1, exclusive.
        conversion : str
            As in `rdp_to_epsilon`.

        Returns
        -------
        float
            Never negative, rounded upwards; infinity where no order has a finite cost.

        Raises
        ------
        ValueError
            For a delta outside (0, 1), an unknown conversion, a table without an order above 1; for
            a function that returns what is no cost.

        Warns
        -----
        UserWarning
            If the best order is the first or the last that was tried, and orders beyond it could
            prove an epsilon smaller by more than 0.1 %. The answer is valid all the same.

        Examples
        --------
        >>> import tightnoise.costs as costs
        >>> curve = costs.RdpCurve(costs.DEFAULT_ORDERS, costs.DEFAULT_ORDERS * 0.02)
        >>> round(curve.epsilon(1e-6), 4)
        0.8999
        """
        return _said(self.best("epsilon", delta, conversion)).bound

    def best_order(self, delta: float, conversion: str = "optimal") -> float:
        """Return the order that proves `epsilon(delta, conversion)`; same errors and warning.

        Parameters
        ----------
        delta : float
            The probability that is given up, between 0 and 1, exclusive.
        conversion : str
            As in `rdp_to_epsilon`.

        Returns
        -------
        float
            Of a table, one of its `alphas`: the smallest, if several do equally well.

        Examples
        --------
        >>> import tightnoise.costs as costs
        >>> curve = costs.RdpCurve(costs.DEFAULT_ORDERS, costs.DEFAULT_ORDERS * 0.02)
        >>> curve.best_order(1e-6)
        24.0
        """
        return _said(self.best("epsilon", delta, conversion)).order

    def delta(self, epsilon: float, conversion: str = "optimal") -> float:
        """Return the smallest delta that any order above 1 proves at `epsilon`.

        Parameters
        ----------
        epsilon : float
            The privacy loss that is tolerated, at least 0.
        conversion : str
            As in `rdp_to_delta`.

        Returns
        -------
        float
            In [0, 1], rounded upwards.

        Raises
        ------
        ValueError
            For a negative epsilon, an unknown conversion, a table without an order above 1; for a
            function that returns what is no cost.

        Warns
        -----
        UserWarning
            If orders beyond the first or last could prove this delta at an epsilon smaller by more
            than 0.1 %. The answer is valid all the same.

        Examples
        --------
        >>> import tightnoise.costs as costs
        >>> curve = costs.RdpCurve(costs.DEFAULT_ORDERS, costs.DEFAULT_ORDERS * 0.02)
        >>> f"{curve.delta(0.9):.2e}"
        '9.99e-07'
        """
        return _said(self.best("delta", epsilon, conversion)).bound

    def best(self, question: str, at: float, conversion: str = "optimal") -> Best:
        bound = conversion_named(conversion)
        if question == "delta":
            return self._known.best(question, bound, not_negative("epsilon", at))
        failure = real_scalar("delta", at)
        require(0 < failure < 1, "delta", at, "between 0 and 1, exclusive")
        return self._known.best(question, bound, failure)


def _said(best: Best) -> Best:
    if best.doubt is not None:
        warn_caller(best.doubt)
    return best


def _orders(alphas: ArrayLike) -> Array:
    """Return a read-only copy of the orders of a table."""
    orders = number_array("alphas", alphas).copy()
    if orders.ndim != 1 or orders.size == 0:
        raise ValueError(f"alphas must be one-dimensional, not empty; got shape {orders.shape}")
    if orders.size > 1 or not orders[0] > 0:
        require_all(orders > 0, "alphas", orders, "greater than 0")
        require(bool((orders[1:] > orders[:-1]).all()), "alphas", orders, "strictly increasing")
    orders.flags.writeable = False
    return orders
