"""Private coordinate descent: the pieces on data made here, the whole on scikit-learn's."""

import dataclasses
import importlib.util
import itertools

import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise.reproduce.mixtures import _descent
from tightnoise.reproduce.mixtures._descent import (
    coordinate_descent,
    descend,
    draw_schedule,
    error_rates,
    errors_table,
    mean_gradient,
    sensitivity,
)


@pytest.fixture
def signed(rng):
    """y x_j of 3 data sets of 40 records with 5 features, which a plane nearly separates."""
    features = rng.uniform(-1, 1, size=(5, 3, 40))
    labels = np.sign(features[0] - 0.5 * features[1] + 0.1 * rng.normal(size=(3, 40)))
    return labels * features


def margins_of(h, signed):
    return np.einsum("js,jsn->sn", h, signed)


def mean_loss(h, signed):
    return np.mean(np.logaddexp(0.0, -margins_of(h, signed)), axis=-1)


@pytest.mark.parametrize("j", range(5))
def test_gradient_is_that_of_the_mean_loss(j, rng, signed):
    h = rng.normal(size=(5, 3))
    step = np.zeros((5, 1))
    step[j] = 1e-5
    slope = (mean_loss(h + step, signed) - mean_loss(h - step, signed)) / 2e-5
    np.testing.assert_allclose(mean_gradient(signed[j], margins_of(h, signed)), slope, rtol=1e-8)


def test_gradient_with_margins_beyond_exp():
    margins = np.array([[-1e4, 1e4]])
    assert mean_gradient(np.array([[0.5, 0.5]]), margins) == [-0.25]


def test_no_neighbour_moves_a_coordinate_by_more_than_the_sensitivity(rng):
    records, dim = 6, 3
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=dim + 1)))
    most = 0.0
    for size in (0.1, 3.0, 50.0):
        h = size * rng.normal(size=(dim, 1))
        data = rng.uniform(-1, 1, size=(records, dim))
        data[0] = corners[0, :dim]
        # Replace record 0 by every record at a corner of the domain: features and label.
        columns = [data.T[:, None, :]]
        for corner in corners:
            other = data.copy()
            other[0] = corner[-1] * corner[:dim]
            columns.append(other.T[:, None, :])
        gradients = np.array(
            [[mean_gradient(c[j], margins_of(h, c))[0] for j in range(dim)] for c in columns]
        )
        moved = np.abs(gradients[:, None] - gradients).max()
        assert moved <= sensitivity(records) * (1 + 1e-12)  # rounding of the test itself
        most = max(most, moved)
    assert most >= 0.99 * sensitivity(records)  # and no smaller one would do


def test_without_noise_the_minimum_is_found(signed):
    schedule = np.tile(np.arange(5), (2000, 1))
    h = descend(signed, schedule, np.zeros((2000, 5, 3)))
    for j in range(5):
        gradient = mean_gradient(signed[j], margins_of(h, signed))
        assert np.abs(gradient).max() < 1e-2
    assert (mean_loss(h, signed) < 0.5 * np.log(2)).all()
    assert (error_rates(h, signed) <= 0.1).all()


def test_data_sets_do_not_mix(rng, signed):
    schedule = draw_schedule(5, rng, iterations=7)
    noise = rng.normal(size=(*schedule.shape, 3))
    together = descend(signed, schedule, noise)
    for k in range(3):
        alone = descend(signed[:, [k]], schedule, noise[..., [k]])
        np.testing.assert_allclose(alone[:, 0], together[:, k], rtol=1e-12)


def test_one_update_by_hand(signed):
    schedule = np.array([[2]])
    noise = np.array([[[0.25, 0.0, -0.5]]])
    h = descend(signed, schedule, noise)
    gradient = mean_gradient(signed[2], np.zeros((3, 40)))
    np.testing.assert_allclose(h[2], -4.0 * (gradient + noise[0, 0]), atol=5e-8)
    assert not np.delete(h, 2, axis=0).any()


def test_a_large_penalty_leaves_nothing(rng, signed, monkeypatch):
    monkeypatch.setattr(_descent, "PENALTY", 1.0)
    schedule = draw_schedule(5, rng, iterations=3)
    assert not descend(signed, schedule, np.zeros((*schedule.shape, 3))).any()


def test_an_iteration_ends_with_the_mean_of_its_classifiers(signed):
    both = descend(signed, np.array([[0, 1]]), np.zeros((1, 2, 3)))
    first = descend(signed, np.array([[0]]), np.zeros((1, 1, 3)))
    np.testing.assert_allclose(both[0], first[0])  # the same in both of the classifiers
    gradient = mean_gradient(signed[1], first[0][:, None] * signed[0])
    np.testing.assert_allclose(both[1], 0.5 * -4.0 * gradient, atol=5e-8)


