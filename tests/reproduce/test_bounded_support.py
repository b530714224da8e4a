"""Figures of Hu et al. (2024): losses, costs, misprints, and the study of the mean."""

import json

import numpy as np
import pytest
from printed_tables import expected_cells

import tightnoise as tn
from tightnoise.random import NoiseStream
from tightnoise.reproduce.bounded import _estimation, _figures, _leakage
from tightnoise.reproduce.bounded._errata import errata_table
from tightnoise.reproduce.bounded._estimation import (
    LEAST_RATIO,
    RECORDS,
    SIGMA,
    Setting,
    best_support,
    centred_cost,
    centred_error,
    draw_averages,
    run,
    support_ratios,
    tuned_support,
)
from tightnoise.reproduce.bounded._leakage import FIGURE_1, MECHANISMS, eta, sound

TABLES = [*_leakage.TABLES, errata_table, *_estimation.TABLES]
POINTS = [
    (name, sigma, theta)
    for name, of_sigma in FIGURE_1.items()
    for sigma, of_theta in of_sigma.items()
    for theta in of_theta
]


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_tables(number):
    table = TABLES[number]()
    expected_cells(table)
    assert json.loads(json.dumps(table.as_dict()))["title"] == table.title
    assert sum(cell.expected is not None for row in table.rows for cell in row.cells) >= 8


# Figure 1


def test_bounded_support_costs_less_than_the_gaussian():
    """Theorems 4.2 and 4.9, for the rules and soundly."""
    for name, sigma, theta in POINTS:
        mechanism, gaussian = MECHANISMS[name](sigma), tn.Gaussian(sigma)
        assert eta(mechanism, theta) < eta(gaussian, theta)
        assert sound(mechanism, theta) < sound(gaussian, theta)


def test_the_cost_is_not_largest_in_the_middle_as_the_loss_is():
    rectified = MECHANISMS["rectified"](0.5)
    costs = [sound(rectified, theta) for theta in (0.0, 0.5, 1.0)]
    losses = [eta(rectified, theta) for theta in (0.0, 0.5, 1.0)]
    assert costs == sorted(costs)
    assert losses == sorted(losses, reverse=True)


def test_panels():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    every = Figure().subplots(1, len(_figures.OF_LEAKAGE))
    for axes, draw in zip(every, _figures.OF_LEAKAGE, strict=True):
        draw(axes)
    titles = [axes.get_title() for axes in every]
    assert [title.split()[-1] for title in titles] == ["0.5", "1", "0.5", "1"]
    solid, dashed = every[2].get_lines()[1:3]  # the rectified, soundly and by Algorithm 1
    assert (solid.get_ydata() >= dashed.get_ydata() * (1 - 1e-12)).all()
    assert solid.get_ydata()[0] > 1.2 * dashed.get_ydata()[0]


# The study of the mean


def test_thirty_percent_and_an_error_that_hardly_changes_exclude_each_other():
    """Cost and error both grow with the support: where one is near the Gaussian's, so is both."""
    kappas = np.linspace(0.01, 6.0, 600)
    costs = np.array([centred_cost(kappa) for kappa in kappas])
    errors = np.array([centred_error(kappa) for kappa in kappas])
    assert (np.diff(costs) > 0).all()
    assert (np.diff(errors) > 0).all()
    assert costs[errors >= 0.995].min() > 0.9998
    assert errors[costs <= 0.7].max() < 0.0164


def test_limit_of_narrow_supports():
    sign = tn.StochasticSign(1.0)
    assert float(sign.fisher_information(0.0)) == pytest.approx(LEAST_RATIO, rel=1e-14)
    assert LEAST_RATIO < centred_cost(1e-6) < LEAST_RATIO + 1e-6
    assert abs(1 - LEAST_RATIO - 0.363380) < 5e-7


@pytest.mark.parametrize("mu", _estimation.SWEEP)
def test_best_support_is_the_best(mu):
    best, cost = best_support(mu)
    half_widths = np.linspace(0.0, 4.0, 4001)[1:]
    costs, errors = support_ratios(mu, half_widths)
    assert (np.diff(costs) > -1e-12).all()
    good = errors <= 1.005
    assert half_widths[good].min() == pytest.approx(best, abs=0.0011)
    assert cost <= costs[good].min() <= cost + 0.002
    assert cost <= tuned_support(mu, _estimation.TUNED) <= cost + 0.02


@pytest.fixture(scope="module")
def averages():
    return draw_averages([0.0], np.random.default_rng(1), repetitions=40)[0.0]


@pytest.mark.parametrize("kappa", [0.133, 1.0, 3.0])
def test_study_agrees_with_what_is_expected(averages, kappa):
    """Errors within 5.5 standard errors: false alarms below 1e-6 by the seeds there are."""
    study = run(averages, Setting(0.0, SIGMA, kappa * SIGMA), NoiseStream(7))
    assert abs(study.error - study.expected_error) <= 5.5 * study.standard_error
    assert study.standard_error < 0.05
    assert study.expected_error == pytest.approx(centred_error(kappa), abs=0.01)
    assert study.cost == pytest.approx(centred_cost(kappa), abs=0.01)


def test_averages(averages):
    """Their mean and spread, within 5.5 standard errors of 4000 draws."""
    variance = float(tn.RectifiedGaussian(1.0, -1.0, 1.0).var(0.0))
    spread = (variance / RECORDS / averages.average.size) ** 0.5
    assert abs(averages.average.mean()) <= 5.5 * spread
    assert averages.average.var() == pytest.approx(variance / RECORDS, rel=5.5 * (2 / 4000) ** 0.5)
    assert averages.variance.mean() == pytest.approx(variance, rel=0.01)


def test_with_little_noise_most_coordinates_cost_nothing(averages):
    little = SIGMA * _estimation.SENSITIVITY
    study = run(averages, Setting(0.0, little, 1e-4), NoiseStream(8))
    assert 0.03 < study.cost < 0.2
    assert abs(study.distance) < 0.12


def test_example():
    table = _estimation.mean_estimation(repetitions=3)
    assert len(table.rows) == len(_estimation.SETTINGS)
    assert max(map(len, table.text().splitlines())) <= 120
