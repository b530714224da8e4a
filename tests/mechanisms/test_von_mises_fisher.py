"""The von Mises-Fisher mechanism: its costs against mpmath, its law, its samples, its errors.

The sampler's law is tested in tests/mechanisms/test_vmf_sampling.py; tests of statistics fail a
correct one with probability 1e-9 under a random seed.
"""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf
from reference import bessel, vmf_divergence
from scipy import special as scipy_special
from simd_levels import LEVELS, printed_at

import tightnoise as tn
from tightnoise.costs import _direction_pair as pair

inf, nan = np.inf, np.nan
TESTS = Path(__file__).parents[1]
CARD = 1.5e-15  # of the divergence: cpp/mechanisms/vmf_divergence.hpp
PROMISED = 1e-13  # in the documentation

# Rows of make_vmf_divergence.py: dim, kappa, half_chord, alpha, divergence.
TABLE_PATH = TESTS / "reference" / "vmf_divergence.json"
TABLE = json.loads(TABLE_PATH.read_text())
# Values with 30 digits, computed by others; rows of {argument: exact decimal}.
PUBLISHED = json.loads((TESTS / "reference" / "von_mises_fisher.json").read_text())

CASES = [  # kappa, dim
    (1.0, 2), (0.01, 2), (300.0, 2), (2.0, 3), (1e9, 3), (5.0, 4), (1e-8, 4), (40.0, 10),
    (49.0, 30), (300.0, 1000), (300.0, 13_700), (1e6, 13_700), (1e-3, 10**6), (1e9, 10**6),
    (1e4, 10**9), (1e9, 10**9),
]  # fmt: skip


def bounds(vmf, orders, angle=math.pi):
    """The costs at orders: never below the divergence."""
    half_chord = pair.half_chord_upper(angle)
    return pair.VonMisesFisherRdp(vmf.kappa, vmf.dim, half_chord)(np.asarray(orders))


def divergence(kappa, dim, half_chord, alpha):
    return float(pair.renyi_divergence(kappa, dim, np.asarray(half_chord), np.asarray(alpha)))


# --- divergences --------------------------------------------------------------------------------
OF_TABLE = """
import json, sys
import numpy as np
from tightnoise.costs._direction_pair import renyi_divergence
rows = json.load(open(sys.argv[1]))
print(json.dumps([
    float(renyi_divergence(kappa, dim, np.asarray(half_chord), np.asarray(alpha)))
    for dim, kappa, half_chord, alpha, _ in rows
]))
"""


@pytest.mark.parametrize("level", LEVELS)
def test_divergence(level, check_error):
    found = json.loads(printed_at(level, OF_TABLE, TABLE_PATH))
    errors = [abs(mpf(a) / mpf(row[4]) - 1) for a, row in zip(found, TABLE, strict=True)]
    assert len(errors) >= 2000
    check_error("von Mises-Fisher divergence", float(max(errors)), CARD)


@pytest.mark.parametrize("name", ["vmf_rdp", "vmf_rdp_angle", "vmf_kl_antipodal", "vmf_kl_angle"])
def test_published_divergences(name, check_error):
    worst = 0.0
    for row in PUBLISHED[name]:
        vmf = tn.VonMisesFisher(float(row["kappa"]), int(row["p"]))
        angle, alpha = float(row.get("theta", math.pi)), float(row.get("alpha", 1))
        value = vmf.renyi_divergence(angle=angle, alpha=alpha)
        worst = max(worst, abs(value / float(row["value"]) - 1))
    check_error(f"VonMisesFisher.renyi_divergence, {name}", worst, 2e-15)


def test_divergence_next_to_opposite_directions(check_error):
    # Orders below 1, where 1 - sin(angle/2)^2 matters and has no digits.
    worst = 0.0
    for kappa, dim in [(1e9, 3), (1e5, 1000)]:
        for gap in [1e-3, 1e-8, 1e-12]:
            for alpha in [0.5, 0.5 + 1e-9]:
                angle = math.pi - gap
                with mp.workdps(40):
                    chord = mp.sin(mpf(angle) / 2)
                    expected = vmf_divergence.renyi(dim, kappa, chord, alpha, digits=20)
                value = tn.VonMisesFisher(kappa, dim).renyi_divergence(angle=angle, alpha=alpha)
                worst = max(worst, float(abs(value / expected - 1)))
    check_error("VonMisesFisher.renyi_divergence, opposite", worst, 2e-15)


