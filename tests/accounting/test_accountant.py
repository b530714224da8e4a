"""The accountant: right sums, a past that never changes, and no way to a cost that is too low."""

import copy
import faulthandler
import itertools
import json
import math
import pickle
import sys
import threading
from dataclasses import dataclass

import mpmath as mp
import numpy as np
import pytest

import tightnoise as tn
from tightnoise.accounting import (
    SampledGaussianRdp,
    cost_of,
    gaussian_epsilon,
    poisson_subsampled,
    pure,
    sampled_gaussian,
    zcdp,
)
from tightnoise.costs import DEFAULT_ORDERS, RdpCurve

NAN, INF = math.nan, math.inf
ORDERS = np.array([1.5, 2.0, 4.0, 8.0, 16.0, 32.0])


@pytest.fixture(autouse=True)
def no_hang():
    """End the process if a test takes minutes: a loop in the core does not see exceptions."""
    faulthandler.dump_traceback_later(120, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


def dp_sgd(sigma=1.0, rate=0.01, steps=10_000):
    return tn.RdpAccountant().compose(tn.Gaussian(sigma), steps, sampling_rate=rate)


def mixed():
    """Return an accountant with every kind of step that has a name."""
    accountant = dp_sgd(steps=100).compose(zcdp(1e-3), 7)
    accountant.step(0.7)
    accountant.step(noise_multiplier=1.1, sampling_rate=0.02)
    return accountant.compose(pure(1 / 3), 2)


def table(scale=0.01, **notes):
    return RdpCurve(ORDERS, ORDERS * scale, **notes)


def instance_cost(rng):
    mechanism = tn.RectifiedGaussian(1.5, -1.5, 1.5)
    return mechanism.rdp(rng.normal(size=100), DEFAULT_ORDERS, sensitivity=0.03)


@dataclass(frozen=True)
class Linear:
    """A function that the package does not know."""

    rho: float

    def __call__(self, orders):
        return self.rho * orders


class WithoutHash:
    __hash__ = None

    def __eq__(self, other):
        return True  # a lie: only identity may merge what has no hash

    def __init__(self, rho):
        self.rho = rho

    def __call__(self, orders):
        return self.rho * orders


# Right sums


def test_dp_sgd():
    accountant = tn.RdpAccountant()
    for _ in range(10_000):
        accountant.step(noise_multiplier=1.0, sampling_rate=0.01)
    assert accountant.steps == len(accountant) == 10_000
    assert accountant.adjacency == "add-remove"
    # At least the tight value; at most what searches on a grid of orders find.
    assert 6.9074 <= accountant.epsilon(1e-6) <= 7.4140
    assert 4 < accountant.best_order(1e-6) < 5
    assert accountant.epsilon(1e-6) == dp_sgd().epsilon(1e-6)


def exact_sampled_gaussian(sigma, rate, order):
    """Mironov, Talwar and Zhang 2019, equation (1) of section 3.3, for integer orders."""
    q, s = mp.mpf(rate), mp.mpf(sigma)
    terms = (
        mp.binomial(order, k) * (1 - q) ** (order - k) * q**k * mp.exp(k * (k - 1) / (2 * s**2))
        for k in range(order + 1)
    )
    return mp.log(mp.fsum(terms)) / (order - 1)


def test_a_hundred_sigmas(check_error):
    sigmas = np.linspace(0.8, 3.0, 100).tolist()
    orders = np.array([2.0, 3.0, 5.0, 9.0, 17.0, 33.0])
    continuous, fixed = tn.RdpAccountant(), tn.RdpAccountant(orders)
    for accountant, sigma in itertools.product((continuous, fixed), sigmas):
        accountant.compose(tn.Gaussian(sigma), 100, sampling_rate=0.01)
    assert len(continuous.curve.terms) == 100
    worst = 0.0
    with mp.workdps(40):
        for order, got in zip(orders.astype(int).tolist(), fixed.curve.values, strict=True):
            truth = 100 * mp.fsum(exact_sampled_gaussian(s, 0.01, order) for s in sigmas)
            assert got >= truth
            worst = max(worst, float(mp.mpf(got) / truth - 1))
    check_error("RdpAccountant, 100 different sigmas", worst, 1e-9)
    assert continuous.epsilon(1e-6) <= fixed.epsilon(1e-6)
    backwards = tn.RdpAccountant()
    for sigma in reversed(sigmas):
        backwards.compose(tn.Gaussian(sigma), 100, sampling_rate=0.01)
    assert backwards.epsilon(1e-6) == pytest.approx(continuous.epsilon(1e-6), rel=1e-11)


def test_sensitivity_scales_the_noise(check_error):
    worst = 0.0
    for sigma, sensitivity in itertools.product((0.3, 1.0, 7.0), (1e-3, 0.1, 1.0, 3.0)):
        got = cost_of(tn.Gaussian(sigma), sensitivity=sensitivity).at(ORDERS).values
        with mp.workdps(40):
            for order, value in zip(ORDERS, got, strict=True):
                truth = mp.mpf(order) * mp.mpf(sensitivity) ** 2 / (2 * mp.mpf(sigma) ** 2)
                assert value >= truth
                worst = max(worst, float(value / truth - 1))
    check_error("cost_of Gaussian", worst, 1e-11)
    same = tn.RdpAccountant().compose(tn.Gaussian(3.0), sensitivity=1.5)
    same.step(2.0)
    assert len(same.curve.terms) == 1


def test_sensitivity_that_over_or_underflows():
    assert cost_of(tn.Gaussian(1e300), sensitivity=1e-300).epsilon(1e-6) < 1e-100
    with pytest.raises(ValueError, match=r"sigma / sensitivity must be .*1e-300 / 1e\+300"):
        cost_of(tn.Gaussian(1e-300), sensitivity=1e300)


@pytest.mark.parametrize(
    "mechanism",
    [
        tn.RectifiedGaussian(1.2, -1.0, 0.5),
        tn.QuantizedGaussian(1.2, -1.0, 0.5, 4),
        tn.StochasticSign(1.2),
    ],
)
def test_functions_of_gaussian_noise_cost_no_more_than_it(mechanism, rng):
    """The bound for every value is that of the Gaussian, and no value costs more."""
    accountant = tn.RdpAccountant().compose(mechanism, 3, sensitivity=0.4)
    assert not accountant.per_instance
    bound = accountant.curve.at(ORDERS).values
    assert np.array_equal(bound, (cost_of(tn.Gaussian(1.2), sensitivity=0.4) * 3).at(ORDERS).values)
    for theta in (*rng.normal(size=20), 0.0, -1.0, 0.5, 30.0):
        once = mechanism.rdp(float(theta), ORDERS, sensitivity=0.4)
        assert ((once * 3).values <= bound * (1 + 1e-9)).all()
    # In two coordinates, sensitivity is the Euclidean norm over both.
    split = mechanism.rdp(rng.normal(size=2), ORDERS, sensitivity=0.4 / math.sqrt(2))
    assert ((split * 3).values <= bound * (1 + 1e-9)).all()


def test_sampled_functions_of_gaussian_noise():
    sign = tn.RdpAccountant().compose(tn.StochasticSign(1.0), 10_000, sampling_rate=0.01)
    assert sign.epsilon(1e-6) == dp_sgd().epsilon(1e-6)


def test_curves_are_added_and_sampled():
    accountant = tn.RdpAccountant().compose(zcdp(0.01), 5).compose(table(), 3)
    assert np.array_equal(accountant.alphas, ORDERS)
    expected = (zcdp(0.01) * 5).at(ORDERS) + table() * 3
    assert np.array_equal(accountant.curve.values, expected.values)


@pytest.mark.parametrize("curve", [zcdp(0.05), pure(0.3), table()])
@pytest.mark.filterwarnings("ignore:the best order")
def test_any_curve_can_be_sampled(curve):
    sampled = tn.RdpAccountant().compose(curve, 50, sampling_rate=0.1)
    direct = poisson_subsampled(curve, 0.1) * 50
    assert sampled.adjacency == "add-remove"
    assert np.array_equal(sampled.curve.values, direct.values)
    assert 0 < sampled.epsilon(1e-6) < (curve * 50).epsilon(1e-6)


def test_randomised_response_counts_every_answer():
    """A hundred answers, the truth with probability 3/4; another package once counted one."""
    answers, delta = 100, 1e-6
    curve = pure(math.log(3))
    counted = tn.RdpAccountant().compose(curve, answers)
    looped = tn.RdpAccountant()
    for _ in range(answers):
        looped.compose(curve)
    assert counted.epsilon(delta) == looped.epsilon(delta)
    epsilon = counted.epsilon(delta)

    def exact_delta(loss):
        p = [mp.binomial(answers, k) * mp.mpf(3) ** k / mp.mpf(4) ** answers for k in range(101)]
        return mp.fsum(max(p[k] - mp.exp(loss) * p[answers - k], 0) for k in range(answers + 1))

    with mp.workdps(40):
        assert exact_delta(epsilon) <= delta
        assert exact_delta(0.9 * epsilon) > delta  # and is not far above


def test_delta_is_epsilon_read_the_other_way():
    accountant = mixed()
    for delta in (1e-3, 1e-6, 1e-12):
        epsilon = accountant.epsilon(delta)
        assert accountant.delta(epsilon) == pytest.approx(delta, rel=1e-6)
        assert accountant.delta(epsilon) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("conversion", ["optimal", "canonne", "classic"])
def test_conversions_are_those_of_the_curve(conversion):
    accountant = mixed()
    curve = accountant.curve
    assert accountant.epsilon(1e-6, conversion) == curve.epsilon(1e-6, conversion)
    assert accountant.delta(1.0, conversion) == curve.delta(1.0, conversion)
    assert accountant.best_order(1e-6, conversion) == curve.best_order(1e-6, conversion)
    assert accountant.epsilon(1e-6) <= accountant.epsilon(1e-6, conversion) * (1 + 1e-12)


def test_nothing_released_costs_nothing():
    for accountant in (tn.RdpAccountant(), tn.RdpAccountant(ORDERS)):
        assert accountant.epsilon(1e-300) == 0
        assert accountant.delta(0.0) == 0
        assert accountant.steps == 0
        assert accountant.adjacency is None
        assert not accountant.per_instance
        assert accountant.compose(tn.Gaussian(1.0), 0, sampling_rate=0.1) is accountant
        assert accountant.state_dict() == type(accountant)(accountant.alphas).state_dict()


def test_chosen_orders_are_kept_to():
    fixed = tn.RdpAccountant(ORDERS).compose(tn.Gaussian(2.0), 4)
    assert np.array_equal(fixed.alphas, ORDERS)
    assert not fixed.curve.is_continuous
    assert fixed.best_order(1e-6) in ORDERS
    assert tn.RdpAccountant().compose(tn.Gaussian(2.0), 4).epsilon(1e-6) < fixed.epsilon(1e-6)
    assert tn.RdpAccountant().compose(tn.Gaussian(2.0)).alphas is None


def test_orders_far_beyond_others():
    """Where binomials overflow, or each order took seconds."""
    accountant = tn.RdpAccountant([2.0, 1030.5, 10_000.5, 1e6])
    accountant.compose(tn.Gaussian(100.0), sampling_rate=0.01)
    assert np.isfinite(accountant.curve.values).all()
    assert accountant.epsilon(1e-6) < 0.02


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta"),
    [
        (1e8, 0.01, 1000, 1e-6),
        (1e4, 0.01, 1000, 1e-6),
        (0.05, 0.01, 1000, 1e-6),
        (0.2, 0.01, 1000, 1e-6),
        (1.0, 0.01, 10**8, 1e-6),
        (1.0, 0.01, 10**8, 1e-20),
        (1.0, 1.0, 1000, 1e-300),
        (1e-3, 1e-3, 10, 1e-6),
        (100.0, 1e-8, 1000, 0.5),
    ],
)
def test_answers_where_others_fail(sigma, rate, steps, delta):
    """Within what one step without sampling, or none at all, would cost; and not NaN."""
    epsilon = dp_sgd(sigma, rate, steps).epsilon(delta)
    assert 0 <= epsilon <= dp_sgd(sigma, 1.0, steps).epsilon(delta)
    assert epsilon < INF
    if sigma == 1e4:
        assert epsilon < 0.14  # where grids that end at order 63 stay


