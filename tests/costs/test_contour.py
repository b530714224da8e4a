"""epsilon and delta by contour inversion: certified bounds must hold what closed forms say."""

from __future__ import annotations

import json
import math
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night, rows_by_night
from lattices import bounds_on_lattice
from trained_directions import TRAINED

import tightnoise as tn
from tightnoise._core import cost
from tightnoise.costs._direction_pair import hockey_stick_upper

REFERENCES = json.loads(
    (Path(__file__).parents[1] / "reference" / "exact_composition.json").read_text()
)
DIRECTIONS = ["remove", "add"]
# Nothing is lost and nothing gained: but with it, a release is a composition.
NOTHING = (cost.atoms(np.array([0.0]), np.array([1.0])), 1)


def randomised_response(epsilon):
    p = 1 / (1 + math.exp(-epsilon))
    return cost.atoms(np.array([epsilon, -epsilon]), np.array([p, 1 - p]))


LAWS = {
    "sgm": cost.sampled_gaussian,
    "gauss": lambda mu, _: cost.gaussian(mu),
    "lap": lambda epsilon, _: cost.laplace(epsilon),
    "rr": lambda epsilon, _: randomised_response(epsilon),
}


def composed(*terms):
    return cost.Composition(list(terms))


@pytest.mark.parametrize(
    ("parts", "delta", "epsilon"),
    [row for row in REFERENCES if all(part[0] in LAWS for part in row[0])],
)
def test_references(parts, delta, epsilon):
    # The references of more than one law, the first one sampled Gaussian, are those of "add".
    direction = "add" if len(parts) > 1 and parts[0][0] == "sgm" else "remove"
    terms = [(LAWS[law](*numbers, direction), count) for law, numbers, count in parts]
    lower, upper = composed(*terms).epsilon(float(delta))
    truth = mp.mpf(epsilon)
    assert lower <= truth * (1 + mp.mpf("1e-15"))
    assert upper >= truth * (1 - mp.mpf("1e-15"))
    # Contours that cost much are not made narrower than 5e-8, and one pass may stop before.
    assert upper - lower <= 1e-7 * upper


@pytest.mark.parametrize("cases", [2, *by_night(1000)])
@pytest.mark.parametrize("rates", [(-5, -2), (-2, -0.01)])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_sampled_gaussian_once(direction, rates, cases, rng):
    # A contour against the closed form: what finds false certificates.
    for _ in range(cases):
        sigma, rate = math.exp(rng.uniform(-0.7, 3)), 10 ** rng.uniform(*rates)
        law = cost.sampled_gaussian(sigma, rate, direction)
        epsilon = abs(rng.normal()) * min(3, 1 / sigma) * rate ** rng.uniform(0, 1)
        lower, upper = composed((law, 1), NOTHING).delta(epsilon)
        below, above = composed((law, 1)).delta(epsilon)
        assert lower <= above * (1 + 1e-15), (sigma, rate, epsilon)
        assert upper >= below * (1 - 1e-15), (sigma, rate, epsilon)


@pytest.mark.parametrize(
    ("sigma", "rate", "epsilon"),
    [
        *rows_by_night((2.4417816136573025, 2.469233131549935e-05, 0.09010934036837856)),
        (3.903521958071728, 0.000128472954066688, 0.013638234468126825),
        # Here the squares of its weights would underflow, and their errors with them.
        (7.031457684461038, 8.36820017293399e-05, 0.005),
    ],
)
def test_tiny_deltas_of_one_sampled_gaussian(sigma, rate, epsilon):
    # A part of which all nodes are left out was once taken for nothing.
    law = cost.sampled_gaussian(sigma, rate, "remove")
    lower, upper = composed((law, 1), NOTHING).delta(epsilon)
    below, above = composed((law, 1)).delta(epsilon)
    assert 0 < below <= upper
    assert lower <= above