def test_divergence_at_the_ends_of_the_range():
    vmf = tn.VonMisesFisher(1e100, 3)
    assert vmf.renyi_divergence(alpha=[2.0, 1e9, 1e60, 1e300, 1.7e308, inf]).tolist() == [2e100] * 6
    np.testing.assert_allclose(vmf.renyi_divergence(alpha=1.0), 2e100, rtol=1e-15)
    np.testing.assert_allclose(vmf.renyi_divergence(alpha=[0.5, 0.25]), [2e100, 2e100 / 3])
    # D = 2 alpha z^2/dim, where z is small
    for kappa, angle, alpha in [
        (1e-100, 1e-9, 1e60),
        (1e-60, math.pi, 1e9),
        (1e-140, 3.0, 1 + 1e-9),
    ]:
        z = kappa * math.sin(angle / 2)
        value = tn.VonMisesFisher(kappa, 7).renyi_divergence(angle=angle, alpha=alpha)
        np.testing.assert_allclose(value, 2 * z * alpha * z / 7, rtol=2e-15)
    # and what is as large as it may be where alpha is huge
    np.testing.assert_allclose(
        tn.VonMisesFisher(1e-60, 7).renyi_divergence(alpha=[1e80, 1e200, inf]), 2e-60, rtol=1e-13
    )
    assert tn.VonMisesFisher(0.0, 2).renyi_divergence(alpha=[0.5, 1, 2, 1.7e308, inf]).max() == 0
    assert vmf.renyi_divergence(angle=0.0, alpha=[0.5, 1, 2, 1.7e308, inf]).max() == 0
    assert np.isfinite(tn.VonMisesFisher(1e100, 2**53).renyi_divergence(alpha=[0.1, 1, 9])).all()


@pytest.mark.parametrize("dim", [2, 3, 4, 50, 51, 52, 1000, 2**53])
def test_nothing_overflows_or_is_lost(dim):
    kappas = [0, 5e-324, 1e-300, 1e-154, 1e-30, 1e-17, 1e-8, 1, 49.9, 50, 1e9, 1e21, 1e99, 1e100]
    angles = np.array([0, 5e-324, 1e-200, 1e-16, 1e-8, 1, math.nextafter(math.pi, 0), math.pi])
    below = [5e-324, 1e-100, 1e-16, 0.4999, 0.5, 0.999, 1 - 2**-53]
    orders = np.array([*below, 1, 1 + 2**-52, 1.5, 2, 1e9, 1e50, 1e100, 1e200, 1.7e308, inf])
    for kappa in kappas:
        vmf = tn.VonMisesFisher(kappa, dim)
        d = vmf.renyi_divergence(angle=angles[:, np.newaxis], alpha=orders)
        assert np.isfinite(d).all()
        assert (d >= 0).all()
        assert (d[:, 1:] * (1 + 2 * CARD) + 1e-300 >= d[:, :-1]).all()
        assert (d[1:] * (1 + 2 * CARD) + 1e-300 >= d[:-1]).all()
        for angle, row in zip(angles.tolist(), d, strict=True):
            costs, mu = bounds(vmf, orders, angle), vmf.cost(angle=angle).gdp_mu
            assert (row <= costs).all()
            if angle != 5e-324:  # whose half is no float
                assert (costs <= row * (1 + PROMISED) + 2e-300).all()
            is_free = kappa == 0 or angle == 0
            assert (costs == 0).all() if is_free else (costs > 0).all()
            assert mu == 0 if is_free else 0 < mu < inf
        assert math.isfinite(vmf.entropy())
        if dim <= 1000:
            x = np.eye(1, dim)
            assert np.isfinite(vmf.logpdf([x, -x, vmf.sample(x)], x)).all()


# --- costs --------------------------------------------------------------------------------------
def test_cost_is_above_the_divergence_and_close(check_error):
    worst = 0.0
    for dim, kappa, half_chord, alpha, expected in TABLE:
        cost = float(pair.VonMisesFisherRdp(kappa, dim, half_chord)([alpha])[0])
        assert mpf(cost) >= mpf(expected)
        worst = max(worst, float(mpf(cost) / mpf(expected) - 1))
    check_error("von Mises-Fisher cost", worst, PROMISED)


