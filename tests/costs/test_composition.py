"""Composition of (epsilon, delta) guarantees: against exact sums, enumeration and the paper."""

import math

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night
from guarantees import (
    closed_form_delta,
    closed_form_epsilon,
    composed_delta,
    composed_epsilon,
    guarantees,
)

NAN, INF = float("nan"), float("inf")
SUBNORMAL = mp.mpf("1e-323")


def true_failure(delta, count):
    return -mp.expm1(count * mp.log1p(-mp.mpf(delta)))


def losses_above(epsilon, count, floor):
    """(loss, probability) of `count` randomised responses, from the largest loss down to floor."""
    e = mp.mpf(epsilon)
    weight = (1 + mp.exp(-e)) ** -count
    for wrong in range(count + 1):
        loss = (count - 2 * wrong) * e
        if loss <= floor:
            return
        yield loss, weight
        weight = weight * (count - wrong) / (wrong + 1) * mp.exp(-e)


def true_delta(epsilon, delta, count, total_epsilon):
    x = mp.mpf(total_epsilon)
    slack = mp.fsum(p * -mp.expm1(x - loss) for loss, p in losses_above(epsilon, count, x))
    failure = true_failure(delta, count)
    return failure + (1 - failure) * slack


def true_epsilon(epsilon, delta, count, total_delta):
    failure = true_failure(delta, count)
    slack = (mp.mpf(total_delta) - failure) / (1 - failure)
    if slack <= 0:
        return count * mp.mpf(epsilon) if slack == 0 else mp.inf
    true, false = mp.mpf(0), mp.mpf(0)
    for loss, p in losses_above(epsilon, count, 0):
        true += p
        false += p * mp.exp(-loss)
        floor = max(loss - 2 * mp.mpf(epsilon), mp.mpf(0))
        if true - mp.exp(floor) * false >= slack:
            return mp.log((true - slack) / false)
    return mp.mpf(0)


def true_closed_form(releases, total_delta):
    """KOV Theorem 3.5 as printed, for (epsilon, delta, count) triples."""
    kept = mp.mpf(1)
    for _, d, n in releases:
        kept *= (1 - mp.mpf(d)) ** n
    slack = 1 - (1 - mp.mpf(total_delta)) / kept
    total = mp.fsum(n * mp.mpf(e) for e, _, n in releases)
    square = mp.fsum(n * mp.mpf(e) ** 2 for e, _, n in releases)
    mean = mp.fsum(n * mp.expm1(e) * mp.mpf(e) / (mp.exp(e) + 1) for e, _, n in releases)
    second = mean + mp.sqrt(2 * square * mp.log(mp.e + mp.sqrt(square) / slack))
    third = mean + mp.sqrt(2 * square * mp.log(1 / slack))
    return min(total, second, third)


def enumerated_delta(releases, total_epsilon):
    """The hockey-stick divergence of the dominating mechanisms, over all of their outputs.

    Each: the input itself with probability d, else randomised response (KOV, section 6).
    """
    p, q = np.ones(1), np.ones(1)
    for e, d in releases:
        true, false = 1 / (1 + math.exp(-e)), 1 / (1 + math.exp(e))
        one = np.array([d, (1 - d) * true, (1 - d) * false, 0.0])
        p, q = np.outer(p, one).ravel(), np.outer(q, one[::-1]).ravel()
    return float(np.maximum(p - math.exp(total_epsilon) * q, 0).sum())


def random_releases(rng):
    """(epsilon, delta, count, a scale for the total epsilon): all sizes, and the usual ones."""
    count = int(rng.choice([1, 2, 3, 4, 5, 7, 10, 33, 100, 101, 600, rng.integers(1, 400)]))
    epsilon = 10 ** (rng.uniform(-9, 3) if rng.random() < 0.5 else rng.uniform(-3, 1))
    delta = rng.choice([0.0, 0.0, 10 ** rng.uniform(-300, -3)])
    return epsilon, delta, count, count * epsilon * rng.choice([1, 0.1, 0.01, 1e-6])


# --- the exact answer ----------------------------------------------------------------------------


