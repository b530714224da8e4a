"""Composition by privacy-loss distributions: against formulas, enumeration and convolution."""

import copy
import itertools
import math
import pickle
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night
from finite_pairs import larger_divergence, product, random_pair
from guarantees import composed_delta, composed_epsilon

import tightnoise as tn
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._gaussian_profile import gaussian_delta, gaussian_epsilon

NAN, INF = float("nan"), float("inf")
COST = tn.Cost


def gaussian_profile(mu, points=10_000):
    """The spacing of points, and the profile at them."""
    spacing = float(gaussian_epsilon(1e-40, mu)) / (points - 1)
    return spacing, gaussian_delta(spacing * np.arange(points), mu)


def of_profile(spacing, heights):
    return COST.of_profile(spacing * np.arange(len(heights)), heights)


def gaussian(mu, points=10_000):
    """Gaussian noise by points of its profile: not known to be one, its losses are composed."""
    return of_profile(*gaussian_profile(mu, points))


def losses_of(p, q):
    """Losses as floats, and what Q is for which they are exact."""
    with np.errstate(divide="ignore"):
        values = np.log(p) - np.log(q)
    exact = [mp.mpf(a) * mp.exp(-mp.mpf(x)) for a, x in zip(p, values, strict=True)]
    return values, exact


# --- Gaussian: composition is known in closed form ------------------------------------------------


@pytest.mark.parametrize("mu", [1.0, *by_night(1e-3, 0.05, 10.0)])
def test_gaussian(mu, check_error):
    once = gaussian(mu)
    spacing, _ = gaussian_profile(mu)
    for times, delta in itertools.product((1, 30, 10**6), (1e-2, 1e-6, 1e-30)):
        exact = gaussian_epsilon(delta, mu * math.sqrt(times))
        got = (once * times).epsilon(delta)
        assert exact * (1 - 1e-12) <= got <= exact + times * spacing
        if exact > 0.1 * mu:
            name = f"privacy_loss, Gaussian, {'a million' if times == 10**6 else 'few'} times"
            check_error(name, got / exact - 1, 2e-4 if times == 10**6 else 1e-5)
        there = (once * times).delta(exact)
        assert there >= min(delta, gaussian_delta(exact, mu * math.sqrt(times))) * (1 - 1e-9)
        lower = gaussian_delta(max(0.0, exact - times * spacing), mu * math.sqrt(times))
        assert there <= lower * (1 + 1e-6)


def test_gaussian_and_others_composed():
    """Different mechanisms, of different lattices: Gaussians again make a Gaussian."""
    sigmas, counts = (1.0, 3.3, 17.0, 100.0), (1, 3, 40, 1000)
    total, mu2, shift = COST.of_losses([0.0], [1.0]), 0.0, 0.0
    for sigma, count in zip(sigmas, counts, strict=True):
        once = gaussian(1 / sigma)
        total += once * count
        mu2 += count / sigma**2
        shift += count * gaussian_profile(1 / sigma)[0]
    for delta in (1e-3, 1e-20):
        exact = gaussian_epsilon(delta, math.sqrt(mu2))
        assert exact * (1 - 1e-12) <= total.epsilon(delta) <= exact * (1 + 2e-5)
        assert total.delta(exact) >= delta * (1 - 1e-9)


@pytest.mark.parametrize("points", [50, 500, 20_000])
def test_finer_lattices_are_closer(points, check_error):
    exact = gaussian_epsilon(1e-6, math.sqrt(50) * 0.4)
    got = (gaussian(0.4, points) * 50).epsilon(1e-6)
    assert exact * (1 - 1e-12) <= got
    check_error("privacy_loss, times points^2", (got / exact - 1) * points**2, 40.0)


def test_the_curve_once(check_error):
    """A single release: at the points the curve is what was given, between them straight in e^e."""
    spacing, heights = gaussian_profile(1.0, 300)
    once, worst = of_profile(spacing, heights), 0.0
    for i in range(0, 180, 7):
        worst = max(worst, once.delta(i * spacing) / heights[i] - 1)
        assert once.delta(i * spacing) >= heights[i] * (1 - 1e-15)
        between = once.delta((i + 0.4) * spacing)
        share = math.expm1(0.4 * spacing) / math.expm1(spacing)
        line = heights[i] + share * (heights[i + 1] - heights[i])
        assert abs(between / line - 1) < 1e-7
    check_error("PrivacyLossDistribution.delta, once, at points", worst, 1e-8)


