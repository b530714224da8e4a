"""The bounded Laplace mechanism against mpmath, and what holds for it exactly."""

import numpy as np
import pytest
from instance_costs import rdp_at
from mpmath import mp, mpf
from noise_laws import NoiseSource, keystream
from reference import bounded_laplace as exact
from reference.bounded_laplace import Case
from scipy import stats

import tightnoise as tn
from tightnoise import _core

ORDERS = [1e-6, 0.1, 0.5, 0.9999, 1.0, 1.0000001, 1.5, 2.0, 17.0, 1e3, 1e6, np.inf]
LOSSES = [-3.0, -0.1, 0.0, 1e-9, 0.3, 2.0]

# (theta, shift) in units of the scale, and the width: inside, over the bounds, from far outside.
EDGES = [
    (0.3, 0.2, 1.0),
    (0.0, 1.0, 1.0),
    (0.0, 1e-9, 3.0),
    (1e-9, -1e-9, 3.0),
    (0.5, 1e-9, 1e-6),
    (2e-7, 3e-7, 1e-6),
    (0.0, 1e-6, 1e-6),
    (10.0, 20.0, 40.0),
    (30.0, 10.0, 40.0),
    (1e4, 100.0, 1e6),
    (9.0, 1.0, 10.0),
    (1e4, 300.0, 10050.0),
    (-5.0, 5.5, 2.0),
    (-5.0, 4.5, 2.0),
    (-5.0, 20.0, 2.0),
    (9.0, -8.0, 2.0),
    (9.0, 1.0, 2.0),
    (-1e4, 1e4 + 0.25, 1.0),
    (1e4, -1e4 + 1e-6, 1.0),
    (0.4, 900.0, 1000.0),
]


def case_of(theta, width, scale=1.0, lower=0.0):
    return Case(theta * scale + lower, scale, lower, lower + width * scale)


def random_cases(rng, count):
    """Yield cases and shifts over the whole range of the card."""
    for _ in range(count):
        width = 10.0 ** rng.uniform(-6, 6)
        scale = 10.0 ** rng.uniform(-3, 3)
        lower = rng.choice([0.0, -1.0, 7.5]) * scale
        place = rng.choice(["inside", "near", "outside"])
        theta = {
            "inside": rng.uniform(0, width),
            "near": rng.choice([0.0, width])
            + rng.normal() * min(width, 10.0 ** rng.uniform(-9, 0)),
            "outside": rng.choice([-1, 1]) * 10.0 ** rng.uniform(-3, 4),
        }[place]
        shift = rng.choice([-1, 1]) * 10.0 ** rng.uniform(-9, 3)
        yield case_of(theta, width, scale, lower), shift * scale


def mechanism(case):
    return tn.BoundedLaplace(*case[1:])


def error(value, expected, floor=0.0):
    """Return the relative error; of what is below the floor, the error relative to that."""
    gap = abs(mpf(float(value)) - expected)
    size = max(abs(expected), mpf(floor))
    return float(gap / size) if size else float(gap)


def all_cases(rng, count):
    yield from ((case_of(t, w), s) for t, s, w in EDGES)
    yield from random_cases(rng, count)


def test_divergences(rng, check_error):
    worst = {"renyi": 0.0, "hockey-stick": 0.0}
    for i, (case, shift) in enumerate(all_cases(rng, 12)):
        m = mechanism(case)
        prime = case.theta + shift
        orders = ORDERS if i < len(EDGES) else [10.0 ** rng.uniform(-6, 6), rng.choice(ORDERS)]
        for alpha in orders:
            value = m.renyi_divergence(case.theta, prime, alpha)
            expected = exact.renyi(case, prime, mp.inf if alpha == np.inf else alpha)
            worst["renyi"] = max(worst["renyi"], error(value, expected, 1e-300))
        for epsilon in LOSSES[i % 3 :: 3]:
            value = m.hockey_stick(case.theta, prime, epsilon)
            expected = exact.hockey_stick(case, prime, epsilon)
            largest = exact.renyi(case, prime, mp.inf)
            # Where the largest loss is barely above epsilon, what is left of it has fewer digits.
            left = (largest - mpf(epsilon)) / max(largest, abs(mpf(epsilon)), mpf(10) ** -300)
            if 0 < left < 1e-3:
                continue
            worst["hockey-stick"] = max(worst["hockey-stick"], error(value, expected))
    for name, value in worst.items():
        check_error(f"bounded Laplace: {name}", value, 1e-12)


