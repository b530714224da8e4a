"""From a budget back to noise: the smallest that an (epsilon, delta) guarantee allows.

Every search finds its own bracket, ends on the private side, and has its answer checked by the
function that accounts for it. `CalibrationError` says why where no answer exists.
"""

from tightnoise.calibrate._error import CalibrationError
from tightnoise.calibrate.bounded_laplace import bounded_laplace, bounded_laplace_epsilon
from tightnoise.calibrate.concentration import concentration
from tightnoise.calibrate.dp_sgd import noise_multiplier, sampling_rate, steps
from tightnoise.calibrate.gaussian import gaussian
from tightnoise.calibrate.gaussian_scale_mixture import gaussian_scale_mixture
from tightnoise.calibrate.laplace import laplace, truncated_laplace
from tightnoise.calibrate.multi_gaussian import multi_gaussian
from tightnoise.calibrate.quasi_gaussian import quasi_gaussian
from tightnoise.calibrate.rectified_gaussian import (
    rectified_gaussian,
    rectified_gaussian_epsilon,
)
from tightnoise.calibrate.staircase import staircase, tulap
from tightnoise.calibrate.truncated_gaussian import (
    truncated_gaussian,
    truncated_gaussian_epsilon,
)

__all__ = [
    "CalibrationError",
    "bounded_laplace",
    "bounded_laplace_epsilon",
    "concentration",
    "gaussian",
    "gaussian_scale_mixture",
    "laplace",
    "multi_gaussian",
    "noise_multiplier",
    "quasi_gaussian",
    "rectified_gaussian",
    "rectified_gaussian_epsilon",
    "sampling_rate",
    "staircase",
    "steps",
    "truncated_gaussian",
    "truncated_gaussian_epsilon",
    "truncated_laplace",
    "tulap",
]
