"""Special functions beside scipy.special: the same 100,000 numbers, in cache, one thread."""

import numpy as np
import pytest
from scipy import special as scipy_special

import tightnoise
from tightnoise import special

N = 99_000  # below the size from which arrays are cut up for threads

# argument range, SciPy's function, and how far apart the two may be (SciPy's error)
CASES = {
    "exp": ((-700, 700), np.exp, 1e-15),
    "log": ((1e-3, 1e3), np.log, 1e-15),
    "log1p": ((-0.9, 10), np.log1p, 1e-15),
    "expm1": ((-5, 5), np.expm1, 1e-15),
    "erfcx": ((0, 20), scipy_special.erfcx, 2e-14),
    "ndtr": ((-20, 8), scipy_special.ndtr, 1e-12),
    "log_ndtr": ((-20, 8), scipy_special.log_ndtr, 1e-12),
    "ndtri": ((0, 1), scipy_special.ndtri, 1e-13),
    "ndtri_exp": ((-50, -1), scipy_special.ndtri_exp, 1e-12),
}


@pytest.fixture(autouse=True)
def one_thread():
    before = tightnoise._core.num_threads()
    tightnoise._core.set_num_threads(1)
    yield
    tightnoise._core.set_num_threads(before)


def cases(parameters):
    return [pytest.param(p, marks=pytest.mark.benchmark(group=f"special.{p}")) for p in parameters]


@pytest.mark.parametrize("name", cases(CASES))
def test_scipy(benchmark, name):
    (lower, upper), function, _ = CASES[name]
    x = np.random.default_rng(0).uniform(lower, upper, N)
    out = np.empty_like(x)
    benchmark(function, x, out)


@pytest.mark.parametrize("name", cases(CASES))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tightnoise(benchmark, name, dtype):
    (lower, upper), function, tolerance = CASES[name]
    x = np.random.default_rng(0).uniform(lower, upper, N).astype(dtype)
    if name == "exp" and dtype is np.float32:
        x *= np.float32(0.1)
    out = np.empty_like(x)
    benchmark(getattr(special, name), x, out=out)
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


@pytest.mark.benchmark(group="special.log_ndtr_diff")
def test_log_ndtr_diff_by_scipy(benchmark, intervals):
    benchmark(by_scipy, *intervals)


@pytest.mark.benchmark(group="special.log_ndtr_diff")
def test_log_ndtr_diff(benchmark, intervals):
    result = benchmark(special.log_ndtr_diff, *intervals)
    np.testing.assert_allclose(result, by_scipy(*intervals), rtol=1e-11)


@pytest.mark.benchmark(group="special.logsumexp")
def test_logsumexp_by_scipy(benchmark):
    x = np.random.default_rng(0).normal(scale=10, size=N)
    benchmark(scipy_special.logsumexp, x)


@pytest.mark.benchmark(group="special.logsumexp")
def test_logsumexp(benchmark):
    x = np.random.default_rng(0).normal(scale=10, size=N)
    assert benchmark(special.logsumexp, x) == pytest.approx(scipy_special.logsumexp(x), rel=1e-14)


@pytest.mark.benchmark(group="special.sum")
def test_sum_by_numpy(benchmark):
    benchmark(np.sum, np.random.default_rng(0).uniform(size=N))


@pytest.mark.benchmark(group="special.sum")
def test_sum(benchmark):
    x = np.random.default_rng(0).uniform(size=N)
    assert benchmark(special.sum, x) == pytest.approx(x.sum(), rel=1e-14)
