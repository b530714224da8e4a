"""The tables of Chen and Hale (2024): ours, the expected figures, and where the paper errs."""

import functools
import io

import pytest

from tightnoise.reproduce import PAPERS
from tightnoise.reproduce.bounded import _printed as printed
from tightnoise.reproduce.bounded._setting import EPSILONS

COUNT = len(PAPERS["bounded"].tables)


@functools.cache
def table(number):
    return PAPERS["bounded"].tables[number]()


@pytest.mark.parametrize("number", range(COUNT))
def test_every_figure_is_the_expected_one(number):
    assert table(number).disagreements == []
    assert max(map(len, table(number).text().splitlines())) <= 120


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_printed_reductions_are_those_of_the_printed_variances(epsilon):
    theirs, ours = float(printed.GENERALIZED[epsilon]), float(printed.BOUNDED[epsilon])
    rounding = 0.05 + 5.0 / theirs  # half a unit of the last digit of either figure
    reduction = 100 * (1 - ours / theirs)
    assert reduction == pytest.approx(float(printed.REDUCTION[epsilon]), abs=rounding)


def test_figures():
    pytest.importorskip("matplotlib")
    file = io.BytesIO()
    PAPERS["bounded"].draw(file)
    assert file.getvalue().startswith(b"\x89PNG")
