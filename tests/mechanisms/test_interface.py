"""Shapes, dtypes, distributions, equality, and every kind of bad input."""

import copy
import pickle
import re

import numpy as np
import pytest
from instance_costs import rdp_at

import tightnoise as tn

R = tn.RectifiedGaussian(0.5, -1, 1)
T = tn.TruncatedGaussian(0.5, -1, 1)
Q = tn.QuantizedGaussian(0.5, -1, 1, 5)
S = tn.StochasticSign(0.5)
L = tn.BoundedLaplace(0.5, -1, 1)
G = tn.Gaussian(0.5)
ALL = [G, R, T, Q, S, L]
BOUNDED = [tn.RectifiedGaussian, tn.TruncatedGaussian, tn.BoundedLaplace]


@pytest.mark.parametrize("m", ALL, ids=repr)
def test_shapes(m):
    theta = np.linspace(-2, 2, 6).reshape(2, 3)
    for name in ("mean", "var", "fisher_information"):
        assert getattr(m, name)(theta).shape == (2, 3)
        assert isinstance(getattr(m, name)(0.25), float)
    assert m.renyi_divergence(theta, 0.0, 2).shape == (2, 3)
    assert m.renyi_divergence(theta, theta[:1], np.array([2.0, 3.0])[:, None, None]).shape == (
        2,
        2,
        3,
    )
    assert m.hockey_stick(0.0, 1.0, np.linspace(-1, 1, 4)).shape == (4,)
    assert m.renyi_divergence(np.zeros((0, 3)), 1.0, 2).shape == (0, 3)
    assert m.cdf(np.linspace(-1, 1, 7), 0.25).shape == (7,)
    strided = np.linspace(-2, 2, 12)[::2]
    np.testing.assert_array_equal(
        m.renyi_divergence(strided, 0.0, 2), m.renyi_divergence(strided.copy(), 0.0, 2)
    )
    fortran = np.asfortranarray(theta)
    np.testing.assert_array_equal(m.fisher_information(fortran), m.fisher_information(theta))


@pytest.mark.parametrize("m", ALL, ids=repr)
def test_float32_is_accounted_in_float64(m, rng):
    theta = rng.normal(size=50).astype(np.float32)
    wide = theta.astype(np.float64)
    for name in ("mean", "var", "fisher_information"):
        value = getattr(m, name)(theta)
        assert value.dtype == np.float64
        np.testing.assert_array_equal(value, getattr(m, name)(wide))
    np.testing.assert_array_equal(
        m.renyi_divergence(theta, theta + np.float32(0.5), 3),
        m.renyi_divergence(wide, wide + (theta + np.float32(0.5) - wide), 3),
    )
    np.testing.assert_array_equal(
        rdp_at(m, theta, [2, 3], 0.1),
        rdp_at(m, wide, [2, 3], 0.1),
    )


@pytest.mark.parametrize("m", ALL, ids=repr)
def test_integers_are_numbers(m):
    assert m.renyi_divergence(0, 1, 2) == m.renyi_divergence(0.0, 1.0, 2.0)
    whole, real = (
        m.cost_at([0, 1], coordinate_sensitivity=1).rdp([2]),
        m.cost_at([0.0, 1.0], coordinate_sensitivity=1.0).rdp([2.0]),
    )
    assert whole.values == real.values


