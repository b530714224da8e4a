"""What a group may be: each case beside other releases, of which the costliest counts."""

import numpy as np
import pytest
from by_night import by_night, rows_by_night

import tightnoise as tn
from tightnoise import Cost
from tightnoise.costs._answers import _both_sides_of_case, _rough_delta
from tightnoise.costs._cases import _turned, cases_of
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
def test_a_few_points_bound_a_case_from_above(epsilon):
    for case in cases_of((GROUP + BESIDE["the same both ways"]).terms):
        low, high = _both_sides_of_case("delta", case, epsilon, 1.0)
        rough = _rough_delta(case, epsilon)
        assert low <= rough
        assert rough <= high * 1.05


def test_others_are_turned_only_where_that_changes_them():
    for name, cases in {"the same both ways": 2, "sampled": 4}.items():
        assert len(cases_of((GROUP + BESIDE[name]).terms)) == cases
    laplace = tn.Laplace(2.0).cost(sensitivity=1.0)
    assert len(cases_of((GROUP + laplace).terms)) == 2
    assert len(cases_of((GROUP + laplace.sampled(0.5, "poisson")).terms)) == 4


def test_few_groups_beside_atoms_are_laid_on_a_lattice():
    """As few sampled releases are: a contour takes a second for each case."""
    group, atoms = GROUP, RESPONSES.sampled(0.3, "poisson") * 5
    assert all(composition_of(case) is None for case in cases_of((group + atoms).terms))
    assert all(composition_of(case) is not None for case in cases_of((group * 30).terms))


def test_groups_without_others_have_no_turned_cases():
    for k in (2, 5):
        (leaf, _), *_ = (GROUP.group(k) * 3).terms
        pairs = [case[0][0].pair for case in cases_of(((leaf, 3),))]
        assert len(pairs) == 3 * k // 2 + 1
        assert np.all([pair.ours + pair.theirs == 3 * k for pair in pairs])
