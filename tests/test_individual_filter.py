"""The filter with a budget for each record."""

import json
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

import tightnoise as tn
from tightnoise import IndividualFilter


def test_no_record_passes_its_budget_in_random_sequences(rng):
    n, rho = 10_000, 0.7
    records = IndividualFilter(rho, n)
    exact, refused = [Fraction(0)] * 20, 0
    for _ in range(60):
        norms = rng.exponential(size=n) * 10.0 ** rng.integers(-3, 1, n)
        sigma = float(10.0 ** rng.uniform(-0.5, 1))
        before = records.spent
        kept = records.admit(norms, sigma)
        refused += n - kept.sum()
        assert (records.spent[~kept] == before[~kept]).all()
        # One that is dropped had no room, but for rounding.
        assert (before + norms**2 / (2 * sigma**2) >= rho * (1 - 1e-12))[~kept].all()
        for i in np.flatnonzero(kept[:20]):
            exact[i] += (Fraction(norms[i]) / Fraction(sigma)) ** 2 / 2
    assert refused > 1000
    assert (records.spent <= rho).all()
    assert all(true <= Fraction(sum_) for true, sum_ in zip(exact, records.spent, strict=False))


def test_others_do_not_change_what_happens_to_a_record(rng):
    norms = rng.uniform(0, 2, (30, 5))
    together, alone = IndividualFilter(3.0, 5), IndividualFilter(3.0, 1)
    for row in norms:
        assert together.admit(row, 1.0)[2] == alone.admit(row[2:3], 1.0)[0]
    assert together.spent[2] == alone.spent[0]


def test_one_record_against_none_gives_as_many_releases(rng):
    rounds, counts = 12, []
    for rows in (np.full((1, 3), 2.0), np.empty((0, 3))):
        records, released = IndividualFilter(20.0, len(rows)), []
        for _ in range(rounds):
            kept = records.admit(np.linalg.norm(rows, axis=1), sigma=1.0)
            released.append(tn.Gaussian(1.0).sample(rows[kept].sum(axis=0)))
        counts.append(len(released))
        assert not kept.any()  # the budget is spent; the rounds go on
    assert counts == [rounds, rounds]


def test_the_cost_is_that_of_the_budget():
    cost = IndividualFilter(0.3, 4).cost
    assert cost == tn.Cost.of_zcdp(0.3, adjacency="add-remove")
    assert cost.group(2).zcdp_rho == pytest.approx(4 * 0.3)
    assert tn.Accountant().compose(IndividualFilter(0.3, 4)).cost == cost


def test_a_saved_filter_goes_on():
    first, second = IndividualFilter(1.0, 3), IndividualFilter(1.0, 3)
    norms = [0.1, 1.0, 1.3]
    first.admit(norms, 1.0)
    state = json.loads(json.dumps(first.state_dict()))
    second.load_state_dict(state)
    assert first.admit(norms, 1.0).tolist() == second.admit(norms, 1.0).tolist()
    assert (first.spent == second.spent).all()
    for bad in ({**state, "spent": [0.0, 0.0, 1.5]}, {**state, "spent": [0.0, 0.0]}, {}):
        with pytest.raises(ValueError, match="that of a IndividualFilter"):
            second.load_state_dict(bad)
    with pytest.raises(ValueError, match="that of a IndividualFilter"):
        IndividualFilter(2.0, 3).load_state_dict(state)
    assert (first.spent == second.spent).all()


def test_threads_share_a_budget():
    records = IndividualFilter(50.0, 7)
    with ThreadPoolExecutor(4) as pool:
        kept = list(pool.map(lambda _: records.admit(np.ones(7), 1.0), range(200)))
    assert (records.spent <= 50.0).all()
    assert (np.sum(kept, axis=0) == np.sum(kept, axis=0)[0]).all()
    assert 98 <= np.sum(kept, axis=0)[0] <= 100


def test_a_contribution_that_underflows_is_not_free():
    records = IndividualFilter(1.0, 2)
    records.admit([1e-200, 0.0], 1.0)
    assert records.spent[0] > 0
    assert records.spent[1] == 0


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: IndividualFilter(0.0, 3), ValueError, "budget_rho must be greater than 0; got 0"),
        (lambda: IndividualFilter(float("nan"), 3), ValueError, "budget_rho must be finite"),
        (lambda: IndividualFilter(1.0, -1), ValueError, "n must be between 0"),
        (lambda: IndividualFilter(1.0, 2).admit([1.0], 1.0), ValueError, r"of shape \(2,\)"),
        (lambda: IndividualFilter(1.0, 1).admit([-1.0], 1.0), ValueError, "norms must be at least"),
        (lambda: IndividualFilter(1.0, 1).admit([np.nan], 1.0), ValueError, "norms must be finite"),
        (lambda: IndividualFilter(1.0, 1).admit(["1"], 1.0), TypeError, "norms must hold"),
        (lambda: IndividualFilter(1.0, 1).admit([1.0], 0.0), ValueError, "sigma must be greater"),
        (lambda: IndividualFilter(1.0, 1).admit([1.0], np.inf), ValueError, "sigma must be finite"),
    ],
)
def test_bad_arguments(call, error, says):
    with pytest.raises(error, match=says):
        call()
