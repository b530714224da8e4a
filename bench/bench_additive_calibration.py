"""How long it takes to find the least noise of a mixture of Gaussians, and to be sure of it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize

import tightnoise as tn

# epsilon, delta, modes
GIVEN = [(1.0, 0.01, 4), (3.0, 0.25, 3), (1.0, 1e-5, 14), (10.0, 5e-6, 3), (1.0, 1e-12, 30)]
BEST = [(0.1, 0.05), (1.0, 0.01), (1.0, 1e-5), (10.0, 5e-7), (1.0, 1e-12)]
QUASI = [(0.1, 1e-6), (1.0, 1e-5), (2.0, 0.25), (10.0, 0.01)]


def divergence_by_scipy(sigma, epsilon, modes, shift):
    """Return the integral by adaptive quadrature between the components."""
    k = np.arange(-modes, modes + 1)
    weights = np.exp(-np.abs(k) * epsilon)
    weights /= weights.sum() * sigma * math.sqrt(2 * math.pi)

    def density(x):
        return weights @ np.exp(-0.5 * ((x - k) / sigma) ** 2)

    def positive_part(x):
        return max(density(x + shift) - math.exp(epsilon) * density(x), 0.0)

    ends = [-modes - 12 * sigma, *np.sort(np.concatenate([k - shift, k])), modes + 12 * sigma]
    return sum(
        integrate.quad(positive_part, a, b, limit=200, epsrel=1e-8)[0]
        for a, b in itertools.pairwise(ends)
    )


def calibrated_by_scipy(epsilon, delta, modes):
    """Return the sigma for which no shift on a coarse grid costs more than delta."""
    shifts = np.linspace(0.05, 1.0, 20)

    def excess(sigma):
        worst = max(divergence_by_scipy(sigma, epsilon, modes, shift) for shift in shifts)
        return math.log(worst / delta)

    gaussian = float(tn.calibrate.gaussian(epsilon, delta, sensitivity=1.0).sigma)
    return optimize.brentq(excess, 0.02, gaussian, xtol=1e-6)


@pytest.mark.parametrize(("epsilon", "delta", "modes"), GIVEN)
def test_multi_gaussian(timed, epsilon, delta, modes) -> None:
    noise = timed(
        "multi-Gaussian of given modes",
        lambda: tn.calibrate.multi_gaussian(epsilon, delta, sensitivity=1.0, modes=modes),
        1,
    )
    assert noise.cost(sensitivity=1.0).delta(epsilon) <= delta


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")  # kinks
def test_multi_gaussian_scipy(timed) -> None:
    epsilon, delta, modes = GIVEN[0]
    sigma = timed(
        "multi-Gaussian of given modes", lambda: calibrated_by_scipy(epsilon, delta, modes), 1
    )
    expected = tn.calibrate.multi_gaussian(epsilon, delta, sensitivity=1.0, modes=modes).sigma
    assert 0.99 * expected < sigma < 1.001 * expected  # between grid points more is at stake


@pytest.mark.parametrize(("epsilon", "delta"), BEST)
def test_best_multi_gaussian(timed, epsilon, delta) -> None:
    noise = timed(
        "multi-Gaussian, best modes",
        lambda: tn.calibrate.multi_gaussian(epsilon, delta, sensitivity=1.0),
        1,
    )
    assert noise.cost(sensitivity=1.0).delta(epsilon) <= delta


@pytest.mark.parametrize(("epsilon", "delta"), QUASI)
def test_quasi_gaussian(timed, epsilon, delta) -> None:
    noise = timed(
        "quasi-Gaussian", lambda: tn.calibrate.quasi_gaussian(epsilon, delta, sensitivity=1.0), 1
    )
    assert noise.cost(sensitivity=1.0).delta(epsilon) <= delta
