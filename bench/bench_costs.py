"""From costs to a budget and back, beside Opacus and dp-accounting (extra `bench` installs both).

Each asserts its answer. One DP-SGD run throughout: sigma 1, q 0.01, 10,000 steps, delta 1e-6.
Nothing is kept between rounds: every one starts from the parameters.
"""

from __future__ import annotations

import contextlib
import math
import warnings

import numpy as np
import pytest
from scipy import optimize

import tightnoise as tn
from tightnoise.costs import DEFAULT_ORDERS
from tightnoise.costs._composed import distribution_of
from tightnoise.costs._subsampling import subsampled

SIGMA, RATE, STEPS, DELTA = 1.0, 0.01, 10_000, 1e-6
TARGET = 2.0
SIGMAS = np.linspace(1.0, 2.0, 100)
ORDERS = np.arange(2.0, 64.0)


@pytest.fixture
def opacus():
    return pytest.importorskip("opacus.accountants")


@pytest.fixture
def dp_accounting():
    return pytest.importorskip("dp_accounting")


@contextlib.contextmanager
def without_advice():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Optimal order is the (largest|smallest) alpha")
        yield


def step(sigma=SIGMA):
    return tn.Gaussian(sigma).cost(sensitivity=1.0).sampled(RATE, "poisson")


def opacus_epsilon(opacus, sigmas, steps):
    accountant = opacus.RDPAccountant()
    accountant.history = [(sigma, RATE, steps) for sigma in sigmas]
    with without_advice():
        return accountant.get_epsilon(DELTA)


def event(dp_accounting, sigma, steps):
    step = dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(sigma))
    return dp_accounting.SelfComposedDpEvent(step, steps)


def dp_accounting_epsilon(dp_accounting, sigmas, steps):
    accountant = dp_accounting.rdp.RdpAccountant()
    for sigma in sigmas:
        accountant.compose(event(dp_accounting, sigma, steps))
    return accountant.get_epsilon(DELTA)


# epsilon of DP-SGD


def test_epsilon_opacus(timed, opacus):
    value = timed("epsilon of DP-SGD", lambda: opacus_epsilon(opacus, [SIGMA], STEPS), 1)
    assert value == pytest.approx(7.41403, abs=1e-5)


def test_epsilon_dp_accounting(timed, dp_accounting):
    value = timed(
        "epsilon of DP-SGD", lambda: dp_accounting_epsilon(dp_accounting, [SIGMA], STEPS), 1
    )
    assert value == pytest.approx(7.41410, abs=1e-5)


@pytest.mark.parametrize("by", ["rdp", "losses"])
def test_epsilon_of_a_cost(timed, by):
    def run():
        distribution_of.cache_clear()
        return (step() * STEPS).epsilon(DELTA, by=by)

    assert 6.90738 < timed("epsilon of DP-SGD", run, 1) < 7.41403


def test_epsilon_on_the_default_orders(timed):
    """The same on the grid of 169 orders that other curves are asked on."""

    def run():
        return (step() * STEPS).rdp(DEFAULT_ORDERS).epsilon(DELTA)

    assert 6.907 < timed("epsilon of DP-SGD", run, 1) < 7.41403 * 1.001


# The curve at orders that everybody sums up the same way


def test_curve_opacus(timed, opacus):
    analysis = pytest.importorskip("opacus.accountants.analysis.rdp")
    orders = ORDERS.tolist()
    timed(
        "RDP at 62 integer orders",
        lambda: analysis.compute_rdp(q=RATE, noise_multiplier=SIGMA, steps=1, orders=orders),
        1,
    )


def test_curve_dp_accounting(timed, dp_accounting):
    step = event(dp_accounting, SIGMA, 1)
    timed(
        "RDP at 62 integer orders",
        lambda: dp_accounting.rdp.RdpAccountant(ORDERS).compose(step).rdp,
        1,
    )


def test_curve(timed):
    curve = timed(
        "RDP at 62 integer orders",
        lambda: step().rdp(ORDERS),
        1,
    )
    # order 2 in closed form
    second = math.log1p(RATE**2 * math.expm1(SIGMA**-2))
    assert curve.values[0] == pytest.approx(second, rel=1e-9)


# Noise multiplier


