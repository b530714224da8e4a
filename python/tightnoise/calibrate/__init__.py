"""From a budget back to noise: the least that an (epsilon, delta) guarantee allows.

``calibrate.<mechanism>(epsilon, delta, ..., count=1, beside=Cost())`` returns the mechanism with
which `count` releases, beside what is planned already, meet the budget. Every answer is checked by
`Cost.epsilon`, the function that accounts for it, but one mixture of Gaussians by its delta, of
which epsilon may be rounded up by 1e-8 of itself. `CalibrationError` says why where none exists.
"""

from tightnoise.calibrate._bounded import (
    bounded_laplace,
    rectified_gaussian,
    truncated_gaussian,
)
from tightnoise.calibrate._directions import von_mises_fisher
from tightnoise.calibrate._error import CalibrationError
from tightnoise.calibrate._mixtures import multi_gaussian, quasi_gaussian
from tightnoise.calibrate._parameter import parameter
from tightnoise.calibrate._scalar import gaussian, laplace, truncated_laplace, tulap
from tightnoise.calibrate._scale_mixture import gaussian_scale_mixture
from tightnoise.calibrate._staircase import staircase
from tightnoise.calibrate._training import noise_multiplier, sampling_rate, steps

__all__ = [
    "CalibrationError",
    "bounded_laplace",
    "gaussian",
    "gaussian_scale_mixture",
    "laplace",
    "multi_gaussian",
    "noise_multiplier",
    "parameter",
    "quasi_gaussian",
    "rectified_gaussian",
    "sampling_rate",
    "staircase",
    "steps",
    "truncated_gaussian",
    "truncated_laplace",
    "tulap",
    "von_mises_fisher",
]
