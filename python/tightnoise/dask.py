"""Arrays that outgrow memory, chunk by chunk (extra `dask`): sketches, noise and exact sums.

What comes out is lazy, and the same whatever the chunks are: pieces of one size, in C order, are
sketched and drawn, however many chunks each is made of.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from tightnoise.mechanisms._grid import GridLike
from tightnoise.mechanisms._parts import require_parts
from tightnoise.mechanisms.additive import AdditiveNoise
from tightnoise.mechanisms.base import CoordinateMechanism
from tightnoise.random import NoiseStream, Reservation, default_stream
from tightnoise.sketch import Sketch
from tightnoise.sums import exact_sum as _exact_sum

try:
    import dask
    import dask.array as da
except ImportError as error:
    message = "tightnoise.dask needs Dask: python3 -m pip install 'tightnoise[dask]'"
    raise ImportError(message) from error

__all__ = ["exact_sum", "sample", "sketch"]

_PIECE = 2**20  # numbers; a multiple of `tightnoise.random.BATCH`
_AT_ONCE = 64  # results that one task adds up

Buffers = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def sketch(theta: da.Array, lower: float, upper: float, *, sigma: float | None = None) -> Any:
    """Return the sketch of a Dask array, for `cost_at`: not computed yet.

    Parameters
    ----------
    theta : dask.array.Array of float32 or float64
        Any shape and chunks, of known sizes.
    lower, upper, sigma : float
        As for `Sketch.of`.

    Returns
    -------
    dask.delayed.Delayed
        Whose ``compute()`` returns a `Sketch`: the same bits whatever the chunks and the scheduler.
        It has no arrays and no cells (`Sketch.from_buffers`).

    Raises
    ------
    ValueError
        If chunk sizes are unknown, or as for `Sketch.of`; for NaN and infinities when it is
        computed.
    TypeError
        If theta is no Dask array, or does not hold real numbers.

    Examples
    --------
    >>> import dask.array as da
    >>> import tightnoise as tn
    >>> theta = da.linspace(-0.1, 0.1, 3_000_000, chunks=700_000)
    >>> here = tn.dask.sketch(theta, -1.0, 1.0, sigma=1.0).compute()
    >>> here.count, here.farthest
    (3000000, 0.1)
    >>> cost = tn.TruncatedGaussian(1.0, -1.0, 1.0).cost_at(here, sensitivity=1.0)
    """
    empty = Sketch.of(np.empty(0), lower, upper, sigma=sigma)
    pieces = _pieces("theta", theta).to_delayed()
    bounds = (empty.lower, empty.upper, empty.sigma)
    parts = [dask.delayed(_buffers)(piece, *bounds) for piece in pieces.tolist()]
    return dask.delayed(_made)(_reduced(_joined, parts) if parts else empty.buffers())


def sample(
    mechanism: CoordinateMechanism | AdditiveNoise,
    theta: da.Array,
    *,
    rng: NoiseStream | None = None,
    grid: GridLike = "auto",
) -> da.Array:
    """Return a Dask array with noise: what is released, not computed yet.

    This call takes the noise of one array, a `Reservation`, which is a part of the graph. So the
    result is what ``mechanism.sample`` of the whole array would be, bit by bit, whatever its chunks
    are, and *one* release however often and in whatever parts it is computed. Two calls are two
    releases.

    That holds as long as theta does not change: a chunk that is computed again from other data, of
    a file that was written anew or of unseeded random numbers, would get the same noise, and the
    difference of both results would be that of the data. Where threads compute, that is a
    ValueError; processes do not know of each other. Compute or persist the result once, or persist
    theta first.

    Parameters
    ----------
    mechanism : mechanism
        For coordinates, with the same parameters for each of them.
    theta : dask.array.Array
        Any shape and chunks, of known sizes.
    rng : NoiseStream, optional
        Where the noise comes from; by default `tightnoise.random.default_stream()`.
    grid : "auto", float or None, optional
        As for ``mechanism.sample``.

    Returns
    -------
    dask.array.Array
        Of the shape and chunks of theta. *Its graph holds the key of the noise*: whoever gets it (a
        scheduler, its workers, a file) can take the noise off. Hand on what was computed.

    Raises
    ------
    ValueError
        If chunk sizes are unknown, parameters are arrays, or as for ``mechanism.sample``; for NaN
        and infinities when it is computed.
    TypeError
        If theta is no Dask array, or the mechanism is not for coordinates.

    Examples
    --------
    >>> import dask.array as da
    >>> import tightnoise as tn
    >>> theta = da.zeros((3000, 1000), chunks=(500, 400))
    >>> noisy = tn.dask.sample(tn.Gaussian(1.0), theta)
    >>> noisy.chunks == theta.chunks, 0.99 < float(noisy.std()) < 1.01
    (True, True)
    """
    noise = require_parts(mechanism)
    if rng is not None and not isinstance(rng, NoiseStream):
        raise TypeError(f"rng must be a NoiseStream or None; got {type(rng).__name__}")
    pieces = _pieces("theta", theta)
    none = noise.sample(np.empty(0, theta.dtype), rng=NoiseStream(0), grid=grid)  # checks
    noisy = pieces.map_blocks(
        _noisy,
        noise,
        (default_stream() if rng is None else rng).reserve(),
        grid,
        name=f"tightnoise-sample-{uuid.uuid4().hex}",
        dtype=none.dtype,
        meta=none,
    )
    return _shaped_as(theta, noisy)


def exact_sum(
    rows: da.Array,
    *,
    bound: float,
    norm: float = 2,
    capacity: int = 2**22,
    adjacency: str = "add-remove",
) -> Any:
    """Return the exact sum of a Dask array's clipped rows: not computed yet.

    Parameters
    ----------
    rows : dask.array.Array
        One row a person; each is put together to be clipped. Their number may be unknown.
    bound, norm, capacity, adjacency
        As for `tightnoise.exact_sum`.

    Returns
    -------
    dask.delayed.Delayed
        Whose ``compute()`` returns an `ExactSum`: the same integers whatever the chunks.

    Raises
    ------
    ValueError
        If the sizes of a row are unknown, or as for `tightnoise.exact_sum`; where the number of
        rows is unknown, for too many when it is computed.
    TypeError
        If rows is no Dask array, or does not hold real numbers.

    Examples
    --------
    >>> import dask.array as da
    >>> import tightnoise as tn
    >>> rows = da.full((100_000, 4), 0.25, chunks=(30_000, 3))
    >>> total = tn.dask.exact_sum(rows, bound=1.0).compute()
    >>> total.integers * total.unit
    array([25000., 25000., 25000., 25000.])
    """
    _require_dask("rows", rows)
    options = {"bound": bound, "norm": norm, "capacity": capacity, "adjacency": adjacency}
    if rows.ndim == 0:
        raise ValueError("rows must be an array of rows; got a number")
    if any(map(math.isnan, rows.shape[1:])):
        raise ValueError(f"rows must have known sizes of a row; got shape {rows.shape}")
    zero = _exact_sum(np.empty((0, *rows.shape[1:]), rows.dtype), **options)  # type: ignore[arg-type]
    if rows.shape[0] > zero.capacity:  # not where it is unknown, NaN
        raise ValueError(f"rows must be at most capacity, {zero.capacity}; got {rows.shape[0]}")
    whole = rows.rechunk(dict.fromkeys(range(1, rows.ndim), -1))
    parts = [dask.delayed(_exact_sum)(part, **options) for part in whole.to_delayed().ravel()]
    return _reduced(sum, parts) if parts else dask.delayed(zero)


def _require_dask(name: str, array: object) -> None:
    if not isinstance(array, da.Array):
        raise TypeError(f"{name} must be a Dask array; got {type(array).__name__}")


def _pieces(name: str, array: da.Array) -> da.Array:
    """Return an array's numbers in C order, in chunks of one size."""
    _require_dask(name, array)
    if any(map(math.isnan, array.shape)):
        raise ValueError(
            f"{name} must have known chunk sizes (compute_chunk_sizes computes them);"
            f" got shape {array.shape}"
        )
    if array.size == 0:
        return da.empty(0, dtype=array.dtype)
    return _in_bands(array).reshape(-1).rechunk(_PIECE)


