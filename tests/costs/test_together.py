"""Several releases on one sample, and samples of bounded losses, against integrals and sums."""

import math

import mpmath as mp
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise.costs._leaf import losses_of_leaf


def laplace(epsilon, **kwargs):
    return tn.Laplace(1 / epsilon).cost(sensitivity=1.0, **kwargs)


def gaussian(mu, **kwargs):
    return tn.Gaussian(1 / mu).cost(sensitivity=1.0, **kwargs)


def together(a, mu, x):
    """The divergence at x, of any sign, of Laplace noise of this epsilon and of a Gaussian."""

    def of_gaussian(y):
        return mp.ncdf(mu / 2 - y / mu) - mp.exp(y) * mp.ncdf(-mu / 2 - y / mu)

    ends = of_gaussian(x - a) / 2 + mp.exp(-a) / 2 * of_gaussian(x + a)
    places = [-a, *sorted(one for one in (x - 8 * mu, x, x + 8 * mu) if -a < one < a), a]
    return ends + mp.quad(lambda loss: mp.exp((loss - a) / 2) / 4 * of_gaussian(x - loss), places)


@pytest.mark.parametrize(("a", "mu", "rate"), [(0.3, 0.5, 0.1), (2.0, 1.5, 0.02), (0.05, 0.2, 0.6)])
@pytest.mark.parametrize("share", [0.0, 0.5, 2.0])
def test_one_sample_against_an_integral(a, mu, rate, share):
    epsilon = share * math.log1p(rate * math.expm1(a + mu))
    lower, upper = (laplace(a) + gaussian(mu)).sampled(rate, "poisson").delta_bounds(epsilon)
    with mp.workdps(30):
        a, mu, q, t = mp.mpf(a), mp.mpf(mu), mp.mpf(rate), mp.exp(mp.mpf(epsilon))
        forward = q * together(a, mu, mp.log(1 + (t - 1) / q))
        left = 1 - (1 - q) * t
        backward = left * together(a, mu, mp.log(q * t / left)) if left > 0 else mp.mpf(0)
        exact = max(forward, backward)
        assert lower <= exact <= upper
    assert upper - lower <= 1e-9 * upper


@pytest.mark.parametrize("rate", [0.02, 0.4])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_losses_without_a_density_against_sums(rate, share):
    a, p = 0.4, 0.65
    cost = (laplace(a) * 2 + tn.Cost.of_response(p)).sampled(rate, "poisson")
    largest = math.log1p(rate * (math.exp(2 * a) * p / (1 - p) - 1))
    lower, upper = cost.delta_bounds(share * largest)

    def of_laplace(x):  # two of them: the density of one loss, and its ends
        one = [lambda y: mp.mpf(0), lambda y: 1 - mp.exp((y - a) / 2), lambda y: 1 - mp.exp(y)]

        def divergence(y):
            return one[(y < a) + (y <= -a)](y)

        ends = divergence(x - a) / 2 + mp.exp(-a) / 2 * divergence(x + a)
        places = sorted({-a, a, *(each for each in (x - a, x + a) if -a < each < a)})
        return ends + mp.quad(lambda y: mp.exp((y - a) / 2) / 4 * divergence(x - y), places)

    def together(x):
        loss = mp.log(mp.mpf(p) / (1 - p))
        return p * of_laplace(x - loss) + (1 - p) * of_laplace(x + loss)

    with mp.workdps(25):
        q, t = mp.mpf(rate), mp.exp(mp.mpf(share * largest))
        a, left = mp.mpf(a), 1 - (1 - mp.mpf(rate)) * t
        forward = q * together(mp.log(1 + (t - 1) / q))
        backward = left * together(mp.log(q * t / left)) if left > 0 else mp.mpf(0)
        assert lower <= max(forward, backward) <= upper
    assert upper - lower <= 1e-3 * upper


@pytest.mark.parametrize("n", [1, 300])
@pytest.mark.parametrize("delta", [1e-5, 1e-20])
def test_nearly_all_records_are_as_all_of_them(n, delta):
    both = laplace(0.3) + gaussian(0.5)
    lower, upper = (both.sampled(1 - 1e-7, "poisson") * n).epsilon_bounds(delta)
    least, most = (both * n).epsilon_bounds(delta)
    assert lower <= most
    assert least <= upper * (1 + 1e-5)
    assert upper - lower <= 1e-6 * upper