@pytest.mark.parametrize("m", ALL, ids=repr)
def test_sample(m):
    theta = np.linspace(-2, 2, 4000).reshape(40, 100)
    for dtype in (np.float32, np.float64):
        noisy = m.sample(theta.astype(dtype), rng=tn.random.NoiseStream(7))
        assert noisy.shape == theta.shape
        assert noisy.dtype == dtype
        out = np.empty(theta.shape, dtype)
        assert m.sample(theta.astype(dtype), rng=tn.random.NoiseStream(7), out=out) is out
        np.testing.assert_array_equal(out, noisy)
        assert np.isfinite(m.logpdf(noisy, theta.astype(dtype))).all()
    assert not np.array_equal(m.sample(theta), m.sample(theta))
    assert isinstance(m.sample(0.5), float)
    assert m.sample(np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("m", [G, R, T, L], ids=repr)
@pytest.mark.parametrize("theta", [-30.0, -1.2, 0.0, 0.7, 40.0])
def test_quantile_inverts_the_distribution(m, theta):
    q = np.concatenate([np.linspace(0.001, 0.999, 101), [1e-12, 1e-300]])
    x = m.ppf(q, theta)
    inside = np.ones(q.shape, bool)
    atol = 1e-15 if m in (T, L) else 0.0  # next to a bound, x is rounded to the digits of the bound
    if m is R:
        inside = (x > m.lower) & (x < m.upper)
        assert (m.cdf(x, theta) >= q * (1 - 1e-12)).all()
    if m is not G:
        assert ((x >= m.lower) & (x <= m.upper)).all()
    if m in (T, L) and abs(theta) > 10:  # x itself has fewer digits than its distance to the bound
        np.testing.assert_allclose(m.cdf(x, theta), q, rtol=0, atol=1e-11)
    else:
        np.testing.assert_allclose(m.cdf(x, theta)[inside], q[inside], rtol=1e-11, atol=atol)
    assert (np.diff(x[:101]) >= 0).all()
    if m is not G:
        assert m.ppf(0.0, theta) == m.lower
        assert m.ppf(1.0, theta) == m.upper


@pytest.mark.parametrize("m", [R, T], ids=repr)
def test_the_density_ends_at_the_bounds(m):
    assert m.pdf(1.5, 0.0) == 0
    assert m.logpdf(1.5, 0.0) == -np.inf


def test_bounds_rounded_to_float32_are_the_bounds():
    m = tn.RectifiedGaussian(0.5, 0.1, 0.7)
    x = np.array([0.1, 0.7], np.float32)
    np.testing.assert_array_equal(m.pdf(x, 0.0), m.pdf(np.array([0.1, 0.7]), 0.0))


BOUNDS = [
    (1000.1, 1010.0),  # both neighbours outside the nearest: -1.2e-5 and 0
    (-1010.0, -1000.1),
    (-0.1, 0.1),
    (0.1, 0.7),
    (100.1, 103.0),
    (-1e130, 1e130),
    (float(np.finfo(np.float32).min), float(np.finfo(np.float32).max)),
    (-0.3, 1e-60),
    (-1e-60, 0.3),
    (1e-46, 1.0),
    (0.0, 1.0),
    (3.4e38, 1e39),
]


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_float32_samples_of_the_rectified_stay_between_the_bounds(lower, upper):
    """Clipped to the nearest floats they would be released with less clipping than is charged."""
    m = tn.RectifiedGaussian(min(1e-3 * (upper - lower), 1e35), lower, upper)
    largest = float(np.finfo(np.float32).max)
    for bound, end, outwards in ((lower, np.min, -np.inf), (upper, np.max, np.inf)):
        theta = np.float32(np.clip(bound, -largest, largest))
        x = m.sample(np.full(1000, theta))
        assert x.dtype == np.float32
        assert lower <= float(x.min()) <= float(x.max()) <= upper
        last = end(x)
        assert np.count_nonzero(x == last) > 300  # an atom, at the last float before the bound
        with np.errstate(over="ignore"):
            beyond = float(np.nextafter(last, np.float32(outwards)))
        assert not lower <= beyond <= upper
        assert m.logpdf(last, theta) == m.logpdf(bound, theta)


def test_a_float32_costs_no_more_than_is_charged():
    sampled = tn.RectifiedGaussian(0.05, 1000.1, 1010.0)
    theta = np.array([1000.0], np.float32)
    x = sampled.sample(np.full(1000, theta[0]))
    really = tn.RectifiedGaussian(0.05, float(x.min()), 1010.0)
    orders = [1.5, 2.0, 16.0]
    charged = rdp_at(sampled, theta, orders, 0.05)
    assert (rdp_at(really, theta, orders, 0.05) <= charged).all()


def test_float32_needs_two_numbers_between_the_bounds_of_the_rectified():
    theta = np.ones(2, np.float32)
    for lower, upper in [(1.0, 1 + 1e-9), (1 + 1e-9, 1 + 2e-9), (1e39, 2e39), (-1e-60, 1e-60)]:
        m = tn.RectifiedGaussian(1.0, [0.0, lower], [1.0, upper])
        with pytest.raises(ValueError, match=re.escape(f"lower {lower} and upper {upper}")):
            m.sample(theta)
        assert (m.sample(theta.astype(float)) <= [1.0, upper]).all()
    assert set(tn.RectifiedGaussian(1.0, 1.0, 1 + 2**-23).sample(theta)) <= {1, 1 + 2**-23}


def test_hockey_stick_ends():
    for m in ALL:
        assert m.hockey_stick(0.2, 0.2, 0.5) == 0
        assert m.hockey_stick(0.2, 0.2, -0.5) == pytest.approx(-np.expm1(-0.5))
        assert m.hockey_stick(0.0, 1.0, np.inf) == 0
        assert m.hockey_stick(0.0, 1.0, -np.inf) == 1
        assert m.hockey_stick(0.0, 1e-300, 1.0) == 0
        assert 0 <= m.hockey_stick(0.0, 1.0, 700.0) <= 1e-100
        epsilon = np.linspace(-5, 5, 41)
        delta = m.hockey_stick(0.3, 1.1, epsilon)
        assert (np.diff(delta) <= 0).all()
        # P and Q swapped: delta_PQ(eps) = 1 - e^eps + e^eps delta_QP(-eps)
        mirrored = 1 - np.exp(epsilon) * (1 - m.hockey_stick(1.1, 0.3, -epsilon))
        np.testing.assert_allclose(delta, mirrored, atol=1e-13)


def test_renyi_of_equal_values_is_zero():
    for m in ALL:
        for alpha in (0.5, 1, 2, np.inf):
            assert m.renyi_divergence(0.7, 0.7, alpha) == 0


def test_per_coordinate_parameters(rng):
    theta = rng.normal(size=(3, 4))
    sigma, lower, upper = rng.uniform(0.2, 2, 4), rng.uniform(-2, -1, (3, 4)), np.full(4, 1.5)
    for cls in BOUNDED:
        m = cls(sigma, lower, upper)
        d = m.renyi_divergence(theta, theta + 0.5, 3)
        total = 0.0
        for i in np.ndindex(3, 4):
            one = cls(sigma[i[1]], lower[i], upper[i[1]])
            expected = one.renyi_divergence(theta[i], theta[i] + 0.5, 3)
            assert d[i] == pytest.approx(expected, rel=1e-12)
            total += rdp_at(one, theta[i], [3], 0.5)[0]
        cost = rdp_at(m, theta, [3], np.full((3, 4), 0.5))[0]
        assert d.sum() <= cost <= total * (1 + 1e-9)
        assert m.fil(theta, coordinate_sensitivity=0.5) > 0
        assert m.sample(theta).shape == (3, 4)


@pytest.mark.parametrize("make", [tn.TruncatedGaussian, tn.RectifiedGaussian, tn.BoundedLaplace])
def test_costs_of_several_scales_in_a_domain_of_numbers(make):
    """An L2 change of several scales may be all in each coordinate: losses add up."""
    scales = np.array([0.7, 1.3, 2.0])
    cost = make(scales, 0.0, 3.0).cost(sensitivity=1.0, domain=(0.0, 3.0))
    each = [make(s, 0.0, 3.0).cost(sensitivity=1.0, domain=(0.0, 3.0)) for s in scales.tolist()]
    losses = [one.epsilon(0.0) for one in each]
    assert max(losses) <= cost.epsilon(0.0) <= sum(losses) * (1 + 1e-9)


def test_parameters_are_frozen_copies():
    sigma = np.array([1.0, 2.0])
    m = tn.RectifiedGaussian(sigma, -1, [1.0, 2.0])
    sigma[0] = 5
    assert m.sigma[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        m.sigma[0] = 3
    with pytest.raises(AttributeError):
        m.sigma = 3
    same = tn.RectifiedGaussian([1.0, 2.0], -1.0, np.array([1, 2]))
    assert m == same
    assert hash(m) == hash(same)
    assert m != tn.TruncatedGaussian([1.0, 2.0], -1.0, np.array([1, 2]))
    assert m != tn.RectifiedGaussian(1.0, -1, [1.0, 2.0])
    assert tn.Gaussian(1) == tn.Gaussian(1.0)
    assert tn.Gaussian(1) != 1
    assert "sigma=0.5" in repr(R)


BAD_SIGMA = [0, -1, np.nan, np.inf, [1.0, 0.0], [1.0, np.nan], 0.0, -0.0]


@pytest.mark.parametrize("sigma", BAD_SIGMA)
def test_bad_sigma(sigma):
    for make in (
        tn.Gaussian,
        tn.StochasticSign,
        lambda s: tn.RectifiedGaussian(s, -1, 1),
        lambda s: tn.TruncatedGaussian(s, -1, 1),
        lambda s: tn.QuantizedGaussian(s, -1, 1, 3),
    ):
        with pytest.raises(ValueError, match="sigma"):
            make(sigma)


@pytest.mark.parametrize("value", ["1", None, 1j, True, [True], np.array([object()]), {}])
def test_parameters_must_be_numbers(value):
    with pytest.raises(TypeError, match="sigma"):
        tn.Gaussian(value)
    with pytest.raises(TypeError, match="lower"):
        tn.TruncatedGaussian(1, value, 1)


@pytest.mark.parametrize(
    ("lower", "upper"), [(1, 1), (2, 1), ([0, 2], 1), (np.nan, 1), (-np.inf, 1)]
)
def test_bad_bounds(lower, upper):
    for cls in BOUNDED:
        with pytest.raises(ValueError, match="lower"):
            cls(1, lower, upper)


def test_bad_levels():
    for levels in (1, 0, -3, 1025):
        with pytest.raises(ValueError, match="levels"):
            tn.QuantizedGaussian(1, -1, 1, levels)
    for levels in (2.5, True, "3", None):
        with pytest.raises(TypeError, match="levels"):
            tn.QuantizedGaussian(1, -1, 1, levels)
    assert tn.QuantizedGaussian(1, -1, 1, np.int8(3)) == tn.QuantizedGaussian(1, -1, 1, 3.0)


@pytest.mark.parametrize("m", ALL, ids=repr)
@pytest.mark.parametrize("bad", [np.nan, np.inf, [0.0, np.nan], [-np.inf]])
def test_bad_theta(m, bad):
    calls = [
        lambda: m.renyi_divergence(bad, 0.0, 2),
        lambda: m.renyi_divergence(0.0, bad, 2),
        lambda: m.hockey_stick(bad, 0.0, 1.0),
        lambda: m.fisher_information(bad),
        lambda: rdp_at(m, bad, [2], 1),
        lambda: rdp_at(m, [0.0], [2], bad),
        lambda: m.fil(bad),
        lambda: m.fil([0.0], coordinate_sensitivity=bad),
        lambda: m.sample(bad),
        lambda: m.mean(bad),
        lambda: m.pdf(bad, 0.0),
        lambda: m.ppf(bad, 0.0),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"finite|theta_prime"):
            call()


@pytest.mark.parametrize("bad", ["x", None, 1j, np.array([1], object), np.array([True])])
def test_theta_must_be_numbers(bad):
    for call in (
        lambda: R.renyi_divergence(bad, 0.0, 2),
        lambda: R.renyi_divergence(0.0, 1.0, bad),
        lambda: rdp_at(R, bad, [2], 1),
        lambda: rdp_at(R, [0.0], [2], bad),
        lambda: R.fil([0.0], bad) if bad is not None else R.fil(bad),
        lambda: R.sample(bad),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("alpha", [0, -1, np.nan, -np.inf, [2, 0]])
def test_bad_order(alpha):
    for m in ALL:
        with pytest.raises(ValueError, match="alpha"):
            m.renyi_divergence(0.0, 1.0, alpha)
        with pytest.raises(ValueError, match="alpha"):
            rdp_at(m, [0.0], alpha, 1)


def test_bad_epsilon_and_probability():
    with pytest.raises(ValueError, match="epsilon"):
        R.hockey_stick(0.0, 1.0, np.nan)
    for q in (-0.1, 1.1):
        with pytest.raises(ValueError, match="q must"):
            R.ppf(q, 0.0)


def test_shapes_that_would_blow_up_are_refused():
    theta = np.zeros(4)
    column = np.ones((4, 1))
    for cls in BOUNDED:
        m = cls(column, -1, 1)
        for call in (
            lambda m=m: m.renyi_divergence(theta, 0.0, 2),
            lambda m=m: m.fisher_information(theta),
            lambda m=m: rdp_at(m, theta, [2], 1),
            lambda m=m: m.fil(theta),
            lambda m=m: m.sample(theta),
        ):
            with pytest.raises(ValueError, match=r"sigma|scale"):
                call()
    for bad in (column, np.ones(3), np.ones((2, 4))):
        with pytest.raises(ValueError, match="sensitivity"):
            rdp_at(R, theta, [2], bad)
    with pytest.raises(ValueError, match="broadcast"):
        R.renyi_divergence(theta, np.zeros(3), 2)
    with pytest.raises(ValueError, match="broadcast"):
        tn.RectifiedGaussian(np.ones(2), -np.ones(3), 1)
    for jacobian in (np.ones(4), np.ones((3, 2)), np.ones((4, 0)), np.ones((4, 2, 1))):
        with pytest.raises(ValueError, match="jacobian"):
            R.fil(theta, jacobian)


def test_costs_of_nothing():
    for m in ALL:
        for call in (
            lambda m=m: rdp_at(m, [], [2], 1),
            lambda m=m: m.fil([]),
        ):
            with pytest.raises(ValueError, match="empty"):
                call()
        np.testing.assert_array_equal(rdp_at(m, [1.0, 2.0], [2, 3], 0), [0, 0])
        with pytest.raises(ValueError, match="sensitivity"):
            rdp_at(m, [1.0], [2], -1)
        with pytest.raises(ValueError, match="not both"):
            m.fil([1.0], [[1.0]], coordinate_sensitivity=1)
    assert R.cost_at([1.0], coordinate_sensitivity=1).rdp(2).alphas.tolist() == [2]


def test_bad_out():
    theta = np.zeros(3)
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for out in (np.zeros(4), np.zeros(3, np.float32), frozen, np.zeros(6)[::2]):
        with pytest.raises(ValueError, match="out"):
            R.sample(theta, out=out)
    with pytest.raises(TypeError, match="out"):
        R.sample(theta, out=[0.0, 0.0, 0.0])


def test_too_many_sigma_is_an_error_not_a_nan():
    for m in (tn.RectifiedGaussian(1e-300, -1, 1), tn.Gaussian(3e-308), tn.StochasticSign(1e-307)):
        with pytest.raises(ValueError, match="sigma"):
            m.renyi_divergence(1.0, 2.0, 2)
        with pytest.raises(ValueError, match="sigma"):
            rdp_at(m, [1.0], [2], 1.0)
        with pytest.raises(ValueError, match="sigma"):
            m.sample([1.0])


@pytest.mark.parametrize("m", ALL, ids=repr)
def test_masked_arrays_are_refused(m):
    """NumPy would drop the mask: hidden elements would be released, or counted as given."""
    masked = np.ma.array([0.1, 0.2, 0.3], mask=[False, True, False])
    calls = [
        lambda: m.sample(masked),
        lambda: rdp_at(m, masked, [2], 0.1),
        lambda: rdp_at(m, np.zeros(3), [2], masked),
        lambda: rdp_at(m, np.zeros(3), masked, 0.1),
        lambda: m.fil(masked),
        lambda: type(m)(masked, *m._values()[1:]),
        lambda: tn.Sketch.of(masked, -1, 1),
        lambda: tn.RdpCurve([2, 3, 4], masked),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="must not be a masked array"):
            call()


def test_float32_cannot_hold_every_sigma():
    for m in (tn.Gaussian(1e39), tn.StochasticSign([1.0, 1e39])):
        with pytest.raises(ValueError, match=r"sigma must be at most 3\.4"):
            m.sample(np.zeros(2, np.float32))
        assert np.isfinite(m.sample(np.zeros(2))).all()


def test_parameters_whose_arithmetic_would_overflow():
    for kind in BOUNDED:
        with pytest.raises(ValueError, match=r"upper - lower must be less than 1\.8e308"):
            kind(1e300, -1.7e308, 1.7e308)
    with pytest.raises(ValueError, match="sigma must be at least 2"):
        tn.Gaussian(5e-324)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_are_as_read_only_as_the_original(copied):
    m = tn.TruncatedGaussian([1.0, 2.0], [-1.0, -2.0], 1)
    again = copied(m)
    assert again == m
    assert hash(again) == hash(m)
    assert not again.sigma.flags.writeable
    assert not again.lower.flags.writeable


def test_equal_mechanisms_have_equal_hashes():
    assert hash(tn.RectifiedGaussian(1, -0.0, 1)) == hash(tn.RectifiedGaussian(1, 0.0, 1))


def test_noise_of_another_library_is_refused():
    with pytest.raises(TypeError, match="rng must be a NoiseStream or None; got Generator"):
        R.sample(0.0, rng=np.random.default_rng(1))


def test_gaussian_cost_of_parameters_for_each_coordinate():
    sigma = np.array([1.0, 2.0, 3.0, 4.0])
    sensitivity = np.array([[1.0], [2.0], [3.0]])
    theta = np.zeros((3, 4))
    each = rdp_at(tn.Gaussian(sigma), theta, [2.0], sensitivity)[0]
    assert each == pytest.approx(((sensitivity / sigma) ** 2).sum(), rel=1e-9)
    row = rdp_at(tn.Gaussian(sigma), theta, [2.0], 0.5)[0]
    assert row == pytest.approx(3 * ((0.5 / sigma) ** 2).sum(), rel=1e-9)


def test_gaussian_mean_abs():
    assert tn.Gaussian(2.0).mean_abs() == pytest.approx(2.0 * np.sqrt(2 / np.pi), rel=1e-15)
    np.testing.assert_allclose(
        tn.Gaussian([1.0, 3.0]).mean_abs(), np.array([1.0, 3.0]) * np.sqrt(2 / np.pi)
    )


def test_numbers_of_float32_stay_numbers():
    for m in ALL:
        assert np.shape(m.cdf(np.float32(0.25), 0.0)) == ()
        assert m.cdf(np.float32(0.25), 0.0) == m.cdf(0.25, 0.0)


def test_gaussian_densities_are_numbers_however_far_out():
    m = tn.Gaussian(1.0)
    far = [-1e308, -1e160, 1e151, 1.5e154, 1e200, 1e308]
    np.testing.assert_array_equal(m.pdf(far), 0.0)
    np.testing.assert_array_equal(m.cdf(far), [0, 0, 1, 1, 1, 1])
    logs = [-np.inf, -np.inf, -5e301, -1.125e308, -np.inf, -np.inf]
    np.testing.assert_allclose(m.logpdf(far), logs, rtol=1e-15)


FAR = [1e-99, 1e-60, 1e-27, 1e-23, 1e-9, 1e-3, 1.0, 1e12, 1e50]


@pytest.mark.parametrize("scale", FAR)
def test_no_answer_is_impossible_however_far_theta_is(scale):
    """Up to 1e100 scales: no NaN, no negative probability or cost, no mean outside the support."""
    theta = np.array([0.0, 0.3, -1.0, 1.0, 5.0, -7.0, 1e3, -1e9, 1e20, 3e38, -1e90])
    theta = theta[np.abs(theta) < 0.9e100 * scale]
    x = np.array([-1e9, -1.0, -1 / 3, 0.0, 0.3, 1.0, 1e9])[:, np.newaxis]
    x = x[np.abs(x[:, 0]) < 0.9e100 * scale]
    shift = np.array([1e-9, 0.1, 3.0])[:, np.newaxis]
    mechanisms = [
        tn.Gaussian(scale),
        tn.StochasticSign(scale),
        tn.RectifiedGaussian(scale, -1.0, 1.0),
        tn.TruncatedGaussian(scale, -1.0, 1.0),
        tn.BoundedLaplace(scale, -1.0, 1.0),
        tn.QuantizedGaussian(scale, -1.0, 1.0, 2),
        tn.QuantizedGaussian(scale, -1.0, 1.0, 4),
    ]
    with np.errstate(all="ignore"):
        for m in mechanisms:
            mean, information = m.mean(theta), m.fisher_information(theta)
            assert np.isfinite(mean).all() if m == mechanisms[0] else (np.abs(mean) <= 1).all(), m
            assert (m.var(theta) >= 0).all(), m
            probability = m.cdf(x, theta)
            assert ((probability >= 0) & (probability <= 1)).all(), m
            assert (m.pdf(x, theta) >= 0).all(), m
            assert (information >= 0).all(), m
            assert m.fil(theta) >= np.sqrt(information.max()), m
            for order in (0.3, 1.0, 2.0, 50.0, np.inf):
                assert (m.renyi_divergence(theta, theta + shift, order) >= 0).all(), m
            for epsilon in (-1.0, 0.0, 1.0):
                delta = m.hockey_stick(theta, theta + shift, epsilon)
                assert ((delta >= 0) & (delta <= 1)).all(), m


def test_far_answers_by_name():
    assert 0 <= tn.QuantizedGaussian(1e-23, -1, 1, 4).fil([1.0]) < 1e-100
    assert tn.RectifiedGaussian(1.0, -1.0, 1.0).mean(3e38) == 1.0
    assert tn.RectifiedGaussian(1.0, -1.0, 1.0).mean(np.float32(3e38)) == 1.0
    assert tn.Gaussian(1.0).cdf(0.3, 1e9) == 0.0
    m = tn.QuantizedGaussian(1e-60, -1.0, 1.0, 4)  # the letters are one seen from there
    assert m.mean(1e38) == 1.0
    assert m.var(1e38) == 0.0