def test_schedule():
    schedule = draw_schedule(30, np.random.default_rng(1))
    assert schedule.size == 800
    assert set(schedule.flat) == set(range(30))


def test_a_margin_of_zero_is_an_error():
    assert error_rates(np.zeros((2, 1)), np.ones((2, 1, 4))) == [1.0]


# The data


def test_scaling_uses_the_public_ranges_alone():
    features = np.array([[0.0, 5.0], [5.0, 15.0], [20.0, -5.0]])
    scaled = _descent.scaled(features, np.array([0.0, 5.0]), np.array([10.0, 10.0]))
    assert scaled.tolist() == [[-1.0, -1.0], [0.0, 1.0], [1.0, -1.0]]


def test_splits_hold_each_record_once(rng):
    features = np.arange(1.0, 21.0)[:, None]
    labels = np.where(np.arange(20) % 2, 1.0, -1.0)
    splits = _descent.split_of(features, labels, 5, rng)
    assert splits.train.shape == (1, 5, 16)
    assert splits.test.shape == (1, 5, 4)
    for k in range(5):
        held = np.concatenate([splits.train[0, k], splits.test[0, k]])
        assert sorted(held) == sorted(labels * features[:, 0])
    assert len({tuple(row) for row in splits.test[0]}) == 5


@pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="needs scikit-learn")
def test_breast_cancer_data():
    features, labels = _descent.load()
    assert features.shape == (569, 30)
    assert features.min(axis=0).tolist() == [-1.0] * 30
    assert features.max(axis=0).tolist() == [1.0] * 30
    assert (labels == 1).sum() == 357


# The price


@pytest.fixture(scope="module")
def budget():
    return _descent.Budget(epsilon=2.0, delta=1e-5, sensitivity=0.01, releases=100)


def test_gaussian_noise_costs_what_it_may(budget):
    sigma = _descent.gaussian(budget).sigma
    cost = tn.Cost.of_gdp(10 * 0.01 / sigma).epsilon(1e-5)
    assert cost == pytest.approx(2.0, rel=1e-9)
    assert cost <= 2.0


@pytest.mark.parametrize(
    "calibrated", [*by_night(_descent.multi_gaussian), _descent.quasi_gaussian]
)
def test_least_noise_of_mixtures(calibrated, budget, monkeypatch):
    monkeypatch.setattr(_descent, "TOLERANCE", 1e-4)
    mechanism = calibrated(budget)
    assert budget.allows(mechanism)
    assert not budget.allows(dataclasses.replace(mechanism, sigma=mechanism.sigma * (1 - 2e-4)))
    # No noise has less variance than the Gaussian for the same Fisher information, which is what
    # counts in the end: there is nothing to gain, and little to lose.
    ratio = mechanism.var() / _descent.gaussian(budget).sigma ** 2
    assert 1 - 1e-3 < ratio < 1.01


def test_table_of_errors(rng, signed, budget):
    splits = _descent.Splits(signed[..., :30], signed[..., 30:])
    schedule = draw_schedule(5, rng, iterations=50)
    mechanisms = {"little": tn.Gaussian(0.001), "much": tn.Gaussian(0.002)}
    table = errors_table(splits, schedule, budget, mechanisms)
    rows = {row.setting: [cell.ours for cell in row.cells] for row in table.rows}
    assert rows["little"][:2] == [pytest.approx(0.1), 0.0]
    assert rows["much"][:2] == [pytest.approx(0.2), pytest.approx(300.0)]
    assert rows["little"][6:] == [0.0, 0.0]
    noise = mechanisms["much"].sample(np.zeros((50, 2, 3)), rng=tn.random.NoiseStream(1))
    h = descend(splits.train, schedule, noise)
    inside, outside = error_rates(h, splits.train), error_rates(h, splits.test)
    assert rows["much"][2:6] == pytest.approx(
        [100 * f for e in (inside, outside) for f in (e.mean(), e.std(ddof=1))]
    )
    assert max(map(len, table.text().splitlines())) <= 120


@pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="needs scikit-learn")
def test_breast_cancer(monkeypatch):
    monkeypatch.setattr(_descent, "SPLITS", 3)
    monkeypatch.setattr(_descent, "NOISES", {"Gaussian": _descent.gaussian})
    rows = {row.setting: [cell.ours for cell in row.cells] for row in coordinate_descent().rows}
    assert rows["Gaussian"][0] == pytest.approx(26.0, abs=0.1)
    assert 2 < rows["none"][2] < 7
    assert rows["none"][2] < rows["Gaussian"][2] < 15
    assert rows["best of all (Gaussian)"][1] == pytest.approx(0.0, abs=1e-9)
