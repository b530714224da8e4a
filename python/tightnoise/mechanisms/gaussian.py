"""The Gaussian mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tightnoise import special
from tightnoise.mechanisms._panels import Array, Tails, around, up_to
from tightnoise.mechanisms.base import CoordinateMechanism, Parameter
from tightnoise.mechanisms.rounded import RoundedNoise

__all__ = ["Gaussian"]


@dataclass(frozen=True, eq=False)
class Gaussian(CoordinateMechanism):
    """Add Gaussian noise: N(theta, sigma^2), what the bounded mechanisms are measured against.

    Parameters
    ----------
    sigma : float or array_like
        Standard deviation of the noise, one number or one for each coordinate.

    Raises
    ------
    ValueError
        If sigma is not positive and finite.
    TypeError
        If sigma does not hold real numbers.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.Gaussian(sigma=0.5)
    >>> float(m.renyi_divergence(0.0, 1.0, alpha=2))
    4.0
    >>> m.cost_at([0.3, -0.2], coordinate_sensitivity=1.0).rdp([2, 4]).values.round(6).tolist()
    [8.0, 16.0]
    >>> print(f"{m.cost(sensitivity=0.5).delta(1.0):.6f}")
    0.126937
    """

    sigma: Parameter

    tails: ClassVar[Tails] = "gaussian"

    _is_unimodal = True
    _repeats = None
    _sampler = "sample_gaussian"
    _law_name = "gaussian"
    _noise_is_added = True

    def mean_abs(self) -> Any:
        """Return the mean of abs(noise), the l1 loss: sigma sqrt(2/pi).

        Returns
        -------
        float or ndarray of float64
            Of the shape of sigma.

        Examples
        --------
        >>> import tightnoise as tn
        >>> round(tn.Gaussian(sigma=2.0).mean_abs(), 6)
        1.595769
        """
        return self.sigma * math.sqrt(2.0 / math.pi)

    def rounded(self, grid: float = 1.0) -> RoundedNoise:
        """Return the law of the noise on a grid, as `AdditiveNoise.rounded`, for one sigma.

        ValueError also for an array of sigmas.

        Examples
        --------
        >>> import tightnoise as tn
        >>> round(tn.Gaussian(2.0).rounded().var(), 6)  # 4 + 1/12
        4.083333
        """
        return RoundedNoise(self, grid)

    @property
    def _least_scale(self) -> float:
        return self._one_sigma

    def _panels(self, end: float, least: float = 0.0) -> Array:
        return up_to(around(0.0, self._one_sigma), end)

    def _mass(self, lower: Array, upper: Array) -> Array:
        """Return the probability of noise between two ends, exact in tails, too."""
        sigma = self._one_sigma
        return np.asarray(np.exp(special.log_ndtr_diff(lower / sigma, upper / sigma)))

    @property
    def _one_sigma(self) -> float:
        if np.ndim(self.sigma):
            raise ValueError("sigma must be one number here; got an array")
        return float(self.sigma)
