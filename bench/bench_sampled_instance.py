"""Costs per instance of sums of random samples (`bench`); no other package has them."""

from __future__ import annotations

import numpy as np
import pytest

import tightnoise as tn

RATE = 0.01
CASES = {"d = 1e6, 20 records": (20, 10**6, 1e-3), "d = 400, n = 60,000": (60_000, 400, 0.05)}
MECHANISMS = [tn.RectifiedGaussian(1.0, -0.5, 0.5), tn.TruncatedGaussian(1.0, -2.0, 2.0)]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("name", CASES)
def test_cost(timed, name, mechanism):
    records, d, change = CASES[name]
    shape = records, d
    rows = np.random.default_rng(0).uniform(-change, change, shape).astype(np.float32)
    box = {"coordinate_sensitivity": np.full(d, 1.001 * change)}
    here = timed(
        f"cost of a sampled sum, {name}",
        lambda: mechanism.sampled_cost_at(rows, RATE, "poisson", **box),
        rows.size,
    )
    everywhere = mechanism.cost(**box).sampled(RATE, "poisson")
    # Equal where the bound of every data set is the smaller one.
    assert 0 < here.rdp([8.0]).values[0] <= everywhere.rdp([8.0]).values[0]
