"""What an accountant counts for directions of blocks, and beside an anchor."""

import inspect
import math
import pickle
import re

import numpy as np
import pytest
from scipy.special import roots_jacobi

import tightnoise as tn
from tightnoise.accounting import cost_of
from tightnoise.accounting.sampled_product import SampledProductRdp

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

    curve = cost_of(m, sampling_rate=rate)
    assert curve.adjacency == "add-remove"
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
    curve = cost_of(m, sampling_rate=rate, sampling="fixed-size")
    assert curve.adjacency == "replace-one"
    for order in (1.25, 2.0, 5.5, 16.0):
        excess = mass @ (ratio**order + ratio ** (1 - order) - ratio - 1)
        exact = math.log1p(excess) / (order - 1)
        assert float(curve.at([order]).values[0]) > exact * (1 - 1e-4)  # of the quadrature


@pytest.mark.parametrize("sampling", ["poisson", "fixed-size"])
def test_two_halves_cost_about_what_the_whole_does(sampling):
    whole, halves = (
        cost_of(m, sampling_rate=0.01, sampling=sampling) * 1000
        for m in (
            tn.VonMisesFisher(75.0, 13_700),
            tn.ProductVonMisesFisher([37.5, 37.5], [6850, 6850]),
        )
    )
    assert math.isclose(halves.epsilon(1e-5), whole.epsilon(1e-5), rel_tol=5e-3)


@pytest.mark.parametrize("sampling", ["poisson", "fixed-size"])
@pytest.mark.parametrize("rate", [0.01, 1.0])
def test_one_block_costs_what_it_does_alone(rate, sampling):
    m, block = tn.ProductVonMisesFisher([50.0], [1000]), tn.VonMisesFisher(50.0, 1000)
    mine, plain = (cost_of(each, sampling_rate=rate, sampling=sampling) for each in (m, block))
    assert mine.terms == plain.terms
    assert mine.terms
    assert mine.adjacency == plain.adjacency


def test_accountant_takes_products():
    m = tn.ProductVonMisesFisher([70.0, 4.1], [12800, 750])
    accountant = tn.accounting.RdpAccountant().compose(m, count=10)
    assert accountant.epsilon(1e-5) == (m.rdp() * 10).epsilon(1e-5)
    assert accountant.adjacency is None
    sampled = tn.accounting.RdpAccountant().compose(m, count=10, sampling_rate=0.01)
    assert 0 < sampled.epsilon(1e-5) < accountant.epsilon(1e-5)
    assert sampled.curve.is_continuous
    resumed = tn.accounting.RdpAccountant()
    resumed.load_state_dict(sampled.state_dict())
    assert sampled.epsilon(1e-5) <= resumed.epsilon(1e-5) < 1.01 * sampled.epsilon(1e-5)
    assert pickle.loads(pickle.dumps(sampled.curve.terms)) == sampled.curve.terms


def test_uniform_blocks_cost_nothing():
    m = tn.ProductVonMisesFisher(0.0, [3, 4])
    for rate in (0.1, 1.0):
        assert cost_of(m, sampling_rate=rate).epsilon(1e-6) == 0


@pytest.mark.parametrize("dims", [[3], [3, 4]])
def test_products_refuse_a_sensitivity(dims):
    with pytest.raises(ValueError, match="sensitivity must be 1"):
        cost_of(tn.ProductVonMisesFisher(1.0, dims), sensitivity=2.0)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"mechanism": tn.VonMisesFisher(1.0, 3)}, TypeError, "must be a ProductVonMisesFisher"),
        ({"sampling_rate": 0.0}, ValueError, "sampling_rate must be greater than 0"),
        ({"sampling": "shuffled"}, ValueError, "sampling must be one of 'poisson', 'fixed-size'"),
    ],
)
def test_sampled_product_refuses(change, error, says):
    arguments = {"mechanism": tn.ProductVonMisesFisher(1.0, [3, 4]), "sampling_rate": 0.1}
    with pytest.raises(error, match=says):
        SampledProductRdp(**{**arguments, **change})


# --- beside an anchor -----------------------------------------------------------------------------


def test_accountant_takes_lifted_noise():
    m = tn.LiftedVonMisesFisher(kappa=300.0, dim=13_700, anchor=8.0)
    whole = tn.accounting.RdpAccountant().compose(m, count=10, sensitivity=0.5)
    assert whole.epsilon(1e-6) == (m.rdp(sensitivity=0.5) * 10).epsilon(1e-6)
    sampled = tn.accounting.RdpAccountant().compose(m, count=10, sensitivity=0.5, sampling_rate=0.1)
    assert sampled.adjacency == "add-remove"
    fixed = tn.accounting.RdpAccountant().compose(
        m, count=10, sensitivity=0.5, sampling_rate=0.1, sampling="fixed-size"
    )
    assert fixed.adjacency == "replace-one"
    assert sampled.epsilon(1e-6) < fixed.epsilon(1e-6) < whole.epsilon(1e-6)
    assert 0 < sampled.epsilon(1e-6) < whole.epsilon(1e-6)
    # Gaussian noise of the same mu covers it, and by little in a high dimension.
    surrogate = tn.accounting.sampled_gaussian(1 / m.gdp_mu(0.5), 0.1) * 10
    assert 0.99 * surrogate.epsilon(1e-6) < sampled.epsilon(1e-6) <= surrogate.epsilon(1e-6)
    with pytest.raises(ValueError, match="sensitivity must be greater than 0"):
        cost_of(m, sensitivity=0.0)


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
        accountant = tn.accounting.RdpAccountant()
        accountant.compose(m, 1407, sampling_rate=128 / 60_000, sensitivity=sensitivity)
        assert table["epsilon"][i] == f"{accountant.epsilon(1 / 60_000):#.3g}"
