"""Contours of samples of which a record is replaced, against formulas of one and two releases."""

import math

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night, rows_by_night

import tightnoise as tn
from tightnoise._core import cost

NOTHING = (cost.atoms(np.array([0.0]), np.array([1.0])), 1)  # with it, a release is a composition
SAMPLINGS = ["poisson", "fixed-size"]


def of_noise(sigma, rate, sampling):
    if sampling == "fixed-size":
        return cost.fixed_size_gaussian(sigma, rate)
    return cost.grouped_gaussian(sigma, rate, 1, 1)


def law(mu, rate, sampling):
    return of_noise(1 / mu, rate, sampling)


def once(x, mu, rate, sampling):
    """delta of one release at a real epsilon; both directions are one."""
    x, mu, q = mp.mpf(x), 1 / mp.mpf(1 / mu), mp.mpf(rate)
    if x < 0:
        return 1 - mp.exp(x) + mp.exp(x) * once(-x, mu, rate, sampling)
    if sampling == "fixed-size":
        y = mp.log1p(mp.expm1(x) / q)
        return q * (mp.ncdf(mu / 2 - y / mu) - mp.exp(y) * mp.ncdf(-mu / 2 - y / mu))
    b, scaled = (1 - q) * mp.expm1(x), q * mp.exp(-mu * mu / 2)
    t = (x / 2 + mp.asinh(b * mp.exp(-x / 2) / (2 * scaled))) / mu
    return q * mp.ncdf(mu - t) - b * mp.ncdf(-t) - q * mp.exp(x) * mp.ncdf(-mu - t)


def twice(x, mu, rate, sampling):
    """delta of two releases: the mean of the second's over the losses of the first."""
    m, q = 1 / mp.mpf(1 / mu), mp.mpf(rate)

    def weight(z, sign):
        return 1 - q + q * mp.exp(sign * m * z - m * m / 2)

    def part(z):
        if sampling == "fixed-size":
            ahead, behind = weight(z, 1), mp.mpf(1)
        else:
            ahead, behind = weight(z, 1), weight(z, -1)
        loss = mp.log(ahead / behind)
        beyond, within = once(x - loss, mu, rate, sampling), once(x + loss, mu, rate, sampling)
        return mp.npdf(z) * (ahead * beyond + behind * within)

    start = m / 2 if sampling == "fixed-size" else mp.mpf(0)
    # The second one's bends at 0, or nearly.
    low, high = start, start + 30
    for _ in range(60):
        middle = (low + high) / 2
        behind = weight(middle, -1) if sampling == "poisson" else 1
        low, high = (middle, high) if weight(middle, 1) < mp.exp(x) * behind else (low, middle)
    near = [low + side * mp.mpf(2) ** -k for k in range(8) for side in (1, -1)]
    ends = [start, start + 1, low, *near, *(start + step for step in range(2, 14, 2))]
    ends = sorted(end for end in ends if end >= start)
    still = (1 - q) * mp.erf(m / 2 / mp.sqrt(2)) if sampling == "fixed-size" else mp.mpf(0)
    return still * once(x, mu, rate, sampling) + mp.quad(part, ends, maxdegree=4)


def random_release(rng):
    mu, rate = math.exp(rng.uniform(-3, 1.6)), 10 ** rng.uniform(-5, -0.02)
    far = mu * (mu / 2 + rng.uniform(0.5, 9))
    return mu, rate, math.log1p(rate * math.expm1(far)) * rng.uniform(0.1, 1)


@pytest.mark.parametrize("cases", [2, *by_night(2000)])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_one_release(sampling, cases, rng):
    for _ in range(cases):
        mu, rate, x = random_release(rng)
        with mp.workdps(40):
            truth = once(x, mu, rate, sampling)
        for terms in ([(law(mu, rate, sampling), 1), NOTHING], [(law(mu, rate, sampling), 1)]):
            lower, upper = cost.Composition(terms).delta(x)
            assert lower <= truth <= upper, (mu, rate, x)


# Beside it 1 - rate is lost in a sum with 1; losses near log(rate/(1 - rate)) decide.
@pytest.mark.parametrize(
    ("mu", "lacking", "x"),
    [(3.3, 2.0**-53, 53.0), (3.3, 2.0**-53, 65.0), (2.0, 1e-12, 52.0), (1.0, 1e-9, 42.0)],
)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_samples_of_nearly_all_records(sampling, mu, lacking, x):
    with mp.workdps(60):
        truth = once(x, mu, 1 - lacking, sampling)
    lower, upper = cost.Composition([(law(mu, 1 - lacking, sampling), 1), NOTHING]).delta(x)
    assert lower <= truth <= upper
    assert upper - lower <= 1e-5 * upper + 1e-300


FAR = (2.5, 1e-3, 0.3), (1.3, 0.7, 2.0)


@pytest.mark.parametrize(
    ("sampling", "mu", "rate", "x"),
    [
        ("poisson", 1.0, 0.02, 0.05),
        ("fixed-size", 0.7, 1e-3, 2e-3),
        *rows_by_night(("poisson", 0.7, 1e-3, 2e-3), ("fixed-size", 1.0, 0.02, 0.05)),
        *rows_by_night(*((way, *at) for way in SAMPLINGS for at in FAR)),
    ],
)
def test_two_releases(sampling, mu, rate, x):
    with mp.workdps(20):
        truth = twice(x, mu, rate, sampling)
    lower, upper = cost.Composition([(law(mu, rate, sampling), 2)]).delta(x)
    assert lower * (1 - 1e-13) <= truth <= upper * (1 + 1e-13)
    assert upper - lower <= 1e-5 * upper


