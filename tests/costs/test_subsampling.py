"""Costs of sampled mechanisms: never below the truth, by brute force over small mechanisms."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night
from sampled_curves import poisson_subsampled, sampled_without_replacement

import tightnoise as tn
from tightnoise.costs._sampled_gaussian import SampledGaussianRdp

INF = float("inf")
INTEGERS = np.arange(2.0, 41.0)
# Real and integer orders; the first is far below, the last three are at the end of what is known.
ORDERS = np.array([1.001, 1.2, 1.5, 1.9, 2, 2.4, 3, 4, 5.5, 8, 13, 20.3, 30, 39, 40, INF])
ROUNDING = 1e-12  # of the brute force in double precision, relative to max(cost, 1e-3)


def divergence(log_p, log_q, alpha):
    """D_alpha(p || q) of discrete distributions given by logarithms; arrays broadcast, last axis.

    Small divergences are sums of q ((p/q)^alpha - 1 - alpha (p/q - 1)), which are not negative.
    """
    ratio = log_p - log_q
    if alpha == INF:
        return ratio.max(axis=-1)
    power = alpha * ratio + log_q
    largest = power.max(axis=-1, keepdims=True)
    big = (largest[..., 0] + np.log(np.exp(power - largest).sum(axis=-1))) / (alpha - 1)
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.exp(log_q) * (np.expm1(alpha * ratio) - alpha * np.expm1(ratio))
        small = np.log1p(terms.sum(axis=-1)) / (alpha - 1)
    return np.where(big < 1e-2, small, big)


def worst(first, second, alpha):
    return np.maximum(divergence(first, second, alpha), divergence(second, first, alpha)).max()


def normalised(log_p):
    largest = log_p.max(axis=-1, keepdims=True)
    return log_p - largest - np.log(np.exp(log_p - largest).sum(axis=-1, keepdims=True))


def random_mechanism(rng, inputs):
    """The output distributions, as logarithms, of a mechanism with 2 to 5 outputs, row by row."""
    outputs = rng.integers(2, 6)
    common = rng.normal(size=outputs) * rng.uniform(0, 4)
    difference = rng.normal(size=(inputs, outputs)) * 10 ** rng.uniform(-2.5, 0.7)
    if rng.random() < 0.2:  # heavy on one side: two outputs, one of them rare
        difference[..., 1:] -= rng.exponential(3)
    return normalised(common + difference)


def curve_of(pairs, orders, **notes):
    """The exact curve of a mechanism whose neighbouring outputs are these pairs, rounded up."""
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    costs = [worst(first, second, alpha) for alpha in orders]
    return tn.RdpCurve(orders, np.maximum.accumulate(costs) * (1 + ROUNDING), **notes)


def assert_above(bound, first, second, what):
    truths = [worst(first, second, alpha) for alpha in bound.alphas]
    for alpha, value, truth in zip(bound.alphas, bound.values, truths, strict=True):
        assert value >= truth - ROUNDING * max(truth, 1e-3), (what, alpha, value, truth)
    return np.array(truths)


def orders_known(rng):
    """Orders the curve is known at: all integers, or few orders; with or without infinity."""
    some = np.union1d(INTEGERS, ORDERS)
    if rng.random() < 0.3:
        some = np.sort(rng.choice(some[:-1], size=6, replace=False))
    keep_infinity = rng.random() < 0.5
    return np.union1d(some, [INF]) if keep_infinity else some[np.isfinite(some)]


@pytest.mark.parametrize("seed", [0, *by_night(1, 2, 3)])
def test_poisson_bounds_the_truth_of_random_mechanisms(seed):
    """The mechanism sees any subset of two or three other records, with or without one more."""
    rng = np.random.default_rng(seed)
    for trial in range(120):
        others = int(rng.integers(0, 4))
        outputs = random_mechanism(rng, 2 ** (others + 1))  # by subset; the last bit: the record
        pairs = [
            (outputs[s], outputs[s ^ 2**bit])
            for s in range(2 ** (others + 1))
            for bit in range(others + 1)
        ]
        curve = curve_of(pairs, orders_known(rng))
        q = float(10 ** rng.uniform(-3, -1e-3))
        weights = normalised(
            np.array(
                [
                    math.log(q) * s.bit_count() + math.log1p(-q) * (others - s.bit_count())
                    for s in range(2**others)
                ]
            )
        )[:, None]
        without = np.logaddexp.reduce(weights + outputs[: 2**others], axis=0)
        with_it = np.logaddexp.reduce(weights + outputs[2**others :], axis=0)
        mixture = np.logaddexp(math.log1p(-q) + without, math.log(q) + with_it)
        bound = poisson_subsampled(curve, q)
        assert_above(bound, mixture, without, (seed, trial, q))
        # For a curve that is known at few orders, also what is read between them.
        assert_above(bound.at(ORDERS), mixture, without, (seed, trial, q))


@pytest.mark.parametrize("seed", [0, *by_night(1, 2, 3)])
def test_without_replacement_bounds_the_truth_of_random_mechanisms(seed):
    """All samples of m out of n <= 5 records, and one record replaced by another."""
    rng = np.random.default_rng(100 + seed)
    for trial in range(90):
        population = int(rng.integers(2, 6))
        size = int(rng.integers(1, min(population, 4)))
        # Records 0 ... n-1, and n that replaces record 0; a sample is a set of m of them.
        samples = list(itertools.combinations(range(population + 1), size))
        outputs = dict(zip(samples, random_mechanism(rng, len(samples)), strict=True))
        pairs = [
            (outputs[s], outputs[t])
            for s, t in itertools.combinations(samples, 2)
            if len(set(s) & set(t)) == size - 1
        ]
        curve = curve_of(pairs, orders_known(rng))

        def mixture(gone, outputs=outputs, samples=samples):
            logs = [outputs[s] for s in samples if gone not in s]
            return np.logaddexp.reduce(logs, axis=0) - math.log(len(logs))

        bound = sampled_without_replacement(curve, size, population)
        assert_above(bound, mixture(population), mixture(0), (seed, trial))


@pytest.mark.parametrize("kind", ["poisson", "fixed"])
def test_worst_pairs_for_the_direction_that_is_not_expanded(kind, rng):
    """Skewed pairs: a rare output that one side has e^30 times as often, at all rates."""
    for _ in range(100):
        p = 10 ** rng.uniform(-14, -1)
        r = 10 ** rng.uniform(-6, 6)
        base = normalised(np.log([1 - p, p]))
        one = normalised(np.log([1 - p, p * r]))
        two = normalised(np.log([1 - p, p / r]))
        trio = (base, one, two)[:: int(rng.choice([-1, 1]))]
        q = float(rng.choice([1e-4, 0.01, 0.1, 0.5, 0.9, 0.999]))
        orders = orders_known(rng)

        def mixed(other, base=trio[0], q=q):
            return np.logaddexp(math.log1p(-q) + base, math.log(q) + other)

        if kind == "poisson":
            bound = poisson_subsampled(curve_of([trio[:2]], orders), q)
            assert_above(bound, mixed(trio[1]), trio[0], (p, r, q))
        else:
            pairs = list(itertools.combinations(trio, 2))
            bound = sampled_without_replacement(curve_of(pairs, orders), round(q * 10**4), 10**4)
            assert_above(bound, mixed(trio[1]), mixed(trio[2]), (p, r, q))


def test_the_inequality_between_the_two_directions(rng):
    """(*) of the core: what makes a factor 3 unnecessary, at 60 digits."""
    with mp.workdps(60):
        for _ in range(3000):
            a = mp.mpf(2 + rng.choice([0.0, 10 ** rng.uniform(-3, 2.5)]))
            q = mp.mpf(10 ** rng.uniform(-5, -1e-6))
            near, far = 1 + rng.normal() * 10 ** rng.uniform(-4, -1), 10 ** rng.uniform(-6, 6)
            r = mp.mpf(abs(rng.choice([near, far])))
            share = 3 * (1 - q) / (3 + 2 * q * (a - 2))
            y, w = 1 - q + q * r, 1 - q + q / r
            slope = (1 - a) * q - (share * a * q + (1 - share) * (1 - a * q))
            right = share * y**a + (1 - share) * r * w**a + slope * (r - 1)
            assert y ** (1 - a) <= right * (1 + mp.mpf(10) ** -50), (a, q, r)


@mp.workdps(120)
def test_no_rounding_goes_below_the_truth(rng):
    """Tiny rates and nearly equal outputs, without any tolerance, at 120 digits."""

    def divergence_of(p, q, alpha):
        total = mp.fsum(x**alpha * y ** (1 - alpha) for x, y in zip(p, q, strict=True))
        return mp.log(total) / (alpha - 1)

    def cost(distributions, alpha):
        return max(divergence_of(p, q, alpha) for p, q in itertools.permutations(distributions, 2))

    orders = np.array([2.0, 3.0, 4.0, 5.0, 8.0, 9.0, 30.0, 31.0, 400.0])
    for _ in range(60):
        outputs = int(rng.integers(2, 4))
        common, scale = rng.exponential(size=outputs), 10 ** rng.uniform(-9, 1.2)
        trio = []
        for _ in range(3):
            weights = [mp.mpf(x) * mp.exp(scale * mp.mpf(rng.normal())) for x in common]
            trio.append([w / mp.fsum(weights) for w in weights])
        size = max(1, round(2**40 * 10 ** rng.uniform(-12, -0.01)))
        q = mp.mpf(size) / 2**40
        rest, one, two = trio
        with_one, with_two = (
            [(1 - q) * x + q * y for x, y in zip(rest, other, strict=True)] for other in (one, two)
        )
        for known, seen, sample in (
            ([rest, one], [rest, with_one], lambda c, q=q: poisson_subsampled(c, float(q))),
            (
                trio,
                [with_one, with_two],
                lambda c, m=size: sampled_without_replacement(c, m, 2**40),
            ),
        ):
            costs = [float(cost(known, mp.mpf(a))) for a in orders]
            bound = sample(tn.RdpCurve(orders, np.nextafter(costs, INF)))
            for alpha, value in zip(orders, bound.values, strict=True):
                assert value >= cost(seen, mp.mpf(alpha)), (alpha, q, scale)


def power_excess(r, j):
    """r^j - 1 - j (r - 1), as a sum without cancellation."""
    x = r - 1
    return sum(math.comb(j, i) * x**i for i in range(2, j + 1))


def test_the_inequalities_of_replaced_records(rng):
    """Those of section 3 of the core, at points near and far from 1."""
    spread = rng.choice([1e-3, 0.1, 1.0, 4.0], size=(2, 50_000))
    b, c = np.exp(rng.normal(size=spread.shape) * spread)
    for j in (2, 3, 4, 5, 8, 13):
        single, both = power_excess(b, j), power_excess(b, j) + power_excess(c, j)
        slack = 1e-12 * (1 + b**j + c**j) * np.minimum(1, abs(b - 1) + abs(c - 1)) ** 2
        assert (np.abs(b - 1) ** j <= single + slack).all()
        assert (np.abs(b - c) ** j <= 2 * both + 2 * slack).all()
    cubes = power_excess(b, 3) + power_excess(c, 3)
    square = (b - c) ** 2
    assert (square <= (square * (1 / b + 1 / c) / 2 + cubes * 2 / 27) * (1 + 1e-12)).all()


def exact_sum(scaled, alpha, q):
    """K of the Poisson bound at an integer order, term by term as printed."""
    total = (1 - q) ** (alpha - 1) * (alpha * q - q + 1)
    weight = alpha * (1 - q) ** (alpha - 1) * q
    for order in range(2, alpha + 1):
        weight *= q / (1 - q) * (alpha - order + 1) / order
        total += weight * mp.exp(scaled(order))
    return mp.log(total)


GAUSSIAN_CASES = [  # sampling rate, noise, order
    (0.01, 4.0, 2),
    (0.01, 4.0, 32),
    (0.5, 1.0, 7),
    (0.999, 0.05, 20),
    (1e-6, 1000.0, 3),
    (1e-12, 1.0, 2),
    (1e-12, 30.0, 1024),
    (1e-3, 1.0, 64),
    (1e-3, 50.0, 4096),
    (0.3, 90.0, 8192),
    (1e-100, 0.7, 5),
    (5e-324, 1.0, 2),
]


@pytest.mark.parametrize(("q", "noise", "order"), GAUSSIAN_CASES)
def test_poisson_is_the_binomial_sum_for_gaussian_noise(q, noise, order, check_error):
    orders = np.arange(2.0, order + 1)
    curve = tn.RdpCurve(orders, orders / (2 * noise**2))
    value = float(poisson_subsampled(curve, q).values[-1])
    with mp.workdps(800 if q < 1e-50 else 60):

        def scaled(n):
            return (n - 1) * mp.mpf(float(curve.values[n - 2]))

        truth = exact_sum(scaled, order, mp.mpf(q)) / (order - 1)
        assert value >= truth
        if truth > 1e-290:
            check_error("Poisson bound, Gaussian noise", float(value / truth - 1), 1e-9)


def replaced_sum(scaled, alpha, q):
    """K of the bound without replacement at an integer order, by the formulas of the core."""

    def poisson(order):
        """At a real order, by the chord between integers."""
        below = int(order)
        share = order - below
        low = exact_sum(scaled, below, q) if below > 1 else mp.mpf(0)
        return low if share == 0 else low + share * (exact_sum(scaled, below + 1, q) - low)

    total = mp.mpf(1)
    for j in range(2, alpha + 1):
        excess = mp.expm1(scaled(j))
        outside = min(2 * mp.exp(scaled(j)), 4 * excess)
        if j == 2:
            outside = min(outside, excess + mp.mpf(4) / 27 * mp.expm1(scaled(3)))
        total += mp.binomial(alpha, j) * q**j * ((1 - q) * outside + q * excess)
    bounds = [mp.log(total), scaled(alpha), mp.log1p(q * mp.expm1(scaled(alpha)))]
    for step in {1, (alpha + 3) // 4, (alpha + 1) // 2, alpha}:
        n = alpha + step
        reach = mp.mpf(alpha - 1) * n / step
        second = -reach * mp.log1p(-q)
        if 1 + reach < 500:
            second = min(second, poisson(1 + reach))
        bounds.append((poisson(n) * alpha + second * step) / n)
    return min(bounds)


@pytest.mark.parametrize("order", [2, 3, 5, 16, 60])
@pytest.mark.parametrize("noise", [0.3, 1.0, 5.0, 80.0])
@pytest.mark.parametrize("size", [1, 10**3, 10**5, 7 * 10**5])
def test_without_replacement_is_the_formula_for_gaussian_noise(order, noise, size, check_error):
    curve = tn.RdpCurve.of_function(lambda alpha: alpha / (2 * noise**2), alphas=[float(order)])
    value = float(sampled_without_replacement(curve, size, 10**6).values[0])
    with mp.workdps(50):

        def scaled(n):
            return (n - 1) * mp.mpf(n / (2 * noise**2))

        truth = replaced_sum(scaled, order, mp.mpf(size) / 10**6) / (order - 1)
        assert value >= truth
        check_error("bound without replacement", float(value / truth - 1), 1e-9)


def vmf_moment(order, dim, kappa, q=1.0):
    """log E_Q[(P'/Q)^order], P' = (1-q) Q + q P, for antipodal von Mises-Fisher P and Q.

    The component t along the axis has a density prop. to exp(-kappa t) (1 - t^2)^((dim - 3)/2)
    under Q, and P/Q = exp(2 kappa t): Gauss-Legendre quadrature.
    """
    t, weight = np.polynomial.legendre.leggauss(150)
    density = np.log(weight) - kappa * t + (dim - 3) / 2 * np.log1p(-t * t)
    ratio = 2 * kappa * t if q == 1 else np.logaddexp(math.log1p(-q), math.log(q) + 2 * kappa * t)
    return np.logaddexp.reduce(order * ratio + density) - np.logaddexp.reduce(density)


VMF_REFERENCES = [  # kappa, order, the exact cost at dim = 13700 and rate 128/60000, to 30 digits
    (25, 2, "9.11080163108975210909143042370e-7"),
    (25, 17, "7.79746333275895801963571007808e-6"),
    (75, 3, "0.0000290416858256758022288523050263"),
    (75, 17, "7.20677798942273446162584523735"),
    (150, 2, "0.00322201579012765599966349833348"),
    (300, 2, "13.9146048103762334562231965506"),
    (300, 17, "180.060092179233664264370422838"),
]


@pytest.mark.parametrize(("kappa", "order", "cost"), VMF_REFERENCES)
def test_von_mises_fisher(kappa, order, cost, check_error):
    """Exact for a mechanism that its dominating pair's reflection maps to itself.

    kappa = 300, order 2 refutes the prefactor 1/alpha that is printed in places: half of 13.91.
    """
    orders = np.arange(2.0, order + 1)
    with mp.workdps(40):

        def log_a(k):
            return mp.log(mp.hyp0f1(mp.mpf(13700) / 2, mp.mpf(k) ** 2 / 4))

        costs = [float((log_a((2 * n - 1) * kappa) - log_a(kappa)) / (n - 1)) for n in orders]
    value = poisson_subsampled(tn.RdpCurve(orders, costs), 128 / 60000).values[-1]
    check_error("Poisson bound, von Mises-Fisher", abs(float(value) / float(cost) - 1), 1e-9)


def test_the_chord_of_the_divergence_itself_is_no_bound():
    """At order 1.25, dim 100, kappa 40, rate 0.1 the truth, 21.58, is above the chord of D."""
    dim, kappa, q = 100, 40, 0.1
    orders = np.arange(2.0, 6.0)
    curve = tn.RdpCurve(orders, [vmf_moment(n, dim, kappa) / (n - 1) + 1e-10 for n in orders])
    truth = {a: vmf_moment(a, dim, kappa, q) / (a - 1) for a in (1.25, 1.5, 2.0)}
    near_one = vmf_moment(1.0001, dim, kappa, q) * 10**4
    assert truth[1.25] == pytest.approx(21.58, abs=0.005)
    assert 0.75 * near_one + 0.25 * truth[2] < truth[1.25]
    bound = poisson_subsampled(curve, 0.1)
    for order, cost in truth.items():
        assert bound.at([order]).values[0] >= cost * (1 - 1e-12)
    chord = 0.5 * truth[2] / 0.5  # of (alpha - 1) D, at 1.5 between 1 and 2
    assert truth[1.5] <= bound.at([1.5]).values[0] <= chord * (1 + 1e-9)


@pytest.mark.parametrize(("noise", "q"), [(0.7, 0.01), (1.0, 0.3), (4.0, 0.01), (20.0, 1e-4)])
def test_never_below_the_sampled_gaussian_and_equal_at_integers(noise, q, check_error):
    exact = tn.RdpCurve.of_function(SampledGaussianRdp(noise, q))
    bound = poisson_subsampled(tn.RdpCurve.of_function(SampledGaussianRdp(noise, 1.0)), q)
    assert np.array_equal(bound.alphas, tn.costs.DEFAULT_ORDERS)
    below = exact.values > bound.values * (1 + 1e-9)  # both are rounded up
    assert not below.any(), (bound.alphas[below], exact.values[below] / bound.values[below] - 1)
    integer = (bound.alphas <= 64) & (bound.alphas % 1 == 0)
    ratio = bound.values[integer] / exact.values[integer] - 1
    check_error("Poisson bound, sampled Gaussian at integers", np.abs(ratio).max(), 1e-9)
    step = tn.Cost.of_rdp(bound.alphas, bound.values) * 1000
    thousand = tn.RdpCurve.of_terms([(SampledGaussianRdp(noise, q), 1000)])
    assert step.epsilon(1e-5, by="rdp") >= thousand.epsilon(1e-5)


@mp.workdps(50)
def test_never_above_the_published_bounds(rng):
    """Zhu and Wang's with the factor 3, and Theorem 9 of Wang, Balle and Kasiviswanathan."""
    for _ in range(60):
        curve = tn.RdpCurve(
            np.append(np.arange(2.0, 31.0), INF), 10 ** rng.uniform(-4, 1) * np.ones(30)
        )
        if rng.random() < 0.7:
            orders = np.arange(2.0, 31.0)
            curve = tn.RdpCurve(orders, orders * 10 ** rng.uniform(-4, 1))
        q = float(10 ** rng.uniform(-4, -0.05))
        m = max(1, round(q * 10**6))
        poisson, fixed = poisson_subsampled(curve, q), sampled_without_replacement(curve, m, 10**6)
        tau = dict(zip(curve.alphas, (mp.mpf(float(v)) for v in curve.values), strict=True))
        for order in (2, 3, 7, 30):
            terms = [
                mp.binomial(order, n) * mp.exp((n - 1) * tau[float(n)]) for n in range(2, order + 1)
            ]
            p = mp.mpf(q)
            general = (1 - p) ** (order - 1) * (order * p - p + 1) + sum(
                (1 if n == 2 else 3) * t * (1 - p) ** (order - n) * p**n
                for n, t in enumerate(terms, 2)
            )
            assert poisson.at([order]).values[0] <= mp.log(general) / (order - 1) * (1 + 1e-9)
            rate = mp.mpf(m) / 10**6
            first = min(4 * mp.expm1(tau[2.0]), 2 * mp.exp(tau[2.0]))
            wang = 1 + mp.binomial(order, 2) * rate**2 * first
            wang += sum(2 * t * rate**n for n, t in enumerate(terms, 2) if n > 2)
            assert fixed.at([order]).values[0] <= mp.log(wang) / (order - 1) * (1 + 1e-9)


def test_randomised_response_at_infinite_order_and_beyond_the_sums():
    """Pure DP: the amplified epsilon at infinity, and no more than that at any order."""
    curve = tn.RdpCurve([1.5, 10.0, 20_000.0, 1e6, INF], [0.3, 0.4, 0.5, 0.5, 0.5])
    for bound in (
        poisson_subsampled(curve, 0.1),
        sampled_without_replacement(curve, 7, 70),
    ):
        assert bound.values[-1] == pytest.approx(math.log1p(0.1 * math.expm1(0.5)), rel=1e-9)
        assert (np.diff(bound.values) >= 0).all()
        assert (bound.values <= bound.values[-1]).all()


@pytest.mark.parametrize(
    "sample",
    [lambda c: poisson_subsampled(c, 0.25), lambda c: sampled_without_replacement(c, 1, 4)],
)
def test_orders_up_to_one_nothing_known_and_nothing_released(sample):
    some = sample(tn.RdpCurve([0.5, 1.0, 2.0, 3.0], [0.1, 0.2, 0.3, 0.4]))
    assert (some.values[:2] <= [0.1, 0.2]).all()
    assert (some.values[:2] <= some.values[2]).all()
    assert (sample(tn.RdpCurve([0.5, 1.0], [0.1, 0.2])).values == [0.1, 0.2]).all()
    assert (sample(tn.RdpCurve([2.0, 3.0], [0.0, 0.0])).values == 0).all()
    assert (sample(tn.RdpCurve([2.0, 3.0], [INF, INF])).values == INF).all()
    partly = sample(tn.RdpCurve([2.0, 3.0], [0.5, INF])).values
    assert partly[0] < 0.5
    assert partly[1] == INF
    huge = sample(tn.RdpCurve([2.0, 1e300, INF], [1e300, 1e305, 1.7e308])).values
    assert np.isfinite(huge).all()
    tiny = sample(tn.RdpCurve([2.0, 3.0, INF], [5e-324, 5e-324, 5e-324])).values
    assert ((tiny >= 0) & (tiny <= 5e-324)).all()


def test_costs_do_not_decrease_with_the_rate():
    curve = tn.RdpCurve.of_function(lambda alpha: alpha / 8)
    rates = [0.0, 1e-300, 1e-12, 1e-3, 0.1, 0.5, 0.999, 1 - 2**-53, 1.0]
    costs = np.array([poisson_subsampled(curve, q).values for q in rates])
    assert (costs[0] == 0).all()
    assert (costs[1] > 0).all()
    assert (np.diff(costs, axis=0) >= -1e-9 * costs[1:]).all()
    assert (costs[-1] == curve.values).all()
    assert (costs[-2] <= curve.values).all()
    costs = np.array(
        [sampled_without_replacement(curve, m, 1000).values for m in (1, 9, 500, 1000)]
    )
    assert (np.diff(costs, axis=0) >= -1e-9 * costs[1:]).all()
    assert (costs[-1] == curve.values).all()


def test_a_sample_of_a_sample_costs_no_less_than_the_smaller_sample():
    curve = tn.RdpCurve.of_function(lambda alpha: alpha / 2)
    twice = poisson_subsampled(poisson_subsampled(curve, 0.1), 0.2)
    once = poisson_subsampled(curve, 0.1 * 0.2)
    integer = once.alphas % 1 == 0  # elsewhere the once sampled is the one read on chords
    assert (twice.values[integer] >= once.values[integer] * (1 - 1e-9)).all()
