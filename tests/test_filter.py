"""Filters and odometers: what they promise holds against whoever chooses by what was seen."""

import copy
import functools
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise import BudgetError, Cost, PrivacyFilter, PrivacyOdometer
from tightnoise.costs import rdp_to_epsilon

INF, NAN = float("inf"), float("nan")
GAUSSIAN = tn.Gaussian(20.0).cost(sensitivity=1.0)
STEP = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")
RULES = {
    "rdp": lambda e, d: PrivacyFilter(e, d),
    "order 2": lambda e, d: PrivacyFilter(e, d, order=2),
    "order 8": lambda e, d: PrivacyFilter(e, d, order=8.0),
    "order inf": lambda e, d: PrivacyFilter(e, d, order=INF),
    "gdp": lambda e, d: PrivacyFilter(e, d, by="gdp"),
}


def admitted(budget, cost):
    """Return how often a cost is admitted, spending it."""
    count = 0
    while budget.admits(cost):
        assert budget.spend(cost) is budget
        count += 1
    return count


# --- adversaries: every way to choose among a few releases is tried, all outcomes are enumerated


class Release:
    """One of two outcomes, the first with probability p; with probability q for a neighbour."""

    def __init__(self, p, q, cost=None):
        self.outcomes = [(p, q), (1 - p, 1 - q)]
        losses = [math.log(p / q) for p, q in self.outcomes]
        self.cost = Cost.of_losses(losses, [p, 1 - p]) if cost is None else cost


def greatest_delta(watch, menu, epsilon, depth, p=1.0, q=1.0):
    """Return the hockey-stick divergence of the transcript that the best strategy reaches."""
    best = max(p - math.exp(epsilon) * q, 0.0)
    for release in menu if depth else ():
        if watch.admits(release.cost):
            after = copy.copy(watch).spend(release.cost)
            reached = sum(
                greatest_delta(after, menu, epsilon, depth - 1, p * p_here, q * q_here)
                for p_here, q_here in release.outcomes
            )
            best = max(best, reached)
    return best


@functools.cache
def epsilon_of(cost, delta):
    """Return an epsilon that adversaries ask for along many runs."""
    return cost.epsilon(delta)


class SumsOfLosses:
    """What is no filter: as if the releases along this run had been chosen beforehand."""

    def __init__(self, epsilon, delta, spent=None):
        self.epsilon, self.delta, self.so_far = epsilon, delta, spent or Cost()

    def admits(self, cost):
        return epsilon_of(self.so_far + cost, self.delta) <= self.epsilon

    def spend(self, cost):
        return SumsOfLosses(self.epsilon, self.delta, self.so_far + cost)


def two_way(epsilon):
    p = 1 / (1 + math.exp(-epsilon))
    return Release(p, 1 - p)


# After the likely outcome of the first, the second goes too far, rarely enough; after the other one
# only the third does.
LEAK = Release(0.049, 0.049 * math.exp(-8.0))
COIN_AND_LEAK = [two_way(0.5), two_way(0.62), LEAK]


def test_sums_of_adaptively_chosen_losses_are_no_filter():
    reached = greatest_delta(SumsOfLosses(1.0, 0.05), COIN_AND_LEAK, 1.0, 2)
    assert reached > 0.05 * 1.25


class AnyOrder:
    """What is no filter: going on while some order has room."""

    def __init__(self, *filters):
        self.filters = filters

    def admits(self, cost):
        return any(budget.admits(cost) for budget in self.filters)

    def spend(self, cost):
        return AnyOrder(*(copy.copy(f).spend(cost) for f in self.filters if f.admits(cost)))


# The second fits order 2 after the first, the third order 8; neither fits the other order.
BETWEEN_ORDERS = [Release(0.891, 0.942), Release(0.0163, 0.00117), Release(0.289, 0.838)]


def test_going_on_while_some_order_has_room_is_no_filter():
    both = AnyOrder(PrivacyFilter(2.0, 0.01, order=2), PrivacyFilter(2.0, 0.01, order=8))
    assert greatest_delta(both, BETWEEN_ORDERS, 2.0, 2) > 0.01 * 1.4


NEARLY_ALL = [Release(0.0188, 0.00123), Release(0.087, 0.01048), Release(0.0431, 0.0045)]
MENUS = {
    "leak": (1.0, 0.05, COIN_AND_LEAK),
    "orders": (2.0, 0.01, BETWEEN_ORDERS),
    "all at once": (2.0, 0.01, NEARLY_ALL),
    "small": (1.0, 0.02, [two_way(0.3), Release(0.1, 0.06), Release(0.01, 0.004)]),
}