# --- exact enumeration ----------------------------------------------------------------------------


@pytest.mark.parametrize("cases", [4, *by_night(12)])
def test_random_mechanisms_by_enumeration(cases, rng, check_error):
    worst = 0.0
    with mp.workdps(30):
        for _ in range(cases):
            size, times = int(rng.integers(2, 5)), int(rng.integers(1, 5))
            p, q = random_pair(rng, size)
            other_p, other_q = random_pair(rng, 3)
            values, exact_q = losses_of(p, q)
            other_values, other_exact_q = losses_of(other_p, other_q)
            losses = COST.of_losses(values, p) * times + COST.of_losses(other_values, other_p)
            many_p = product(*[p] * times, other_p)
            many_q = product(*[exact_q] * times, other_exact_q)
            largest = np.abs(np.log(p[q > 0] / q[q > 0])).max() * times + 3
            for epsilon in rng.uniform(0, 1.0, 3) ** 2 * largest:
                exact = larger_divergence(many_p, many_q, epsilon)
                got = losses.delta(epsilon)
                assert got >= min(exact, mp.mpf(1))
                if exact > 1e-25:
                    # The share of epsilon that the blur of the lattice is worth.
                    allowed = larger_divergence(many_p, many_q, epsilon * (1 - 1e-3))
                    assert got <= allowed * (1 + 1e-9)
                    worst = max(worst, float(got / exact - 1))
                if q[0] > 0:
                    back = losses.epsilon(min(1.0, got * (1 + 1e-12)))
                    assert back <= epsilon * (1 + 1e-5) + 1e-9
                for delta in (float(exact) * 0.9, 1e-3, 1e-7):
                    found = losses.epsilon(delta)
                    if found < INF:
                        assert larger_divergence(many_p, many_q, found) <= delta * (1 + 1e-13)
    check_error("PrivacyLossDistribution.delta, enumerated, off the lattice", worst, 1e-5)


def test_randomised_response(rng, check_error):
    """On the lattice: exact but for rounding."""
    worst = 0.0
    for e, times, delta in itertools.product((0.01, 0.5, 4.0), (1, 3, 100, 10_000), (1e-3, 1e-9)):
        true = 1 / (1 + math.exp(-e))
        losses = COST.of_losses([e, -e], [true, 1 - true]) * times
        exact = composed_epsilon(e, 0.0, times, delta)
        got = losses.epsilon(delta)
        assert got >= exact * (1 - 1e-11)
        worst = max(worst, got / exact - 1 if exact > 0 else 0.0)
        x = rng.uniform(0, 0.9) * times * e
        there = composed_delta(e, 0.0, times, x)
        if there > 1e-300:
            assert losses.delta(x) >= there * (1 - 1e-9)
            worst = max(worst, losses.delta(x) / there - 1)
    check_error("PrivacyLossDistribution, randomised response", worst, 1e-7)


def binomial_divergence(a, b, times, epsilon):
    """The divergence of `times` answers, yes with probability a or b, to 30 digits."""
    a, b, scale = mp.mpf(a), mp.mpf(b), mp.exp(mp.mpf(epsilon))
    terms = (
        mp.binomial(times, k)
        * (a**k * (1 - a) ** (times - k) - scale * b**k * (1 - b) ** (times - k))
        for k in range(times + 1)
    )
    return mp.fsum(t for t in terms if t > 0)


@pytest.mark.parametrize(("a", "b"), [(0.6, 0.9), (0.9, 0.6), (0.01, 0.02), (0.25, 0.0)])
def test_the_other_direction_is_derived(a, b):
    """Answers that one order of neighbours tells apart better than the other."""
    values = [math.log(a / b) if b else INF, math.log((1 - a) / (1 - b))]
    once = COST.of_losses(values, [a, 1 - a])
    for times in (1, 5, 40):
        for epsilon in (0.0, 1.9):
            with mp.workdps(40):
                exact = max(
                    binomial_divergence(a, b, times, epsilon),
                    binomial_divergence(b, a, times, epsilon),
                )
                allowed = max(
                    binomial_divergence(a, b, times, epsilon * (1 - 1e-3)),
                    binomial_divergence(b, a, times, epsilon * (1 - 1e-3)),
                )
            got = (once * times).delta(epsilon)
            assert exact * (1 - 1e-12) <= got <= allowed * (1 + 1e-6) + 1e-14
            if 1e-9 < got < 1:
                assert (once * times).epsilon(got * (1 + 1e-9)) <= epsilon + 1e-3


