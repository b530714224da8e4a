"""The worst pair of bounded Laplace noise: above all pairs' divergences, and next to one."""

import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise._core import domain as core

NEAR = 2.5e-10


def divergences(width, change, epsilon):
    """Of pairs on a fine grid, densest at the ends; the last axis is epsilon's."""
    gap = width - change
    near = np.append(np.geomspace(1e-6, min(gap, 60.0) / 2 + 1e-300, 1500), 0.0)
    lows = np.unique(np.clip(np.concatenate([near, gap - near, [gap / 2]]), 0.0, gap))
    noise = tn.BoundedLaplace(1.0, 0.0, width)
    return np.array([noise.hockey_stick(low, low + change, epsilon) for low in lows])


@pytest.mark.parametrize("share", [1e-4, *by_night(0.03), 0.5, 1.0])
@pytest.mark.parametrize("width", [0.01, *by_night(1.0), 8.0, 300.0])
def test_no_pair_costs_more_and_one_costs_as_much(width, share):
    change = share * width
    loss = core.bounded_laplace_epsilon(1.0, width, change)
    epsilon = loss * np.array([0.0, 0.01, 0.3, 0.5, 0.7, 0.9, 0.999])
    found = np.empty_like(epsilon)
    core.bounded_laplace_worst_delta(
        np.array(1.0), np.array(width), np.array(change), epsilon, found
    )
    best = divergences(width, change, epsilon).max(axis=0)
    assert (found >= best * (1 - 1e-12)).all()
    assert found == pytest.approx(best, rel=2e-5)  # as near as the grid is


def test_in_closed_form_where_values_are_as_far_apart_as_can_be():
    """One pair, the ends: P(x <= 1.5 - epsilon/2) - e^epsilon Q of it, of width 3."""
    for epsilon in (0.0, 1.0, 2.5):
        s = np.exp((epsilon - 3.0) / 2)
        truth = (1 - s) ** 2 / -np.expm1(-3.0)
        delta = core.bounded_laplace_worst_delta(1.0, 3.0, 5.0, epsilon)
        assert truth <= delta <= truth * (1 + NEAR)


def test_next_to_the_greatest_loss():
    """The end has (1 - s)^2/(1 - e^-w) with s = e^((epsilon - H)/2), the worst place a bit more."""
    for width, change in ((0.01, 0.003), (2.0, 0.5), (40.0, 7.0)):
        whole, rest = -np.expm1(-width), -np.expm1(-change) - np.expm1(change - width)
        loss = change + np.log(rest / whole)
        for away in (1e-3, 1e-5, 1e-7):
            epsilon = loss - away * change
            at_end = np.expm1(-0.5 * away * change) ** 2 / whole
            delta = core.bounded_laplace_worst_delta(1.0, width, change, epsilon)
            assert at_end * (1 - 1e-6) <= delta <= 2.5 * at_end
        above = core.bounded_laplace_epsilon(1.0, width, change) * (1 + 1e-12)
        assert core.bounded_laplace_worst_delta(1.0, width, change, above) == 0


@pytest.mark.parametrize("scale", [1e155, 1e162, 1e300])
def test_next_to_nothing_is_not_nothing(scale):
    cost = tn.BoundedLaplace(scale, 0.0, 1.0).cost(sensitivity=0.5)
    for count in (1, 5):
        assert (cost * count).epsilon(0.0) >= 0.7 / scale * count
        assert (cost * count).delta(0.0) >= 0.1 / scale


def test_epsilon_is_the_least():
    for delta in (0.3, 1e-3, 1e-9, 1e-300):
        epsilon = core.bounded_laplace_epsilon_at(2.0, 10.0, 1.0, delta)
        assert core.bounded_laplace_worst_delta(2.0, 10.0, 1.0, epsilon) <= delta
        less = epsilon * (1 - 1e-9)
        assert epsilon == 0 or core.bounded_laplace_worst_delta(2.0, 10.0, 1.0, less) > delta


@pytest.mark.parametrize(
    ("scale", "width", "change"),
    [(1.0, 1e300, 1.0), (1.0, 1e-200, 1e-250), (1e-300, 1.0, 0.1), (1.0, 1000.0, 999.0)],
)
def test_extremes(scale, width, change):
    loss = core.bounded_laplace_epsilon(scale, width, change)
    shares = np.array([0.0, 0.1, 0.5, 1 - 1e-9, 1.0])
    deltas = [core.bounded_laplace_worst_delta(scale, width, change, loss * x) for x in shares]
    assert deltas[-1] == 0 < deltas[-2]
    assert (np.diff(deltas) <= 0).all()
    assert deltas[0] <= 1


def test_both_sides_of_one_release_and_a_lower_cost_of_many():
    cost = tn.BoundedLaplace(13.8, 0.0, 0.78).cost(sensitivity=0.066, adjacency="add-remove")
    lower, upper = cost.epsilon_bounds(1e-3)
    assert upper * (1 - 1e-8) < lower <= upper
    lower, upper = cost.delta_bounds(0.004)
    assert upper * (1 - 1e-8) < lower <= upper
    loss = tn.Cost.of_pure(cost.epsilon(0.0))
    lower, upper = (cost * 23).epsilon_bounds(2.2e-5)
    assert 0.8 * upper < lower < upper < 0.6 * (loss * 23).epsilon(2.2e-5)
