"""The stochastic sign."""

from __future__ import annotations

from dataclasses import dataclass

from tightnoise.mechanisms.base import CoordinateMechanism, Parameter

__all__ = ["StochasticSign"]


@dataclass(frozen=True, eq=False)
class StochasticSign(CoordinateMechanism):
    """Release one bit: the sign of N(theta, sigma^2), -1 or +1.

    `pdf` is the probability of the sign x, 0 for any other x. Formulas: "Privacy Amplification for
    the Gaussian Mechanism via Bounded Support", section 3 and Appendix F.

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
    >>> m = tn.StochasticSign(sigma=0.5)
    >>> round(float(m.pdf(1, theta=0.5)), 6)
    0.841345
    >>> m.cost_at([2.0], coordinate_sensitivity=1.0).rdp([2]).values.round(5)
    array([2.85053])
    """

    sigma: Parameter

    _sampler = "sample_stochastic_sign"
    _law_name = "sign"
    _has_grid = False
