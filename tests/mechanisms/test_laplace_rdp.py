"""The Renyi-DP curve of Laplace noise against its formula at 60 digits."""

import numpy as np
import pytest
from mpmath import mp, mpf
from tightnoise.accounting import cost_of, pure

import tightnoise as tn

inf, nan = np.inf, np.nan


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
        cost = tn.Laplace(scale).rdp([alpha], sensitivity=sensitivity).values[0]
        with mp.workdps(60):
            exact = divergence(mpf(sensitivity) / mpf(scale), mpf(float(alpha)))
            above = (mpf(cost) - exact) / exact
        assert above >= 0
        worst = max(worst, float(above))
    check_error("Laplace.rdp, above the truth", worst, 1e-9)


def test_ends():
    m = tn.Laplace(2.0)
    values = m.rdp([0.3, 1.0, 1e9, inf], sensitivity=1.0).values
    assert values[0] == values[1]
    assert 0.5 * (1 - 1e-8) < values[2] <= values[3]
    assert 0.5 <= values[3] <= 0.5 + 1e-15
    assert m.rdp([2.0], sensitivity=0.0).values == [0.0]
    assert m.rdp(sensitivity=0.0).epsilon(1e-6) == 0.0
    assert m.rdp([2.0], sensitivity=1e-200).values > 0
    with pytest.raises(ValueError, match="sensitivity must be at least 0; got -1"):
        m.rdp(sensitivity=-1.0)


def test_costs_for_accountants():
    m = tn.Laplace(20.0)
    curve = cost_of(m, sensitivity=2.0)
    assert (curve.at([2, 30]).values == m.rdp([2, 30], sensitivity=2.0).values).all()
    assert 0 < cost_of(m, sampling_rate=0.1).epsilon(1e-6) < m.rdp(sensitivity=1.0).epsilon(1e-6)
    for step in (tn.Staircase(0.3, 2.0, 0.2), tn.Tulap(0.3, 2.0)):
        curve = cost_of(step, sensitivity=2.0)
        assert (curve.at([2, 30]).values == pure(0.3).at([2, 30]).values).all()
        assert cost_of(step, sensitivity=2.1).at([inf]).values == [0.6]
    with pytest.raises(ValueError, match="mechanism must not be bounded"):
        cost_of(tn.Tulap(0.3, 2.0, 10.0))
    with pytest.raises(TypeError, match="none is known for TruncatedLaplace"):
        cost_of(tn.TruncatedLaplace(1.0, 2.0))


def test_accountants_keep_it():
    accountant, again = tn.accounting.RdpAccountant(), tn.accounting.RdpAccountant()
    accountant.compose(tn.Laplace(30.0), count=7)
    accountant.compose(tn.Laplace(30.0), count=3)
    again.load_state_dict(accountant.state_dict())
    assert again.epsilon(1e-6) == accountant.epsilon(1e-6)
    accountant.compose(tn.Laplace(30.0), count=990)
    assert accountant.epsilon(1e-6) < 1000 / 30  # the sum of the greatest losses
