"""Bayes capacity: against its definition by mpmath, published values, identities, and order."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf
from reference import bessel
from thread_counts import with_threads

import tightnoise as tn
from tightnoise import _core
from tightnoise.leakage.capacity import MARGIN

inf, nan = np.inf, np.nan
HERE = Path(__file__).parents[1]
# Rows of make_bayes_capacity.py: arguments and value.
TABLES = json.loads((HERE / "reference" / "bayes_capacity.json").read_text())
# Values with 30 digits, computed by others; rows of {argument: exact decimal}.
PUBLISHED = json.loads((HERE / "reference" / "von_mises_fisher.json").read_text())

CORE_ERRORS = {"truncated": 1e-14, "cap": 1e-14}  # the cards; 3e-15 if not here
PROMISED = 1e-12


def of_ball(dim, reach):
    return tn.log_bayes_capacity(tn.Gaussian(1.0), dim=dim, radius=reach)


def of_rectified(sigma, lower, upper, start, end):
    return tn.log_bayes_capacity(tn.RectifiedGaussian(sigma, lower, upper), domain=(start, end))


def of_truncated(sigma, lower, upper, start, end):
    return tn.log_bayes_capacity(tn.TruncatedGaussian(sigma, lower, upper), domain=(start, end))


def of_quantized(sigma, lower, upper, levels, start, end):
    mechanism = tn.QuantizedGaussian(sigma, lower, upper, levels)
    return tn.log_bayes_capacity(mechanism, domain=(start, end))


def of_sign(sigma, start, end):
    return tn.log_bayes_capacity(tn.StochasticSign(sigma), domain=(start, end))


def of_cap(kappa, dim, half_angle):
    out = np.empty(1)
    arguments = (np.array([float(x)]) for x in (kappa, dim, half_angle))
    _core.leakage.log_cap_capacity(*arguments, out)
    return float(out[0]) * (1 + MARGIN)


FUNCTIONS = {
    "ball": of_ball,
    "cap": of_cap,
    "rectified": of_rectified,
    "truncated": of_truncated,
    "quantized": of_quantized,
    "sign": of_sign,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_the_definition(name, check_error):
    """In [truth, truth (1 + 1e-12)], and before the margin as close as the card says."""
    worst = 0.0
    for *arguments, text in TABLES[name]:
        truth = mpf(text)
        if truth < 1e-250:
            continue
        value = FUNCTIONS[name](*arguments)
        above = float((mpf(value) - truth) / truth)
        assert 0 <= above <= PROMISED, (arguments, value, text)
        worst = max(worst, abs(above - MARGIN))
    check_error(f"log_bayes_capacity, {name}", worst, CORE_ERRORS.get(name, 3e-15))


def test_published_directions():
    for row in PUBLISHED["log_bayes_capacity_vmf"]:
        mechanism = tn.VonMisesFisher(float(row["kappa"]), int(row["p"]))
        truth = mpf(row["value"])
        assert 0 <= (mpf(tn.log_bayes_capacity(mechanism)) - truth) / truth <= PROMISED


def test_directions_in_more_dimensions():
    """Against log M by mpmath, whose digits outlast kappa - log M."""
    rng = np.random.default_rng(11)
    for _ in range(60):
        dim = int(10 ** rng.uniform(0.31, 7.5))
        kappa = float(dim * 10 ** rng.uniform(-5, 1.5))
        with mp.workdps(70):
            truth = mpf(kappa) - bessel.mean_and_ratio(mpf(dim) / 2 - 1, kappa)[0]
            value = mpf(tn.log_bayes_capacity(tn.VonMisesFisher(kappa, dim)))
            assert 0 <= (value - truth) / truth <= PROMISED, (kappa, dim)
    for dim in (2, 13_700, 10**7, 2**53):
        kappas = np.geomspace(1e-9, 1e20, 50)
        values = [tn.log_bayes_capacity(tn.VonMisesFisher(kappa, dim)) for kappa in kappas]
        assert all(np.diff(values) > 0)
        assert tn.log_bayes_capacity(tn.VonMisesFisher(0.0, dim)) == 0


def test_blocks_add_up():
    kappas, dims = [10.0, 0.0, 1e6, 30.0], [750, 3, 12_800, 750]
    together = tn.log_bayes_capacity(tn.ProductVonMisesFisher(kappas, dims))
    each = [tn.VonMisesFisher(k, d) for k, d in zip(kappas, dims, strict=True)]
    assert together == pytest.approx(sum(map(tn.log_bayes_capacity, each)), rel=1e-14)


def test_published_balls():
    for row in PUBLISHED["log_bayes_capacity_gauss"]:
        dim, sigma, radius = (float(mpf(row[key])) for key in ("p", "sigma", "R_"))
        value = tn.log_bayes_capacity(tn.Gaussian(sigma), dim=int(dim), radius=radius)
        assert value == pytest.approx(float(mpf(row["value"])), rel=PROMISED)


def test_the_series_meets_the_integral():
    """Nothing jumps where one formula follows the other."""
    for dim, reach in [(64, 3.0), (64, 1e3), (65, 1e3), (1000, 8 / 1000**0.5), (10**9, 8e-9**0.5)]:
        step = 1e-9
        around = [of_ball(dim, reach * (1 + i * step)) for i in (-1, 0, 1)]
        assert around[0] < around[1] < around[2]
        assert around[2] - around[1] == pytest.approx(around[1] - around[0], rel=1e-4)


@pytest.mark.parametrize("reach", [1e-300, 1e-9, 0.3, 1.0, 50.0, 1e6, 1e100])
def test_a_ball_of_one_dimension_is_an_interval(reach):
    ball = of_ball(1, reach)
    assert ball == pytest.approx(math.log1p(2 * reach / math.sqrt(2 * math.pi)), rel=PROMISED)
    box = tn.log_bayes_capacity(tn.Gaussian(1.0), domain=(-reach, reach))
    assert ball == pytest.approx(box, rel=PROMISED)


def test_balls_multiply():
    dims, radii = [12_800, 750, 150, 750], [1.0, 0.5, 2.0, 0.5]
    mechanism = tn.Gaussian(1.23)
    together = tn.log_bayes_capacity(mechanism, dim=dims, radius=radii)
    each = [
        tn.log_bayes_capacity(mechanism, dim=d, radius=r) for d, r in zip(dims, radii, strict=True)
    ]
    assert together == pytest.approx(sum(each), rel=1e-14)
    assert tn.log_bayes_capacity(mechanism, dim=dims, radius=1.0) == pytest.approx(
        sum(tn.log_bayes_capacity(mechanism, dim=d, radius=1.0) for d in dims), rel=1e-14
    )
    # Less than the smallest ball around all of them.
    whole = tn.log_bayes_capacity(mechanism, dim=sum(dims), radius=math.hypot(*radii))
    assert together < whole


def test_of_more_dimensions_than_memory_has_room_for():
    for dim in (10**7, 10**9, 2**53):
        reach = 1.0 / math.sqrt(dim)
        assert 0.99 < of_ball(dim, reach) < 1.01
        assert math.isfinite(of_ball(dim, 1e6))


# --- the cap --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [2, 3, 10, 13_701, 10**7])
def test_a_cap_is_less_than_the_sphere_and_more_than_a_smaller_cap(dim):
    angles = [1e-9, 1e-4, 0.01, 0.3, 1.0, 1.5, math.pi / 2]
    for kappa in (1e-3, 1.0, 30.0, 1e4, 1e8):
        capacities = [of_cap(kappa, dim, angle) for angle in angles]
        assert capacities[0] > 0
        assert all(np.diff(capacities) > 0)
        assert capacities[-1] < tn.log_bayes_capacity(tn.VonMisesFisher(kappa, dim))


def test_caps_of_extreme_size():
    for kappa in (1e-300, 1e-20, 1e20, 1e50, 1e100):
        for dim in (2, 3, 10**7, 10**12, 2**53):
            angles = (1e-300, 1e-60, 1e-20, 1e-5, 1e-3, math.pi / 2)
            capacities = [of_cap(kappa, dim, angle) for angle in angles]
            assert capacities[0] >= 0
            assert all(np.diff(capacities) >= 0)
            assert capacities[-1] < inf
    assert of_cap(0.0, 5, 1.0) == of_cap(3.0, 5, 0.0) == 0.0


def test_lifted_directions():
    for kappa, dim, anchor, radius in [(75.0, 13_700, 8.0, 1.0), (3.0, 1, 0.5, 2.0)]:
        lifted = tn.LiftedVonMisesFisher(kappa, dim, anchor)
        bounded = tn.log_bayes_capacity(lifted, radius=radius)
        assert bounded == pytest.approx(of_cap(kappa, dim + 1, math.atan(radius / anchor)))
        half = tn.log_bayes_capacity(lifted)
        assert half == pytest.approx(of_cap(kappa, dim + 1, math.pi / 2))
        assert bounded < half < tn.log_bayes_capacity(tn.VonMisesFisher(kappa, dim + 1))
        assert half == pytest.approx(tn.log_bayes_capacity(lifted, radius=1e9 * anchor), rel=1e-6)
        assert tn.log_bayes_capacity(lifted, radius=0.0) == 0
        assert tn.log_bayes_capacity(lifted, radius=1e-300) > 0
        assert tn.log_bayes_capacity(tn.LiftedVonMisesFisher(0.0, dim, anchor)) == 0


# --- the box --------------------------------------------------------------------------------------


def mechanisms(sigma, lower=-1.0, upper=1.0):
    return [
        tn.Gaussian(sigma),
        tn.RectifiedGaussian(sigma, lower, upper),
        tn.TruncatedGaussian(sigma, lower, upper),
        tn.QuantizedGaussian(sigma, lower, upper, 16),
        tn.StochasticSign(sigma),
    ]


def name_of(mechanism):
    return type(mechanism).__name__


@pytest.mark.parametrize("mechanism", mechanisms(0.5), ids=name_of)
def test_wider_domains_give_more(mechanism):
    ends = np.geomspace(1e-9, 1e4, 60)
    capacities = [tn.log_bayes_capacity(mechanism, domain=(-e, 0.7 * e)) for e in ends]
    assert capacities[0] > 0
    assert all(np.diff(capacities) >= 0)
    assert tn.log_bayes_capacity(mechanism, domain=(0.25, 0.25)) == 0


def test_more_noise_gives_less():
    """But not if quantised: with a little noise, letters outside the domain come up."""
    sigmas = np.geomspace(0.01, 100, 40)
    for i in (0, 1, 2, 4):
        values = [
            tn.log_bayes_capacity(mechanisms(sigma)[i], domain=(-0.8, 0.9), dim=3)
            for sigma in sigmas
        ]
        assert all(np.diff(values) <= 0)
        assert values[-1] < values[0] / 10
    assert of_ball(100, 1.0) > of_ball(100, 0.99)


def test_what_is_computed_from_a_release_has_no_more():
    """Rectified, quantised and sign are functions of the Gaussian; the sign also of all others."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        sigma = 10 ** rng.uniform(-2, 2)
        start = rng.uniform(-3, 3)
        domain = start, start + 10 ** rng.uniform(-6, 1)
        gaussian, rectified, _, quantized, sign = (
            tn.log_bayes_capacity(m, domain=domain) for m in mechanisms(sigma)
        )
        assert sign <= quantized <= rectified * (1 + PROMISED)
        assert rectified <= gaussian * (1 + PROMISED)


