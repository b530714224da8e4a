"""Trade-off curves: both bounds hold closed forms, and are narrow."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise import Cost
from tightnoise._core import cost as core
from tightnoise.costs._lattice_tradeoff import lattice_tradeoff

NEGLIGIBLE = tn.Laplace(1e9).cost(sensitivity=1.0)  # with it, a release is a composition
RATES = np.concatenate([[0.0], np.logspace(-30, -0.01, 60), [0.99, 1 - 1e-6, 1.0]])


def gaussian(sigma):
    return tn.Gaussian(sigma).cost(sensitivity=1.0)


def quantile(rate):
    """Return z with P(Z > z) = rate."""
    return mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf(rate))


def sampled_misses(sigma, share, rate):
    """Return the least false-negative rate of one sampled Gaussian, by the best tests."""
    shift, share = 1 / mp.mpf(sigma), mp.mpf(share)
    z = quantile(rate)
    removed = (1 - share) * mp.ncdf(z) + share * mp.ncdf(z - shift)

    def excess(z):
        return (1 - share) * mp.ncdf(z) + share * mp.ncdf(z - shift) - rate

    low, high = -quantile(rate), -quantile(rate) + shift
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return min(removed, mp.ncdf(-low))


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.0, 5.0])
def test_gaussian(mu):
    composed = gaussian(1 / mu) + NEGLIGIBLE
    for cost, slack in ((gaussian(1 / mu), 0.0), (composed, 4e-9)):  # in the loss
        lower, upper = cost.tradeoff_bounds(RATES)
        power = cost.true_positive_rate(RATES)
        with mp.workdps(60):
            for rate, low, high, most in zip(
                RATES[1:-1], lower[1:-1], upper[1:-1], power[1:-1], strict=True
            ):
                misses = mp.ncdf(quantile(rate) - mu)
                assert low <= misses <= high * (1 + slack) + slack * rate
                assert 1 - misses <= most <= (1 - misses) * (1 + 1e-6)
                assert high - low <= 1e-6 * most + 1e-14


def test_what_is_known_of_gaussians():
    for cost in (gaussian(1.0), gaussian(1.0) + NEGLIGIBLE):
        assert cost.true_positive_rate(1e-3) == pytest.approx(0.0182984684056566, rel=1e-9)
        assert cost.advantage == pytest.approx(0.38292492254802624, rel=1e-9)
        assert cost.auc == pytest.approx(0.7602499389065233, abs=5e-7)
        assert cost.auc >= 0.7602499389065233


@pytest.mark.parametrize("cases", [3, *by_night(6)])
def test_sampled_gaussian_once(cases, rng):
    # One step has a closed form, and no composition hides what is wrong.
    for _ in range(cases):
        sigma, share = math.exp(rng.uniform(-0.7, 2)), 10 ** rng.uniform(-2, -0.1)
        rates = 10 ** rng.uniform(-6, -0.02, 8)
        lower, upper = gaussian(sigma).sampled(share, "poisson").tradeoff_bounds(rates)
        with mp.workdps(40):
            for rate, low, high in zip(rates, lower, upper, strict=True):
                assert low <= sampled_misses(sigma, share, rate) <= high, (sigma, share, rate)
        assert np.max(upper - lower) < 1e-2


def responses_misses(p, count, rate):
    """Return the least false-negative rate of randomised responses, by the Neyman-Pearson lemma."""
    misses, left = mp.mpf(1), mp.mpf(rate)
    for wrong in range(count + 1):
        under_p = mp.binomial(count, wrong) * p ** (count - wrong) * (1 - p) ** wrong
        under_q = mp.binomial(count, wrong) * p**wrong * (1 - p) ** (count - wrong)
        share = min(1, left / under_q)
        misses, left = misses - share * under_p, left - share * under_q
        if share < 1:
            break
    return misses


@pytest.mark.parametrize(("p", "count"), [(0.75, 1), (0.9999, 1), (0.6, 10)])
def test_randomised_responses(p, count):
    rates = np.linspace(1e-3, 0.999, 23)
    lower, upper = (Cost.of_response(p) * count).tradeoff_bounds(rates)
    truths = np.array([float(responses_misses(mp.mpf(p), count, rate)) for rate in rates])
    assert (lower <= truths + 1e-15).all()
    assert (truths <= upper + 1e-15).all()
    assert np.max(upper - lower) < 1e-6


def test_randomised_response_has_the_area_p():
    for p in (0.5744425168116590, 0.75, 0.9526):
        assert p <= Cost.of_response(p).auc <= p + 1e-12


def test_laplace():
    cost = tn.Laplace(1.0).cost(sensitivity=1.0)
    lower, upper = cost.tradeoff_bounds(RATES)
    e = math.e  # f(a) = 1 - e a, 1/(4 e a), then the mirror image
    middle = 1 / (4 * e * np.maximum(RATES, 1e-300))
    truth = np.where(0.5 / e > RATES, 1 - e * RATES, np.where(RATES < 0.5, middle, (1 - RATES) / e))
    assert (lower <= truth + 1e-15).all()
    assert (truth <= upper + 1e-15).all()
    assert np.max(upper - lower) < 5e-5
    assert 0.72409 <= cost.auc <= 0.724095


@pytest.mark.parametrize(
    "cost",
    [
        gaussian(1.0).sampled(0.01, "poisson") * 10_000,
        gaussian(2.0).sampled(0.3, "poisson") * 100 + tn.Laplace(5.0).cost(sensitivity=1.0) * 4,
    ],
)
def test_training(cost):
    rates = np.linspace(0, 1, 201)
    lower, upper = cost.tradeoff_bounds(rates)
    assert (lower <= upper).all()
    assert np.max(upper - lower) < 1e-7
    assert (np.diff(lower) <= 1e-12).all()
    assert cost.tradeoff(rates) == pytest.approx(lower, abs=1e-8)
    assert cost.true_positive_rate(rates[1:]) == pytest.approx(1 - lower[1:], abs=1e-8)
    area = 1 - np.mean(0.5 * (lower[1:] + lower[:-1]))
    assert cost.auc == pytest.approx(area, abs=3e-3)  # of both orders


def on_a_lattice(cost, rates):
    """Return both bounds of the misses and the power's, of the better order, as a lattice does."""
    each = lattice_tradeoff(cost.terms, np.asarray(rates), both_sides=True)
    lower = np.min([one.misses_lower for one in each], axis=0)
    upper = np.min([one.misses_upper for one in each], axis=0)
    return lower, upper, np.max([one.power_upper for one in each], axis=0)