def test_outputs_that_only_one_of_the_two_has():
    """What P never has is an infinite loss of the other order; rounding is none."""
    once = COST.of_losses([-math.log(0.9)], [1.0])  # Q: 0.9 of it, and 0.1 of what P never has
    assert once.delta(50.0) == pytest.approx(0.1)
    assert once.epsilon(0.05) == INF
    for e in (0.1, 1.0, 8.0):
        true = 1 / (1 + math.exp(-e))
        assert COST.of_losses([e, -e], [true, 1 - true]).epsilon(0.0) == pytest.approx(e)


def test_approximate_randomised_response(check_error):
    """The dominating mechanism of (e, d)-DP: with probability d it tells all."""
    worst = 0.0
    for e, d, times in itertools.product((0.1, 2.0), (1e-12, 1e-4), (1, 30, 1000)):
        true = (1 - d) / (1 + math.exp(-e))
        losses = COST.of_losses([e, -e, INF], [true, 1 - d - true, d]) * times
        for x in (0.0, 0.3 * e * math.sqrt(times), 2 * e * times):
            exact = composed_delta(e, d, times, x)
            assert losses.delta(x) >= exact * (1 - 1e-9)
            worst = max(worst, losses.delta(x) / exact - 1)
        assert losses.epsilon(0.5 * d) == INF
    check_error("PrivacyLossDistribution, (epsilon, delta) randomised response", worst, 1e-7)


def test_a_curve_of_which_only_epsilon_and_delta_are_known():
    """The dots of (0.3, 1e-9)-DP, for which Kairouz, Oh and Viswanath are exact."""
    e, d = 0.3, 1e-9
    heights = [d + (1 - d) * math.tanh(e / 2) * (1 + 1e-15), d]
    for times in (1, 10, 1000):
        exact = composed_epsilon(e, d, times, 1e-5)
        got = (of_profile(e, heights) * times).epsilon(1e-5)
        assert exact * (1 - 1e-11) <= got <= exact * (1 + 1e-9)


# --- Laplace: a convolution -----------------------------------------------------------------------


def laplace_delta(e, epsilon):
    """Theorem: the loss of Laplace noise of e = sensitivity / scale, the curve of one release."""
    return np.maximum(0.0, -np.expm1((np.asarray(epsilon) - e) / 2))


@pytest.mark.parametrize("e", [0.1, 1.0, 5.0])
def test_laplace_against_convolution(e, check_error):
    """Losses rounded up, and down, to a fine lattice, convolved without FFT: both are bounds."""
    points = 2000
    h = e / points
    once = of_profile(h, laplace_delta(e, h * np.arange(points + 1)))
    # P(loss <= x) for |x| < e: it is e - 2 Z for the noise Z in (0, e), in units of the scale.
    edges = np.arange(-points, points) * h
    cdf = np.append(0.5 * np.exp((edges - e) / 2), 0.5)
    cdf[0] = 0.5 * math.exp(-e)
    masses = np.append(np.diff(np.concatenate([[0.0], cdf])), 0.5)  # at edges, rounded up; e
    places = np.append(np.arange(-points, points + 1), points)
    up, down = np.zeros(2 * points + 1), np.zeros(2 * points + 1)
    np.add.at(up, places + points, masses)
    np.add.at(down, np.maximum(places - 1, -points) + points, masses)
    down[-2] -= 0.5  # the atom at e stays
    down[-1] += 0.5
    for times in (2, 3):
        bounds = []
        for mass in (up, down):
            total = mass
            for _ in range(times - 1):
                total = np.convolve(total, mass)
            bounds.append(total)
        losses = (np.arange(bounds[0].size) - times * points) * h
        for epsilon in np.array([0.05, 0.3, 0.8]) * times * e:
            above = losses > epsilon
            high, low = (total[above] @ -np.expm1(epsilon - losses[above]) for total in bounds)
            got = (once * times).delta(epsilon)
            assert low * (1 - 1e-9) <= got <= high * (1 + 1e-9)
            assert abs(got / (0.5 * (low + high)) - 1) < 1e-3


