"""The quantised Gaussian mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from tightnoise._validate import integer
from tightnoise.mechanisms.base import CoordinateMechanism, Parameter

__all__ = ["QuantizedGaussian"]

_MAX_LEVELS = 1024  # kMaxLevels of cpp/mechanisms/quantized.hpp


@dataclass(frozen=True, eq=False)
class QuantizedGaussian(CoordinateMechanism):
    """Add Gaussian noise and round to the nearest of `levels` equally spaced values.

    The values ("letters") are lower, ..., upper, both included, levels - 1 steps apart; what falls
    outside goes to the nearer bound. `pdf` is the probability of a letter; x is matched to a letter
    within a thousandth of a step and has probability 0 otherwise. Formulas: "Privacy Amplification
    for the Gaussian Mechanism via Bounded Support", Appendix F.

    Parameters
    ----------
    sigma : float or array_like
        Standard deviation of the noise before rounding.
    lower, upper : float or array_like
        The first and the last letter, lower < upper. Each of these parameters is one number or one
        for each coordinate of theta.
    levels : int
        Number of letters, from 2 to 1024.

    Raises
    ------
    ValueError
        If sigma is not positive, lower is not less than upper, one is not finite, or levels is out
        of its range.
    TypeError
        If a parameter does not hold real numbers, or levels is not an integer.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.QuantizedGaussian(sigma=0.5, lower=-1, upper=1, levels=5)
    >>> m.pdf([-1, -0.5, 0, 0.5, 1], theta=0.25).round(4).tolist()
    [0.0228, 0.1359, 0.3413, 0.3413, 0.1587]
    >>> round(float(m.renyi_divergence(0.25, -0.75, alpha=2)), 6)
    3.219038
    """

    sigma: Parameter
    lower: Parameter
    upper: Parameter
    levels: int

    _sampler = "sample_quantized_gaussian"
    _law_name = "quantized"
    _has_grid = False

    def __post_init__(self) -> None:
        levels = integer("levels", self.levels, minimum=2, maximum=_MAX_LEVELS)
        object.__setattr__(self, "levels", levels)
        super().__post_init__()
