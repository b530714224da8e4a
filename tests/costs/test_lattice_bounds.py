"""Lower bounds of compositions on the lattice: below the truth, the upper ones above, both near."""

import math

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night
from finite_pairs import (
    both_deltas,
    divergence,
    larger_divergence,
    product,
    random_pair,
    random_partly_apart,
)
from guarantees import composed_delta, composed_epsilon
from lattices import below_of_profile, bounds_on_lattice

import tightnoise as tn
from tightnoise.costs._exact import Bounds
from tightnoise.costs._excess import Excess
from tightnoise.costs._gaussian_profile import gaussian_delta, gaussian_epsilon
from tightnoise.costs._lattice import Work
from tightnoise.costs._lattice_bounds import _Directions
from tightnoise.costs._losses_below import LossesBelow, LossesOn

INF = float("inf")


def epsilon_bounds(cost, delta):
    return bounds_on_lattice("epsilon", cost, delta)


def delta_bounds(cost, epsilon):
    return bounds_on_lattice("delta", cost, epsilon)


def widest(cost, delta):
    """The relative width of the bounds of epsilon, after checks of both."""
    lower, upper = epsilon_bounds(cost, delta)
    assert 0 <= lower <= upper <= cost.losses().epsilon(delta)
    middle = 0.5 * (lower + upper)
    low, high = delta_bounds(cost, middle)
    assert 0 <= low <= high <= 1
    # What is below at one question is below at the other.
    assert delta_bounds(cost, lower)[1] >= max(delta, low)
    return (upper - lower) / upper if upper > 1e-3 else 0.0


# --- exact: randomised response, atoms, Laplace


@pytest.mark.parametrize("e", [0.01, 0.5, 4.0])
@pytest.mark.parametrize("times", [1, 3, *by_night(100, 10_000), 1_000_000])
def test_randomised_response(e, times, check_error):
    true = 1 / (1 + math.exp(-e))
    cost = tn.Cost.of_losses([e, -e], [true, 1 - true]) * times
    for delta in (1e-9, 1e-3):
        exact = composed_epsilon(e, 0.0, times, delta)
        lower, upper = epsilon_bounds(cost, delta)
        assert lower <= exact * (1 + 1e-11)
        assert exact <= upper * (1 + 1e-11)
        if exact > 1e-3:
            check_error("epsilon_bounds, randomised response", (upper - lower) / exact, 1e-8)
    for share in (0.0, 0.3, 0.9):
        exact = composed_delta(e, 0.0, times, share * times * e)
        lower, upper = delta_bounds(cost, share * times * e)
        assert lower <= exact * (1 + 1e-9)
        if exact > 1e-280:
            assert exact <= upper * (1 + 1e-9)
            check_error("delta_bounds, randomised response", (upper - lower) / exact, 1e-6)


@pytest.mark.parametrize("cases", [3, *by_night(6)])
def test_atoms_by_enumeration(rng, cases):
    """Losses that lie on no lattice, in both directions, some infinite."""
    for _ in range(cases):
        size, times = int(rng.integers(2, 5)), int(rng.integers(1, 5))
        p, q = random_pair(rng, size, 0.7)
        with np.errstate(divide="ignore"):
            cost = tn.Cost.of_losses(np.log(p) - np.log(q), p) * times
        many_p, many_q = product(*[p] * times), product(*[q] * times)
        largest = np.abs(np.log(p[q > 0] / q[q > 0])).max() * times
        for epsilon in rng.uniform(0, 1.0, 3) ** 2 * largest:
            exact = larger_divergence(many_p, many_q, epsilon)
            lower, upper = delta_bounds(cost, epsilon)
            assert lower <= exact * (1 + 1e-12) + 1e-15
            assert exact <= upper * (1 + 1e-12) + 1e-15
            nearly = epsilon + 1e-4 * (1 + largest)
            allowed = larger_divergence(many_p, many_q, nearly)
            assert lower >= allowed * (1 - 1e-6) - 1e-11
        for delta in (1e-6, 1e-2):
            low, high = epsilon_bounds(cost, delta)
            assert 0 <= low <= high
            if 0 < low < INF:
                assert larger_divergence(many_p, many_q, low) >= delta * (1 - 1e-12)