# --- upper bounds for a profile -------------------------------------------------------------------


@pytest.mark.parametrize("noise", [1e-12, 1e-9, 1e-6, 1e-3])
def test_profiles_known_from_above_only(noise, rng, check_error):
    """Upper bounds off by a random share, and no convex curve: what comes out is as close."""
    mu = 0.7
    spacing, heights = gaussian_profile(mu)
    losses = of_profile(spacing, heights * (1 + noise * rng.random(heights.size)))
    for times in (1, 30, 1000):
        exact = gaussian_epsilon(1e-6, mu * math.sqrt(times))
        got = (losses * times).epsilon(1e-6)
        assert exact * (1 - 1e-12) <= got
        check_error(f"of_profile, bounds off by {noise:g}", got / exact - 1, 1e-5 + noise)


def largest_convex_curve(t, heights):
    """The largest convex function that is nowhere above these points, at them."""
    corners = []
    for x, y in zip(t, heights, strict=True):
        while len(corners) > 1:
            (x0, y0), (x1, y1) = corners[-2:]
            if (y1 - y0) * (x - x1) < (y - y1) * (x1 - x0):
                break
            corners.pop()
        corners.append((x, y))
    return np.interp(t, *np.array(corners).T)


def test_any_upper_bounds_make_a_valid_distribution(rng):
    """Jumps, plateaus, zeros: never below a symmetric curve that the points may be bounds of."""
    for _ in range(300):
        size = int(rng.integers(2, 60))
        heights = rng.choice([0.0, 1.0, 0.5, 1e-9, 1e-200], size) * rng.random(size)
        release = connect_dots(0.1 * np.arange(size), heights)
        mass = np.exp(release.log_mass)
        assert mass.sum() + release.infinite == pytest.approx(1.0, abs=1e-12)
        t = np.exp(0.1 * np.arange(1 - size, size))
        curve = release.infinite + np.array(
            [mass @ np.maximum(0.0, -np.expm1(np.log(x) - release.values)) for x in t]
        )
        lowest = np.minimum.accumulate(heights)
        both = np.concatenate([1 - t[: size - 1] * (1 - lowest[:0:-1]), lowest])
        truth = largest_convex_curve(t, np.maximum(both, 0.0))
        assert (curve >= truth * (1 - 1e-12) - 1e-15).all()
        assert (curve <= both + 1e-12).all()


# --- the algebra ----------------------------------------------------------------------------------


def test_next_to_the_largest_loss():
    # 3 x is rounded down: there, all three losses together still exceed it.
    x = next(x for x in np.linspace(0.1, 0.2, 100).tolist() if Fraction(3 * x) < 3 * Fraction(x))
    once = COST.of_losses([x, -x], [1 / (1 + math.exp(-x)), 1 / (1 + math.exp(x))])
    left = (3 * Fraction(x) - Fraction(3 * x)) / 8
    assert left <= (once * 3).delta(3 * x) <= 1e-15
    assert (once * 3).delta(math.nextafter(3 * x, 1)) == 0
    assert once.delta(x) == 0
    y = next(y for y in np.linspace(0.3, 0.4, 100).tolist() if sums_too_low(x, y))
    assert composed_delta([x, y], 0.0, 1, x + y) > 0


def sums_too_low(x, y):
    return Fraction(x + y) < Fraction(x) + Fraction(y)


def test_sums_and_products():
    a = gaussian(0.2)
    b = COST.of_losses([0.3, -0.3], [1 / (1 + math.exp(-0.3)), 1 / (1 + math.exp(0.3))])
    one, other = a * 3 + b * 2, b + a + (a + b) + 1 * a
    assert one.count == other.count == 5
    assert one.epsilon(1e-6) == pytest.approx(other.epsilon(1e-6), rel=1e-9)
    assert (a * 2 * 3).epsilon(1e-6) == (a * 6).epsilon(1e-6)
    assert repr(one.losses()) == "PrivacyLossDistribution(5 releases, 2 different)"
    for again in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert again.epsilon(1e-6) == one.epsilon(1e-6)