def test_distribution(rng, check_error):
    worst = dict.fromkeys(("fisher", "mean", "variance", "logpdf", "cdf", "ppf"), 0.0)

    def note(name, value):
        worst[name] = max(worst[name], value)

    for case, _ in all_cases(rng, 10):
        m = mechanism(case)
        theta, scale, lower, upper = case
        note("fisher", error(m.fisher_information(theta), exact.fisher_information(case)))
        size = max(abs(lower), abs(upper))
        note("mean", error(m.mean(theta), exact.mean(case), size))
        note("variance", error(m.var(theta), exact.variance(case)))
        for share in (0.0, 1e-9, 0.1, 0.5, 0.99):
            x = lower + share * (upper - lower)
            distance = abs(x - min(max(theta, lower), upper)) / scale
            note("logpdf", error(m.logpdf(x, theta), exact.log_pdf(case, x), 1 + distance))
            if x == lower:
                assert m.cdf(x, theta) == 0
                continue
            note("cdf", error(m.cdf(x, theta), exact.cdf(case, x), 1e-300))
        for q in (1e-300, 1e-12, 0.2, 0.5, 0.999, 1 - 2.0**-53):
            x = mpf(float(m.ppf(q, theta)))
            # What moving x by its own rounding changes.
            slack = mpf(2e-16) * max(size, abs(theta) if lower <= theta <= upper else 0)
            below, above = (
                exact.cdf(case, min(max(y, lower), upper)) if lower < y else mpf(0)
                for y in (x - slack, x + slack)
            )
            inside = max(below - mpf(q), mpf(q) - above, mpf(0))
            note("ppf", float(inside / min(mpf(q), 1 - mpf(q))))
    for name, value in worst.items():
        check_error(f"bounded Laplace: {name}", value, 1e-12)


def test_beyond_the_support_nothing_is_told():
    m = tn.BoundedLaplace(0.7, -1.0, 2.0)
    outside = np.array([-1.0, -1.5, -40.0, -1e6])
    for theta in (outside, 1.0 - outside):
        alphas = np.array([0.3, 1.0, 2.0, np.inf])[:, np.newaxis]
        assert (m.renyi_divergence(theta, theta[0], alphas) == 0).all()
        assert (m.hockey_stick(theta, theta[0], 0.0) == 0).all()
        assert (m.fisher_information(theta) == 0).all()
        assert m.fil(theta, coordinate_sensitivity=1.0) < 1e-100
        for name in ("mean", "var"):
            np.testing.assert_array_equal(getattr(m, name)(theta), getattr(m, name)(theta[0]))
        x = np.linspace(-1, 2, 9)[:, np.newaxis]
        for name in ("pdf", "cdf"):
            values = getattr(m, name)(x, theta)
            np.testing.assert_array_equal(values, np.broadcast_to(values[:, :1], values.shape))
    np.testing.assert_array_equal(
        m.renyi_divergence(-3.0, 0.5, alphas), m.renyi_divergence(-1.0, 0.5, alphas)
    )
    assert rdp_at(m, outside - 2.0, [2.0, np.inf], 0.5).max() < 1e-290
    assert (m.logpdf([-1.5, 2.5], 0.0) == -np.inf).all()