def laplace_delta(e, times, epsilon):
    """Of 1 to 3 releases: the loss has atoms at e and -e, and the density exp((x - e)/2)/4."""
    e, epsilon = mp.mpf(e), mp.mpf(epsilon)

    def once(x):
        if x < 0:
            return 1 - mp.exp(x) + mp.exp(x) * once(-x)
        return max(mp.mpf(0), -mp.expm1((x - e) / 2))

    def density(x):
        return mp.exp((x - e) / 2) / 4 if abs(x) < e else mp.mpf(0)

    up, down = mp.mpf(1) / 2, mp.exp(-e) / 2
    if times == 1:
        return once(epsilon)
    if times == 2:
        atoms = [(e, up), (-e, down)]
        law, ends = density, [-e, e]
    else:
        atoms = [(2 * e, up * up), (mp.mpf(0), 2 * up * down), (-2 * e, down * down)]
        ends = [-2 * e, mp.mpf(0), 2 * e]

        def law(x):
            both = mp.exp((x - 2 * e) / 2) / 16 * (2 * e - abs(x))
            return both + 2 * up * density(x - e) + 2 * down * density(x + e)

    bends = [x for x in (epsilon - e, epsilon, epsilon + e) if ends[0] < x < ends[-1]]
    whole = mp.quad(lambda x: law(x) * once(epsilon - x), sorted({*ends, *bends}))
    return mp.fsum(mass * once(epsilon - x) for x, mass in atoms) + whole


@pytest.mark.parametrize("e", [*by_night(0.001, 30.0), 1.0])
@pytest.mark.parametrize("times", [2, *by_night(3)])
def test_laplace(e, times, check_error):
    cost = tn.Laplace(1 / e).cost(sensitivity=1.0) * times
    with mp.workdps(25):
        for share in (0.0, 0.5, 0.999):
            exact = laplace_delta(e, times, share * times * e)
            lower, upper = delta_bounds(cost, share * times * e)
            assert lower <= exact <= upper * (1 + 1e-12)
            check_error("delta_bounds, Laplace", float((upper - lower) / exact), 1e-4)
            low, high = epsilon_bounds(cost, float(exact))
            # A delta next to 1 has no digits left of epsilon.
            assert low <= share * times * e * (1 + 1e-12) + 4e-16 / (1 - min(float(exact), 0.999))
            if exact < 0.99 and share > 0 and e * times > 1e-3:
                check_error("epsilon_bounds, Laplace", (high - low) / high, 1e-5)


# --- the law of one leaf, composed: of a Gaussian all is known


@pytest.mark.parametrize("mu", [*by_night(0.01, 3.0), 0.5])
def test_gaussian_by_points(mu, check_error):
    largest = float(gaussian_epsilon(1e-40, mu))

    def profile(epsilons):
        heights = gaussian_delta(epsilons, mu)
        return heights, heights

    for times in (1, 10, 1000, 100_000):
        spacing = largest / min(10_000, 4e5 / math.sqrt(times))
        below, _ = below_of_profile(
            profile, (largest, largest), spacing, 4, Excess(2e-14), symmetric=True
        )
        losses = LossesBelow(((below, times),), spacing)
        above = LossesOn((below,), (times,), spacing)  # for where it is to be read
        total = mu * math.sqrt(times)
        for delta in (1e-10, 1e-5, 0.1):
            exact = float(gaussian_epsilon(delta, total))
            if exact == 0:
                continue
            frame = above.frame(above.narrow_tilt(exact))
            got = losses.epsilon_lower(math.log(delta), exact, frame, Work(math.inf))
            assert got <= exact
            check_error(f"epsilon_lower, Gaussian, {times} times", 1 - got / exact, 3e-4)
            there = losses.slack_lower(exact, frame)
            assert there <= delta * (1 + 1e-13)
        assert losses.slack_lower(2 * times * largest, frame) == 0.0