def test_cost_of_an_angle(rng):
    for _ in range(5):
        kappa, dim = CASES[rng.integers(len(CASES))]
        angle, alpha = rng.uniform(0, math.pi) ** 3 / 10, 1 + 10 ** rng.uniform(-6, 4)
        vmf = tn.VonMisesFisher(kappa, dim)
        with mp.workdps(60):
            truth = vmf_divergence.renyi(dim, kappa, mp.sin(mpf(angle) / 2), alpha)
        for found in (bounds(vmf, [alpha], angle), vmf.cost(angle=angle).rdp([alpha]).values):
            assert truth <= found[0] <= truth * (1 + mpf(PROMISED)) + mpf("1e-299")


def test_the_curve_is_a_function_of_the_order():
    vmf = tn.VonMisesFisher(75.0, 13_700)
    orders = [0.5, 1.0, 1.5, 2.0, 64.0, inf]
    cost = vmf.cost(angle=0.7)
    curve = cost.rdp()
    assert curve.is_continuous
    assert cost.adjacency is None
    exact = vmf.renyi_divergence(angle=0.7, alpha=orders)
    np.testing.assert_allclose(bounds(vmf, orders, 0.7), exact, rtol=1e-13)
    np.testing.assert_allclose(curve.at(orders).values[2:], exact[2:], rtol=1e-13)
    np.testing.assert_array_equal(cost.rdp(orders).values, curve.at(orders).values)
    assert curve.epsilon(1e-6) < vmf.cost(angle=0.71).rdp().epsilon(1e-6)
    fine = (cost * 5).rdp(np.linspace(2, 40, 2000))
    np.testing.assert_allclose((cost * 5).rdp().epsilon(1e-6), fine.epsilon(1e-6), rtol=1e-5)


def test_costs_of_nothing_and_of_next_to_nothing():
    orders = [1.0, 2.0, inf]
    for vmf, angle in [(tn.VonMisesFisher(0.0, 5), 1.0), (tn.VonMisesFisher(9.0, 5), 0.0)]:
        assert bounds(vmf, orders, angle).tolist() == [0, 0, 0]
        cost = vmf.cost(angle=angle)
        assert cost == tn.Cost()
        assert cost.epsilon(1e-6) == cost.rdp().epsilon(1e-6) == cost.zcdp_rho == cost.gdp_mu == 0
        assert cost.rdp(orders).values.tolist() == [0, 0, 0]
    for kappa, angle in [(1e-200, 1e-200), (5e-324, math.pi), (1.0, 5e-324)]:
        cost = tn.VonMisesFisher(kappa, 5).cost(angle=angle)
        assert (cost.rdp(orders).values > 0).all()
        assert cost.zcdp_rho > 0
        assert cost.gdp_mu > 0


def test_sum_of_functions_in_one_call(rng):
    functions = [
        pair.VonMisesFisherRdp(
            10 ** rng.uniform(0, 3), int(rng.integers(2, 5000)), rng.uniform(0, 1)
        )
        for _ in range(40)
    ]
    counts = rng.integers(1, 1000, 40).tolist()
    orders = 1 + 10 ** rng.uniform(-3, 3, 50)
    total = pair.VonMisesFisherRdp.weighted_sum(functions, counts, orders)
    single = [
        math.fsum(
            count * divergence(f.kappa, f.dim, f.half_chord, alpha)
            for f, count in zip(functions, counts, strict=True)
        )
        for alpha in orders
    ]
    assert (total >= single).all()
    np.testing.assert_allclose(total, single, rtol=PROMISED)


def test_rho_is_the_smallest(rng):
    for kappa, dim in CASES:
        vmf = tn.VonMisesFisher(kappa, dim)
        for angle in [1e-6, 0.3, 2.0, math.pi]:
            rho = vmf.cost(angle=angle).zcdp_rho
            orders = 1 + 10 ** rng.uniform(-9, 6, 60)
            assert (vmf.renyi_divergence(angle=angle, alpha=orders) <= rho * orders).all()
            exact = vmf.renyi_divergence(angle=angle, alpha=1.0)
            assert exact <= rho <= exact * (1 + PROMISED) + 1e-299
            closed = 2 * (kappa * math.sin(angle / 2)) ** 2 / dim
            assert rho <= closed * (1 + PROMISED) + 1e-299


