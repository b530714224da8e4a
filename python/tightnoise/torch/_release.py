"""Noise on tensors, drawn once for all workers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray

from tightnoise.random import NoiseStream
from tightnoise.sketch import Sketch

__all__ = ["Sampler", "gather_sketch", "release"]

_DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_FIRST = 0  # the rank that draws


class Sampler(Protocol):
    """A mechanism for arrays: all but those of one number."""

    def sample(
        self,
        theta: NDArray[np.floating],
        *,
        rng: NoiseStream | None = None,
        out: NDArray[np.floating] | None = None,
    ) -> object:
        """Return theta with noise."""


def release(
    tensors: Iterable[torch.Tensor],
    mechanism: Sampler,
    *,
    rng: NoiseStream | None = None,
    group: dist.ProcessGroup | None = None,
    is_shared: bool | None = None,
) -> list[torch.Tensor]:
    """Return tensors with noise: one release of all their numbers as one vector.

    Where `torch.distributed` is in use, the tensors of all ranks are added up first, and noise
    is drawn once, by the first rank of the group; all get the same bits. (Noise on each rank's part
    is more than is accounted, and with bounded noise leaves the bounds.)

    Parameters
    ----------
    tensors : iterable of torch.Tensor
        The clipped sums, of one floating dtype, on one device. bfloat16 and float16 go through
        float32, and the release is rounded. CPU tensors of one piece are read in place; others are
        copied to the host at once.
    mechanism : mechanism
        For vectors, in the units of the tensors.
    rng : NoiseStream, optional
        Where the noise comes from: on the first rank.
    group : torch.distributed.ProcessGroup, optional
        The workers; by default all of them.
    is_shared : bool, optional
        Whether ranks have parts of one sum; by default, whether `torch.distributed` is initialised.

    Returns
    -------
    list of torch.Tensor
        New tensors of the same shapes, dtype and device.

    Raises
    ------
    ValueError
        If numbers are NaN or infinite, dtypes or devices differ, or ranks disagree about shapes:
        on all ranks.
    TypeError
        If they are no floating tensors.

    Examples
    --------
    >>> import tightnoise as tn
    >>> import torch
    >>> sums = [torch.zeros(3, 2), torch.zeros(2)]
    >>> weight, bias = tn.torch.release(sums, tn.Gaussian(2.0))
    """
    parts = list(tensors)
    _check(parts)
    if is_shared is None:
        is_shared = dist.is_available() and dist.is_initialized()
    if is_shared:
        _check_ranks(parts, group)
    if not parts:
        return []
    kept = parts[0].dtype
    wide = torch.float32 if kept in (torch.bfloat16, torch.float16) else kept
    flat = torch.cat([part.detach().reshape(-1) for part in parts]).to(wide)
    if is_shared:
        dist.all_reduce(flat, group=group)
    if not is_shared or dist.get_rank(group) == _FIRST:
        failure = _draw(flat, mechanism, rng)
    else:
        failure = None
    if is_shared:
        source = dist.get_global_rank(group, _FIRST) if group is not None else _FIRST
        told = [failure]
        dist.broadcast_object_list(told, src=source, group=group)
        failure = told[0]
        if failure is None:
            dist.broadcast(flat, src=source, group=group)
    if failure is not None:
        raise failure
    pieces = flat.to(kept).split([part.numel() for part in parts])
    return [piece.view(part.shape) for piece, part in zip(pieces, parts, strict=True)]


def gather_sketch(sketch: Sketch, *, group: dist.ProcessGroup | None = None) -> Sketch:
    """Return, on all ranks, the sketch of a vector of which each rank has sketched its own part.

    Parameters
    ----------
    sketch : Sketch
        Of this rank's coordinates. Sums of gradients are no parts of a vector: add them up first.
    group : torch.distributed.ProcessGroup, optional
        The workers; by default all of them.

    Returns
    -------
    Sketch

    Raises
    ------
    ValueError
        If the sketches are for different intervals or scales: on all ranks.

    Examples
    --------
    >>> import tightnoise as tn
    >>> mine = tn.Sketch.of([0.5, -2.0], -1.0, 1.0)
    >>> whole = tn.torch.gather_sketch(mine)  # doctest: +SKIP
    """
    parts: list[Sketch | None] = [None] * dist.get_world_size(group)
    dist.all_gather_object(parts, sketch, group=group)
    first, *others = [part for part in parts if part is not None]
    for other in others:
        first = first + other
    return first


def _draw(flat: torch.Tensor, mechanism: Sampler, rng: NoiseStream | None) -> Exception | None:
    """Put noise on a tensor, in place; return what hindered it."""
    array = flat.cpu().numpy()
    try:
        array = np.asarray(mechanism.sample(array, rng=rng))
    except (TypeError, ValueError) as error:
        return error
    if array.shape != flat.shape:
        return TypeError(f"mechanism must release vectors as they are; got {mechanism!r}")
    flat.copy_(torch.from_numpy(array))
    return None


def _check(parts: list[torch.Tensor]) -> None:
    for i, part in enumerate(parts):
        if not isinstance(part, torch.Tensor):
            raise TypeError(f"tensors must be of torch; got {type(part).__name__} at {i}")
        if part.dtype not in _DTYPES:
            raise TypeError(f"tensors must be floating; got {part.dtype} at {i}")
        if part.dtype != parts[0].dtype or part.device != parts[0].device:
            raise ValueError(
                f"tensors must have one dtype and device; got {part.dtype} on {part.device} at {i},"
                f" {parts[0].dtype} on {parts[0].device} first"
            )


def _check_ranks(parts: list[torch.Tensor], group: dist.ProcessGroup | None) -> None:
    mine = [(str(part.dtype), tuple(part.shape)) for part in parts]
    all_of_them: list[object] = [None] * dist.get_world_size(group)
    dist.all_gather_object(all_of_them, mine, group=group)
    for rank, theirs in enumerate(all_of_them):
        if theirs != all_of_them[0]:
            raise ValueError(
                f"tensors must have the same shapes on all ranks; got {theirs} on rank {rank},"
                f" {all_of_them[0]} on rank 0"
            )