@pytest.mark.parametrize("cases", [4, *by_night(1000)])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_two_contours(sampling, cases, rng):
    for _ in range(cases):
        sigma, rate = math.exp(rng.uniform(-0.7, 2.5)), 10 ** rng.uniform(-4, -0.02)
        count, delta = math.floor(10 ** rng.uniform(0.5, 6)), 10 ** rng.uniform(-15, -2)
        terms = [(of_noise(sigma, rate, sampling), count)]
        low, high = cost.Composition(terms).epsilon(delta)
        below, above = cost.Composition(terms, tilt=0.7).epsilon(delta)
        assert low <= above, (sigma, rate, count, delta)
        assert below <= high, (sigma, rate, count, delta)


NARROW = [  # sigma, rate, count, delta: the last ones where rare large losses decide
    (1.0, 0.01, 1000, 1e-6),
    (2.0, 0.1, 100_000, 1e-10),
    (3.0, 1e-5, 10**9, 1e-12),
    (0.5, 0.5, 40, 1e-100),
    (1.0, 1.0, 3, 1e-5),
    (0.693, 1.92e-4, 440, 1.5e-3),
    (0.66, 1.37e-4, 11_454, 4.5e-12),
    (1.01, 2.49e-4, 4478, 1.4e-12),
    (0.661, 2.18e-4, 11, 9.8e-6),
    (4.09, 2.81e-4, 2105, 2.9e-12),
    (1.402, 5.805e-4, 4, 4.476e-6),  # few: no loss at all is likely
    (1.124, 2.797e-4, 5, 2e-6),
    (2.28, 1.92e-4, 18, 1.3e-6),
]


@pytest.mark.parametrize(("sigma", "rate", "count", "delta"), NARROW)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_narrow(sampling, sigma, rate, count, delta):
    composed = cost.Composition([(of_noise(sigma, rate, sampling), count)])
    lower, upper = composed.epsilon(delta)
    assert 0 < upper - lower <= 1e-6 * upper
    assert composed.delta(lower)[1] >= delta * (1 - 1e-12)
    assert composed.delta(upper)[0] <= delta * (1 + 1e-12)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_few_releases_of_several_kinds(sampling):
    one, other = (of_noise(*kind, sampling) for kind in ((1.4, 6e-4), (2.0, 1e-3)))
    pairs = [
        ([(one, 2), (one, 2), (other, 1)], [(other, 1), (one, 4)]),
        ([(one, 3), (other, 2)], [(other, 1), (one, 1), (other, 1), (one, 2)]),
    ]
    for terms, same in pairs:
        low, high = cost.Composition(terms).epsilon(4e-6)
        assert 0 < high - low <= 1e-7 * high
        for tilt in (0.6, 1.5):
            below, above = cost.Composition(same, tilt=tilt).epsilon(4e-6)
            assert low <= above
            assert below <= high


@pytest.mark.parametrize("count", [1, 3, 10**9])
@pytest.mark.parametrize("rate", [1e-100, 1e-9, 0.5, 1 - 2.0**-53])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 1e6])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_extremes_stay_sound(sampling, sigma, rate, count):
    terms = [(of_noise(sigma, rate, sampling), count)]
    lower, upper = cost.Composition(terms).epsilon(1e-5)
    assert 0 <= lower <= upper
    gaussian = cost.gaussian((1.0 if sampling == "fixed-size" else 2.0) / sigma)
    assert lower <= cost.Composition([(gaussian, count)]).epsilon(1e-5)[1] * (1 + 1e-12)


def test_the_larger_rate_and_the_less_noise_cost_more():
    def epsilon(sigma, rate, sampling):
        terms = [(of_noise(sigma, rate, sampling), 300)]
        return cost.Composition(terms).epsilon(1e-6)

    for sampling in SAMPLINGS:
        known = epsilon(1.0, 0.02, sampling)
        assert known[1] < epsilon(1.0, 0.0201, sampling)[0]
        assert known[1] < epsilon(0.995, 0.02, sampling)[0]
    # A replaced record of Poisson samples is a record less and another one more.
    assert epsilon(1.0, 0.02, "fixed-size")[1] < epsilon(1.0, 0.02, "poisson")[0]


def test_costs_are_told_by_it():
    gaussian = tn.Gaussian(1.0)
    fixed = gaussian.cost(sensitivity=1.0, adjacency="replace-one").sampled(0.01, "fixed-size")
    each = gaussian.cost(sensitivity=1.0, adjacency="add-remove")
    poisson = each.sampled(0.01, "poisson", adjacency="replace-one")
    for once_of, sampling in ((fixed, "fixed-size"), (poisson, "poisson")):
        low, high = (once_of * 1000).epsilon_bounds(1e-6)
        below, above = cost.Composition([(of_noise(1.0, 0.01, sampling), 1000)]).epsilon(1e-6)
        assert high - low <= 1e-9 * high
        assert low <= above
        assert below <= high
    # What is merged is rounded, so that each side has a law of its own.
    merged = (gaussian.cost(sensitivity=1.0, adjacency="replace-one") * 3).sampled(
        0.01, "fixed-size"
    )
    low, high = (merged * 100).epsilon_bounds(1e-6)
    assert 0 < high - low <= 1e-6 * high


@pytest.mark.parametrize(("sigma", "rate"), [(1e-3, 0.1), (1e7, 0.1), (1.0, 0.0)])
def test_bad_input(sigma, rate):
    for sampling in SAMPLINGS:
        with pytest.raises(TypeError):
            of_noise(sigma, rate, sampling)
    for records in ((0, 0), (17, 0), (-1, 2)):
        with pytest.raises(TypeError):
            cost.grouped_gaussian(1.0, 0.1, *records)
