"""Additive noise on a grid: every K by 110 digits, from the keystream and by definition.

Fixed seeds. A comparison fails a correct sampler with probability 1e-9 under a random seed.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from mechanisms.test_additive_sampling import exact_survival, words_of
from noise_laws import REFINEMENT, block, key_of, refined
from noise_laws import draw_points as sample
from reference.grid import continued

import tightnoise as tn

# law, parameters, and the mean of abs(noise) within a factor of 2
CASES = [
    ("laplace", (1.3,), 1.0),
    ("truncated_laplace", (1.3, 5.0), 1.0),
    ("truncated_laplace", (1.0, 0.01), 0.005),
    ("truncated_laplace", (1e200, 1e-100), 5e-101),
    ("truncated_laplace", (1e200, 1e-140), 5e-141),
    ("tulap", (1.0, 1.0, 11.3), 1.0),
    ("tulap", (1.7, 0.01, np.inf), 170.0),
    ("tulap", (1.0, 9.0, 3.7), 0.25),
    ("tulap", (1.0, 20.0, 1.4999999), 0.25),
    ("tulap", (1.0, 1.0, 1e-30), 5e-31),
    ("tulap", (3.0, 700.0, np.inf), 0.75),
    ("tulap", (1.0, 1e-15, 2e15), 7e14),
    ("staircase", (1.0, 1.0, 0.3775), 1.0),
    ("staircase", (0.7, 3.0, 0.2), 0.16),
    ("staircase", (1.0, 1.0, 0.0), 1.0),
    ("staircase", (1.0, 2.0, 1.0), 0.6),
    ("staircase", (1.0, 20.0, 4.5e-5), 4.5e-5),
    ("staircase", (1.0, 50.0, 1.4e-11), 1.4e-11),
    ("staircase", (1.0, 1e-9, 0.5), 1e9),
]
EVERY_CASE = pytest.mark.parametrize(("law", "parameters", "mean"), CASES, ids=str)
ONE_OF_EACH = pytest.mark.parametrize(
    ("law", "parameters", "mean"), {case[0]: case for case in CASES[::-1]}.values(), ids=str
)


def step_below(x: float, bits: int) -> float:
    return float(2.0 ** (np.frexp(x)[1] - 1 - bits))


# --- the ideal sample -----------------------------------------------------------------------------


def assert_ideal(law, parameters, theta, step, key, found, low=None):
    """Assert that |noise| exceeds either end of each cell with a probability beside its share."""
    low = [0.0] * len(theta) if low is None else low
    words = words_of(law, key, len(theta))
    with mp.workdps(110):
        for j, (word, k) in enumerate(zip(words, found.tolist(), strict=True)):
            share = continued(word % 2**63, block(key, law, REFINEMENT, j)[2:8], -63)
            at = mp.mpf(theta[j]) + mp.mpf(low[j])
            ends = [(k + half) * mp.mpf(step) - at for half in (mp.mpf(-0.5), mp.mpf(0.5))]
            near, far = [-end for end in reversed(ends)] if word >> 63 else ends
            assert far > 0, j
            assert exact_survival(law, far, *parameters) <= share, j
            assert near <= 0 or share <= exact_survival(law, near, *parameters), j


@EVERY_CASE
def test_is_the_ideal_sample_rounded(law, parameters, mean) -> None:
    n, key = 60, key_of("ideal", law, parameters)
    for bits in (7, 24):
        step = step_below(mean, bits)
        theta = np.linspace(-3.0, 3.0, n) * step
        drawn = sample(law, parameters, theta, step, np.int64, key=key)
        assert_ideal(law, parameters, theta, step, key, drawn)
        with refined():
            again = sample(law, parameters, theta, step, np.int64, key=key)
        np.testing.assert_array_equal(again, drawn)
        np.testing.assert_array_equal(sample(law, parameters, theta, step, key=key), step * drawn)


@ONE_OF_EACH
def test_what_theta_has_below_its_last_place_counts(law, parameters, mean) -> None:
    """Refinement adds it; here it is large, so that it shows."""
    n, key = 40, key_of("low")
    step = step_below(mean, 7)
    theta = np.full(n, 0.25 * step)
    low = np.linspace(-0.5, 0.5, n) * step
    with refined():
        drawn = sample(law, parameters, theta, step, np.int64, key=key, low=low)
    assert_ideal(law, parameters, theta, step, key, drawn, low)


@pytest.mark.parametrize(
    "mechanism",
    [
        tn.Laplace(1.3),
        tn.Tulap(1.0, 1.0, 10.0),
        tn.Tulap(1e-15, 1.0),
        tn.Tulap(700.0, 3.0),
        tn.Tulap(1.0, 1.0, 1e-30),
        tn.Staircase(3.0, 1.0, 0.2),
        tn.Staircase(50.0, 1.0, 1.4e-11),
        tn.Staircase(1e-15, 1.0, 0.5),
    ],
    ids=str,
)
def test_the_automatic_step_adds_next_to_nothing(mechanism) -> None:
    _, step = mechanism.sample_integers(0.0)
    assert mechanism.mean_abs() / 128 < step <= mechanism.mean_abs() / 64
    assert step**2 / 12 <= 2.1e-5 * mechanism.var()


# --- the ends of the range ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@ONE_OF_EACH
def test_odd_theta(law, parameters, mean, dtype) -> None:
    largest = float(np.finfo(dtype).max)
    tiny = float(np.finfo(dtype).smallest_subnormal)
    step = step_below(mean, 7)
    odd = [0.0, -0.0, tiny, -tiny, 2.0**52 + 1, largest, -largest, 1.5 * step, -0.5 * step]
    theta = np.resize(np.array(odd, dtype), 36)
    drawn = sample(law, parameters, theta, step, dtype)
    assert not (np.signbit(drawn) & (drawn == 0)).any()
    huge = np.abs(theta) == dtype(largest)
    np.testing.assert_array_equal(drawn[huge], theta[huge])
    theta = theta.astype(float)
    whole = sample(law, parameters, np.where(huge, 0.0, theta), step, np.int64)
    assert_ideal(law, parameters, np.where(huge, 0.0, theta), step, bytes(32), whole)
    np.testing.assert_array_equal(drawn[~huge], (whole * step).astype(dtype)[~huge])
    for nothing in (np.nan, np.inf, -np.inf):
        np.testing.assert_array_equal(sample(law, parameters, nothing, step, dtype), dtype(nothing))


@pytest.mark.parametrize("law", ["truncated_laplace", "tulap"])
def test_stays_within_half_a_step_of_the_bound(law) -> None:
    parameters, bound, step = ((1.0, 0.75), 0.75, 2.0**-7)
    parameters = parameters if law == "truncated_laplace" else (1.0, 1.0, bound)
    drawn = sample(law, parameters, 0.0, step, n=200_000)
    assert np.abs(drawn).max() == bound


def test_scales_far_from_the_step() -> None:
    """Neither overflow nor an infinite ratio makes a number that is none."""
    drawn = sample("truncated_laplace", (1e300, 2.0**-950), 0.0, 2.0**-956, n=500)
    assert np.abs(drawn).max() <= 2.0**-950
    assert len(np.unique(drawn)) > 90
