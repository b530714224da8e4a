"""The law of a noisy number in the words of scipy.stats, against SciPy, mpmath and itself."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf
from reference.rounded_noise import tail_of
from scipy import integrate, stats

import tightnoise as tn

NOISES = {
    "gaussian": tn.Gaussian(0.7),
    "laplace": tn.Laplace(1.3),
    "truncated_laplace": tn.TruncatedLaplace(1.3, 4.0),
    "staircase": tn.Staircase(1.5, 1.0, 0.3),
    "tulap": tn.Tulap(1.0, 0.8),
    "bounded_tulap": tn.Tulap(1.0, 1.0, bound=5.3),
    "narrow_tulap": tn.Tulap(1.0, 1.0, bound=0.3),
    "multi_gaussian": tn.MultiGaussianMixture(0.37, 1.0, 1.0, 11),
    "spiky": tn.MultiGaussianMixture(0.05, 1.0, 1.0, 40),
    "quasi_gaussian": tn.QuasiGaussianMixture(0.45, 2.0, 1.0),
    "scale_mixture": tn.GaussianScaleMixture([0, 0.43], [0.99, 0.01], [0.05, 0.33]),
}
BOUNDED = {
    "truncated": tn.TruncatedGaussian(0.8, -1.0, 2.0),
    "bounded_laplace": tn.BoundedLaplace(0.8, -1.0, 2.0),
    "rectified": tn.RectifiedGaussian(0.8, -1.0, 2.0),
}
QUANTIZED = tn.QuantizedGaussian(0.8, -1.0, 2.0, 6)
DISCRETE = {
    "quantized": (QUANTIZED, np.unique(QUANTIZED.ppf(np.linspace(0.0, 1.0, 501), 0.5))),
    "sign": (tn.StochasticSign(0.8), np.array([-1.0, 1.0])),
}
THETAS = np.array([-3.0, -0.4, 0.0, 0.9, 7.0])


@pytest.mark.parametrize("name", [name for name in NOISES if name != "narrow_tulap"])
def test_tails_of_noise_in_fifty_digits(name, check_error):
    noise = NOISES[name]
    reach = 39.0 * getattr(noise, "sigma", 1.0)
    with mp.workdps(60):
        tail = tail_of(noise)
        for x in [0.01, 0.3, 0.9, 2.2, 3.7, 5.1, reach, 3.0 * reach, 41.5, 130.7, 700.2]:
            exact = tail(mpf(x))
            if exact == 0:
                assert noise.sf(x) == 0
                assert noise.logsf(x) == -math.inf
                continue
            error = abs(float((mpf(float(noise.logsf(x))) - mp.log(exact)) / mp.log(exact)))
            check_error("logsf of additive noise", error, 2e-13)
            rest = abs(float((mpf(float(noise.logcdf(x))) - mp.log1p(-exact)) / mp.log1p(-exact)))
            if exact > 1e-300:
                check_error("logcdf of additive noise", rest, 1e-12)
                sf = abs(float(mpf(float(noise.sf(x))) / exact - 1))
                check_error("sf of additive noise", sf, 1e-12)
            assert noise.logcdf(-x) == noise.logsf(x)
            assert noise.logsf(-x) == noise.logcdf(x)


@pytest.mark.parametrize("name", list(NOISES | BOUNDED))
def test_functions_agree_with_each_other(name):
    law = (NOISES | BOUNDED)[name]
    thetas = THETAS[:, np.newaxis] if name in BOUNDED else 0.0
    shares = np.array([1e-6, 1e-3, 0.2, 0.5, 0.77, 0.999])  # a float is that far from a bound
    low, high = law.ppf(shares, thetas), law.isf(shares, thetas)
    if name != "rectified":
        np.testing.assert_allclose(law.cdf(low, thetas), np.broadcast_to(shares, low.shape), 1e-7)
        np.testing.assert_allclose(law.sf(high, thetas), np.broadcast_to(shares, high.shape), 1e-7)
    for x in (low, high):
        np.testing.assert_allclose(law.cdf(x, thetas) + law.sf(x, thetas), 1.0, rtol=1e-12)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(np.exp(law.logcdf(x, thetas)), law.cdf(x, thetas), 1e-12)
            np.testing.assert_allclose(np.exp(law.logsf(x, thetas)), law.sf(x, thetas), 1e-12)
    assert np.array_equal(law.median(thetas), law.ppf(0.5, thetas))
    np.testing.assert_array_equal(law.std(thetas) ** 2, np.sqrt(law.var(thetas)) ** 2)
    left, right = law.interval(0.9, thetas)
    tail = 0.5 * (1 - 0.9)
    assert np.array_equal(left, law.ppf(tail, thetas))
    assert np.array_equal(right, law.isf(tail, thetas))
    mean, variance = law.stats(thetas)
    assert np.array_equal(mean, law.mean(thetas))
    assert np.array_equal(law.stats(thetas, "v"), variance)


@pytest.mark.parametrize("name", NOISES)
def test_kurtosis_of_noise(name, check_error):
    noise = NOISES[name]
    if name == "gaussian":
        assert float(noise.stats(moments="k")) == pytest.approx(0.0, abs=1e-14)
        return
    edges = noise._panels(-float(noise.ppf(1e-25)))
    if name in ("laplace", "truncated_laplace"):
        edges = np.linspace(0.0, edges[-1], 60)
    parts = [
        integrate.quad(lambda x: x**4 * float(noise.pdf(x)), *panel, epsabs=0.0)[0]
        for panel in itertools.pairwise(edges.tolist())
    ]
    expected = 2 * math.fsum(parts) / float(noise.var()) ** 2
    skewness, kurtosis = noise.stats(np.zeros(2), moments="sk")
    assert (skewness == 0.0).all()
    error = abs(float(kurtosis[0]) + 3.0 - expected) / expected
    check_error(f"kurtosis of {name}", error, 1e-12)


@pytest.mark.parametrize(("epsilon", "kurtosis"), [(1e-12, 3.0), (1e-3, 3.0), (0.3, None)])
def test_kurtosis_of_steps(epsilon, kurtosis):
    """Of a geometric number of steps and a part: as many as there are, together or one by one."""
    noise = tn.Staircase(epsilon, 2.0, 0.25)
    r = 1 / math.expm1(epsilon)
    # E K^i of a geometric number, from its factorial moments i! r^i; x = (1/4 + K + U) width.
    k = [1.0, r, r + 2 * r**2, r + 6 * r**2 + 6 * r**3, r + 14 * r**2 + 36 * r**3 + 24 * r**4]
    u = [((5 / 4) ** (i + 1) - (1 / 4) ** (i + 1)) / (i + 1) for i in range(5)]
    outside = sum(math.comb(4, i) * k[i] * u[4 - i] for i in range(5))
    centre = float(noise.cdf(0.5) - noise.cdf(-0.5))
    fourth = 16.0 * ((1 - centre) * outside + centre * (1 / 4) ** 4 / 5)
    found = float(noise.stats(moments="k"))
    assert found + 3 == pytest.approx(fourth / float(noise.var()) ** 2, rel=1e-11)
    assert kurtosis is None or found == pytest.approx(kurtosis, rel=1e-5)


@pytest.mark.parametrize("name", BOUNDED)
def test_skewness_and_kurtosis_between_bounds(name):
    law, (low, high) = BOUNDED[name], (-1.0, 2.0)
    shown = law.stats(THETAS, moments="mvsk")
    for i, theta in enumerate(THETAS[:4].tolist()):
        mean, variance, skewness, kurtosis = (float(moment[i]) for moment in shown)
        for order, found in ((3, skewness), (4, kurtosis + 3.0)):
            at = [theta] if low < theta < high else None
            inside = integrate.quad(
                lambda x: (x - mean) ** order * float(law.pdf(x, theta)),  # noqa: B023
                low + 1e-13,
                high - 1e-13,
                points=at,
                epsabs=1e-14,
            )[0]
            if name == "rectified":
                inside += sum(
                    float(np.exp(law.logpdf(end, theta))) * (end - mean) ** order
                    for end in (low, high)
                )
            assert found == pytest.approx(inside / variance ** (order / 2), rel=1e-9)


def test_skewness_and_kurtosis_as_scipy_and_by_letters():
    truncated = tn.TruncatedGaussian(1.0, -1.0, np.array([2.0, 1.0])).stats([0.0, 0.0], "sk")
    np.testing.assert_allclose(
        truncated[0], [stats.truncnorm(-1, b).stats("s") for b in (2, 1)], atol=1e-14
    )
    np.testing.assert_allclose(truncated[1], [stats.truncnorm(-1, b).stats("k") for b in (2, 1)])
    for law, letters in DISCRETE.values():
        likely = np.exp(law.logpdf(letters, 0.6))
        away = letters - likely @ letters
        deviation = math.sqrt(likely @ away**2)
        skewness, kurtosis = law.stats(0.6, "sk")
        assert skewness == pytest.approx(likely @ (away / deviation) ** 3, rel=1e-10)
        assert kurtosis == pytest.approx(likely @ (away / deviation) ** 4 - 3, rel=1e-10)
    sure = tn.RectifiedGaussian(1.0, -1.0, 1.0).stats(np.array([-60.0, 60.0]), "sk")
    assert np.array_equal(sure, [[np.inf, -np.inf], [np.inf, np.inf]])


@pytest.mark.parametrize("name", ["gaussian", "laplace"])
def test_as_scipy(name):
    law = NOISES[name]
    scipys = stats.norm(2.0, 0.7) if name == "gaussian" else stats.laplace(2.0, 1.3)
    x = np.array([-40.0, -3.0, 1.9, 2.0, 2.3, 9.0, 30.0])
    q = np.array([0.0, 1e-300, 1e-9, 0.3, 0.5, 0.9, 1.0])
    for function in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"):
        ours, theirs = getattr(law, function)(x, 2.0), getattr(scipys, function)(x)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=function)
    for function in ("ppf", "isf"):
        np.testing.assert_allclose(getattr(law, function)(q, 2.0), getattr(scipys, function)(q))
    for function in ("median", "mean", "var", "std", "entropy"):
        ours, theirs = getattr(law, function)(2.0), getattr(scipys, function)()
        assert ours == pytest.approx(theirs, rel=1e-13)
    assert law.interval(0.9, 2.0) == pytest.approx(scipys.interval(0.9), rel=1e-13)


@pytest.mark.parametrize("theta", [-9.0, -0.4, 1.7, 30.0])
def test_truncated_tails_in_fifty_digits(theta, check_error):
    law = BOUNDED["truncated"]
    with mp.workdps(400):

        def mass(low, high):
            ends = [(mpf(end) - mpf(theta)) / mpf(0.8) / mp.sqrt(2) for end in (low, high)]
            return (mp.erf(ends[1]) - mp.erf(ends[0])) / 2

        for x in [-0.999999, -0.3, 0.0, 1.2, 1.999999]:
            whole = mass(-1.0, 2.0)
            for function, ends in (("logsf", (x, 2.0)), ("logcdf", (-1.0, x))):
                exact = mp.log(mass(*ends) / whole)
                error = abs(float((mpf(float(getattr(law, function)(x, theta))) - exact) / exact))
                check_error("log tails of the truncated Gaussian", error, 1e-11)


def test_the_rectified_law_has_atoms():
    law = BOUNDED["rectified"]
    normal = stats.norm(THETAS, 0.8)
    inside = np.array([-0.99, 0.0, 1.99])[:, np.newaxis]
    np.testing.assert_allclose(law.sf(inside, THETAS), normal.sf(inside), rtol=1e-12)
    np.testing.assert_allclose(law.sf(-1.0, THETAS), normal.sf(-1.0), rtol=1e-12)
    assert (law.sf(2.0, THETAS) == 0).all()
    assert (law.sf(-1.0001, THETAS) == 1).all()
    expected = np.clip(normal.isf([[1e-30], [0.3], [0.9]]), -1.0, 2.0)
    np.testing.assert_allclose(law.isf([[1e-30], [0.3], [0.9]], THETAS), expected, atol=1e-12)


@pytest.mark.parametrize("name", list(DISCRETE))
def test_discrete_laws_add_their_letters_up(name):
    law, letters = DISCRETE[name]
    column = letters[:, np.newaxis]
    p = law.pdf(column, THETAS)
    np.testing.assert_allclose(p.sum(0), 1.0, rtol=1e-14)
    assert (law.pdf(0.123, THETAS) == 0).all()
    np.testing.assert_allclose(law.cdf(column, THETAS), np.cumsum(p, 0), rtol=1e-12)
    assert (law.cdf(-2.0, THETAS) == 0).all()
    np.testing.assert_allclose(law.mean(THETAS), letters @ p, atol=1e-14)
    above = np.cumsum(p[::-1], 0)[::-1] - p
    np.testing.assert_allclose(law.sf(column, THETAS), above, rtol=1e-9, atol=1e-16)
    between = column + 0.3 * (letters[1] - letters[0])
    np.testing.assert_array_equal(law.sf(between, THETAS)[:-1], law.sf(column, THETAS)[:-1])
    surprise = np.where(p > 0, -p * np.log(np.where(p > 0, p, 1.0)), 0.0).sum(0)
    np.testing.assert_allclose(law.entropy(THETAS), surprise, rtol=1e-12, atol=1e-15)
    for q in (0.0, 1e-9, 0.2, 0.5, 0.9, 1.0):
        enough = law.sf(column, THETAS) <= q
        expected = letters[np.argmax(enough, axis=0)]
        np.testing.assert_allclose(law.isf(q, THETAS), expected, rtol=1e-15)
    for q in (1e-9, 0.1, 0.5, 0.9):
        expected = letters[np.argmax(law.cdf(column, THETAS) >= q, axis=0)]
        np.testing.assert_allclose(law.ppf(q, THETAS), expected, rtol=1e-15)


def numeric_entropy(law, edges, theta) -> float:
    def term(x):
        log_density = float(law.logpdf(x, theta))
        return 0.0 if log_density == -math.inf else -log_density * math.exp(log_density)

    pieces = itertools.pairwise(edges)
    return sum(integrate.quad(term, a, b, epsabs=1e-13, epsrel=1e-11)[0] for a, b in pieces)


@pytest.mark.parametrize("name", list(NOISES))
def test_entropy_of_noise(name, check_error):
    noise = NOISES[name]
    end = float(noise.isf(1e-18))
    edges = np.unique(np.concatenate([np.arange(0.0, 60.0, 0.2), [0.15]]))
    if name in ("staircase", "tulap", "bounded_tulap", "narrow_tulap"):
        gamma, width = getattr(noise, "gamma", 0.5), noise.sensitivity
        edges = np.concatenate([[0.0], width * (gamma + np.arange(60.0))])
    edges = np.append(edges[edges < end], end)
    exact = 2 * numeric_entropy(noise, edges, 0.0)
    check_error("entropy of additive noise", abs(float(noise.entropy()) - exact), 3e-10)
    assert noise.entropy([1.0, 2.0]).shape == (2,)


@pytest.mark.parametrize("name", list(BOUNDED))
@pytest.mark.parametrize("theta", [-30.0, -0.4, 0.5, 7.0])
def test_entropy_between_bounds(name, theta, check_error):
    law = BOUNDED[name]
    inner = [float(law.ppf(q, theta)) for q in (1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6)]
    edges = np.unique(np.clip([-1.0 + 1e-13, *inner, min(max(theta, -1.0), 2.0), 2.0], -1.0, 2.0))
    if name == "rectified":
        edges = np.linspace(-1.0 + 1e-13, 2.0 - 1e-13, 13)
    exact = numeric_entropy(law, edges, theta)
    if name == "rectified":
        atoms = [float(law.pdf(bound, theta)) for bound in (-1.0, 2.0)]
        exact += sum(-p * math.log(p) for p in atoms if p > 0)
    check_error("entropy between bounds", abs(float(law.entropy(theta)) - exact), 1e-9)


def test_entropies_that_are_known():
    wide = tn.TruncatedGaussian(1e3, 0.0, 1.0).entropy(0.3)
    assert float(wide) == pytest.approx(0.0, abs=1e-7)  # uniform
    ours = tn.TruncatedGaussian(1.0, -1.0, 2.0).entropy(0.0)
    assert float(ours) == pytest.approx(float(stats.truncnorm(-1.0, 2.0).entropy()), rel=1e-12)
    assert float(tn.Tulap(1.0, 1.0, bound=0.25).entropy()) == math.log(0.5)
    assert float(tn.Staircase(1e-12, 1.0, 0.5).entropy()) == pytest.approx(
        float(tn.Laplace(1e12).entropy()), rel=1e-12
    )


@pytest.mark.parametrize(
    ("law", "theta"),
    [(NOISES["laplace"], None), (NOISES["gaussian"], 3.0), (BOUNDED["truncated"], [0.0, 1.0])],
)
def test_rvs_is_sample_repeated(law, theta):
    size = (4, 2)
    drawn = law.rvs(theta, size=size, random_state=tn.random.NoiseStream(seed=3))
    values = np.broadcast_to(0.0 if theta is None else theta, size)
    again = law.sample(values, rng=tn.random.NoiseStream(seed=3))
    assert np.array_equal(drawn, again)
    one = law.rvs(0.0 if theta is None else theta)
    assert np.shape(one) == np.shape(theta if theta is not None else 0.0)


def test_rvs_of_directions():
    vmf = tn.VonMisesFisher(5.0, 3)
    mu = np.array([[0.0, 0.0, 2.0], [1.0, 0.0, 0.0]])
    drawn = vmf.rvs(mu, size=500, random_state=tn.random.NoiseStream(seed=1))
    assert drawn.shape == (500, 2, 3)
    # 500 cosines of a deviation below 1: the mean is within 0.25 but for 1e-6 (Hoeffding).
    np.testing.assert_allclose(drawn.mean(0), vmf.mean(mu), atol=0.25)
    product = tn.ProductVonMisesFisher(10.0, [3, 2])
    blocks = [np.ones(3), np.ones(2)]
    assert [block.shape for block in product.rvs(blocks, size=4)] == [(4, 3), (4, 2)]
    assert product.rvs(np.ones(5), size=4).shape == (4, 5)
    weight, bias = product.mean(blocks)
    assert np.array_equal(product.mean(np.ones(5)), np.concatenate([weight, bias]))
    lifted = tn.LiftedVonMisesFisher(50.0, 2, anchor=3.0)
    assert lifted.rvs([1.0, 2.0], size=(2, 2)).shape == (2, 2, 3)
    length = lifted.mean_resultant_length()
    np.testing.assert_allclose(lifted.mean([1.0, 2.0]), length * lifted.direction([1.0, 2.0]))


@pytest.mark.parametrize("name", ["gaussian", "laplace", "tulap", "multi_gaussian"])
@pytest.mark.parametrize("grid", [0.5, 2.0])
def test_rounded_noise_adds_its_steps_up(name, grid):
    rounded = NOISES[name].rounded(grid)
    k = np.arange(-400, 401)
    p = rounded.pmf(k)
    np.testing.assert_allclose(rounded.cdf(k), np.cumsum(p), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(rounded.sf(k), rounded.cdf(-k - 1), rtol=1e-11)
    np.testing.assert_allclose(np.exp(rounded.logsf(k)), rounded.sf(k), rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(np.exp(rounded.logcdf(k)), rounded.cdf(k), rtol=1e-11, atol=1e-300)
    np.testing.assert_array_equal(rounded.cdf(k + 0.7), rounded.cdf(k))
    for q in (1e-9, 0.01, 0.3, 0.62, 0.99):
        assert rounded.ppf(q) == k[np.argmax(rounded.cdf(k) >= q)]
        assert rounded.isf(q) == k[np.argmax(rounded.sf(k) <= q)]
    low, high = rounded.interval(0.9)
    assert rounded.cdf(high) - rounded.cdf(low - 1) >= 0.9
    spread = float((p * (k * grid) ** 2).sum())
    assert rounded.std() == pytest.approx(math.sqrt(spread), rel=1e-6)
    drawn = rounded.rvs(size=(3, 2), random_state=tn.random.NoiseStream(seed=1))
    assert drawn.shape == (3, 2)
    again = NOISES[name].sample_integers(
        np.zeros((3, 2)), rng=tn.random.NoiseStream(seed=1), grid=grid
    )
    assert np.array_equal(drawn, again[0])


def test_what_is_refused():
    law = BOUNDED["truncated"]
    with pytest.raises(TypeError, match="theta must be given"):
        law.sf(0.3)
    with pytest.raises(TypeError, match=r"random_state must be a NoiseStream.*got Generator"):
        NOISES["laplace"].rvs(size=3, random_state=np.random.default_rng())
    with pytest.raises(ValueError, match=r"theta must broadcast to size \(3,\)"):
        law.rvs([0.0, 1.0], size=3)
    with pytest.raises(ValueError, match="size must be between 0 and"):
        NOISES["laplace"].rvs(size=-1)
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        law.interval(1.5, 0.0)
    with pytest.raises(ValueError, match="moments must be made of 'm', 'v', 's' and 'k'; got 'x'"):
        law.stats(0.0, "x")
    with pytest.raises(ValueError, match="q must be between 0 and 1"):
        law.isf([0.2, -0.1], 0.0)
    with pytest.raises(ValueError, match="theta must be finite"):
        law.entropy(math.nan)
