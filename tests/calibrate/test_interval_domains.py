"""Noise in an interval: pure DP, at 120 digits at most epsilon, and not far below.

Boxes and delta > 0 have tests of their own.
"""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from by_night import by_night
from calibrated import KINDS, epsilon_of, generalized_sigma, scale_of, theorem_sigma
from mpmath import mp, mpf
from reference import bounded_losses
from scipy.special import log_ndtr, ndtr

import tightnoise as tn

SCALE = {kind: scale_of(kind) for kind in KINDS}
EPSILON = {kind: epsilon_of(kind) for kind in KINDS}
LOSS = {kind: getattr(bounded_losses, kind) for kind in KINDS}
REFERENCES = json.loads(
    (Path(__file__).parents[1] / "reference" / "bounded_gaussian.json").read_text()
)["refs"]
every_kind = pytest.mark.parametrize("kind", KINDS)


def references(name, *inputs):
    """Return the numbers of some references, and what they lead to."""
    rows = [row for row in REFERENCES if row["fn"] == name]
    assert rows
    return [(*(float(row["inputs"][key]) for key in inputs), mpf(row["value"])) for row in rows]


def exact_loss(loss, sensitivity, lower, upper, scale):
    """Return it with the real difference of the bounds."""
    with mp.workdps(bounded_losses.DIGITS):
        w = (mpf(float(upper)) - mpf(float(lower))) / mpf(float(scale))
        return loss(min(mpf(float(sensitivity)) / mpf(float(scale)), w), w)[0]


def problems(rng, n):
    """Return epsilon, lower, upper and sensitivity, of all sizes."""
    epsilon = 10.0 ** rng.uniform(-9, 3, n)
    width = 10.0 ** rng.uniform(-6, 6, n)
    lower = width * rng.uniform(-1, 1, n)
    share = 10.0 ** rng.uniform(-9, 0, n)
    share[::5] = rng.random(n)[::5]
    share[1::10] = 1.0
    return zip(epsilon, lower, lower + width, share * width, strict=True)


@every_kind
def test_private_and_no_larger_than_needed(rng, kind, check_error):
    slack, excess = [], []
    for epsilon, lower, upper, sensitivity in problems(rng, 250):
        scale = SCALE[kind](epsilon, lower, upper, sensitivity)
        accounted = EPSILON[kind](scale, lower, upper, sensitivity)
        loss = exact_loss(LOSS[kind], sensitivity, lower, upper, scale)
        assert loss <= min(epsilon, accounted)
        slack.append(float(1 - loss / mpf(float(epsilon))))
        excess.append(float(mpf(accounted) / loss - 1))
    check_error(f"{kind}, calibrated: epsilon not used", max(slack), 5e-13)
    check_error(f"{kind}, accounted: above the truth", max(excess), 3e-14)


def test_the_theorem_asks_for_more(rng, check_error):
    slack = []
    for epsilon, lower, upper, sensitivity in problems(rng, 250):
        sigma = theorem_sigma(epsilon, lower, upper, sensitivity)
        bound = exact_loss(bounded_losses.theorem_bound, sensitivity, lower, upper, sigma)
        assert EPSILON["truncated"](sigma, lower, upper, sensitivity) < bound <= epsilon
        slack.append(float(1 - bound / mpf(float(epsilon))))
    check_error("theorem's sigma: epsilon not used", max(slack), 5e-13)


def test_references(check_error):
    for width, c, sigma, epsilon in references("eps_exact_1d", "L", "DQ", "sigma"):
        assert EPSILON["truncated"](sigma, 0.0, width, c) == pytest.approx(
            float(epsilon), rel=1e-13
        )
    for name, method in (
        ("sigma2_exact_1d", SCALE["truncated"]),
        ("sigma2_paper_1d", theorem_sigma),
    ):
        for width, c, epsilon, square in references(name, "L", "DQ", "eps"):
            assert method(epsilon, 0.0, width, c) ** 2 == pytest.approx(float(square), rel=1e-12)
    for width, c, epsilon, exact in references("lambda_bounded_laplace_1d", "L", "DQ", "eps"):
        for lower in (0.0, -3.0):
            scale = SCALE["bounded_laplace"](epsilon, lower, lower + width, c)
            error = float(abs(mpf(scale) / exact - 1))
            check_error("bounded Laplace: calibrated scale", error, 2e-12)