def test_clipping_saves_nothing_within_the_bounds():
    for sigma in (1e-3, 0.4, 1e6):
        gaussian = tn.log_bayes_capacity(tn.Gaussian(sigma), domain=(-0.5, 0.25))
        rectified = of_rectified(sigma, -0.5, 0.3, -0.5, 0.25)
        assert gaussian == pytest.approx(rectified, rel=1e-14)


def test_the_mechanism_s_bounds_are_the_default():
    for mechanism in mechanisms(0.7, -0.5, 2.0)[1:4]:
        given = tn.log_bayes_capacity(mechanism, domain=(-0.5, 2.0), dim=4)
        assert tn.log_bayes_capacity(mechanism, dim=4) == given


def test_no_more_outputs_than_letters():
    """C of an output with k values is at most k, and near it without noise."""
    for levels in (2, 5, 100):
        mechanism = tn.QuantizedGaussian(1e-4, 0.0, 1.0, levels)
        least, most = math.log(levels) * 0.999, math.log(levels) * (1 + PROMISED)
        assert least < tn.log_bayes_capacity(mechanism) <= most
        assert least < tn.log_bayes_capacity(mechanism, domain=(-inf, inf)) <= most
    anything = tn.log_bayes_capacity(tn.StochasticSign(3.0), domain=(-inf, inf))
    assert anything == pytest.approx(math.log(2), rel=PROMISED)
    anything = of_rectified(0.5, 0.0, 1.0, -inf, inf)
    assert anything == pytest.approx(math.log(2 + 2 / math.sqrt(2 * math.pi)), rel=PROMISED)
    half = of_rectified(0.5, 0.0, 1.0, -inf, 0.0)
    assert half == pytest.approx(math.log(1.5), rel=PROMISED)


