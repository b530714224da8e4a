"""One network trained, one gradient attacked: the runs that the study is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from tightnoise.attack import invert_l2, mse, spectral, ssim
from tightnoise.attack._inversion import first_inputs, invert_each
from tightnoise.random import NoiseStream
from tightnoise.reproduce.reconstruction._network import SIDE, Task, network
from tightnoise.reproduce.reconstruction._noises import Noise

RATE = 0.005
"""The learning rate of Adam."""

TOTAL_VARIATION = 0.1
"""The weight of inverting gradients: what the code of its authors takes if nothing is said."""

_WEIGHTS = (1e-3, 1e-2, 1e-1)  # that an attacker of one image may choose from

_RESTARTS = 4  # of deep leakage from gradients

SHOWN = 4
"""How many images of a batch are kept, to be shown."""

Found = dict[str, Any]


def accuracy(
    of: Task, noise: Noise, *, batch: int, epochs: float, weight_decay: float, seed: int
) -> float:
    """Return the share of test images that are told right after training.

    Each batch is a sample of a fixed size, as in the paper's algorithms.
    """
    model, rng = network(of, seed), NoiseStream(seed)
    records = len(of.train)
    draws = np.random.default_rng(seed)
    adam = torch.optim.Adam(model.parameters(), lr=RATE, weight_decay=weight_decay)
    sizes = [p.numel() for p in model.parameters()]
    scale = batch if noise.kind in ("none", "clip", "gaussian") else 1
    for _ in range(steps(records, batch, epochs)):
        chosen = draws.choice(records, batch, replace=False, shuffle=False)
        seen = noise.released(model, of.train[chosen], of.train_labels[chosen], rng) / scale
        for p, part in zip(model.parameters(), seen.split(sizes), strict=True):
            p.grad = part.view_as(p)
        adam.step()
    with torch.no_grad():
        right = model(of.test).argmax(dim=1) == of.test_labels
    return float(right.double().mean())


def steps(records: int, batch: int, epochs: float) -> int:
    """Return how many batches make so many epochs."""
    return math.ceil(epochs * math.ceil(records / batch))


def attack_batch(
    of: Task, noises: Sequence[Noise], *, batch: int, iterations: int, seed: int
) -> list[Found]:
    """Return how near the images come that are found to have a gradient of the same direction.

    One answer for each noise. All attack the same images, side by side, from the same beginning.
    """
    seen = [_seen(of, noise, batch, seed) for noise in noises]
    found = _inverted(seen, [TOTAL_VARIATION], iterations, seed)
    return [
        {"cosine": one.cosine, **_distances(one.images, inputs)}
        for one, (inputs,) in zip(seen, found, strict=True)
    ]


def attack_l2(of: Task, noise: Noise, *, batch: int, iterations: int, seed: int) -> Found:
    """Return the same of images with the nearest gradient, by DLG, which does not know labels."""
    seen = _seen(of, noise, batch, seed)
    found = invert_l2(
        seen.model,
        seen.gradient,
        tuple(seen.images.shape),
        of.classes,
        iterations=iterations,
        restarts=_RESTARTS,
        seed=seed,
    )
    return {"cosine": seen.cosine, **_distances(seen.images, found.inputs)}


def attack_alone(of: Task, noises: Sequence[Noise], *, iterations: int, seed: int) -> list[Found]:
    """Return the same for one image, and for the one that the first layer's gradient shows.

    The network takes pixels as they are: an image shows in its gradient, not one less the mean.
    The weight of the total variation is the one of three that brings the images nearest: no
    attacker can know which that is, none can choose a better one.
    """
    seen = [_seen(of, noise, 1, seed, standardised=False) for noise in noises]
    found = _inverted(seen, _WEIGHTS, iterations, seed)
    return [
        {
            "cosine": one.cosine,
            **min((_distances(one.images, x) for x in inputs), key=lambda near: near["mse"]),
            **_shown(one),
        }
        for one, inputs in zip(seen, found, strict=True)
    ]


def _inverted(
    seen: Sequence[_Seen], weights: Sequence[float], iterations: int, seed: int
) -> list[list[torch.Tensor]]:
    """Return what is found in each release, with each weight of the total variation."""
    first = seen[0]
    start = first_inputs(tuple(first.images.shape), torch.Generator().manual_seed(seed))
    pairs = [(one.gradient, weight) for one in seen for weight in weights]
    found = invert_each(
        first.model,
        torch.stack([gradient for gradient, _ in pairs]),
        first.labels,
        start.expand(len(pairs), *start.shape).clone(),
        [weight for _, weight in pairs],
        iterations=iterations,
    )
    inputs = [one.inputs for one in found]
    return [inputs[at : at + len(weights)] for at in range(0, len(inputs), len(weights))]


def _shown(seen: _Seen) -> Found:
    """Return how near the image comes that is read off the first layer's gradient."""
    first = next(iter(seen.model.parameters()))
    layer = seen.gradient[: first.numel()].reshape(first.shape)
    image, shown = _pixels(seen.images)[0], spectral(layer.numpy(), (SIDE, SIDE))
    return {"spectral mse": mse(image, shown), "spectral ssim": ssim(image, shown)}


def guess(of: Task, *, batch: int, seed: int) -> Found:
    """Return the same of the mean of all images, for which nothing of a gradient is seen."""
    x = of.train[_chosen(of, batch, seed)]
    return _distances(x, of.train.mean(dim=0).expand_as(x))


def _chosen(of: Task, batch: int, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).choice(len(of.train), batch, replace=False)


class _Seen(NamedTuple):
    """An untrained network, images, labels, the release, and its cosine with the truth."""

    model: torch.nn.Module
    images: torch.Tensor
    labels: torch.Tensor
    gradient: torch.Tensor
    cosine: float


def _seen(of: Task, noise: Noise, batch: int, seed: int, *, standardised: bool = True) -> _Seen:
    model = network(of, seed, standardised=standardised)
    chosen = _chosen(of, batch, seed)
    x, y = of.train[chosen], of.train_labels[chosen]
    seen = noise.released(model, x, y, NoiseStream(seed))
    truth = Noise("none").released(model, x, y, NoiseStream(seed))
    return _Seen(model, x, y, seen, float(torch.cosine_similarity(seen, truth, dim=0)))


def _distances(x: torch.Tensor, found: torch.Tensor) -> Found:
    """Return the means over the images in the order in which they are, and the first of them."""
    images, others = _pixels(x), _pixels(found.clamp(0, 1))
    pairs = list(zip(images, others, strict=True))
    return {
        "mse": float(np.mean([mse(a, b) for a, b in pairs])),
        "ssim": float(np.mean([ssim(a, b) for a, b in pairs])),
        "images": images[:SHOWN].round(3).tolist(),
        "found": others[:SHOWN].round(3).tolist(),
    }


def _pixels(x: torch.Tensor) -> NDArray[np.float64]:
    return np.asarray(x.detach().reshape(-1, SIDE, SIDE).double().numpy())
