"""A seed means the same bits at every SIMD level, for any number of threads, on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import pytest
from noise_laws import ON_A_GRID, draw, draw_rows
from simd_levels import digests_at_levels

import tightnoise as tn
from tightnoise import _core

DTYPES = (np.float64, np.float32)
THREE = np.array([0.0, 1.0, 3.0])
STEPS = [
    *(("tulap", 1.0, epsilon, 3.7) for epsilon in (0.01, 1.0, 9.0)),
    *(("staircase", 1.0, epsilon, 0.3) for epsilon in (0.01, 1.0, 9.0)),
]
ADDED = [
    *(("multi_gaussian", 0.3, 0.1, 1.0, modes) for modes in (0, 7, 20, 500, 1 << 17)),
    *(("quasi_gaussian", 0.3, epsilon, 1.0) for epsilon in (0.1, 3.0)),
    ("scale_mixture", THREE, 1.0 / (1.0 + THREE), 0.1 + THREE),
]
LAPLACE = [("laplace", 1.5), ("truncated_laplace", 1.5, 3.0)]
COUNTED = [
    tn.Gaussian(1.3),
    tn.RectifiedGaussian(1.3, -1.0, 1.25),
    tn.StochasticSign(1.3),
    tn.QuantizedGaussian(1.3, -1.0, 1.25, 9),
    tn.Gaussian(0.01 + 2 * np.arange(120_001.0)),
]


def with_threads() -> Iterator[int]:
    for threads in (1, 3):
        _core.set_num_threads(threads)
        yield threads


def scattered(rng: np.random.Generator) -> np.ndarray:
    return np.ldexp(rng.random(120_001) - 0.5, rng.integers(-6, 12, 120_001))


def streams() -> Iterator[np.ndarray]:
    stream = tn.random.NoiseStream(seed=b"levels")
    for _ in with_threads():
        for n in (1, 7, 1000, 250_001):
            for dtype in DTYPES:
                yield stream.uniform(n, dtype=dtype)
                yield stream.standard_normal(n, dtype=dtype)


def mechanisms() -> Iterator[np.ndarray]:
    rng = np.random.default_rng(9)
    theta = scattered(rng)
    for _ in with_threads():
        for dtype in DTYPES:
            for scale in (1.0, 2 * rng.random(theta.size) + 0.01):
                sigma, *bounds = (scale * np.array([x]) for x in (1.5, -1.0, 1.25))
                for law, others in [
                    ("gaussian", ()),
                    ("rectified_gaussian", bounds),
                    ("truncated_gaussian", bounds),
                    ("quantized_gaussian", (*bounds, 9)),
                    ("stochastic_sign", ()),
                    ("bounded_laplace", bounds),
                ]:
                    yield draw(law, theta, sigma, *others, dtype=dtype, key=bytes(32), number=1)


def added() -> Iterator[np.ndarray]:
    theta = np.random.default_rng(9).random(120_001) - 0.5
    for dtype in DTYPES:
        for law, *parameters in [*ADDED, *LAPLACE, *STEPS]:
            yield draw(law, theta, *parameters, dtype=dtype, key=bytes(32), number=1)


def added_on_a_grid() -> Iterator[np.ndarray]:
    theta = np.random.default_rng(9).random(50_001) - 0.5
    for dtype in DTYPES:
        for law, *parameters in [*LAPLACE, *STEPS]:
            for step in (2.0**-4, 2.0**-18):
                given = {"dtype": dtype, "key": bytes(32), "number": 1, "step": step}
                yield draw(law, theta, *parameters, **given)


def on_a_grid(laws: list[tn.Mechanism]) -> Iterator[np.ndarray]:
    theta = scattered(np.random.default_rng(9))
    for _ in with_threads():
        for dtype in DTYPES:
            for law in laws:
                yield law.sample(theta.astype(dtype), rng=tn.random.NoiseStream(1))


def directions() -> Iterator[np.ndarray]:
    for _ in with_threads():
        for dtype in DTYPES:
            for dim in (2, 3, 5, 100, 128, 129, 1000, 1003, 120_001):
                x = np.random.default_rng(dim).random((1 + 30_000 // dim, dim)) - 0.5
                for scale in (1.0, 1e-30):
                    scaled = (x.astype(dtype) * scale).astype(dtype)
                    for ratio in (0.0, 1e-6, 0.3, 5.0, 1e9):
                        yield draw_rows(scaled, ratio * dim, number=1)


def directions_on_a_grid() -> Iterator[np.ndarray]:
    for dim in (2, 3, 5, 100, 128, 129, 1000, 1003):
        x = np.random.default_rng(dim).random((1 + 30_000 // dim, dim)) - 0.5
        for step in (2.0**-11, 2.0**-24):
            for ratio in (0.0, 1e-6, 0.3, 5.0, 1e9):
                yield draw_rows(x, ratio * dim, number=1, step=step)


# For ever.
DIGESTS = {
    "streams": (streams, "368114e7e6846fe2"),
    "mechanisms": (mechanisms, "a9217dbb863f6de1"),
    "added": (added, "39893259482682e2"),
    "added on a grid": (added_on_a_grid, "337c80db5e9ae9be"),
    "counted on a grid": (lambda: on_a_grid(COUNTED), "a1987d0cc697c704"),
    "all on a grid": (lambda: on_a_grid([f(1.3) for f in ON_A_GRID.values()]), "58b085658ed08761"),
    "directions": (directions, "d2b1704e3844e49a"),
    "directions on a grid": (directions_on_a_grid, "e9ee9a8b5c942087"),
}


def print_digest(name: str) -> None:
    digest = hashlib.sha256()
    for array in DIGESTS[name][0]():
        digest.update(array.tobytes())
    print(_core.simd_level(), digest.hexdigest()[:16])


@pytest.mark.parametrize("name", DIGESTS)
def test_a_seed_means_the_same_bits_everywhere(name: str) -> None:
    program = f"from test_seeds import print_digest; print_digest({name!r})"
    assert digests_at_levels(program) == {DIGESTS[name][1]}