def test_no_law_of_losses_that_are_too_large():
    def profile(epsilons):
        heights = np.where(epsilons < 1e7, 0.5, 0.0)
        return heights, heights

    assert below_of_profile(profile, (1e7, 1e7), 1.0, 2, Excess(0.0), symmetric=True) is None
    assert below_of_profile(profile, (9.0, 9.0), 30.0, 2, Excess(0.0), symmetric=True) is None


@pytest.mark.parametrize("cases", [4, *by_night(12)])
@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-9, 1e-6, 1e-3])
def test_any_profile_within_its_excess(noise, cases, rng):
    """Random pairs, their profiles rounded up at random: as laws of many, still below."""
    for _ in range(cases):
        size, times = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        p, q = random_partly_apart(rng, size, 0.7)
        argument = noise * rng.random()

        def profile(epsilons, p=p, q=q, argument=argument):
            truth = both_deltas(p, q, epsilons * (1 - argument * rng.random(epsilons.size)))
            return tuple(d * (1 + noise * rng.random(d.size)) for d in truth)

        some = (p > 0) & (q > 0)
        losses = np.log(p[some] / q[some]) if some.any() else np.ones(1)
        ends = max(losses.max(), 0.1), max(-losses.min(), 0.1)
        spacing = max(ends) / rng.integers(5, 200)
        both = below_of_profile(
            profile, ends, spacing, int(rng.integers(1, 6)), Excess(noise, noise), symmetric=False
        )
        if both is None:
            continue
        pairs = (p, q), (q, p)
        for below, (one, other) in zip(both, pairs, strict=True):
            below_many = LossesBelow(((below, times),), spacing)
            above = LossesOn((below,), (times,), spacing)  # for where it is to be read
            many, others = product(*[one] * times), product(*[other] * times)
            for epsilon in rng.uniform(0, 1.1, 4) * times * max(ends):
                frame = above.frame(above.narrow_tilt(epsilon))
                got = below_many.infinite + below_many.slack_lower(epsilon, frame)
                assert got <= divergence(many, others, epsilon) * (1 + 1e-13)


# --- leaves


def mechanisms():
    laplace, gaussian = tn.Laplace(1.3).cost(sensitivity=1.0), tn.Gaussian(2.0)
    gaussian = gaussian.cost(sensitivity=1.0)
    return {
        "Laplace": laplace,
        "staircase": tn.Staircase(0.7, 1.0, 0.3).cost(sensitivity=1.5),
        "response": tn.Cost.of_response(0.5, 10),
        "direction": tn.VonMisesFisher(2.0, 5).cost(angle=2.0),
        "truncated": tn.TruncatedGaussian(1.0, -1.0, 1.0).cost(sensitivity=1.0, domain=(-1, 1)),
        "rectified": tn.RectifiedGaussian(1.0, -1.0, 1.0).cost(sensitivity=1.0, domain=(-1, 1)),
        "Poisson": laplace.sampled(0.05, "poisson"),
        "fixed size": tn.Laplace(1.3)
        .cost(sensitivity=1.0, adjacency="replace-one")
        .sampled(0.05, "fixed-size"),
        "Gaussian and Laplace": gaussian + laplace,
        "Laplace twice": laplace + tn.Laplace(math.pi).cost(sensitivity=1.0),
        "Laplace and response": laplace * 3 + tn.Cost.of_response(0.7),
    }


# Of noise with bounds the worst pair is another one for each epsilon: from below it is one of them.
WIDTHS = {"truncated": 0.1, "rectified": 0.2}
BY_DAY = ("response", "Poisson", "Gaussian and Laplace")


@pytest.mark.parametrize("name", [*BY_DAY, *by_night(*sorted({*mechanisms()} - {*BY_DAY}))])
@pytest.mark.parametrize("times", [3, *by_night(10_000)])
def test_widths(name, times, check_error):
    cost = mechanisms()[name] * times
    for delta in (1e-8, 1e-2)[: 2 if times == 3 else 1]:
        limit = WIDTHS.get(name, 1e-6 if times == 3 else 1e-5)
        check_error(f"epsilon_bounds, {name}", widest(cost, delta), limit)