@pytest.mark.parametrize("rule", ["rdp", "order 2", "order 8", "order inf"])
@pytest.mark.parametrize("menu", MENUS)
def test_no_adversary_goes_beyond_a_budget_of_renyi_divergence(rule, menu):
    epsilon, delta, releases = MENUS[menu]
    assert greatest_delta(RULES[rule](epsilon, delta), releases, epsilon, 4) <= delta


def test_a_budget_is_not_too_small():
    reached = greatest_delta(PrivacyFilter(2.0, 0.01, order=8), NEARLY_ALL, 2.0, 1)
    assert reached >= 0.01 * 0.9


def phi(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def sign_of_gaussian(mu, threshold):
    """A function of one Gaussian output: of at most its Gaussian-DP."""
    return Release(phi(mu - threshold), phi(-threshold), Cost.of_gdp(mu))


def test_no_adversary_goes_beyond_a_budget_of_gaussian_dp():
    menu = [sign_of_gaussian(m, t) for m, t in ((0.3, 1.0), (0.5, -1.0), (0.6, 1.5), (0.8, 2.0))]
    reached = greatest_delta(PrivacyFilter(1.0, 0.1, by="gdp"), menu, 1.0, 4)
    assert 0.1 * 0.5 <= reached <= 0.1


@pytest.mark.parametrize("menu", MENUS)
def test_no_adversary_goes_beyond_a_pure_budget(menu):
    _, _, releases = MENUS[menu]
    assert greatest_delta(PrivacyFilter(3.0), releases, 3.0, 4) == 0


def chance_of_excess(odometer, menu, depth, p=1.0, q=1.0):
    """Return the greatest chance, by any strategy, that the ratio is ever above what is read."""
    if math.log(p / q) > odometer.epsilon:
        return p
    best = 0.0
    for release in menu if depth else ():
        after = copy.copy(odometer).spend(release.cost)
        reached = sum(
            chance_of_excess(after, menu, depth - 1, p * p_here, q * q_here)
            for p_here, q_here in release.outcomes
        )
        best = max(best, reached)
    return best


class ReadsSums:
    """What is no odometer: what an accountant says along this run."""

    def __init__(self, delta, spent=None):
        self.delta, self.so_far = delta, spent or Cost()

    @property
    def epsilon(self):
        return epsilon_of(self.so_far, self.delta)

    def spend(self, cost):
        return ReadsSums(self.delta, self.so_far + cost)


@pytest.mark.parametrize("orders", [[2.0], [8.0], [1.5, 3.0, 9.0, INF]])
@pytest.mark.parametrize("delta", [*by_night(0.5, 0.1), 0.02])
@pytest.mark.parametrize("menu", MENUS)
def test_no_adversary_goes_beyond_what_an_odometer_reads(menu, delta, orders):
    releases = [*MENUS[menu][2], Release(0.9, 0.1)]
    assert chance_of_excess(PrivacyOdometer(delta, orders=orders), releases, 3) <= delta


def test_what_an_accountant_says_along_a_run_is_no_odometer():
    assert chance_of_excess(ReadsSums(0.1), [Release(0.09, 0.001), two_way(0.1)], 3) > 0.1


# --- what a budget is


@pytest.mark.parametrize(("epsilon", "delta"), [(3.0, 1e-5), (0.1, 1e-9), (50.0, 1e-6), (1.0, 0.5)])
@pytest.mark.parametrize("rule", RULES)
def test_the_budget_is_what_epsilon_and_delta_allow(rule, epsilon, delta):
    budget = RULES[rule](epsilon, delta)
    if budget.order is None:
        assert Cost.of_gdp(math.sqrt(budget.budget)).delta(epsilon) <= delta * (1 + 1e-9)
        assert Cost.of_gdp(math.sqrt(budget.budget) * (1 + 1e-9)).delta(epsilon) > delta
    else:
        assert rdp_to_epsilon(budget.order, budget.budget, delta) <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(3.0, 1e-5), (0.1, 1e-9), (50.0, 1e-6)])