def test_noise_too_small_to_matter_is_not_free():
    assert dp_sgd(1e-200, 0.01, 1).epsilon(1e-6) > 1e100


@pytest.mark.filterwarnings("ignore:the best order")
def test_orders_close_to_one_lose_nothing():
    accountant = tn.RdpAccountant([1 + 1e-8]).compose(tn.Gaussian(1.0))
    assert accountant.epsilon(1e-6) >= gaussian_epsilon(1e-6, 1.0)  # not 0
    tiny = tn.RdpAccountant([1 + 1e-8]).compose(tn.Gaussian(1e4), sampling_rate=1e-4)
    assert tiny.curve.values[0] == pytest.approx(0.5e-16, rel=1e-6)


# A past that does not change


def test_reading_changes_nothing():
    accountant = mixed()
    before = accountant.state_dict()
    answers = [accountant.epsilon(1e-6), accountant.delta(1.0), accountant.best_order(1e-6)]
    again = [accountant.epsilon(1e-6), accountant.delta(1.0), accountant.best_order(1e-6)]
    repr(accountant)
    assert answers == again
    assert accountant.state_dict() == before


def test_reading_between_steps_changes_nothing():
    read, unread = tn.RdpAccountant(), tn.RdpAccountant()
    last = 0.0
    for number in range(30):
        for accountant in (read, unread):
            accountant.step(1.0 + 0.1 * (number % 3), 0.01 * (1 + number % 2))
        epsilon = read.epsilon(1e-6)
        assert epsilon > last
        last = epsilon
    assert read.epsilon(1e-6) == unread.epsilon(1e-6)


