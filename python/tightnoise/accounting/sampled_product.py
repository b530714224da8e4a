"""Directions of several blocks, released from a random sample of the records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._validate import fraction, shown
from tightnoise.costs import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._between import bounds_between
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._guarantees import gaussian_dp
from tightnoise.costs._sampling import is_fixed_size
from tightnoise.costs._subsampling import fixed_size_sampled, poisson_subsampled
from tightnoise.mechanisms import ProductVonMisesFisher

__all__ = ["SampledProductRdp"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SampledProductRdp:
    """The function alpha -> a bound on the Renyi divergence of a sampled product of directions.

    A record is in the sample of all blocks or of none, so it is the pair of products that is
    sampled, not each block. Two bounds are known, and the smaller one is taken at each order:

    - That for any mechanism with the curve of the product. For Poisson samples it is exact at
      integer orders, as turning every block by pi swaps the two outputs; between, it is a chord.
    - Gaussian noise of the same mu is no harder to tell apart, sampled or not, and its cost is
      known at every real order. In many dimensions it is close.

    Parameters
    ----------
    mechanism : ProductVonMisesFisher
        What is released; a record can turn every block by any angle.
    sampling_rate : float
        The share of the records that takes part, greater than 0 and at most 1.
    sampling : {"poisson", "fixed-size"}
        How they are drawn, as for `RdpAccountant.compose`.

    Raises
    ------
    ValueError, TypeError
        For another mechanism, a rate out of range, an unknown way of sampling.

    Examples
    --------
    >>> import tightnoise as tn
    >>> from tightnoise.accounting import SampledProductRdp
    >>> m = tn.ProductVonMisesFisher([70.0, 4.1], [12800, 750])
    >>> SampledProductRdp(m, 0.01)([9.5, 16.0, 64.0]).round(4)
    array([ 2.5387,  7.8753, 39.1075])
    """

    mechanism: ProductVonMisesFisher
    sampling_rate: float
    sampling: str = "poisson"
    _table: RdpCurve = field(init=False, repr=False, compare=False)
    _covering: RdpFunction = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, ProductVonMisesFisher):
            given = shown(self.mechanism)
            raise TypeError(f"mechanism must be a ProductVonMisesFisher; got {given}")
        rate = fraction("sampling_rate", self.sampling_rate)
        sampled = fixed_size_sampled if is_fixed_size(self.sampling) else poisson_subsampled
        orders = np.append(DEFAULT_ORDERS, np.inf)
        curve = RdpCurve.of_terms(self.mechanism.rdp().terms, alphas=orders)
        covering = gaussian_dp(self.mechanism.gdp_mu(), rate, sampling=self.sampling)
        object.__setattr__(self, "sampling_rate", rate)
        object.__setattr__(self, "_table", sampled(curve, rate))
        object.__setattr__(self, "_covering", covering.terms[0][0])

    def __call__(self, orders: Any) -> Array:
        """Return the bounds at `orders`, greater than 1, rounded upwards."""
        alphas = np.asarray(orders, dtype=np.float64)
        general = bounds_between(self._table.alphas, self._table.values, alphas)
        return np.minimum(general, self._covering(alphas))

    @property
    def max_divergence(self) -> float:
        """The bound at infinite order."""
        return float(self._table.values[-1])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.mechanism, self.sampling_rate, self.sampling)
