"""What one release costs each record that is in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightnoise._text import Parts, Printed, exact_text, upper_text
from tightnoise._validate import real_scalar, require
from tightnoise.costs.conversions import rdp_to_epsilon

Array = NDArray[np.float64]

_QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.99, 1.0)
_DEAREST = 10


@dataclass(frozen=True, eq=False, repr=False)
class IndividualCost:
    """What releasing one value costs each record in it, of this data: secret, as the data are.

    For record i, bounds on the Renyi divergences, in both directions, between the release and that
    without the record. They hold for one release, or for values that do not depend on outputs; sums
    along a run of values that do are no bound, and no filter may spend them, since they depend on
    the other records. `mechanism.individual_cost_at` makes it; an `InstanceLedger` adds them up.

    Attributes
    ----------
    orders : ndarray of float64, shape (m,)
        Increasing, greater than 1.
    individual : ndarray of float64, shape (n, m)
        The bounds, a row a record.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.RectifiedGaussian(1.0, -1.0, 1.0)
    >>> costs = m.individual_cost_at([0.3, 5.0], [[0.1, 0.0], [0.0, 0.1]], orders=[2.0])
    >>> costs.individual.round(5).tolist()
    [[0.00961], [1e-05]]
    """

    orders: Array
    individual: Array

    def __repr__(self) -> str:  # without what is secret
        records, orders = self.individual.shape
        ends = f"{self.orders[0]:g} to {self.orders[-1]:g}" if orders else "none"
        return f"IndividualCost({records} records, orders {ends})"

    def epsilon(self, delta: float) -> Array:
        """Return the least epsilon that an order proves, for each record.

        Parameters
        ----------
        delta : float
            Greater than 0 and below 1.

        Returns
        -------
        ndarray of float64, shape (n,)

        Raises
        ------
        ValueError, TypeError
            For a delta outside its domain.

        Examples
        --------
        >>> import tightnoise as tn
        >>> costs = tn.Gaussian(10.0).individual_cost_at([3.0], [[1.0], [0.5]])
        >>> costs.epsilon(1e-5).round(4)
        array([0.3876, 0.1809])
        """
        lost = real_scalar("delta", delta)
        require(0 < lost < 1, "delta", delta, "greater than 0 and below 1")
        least = np.full(len(self.individual), np.inf)
        for order, bounds in zip(self.orders, self.individual.T, strict=True):
            np.minimum(least, rdp_to_epsilon(float(order), bounds, lost), out=least)
        return least

    def report(self, delta: float) -> IndividualReport:
        """Return quantiles of epsilon over the records, and the dearest ten; secret as well.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print(tn.Gaussian(10.0).individual_cost_at([3.0], [[1.0], [0.5]]).report(1e-5))
        epsilon of 2 records at delta 1e-05
          least 0.1809, 25 % 0.2326, 50 % 0.2843, 75 % 0.336, 99 % 0.3856, most 0.3877
          dearest: record 0 0.3877, record 1 0.1809
        """
        found = self.epsilon(delta)
        require(found.size > 0, "contributions", found.shape, "not empty")
        dearest = np.argsort(-found, kind="stable")[:_DEAREST]
        finite = np.sort(found)  # infinities have no interpolation
        at = np.array(_QUANTILES) * (found.size - 1)
        low, high = finite[np.floor(at).astype(int)], finite[np.ceil(at).astype(int)]
        share = at % 1
        with np.errstate(invalid="ignore"):
            between = np.where(share > 0, low + share * (high - low), low)
        quantiles = np.where(np.isnan(between), np.inf, between)
        return IndividualReport(float(delta), found.size, quantiles, dearest, found[dearest])


@dataclass(frozen=True, eq=False)
class IndividualReport(Printed):
    """Quantiles of epsilon over records, and the dearest of them; printed, a few lines.

    Attributes
    ----------
    delta : float
    count : int
        The number of records.
    quantiles : ndarray of float64, shape (6,)
        The least epsilon, those of 25, 50, 75 and 99 % of the records, and the greatest.
    dearest, epsilons : ndarray, shape (10,) or fewer
        The places of the dearest records, and their epsilon.

    Examples
    --------
    >>> import tightnoise as tn
    >>> costs = tn.Gaussian(10.0).individual_cost_at([3.0], [[0.5], [1.0]])
    >>> costs.report(1e-5).dearest.tolist()
    [1, 0]
    """

    delta: float
    count: int
    quantiles: Array
    dearest: NDArray[np.intp]
    epsilons: Array

    def _parts(self) -> Parts:
        names = "least", "25 %", "50 %", "75 %", "99 %", "most"
        values = (f"{n} {upper_text(q, 4)}" for n, q in zip(names, self.quantiles, strict=True))
        each = zip(self.dearest, self.epsilons, strict=True)
        records = (f"record {i} {upper_text(e, 4)}" for i, e in each)
        head = f"epsilon of {self.count} records at delta {exact_text(self.delta)}"
        return [head, f"  {', '.join(values)}", f"  dearest: {', '.join(records)}"]