@pytest.mark.parametrize("cases", [100, *by_night(300)])
def test_epsilon_is_exact_and_never_below(cases, rng, check_error):
    worst = 0.0
    with mp.workdps(80):
        for _ in range(cases):
            e, d, n, scale = random_releases(rng)
            total = 10 ** rng.uniform(-300, 0)
            if rng.random() < 0.6:
                total = float(true_delta(e, d, n, rng.uniform(0, 1) * scale))
            total = min(total, 1 - 1e-12)
            truth = true_epsilon(e, d, n, total)
            if truth == mp.inf:
                assert composed_epsilon(e, d, n, total) == INF
                continue
            got = composed_epsilon(e, d, n, total)
            assert got >= truth, (e, d, n, total)
            # What the 23rd digit of total_delta is worth is allowed beside the relative error.
            allowed = true_epsilon(e, d, n, mp.mpf(total) * (1 - mp.mpf("1e-23")))
            if truth > 0 and allowed < mp.inf:
                worst = max(worst, float((got - allowed) / truth))
            else:
                assert got <= allowed * (1 + 1e-12)
    check_error("composed_epsilon, optimal", worst, 1e-12)


@pytest.mark.parametrize("cases", [100, *by_night(300)])
def test_delta_is_exact_and_never_below(cases, rng, check_error):
    worst = 0.0
    with mp.workdps(80):
        for _ in range(cases):
            e, d, n, scale = random_releases(rng)
            x = rng.uniform(0, 1.01) * scale
            truth = min(true_delta(e, d, n, x), mp.mpf(1))
            got = composed_delta(e, d, n, x)
            assert 1 >= got >= truth * (1 - mp.mpf("1e-75")), (e, d, n, x)
            if truth > 1e-300:
                worst = max(worst, float(got / truth - 1))
            else:
                assert got <= truth * (1 + 1e-12) + SUBNORMAL
    check_error("composed_delta, optimal", worst, 1e-12)


@pytest.mark.parametrize("e", [1e-4, 0.01, 0.3, 3.0])
def test_two_thousand_releases(e, check_error):
    with mp.workdps(50):
        for total in [1e-300, 1e-50, 1e-9, 1e-5, 0.01, 0.3]:
            truth = true_epsilon(e, 0.0, 2000, total)
            got = composed_epsilon(e, 0.0, 2000, total)
            assert got >= truth
            if truth > 0:
                check_error("composed_epsilon, N = 2000", float(got / truth - 1), 1e-12)


def test_many_releases_approach_the_gaussian():
    """A million small releases are nearly a Gaussian with mu = sqrt(N) e, from below."""
    n, e = 10**6, 1e-3
    mu = math.sqrt(n) * e
    with mp.workdps(30):
        for x in [0.5, 1.0, 3.0]:
            gauss = mp.ncdf(mu / 2 - x / mu) - mp.exp(x) * mp.ncdf(-mu / 2 - x / mu)
            got = composed_delta(e, 0.0, n, x)
            assert -2e-5 < got / gauss - 1 < 0


def test_deltas_may_differ_and_be_given_in_any_split(rng):
    for _ in range(40):
        deltas = 10 ** rng.uniform(-6, -1, 6)
        e = 10 ** rng.uniform(-2, 1)
        x = rng.uniform(0, 4) * e
        got = composed_delta(e, deltas, 1, x)
        truth = enumerated_delta([(e, d) for d in deltas], x)
        assert got == pytest.approx(truth, rel=1e-9, abs=1e-13)
        assert composed_epsilon(e, deltas, 1, got) <= x * (1 + 1e-9)
    whole = composed_epsilon(0.1, 1e-8, 1000, 1e-3)
    parts = composed_epsilon([0.1, 0.1, 0.0], [1e-8, 1e-8, 0.0], [400, 600, 7], 1e-3)
    assert parts == pytest.approx(whole, rel=1e-12)


def test_releases_without_loss_still_fail():
    assert composed_delta([0.0, 0.0], [0.5, 0.5], [1, 1], 0.0) == pytest.approx(0.75)
    assert composed_epsilon(0.0, 0.0, 5, 0.0) == 0.0
    assert composed_epsilon(3.0, 0.0, 0, 0.0) == 0.0
    assert composed_epsilon([], [], np.array([], dtype=int), 0.0) == 0.0
    one = composed_epsilon([1.0, 0.0], [0.0, 1e-3], [10, 1], 0.01)
    other = composed_epsilon(1.0, 0.0, 10, (0.01 - 1e-3) / (1 - 1e-3))
    assert one == pytest.approx(other, rel=1e-12)