def test_equal_steps_are_counted():
    accountant = tn.RdpAccountant()
    for _ in range(5):
        accountant.step(1, 0.01)
        accountant.step(np.float64(1.0), 0.01)
        accountant.compose(tn.Gaussian(1.0), sampling_rate=0.01)
        accountant.compose(sampled_gaussian(1.0, 0.01), 2)
        accountant.compose(tn.StochasticSign(2.0), sensitivity=2.0, sampling_rate=0.01)
    assert accountant.steps == 30
    assert [count for _, count in accountant.curve.terms] == [30]


def test_only_equal_functions_are_counted_together():
    accountant = tn.RdpAccountant()
    for rho in (0.1, 0.1, 0.2):
        accountant.compose(RdpCurve.of_function(WithoutHash(rho)))
        accountant.compose(RdpCurve.of_function(Linear(rho)))
    assert sorted(count for _, count in accountant.curve.terms) == [1, 1, 1, 1, 2]
    assert accountant.curve.at([2.0]).values[0] == pytest.approx(1.6, rel=1e-14)


def test_many_tables_add_up(check_error):
    accountant = tn.RdpAccountant()
    scales = np.random.default_rng(1).uniform(1e-5, 1e-3, 2000).tolist()
    for scale in scales:
        accountant.compose(table(scale))
    assert accountant.steps == 2000
    truth = [math.fsum(alpha * scale for scale in scales) for alpha in ORDERS]
    excess = accountant.curve.values / truth - 1
    assert (excess >= -1e-15).all()
    check_error("RdpAccountant, 2,000 tables", excess.max(), 1e-12)


