"""Epochs in which each record is in exactly one of many steps."""

import math

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night, rows_by_night

import tightnoise as tn
from tightnoise.costs._allocated import Allocated, _put_of
from tightnoise.costs._call import _gauss_legendre, _Jump, call_bounds
from tightnoise.costs._cell_pairs import pair_of_largest
from tightnoise.costs._gaussian_pair import GaussianPair
from tightnoise.costs._gaussian_profile import gaussian_delta
from tightnoise.costs._put import _Contour, _Moments, _Sizes, put_bounds


def one_of_two(epsilon, mu):
    """Both divergences of two steps, by quadrature over the first."""

    def put(k):  # E (k - (Y + Z)/2)^+, Z given: (2 k - Z - Y)^+ is a put of one step
        def inner(z):
            strike = 2 * k - mp.exp(mu * z - mu * mu / 2)
            if strike <= 0:
                return mp.mpf(0)
            d = mp.log(strike) / mu
            return mp.npdf(z) * (strike * mp.ncdf(d + mu / 2) - mp.ncdf(d - mu / 2)) / 2

        end = mp.log(2 * k) / mu + mu / 2
        points = [*(end - s for s in (0.05, 0.3)), *range(-10, 11, 2)]
        return mp.quad(inner, [-13, *sorted(p for p in points if -13 < p < end), min(end, 13)])

    mu, e = mp.mpf(mu), mp.exp(mp.mpf(epsilon))
    return put(e) + 1 - e, e * put(1 / e)


@pytest.mark.parametrize("mu", [*by_night(0.08, 0.5), 1.0])
def test_one_of_two_against_quadrature(mu):
    leaf = Allocated(GaussianPair(1 / mu), 2)
    epsilons = np.array([0.0, 0.1, 0.6, 1.5])
    with mp.workdps(20):
        truths = np.array([[float(x) for x in one_of_two(e, mu)] for e in epsilons])
    for lower, upper, truth in zip(
        leaf.profile_below(epsilons), leaf.profile(epsilons), truths.T, strict=True
    ):
        assert (lower <= truth * (1 + 1e-12) + 1e-15).all()
        assert (truth <= upper * (1 + 1e-12) + 1e-15).all()
        assert (upper - lower <= 1e-10).all()


@pytest.mark.parametrize("mu", [1.0, *by_night(3.0)])
def test_the_largest_of_two_outputs_is_below_and_near(mu):
    epsilons = np.array([0.0, 0.1, 1.0, 3.0])
    found = pair_of_largest(mu, 2)
    with mp.workdps(20):
        truths = np.array([[float(x) for x in one_of_two(e, mu)] for e in epsilons]).T
    for heights, truth in zip(found.profile(epsilons), truths, strict=True):
        lower = (heights - found.excess.absolute) * (1 - found.excess.height)
        assert (lower <= truth).all()
        assert (lower >= 0.7 * truth).all()


@pytest.mark.parametrize(("mu", "steps"), [(0.3, 1), (2.0, 7), (4.0, 1000), (0.01, 10**9)])
def test_cells_of_the_largest_output(mu, steps):
    # Their hockey-stick divergence at 0 is that of the best of their ends, or less by a cell.
    heights = pair_of_largest(mu, steps).profile(np.array([0.0]))
    with mp.workdps(40):

        def gap(c):
            below = mp.ncdf(c) ** (steps - 1)
            return below * mp.ncdf(c) - below * mp.ncdf(c - mu)

        most = max(gap(c) for c in np.linspace(-8.0, mu + 10.0, 800).tolist())
    assert heights[0][0] == pytest.approx(float(most), rel=2e-3, abs=1e-9)
    assert heights[1][0] == pytest.approx(float(most), rel=2e-3, abs=1e-9)


