"""Calibrated multi- and quasi-Gaussian mixtures: private by quadrature, and not with less noise."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import tightnoise as tn
from tightnoise import _core
from tightnoise.calibrate import multi_gaussian, quasi_gaussian

REFERENCE = Path(__file__).parents[1] / "reference"
QUASI = None  # in the place of a number of modes


def table(name):
    return json.loads((REFERENCE / name).read_text())


def calibrated(modes, epsilon, delta, sensitivity=1.0):
    if modes is QUASI:
        return quasi_gaussian(epsilon, delta, sensitivity=sensitivity)
    return multi_gaussian(epsilon, delta, sensitivity=sensitivity, modes=modes)


def with_sigma(noise, sigma):
    if isinstance(noise, tn.QuasiGaussianMixture):
        return tn.QuasiGaussianMixture(sigma, noise.epsilon, noise.sensitivity)
    return tn.MultiGaussianMixture(sigma, noise.epsilon, noise.sensitivity, noise.modes)


def published_sigma(epsilon, delta):
    """Return the larger of the paper's two, of a quasi-Gaussian mixture."""
    return _core.additive.quasi_gaussian_sigma_of_paper(epsilon, delta, 1.0)


def test_divergences_by_quadrature(check_error):
    for epsilon, delta, modes, sigma, shift, exact in table("additive_calibration.json"):
        noise = calibrated(modes, epsilon, delta)
        assert noise.sigma == pytest.approx(sigma, rel=1e-9)
        assert float(exact) <= delta
        value = with_sigma(noise, sigma).hockey_stick(0.0, shift, epsilon)
        check_error("calibrated mixtures: divergences", abs(value / float(exact) - 1), 1e-11)


@pytest.mark.parametrize("kind", ["multi", "quasi"])
def test_private_and_no_larger_than_needed(kind, rng):
    for _ in range(60):
        epsilon = float(rng.choice([rng.uniform(0.05, 1), rng.uniform(1, 12)]))
        delta = float(rng.choice([rng.uniform(0.01, 0.7), 10 ** rng.uniform(-12, -1)]))
        modes = int(rng.choice([0, 1, 2, 3, rng.integers(4, 30)])) if kind == "multi" else QUASI
        noise = calibrated(modes, epsilon, delta)
        assert noise.cost(sensitivity=1.0).delta(epsilon) <= delta
        worst = noise._law.worst_shift(epsilon, 1.0)[1]
        less = with_sigma(noise, noise.sigma * (1 - 2e-9))
        assert less.hockey_stick(0.0, worst, epsilon) > delta
        more = noise.sigma * 1.01  # stays private
        if modes is QUASI:
            more = published_sigma(epsilon, delta)
            assert noise.sigma <= more * (1 + 1e-9)
        assert with_sigma(noise, more).cost(sensitivity=1.0).delta(epsilon) <= delta


@pytest.mark.parametrize("sensitivity", [1e-200, 1e-3, 7.0, 1e200])
def test_sigma_scales_with_sensitivity(sensitivity):
    targets = [*((modes, 1.0, 0.01) for modes in (0, 1, 4, 12))]
    for modes, epsilon, delta in (*targets, (QUASI, 1.0, 1e-6), (QUASI, 5.0, 0.2)):
        unit, noise = (calibrated(modes, epsilon, delta, size) for size in (1.0, sensitivity))
        assert noise.sigma == pytest.approx(unit.sigma * sensitivity, rel=1e-9)
        assert noise.cost(sensitivity=sensitivity).delta(epsilon) <= delta


@pytest.mark.parametrize(
    ("modes", "epsilon", "delta"),
    [
        *((modes, 1.0, 1e-300) for modes in (0, 3, 200, QUASI)),
        *((modes, 1.0, 0.999) for modes in (2, QUASI)),
        (5, 1e-3, 0.01),
        (1, 1e-3, 1e-6),
        (QUASI, 1e-3, 1e-9),
        (QUASI, 1e-3, 0.5),
        *((modes, 700.0, 1e-5) for modes in (1, QUASI)),
        *((modes, 700.0, 0.5) for modes in (2, QUASI)),
        (200, 10.0, 1e-9),
    ],
)
def test_edges(modes, epsilon, delta):
    assert calibrated(modes, epsilon, delta).cost(sensitivity=1.0).delta(epsilon) <= delta


def test_all_cells_of_the_paper():
    """Sigma and gain over the Gaussian for the best of 1 to 20 modes; more modes are no worse."""
    for delta, epsilon, modes, sigma, gain, _ in table("multi_gaussian_cells.json"):
        noise = calibrated(modes, epsilon, delta)
        assert noise.sigma == pytest.approx(sigma, abs=5.1e-5)
        gaussian = tn.calibrate.gaussian(epsilon, delta, sensitivity=1.0).mean_abs()
        assert 100 * (1 - noise.mean_abs() / gaussian) == pytest.approx(gain, abs=5.1e-3)