def test_coordinates_add_up():
    rng = np.random.default_rng(5)
    sigma, start = rng.uniform(0.1, 2, 50), rng.uniform(-2, 2, 50)
    end = start + rng.uniform(0, 2, 50)
    for i, mechanism in enumerate(mechanisms(sigma)):
        together = tn.log_bayes_capacity(mechanism, domain=(start, end))
        each = [
            tn.log_bayes_capacity(mechanisms(float(s))[i], domain=(a, b))
            for s, a, b in zip(sigma, start, end, strict=True)
        ]
        assert together == pytest.approx(math.fsum(each), rel=1e-14)
        assert tn.log_bayes_capacity(mechanism, domain=(start, end), dim=50) == together
    same = tn.log_bayes_capacity(tn.StochasticSign(1.0), domain=([0.0] * 7, 1.0))
    assert same == pytest.approx(of_sign(1.0, 0.0, 1.0) * 7, rel=1e-14)
    assert same == pytest.approx(
        tn.log_bayes_capacity(tn.StochasticSign(1.0), domain=(0.0, 1.0), dim=7), rel=1e-14
    )


def test_boxes_of_extreme_size():
    for domain in [(-1e60, 1e60), (1e99, 1.1e99), (-1e99, -1e99 * (1 - 1e-15)), (1e-300, 2e-300)]:
        for mechanism in mechanisms(1.0):
            assert 0 < tn.log_bayes_capacity(mechanism, domain=domain, dim=2**53) < inf
        assert 0 < of_truncated(1.0, 0.0, 1e60, *domain) < inf
        assert 0 < of_truncated(1.0, 0.0, 1e-60, *domain) < inf


