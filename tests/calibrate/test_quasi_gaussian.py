"""Calibrated quasi-Gaussian mixtures: private by quadrature, and not with less noise."""

import json
from pathlib import Path

import numpy as np
import pytest

import tightnoise as tn
from tightnoise import _core
from tightnoise.calibrate import quasi_gaussian

TABLE = Path(__file__).parents[1] / "reference" / "additive_calibration.json"
inf, nan = np.inf, np.nan


def published_sigma(epsilon, delta, sensitivity=1.0):
    """Return the larger of the paper's two."""
    return _core.additive.quasi_gaussian_sigma_of_paper(epsilon, delta, sensitivity)


def test_divergences_by_quadrature(check_error):
    worst = 0.0
    for epsilon, delta, modes, sigma, shift, exact in json.loads(TABLE.read_text()):
        if modes is not None:
            continue
        assert quasi_gaussian(epsilon, delta, sensitivity=1.0).sigma == pytest.approx(
            sigma, rel=1e-9
        )
        assert float(exact) <= delta
        value = tn.QuasiGaussianMixture(sigma, epsilon, 1.0).hockey_stick(0.0, shift, epsilon)
        worst = max(worst, abs(value / float(exact) - 1))
    check_error("calibrate.quasi_gaussian: divergences", worst, 1e-11)


def test_private_and_no_larger_than_needed(rng):
    for _ in range(100):
        epsilon = float(rng.choice([rng.uniform(0.02, 1), rng.uniform(1, 12)]))
        delta = float(rng.choice([rng.uniform(0.01, 0.9), 10 ** rng.uniform(-12, -1)]))
        noise = quasi_gaussian(epsilon, delta, sensitivity=1.0)
        assert noise.cost(sensitivity=1.0).delta(epsilon) <= delta
        less = tn.QuasiGaussianMixture(noise.sigma * (1 - 2e-9), epsilon, 1.0)
        worst = noise._law.worst_shift(epsilon, 1.0)[1]
        assert less.hockey_stick(0.0, worst, epsilon) > delta
        published = tn.QuasiGaussianMixture(published_sigma(epsilon, delta), epsilon, 1.0)
        assert noise.sigma <= published.sigma * (1 + 1e-9)
        assert published.cost(sensitivity=1.0).delta(epsilon) <= delta


def test_sigma_1_and_sigma_2():
    # 40-digit solutions of (4a) and (5a)
    known = [
        (0.1, 1e-10, 54.1922629253204307349584),
        (0.1, 1e-5, 30.7142354776224372662081),
        (0.1, 1e-2, 9.39331709372297388896647),
        (5, 1e-10, 1.21920754695614786083463),
        (5, 1e-5, 0.793505453745830),
        (10, 1e-5, 0.348144716788188617777),
        (1e-3, 0.5, 11.1747385058987922),
        (0.05, 0.45, 1.53699224655953065),
        (0.1, 0.4, 1.04613981281875061),
        (1, 0.3, 0.340872038371268217742),
        (2, 0.3, 0.298159108812582789186),
        (10, 0.01, 0.184750037818101682),
    ]
    for epsilon, delta, sigma in known:
        found = published_sigma(epsilon, delta)
        # A little more noise, so that the certificate has room.
        assert sigma * (1 - 2e-13) <= found <= sigma * (1 + 1e-9)


def test_large_deltas_need_less_than_the_paper_says():
    for epsilon, delta, least in [(5.0, 0.25, 0.76), (10.0, 0.25, 0.8), (2.0, 0.25, 0.8)]:
        exact = quasi_gaussian(epsilon, delta, sensitivity=1.0).sigma
        published = published_sigma(epsilon, delta)
        assert least - 0.05 < exact / published < 0.95


@pytest.mark.parametrize("sensitivity", [1e-200, 1e-3, 7.0, 1e200])
def test_sigma_scales_with_sensitivity(sensitivity):
    for epsilon, delta in [(1.0, 1e-6), (5.0, 0.2)]:
        unit = quasi_gaussian(epsilon, delta, sensitivity=1.0)
        noise = quasi_gaussian(epsilon, delta, sensitivity=sensitivity)
        assert noise.sigma == pytest.approx(unit.sigma * sensitivity, rel=1e-9)
        assert noise.cost(sensitivity=sensitivity).delta(epsilon) <= delta


EDGES = [(1.0, 1e-300), (1.0, 0.999), (1e-3, 1e-9), (1e-3, 0.5), (700.0, 1e-5), (700.0, 0.5)]


@pytest.mark.parametrize(("epsilon", "delta"), EDGES)
def test_edges(epsilon, delta):
    assert (
        quasi_gaussian(epsilon, delta, sensitivity=1.0).cost(sensitivity=1.0).delta(epsilon)
        <= delta
    )
