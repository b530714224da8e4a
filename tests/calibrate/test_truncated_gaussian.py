"""The truncated Gaussian in an interval: at 120 digits its loss is at most epsilon, not far below.

Boxes and delta > 0 have tests of their own.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from calibrated import epsilon_of, generalized_sigma, scale_of, theorem_sigma
from mpmath import mp, mpf
from reference import bounded_losses
from scipy.special import ndtr

import tightnoise as tn

SIGMA = {"exact": scale_of("truncated"), "paper": theorem_sigma, "generalized": generalized_sigma}
truncated_gaussian = SIGMA["exact"]
truncated_gaussian_epsilon = epsilon_of("truncated")

REFERENCE = Path(__file__).parent.parent / "reference" / "bounded_gaussian.json"
METHODS = {"exact": bounded_losses.truncated, "paper": bounded_losses.theorem_bound}


def references(name):
    return [r for r in json.loads(REFERENCE.read_text())["refs"] if r["fn"] == name]


def exact_loss(family, sensitivity, lower, upper, sigma):
    """Return the loss of `family` with the real difference of the bounds."""
    with mp.workdps(bounded_losses.DIGITS):
        w = (mpf(float(upper)) - mpf(float(lower))) / mpf(float(sigma))
        return family(min(mpf(float(sensitivity)) / mpf(float(sigma)), w), w)[0]


def problems(rng, n):
    """Return epsilon, lower, upper and sensitivity, of all sizes."""
    epsilon = 10.0 ** rng.uniform(-9, 3, n)
    width = 10.0 ** rng.uniform(-6, 6, n)
    lower = width * rng.uniform(-1, 1, n)
    share = 10.0 ** rng.uniform(-9, 0, n)
    share[::5] = rng.random(n)[::5]
    share[1::10] = 1.0
    return epsilon, lower, lower + width, share * width


@pytest.mark.parametrize("method", METHODS)
def test_private_and_no_larger_than_needed(rng, method, check_error):
    slack, excess = [], []
    for epsilon, lower, upper, sensitivity in zip(*problems(rng, 250), strict=True):
        sigma = SIGMA[method](epsilon, lower, upper, sensitivity)
        loss = exact_loss(METHODS[method], sensitivity, lower, upper, sigma)
        assert loss <= epsilon
        slack.append(float(1 - loss / mpf(float(epsilon))))
        if method == "exact":
            accounted = truncated_gaussian_epsilon(sigma, lower, upper, sensitivity)
            assert accounted >= loss
            excess.append(float(mpf(accounted) / loss - 1))
        else:  # its bound is above the loss
            assert loss > truncated_gaussian_epsilon(sigma, lower, upper, sensitivity)
    check_error(f"truncated_gaussian, {method}: epsilon not used", max(slack), 5e-13)
    if excess:
        check_error("truncated_gaussian_epsilon: above the truth", max(excess), 3e-14)


def test_references():
    for case in references("eps_exact_1d"):
        width, c, sigma = (float(case["inputs"][name]) for name in ("L", "DQ", "sigma"))
        epsilon = truncated_gaussian_epsilon(sigma, 0.0, width, c)
        assert epsilon == pytest.approx(float(case["value"]), rel=1e-13)
    for name, method in (("sigma2_exact_1d", "exact"), ("sigma2_paper_1d", "paper")):
        for case in references(name):
            width, c, epsilon = (float(case["inputs"][key]) for key in ("L", "DQ", "eps"))
            sigma = SIGMA[method](epsilon, 0.0, width, c)
            assert sigma**2 == pytest.approx(float(case["value"]), rel=1e-12)


def log_density(x, s, sigma, lower, upper):
    mass = ndtr((upper - s) / sigma) - ndtr((lower - s) / sigma)
    return -0.5 * ((x - s) / sigma) ** 2 - np.log(mass)


@pytest.mark.parametrize("steps", [1, 7, 20, 33, 40])  # the sensitivity, in steps of the grid
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_by_brute_force(epsilon, steps):
    """All pairs of values and all outputs on a grid that holds the worst case."""
    lower, upper = -2.0, 3.0
    grid = np.linspace(lower, upper, 41)
    sensitivity = steps * (upper - lower) / 40
    sigma = truncated_gaussian(epsilon, lower, upper, sensitivity)
    logs = log_density(grid, grid[:, np.newaxis], sigma, lower, upper)
    ratios = (logs[:, np.newaxis] - logs).max(axis=2)
    near = np.abs(np.subtract.outer(np.arange(41), np.arange(41))) <= steps
    assert ratios[near].max() == pytest.approx(epsilon, rel=1e-9)
    if steps < 40:  # and no more noise than needed: those a step farther apart lose more
        assert ratios.max() > epsilon


def test_by_brute_force_between_the_nodes(rng):
    """Random values, not on a grid: never above epsilon."""
    for _ in range(20):
        epsilon, share = 10.0 ** rng.uniform(-2, 1), rng.uniform(0.01, 1.0)
        sigma = truncated_gaussian(epsilon, 0.0, 1.0, share)
        s = rng.random(20000)
        other = np.clip(s + share * rng.uniform(-1, 1, s.size), 0.0, 1.0)
        x = rng.integers(0, 2, s.size)  # the log ratio is linear: greatest at an end
        ratio = log_density(x, s, sigma, 0.0, 1.0) - log_density(x, other, sigma, 0.0, 1.0)
        assert ratio.max() <= epsilon * (1 + 1e-9)


def test_the_mechanism_agrees():
    """The loss of TruncatedGaussian itself at the worst pair."""
    sigma = truncated_gaussian(0.7, 1.0, 9.0, 2.5)
    mechanism = tn.TruncatedGaussian(sigma, 1.0, 9.0)
    assert float(mechanism.renyi_divergence(6.5, 9.0, np.inf)) == pytest.approx(0.7, rel=1e-11)


@pytest.mark.parametrize("method", ["exact", "paper", "generalized"])
@pytest.mark.parametrize("share", [1.0, 0.999, 0.5, 0.1, 1e-3, 1e-9])
def test_monotone(method, share):
    """Also from one number to the next."""
    for epsilon in (1e-9, 1e-3, 0.3, 1.0, 7.0, 1e3):
        adjacent = epsilon * (1 + np.arange(100) * 2.0**-52)
        assert (np.diff(SIGMA[method](adjacent, 0.0, 3.0, 3.0 * share)) <= 0).all()
    dense = np.geomspace(1e-9, 1e3, 500)
    assert (np.diff(SIGMA[method](dense, 0.0, 3.0, 3.0 * share)) < 0).all()


def test_all_of_the_domain():
    """Neighbours at opposite ends: sigma^2 = L^2/(2 epsilon), but for the rounding of the cost."""
    assert truncated_gaussian(0.5, 0.0, 1.0, 1.0) == pytest.approx(1.0, rel=2e-14)
    assert truncated_gaussian(2.0, -5.0, 5.0, 10.0) == pytest.approx(5.0, rel=2e-14)
    assert truncated_gaussian(8.0, 0.0, 1e-300, 7.0) == pytest.approx(2.5e-301, rel=2e-14)
    with mp.workdps(60):
        for epsilon in np.geomspace(1e-9, 1e3, 100):
            sigma = truncated_gaussian(epsilon, 0.0, 7.0, 7.0)
            assert 49 / (2 * mpf(float(epsilon))) <= mpf(sigma) ** 2
            assert mpf(sigma * (1 - 2e-13)) ** 2 < 49 / (2 * mpf(float(epsilon)))
    more = truncated_gaussian([0.1, 1.0, 3.0], 0.0, 7.0, 8.0)
    assert (more == truncated_gaussian([0.1, 1.0, 3.0], 0.0, 7.0, 7.0)).all()


def test_bounds_whose_difference_is_no_number():
    """0.7 - 0.1 is rounded: neither down, nor so that all of the domain is more than that."""
    for lower, upper in ((0.1, 0.7), (-1e-20, 1.0), (-0.3, 1e16 / 3), (0.1, 0.3)):
        for sensitivity in (upper - lower, (upper - lower) / 3):
            sigma = truncated_gaussian(1.0, lower, upper, sensitivity)
            loss = exact_loss(bounded_losses.truncated, sensitivity, lower, upper, sigma)
            assert 1 - mpf("1e-12") < loss <= 1


def test_extremes():
    epsilon = np.geomspace(1e-9, 1e3, 13)
    for ratio in 10.0 ** np.arange(10):
        sigma = truncated_gaussian(epsilon, 0.0, ratio, 1.0)
        again = truncated_gaussian_epsilon(sigma, 0.0, ratio, 1.0)
        assert again == pytest.approx(epsilon, rel=1e-12)
        for length in (2.0**-990, 2.0**980):  # only ratios count
            scaled = truncated_gaussian(epsilon, 0.0, ratio * length, length)
            assert (scaled == sigma * length).all()
    assert truncated_gaussian([1e-100, 1e100], 0.0, 1.0, 1e-100) == pytest.approx(
        [0.7538720841, 1e-100], rel=1e-9
    )
    assert truncated_gaussian_epsilon(1e-300, 0.0, 1e10, 1.0) == math.inf
    assert truncated_gaussian_epsilon(1e-100, 0.0, 1.0, 1e-100) == pytest.approx(1e100)
    assert 0 < truncated_gaussian_epsilon(1e300, 0.0, 1.0, 1.0) < 1e-300


@pytest.mark.parametrize("family", ["truncated", "rectified", "bounded_laplace"])
def test_losses_of_any_numbers(family):
    """Positive, perhaps infinite, and falling with the scale."""
    scales, epsilon_at = 10.0 ** np.arange(-307, 309, 5), epsilon_of(family)
    for width in 10.0 ** np.arange(-307, 308, 41):
        for share in (1.0, 0.5, 1e-9, 1e-99):
            if width * share > 1e-305:
                losses = epsilon_at(scales, 0.0, width, width * share)
                assert (losses > 0).all()
                assert (losses[1:] <= losses[:-1]).all()


def test_generalized():
    """sum (2 L c + c^2)/epsilon, by Cauchy-Schwarz where only the L2 norm of c is known."""

    def squared(*where):
        return SIGMA["generalized"](2.0, *where) ** 2

    assert squared(0.0, 10.0, 4.0) == pytest.approx(48.0, rel=1e-13)
    assert squared([0.0, 1.0], [10.0, 9.0], [4.0, 2.0]) == pytest.approx(66.0, rel=1e-13)
    assert squared([0.0, 1.0], [3.0, 5.0], 2.0) == pytest.approx(12.0, rel=1e-13)
    assert squared(0.0, 3.0, 5.0) == squared(0.0, 3.0, 3.0)
    assert squared(0.0, 10.0, 4.0) > SIGMA["paper"](2.0, 0.0, 10.0, 4.0) ** 2
    with mp.workdps(50):
        for epsilon in np.geomspace(1e-9, 1e3, 50):
            sigma = SIGMA["generalized"](epsilon, 0.0, 10.0, 4.0)
            assert mpf(sigma) ** 2 * mpf(float(epsilon)) >= 96


def test_shapes():
    assert type(truncated_gaussian(1, 0, 2, 1)) is float
    assert type(truncated_gaussian(np.array(1.0), np.float64(0), 2, 1)) is float
    assert type(truncated_gaussian_epsilon(1, 0, 2, 1)) is float
    many = truncated_gaussian(np.full((50, 60), 1.0), 0, 2, 1)
    assert many.shape == (50, 60)
    assert (many == truncated_gaussian(1.0, lower=0.0, upper=2.0, sensitivity=1.0)).all()
    assert truncated_gaussian(np.ones(0), 0, 2, 1).shape == (0,)
    assert truncated_gaussian_epsilon([[1.0], [2.0]], 0, 2, 1).shape == (2, 1)


def test_no_normal_sigma_says_why():
    with pytest.raises(tn.CalibrationError, match=r"no scale between 2.3e-308 and 1.8e308"):
        truncated_gaussian(1e-100, 0.0, 1e300, 1e300)
    with pytest.raises(tn.CalibrationError, match="no scale between"):
        truncated_gaussian(1e3, 0.0, 1e-307, 1e-307)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["epsilon", "lower", "upper", "sensitivity", "delta"])
def test_bad_numbers_are_refused_by_name(name, bad):
    arguments = {"epsilon": 1.0, "lower": 0.0, "upper": 1.0, "sensitivity": 1.0, "delta": 0.0}
    with pytest.raises(ValueError, match=f"{name} must be"):
        truncated_gaussian(**{**arguments, name: bad})
    with pytest.raises(TypeError, match=name):
        truncated_gaussian(**{**arguments, name: "1"})
    with pytest.raises(TypeError, match=name):
        truncated_gaussian(**{**arguments, name: True})


def test_other_bad_input():
    def calibrated(epsilon=1.0, delta=0.0, lower=0.0, upper=1.0, sensitivity=1.0, **given):
        where = {"lower": lower, "upper": upper, "sensitivity": sensitivity, **given}
        return tn.calibrate.truncated_gaussian(epsilon, delta, **where)

    for change, error, says in (
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
    ):
        with pytest.raises(error, match=says):
            calibrated(**change)
