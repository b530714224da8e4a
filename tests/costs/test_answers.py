"""Answers of a Cost: against closed forms and truths, and against each other."""

import json
import math
import pickle
import warnings

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise import Cost
from tightnoise.costs._answers import _any_difference
from tightnoise.costs._leaf import largest_epsilon, least_epsilon

INF = float("inf")
GAUSSIAN = tn.Gaussian(1.0).cost(sensitivity=1.0)
STEP = GAUSSIAN.sampled(0.01, "poisson")
LAPLACE = tn.Laplace(20.0).cost(sensitivity=1.0)
BINARY = [1.0, -1.0], [1 / (1 + math.exp(-1.0)), 1 / (1 + math.exp(1.0))]
COSTS = {
    "gaussian": tn.Gaussian(20.0).cost(sensitivity=1.0) * 100,
    "step": STEP,
    "training": STEP * 1000,
    "fixed-size": tn.Gaussian(1.0)
    .cost(sensitivity=2.0, adjacency="replace-one")
    .sampled(0.01, "fixed-size")
    * 100,
    "laplace": LAPLACE * 100,
    "direction": tn.VonMisesFisher(15.0, 13_700).cost(),
    "domain": tn.TruncatedGaussian(20.0, 0.0, 120.0).cost(sensitivity=5.0, domain=(0.0, 120.0)) * 3,
    "pure": Cost.of_pure(0.1) * 50,
    "guarantee": Cost.of_approximate(0.1, 1e-8) * 50,
    "two guarantees": Cost.of_approximate(0.1, 1e-8) * 50 + Cost.of_pure(0.3) * 3,
    "zcdp": Cost.of_zcdp(0.02),
    "rdp": Cost.of_rdp([2.0, 8.0, INF], [0.1, 0.4, 0.9]),
    "losses": Cost.of_losses(*BINARY) * 3,
    "profile": Cost.of_profile([0.0, 0.5, 1.0], [0.4, 0.2, 0.0]) * 3,
    "bounded range": Cost.of_bounded_range(0.3) * 10,
    "replaced": tn.Gaussian(2.0)
    .cost(sensitivity=1.0, adjacency="replace-one")
    .sampled(0.1, "poisson"),
    "one draw": (GAUSSIAN * 3 + LAPLACE).sampled(0.1, "poisson") * 5,
    "group": STEP.group(3),
    "plan": STEP * 100 + LAPLACE * 5 + Cost.of_pure(0.1),
}


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(2.0, 1e-7), pytest.param(0.1, 1e-3, marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("name", COSTS)
def test_no_way_proves_less_than_the_answer(name, epsilon, delta):
    cost = COSTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ways = [cost.epsilon(delta, by=way) for way in ("rdp", "losses", "profile")]
        assert cost.epsilon(delta) <= min(ways) * (1 + 1e-9)
        assert cost.explain(delta).epsilon == cost.epsilon(delta)
        ways = [cost.delta(epsilon, by=way) for way in ("rdp", "losses", "profile")]
        assert cost.delta(epsilon) <= min(ways) * (1 + 1e-9)


NOISE = tn.Gaussian(1.0).cost(sensitivity=1.0, adjacency="add-remove")
BETWEEN = tn.RectifiedGaussian(3.0, 0.0, 1.0).cost(sensitivity=0.3, domain=(0.0, 1.0))
STAIRCASE = tn.Staircase(1.0, 1.0, 0.3).cost(sensitivity=1.0)
SOME_MODES = tn.MultiGaussianMixture(0.2, 1.0, 1.0, 2).cost(sensitivity=1.0)


@pytest.mark.parametrize(
    ("cost", "leaf", "why"),
    [
        (LAPLACE * 3 + Cost.of_zcdp(0.1), "zcdp", "an upper bound, of which no pair"),
        (BETWEEN * 17, "domain", "which true values cost most depends on epsilon"),
        (BETWEEN.sampled(0.1, "poisson") * 17, "sampled", "which true values cost most depends"),
        (SOME_MODES * 3, "additive", "several modes"),
        (Cost.of_bounded_range(1.0) * 5, "bounded-range", "from below it is one of them"),
        (LAPLACE.sampled(0.1, "poisson").group(3) * 5, "3 records", "of a chain of neighbours"),
        (
            (Cost.of_gdp(1.0) + Cost.of_response(0.6)).sampled(0.1, "poisson") * 2,
            "sampled",
            "several releases",
        ),
        ((LAPLACE + SOME_MODES).sampled(0.1, "poisson") * 2, "sampled", "several modes"),
        (
            tn.Laplace(1.0).cost(sensitivity=1.0, adjacency="replace-one").sampled(0.1, "poisson")
            * 2,
            "sampled",
            "a record that is replaced in a Poisson sample",
        ),
        (Cost.of_gdp(1.0).allocated(2) * 3, "in one of 2", "an upper bound"),
        (
            tn.Gaussian(0.45).cost(sensitivity=1.0, adjacency="add-remove").sampled(2e-9, "poisson")
            * 200_000_000
            + tn.Laplace(3.0).cost(sensitivity=1.0) * 3,
            "so many losses",
            "than the limit of work allows",
        ),
        (STAIRCASE * 2**31, "of more than 1073741824", "no sum is laid out"),
    ],
)
def test_why_bounds_are_not_narrow(cost, leaf, why):
    found = cost.explain(1e-6)
    assert not found.is_narrow
    assert found.reason.lstrip("[").startswith(leaf)
    assert why in found.reason
    line = str(found).splitlines()[1]
    what = "bounds within 1e-6 are" if found.lower > 0 else "lower bound is"
    assert line == f"no {what} proved: {found.reason}"


@pytest.mark.parametrize("name", ["training", "laplace", "losses", "fixed-size"])
def test_narrow_bounds_need_no_reason(name):
    found = COSTS[name].explain(1e-6)
    assert found.is_narrow
    assert found.reason == ""
    assert "proved" not in str(found)


@pytest.mark.parametrize(
    ("cost", "count", "delta"),
    [
        (tn.Laplace(0.001728).cost(sensitivity=1.0), 10, 0.3),
        (tn.Laplace(20.0).cost(sensitivity=1.0) + STAIRCASE, 7, 1e-6),
        (tn.Gaussian(2.0).cost(sensitivity=1.0), 100, 1e-5),
    ],
)
def test_a_sample_of_nearly_all_records_costs_no_more_than_all(cost, count, delta):
    for rate in (0.9999958, 0.995):
        sampled = cost.sampled(rate, "poisson") * count
        assert sampled.epsilon(delta) <= (cost * count).epsilon(delta)
        assert sampled.delta(0.5) <= (cost * count).delta(0.5)
        lower, upper = sampled.epsilon_bounds(delta)
        assert lower <= upper <= sampled.epsilon(delta)


@pytest.mark.parametrize("name", COSTS)
def test_epsilon_and_delta_are_one_curve(name):
    cost = COSTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for delta in (1e-6, 1e-2):
            epsilon = cost.epsilon(delta)
            assert cost.delta(epsilon * (1 + 1e-6)) <= delta * (1 + 1e-6)
        deltas = cost.delta(np.array([0.0, 0.3, 1.0, 3.0]))
        assert (np.diff(deltas) <= 1e-12).all()
        assert ((deltas >= 0) & (deltas <= 1)).all()


@pytest.mark.parametrize("name", COSTS)
def test_costs_survive_pickle_and_json(name):
    cost = COSTS[name]
    again = Cost.from_dict(json.loads(json.dumps(cost.to_dict(), allow_nan=False)))
    assert again == cost
    assert hash(again) == hash(cost)
    assert pickle.loads(pickle.dumps(cost)) == cost
    assert again.epsilon(1e-5) == cost.epsilon(1e-5)
    assert len(repr(cost)) < 300


def test_gaussians_of_any_number_are_one():
    mus = [0.05] * 100 + [0.3] * 4
    total = sum((Cost.of_gdp(mu) for mu in mus), Cost())
    mu = math.sqrt(math.fsum(x * x for x in mus))
    for epsilon in (0.5, 2.0):
        with mp.workdps(30):
            truth = mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(
                -mu / 2 - epsilon / mu
            )
        assert float(truth) * (1 - 1e-14) <= total.delta(epsilon) <= float(truth) * (1 + 1e-10)
    assert total.gdp_mu == pytest.approx(mu, rel=1e-14)
    assert total.gdp_mu >= mu * (1 - 1e-15)


def test_a_sampled_gaussian_is_exact():
    rate, epsilon = 0.01, 0.2
    with mp.workdps(30):
        q, e = mp.mpf(rate), mp.mpf(epsilon)

        def gaussian(x):
            return mp.ncdf(0.5 - x) - mp.exp(x) * mp.ncdf(-0.5 - x)

        forward = q * gaussian(mp.log(1 + mp.expm1(e) / q))
    assert float(forward) <= STEP.delta(epsilon) <= float(forward) * (1 + 1e-11)
    assert STEP.epsilon(STEP.delta(epsilon)) == pytest.approx(epsilon, rel=1e-9)


def test_equal_guarantees_are_exact():
    e, n, x = 0.1, 200, 1.5
    with mp.workdps(40):
        e_, total = mp.mpf(e), mp.mpf(0)
        for k in range(n + 1):
            loss = (2 * k - n) * e_
            if loss > x:
                weight = mp.binomial(n, k) * mp.exp(k * e_) / (1 + mp.exp(e_)) ** n
                total += weight * (1 - mp.exp(x - loss))
        failure = 1 - (1 - mp.mpf(1e-8)) ** n
        truth = failure + (1 - failure) * total
    cost = Cost.of_approximate(e, 1e-8) * n
    assert float(truth) <= cost.delta(x) <= float(truth) * (1 + 1e-11)
    assert cost.epsilon(1e-7) == INF  # one of them fails more often


@pytest.mark.parametrize("eta", [30.0, 75.0, 400.0, 699.0])
def test_responses_of_a_wide_range_are_told_from_below(eta):
    lower, upper = (Cost.of_bounded_range(eta) * 2).epsilon_bounds(1e-4)
    assert eta * (1 - 1e-3) <= lower <= upper <= 2 * eta


def test_bounded_range_against_a_search():
    eta = 0.8
    cost = Cost.of_bounded_range(eta)
    t = np.linspace(1e-6, eta - 1e-6, 20_001)
    high = -np.expm1(t - eta) / -np.expm1(-eta)  # of the loss t, else t - eta
    for epsilon in (0.0, 0.1, 0.5):
        two_points = high * np.maximum(-np.expm1(epsilon - t), 0)
        assert two_points.max() * (1 - 1e-12) <= cost.delta(epsilon)
        assert cost.delta(epsilon) <= two_points.max() * (1 + 1e-6)
    assert cost.delta(eta) == 0


def test_attackers():
    once = Cost.of_gdp(1.0)
    assert once.tradeoff(0.05) == pytest.approx(0.74048897, abs=1e-8)
    assert Cost.of_response(0.75).auc == pytest.approx(0.75, abs=1e-8)
    assert Cost.of_response(0.75).auc >= 0.75
    assert Cost().auc == 0.5
    assert Cost().tradeoff([0.0, 0.3]).tolist() == [1.0, 0.7]


@pytest.mark.parametrize("name", COSTS)
def test_tradeoff_curves_are_such(name):
    rates = np.linspace(0, 1, 11)
    misses = COSTS[name].tradeoff(rates)
    assert (misses <= 1 - rates).all()
    assert (misses >= 0).all()
    assert (np.diff(misses) <= 1e-12).all()
    assert 0.5 <= COSTS[name].auc <= 1


def test_far_tradeoffs_are_rounded_down():
    mu, rate = 30.0, 0.5
    with mp.workdps(30):
        truth = mp.ncdf(-mp.mpf(mu))
    found = Cost.of_gdp(mu).tradeoff(rate)
    assert float(truth) * (1 - 1e-9) <= found <= float(truth)


def test_samples_cost_no_more():
    for name in ("gaussian", "laplace", "pure", "guarantee", "losses", "bounded range", "rdp"):
        whole = COSTS[name]
        for delta in (0.0, 1e-6):
            for rate in (0.9, 0.01):
                sampled = whole.sampled(rate, "poisson")
                assert sampled.epsilon(delta) <= whole.epsilon(delta) * (1 + 1e-9)
    assert STEP.sampled(0.5, "poisson").terms[0][0].rate == pytest.approx(0.005)
    assert STEP.sampled(0.0, "poisson") == Cost()
    assert GAUSSIAN.sampled(1.0, "poisson") is GAUSSIAN


def test_one_draw_is_worse_than_as_many():
    one, many = (GAUSSIAN * 10).sampled(0.01, "poisson"), STEP * 10
    assert one.epsilon(1e-6) > many.epsilon(1e-6)


def test_replaced_records_in_poisson_samples():
    pair = tn.Gaussian(2.0).cost(sensitivity=2.0, adjacency="replace-one")
    sampled = pair.sampled(0.1, "poisson")
    assert sampled.adjacency == "replace-one"
    for epsilon in (0.0, 1.0):
        assert sampled.delta(epsilon) == pytest.approx(0.1 * pair.delta(epsilon), rel=1e-12)
    assert sampled.epsilon(1e-5, by="rdp") < pair.epsilon(1e-5, by="rdp")


def test_samples_of_a_fixed_size_need_the_change_of_a_replaced_record():
    with pytest.raises(ValueError, match="adjacency must be 'replace-one'"):
        GAUSSIAN.sampled(0.01, "fixed-size")
    turned = tn.VonMisesFisher(5.0, 50).cost().sampled(0.01, "fixed-size")
    assert turned.adjacency == "replace-one"
    with pytest.raises(ValueError, match="different neighbours"):
        turned + STEP


def test_several_records_are_not_one_that_is_sampled():
    # Three records are in a sample with nearly three times the probability of one.
    for cost in (GAUSSIAN.group(3), GAUSSIAN.group(2), Cost.of_pure(1.0).group(2)):
        with pytest.raises(ValueError, match="of one record to be sampled"):
            cost.sampled(0.01, "poisson")
    pair = tn.Gaussian(1.0).cost(sensitivity=1.0, adjacency="add-remove").group(2)
    assert pair == tn.Gaussian(1.0).cost(sensitivity=2.0, adjacency="replace-one")
    assert pair.sampled(0.01, "fixed-size").adjacency == "replace-one"


def test_groups_by_the_chain_of_neighbours():
    once = Cost.of_losses(*BINARY)
    for k in (2, 5):
        group = once.group(k)
        assert group.epsilon(0.0) == pytest.approx(k, rel=1e-12)
        for epsilon in (0.0, 0.5, 1.7):
            each = epsilon / k
            grown = k if each == 0 else math.expm1(epsilon) / math.expm1(each)
            assert group.delta(epsilon) <= min(1, once.delta(each) * grown) * (1 + 1e-9)
            assert group.delta(epsilon) >= once.delta(epsilon)
    assert (GAUSSIAN * 4).group(3).gdp_mu == pytest.approx(6.0, rel=1e-12)
    assert Cost.of_zcdp(0.5).group(3).zcdp_rho == pytest.approx(4.5, rel=1e-12)
    assert GAUSSIAN.group(2).group(3) == GAUSSIAN.group(6)


def test_renyi_warns_only_where_it_wins():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (GAUSSIAN * 100_000).epsilon(1e-5) > 0
        assert (STEP * 100).epsilon(1e-5) < 1
    with pytest.warns(UserWarning, match="best order is the largest"):
        Cost.of_rdp([2.0, 3.0], [0.01, 0.015]).epsilon(1e-6)


@pytest.mark.parametrize("count", [10**9, 2**40, 2**53])
def test_counts_without_end(count):
    small = tn.Gaussian(1e5).cost(sensitivity=1.0).sampled(0.01, "poisson") * count
    assert 0 < small.epsilon(1e-6) < INF
    assert (Cost.of_gdp(1e-6) * count).epsilon(1e-6) < INF
    assert (Cost.of_pure(1e-9) * count).epsilon(1e-6) < INF
    with pytest.raises(ValueError, match="count must be at most"):
        small * 2**53 + small


def test_outputs_that_hardly_ever_differ_cost_nothing():
    step = tn.Gaussian(0.1).cost(sensitivity=1.0).sampled(1e-9, "poisson")
    assert (step * 1000).epsilon(1e-6) == 0  # some record is in one of the samples
    assert (step * 1000).delta(0.5) <= 1000 * step.delta(0.0) * (1 + 1e-12)
    assert (step * 1000 + Cost.of_pure(0.1)).epsilon(1e-6) > 0
    # Rounded upwards, and no less than the truth where that is known.
    pair = Cost.of_response(0.6)
    both = _any_difference((pair * 3).terms)
    assert (pair * 3).delta(0.0) <= both == pytest.approx(1 - 0.8**3)
    assert _any_difference((pair * 3 + Cost.of_zcdp(0.1)).terms) == 1


def test_crossings_of_a_profile_are_the_last_and_the_first():
    points = []

    def profile(epsilons):  # it has a corner, and jumps
        points.append(epsilons.size)
        fall = np.where(epsilons < 1.3, 1 - 0.5 * epsilons, 0.3 * np.exp(-epsilons))
        return fall, 0.5 * fall

    for delta in (0.9, 0.35, 0.1, 0.01, 1e-9):
        truth = 2 * (1 - delta) if delta >= 0.35 else max(1.3, -math.log(delta / 0.3))
        upper = least_epsilon(profile, INF, delta)
        assert upper == pytest.approx(truth, rel=1e-13)
        assert max(profile(np.array([upper]))[0]) <= delta
        lower = largest_epsilon(profile, delta, upper * (1 + 1e-7))
        assert lower <= upper
        assert lower == pytest.approx(upper, rel=1e-9)
        assert max(profile(np.array([lower]))[0]) > delta or lower == 0
    assert sum(points) < 2500
    assert least_epsilon(profile, 7.0, 0.0) == 7.0
    assert least_epsilon(profile, INF, 1.0) == 0


def test_noise_with_modes_far_apart():
    # Of far modes each is a Gaussian by itself, for changes that do not reach from one to the next.
    truth = tn.Gaussian(1.0).cost(sensitivity=1.0)
    for apart in (300.0, 1e9):
        for law, parameters in (
            ("multi-gaussian", [1.0, 0.5, apart, 3]),
            ("quasi-gaussian", [1.0, 0.5, apart]),
            ("gaussian-scale-mixture", [[0.0, apart], [0.5, 0.5], [1.0, 1.0]]),
        ):
            leaf = {"kind": "additive", "adjacency": None, "law": law, "parameters": parameters}
            state = {"version": 1, "leaves": [{**leaf, "sensitivity": 1.0, "times": 1}]}
            cost = Cost.from_dict(state)
            # Of scale mixtures, positions are: at 1e9 sigmas to 1e-7 of one.
            close = 1e-5 if law == "gaussian-scale-mixture" and apart > 1e3 else 1e-7
            assert cost.epsilon(1e-6) == pytest.approx(truth.epsilon(1e-6), rel=close)
            together = (cost * 10).epsilon(1e-6)
            assert truth.epsilon(1e-6) < (truth * 10).epsilon(1e-6) <= together
            assert together == pytest.approx((truth * 10).epsilon(1e-6), rel=2 * close + 1e-5)


def test_changes_of_many_sigmas_within_bounds():
    for sigmas in (74.0, 76.0, 1e6):
        cost = tn.TruncatedGaussian(0.3 / sigmas, 0.0, 1.0).cost(sensitivity=0.3, domain=(0.0, 1.0))
        (leaf, _), *_ = cost.terms
        epsilons = np.array([0.0, 1.0, 0.4 * sigmas**2, 0.6 * sigmas**2])
        forward, _ = leaf.profile(epsilons)
        assert (np.diff(forward) <= 0).all()
        free = np.array(
            [tn.Gaussian(0.3 / sigmas).cost(sensitivity=0.3).delta(x) for x in epsilons]
        )
        assert (forward <= free + 1e-12).all()
        assert forward[0] > 1 - 1e-12


def test_numbers_at_the_ends_of_the_range():
    for cost in (
        Cost.of_pure(1e308) * 3,
        Cost.of_approximate(1e308, 0.5) * 2,
        Cost.of_gdp(1e300) * 5,
        Cost.of_gdp(1e-300) * 5,
        Cost.of_zcdp(1e308) * 2,
        Cost.of_bounded_range(1e308),
        Cost.of_bounded_range(1e-300) * 3,
        Cost.of_rdp([2.0], [1e308]) * 2**50,
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for answer in (cost.epsilon(1e-6), cost.delta(1.0), cost.gdp_mu, cost.zcdp_rho):
                assert answer >= 0


def test_squares_beyond_the_range_are_no_errors():
    """Costs whose zCDP is no float: what else is known answers."""
    assert Cost.of_bounded_range(1e308).epsilon(1e-6) == 1e308
    assert (Cost.of_bounded_range(1e308) * 100).epsilon(1e-6) == math.inf
    assert tn.TruncatedGaussian(1.0, 0.0, 3.0).cost(sensitivity=1e200).epsilon(1e-5) == math.inf
    box = {"lower": np.zeros(2), "upper": np.full(2, 1e6), "sensitivity": 1.7e308, "count": 1000}
    assert tn.calibrate.truncated_gaussian(0.001, 0.1, **box).sigma > 1e6
    with pytest.raises(ValueError, match="sigma must be of a shape that is not empty"):
        tn.Gaussian(np.array([])).cost(sensitivity=1.0)


def test_sums():
    assert sum([STEP, LAPLACE, STEP], Cost()) == STEP * 2 + LAPLACE
    assert np.int64(3) * STEP == STEP * 3
    assert Cost() == STEP * 0
    assert (STEP * 2).count == 2
    assert Cost().epsilon(0.0) == 0
    with pytest.raises(TypeError):
        STEP + 1.0


@pytest.mark.parametrize("bad", [-0.1, 1.1, INF, float("nan")])
def test_bad_questions(bad):
    with pytest.raises(ValueError, match="delta must be"):
        STEP.epsilon(bad)
    with pytest.raises(ValueError, match="epsilon must be"):
        STEP.delta(bad if bad in (-0.1, INF) or bad != bad else -1.0)
    with pytest.raises(ValueError, match="by must be one of 'rdp', 'losses', 'profile'"):
        STEP.epsilon(0.1, by="best")


def test_arrays_in_arrays_out():
    deltas = np.array([[1e-3, 1e-6]])
    found = GAUSSIAN.epsilon(deltas)
    assert found.shape == (1, 2)
    assert found[0, 1] == GAUSSIAN.epsilon(1e-6)
    assert isinstance(GAUSSIAN.epsilon(1e-6), float)


@pytest.mark.parametrize("rate", [1e-300, 1e-101, *by_night(1e-99)])
@pytest.mark.parametrize("sigma", [1.0, 1e308])
def test_rates_next_to_nothing(rate, sigma):
    """Beyond what the law in the core takes, other ways answer, no better than they can."""
    step = tn.Gaussian(sigma).cost(sensitivity=1.0).sampled(rate, "poisson") * 5
    assert step.epsilon(1e-6) == 0.0
    assert 0 < step.delta(0.5) <= 1e-38  # 1e-40 of each release is left at the last point
    alone = LAPLACE.epsilon(1e-6)
    assert alone * (1 - 1e-12) <= (step + LAPLACE).epsilon(1e-6) <= 1.1 * alone
    lower, upper = (step + LAPLACE).epsilon_bounds(1e-6)
    assert 0 <= lower <= alone * (1 + 1e-12)
    assert alone * (1 - 1e-12) <= upper <= 1.1 * alone


@pytest.mark.nightly
def test_of_what_is_not_told_together_one_kind_counts_from_below():
    response = Cost.of_response(0.1636, 10) * 5053
    group = tn.Gaussian(3.703).cost(sensitivity=1.0).sampled(0.1178, "poisson").group(13) * 3
    noise = tn.Laplace(1498.0).cost(sensitivity=1.0) * 11539
    lower, upper = (response + group + noise).epsilon_bounds(0.0016)
    assert response.epsilon_bounds(0.0016)[0] <= lower <= upper


LAPLACE = tn.Laplace(1.0).cost(sensitivity=1.0)


@pytest.mark.parametrize(
    ("cost", "exact"),
    [
        (LAPLACE, 1.0),
        (LAPLACE * 100_000, 1e5),
        (LAPLACE.group(3) * 2, 6.0),
        (LAPLACE.sampled(0.1, "poisson") * 5, 5 * math.log1p(0.1 * math.expm1(1.0))),
        (LAPLACE * 2 + tn.Cost.of_response(0.7) * 3, 2 + 3 * math.log(7 / 3)),
        (tn.Cost.of_bounded_range(0.3) * 4, 1.2),
    ],
)
def test_both_sides_at_no_delta(cost, exact):
    """The largest loss of all together is that of each, which have them in one direction."""
    lower, upper = cost.epsilon_bounds(0.0)
    assert lower <= exact <= upper
    assert lower >= exact * (1 - 1e-12)


def test_no_lower_side_at_no_delta_of_what_is_a_bound_only():
    assert tn.Cost.of_zcdp(0.1).epsilon_bounds(0.0) == (0.0, math.inf)
    assert tn.Cost.of_pure(0.5).epsilon_bounds(0.0)[1] == pytest.approx(0.5)


@pytest.mark.nightly
def test_a_plan_that_no_lattice_tells_is_a_contour():
    mixture = tn.MultiGaussianMixture(1.061, 0.6412, 1.0, 5).cost(sensitivity=1.0)
    laplace = tn.Laplace(38.14).cost(sensitivity=1.0)
    plan = mixture.sampled(0.002162, "poisson") * 85 + laplace * 2
    lower, upper = plan.epsilon_bounds(1.224e-8)
    assert 0 < lower <= upper <= lower * (1 + 1e-6)


@pytest.mark.nightly
def test_cases_of_a_group_that_cost_the_same_do_not_widen_an_answer():
    once = tn.Gaussian(4.88).cost(sensitivity=1.0).sampled(0.0001018, "poisson")
    mixture = tn.MultiGaussianMixture(0.6371, 1.911, 1.0, 1).cost(sensitivity=1.0)
    training = tn.Gaussian(1.182).cost(sensitivity=1.0).sampled(0.002082, "poisson")
    plan = training * 143560 + mixture.sampled(0.01308, "poisson") * 172363 + once.group(9) * 377
    lower, upper = plan.epsilon_bounds(6.317e-8)
    assert 0 < lower <= upper <= lower * (1 + 1e-6)


def test_explain_says_how_a_replaced_record_is_told_from_below():
    noise = tn.Gaussian(1.0)
    moved = noise.cost(sensitivity=1.0, adjacency="replace-one").sampled(0.01, "poisson") * 100
    assert "adjacency='replace-one'" in str(moved.explain(1e-6))
    told = noise.cost(sensitivity=1.0).sampled(0.01, "poisson", adjacency="replace-one") * 100
    lower, upper = told.epsilon_bounds(1e-6)
    assert 0 < lower <= upper <= lower * (1 + 1e-6) < moved.epsilon(1e-6)