@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_best_modes(loss):
    def value(noise):
        return noise.mean_abs() if loss == "l1" else noise.var()

    for epsilon, delta in [(0.5, 0.01), (1.0, 1e-4), (1.0, 0.25), (3.0, 0.05), (5.0, 1e-3)]:
        best = multi_gaussian(epsilon, delta, sensitivity=1.0, loss=loss)
        every = [calibrated(modes, epsilon, delta) for modes in range(best.modes + 5)]
        assert value(best) <= min(map(value, every)) * (1 + 4e-6)
        assert best.sigma == pytest.approx(every[best.modes].sigma, rel=1e-10)
        assert best.cost(sensitivity=1.0).delta(epsilon) <= delta


@pytest.mark.parametrize(
    ("epsilon", "delta", "modes", "sigma"),
    [
        # 40-digit solutions of the two conditions of a multi-Gaussian
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
        # and of (4a) and (5a) for the quasi-Gaussian of the paper
        (0.1, 1e-10, QUASI, 54.1922629253204307349584),
        (0.1, 1e-5, QUASI, 30.7142354776224372662081),
        (0.1, 1e-2, QUASI, 9.39331709372297388896647),
        (5, 1e-10, QUASI, 1.21920754695614786083463),
        (5, 1e-5, QUASI, 0.793505453745830),
        (10, 1e-5, QUASI, 0.348144716788188617777),
        (1e-3, 0.5, QUASI, 11.1747385058987922),
        (0.05, 0.45, QUASI, 1.53699224655953065),
        (0.1, 0.4, QUASI, 1.04613981281875061),
        (1, 0.3, QUASI, 0.340872038371268217742),
        (2, 0.3, QUASI, 0.298159108812582789186),
        (10, 0.01, QUASI, 0.184750037818101682),
    ],
)
def test_known_values(epsilon, delta, modes, sigma):
    if modes is QUASI:
        found = published_sigma(epsilon, delta)
    else:
        found = calibrated(modes, epsilon, delta).sigma
    # A little more noise, so that the certificate has room.
    least = 2e-13 if modes is QUASI else 1e-14
    assert sigma * (1 - least) <= found <= sigma * (1 + 1e-9)


def test_large_deltas_need_less_than_the_paper_says():
    for epsilon, delta, least in [(5.0, 0.25, 0.76), (10.0, 0.25, 0.8), (2.0, 0.25, 0.8)]:
        exact, published = calibrated(QUASI, epsilon, delta), published_sigma(epsilon, delta)
        assert least - 0.05 < exact.sigma / published < 0.95


def test_no_modes_is_the_analytic_gaussian():
    for epsilon, delta in [(0.1, 1e-6), (1.0, 0.3), (20.0, 1e-3)]:
        gaussian = tn.calibrate.gaussian(epsilon, delta, sensitivity=2.0).sigma
        assert calibrated(0, epsilon, delta, 2.0).sigma == pytest.approx(gaussian, rel=1e-9)


# Budgets at which several maxima of the divergence over the shifts change places with sigma. To
# follow one of them ended at as much as 3e8 delta, at the first; the last one did not end at all.
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(30.0, 1e-9), (20.0, 1e-9), (8.0, 1e-6), (24.1958, 2.862418514630653e-10)],
)
def test_private_where_maxima_change_places(epsilon, delta):
    for modes in (2, 4):
        noise = calibrated(modes, epsilon, delta)
        assert noise.cost(sensitivity=1.0).delta(epsilon) <= delta
        assert noise.hockey_stick(0.0, np.linspace(0.5, 1.0, 2001), epsilon).max() <= delta
        assert noise.sigma < {8.0: 0.2002}.get(epsilon, 0.141)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-20, 1e-300])
def test_tiny_epsilons_take_no_time(epsilon):
    # Each of these once took from ten seconds to forever.
    best = multi_gaussian(epsilon, 1e-9, sensitivity=1.0)
    assert best.modes == 0
    for noise in (best, calibrated(2, epsilon, 1e-9)):
        assert noise.cost(sensitivity=1.0).delta(epsilon) <= 1e-9


@pytest.mark.parametrize("epsilon", [1e-3, 1e-4])
def test_tiny_epsilons_have_an_answer(epsilon):
    noise = multi_gaussian(epsilon, 1e-9, sensitivity=1.0)
    assert noise.modes > 5000
    assert noise.cost(sensitivity=1.0).delta(epsilon) <= 1e-9
    assert noise.mean_abs() == pytest.approx(1 / epsilon, rel=1e-3)  # as Laplace noise


def test_largest_numbers():
    assert math.isfinite(calibrated(QUASI, 1.0, 1e-5, 1e300).sigma)