def refusals(rng):
    """Yield what must be refused by an accountant of add-remove costs at ORDERS."""
    gaussian = tn.Gaussian(1.0)
    for bad in (-5, 2**60):
        yield ValueError, "count", lambda a, bad=bad: a.compose(gaussian, bad)
    for bad in (1.5, 10_000.5, 2.0**60, "2", None, True, NAN, INF):
        yield TypeError, "count", lambda a, bad=bad: a.compose(gaussian, bad)
    for bad in ("realised", True, 1, ["fixed"], np.ones(2)):
        yield ValueError, "history", lambda a, bad=bad: a.compose(gaussian, history=bad)
    yield ValueError, "history must be 'fixed'", lambda a: a.compose(table(per_instance=True))
    for bad in (0, 0.0, -0.1, 1.1, NAN, INF):
        yield (
            ValueError,
            "sampling_rate",
            lambda a, bad=bad: a.compose(gaussian, sampling_rate=bad),
        )
        yield ValueError, "sampling_rate", lambda a, bad=bad: a.compose(zcdp(1), sampling_rate=bad)
        yield ValueError, "sampling_rate", lambda a, bad=bad: a.step(1.0, bad)
    for bad in (0.0, -1.0, NAN, INF, -INF):
        yield ValueError, "sensitivity", lambda a, bad=bad: a.compose(gaussian, sensitivity=bad)
        yield ValueError, "noise_multiplier", lambda a, bad=bad: a.step(bad, 0.01)
    for bad in ("1", None, True, 1j, [1.0], np.ones(2)):
        yield TypeError, "sampling_rate", lambda a, bad=bad: a.compose(gaussian, sampling_rate=bad)
        yield TypeError, "sensitivity", lambda a, bad=bad: a.compose(gaussian, sensitivity=bad)
        yield TypeError, "noise_multiplier", lambda a, bad=bad: a.step(bad, 0.01)
        yield TypeError, "sampling_rate", lambda a, bad=bad: a.step(1.0, bad)
    yield ValueError, "sensitivity", lambda a: a.compose(zcdp(0.1), sensitivity=2.0)
    for bad in (True, np.ones(2)):
        yield TypeError, "sensitivity", lambda a, bad=bad: a.compose(zcdp(0.1), sensitivity=bad)
    yield ValueError, "alphas", lambda a: tn.RdpAccountant([[2.0, 3.0], [4.0]])
    for bad in ("remove", "", 1, ["add-remove"], np.ones(2)):
        yield ValueError, "adjacency", lambda a, bad=bad: a.compose(gaussian, adjacency=bad)
    yield ValueError, "adjacency", lambda a: a.compose(gaussian, adjacency="replace-one")
    yield ValueError, "adjacency", lambda a: a.compose(table(adjacency="replace-one"))
    yield ValueError, "adjacency", lambda a: a.compose(gaussian, 0, adjacency="replace-one")
    yield (
        ValueError,
        "adjacency",
        lambda a: a.compose(gaussian, sampling_rate=0.1, adjacency="replace-one"),
    )
    yield ValueError, r"\.at\(", lambda a: a.compose(RdpCurve([2.0, 3.0], [0.1, 0.2]))
    yield (
        ValueError,
        "per.instance",
        lambda a: a.compose(table(per_instance=True), sampling_rate=0.1),
    )
    yield ValueError, "sigma must be one number", lambda a: a.compose(tn.Gaussian([1.0, 2.0]))
    for bad in (None, 1.0, "gaussian", tn.Gaussian, [gaussian]):
        yield TypeError, "mechanism must be", lambda a, bad=bad: a.compose(bad)
    truncated = tn.TruncatedGaussian(1.0, -1.0, 1.0)
    yield TypeError, r"mechanism\.rdp\(theta", lambda a: a.compose(truncated)
    yield ValueError, "count", lambda a: a.compose(zcdp(0.1) * 2**30, 2**30)
    yield ValueError, "count", lambda a: a.compose(gaussian, 2**53)


def test_a_refused_step_leaves_no_trace(rng):
    accountant = dp_sgd(steps=10).compose(table(), 2)
    before, epsilon = accountant.state_dict(), accountant.epsilon(1e-6)
    cases = list(refusals(rng))
    assert len(cases) > 60
    for error, message, call in cases:
        with pytest.raises(error, match=message):
            call(accountant)
        assert accountant.state_dict() == before
    assert accountant.epsilon(1e-6) == epsilon


def test_a_step_is_refused_by_an_accountant_of_replaced_records():
    accountant = tn.RdpAccountant().compose(tn.Gaussian(1.0), adjacency="replace-one")
    with pytest.raises(ValueError, match="adjacency"):
        accountant.step(1.0, 0.01)
    accountant.step(1.0)  # without sampling, for whichever neighbours the multiplier is declared
    assert accountant.steps == 2
    assert accountant.adjacency == accountant.curve.adjacency == "replace-one"


