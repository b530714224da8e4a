"""What directions of blocks cost on samples, and directions beside an anchor."""

import inspect
import math
import re

import numpy as np
import pytest
from scipy.special import roots_jacobi

import tightnoise as tn

NEIGHBOURS = {"poisson": "add-remove", "fixed-size": "replace-one"}


def sampled(m, rate, sampling="poisson", **bounds):
    cost = m.cost(adjacency=NEIGHBOURS[sampling], **bounds)
    return cost if rate == 1 else cost.sampled(rate, sampling)


# --- products -------------------------------------------------------------------------------------


def antipodal_grid(m, points=60):
    """Return losses and probabilities under Q of antipodal blocks.

    Each block by its cosine t: loss 2 kappa t, density e^(-kappa t) (1 - t^2)^((dim - 3)/2).
    """
    loss, mass = np.zeros(1), np.ones(1)
    for kappa, dim in zip(m.kappas, m.dims, strict=True):
        nodes, weights = roots_jacobi(points, (dim - 3) / 2, (dim - 3) / 2)
        density = weights * np.exp(-kappa * nodes)
        loss = np.add.outer(loss, 2 * kappa * nodes).ravel()
        mass = np.multiply.outer(mass, density / density.sum()).ravel()
    return loss, mass


BLOCKS = pytest.mark.parametrize(
    ("kappas", "dims"),
    [([1.0, 2.0], [5, 7]), ([3.0, 0.5], [2, 3]), ([0.2, 0.2], [40, 40]), ([6.0, 6.0], [9, 9])],
)
RATES = pytest.mark.parametrize("rate", [0.01, 0.3])


@BLOCKS
@RATES
def test_poisson_cost_is_above_the_exact_one_and_close(kappas, dims, rate):
    m = tn.ProductVonMisesFisher(kappas, dims)
    loss, mass = antipodal_grid(m)
    ratio = 1 + rate * np.expm1(loss)  # of the mixture to Q

    def divergence(power):
        """D(P' || Q) of an order, and D(Q || P') of order a for 1 - a."""
        excess = mass @ (ratio**power - power * ratio + power - 1)
        return math.log1p(excess) / (max(power, 1 - power) - 1)

    curve = sampled(m, rate).rdp()
    for order in (1.25, 2.0, 3.0, 5.5, 16.0):
        cost = float(curve.at([order]).values[0])
        assert cost >= divergence(order) * (1 - 1e-10)
        assert cost >= divergence(1 - order) * (1 - 1e-10)
        assert cost <= divergence(math.ceil(order)) * (1 + 1e-9)  # exact at integer orders


@BLOCKS
@RATES
def test_fixed_size_cost_is_above_the_exact_one(kappas, dims, rate):
    m = tn.ProductVonMisesFisher(kappas, dims)
    loss, mass = antipodal_grid(m, 200)
    mass, ratio = mass[loss > 0], 1 + rate * np.expm1(loss[loss > 0])
    curve = sampled(m, rate, "fixed-size").rdp()
    for order in (1.25, 2.0, 5.5, 16.0):
        excess = mass @ (ratio**order + ratio ** (1 - order) - ratio - 1)
        exact = math.log1p(excess) / (order - 1)
        assert float(curve.at([order]).values[0]) > exact * (1 - 1e-4)  # of the quadrature


@pytest.mark.parametrize("sampling", ["poisson", "fixed-size"])
def test_two_halves_cost_about_what_the_whole_does(sampling):
    whole, halves = (
        sampled(m, 0.01, sampling) * 1000
        for m in (
            tn.VonMisesFisher(75.0, 13_700),
            tn.ProductVonMisesFisher([37.5, 37.5], [6850, 6850]),
        )
    )
    for by in ("rdp", None):
        costs = halves.epsilon(1e-5, by=by), whole.epsilon(1e-5, by=by)
        assert math.isclose(*costs, rel_tol=5e-3)


@pytest.mark.parametrize("sampling", ["poisson", "fixed-size"])
@pytest.mark.parametrize("rate", [0.01, 1.0])
def test_one_block_costs_what_it_does_alone(rate, sampling):
    m, block = tn.ProductVonMisesFisher([50.0], [1000]), tn.VonMisesFisher(50.0, 1000)
    mine, plain = (sampled(each, rate, sampling) for each in (m, block))
    assert mine == plain
    assert mine.terms


def test_sampling_saves():
    m = tn.ProductVonMisesFisher([70.0, 4.1], [12800, 750])
    whole, part = m.cost() * 10, sampled(m, 0.01) * 10
    assert 0 < part.epsilon(1e-5) < whole.epsilon(1e-5)
    assert 0 < part.epsilon(1e-5, by="rdp") < whole.epsilon(1e-5, by="rdp")
    assert part.rdp().is_continuous


def test_uniform_blocks_cost_nothing():
    m = tn.ProductVonMisesFisher(0.0, [3, 4])
    for rate in (0.1, 1.0):
        assert sampled(m, rate).epsilon(1e-6) == 0


# --- beside an anchor -----------------------------------------------------------------------------


def test_lifted_noise_on_samples():
    m = tn.LiftedVonMisesFisher(kappa=300.0, dim=13_700, anchor=8.0)
    whole = m.cost(sensitivity=0.5) * 10
    poisson, fixed = (sampled(m, 0.1, sampling, sensitivity=0.5) * 10 for sampling in NEIGHBOURS)
    # Gaussian noise of the same mu covers it, and by little in a high dimension.
    mu = m.cost(sensitivity=0.5).gdp_mu
    surrogate = tn.Cost.of_gdp(mu).sampled(0.1, "poisson") * 10
    for by in ("rdp", None):
        costs = [cost.epsilon(1e-6, by=by) for cost in (poisson, fixed, whole)]
        assert 0 < costs[0] < costs[1] < costs[2]
        assert 0.99 * surrogate.epsilon(1e-6, by=by) < costs[0] <= surrogate.epsilon(1e-6, by=by)


def test_table_of_the_docstring():
    """Finding of the specification: at equal cosines, what an anchor saves."""
    text = inspect.getdoc(tn.LiftedVonMisesFisher)
    rows = re.findall(r"^    (anchor|kappa|epsilon) +(.*)$", text, re.M)
    table = {name: entries.split() for name, entries in rows}
    cosine = tn.VonMisesFisher(300.0, 13_700).mean_resultant_length()
    assert table["anchor"] == ["2", "8", "32", "64", "(plain)"]
    for i, name in enumerate(table["anchor"]):
        if name == "(plain)":
            m, sensitivity = tn.VonMisesFisher(300.0, 13_700), 1.0
        else:
            anchor, sensitivity = float(name), 1.0
            low, high = 200.0, 800.0
            for _ in range(50):
                m = tn.LiftedVonMisesFisher(0.5 * (low + high), 13_700, anchor)
                share = 64.0 / math.hypot(64.0, anchor)
                below = m.mean_resultant_length() * share < cosine
                low, high = (m.kappa, high) if below else (low, m.kappa)
        assert table["kappa"][i] == f"{m.kappa:.1f}"
        bounds = {} if name == "(plain)" else {"sensitivity": sensitivity}
        training = sampled(m, 128 / 60_000, **bounds) * 1407
        assert table["epsilon"][i] == f"{training.epsilon(1 / 60_000):#.3g}"
