"""Calibrated multi-Gaussian mixtures: private by quadrature, and not with less noise."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.calibrate import multi_gaussian

REFERENCE = Path(__file__).parents[1] / "reference"
inf, nan = np.inf, np.nan


def table(name):
    return json.loads((REFERENCE / name).read_text())


def greatest_divergence(noise, epsilon, sigma):
    """Return the divergence of less noise at the shift that costs most with `noise`."""
    worst = noise._law.worst_shift(epsilon, noise.sensitivity)[1]
    less = tn.MultiGaussianMixture(sigma, noise.epsilon, noise.sensitivity, noise.modes)
    return less.hockey_stick(0.0, worst, epsilon)


def random_settings(rng, n):
    for _ in range(n):
        epsilon = float(rng.choice([rng.uniform(0.05, 1), rng.uniform(1, 12)]))
        delta = float(rng.choice([rng.uniform(0.01, 0.7), 10 ** rng.uniform(-8, -1)]))
        yield epsilon, delta, int(rng.choice([0, 1, 2, 3, rng.integers(4, 30)]))


def test_divergences_by_quadrature(check_error):
    worst = 0.0
    for epsilon, delta, modes, sigma, shift, exact in table("additive_calibration.json"):
        if modes is None:
            continue
        noise = multi_gaussian(epsilon, delta, sensitivity=1.0, modes=modes)
        assert noise.sigma == pytest.approx(sigma, rel=1e-9)
        assert float(exact) <= delta
        made = tn.MultiGaussianMixture(sigma, epsilon, 1.0, modes)
        value = made.hockey_stick(0.0, shift, epsilon)
        worst = max(worst, abs(value / float(exact) - 1))
    check_error("calibrate.multi_gaussian: divergences", worst, 1e-11)


def test_private_and_no_larger_than_needed(rng):
    for epsilon, delta, modes in random_settings(rng, 60):
        noise = multi_gaussian(epsilon, delta, sensitivity=1.0, modes=modes)
        assert noise.cost(sensitivity=1.0).delta(epsilon) <= delta
        assert greatest_divergence(noise, epsilon, noise.sigma * (1 - 2e-9)) > delta
        # With more noise it stays private.
        more = tn.MultiGaussianMixture(noise.sigma * 1.01, epsilon, 1.0, modes)
        assert more.cost(sensitivity=1.0).delta(epsilon) <= delta


def test_all_cells_of_the_paper():
    """Sigma and gain over the Gaussian for the best of 1 to 20 modes; more modes are no worse."""
    for delta, epsilon, modes, sigma, gain, _ in table("multi_gaussian_cells.json"):
        noise = multi_gaussian(epsilon, delta, sensitivity=1.0, modes=modes)
        assert noise.sigma == pytest.approx(sigma, abs=5.1e-5)
        gaussian = tn.calibrate.gaussian(epsilon, delta, sensitivity=1.0).sigma * math.sqrt(
            2 / math.pi
        )
        assert 100 * (1 - noise.mean_abs() / gaussian) == pytest.approx(gain, abs=5.1e-3)


@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_best_modes(loss, rng):
    def value(noise):
        return noise.mean_abs() if loss == "l1" else noise.var()

    for epsilon, delta in [(0.5, 0.01), (1.0, 1e-4), (1.0, 0.25), (3.0, 0.05), (5.0, 1e-3)]:
        best = multi_gaussian(epsilon, delta, sensitivity=1.0, loss=loss)
        every = [
            multi_gaussian(epsilon, delta, sensitivity=1.0, modes=modes)
            for modes in range(best.modes + 5)
        ]
        assert value(best) <= min(map(value, every)) * (1 + 4e-6)
        assert best.sigma == pytest.approx(every[best.modes].sigma, rel=1e-10)
        assert best.cost(sensitivity=1.0).delta(epsilon) <= delta


def test_known_values():
    # 40-digit solutions of the two conditions
    known = [
        (1, 0.01, 2, 1.61019162195804892704),
        (0.5, 1e-4, 5, 5.51479635959042290407),
        (0.1, 1e-6, 20, 35.2966769435266436910),
        (2, 1e-3, 1, 1.35000721142149536545),
        (1, 1e-5, 9, 2.62730709478769732560),
        (1, 0.01, 4, 0.334427486544659335880),
        (0.5, 0.01, 7, 0.371608481933635771784),
        (10, 0.25, 9, 0.148955599989639132960),
        (1, 1e-5, 11, 0.358153707597365739937),
        (3, 0.02, 2, 0.255983920932620846139),
    ]
    for epsilon, delta, modes, sigma in known:
        found = multi_gaussian(epsilon, delta, sensitivity=1.0, modes=modes).sigma
        assert sigma * (1 - 1e-14) <= found <= sigma * (1 + 1e-9)


def test_no_modes_is_the_analytic_gaussian():
    for epsilon, delta in [(0.1, 1e-6), (1.0, 0.3), (20.0, 1e-3)]:
        gaussian = tn.calibrate.gaussian(epsilon, delta, sensitivity=2.0).sigma
        assert multi_gaussian(epsilon, delta, sensitivity=2.0, modes=0).sigma == pytest.approx(
            gaussian, rel=1e-9
        )


@pytest.mark.parametrize("sensitivity", [1e-200, 1e-3, 7.0, 1e200])
def test_sigma_scales_with_sensitivity(sensitivity):
    for modes in (0, 1, 4, 12):
        unit = multi_gaussian(1.0, 0.01, sensitivity=1.0, modes=modes)
        noise = multi_gaussian(1.0, 0.01, sensitivity=sensitivity, modes=modes)
        assert noise.sigma == pytest.approx(unit.sigma * sensitivity, rel=1e-9)
        assert noise.cost(sensitivity=sensitivity).delta(1.0) <= 0.01


# Budgets at which several maxima of the divergence over the shifts change places with sigma. To
# follow one of them ended at as much as 3e8 delta, at the first; the last one did not end at all.
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(30.0, 1e-9), (20.0, 1e-9), (8.0, 1e-6), (24.1958, 2.862418514630653e-10)],
)
def test_private_where_maxima_change_places(epsilon, delta):
    for modes in (2, 4):
        noise = multi_gaussian(epsilon, delta, sensitivity=1.0, modes=modes)
        assert noise.cost(sensitivity=1.0).delta(epsilon) <= delta
        shifts = np.linspace(0.5, 1.0, 2001)
        assert noise.hockey_stick(0.0, shifts, epsilon).max() <= delta
        assert noise.sigma < {8.0: 0.2002}.get(epsilon, 0.141)


EDGES = [
    (1.0, 1e-300, 200),
    (1.0, 1e-300, 0),
    (1.0, 1e-300, 3),
    (1.0, 0.999, 2),
    (1e-3, 0.01, 5),
    (1e-3, 1e-6, 1),
    (700.0, 1e-5, 1),
    (700.0, 0.5, 2),
    (10.0, 1e-9, 200),
]


@pytest.mark.parametrize(("epsilon", "delta", "modes"), EDGES)
def test_edges(epsilon, delta, modes):
    noise = multi_gaussian(epsilon, delta, sensitivity=1.0, modes=modes)
    assert noise.cost(sensitivity=1.0).delta(epsilon) <= delta


@pytest.mark.parametrize("epsilon", [1e-6, 1e-20, 1e-300])
def test_tiny_epsilons_take_no_time(epsilon):
    # Each of these once took from ten seconds to forever.
    gaussian = tn.calibrate.multi_gaussian(epsilon, 1e-9, sensitivity=1.0)
    assert gaussian.modes == 0
    assert gaussian.cost(sensitivity=1.0).delta(epsilon) <= 1e-9
    few = tn.calibrate.multi_gaussian(epsilon, 1e-9, sensitivity=1.0, modes=2)
    assert few.cost(sensitivity=1.0).delta(epsilon) <= 1e-9


@pytest.mark.parametrize("epsilon", [1e-3, 1e-4])
def test_tiny_epsilons_have_an_answer(epsilon):
    noise = multi_gaussian(epsilon, 1e-9, sensitivity=1.0)
    assert noise.modes > 5000
    assert noise.cost(sensitivity=1.0).delta(epsilon) <= 1e-9
    assert noise.mean_abs() == pytest.approx(1 / epsilon, rel=1e-3)  # as Laplace noise