def test_the_order_is_the_best_for_gaussian_noise(epsilon, delta):
    cost = tn.Gaussian(100.0).cost(sensitivity=1.0)
    most = admitted_at_once(PrivacyFilter(epsilon, delta), cost)
    exact = admitted_at_once(PrivacyFilter(epsilon, delta, by="gdp"), cost)
    orders = 1 + np.geomspace(1e-3, 1e5, 30)
    others = [admitted_at_once(PrivacyFilter(epsilon, delta, order=a), cost) for a in orders]
    assert max(others) * (1 - 2e-3) - 1 <= most <= exact
    assert abs((cost * (exact + 1)).epsilon(delta) / epsilon - 1) <= 1.0 / max(exact, 1)


def admitted_at_once(budget, cost):
    low, high = 0, 2**40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if budget.admits(cost, middle) else (low, middle)
    return low


def test_pure_costs_add_up():
    budget = PrivacyFilter(1.0)
    assert budget.order == INF
    assert budget.budget == 1
    assert admitted(budget, Cost.of_pure(0.3)) == 3
    assert not budget.admits(GAUSSIAN)
    assert PrivacyFilter(1.0 + 1e-9).admits(tn.Laplace(1.0).cost(sensitivity=1.0))


@pytest.mark.parametrize("rule", RULES)
def test_sums_are_rounded_upwards(rule):
    budget, total = RULES[rule](3.0, 1e-5), Fraction(0)
    fits = Cost.of_gdp(1.23e-3) if rule == "gdp" else Cost.of_pure(1.23e-3)
    once = Fraction(RULES[rule](3.0, 1e-5).spend(fits).spent)
    for _ in range(30):
        before = budget.spent
        total += once
        budget.spend(fits)
        assert budget.spent > before
        assert total <= Fraction(budget.spent) <= total * (1 + Fraction(1, 10**12))
        assert budget.remaining == budget.budget - budget.spent


@pytest.mark.parametrize("rule", ["rdp", "order 8", "gdp"])
def test_few_pure_releases_add_up_as_they_should(rule):
    budget = RULES[rule](1.0, 1e-6)
    halves = Cost.of_pure(0.5)
    assert admitted(budget, halves) == 2
    assert budget.state_dict()["spent"][-1] == 1.0
    resumed = RULES[rule](1.0, 1e-6)
    resumed.load_state_dict(budget.state_dict())
    assert not resumed.admits(halves)
    assert admitted(RULES[rule](1.0, 1e-2), Cost.of_pure(1 / 128)) >= 128


def test_no_adversary_makes_use_of_two_kinds_of_room():
    rng = np.random.default_rng(5)
    further = 0
    for _ in range(20):
        epsilon, delta = rng.uniform(0.3, 2.0), 10 ** rng.uniform(-2.5, -0.7)
        menu = [two_way(epsilon * rng.uniform(0.2, 0.9)), Release(*rng.uniform(1e-3, 0.05, 2))]
        menu.append(Release(*rng.uniform(0.1, 0.9, 2)))
        for order in (2.0, 8.0):
            reached = greatest_delta(PrivacyFilter(epsilon, delta, order=order), menu, epsilon, 3)
            assert reached <= delta
            further += reached > 0
    assert further > 7


def test_what_has_no_bound_is_not_admitted():
    approximate = Cost.of_approximate(0.1, 1e-9)
    for rule in RULES.values():
        budget = rule(100.0, 0.1)
        assert not budget.admits(approximate)
        with pytest.raises(BudgetError, match="got inf"):
            budget.spend(approximate)
        assert budget.spend(approximate, 0).spent == 0


@pytest.mark.parametrize("rule", RULES)
def test_a_cost_that_is_refused_leaves_no_trace(rule):
    budget = RULES[rule](1.0, 1e-5)
    big = Cost.of_gdp(0.2) if rule == "gdp" else Cost.of_pure(0.45)
    admitted(budget, big)
    before = budget.state_dict()
    with pytest.raises(BudgetError, match="cost must be at most"):
        budget.spend(big)
    assert isinstance(BudgetError("spent"), ValueError)
    assert budget.state_dict() == before
    small = Cost.of_gdp(1e-3) if rule == "gdp" else Cost.of_pure(1e-4)
    assert budget.spend(small).state_dict() != before


class Released:
    cost = GAUSSIAN


def test_anything_with_a_cost_is_spent():
    once, counted = PrivacyFilter(2.0, 1e-5), PrivacyFilter(2.0, 1e-5)
    assert counted.admits(Released(), 80)
    assert not counted.admits(Released(), 100)
    for _ in range(80):
        once.spend(Released())
    assert counted.spend(Released(), 80).spent == pytest.approx(once.spent, rel=1e-12)
    assert "spent 1.02 of 1.104 Renyi divergence at order 10.2" in repr(counted)