def test_monotone():
    totals = np.geomspace(1e-300, 0.99, 200)
    epsilons = [composed_epsilon(0.1, 0.0, 500, total) for total in totals]
    assert (np.diff(epsilons) <= 0).all()
    counts = [composed_epsilon(0.1, 1e-9, n, 1e-5) for n in range(1, 300)]
    assert (np.diff(counts) > 0).all()
    grown = [composed_epsilon(e, 1e-9, 50, 1e-5) for e in np.geomspace(1e-5, 500, 300)]
    assert (np.diff(grown) > 0).all()
    deltas = [composed_delta(0.1, 0.0, 500, x) for x in np.linspace(0, 50, 300)]
    assert (np.diff(deltas) <= 0).all()


# --- different releases --------------------------------------------------------------------------


def product_losses(epsilons, counts):
    """Every (loss, probability) of so many randomised responses of each epsilon."""
    losses = [(mp.mpf(0), mp.mpf(1))]
    for e, n in zip(epsilons, counts, strict=True):
        e = mp.mpf(float(e))
        true = 1 / (1 + mp.exp(-e))
        one = [
            ((2 * k - int(n)) * e, mp.binomial(int(n), k) * true**k * (1 - true) ** (int(n) - k))
            for k in range(int(n) + 1)
        ]
        losses = [(a + b, p * q) for a, p in losses for b, q in one]
    return losses


@pytest.mark.parametrize("cases", [10, *by_night(20)])
def test_different_releases_are_bounded_from_above_and_closely(cases, rng, check_error):
    """Two or three epsilons, against the sum over all outcomes."""
    worst = 0.0
    with mp.workdps(40):
        for _ in range(cases):
            kinds = int(rng.integers(2, 4))
            usual = rng.random() < 0.5
            e = 10 ** (rng.uniform(-1, 0, kinds) if usual else rng.uniform(-4, 1.2, kinds))
            n = rng.integers(1, [0, 0, 40, 10][kinds], kinds)
            x = rng.uniform(0, 1) * float(e @ n) * rng.choice([1, 0.3, 0.05])
            losses = product_losses(e, n)

            def slack(x, losses=losses):
                return mp.fsum(p * -mp.expm1(x - loss) for loss, p in losses if loss > x)

            truth = slack(x)
            got = composed_delta(e, 0.0, n, x)
            assert got >= truth * (1 - mp.mpf("1e-30")), (e, n, x)
            worst = max(worst, float(got / truth - 1))
            total = float(truth)
            if total < 0.9:
                again = composed_epsilon(e, 0.0, n, total)
                assert slack(again) <= total, (e, n, x)
                # A little less epsilon would be too little for a little less delta.
                assert slack(again * (1 - 1e-6)) >= total * (1 - 1e-5), (e, n, x)
    # What the lattice adds, of which the finest has 2^20 points.
    check_error("composed_delta, up to 80 different", worst, 2e-5)


def test_enumeration_of_different_releases(rng):
    for _ in range(12):
        k = int(rng.integers(2, 7))
        e, d = 10 ** rng.uniform(-1.5, 0.7, k), rng.choice([0.0, 1e-3, 0.02], k)
        x = rng.uniform(0, 1) * e.sum()
        truth = enumerated_delta(list(zip(e, d, strict=True)), x)
        got = composed_delta(e, d, 1, x)
        assert truth * (1 - 1e-9) - 1e-13 <= got <= truth * (1 + 1e-5) + 1e-12
        if truth < 0.99:
            assert composed_epsilon(e, d, 1, got) <= x * (1 + 1e-5)