def log_density(kind, x, s, scale, lower, upper):
    """Return it at an output x for a value s; that of clipped noise at a bound is of the atom."""
    if kind == "bounded_laplace":
        mass = -0.5 * (np.expm1((lower - s) / scale) + np.expm1((s - upper) / scale))
        return -np.abs(x - s) / scale - np.log(mass)
    inside = -0.5 * ((x - s) / scale) ** 2
    if kind == "truncated":
        return inside - np.log(ndtr((upper - s) / scale) - ndtr((lower - s) / scale))
    at_ends = np.where(x <= lower, log_ndtr((lower - s) / scale), log_ndtr((s - upper) / scale))
    return np.where((x > lower) & (x < upper), inside, at_ends)


@every_kind
@pytest.mark.parametrize("steps", [1, 7, 20, 33, 40])  # the sensitivity, in steps of the grid
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_by_brute_force(kind, epsilon, steps):
    """All pairs of values and all outputs on a grid that holds the worst case."""
    lower, upper = -2.0, 3.0
    grid = np.linspace(lower, upper, 41)
    scale = SCALE[kind](epsilon, lower, upper, steps * (upper - lower) / 40)
    logs = log_density(kind, grid, grid[:, np.newaxis], scale, lower, upper)
    ratios = (logs[:, np.newaxis] - logs).max(axis=2)
    near = np.abs(np.subtract.outer(np.arange(41), np.arange(41))) <= steps
    assert ratios[near].max() == pytest.approx(epsilon, rel=1e-9)
    if steps < 40:  # and no more noise than needed: those a step farther apart lose more
        assert ratios.max() > epsilon


@every_kind
def test_by_brute_force_between_the_nodes(rng, kind):
    """Random values, not on a grid: never above epsilon."""
    for _ in range(20):
        epsilon, share = 10.0 ** rng.uniform(-2, 1), rng.uniform(0.01, 1.0)
        scale = SCALE[kind](epsilon, 0.0, 1.0, share)
        s = rng.random(20000)
        other = np.clip(s + share * rng.uniform(-1, 1, s.size), 0.0, 1.0)
        x = rng.integers(0, 2, s.size)  # the log ratio is greatest at an end
        place = (scale, 0.0, 1.0)
        ratio = log_density(kind, x, s, *place) - log_density(kind, x, other, *place)
        assert ratio.max() <= epsilon * (1 + 1e-9)


@every_kind
def test_the_mechanism_agrees(kind):
    """The loss of the mechanism itself at the worst pair."""
    mechanism = KINDS[kind][1](SCALE[kind](0.7, 1.0, 9.0, 2.5), 1.0, 9.0)
    x = np.array([1.0, 9.0])
    if kind == "rectified":
        loss = float(mechanism.renyi_divergence(6.5, 9.0, np.inf))
    else:
        loss = (mechanism.logpdf(x, [6.5, 1.0]) - mechanism.logpdf(x, [9.0, 3.5])).max()
        loss = max(loss, (mechanism.logpdf(x, [1.0, 6.5]) - mechanism.logpdf(x, [3.5, 9.0])).max())
    assert loss == pytest.approx(0.7, rel=1e-11)
    assert mechanism.cost(sensitivity=2.5).epsilon(0.0) >= 0.7 * (1 - 1e-9)


METHODS = {**SCALE, "paper": theorem_sigma, "generalized": generalized_sigma}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("share", [1.0, *by_night(0.999, 0.5, 0.1, 1e-3), 1e-9])
def test_monotone(method, share):
    """Also from one number to the next."""
    for epsilon in (1e-9, 1e-3, 0.3, 1.0, 7.0, 1e3):
        adjacent = epsilon * (1 + np.arange(20) * 2.0**-52)
        assert (np.diff(METHODS[method](adjacent, 0.0, 3.0, 3.0 * share)) <= 0).all()
    dense = np.geomspace(1e-9, 1e3, 40)
    assert (np.diff(METHODS[method](dense, 0.0, 3.0, 3.0 * share)) < 0).all()


