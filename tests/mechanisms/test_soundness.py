"""A cost is never below the truth: brute force over neighbours, errata, monotonicity."""

import itertools

import numpy as np
import pytest
from by_night import by_night
from instance_costs import exact_rdp, rdp_at
from reference import bounded_gaussian as exact
from reference import bounded_laplace
from thread_counts import with_threads

import tightnoise as tn
from tightnoise import _core

ALPHAS = np.array([0.4, 1.0, 1.5, 2.0, 8.0, 32.0, np.inf])


def mechanisms(sigma=0.5, lower=-1.0, upper=1.0):
    return [
        tn.Gaussian(sigma),
        tn.RectifiedGaussian(sigma, lower, upper),
        tn.TruncatedGaussian(sigma, lower, upper),
        tn.QuantizedGaussian(sigma, lower, upper, 2),
        tn.QuantizedGaussian(sigma, lower, upper, 5),
        tn.StochasticSign(sigma),
        tn.BoundedLaplace(sigma, lower, upper),
    ]


@pytest.mark.parametrize("m", mechanisms(), ids=repr)
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("cases", [2, *by_night(8)])
def test_rdp_is_the_supremum_over_the_box_and_both_directions(m, d, rng, check_error, cases):
    alphas = ALPHAS if not isinstance(m, tn.Gaussian) else ALPHAS[:-1]
    for _ in range(cases):
        theta = rng.normal(size=d) * rng.choice([0.3, 1.0, 3.0])
        c = rng.uniform(0.05, 1.5, d)
        steps = np.linspace(-1, 1, 9)
        worst = np.zeros(alphas.shape)
        for step in itertools.product(steps, repeat=d):
            prime = theta + np.array(step) * c
            order = alphas[:, np.newaxis]
            forward = np.sum(m.renyi_divergence(theta, prime, order), axis=1)
            backward = np.sum(m.renyi_divergence(prime, theta, order), axis=1)
            worst = np.maximum(worst, np.maximum(forward, backward))
        cost = rdp_at(m, theta, alphas, c)
        assert (cost >= worst).all()
        # Up to order 1 the bound next to it holds; the sums themselves are known there, too.
        sums = np.append(exact_rdp(m, theta, alphas[:2], c), cost[2:])
        above = (sums - worst) / np.maximum(worst, 1e-200)
        check_error("rdp above the supremum over a grid", above.max(), 1e-9)


def test_erratum_11_directions_are_compared_after_the_sum():
    m = tn.RectifiedGaussian(0.5, -1, 1)
    theta, c = np.array([-1.5, 0.2]), 1.0
    forward = sum(
        max(float(m.renyi_divergence(t, t + s, 2)) for s in (-c, c)) for t in theta.tolist()
    )
    backward = sum(
        max(float(m.renyi_divergence(t + s, t, 2)) for s in (-c, c)) for t in theta.tolist()
    )
    cost = rdp_at(m, theta, [2], c)[0]
    assert cost == pytest.approx(max(forward, backward), rel=1e-9)


def test_fil_of_a_jacobian(rng, check_error):
    m = tn.RectifiedGaussian(0.7, -1, 1)
    for shape in [(5, 3), (3, 5), (40, 1), (1, 7)]:
        theta, jacobian = rng.normal(size=shape[0]), rng.normal(size=shape)
        eta = np.sqrt(m.fisher_information(theta))
        truth = np.linalg.norm(eta[:, np.newaxis] * jacobian, 2)
        cost = m.fil(theta, jacobian)
        assert cost >= truth
        check_error("fil with a jacobian", cost / truth - 1, 1e-9)
    c = rng.uniform(0, 1, 5)
    theta = rng.normal(size=5)
    truth = float(np.sqrt(np.sum(c**2 * m.fisher_information(theta))))
    assert truth <= m.fil(theta, coordinate_sensitivity=c) <= truth * (1 + 1e-9)
    assert m.fil(theta, coordinate_sensitivity=np.zeros(5)) == 0
    assert m.fil(theta) == pytest.approx(float(np.sqrt(m.fisher_information(theta).max())))
    assert m.fil(theta, jacobian=np.eye(5)) == pytest.approx(m.fil(theta))
    assert m.fil(theta, jacobian=np.zeros((5, 2))) == 0


