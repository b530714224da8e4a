"""The sampled Gaussian: against mpmath over wide ranges, its edges, and what must hold of it."""

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from by_night import by_night
from mpmath import mp, mpf
from reference import sampled_gaussian as exact
from simd_levels import assert_alike

import tightnoise as tn
from tightnoise.costs import DEFAULT_ORDERS
from tightnoise.costs._sampled_gaussian import SampledGaussianRdp

CARD = 1e-10  # never below the truth, and at most this fraction above
LEAST = 2.3e-308  # or this much
REFERENCE = Path(exact.__file__).with_name("sampled_gaussian.json")


def divergence(sigma, q, alpha):
    return float(SampledGaussianRdp(sigma, q)(np.array([alpha], dtype=np.float64))[0])


def excess(sigma, q, alpha, truth):
    """By how much the result is above the truth, relatively: in [0, CARD]."""
    result = divergence(sigma, q, alpha)
    assert math.isfinite(result)
    error = float((mpf(result) - truth) / (truth + LEAST / CARD))
    assert error >= 0, (sigma, q, alpha, error)
    return error


# --- accuracy -----------------------------------------------------------------------------------
@pytest.mark.parametrize("group", list(json.loads(REFERENCE.read_text())))
def test_error(group, check_error):
    """Made by reference.make_sampled_gaussian, which says what the groups are."""
    for sigma, q, alpha, truth in json.loads(REFERENCE.read_text())[group]:
        with mp.workdps(30):
            error = excess(sigma, q, alpha, mpf(truth))
        # Where modes at 0 and alpha/sigma balance, exponents of the size of z^2 nearly cancel.
        lost = 4e-15 * (alpha / sigma) ** 2 / ((alpha - 1) * float(truth)) if alpha > 2 else 0.0
        check_error(f"sampled Gaussian, {group}", error / (1 + lost / CARD), CARD)


@pytest.mark.parametrize("cases", [150, *by_night(400)])
def test_integer_orders_are_the_binomial_sum(cases, rng, check_error):
    for _ in range(cases):
        sigma, q = 10 ** rng.uniform(-2, 4), 10 ** rng.uniform(-12, 0)
        alpha = int(rng.choice([2, 3, 4, 7, 16, 33, 64]))
        error = excess(sigma, q, alpha, exact.integer_order(sigma, q, alpha))
        check_error("sampled Gaussian, integer orders", error, CARD)


def test_the_reference_is_the_binomial_sum():
    for sigma, q, alpha in [(0.3, 1e-3, 2), (1.0, 0.01, 5), (20.0, 0.7, 3)]:
        integral = exact.real_order(sigma, q, alpha)
        assert abs(integral / exact.integer_order(sigma, q, alpha) - 1) < mpf("1e-22")


def test_every_level_and_number_of_threads_gives_the_same(rng):
    """To rounding between levels; exactly between numbers of threads."""
    code = (
        "import sys, numpy as np, tightnoise; from tightnoise.costs import DEFAULT_ORDERS;"
        "from tightnoise.costs._sampled_gaussian import SampledGaussianRdp;"
        "tightnoise.set_num_threads(int(sys.argv[1]));"
        "f = [SampledGaussianRdp(s, 0.01) for s in np.geomspace(0.02, 100, 70)];"
        "x = SampledGaussianRdp.weighted_sum(f, range(70), DEFAULT_ORDERS);"
        "print(*(float(v).hex() for v in x))"
    )
    assert_alike(code, 3e-12)


# --- what must hold -----------------------------------------------------------------------------
def test_it_grows_with_the_order(rng):
    orders = np.concatenate([1 + np.geomspace(1e-9, 1e-3, 40), np.geomspace(1.001, 1e6, 400)])
    for _ in range(40):
        function = SampledGaussianRdp(10 ** rng.uniform(-2, 4), 10 ** rng.uniform(-12, 0))
        values = function(orders)
        assert (values[1:] >= values[:-1] * (1 - CARD)).all(), function
        assert function(np.array([1.0]))[0] <= values[0] * (1 + CARD)


def test_it_grows_with_the_rate_and_falls_with_the_noise(rng):
    for _ in range(40):
        sigma, q = 10 ** rng.uniform(-2, 4), 10 ** rng.uniform(-12, 0)
        here = SampledGaussianRdp(sigma, q)(DEFAULT_ORDERS)
        factor = 1 + 10 ** rng.uniform(-9, 1)
        less = SampledGaussianRdp(sigma * factor, q)(DEFAULT_ORDERS)
        more = SampledGaussianRdp(sigma, min(q * factor, 1.0))(DEFAULT_ORDERS)
        assert (less <= here * (1 + CARD)).all(), (sigma, q, factor)
        assert (more >= here * (1 - CARD)).all(), (sigma, q, factor)


@pytest.mark.parametrize("sigma", [0.012, 0.05, 0.3, 1.0, 4.0, 100.0, 1e4])
def test_it_is_continuous_where_sampling_ends(sigma):
    orders = np.concatenate([[1.0], DEFAULT_ORDERS])
    whole = SampledGaussianRdp(sigma, 1.0)(orders)
    nearly = SampledGaussianRdp(sigma, 1 - 2.0**-53)(orders)
    np.testing.assert_allclose(nearly, whole, rtol=CARD)


