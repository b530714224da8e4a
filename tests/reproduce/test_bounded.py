"""The tables of Chen and Hale (2024): ours, the expected figures, and where the paper errs."""

import functools
import io

import numpy as np
import pytest
from printed_tables import expected_cells

import tightnoise as tn
from tightnoise.reproduce import PAPERS
from tightnoise.reproduce.bounded import _figures, _table_one, _univariate
from tightnoise.reproduce.bounded._noises import (
    EPSILONS,
    LAPLACE,
    MIDDLE,
    SIGMA,
    WIDTHS,
    gaussian_averages,
    laplace_averages,
    theorem_sigma,
)

TABLES = (*_table_one.TABLES, *_univariate.TABLES)


@functools.cache
def table(number):
    return TABLES[number]()


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_every_figure_is_the_expected_one(number):
    assert expected_cells(table(number), within=0.501)
    columns = table(number).columns
    assert len(set(columns)) == len(columns)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_printed_figures_are_right_but_one(epsilon):
    ours = SIGMA["Theorem 13"](epsilon) ** 2
    assert f"{ours:.1f}" == ("84.4" if epsilon == 1.0 else _table_one.PRINTED[epsilon][1])


def test_middle_is_the_best_answer_but_once():
    nodes, weights = np.polynomial.legendre.leggauss(2)
    of_one = [0.5 * weights @ (0.5 * width * nodes) ** 2 for width in WIDTHS]
    assert pytest.approx(sum(of_one)) == MIDDLE
    better = [
        (name, epsilon)
        for name, scales, averages in (
            ("Gaussian", SIGMA, gaussian_averages),
            ("Laplace", LAPLACE, laplace_averages),
        )
        for method, scale in scales.items()
        for epsilon in EPSILONS
        if averages(scale(epsilon)).square < MIDDLE
    ]
    assert better == [("Laplace", 3.0)] * 2  # with the L2 sensitivity and with one of each


# One number


@pytest.mark.parametrize(("sensitivity", "limit"), [(1.0, 3.0), (4.0, 3.0), (10.0, 3.25)])
def test_theorem_6_against_the_least_sigma(sensitivity, limit):
    epsilons = np.geomspace(1e-6, 1e6, 37)
    domain = {"lower": 0.0, "upper": 10.0, "sensitivity": sensitivity}
    exact = np.array([tn.calibrate.truncated_gaussian(e, **domain).sigma for e in epsilons])
    theorem = np.array([theorem_sigma(e, 0.0, 10.0, sensitivity) for e in epsilons])
    ratios = (theorem / exact) ** 2
    assert ratios[0] == pytest.approx(limit, abs=1e-4)
    assert (np.diff(ratios) < 1e-9).all()
    last = (10 + sensitivity / 2) / (10 - sensitivity / 2)
    assert ratios[-1] == pytest.approx(last, rel=1e-4)


# The picture


def test_figures(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(_figures, "GRID", [0.1, 3.0])
    monkeypatch.setattr(_figures, "PANELS", _figures.OF_TABLE_ONE)
    file = io.BytesIO()
    PAPERS["bounded"].draw(file)
    assert file.getvalue().startswith(b"\x89PNG")