@pytest.mark.parametrize("m", mechanisms(), ids=repr)
def test_divergence_grows_with_the_distance_and_the_order(m, rng):
    theta = rng.normal(size=(200, 1)) * 2
    steps = np.sort(rng.uniform(1e-6, 3, (200, 12)), axis=1) * rng.choice([-1, 1], (200, 1))
    for alpha in (0.3, 1.0, 1.001, 2.0, 17.0):
        d = m.renyi_divergence(theta, theta + steps, alpha)
        assert (np.diff(d, axis=1) >= -1e-12 * d[:, 1:]).all()
    orders = np.concatenate([[0.01, 0.49, 0.5, 0.51, 0.999], 1 + np.geomspace(1e-9, 1e6, 40)])
    d = m.renyi_divergence(theta, theta + steps[:, :1], orders)
    assert (np.diff(d, axis=1) >= -1e-12 * d[:, 1:]).all()
    if not isinstance(m, tn.Gaussian):
        top = m.renyi_divergence(theta, theta + steps[:, :1], np.inf)
        assert (d[:, -1:] <= top).all()
    delta = m.hockey_stick(theta, theta + steps, 0.3)
    assert (np.diff(delta, axis=1) >= -1e-13).all()


def test_rectified_and_truncated_cost_no_more_than_gaussian(rng):
    theta = rng.normal(size=500) * 2
    for alpha in (1.01, 2.0, 8.0, 64.0):
        gaussian = tn.Gaussian(0.5).renyi_divergence(theta, theta + 0.3, alpha)
        for m in mechanisms()[1:-1]:
            assert (m.renyi_divergence(theta, theta + 0.3, alpha) <= gaussian * (1 + 1e-13)).all()
            assert (m.fisher_information(theta) <= 4 * (1 + 1e-13)).all()


def test_local_identity():
    """D = alpha k^2/2 sigma^2 eta^2 (1 + O(k)) for a small step k sigma, not at a kink."""
    theta = np.linspace(-3, 3, 25) + 1e-3
    for m in mechanisms():
        for alpha in (0.7, 1.0, 1.5, 9.0):
            d = m.renyi_divergence(theta, theta + 2.0**-30, alpha)
            local = alpha * 2.0**-61 * m.fisher_information(theta)
            np.testing.assert_allclose(d, local, rtol=1e-6)


@pytest.mark.parametrize("name", ["rectified", "truncated", "quantized", "sign", "bounded_laplace"])
def test_sums_against_mpmath(name, rng, check_error):
    """The sums themselves, at tiny and at large steps: forward and backward, worst sign."""
    d = 3
    alphas = np.array([0.3, 1.0, 1.25, 8.0, 300.0])
    for scale in (1e-7, 1e-2, 1.0):
        theta = rng.normal(size=d) * 1.5
        c = rng.uniform(0.5, 1, d) * scale
        sigma, lower, upper = np.array(0.625), np.array(-1.0), np.array(1.25)
        forward, backward = np.empty(5), np.empty(5)
        core = getattr(_core, name)
        core.rdp_sums(alphas, c, theta, sigma, lower, upper, 4, d, forward, backward)
        for i, alpha in enumerate(alphas.tolist()):
            truth = [exact.mpf(0), exact.mpf(0)]
            for t, step in zip(theta.tolist(), c.tolist(), strict=True):
                pairs = [both_ways(name, t, s * step, alpha) for s in (-1, 1)]
                truth = [sum(pair) for pair in zip(truth, map(max, *pairs), strict=True)]
            for value, expected in zip((forward[i], backward[i]), truth, strict=True):
                error = abs(float(value / expected - 1))
                check_error(f"{name} rdp sums", error, 1e-12)


def both_ways(name, theta, step, alpha):
    """D_alpha(M(theta) || M(theta + step)), which is not a double, and the other way round."""
    with exact.mp.workdps(60):
        moved = exact.mpf(theta) + exact.mpf(step)
    if name == "bounded_laplace":
        here = bounded_laplace.Case(theta, 0.625, -1.0, 1.25)
        there = here._replace(theta=moved)
        return bounded_laplace.renyi(here, moved, alpha), bounded_laplace.renyi(there, theta, alpha)
    case = exact.Case(name, theta, 0.625, -1.0, 1.25, 4)
    return exact.renyi(case, step, alpha), exact.renyi(case._replace(theta=moved), -step, alpha)