@pytest.mark.parametrize("sampling", ["poisson", *by_night("fixed-size")])
def test_several_releases_on_each_sample_are_told_from_both_sides(sampling):
    kwargs = {} if sampling == "poisson" else {"adjacency": "replace-one"}
    both = laplace(0.3, **kwargs) + gaussian(0.5, **kwargs)
    for rate, n in ((0.1, 1_000), (1e-3, 100_000)):
        few = ((laplace(0.3, **kwargs) * 3).sampled(rate, sampling) * n).epsilon_bounds(1e-9)
        assert 0 < few[0] <= few[1] <= few[0] * (1 + 5e-5)
        lower, upper = (both.sampled(rate, sampling) * n).epsilon_bounds(1e-9)
        assert 0 < lower <= upper <= lower * (1 + 1e-6)
        one = (gaussian(0.5, **kwargs).sampled(rate, sampling) * n).epsilon_bounds(1e-9)
        assert one[1] < lower  # less is released


def test_of_two_orders_of_neighbours_nothing_is_proved_from_below():
    cost = (laplace(0.3) + gaussian(0.5)).sampled(0.1, "poisson", adjacency="replace-one")
    assert cost.epsilon_bounds(1e-6)[0] == 0


BOUNDED = {
    "laplace": laplace(2.876),
    "staircase": tn.Staircase(epsilon=1.0, sensitivity=1.0, gamma=0.3).cost(sensitivity=1.0),
    "tulap": tn.Tulap(1.0, 1.0).cost(sensitivity=1.0),
    "responses": tn.Cost.of_response(0.7, 2),
}


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("rate", [0.9, 0.2262, 1e-3, 1e-9])
def test_beyond_the_largest_loss_of_a_sample_nothing_is_left(name, rate):
    ((leaf, _),) = BOUNDED[name].sampled(rate, "poisson").terms
    release = losses_of_leaf(leaf)
    assert release.infinite == 0
    assert leaf.max_loss <= release.largest <= leaf.max_loss * (1 + 1e-11)


@pytest.mark.parametrize("delta", [2.6e-15, *by_night(1e-12, 1e-30)])
def test_of_many_samples_no_rounding_is_left_where_deltas_are_small(delta):
    group = gaussian(1 / 1.497).sampled(0.00899, "poisson").group(3) * 3072
    noise = BOUNDED["laplace"].sampled(0.2262, "poisson") * 489
    upper = (group + noise).epsilon(delta)  # was infinite, or that of Renyi orders: 5,000
    assert noise.epsilon_bounds(delta)[0] < upper
    assert upper < group.epsilon(delta / 2) + noise.epsilon(delta / 2)


@pytest.mark.parametrize(("kinds", "n"), [(20, 5_000), (200, 2_000)])
def test_many_scales_of_noise_are_contours(kinds, n):
    """Each has atoms, but the sums of so many scales have none to speak of: 15 % on a lattice."""
    each = [tn.Laplace(200 + 3.1 * i).cost(sensitivity=1.0) * n for i in range(kinds)]
    cost = sum(each[1:], each[0]) + tn.Cost.of_response(0.6) * 50
    lower, upper = cost.epsilon_bounds(1e-6)
    assert 18 < lower <= upper <= lower * (1 + 1e-8)
    # Nearly a Gaussian one, of the variance of all losses, about 2 mu^2 for small mu = 1/b.
    mu = math.sqrt(sum(n * (200 + 3.1 * i) ** -2 for i in range(kinds)))
    gaussian = tn.Gaussian(1 / mu).cost(sensitivity=1.0) + tn.Cost.of_response(0.6) * 50
    assert upper == pytest.approx(gaussian.epsilon(1e-6), rel=2e-3)


def test_some_hundreds_are_told_by_contours_where_lattices_are_not_fine_enough():
    lower, upper = (BOUNDED["laplace"].sampled(0.2262, "poisson") * 489).epsilon_bounds(1e-5)
    assert 142.2 < lower <= upper <= lower * (1 + 1e-6)  # was 1.4e-6


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("name", ["staircase", "tulap"])
def test_a_group_loses_so_many_steps(name, count):
    cost = BOUNDED[name].group(count)
    assert cost.epsilon(0.0) == pytest.approx(count, rel=1e-14)
