"""The tables of Chen and Hale (2024): ours, the expected figures, and where the paper errs."""

import functools
import io

import numpy as np
import pytest
from printed_tables import expected_cells

import tightnoise as tn
from tightnoise.reproduce import PAPERS
from tightnoise.reproduce.bounded import _figures, _noises, _table_one, _univariate
from tightnoise.reproduce.bounded._noises import (
    LAPLACE,
    SIGMA,
    gaussian_averages,
    laplace_averages,
    true_epsilon,
)
from tightnoise.reproduce.bounded._setting import (
    EPSILONS,
    LOWER,
    MIDDLE,
    SENSITIVITIES,
    SENSITIVITY,
    UPPER,
    WIDTHS,
)
from tightnoise.reproduce.bounded._theorem import theorem_sigma

TABLES = (*_table_one.TABLES, *_univariate.TABLES)
CORNER = np.array(UPPER)


@functools.cache
def table(number):
    return TABLES[number]()


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_every_figure_is_the_expected_one(number):
    assert expected_cells(table(number), within=0.501)
    columns = table(number).columns
    assert len(set(columns)) == len(columns)


def test_tables_are_those_of_the_paper():
    assert PAPERS["bounded"].tables[: len(TABLES)] == TABLES


# Table 1 as printed


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_printed_figures_are_right_but_one(epsilon):
    ours = SIGMA["Theorem 13"](epsilon) ** 2
    assert f"{ours:.1f}" == ("84.4" if epsilon == 1.0 else _table_one.BOUNDED[epsilon])
    generalized = SIGMA["generalized"](epsilon) ** 2
    assert generalized == pytest.approx(float(_table_one.GENERALIZED[epsilon]), rel=1e-13)
    reduction = _table_one.percent_less(ours, generalized)
    assert f"{reduction:.1f}" == _table_one.REDUCTION[epsilon]


# What Theorem 13 costs


def loss(sigma, changes):
    """Of neighbours that differ by `changes` from the upper corner, which are the worst."""
    mechanism = tn.TruncatedGaussian(sigma, np.array(LOWER), CORNER)
    divergences = mechanism.renyi_divergence(CORNER - changes, CORNER, alpha=np.inf)
    return divergences.sum(axis=-1)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("method", ["generalized", "Theorem 13", "ball", "box"])
def test_true_epsilon_is_the_largest_loss(epsilon, method):
    sigma = SIGMA[method](epsilon)
    angles = np.linspace(0.0, 0.5 * np.pi, 2001)
    ball = loss(sigma, SENSITIVITY * np.stack([np.cos(angles), np.sin(angles)], axis=-1)).max()
    assert ball <= true_epsilon(sigma, SENSITIVITY) <= ball * (1 + 1e-6)
    box = float(loss(sigma, np.array(SENSITIVITIES)))
    assert true_epsilon(sigma, SENSITIVITIES) == pytest.approx(box, rel=1e-9)
    costs = {"ball": ball, "box": box}
    if method in costs:
        assert costs[method] == pytest.approx(epsilon, rel=1e-6)
    else:
        assert box < ball < 0.41 * epsilon


# How far the output is off


def by_quadrature(mechanism, lower, upper):
    """Average variance and mean squared error over a domain."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    theta = lower + 0.5 * (upper - lower) * (1 + nodes)
    variance = mechanism.var(theta)
    square = variance + (mechanism.mean(theta) - theta) ** 2
    return 0.5 * np.array([weights @ variance, weights @ square])


@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_averages(epsilon):
    for make, scale, averages in (
        (tn.TruncatedGaussian, SIGMA["ball"](epsilon), gaussian_averages),
        (tn.BoundedLaplace, LAPLACE["ball"](epsilon), laplace_averages),
    ):
        coordinates = zip(LOWER, UPPER, strict=True)
        expected = sum(by_quadrature(make(scale, *ends), *ends) for ends in coordinates)
        np.testing.assert_allclose(averages(scale), expected, rtol=1e-9)


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


@pytest.mark.parametrize("method", ["ball", "box"])
def test_bounded_laplace_is_better_from_epsilon_2_on(method):
    for epsilon in EPSILONS:
        laplace = laplace_averages(LAPLACE[method](epsilon)).square
        gaussian = gaussian_averages(SIGMA[method](epsilon)).square
        assert (laplace < gaussian) == (epsilon >= 2)


def test_less_of_the_parameter_is_not_less_of_the_output():
    generalized, theorem = (SIGMA[method](0.1) for method in ("generalized", "Theorem 13"))
    assert _table_one.percent_less(theorem**2, generalized**2) == pytest.approx(35.04, abs=5e-3)
    outputs = [gaussian_averages(sigma).variance for sigma in (theorem, generalized)]
    assert _table_one.percent_less(*outputs) == pytest.approx(0.12, abs=5e-3)


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


def test_mechanisms_are_calibrated_once():
    for of_epsilon in (*SIGMA.values(), *LAPLACE.values()):
        assert of_epsilon(1.0) is of_epsilon(1.0)
    assert _noises.gaussian_averages(2.0) is _noises.gaussian_averages(2.0)
