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
from tightnoise._arrays import Floats, elementwise, number_or_array
from tightnoise._core.random import NoiseSource
from tightnoise._validate import not_negative, number_array, require
from tightnoise.costs import RdpCurve, ZcdpRdp
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW
from tightnoise.mechanisms import _sketched
from tightnoise.mechanisms._certificate import (
    Certificate,
    Tails,
    delta_to_invert,
    epsilon_and_sensitivity,
)
from tightnoise.mechanisms._drawing import Grid
from tightnoise.mechanisms._panels import around, up_to
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
    >>> round(m.delta(1.0, sensitivity=0.5), 6)
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

    def delta(self, epsilon: ArrayLike, sensitivity: ArrayLike) -> Any:
        """Return the smallest delta for which a release of one number is (epsilon, delta)-private.

        Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), mu = sensitivity/sigma (Balle
        and Wang 2018, "Improving the Gaussian Mechanism for Differential Privacy", Theorem 8),
        which increases with mu. Of several numbers that one person changes together: the same, with
        the change's L2 norm as the sensitivity.

        Parameters
        ----------
        epsilon : array_like
            At least 0; at 0, delta is the total variation distance.
        sensitivity : array_like
            The most that one person can change the value by, at least 0.

        Returns
        -------
        float or ndarray of float64
            Elementwise, of the shape the arguments broadcast to: never below the truth, and at most
            1e-9 of it above.

        Raises
        ------
        ValueError
            For a negative, infinite or NaN argument, shapes that do not broadcast, an array of
            sigmas.
        TypeError
            If an argument does not hold real numbers.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Gaussian(2.0).delta([0.0, 1.0], sensitivity=1.0).round(6)
        array([0.197413, 0.00683 ])
        """
        losses, shifts = epsilon_and_sensitivity(epsilon, sensitivity)
        return number_or_array(
            elementwise(
                _core.accounting.gaussian_delta, epsilon=losses, mu=self._in_sigmas_upper(shifts)
            )
        )

    def certificate(self, epsilon: float, sensitivity: float) -> Certificate:
        """Return delta(epsilon, sensitivity), the worst shift, which is the sensitivity, and why.

        Parameters
        ----------
        epsilon, sensitivity : float
            As for `delta`.

        Returns
        -------
        Certificate

        Raises
        ------
        ValueError, TypeError
            As for `delta`.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Gaussian(2.0).certificate(1.0, sensitivity=1.0).proof
        'unimodal'
        """
        loss = not_negative("epsilon", epsilon)
        shift = not_negative("sensitivity", sensitivity)
        return Certificate(float(self.delta(loss, shift)), shift, "unimodal")

    def epsilon_at(self, delta: float, sensitivity: float) -> float:
        """Return the smallest epsilon for which a release of a number is (epsilon, delta)-private.

        Parameters
        ----------
        delta : float
            From 0 to 1.
        sensitivity : float
            As for `delta`.

        Returns
        -------
        float
            The smallest found, at least 0, for which `self.delta` is at most delta; infinite for
            delta = 0.

        Raises
        ------
        ValueError
            For delta outside [0, 1], a negative or infinite sensitivity, NaN, an array of sigmas.
        TypeError
            If an argument is not a real number.

        Examples
        --------
        >>> import tightnoise as tn
        >>> round(tn.Gaussian(2.0).epsilon_at(1e-5, sensitivity=1.0), 6)
        1.993091
        """
        failure = np.asarray(delta_to_invert(delta))
        mu = self._in_sigmas_upper(np.asarray(not_negative("sensitivity", sensitivity)))
        return float(elementwise(_core.accounting.gaussian_epsilon, delta=failure, mu=mu))

    def _in_sigmas_upper(self, shifts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return shifts/sigma, rounded upwards: delta increases with it."""
        sigma = self._one_sigma
        with np.errstate(over="ignore"):
            ratios = shifts / sigma
            return np.asarray(np.where(shifts > 0, np.nextafter(ratios, np.inf), 0.0))

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