@pytest.mark.parametrize("kappa", [0.01, 0.5, 3.0, 30.0])
@pytest.mark.parametrize("dim", [2, 3, 4, 5, 20, 300])
def test_gdp_mu_dominates_the_exact_profile(kappa, dim):
    for angle in [0.5, 2.0, math.pi]:
        z = kappa * math.sin(angle / 2)
        chord = pair.half_chord_upper(angle)
        epsilons = 2 * z * np.array([0.0, 0.1, 0.5, 0.9])
        gaussian = tn.Cost.of_gdp(pair.gdp_mu_upper(kappa, dim, chord)).delta(epsilons)
        ratios = pair.hockey_stick_upper(kappa, dim, np.asarray(chord), epsilons) / gaussian
        assert ratios.max() <= 1
        if dim >= 20 and kappa < dim:
            assert ratios[0] > 0.85  # and is not far above


def test_gdp_mu_formulas(check_error):
    worst = 0.0
    with mp.workdps(40):
        for kappa in [1e-200, 1e-9, 4.99e-5, 5e-5, 1e-3, 0.3, 2.0, 40.0, 1e3, 1e9, 1e100]:
            for dim in [2, 3, 4, 5, 1000, 10**9]:
                e = 2 * mpf(kappa)
                if e < 1000:  # -2 Phi^-1(1/(1 + e^e)): by bisection of log Phi, or its tangent
                    if e < mpf(10) ** -3:
                        truth = mp.sqrt(mp.pi / 2) * (e - e**3 * (mpf(1) / 12 - mp.pi / 48))
                    else:
                        truth = 2 * mp.findroot(
                            lambda x, e=e: mp.log(mp.ncdf(-x)) + mp.log1p(mp.exp(e)),
                            mp.sqrt(2 * e) if e > 9 else e / 2,
                        )
                elif e < mpf(10) ** 50:
                    log_p = -e
                    x = mp.sqrt(2 * e)
                    for _ in range(60):
                        tail = 1 - 1 / x**2 + 3 / x**4 - 15 / x**6
                        x = mp.sqrt(-2 * (log_p + mp.log(x * mp.sqrt(2 * mp.pi)) - mp.log(tail)))
                    truth = 2 * x
                else:
                    truth = 2 * mp.sqrt(2 * e)
                if dim > 3:
                    truth = min(truth, e / mp.sqrt(dim - 3))
                value = tn.VonMisesFisher(kappa, dim).cost().gdp_mu
                assert value >= truth * (1 - mpf(10) ** -20 * (e < mpf(10) ** 50))
                worst = max(worst, float(value / truth - 1))
    check_error("gdp_mu of VonMisesFisher", worst, 1e-9)


def test_uniform_output_for_zeros_costs_less_than_opposite_directions(rng):
    with mp.workdps(40):
        for kappa, dim in CASES[:10:4]:
            nu, k = mpf(dim) / 2 - 1, mpf(kappa)
            mean = vmf_divergence.log_mean(nu, k, 30)
            for a in (1 + 10 ** rng.uniform(-3, 2, 3)).tolist():
                opposite = bounds(tn.VonMisesFisher(kappa, dim), [a])[0]
                of_uniform = vmf_divergence.log_mean(nu, a * k, 30) - a * mean
                to_uniform = vmf_divergence.log_mean(nu, (a - 1) * k, 30) + (a - 1) * mean
                assert 0 < of_uniform / (a - 1) < opposite
                assert 0 < to_uniform / (a - 1) < opposite


# --- accountants --------------------------------------------------------------------------------
def test_accountant_keeps_it_exactly():
    cost = tn.VonMisesFisher(300.0, 13_700).cost(angle=0.3)
    accountant, resumed = tn.Accountant().compose(cost, 7), tn.Accountant()
    state = json.loads(json.dumps(accountant.state_dict()))
    resumed.load_state_dict(state)
    assert resumed.epsilon(1e-6) == accountant.epsilon(1e-6)
    assert resumed.state_dict() == state
    assert "epsilon" in repr(accountant)
    for name, value in [("dim", 13_700.5), ("dim", 1), ("half_chord", 1.5), ("kappa", -1.0)]:
        bad = json.loads(json.dumps(state))
        bad["cost"]["leaves"][0][name] = value
        with pytest.raises(ValueError, match=f"{name} must be"):
            resumed.load_state_dict(bad)