@pytest.mark.parametrize("edge", [2.0**-6, 0.35, 0.5])
def test_it_is_continuous_where_the_algorithm_changes(edge, rng):
    orders = np.concatenate([[1.0], DEFAULT_ORDERS[DEFAULT_ORDERS < 256]])
    for q in 10 ** rng.uniform(-12, 0, 20):
        below = SampledGaussianRdp(math.nextafter(edge, 0), q)(orders)
        above = SampledGaussianRdp(math.nextafter(edge, 1), q)(orders)
        np.testing.assert_allclose(below, above, rtol=CARD)


def test_without_sampling_it_is_the_gaussian(rng):
    for _ in range(100):
        sigma, alpha = 10 ** rng.uniform(-150, 150), 10 ** rng.uniform(0, 6)
        assert excess(sigma, 1.0, alpha, mpf(alpha) / (2 * mpf(sigma) ** 2)) < CARD


@pytest.mark.parametrize("cases", [2, *by_night(4)])
def test_the_other_direction_is_no_larger(cases, rng):
    """Theorem 5 of arXiv 1908.10530, by the integral of the other direction."""
    for _ in range(cases):
        sigma, q = 10 ** rng.uniform(-0.7, 1), 10 ** rng.uniform(-3, -0.01)
        alpha = 1 + 10 ** rng.uniform(-2, 1.3)
        backwards = exact.real_order(sigma, q, alpha, backwards=True)
        assert backwards <= mpf(divergence(sigma, q, alpha)) * (1 - mpf(CARD)), (sigma, q, alpha)


# --- edges --------------------------------------------------------------------------------------
def test_it_overflows_only_where_it_must():
    assert divergence(1e-154, 0.5, 2.0) == pytest.approx(1e308, rel=1e-9)
    assert divergence(1e-155, 0.5, 2.0) == math.inf
    assert divergence(1e-154, 0.5, 1.0) == pytest.approx(0.25e308, rel=1e-9)
    assert divergence(1.0, 0.5, math.inf) == math.inf
    assert divergence(5e-324, 5e-324, 1.0) == math.inf


@pytest.mark.parametrize("sigma", [1e-300, 1e-9, 1e-3, 0.1, 1.0, 1e3, 1e9, 1e300])
@pytest.mark.parametrize("q", [5e-324, 1e-300, 1e-100, 1e-9, 0.5, 1 - 2.0**-53])
def test_far_from_anything_useful_it_is_a_number(sigma, q):
    orders = np.array([1.0, 1 + 2.0**-52, 1.5, 2.0, 1e3, 1e9, 1e18, 1e100, 1e300])
    values = SampledGaussianRdp(sigma, q)(orders)
    assert (values > 0).all()
    whole = SampledGaussianRdp(sigma, 1.0)(orders)
    assert (values <= whole * (1 + CARD)).all()
    assert (values[1:] >= values[:-1] * (1 - CARD)).all()


# --- arguments ----------------------------------------------------------------------------------
@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan, math.inf])
def test_bad_noise_multiplier(sigma):
    with pytest.raises(ValueError, match="noise_multiplier must be"):
        SampledGaussianRdp(sigma, 0.1)


@pytest.mark.parametrize("rate", [0.0, -0.1, math.nextafter(1, 2), math.nan, math.inf])
def test_bad_sampling_rate(rate):
    with pytest.raises(ValueError, match="sampling_rate must be"):
        SampledGaussianRdp(1.0, rate)


def test_what_is_no_number_is_refused():
    with pytest.raises(TypeError, match="noise_multiplier"):
        SampledGaussianRdp("1", 0.1)
    with pytest.raises(TypeError, match="sampling_rate"):
        SampledGaussianRdp(1.0, True)


def step(sigma, rate):
    return tn.Gaussian(sigma).cost(sensitivity=1.0).sampled(rate, "poisson")


def test_curves():
    many = step(1.0, 0.01) * 3 + step(1, 0.01) + step(2.0, 0.01) * 5
    assert many.adjacency == "add-remove"
    curve = many.rdp()
    assert curve.is_continuous
    assert curve.terms == ((SampledGaussianRdp(1.0, 0.01), 4), (SampledGaussianRdp(2.0, 0.01), 5))
    separate = 4 * step(1.0, 0.01).rdp().values + 5 * step(2.0, 0.01).rdp().values
    np.testing.assert_allclose(curve.values, separate, rtol=1e-14)
    assert pickle.loads(pickle.dumps(curve)).terms == curve.terms


def test_sums_round_upwards():
    function = SampledGaussianRdp(1.0, 0.01)
    once = [mpf(float(v)) for v in function(DEFAULT_ORDERS)]
    total = SampledGaussianRdp.weighted_sum([function] * 3, [1, 7, 2**53 - 1], DEFAULT_ORDERS)
    assert all(mpf(float(t)) >= v * (2**53 + 7) for t, v in zip(total, once, strict=True))
    nothing = SampledGaussianRdp.weighted_sum([function], [0], DEFAULT_ORDERS)
    assert not nothing.any()


def test_the_costs_of_training_that_opacus_prints():
    """Opacus 1.6 gives 7.4140 on its grid of orders; the best real order can only be less."""
    training = step(1.0, 0.01) * 10_000
    assert 7.40 < training.epsilon(1e-6, by="rdp") <= 7.4140
