"""The stochastic sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tightnoise import _core
from tightnoise._arrays import Floats
from tightnoise._core.random import NoiseSource
from tightnoise.mechanisms._drawing import Grid
from tightnoise.mechanisms.analytic_bound import Kind
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
    >>> round(float(m.rdp([2.0], [2], sensitivity=1.0).values[0]), 5)
    2.85053
    """

    sigma: Parameter

    _functions: ClassVar[Any] = _core.sign
    _law_name: ClassVar[str] = "sign"
    _analytic_kind: ClassVar[Kind | None] = "sign"
    _has_grid: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._freeze_parameter("sigma", positive=True)

    def _draw(self, theta: Floats, out: Any, source: NoiseSource, *grid: Grid) -> None:
        sigma, *_ = self._operands(theta.shape)
        _core.random.sample_stochastic_sign(theta, sigma, out, source, *grid)
