"""From a budget back to noise: the smallest that an (epsilon, delta) guarantee allows.

Every search finds its own bracket, ends on the private side, and has its answer checked by the
function that accounts for it. `CalibrationError` says why where no answer exists.
"""

from tightnoise.calibrate._error import CalibrationError
from tightnoise.calibrate.concentration import concentration
from tightnoise.calibrate.dp_sgd import noise_multiplier, sampling_rate, steps
from tightnoise.calibrate.gaussian import gaussian
from tightnoise.calibrate.gaussian_scale_mixture import gaussian_scale_mixture
from tightnoise.calibrate.laplace import laplace, truncated_laplace
from tightnoise.calibrate.multi_gaussian import multi_gaussian
from tightnoise.calibrate.quasi_gaussian import quasi_gaussian
from tightnoise.calibrate.staircase import staircase, tulap

__all__ = [
    "CalibrationError",
    "concentration",
    "gaussian",
    "gaussian_scale_mixture",
    "laplace",
    "multi_gaussian",
    "noise_multiplier",
    "quasi_gaussian",
    "sampling_rate",
    "staircase",
    "steps",
    "truncated_laplace",
    "tulap",
]
