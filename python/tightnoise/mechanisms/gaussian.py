"""The Gaussian mechanism."""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise import _core, special
from tightnoise._arrays import Floats
from tightnoise._core.random import NoiseSource
from tightnoise._validate import number_array, require
from tightnoise.costs import RdpCurve, ZcdpRdp
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW
from tightnoise.mechanisms import _sketched
from tightnoise.mechanisms._drawing import Grid
from tightnoise.mechanisms._panels import Tails, around, up_to
from tightnoise.mechanisms.base import CoordinateMechanism, Parameter
from tightnoise.mechanisms.rounded import RoundedNoise
from tightnoise.sketch import Sketch

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
    >>> m.rdp([0.3, -0.2], [2, 4], sensitivity=1.0).values.round(6).tolist()
    [8.0, 16.0]
    >>> round(m.cost(sensitivity=0.5).delta(1.0), 6)
    0.126937
    """

    sigma: Parameter

    tails: ClassVar[Tails] = "gaussian"

    _is_unimodal: ClassVar[bool] = True
    _repeats: ClassVar[None] = None
    _functions: ClassVar[Any] = _core.gaussian
    _law_name: ClassVar[str] = "gaussian"
    _reach: ClassVar[float] = math.inf  # a closed form
    _noise_is_added: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._freeze_parameter("sigma", positive=True)

    def _draw(self, theta: Floats, out: Any, source: NoiseSource, *grid: Grid) -> None:
        sigma, *_ = self._operands(theta.shape)
        _core.random.sample_gaussian(theta, sigma, out, source, *grid)

    def pdf(self, x: ArrayLike, theta: ArrayLike = 0.0) -> Any:
        """Return the density of the output at x, `exp(logpdf(x, theta))`."""
        return super().pdf(x, theta)

    def logpdf(self, x: ArrayLike, theta: ArrayLike = 0.0) -> Any:
        """Return the log density of the output at x."""
        return super().logpdf(x, theta)

    def cdf(self, x: ArrayLike, theta: ArrayLike = 0.0) -> Any:
        """Return the probability of an output of at most x."""
        return super().cdf(x, theta)

    def ppf(self, q: ArrayLike, theta: ArrayLike = 0.0) -> Any:
        """Return the smallest x with `cdf(x, theta) >= q`, the quantile function."""
        return super().ppf(q, theta)

    def mean(self, theta: ArrayLike = 0.0) -> Any:
        """Return the mean of the output, theta."""
        return super().mean(theta)

    def var(self, theta: ArrayLike = 0.0) -> Any:
        """Return the variance of the output, sigma^2: the l2 loss."""
        return super().var(theta)

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

    def _panels(self, end: float, least: float = 0.0) -> NDArray[np.float64]:
        return up_to(around(0.0, self._one_sigma), end)

    def _mass(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of noise between two ends, exact in tails, too."""
        sigma = self._one_sigma
        return np.asarray(np.exp(special.log_ndtr_diff(lower / sigma, upper / sigma)))

    @property
    def _one_sigma(self) -> float:
        if np.ndim(self.sigma):
            raise ValueError(
                "sigma must be one number here; got an array: pass the release's own cost, "
                "rdp(theta, sensitivity=...)"
            )
        return float(self.sigma)

    def _cost_function(self, theta: ArrayLike | Sketch, sensitivity: ArrayLike) -> RdpFunction:
        terms = self.rdp(theta, sensitivity=sensitivity).terms
        return terms[0][0] if terms else ZcdpRdp(0.0)

    def rdp(
        self,
        theta: ArrayLike | Sketch,
        alphas: ArrayLike | None = None,
        *,
        sensitivity: ArrayLike,
    ) -> RdpCurve:
        """Return what releasing `sample(theta)` costs: alpha/2 times the sum of (c_j/sigma_j)^2.

        The same for every theta, so not per-instance: it holds for all neighbours and may be
        published. Arguments and errors are those of `Mechanism.rdp`; theta counts by its shape.
        """
        if isinstance(theta, Sketch):
            require(theta.count > 0, "theta", theta, "not empty")
            if np.size(self.sigma) == 1 and np.size(sensitivity) == 1:
                same = np.broadcast_to(
                    0.0, np.broadcast_shapes(np.shape(self.sigma), np.shape(sensitivity))
                )
                return self.rdp(same, alphas, sensitivity=sensitivity) * theta.count
            arrays = _sketched.exact_sources(self, theta, sensitivity)
            curves = [self.rdp(array, alphas, sensitivity=sensitivity) for array in arrays]
            return functools.reduce(operator.add, curves)
        values = self._theta_to_account(theta)
        bound = self._sensitivity(sensitivity, values)
        steps = np.asarray(bound / self.sigma, dtype=np.float64)
        repeats = values.size / steps.size  # broadcasting repeats every element as often
        total = float(np.sum(steps * steps)) * repeats * (0.5 * (1.0 + COST_MARGIN))
        total += values.size * COST_UNDERFLOW if np.any(bound) else 0.0
        if alphas is None:
            return RdpCurve.of_function(ZcdpRdp(total))
        orders = np.atleast_1d(number_array("alphas", alphas))
        costs = orders * total if total > 0 else np.zeros(orders.shape)
        return RdpCurve(orders, costs)
