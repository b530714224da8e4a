"""The fast tier beside the accurate one: its error bounds hold, so what it keeps is as good.

The bounds are not part of the package's interface: fast_bounds.cpp, compiled here, prints them.
"""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tightnoise import _core

HERE = Path(__file__).parent
N = 50_000
TOLERANCE = 3e-13  # of what the fast tier keeps
COMPILER = shutil.which(os.environ.get("CXX", "c++"))
CASES = [
    ("rectified", 2),
    ("truncated", 2),
    ("sign", 2),
    ("quantized", 2),
    ("quantized", 3),
    ("quantized", 7),
    ("quantized", 64),
]
# Errors of the accurate values.
NOISE = {"fisher_information": 3e-14, "renyi": 1e-12}
# What is kept of the lanes below, at least: most of them are hard.
KEPT = {"fisher_information": 0.4, "renyi": 0.05}


@pytest.fixture(scope="module")
def compare(tmp_path_factory):
    """Return compare(function, mechanism, levels, columns) -> fast value, bound, accurate value."""
    if COMPILER is None:
        pytest.skip("no C++ compiler")
    program = tmp_path_factory.mktemp("fast") / "fast_bounds"
    level = {"v3": ["-march=x86-64-v3"], "v4": ["-march=x86-64-v4"]}.get(_core.simd_level(), [])
    source = [f"-I{HERE.parents[1] / 'cpp'}", str(HERE / "fast_bounds.cpp"), "-o", str(program)]
    options = ["-std=c++17", "-O1", "-fno-math-errno", "-DTIGHTNOISE_LEVEL=test", *level]
    subprocess.run([COMPILER, *options, *source], check=True)

    def run(function, mechanism, levels, columns):
        command = [program, function, mechanism, str(levels)]
        given = np.asarray(columns).tobytes()
        printed = subprocess.run(command, input=given, capture_output=True, check=True).stdout
        return np.frombuffer(printed).reshape(3, -1)

    return run


def log_uniform(rng, low, high):
    return 10.0 ** rng.uniform(low, high, N)


def lanes(rng, mechanism):
    """theta, sigma, lower, upper, shift, alpha: near, far, narrow, wide."""
    sign = rng.choice([-1.0, 1.0], N)
    sigma = log_uniform(rng, -2, 2)
    width = sigma * log_uniform(rng, -4, 3)
    lower = sign * sigma * log_uniform(rng, -1, 2)
    away = sigma * rng.standard_normal(N) * log_uniform(rng, -1, 1.2)
    theta = lower + rng.uniform(-0.2, 1.2, N) * width + rng.choice([0.0, 1.0], N) * away
    if mechanism == "sign":
        theta = sign * sigma * log_uniform(rng, -3, 1.62)
    shift = rng.choice([-1.0, 1.0], N) * sigma * log_uniform(rng, -3, 1)
    below, above = rng.uniform(0.01, 2.0, N), 1.0 + log_uniform(rng, -2, 3)
    alpha = np.where(rng.random(N) < 0.2, below, above)
    return np.array([theta, sigma, lower, lower + width, shift, alpha])


@pytest.mark.parametrize(("mechanism", "levels"), CASES)
@pytest.mark.parametrize(("function", "noise"), NOISE.items())
def test_error_bounds_hold(function, noise, mechanism, levels, compare, rng, check_error):
    columns = lanes(rng, mechanism)[:, : N if levels < 10 else N // 10]
    value, bound, accurate = compare(function, mechanism, levels, columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(value == accurate, 0.0, np.abs(value - accurate) / np.abs(accurate))
    kept = bound < TOLERANCE
    assert kept.mean() > KEPT[function]
    check_error(f"{mechanism} {function}, fast", error[kept].max(), TOLERANCE)
    informative = (bound > 0) & (bound < 1e-6)
    ratio = (error - noise)[informative] / bound[informative]
    check_error(f"{mechanism} {function}, fast: error/bound", ratio.max(), 1.0)
    assert np.isnan(bound[np.isnan(value)]).all()


@pytest.mark.parametrize("mechanism", ["rectified", "truncated", "quantized", "sign"])
def test_nan_and_extremes(mechanism):
    """NaN in, NaN out, and no value that is not finite or below 0."""
    functions = getattr(_core, mechanism)
    for i in range(2 if mechanism == "sign" else 4):
        given = [np.array([0.3 if i != j else np.nan]) + (j == 1) + (j == 3) for j in range(4)]
        out = np.zeros(1)
        functions.fisher_information(*given, 4, out)
        assert np.isnan(out).all()
        assert np.isnan(functions.fisher_sum(np.ones(1), *given, 4, 1))
        functions.renyi(np.ones(1), np.full(1, 8.0), *given, 4, out)
        assert np.isnan(out).all()
        sums = np.zeros((2, 1))
        functions.rdp_sums(np.full(1, 8.0), np.ones(1), *given, 4, 1, *sums)
        assert np.isnan(sums).all()
    theta = np.array([0.0, 1e-300, 39.0, 41.0, -45.0, 1e4, -1e4, 1e154, 1e160, 1e300])
    out = np.empty(theta.shape)
    functions.fisher_information(theta, np.ones(1), -np.ones(1), np.ones(1), 4, out)
    assert ((out >= 0) & (out <= 1)).all()


@pytest.mark.parametrize(("mechanism", "levels"), CASES)
def test_fisher_sum_is_the_sum(mechanism, levels, rng, check_error):
    n = N // 10
    theta, sigma, lower, upper, shift, _ = lanes(rng, mechanism)[:, :n].copy()
    functions = getattr(_core, mechanism)
    out = np.empty(n)
    functions.fisher_information(theta, sigma, lower, upper, levels, out)
    total = functions.fisher_sum(np.abs(shift), theta, sigma, lower, upper, levels, n)
    truth = np.sum((shift**2 * out).astype(np.longdouble))
    check_error(f"{mechanism} fisher sum", abs(total / truth - 1.0), 3e-14)


@pytest.mark.parametrize(("mechanism", "levels"), [*CASES, ("quantized", 300)])
def test_rdp_sums_are_the_sums(mechanism, levels, rng, check_error):
    """Orders on both sides of 1/2, 1 and infinity; more of them than are done at a time."""
    n = 20 if levels > 10 else 500
    theta, sigma, lower, upper, shift, _ = lanes(rng, mechanism)[:, :n].copy()
    functions, shift = getattr(_core, mechanism), np.abs(shift)
    alphas = np.array([0.1, 0.5, 0.9, 1.0, 1.5, *range(2, 18), 1e3, np.inf])
    forward, backward = np.empty((2, alphas.size))
    functions.rdp_sums(alphas, shift, theta, sigma, lower, upper, levels, n, forward, backward)
    worst = np.zeros((2, alphas.size))
    for a, alpha in enumerate(alphas):
        both = np.empty((2, 2, n))
        for sign, out in zip((1.0, -1.0), both, strict=True):
            k = sign * shift
            functions.renyi(k, np.full(n, alpha), theta, sigma, lower, upper, levels, out[0])
            functions.renyi(-k, np.full(n, alpha), theta + k, sigma, lower, upper, levels, out[1])
        worst[:, a] = both.max(axis=0).sum(axis=1)
    # theta + k is rounded, so the backward sums are those of other coordinates.
    check_error(f"{mechanism} rdp sums, forward", np.max(np.abs(forward / worst[0] - 1)), 1e-12)
    check_error(f"{mechanism} rdp sums, backward", np.max(np.abs(backward / worst[1] - 1)), 1e-10)