@pytest.mark.parametrize("bad", [0.0, 1.0, 2.0, -0.1, NAN, INF])
def test_bad_delta(bad):
    for accountant in (dp_sgd(), tn.RdpAccountant(), tn.RdpAccountant(ORDERS)):
        for read in (accountant.epsilon, accountant.best_order):
            with pytest.raises(ValueError, match="delta must be"):
                read(bad)


@pytest.mark.parametrize("bad", [-1.0, NAN, INF])
def test_bad_epsilon(bad):
    for accountant in (dp_sgd(), tn.RdpAccountant(), tn.RdpAccountant(ORDERS)):
        with pytest.raises(ValueError, match="epsilon must be"):
            accountant.delta(bad)


@pytest.mark.parametrize(
    "bad", [[], [NAN], [2.0, NAN], [0.0, 2.0], [3.0, 2.0], [2.0, 2.0], 2.0, [[2.0, 3.0]], [0.5, 1]]
)
def test_bad_orders(bad):
    with pytest.raises(ValueError, match="alphas"):
        tn.RdpAccountant(bad)


def test_infinite_order_alone_proves_nothing_of_a_gaussian():
    accountant = tn.RdpAccountant([INF]).compose(tn.Gaussian(1.0))
    assert accountant.epsilon(1e-6) == INF  # not 0


@pytest.mark.parametrize("bad", ["optimal ", "", None, 3])
def test_bad_conversion(bad):
    for read in (dp_sgd().epsilon, dp_sgd().best_order, tn.RdpAccountant().epsilon):
        with pytest.raises(ValueError, match="conversion"):
            read(1e-6, bad)


def test_tables_of_other_orders_are_read_between():
    accountant = tn.RdpAccountant().compose(table())
    other = RdpCurve([1.25, 5.0, 40.0], [0.1, 0.2, 1.0])
    with pytest.raises(ValueError, match=r"\.at\("):
        accountant.compose(other)
    accountant.compose(other.at(accountant.alphas))
    assert accountant.steps == 2
    fixed = tn.RdpAccountant([2.0, 4.0])
    with pytest.raises(ValueError, match=r"2 orders from 2 to 4.*\.at\("):
        fixed.compose(table())
    fixed.compose(table().at(fixed.alphas))


def test_costs_of_one_data_set_are_said_to_be(rng):
    accountant = dp_sgd(steps=10)
    assert not accountant.per_instance
    accountant.compose(instance_cost(rng), 3, history="fixed")
    assert accountant.per_instance
    assert accountant.curve.per_instance
    assert "per-instance" in repr(accountant)
    accountant.step(1.0, 0.01)
    assert accountant.per_instance


def sign_costs():
    """Return what a sign tells at 60 and at 0, for a change of 2.8214, at order 8."""
    sign = tn.StochasticSign(1.0)
    return [sign.rdp([theta], [8.0], sensitivity=2.8214) for theta in (60.0, 0.0)]


def test_costs_along_one_run_do_not_add_up():
    """A free coin, heads once in a hundred times, chooses the value; each run reports its own."""
    tails, heads = (cost.values[0] for cost in sign_costs())
    assert tails < 1e-200
    # The outputs are pairs of coin and sign, in exact arithmetic.
    with mp.workdps(30):
        shift, order = mp.mpf("2.8214"), 8
        joint = mp.mpf(0)
        for chance, theta in ((mp.mpf("0.99"), 60), (mp.mpf("0.01"), 0)):
            for side in (1, -1):
                here, there = mp.ncdf(side * theta), mp.ncdf(side * (theta + shift))
                joint += chance * here**order * there ** (1 - order)
        together = float(mp.log(joint) / (order - 1))
    assert together == pytest.approx(4.586, abs=5e-4)
    assert tails < together < heads  # 99 % of all runs report less than the truth


def test_per_instance_costs_are_added_only_for_a_fixed_history():
    tails, heads = sign_costs()
    coin = tn.RdpAccountant().compose(zcdp(0.0))
    for cost in (tails, heads, heads.at([8.0])):
        with pytest.raises(ValueError, match="does not depend on earlier outputs"):
            coin.compose(cost)
    alone = tn.RdpAccountant().compose(heads)  # one release of one value
    before = alone.state_dict()
    resumed = tn.RdpAccountant()
    resumed.load_state_dict(before)
    for accountant in (alone, resumed, copy.deepcopy(alone)):
        with pytest.raises(ValueError, match="history must be 'fixed'"):
            accountant.compose(tails)
        assert accountant.state_dict() == before
        accountant.compose(tails, history="fixed").step(5.0)
        assert accountant.steps == 3
        assert accountant.per_instance
    twice = tn.RdpAccountant()
    sign = tn.StochasticSign(1.0).rdp([0.0], sensitivity=1.0)
    for call in (lambda: twice.compose(sign, 2), lambda: twice.compose(sign * 2)):
        with pytest.raises(ValueError, match="history must be 'fixed'"):
            call()
    assert twice.compose(sign, 2, history="fixed").steps == 2


