"""Truncated Gaussian noise costs less than Gaussian noise, whatever the data are."""

import json

import numpy as np
import pytest

import tightnoise as tn

DELTA = 1e-5


def test_rho_is_above_every_divergence_and_attained():
    rng = np.random.default_rng(4)
    n = 4000
    half = np.exp(rng.uniform(np.log(0.05), np.log(20), n))
    theta = rng.normal(size=n) * rng.choice([0.0, 0.3, 3, 30], n)
    shift = np.exp(rng.uniform(np.log(1e-4), np.log(10), n)) * rng.choice([-1, 1], n)
    shift = (theta + shift) - theta  # what is left of it
    alpha = np.exp(rng.uniform(np.log(0.05), np.log(200), n))
    mechanism = tn.TruncatedGaussian(np.ones(n), -half, half)
    divergence = mechanism.renyi_divergence(theta, theta + shift, alpha)
    rho = np.array([tn.TruncatedGaussian(1.0, -h, h).cost(sensitivity=1).zcdp_rho for h in half])
    ratio = divergence / (alpha * shift**2 * rho)
    assert ratio.max() <= 1 + 1e-12  # the divergence is the nearest one
    assert ratio.max() > 0.999


@pytest.mark.parametrize(("half", "share"), [(1.0, 0.2911), (2.0, 0.7737), (4.0, 0.9989)])
def test_rho_of_one_and_of_many(half, share):
    mechanism = tn.TruncatedGaussian(2.0, 1 - 2 * half, 1 + 2 * half)
    cost = mechanism.cost(sensitivity=3.0)
    assert cost.zcdp_rho == pytest.approx(share * 9 / 8, rel=2e-4)
    assert cost.gdp_mu == pytest.approx(1.5, rel=1e-12)
    assert cost.rdp([2, 64]).values == pytest.approx(cost.zcdp_rho * np.array([2, 64]))
    assert (cost * 50).zcdp_rho == pytest.approx(50 * cost.zcdp_rho)
    gaussian = tn.Gaussian(2.0).cost(sensitivity=3.0)
    for times in (1, 50):
        epsilon, most = ((one * times).epsilon(DELTA) for one in (cost, gaussian))
        by_rdp = (cost * times).epsilon(DELTA, by="rdp")
        assert epsilon == min(by_rdp, most)
        assert epsilon < most or half == 4.0


def test_with_other_leaves_and_orders_of_adding():
    cost = tn.TruncatedGaussian(1.0, -1, 1).cost(sensitivity=1.0)
    other, laplace = tn.Gaussian(2.0).cost(sensitivity=1.0), tn.Laplace(3.0).cost(sensitivity=1.0)
    both = (cost * 10 + other).rdp([8.0]).values[0]
    assert (cost * 10 + other).epsilon(DELTA) == pytest.approx(
        tn.Cost.of_zcdp(both / 8).epsilon(DELTA), rel=1e-9
    )
    assert (cost + laplace).epsilon(DELTA) <= (cost + laplace).epsilon(DELTA, by="rdp")
    saved = tn.Cost.from_dict(json.loads(json.dumps((cost * 3).to_dict())))
    assert saved == cost * 3
    assert saved.epsilon(DELTA) == (cost * 3).epsilon(DELTA)
    named = tn.TruncatedGaussian(1.0, -1, 1).cost(sensitivity=1.0, adjacency="add-remove")
    assert named.group(2).zcdp_rho == pytest.approx(4 * cost.zcdp_rho)
    assert cost.allocated(100).epsilon(DELTA) < other.allocated(1).epsilon(DELTA)


def test_arrays_of_parameters():
    scale, half = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    mechanism = tn.TruncatedGaussian(scale, -half, half)
    each = [
        tn.TruncatedGaussian(s, -h, h).cost(sensitivity=1) for s, h in zip(scale, half, strict=True)
    ]
    rhos = [cost.zcdp_rho for cost in each]
    assert mechanism.cost(sensitivity=1.0).zcdp_rho == pytest.approx(max(rhos), rel=1e-9)
    change = np.array([0.1, 0.2])
    box = mechanism.cost(coordinate_sensitivity=change).zcdp_rho
    assert box == pytest.approx(float(change**2 @ rhos), rel=1e-9)
    # Bounds so far away, or so close, that their distance in sigmas is no number.
    assert tn.TruncatedGaussian(1e-200, -1e200, 1e200).cost(sensitivity=1e-200).zcdp_rho <= 0.51
    assert 0 < tn.TruncatedGaussian(1e200, -1e-200, 1e-200).cost(sensitivity=1.0).zcdp_rho < 1e-99


def test_a_domain_proves_no_less():
    for half, change in [(0.5, 0.3), (1.0, 1.0), (3.0, 2.0)]:
        mechanism = tn.TruncatedGaussian(1.0, -half, half)
        anywhere = mechanism.cost(sensitivity=change)
        inside = mechanism.cost(sensitivity=change, domain=(-half, half))
        box = mechanism.cost(sensitivity=change, domain=(-half * np.ones(3), half * np.ones(3)))
        for cost in (inside, box):
            assert cost.zcdp_rho <= anywhere.zcdp_rho
            for times in (1, 20):
                most = (anywhere * times).epsilon(DELTA)
                # Losses are composed on a lattice, those of Gaussian noise are not.
                assert (cost * times).epsilon(DELTA) <= most * (1 + 1e-5)


@pytest.mark.parametrize("rate", [0.02, 0.5])
def test_sampled_is_above_the_pair_of_a_number(rate):
    for half, theta, change in [(1, 0.0, 1.5), (1, -0.7, 1.5), (0.4, 0.0, 3.0), (2, 4.0, 2.0)]:
        mechanism = tn.TruncatedGaussian(1.0, -half, half)
        nodes, weights = np.polynomial.legendre.leggauss(400)
        x, weights = half * nodes, half * weights
        without, record = mechanism.pdf(x, theta), mechanism.pdf(x, theta + change)
        mixed = (1 - rate) * without + rate * record
        cost = mechanism.cost(sensitivity=change).sampled(rate, "poisson")
        gaussian = tn.Gaussian(1.0).cost(sensitivity=change).sampled(rate, "poisson")
        orders = np.array([1.3, 2, 2.5, 3, 8, 20])
        known, most = cost.rdp(orders).values, gaussian.rdp(orders).values
        assert (known <= most * (1 + 1e-12)).all()
        for p, q in ((mixed, without), (without, mixed)):
            exact = [np.log(weights @ (p**a * q ** (1 - a))) / (a - 1) for a in orders]
            assert (exact <= known * (1 + 1e-9)).all()
        if half <= 1:
            assert (known[1:] < most[1:]).all()
        assert (cost * 100).epsilon(DELTA) <= (gaussian * 100).epsilon(DELTA)