def test_one_kind_against_another():
    epsilon = np.geomspace(1e-6, 10.0, 50)
    for share in (1.0, 0.5, 1e-3):  # the atoms tell more
        where = (0.0, 1.0, share)
        assert (SCALE["rectified"](epsilon, *where) > SCALE["truncated"](epsilon, *where)).all()
    laplace = SCALE["bounded_laplace"]  # between once and twice the scale of plain Laplace noise
    for epsilon, width in itertools.product((1e-6, 1e-3, 1.0, 40.0), (1.0, 1.5, 10.0, 1e6)):
        assert 1 - 1e-12 <= laplace(epsilon, 0.0, width, 1.0) * epsilon <= 2
    assert laplace(1e-6, 0.0, 1e9, 1.0) * 1e-6 > 1.99
    assert laplace(500.0, 0.0, 1e9, 1.0) * 500.0 < 1.01


@every_kind
def test_more_than_the_domain_allows_is_the_domain(kind):
    for epsilon in (0.01, 1.0, 30.0):
        assert SCALE[kind](epsilon, -1.0, 1.5, 7.0) == SCALE[kind](epsilon, -1.0, 1.5, 2.5)


def test_all_of_the_domain():
    """Neighbours at opposite ends: sigma^2 = L^2/(2 epsilon), but for the rounding of the cost."""
    sigma = SCALE["truncated"]
    assert sigma(0.5, 0.0, 1.0, 1.0) == pytest.approx(1.0, rel=2e-14)
    assert sigma(2.0, -5.0, 5.0, 10.0) == pytest.approx(5.0, rel=2e-14)
    assert sigma(8.0, 0.0, 1e-300, 7.0) == pytest.approx(2.5e-301, rel=2e-14)
    with mp.workdps(60):
        for epsilon in np.geomspace(1e-9, 1e3, 100):
            least = sigma(epsilon, 0.0, 7.0, 7.0)
            assert 49 / (2 * mpf(float(epsilon))) <= mpf(least) ** 2
            assert mpf(least * (1 - 2e-13)) ** 2 < 49 / (2 * mpf(float(epsilon)))
    for epsilon in (0.01, 1.0, 30.0):
        scale = SCALE["bounded_laplace"](epsilon, -1.0, 1.5, 7.0)
        assert scale == pytest.approx(2.5 / epsilon, rel=1e-12)


@every_kind
def test_bounds_whose_difference_is_no_number(kind):
    """0.7 - 0.1 is rounded: neither down, nor so that all of the domain is more than that."""
    for lower, upper in ((0.1, 0.7), (-1e-20, 1.0), (-0.3, 1e16 / 3), (0.1, 0.3)):
        for sensitivity in (upper - lower, (upper - lower) / 3):
            scale = SCALE[kind](1.0, lower, upper, sensitivity)
            loss = exact_loss(LOSS[kind], sensitivity, lower, upper, scale)
            assert 1 - mpf("1e-12") < loss <= 1


@every_kind
def test_extremes(kind):
    calibrate, account = SCALE[kind], EPSILON[kind]
    epsilon = np.geomspace(1e-9, 1e3, 13)
    for ratio in 10.0 ** np.arange(10):
        scale = calibrate(epsilon, 0.0, ratio, 1.0)
        assert account(scale, 0.0, ratio, 1.0) == pytest.approx(epsilon, rel=2e-12)
        for length in (2.0**-990, 2.0**980):  # only ratios count
            assert (calibrate(epsilon, 0.0, ratio * length, length) == scale * length).all()
    least, greatest = calibrate([1e-100, 1e100], 0.0, 1.0, 1e-100)
    known = {"truncated": 0.7538720841, "rectified": 1.330155990, "bounded_laplace": least}
    assert least == pytest.approx(known[kind], rel=1e-9)
    assert greatest == pytest.approx(1e-200 if kind == "bounded_laplace" else 1e-100, rel=1e-9)
    assert account(1e-300, 0.0, 1e10, 1.0) >= 1e300
    assert 0 < account(1e300, 0.0, 1.0, 1.0) < 1e-299


@every_kind
def test_losses_of_any_numbers(kind):
    """Positive, perhaps infinite, and falling with the scale."""
    scales = 10.0 ** np.arange(-307, 309, 16)
    for width in 10.0 ** np.arange(-307, 308, 82):
        for share in (1.0, 0.5, 1e-9, 1e-99):
            if width * share > 1e-305:
                losses = EPSILON[kind](scales, 0.0, width, width * share)
                assert (losses > 0).all()
                assert (losses[1:] <= losses[:-1]).all()


