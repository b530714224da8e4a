"""The sum of clipped per-example gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch.func import functional_call, grad, vmap

from tightnoise._validate import MAX_COUNT, integer, positive
from tightnoise.torch._release import widened

_DOWN = 4.0  # units in the last place that a scale is rounded down by, beside that of a norm
_UNIT = 2.0**-52
_ON_CPU, _ON_GPU = 2**16, 2**26  # numbers
_NORMS = (torch.nn.modules.batchnorm._BatchNorm,)

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def clipped_sum(
    model: torch.nn.Module,
    loss: Loss,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    *,
    l2: float | None = None,
    linf: float | None = None,
    chunk: int = 256,
) -> dict[str, torch.Tensor]:
    """Return the sum over examples of the gradients of their losses, each clipped by itself.

    With the L2 clip (Abadi et al. 2016, "Deep Learning with Differential Privacy") a gradient g is
    scaled by min(1, l2/|g|): the sum's `sensitivity` is l2 when an example is added or removed.
    With the other, each number is moved into [-linf, linf]: `coordinate_sensitivity` is linf. Both
    together clip the numbers first. Sums of floats are rounded, which moves them a little further:
    docs/sums.md; `tightnoise.exact_sum` is without that.

    Parameters
    ----------
    model : torch.nn.Module
        Without batch norm, of which one example's gradient depends on the others.
    loss : callable
        Of the model's output and the targets of a batch of one: a number.
    inputs, targets : torch.Tensor, shape (n, ...)
        n may be 0: an empty sample is released, too.
    l2, linf : float, optional
        The clips, one of them at least.
    chunk : int
        How many gradients are in memory at once.

    Returns
    -------
    dict of str to torch.Tensor
        The sum for each parameter that requires a gradient, by name; float32 where parameters are
        bfloat16 or float16, whose sums would move by far more than a clip.

    Raises
    ------
    ValueError
        If no clip is given, one is not above 0, the model has batch norm, no parameter that
        requires a gradient or parameters of several dtypes or devices, inputs and targets differ in
        length or device, or a gradient is NaN or infinite.

    Examples
    --------
    >>> import tightnoise as tn
    >>> import torch
    >>> net = torch.nn.Linear(4, 3)
    >>> x, y = torch.ones(5, 4), torch.zeros(5, dtype=int)
    >>> sums = tn.torch.clipped_sum(
    ...     net, torch.nn.functional.cross_entropy, x, y, l2=1.0
    ... )
    >>> noisy = tn.torch.release(sums.values(), tn.Gaussian(2.0))
    """
    if l2 is None and linf is None:
        raise ValueError("l2 or linf must be given")
    norm = None if l2 is None else positive("l2", l2)
    most = None if linf is None else positive("linf", linf)
    size = integer("chunk", chunk, minimum=1, maximum=MAX_COUNT)
    if len(inputs) != len(targets):
        raise ValueError(f"targets must be as many as inputs, {len(inputs)}; got {len(targets)}")
    for name, module in model.named_modules():
        if isinstance(module, _NORMS):
            raise ValueError(f"model must not have batch norm; got {module} at {name!r}")
    if any(hasattr(p, "grad_sample") for p in model.parameters()):
        raise ValueError("model must not have Opacus' hooks: `remove_hooks` of what wraps it")
    wanted = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
    if not wanted:
        raise ValueError("model must have a parameter that requires a gradient; got none")
    name, known = next(iter(wanted.items()))
    places = {**wanted, "inputs": inputs, "targets": targets}
    for other, tensor in places.items():
        if tensor.device != known.device or (other in wanted and tensor.dtype != known.dtype):
            raise ValueError(
                f"parameters and data must be on one device, parameters of one dtype; got "
                f"{known.dtype} on {known.device} at {name!r}, {tensor.dtype} on {tensor.device} "
                f"at {other!r}"
            )
    fixed = {n: p.detach() for n, p in model.named_parameters() if not p.requires_grad}
    fixed.update(model.named_buffers())

    def one(parameters: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        output = functional_call(model, {**parameters, **fixed}, (x.unsqueeze(0),))
        return loss(output, y.unsqueeze(0))

    each = vmap(grad(one), in_dims=(None, 0, 0), randomness="different")
    wide = widened(known.dtype)
    if most is not None:
        nearest = torch.tensor(most, dtype=wide)
        if float(nearest) > most:
            most = float(torch.nextafter(nearest, torch.tensor(0.0, dtype=wide)))
    sums = {name: torch.zeros_like(p, dtype=wide) for name, p in wanted.items()}
    for start in range(0, len(inputs), size):
        part = slice(start, start + size)
        gradients = each(wanted, inputs[part], targets[part])
        rows_of = {name: rows.to(wide) for name, rows in gradients.items()}
        for name, rows in _clipped(rows_of, norm, most).items():
            sums[name] += rows
    return sums


def _clipped(
    gradients: dict[str, torch.Tensor], norm: float | None, most: float | None
) -> dict[str, torch.Tensor]:
    """Return the sums of the clipped rows."""
    if most is not None:
        _check_finite(gradients)  # the clip would hide infinities
        gradients = {name: rows.clamp(-most, most) for name, rows in gradients.items()}
    if norm is None:
        return {name: rows.sum(dim=0) for name, rows in gradients.items()}
    scales = clip_scales(list(gradients.values()), norm)
    if not bool((scales > 0).all()):
        _check_finite(gradients)  # a finite gradient's may be 0, too
    return {name: scaled_sum(rows, scales) for name, rows in gradients.items()}


def clip_scales(gradients: Sequence[torch.Tensor], norm: float) -> torch.Tensor:
    """Return what each row, in parts, is scaled by to be no longer than `norm`, as float64.

    Norms are in double precision, and the rounding of that counts: in single precision one of a
    million numbers can be half of a percent too small. A scale that is subnormal in the rows'
    dtype, and so might be rounded by much, is 0.
    """
    sizes = [math.prod(rows.shape[1:]) for rows in gradients]
    norms = [
        _norms(rows.reshape(len(rows), size)) for rows, size in zip(gradients, sizes, strict=True)
    ]
    lengths = torch.stack([each.to(norms[0].device) for each in norms]).norm(dim=0)
    dtypes = [torch.finfo(rows.dtype) for rows in gradients]
    slack = _DOWN * max(dtype.eps for dtype in dtypes) + sum(sizes) * _UNIT
    scales = (norm * (1 - slack) / lengths.clamp_min(1e-300)).clamp_max(1.0)
    return scales.masked_fill(scales < max(dtype.tiny for dtype in dtypes), 0.0)


def scaled_sum(rows: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Return the sum of the rows, each times its scale.

    It is no product of matrices: for these `torch.autocast`, and GPUs with TF32, may take 8 or 11
    bits of each number, and a row that is rounded up is longer than the clip.
    """
    total = rows.new_zeros(rows.shape[1:])
    factors = scales.to(rows).reshape(-1, *[1] * total.dim())
    count = _at_once(rows)
    for part, factor in zip(rows.split(count), factors.split(count), strict=True):
        if len(part) == 1:
            total.addcmul_(part[0], factor[0])
        else:
            total += (part * factor).sum(dim=0)
    return total


def _norms(rows: torch.Tensor) -> torch.Tensor:
    parts = rows.split(_at_once(rows))
    return torch.cat([torch.linalg.vector_norm(p, dim=1, dtype=torch.float64) for p in parts])


def _at_once(rows: torch.Tensor) -> int:
    """Return how many rows are copied at once: few enough for a cache, or for a GPU's memory."""
    most = _ON_CPU if rows.device.type == "cpu" else _ON_GPU
    size: int = math.prod(rows.shape[1:])
    return max(1, most // max(1, size))


def _check_finite(gradients: dict[str, torch.Tensor]) -> None:
    for name, rows in gradients.items():
        bad = ~torch.isfinite(rows.flatten(1)).all(dim=1)
        if bool(bad.any()):
            first = int(bad.nonzero()[0])
            raise ValueError(
                f"gradients must be finite; got NaN or infinity at {name!r}, example {first}"
            )
