"""Rare large losses from below: no more than all costs, and nearly all where they are rare."""

import math

import numpy as np
import pytest

import tightnoise as tn
from tightnoise import Cost
from tightnoise.costs._rare_losses import delta_of_rare, epsilon_of_rare

ONE = tn.Gaussian(1.0).cost(sensitivity=1.0)


def leaf_of(cost):
    ((leaf, _),) = cost.terms
    return leaf


def test_atoms_cost_no_less(rng):
    # Sums of few atoms are known exactly.
    told = 0
    for _ in range(200):
        size = int(rng.integers(2, 4))
        p = rng.dirichlet(np.full(size, rng.choice([0.05, 0.3, 2.0])))
        q = p * np.exp(rng.normal(0.0, 10.0 ** rng.uniform(-1, 1), size))
        if min(p.min(), q.min() / q.sum()) < 1e-9:
            continue
        count = int(rng.integers(1, 40))
        cost = Cost.of_losses(np.log(p / (q / q.sum())), p) * count
        leaf, top = leaf_of(cost), cost.epsilon(0.0)
        for epsilon in top * rng.uniform(0.0, 1.0, 3):
            found = delta_of_rare(leaf, count, float(epsilon))
            assert found <= cost.delta_bounds(float(epsilon))[1], (p, q, count, epsilon)
            told += found > 0
        for delta in 10.0 ** rng.uniform(-12, -0.1, 3):
            found = epsilon_of_rare(leaf, count, float(delta))
            assert found <= cost.epsilon_bounds(float(delta))[1], (p, q, count, delta)
            told += found > 0
    assert told > 80


def test_sampled_gaussians_cost_no_less_and_not_much_more(rng):
    for _ in range(8):
        sigma, rate = math.exp(rng.uniform(-0.7, 0.7)), 10.0 ** rng.uniform(-7, -3)
        count = int(10.0 ** rng.uniform(0, 3))
        cost = ONE.sampled(rate, "poisson")
        if sigma != 1:
            cost = tn.Gaussian(sigma).cost(sensitivity=1.0).sampled(rate, "poisson")
        leaf = leaf_of(cost)
        epsilon = rng.uniform(1.0, 5.0)
        lower, upper = (cost * count).delta_bounds(epsilon)
        found = delta_of_rare(leaf, count, epsilon)
        assert found <= upper * (1 + 1e-12)
        if lower > 1e-30 and rate * count < 1e-3:
            assert found >= 0.98 * lower
        delta = 10.0 ** rng.uniform(-25, -8)
        assert epsilon_of_rare(leaf, count, delta) <= (cost * count).epsilon_bounds(delta)[1]


def test_one_release_is_its_own_bound():
    leaf = leaf_of(tn.Laplace(2.0).cost(sensitivity=1.0))
    assert delta_of_rare(leaf, 1, 0.1) == pytest.approx(1 - math.exp(-0.2), rel=1e-9)
    assert epsilon_of_rare(leaf, 1, 1 - math.exp(-0.2)) == pytest.approx(0.1, rel=1e-7)
    assert delta_of_rare(leaf_of(Cost.of_zcdp(1.0)), 5, 0.1) == 0.0
    assert epsilon_of_rare(leaf_of(Cost.of_zcdp(1.0)), 5, 0.1) == 0.0


def test_they_are_taken_where_a_lattice_is_coarse():
    replaced = (
        tn.Gaussian(1.1).cost(sensitivity=1.0).sampled(1e-3, "poisson", adjacency="replace-one")
    )
    lower, upper = (replaced * 100).epsilon_bounds(1e-30)
    assert 0.999 * upper < lower <= upper
    lower, upper = (replaced * 100).delta_bounds(2.5)
    assert 0.9 * upper < lower <= upper