def test_sampled_noise_of_a_mixture_whose_far_losses_are_rare():
    """Two releases of noise like a Laplace one from afar: nearly all losses are below .1."""
    noise = tn.MultiGaussianMixture(1.435, 0.5916, 1.0, 20)
    cost = noise.cost(sensitivity=1.0).sampled(0.07131, "poisson")
    lower, upper = (cost * 2).epsilon_bounds(1.195e-10)
    assert upper - lower <= 1e-6 * upper
    one, _ = cost.epsilon_bounds(1.195e-10)
    assert one < lower < 2 * one


@pytest.mark.parametrize(
    ("case", "rate", "times", "delta"),
    [
        (tn.Laplace(0.3421), 0.002374, 19_080, 7.509e-10),
        (tn.Laplace(0.2467), 0.002553, 57_571, 2.811e-7),
        # Hardly ever is a record in a sample, but no loss is a large one: 8e-5 on a lattice.
        (tn.Laplace(0.8789), 1.023e-6, 564_222, 7.345e-10),
        (tn.GaussianScaleMixture([0.0, 0.0], [0.7, 0.3], [1.883, 3.694]), 1.616e-4, 62_590, 1e-7),
    ],
)
def test_many_samples_of_other_noise_by_few_points(case, rate, times, delta):
    """Contours of many atoms take more work than there is: a thousand are told within it."""
    cost = case.cost(sensitivity=1.0).sampled(rate, "poisson") * times
    lower, upper = cost.epsilon_bounds(delta)
    assert 0 < lower <= upper <= (1 + 1e-6) * lower


def test_lattices_go_on_while_they_get_narrower():
    """Though an upper bound is known that is nearer than what the first one says."""
    cost = tn.Laplace(0.2682).cost(sensitivity=1.0).sampled(0.1672, "poisson") * 62
    lower, upper = cost.epsilon_bounds(2.755e-10)
    assert 51.8 < lower <= upper <= (1 + 1e-6) * lower


def test_samples_of_losses_that_are_infinite_either_way():
    """What only the others have, by delta 1e-6, loses log(1 - rate): 9e-5 if it is told higher."""
    share = 1.13e-6
    losses = tn.Cost.of_losses([INF, 0.2394, -0.2394], [share, 0.55956515, 1 - share - 0.55956515])
    cost = losses.sampled(0.001091, "poisson") * 4663
    lower, upper = cost.epsilon_bounds(7.945e-5)
    assert 0.04 < lower <= upper <= (1 + 1e-6) * lower


def test_a_lattice_has_work_for_both_sides():
    """Of three kinds, in two directions, with the longest windows that there are: 0 from below."""
    noise = tn.Gaussian(3.703).cost(sensitivity=1.0).sampled(0.1178, "poisson")
    cost = tn.Cost.of_response(0.1636, 10) * 5053 + noise.group(2) * 3
    cost = cost + tn.Laplace(1498.0).cost(sensitivity=1.0) * 11_539
    lower, upper = cost.epsilon_bounds(0.001619)
    assert 255 < lower <= upper <= (1 + 1e-6) * lower


def test_noise_with_bounds_is_a_pair_from_below():
    """No less than what one pair costs: another one may cost more."""
    cost = tn.TruncatedGaussian(1.0, -1.0, 1.0).cost(sensitivity=1.0, domain=(-1, 1))
    # Of true values -1 and 0, or 0 and -1, by an FFT of 200,000 cells of the output.
    for times, truth in ((2, 2.24782684766), (20, 13.2755143735), (1000, 222.15334437)):
        lower, upper = (cost * times).epsilon_bounds(1e-6)
        assert truth * (1 - 1e-5) <= lower <= upper <= lower * 1.1


def test_beyond_the_window():
    """A lattice that is too short for the losses says so."""
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.3, 0.6])
    release = tn.Cost.of_losses(np.log(p / q), p).terms[0][0].release()
    losses = LossesOn((release,), (200,), 1e-5)
    assert losses.epsilon_in(losses.frame(0.1), math.log(1e-6)) >= losses.highest