def test_counts_may_be_whole_floats():
    counted = tn.RdpAccountant().compose(tn.Gaussian(20.0), 1e4).compose(zcdp(1e-6), np.float32(8))
    assert counted.steps == 10_008
    assert type(counted.steps) is int
    assert tn.RdpAccountant().compose(tn.Gaussian(20.0), 1e4).steps == 10_000


def test_warnings_point_at_the_caller():
    accountant = tn.RdpAccountant([2.0, 3.0]).compose(tn.Gaussian(100.0))
    for read in (accountant.epsilon, accountant.best_order):
        with pytest.warns(UserWarning, match="larger orders") as caught:
            read(1e-6)
        assert caught[0].filename == __file__


def test_threads_lose_no_step():
    accountant = tn.RdpAccountant()

    def release():
        for number in range(1500):
            accountant.step(1.0, 0.01)
            accountant.compose(tn.Gaussian(5.0))
            if number % 100 == 0:
                accountant.epsilon(1e-6)
                accountant.state_dict()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=release) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert accountant.steps == 24_000
    assert dict(accountant.curve.terms) == {
        SampledGaussianRdp(1.0, 0.01): 12_000,
        SampledGaussianRdp(5.0, 1.0): 12_000,
    }


# Saving, resuming, copying


def copies(accountant):
    fresh, other = tn.RdpAccountant(), dp_sgd(5.0, 0.5, 3)
    text = json.dumps(accountant.state_dict(), allow_nan=False)
    fresh.load_state_dict(json.loads(text, parse_constant=pytest.fail))
    other.load_state_dict(accountant.state_dict())
    yield fresh
    yield other
    yield pickle.loads(pickle.dumps(accountant))
    yield copy.copy(accountant)
    yield copy.deepcopy(accountant)


def accountants(rng):
    yield tn.RdpAccountant()
    yield tn.RdpAccountant(ORDERS)
    yield tn.RdpAccountant([2.0, 8.0, INF])
    yield dp_sgd(1 / 3, 0.1, 10**6)
    yield mixed()
    yield tn.RdpAccountant([2.0, 8.0, 20.5, INF]).compose(tn.Gaussian(math.pi), 2**40)
    yield mixed().compose(instance_cost(rng), 3, history="fixed")
    blocks = tn.ProductVonMisesFisher(kappas=[1.0, 2.0], dims=[64, 256])
    yield tn.RdpAccountant().compose(blocks, 5).compose(blocks.layers[0]).compose(zcdp(1e-3) * 7)
    yield tn.RdpAccountant().compose(RdpCurve([2.0, 3.0, INF], [0.1, INF, INF]), 7)
    yield tn.RdpAccountant().compose(tn.Gaussian(1.0), adjacency="replace-one")
    vector = tn.Gaussian([1.0, 2.0]).rdp(np.zeros(2), sensitivity=[0.1, 0.3])
    yield mixed().compose(vector, 3)


def train(accountant, steps):
    for number in range(steps):
        accountant.step(noise_multiplier=0.9 + 0.3 * (number % 4), sampling_rate=1.0)
        accountant.compose(zcdp(0.003))


@pytest.mark.filterwarnings("ignore:the best order")
def test_resuming_changes_no_bit(rng):
    for accountant in accountants(rng):
        for same in copies(accountant):
            assert same.state_dict() == accountant.state_dict()
            assert repr(same) == repr(accountant)
            straight = copy.deepcopy(accountant)
            for each in (straight, same):
                train(each, 11)
            for delta in (1e-3, 1e-9):
                assert same.epsilon(delta) == straight.epsilon(delta)
            assert same.delta(3.0) == straight.delta(3.0)
            assert same.steps == straight.steps == accountant.steps + 22
            assert same.adjacency == straight.adjacency
            assert same.per_instance == straight.per_instance


def test_copies_have_a_future_of_their_own():
    accountant = mixed()
    before = accountant.state_dict()
    for same in copies(accountant):
        train(same, 3)
        same.step(0.7)
        same.compose(tn.Gaussian(1.0), 5, sampling_rate=0.01)
    assert accountant.state_dict() == before


@dataclass
class Unhashable:
    """Two of these with the same rate are equal, but have no hash."""

    rate: float

    def __call__(self, orders):
        return self.rate * orders


def test_functions_without_a_hash_are_not_mistaken_for_each_other():
    """The id of one that is gone may be that of another."""
    for number in range(200):
        small = tn.RdpAccountant().compose(RdpCurve.of_function(Unhashable(1e-6)))
        both = [copy.deepcopy(small), pickle.loads(pickle.dumps(small))]
        del small
        for accountant in both:
            accountant.compose(RdpCurve.of_function(Unhashable(10.0 + number)))
            rates = sorted((function.rate, count) for function, count in accountant.curve.terms)
            assert rates == [(1e-6, 1), (10.0 + number, 1)]


