"""The accountant: a ledger that loses nothing, whoever writes, forks, saves or resumes."""

import copy
import json
import math
import pickle

import numpy as np
import pytest

import tightnoise as tn
from tightnoise import Accountant, Cost

INF, NAN = float("inf"), float("nan")
GAUSSIAN = tn.Gaussian(5.0).cost(sensitivity=1.0)
STEP = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")


def mixed():
    accountant = Accountant().compose(GAUSSIAN, 3).compose(tn.Laplace(20.0).cost(sensitivity=1.0))
    accountant.compose(tn.VonMisesFisher(5.0, 50).cost(angle=1.0), 2)
    accountant.compose(Cost.of_rdp([2.0, 8.0, INF], [0.01, 0.02, 0.03]), 4)
    for _ in range(5):
        accountant.step(noise_multiplier=1.0, sampling_rate=0.01)
    return accountant


def test_dp_sgd():
    accountant = Accountant()
    for _ in range(100):
        accountant.step(noise_multiplier=1.0, sampling_rate=0.01)
    assert accountant.cost == STEP * 100
    assert accountant.steps == len(accountant) == 100
    assert accountant.adjacency == "add-remove"
    assert accountant.epsilon(1e-6) == (STEP * 100).epsilon(1e-6)
    assert accountant.delta(1.0) == (STEP * 100).delta(1.0)
    assert accountant.epsilon(1e-6, by="rdp") == (STEP * 100).epsilon(1e-6, by="rdp")
    assert accountant.explain(1e-6).epsilon == accountant.epsilon(1e-6)


def test_batches_of_a_fixed_size_change_by_twice_the_norm():
    accountant = Accountant()
    accountant.step(noise_multiplier=2.0, sampling_rate=0.01, sampling="fixed-size")
    replaced = tn.Gaussian(2.0).cost(sensitivity=2.0, adjacency="replace-one")
    assert accountant.cost == replaced.sampled(0.01, "fixed-size")
    whole = Accountant()
    whole.step(noise_multiplier=2.0)
    assert whole.cost == tn.Gaussian(2.0).cost(sensitivity=1.0)


def test_equal_steps_are_counted():
    accountant = mixed()
    assert dict(accountant.cost.terms)[GAUSSIAN.terms[0][0]] == 3
    for _ in range(3):
        accountant.compose(GAUSSIAN)
    assert dict(accountant.cost.terms)[GAUSSIAN.terms[0][0]] == 6
    assert len(accountant.cost.terms) == 5
    assert accountant.compose(GAUSSIAN, 1e4).steps == 10_018


def test_nothing_released_costs_nothing():
    accountant = Accountant()
    assert accountant.epsilon(1e-9) == accountant.delta(0.0) == 0
    assert accountant.compose(GAUSSIAN, 0).cost == accountant.compose(Cost()).cost == Cost()
    assert repr(accountant) == "Accountant(0 steps)"


def test_reading_changes_nothing():
    accountant = mixed()
    before = accountant.state_dict()
    accountant.epsilon(1e-6)
    accountant.delta(1.0)
    accountant.explain(1e-5)
    repr(accountant)
    assert accountant.state_dict() == before


class Released:
    cost = GAUSSIAN


def test_anything_with_a_cost_is_composed():
    assert Accountant().compose(Released(), 2).cost == GAUSSIAN * 2


REFUSED = [
    (lambda a: a.compose(tn.Gaussian(1.0)), TypeError, r"pass mechanism.cost\(sensitivity="),
    (lambda a: a.compose(3.0), TypeError, "cost must be a Cost; got float"),
    (lambda a: a.compose(GAUSSIAN, -1), ValueError, "count must be between 0"),
    (lambda a: a.compose(GAUSSIAN, 1.5), TypeError, "count must be an integer"),
    (lambda a: a.compose(GAUSSIAN, 2**53), ValueError, r"count must be at most 2\*\*53 in all"),
    (lambda a: a.compose(Cost.of_pure(1.0, adjacency="replace-one")), ValueError, "neighbours"),
    (lambda a: a.step(0.0, 0.1), ValueError, "noise_multiplier must be greater than 0"),
    (lambda a: a.step(NAN, 0.1), ValueError, "noise_multiplier must be finite"),
    (lambda a: a.step(True, 0.1), TypeError, "noise_multiplier must be a real number"),
    (lambda a: a.step(1.0, 0.0), ValueError, "sampling_rate must be greater than 0"),
    (lambda a: a.step(1.0, 1.1), ValueError, "sampling_rate must be greater than 0 and at most 1"),
    (lambda a: a.step(1.0, 0.1, "fixed"), ValueError, "sampling must be one of"),
    (lambda a: a.step(1.0, 0.1, "fixed-size"), ValueError, "neighbours"),
]


