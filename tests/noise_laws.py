"""The streams that the core draws from, for tests that choose or follow the keystream."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import stats
from thread_counts import with_threads

import tightnoise as tn
from tightnoise import _core

NoiseSource = _core.random.NoiseSource

# A seed means its bits, so these numbers are for ever.
LAWS = {
    "uniform": 1,
    "standard_normal": 2,
    "gaussian": 3,
    "stochastic_sign": 4,
    "rectified_gaussian": 5,
    "truncated_gaussian": 6,
    "quantized_gaussian": 7,
    "bounded_laplace": 8,
    "von_mises_fisher": 9,
    "multi_gaussian": 10,
    "quasi_gaussian": 11,
    "scale_mixture": 12,
    "laplace": 13,
    "truncated_laplace": 14,
    "tulap": 15,
    "staircase": 16,
}


def stream_of(law: str, number: int = 0) -> int:
    """Return the stream number of array `number` of a law."""
    return LAWS[law] << 56 | number


def keystream(key: bytes, law: str, first: int, batches: int, *, number: int = 0) -> np.ndarray:
    """Return the words that array `number` of a law is made of, from batch `first` on."""
    return _core.random.chacha20_keystream(key, stream_of(law, number), first, batches)


REFINEMENT, COINS = 1 << 63, 1 << 62  # what a stream number is joined with


def block(key: bytes, law: str, kind: int, position: int) -> list[int]:
    """Return the 16 words by which array 0 goes on where the word at a position ends."""
    words = keystream(key, law, position // 16, 1, number=kind)
    return words.reshape(16, 16)[:, position % 16].tolist()


def normals_of(
    key: bytes, law: str, n: int, dtype: type = np.float64, *, number: int = 0
) -> np.ndarray:
    """Return the normals that array `number` of a law is made of, in float64 arithmetic."""
    size, fraction, kind = (64, 52, "u8") if dtype is np.float64 else (32, 23, "u4")
    per_batch = 8192 // size
    words = keystream(key, law, 0, -(-n // per_batch), number=number).view(kind)
    words = words.reshape(-1, 2, per_batch // 2)
    radius, angle = words[:, 0], words[:, 1]
    near = ((radius & radius.dtype.type(2 ** (size - 1) - 1)) + 0.5) * 0.5**size
    r = np.sqrt(-2 * np.where(radius >> (size - 1), np.log1p(-near), np.log(near)))
    # how far the angle is from the middle of its quadrant: exact
    turn = ((angle >> (size - fraction)).astype(float) + 0.5) * 0.5**fraction - 0.5
    x, y = np.cos(np.pi / 2 * turn), np.sin(np.pi / 2 * turn)
    x, y = np.where(angle & 1, y, x), np.where(angle & 1, x, y)
    r = np.where(angle & 2, -r, r)
    return np.stack([r * x, r * y], axis=1).ravel()[:n]


def key_of(*name: object) -> bytes:
    return hashlib.sha256(repr(name).encode()).digest()


# Laws whose parameters may be one number for each element.
EACH = (
    *("gaussian", "rectified_gaussian", "truncated_gaussian", "quantized_gaussian"),
    *("stochastic_sign", "bounded_laplace"),
)


def operands_of(law: str, parameters) -> list:
    """Return parameters as the core takes them."""
    if law not in EACH:
        return [*parameters]
    return [x if isinstance(x, int) else np.atleast_1d(np.asarray(x, float)) for x in parameters]


def draw(
    law: str, theta, *parameters, n=None, dtype=np.float64, key=None, number=0, step=None, **given
) -> np.ndarray:
    """Return n samples of the core, or as many as theta has, of a type."""
    theta = np.atleast_1d(np.asarray(theta, np.float32 if dtype == np.float32 else np.float64))
    out = given.pop("out", None)
    out = np.empty(theta.size if n is None else n, dtype) if out is None else out
    key = key_of(law, *map(str, parameters), str(theta[:1]), dtype) if key is None else key
    step = None if step is None else np.atleast_1d(np.asarray(step, float))
    sampler = getattr(_core.random, f"sample_{law}")
    operands = operands_of(law, parameters)
    sampler(theta, *operands, out, NoiseSource(key, number), step=step, **given)
    return out


def draw_points(
    law: str, parameters, theta, step, dtype=np.float64, *, key=bytes(32), **given
) -> np.ndarray:
    """Return samples on a grid: int64 for their numbers of steps."""
    return draw(law, theta, *parameters, dtype=dtype, key=key, step=step, **given)


def draw_rows(
    direction, kappa, rows=None, *, key=bytes(32), number=0, step=0.0, out=None
) -> np.ndarray:
    """Return one sample for each row of direction, or `rows` samples for its only row."""
    direction = np.ascontiguousarray(direction)
    if out is None:
        shape = direction.shape if rows is None else (rows, direction.shape[-1])
        out = np.full(shape, np.nan, direction.dtype)
    _core.random.sample_von_mises_fisher(direction, kappa, out, NoiseSource(key, number), step)
    return out


@contextmanager
def refined(everywhere: bool = True) -> Iterator[None]:
    """Have the core take every element of a sample on a grid for a doubtful one."""
    _core.random.set_refine_all(everywhere)
    try:
        yield
    finally:
        _core.random.set_refine_all(False)


def assert_bits_are_the_keys(sample: Callable[..., np.ndarray], theta: np.ndarray) -> None:
    """They depend on neither the threads nor the length nor the place that is written."""
    whole, many = with_threads(lambda: sample(theta), 1, 5)
    np.testing.assert_array_equal(whole, many)
    for part in (0, 1, 3, 127, 128, 129, 255, 256, 257, 300, 99_999):
        if part < len(theta):
            np.testing.assert_array_equal(whole[:part], sample(theta[:part]))
    place = theta.copy()
    np.testing.assert_array_equal(whole, *with_threads(lambda: sample(place, out=place), 5))


def assert_bad_out_is_refused(law: str, parameters: tuple) -> None:
    operands = operands_of(law, parameters)
    core, source = getattr(_core.random, f"sample_{law}"), NoiseSource(bytes(32))
    buffer = np.zeros(101)
    with pytest.raises(ValueError, match="must not overlap"):
        core(buffer[:-1], *operands, buffer[1:], source)
    with pytest.raises(TypeError, match="wrong length"):
        core(buffer[:-1], *operands, np.empty(7), source)
    with pytest.raises(TypeError, match="float32 or float64"):
        core(np.zeros(3, int), *operands, np.empty(3), source)
    with pytest.raises(TypeError, match="float32 or float64"):
        core(np.zeros(3), *operands, np.empty(3, int), source)


def pvalue_of_cells(counts: np.ndarray, shares: np.ndarray) -> float:
    """Return that of a chi-square test, cells of fewer than 20 expected as one."""
    expected = shares * counts.sum()
    rare = expected < 20
    observed = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] < 20:
        observed = np.append(observed[:-2], observed[-2:].sum())
        expected = np.append(expected[:-2], expected[-2:].sum())
    return stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue


# Mechanisms on a grid, by the scale of their noise, for tests that go over all of them.
BETWEEN_BOUNDS = {
    "RectifiedGaussian": lambda scale: tn.RectifiedGaussian(scale, -2 * scale, 1.5 * scale),
    "TruncatedGaussian": lambda scale: tn.TruncatedGaussian(scale, -2 * scale, 1.5 * scale),
    "BoundedLaplace": lambda scale: tn.BoundedLaplace(scale, -2 * scale, 1.5 * scale),
}
ADDED = {
    "Gaussian": tn.Gaussian,
    "Laplace": tn.Laplace,
    "TruncatedLaplace": lambda scale: tn.TruncatedLaplace(scale, 3 * scale),
    "Tulap": lambda scale: tn.Tulap(0.7, scale),
    "Tulap, cut": lambda scale: tn.Tulap(0.7, scale, 3.3 * scale),
    "Staircase": lambda scale: tn.Staircase(0.7, scale, 0.4),
    "MultiGaussianMixture": lambda scale: tn.MultiGaussianMixture(scale, 1.0, 2.7 * scale, 3),
    "QuasiGaussianMixture": lambda scale: tn.QuasiGaussianMixture(scale, 1.0, 2.7 * scale),
    "GaussianScaleMixture": lambda scale: tn.GaussianScaleMixture(
        (0.0, 3 * scale), (0.6, 0.4), (scale, 2.2 * scale)
    ),
}
ON_A_GRID = ADDED | BETWEEN_BOUNDS
