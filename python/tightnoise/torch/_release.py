"""Noise on tensors, drawn once for all workers, or by each of them for its own part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, cast

import numpy as np
import torch
import torch.distributed as dist

from tightnoise.mechanisms import Mechanism
from tightnoise.mechanisms._parts import require_parts
from tightnoise.mechanisms.additive import AdditiveNoise
from tightnoise.mechanisms.base import CoordinateMechanism
from tightnoise.random import BATCH, NoiseStream, Reservation, default_stream
from tightnoise.sketch import Sketch

_DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_FIRST = 0  # the rank that draws


class Sampler(Protocol):
    """A mechanism for arrays: all but those of one number."""

    @property
    def sample(self) -> Callable[..., object]:
        """Return theta with noise: a method of theta and rng=."""


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
    if is_shared is None:
        is_shared = dist.is_available() and dist.is_initialized()
    wrong = _wrong(parts)
    if is_shared:
        _raise_on_all(wrong, group)
        mine = [(str(part.dtype), tuple(part.shape)) for part in parts]
        _require_same("tensors of the same shapes", mine, group)
    elif wrong is not None:
        raise wrong
    if not parts:
        return []
    flat = _flat(parts)
    if is_shared:
        dist.all_reduce(flat, group=group)
    if not is_shared or dist.get_rank(group) == _FIRST:
        failure = _draw(flat, mechanism, rng)
    else:
        failure = None
    if is_shared:
        told = [failure]
        dist.broadcast_object_list(told, src=_source(group), group=group)
        failure = told[0]
        if failure is None:
            dist.broadcast(flat, src=_source(group), group=group)
    if failure is not None:
        raise failure
    return _shaped_as(parts, flat)


def release_shard(
    tensors: Iterable[torch.Tensor],
    mechanism: Mechanism,
    *,
    rng: NoiseStream | None = None,
    group: dist.ProcessGroup | None = None,
) -> list[torch.Tensor]:
    """Return this rank's tensors with noise, where each rank has its own part of one vector.

    All ranks together release the vector of their parts, one after the other, once: they write the
    bits that one process would that has it all. As with FSDP, after sums were reduced and
    scattered. The first rank takes the noise of one array from `rng` (a `Reservation`), which is
    handed to the others by the process group: what goes between the ranks is as secret as the
    gradients that do.

    Parameters
    ----------
    tensors : iterable of torch.Tensor
        Of this rank: sums over all examples, not parts of such sums; perhaps none. Of one floating
        dtype on all ranks, as for `release`.
    mechanism : mechanism
        For coordinates, with the same parameters for each of them; in the units of the tensors.
    rng : NoiseStream, optional
        Where the noise comes from: on the first rank.
    group : torch.distributed.ProcessGroup, optional
        The workers; by default all of them.

    Returns
    -------
    list of torch.Tensor
        New tensors of the same shapes, dtype and device.

    Raises
    ------
    ValueError
        If numbers are NaN or infinite, dtypes or devices differ, ranks disagree about the dtype or
        the mechanism, or its parameters are arrays: on all ranks.
    TypeError
        If they are no floating tensors, or the mechanism is not for coordinates.

    Examples
    --------
    >>> import tightnoise as tn
    >>> import torch
    >>> mine = [torch.zeros(3, 2), torch.zeros(2)]
    >>> noisy = tn.torch.release_shard(mine, tn.Gaussian(2.0))  # doctest: +SKIP
    """
    parts = list(tensors)
    noise = require_parts(mechanism)
    _raise_on_all(_wrong(parts), group)
    _require_same("one mechanism", repr(noise), group)
    flat = _flat(parts) if parts else torch.empty(0)
    sizes = cast(list[int], _gathered(flat.numel(), group))
    dtypes = [str(kind) for kind in _gathered(parts[0].dtype if parts else None, group) if kind]
    if len(set(dtypes)) > 1:
        raise ValueError(f"tensors must have one dtype on all ranks; got {', '.join(dtypes)}")
    rank = dist.get_rank(group)
    given: list[Reservation | None] = [None]
    if rank == _FIRST:
        given = [(default_stream() if rng is None else rng).reserve()]
    dist.broadcast_object_list(given, src=_source(group), group=group)
    one_array = given[0]
    assert one_array is not None
    offset = sum(sizes[:rank])
    _raise_on_all(_draw(flat, noise, one_array, offset) if flat.numel() else None, group)
    return _shaped_as(parts, flat) if parts else []


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
        Made from buffers of 100 kB, by two all-reduces: without arrays and without cells
        (`Sketch.from_buffers`).

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
    terms = (sketch.lower, sketch.upper, sketch.sigma)
    _require_same("sketches of the same (lower, upper, sigma)", terms, group)
    device = "cuda" if dist.get_backend(group) == "nccl" else "cpu"
    sums, least = (torch.from_numpy(buffer).to(device) for buffer in sketch.buffers())
    dist.all_reduce(sums, op=dist.ReduceOp.SUM, group=group)
    dist.all_reduce(least, op=dist.ReduceOp.MIN, group=group)
    return Sketch.from_buffers(sums.cpu().numpy(), least.cpu().numpy())


def _flat(parts: list[torch.Tensor]) -> torch.Tensor:
    """Return new memory with all numbers, in a dtype that noise is drawn in."""
    flat = torch.cat([part.detach().reshape(-1) for part in parts])
    return flat.to(widened(flat.dtype))


def widened(dtype: torch.dtype) -> torch.dtype:
    """Return what sums are made and noise is drawn in: float32 or float64."""
    return torch.float32 if dtype in (torch.bfloat16, torch.float16) else dtype


def _shaped_as(parts: list[torch.Tensor], flat: torch.Tensor) -> list[torch.Tensor]:
    pieces = flat.to(parts[0].dtype).split([part.numel() for part in parts])
    return [piece.view(part.shape) for piece, part in zip(pieces, parts, strict=True)]


def _draw(
    flat: torch.Tensor,
    mechanism: Sampler,
    rng: NoiseStream | Reservation | None,
    offset: int | None = None,
) -> Exception | None:
    """Put noise on a tensor, in place; return what hindered it."""
    host = flat
    if flat.device.type == "cuda":  # pinned memory is copied several times as fast
        host = torch.empty(flat.shape, dtype=flat.dtype, device="cpu", pin_memory=True).copy_(flat)
    theta = array = host.cpu().numpy()
    try:
        if offset is None:
            keeps = isinstance(mechanism, (CoordinateMechanism, AdditiveNoise))
            array = np.asarray(mechanism.sample(theta, rng=rng, out=theta if keeps else None))
        else:  # noise is drawn from a multiple of BATCH on; what is before is nobody's
            before = offset % BATCH
            padded = np.concatenate([np.full(before, theta[0]), theta])
            noisy = mechanism.sample(padded, rng=rng, out=padded, offset=offset - before)
            array = np.asarray(noisy)[before:]
    except (TypeError, ValueError) as error:
        return error
    if array.shape != flat.shape:
        return TypeError(f"mechanism must release vectors as they are; got {mechanism!r}")
    if array is not theta or flat.device.type != "cpu":
        flat.copy_(torch.from_numpy(array))
    return None


def _wrong(parts: list[torch.Tensor]) -> Exception | None:
    """Return what is wrong with tensors."""
    for i, part in enumerate(parts):
        if not isinstance(part, torch.Tensor):
            return TypeError(f"tensors must be of torch; got {type(part).__name__} at {i}")
        if part.dtype not in _DTYPES:
            return TypeError(f"tensors must be floating; got {part.dtype} at {i}")
        if part.layout != torch.strided or part.is_meta:
            return TypeError(f"tensors must be dense, with data; got {part.layout} at {i}")
        if part.dtype != parts[0].dtype or part.device != parts[0].device:
            return ValueError(
                f"tensors must have one dtype and device; got {part.dtype} on {part.device} at {i},"
                f" {parts[0].dtype} on {parts[0].device} first"
            )
    return None


def _source(group: dist.ProcessGroup | None) -> int:
    """Return the global rank of the first of a group."""
    return dist.get_global_rank(group, _FIRST) if group is not None else _FIRST


def _gathered(mine: object, group: dist.ProcessGroup | None) -> list[object]:
    all_of_them: list[object] = [None] * dist.get_world_size(group)
    dist.all_gather_object(all_of_them, mine, group=group)
    return all_of_them


def _require_same(what: str, mine: object, group: dist.ProcessGroup | None) -> None:
    first, *others = _gathered(mine, group)
    for rank, theirs in enumerate(others, 1):
        if theirs != first:
            raise ValueError(
                f"all ranks must have {what}; got {theirs} on rank {rank}, {first} on rank 0"
            )


def _raise_on_all(failure: Exception | None, group: dist.ProcessGroup | None) -> None:
    """Raise the first failure of any rank on all of them, so that none waits for the others."""
    for found in _gathered(failure, group):
        if isinstance(found, Exception):
            raise found