def test_a_wide_support_is_laplace_noise():
    m, laplace = tn.BoundedLaplace(2.0, -1e4, 1e4), tn.Laplace(2.0).cost(sensitivity=3.0)
    for alpha in (1.5, 4.0, 100.0):
        expected = laplace.rdp([alpha]).values[0]
        assert rdp_at(m, [10.0], [alpha], 3.0)[0] == pytest.approx(expected, rel=1e-9)
    assert float(m.var(0.0)) == pytest.approx(8.0, rel=1e-14)
    np.testing.assert_allclose(
        m.hockey_stick(0.0, 3.0, np.linspace(0, 1.4, 8)),
        laplace.delta(np.linspace(0, 1.4, 8)),
        rtol=2e-11,  # what a cost is rounded up by
    )
    np.testing.assert_allclose(m.fisher_information([-5.0, 5.0]), 0.25, rtol=1e-15)


def test_the_worst_loss_on_the_domain_is_that_of_the_formula():
    """H = k + log(1 + (1 - e^-k) (1 - e^-(w - k))/(1 - e^-w)), from one end by the sensitivity."""
    for width in (1e-3, 1.0, 4.0, 300.0):
        m = tn.BoundedLaplace(1.0, 0.0, width)
        theta = np.linspace(0, width, 41)
        for k in (1e-3 * width, 0.3 * width, width):
            h = k + np.log1p(np.expm1(-k) * np.expm1(-(width - k)) / -np.expm1(-width))
            worst = rdp_at(m, theta[:, None][0], [np.inf], k)[0]
            assert worst == pytest.approx(h, rel=1e-9)
            for values in (theta, width - theta):
                each = m.renyi_divergence(values, np.clip(values + k, 0, width), np.inf)
                assert each.max() <= h * (1 + 1e-13)


def test_extremes_give_numbers():
    theta = np.array([-1e6, -1.0, 0.0, 1e-300, 1e-9, 0.3, 1.0, 1e9])
    alphas = np.array([1e-300, 1e-9, 0.5, 1.0, 1 + 1e-15, 2.0, 1e9, 1e300, np.inf])[:, None, None]
    for scale in (1e-90, 1e-6, 1e-3, 1.0, 1e6, 1e90):
        m = tn.BoundedLaplace(scale, 0.0, 1.0)
        d = m.renyi_divergence(theta[:, None], theta, alphas)
        assert np.isfinite(d).all()
        assert (d >= 0).all()
        assert (np.diff(d, axis=0) >= -1e-12 * d[1:]).all()
        assert (d <= d[-1]).all()
        delta = m.hockey_stick(
            theta[:, None], theta, np.array([-700, -1, 0, 1, 700.0])[:, None, None]
        )
        assert ((delta >= 0) & (delta <= 1)).all()
        for name in ("mean", "var", "fisher_information"):
            assert np.isfinite(getattr(m, name)(theta)).all()
        q = m.ppf(np.array([0, 1e-300, 0.5, 1])[:, None], theta)
        assert ((q >= 0) & (q <= 1)).all()
        x = m.sample(np.repeat(theta, 500))
        assert ((x >= 0) & (x <= 1)).all()
        curve = m.cost_at(theta, coordinate_sensitivity=0.1).rdp()
        assert np.isfinite(curve.epsilon(1e-6))


def test_errors_name_the_scale():
    with pytest.raises(ValueError, match="scale must be greater than 0"):
        tn.BoundedLaplace(0.0, 0, 1)
    with pytest.raises(TypeError, match="scale"):
        tn.BoundedLaplace("1", 0, 1)
    with pytest.raises(ValueError, match="scale is too small"):
        tn.BoundedLaplace(1e-300, -1, 1).sample([1.0])
    with pytest.raises(ValueError, match="scale must be at most 3"):
        tn.BoundedLaplace(1e39, -1, 1).sample(np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="scale must be a number or broadcast"):
        tn.BoundedLaplace(np.ones((4, 1)), -1, 1).mean(np.zeros(4))


