"""Special functions beside scipy.special: the same 100,000 numbers, in cache, one thread."""

import numpy as np
import pytest
from scipy import special as scipy_special

from tightnoise import special

N = 99_000  # below the size from which arrays are cut up for threads

# argument range, SciPy's function, and how far apart the two may be (SciPy's error)
CASES = {
    "erfcx": ((0, 20), scipy_special.erfcx, 2e-14),
    "ndtr": ((-20, 8), scipy_special.ndtr, 1e-12),
    "log_ndtr": ((-20, 8), scipy_special.log_ndtr, 1e-12),
    "ndtri": ((0, 1), scipy_special.ndtri, 1e-13),
    "ndtri_exp": ((-50, -1), scipy_special.ndtri_exp, 1e-12),
}


EVERY_CASE = pytest.mark.parametrize("name", CASES)


@EVERY_CASE
def test_scipy(timed, name):
    (lower, upper), function, _ = CASES[name]
    x = np.random.default_rng(0).uniform(lower, upper, N)
    out = np.empty_like(x)
    timed(f"special.{name}", lambda: function(x, out), N)


@EVERY_CASE
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f8", "f4"])
def test_tightnoise(timed, name, dtype):
    (lower, upper), function, tolerance = CASES[name]
    x = np.random.default_rng(0).uniform(lower, upper, N).astype(dtype)
    out = np.empty_like(x)
    timed(f"special.{name}", lambda: getattr(special, name)(x, out=out), N)
    exact = function(x.astype(np.float64))
    if dtype is np.float32:
        tolerance = 6e-8
    np.testing.assert_allclose(out, exact, rtol=tolerance, atol=np.finfo(dtype).tiny)


@pytest.fixture
def intervals():
    rng = np.random.default_rng(0)
    u = rng.uniform(-8, 8, N)
    return u, u + 10.0 ** rng.uniform(-3, 1, N)


def by_scipy(u, v):
    """The usual way: log Phi of the nearer tail and log(1 - e^-d); loses digits where narrow."""
    mirrored = u + v > 0
    u, v = np.where(mirrored, -v, u), np.where(mirrored, -u, v)
    upper = scipy_special.log_ndtr(v)
    return upper + np.log1p(-np.exp(scipy_special.log_ndtr(u) - upper))


def test_log_ndtr_diff_by_scipy(timed, intervals):
    timed("special.log_ndtr_diff", lambda: by_scipy(*intervals), N)


def test_log_ndtr_diff(timed, intervals):
    result = timed("special.log_ndtr_diff", lambda: special.log_ndtr_diff(*intervals), N)
    np.testing.assert_allclose(result, by_scipy(*intervals), rtol=1e-11)


@pytest.fixture
def terms():
    return np.random.default_rng(0).normal(scale=10, size=N)


def test_logsumexp_by_scipy(timed, terms):
    timed("special.logsumexp", lambda: scipy_special.logsumexp(terms), N)


def test_logsumexp(timed, terms):
    result = timed("special.logsumexp", lambda: special.logsumexp(terms), N)
    assert result == pytest.approx(scipy_special.logsumexp(terms), rel=1e-14)
