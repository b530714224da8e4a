"""What a group may be: each case beside other releases, of which the costliest counts."""

import numpy as np
import pytest
from by_night import by_night, rows_by_night

import tightnoise as tn
from tightnoise import Cost
from tightnoise.costs import _costliest
from tightnoise.costs._answers import _both_sides_of_case
from tightnoise.costs._cases import _turned, cases_of
from tightnoise.costs._costliest import Comparison, Proof
from tightnoise.costs._exact import composition_of

GROUP = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.05, "poisson").group(3)
RESPONSES = Cost.of_response(0.6, 2)
BESIDE = {
    "the same both ways": RESPONSES * 5,
    "sampled": RESPONSES.sampled(0.3, "poisson") * 5,
}


@pytest.mark.parametrize(
    ("name", "question", "at"),
    [
        ("sampled", "delta", 0.4),
        ("the same both ways", "epsilon", 1e-4),
        *rows_by_night(("sampled", "epsilon", 1e-4), ("the same both ways", "delta", 0.4)),
    ],
)
def test_no_case_costs_more_than_the_answer(name, question, at):
    """Against every case, those with others turned round too, each known from both sides."""
    cost = GROUP + BESIDE[name]
    low, high = getattr(cost, f"{question}_bounds")(at)
    cases = cases_of(cost.terms)
    turned = [tuple((_turned(leaf), n) for leaf, n in case) for case in cases]
    more = high * (1 + 1e-5)
    each = [_both_sides_of_case(question, case, at, more) for case in {*cases, *turned}]
    assert len(each) == 4
    worst = max(one.lower for one in each)
    assert low == pytest.approx(worst, rel=1e-5)
    assert high >= worst
    assert low <= max(one.upper for one in each)
    assert high <= low * (1 + 1e-4)


@pytest.mark.parametrize("epsilon", [0.3, *by_night(0.0, 2.0, 9.0)])
@pytest.mark.parametrize("name", BESIDE)
def test_a_case_is_seen_to_cost_no_more_just_where_it_does(name, epsilon):
    for case in cases_of((GROUP + BESIDE[name]).terms):
        low, high = _both_sides_of_case("delta", case, epsilon, 1.0)
        comparison = Comparison("delta", epsilon)
        assert not comparison.is_at_most(case, low * (1 - 1e-9))
        assert comparison.is_at_most(case, high * 1.05)


def told_of(costs, lower, monkeypatch):
    """What is proved of cases that cost so much, each comparison made; and the number told."""
    cases = [((RESPONSES.terms[0][0], n),) for n in range(1, len(costs) + 1)]
    truth = dict(zip(cases, costs, strict=True))
    asked = []

    def tell(case):
        asked.append(case)
        return "losses", Proof(truth[case], lower=lower * truth[case])

    monkeypatch.setattr(_costliest, "cases_of", lambda _: cases)
    at_most = lambda _, case, bound: truth[case] <= bound  # noqa: E731
    monkeypatch.setattr(_costliest.Comparison, "is_at_most", at_most)
    return _costliest.costliest("epsilon", (), 1e-4, tell).proof.bound, len(asked)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("lower", [0.0, 0.5, 1 - 1e-5, 1 - 1e-9])
@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-7, 1e-5, 1e-2, 0.5])
def test_no_case_is_above_what_is_proved_of_all(apart, lower, order, monkeypatch):
    costs = [(1 + apart) ** k for k in range(14)][::order]
    bound, told = told_of(costs, lower, monkeypatch)
    assert bound >= max(costs)
    assert order > 0 or told == 1
    # No more is added than makes an answer less narrow, if the cases themselves are narrow.
    assert bound <= max(costs) * (
        1 + max(1e-6, 1 - lower if lower else 0.0, min(1e-2, 300 * apart))
    )
    assert told <= 3 or apart >= 1e-2


@pytest.mark.parametrize("seed", range(20))
def test_cases_in_any_order_are_no_more_than_what_is_proved(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    costs = np.exp(rng.normal(0, 10.0 ** rng.uniform(-9, 0), 14)).tolist()
    assert told_of(costs, 1 - 10.0 ** rng.uniform(-9, 0), monkeypatch)[0] >= max(costs)


def test_others_are_turned_only_where_that_changes_them():
    for name, cases in {"the same both ways": 2, "sampled": 4}.items():
        assert len(cases_of((GROUP + BESIDE[name]).terms)) == cases
    laplace = tn.Laplace(2.0).cost(sensitivity=1.0)
    assert len(cases_of((GROUP + laplace).terms)) == 2
    assert len(cases_of((GROUP + laplace.sampled(0.5, "poisson")).terms)) == 4


def test_few_groups_beside_few_atoms_are_laid_on_a_lattice():
    """As few sampled releases are: a contour takes a second for each case."""
    group, atoms = GROUP, tn.Laplace(1.0).cost(sensitivity=1.0).sampled(0.3, "poisson") * 5
    assert all(composition_of(case) is None for case in cases_of((group + atoms).terms))
    assert all(composition_of(case) is not None for case in cases_of((group + atoms * 30).terms))
    assert all(composition_of(case) is not None for case in cases_of((group * 30).terms))


def test_groups_without_others_have_no_turned_cases():
    for k in (2, 5):
        (leaf, _), *_ = (GROUP.group(k) * 3).terms
        pairs = [case[0][0].pair for case in cases_of(((leaf, 3),))]
        assert len(pairs) == 3 * k // 2 + 1
        assert np.all([pair.ours + pair.theirs == 3 * k for pair in pairs])