# --- the law ------------------------------------------------------------------------------------
@pytest.mark.parametrize(("kappa", "dim"), CASES)
def test_entropy_and_mean_resultant_length(kappa, dim, check_error):
    vmf = tn.VonMisesFisher(kappa, dim)
    with mp.workdps(60):
        nu = mpf(dim) / 2 - 1
        mean, ratio = bessel.mean_and_ratio(nu, kappa)
        area = mp.log(2) + (nu + 1) * mp.log(mp.pi) - mp.loggamma(nu + 1)
        information = mpf(kappa) * ratio - mean
        scale = max(abs(area), information)
        check_error("VonMisesFisher.mean_resultant_length",
                    float(abs(vmf.mean_resultant_length() / ratio - 1)), 1e-15)  # fmt: skip
        error = abs(vmf.entropy() - (area - information)) / scale
        check_error("VonMisesFisher.entropy", float(error), 2e-15)


@pytest.mark.parametrize(
    ("kappa", "dim"), [case for case in CASES if case[1] <= 1000] + [(0.0, 3), (1e100, 3)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f8", "f4"])
def test_logpdf(kappa, dim, dtype, rng, check_error):
    vmf = tn.VonMisesFisher(kappa, dim)
    direction = rng.standard_normal(dim).astype(dtype)
    points = np.stack([
        vmf.sample(direction, rng=tn.random.NoiseStream(1)),
        vmf.sample(-direction, rng=tn.random.NoiseStream(2)),
        vmf.sample(np.zeros(dim, dtype), rng=tn.random.NoiseStream(3)),
    ])  # fmt: skip
    found = vmf.logpdf(points, direction)
    assert found.shape == (3,)
    assert found.dtype == np.float64
    with mp.workdps(140):
        nu = mpf(dim) / 2 - 1
        if kappa == 0:
            peak = mpf(0)
        elif kappa == 1e100:
            peak = mp.log(2 * mpf(kappa))  # the mean is sinh(kappa)/kappa at dim = 3
        else:
            peak = kappa - bessel.mean_and_ratio(nu, kappa)[0]
        area = mp.log(2) + (nu + 1) * mp.log(mp.pi) - mp.loggamma(nu + 1)
        mu = [mpf(float(x)) for x in direction]
        length = mp.sqrt(mp.fsum(x * x for x in mu))
        for value, point in zip(found, points, strict=True):
            y = [mpf(float(x)) for x in point]
            norm = mp.sqrt(mp.fsum(x * x for x in y))
            gap = mp.fsum((a / norm - b / length) ** 2 for a, b in zip(y, mu, strict=True)) / 2
            part = peak - kappa * gap
            # the rounding of coordinates of normalised vectors, seen by kappa
            rounding = mpf(kappa) * (mp.sqrt(gap) + mpf(2) ** -52) * mpf(2) ** -51
            error = abs(mpf(float(value)) - (part - area)) - rounding
            check_error("VonMisesFisher.logpdf", float(error / max(abs(area), abs(part))), 2e-15)


def test_density_of_small_dimensions_is_the_closed_one_and_sums_to_1():
    angles = np.linspace(0, 2 * math.pi, 2001)[:-1]
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    for kappa in [0.0, 0.5, 7.0, 300.0]:
        density = tn.VonMisesFisher(kappa, 2).pdf(circle, [3.0, 4.0])
        np.testing.assert_allclose(density.mean() * 2 * math.pi, 1, rtol=1e-12)
        exponent = kappa * (np.cos(angles - math.atan2(4, 3)) - 1)
        closed = np.exp(exponent) / (2 * math.pi * scipy_special.ive(0, kappa))
        np.testing.assert_allclose(density, closed, rtol=1e-11)
        cosine, weight = np.polynomial.legendre.leggauss(150)
        sphere = np.stack([np.sqrt(1 - cosine**2), 0 * cosine, cosine], axis=-1)
        density = tn.VonMisesFisher(kappa, 3).pdf(sphere, [0.0, 0.0, 1.0])
        np.testing.assert_allclose(2 * math.pi * (weight @ density), 1, rtol=1e-11)


def test_densities_of_zeros_are_uniform():
    vmf = tn.VonMisesFisher(50.0, 3)
    y = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    found = vmf.logpdf(y, [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    np.testing.assert_allclose(found[0], -math.log(4 * math.pi))
    assert found[1] == vmf.logpdf(y[1], [0.0, 0.0, 1e-300]) == vmf.logpdf(y[1], [0.0, 0.0, 1e300])
    assert type(vmf.logpdf(y[0], y[1])) is float
    assert vmf.logpdf(np.empty((0, 3)), y[0]).shape == (0,)
    assert vmf.logpdf(np.ones((4, 1, 3)) / math.sqrt(3), y).shape == (4, 2)


# --- samples ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dim", "kappa", "step"),
    [
        (2, 0.0, 2**-7),
        (4, 3.0, 2**-7),
        (5, 5.0, 2**-8),
        (10**6, 3e5, 2**-16),
        (3, 1e6, 2**-16),
        (3, 1e100, 2**-32),
        (2**53, 1.0, 2**-32),
    ],
)
def test_the_default_grid(dim, kappa, step):
    vmf = tn.VonMisesFisher(kappa, dim)
    assert vmf._step("auto") == step
    if dim <= 5:
        y = vmf.sample(np.ones((50, dim)), rng=tn.random.NoiseStream(1))
        assert (y % step == 0).all()
        assert (y % (2 * step) != 0).any()
        same = vmf.sample(np.ones((50, dim)), rng=tn.random.NoiseStream(1), grid=step)
        np.testing.assert_array_equal(y, same)


@pytest.mark.parametrize("grid", [0.3, 0.0, -0.5, 2.0, 2.0**-33, math.nan, math.inf, "fine", True])
def test_grids_that_are_refused(grid):
    error = TypeError if grid is True else ValueError
    for m in (VMF, tn.ProductVonMisesFisher(1.0, [3]), tn.LiftedVonMisesFisher(1.0, 2, 1.0)):
        x = np.ones(2) if isinstance(m, tn.LiftedVonMisesFisher) else np.ones(3)
        with pytest.raises(error, match="grid must"):
            m.sample(x, grid=grid)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f8", "f4"])
def test_shapes_seeds_and_out(dtype, rng):
    vmf = tn.VonMisesFisher(20.0, 5)
    direction = rng.standard_normal((2, 3, 5)).astype(dtype)

    def draw(x, seed=7, **kwargs):
        return vmf.sample(x, rng=tn.random.NoiseStream(seed), **kwargs)

    y = draw(direction)
    assert y.shape == direction.shape
    np.testing.assert_array_equal(draw(direction), y)
    assert not np.array_equal(draw(direction, 8), y)
    assert not np.array_equal(vmf.sample(direction), vmf.sample(direction))
    np.testing.assert_array_equal(draw(direction.reshape(6, 5)).reshape(2, 3, 5), y)
    np.testing.assert_array_equal(draw(direction[0, 0]), y[0, 0])
    np.testing.assert_array_equal(draw(direction[:, ::-1])[0, 0], draw(direction[0, 2]))
    assert draw(direction[0, 0]).shape == (5,)
    assert draw(np.empty((0, 5), dtype)).shape == (0, 5)
    assert draw(np.empty((4, 0, 5), dtype)).shape == (4, 0, 5)
    out = np.empty_like(direction)
    assert draw(direction, out=out) is out
    np.testing.assert_array_equal(out, y)
    own = direction.copy()
    assert draw(own, out=own) is own
    np.testing.assert_array_equal(own, y)
    assert vmf.sample([1, 0, 0, 0, 0]).dtype == np.float64
    assert vmf.sample(np.ones(5, np.float16)).dtype == np.float32


# --- the object ---------------------------------------------------------------------------------
def test_a_value_like_others():
    vmf = tn.VonMisesFisher(np.float32(2.5), np.int64(7))
    assert type(vmf.kappa) is float
    assert type(vmf.dim) is int
    assert vmf == tn.VonMisesFisher(dim=7, kappa=2.5) != tn.VonMisesFisher(2.5, 8)
    assert hash(vmf) == hash(tn.VonMisesFisher(2.5, 7))
    assert pickle.loads(pickle.dumps(vmf)) == vmf
    assert repr(vmf) == "VonMisesFisher(kappa=2.5, dim=7)"
    assert isinstance(vmf, tn.Mechanism)
    with pytest.raises(AttributeError):
        vmf.kappa = 3.0
    assert math.copysign(1, tn.VonMisesFisher(-0.0, 2).kappa) == 1
    assert vmf.renyi_divergence(alpha=2.0) == vmf.renyi_divergence(angle=4 * (math.pi / 4), alpha=2)
    assert vmf.cost(angle=math.nextafter(math.pi, 4)) == vmf.cost()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((-1.0, 3), ValueError, "kappa must be at least 0; got -1.0"),
        ((nan, 3), ValueError, "kappa must be finite; got nan"),
        ((inf, 3), ValueError, "kappa must be finite; got inf"),
        ((1e101, 3), ValueError, r"kappa must be at most 1e100; got 1e\+101"),
        (("1", 3), TypeError, "kappa must be a real number; got '1'"),
        (([1.0], 3), TypeError, "kappa must be a real number"),
        ((1.0, 1), ValueError, "dim must be between 2 and"),
        ((1.0, 2**53 + 1), ValueError, "dim must be between 2 and 9007199254740992"),
        ((1.0, 3.5), TypeError, "dim must be an integer; got 3.5"),
        ((1.0, True), TypeError, "dim must be an integer; got True"),
    ],
)
def test_bad_parameters(arguments, error, message):
    with pytest.raises(error, match=message):
        tn.VonMisesFisher(*arguments)


VMF = tn.VonMisesFisher(2.0, 3)
Y = [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: VMF.sample([1.0, nan, 0.0]),
            ValueError,
            r"mean_direction must be finite; got nan",
        ),
        (lambda: VMF.sample([[0, 0, inf]]), ValueError, r"finite; got inf at index \(0, 2\)"),
        (lambda: VMF.sample([1.0, 2.0]), ValueError, r"mean_direction must be of shape \(3,\) or"),
        (lambda: VMF.sample(1.0), ValueError, r"mean_direction must be of shape \(3,\) or"),
        (lambda: VMF.sample(np.ones((3, 2))), ValueError, r"\(\.\.\., 3\); got \(3, 2\)"),
        (lambda: VMF.sample("xyz"), TypeError, "mean_direction must hold"),
        (lambda: VMF.sample([True] * 3), TypeError, "mean_direction must hold"),
        (lambda: VMF.sample([1j, 0, 0]), TypeError, "mean_direction must hold"),
        (lambda: VMF.sample(np.ma.array(Y)), TypeError, "mean_direction must not be a masked"),
        (
            lambda: VMF.sample(Y, rng=np.random.default_rng()),
            TypeError,
            "rng must be a NoiseStream",
        ),
        (lambda: VMF.sample(Y, out=np.empty(4)), ValueError, r"out must have shape \(3,\)"),
        (lambda: VMF.sample(Y, out=np.empty(3, "f4")), ValueError, "out must have shape"),
        (lambda: VMF.sample(Y, out=[0.0] * 3), TypeError, "out must be a numpy array"),
        (lambda: VMF.logpdf([0, 0, 1.1], Y), ValueError, r"y must be of norm 1 .*; got 1.1"),
        (lambda: VMF.logpdf([0, 0, 0], Y), ValueError, r"y must be of norm 1 .*; got 0.0"),
        (lambda: VMF.logpdf([0, 1.7e308, 1.7e308], Y), ValueError, "y must be of norm 1"),
        (lambda: VMF.logpdf([0, 0, nan], Y), ValueError, "y must be finite"),
        (lambda: VMF.logpdf(Y, [1.0]), ValueError, "mean_direction must be of shape"),
        (lambda: VMF.logpdf([Y] * 2, [Y] * 3), ValueError, "shapes must broadcast together"),
        (
            lambda: VMF.renyi_divergence(alpha=0.0),
            ValueError,
            "alpha must be greater than 0; got 0",
        ),
        (lambda: VMF.renyi_divergence(alpha=nan), ValueError, "alpha must be a number; got nan"),
        (lambda: VMF.renyi_divergence(alpha="2"), TypeError, "alpha must hold real numbers"),
        (
            lambda: VMF.renyi_divergence(angle=-0.1, alpha=2),
            ValueError,
            "angle must be between 0 an",
        ),
        (lambda: VMF.renyi_divergence(angle=[1, 4.0], alpha=2), ValueError, "0 and pi; got 4.0"),
        (lambda: VMF.renyi_divergence(angle=[1, 2], alpha=[1, 2, 3]), ValueError, "angle .*alpha"),
        (lambda: VMF.cost(angle=3.2), ValueError, "angle must be between 0 and pi; got 3.2"),
        (lambda: VMF.cost(angle=-1), ValueError, "angle must be between 0 and pi; got -1"),
        (lambda: VMF.cost(angle=nan), ValueError, "angle must be finite; got nan"),
        (lambda: VMF.cost(angle=[1.0]), TypeError, "angle must be a real number"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_out_may_not_overlap_otherwise():
    buffer = np.ones(8)
    with pytest.raises(ValueError, match="out must not overlap"):
        VMF.sample(buffer[:3], out=buffer[2:5])