@pytest.mark.parametrize("cases", [6, *by_night(1000)])
def test_epsilon_of_one_sampled_gaussian(cases, rng):
    for i in range(cases):
        sigma, rate = math.exp(rng.uniform(-0.7, 2)), 10 ** rng.uniform(-3, -0.01)
        law = cost.sampled_gaussian(sigma, rate, DIRECTIONS[i % 2])
        delta = composed((law, 1)).delta(0.0)[0] * 10 ** rng.uniform(-6, -0.1)
        lower, upper = composed((law, 1), NOTHING).epsilon(delta)
        below, above = composed((law, 1)).epsilon(delta)
        assert lower <= above * (1 + 1e-14), (sigma, rate, delta)
        assert upper >= below * (1 - 1e-14), (sigma, rate, delta)


def test_directions_are_each_others_mirror(rng):
    # Two laws, two contours, one number: delta_add(x) = 1 - e^x + e^x delta_remove(-x).
    for _ in range(40):
        sigma, rate = math.exp(rng.uniform(-0.3, 2)), 10 ** rng.uniform(-2, -0.1)
        count = round(10 ** rng.uniform(1, 4))
        remove, add = (composed((cost.sampled_gaussian(sigma, rate, d), count)) for d in DIRECTIONS)
        x = rng.uniform(0, 1.5) * rate / sigma * math.sqrt(count)
        lower, upper = add.delta(x)
        below, above = remove.delta(-x)
        assert lower <= -math.expm1(x) + math.exp(x) * above + 4e-16 * math.exp(x)
        assert upper >= -math.expm1(x) + math.exp(x) * below - 4e-16 * math.exp(x)
        assert upper <= 1


def binomial_delta(epsilon, count, x):
    """Return delta of `count` randomised responses, in 40 digits."""
    with mp.workdps(40):
        e = mp.mpf(epsilon)
        total = mp.mpf(0)
        for wrong in range(count + 1):
            loss = (count - 2 * wrong) * e
            if loss <= x:
                break
            mass = mp.binomial(count, wrong) * mp.exp(-wrong * e) / (1 + mp.exp(-e)) ** count
            total += mass * -mp.expm1(x - loss)
        return total


# Images far below the smallest loss are known; those not so far are not, and have a bound.
@pytest.mark.parametrize(
    ("epsilon", "count"),
    [(0.3, 1), *rows_by_night((0.1, 2), (1.0, 3)), (0.3, 7), (2.0, 7), (0.3, 40)],
)
def test_randomised_response(epsilon, count):
    releases = composed((randomised_response(epsilon), count))
    for share in (-0.2, -0.01, 0.0, 0.13, 0.5, 0.79, 0.91, 0.99):
        x = share * count * epsilon
        lower, upper = releases.delta(x)
        truth = binomial_delta(epsilon, count, mp.mpf(x))
        assert lower <= truth * (1 + mp.mpf("1e-14"))
        assert upper >= truth * (1 - mp.mpf("1e-14"))
    assert releases.epsilon(1e-300)[1] <= count * epsilon * (1 + 1e-6) + 1e-6


@pytest.mark.parametrize("delta", [1e-15, 1e-100, 1e-300])
def test_tiny_deltas(delta):
    mixed = composed((cost.laplace(1e-3), 1), (cost.gaussian(1.0), 1))
    alone = composed((cost.gaussian(1.0), 1)).epsilon(delta)
    lower, upper = mixed.epsilon(delta)
    assert alone[0] <= upper
    assert lower <= alone[1] + 1e-3  # what the Laplace noise alone can cost
    assert upper - lower <= 1e-9 * upper


@pytest.mark.parametrize("count", [1e6, 1e9])
def test_many(count):
    # Far more than a grid could hold, against the Gaussian that it tends to.
    sigma, rate = 1e3, 1e-3
    mu = rate * math.sqrt(count * math.expm1(sigma**-2))
    truth = composed((cost.gaussian(mu), 1)).epsilon(1e-6)[0]
    for direction in DIRECTIONS:
        lower, upper = composed((cost.sampled_gaussian(sigma, rate, direction), count)).epsilon(
            1e-6
        )
        assert lower == pytest.approx(truth, rel=1e-3)
        assert lower <= upper <= lower * (1 + 1e-6)