def test_generalized():
    """sum (2 L c + c^2)/epsilon, by Cauchy-Schwarz where only the L2 norm of c is known."""

    def squared(*where):
        return generalized_sigma(2.0, *where) ** 2

    assert squared(0.0, 10.0, 4.0) == pytest.approx(48.0, rel=1e-13)
    assert squared([0.0, 1.0], [10.0, 9.0], [4.0, 2.0]) == pytest.approx(66.0, rel=1e-13)
    assert squared([0.0, 1.0], [3.0, 5.0], 2.0) == pytest.approx(12.0, rel=1e-13)
    assert squared(0.0, 3.0, 5.0) == squared(0.0, 3.0, 3.0)
    assert squared(0.0, 10.0, 4.0) > theorem_sigma(2.0, 0.0, 10.0, 4.0) ** 2
    with mp.workdps(50):
        for epsilon in np.geomspace(1e-9, 1e3, 50):
            sigma = generalized_sigma(epsilon, 0.0, 10.0, 4.0)
            assert mpf(sigma) ** 2 * mpf(float(epsilon)) >= 96


# --- bad arguments ------------------------------------------------------------------------------
CALIBRATE = {kind: functions[0] for kind, functions in KINDS.items()}
GOOD = {"epsilon": 1.0, "delta": 0.0, "lower": 0.0, "upper": 1.0, "sensitivity": 1.0}


@every_kind
def test_no_normal_scale_says_why(kind):
    for epsilon, width in ((1e-100, 1e300), (1e3, 1e-307)):
        if (kind, width) != ("rectified", 1e-307):
            with pytest.raises(tn.CalibrationError, match=r"no scale between 2.3e-308 and 1.8e308"):
                SCALE[kind](epsilon, 0.0, width, width)


@every_kind
@pytest.mark.parametrize("name", GOOD)
def test_bad_numbers_are_refused_by_name(kind, name):
    for bad in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match=f"{name} must be"):
            CALIBRATE[kind](**{**GOOD, name: bad})
    for bad in ("1", True):
        with pytest.raises(TypeError, match=name):
            CALIBRATE[kind](**{**GOOD, name: bad})


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"epsilon": 0}, ValueError, r"epsilon must be between 1e-100 and 1e\+100; got 0"),
        ({"epsilon": -1.0}, ValueError, "epsilon must be at least 0"),
        ({"lower": 1.0}, ValueError, r"lower must be less than upper; got lower 1\.0 and upper 1"),
        (
            {"lower": [0.0, 3.0], "upper": [1.0, 2.0]},
            ValueError,
            r"lower must be less than upper; got lower 3\.0 and",
        ),
        (
            {"lower": -1.5e308, "upper": 1.5e308},
            ValueError,
            r"upper - lower must be at most 1\.79769e\+308",
        ),
        ({"sensitivity": -1}, ValueError, "sensitivity must be greater than 0; got -1"),
        ({"sensitivity": 1e-101}, ValueError, "sensitivity must be at least 1e-100 of upper - low"),
        ({"sensitivity": [1.0]}, TypeError, "sensitivity must be a real number"),
        ({"sensitivity": None}, TypeError, "sensitivity or coordinate_sensitivity must be given"),
        ({"coordinate_sensitivity": 1.0}, TypeError, "must be given, not both"),
        (
            {"sensitivity": None, "coordinate_sensitivity": [1.0, 0.0]},
            ValueError,
            "coordinate_sensitivity must be greater than 0; got 0",
        ),
        ({"delta": 1}, ValueError, "delta must be at least 0 and below 1; got 1"),
        (
            {"lower": [0.0, 0.0], "upper": [1.0, 1.0, 1.0]},
            ValueError,
            r"one shape; got shapes \(2,\), \(3,\) and \(\)",
        ),
        ({"lower": []}, ValueError, "lower must be a number, or an array of at least one"),
        ({"count": 0}, ValueError, "count must be between 1 and"),
        ({"beside": 1.0}, TypeError, r"beside must be a Cost; got 1\.0"),
    ],
)
@every_kind
def test_other_bad_input(kind, change, error, says):
    with pytest.raises(error, match=says):
        CALIBRATE[kind](**{**GOOD, **change})


@every_kind
def test_scales_that_are_no_positive_numbers(kind):
    for scale in (0.0, math.nan):
        with pytest.raises(ValueError, match=f"{KINDS[kind][2]} must be"):
            EPSILON[kind](scale, 0.0, 1.0, 1.0)
