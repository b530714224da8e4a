"""A few releases on rare samples, against integrals in 20 digits and against contours."""

import math

import mpmath as mp
import numpy as np
import pytest
from by_night import rows_by_night

import tightnoise as tn
from tightnoise._core import cost as core
from tightnoise.costs import _few_samples
from tightnoise.costs._few_samples import RareRelease, few_releases


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(20):
        yield


def fixed_size(sigma, rate):
    cost = tn.Gaussian(sigma).cost(sensitivity=1.0, adjacency="replace-one")
    return cost.sampled(rate, "fixed-size")


def replaced(sigma, rate):
    cost = tn.Gaussian(sigma).cost(sensitivity=1.0, adjacency="add-remove")
    return cost.sampled(rate, "poisson", adjacency="replace-one")


def two_together(sigma, rate, x, *, is_fixed_size):
    """Return delta of two releases: the mean of that of the one over losses of the other."""
    mu, q, x = 1 / mp.mpf(sigma), mp.mpf(rate), mp.mpf(x)

    def densities(z):
        none = mp.npdf(z)
        ahead = (1 - q) * none + q * mp.npdf(z - mu)
        return ahead, none if is_fixed_size else (1 - q) * none + q * mp.npdf(z + mu)

    def one(loss):
        if loss < 0:
            return 1 - mp.exp(loss) + mp.exp(loss) * one(-loss)
        z = place_of(loss)
        behind = mp.ncdf(-z) if is_fixed_size else (1 - q) * mp.ncdf(-z) + q * mp.ncdf(-z - mu)
        return (1 - q) * mp.ncdf(-z) + q * mp.ncdf(mu - z) - mp.exp(loss) * behind

    def place_of(loss):
        if is_fixed_size:
            return mp.log1p(mp.expm1(loss) / q) / mu + mu / 2
        b, c = (1 - q) * mp.expm1(loss), q * mp.exp(-mu * mu / 2)
        return mp.log((b + mp.sqrt(b * b + 4 * c * c * mp.exp(loss))) / (2 * c)) / mu

    def integrand(z):
        p, r = densities(z)
        loss = mp.log(p / r)
        return p * one(x - loss) + r * one(x + loss)

    bends = [place_of(x * k / 8) for k in (0, 4, 6, 8, 10, 14, 24)]
    found = mp.quad(integrand, sorted([*bends, bends[-1] + 4, bends[-1] + 12]))
    none = (1 - q) * mp.erf(mu / 2 / mp.sqrt(2)) if is_fixed_size else 0
    return found + none * one(x)


@pytest.mark.parametrize("kind", [fixed_size, replaced])
@pytest.mark.parametrize(
    ("sigma", "rate", "x"), [(0.5, 3e-5, 2e-3), *rows_by_night((0.8, 2e-4, 4e-3))]
)
def test_two_are_told_to_a_millionth(kind, sigma, rate, x):
    truth = two_together(sigma, rate, x, is_fixed_size=kind is fixed_size)
    release = RareRelease(1 / sigma, rate, kind is fixed_size)
    lower, upper = few_releases("delta", release, 2, x, (0.0, 1.0))
    assert lower <= truth <= upper <= lower * (1 + 2e-6)
    low, high = (kind(sigma, rate) * 2).epsilon_bounds(float(truth))
    assert low <= x * (1 + 1e-12)
    assert x * (1 - 1e-12) <= high <= low * (1 + 1e-6)


@pytest.mark.parametrize("kind", [fixed_size, replaced])
@pytest.mark.parametrize(("n", "rate"), [(3, 1e-3), *rows_by_night((4, 3e-4)), (6, 2e-3)])
def test_more_meet_contours(kind, n, rate):
    sigma, is_fixed = 0.9, kind is fixed_size
    law = core.fixed_size_gaussian(sigma, rate)
    if not is_fixed:
        law = core.grouped_gaussian(sigma, rate, 1, 1)
    contour = core.Composition([(law, float(n))], None)
    release = RareRelease(1 / sigma, rate, is_fixed)
    for x in (20 * rate, 60 * rate):
        least, most = contour.delta(x, 0.0)
        lower, upper = few_releases("delta", release, n, x, (least, most))
        assert max(least, lower) <= min(most, upper)
        assert upper <= lower * (1 + 1e-5)
        low, high = few_releases("epsilon", release, n, (lower + upper) / 2, (x, x))
        assert low <= x * (1 + 1e-6)
        assert x * (1 - 1e-6) <= high <= low * (1 + 2e-6)


