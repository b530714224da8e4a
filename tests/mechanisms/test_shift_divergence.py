"""Laws of Gaussian mixtures and their divergences under a shift, against mpmath."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf
from reference import gaussian_mixtures as reference

from tightnoise import _core

laws = _core.additive
TABLE = Path(__file__).parents[1] / "reference" / "gaussian_mixtures.json"
ROWS = json.loads(TABLE.read_text())
BUILD = {"multi": laws.MultiGaussian, "quasi": laws.QuasiGaussian, "scale": laws.ScaleMixture}


def relative(value, truth):
    """Return the relative error, truth a string of digits."""
    exact = mpf(truth)
    return float(abs(mpf(value) - exact) / abs(exact)) if exact else abs(value)


def conditioning(row):
    """Return how much the digits that the arguments lack change the divergence, relatively."""
    _, arguments, shift, epsilon, value, d_shift, d_sigma, d_epsilon = row
    delta, by_sigma = float(value), 0.0 if d_sigma is None else float(d_sigma) * arguments[0]
    size = abs(float(d_shift) * shift) + abs(by_sigma) + abs(float(d_epsilon) * epsilon)
    return 2.2e-16 * size / delta


@pytest.mark.parametrize("kind", BUILD)
def test_divergence(kind, check_error):
    worst = 0.0
    for row in (row for row in ROWS if row[0] == kind):
        _, arguments, shift, epsilon, value, *_ = row
        delta = BUILD[kind](*arguments).shift_divergence(shift, epsilon)[0]
        worst = max(worst, relative(delta, value) / (1.0 + 2e12 * conditioning(row)))
    check_error(f"{kind}: divergence beyond its conditioning", worst, 5e-13)


@pytest.mark.parametrize("kind", BUILD)
def test_derivatives(kind, check_error):
    worst_shift = worst_sigma = 0.0
    for row in (row for row in ROWS if row[0] == kind):
        _, arguments, shift, epsilon, value, *derivatives, _ = row
        by_shift, by_sigma = BUILD[kind](*arguments).shift_divergence(shift, epsilon)[1:]
        d_shift, d_sigma = (None if d is None else float(d) for d in derivatives)
        allowed = 1.0 + 1e12 * conditioning(row)
        # Sums over the ends of many intervals may cancel.
        size = max(abs(d_shift), 1e-3 * float(value) / shift)
        flat = 0.0
        if d_sigma is not None:
            sigma_size = max(abs(d_sigma), 1e-3 * float(value) / arguments[0])
            worst_sigma = max(worst_sigma, abs(by_sigma - d_sigma) / sigma_size / allowed)
            # d_sigma = sigma sum f G', d_shift = sum f: where the slope G' of the logarithm of the
            # ratio is next to 0, the digits of that leave the root open.
            flat = 1e-15 * (10.0 + epsilon) * abs(d_shift / d_sigma) if d_sigma else 0.0
        error = abs(by_shift - d_shift) / size
        worst_shift = max(worst_shift, error / (allowed + 1e10 * flat))
    check_error(f"{kind}: derivative by the shift", worst_shift, 1e-10)
    check_error(f"{kind}: derivative by sigma", worst_sigma, 1e-9)


def log_uniform(rng, low, high):
    return float(10 ** rng.uniform(low, high))


def as_scale_mixture(sigma, epsilon, sensitivity, modes):
    ks = np.arange(modes + 1)
    weights = np.exp(-ks * epsilon) * np.where(ks > 0, 2.0, 1.0)
    return laws.ScaleMixture(list(ks * sensitivity), list(weights), [sigma] * (modes + 1))


def test_lattice_beside_a_plain_mixture(rng, check_error):
    """Long lattices, whose flanks are periodic, against code that knows of no lattice."""
    worst = 0.0
    for _ in range(40):
        sensitivity = float(rng.choice([1.0, 0.3]))
        sigma = log_uniform(rng, -1, 0.3) * sensitivity
        epsilon, modes = log_uniform(rng, -1.5, 0.3), int(rng.integers(7, 60))
        shift = sensitivity * float(
            rng.choice([rng.uniform(0.05, 0.95), 1 - log_uniform(rng, -6, -1), rng.uniform(1, 5)])
        )
        at = epsilon * float(rng.choice([1.0, rng.uniform(0.2, 1.1), shift / sensitivity]))
        delta = laws.MultiGaussian(sigma, epsilon, sensitivity, modes).shift_divergence(shift, at)[
            0
        ]
        plain = as_scale_mixture(sigma, epsilon, sensitivity, modes).shift_divergence(shift, at)[0]
        # The plain one has an absolute error of some units of the last place of 1.
        worst = max(worst, abs(delta - plain) / (plain + 1e-3))
    check_error("multi-Gaussian beside a plain mixture", worst, 2e-12)


def test_bounds_of_the_posterior(rng):
    """What cpp/mechanisms/multi_gaussian_posterior.md proves of the component given x."""
    for _ in range(4000):
        s, epsilon, modes = log_uniform(rng, -1.5, 0.7), log_uniform(rng, -3, 1.5), rng.integers(40)
        k, x = np.arange(-modes, modes + 1), rng.uniform(-1, 1) * (modes + 1)
        exponents = -np.abs(k) * epsilon - (x - k) ** 2 / (2 * s**2)
        p = np.exp(exponents - exponents.max())
        p /= p.sum()
        variance, third = (p @ (k - p @ k) ** power for power in (2, 3))
        ripple = math.exp(-((math.pi * s) ** 2))
        if s**2 < 0.7213:
            assert abs(third) <= variance * (1 + 1e-9) + 1e-14
            assert variance <= 0.76
        else:
            rise = 4 * (math.pi * s) ** 2 * ripple / (1 - 2 * ripple)
            assert variance <= s**2 * (1 + rise) * (1 + 1e-12)


@pytest.mark.parametrize(("sigma", "shift"), [(0.36, 0.5), (0.5, 0.25), (0.8, 0.5), (1.2, 0.5)])
def test_ratio_that_stays_at_the_bound(sigma, shift):
    """f(x + shift) / f(x) is e^epsilon, or nearly, all along a flank: little tells its sign."""
    law = laws.MultiGaussian(sigma, 0.1, 1.0, 60)
    exact = as_scale_mixture(sigma, 0.1, 1.0, 60).shift_divergence(shift, 0.1 * shift)[0]
    assert law.shift_divergence(shift, 0.1 * shift)[0] == pytest.approx(exact, rel=1e-9)
    assert exact <= law.worst_shift(0.1 * shift, shift)[0] <= 1.01 * exact


def random_law(rng):
    """Return a law of the core and the same for mpmath."""
    sensitivity = float(rng.choice([1.0, 0.37, 12.5]))
    sigma, epsilon = log_uniform(rng, -2.5, 2) * sensitivity, log_uniform(rng, -3, 2.5)
    kind = rng.integers(3)
    if kind == 0:
        arguments = sigma, epsilon, sensitivity, int(rng.integers(0, 12))
        return laws.MultiGaussian(*arguments), reference.multi_gaussian(*arguments)
    if kind == 1:
        arguments = sigma, epsilon, sensitivity
        return laws.QuasiGaussian(*arguments), reference.QuasiGaussian(*arguments)
    n = int(rng.integers(1, 4))
    lists = (
        [float(c) for c in rng.uniform(0, 3, n) * rng.integers(0, 2, n)],
        [log_uniform(rng, -5, 0) for _ in range(n)],
        [log_uniform(rng, -2, 1) for _ in range(n)],
    )
    return laws.ScaleMixture(*lists), reference.scale_mixture(*lists)


def map_array(method, x):
    out = np.empty_like(x)
    method(x, out)
    return out


def test_densities_and_distributions(rng, check_error):
    worst = dict.fromkeys(["log_pdf", "cdf", "quantile", "mean_abs", "variance"], 0.0)
    with mp.workdps(40):
        for _ in range(10):
            law, exact = random_law(rng)
            centre, sigma = exact.marks[rng.integers(len(exact.marks))]
            far = float(rng.choice([3.0, 30.0]))
            x = np.array([float(centre + sigma * rng.uniform(-far, far)) for _ in range(4)])
            ends = -80 * max(s for _, s in exact.marks) - max(c for c, _ in exact.marks)
            columns = x, map_array(law.log_pdf, x), map_array(law.cdf, x)
            for at, log_pdf, cdf in zip(*columns, strict=True):
                truth = mp.log(exact.pdf(mpf(at)))
                # The digits of x determine no more.
                size = 1 + abs(truth) + abs(at) * (abs(at - centre) / sigma**2)
                worst["log_pdf"] = max(worst["log_pdf"], float(abs(log_pdf - truth) / size))
                truth = exact.mass(mpf(ends), mpf(at))
                slope = exact.pdf(mpf(at)) * abs(mpf(at)) / truth
                error = float(abs(cdf - truth) / truth / (1 + mpf("1e-3") * slope))
                worst["cdf"] = max(worst["cdf"], error)
            q = np.array([log_uniform(rng, -300, -1), rng.uniform(0, 0.5), rng.uniform(0.5, 1)])
            for p, at in zip(q, map_array(law.quantile, q), strict=True):
                # Between the two neighbours of what is returned the distribution passes p.
                step = 4e-15 * abs(at)
                below, above = (exact.mass(mpf(ends), mpf(at + d)) for d in (-step, step))
                passed = below * (1 - mpf("1e-12")) <= p <= above * (1 + mpf("1e-12"))
                worst["quantile"] = max(worst["quantile"], 0.0 if passed else 1.0)
            with mp.workdps(20):
                for name in ("mean_abs", "variance"):
                    error = relative(getattr(law, name)(), getattr(exact, name)())
                    worst[name] = max(worst[name], error)
    check_error("mixtures: log_pdf", worst["log_pdf"], 1e-14)
    check_error("mixtures: cdf", worst["cdf"], 5e-13)
    check_error("mixtures: quantile misses", worst["quantile"], 0.0)
    check_error("mixtures: mean_abs", worst["mean_abs"], 1e-13)
    check_error("mixtures: variance", worst["variance"], 1e-13)


@pytest.mark.parametrize("modes", [1000, 1_000_000])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1])
def test_moments_of_many_modes(modes, epsilon, check_error):
    ks = np.arange(1, modes + 1, dtype=np.longdouble)
    weights = 2 * np.exp(-ks * np.longdouble(epsilon))
    total = 1 + weights.sum()
    law = laws.MultiGaussian(0.01, epsilon, 1.0, modes)
    spread = 0.01 * math.sqrt(2 / math.pi) / total
    assert law.mean_abs() == pytest.approx(float((weights * ks).sum() / total + spread), rel=1e-12)
    assert law.variance() == pytest.approx(float((weights * ks**2).sum() / total + 1e-4), rel=1e-12)


def every_law(sigma):
    return [
        laws.MultiGaussian(sigma, 1.0, 1.0, 3),
        laws.MultiGaussian(sigma, 700.0, 1.0, 2),
        laws.MultiGaussian(sigma, 1e-6, 1.0, 2),
        laws.QuasiGaussian(sigma, 1.0, 1.0),
        laws.QuasiGaussian(sigma, 900.0, 1.0),
        laws.ScaleMixture([0.0, 1.0, 2.0], [0.5, 0.3, 0.2], [sigma, sigma, 2 * sigma]),
    ]


@pytest.mark.parametrize("sigma", [1e-3, 0.3, 1.0, 1e3, 1e6])
def test_edges(sigma):
    for law in every_law(sigma):
        for epsilon in (0.0, 1e-6, 1.0, 100.0, 709.9, 1e5, 1e300, -1e-6, -1.0, -700.0, -1e5):
            at_0 = law.shift_divergence(0.0, epsilon)[0]
            assert at_0 == max(0.0, -math.expm1(epsilon) if epsilon < 0 else 0.0)
            assert law.shift_divergence(math.inf, epsilon)[0] == 1.0
            previous = 0.0
            for shift in (1e-300, 1e-12, 1e-9, 1e-3, 0.1, 1.0, 50.0, 1e3, 1e6, 1e12, 1e300):
                delta = law.shift_divergence(shift * sigma, epsilon)[0]
                assert at_0 <= delta <= 1.0
                if epsilon <= 1e5 and shift * sigma >= 1e12:
                    assert delta == 1.0
                previous = delta
            assert previous == 1.0 or epsilon > 1e5
        assert math.isnan(law.shift_divergence(math.nan, 1.0)[0])
        assert math.isnan(law.shift_divergence(1.0, math.nan)[0])


def test_symmetry_and_scale(rng):
    """D_-e = 1 - e^-e + e^-e D_e, and units do not matter."""
    for kind, arguments in [("multi", (0.4, 1.0, 1.0, 3)), ("quasi", (0.4, 1.0, 1.0))]:
        law, doubled = BUILD[kind](*arguments), BUILD[kind](0.8, 1.0, 2.0, *arguments[3:])
        for _ in range(20):
            shift, epsilon = rng.uniform(0.1, 2), rng.uniform(0.1, 3)
            above, below = (law.shift_divergence(shift, e)[0] for e in (epsilon, -epsilon))
            assert below == pytest.approx(-math.expm1(-epsilon) + math.exp(-epsilon) * above)
            there = law.shift_divergence(shift, epsilon)
            here = doubled.shift_divergence(2 * shift, epsilon)
            np.testing.assert_allclose(here, [there[0], there[1] / 2, there[2] / 2], rtol=1e-11)


def test_cost_does_not_grow_with_modes():
    """A million modes, of which only a few periods are looked at; D hardly depends on them."""
    few = laws.MultiGaussian(0.3, 0.5, 1.0, 100).shift_divergence(0.7, 0.5)[0]
    many = laws.MultiGaussian(0.3, 0.5, 1.0, 1_000_000).shift_divergence(0.7, 0.5)[0]
    assert many == pytest.approx(few, rel=1e-12)