@pytest.mark.parametrize(("release", "error", "message"), REFUSED)
def test_a_refused_step_leaves_no_trace(release, error, message):
    accountant = mixed()
    accountant.step(1.0, 1.0)
    before = accountant.state_dict()
    with pytest.raises(error, match=message):
        release(accountant)
    assert accountant.state_dict() == before


def copies(accountant):
    fresh, other = Accountant(), Accountant().compose(GAUSSIAN, 7)
    text = json.dumps(accountant.state_dict(), allow_nan=False)
    fresh.load_state_dict(json.loads(text, parse_constant=pytest.fail))
    other.load_state_dict(accountant.state_dict())
    yield fresh
    yield other
    yield pickle.loads(pickle.dumps(accountant))
    yield copy.copy(accountant)
    yield copy.deepcopy(accountant)


@pytest.mark.filterwarnings("ignore:the best order")
@pytest.mark.parametrize("make", [Accountant, mixed, lambda: Accountant().compose(STEP, 2**40)])
def test_resuming_changes_no_bit(make):
    accountant = make()
    accountant.step(1 / 3, 0.1)
    before, epsilon = accountant.state_dict(), accountant.epsilon(1e-6, by="rdp")
    for same in copies(accountant):
        assert same.state_dict() == before
        assert same.cost == accountant.cost
        assert repr(same) == repr(accountant)
        assert same.adjacency == accountant.adjacency
        for _ in range(3):
            same.step(1 / 3, 0.1)
        assert same.steps == accountant.steps + 3
        assert same.epsilon(1e-6, by="rdp") > epsilon
    assert accountant.state_dict() == before


def test_bad_states_are_refused_or_count_all_that_they_hold():
    good = mixed().state_dict()
    accountant = mixed()
    bad_values = [None, "x", -1, 0, 2.5, True, [], {}, NAN, INF, 2**60]
    for key in good:
        for bad in bad_values:
            with pytest.raises(ValueError, match="state must be that of an Accountant"):
                accountant.load_state_dict({**good, key: bad})
        with pytest.raises(ValueError, match="it must hold version, steps and cost"):
            accountant.load_state_dict({k: v for k, v in good.items() if k != key})
    with pytest.raises(ValueError, match="it must hold"):
        accountant.load_state_dict({**good, "more": 1})
    with pytest.raises(TypeError, match="state must be a dict"):
        accountant.load_state_dict([good])
    leaves = good["cost"]["leaves"]
    for fewer in (leaves[1:], leaves[:-1], [], [*leaves, leaves[0]]):
        with pytest.raises(ValueError, match="state must be"):
            accountant.load_state_dict({**good, "cost": {**good["cost"], "leaves": fewer}})
    for count in (0, 1, 10**9, 2**53):
        changed = copy.deepcopy(good)
        changed["cost"]["leaves"][0]["times"] = count
        with pytest.raises(ValueError, match="state must be"):
            accountant.load_state_dict(changed)
    assert accountant.state_dict() == good


def test_keys_of_no_text_are_refused():
    accountant = mixed()
    before = accountant.state_dict()
    with pytest.raises(ValueError, match="state must be that of an Accountant"):
        accountant.load_state_dict({1: 2, "version": 2})
    assert accountant.state_dict() == before


def test_repr_explains():
    text = repr(mixed())
    assert text.startswith("Accountant(15 steps of 5 kinds, add-remove adjacency; epsilon at most ")
    assert text.endswith("at delta 1e-06)")


def test_orders_and_rounding_do_not_depend_on_the_order_of_composition(rng):
    costs = [Cost.of_gdp(mu) for mu in rng.uniform(0.01, 0.1, 20).tolist()]
    forward, backward = Accountant(), Accountant()
    for cost in costs:
        forward.compose(cost)
    for cost in reversed(costs):
        backward.compose(cost)
    assert forward.epsilon(1e-6) == backward.epsilon(1e-6)
    assert math.isclose(forward.cost.gdp_mu, backward.cost.gdp_mu, rel_tol=1e-14)
    assert np.isfinite(forward.epsilon(1e-6))
