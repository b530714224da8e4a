"""Noise rounded to a grid: probabilities and errors against mpmath, term by term."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from by_night import by_night
from mpmath import mp, mpf
from reference import rounded_noise

import tightnoise as tn

LAWS = [
    tn.Gaussian(0.1),
    tn.Gaussian(2.0),
    tn.Gaussian(40.0),
    tn.Laplace(0.05),
    tn.Laplace(3.0),
    tn.TruncatedLaplace(1.0, 10.3),
    tn.TruncatedLaplace(50.0, 0.6),
    tn.Tulap(1.0, 1.0),
    tn.Tulap(0.5, 2.5, 7.0),
    tn.Tulap(5.0, 0.3),
    tn.Staircase(3.0, 1.0, 0.2),
    tn.Staircase(2.0, 7.3, 0.4),
    tn.Staircase(1.0, 30.0, 0.123),
    tn.MultiGaussianMixture(0.37, 1.0, 1.0, 4),
    tn.MultiGaussianMixture(0.02, 2.0, 2.5, 3),
    tn.MultiGaussianMixture(12.0, 1.0, 32.0, 2),
    tn.QuasiGaussianMixture(0.45, 2.0, 1.0),
    tn.QuasiGaussianMixture(12.5, 1.0, 30.0),
    tn.GaussianScaleMixture([0, 0.43, 0.93], [0.992, 0.007, 0.001], [0.1, 0.33, 0.12]),
    tn.GaussianScaleMixture([0.0, 30.0], [0.4, 0.6], [0.5, 20.0]),
]
every = pytest.mark.parametrize("noise", LAWS, ids=lambda noise: repr(noise)[:60])


def relative(value, truth):
    return float(abs(mpf(value) - truth) / truth)


@every
def test_probabilities(noise, check_error):
    with mp.workdps(50):
        tail = rounded_noise.tail_of(noise)
        far = -float(noise.ppf(1e-250)) if noise.tails == "gaussian" else 40.0 * noise.mean_abs()
        places = sorted({0, 1, 2, 3, 7, *(int(far * share) for share in (0.1, 0.4, 1.0))})
        found = noise.rounded().pmf(places)
        assert np.array_equal(noise.rounded().pmf([-k for k in places]), found)
        for k, probability in zip(places, found.tolist(), strict=True):
            low, high = mpf(k) - 0.5, mpf(k) + 0.5
            if type(noise).__name__.endswith("Mixture"):
                truth = rounded_noise.law_of(noise).mass(low, high)  # tails of modes would cancel
            else:
                truth = 1 - 2 * tail(high) if k == 0 else tail(low) - tail(high)
            if truth < 1e-290:
                assert probability <= 1e-289
                continue
            check_error("rounded noise: probabilities", relative(probability, truth), 1e-12)


@every
def test_errors_on_the_grid(noise, check_error):
    with mp.workdps(50):
        size, square = rounded_noise.errors(rounded_noise.tail_of(noise))
        check_error("rounded noise: l1", relative(noise.rounded().mean_abs(), size), 1e-12)
        check_error("rounded noise: l2", relative(noise.rounded().var(), square), 1e-12)


@pytest.mark.parametrize("fraction", [*by_night(0.0), 0.21, 0.5])
@pytest.mark.parametrize("noise", LAWS[1::3], ids=lambda noise: repr(noise)[:60])
def test_errors_off_the_grid(noise, fraction, check_error):
    rounded = noise.rounded()
    found = rounded._errors(fraction)
    with mp.workdps(50):
        truth = rounded_noise.errors(rounded_noise.tail_of(noise), fraction)
        for value, exact in zip(found, truth, strict=True):
            check_error("rounded noise: off the grid", relative(value, exact), 1e-12)
    assert found[0] <= rounded.mean_abs_worst() * (1 + 1e-12)
    assert found[1] <= rounded.mse_worst() * (1 + 1e-12)


@every
def test_no_fraction_is_worse_than_the_worst(noise):
    rounded = noise.rounded()
    found = np.array([rounded._errors(f) for f in np.linspace(0, 0.5, 51).tolist()])
    for loss, worst in enumerate((rounded.mean_abs_worst(), rounded.mse_worst())):
        assert found[:, loss].max() == pytest.approx(worst, rel=1e-5)


def midpoints(noise):
    """Return E|K| for noise far wider than the grid, by Euler and Maclaurin."""
    law = rounded_noise.law_of(noise)
    return mpf(noise.mean_abs()) - law.pdf(mpf(0)) / 12


def geometric(epsilon):
    return 1 / mp.sinh(mpf(epsilon)), 1 / (2 * mp.sinh(mpf(epsilon) / 2) ** 2)


def two_sided(scale):
    q = mp.exp(-1 / mpf(scale))
    return mp.sqrt(q) / (1 - q), mp.sqrt(q) * (1 + q) / (1 - q) ** 2


WIDE = [
    (tn.Gaussian(1e6), lambda n: (mpf(1e6) * mp.sqrt(2 / mp.pi), mpf(10) ** 12 + mpf(1) / 12)),
    (tn.Laplace(1e6), lambda n: two_sided(1e6)),
    (tn.Laplace(1e9), lambda n: two_sided(1e9)),
    (tn.Tulap(1e-3, 1.0), lambda n: geometric(1e-3)),
    (tn.Tulap(1e-4, 1.0), lambda n: geometric(1e-4)),
    (tn.Tulap(1e-7, 1.0), lambda n: geometric(1e-7)),
    # Linear between integers: the midpoint rule errs by a parabola's curvature alone.
    (tn.Staircase(2.0, 1e6, 0.25), lambda n: (mpf(n.mean_abs()), mpf(float(n.var())) + mpf(1) / 6)),
    *(
        (noise, lambda n: (midpoints(n), mpf(float(n.var())) + mpf(1) / 12))
        for noise in (
            tn.MultiGaussianMixture(37_000.0, 1.0, 1e5, 4),
            tn.MultiGaussianMixture(1e6, 0.1, 1e5, 4),
            tn.QuasiGaussianMixture(4.5e5, 2.0, 1e6),
            tn.QuasiGaussianMixture(3e8, 1e-9, 1.0),
            tn.GaussianScaleMixture([0, 4.3e5], [0.9, 0.1], [1e4, 3e5]),
        )
    ),
]


@pytest.mark.parametrize(("noise", "truth"), WIDE, ids=[repr(noise)[:80] for noise, _ in WIDE])
def test_wide_noise_costs_no_long_sums_and_no_digits(noise, truth, check_error):
    with mp.workdps(50):
        size, square = truth(noise)
        check_error("rounded wide noise: l1", relative(noise.rounded().mean_abs(), size), 1e-12)
        check_error("rounded wide noise: l2", relative(noise.rounded().var(), square), 1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 3.0, 5.0, 20.0])
def test_tulap_becomes_the_geometric_mechanism(epsilon):
    rounded = tn.Tulap(epsilon, 1.0).rounded()
    k = np.arange(-30, 31)
    truth = math.tanh(0.5 * epsilon) * np.exp(-epsilon * np.abs(k))
    assert np.allclose(rounded.pmf(k), truth, rtol=1e-13, atol=0)
    size, square = geometric(epsilon)
    assert rounded.mean_abs() == pytest.approx(float(size), rel=1e-13)
    assert rounded.var() == pytest.approx(float(square), rel=1e-13)


def test_units_are_those_of_theta():
    for grid in (2.0**-3, 2.0**5):
        noise, alike = tn.Staircase(1.5, 3.0 * grid, 0.3), tn.Staircase(1.5, 3.0, 0.3)
        one, other = noise.rounded(grid=grid), alike.rounded()
        assert np.allclose(one.pmf([0, 1, 9]), other.pmf([0, 1, 9]), rtol=1e-14)
        assert one.mean_abs() == pytest.approx(grid * other.mean_abs(), rel=1e-14)
        assert one.var() == pytest.approx(grid**2 * other.var(), rel=1e-14)
        assert one.mse_worst() == pytest.approx(grid**2 * other.mse_worst(), rel=1e-14)


def test_objects():
    rounded = tn.Laplace(2.0).rounded()
    rounded.mean_abs()
    assert rounded == tn.Laplace(2.0).rounded(1) == pickle.loads(pickle.dumps(rounded))
    assert copy.copy(rounded) == rounded != tn.Laplace(2.0).rounded(2.0)
    assert type(rounded.pmf(0)) is np.float64
    assert rounded.pmf([[0, 1], [2, 3]]).shape == (2, 2)
    with pytest.raises(AttributeError):
        rounded.grid = 2.0


@every
def test_bad_grids(noise):
    scale = noise.rounded().mechanism._least_scale
    good = 2.0 ** math.floor(math.log2(1024 * scale))
    assert noise.rounded(good).grid == good
    with pytest.raises(ValueError, match=r"^grid must be at most 1024 times the scale"):
        noise.rounded(2.0 * good)
    for bad in (0.0, -1.0, math.inf, math.nan, 3.0, 0.3):
        with pytest.raises(ValueError, match=r"^grid must be"):
            noise.rounded(bad)
    with pytest.raises(TypeError, match=r"^grid must be a real number"):
        noise.rounded("1")


def test_bad_counts():
    rounded = tn.Gaussian(2.0).rounded()
    for bad in (0.5, [1, math.inf], 2.0**53):
        with pytest.raises(ValueError, match=r"^k must be an integer"):
            rounded.pmf(bad)
    with pytest.raises(ValueError, match=r"^sigma must be one number here"):
        tn.Gaussian([1.0, 2.0]).rounded()