def test_neighbours_are_named_beforehand():
    named = PrivacyFilter(3.0, 1e-5, adjacency="add-remove")
    assert named.adjacency == "add-remove"
    assert named.spend(STEP, 10).spend(GAUSSIAN).spent > 0
    for budget in (named, PrivacyOdometer(1e-5, adjacency="add-remove")):
        with pytest.raises(ValueError, match="neighbours named beforehand"):
            budget.spend(Cost.of_pure(0.1, adjacency="replace-one"))
    for unnamed in (PrivacyFilter(3.0, 1e-5), PrivacyOdometer(1e-5)):
        with pytest.raises(ValueError, match="adjacency='add-remove'"):
            unnamed.spend(STEP)


REFUSED = [
    (lambda: PrivacyFilter(-1.0), ValueError, "epsilon must be at least 0"),
    (lambda: PrivacyFilter(INF), ValueError, "epsilon must be finite"),
    (lambda: PrivacyFilter(NAN), ValueError, "epsilon must be finite"),
    (lambda: PrivacyFilter("1"), TypeError, "epsilon must be a real number"),
    (lambda: PrivacyFilter(1.0, 1.0), ValueError, "delta must be at least 0 and below 1"),
    (lambda: PrivacyFilter(1.0, -1e-9), ValueError, "delta must be at least 0"),
    (lambda: PrivacyFilter(1.0, 1e-5, by="zcdp"), ValueError, "by must be one of 'rdp', 'gdp'"),
    (lambda: PrivacyFilter(1.0, by="gdp"), ValueError, "delta must be greater than 0"),
    (lambda: PrivacyFilter(1.0, 1e-5, by="gdp", order=2), ValueError, "order must be None"),
    (lambda: PrivacyFilter(1.0, 1e-5, order=1.0), ValueError, "order must be a number greater"),
    (lambda: PrivacyFilter(1.0, 1e-5, order=NAN), ValueError, "order must be a number"),
    (lambda: PrivacyFilter(1.0, 1e-5, order=[2.0]), ValueError, "order must be a number"),
    (lambda: PrivacyFilter(1.0, order=2.0), ValueError, "order must be infinite where delta is 0"),
    (lambda: PrivacyFilter(1.0, adjacency="both"), ValueError, "adjacency must be None"),
    (lambda: PrivacyFilter(1.0).spend(tn.Gaussian(1.0)), TypeError, r"pass mechanism.cost\("),
    (lambda: PrivacyFilter(1.0).admits(3.0), TypeError, "cost must be a Cost; got float"),
    (
        lambda: PrivacyFilter(1.0).spend(tn.Gaussian(1.0).cost_at([0.0], sensitivity=1.0)),
        TypeError,
        "cost must be a Cost; got InstanceCost",
    ),
    (lambda: PrivacyFilter(1.0).spend(GAUSSIAN, -1), ValueError, "count must be between 0"),
    (lambda: PrivacyFilter(1.0).admits(GAUSSIAN, 1.5), TypeError, "count must be an integer"),
    (lambda: PrivacyOdometer(1.5), ValueError, "delta must be at least 0 and below 1"),
    (lambda: PrivacyOdometer(0.1, orders=[1.0]), ValueError, "orders must be greater than 1"),
    (lambda: PrivacyOdometer(0.1, orders=[3.0, 2.0]), ValueError, "orders must be increasing"),
    (lambda: PrivacyOdometer(0.0, orders=[2.0]), ValueError, "orders must be up to infinity"),
    (lambda: PrivacyOdometer(0.1, orders=[]), ValueError, "orders must be a list"),
]


@pytest.mark.parametrize(("make", "error", "message"), REFUSED)
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=message) as caught:
        make()
    assert not isinstance(caught.value, BudgetError)


# --- odometers


def test_an_odometer_reads_the_best_of_its_lines():
    odometer = PrivacyOdometer(1e-5, orders=[2.0, 8.0])
    assert odometer.epsilon == 0
    odometer.spend(GAUSSIAN, 100)
    lines = [100 * a / 800 + math.log(2e5) / (a - 1) for a in (2.0, 8.0)]
    assert odometer.epsilon == pytest.approx(min(lines), rel=1e-9)
    assert odometer.epsilon >= min(lines)