def test_functions_may_be_counted_more_often_than_steps():
    """One release of a curve that is many times a function."""
    accountant = tn.RdpAccountant().compose(zcdp(1e-18) * 2**52).compose(tn.Gaussian(1e3), 5)
    for same in copies(accountant):
        assert same.steps == 6
        assert same.epsilon(1e-6) == accountant.epsilon(1e-6)


def test_unknown_functions_are_kept_as_tables(rng):
    accountant = dp_sgd(steps=1000).compose(RdpCurve.of_function(Linear(0.02)), 3)
    resumed = tn.RdpAccountant()
    resumed.load_state_dict(json.loads(json.dumps(accountant.state_dict())))
    assert resumed.steps == accountant.steps
    for delta in (1e-3, 1e-6, 1e-12):
        exact, upper = accountant.epsilon(delta), resumed.epsilon(delta)
        assert exact <= upper <= 1.01 * exact
    # With orders to keep to, nothing is lost.
    fixed = tn.RdpAccountant(ORDERS).compose(RdpCurve.of_function(Linear(0.02)), 3)
    resumed.load_state_dict(fixed.state_dict())
    assert np.array_equal(resumed.curve.values, fixed.curve.values)
    both = tn.RdpAccountant().compose(table()).compose(RdpCurve.of_function(Linear(0.02)))
    resumed.load_state_dict(both.state_dict())
    assert np.array_equal(resumed.curve.values, both.curve.values)
    assert pickle.loads(pickle.dumps(accountant)).epsilon(1e-6) == accountant.epsilon(1e-6)
    theta, mechanism = rng.normal(size=50), tn.StochasticSign(1.0)
    cost = mechanism.rdp(theta, sensitivity=0.1)
    instance = tn.RdpAccountant().compose(cost, 4, history="fixed")
    resumed.load_state_dict(instance.state_dict())
    assert resumed.per_instance
    assert instance.epsilon(1e-6) <= resumed.epsilon(1e-6) <= 1.01 * instance.epsilon(1e-6)


def bad_states():
    good = mixed().compose(table()).state_dict()

    def edit(*path, to):
        state = copy.deepcopy(good)
        place = state
        for key in path[:-1]:
            place = place[key]
        if to is KeyError:
            del place[path[-1]]
        else:
            place[path[-1]] = to
        return state

    for key in good:
        yield edit(key, to=KeyError), key
    for key in good["functions"][0]:
        yield edit("functions", 0, key, to=KeyError), key
    for key in good["table"]:
        yield edit("table", key, to=KeyError), key
    for path in ((), ("functions", 0), ("table",)):
        yield edit(*path, "more", to=1), "more"
    for bad in (0, 2, -1, "1", None, 1.0, True, NAN):
        yield edit("version", to=bad), "version"
    for bad in (-1, 0, 1, 111, 113, 1.5, "1", None, True, NAN, 2**60):
        yield edit("steps", to=bad), "steps"
    for bad in (0, 1, None, "true", NAN):
        yield edit("per_instance", to=bad), "per_instance"
    for bad in ("remove", "replace-one", None, 1, []):
        yield edit("adjacency", to=bad), "adjacency"
    for bad in ([], [NAN], [2.0, 1.0], ["2"], "inf", 2.0, [0.5], [2.0, 3.0], [True], [10**400]):
        yield edit("alphas", to=bad), "alphas"
    for bad in (None, {}, "x", [1], [[]], [{}], 3):
        yield edit("functions", to=bad), "functions"
    for bad in ("lapace", None, 3, [], "os.system"):
        yield edit("functions", 0, "kind", to=bad), "kind"
    for bad in (0, -1, 1.5, "1", None, NAN, True, 2**60, 10**400):
        yield edit("functions", 0, "count", to=bad), "count"
        yield edit("table", "count", to=bad), "count"
    for bad in (0.0, -1.0, NAN, INF, "1", None, True, [], 10**400):
        yield edit("functions", 0, "noise_multiplier", to=bad), "noise_multiplier"
    for bad in (0.0, -1.0, NAN, 1.5, "inf", None, []):
        yield edit("functions", 0, "sampling_rate", to=bad), "sampling_rate"
    for bad in (-1.0, NAN, "x", None):
        yield edit("functions", 1, "rho", to=bad), "rho"
    for bad in ([], {}, 1, "x"):
        yield edit("table", to=bad), "table"
    for bad in ([-1.0] * 6, [NAN] * 6, ["-inf"] * 6, [0.1] * 5, [1.0, *[0.1] * 5], None, "x", {}):
        yield edit("table", "values", to=bad), "values"
    for bad in (["inf"] * 6, [2.0] * 6, [-1.0, *range(2, 7)], None):
        yield edit("table", "alphas", to=bad), "alphas"


