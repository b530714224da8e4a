"""Saved costs are read as input from a stranger; events and histories of other packages."""

import contextlib
import copy
import json
import math

import mpmath as mp
import pytest

import tightnoise as tn
from tightnoise import Cost

STATE = (
    (tn.Gaussian(1.0).cost(sensitivity=1.0) * 2 + tn.Laplace(2.0).cost(sensitivity=1.0))
    .sampled(0.01, "poisson")
    .group(3)
    * 5
    + Cost.of_rdp([2.0, 8.0], [0.1, 0.5])
    + Cost.of_losses([1.0, -1.0], [1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1))])
    + Cost.of_profile([0.0, 1.0], [0.5, 1e-9])
    + tn.VonMisesFisher(5.0, 50).cost(angle=1.0)
    + Cost.of_approximate(1.0, 1e-6)
).to_dict()
BAD = [
    None,
    "x",
    "inf",
    -1,
    -1.0,
    0,
    1e400,
    float("nan"),
    True,
    [],
    {},
    [[1, 2]],
    {"kind": "zcdp"},
    2**60,
]


def places(state, path=()):
    """Return the paths of everything in a state."""
    found = [path] if path else []
    items = state.items() if isinstance(state, dict) else ()
    items = enumerate(state) if isinstance(state, list) else items
    for key, value in items:
        found += places(value, (*path, key))
    return found


@pytest.mark.parametrize("path", places(STATE), ids=str)
def test_bad_states_are_refused_or_are_costs(path):
    for bad in [*BAD, "missing"]:
        state = copy.deepcopy(STATE)
        place = state
        for key in path[:-1]:
            place = place[key]
        if bad == "missing":
            del place[path[-1]]
        else:
            place[path[-1]] = bad
        refused = pytest.raises(ValueError, match="state must be that of a Cost")
        with contextlib.suppress(ValueError):
            cost = Cost.from_dict(state)
            assert Cost.from_dict(cost.to_dict()) == cost
            continue
        with refused:
            Cost.from_dict(state)


def test_states_that_are_none():
    for bad in (None, [], "x", 3):
        with pytest.raises(TypeError, match="state must be a dict"):
            Cost.from_dict(bad)
    leaf = Cost.of_zcdp(1.0).to_dict()["leaves"][0]
    with pytest.raises(ValueError, match="different"):
        Cost.from_dict({"version": 1, "leaves": [leaf, leaf]})
    with pytest.raises(ValueError, match="version must be 1"):
        Cost.from_dict({"version": 2, "leaves": []})
    with pytest.raises(ValueError, match="unknown"):
        Cost.from_dict({"version": 1, "leaves": [{**leaf, "more": 1}]})


def test_states_of_any_depth_end():
    leaf = {"kind": "zcdp", "rho": 1.0, "adjacency": None}
    for _ in range(5000):
        leaf = {"kind": "group", "leaf": leaf, "count": 2, "adjacency": None}
    with pytest.raises(ValueError, match="deep"):
        Cost.from_dict({"version": 1, "leaves": [{**leaf, "times": 1}]})
    nested: list = []
    for _ in range(5000):
        nested = [nested]
    with pytest.raises(ValueError, match="deep"):
        Cost.from_dict(
            {
                "version": 1,
                "leaves": [
                    {"kind": "rdp", "alphas": nested, "values": [], "adjacency": None, "times": 1}
                ],
            }
        )


def test_a_state_is_strict_json():
    assert Cost.from_dict(json.loads(json.dumps(STATE, allow_nan=False))).to_dict() == STATE


def test_events_of_dp_accounting():
    events = pytest.importorskip("dp_accounting")
    step = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")
    plan = step * 100 + tn.Laplace(20.0).cost(sensitivity=1.0) * 4 + Cost.of_zcdp(0.1)
    assert Cost.of_dp_event(plan.to_dp_event()) == plan
    assert Cost.of_dp_event(events.NoOpDpEvent()) == Cost()
    assert isinstance(Cost().to_dp_event(), events.NoOpDpEvent)
    batch = events.SampledWithoutReplacementDpEvent(1000, 10, events.GaussianDpEvent(1.0))
    replaced = tn.Gaussian(0.5).cost(sensitivity=1.0, adjacency="replace-one")
    ours = replaced.sampled(0.01, "fixed-size")
    assert Cost.of_dp_event(batch).epsilon(1e-6) == pytest.approx(ours.epsilon(1e-6), rel=1e-12)
    response = events.RandomizedResponseDpEvent(0.5, 4)
    assert Cost.of_dp_event(response) == Cost.of_response(0.625, 4)
    for share, options in ((1e-6, 10), (1.7e-16, 2), (1e-300, 3)):  # 1 - share is no float
        response = events.RandomizedResponseDpEvent(share, options)
        truth = mp.log1p((1 - mp.mpf(share)) * options / mp.mpf(share))
        assert 0 <= Cost.of_dp_event(response).epsilon(0.0) / truth - 1 < 3e-15
    with pytest.raises(ValueError, match="NonPrivateDpEvent"):
        Cost.of_dp_event(events.NonPrivateDpEvent())
    with pytest.raises(ValueError, match="to be events"):
        Cost.of_pure(1.0).to_dp_event()


def test_histories_of_opacus():
    history = [(1.0, 0.01, 900), (2.0, 0.01, 100)]
    steps = [tn.Gaussian(s).cost(sensitivity=1.0).sampled(q, "poisson") * n for s, q, n in history]
    assert Cost.of_opacus_history(history) == sum(steps, Cost())
    with pytest.raises(ValueError, match="rate must be"):
        Cost.of_opacus_history([(1.0, 1.5, 10)])
    for wrong in (None, 1.0, "history", [(1.0, 0.5)]):
        with pytest.raises(TypeError, match="history must be a list of"):
            Cost.of_opacus_history(wrong)


@pytest.mark.parametrize(
    ("law", "parameters", "told"),
    [
        ("multi-gaussian", [math.nan, 1.0, 1.0, 17], "sigma"),
        ("multi-gaussian", [0.4, 1.0, 1.0, 1e308], "modes"),
        ("multi-gaussian", [0.4, 1.0, 1.0], "parameters"),
        ("quasi-gaussian", [0.4, 1e3, 1.0], "epsilon"),
        ("laplace", [0.0, math.inf], "scale"),
        ("staircase", [1.0, 1.0, -0.5, math.inf], "gamma"),
        ("gaussian-scale-mixture", [[0.0, 1.0], [0.5, 0.5], [1.0]], "parameters"),
    ],
)
def test_noise_that_no_mechanism_adds_is_refused(law, parameters, told):
    leaf = tn.Laplace(1.0).cost(sensitivity=1.0).to_dict()["leaves"][0]
    state = {"version": 1, "leaves": [{**leaf, "law": law, "parameters": parameters}]}
    with pytest.raises(ValueError, match=f"state must be that of a Cost: {told}"):
        Cost.from_dict(state)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cost", [lambda one: one.group(2), lambda one: one * 4])
def test_next_to_no_noise_that_is_divided_further_costs_everything(cost):
    state = json.dumps(cost(tn.Gaussian(1.0).cost(sensitivity=1.0)).to_dict())
    little = Cost.from_dict(
        json.loads(state.replace('"noise_multiplier": 1.0', '"noise_multiplier": 5e-324'))
    )
    assert little.epsilon(1e-6) == math.inf
    assert little.delta(1.0) == 1.0
    assert little.tradeoff(0.1) == 0.0
