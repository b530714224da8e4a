"""The truncated Gaussian mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from tightnoise.mechanisms.base import CoordinateMechanism, Parameter

__all__ = ["TruncatedGaussian"]


@dataclass(frozen=True, eq=False)
class TruncatedGaussian(CoordinateMechanism):
    """Draw from N(theta, sigma^2) conditioned on [lower, upper].

    Also "the bounded Gaussian mechanism". The density is that of the Gaussian on the support,
    scaled up; an exponential family in theta. Formulas: "Privacy Amplification for the Gaussian
    Mechanism via Bounded Support", section 3, and "The Bounded Gaussian Mechanism for Differential
    Privacy", with the errata noted in cpp/mechanisms/truncated.hpp.

    Parameters
    ----------
    sigma : float or array_like
        Standard deviation of the noise before conditioning.
    lower, upper : float or array_like
        Bounds of the output, lower < upper. Each parameter is one number or one for each
        coordinate of theta. theta itself may lie outside the bounds.

    Raises
    ------
    ValueError
        If sigma is not positive, lower is not less than upper, or one is not finite.
    TypeError
        If a parameter does not hold real numbers.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.TruncatedGaussian(sigma=1, lower=-1, upper=1)
    >>> round(float(m.renyi_divergence(0.0, 1.0, alpha=2)), 6)
    0.284
    >>> round(float(m.fisher_information(1e4)), 12)
    1.0002e-08
    >>> m.cost_at([0.5, 0.0], coordinate_sensitivity=1.0).rdp([2]).values.round(5)
    array([0.55831])
    """

    sigma: Parameter
    lower: Parameter
    upper: Parameter

    _law_name = "truncated"
    _sampler = "sample_truncated_gaussian"