@pytest.mark.parametrize("width", [1e-300, 1e-200, 1e-160, 1e-121, 1e-119])
@pytest.mark.parametrize(("start", "end"), [(0.5, 2.0), (-1e30, 2.0), (0.0, 1e90)])
def test_a_support_next_to_nothing_has_the_uniform_law(width, start, end):
    with mp.workdps(30):
        truth = mp.log1p(mpf(width) * (mpf(end) - mpf(start)) / 8)
        result = mpf(of_truncated(1.0, 0.0, width, start, end))
        assert truth <= result <= truth * (1 + mpf(PROMISED)) + mpf("2e-300")


def test_a_support_that_underflows_counts():
    assert 1e-226 < of_truncated(1.0, 0.0, 5e-324, 0.0, 1e100) < 1e-200


def test_results_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(8)
    mechanism = tn.RectifiedGaussian(rng.uniform(0.1, 1, 20_000), -1.0, 1.0)
    one, two = with_threads(lambda: tn.log_bayes_capacity(mechanism, domain=(-2.0, 0.5)), 1, 2)
    assert one == two


@pytest.mark.parametrize(
    ("mechanism", "arguments", "message"),
    [
        (tn.Gaussian(1.0), {}, "radius or domain"),
        (tn.Gaussian(1.0), {"radius": -1.0}, "radius must be at least 0"),
        (tn.Gaussian(1.0), {"radius": nan}, "radius must be finite"),
        (tn.Gaussian(1.0), {"radius": 1.0, "dim": 0}, "dim must be between 1"),
        (tn.Gaussian(1.0), {"radius": 1.0, "dim": [3, 0]}, "dim must be between 1"),
        (tn.Gaussian(1.0), {"radius": [1.0, 2.0], "dim": [3, 4, 5]}, "broadcast"),
        (tn.Gaussian(1.0), {"radius": [], "dim": 3}, "radius must be a number or a sequence"),
        (tn.Gaussian(1e-200), {"radius": 1.0}, "within 1e\\+100 sigma"),
        (tn.Gaussian(1.0), {"radius": 1.0, "domain": (0, 1)}, "domain must be None"),
        (tn.Gaussian([1.0, 2.0]), {"radius": 1.0}, "sigma must be one number"),
        (tn.Gaussian(1.0), {"domain": (0, inf)}, "finite"),
        (tn.Gaussian(1.0), {"domain": (1, 0)}, "domain must be a pair lower <= upper; got 1.0"),
        (tn.Gaussian(1.0), {"domain": 3.0}, "domain must be a pair"),
        (tn.Gaussian(1.0), {"domain": (0, 1, 2)}, "domain must be a pair"),
        (tn.Gaussian(1.0), {"domain": (0, [1, 2]), "dim": 3}, "dim must be 2"),
        (tn.Gaussian([1.0, 2.0]), {"domain": (0, [1, 2, 3])}, "broadcast"),
        (tn.Gaussian(1.0), {"domain": ([], [])}, "not empty"),
        (tn.StochasticSign(1.0), {}, "domain must say"),
        (tn.StochasticSign(1.0), {"domain": (nan, 1)}, "domain must be a number"),
        (tn.StochasticSign(1.0), {"domain": (inf, inf)}, "domain must be a pair"),
        (tn.StochasticSign(1e-200), {"domain": (0, 1)}, "within 1e\\+100 sigma"),
        (tn.StochasticSign(1.0), {"domain": (0, 1), "radius": 1.0}, "radius must be None"),
        (tn.TruncatedGaussian(1.0, 0.0, 1.0), {"domain": (-inf, 1)}, "finite"),
        (tn.RectifiedGaussian(1.0, 0.0, 1.0), {"radius": 1.0}, "radius must be None"),
        (tn.VonMisesFisher(1.0, 3), {"radius": 1.0}, "radius must be None"),
        (tn.VonMisesFisher(1.0, 3), {"domain": (0, 1)}, "domain must be None"),
        (tn.VonMisesFisher(1.0, 3), {"dim": 4}, "dim must be left out"),
        (tn.LiftedVonMisesFisher(1.0, 3, 1.0), {"radius": -1.0}, "radius must be at least 0"),
        (tn.LiftedVonMisesFisher(1.0, 3, 1.0), {"domain": (0, 1)}, "domain must be None"),
    ],
)
def test_bad_values(mechanism, arguments, message):
    with pytest.raises(ValueError, match=message):
        tn.log_bayes_capacity(mechanism, **arguments)


@pytest.mark.parametrize(
    ("mechanism", "arguments", "message"),
    [
        (object(), {}, "mechanism must be one that has a Bayes capacity"),
        (tn.Gaussian(1.0), {"radius": "1"}, "radius"),
        (tn.Gaussian(1.0), {"radius": 1.0, "dim": 1.5}, "dim must be an integer"),
        (tn.Gaussian(1.0), {"radius": 1.0, "dim": [1.5]}, "dim must hold integers"),
        (tn.Gaussian(1.0), {"domain": (0, 1), "dim": [1, 2]}, "dim must be an integer"),
        (tn.Gaussian(1.0), {"domain": ("a", "b")}, "domain must hold"),
    ],
)
def test_bad_types(mechanism, arguments, message):
    with pytest.raises(TypeError, match=message):
        tn.log_bayes_capacity(mechanism, **arguments)


def test_other_mechanisms_may_register():
    class Nothing:
        pass

    tn.log_bayes_capacity.register(Nothing, lambda mechanism, **where: 0.0)
    assert tn.log_bayes_capacity(Nothing(), dim=3) == 0.0
