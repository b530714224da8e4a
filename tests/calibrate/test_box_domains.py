"""Calibration in a box: the published tables, and the definition of privacy by brute force."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from calibrated import epsilon_of, scale_of, theorem_sigma
from scipy import optimize
from scipy.special import log_ndtr, ndtr

import tightnoise as tn

truncated_gaussian, bounded_laplace = scale_of("truncated"), scale_of("bounded_laplace")
REFERENCE = Path(__file__).parent.parent / "reference" / "bounded_gaussian.json"
LOWER, UPPER = [0.0, 1.0], [10.0, 9.0]
RADIUS = 2 * math.sqrt(5)


def test_the_theorem_for_each_coordinate():
    """(4, 2) is of length 2 sqrt 5: one of the directions of the ball."""
    for epsilon in (0.1, 1.0, 3.0):
        of_box = theorem_sigma(epsilon, LOWER, UPPER, [4, 2])
        assert truncated_gaussian(epsilon, LOWER, UPPER, [4, 2]) < of_box
        assert of_box <= theorem_sigma(epsilon, LOWER, UPPER, RADIUS)


def test_references():
    ways = {
        "sigma2_paper_table1": (RADIUS, theorem_sigma),
        "sigma2_exact_table1_ball": (RADIUS, truncated_gaussian),
        "sigma2_exact_table1_box42": ([4, 2], truncated_gaussian),
    }
    cases = [r for r in json.loads(REFERENCE.read_text())["refs"] if r["fn"] in ways]
    assert len(cases) >= 7
    for case in cases:
        sensitivity, method = ways[case["fn"]]
        epsilon = float(case["inputs"]["eps"])
        sigma = method(epsilon, LOWER, UPPER, sensitivity)
        assert sigma**2 == pytest.approx(float(case["value"]), rel=2e-12)


def log_truncated(x, s, scale, width):
    inside = ndtr((width - s) / scale) - ndtr(-s / scale)
    return -(((x - s) / scale) ** 2) / 2 - np.log(inside)


def log_laplace(x, s, scale, width):
    return -np.abs(x - s) / scale - np.log(2 - np.exp(-s / scale) - np.exp((s - width) / scale))


def log_rectified(x, s, scale, width):
    at_ends = np.where(x <= 0, log_ndtr(-s / scale), log_ndtr((s - width) / scale))
    return np.where((x > 0) & (x < width), -(((x - s) / scale) ** 2) / 2, at_ends)


NOISES = {
    "truncated": (truncated_gaussian, epsilon_of("truncated"), log_truncated),
    "rectified": (scale_of("rectified"), epsilon_of("rectified"), log_rectified),
    "bounded_laplace": (bounded_laplace, epsilon_of("bounded_laplace"), log_laplace),
}


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize("noise", NOISES)
def test_no_pair_of_neighbours_has_a_greater_loss(rng, noise, dim):
    calibrate, _, log_density = NOISES[noise]
    for epsilon in (0.1, 1.0, 5.0):
        width = rng.uniform(0.5, 10, dim)
        radius = float(rng.uniform(0.1, 0.8) * np.linalg.norm(width))
        scale = calibrate(epsilon, np.zeros(dim), width, radius)
        greatest = 0.0
        for _ in range(200):
            direction = np.abs(rng.normal(size=(50, dim))) ** rng.choice([0.3, 1, 3])
            step = radius * direction / np.linalg.norm(direction, axis=1)[:, None]
            step = np.minimum(step * rng.choice([0.5, 1, 1, 1]), width)
            first = (width - step) * rng.choice([0, 1, 1, rng.random()])
            for x in (np.zeros(dim), width, width * rng.random((50, dim))):
                log_p = log_density(x, first, scale, width)
                log_q = log_density(x, first + step, scale, width)
                greatest = max(greatest, np.abs((log_p - log_q).sum(axis=1)).max())
        assert 0.6 * epsilon < greatest <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize("noise", NOISES)
def test_another_optimiser_agrees(rng, noise, dim):
    _, epsilon_of, log_density = NOISES[noise]
    width = rng.uniform(1, 6, dim)
    radius = float(0.6 * np.linalg.norm(width))
    scale = 3.0

    def loss(step):
        zero = np.zeros(dim)
        return (
            log_density(zero, width - step, scale, width) - log_density(zero, width, scale, width)
        ).sum()

    if noise == "bounded_laplace":  # its worst pair is at the lower end

        def loss(step):
            zero = np.zeros(dim)
            return (
                log_density(zero, zero, scale, width) - log_density(zero, step, scale, width)
            ).sum()

    found = optimize.minimize(
        lambda step: -loss(step),
        np.full(dim, 0.4) * width,
        method="SLSQP",
        bounds=[(0, side) for side in width],
        constraints={"type": "ineq", "fun": lambda step: radius**2 - (step**2).sum()},
        options={"ftol": 1e-15, "maxiter": 500},
    )
    epsilon = epsilon_of(scale, np.zeros(dim), width, radius)
    assert -found.fun <= epsilon * (1 + 1e-10)  # SLSQP may leave the ball by a rounding error
    assert -found.fun == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("noise", NOISES)
def test_arguments(noise):
    calibrate, epsilon_of, _ = NOISES[noise]
    epsilons = np.array([[0.1, 1.0, 2.0], [3.0, 4.0, 5.0]])
    scales = calibrate(epsilons, 0.0, [1.0, 2.0, 3.0], 1.0)
    assert scales.shape == epsilons.shape
    assert (np.diff(scales.ravel()) < 0).all()
    assert epsilon_of(scales, 0.0, [1.0, 2.0, 3.0], 1.0) == pytest.approx(epsilons, rel=1e-12)
    # Numbers for the bounds, and an array of sensitivities: a cube.
    assert calibrate(1.0, 0.0, 2.0, [0.5, 0.5]) == pytest.approx(
        calibrate(0.5, 0.0, 2.0, 0.5), rel=1e-12
    )
    # A sensitivity beyond the width is the width.
    assert calibrate(1.0, 0.0, [1.0, 2.0], 100.0) == calibrate(1.0, 0.0, [1.0, 2.0], [1.0, 2.0])
    assert isinstance(calibrate(1.0, 0.0, [1.0, 2.0], 1.0), float)
    assert calibrate(1e10, 0.0, [1.0, 2.0], 1.0) > 0
    with pytest.raises(ValueError, match=r"epsilon must be between 1e-100 and 1e\+10; got 1000"):
        calibrate(1e11, 0.0, [1.0, 2.0], 1.0)
    assert calibrate(1e11, 0.0, [1.0, 2.0], [1.0, 2.0]) > 0


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("kind", ["norm", "each"])
def test_the_scale_never_rises_with_epsilon(rng, noise, kind):
    calibrate, epsilon_of, _ = NOISES[noise]
    for dim in (1, 3, 20):
        width = 10 ** rng.uniform(-2, 2, dim)
        reach = (
            10 ** rng.uniform(-3, 2) if kind == "norm" else width * 10 ** rng.uniform(-3, 0, dim)
        )
        first = 10 ** rng.uniform(-9, 3)
        units = np.arange(40) * np.spacing(first)
        epsilon = np.concatenate([first + units, first * (1 + np.geomspace(1e-14, 1e-2, 60))])
        scale = calibrate(epsilon, np.zeros(dim), width, reach)
        assert np.all(np.diff(scale) <= 0)
        assert scale[-1] < scale[0]
        spent = epsilon_of(scale, np.zeros(dim), width, reach)
        assert np.all((spent <= epsilon * (1 + 1e-13)) & (spent >= epsilon * (1 - 1e-12)))


@pytest.mark.parametrize(
    ("epsilon", "width", "radius"),
    [
        (400.0, [0.1, 70.0], 20.0),
        (372.14148598341303, [0.14165818712050715, 71.05303486051477], 18.76005805049651),
        (
            158.5,
            [93.24404430813576, 1.0622658284492839, 0.0879682631281243, 3.3591263175736623,
             62.74508390083945, 0.012330949970105184],
            102.25338225690733,
        ),
    ],
)  # fmt: skip
def test_where_slopes_jump_the_scale_is_the_least(epsilon, width, radius):
    scale = bounded_laplace(epsilon, np.zeros(len(width)), width, radius)
    spent = epsilon_of("bounded_laplace")(scale, np.zeros(len(width)), width, radius)
    assert epsilon * (1 - 1e-12) <= spent <= epsilon * (1 + 1e-13)


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize("norm", ["each", "euclidean"])
def test_all_pairs_of_bounded_laplace_noise(dim, norm, rng):
    lower, upper = np.arange(dim) - 1.0, np.arange(dim) + np.linspace(0.5, 3.0, dim)
    width = upper - lower
    sensitivity = np.linspace(0.4, 1.5, dim) if norm == "each" else 1.7
    for epsilon in (0.2, 2.0, 9.0):
        m = tn.BoundedLaplace(bounded_laplace(epsilon, lower, upper, sensitivity), lower, upper)

        def of(values, other, x, m=m):
            return (m.logpdf(x, values) - m.logpdf(x, other)).sum(axis=1)

        n = 1500
        step = np.abs(rng.normal(size=(n, dim))) ** rng.choice([0.2, 1.0, 3.0], (n, 1))
        step *= rng.uniform(0.9, 1.0, (n, 1)) ** rng.choice([0.0, 10.0], (n, 1))
        if norm == "each":
            step = np.minimum(step, sensitivity)
            step[0] = sensitivity
        else:
            step *= sensitivity / np.linalg.norm(step, axis=1, keepdims=True)
        step = np.minimum(step, width)
        start = lower + rng.uniform(size=(n, dim)) * (width - step)
        corner = np.broadcast_to(lower, (n, dim))
        x = lower + rng.uniform(size=(n, dim)) * width
        found = [
            of(a, b, y).max()
            for base in (start, corner)
            for y in (x, corner, np.broadcast_to(upper, (n, dim)))
            for a, b in ((base, base + step), (base + step, base))
        ]
        assert max(found) <= epsilon * (1 + 1e-12)
        assert max(found) >= epsilon * (1 - (1e-11 if norm == "each" else 0.05))
        assert epsilon_of("bounded_laplace")(m.scale, lower, upper, sensitivity) == pytest.approx(
            epsilon, rel=2e-12
        )
