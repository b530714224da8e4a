"""Modified Bessel functions beside frozen values; imports little, to be run at each SIMD level."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from reference.two_floats import largest_error
from special_functions import core

from tightnoise import special

TABLES = dict(np.load(Path(__file__).parent / "reference" / "bessel.npz"))  # of make_bessel.py
rise = partial(core, "log_sphere_mean_rise")  # log M_nu(sqrt(x^2 + increase)) - log M_nu(x)


def errors() -> dict[str, float]:
    """Return the largest error of every function on the tables of means and rises."""
    nu, x, *values = TABLES["mean"]
    mean, ratio, log_iv = values[:2], values[2:4], values[4:]
    scale = np.abs(log_iv[0]) + np.hypot(nu, x)
    *points, change, rest = TABLES["rise"]
    return {
        "iv_ratio": largest_error(special.iv_ratio(nu, x), *ratio),
        "log_iv": largest_error(special.log_iv(nu, x), *log_iv, scale),
        "log_sphere_mean": largest_error(special.log_sphere_mean(nu, x), *mean, units=11),
        "log_sphere_mean_rise": largest_error(rise(*points), change, rest),
    }