def test_monotone():
    once = gaussian(0.25)
    epsilons = [(once * n).epsilon(1e-6) for n in range(1, 400, 80)]
    assert (np.diff(epsilons) > 0).all()
    losses = once * 40
    epsilons = [losses.epsilon(delta) for delta in np.geomspace(1e-30, 0.5, 8)]
    assert (np.diff(epsilons) < 0).all()
    deltas = [losses.delta(epsilon) for epsilon in np.linspace(0, 12, 8)]
    assert (np.diff(deltas) < 0).all()


def test_round_trips():
    losses = gaussian(0.25) * 200
    for epsilon in (0.5, 3.0, 10.0, 40.0):
        assert losses.epsilon(losses.delta(epsilon)) == pytest.approx(epsilon, rel=1e-8)


def test_edges():
    once = gaussian(1)
    nothing = once * 0
    assert nothing.count == 0
    assert nothing.delta(0.0) == nothing.epsilon(0.0) == nothing.epsilon(1e-9) == 0.0
    assert once.epsilon(1.0) == 0.0
    assert once.epsilon(0.0) == INF
    assert once.delta(0.0) == pytest.approx(gaussian_delta(0.0, 1.0), rel=1e-8)
    assert 1 >= (once * 10**6).delta(0.0) > 1 - 1e-9
    response = COST.of_losses([1.0, -1.0], [math.e / (1 + math.e), 1 / (1 + math.e)])
    assert response.epsilon(0.0) == pytest.approx(1.0, rel=1e-14)
    assert (response * 7).epsilon(0.0) == pytest.approx(7.0, rel=1e-14)
    assert (response * 7).epsilon(1e-300) <= 7.0 * (1 + 1e-12)
    assert (response * 7).delta(7.0) == 0.0
    told = COST.of_losses([INF], [1.0])
    assert told.delta(1e9) == 1.0
    assert told.epsilon(0.5) == INF
    assert told.epsilon(1.0) == 0.0
    silent = COST.of_losses([0.0], [1.0])
    assert silent.delta(0.0) == silent.epsilon(0.0) == 0.0
    assert (silent * 5 + response).epsilon(1e-9) == pytest.approx(response.epsilon(1e-9))
    assert of_profile(1.0, [1.0, 1.0]).epsilon(0.9) == INF
    assert of_profile(1.0, [0.0, 0.0]).delta(0.0) <= 1e-14


@pytest.mark.parametrize("mu", [1e-30, 1e-12, 1e-6, 100.0, 1e4])
def test_gaussians_of_next_to_no_noise_or_next_to_no_loss(mu):
    once = gaussian(mu)
    spacing, _ = gaussian_profile(mu) if mu > 1e-20 else (1e-30, None)
    for times, delta in itertools.product((1, 1000), (1e-3, 1e-9, 1e-15)):
        exact = gaussian_epsilon(delta, mu * math.sqrt(times))
        assert exact * (1 - 1e-12) <= (once * times).epsilon(delta) <= exact + times * spacing


# --- bad input ------------------------------------------------------------------------------------


BAD = [
    (lambda: tn.costs.PrivacyLossDistribution(), TypeError, "Cost.losses"),
    (lambda: COST.of_losses([], []), ValueError, "losses"),
    (lambda: COST.of_losses([0.0, 1.0], [1.0]), ValueError, "losses"),
    (lambda: COST.of_losses([-INF, 0.0], [0.5, 0.5]), ValueError, "losses"),
    (lambda: COST.of_losses([-0.7, -0.7], [0.5, 0.5]), ValueError, "losses must be log"),
    (lambda: COST.of_losses([0.0, 1.0], [0.5, 0.4]), ValueError, "probabilities"),
    (lambda: COST.of_losses([0.0, 1.0], [1.0, 0.0]), ValueError, "probabilities"),
    (lambda: COST.of_losses([0.0], [1.0]).delta(-1.0), ValueError, "epsilon"),
    (lambda: COST.of_losses([0.0], [1.0]).delta(NAN), ValueError, "epsilon"),
    (lambda: COST.of_losses([0.0], [1.0]).epsilon(-1e-9), ValueError, "delta"),
    (lambda: COST.of_losses([0.0], [1.0]).epsilon(1.1), ValueError, "delta"),
    (lambda: COST.of_losses([0.0], [1.0]).epsilon("a"), TypeError, "delta"),
]


@pytest.mark.parametrize(("call", "kind", "match"), BAD)
def test_bad_input_is_refused_by_name(call, kind, match):
    with pytest.raises(kind, match=match):
        call()
