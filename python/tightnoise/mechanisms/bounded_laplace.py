"""The bounded Laplace mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tightnoise._arrays import Floats
from tightnoise.mechanisms.base import CoordinateMechanism, Parameter

__all__ = ["BoundedLaplace"]


@dataclass(frozen=True, eq=False)
class BoundedLaplace(CoordinateMechanism):
    """Draw from the Laplace distribution about theta conditioned on [lower, upper].

    The density is proportional to exp(-|x - theta|/scale) on the support and 0 elsewhere (Holohan,
    Antonatos, Braghin and Mac Aonghusa 2018, "The Bounded Laplace Mechanism in Differential
    Privacy"). It is not Laplace noise, clipped: its normalising factor depends on theta, so scale =
    sensitivity/epsilon does not make it epsilon-DP. `calibrate.bounded_laplace` returns the larger
    scale that does. Values beyond a bound are released as that bound would be, and cannot be told
    apart. What `cost` says of parameters that are numbers is for ONE number; for a vector give the
    bounds as arrays of its shape, so that the losses of all coordinates add up.

    Parameters
    ----------
    scale : float or array_like
        Scale of the Laplace distribution before conditioning.
    lower, upper : float or array_like
        Bounds of the output, lower < upper. Each parameter is one number or one for each
        coordinate of theta. theta itself may lie outside the bounds.

    Raises
    ------
    ValueError
        If scale is not positive, lower is not less than upper, or one is not finite.
    TypeError
        If a parameter does not hold real numbers.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.BoundedLaplace(scale=1, lower=0, upper=10)
    >>> round(float(m.mean(1.0)), 6), round(float(m.var(1.0)), 6)
    (1.450077, 1.113694)
    >>> round(float(m.renyi_divergence(0.0, 1.0, alpha=float("inf"))), 6)
    1.48985
    >>> float(m.renyi_divergence(-2.0, -1.0, alpha=2)), float(m.fisher_information(-1.0))
    (0.0, 0.0)
    """

    scale: Parameter
    lower: Parameter
    upper: Parameter

    _law_name = "bounded_laplace"
    _sampler = "sample_bounded_laplace"
    _scale_name = "scale"

    def _pair(self, theta: ArrayLike, theta_prime: ArrayLike) -> tuple[Floats, Floats]:
        # What is beyond a bound is as good as at it, and there the step keeps its digits.
        values, shift = super()._pair(theta, theta_prime)
        self._law.require_shape(np.broadcast_shapes(values.shape, shift.shape))
        nearest, prime = (
            np.asarray(np.clip(np.asarray(value, dtype=np.float64), self.lower, self.upper))
            for value in (values, theta_prime)
        )
        return nearest, np.asarray(prime - nearest)
