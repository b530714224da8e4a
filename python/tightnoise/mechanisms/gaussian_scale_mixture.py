"""Gaussians of several widths at several places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tightnoise._validate import number_array, require, require_all
from tightnoise.mechanisms._panels import Array, Tails, around, up_to
from tightnoise.mechanisms.additive import AdditiveNoise

__all__ = ["GaussianScaleMixture"]

_MOST_COMPONENTS = 1000
_ROUNDING = 1e-12  # how far a sum of weights that is meant to be 1 may be from it


@dataclass(frozen=True)
class GaussianScaleMixture(AdditiveNoise):
    """Add noise from a symmetric mixture of Gaussians, each with its own place, weight and width.

    The density is

        f(x) = sum_j weights[j] (N(x; locations[j], sigmas[j]^2)
                                 + N(x; -locations[j], sigmas[j]^2)) / 2,

    that is, a location stands for itself and its mirror image, and its weight is that of both
    together; at location 0 both are one Gaussian of the whole weight. Noise that is not symmetric
    cannot be expressed, and need not be: the mean of it and its mirror image has the same losses
    and costs no more.

    For great epsilon narrow peaks on broad bases have far less loss than a
    `MultiGaussianMixture`: `calibrate.gaussian_scale_mixture` searches for them.

    Do not write a `MultiGaussianMixture` of small epsilon as such a list. At a shift by its step
    the ratio of the two densities is exp(epsilon) on a whole stretch, to the last digit: the search
    for where it is more gives up after a second or two, and `cost` and `hockey_stick` count all
    that is left, up to 1/2: never too little, but of no use.

    Parameters
    ----------
    locations : sequence of float
        At least 0, from 1 to 1000 of them; in the units of theta.
    weights : sequence of float
        Greater than 0, as many as locations. Their sum must be 1 within 1e-12; they are divided by
        it, so that rounding does not matter.
    sigmas : sequence of float
        Standard deviations, greater than 0, as many as locations; in the units of theta.

    Attributes
    ----------
    locations, weights, sigmas : tuple of float

    Raises
    ------
    ValueError
        If a parameter is out of range or the lengths differ.
    TypeError
        If a parameter does not hold real numbers.

    Examples
    --------
    A narrow peak with two broad bases:

    >>> import tightnoise as tn
    >>> noise = tn.GaussianScaleMixture([0, 0.43, 0.93], [0.992, 0.007, 0.001], [0.01, 0.33, 0.12])
    >>> round(noise.mean_abs(), 6)
    0.012064
    >>> noise.weights
    (0.992, 0.007, 0.001)
    """

    locations: Sequence[float]
    weights: Sequence[float]
    sigmas: Sequence[float]

    tails: ClassVar[Tails] = "gaussian"
    _sampler = "sample_scale_mixture"
    _law_name = "gaussian-scale-mixture"

    def __post_init__(self) -> None:
        names = ("locations", "weights", "sigmas")
        columns = {name: _column(name, getattr(self, name)) for name in names}
        lengths = {name: column.size for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"locations, weights and sigmas must be as many; got {lengths}")
        require_all(columns["locations"] >= 0, "locations", columns["locations"], "at least 0")
        for name in ("weights", "sigmas"):
            require_all(columns[name] > 0, name, columns[name], "greater than 0")
        columns["locations"] = columns["locations"] + 0.0  # -0.0 becomes 0.0: they are equal
        columns["weights"] = _normalised(columns["weights"])
        for name, column in columns.items():
            object.__setattr__(self, name, tuple(column.tolist()))

    @property
    def _sampled(self) -> tuple[Any, ...]:
        return tuple(map(np.array, self._values()))

    @property
    def _least_scale(self) -> float:
        return min(self.sigmas)

    def _panels(self, end: float, least: float = 0.0) -> Array:
        # Mirror images are about the other side of 0, but wide ones reach across.
        centres = np.append(self.locations, np.negative(self.locations))
        return up_to(around(centres, np.append(self.sigmas, self.sigmas)), end)


def _column(name: str, value: Sequence[float]) -> Any:
    column = number_array(name, value)
    good = column.ndim == 1 and 1 <= column.size <= _MOST_COMPONENTS
    require(good, name, value, f"a sequence of 1 to {_MOST_COMPONENTS} numbers")
    require_all(np.isfinite(column), name, column, "finite")
    return column


def _normalised(weights: Any) -> Any:
    total = math.fsum(weights)
    if not abs(total - 1.0) <= _ROUNDING:
        raise ValueError(f"weights must sum to 1 within {_ROUNDING}; got {total!r}")
    # Weights that have been divided before stay as they are, so that copies are equal.
    return weights if abs(total - 1.0) <= 2.0**-51 else weights / total