@pytest.mark.parametrize(
    ("kind", "sigma", "rate", "n", "delta"),
    [
        (fixed_size, 0.8162, 4.135e-05, 4, 1.659e-07),
        (replaced, 0.4984, 3.419e-05, 2, 8.101e-06),
        *rows_by_night(
            (fixed_size, 0.5814, 3.454e-05, 4, 2.429e-06),
            (fixed_size, 0.6814, 2.848e-04, 3, 4.28e-05),
            (replaced, 0.5814, 3.454e-05, 4, 3.64e-06),
        ),
    ],
)
def test_what_contours_take_seconds_for(kind, sigma, rate, n, delta):
    cost = kind(sigma, rate) * n
    lower, upper = cost.epsilon_bounds(delta)
    assert 1e-3 < lower <= upper <= lower * (1 + 1e-6)
    below, above = cost.delta(upper), cost.delta(lower)
    assert below <= delta * (1 + 1e-5)
    assert delta * (1 - 1e-5) <= above


def test_none_where_large_losses_are_not_rare():
    assert few_releases("delta", RareRelease(9.0, 1e-9, False), 2, 800.0, (0.0, 1.0)) is None
    assert few_releases("delta", RareRelease(2.0, 1e-2, False), 6, 1e-3, (0.0, 1.0)) is None
    assert few_releases("epsilon", RareRelease(2.0, 1e-2, True), 2, 0.9, (0.0, math.inf)) is None


def test_large_losses_end_in_bounds():
    for sigma in (0.11, 0.2):
        lower, upper = (fixed_size(sigma, 1e-6) * 3).epsilon_bounds(1e-9)
        assert 0 < lower <= upper < math.inf


@pytest.mark.parametrize(
    ("kind", "sigma", "rate", "n", "delta"),
    [
        (replaced, 0.95034, 7.4134e-06, 5, 9.337e-7),
        (fixed_size, 3.9575, 2.54e-5, 3, 1.93e-8),
        (fixed_size, 0.696, 1.5e-9, 3, 1.4e-22),
    ],
)
def test_so_is_an_epsilon_next_to_nothing(kind, sigma, rate, n, delta):
    lower, upper = (kind(sigma, rate) * n).epsilon_bounds(delta)
    assert 0 < lower <= upper < 1e-3
    assert upper <= lower * (1 + 1e-5)


@pytest.mark.parametrize("is_fixed_size", [True, False])
def test_tails_err_by_what_is_counted(is_fixed_size):
    """Most far out, where the rounding of places beside mu counts."""
    mp_rate, unit, worst = mp.mpf(1e-5), mp.mpf(2) ** -53, 0.0
    with mp.workdps(40):
        for sigma in (0.1, 0.37):
            release, mu = RareRelease(1 / sigma, 1e-5, is_fixed_size), 1 / mp.mpf(sigma)
            places = mu + np.linspace(30.0, 37.0, 60)
            places = places.astype(np.float64)
            for z, told in zip(places.tolist(), release.tails(places)[0].tolist(), strict=True):
                true = (1 - mp_rate) * mp.ncdf(-mp.mpf(z)) + mp_rate * mp.ncdf(mu - mp.mpf(z))
                worst = max(worst, float(abs(told - true) / true / unit))
    assert 200 < worst < 1900
    assert _few_samples._PART / 2.0**-53 > 1900 * 6 + 4 * 4800 + 100


def test_sums_err_by_what_is_counted():
    """Against sums by their definition, in 18 digits or more."""
    rng = np.random.default_rng(5)
    ours, theirs = (np.cumsum(rng.exponential(size=60) ** 4)[::-1] / 1e3 for _ in range(2))
    for none in (None, 0.3):
        sums = _few_samples._Sums(ours, theirs, none, 4, 6)
        one, exact = sums._sums[0][0].astype(np.longdouble), np.ones(1, np.longdouble)
        for masses, wrong in sums._sums:
            exact = np.convolve(exact, one)
            off = np.sqrt(((masses - exact) ** 2).sum())
            rounding = 2.0**-50 * np.sqrt((exact**2).sum())
            assert off <= wrong + rounding
            assert wrong < 1e-11 * np.sqrt((exact**2).sum())
            assert masses.size == exact.size


def test_places_of_the_largest_losses():
    """Where their squares are no numbers."""
    losses = np.array([300.0, 354.0, 356.0, 600.0])
    places = RareRelease(10.0, 1e-2, False).places(losses)
    told = np.log1p(1e-2 * np.expm1(10 * places - 50)) - np.log1p(
        1e-2 * np.expm1(-10 * places - 50)
    )
    np.testing.assert_allclose(told, losses, rtol=1e-13)