def test_costs_compose_and_sketches_are_taken(rng):
    m = tn.BoundedLaplace(0.5, -1.0, 1.0)
    theta = rng.uniform(-1.2, 1.2, 5000)
    cost = m.cost_at(theta, coordinate_sensitivity=0.01).rdp([2.0, 8.0])
    direct = m.renyi_divergence(theta, theta + 0.01, 2.0).sum()
    assert direct <= cost.values[0]
    sketch = tn.Sketch.of(theta, -1, 1)
    np.testing.assert_allclose(rdp_at(m, sketch, [2.0, 8.0], 0.01), cost.values)
    assert m.fil(sketch, coordinate_sensitivity=0.01) == pytest.approx(
        m.fil(theta, coordinate_sensitivity=0.01)
    )


# Kolmogorov-Smirnov tests with p > 1e-8, of 24 samples: a false alarm once in 4e6.
SAMPLED = {
    "inside": (0.3, 0.5, -1.0, 1.0),
    "centre, wide": (0.0, 1e-3, -1.0, 1.0),
    "at a bound": (1.0, 0.5, -1.0, 1.0),
    "next to a bound": (-1.0 + 1e-6, 0.5, -1.0, 1.0),
    "flat": (0.2, 1e6, -1.0, 1.0),
    "narrow": (0.25, 1.0, 0.0, 1e-6),
    "outside": (3.0, 0.5, -1.0, 1.0),
    "far outside": (-1e4, 0.5, -1.0, 1.0),
    "outside, scale far below the width": (50.0, 1e-4, -1.0, 1.0),
    "wide": (7.0, 2.0, -1e4, 1e4),
    "uneven": (0.01, 3.0, 0.0, 40.0),
    "between": (39.0, 3.0, 0.0, 40.0),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SAMPLED)
def test_samples_follow_the_distribution(name, dtype):
    theta, *parameters = SAMPLED[name]
    m = tn.BoundedLaplace(*parameters)
    x = m.sample(np.full(30_000, theta, dtype), rng=tn.random.NoiseStream(5)).astype(np.float64)
    where = float(dtype(theta))
    assert stats.kstest(x, lambda x: m.cdf(x, where)).pvalue > 1e-8


def test_samples_invert_the_distribution(check_error):
    """Every sample is the quantile of its uniform, to a few units of the last place of x."""
    worst = 0.0
    n = 128
    words = keystream(bytes(32), "bounded_laplace", 0, 1).view(np.uint64).tolist()
    for theta, *parameters in SAMPLED.values():
        x = np.empty(n)
        operands = [np.array([value]) for value in (theta, *parameters)]
        _core.random.sample_bounded_laplace(*operands, x, NoiseSource(bytes(32)))
        case = Case(theta, *parameters)
        spread = min(case.scale, case.upper - case.lower)
        for i in range(0, n, 4):
            near = (words[i] % 2**63 + mpf(0.5)) / 2**64
            share = near if words[i] >> 63 else 1 - near
            off = abs(exact.cdf(case, x[i]) - share) / mp.exp(exact.log_pdf(case, x[i]))
            distance = abs(x[i] - np.clip(theta, case.lower, case.upper))
            rounding = 3 * np.spacing(max(abs(x[i]), distance))
            worst = max(worst, float(off - rounding) / spread)
    check_error("bounded Laplace sample / spread of its density", worst, 2e-14)


def test_samples_next_to_the_mode_keep_their_digits():
    """Of floats: from a bound, or outside, distances are exponential to the last places."""
    x, y = (
        tn.BoundedLaplace(1.0, lower, lower + 50.0).sample(
            np.full(4096, theta), rng=tn.random.NoiseStream(1), grid=None
        )
        for lower, theta in ((0.0, -3.0), (-50.0, 3.0))
    )
    assert x.min() < 1e-3
    assert np.unique(x).size == np.unique(y).size == 4096
    small = x[x < 1e-2]
    assert (small != np.round(small * 2.0**53) / 2.0**53).any()
