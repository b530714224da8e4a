"""The Renyi-DP curve of Laplace noise against its formula at 60 digits."""

import numpy as np
import pytest
from mpmath import mp, mpf

import tightnoise as tn
from tightnoise.costs._laplace_rdp import LaplaceRdp

inf = np.inf


def divergence(t, alpha):
    """Mironov 2017, Table II; at 1 the Kullback-Leibler divergence."""
    with mp.workdps(60):
        if alpha == 1:
            return t + mp.exp(-t) - 1
        first = alpha / (2 * alpha - 1) * mp.exp((alpha - 1) * t)
        second = (alpha - 1) / (2 * alpha - 1) * mp.exp(-alpha * t)
        return mp.log(first + second) / (alpha - 1)


def test_exact(rng, check_error):
    worst = 0.0
    for _ in range(300):
        scale, sensitivity = 10.0 ** rng.uniform(-4, 4, 2)
        alpha = rng.choice([1.0, 1 + 10.0 ** rng.uniform(-10, 0), 10.0 ** rng.uniform(0, 6)])
        cost = LaplaceRdp(scale, sensitivity)([alpha])[0]
        with mp.workdps(60):
            exact = divergence(mpf(sensitivity) / mpf(scale), mpf(float(alpha)))
            above = (mpf(cost) - exact) / exact
        assert above >= 0
        worst = max(worst, float(above))
    check_error("Renyi divergence of Laplace noise, above the truth", worst, 1e-9)


def test_ends():
    values = LaplaceRdp(2.0, 1.0)([0.3, 1.0, 1e9])
    assert values[0] == values[1]
    assert 0.5 * (1 - 1e-8) < values[2] <= LaplaceRdp(2.0, 1.0).max_divergence
    m = tn.Laplace(2.0)
    assert 0.5 <= m.cost(sensitivity=1.0).rdp([inf]).values[0] <= 0.5 + 1e-15
    assert m.cost(sensitivity=0.0) == tn.Cost()
    assert m.cost(sensitivity=1e-200).rdp([2.0]).values > 0
    with pytest.raises(ValueError, match="sensitivity must be at least 0; got -1"):
        m.cost(sensitivity=-1.0)


def test_curves_of_costs():
    cost = tn.Laplace(20.0).cost(sensitivity=2.0)
    assert (cost.rdp([2, 30]).values == LaplaceRdp(20.0, 2.0)([2, 30])).all()
    assert 0 < cost.sampled(0.1, "poisson").rdp().epsilon(1e-6) < cost.rdp().epsilon(1e-6)
    for step in (tn.Staircase(0.3, 2.0, 0.2), tn.Tulap(0.3, 2.0)):
        curve = step.cost(sensitivity=2.0).rdp([2, 30])
        assert (curve.values == tn.Cost.of_pure(0.3).rdp([2, 30]).values).all()
        assert step.cost(sensitivity=2.1).rdp([inf]).values == [0.6]
    for bounded in (tn.Tulap(0.3, 2.0, 10.0), tn.TruncatedLaplace(1.0, 2.0)):
        assert bounded.cost(sensitivity=1.0).rdp([2.0]).values == [inf]
