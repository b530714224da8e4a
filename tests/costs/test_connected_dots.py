"""Pairs that dominate: the profile of what comes out against the points that went in."""

import math

import numpy as np
import pytest
from finite_pairs import both_deltas, random_partly_apart

from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._gaussian_profile import gaussian_delta, gaussian_epsilon
from tightnoise.costs._loss_points import losses_of, points_up_to


def curve(release, epsilons):
    """D(P||Q) at any epsilons."""
    gains = np.maximum(0.0, -np.expm1(np.subtract.outer(epsilons, release.values)))
    return release.infinite + gains @ np.exp(release.log_mass)


def test_both_directions_of_random_pairs(rng):
    """Above the true curves everywhere, on them at points; masses are those of distributions."""
    for _ in range(100):
        p, q = random_partly_apart(rng, int(rng.integers(2, 8)), 0.4)
        epsilons = np.concatenate([[0.0], np.sort(rng.exponential(2.0, 40))])
        forward, backward = both_deltas(p, q, epsilons)
        release = connect_dots(epsilons, forward, backward)
        between = np.concatenate([epsilons, rng.uniform(0, epsilons[-1], 50)])
        exact, exact_backward = both_deltas(p, q, between)
        for one, truth, points in (
            (release, exact, forward),
            (release.swapped, exact_backward, backward),
        ):
            got = curve(one, between)
            assert (got >= truth - 1e-15).all()
            assert got[: epsilons.size] == pytest.approx(points, rel=1e-9, abs=1e-13)
            assert np.exp(one.log_mass).sum() + one.infinite == pytest.approx(1.0, abs=1e-12)
        assert release.swapped.swapped is release


def test_a_mirrored_curve_is_symmetric():
    epsilons = points_up_to(5.0, 0.3)
    heights = np.asarray(gaussian_delta(epsilons, 0.3))
    one, other = connect_dots(epsilons, heights), connect_dots(epsilons, heights, heights)
    assert one.swapped is one
    assert not other.is_symmetric
    for name in ("values", "log_mass", "infinite"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-12)
        assert getattr(one, name) == pytest.approx(getattr(other.swapped, name), rel=1e-9)


def test_the_grid_is_that_of_the_corners():
    evenly = connect_dots(0.25 * np.arange(5), np.array([0.5, 0.4, 0.2, 0.15, 0.0]))
    assert evenly.is_whole
    unevenly = connect_dots(np.array([0.0, 0.1, 0.25]), np.array([0.02, 0.005, 0.0]))
    assert unevenly.grid == pytest.approx(0.1)
    assert not unevenly.is_whole
    nothing = connect_dots(np.array([0.0, 1.0]), np.zeros(2))
    assert nothing.highest == nothing.grid == 0.0


def test_points():
    points = points_up_to(40.0, 0.01, [math.pi, 7.5, 50.0, 0.0])
    assert points[0] == 0.0
    assert points[-1] == 40.0
    assert {math.pi, 7.5} <= set(points.tolist())
    gaps = np.diff(points)
    assert (gaps > 0).all()
    assert (gaps <= 1.5 * np.maximum(0.01 / 200, points[1:] / 200)).all()
    assert 2000 <= points.size <= 6000
    assert points_up_to(1.0, 1e-300).size < 20_000


def test_a_profile_is_read_at_the_points():
    mu = 0.8
    largest = gaussian_epsilon(1e-40, mu)

    def profile(epsilons):
        delta = np.asarray(gaussian_delta(epsilons, mu))
        return delta, delta

    release = losses_of(profile, largest, mu, symmetric=True)
    assert release.infinite == gaussian_delta(largest, mu)
    for epsilon in (0.0, 0.3, 2.0, 4.0):
        exact = gaussian_delta(epsilon, mu)
        assert exact * (1 - 1e-12) <= curve(release, np.array([epsilon]))[0] <= exact * (1 + 1e-3)
