"""Mixtures of Gaussians that all move with theta: what they cost by zero-concentrated DP."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tightnoise._validate import not_negative, number_array, require
from tightnoise.costs import RdpCurve, ZcdpRdp
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW
from tightnoise.mechanisms._certificate import Tails
from tightnoise.mechanisms.additive import AdditiveNoise

__all__ = ["GaussianComponents"]

_MOST_SIGMAS = 1e150  # squares of larger numbers overflow


class GaussianComponents(AdditiveNoise):
    """Noise of a random Gaussian: which one is drawn does not depend on theta."""

    tails: ClassVar[Tails] = "gaussian"

    def zcdp_rho(self, sensitivity: float) -> float:
        """Return a rho for which a release is rho-zCDP: (sensitivity / sigma)^2 / 2.

        sigma is that of the narrowest component. Every component is a Gaussian mechanism that is
        rho-zCDP or better, and the Renyi divergence between mixtures of the same weights is at most
        the largest between their components (quasi-convexity: van Erven and Harremoes 2014, "Renyi
        Divergence and Kullback-Leibler Divergence", Theorem 13; for one sigma this is Corollary 3.7
        of Liu, Selvi and Wiesemann 2026). The bound is far above the truth where the components are
        narrow beside the sensitivity, 17 times at epsilon = 1 and delta = 1e-5: compose exactly by
        `tightnoise.PrivacyLossDistribution`.

        Parameters
        ----------
        sensitivity : float
            How far one person can move theta, at least 0 and at most 1e150 sigma; in its units.

        Returns
        -------
        float
            Rounded upwards, by less than 1e-9 of it.

        Raises
        ------
        ValueError, TypeError
            If sensitivity is not a finite number in that range.

        Examples
        --------
        >>> import tightnoise as tn
        >>> noise = tn.MultiGaussianMixture(sigma=0.5, epsilon=2.0, sensitivity=1.0, modes=3)
        >>> round(noise.zcdp_rho(1.0), 6)
        2.0
        """
        shift = not_negative("sensitivity", sensitivity)
        with np.errstate(over="ignore"):
            sigmas = float(np.float64(shift) / self._least_scale)
        require(sigmas <= _MOST_SIGMAS, "sensitivity", sensitivity, "at most 1e150 sigma")
        # The margin is far wider than the rounding of a quotient and a square.
        rho = 0.5 * sigmas * sigmas * (1.0 + COST_MARGIN)
        return rho + (COST_UNDERFLOW if shift else 0.0)

    def rdp(self, alphas: ArrayLike | None = None, *, sensitivity: float) -> RdpCurve:
        """Return what a release costs at each order: `zcdp_rho(sensitivity)` times the order.

        Parameters
        ----------
        alphas : array_like, shape (n,), optional
            Orders, increasing, greater than 0; the last may be infinity. Without them, the curve is
            a function of any real order, and its epsilon is that of the best order.
        sensitivity : float
            As for `zcdp_rho`.

        Returns
        -------
        RdpCurve
            The same for every theta; it holds for all neighbours and may be published.

        Raises
        ------
        ValueError, TypeError
            For a sensitivity out of range, orders outside their domain.

        Examples
        --------
        >>> import tightnoise as tn
        >>> noise = tn.GaussianScaleMixture([0.0, 1.0], [0.9, 0.1], [0.5, 2.0])
        >>> noise.rdp([2, 4], sensitivity=1.0).values.round(6)
        array([4., 8.])
        """
        cost = ZcdpRdp(self.zcdp_rho(sensitivity))
        if alphas is None:
            return RdpCurve.of_function(cost)
        orders: Any = np.atleast_1d(number_array("alphas", alphas))
        return RdpCurve(orders, cost(orders))
