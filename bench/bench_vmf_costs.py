"""What von Mises-Fisher releases cost: divergences, sampled or not, epsilon, Bayes capacity."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import tightnoise as tn

ORDERS = np.linspace(1.25, 512.0, 150)
RATE, STEPS, DELTA = 128 / 60_000, 1407, 1e-5

# kappa, dim
CASES = [(5.0, 3), (300.0, 1000), (75.0, 13_700), (1e9, 13_700), (1e4, 10_000_000)]
EVERY_CASE = pytest.mark.parametrize(("kappa", "dim"), CASES)


def mean_by_scipy(nu, x):
    return np.log(special.ive(nu, x)) + x - nu * np.log(x / 2) + special.gammaln(nu + 1)


def rdp_by_scipy(kappa, dim, orders):
    """Return the divergence for opposite directions as the papers have it.

    It overflows or underflows beyond a few hundred dimensions, and loses digits on the way there.
    """
    nu = dim / 2 - 1
    rise = mean_by_scipy(nu, np.abs(2 * orders - 1) * kappa) - mean_by_scipy(nu, kappa)
    return rise / (orders - 1)


@EVERY_CASE
def test_rdp(timed, kappa, dim) -> None:
    vmf = tn.VonMisesFisher(kappa, dim)
    curve = timed("von Mises-Fisher RDP at 150 orders", lambda: vmf.cost().rdp(ORDERS), 1)
    nearest = vmf.renyi_divergence(angle=math.pi, alpha=ORDERS)
    np.testing.assert_allclose(curve.values, nearest, rtol=1e-12)
    assert (curve.values >= nearest * (1 - 1e-13)).all()
    assert (curve.values <= 2 * kappa).all()  # the largest loss


def test_rdp_scipy(timed) -> None:
    kappa, dim = 5.0, 3
    values = timed(
        "von Mises-Fisher RDP at 150 orders", lambda: rdp_by_scipy(kappa, dim, ORDERS), 1
    )
    expected = tn.VonMisesFisher(kappa, dim).cost().rdp(ORDERS).values
    np.testing.assert_allclose(values, expected, rtol=1e-11)


@EVERY_CASE
def test_epsilon_of_a_composition(timed, kappa, dim) -> None:
    vmf = tn.VonMisesFisher(kappa, dim)
    epsilon = timed(
        "von Mises-Fisher, epsilon of ten releases at the best order",
        lambda: (vmf.cost() * 10).epsilon(DELTA, by="rdp"),
        1,
    )
    on_a_grid = (vmf.cost() * 10).rdp(np.geomspace(1.0001, 1e4, 20_000)).epsilon(DELTA)
    assert epsilon <= on_a_grid * (1 + 1e-9)


@EVERY_CASE
def test_epsilon(timed, kappa, dim) -> None:
    vmf = tn.VonMisesFisher(kappa, dim)
    name = "von Mises-Fisher, exact epsilon of one release"
    epsilon = timed(name, lambda: vmf.cost().epsilon(DELTA), 1)
    assert abs(vmf.cost().delta(epsilon) / DELTA - 1) < 1e-6
    assert epsilon <= vmf.cost().epsilon(DELTA, by="rdp")


@EVERY_CASE
def test_delta(timed, kappa, dim) -> None:
    vmf = tn.VonMisesFisher(kappa, dim)
    epsilons = np.linspace(0.0, vmf.cost().epsilon(DELTA), 100)
    deltas = timed("von Mises-Fisher, delta at 100 epsilons", lambda: vmf.cost().delta(epsilons), 1)
    assert (np.diff(deltas) <= 0).all()
    assert abs(deltas[-1] / DELTA - 1) < 1e-6  # an epsilon of 1e9 has few digits after the point


@pytest.mark.parametrize("sampling", ["poisson", "fixed-size"])
def test_sampled_rdp(timed, sampling) -> None:
    def sampled():
        return tn.VonMisesFisher(75.0, 13_700).cost().sampled(RATE, sampling).rdp(ORDERS).values

    values = timed("sampled von Mises-Fisher RDP at 150 orders", sampled, 1)
    assert (np.diff(values) >= 0).all()
    assert (values < tn.VonMisesFisher(75.0, 13_700).cost().rdp(ORDERS).values).all()


def test_sampled_epsilon(timed) -> None:
    """Three epochs of 469 batches of 128 of 60,000 records."""

    def epsilon():
        step = tn.VonMisesFisher(75.0, 13_700).cost().sampled(RATE, "poisson")
        return (step * STEPS).epsilon(1 / 60_000, by="rdp")

    result = timed("sampled von Mises-Fisher, epsilon of 1407 releases", epsilon, 1)
    assert abs(result - 1.421) < 1e-3


@pytest.mark.parametrize("dim", [13_700, 10_000_000])
def test_bayes_capacity(timed, dim) -> None:
    kappa = 0.01 * dim
    vmf = tn.VonMisesFisher(kappa, dim)
    capacity = timed("von Mises-Fisher Bayes capacity", lambda: tn.log_bayes_capacity(vmf), 1)
    # log C = kappa - L(kappa), and L(kappa) lies between 0 and kappa^2 / (2 dim)
    assert kappa - kappa**2 / (2 * dim) <= capacity <= kappa