def test_lower_bounds_are_at_most_one():
    # K at small tilts: a sum that cancels there once gave 1 + 3e-11.
    law = cost.sampled_gaussian(1.0, 0.5, "remove")
    lower, upper = composed((law, 10**6)).delta(1.0)
    assert lower <= 1 == upper
    assert composed((cost.sampled_gaussian(1.0, 0.1, "remove"), 10**7)).delta(-5.0)[0] <= 1


def test_infinite_mass():
    failing = cost.atoms(np.array([1.0, -1.0]), 0.9 * np.array([0.75, 0.25]), 0.1)
    releases = composed((failing, 3))
    mass = 1 - 0.9**3
    assert releases.epsilon(0.9 * mass) == (math.inf, math.inf)
    lower, upper = releases.delta(10.0)
    assert lower <= mass <= upper <= mass * (1 + 1e-12)
    close = mass * (1 + 1e-12)
    lower, upper = releases.epsilon(close)
    assert lower <= 3 <= upper + 1e-3  # nearly nothing is left beside the failures


@pytest.mark.parametrize("part", [1e-6, 0.07, 0.5, 0.98])
def test_infinite_mass_beside_noise(part):
    # What is infinite is a part of delta, and epsilon is where the rest falls to what is left.
    count, loss, mu, delta = 40, 0.05, 0.7, 1e-7
    failure = part * delta / count
    p = 1 / (1 + math.exp(-loss))
    failing = cost.atoms(np.array([loss, -loss]), (1 - failure) * np.array([p, 1 - p]), failure)
    lower, upper = composed((failing, count), (cost.gaussian(mu), 1)).epsilon(delta)
    assert lower <= upper <= lower * (1 + 1e-10)

    def divergence(x):
        kept, p = (1 - mp.mpf(failure)) ** count, 1 / (1 + mp.exp(-mp.mpf(loss)))
        sums = [
            (mp.binomial(count, k) * p**k * (1 - p) ** (count - k), x - (2 * k - count) * loss)
            for k in range(count + 1)
        ]
        own = sum(
            mass * (mp.ncdf(mu / 2 - y / mu) - mp.exp(y) * mp.ncdf(-mu / 2 - y / mu))
            for mass, y in sums
        )
        return 1 - kept + kept * own

    with mp.workdps(40):
        assert divergence(mp.mpf(lower)) >= delta * (1 - mp.mpf("1e-14"))
        assert divergence(mp.mpf(upper)) <= delta * (1 + mp.mpf("1e-14"))


@pytest.mark.parametrize(
    ("losses", "masses", "infinite"),
    [
        ([0.0], [1.0], 0.0),
        ([], [], 1.0),
        ([1e-300, -1e-300], [0.5, 0.5], 0.0),
        ([700.0, -700.0], [1.0, math.exp(-700.0)], 0.0),
        ([1.0], [1 / math.e], 0.0),
    ],
)
@pytest.mark.parametrize("count", [1, 3, 1e9])
def test_adversarial_atoms(losses, masses, infinite, count):
    law = cost.atoms(np.array(losses), np.array(masses), infinite)
    releases = composed((law, count), NOTHING)
    for value in (releases.delta(0.5), releases.epsilon(1e-6)):
        assert 0 <= value[0] <= value[1]
    most = max([abs(loss) for loss in losses], default=0.0) * count
    if not infinite:
        assert releases.epsilon(1e-6)[0] <= most
        assert releases.delta(most * (1 + 1e-9) + 1e-9)[0] <= 1e-9


