"""A budget for each record of a training, spent by what the record itself contributes."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._ledger import ledger_lock
from tightnoise._spending import Sums
from tightnoise._validate import MAX_COUNT, float_array, integer, positive, require, require_all
from tightnoise.costs import Cost
from tightnoise.costs._functions import add_upper

_ROUNDING = 1e-15  # relative: above that of a quotient, its square and a half
_TINY = float(np.finfo(np.float64).tiny)


class IndividualFilter(Sums):
    """Drop each record of a training when what it has contributed would pass the budget.

    In every round the sum of the admitted records' vectors is released with Gaussian noise. A
    record whose vector has norm g then spends g^2 / (2 sigma^2), whatever the others are: those
    with small gradients stay longer than the clip alone would let them. All outputs together are
    rho-zCDP for neighbours by adding or removing one record, which is `cost`.

    The proof needs all of this, and the class can see little of it:

    - the number of rounds is fixed beforehand, or depends on outputs alone. A loop that ends when
      all records are spent is not private at any budget: with one record it ends later than with
      none. A round in which nobody is admitted releases its noise, too;
    - the mask, `spent`, n and saved states are secret: only the noisy sums are released. The sum is
      divided by a public number, never by that of the admitted;
    - a record's vector and norm depend on that record and earlier outputs alone: per-example
      gradients, no batch norm, no clip chosen from the data. sigma may depend on outputs;
    - the noise is Gaussian, or rectified, truncated, quantised or the sign of it with this sigma.
      Costs at one theta (`cost_at`) are not for filters: they depend on the other records.

    Where one record is replaced, the cost is at most 4 rho. Threads may share a filter. A copy, a
    forked child's too, has the same budget once more: only one of them may go on.

    Parameters
    ----------
    budget_rho : float
        What each record may spend in all, as zCDP; greater than 0.
    n : int
        The number of records, at least 0.

    Raises
    ------
    ValueError, TypeError
        For values outside their domain.

    Notes
    -----
    Feldman and Zrnic 2021, "Individual Privacy Accounting via a Renyi Filter". Fix the outputs so
    far. Each other record is admitted by its own vectors and these outputs, so with or without
    record i alike: the two sums differ by record i's vector or not at all, and the next output has
    Renyi divergences of at most alpha rho_t in both directions, at whatever sum. rho_t is known
    before the output, and their sum is at most the budget on every path, so exp((alpha - 1) (loss -
    alpha sum of rho_t)) is a supermartingale for every order alpha.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> rows = np.array([[3.0, 4.0], [0.3, 0.4]])
    >>> records = tn.IndividualFilter(budget_rho=0.3, n=2)
    >>> noise = tn.Gaussian(10.0)
    >>> for _ in range(3):  # fixed beforehand
    ...     kept = records.admit(np.linalg.norm(rows, axis=1), sigma=10.0)
    ...     released = noise.sample(rows[kept].sum(axis=0))
    >>> kept.tolist(), records.spent.round(6).tolist()
    ([False, True], [0.25, 0.00375])
    >>> round(records.cost.zcdp_rho, 6)
    0.3
    """

    def __init__(self, budget_rho: float, n: SupportsIndex) -> None:
        self._rho = positive("budget_rho", budget_rho)
        self._n = integer("n", n, minimum=0, maximum=MAX_COUNT)
        super().__init__(np.broadcast_to(self._rho, self._n), "add-remove")

    def _rule(self) -> dict[str, Any]:
        return {"budget_rho": self._rho, "n": self._n}

    def admit(self, norms: ArrayLike, sigma: float) -> NDArray[np.bool_]:
        """Spend one round, before its noise is drawn, and return who takes part in it.

        Parameters
        ----------
        norms : array_like, shape (n,)
            The Euclidean norm of what every record would add to the sum, after its clip; the last
            round's dropped records, too. Rounding is the caller's: to be strict, round it up.
        sigma : float
            Standard deviation of the noise on the sum, in the same units.

        Returns
        -------
        ndarray of bool, shape (n,)
            True where the record's vector goes into the sum. Secret.

        Raises
        ------
        ValueError
            For norms that are negative, not finite or not n, sigma not above 0; nothing is spent.
        TypeError
            If an argument does not hold real numbers.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.IndividualFilter(budget_rho=0.5, n=2).admit([2.0, 0.5], sigma=1.0).tolist()
        [False, True]
        """
        lengths = float_array("norms", norms)
        require(lengths.shape == (self._n,), "norms", lengths.shape, f"of shape ({self._n},)")
        require_all(lengths >= 0, "norms", lengths, "at least 0")
        scale = positive("sigma", sigma)
        with np.errstate(over="ignore", under="ignore"):
            steps = lengths.astype(np.float64) / scale
            costs = 0.5 * steps * steps * (1 + _ROUNDING)
        costs = np.where(lengths > 0, np.maximum(costs, _TINY), 0.0)  # what underflows is not free
        with ledger_lock:
            spent = add_upper(self._spent, costs)
            admitted: NDArray[np.bool_] = spent <= self._budget
            self._spent = np.where(admitted, spent, self._spent)
        return admitted

    @property
    def cost(self) -> Cost:
        """What all rounds together cost: the budget, whatever is spent. An `Accountant` adds it."""
        return Cost.of_zcdp(self._rho, adjacency="add-remove")

    @property
    def budget_rho(self) -> float:
        """What each record may spend in all, as zCDP."""
        return self._rho

    @property
    def spent(self) -> NDArray[np.float64]:
        """What each record has spent, rounded up; secret, a copy of shape (n,)."""
        return self._spent.copy()

    def __repr__(self) -> str:  # without what is secret
        return f"IndividualFilter(budget_rho={self._rho:g})"