@pytest.mark.parametrize("times", [1, 3])
def test_little_noise_has_a_lower_bound(times):
    for sigma, steps in ((0.3, 5), (0.1, 1000)):
        epoch = tn.Gaussian(sigma).cost(sensitivity=1.0).allocated(steps) * times
        lower, upper = epoch.epsilon_bounds(1e-6)
        assert 0.5 * upper < lower < upper
        if sigma > 0.2:
            assert upper * (1 - (1e-11 if times == 1 else 1e-5)) < lower
        elif times > 1:
            assert "the largest output alone" in epoch.explain(1e-6).reason


def test_a_bound_has_no_lower_one():
    for times in (1, 3):
        epoch = tn.Cost.of_gdp(1.0).allocated(10) * times
        assert epoch.epsilon_bounds(1e-3)[0] == 0
        assert epoch.delta_bounds(0.5)[0] == 0


@pytest.mark.parametrize("mu", [1 / 12, 0.2, 0.45])
def test_the_one_of_one_step_is_the_gaussian(mu):
    put = _put_of(mu, 1)
    epsilons = mu * np.linspace(0.0, 6.0, 13)
    truth = gaussian_delta(epsilons, mu)
    for lower, upper in (put.forward(epsilons), put.backward(epsilons)):
        assert (lower <= truth + 1e-16).all()
        assert (truth <= upper + 1e-16).all()
        assert (upper - lower <= 1e-10).all()


@pytest.mark.parametrize("mu", [0.7, 1.0, 2.5, 6.0])
def test_far_out_against_the_closed_form(mu):
    far = call_bounds(mu, 1)  # of one step: an option's value
    excess = far.least * np.geomspace(1.0, 1e7, 15)
    for x, lower, upper in zip(excess.tolist(), *far.at(excess), strict=True):
        with mp.workdps(40):
            m, k = mp.mpf(mu), mp.mpf(x) + 1
            d = m / 2 - mp.log(k) / m
            truth = mp.ncdf(d) - k * mp.ncdf(d - m)
            assert lower <= truth <= upper
            assert upper - lower <= 1e-4 * truth + 1e-30


@pytest.mark.parametrize(("mu", "steps"), [(0.5, 20), (1.0, 1000), (2.0, 200), (3.3, 10**4)])
def test_far_out_puts_and_calls_agree(mu, steps):
    far = call_bounds(mu, steps)
    near = put_bounds(mu, steps, 1.5 * far.least)
    excess = far.least * np.linspace(1.0, 1.5, 20)
    (low, high), (lower, upper) = near.call(np.log1p(excess)), far.at(excess)
    assert (lower <= high).all()
    assert (low <= upper).all()
    assert (upper - lower <= 1e-8 * upper + 1e-22).all()
    assert (np.diff(lower) < 0).all()


def test_bounds_to_a_great_power_keep_their_digits():
    # A unit of 1 is 1 in the logarithm of the power: what is beside 1 must not be added to it.
    steps = 2.0**53
    jump = _Jump(1.0, steps)
    for part in (0.05, 1.0, 3.0):  # e^w - 1 - w is at least w^2/2
        rate = part / jump.deviation
        assert jump._log_up(rate) + math.log(2 * rate) >= 0.5 * part * part * (1 - 1e-6)
    rule = _Moments.of(0.3, steps, 0.0)
    v, origins = np.array([0.33 / math.sqrt(steps) / 0.3 + 0j]), np.ones(1)
    (log_power,), (log_wrong,) = rule.log_powers(v, origins)
    assert log_power.real > 0.05
    assert log_wrong >= math.log(steps * rule.moments(v, origins)[1][0]) + log_power.real - 1e-6


@pytest.mark.parametrize(("mu", "steps"), [(0.05, 10**4), (1.0, 10**7), (0.5, 20), (2.0, 2)])
def test_the_width_is_that_of_bounds_that_are_not_cut_off(mu, steps):
    put = _put_of(mu, steps)
    assert put.width < 2e-12
    for one in put.near.ranges:
        log_k = np.linspace(*one.ends, 300)
        apart = 2 * one.at(log_k)[1]
        assert (apart / np.exp(np.minimum(log_k, 0.0)) <= put.width).all()
        lower, upper = put.near.at(log_k)
        assert (upper - lower <= apart * (1 + 1e-12) + 8 * 2.0**-53 * upper).all()