@pytest.mark.parametrize("count", [3, *by_night(100, 10_000), 1_000_000])
@pytest.mark.parametrize("e", [1e-6, *by_night(0.01), 1.0])
def test_nearly_equal_releases_cost_what_equal_ones_do(e, count, check_error):
    epsilons = e * (1 - np.array([3e-12, 2e-12, 0.0]))
    counts = [count // 3, count // 3, count - 2 * (count // 3)]
    for total in [1e-250, 1e-6]:
        least = composed_epsilon(epsilons[0], 0.0, count, total)
        most = composed_epsilon(e, 0.0, count, total)
        got = composed_epsilon(epsilons, 0.0, counts, total)
        assert got >= least * (1 - 1e-12)
        if most > 0:
            check_error("composed_epsilon, nearly equal", got / most - 1, 1e-6)
        else:
            assert got <= 1e-12 * count * e


def test_different_releases_off_the_lattice(check_error):
    """1 and sqrt(2) have no common multiple; against the Gaussian that many small losses become."""
    for count, limit in [(100, 1e-7), (10_000, 1e-5), (1_000_000, 2e-4)]:
        pair = np.array([0.1, 0.1 * math.sqrt(2)]) / math.sqrt(count)
        mu = math.sqrt(count * (pair**2).sum())
        for total in [1e-9, 1e-3]:
            got = composed_epsilon(pair, 0.0, count, total)
            with mp.workdps(30):

                def gauss(x, mu=mu):
                    return mp.ncdf(mu / 2 - x / mu) - mp.exp(x) * mp.ncdf(-mu / 2 - x / mu)

                low, high = 0.0, 10 * mu
                for _ in range(60):
                    middle = (low + high) / 2
                    low, high = (middle, high) if gauss(middle) > total else (low, middle)
            assert got < high * (1 + limit)
            if count >= 10_000:
                assert got > high * (1 - 30 / count)


@pytest.mark.parametrize("cases", [4, *by_night(12)])
def test_different_releases_are_between_the_trivial_bounds(cases, rng):
    for _ in range(cases):
        k = int(rng.integers(2, 6))
        e, n = 10 ** rng.uniform(-4, 1, k), rng.integers(1, 200, k)
        total = 10 ** rng.uniform(-200, -1)
        got = composed_epsilon(e, 1e-250, n, total)
        assert got <= closed_form_epsilon(e, 1e-250, n, total)
        assert got <= composed_epsilon(e.max(), 1e-250, int(n.sum()), total) * (1 + 1e-9)
        assert got >= composed_epsilon(e.min(), 1e-250, int(n.sum()), total) * (1 - 1e-12)
        i = int(n.argmax())  # leaving out the others is cheaper
        assert got >= composed_epsilon(e[i], 1e-250, int(n[i]), total) * (1 - 1e-12)


def test_different_releases_at_the_edges():
    pair = [0.1, 0.2]
    assert composed_epsilon(pair, 0.0, [1, 1], 0.0) == pytest.approx(0.3, rel=1e-14)
    assert composed_epsilon(pair, 0.0, [1, 1], 0.5) == 0.0
    assert composed_epsilon(pair, 0.0, [1, 1], 5e-324) <= 0.3 * (1 + 1e-12)
    assert composed_delta(pair, 0.0, [1, 1], 0.4) == 0.0
    assert composed_delta([900.0, 1e-3], 0.0, [3, 3], 0.0) == 1.0
    got = composed_epsilon([900.0, 1e-3], 0.0, [3, 3], 1e-6)
    assert 2700.0 <= got <= 2700.003 * (1 + 1e-12)
    tiny = composed_epsilon([1e-9, 3e-9], 0.0, [10, 10], 1e-10)
    assert 0 < tiny < 4e-8


# --- the closed form -----------------------------------------------------------------------------


@pytest.mark.parametrize("cases", [100, *by_night(300)])
def test_closed_form_is_the_theorem_rounded_up(cases, rng, check_error):
    worst = 0.0
    with mp.workdps(700):
        for _ in range(cases):
            k = int(rng.integers(1, 5))
            releases = [
                (10 ** rng.uniform(-9, 3), rng.choice([0.0, 10 ** rng.uniform(-300, -8)]), int(n))
                for n in 10 ** rng.uniform(0, 6, k)
            ]
            e, d, n = (list(column) for column in zip(*releases, strict=True))
            failure = -math.expm1(sum(m * math.log1p(-x) for _, x, m in releases))
            total = min(0.9, failure * (1 + 10 ** rng.uniform(-3, 2)) + 10 ** rng.uniform(-300, -1))
            truth = true_closed_form(releases, total)
            got = closed_form_epsilon(e, d, n, total)
            assert got >= truth
            worst = max(worst, float(got / truth - 1))
    check_error("composed_epsilon, closed form", worst, 1e-12)


def test_closed_form_there_and_back(rng, check_error):
    worst = 0.0
    for _ in range(500):
        e, n = 10 ** rng.uniform(-4, 0.5, 3), rng.integers(1, 10000, 3)
        total = 10 ** rng.uniform(-250, -0.5)
        x = closed_form_epsilon(e, 0.0, n, total)
        if x < 0.999 * e @ n:
            back = closed_form_delta(e, 0.0, n, x)
            assert back >= total * (1 - 1e-9)
            worst = max(worst, abs(back / total - 1))
    check_error("composed_delta, closed form, there and back", worst, 1e-9)


def test_closed_form_is_valid_and_optimal_is_better(rng):
    for _ in range(300):
        e, n = 10 ** rng.uniform(-4, 1.5), int(10 ** rng.uniform(0, 5))
        d = rng.choice([0.0, 1e-12])
        total = 10 ** rng.uniform(-12, -0.5)
        if total <= n * d:
            continue
        best = composed_epsilon(e, d, n, total)
        closed = closed_form_epsilon(e, d, n, total)
        assert best <= closed * (1 + 1e-12)
        assert closed <= n * e * (1 + 1e-12)
        assert composed_delta(e, d, n, closed) <= total * (1 + 1e-9)


def test_closed_form_of_different_releases_is_valid(rng):
    """Enumerated: the truth at the epsilon it gives is at most the delta that was asked for."""
    for _ in range(100):
        k = int(rng.integers(2, 7))
        e, d = 10 ** rng.uniform(-1.5, 0.7, k), rng.choice([0.0, 1e-3, 0.02], k)
        total = 1 - np.prod(1 - d) + 10 ** rng.uniform(-4, -1)
        x = closed_form_epsilon(e, d, 1, total)
        assert enumerated_delta(list(zip(e, d, strict=True)), x) <= total * (1 + 1e-9)


# --- the paper, its reprints, and other packages -------------------------------------------------

# Thirty digits, by 50- and 66-digit arithmetic: (epsilon, delta, N, slack) to the closed form.
THEOREM_34 = [
    (0.5, "0", 100, "1e-5", "36.2385626811259842"),
    (0.1, "0", 2000, "1e-5", "31.4513352544694668360391087446"),
    (0.01, "1e-9", 1407, "1e-6", "1.97081156240751569294021344646"),
    (1, "0", 30, "1e-5", "30"),
    (0.001, "1e-8", 10000, "1e-5", "0.434199537402759316661407948169"),
]


@pytest.mark.parametrize(("e", "d", "n", "slack", "value"), THEOREM_34)
def test_theorem_34(e, d, n, slack, value):
    with mp.workdps(30):
        total = float(1 - (1 - mp.mpf(d)) ** n * (1 - mp.mpf(slack)))
    got = closed_form_epsilon(e, float(d), n, total)
    assert got == pytest.approx(float(value), rel=1e-12)
    if (e, n) == (0.01, 1407):
        assert total == pytest.approx(2.40699760388045235870916521764e-6, rel=1e-14)


def test_the_truth_lies_between_the_points_that_are_listed():
    """The best of the points that Theorem 3.3 lists is 32."""
    assert composed_delta(0.5, 0.0, 100, 32.0) < 1e-5
    assert composed_delta(0.5, 0.0, 100, 31.0) > 1e-5
    assert composed_epsilon(0.5, 0.0, 100, 1e-5) == pytest.approx(31.172863499683714, rel=1e-9)


def test_a_hundred_randomised_responses_count_a_hundred_times():
    """Another package ignored the count of randomised responses and answered log 2 for all.

    Truth with probability 3/4: when a record is replaced the answers have the probabilities
    (3/4, 1/4) and (1/4, 3/4), when it is removed (1/2, 1/2) and (3/4, 1/4), and that package's
    answer for a hundred answers given one by one was 39.41 at delta = 1e-6.
    """
    half, most = mp.mpf(1) / 2, mp.mpf(3) / 4
    with mp.workdps(40):

        def removed(x):
            return mp.fsum(
                mp.binomial(100, k)
                * max(half**100 - mp.exp(x) * most**k * (1 - most) ** (100 - k), 0)
                for k in range(101)
            )

        assert removed(mp.mpf("39.41")) < 1e-6 < removed(mp.mpf("39.40"))
    for e, least in [(math.log(3), 39.41), (math.log(2), 39.41)]:
        assert composed_epsilon(e, 0.0, 100, 1e-6) > least
    with mp.workdps(40):
        truth = true_epsilon(math.log(3), 0.0, 100, 1e-6)
    assert composed_epsilon(math.log(3), 0.0, 100, 1e-6) == pytest.approx(float(truth))
    assert float(truth) == pytest.approx(94.29, abs=0.005)


# --- edges ----------------------------------------------------------------------------------------


def test_edges():
    assert composed_epsilon(0.3, 0.0, 10, 0.0) == pytest.approx(3.0, rel=1e-15)
    assert composed_epsilon(0.3, 0.0, 10, 5e-324) <= 3.0 * (1 + 1e-14)
    assert composed_epsilon(1e-9, 0.0, 10, 0.5) == 0.0
    assert composed_epsilon(1e3, 0.0, 10**6, 1e-6) == pytest.approx(1e9, rel=1e-12)
    assert composed_epsilon(1e300, 0.0, 10, 1e-6) == pytest.approx(1e301, rel=1e-12)
    assert composed_delta(0.3, 0.0, 10, 3.0000001) == 0.0
    assert composed_delta(0.3, 0.0, 10, 1e300) == 0.0
    assert composed_delta(0.1, 0.0, 10**5, 9.9e3) <= 1e-323  # 0 it is not
    assert composed_delta(1e3, 0.0, 10**6, 0.0) == 1.0
    assert composed_delta(0.1, 0.5, 10**6, 1.0) == 1.0
    small = composed_epsilon(1e-200, 0.0, 1, 2e-201)
    assert small == pytest.approx(6e-201, rel=1e-12)  # delta = e/2 - x/2


def test_below_the_failures_nothing_is_proved():
    assert composed_epsilon(0.1, 1e-6, 1000, 9.9e-4) == INF
    failure = -math.expm1(1000 * math.log1p(-1e-6))
    assert composed_epsilon(0.1, 1e-6, 1000, failure * (1 + 1e-12)) <= 100.0 * (1 + 1e-12)


@pytest.mark.parametrize("tiny", [*by_night(1e-9, 1e-40, 2.6e-94, 1e-17), 1e-300])
@pytest.mark.parametrize("big", [*by_night(1e-4, 0.17), 2.4])
def test_releases_of_next_to_no_epsilon_do_not_hide_the_others(tiny, big):
    """Nothing is gained by releases on top, and no more than their epsilons is lost."""
    for slack in (1e-3, 1e-9, 2.2e-10, 1e-14, 1e-100):
        alone = composed_epsilon(big, 0.0, 7, slack)
        both = composed_epsilon([big, tiny], 0.0, [7, 3], slack)
        assert alone * (1 - 1e-12) <= both <= alone * (1 + 1e-5) + 4 * tiny
    for epsilon in (0.3 * big, 4.5 * big):
        alone = composed_delta(big, 0.0, 7, epsilon)
        assert composed_delta([big, tiny], 0.0, [7, 3], epsilon) >= alone * (1 - 1e-12)


def test_epsilons_next_to_underflow_and_overflow():
    assert composed_epsilon([5e-324, 1e-323], 0.0, 10, 1e-320) >= 0
    assert composed_delta([5e-324, 1e-323], 0.0, 10, 0.0) >= 0
    for releases in ((1e308, 0.0, 2**36), ([1e308, 1e-300], 0.0, 2**20)):
        assert guarantees(*releases).epsilon(1e-6) == INF
        assert guarantees(*releases).delta(1.0) == 1.0