def many_peaks(rng, places, apart):
    """Return probabilities of a grid's places: of peaks, some so many places apart, and others."""
    x = np.arange(places) / places
    density = 1e-9 * np.exp(-8 * (x - 0.5) ** 2)
    width = apart * 10 ** rng.uniform(-2, -0.7)
    for k in range(0, places // apart, rng.integers(1, 4)):
        aside = (np.arange(places) - (k + 0.5) * apart) / width
        density += rng.uniform(0.1, 1.0) * np.exp(-aside * aside)
    for _ in range(rng.integers(0, 4)):
        aside = np.abs(x - rng.uniform()) / 10 ** rng.uniform(-2.5, -0.5) + 0.01
        density += 10 ** rng.uniform(-9, 0) * aside**-0.5 * (aside < 4)
    return density / density.sum()


# A convolution is the truth. The characteristic function of peaks that are as far apart is large
# again far out: what a walk along it steps over makes bounds that contradict it. Of several laws
# with peaks of their own it is large where others may be small.
@pytest.mark.parametrize("cases", [1, *by_night(60)])
@pytest.mark.parametrize("kinds", [1, 3])
@pytest.mark.parametrize("count", [20, 150, 1000])
def test_atoms_with_many_peaks(count, kinds, cases, rng):
    size, told = 2**19, 0
    for _ in range(cases):
        apart = int(10 ** rng.uniform(1.5, 2.5))
        places = apart * rng.integers(3, 12)
        losses = 10 ** rng.uniform(-3, -1) / places * (np.arange(places) - places // 3)
        spacing = float(losses[1] - losses[0])
        laws = [many_peaks(rng, places, apart)]
        laws += [many_peaks(rng, places, int(rng.uniform(0.3, 1) * apart)) for _ in range(1, kinds)]
        counts = [math.ceil(count / kinds * rng.uniform(0.2, 1)) for _ in laws]
        mean = sum(n * float(law @ losses) for law, n in zip(laws, counts, strict=True))
        square = sum(
            n * float(law @ losses**2 - (law @ losses) ** 2)
            for law, n in zip(laws, counts, strict=True)
        )
        deviation, below = math.sqrt(square), sum(counts) * (places // 3)
        first = max(round(mean / spacing) + below - size // 2, 0)
        values = spacing * (first + (np.arange(size) - first) % size - below)
        releases = composed(
            *((cost.atoms(losses, law), n) for law, n in zip(laws, counts, strict=True))
        )
        for z in rng.uniform(-1.0, 4.0, 3):
            epsilon, tilt = mean + deviation * z, max(z, 0.0) / deviation  # so that digits are kept
            product, log_total = 1.0, 0.0
            for law, n in zip(laws, counts, strict=True):
                tilted = law * np.exp(tilt * losses)
                product = product * np.fft.rfft(tilted / tilted.sum(), size) ** n
                log_total += n * math.log(tilted.sum())
            sums = np.fft.irfft(product, size)
            above = values > epsilon
            sums, away = sums[above], values[above] - epsilon
            unit = math.exp(log_total - tilt * epsilon)
            truth = unit * float(sums @ (np.exp(-tilt * away) * -np.expm1(-away)))
            lower, upper = releases.delta(epsilon)
            error = 1e-8 * truth + 1e-13 * unit
            assert lower <= truth + error, (places, spacing, epsilon)
            assert upper >= truth - error, (places, spacing, epsilon)
            told += upper - lower <= 1e-4 * upper
    assert told >= cases


# The atoms of Laplace noise bring its characteristic function back wherever y is a multiple of
# pi/epsilon: a lattice, which knows nothing of that, tells whether that was seen.
@pytest.mark.parametrize("cases", [4, *by_night(200)])
def test_laplace_noise_whose_atoms_are_left(cases, rng):
    told = 0
    for _ in range(cases):
        p = 0.5 + 10 ** rng.uniform(-4, -1)
        laws, releases = [(randomised_response(math.log(p / (1 - p))), 1)], tn.Cost.of_response(p)
        for scale in 10 ** rng.uniform(1, 2.5, rng.integers(1, 4)):
            count = math.ceil(scale * 10 ** rng.uniform(-0.5, 1.0))
            laws.append((cost.laplace(1 / scale), count))
            releases += tn.Laplace(float(scale)).cost(sensitivity=1.0) * count
        contour = composed(*laws)
        epsilon = contour.epsilon(10 ** rng.uniform(-6, -1), 0.0)[1]
        lower, upper = contour.delta(epsilon, 0.0)
        least, most = bounds_on_lattice("delta", releases, epsilon)
        assert lower <= most, releases
        assert upper >= least, releases
        told += upper - lower <= 1e-6 * upper
    assert told >= cases / 2


def test_bounds_from_two_laws():
    # What dominates gives the upper bound, what is dominated the lower one.
    more, less = cost.gaussian(1.01), cost.gaussian(0.99)
    both = cost.Composition([(more, 3)], [(less, 3)])
    lower, upper = both.epsilon(1e-5)
    assert lower == composed((less, 3)).epsilon(1e-5)[0]
    assert upper == composed((more, 3)).epsilon(1e-5)[1]


def directions(rng, kappas):
    """Return kappa, dim, half chord and rate: opposite or not, sampled or not."""
    kappa, dim = math.exp(rng.uniform(*np.log(kappas))), int(math.exp(rng.uniform(0.7, 11.5)))
    half_chord = rng.choice([1.0, math.sin(rng.uniform(0.05, 1.57))])
    return kappa, dim, half_chord, rng.choice([1.0, 10 ** rng.uniform(-4, 0), rng.uniform(0.5, 1)])


@pytest.mark.parametrize("cases", [4, *by_night(400)])
@pytest.mark.parametrize("kappas", [(0.3, 3.0), (3.0, 300.0), (30.0, 1e5)])
def test_direction_once(kappas, cases, rng):
    # A contour against the closed form, as for the Gaussian.
    for i in range(cases):
        kappa, dim, half_chord, rate = place = directions(rng, kappas)
        law = cost.sampled_direction(*place, DIRECTIONS[i % 2])
        along = kappa * half_chord
        spread = along / math.sqrt(dim + kappa)
        epsilon = abs(rng.normal() + spread) * spread * rate ** rng.uniform(0, 1)
        lower, upper = composed((law, 1), NOTHING).delta(epsilon)
        below, above = composed((law, 1)).delta(epsilon)
        assert lower <= above * (1 + 1e-15), (place, epsilon)
        assert upper >= below * (1 - 1e-15), (place, epsilon)


def direction_profile(place, way, x):
    """Return delta of one release at losses x of any sign, by the closed form."""
    kappa, dim, half_chord, rate = place
    if way == "add":
        return -np.expm1(x) + np.exp(x) * direction_profile(place, "remove", -x)
    inner = np.log(np.maximum(np.expm1(x) / rate + 1, 1e-300))
    there = hockey_stick_upper(kappa, dim, np.asarray(half_chord), np.abs(inner))
    there = np.where(inner < 0, -np.expm1(inner) + np.exp(inner) * there, there)
    return np.where(np.exp(x) > 1 - rate, rate * there, -np.expm1(x))


@pytest.mark.parametrize("cases", [6, *by_night(100)])
@pytest.mark.parametrize("kappas", [(0.3, 3.0), (3.0, 3e3)])
def test_direction_beside_a_gaussian(kappas, cases, rng):
    # E[delta(x - Z)], Z the Gaussian's loss: one release again, but of a narrow interval.
    z = np.linspace(-9.0, 9.0, 6001)
    weights = np.exp(-0.5 * z * z) * (z[1] - z[0]) / math.sqrt(2 * math.pi)
    narrow = 0
    for i in range(cases):
        kappa, dim, half_chord, rate = place = directions(rng, kappas)
        along = kappa * half_chord
        spread = min(2 * along, 2 * along / math.sqrt(dim + kappa))
        mu, x = min(1.0, spread * rng.uniform(0.3, 1)) * rate**0.5, rng.uniform(0, spread * rate)
        law = cost.sampled_direction(*place, DIRECTIONS[i % 2])
        lower, upper = composed((law, 1), (cost.gaussian(mu), 1)).delta(x)
        at = x - (0.5 * mu + z) * mu
        terms = weights * direction_profile(place, DIRECTIONS[i % 2], at)
        truth, coarse = terms.sum(), 2 * terms[::2].sum()
        error = 40 * abs(truth - coarse) + 2e-10 * truth + 2e-14 * weights @ np.exp(np.abs(at))
        assert lower - error <= truth <= upper + error, (place, mu, x)
        narrow += upper - lower <= 1e-9 * upper and error < 1e-6 * upper
    assert narrow >= cases / 2


@pytest.mark.parametrize("kappa", [kappa for kappa in TRAINED if kappa <= 200])  # to ten digits
def test_directions_of_a_training(kappa):
    law = cost.sampled_direction(kappa, 13_700, 1.0, 128 / 60_000, "remove")
    lower, upper = composed((law, 1407)).epsilon(1 / 60_000)
    assert (lower + upper) / 2 == pytest.approx(TRAINED[kappa], abs=1.5e-10)
    assert lower <= upper <= lower * (1 + 1e-9)


@pytest.mark.parametrize(
    ("kappa", "count"),
    [
        *rows_by_night((75, 20), (75, 3), (100, 3)),
        (250, 1407),
    ],
)
def test_directions_with_large_losses(kappa, count):
    # Splits beside the real line; a half chord next to 1 has next to no part across it.
    def bounds(half_chord):
        law = cost.sampled_direction(kappa, 13_700, half_chord, 128 / 60_000, "remove")
        return composed((law, count)).delta(x)

    law = cost.sampled_direction(kappa, 13_700, 1.0, 128 / 60_000, "remove")
    x = composed((law, count)).epsilon(1 / 60_000)[1]
    (low, high), (below, above) = bounds(1.0), bounds(1 - 2.0**-53)
    assert high - low <= 1e-6 * high
    assert low <= above
    assert below <= high


ANGLES = [  # kappa, dim, angle, rate, count, delta: many nodes, many frequencies, rare large losses
    (500, 13_700, 60, 128 / 60_000, 1407, 1 / 60_000),
    (500, 13_700, 128, 128 / 60_000, 1407, 1 / 60_000),
    (800, 13_700, 60, 128 / 60_000, 1407, 1 / 60_000),
    (10, 59, 21, 2e-3, 3, 1e-13),
    (30, 4051, 178, 5.4e-4, 5001, 7e-12),
    (110, 2394, 11, 6e-4, 439, 8.5e-12),
    (106, 53_971, 97, 6e-4, 25, 1.1e-12),
    (17, 3113, 137, 3e-4, 170, 4e-10),
    (273.2, 22, 180, 1.14e-3, 4525, 7.5e-5),  # far wider than where losses begin
    (754.2, 17_751, 107.6, 0.476, 7108, 1.2e-10),
    (1461, 31, 180, 0.0403, 822_047, 4e-14),
    (1205, 170, 180, 0.0129, 6, 1.7e-8),
    (6.6, 11, 150, 0.598, 4, 1e-8),  # next to the largest loss of "add", few deviations from 0
    (3.6, 4, 120, 0.2, 3, 1e-12),
    (481.5, 446, 17.3, 0.2636, 6, 5.5e-13),
    (2142, 3400, 180, 2.6e-3, 334_141, 4e-9),  # lines that are flat for v < 0
]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("place", ANGLES)
def test_directions_at_any_angle(place, direction):
    kappa, dim, angle, rate, count, delta = place
    law = cost.sampled_direction(kappa, dim, math.sin(math.radians(angle / 2)), rate, direction)
    low, high = composed((law, count)).epsilon(delta)
    below, above = cost.Composition([(law, count)], tilt=0.8).epsilon(delta)
    assert high < 1e-3 or high - low <= 1e-6 * high
    assert low <= above
    assert below <= high


# Once, beside an outcome that says nothing, so that a contour has to tell it: beside the real line,
# and by two contours; the closed form is of other functions.
@pytest.mark.parametrize(
    ("kappa", "dim", "half_chord", "rate", "delta"),
    [
        (500, 13_700, 0.5, 2e-3, 1e-7),
        (2000, 100_000, 0.25, 0.3, 1e-3),
        (60, 30, 0.7, 0.05, 1e-7),
        (300, 500, 0.5, 0.01, 1e-3),
    ],
)
def test_direction_beside_the_real_line(kappa, dim, half_chord, rate, delta):
    law = cost.sampled_direction(kappa, dim, half_chord, rate, "remove")
    epsilon = composed((law, 1)).epsilon(delta)[1]
    lower, upper = composed((law, 1), NOTHING).delta(epsilon)
    below, above = composed((law, 1)).delta(epsilon)
    assert lower <= above
    assert below <= upper <= lower * (1 + 1e-8)


# Losses far wider than where they begin: nodes of a stretched axis.
FAR_APART = [  # kappa, dim, half chord, rate, epsilon, direction
    (950.6127091328747, 5, 1.0, 0.006933958925976663, 0.004789797863483774, "add"),
    (835.2, 648, 1.0, 1.0, 1200.0, "remove"),
    (600.0, 30, 1.0, 0.5, 1120.0, "remove"),
    (200.0, 20, 0.6, 0.9, 190.0, "remove"),
    (835.2, 95, 0.4, 0.9, 250.0, "remove"),
    (5000.0, 60, 0.4, 0.9, 0.4, "add"),  # hundreds of terms of A
]


@pytest.mark.parametrize("place", FAR_APART)
def test_directions_far_apart_once(place):
    kappa, dim, half_chord, rate, epsilon, direction = place
    law = cost.sampled_direction(kappa, dim, half_chord, rate, direction)
    below, above = composed((law, 1)).delta(epsilon)
    lower, upper = composed((law, 1), NOTHING).delta(epsilon)
    assert lower <= above
    assert below <= upper <= lower * (1 + 1e-6)


@pytest.mark.parametrize(
    ("kappa", "dim", "half_chord", "rate", "delta"),
    [
        (6.6, 11, 0.97, 0.6, 1e-8),
        (3.6, 4, 0.9, 0.2, 1e-12),
        (72.0, 400, 1.0, 0.02, 1e-10),
        (2.0, 11, 0.075, 0.6, 1e-10),  # 0.6/h is beyond the poles of tanh
    ],
)
def test_direction_at_a_steep_tilt_once(kappa, dim, half_chord, rate, delta):
    # Next to the largest loss, beside an outcome that says nothing.
    law = cost.sampled_direction(kappa, dim, half_chord, rate, "add")
    lower, upper = composed((law, 1), NOTHING).epsilon(delta)
    below, above = composed((law, 1)).epsilon(delta)
    assert lower <= above
    assert below <= upper <= lower * (1 + 1e-8)


def test_large_losses_of_two_kinds_of_directions():
    # Shares of large losses beside lines that are far higher elsewhere than these are wide.
    terms = [(1122.2, 43, 0.33, 1.33e-3, 17), (4963.0, 20, 1.0, 9.3e-4, 30)]
    laws = [(cost.sampled_direction(*place, "remove"), count) for *place, count in terms]
    low, high = composed(*laws).epsilon(1.5e-11)
    assert high - low <= 1e-6 * high


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_directions_of_too_many_cells(direction):
    # Of kappa 1e8 in 1e7 dimensions they would take minutes.
    law = cost.sampled_direction(1e8, 10**7, 0.7, 0.01, direction)
    lower, upper = composed((law, 10)).epsilon(1e-8)
    assert 0 < lower < upper
    assert direction == "remove" or upper == pytest.approx(-10 * math.log1p(-0.01))


@pytest.mark.parametrize("kappa", [500, 2000])
def test_losses_next_to_the_largest(kappa):
    # Next to no outcome of Q1 is one of Q0: n log(1 - q) but for a part of delta.
    rate, count, delta = 128 / 60_000, 1407, 1 / 60_000
    law = cost.sampled_direction(kappa, 13_700, 1.0, rate, "add")
    lower, upper = composed((law, count)).epsilon(delta)
    most = -count * math.log1p(-rate)
    assert most - 2 * delta < lower <= upper <= lower * (1 + 1e-6)
    assert upper <= most + math.log1p(-delta) + 1e-12


def test_opposite_directions_and_nearly_so():
    # A half chord of 1 and one next to it take different ways.
    def bounds(half_chord):
        law = cost.sampled_direction(20.0, 300, half_chord, 0.01, "add")
        return composed((law, 2000)).epsilon(1e-5)

    (low, high), (below, above) = bounds(1.0), bounds(1 - 2.0**-53)
    assert low <= above <= low * (1 + 1e-9)
    assert below <= high <= below * (1 + 1e-9)


def test_sampled_at_rate_one():
    sampled = composed((cost.sampled_gaussian(2.0, 1.0, "remove"), 5))
    assert sampled.epsilon(1e-5) == composed((cost.gaussian(0.5), 5)).epsilon(1e-5)


@pytest.mark.parametrize("cases", [50, *by_night(2000)])
def test_two_contours(cases, rng):
    # The same at other tilts: other images, other nodes, other cuts.
    for i in range(cases):
        sigma, rate = math.exp(rng.uniform(-1.2, 3)), 10 ** rng.uniform(-5, 0)
        count, delta = math.floor(10 ** rng.uniform(0, 6)), 10 ** rng.uniform(-15, -2)
        terms = [(cost.sampled_gaussian(sigma, rate, DIRECTIONS[i % 4 == 0]), count)]
        low, high = cost.Composition(terms).epsilon(delta)
        below, above = cost.Composition(terms, tilt=0.7).epsilon(delta)
        assert low <= above, (sigma, rate, count, delta)
        assert below <= high, (sigma, rate, count, delta)


# --- few steps with little noise: rate times count below 1

FEW = [  # sigma, rate, count, delta: large losses are rare, and all there is
    (0.35, 7.5e-5, 14, 9.6e-9),
    (0.95, 1.1e-5, 7487, 2.3e-6),
    (1.43, 2.4e-3, 5, 7.8e-13),
    *rows_by_night(
        (0.53, 1.04e-3, 16, 2.6e-12),
        (0.66, 9.2e-4, 24, 8.6e-5),
        (0.99, 3.7e-4, 75, 3.1e-8),
        (2.6, 3.3e-4, 11, 2e-9),
    ),
]


@pytest.mark.parametrize(("sigma", "rate", "count", "delta"), FEW)
def test_few_steps(sigma, rate, count, delta):
    # Beside bounds by losses on a lattice, which share nothing with these.
    step = tn.Gaussian(sigma).cost(sensitivity=1.0).sampled(rate, "poisson")
    on_lattice = bounds_on_lattice("epsilon", step * count, delta)
    found = (0.0, 0.0)
    for direction in DIRECTIONS:
        releases = composed((cost.sampled_gaussian(sigma, rate, direction), count))
        found = max(found, releases.epsilon(delta, found[0]))
    lower, upper = found
    assert upper - lower <= 1e-6 * upper
    assert on_lattice[0] <= upper
    assert lower <= on_lattice[1] <= 1.01 * upper  # or that would say nothing


def test_only_the_larger_direction_is_needed():
    training = composed((cost.sampled_gaussian(1.0, 0.01, "add"), 10_000))
    lower, upper = training.epsilon(1e-6)
    assert training.epsilon(1e-6, upper * 1.01) == (0.0, upper * 1.01)
    assert training.epsilon(1e-6, lower * 0.99) == (lower, upper)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_epsilon_zero(direction):
    law = cost.sampled_gaussian(9.0, 4.8e-5, direction)
    alone, together = composed((law, 1)).delta(0.0), composed((law, 300)).delta(0.0)
    assert alone[0] < together[0] <= together[1] < 300 * alone[0]
    releases = composed((law, 300))
    for delta in (300.001 * alone[1], 300 * alone[0], 1.001 * together[1]):
        assert releases.epsilon(delta) == (0.0, 0.0)
    assert releases.epsilon(0.999 * together[0])[1] > 0.0


def test_delta_with_a_floor():
    # Below a floor any bound up to it will do; above, nothing changes.
    once = tn.Gaussian(1.0).cost(sensitivity=1.0, adjacency="add-remove")
    ((leaf, _),) = once.sampled(0.01, "poisson").terms
    for law in leaf.laws():
        composed = cost.Composition([(law.upper, 100.0)])
        lower, upper = composed.delta(0.3)
        assert composed.delta(0.3, 0.5 * lower) == (lower, upper)
        low, high = composed.delta(0.3, 2 * upper)
        assert low <= upper
        assert lower <= high <= 2 * upper