def test_sums_do_not_depend_on_threads(rng):
    theta = rng.normal(size=5000)
    m = tn.RectifiedGaussian(0.7, -1, 1)

    def costs():
        return rdp_at(m, theta, [2, 8], 0.3).tobytes(), m.fil(theta, coordinate_sensitivity=0.3)

    assert len(set(with_threads(costs, 1, 4))) == 1


@pytest.mark.parametrize(
    ("m", "theta"),
    [
        (tn.RectifiedGaussian(0.0073, -0.00106, 0.00106), -0.3416),
        (tn.QuantizedGaussian(0.0252, 0.00376, 0.00387, 5), -0.9889),
        (tn.StochasticSign(1.0), 60.0),
        (tn.Gaussian(1e200), 0.0),
    ],
)
def test_fisher_information_that_underflows_is_not_free(m, theta):
    """eta is a number although eta^2 is not: 0 would be below the truth."""
    case = exact.Case(
        _NAMES[type(m)],
        theta,
        m.sigma,
        *((m.lower, m.upper) if hasattr(m, "lower") else ()),
        levels=m._law.levels,
    )
    with exact.mp.workdps(30):
        eta = exact.mp.sqrt(exact.fisher_information(case))
    data = np.full(3, theta)
    for loss, factor in [
        (m.fil(data), 1.0),
        (m.fil(tn.Sketch.of(data, -1, 1)) if not hasattr(m, "lower") else m.fil(data), 1.0),
        (m.fil(data, coordinate_sensitivity=0.5), 0.5 * np.sqrt(3)),
        (m.fil(data, jacobian=np.eye(3) * 2), 2.0),
    ]:
        assert loss >= eta * factor
        assert loss < 1e-140
    assert m.fil(data, coordinate_sensitivity=0.0) == 0


_NAMES = {
    tn.QuantizedGaussian: "quantized",
    tn.RectifiedGaussian: "rectified",
    tn.StochasticSign: "sign",
    tn.Gaussian: "gaussian",
}


def test_jacobians_at_the_ends_of_the_number_line():
    m = tn.Gaussian(0.5)
    for size in (1e-300, 1e-160, 1e160, 8e307):
        loss = m.fil(np.zeros(2), jacobian=np.full((2, 2), size))
        assert loss == pytest.approx(4 * size if size < 1e307 else np.inf, rel=1e-9)
    coarse = np.full((2, 2), 0.1, np.float32)
    assert m.fil(np.zeros(2), jacobian=coarse) >= 4 * float(np.float32(0.1))


@pytest.mark.parametrize("m", mechanisms(), ids=repr)
def test_squares_that_underflow_are_not_free(m):
    assert (rdp_at(m, np.zeros(3), [2.0], 1e-200) > 0).all()
    assert (rdp_at(m, np.zeros(3), [2.0], 0.0) == 0).all()


def test_shifts_of_any_size_cost_something():
    """Beyond 1e40 sigma arithmetic may give up: then the cost is infinite, not NaN."""
    theta = np.linspace(-3, 3, 1000)
    for m in mechanisms():
        for c in 10.0 ** np.arange(1, 99, 7):
            cost = rdp_at(m, theta, [1.001, 2.0, 1e6], c)
            assert (cost > 1).all()
            assert not np.isnan(cost).any()


@pytest.mark.parametrize("width", [1e-8, 1.0, 1e9])
def test_coordinates_millions_of_sigma_away(width, rng):
    """Beyond the promised range costs stay costs: numbers that are not negative."""
    theta = rng.choice([-1, 1], 4000) * 10 ** rng.uniform(5, 12, 4000)
    for m in mechanisms(1.0, 0.37 * width, 1.37 * width):
        for far in np.array_split(theta, 40):
            assert (rdp_at(m, far, [1.0, 2.0, 100.0], 1.0) >= 0).all()
            losses = (
                m.fil(far),
                m.fil(far, coordinate_sensitivity=1.0),
                m.fil(far, np.ones((100, 1))),
            )
            assert min(losses) >= 0