def test_a_million():
    for cost in (tn.Laplace(20.0).cost(sensitivity=1.0), tn.Cost.of_response(0.6)):
        assert widest(cost * 1_000_000, 1e-6) < 2e-4


@pytest.mark.parametrize("cases", [2, *by_night(10)])
def test_once_is_the_profile(rng, check_error, cases):
    """Random settings against the profile of the leaf itself, less what that may be too high."""
    for _ in range(cases):
        size = float(np.exp(rng.uniform(-5, 3)))
        kind = int(rng.integers(4))
        if kind == 0:
            cost = tn.Laplace(size).cost(sensitivity=1.0)
        elif kind == 1:
            cost = tn.Gaussian(size).cost(sensitivity=1.0)
        elif kind == 2:
            cost = tn.Staircase(1 / size, 1.0, rng.uniform(0.1, 0.9)).cost(
                sensitivity=rng.uniform(0.3, 3)
            )
        else:
            cost = tn.Laplace(size).cost(sensitivity=1.0).sampled(rng.uniform(0.01, 1), "poisson")
        ((leaf, _),) = cost.terms
        largest = min(leaf.max_loss, leaf.epsilon(1e-12))
        for epsilon in largest * rng.uniform(0, 0.99, 3):
            exact = float(max(*leaf.profile(np.array([epsilon])))[0])
            lower, upper = delta_bounds(cost, epsilon)
            assert lower <= exact
            assert exact <= upper * (1 + 1e-12)
            if exact > 1e-9:
                check_error("delta_bounds, once", 1 - lower / exact, 2e-2)


@pytest.mark.parametrize("eta", [0.1, 3.0])
def test_bounded_range_is_at_least_its_response(eta):
    cost = tn.Cost.of_bounded_range(eta)
    lower, upper = cost.epsilon_bounds(1e-3)
    assert upper * (1 - 1e-12) <= lower <= upper
    for times in (2, 1000):
        response = composed_epsilon(eta / 2, 0.0, times, 1e-3)
        lower, upper = (cost * times).epsilon_bounds(1e-3)
        assert response * (1 - 1e-2) <= lower <= upper


def test_no_lower_side_of_what_is_a_bound_only():
    for cost in (tn.Cost.of_pure(0.5), tn.Cost.of_approximate(0.5, 1e-6), tn.Cost.of_gdp(1.0)):
        many = cost * 3
        assert epsilon_bounds(many, 1e-6)[0] == 0.0
        assert delta_bounds(many, 0.5)[0] == 0.0
    unknown = tn.Cost.of_zcdp(0.1) * 2
    assert epsilon_bounds(unknown, 1e-6)[0] == delta_bounds(unknown, 0.5)[0] == 0.0


def test_infinite_losses():
    """What P alone has is told below any epsilon, and no epsilon is enough for less."""
    cost = tn.Cost.of_losses([0.5, -0.4, INF], [0.6, 0.39, 0.01]) * 5
    missing = 1 - 0.6 * math.exp(-0.5) - 0.39 * math.exp(0.4)  # of the other, which has more of it
    lower, upper = delta_bounds(cost, 100.0)
    assert lower == pytest.approx(1 - (1 - missing) ** 5, rel=1e-9)
    assert lower <= 1 - (1 - missing) ** 5 <= upper
    assert epsilon_bounds(cost, 0.01) == (INF, INF)
    assert delta_bounds(tn.Cost.of_losses([0.0], [1.0]) * 3, 0.0)[0] == 0.0


def test_the_direction_that_cannot_be_the_larger_is_left_out():
    sides = _Directions(Bounds(0.5, 3.0), 2)
    assert sides.left == [0, 1]
    sides.take(0, Bounds(1.0, 2.0))
    assert sides.left == [1, 0]
    sides.take(1, Bounds(0.0, 0.9))
    assert sides.left == [0]
    assert sides.best == Bounds(1.0, 2.0)
