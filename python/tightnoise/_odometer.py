"""What has been spent so far, also where mechanisms are chosen by what earlier ones said."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tightnoise._spending import Spending, plain
from tightnoise._text import exact_text, upper_text
from tightnoise._validate import below_one, number_array, require, require_all
from tightnoise.costs import Adjacency, rdp_to_epsilon

# Each twice as far from 1 as the one before: the best is near one of them for noise of some 0.1 to
# 200 sensitivities in all.
_ORDERS = (*(1 + 2.0 ** np.arange(-1, 11)).tolist(), math.inf)


class PrivacyOdometer(Spending):
    """What has been spent so far, true at all times at once, whatever is chosen by what was seen.

    With a probability of at least 1 - delta there is no time at which the outputs so far are more
    than exp(`epsilon`) times as likely as for a neighbour. So whoever stops before more than e
    would be read is (e, delta)-DP, for every e. As for a `PrivacyFilter`, everything that is chosen
    by earlier outputs is spent here, before its noise is drawn.

    Parameters
    ----------
    delta : float
        At least 0 and below 1.
    orders : array_like, shape (n,), optional
        Of the Renyi divergences that are added up, increasing, greater than 1, infinity too: the
        more there are, the smaller is each one's share of delta.
    adjacency : {None, "add-remove", "replace-one"}
        As for a `PrivacyFilter`.

    Raises
    ------
    ValueError, TypeError
        For values outside their domain.

    Notes
    -----
    In the notation of `PrivacyFilter`, with expectations under P, L^(a-1) exp(-(a - 1) S) is a
    supermartingale from 1, which ever reaches 1/d with a probability of at most d (Ville 1939): at
    no time is log L above S + log(1/d)/(a - 1), but with that probability. Each of n finite orders
    has d = delta/n; of infinite order S itself is a bound, for nothing. The least of these is read:
    an odometer in the sense of Rogers et al. 2016, by lines that L crosses at no time (Whitehouse,
    Ramdas, Rogers and Wu 2023, "Fully-Adaptive Composition in Differential Privacy").

    Examples
    --------
    >>> import tightnoise as tn
    >>> odometer = tn.PrivacyOdometer(1e-5)
    >>> print(f"{odometer.spend(tn.Gaussian(20.0).cost(sensitivity=1.0), 100).epsilon:.3f}")
    2.875
    """

    def __init__(
        self,
        delta: float,
        *,
        orders: ArrayLike = _ORDERS,
        adjacency: Adjacency | None = None,
    ) -> None:
        self._delta = below_one("delta", delta)
        fixed = np.atleast_1d(number_array("orders", orders)).copy()
        require(fixed.ndim == 1 and fixed.size > 0, "orders", orders, "a list of numbers")
        require_all(fixed > 1, "orders", fixed, "greater than 1")
        require(bool((np.diff(fixed) > 0).all()), "orders", orders, "increasing")
        pure = bool(np.isinf(fixed[-1]))
        require(self._delta > 0 or pure, "orders", orders, "up to infinity where delta is 0")
        super().__init__(fixed, np.full(fixed.shape, np.inf), adjacency)

    def _rule(self) -> dict[str, Any]:
        return {"delta": self._delta, "orders": list(map(plain, self._orders.tolist()))}

    @property
    def epsilon(self) -> float:
        """The epsilon spent so far, rounded up; infinity where none is known."""
        spent, finite = self._spent, np.isfinite(self._orders)
        bounds = spent[~finite]
        share = math.nextafter(self._delta / max(int(finite.sum()), 1), 0.0)
        if share > 0:
            some = rdp_to_epsilon(self._orders[finite], spent[finite], share, "classic")
            bounds = np.append(bounds, some)
        return float(np.min(bounds, initial=np.inf))

    def __repr__(self) -> str:
        spent = upper_text(self.epsilon, 4)
        return f"PrivacyOdometer(delta={exact_text(self._delta)}; epsilon {spent})"