@pytest.mark.parametrize(
    ("mu", "steps"), [(5.6, 2), (6.4, 100), *rows_by_night((5.0, 2), (6.4, 2))]
)
def test_the_width_is_that_of_bounds_between_the_near_and_the_far_ones(mu, steps):
    put = _put_of(mu, steps)
    x = math.log1p(put.far.least)
    _, (before, after) = put.forward(x * np.array([1 - 1e-9, 1 + 1e-9]))
    assert before - put.width <= after + 1e-7  # from the one to the other the truth falls by less


def test_the_rule_has_nodes_of_all_digits():
    with mp.workdps(40):
        for count in (12, 24, 77, 80):
            nodes, weights = _gauss_legendre(count)
            assert nodes.size == weights.size == count
            assert (nodes == -nodes[::-1]).all()
            assert (weights == weights[::-1]).all()
            for node, weight in zip(nodes[: (count + 1) // 2], weights, strict=False):
                start = mp.mpf(float(node))
                root = mp.findroot(lambda x: mp.legendre(count, x), start)  # noqa: B023
                slope = count * (mp.legendre(count - 1, root)) / (1 - root * root)
                assert abs(root - start) <= 2**-53
                assert abs(weight * (1 - root * root) * slope * slope / 2 - 1) <= 2**-52


@pytest.mark.parametrize(
    ("mu", "steps"), [(0.03, 10**5), (0.3, 7), (1.0, 30), (1.0, 10**7), (2.0, 1000), (3.0, 10**6)]
)
def test_contours_agree(mu, steps):
    deviation = math.sqrt(math.expm1(mu * mu) / steps)
    one, other = (put_bounds(mu, steps, part * deviation) for part in (8.0, 13.0))
    excess = np.linspace(-min(0.9, 8 * deviation), 8 * deviation, 40)
    (low, high), (low_other, high_other) = (put.call(np.log1p(excess)) for put in (one, other))
    assert (np.maximum(low, low_other) <= np.minimum(high, high_other)).all()
    assert (high - low).max() < 1e-11
    # The mean is 1: far below it, nothing is lost; convex, and steeper than -1 nowhere.
    assert (high >= -excess).all()
    assert (np.diff(high) <= 1e-11).all()
    assert (np.diff(high) >= -np.diff(excess) - 1e-11).all()


@pytest.mark.parametrize("mu", [0.003, *by_night(0.4), 1.3, 5.0])
def test_puts_of_one_step_in_all_ranges_against_the_closed_form(mu):
    put = put_bounds(mu, 1, 8 * math.sqrt(math.expm1(mu * mu)))
    ends = [end for one in put.ranges for end in one.ends]
    log_k = np.append(np.linspace(put.lowest, put.highest, 20), [0.0, *ends])
    found = zip(log_k.tolist(), *put.at(log_k), *put.call(log_k), strict=True)
    with mp.workdps(40):
        for x, lower, upper, lower_call, upper_call in found:
            d = mp.mpf(mu) / 2 + mp.mpf(x) / mu
            truth = mp.exp(x) * mp.ncdf(d) - mp.ncdf(d - mu)
            assert lower <= truth <= upper
            # At the lowest end of all, e^-62 of mu 0.4, 1.8e-12.
            most = (2e-12 if mu < 2 else 1e-11) * max(mp.exp(x), mp.exp(2 * x))
            assert upper - lower <= most
            assert lower_call <= truth + 1 - mp.exp(x) <= upper_call


def test_moments_against_many_digits():
    worst = 0.0
    with mp.workdps(40):
        for mu, v, origin in (
            (0.05, 0.3 + 4j, 1),
            (0.3, 0.02 + 0.5j, 1),
            (1.0, 0.4 + 30j, 1),
            (2.2, 1.5 + 2j, 1),
            (0.3, -0.2 + 0.9j, 1),
            (1.0, -20 + 90j, 0),
            (2.2, -3 + 5j, 0),
        ):
            rule = _Moments.of(mu, 20.0, 2 * (math.atan2(v.imag, v.real) - math.pi / 2))
            found, error = rule.moments(np.array([v]), np.array([float(origin)]))
            shift, step = 0.9 * min(math.atan2(v.imag, v.real) / mu, 2.5), mp.mpf(1) / 20
            total = mp.mpc(0)
            for j in range(-280, 281):
                z = mp.mpc(j * step, -shift)
                moved = mp.exp(mu * z - mp.mpf(mu) ** 2 / 2) - origin
                total += mp.expm1(-mp.mpc(v) * moved) * mp.exp(-z * z / 2)
            truth = total * step / mp.sqrt(2 * mp.pi)
            assert error[0] < 1e-11
            worst = max(worst, float(abs(mp.mpc(found[0]) - truth) / error[0]))
    assert worst < 1


@pytest.mark.parametrize(
    ("mu", "t", "bend"), [(2.0, 2.0, 1.2), (0.05, 2.0, 0.1), (1.0, 1e4, 0.1), (3.3, 500.0, 0.6)]
)
def test_cells_bound_what_is_summed(mu, t, bend, rng):
    m = 1 / min(1.0, math.sqrt(math.expm1(mu * mu) / t))
    sizes, contour = _Sizes.of(mu, t, m, 0.1), _Contour(m, bend)
    rule, ends = _Moments.of(mu, t, 2 * bend), (math.log(0.5), math.log(1.5))
    last = math.asinh(sizes.far / contour.length)
    x = np.linspace(0.0, 0.9 * last, 400)
    for part in (0.0, 0.5 * bend, bend):
        bounds = sizes.log_cells(contour, part, x, ends)
        inside = x[:-1] + rng.random(x.size - 1) * np.diff(x)
        u = contour.places(part, inside)
        powers, log_wrong = rule.log_powers(u / t, origins := np.where(u.real < -0.5 * t, 0.0, 1.0))
        for bound, end in zip(bounds, ends, strict=True):
            grown = u.real * (math.exp(end) - origins) + np.log(
                np.abs(contour.slopes(part, inside)) / np.abs(u) ** 2
            )
            known = powers.real > log_wrong + 7
            assert known.sum() > 20
            assert (powers.real + grown <= bound[:-1] + 1e-3)[known].all()


@pytest.mark.parametrize(("sigma", "steps", "count"), [(1.0, 2, 5), (0.5, 200, 10)])
def test_epochs_of_rare_large_losses_are_narrow(sigma, steps, count):
    epochs = tn.Gaussian(sigma).cost(sensitivity=1.0).allocated(steps) * count
    lower, upper = epochs.epsilon_bounds(1e-6)
    assert upper * (1 - 3e-6) <= lower <= upper


def test_a_small_put_is_above():
    for mu, steps in ((1.0, 2), (2.0, 10), (0.3, 50)):
        put = _put_of(mu, steps)
        epsilons = np.linspace(0.0, 3.0, 10)
        assert (put.backward(epsilons)[0] <= put.left.at(epsilons)).all()


@pytest.mark.parametrize("steps", [3, 40])
def test_of_more_steps_by_simulation(steps, rng):
    mu, size = 0.8, 400_000
    w = np.zeros(size)
    for _ in range(steps):
        w += np.exp(mu * rng.standard_normal(size) - mu * mu / 2) / steps
    leaf = Allocated(GaussianPair(1 / mu), steps)
    for epsilon in (0.0, 0.05, 0.2):
        e = math.exp(epsilon)
        forward, backward = leaf.profile(np.array([epsilon]))
        for bound, sample in ((forward, w - e), (backward, 1 - e * w)):
            above = np.maximum(sample, 0.0)
            assert bound[0] == pytest.approx(
                above.mean(), abs=6 * above.std() / math.sqrt(size), rel=1e-3
            )


def test_costs_of_epochs():
    step = tn.Gaussian(1.0).cost(sensitivity=1.0)
    assert step.allocated(1).epsilon(1e-5) == pytest.approx(step.epsilon(1e-5), rel=1e-14)
    epsilons = [(step.allocated(n) * 4).epsilon(1e-5) for n in (1, 10, 10_000)]
    assert epsilons == sorted(epsilons, reverse=True)
    assert epsilons[-1] < 0.1 * epsilons[0]
    assert step.allocated(10**6).delta(0.05) < 1e-8
    assert step.allocated(10**9).epsilon(1e-5) <= step.epsilon(1e-5) * (1 + 1e-14)
    assert (step * 3).allocated(10).adjacency == "add-remove"
    cost = step.allocated(7) * 2
    assert tn.Cost.from_dict(cost.to_dict()) == cost
    assert "in one of 7 steps" in str(cost.explain(1e-5))
    lower, upper = step.allocated(1000).epsilon_bounds(1e-5)
    assert upper * (1 - 1e-7) < lower <= upper
    assert tn.Cost().allocated(3) == tn.Cost()


@pytest.mark.parametrize(
    ("multiplier", "steps"),
    [(3e3, 2), (1e4, 9), (1e9, 5), (49.0, 2**53), (1e3, 2**53), (1e50, 5), (1e200, 5)],
)
def test_noise_that_hides_all(multiplier, steps):
    # W varies too little for the rule, or for Chebyshev points: exponentials would overflow.
    step = tn.Gaussian(multiplier).cost(sensitivity=1.0)
    epoch = step.allocated(steps)
    for delta in (1e-12, 1e-9, 1e-3):
        lower, upper = epoch.epsilon_bounds(delta)
        assert 0 <= lower <= upper <= step.epsilon(delta) * (1 + 1e-14)
    lower, upper = epoch.delta_bounds(0.0)
    # W is nearly normal.
    assert lower <= 1.01 / (multiplier * math.sqrt(2 * math.pi * steps)) <= upper * 1.02
    assert upper <= step.delta(0.0) * (1 + 1e-14)


@pytest.mark.parametrize(("multiplier", "steps"), [(2e-3, 5), (1e-300, 5), (2.0, 2**53)])
def test_outputs_that_tell_all_or_hardly_anything(multiplier, steps):
    gaussian = tn.Gaussian(multiplier).cost(sensitivity=1.0)
    lower, upper = gaussian.allocated(steps).epsilon_bounds(1e-9)
    assert 0 <= lower <= upper <= gaussian.epsilon(1e-9) * (1 + 1e-14)
    if multiplier < 1:
        assert lower > 80
    else:  # delta(0) is about that of N(0, s^2), s^2 = (e^(mu^2) - 1)/steps
        about = math.sqrt(math.expm1(0.25) / steps / (2 * math.pi))
        assert about * (1 - 1e-3) <= gaussian.allocated(steps).delta(0.0) <= about * 1.05


def test_what_is_not_allocated():
    step = tn.Gaussian(1.0).cost(sensitivity=1.0)
    for cost in (
        step.sampled(0.1, "poisson"),
        tn.Laplace(1.0).cost(sensitivity=1.0),
        step * 2 + tn.Cost.of_pure(1.0),
    ):
        with pytest.raises(ValueError, match="of Gaussian noise only"):
            cost.allocated(5)
    for cost in (step.for_neighbours("replace-one"), step.group(2)):
        with pytest.raises(ValueError, match="there or not"):
            cost.allocated(5)
    with pytest.raises(ValueError, match="steps"):
        step.allocated(0)