def test_noise_multiplier_opacus(timed, opacus):
    utils = pytest.importorskip("opacus.accountants.utils")

    def run():
        with without_advice():
            return utils.get_noise_multiplier(
                target_epsilon=TARGET, target_delta=DELTA, sample_rate=RATE, steps=STEPS
            )

    sigma = timed("noise multiplier", run, 1)
    assert TARGET - 0.01 <= opacus_epsilon(opacus, [sigma], STEPS) <= TARGET


def test_noise_multiplier_dp_accounting(timed, dp_accounting):
    def run():
        return dp_accounting.calibrate_dp_mechanism(
            dp_accounting.rdp.RdpAccountant,
            lambda sigma: event(dp_accounting, sigma, STEPS),
            TARGET,
            DELTA,
        )

    sigma = timed("noise multiplier", run, 1)
    assert sigma == pytest.approx(2.5037, abs=1e-4)


def test_noise_multiplier_dp_accounting_exact(timed, dp_accounting):
    # By loss distributions, as ours; a coarser search than their own costs them less.
    def run():
        return dp_accounting.calibrate_dp_mechanism(
            dp_accounting.pld.PLDAccountant,
            lambda sigma: event(dp_accounting, sigma, STEPS),
            TARGET,
            DELTA,
            tol=1e-3,
        )

    sigma = timed("noise multiplier", run, 1)
    assert sigma == pytest.approx(2.356, abs=2e-3)


def test_noise_multiplier(timed):
    sigma = timed(
        "noise multiplier",
        lambda: tn.calibrate.noise_multiplier(TARGET, DELTA, sampling_rate=RATE, steps=STEPS),
        1,
    )
    assert 2.355 < sigma < 2.357  # by Renyi divergences, as theirs: 2.5033
    assert TARGET * (1 - 1e-6) <= (step(sigma) * STEPS).epsilon(DELTA) <= TARGET


# Analytic Gaussian


def test_analytic_gaussian_dp_accounting(timed, dp_accounting):
    sigma = timed("analytic Gaussian", lambda: dp_accounting.get_sigma_gaussian(1.0, DELTA), 1)
    assert sigma == pytest.approx(4.2246788893, rel=1e-9)


def test_analytic_gaussian(timed):
    noise = timed(
        "analytic Gaussian", lambda: tn.calibrate.gaussian(1.0, DELTA, sensitivity=1.0), 1
    )
    assert noise.sigma == pytest.approx(4.2246788893, rel=1e-9)


# Different sigmas, 100 steps each: time a distinct sigma


def test_sigmas_opacus(timed, opacus):
    group, run = "100 sigmas x 100 steps", lambda: opacus_epsilon(opacus, SIGMAS, 100)
    timed(group, run, SIGMAS.size)


def test_sigmas_dp_accounting(timed, dp_accounting):
    group, run = "100 sigmas x 100 steps", lambda: dp_accounting_epsilon(dp_accounting, SIGMAS, 100)
    timed(group, run, SIGMAS.size)


