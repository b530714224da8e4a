"""Inputs whose gradient is a released one, by descent (extra `torch`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tightnoise._progress import SHOWN_AFTER, progress
from tightnoise._validate import MAX_COUNT, integer, not_negative

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

_RATE = 0.1  # of Adam's first steps; a tenth after each of these parts
_PARTS = (0.375, 0.625, 0.875)
_AT_ONCE = 1 << 22  # numbers in the gradients of all attacks of one descent


class Inversion(NamedTuple):
    """What an attack has found.

    Attributes
    ----------
    inputs : torch.Tensor
    loss : float
        How far the gradient of these inputs is from the one that was released.

    Examples
    --------
    >>> import tightnoise as tn
    >>> tn.attack.Inversion._fields
    ('inputs', 'loss')
    """

    inputs: torch.Tensor
    loss: float


def invert(
    model: torch.nn.Module,
    gradient: torch.Tensor,
    labels: torch.Tensor,
    shape: tuple[int, ...],
    *,
    iterations: int = 400,
    total_variation: float = 1e-3,
    restarts: int = 1,
    seed: int = 0,
) -> Inversion:
    """Return inputs from 0 to 1 whose gradient points where a released one does.

    Adam on signs of the gradient of 1 - cosine + total variation, for cross entropy with known
    labels: Geiping, Bauermeister, Droege and Moeller 2020, "Inverting Gradients". It needs the
    direction alone, and so works on directional noise, too.

    Parameters
    ----------
    model : torch.nn.Module
    gradient : torch.Tensor, shape (d,)
        Of all parameters, in their order, one after another; noisy or not, in any units.
    labels : torch.Tensor of integers, shape (n,)
    shape : tuple of int
        Of the inputs, n first.
    iterations, restarts : int
    total_variation : float
        The weight of the differences of neighbours along the last two axes. Noise asks for more: at
        0.1 images come nearer that are hardly seen at 0.001.
    seed : int
        Of the first inputs, which have no meaning for privacy.

    Returns
    -------
    Inversion
        That of the least cosine loss over all restarts.

    Raises
    ------
    ValueError
        If the gradient has another length than the model, or is 0.
    ImportError
        Without PyTorch.

    Examples
    --------
    >>> import tightnoise as tn
    >>> import torch  # doctest: +SKIP
    >>> net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(256, 10))  # doctest: +SKIP
    >>> found = tn.attack.invert(
    ...     net, released, torch.tensor([3]), (1, 1, 16, 16)
    ... )  # doctest: +SKIP
    """
    import torch

    target = _target(model, gradient)
    rounds = integer("iterations", iterations, minimum=1, maximum=MAX_COUNT)
    weight = not_negative("total_variation", total_variation)
    left = integer("restarts", restarts, minimum=1, maximum=MAX_COUNT)
    generator = torch.Generator().manual_seed(seed)
    at_once = 1 if _averages(model) else max(1, _AT_ONCE // target.numel())
    found: list[Inversion] = []
    while left > 0:
        count = min(left, at_once)
        left -= count
        starts = torch.stack([first_inputs(shape, generator) for _ in range(count)])
        targets, weights = target.expand(count, -1), [weight] * count
        found += invert_each(model, targets, labels, starts, weights, iterations=rounds)
    return min(found, key=lambda one: one.loss)


def first_inputs(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Return where an attack begins."""
    import torch

    return 0.5 + 0.1 * torch.randn(shape, generator=generator)


def invert_each(
    model: torch.nn.Module,
    gradients: torch.Tensor,
    labels: torch.Tensor,
    starts: torch.Tensor,
    weights: list[float],
    *,
    iterations: int,
) -> list[Inversion]:
    """Return what `invert` does from each start for its gradient, all in one descent.

    The attacks do not meet: each element of Adam's step depends on its own gradient alone.
    """
    import torch

    targets = torch.stack([_target(model, gradient) for gradient in gradients])
    targets = targets / targets.norm(dim=1, keepdim=True)
    variation = torch.tensor(weights).to(targets)
    x = starts.to(targets).requires_grad_(True)
    adam = torch.optim.Adam([x], lr=_RATE)
    steps = [int(iterations * part) for part in _PARTS]
    slower = torch.optim.lr_scheduler.MultiStepLR(adam, steps, 0.1)
    for _ in progress(range(iterations), "rounds", delay=SHOWN_AFTER):
        own = _gradients(model, x, labels)
        losses = 1 - (own * targets).sum(dim=1) / own.norm(dim=1).clamp_min(1e-30)
        (x.grad,) = torch.autograd.grad((losses + variation * _variations(x)).sum(), x)
        x.grad.sign_()
        adam.step()
        slower.step()
        with torch.no_grad():
            x.clamp_(0, 1)
    return [Inversion(*one) for one in zip(x.detach(), losses.detach().tolist(), strict=True)]


