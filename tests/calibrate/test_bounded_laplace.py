"""Scales of the bounded Laplace mechanism: exact over a whole domain."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from calibrated import epsilon_of as epsilons
from calibrated import scale_of as scales
from mpmath import mp, mpf
from reference import bounded_losses

import tightnoise as tn

REFERENCES = json.loads(
    (Path(__file__).parents[1] / "reference" / "bounded_gaussian.json").read_text()
)
scale_of, epsilon_of = scales("bounded_laplace"), epsilons("bounded_laplace")


def loss(scale, width, sensitivity):
    """Return the log of the greatest density ratio."""
    with mp.workdps(bounded_losses.DIGITS):
        k, w = mpf(min(sensitivity, width)) / mpf(scale), mpf(width) / mpf(scale)
        return bounded_losses.bounded_laplace(k, w)[0]


def references(function):
    return [row for row in REFERENCES["refs"] if row["fn"] == function]


def test_references(check_error):
    rows = references("lambda_bounded_laplace_1d")
    assert len(rows) >= 4
    for row in rows:
        width, sensitivity, epsilon = (float(row["inputs"][name]) for name in ("L", "DQ", "eps"))
        for lower in (0.0, -3.0):
            scale = scale_of(epsilon, lower, lower + width, sensitivity)
            off = abs(mpf(scale) / mpf(row["value"]) - 1)
            check_error("bounded Laplace: calibrated scale", float(off), 2e-12)


def test_the_loss_is_met_and_not_exceeded(rng, check_error):
    worst = 0.0
    for _ in range(300):
        epsilon = 10.0 ** rng.uniform(-9, 3)
        sensitivity = 10.0 ** rng.uniform(-3, 3)
        width = sensitivity * 10.0 ** rng.choice([0.0, 9.0, rng.uniform(0, 9)])
        scale = scale_of(epsilon, 0.0, width, sensitivity)
        there = loss(scale, width, sensitivity)
        assert there <= epsilon
        worst = max(worst, float(1 - there / mpf(epsilon)))
        back = epsilon_of(scale, 0.0, width, sensitivity)
        assert there <= back
        worst = max(worst, float(mpf(back) / there - 1))
    check_error("bounded Laplace: loss of a calibrated scale", worst, 1e-12)


def test_more_than_the_domain_allows_is_the_domain():
    for epsilon in (0.01, 1.0, 30.0):
        assert scale_of(epsilon, -1.0, 1.5, 7.0) == scale_of(epsilon, -1.0, 1.5, 2.5)
        assert scale_of(epsilon, -1.0, 1.5, 7.0) == pytest.approx(2.5 / epsilon, rel=1e-12)


def test_between_once_and_twice_the_scale_of_laplace_noise():
    for epsilon, width in itertools.product((1e-6, 1e-3, 1.0, 40.0), (1.0, 1.5, 10.0, 1e6)):
        scale = scale_of(epsilon, 0.0, width, 1.0)
        assert 1 - 1e-12 <= scale * epsilon <= 2
    assert scale_of(1e-6, 0.0, 1e9, 1.0) * 1e-6 > 1.99
    assert scale_of(500.0, 0.0, 1e9, 1.0) * 500.0 < 1.01


def test_arrays_and_monotone():
    epsilon = np.geomspace(1e-9, 1e3, 500).reshape(20, 25)
    scale = scale_of(epsilon, 0.0, 10.0, 0.3)
    assert scale.shape == epsilon.shape
    assert (np.diff(scale.ravel()) < 0).all()
    assert scale[3, 4] == scale_of(float(epsilon[3, 4]), 0.0, 10.0, 0.3)
    back = epsilon_of(scale, 0.0, 10.0, 0.3)
    np.testing.assert_allclose(back, epsilon, rtol=2e-12)


def test_brute_force_in_one_dimension():
    """No pair of values and no output has a greater loss, and one has nearly that."""
    for epsilon, width, c in ((0.1, 10.0, 1.0), (1.0, 2.0, 2.0), (3.0, 1.0, 0.3)):
        m = tn.BoundedLaplace(scale_of(epsilon, 0.0, width, c), 0.0, width)
        s = np.linspace(0, width, 81)[:, None, None]
        prime = s + np.linspace(-c, c, 41)[:, None]
        x = np.linspace(0, width, 61)
        inside = (prime >= 0) & (prime <= width)
        ratio = m.logpdf(x, s) - m.logpdf(x, np.clip(prime, 0, width))
        worst = np.where(inside, ratio, -np.inf).max()
        assert worst <= epsilon * (1 + 1e-13)
        assert worst >= epsilon * (1 - 1e-11)
        assert m.cost(sensitivity=c).epsilon(0.0) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize("norm", ["each", "euclidean"])
def test_brute_force_in_a_box(dim, norm, rng):
    lower, upper = np.arange(dim) - 1.0, np.arange(dim) + np.linspace(0.5, 3.0, dim)
    width = upper - lower
    sensitivity = np.linspace(0.4, 1.5, dim) if norm == "each" else 1.7
    for epsilon in (0.2, 2.0, 9.0):
        m = tn.BoundedLaplace(scale_of(epsilon, lower, upper, sensitivity), lower, upper)

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
        assert epsilon_of(m.scale, lower, upper, sensitivity) == pytest.approx(epsilon, rel=2e-12)


def test_bad_input():
    for call, name in (
        (lambda: scale_of(0.0, 0, 1, 1), "epsilon"),
        (lambda: scale_of(np.nan, 0, 1, 1), "epsilon"),
        (lambda: scale_of(1.0, 1, 1, 1), "lower"),
        (lambda: scale_of(1.0, 0, np.inf, 1), "upper"),
        (lambda: scale_of(1.0, 0, 1, 0), "sensitivity"),
        (lambda: epsilon_of(0.0, 0, 1, 1), "scale"),
        (lambda: epsilon_of(np.inf, 0, 1, 1), "scale"),
    ):
        with pytest.raises(ValueError, match=name):
            call()
    with pytest.raises(TypeError, match="sensitivity"):
        scale_of(1.0, 0, 1, "1")
