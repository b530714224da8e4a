"""One release in place of many: as expensive as they are together, and no cheaper."""

import math

import numpy as np
import pytest

import tightnoise as tn
from tightnoise._core import cost as core
from tightnoise.costs._bounds import release_of_losses
from tightnoise.costs._composed_release import composed_release
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._gaussian_profile import gaussian_delta, gaussian_epsilon
from tightnoise.costs._log_moments import renyi_upper

PLD = tn.costs.PrivacyLossDistribution
_RESPONSE = 1 / (1 + math.exp(-0.5))


def test_gaussians(check_error):
    points = np.linspace(0.0, gaussian_epsilon(1e-40, 0.25), 2000)
    once = connect_dots(points, gaussian_delta(points, 0.25))
    release = composed_release({once: 20})
    for delta in (1e-2, 1e-6, 1e-12):
        exact = gaussian_epsilon(delta, math.sqrt(20) / 4)
        got = PLD._of({release: 1}).epsilon(delta)
        assert got >= exact * (1 - 1e-12)
        check_error("composed_release, Gaussians", got / exact - 1, 1e-4)
        exact = gaussian_epsilon(delta, math.sqrt(200) / 4)
        got = PLD._of({release: 10}).epsilon(delta)
        assert got >= exact * (1 - 1e-12)
        check_error("composed_release, Gaussians", got / exact - 1, 1e-4)


def test_randomised_responses_stay_on_their_grid():
    once = release_of_losses([0.5, -0.5], [_RESPONSE, 1 - _RESPONSE])
    release = composed_release({once: 9})
    assert release.is_symmetric
    assert release.infinite == 0.0
    many = PLD._of({once: 9})
    for epsilon in (0.0, 0.3, 1.0, 3.1, 4.4):
        assert PLD._of({release: 1}).delta(epsilon) == pytest.approx(many.delta(epsilon), rel=1e-8)
    assert PLD._of({release: 1}).epsilon(0.0) == pytest.approx(4.5)


def test_both_directions_of_different_releases(rng):
    p, q = rng.dirichlet(np.ones(4), 2)
    one = release_of_losses(np.log(p / q), p)
    epsilons = np.linspace(0.0, 2.0, 40)
    other = connect_dots(epsilons, 0.1 * np.exp(-3 * epsilons), 0.05 * np.exp(-6 * epsilons))
    releases = {one: 5, other: 3}
    release, many = composed_release(releases), PLD._of(releases)
    for direction, each in zip(PLD._of({release: 1})._directions, many._directions, strict=True):
        for epsilon in (0.0, 0.5, 2.0):
            exact = each.delta_upper(epsilon)
            assert exact * (1 - 1e-6) <= direction.delta_upper(epsilon) <= exact * (1 + 1e-3)


def test_moments_of_the_composition_are_sums():
    once = release_of_losses([0.5, -0.5], [_RESPONSE, 1 - _RESPONSE])
    orders = np.array([1.5, 4.0, 20.0])
    together = renyi_upper(composed_release({once: 6}), orders)
    assert together == pytest.approx(6 * renyi_upper(once, orders), rel=1e-6)


def test_releases_that_say_nothing():
    silent = release_of_losses([0.0], [1.0])
    assert PLD._of({composed_release({silent: 4}): 3}).epsilon(1e-12) == 0.0


def test_many_deltas_of_a_lattice():
    # As sums say, at points of the lattice and between, below the first and beyond the last.
    masses, first, spacing, tilt, log_scale = np.array([0.1, 0.3, 0.4, 0.2]), -0.5, 0.25, 2.0, -1.5
    losses = first + spacing * np.arange(4)
    p = masses * np.exp(log_scale - tilt * (losses - first))
    epsilons = np.array([-0.9, -0.5, -0.3, 0.0, 0.2, 0.25])
    tail = first, spacing, tilt, log_scale
    deltas = np.exp(core.lattice_log_deltas(masses, 0.0, 0.0, *tail, epsilons))
    for epsilon, delta in zip(epsilons.tolist(), deltas.tolist(), strict=True):
        exact = math.fsum(np.maximum(-p * np.expm1(epsilon - losses), 0.0).tolist())
        assert delta == pytest.approx(exact, rel=1e-14, abs=1e-300)
    alone = [core.lattice_log_delta(masses, 1e-3, 1e-2, *tail, x) for x in epsilons.tolist()]
    together = core.lattice_log_deltas(masses, 1e-3, 1e-2, *tail, epsilons)
    assert np.allclose(together, alone, rtol=1e-14, atol=0)
    # What lies beyond the last counts whole.
    beyond = core.lattice_log_deltas(masses, 0.0, 1e-2, *tail, np.array([5.0]))
    assert beyond[0] == pytest.approx(math.log(1e-2) + log_scale - tilt * 3 * spacing)


def test_epsilon_of_a_long_lattice():
    # Many points at a time are passed over: the answer is where delta is what was asked.
    rng = np.random.default_rng(4)
    masses = rng.dirichlet(np.full(1000, 2.0))
    at = masses, 0.0, 0.0, -1.0, 2e-3, 0.7, 0.1
    for log_delta in (-1.5, -3.0, -9.0, -20.0):
        epsilon = core.lattice_epsilon(*at, log_delta)
        assert core.lattice_log_delta(*at, epsilon) == pytest.approx(log_delta, abs=1e-9)
    assert math.isnan(core.lattice_epsilon(*at, 0.5))