@pytest.mark.parametrize("distinct", [100, 1000])
def test_sigmas(timed, distinct):
    """Linear in the number of distinct steps: 1000 of them take the same time each."""
    sigmas = np.linspace(1.0, 2.0, distinct).tolist()

    def run():
        plan = sum((step(sigma) * (10_000 // distinct) for sigma in sigmas), tn.Cost())
        return plan.epsilon(DELTA, by="rdp")

    epsilon = timed("100 sigmas x 100 steps", run, distinct)
    between = [(step(sigma) * STEPS).epsilon(DELTA, by="rdp") for sigma in (2.0, 1.0)]
    assert between[0] < epsilon < between[1]


# Optimal conversion: time a pair


def scipy_optimal(alpha, tau, delta):
    """Theorem 3 of Asoodeh et al. (2020) as one would write it with SciPy; alpha delta < 1."""

    def gamma(epsilon):
        def log_sum(p):
            first = alpha * np.log(p) + (1 - alpha) * np.log(p - delta)
            second = alpha * np.log1p(-p) + (1 - alpha) * np.log(np.exp(epsilon) - p + delta)
            return np.logaddexp(first, second)

        found = optimize.minimize_scalar(
            log_sum, bounds=(alpha * delta, 1), method="bounded", options={"xatol": 1e-12}
        )
        return epsilon + found.fun / (alpha - 1)

    if gamma(0.0) >= tau:
        return 0.0
    above = tau + np.log1p(-1 / alpha) - np.log(delta * alpha) / (alpha - 1)
    return optimize.brentq(lambda epsilon: gamma(epsilon) - tau, 0, above + 1e-6)


@pytest.fixture
def pairs():
    rng = np.random.default_rng(0)
    return 1 + 10 ** rng.uniform(-1, 3, 10_000), 10 ** rng.uniform(-3, 1, 10_000)


def test_optimal_conversion_scipy(timed, pairs):
    few = [(alpha, tau) for alpha, tau in zip(*pairs, strict=True)][:20]
    timed(
        "optimal conversion, a pair",
        lambda: [scipy_optimal(alpha, tau, 1e-5) for alpha, tau in few],
        len(few),
    )


def test_optimal_conversion(timed, pairs):
    alpha, tau = pairs
    epsilon = timed(
        "optimal conversion, a pair",
        lambda: tn.costs.rdp_to_epsilon(alpha, tau, 1e-5, "optimal"),
        10_000,
    )
    slow = [scipy_optimal(alpha[i], tau[i], 1e-5) for i in range(20)]
    np.testing.assert_allclose(epsilon[:20], slow, rtol=1e-5, atol=1e-6)
    assert (epsilon <= tn.costs.rdp_to_epsilon(alpha, tau, 1e-5, "canonne")).all()


# An accountant's steps: time a step


def test_steps_opacus(timed, opacus):
    def run():
        accountant = opacus.RDPAccountant()
        for _ in range(10_000):
            accountant.step(noise_multiplier=SIGMA, sample_rate=RATE)
        return accountant

    timed("an accountant's step", run, 10_000)


def test_steps(timed):
    def run():
        accountant = tn.Accountant()
        for _ in range(10_000):
            accountant.step(noise_multiplier=SIGMA, sampling_rate=RATE)
        return accountant

    accountant = timed("an accountant's step", run, 10_000)
    assert accountant.cost == step() * STEPS


# Bounds for other mechanisms on a sample, and composition of (epsilon, delta)


@pytest.mark.parametrize("at", [DEFAULT_ORDERS, ORDERS], ids=["default_orders", "62_orders"])
def test_poisson_bound(timed, at):
    """For the Gaussian the bound is an equality at integer orders."""
    curve = tn.RdpCurve(at, at / (2 * SIGMA**2))
    sampled = timed(
        f"Poisson bound, {at.size} orders",
        lambda: subsampled(curve, at, RATE, fixed_size=False),
        at.size,
    )
    exact = step().rdp(at).values
    integers = (at == np.round(at)) & (at < 65)
    np.testing.assert_allclose(sampled[integers], exact[integers], rtol=2e-9)


def test_without_replacement_dp_accounting(timed, dp_accounting):
    relation = dp_accounting.NeighboringRelation.REPLACE_ONE
    step = dp_accounting.SampledWithoutReplacementDpEvent(
        10_000, 100, dp_accounting.GaussianDpEvent(SIGMA)
    )
    timed(
        "sampling without replacement, 62 orders",
        lambda: dp_accounting.rdp.RdpAccountant(ORDERS, relation).compose(step).rdp,
        ORDERS.size,
    )


def test_without_replacement(timed):
    curve = tn.RdpCurve(ORDERS, ORDERS / (2 * SIGMA**2))
    sampled = timed(
        "sampling without replacement, 62 orders",
        lambda: subsampled(curve, ORDERS, RATE, fixed_size=True),
        ORDERS.size,
    )
    assert (sampled >= subsampled(curve, ORDERS, RATE, fixed_size=False)).all()


@pytest.mark.parametrize("others", [0, 1], ids=["equal", "different"])
def test_composition(timed, others):
    """Equal ones by the exact theorem, different ones on a lattice."""

    def run():
        distribution_of.cache_clear()
        cost = tn.Cost.of_pure(0.01) * 10_000 + tn.Cost.of_pure(0.02) * others
        return cost.epsilon(DELTA)

    total = timed(f"composition of 10,000 pure releases, {others} others", run, 1)
    assert 4.5 < total < 10_000 * 0.01
