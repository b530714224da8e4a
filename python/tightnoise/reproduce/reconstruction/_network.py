"""The paper's network, and images in the size it takes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import torch

from tightnoise._files import FileError
from tightnoise.reproduce._images import Images

SIDE = 16
"""Height and width of the images, in pixels."""

BATCH = 128
"""Images in a batch, unless told."""

_HIDDEN = (50, 15)

_MNIST_COUNTS = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]

cross_entropy = torch.nn.functional.cross_entropy


@dataclass(frozen=True)
class Task:
    """Images of shape (n, 1, SIDE, SIDE) with pixels from 0 to 1, and their labels.

    `is_mnist` says whether they are MNIST's digits, of which the paper prints numbers, too.

    `mean` and `deviation` are those of all pixels to learn from, before they are resized. They
    stand for numbers that are public, as in the paper: no cost counts them.
    """

    name: str
    classes: int
    is_mnist: bool
    mean: float
    deviation: float
    train: torch.Tensor
    train_labels: torch.Tensor
    test: torch.Tensor
    test_labels: torch.Tensor


def task(images: Images) -> Task:
    """Return grey images at 16 x 16, larger or smaller ones resized; of MNIST the middle.

    As the paper has them: MNIST's digits stand in the middle of black.

    Raises
    ------
    FileError
        If the examples are no images, or too few or too much alike to learn from.
    """
    if images.train.ndim == 2:
        raise FileError(f"{images.name} holds features; images are needed")
    if len(images.train) < BATCH or images.classes < 2 or not images.train.std() > 0:
        raise FileError(
            f"{images.name} holds {len(images.train)} images of {images.classes} classes; "
            f"{BATCH} that differ, of two classes, are needed"
        )
    is_mnist = _is_mnist(images)
    return Task(
        images.name,
        images.classes,
        is_mnist,
        float(images.train.mean(dtype=np.float64)),
        float(images.train.std(dtype=np.float64)),
        _small(images.train, cropped=is_mnist),
        torch.from_numpy(images.train_labels),
        _small(images.test, cropped=is_mnist),
        torch.from_numpy(images.test_labels),
    )


def _is_mnist(images: Images) -> bool:
    """Return whether these are MNIST's digits, by how many there are of each to learn from."""
    counts = np.bincount(images.train_labels).tolist()
    return counts == _MNIST_COUNTS and images.train.shape[1:] == (28, 28)


def _small(images: object, *, cropped: bool) -> torch.Tensor:
    pixels = torch.as_tensor(images)
    if cropped:
        edge = (pixels.shape[1] - SIDE) // 2
        pixels = pixels[:, edge : edge + SIDE, edge : edge + SIDE]
    grey = pixels if pixels.dim() == 3 else pixels.mean(dim=-1)
    size = (SIDE, SIDE)
    small: torch.Tensor = torch.nn.functional.interpolate(
        grey.unsqueeze(1), size=size, mode="bilinear", antialias=True
    )
    return small.clamp(0, 1)


class _Standardised(torch.nn.Module):  # type: ignore[misc]
    """Pixels with the mean 0 and the standard deviation 1."""

    def __init__(self, mean: float, deviation: float) -> None:
        super().__init__()
        self.mean, self.deviation = mean, deviation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) / self.deviation


def network(of: Task, seed: int, *, standardised: bool = True) -> torch.nn.Module:
    """Return a network with random weights: sigmoids, no biases, 13,700 weights for ten classes."""
    mean, deviation = (of.mean, of.deviation) if standardised else (0.0, 1.0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        sizes = (SIDE * SIDE, *_HIDDEN, of.classes)
        layers = [_Standardised(mean, deviation), torch.nn.Flatten()]
        for inputs, outputs in itertools.pairwise(sizes):
            layers += [torch.nn.Linear(inputs, outputs, bias=False), torch.nn.Sigmoid()]
        return torch.nn.Sequential(*layers[:-1])


def clipped_gradient(
    model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor, bound: float
) -> torch.Tensor:
    """Return the sum of the gradients of each image, scaled to a norm of at most `bound`.

    As `tightnoise.torch.clipped_sum`, for `network` only and faster: the gradient of one
    image is an outer product in each layer, of what goes in and of the derivative of what comes
    out, so its norm is known without it (Goodfellow 2015, "Efficient Per-Example Gradient
    Computations").
    """
    inputs, outputs = [], []
    for layer in model.children():
        is_linear = isinstance(layer, torch.nn.Linear)
        if is_linear:
            inputs.append(x.detach())
        x = layer(x)
        if is_linear:
            outputs.append(x)
    derivatives = torch.autograd.grad(cross_entropy(x, y, reduction="sum"), outputs)
    pairs = list(zip(derivatives, inputs, strict=True))
    squares = torch.stack([d.square().sum(dim=1) * a.square().sum(dim=1) for d, a in pairs])
    scale = (bound / squares.sum(dim=0).sqrt()).clamp(max=1.0).unsqueeze(1)
    return torch.cat([((d * scale).T @ a).reshape(-1) for d, a in pairs])