@pytest.mark.parametrize("cases", [2, *by_night(4)])
def test_a_lattice_holds_one_sampled_gaussian(cases, rng):
    for _ in range(cases):
        sigma, share = math.exp(rng.uniform(-0.7, 2)), 10 ** rng.uniform(-2, -0.1)
        rates = 10 ** rng.uniform(-7, -0.02, 8)
        lower, upper, power = on_a_lattice(gaussian(sigma).sampled(share, "poisson"), rates)
        with mp.workdps(40):
            for rate, low, high, most in zip(rates, lower, upper, power, strict=True):
                misses = sampled_misses(sigma, share, rate)
                assert low - 1e-15 <= misses <= high + 1e-15, (sigma, share, rate)
                assert 1 - misses <= most * (1 + 1e-15)
        assert np.max(upper - lower) < 1e-5


def test_a_lattice_holds_responses(rng):
    for _ in range(20):
        p, count = rng.uniform(0.5001, 0.99), int(10 ** rng.uniform(0, 2))
        rates = np.append(10 ** rng.uniform(-9, -0.01, 6), [0.0, 1.0])
        lower, upper, power = on_a_lattice(Cost.of_response(p) * count, rates)
        with mp.workdps(40):
            for rate, low, high, most in zip(rates, lower, upper, power, strict=True):
                misses = responses_misses(mp.mpf(p), count, rate)
                assert low - 1e-15 <= misses <= high + 1e-15, (p, count, rate)
                assert 1 - misses <= most * (1 + 1e-15)
        assert np.max(upper - lower) < 1e-4