def test_an_odometer_is_not_far_above_an_accountant_and_never_falls():
    odometer, last = PrivacyOdometer(1e-6), 0.0
    for count in (1, 9, 90, 900, 9000):
        odometer.spend(GAUSSIAN, count)
        fixed = (GAUSSIAN * (count * 10 // 9 if count > 1 else 1)).epsilon(1e-6)
        assert max(last, fixed) < odometer.epsilon < 1.6 * fixed
        last = odometer.epsilon


def test_pure_costs_are_read_for_nothing():
    pure = Cost.of_pure(0.25)
    assert PrivacyOdometer(0.0).spend(pure, 3).epsilon == pytest.approx(0.75, rel=1e-12)
    assert PrivacyOdometer(1e-9).spend(pure, 3).epsilon <= 0.75 * (1 + 1e-12)
    assert PrivacyOdometer(0.0).spend(GAUSSIAN).epsilon == INF
    assert PrivacyOdometer(1e-5).spend(Cost.of_approximate(0.1, 1e-9)).epsilon == INF


# --- keeping, resuming, sharing


PURE, GDP = Cost.of_pure(0.01), Cost.of_gdp(0.01)
KINDS = {
    "rdp": (lambda: PrivacyFilter(3.0, 1e-5, adjacency="add-remove"), PURE, STEP),
    "gdp": (lambda: PrivacyFilter(3.0, 1e-5, by="gdp"), GDP, GAUSSIAN),
    "pure": (lambda: PrivacyFilter(3.0), PURE, Cost.of_pure(0.1)),
    "odometer": (lambda: PrivacyOdometer(1e-5), PURE, GAUSSIAN),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_resumed_is_the_same_to_the_last_bit(kind):
    make, other, cost = KINDS[kind]
    old, resumed = make().spend(cost, 7), make().spend(other)
    resumed.load_state_dict(json.loads(json.dumps(old.state_dict(), allow_nan=False)))
    again = pickle.loads(pickle.dumps(old))
    for _ in range(2):
        assert resumed.state_dict() == again.state_dict() == old.state_dict()
        assert repr(resumed) == repr(again) == repr(old)
        for one in (resumed, again, old):
            one.spend(other)


BROKEN = [
    ("version", 2, "version must be 1"),
    ("version", True, "version must be 1"),
    ("rule", {}, "rule must be"),
    ("rule", None, "rule must be"),
    ("spent", 0.5, "spent must be a list"),
    ("spent", [], "spent must be a list"),
    ("spent", [0.1], "spent must be a list"),
    ("spent", [0.1, 0.2, 0.3], "spent must be a list"),
    ("spent", [0.1, "0.1"], "spent must be a list"),
    ("spent", [True, 0.1], "spent must be a list"),
    ("spent", [-0.1, 0.1], "spent must be at least 0"),
    ("spent", [0.1, NAN], "spent must be a number"),
    ("spent", [1e9, 1e9], "spent must be within the budget"),
    ("spent", ["inf", "inf"], "spent must be within the budget"),
    ("more", 1, "it must hold version, rule and spent"),
]


@pytest.mark.parametrize(("key", "value", "message"), BROKEN)
def test_a_state_is_distrusted(key, value, message):
    budget = PrivacyFilter(3.0, 1e-5).spend(GAUSSIAN)
    before = budget.state_dict()
    with pytest.raises(ValueError, match=message):
        budget.load_state_dict({**before, key: value})
    with pytest.raises(ValueError, match="state must be that of a PrivacyFilter"):
        budget.load_state_dict({k: v for k, v in before.items() if k != key} | {key: value})
    assert budget.state_dict() == before
    with pytest.raises(TypeError, match="state must be a dict"):
        budget.load_state_dict([1])


@pytest.mark.parametrize("changed", [{"epsilon": 4.0}, {"order": 2.0}, {"adjacency": "add-remove"}])
def test_a_state_of_other_parameters_is_refused(changed):
    state = PrivacyFilter(**{"epsilon": 3.0, "delta": 1e-5, **changed}).state_dict()
    with pytest.raises(ValueError, match="rule must be"):
        PrivacyFilter(3.0, 1e-5).load_state_dict(state)
    with pytest.raises(ValueError, match="state must be that of a PrivacyOdometer"):
        PrivacyOdometer(1e-5).load_state_dict(state)


def test_a_state_is_a_copy():
    odometer = PrivacyOdometer(1e-5)
    state = odometer.state_dict()
    state["rule"]["orders"].clear()
    state["spent"].clear()
    assert odometer.state_dict() == PrivacyOdometer(1e-5).state_dict()
