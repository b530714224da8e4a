"""The rectified Gaussian mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from tightnoise._arrays import Floats
from tightnoise._cached import cached_property
from tightnoise.mechanisms._coordinate_law import first_of
from tightnoise.mechanisms._drawing import float32_above
from tightnoise.mechanisms.base import CoordinateMechanism, Parameter

__all__ = ["RectifiedGaussian"]


@dataclass(frozen=True, eq=False)
class RectifiedGaussian(CoordinateMechanism):
    """Add Gaussian noise and clip: clip(N(theta, sigma^2), lower, upper).

    The output has an atom at each bound and the Gaussian density between. Seen through the clip,
    two values that lie close to a bound or beyond it can hardly be told apart. Formulas:
    "Privacy Amplification for the Gaussian Mechanism via Bounded Support", section 3, with the
    errata noted in cpp/mechanisms/rectified.hpp.

    Parameters
    ----------
    sigma : float or array_like
        Standard deviation of the noise before clipping.
    lower, upper : float or array_like
        Bounds of the output, lower < upper. Each parameter is one number or one for each
        coordinate of theta. theta itself may lie outside the bounds. Float32 samples are clipped to
        the float32 numbers next to the bounds on their inner side, which costs no more; there must
        be two.

    Raises
    ------
    ValueError
        If sigma is not positive, lower is not less than upper, or one is not finite.
    TypeError
        If a parameter does not hold real numbers.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.RectifiedGaussian(sigma=0.5, lower=-1, upper=1)
    >>> round(float(m.renyi_divergence(0.5, -0.5, alpha=2)), 5)
    3.30722
    >>> round(float(m.hockey_stick(0.5, -0.5, epsilon=1.0)), 6)
    0.509862
    >>> m.cost_at([0.5, 0.0], coordinate_sensitivity=1.0).rdp([2]).values.round(5)
    array([7.732])
    >>> round(m.fil([0.5, 0.0]), 5)
    1.99479
    """

    sigma: Parameter
    lower: Parameter
    upper: Parameter

    _law_name = "rectified"
    _sampler = "sample_rectified_gaussian"

    @cached_property
    def _float32_bounds(self) -> tuple[Floats, Floats]:  # type: ignore[override]
        return float32_above(self._law.lower), -float32_above(-self._law.upper)

    def _check_float32(self) -> None:
        super()._check_float32()
        lower, upper = self._float32_bounds
        apart = lower < upper
        if not apart.all():
            low, high = first_of(~apart, self._law.lower, self._law.upper)
            raise ValueError(
                "lower and upper must have two float32 numbers between them for float32 theta; "
                f"got lower {low} and upper {high}"
            )
