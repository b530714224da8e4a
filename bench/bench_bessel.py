"""Modified Bessel functions beside scipy.special.ive where that works: no order far above x."""

import numpy as np
import pytest
from scipy import special as scipy_special

from tightnoise import _core, special

N = 99_000  # below the size from which arrays are cut up for threads

# orders and arguments; "small" needs the recurrence, "settled" does not
CASES = {
    "small": ((0, 20), (0.1, 40)),
    "mixed": ((0, 60), (1, 700)),
    "settled": ((24, 100), (30, 700)),
}
EVERY_CASE = pytest.mark.parametrize("case", CASES)


def points(case):
    orders, arguments = CASES[case]
    rng = np.random.default_rng(0)
    return rng.uniform(*orders, N), rng.uniform(*arguments, N)


def log_iv_by_scipy(nu, x):
    return np.log(scipy_special.ive(nu, x)) + x


def log_mean_by_scipy(nu, x):
    """The usual way, which loses digits where the result is small."""
    return log_iv_by_scipy(nu, x) - nu * np.log(x / 2) + scipy_special.gammaln(nu + 1)


def iv_ratio_by_scipy(nu, x):
    return scipy_special.ive(nu + 1, x) / scipy_special.ive(nu, x)


FUNCTIONS = {  # the usual way, and how far it is from ours
    "log_iv": (log_iv_by_scipy, {"rtol": 1e-12, "atol": 1e-11}),
    "iv_ratio": (iv_ratio_by_scipy, {"rtol": 1e-11}),
    "log_sphere_mean": (log_mean_by_scipy, {"rtol": 1e-9, "atol": 1e-11}),
}
EVERY_FUNCTION = pytest.mark.parametrize("name", FUNCTIONS)


@EVERY_CASE
@EVERY_FUNCTION
def test_by_scipy(timed, name, case):
    nu, x = points(case)
    timed(f"special.{name}, {case}", lambda: FUNCTIONS[name][0](nu, x), N)


@EVERY_CASE
@EVERY_FUNCTION
def test_special(timed, name, case):
    nu, x = points(case)
    result = timed(f"special.{name}, {case}", lambda: getattr(special, name)(nu, x), N)
    by_scipy, tolerance = FUNCTIONS[name]
    np.testing.assert_allclose(result, by_scipy(nu, x), **tolerance)


def test_log_sphere_mean_rise(timed):
    nu, x = points("settled")
    out, increase = np.empty(N), x * x
    arguments = (nu, x, increase, out)
    timed("a rise", lambda: _core.special.log_sphere_mean_rise(*arguments), N)
    by_difference = special.log_sphere_mean(nu, np.sqrt(2.0) * x) - special.log_sphere_mean(nu, x)
    np.testing.assert_allclose(out, by_difference, rtol=1e-14)
