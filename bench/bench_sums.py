"""Exact sums of clipped rows, beside two ways of NumPy, and its sum without a clip."""

from __future__ import annotations

import numpy as np
import pytest

import tightnoise as tn

SHAPES = pytest.mark.parametrize("shape", [(4000, 3000), (256, 100_000)], ids=str)
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f4", "f8"])


def gradients(shape, dtype):
    return np.random.default_rng(1).standard_normal(shape, np.float32).astype(dtype)


def clipped_sum(rows):
    factors = np.minimum(1.0, 1.0 / np.linalg.norm(rows, axis=1)).astype(rows.dtype)
    return (rows * factors[:, None]).sum(axis=0)


def clipped_sum_by_products(rows):
    squares = np.einsum("ij,ij->i", rows, rows)
    return np.minimum(1.0, 1.0 / np.sqrt(squares)).astype(rows.dtype) @ rows


def group(shape, dtype):
    return f"sum of rows clipped to norm 1, {shape[0]:,} x {shape[1]:,} {dtype.__name__}"


@SHAPES
@DTYPES
@pytest.mark.parametrize("norm", [2, 1, np.inf])
def test_exact_sum(timed, shape, dtype, norm) -> None:
    rows = gradients(shape, dtype)
    total = timed(
        group(shape, dtype),
        lambda: tn.exact_sum(rows, bound=1.0, norm=norm),
        rows.size,
        rows.nbytes,
    )
    if norm == 2:
        wanted = clipped_sum(rows.astype(np.float64))
        np.testing.assert_allclose(total.integers * total.unit, wanted, atol=1e-5)


@SHAPES
@DTYPES
@pytest.mark.parametrize("way", [clipped_sum, clipped_sum_by_products])
def test_numpy(timed, shape, dtype, way) -> None:
    rows = gradients(shape, dtype)
    timed(group(shape, dtype), lambda: way(rows), rows.size, rows.nbytes)


@SHAPES
@DTYPES
def test_sum_alone_of_floats_by_ndarray(timed, shape, dtype) -> None:
    """Neither clipped nor exact: what reading the rows and adding them up takes."""
    rows = gradients(shape, dtype)
    timed(group(shape, dtype), lambda: rows.sum(axis=0), rows.size, rows.nbytes)
