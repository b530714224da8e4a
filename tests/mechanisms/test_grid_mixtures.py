"""Mixtures of Gaussians on a grid: K against 60 digits, and the same whatever decides it.

Fixed seeds; a statistical test fails a correct sampler with probability 1e-9 under a random seed.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from mechanisms.test_additive_sampling import Table
from noise_laws import REFINEMENT, block, key_of, keystream, refined
from noise_laws import draw_points as sample
from reference.grid import ideal_pair, share_of
from reference.normal import ndtr

BOTH_TYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])
MIXTURE = np.array([0.0, 0.43, 2.0]), np.array([0.6, 0.3, 0.1]), np.array([0.01, 0.3, 0.1])
CASES = {
    "multi_gaussian": (0.37, 0.7, 1.1, 12),
    "scale_mixture": MIXTURE,
    "quasi_gaussian": (0.3, 0.4, 0.9),
}
EVERY_LAW = pytest.mark.parametrize("law", CASES)
# As far out and as narrow as components may be, and next to each other.
EXTREME = [
    ("multi_gaussian", (2e-6, 0.1, 2.0**19 / 3, 80)),
    ("multi_gaussian", (1.0, 0.01, 1e-9, 500)),
    ("scale_mixture", (MIXTURE[0], MIXTURE[1], np.array([0.01, 700.0, 1.0]))),
    ("quasi_gaussian", (1e-6, 0.1, 9.1e5)),
    ("quasi_gaussian", (1e3, 0.1, 1e-7)),
]
EVERY_CASE = pytest.mark.parametrize(("law", "parameters"), [*CASES.items(), *EXTREME], ids=str)


def step_of(parameters) -> float:
    sigma = np.min(parameters[2 if np.ndim(parameters[0]) else 0])
    return float(2.0 ** (np.floor(np.log2(sigma)) - 6))


# --- the ideal sample -----------------------------------------------------------------------------


def component(law, parameters, index) -> tuple[mp.mpf, mp.mpf]:
    """Return location and sigma of component number `index`."""
    if law == "multi_gaussian":
        sigma, _, sensitivity, modes = parameters
        return (index - modes) * mp.mpf(sensitivity), mp.mpf(sigma)
    locations, _, sigmas = parameters
    n = len(locations)
    return mp.mpf(locations[index % n]) * (1 if index < n else -1), mp.mpf(sigmas[index % n])


def nearest(x: mp.mpf) -> int:
    return int(mp.floor(x + mp.mpf(0.5)))


def ideal_normals(law, parameters, theta, step, key, dtype) -> list[int]:
    """K of every element, by 60 digits."""
    bits, batches = (64, 2) if dtype is np.float64 else (32, 1)
    per_batch, n = 8192 // bits, len(theta)
    index = Table.of(law, *parameters).components(law, key, n, batches).tolist()
    found = []
    for j in range(n):
        batch = j // 256 * (1 + batches) + 1 + j % 256 // per_batch
        words = keystream(key, law, batch, 1).view(f"u{bits // 8}").tolist()
        pair = j % (per_batch // 2)
        more = block(key, law, REFINEMENT, batch * per_batch + pair)
        z = ideal_pair(words[pair], words[per_batch // 2 + pair], more, bits)
        location, sigma = component(law, parameters, index[j])
        x = mp.mpf(theta[j]) + location + sigma * z[j % per_batch >= per_batch // 2]
        found.append(nearest(x / mp.mpf(step)))
    return found


def is_ideal_quasi_gaussian(parameters, theta, step, key, found: list[int]) -> None:
    """Assert that P(noise above) at either end of each cell has the ideal share between."""
    sigma, _, sensitivity = map(mp.mpf, parameters)
    law, n = "quasi_gaussian", len(theta)
    index = Table.of(law, *parameters).components(law, key, n, 2).tolist()

    for j in range(n):
        batch = j // 256 * 3 + 1 + j % 256 // 128
        word = keystream(key, law, batch, 1).view(np.uint64).tolist()[j % 128]
        share = share_of(word, block(key, law, REFINEMENT, batch * 128 + j % 128))
        at = sensitivity if index[j] else mp.mpf(0)
        kept = ndtr(sensitivity / sigma) if index[j] else mp.mpf(1)
        middle = mp.mpf(found[j])
        ends = [(middle + end) * mp.mpf(step) - mp.mpf(theta[j]) for end in (-0.5, 0.5)]
        if index[j] == 2:
            ends = [-end for end in reversed(ends)]
        first, last = ((at - end) / sigma for end in ends)  # above an end: below these
        assert ndtr(last) <= share * kept <= ndtr(first), j


@EVERY_CASE
@BOTH_TYPES
def test_is_the_ideal_sample_rounded(law, parameters, dtype) -> None:
    """K of 300 elements, and that the output is K times the step rounded once."""
    n, step = 300, step_of(parameters)
    key = key_of(law, str(parameters))
    theta = np.random.default_rng(5).normal(0, 3, n).astype(dtype)
    theta[:4] = [0.0, 0.5 * step, -1.5 * step, 1e9]
    y = sample(law, parameters, theta, step, dtype, key=key)
    with mp.workdps(60):
        if law == "quasi_gaussian":
            whole = sample(law, parameters, theta.astype(float), step, np.int64, key=key).tolist()
            is_ideal_quasi_gaussian(parameters, theta.tolist(), step, key, whole)
        else:
            whole = ideal_normals(law, parameters, theta.tolist(), step, key, dtype)
        np.testing.assert_array_equal(y, np.array([dtype(k) * dtype(step) for k in whole]))
    if dtype is np.float64:
        integers = sample(law, parameters, theta, step, np.int64, key=key)
        np.testing.assert_array_equal(integers, whole)


@EVERY_CASE
@BOTH_TYPES
def test_refined_everywhere_is_refined_on_demand(law, parameters, dtype) -> None:
    n, step = 500, step_of(parameters)
    theta = np.random.default_rng(6).normal(0, 3, n)
    y = sample(law, parameters, theta, step, dtype)
    with refined():
        np.testing.assert_array_equal(sample(law, parameters, theta, step, dtype), y)


@EVERY_LAW
def test_fine_grids_are_settled_too(law) -> None:
    """At 2^-24 of the largest sigma, where float arithmetic alone leaves much open."""
    parameters = CASES[law]
    step = 2.0 ** np.floor(np.log2(np.max(parameters[2] if law == "scale_mixture" else 0.3)) - 23)
    theta = np.random.default_rng(6).normal(0, 3, 1000)
    for dtype in (np.float64, np.float32):
        y = sample(law, parameters, theta, step, dtype)
        with refined():
            np.testing.assert_array_equal(sample(law, parameters, theta, step, dtype), y)


def test_low_digits_of_theta_count() -> None:
    """Where theta + low is the same number, K is, though it lies next to a boundary."""
    law, parameters, step = "multi_gaussian", CASES["multi_gaussian"], 2.0**-8
    theta = np.full(4000, 0.3 * step)
    low = np.full(4000, 1e-17 * step)
    with refined():
        k = sample(law, parameters, theta, step, np.int64, low=low)
    np.testing.assert_array_equal(k, sample(law, parameters, theta, step, np.int64, low=low))


# --- the ends of the range ------------------------------------------------------------------------


@EVERY_LAW
@BOTH_TYPES
def test_odd_theta(law, dtype) -> None:
    parameters = CASES[law]
    step = step_of(parameters)
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    odd = [0.0, -0.0, tiny, -tiny, 2.0**52 + 1, 1e30, -1e30, huge, -huge]
    odd += [0.5 * step, -0.5 * step, 50 * np.max(parameters[2])]
    theta = np.tile(np.array(odd, dtype), 40)
    y = sample(law, parameters, theta, step, dtype)
    assert np.isfinite(y).all()
    assert not np.signbit(y[y == 0]).any()
    far = np.abs(theta) >= 1e30
    np.testing.assert_array_equal(y[far], theta[far])
    near = np.abs(theta) < 1e6
    assert not np.mod(y[near], step).any()
    with refined():
        np.testing.assert_array_equal(sample(law, parameters, theta, step, dtype), y)
    np.testing.assert_array_equal(  # the sign of zero is no number's business
        sample(law, parameters, np.full(500, -0.0), step, dtype),
        sample(law, parameters, np.zeros(500), step, dtype),
    )


@pytest.mark.parametrize(
    ("law", "parameters", "least"),
    [
        ("multi_gaussian", (2.0**10, 1.0, 1.0, 3), 2.0**-14),
        ("multi_gaussian", (1.0, 1.0, 2.0**50, 3), 4.0),
        ("quasi_gaussian", (1.0, 1.0, 2.0**60), 2.0**10),
        ("scale_mixture", (MIXTURE[0], MIXTURE[1], np.array([0.01, 2.0**12, 1.0])), 2.0**-12),
        ("scale_mixture", (np.array([2.0**60]), np.ones(1), np.ones(1)), 2.0**10),
    ],
)
def test_grids_too_fine_are_refused(law, parameters, least) -> None:
    assert sample(law, parameters, [0.0], least, n=3).shape == (3,)
    with pytest.raises(ValueError, match=r"grid must be at least .* got"):
        sample(law, parameters, [0.0], least / 2, n=3)