def _in_bands(array: da.Array) -> da.Array:
    """Return an array in chunks that have its numbers in C order, one after the other."""
    if all(count == 1 for count in array.numblocks[1:]):
        return array
    whole: dict[int, Any] = dict.fromkeys(range(1, array.ndim), -1)
    return array.rechunk({0: "auto", **whole})


def _shaped_as(array: da.Array, flat: da.Array) -> da.Array:
    """Return a flat array in the shape and the chunks of another one."""
    if array.size == 0:
        return da.empty(array.shape, dtype=flat.dtype, chunks=array.chunks)
    if array.ndim > 1:
        width = math.prod(array.shape[1:])
        bands = tuple(rows * width for rows in _in_bands(array).chunks[0])
        flat = flat.rechunk((bands,))
    return flat.reshape(array.shape).rechunk(array.chunks)


def _buffers(piece: object, lower: float, upper: float, sigma: float) -> Buffers:
    return Sketch.of(piece, lower, upper, sigma=sigma).buffers()


def _joined(parts: list[Buffers]) -> Buffers:
    sums, least = zip(*parts, strict=True)
    return np.add.reduce(sums), np.minimum.reduce(least)


def _made(buffers: Buffers) -> Sketch:
    return Sketch.from_buffers(*buffers)


def _reduced(add: Callable[[list[Any]], Any], parts: list[Any]) -> Any:
    """Return the sum of delayed parts, in an order that their number decides."""
    while len(parts) > 1:
        groups = [parts[at : at + _AT_ONCE] for at in range(0, len(parts), _AT_ONCE)]
        parts = [dask.delayed(add)(group) for group in groups]
    return parts[0]


def _noisy(
    piece: Any,
    mechanism: CoordinateMechanism | AdditiveNoise,
    one_array: Reservation,
    grid: GridLike,
    block_id: tuple[int],
) -> Any:
    return mechanism.sample(piece, rng=one_array, grid=grid, offset=block_id[0] * _PIECE)