def states_with_other_sums():
    """Yield what costs less, or more, than was added: each loads if nothing is counted."""
    blocks = tn.ProductVonMisesFisher(kappas=[1.0, 2.0], dims=[64, 256])
    alone = tn.RdpAccountant().compose(tn.Gaussian(1.0), 100, sampling_rate=0.01).state_dict()
    for accountant in (mixed(), mixed().compose(table(), 3), mixed().compose(blocks, 3)):
        good = accountant.state_dict()
        functions = good["functions"]
        yield dict(good, functions=[]), "steps"
        yield dict(good, functions=functions[1:]), "steps|adjacency"
        yield dict(good, functions=[*functions, functions[0]]), "functions must differ"
        yield dict(good, functions=[*functions, dict(functions[0], count=1)]), "functions must"
        yield dict(good, functions=[dict(functions[0], count=1), *functions[1:]]), "steps"
        if good["table"] is not None:
            yield dict(good, table=None), "steps"
            yield dict(good, table=dict(good["table"], count=1)), "steps"
    *others, both = functions
    for terms in ([], both["terms"][:1] * 2, "x", None, [both], [{}]):
        yield dict(good, functions=[*others, dict(both, terms=terms)]), "terms|kind"
    yield dict(alone, functions=[]), "steps"
    yield dict(alone, steps=1), "steps"
    yield dict(alone, adjacency=None), "adjacency"
    yield dict(alone, adjacency="replace-one"), "adjacency"
    laplace = tn.RdpAccountant().compose(tn.Laplace(2.0), sensitivity=1.0).state_dict()
    yield dict(laplace, functions=[dict(laplace["functions"][0], sensitivity=0.0)]), "sensitivity"
    direction = tn.RdpAccountant().compose(blocks.layers[0]).state_dict()
    yield dict(direction, functions=[dict(direction["functions"][0], half_chord=0)]), "half_chord"


def test_a_state_holds_all_that_it_counts():
    accountant = tn.RdpAccountant()
    for state, name in states_with_other_sums():
        with pytest.raises(ValueError, match=f"state must be that of an RdpAccountant: .*({name})"):
            accountant.load_state_dict(json.loads(json.dumps(state)))
        assert accountant.steps == 0


def test_what_no_record_changes_is_no_release():
    """It costs nothing, and no state has to hold it."""
    accountant = tn.RdpAccountant()
    accountant.compose(tn.Laplace(1.0).rdp(sensitivity=0.0)).compose(zcdp(0.1) * 0, 5)
    accountant.compose(tn.VonMisesFisher(75.0, 1000).rdp(angle=0.0))
    accountant.compose(
        tn.accounting.sampled_von_mises_fisher(75.0, 1000, 0.1, angle=0.0, sampling="fixed-size")
    )
    assert accountant.steps == 0
    assert accountant.epsilon(1e-6) == 0


def test_bad_states_are_refused():
    accountant = mixed()
    before = accountant.state_dict()
    cases = list(bad_states())
    assert len(cases) > 90
    for state, name in cases:
        with pytest.raises(ValueError, match=f"state must be that of an RdpAccountant: .*{name}"):
            accountant.load_state_dict(state)
        assert accountant.state_dict() == before
    for bad in (None, [], "x", 1):
        with pytest.raises(TypeError, match="state must be a dict"):
            accountant.load_state_dict(bad)
    assert accountant.state_dict() == before


def test_state_is_readable():
    state = mixed().state_dict()
    assert state == {
        "version": 1,
        "alphas": None,
        "adjacency": "add-remove",
        "per_instance": False,
        "steps": 111,
        "functions": [
            {
                "kind": "sampled-gaussian",
                "noise_multiplier": 1.0,
                "sampling_rate": 0.01,
                "count": 100,
            },
            {"kind": "zcdp", "rho": 0.001, "count": 7},
            {"kind": "sampled-gaussian", "noise_multiplier": 0.7, "sampling_rate": 1.0, "count": 1},
            {
                "kind": "sampled-gaussian",
                "noise_multiplier": 1.1,
                "sampling_rate": 0.02,
                "count": 1,
            },
            {"kind": "pure", "epsilon": 1 / 3, "count": 2},
        ],
        "table": None,
    }


# Further mechanisms, and what it says of itself


def test_other_mechanisms_register_themselves():
    class Laplace:
        scale = 2.0

    with pytest.raises(TypeError, match="Laplace"):
        tn.RdpAccountant().compose(Laplace())

    @cost_of.register(Laplace)
    def _(mechanism, *, sampling_rate=1.0, sensitivity=1.0):
        pure = sensitivity / mechanism.scale
        return RdpCurve([2.0, INF], [pure, pure])

    accountant = tn.RdpAccountant().compose(Laplace(), 3, sensitivity=0.5)
    assert accountant.epsilon(1e-6) <= 0.75


def test_repr_explains():
    assert repr(tn.RdpAccountant()) == "RdpAccountant(0 steps)"
    text = repr(dp_sgd())
    assert text.startswith("RdpAccountant(10000 steps of 1 kind, add-remove adjacency; epsilon 7.4")
    assert "at delta 1e-06, best order 4." in text
    accountant = tn.RdpAccountant().compose(table(per_instance=True))
    assert repr(accountant).startswith("RdpAccountant(1 step by tables of 6 orders, per-instance;")
    unknown = tn.RdpAccountant().compose(RdpCurve.of_function(Linear(0.1)))
    assert repr(unknown) == "RdpAccountant(1 step of 1 kind)"
    assert "2 kinds and by tables" in repr(dp_sgd().compose(zcdp(0.1)).compose(table()))