def invert_l2(
    model: torch.nn.Module,
    gradient: torch.Tensor,
    shape: tuple[int, ...],
    classes: int,
    *,
    iterations: int = 100,
    restarts: int = 1,
    seed: int = 0,
) -> Inversion:
    """Return inputs whose gradient is the nearest to a released one, their labels unknown.

    L-BFGS on the squared distance, over inputs and soft labels: Zhu, Liu and Han 2019, "Deep
    Leakage from Gradients" (DLG). It needs the scale of the gradient, and noise misleads it early.
    Some first inputs lead nowhere, which its loss tells: see `restarts`.

    Parameters
    ----------
    model : torch.nn.Module
    gradient : torch.Tensor, shape (d,)
        Of all parameters, in their order, one after another.
    shape : tuple of int
        Of the inputs, n first.
    classes : int
    iterations, restarts : int
    seed : int

    Returns
    -------
    Inversion
        That of the least loss over all restarts.

    Raises
    ------
    ValueError
        If the gradient has another length than the model, or is 0.
    ImportError
        Without PyTorch.

    Examples
    --------
    >>> import tightnoise as tn
    >>> found = tn.attack.invert_l2(net, released, (1, 1, 16, 16), 10)  # doctest: +SKIP
    """
    import torch

    target = _target(model, gradient)
    kinds = integer("classes", classes, minimum=2, maximum=MAX_COUNT)
    rounds = integer("iterations", iterations, minimum=1, maximum=MAX_COUNT)
    generator = torch.Generator().manual_seed(seed)

    def attempt() -> Inversion:
        x = torch.randn(shape, generator=generator).to(target).requires_grad_(True)
        y = torch.randn((shape[0], kinds), generator=generator).to(target).requires_grad_(True)
        descent = torch.optim.LBFGS([x, y], lr=1.0, max_iter=1)
        best = Inversion(x.detach().clone(), float("inf"))

        def distance() -> torch.Tensor:
            own = _gradient(model, x, y.softmax(dim=1))
            loss = (own - target).square().sum()
            x.grad, y.grad = torch.autograd.grad(loss, [x, y])
            return loss.detach()

        for _ in range(rounds):
            before = x.detach().clone()
            loss = float(descent.step(distance))
            if not loss < float("inf"):
                break
            if loss < best.loss:
                best = Inversion(before, loss)
        return best

    tries = integer("restarts", restarts, minimum=1, maximum=MAX_COUNT)
    return min((attempt() for _ in range(tries)), key=lambda found: found.loss)


def _target(model: torch.nn.Module, gradient: torch.Tensor) -> torch.Tensor:
    count = sum(p.numel() for p in _parameters(model))
    target = gradient.detach().reshape(-1).to(next(_parameters(model)))
    if target.numel() != count:
        raise ValueError(f"gradient must have {count} numbers, as the model; got {target.numel()}")
    if not bool(target.any()) or not bool(target.isfinite().all()):
        raise ValueError("gradient must be finite and not 0; got one that is not")
    return target


def _parameters(model: torch.nn.Module) -> Iterator[torch.nn.Parameter]:
    return (p for p in model.parameters() if p.requires_grad)


def _gradient(model: torch.nn.Module, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    import torch

    loss = torch.nn.functional.cross_entropy(model(x), labels, reduction="sum")
    parts = torch.autograd.grad(loss, list(_parameters(model)), create_graph=True)
    return torch.cat([part.reshape(-1) for part in parts])


def _gradients(model: torch.nn.Module, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return one gradient a row, each of the inputs in x[i]."""
    import torch

    if len(x) == 1:  # half the time
        return _gradient(model, x[0], labels).unsqueeze(0)
    parameters = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}

    def loss(own: dict[str, torch.Tensor], inputs: torch.Tensor) -> torch.Tensor:
        outputs = torch.func.functional_call(model, own, (inputs,))
        return torch.nn.functional.cross_entropy(outputs, labels, reduction="sum")

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0), randomness="different")
    return torch.cat([part.flatten(1) for part in each(parameters, x).values()], dim=1)


def _averages(model: torch.nn.Module) -> bool:
    """Return whether the model keeps averages of what it sees: then one attack after another."""
    import torch

    norm = torch.nn.modules.batchnorm._NormBase  # batch norm and instance norm
    return any(isinstance(m, norm) and m.training for m in model.modules())


def _variations(x: torch.Tensor) -> torch.Tensor:
    if x.dim() < 4:
        return x.new_zeros(len(x))
    across, down = x[..., 1:] - x[..., :-1], x[..., 1:, :] - x[..., :-1, :]
    return across.abs().flatten(1).mean(dim=1) + down.abs().flatten(1).mean(dim=1)