@pytest.mark.parametrize(
    "cost",
    [
        gaussian(1.0).sampled(0.01, "poisson") * 5,  # a contour takes long
        tn.Gaussian(1.0).cost(sensitivity=2.0, adjacency="replace-one").sampled(0.01, "fixed-size")
        * 100,
        tn.Laplace(5.0).cost(sensitivity=1.0) * 1000,
    ],
)
def test_compositions_on_a_lattice_are_narrow(cost):
    rates = [0.0, 1e-9, 1e-5, 1e-3, 0.05, 0.5, 0.999, 1.0]
    lower, upper = cost.tradeoff_bounds(rates)
    assert (lower <= upper).all()
    assert np.max(upper - lower) < 2e-7
    assert cost.true_positive_rate(rates) == pytest.approx(1 - lower, rel=1e-6, abs=1e-9)


def test_nothing_is_known_from_below_of_a_bound():
    lower, upper = Cost.of_approximate(1.0, 1e-5).tradeoff_bounds([0.1, 0.5])
    assert upper == pytest.approx([0.9, 0.5], rel=1e-15)
    assert (lower < upper).all()
    nothing = Cost().tradeoff_bounds(0.3)
    assert nothing == (0.7, 0.7)


def test_rates_are_checked():
    for function in (Cost().tradeoff, Cost().tradeoff_bounds, Cost().true_positive_rate):
        with pytest.raises(ValueError, match="false_positive_rate must be from 0 to 1"):
            function([0.1, 1.5])


def test_many_deltas_are_those_asked_one_by_one(rng):
    nothing = (core.atoms(np.array([0.0]), np.array([1.0])), 1)
    answered = 0
    for i in range(16):
        sigma, rate = math.exp(rng.uniform(-0.7, 3)), 10 ** rng.uniform(-2, -0.01)
        law = core.sampled_gaussian(sigma, rate, ("remove", "add")[i % 2])
        once = core.Composition([(law, 1)])
        far = once.epsilon(10.0 ** rng.uniform(-30, -3))[1]
        epsilons = far * np.linspace(0, 1, 40) ** 2
        lower, upper = core.Composition([(law, 1), nothing]).deltas(epsilons, is_quick=True)
        below, above = once.deltas(epsilons)
        assert (lower <= above * (1 + 1e-15)).all(), (sigma, rate)
        assert (upper >= below * (1 - 1e-15)).all(), (sigma, rate)
        answered += np.sum(upper < 1)
    assert answered > 60
    training = core.Composition([(core.sampled_gaussian(1.0, 0.01, "remove"), 10_000)])
    epsilons = np.linspace(-1, 12, 50)
    lower, upper = training.deltas(epsilons)
    assert (upper - lower <= 1e-10 * upper).all()
    for i in range(0, 50, 7):
        one = training.delta(epsilons[i])
        assert lower[i] <= one[1]
        assert one[0] <= upper[i]


def test_a_group_of_which_losses_prove_nothing():
    # All losses that the chain of neighbours leaves are infinite.
    step = tn.Gaussian(191.0).cost(sensitivity=1.0).sampled(0.9999, "poisson")
    group = step.group(1600)
    rates = np.array([0.0, 1e-5, 0.5])
    lower, upper = group.tradeoff_bounds(rates)
    assert (lower >= 0).all()
    assert (lower <= upper).all()
    assert (upper <= 1 - rates + 1e-15).all()
    assert lower[1] <= 1.9e-5  # of a shift by 1600: nearly all of them are in the sample


@pytest.mark.parametrize(
    ("scale", "rate", "fpr"),
    [
        (15.96420789554266, 0.002295171551257074, 0.2),
        (31.591239223612835, 0.0003692886314258545, 0.5372977244273162),
        (7.130334344227122, 0.00016030090879886566, 0.6798841672240714),
    ],
)
def test_rounding_counts_where_points_are_close(scale, rate, fpr):
    # Kinks are read at 2^-24 beside them, and what is rounded there counts as often.
    cost = tn.Laplace(scale).cost(sensitivity=1.0).sampled(rate, "poisson")
    lower, upper = cost.tradeoff_bounds(fpr)
    assert lower <= upper <= lower + 1e-5
    with mp.workdps(40):  # at t = 1 - q + q root^2, h is a parabola in the root
        loss, q, a = 1 / mp.mpf(scale), mp.mpf(rate), mp.mpf(fpr)
        least = mp.exp(-loss / 2)
        root = min(max(least / (2 * a), least), 1 / least)
        one_order = max(
            1 - q + q * at * least - (1 - q + q * at**2) * a for at in (root, least, 1 / least)
        )
        assert mp.mpf(lower) <= one_order
