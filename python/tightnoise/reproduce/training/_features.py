"""What the linear model sees of an example: a function of that example alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.reproduce._images import Images

Array = NDArray[np.float32]

_SMALLEST = 16  # pixels a side: smaller images are taken as they are
_CELL = 4  # pixels a side
_ORIENTATIONS = 8
_BIAS = 0.3  # a constant beside features of norm 1
_CHUNK = 2000  # images


class Examples(NamedTuple):
    """Features, one example a row, and labels from 0 on."""

    features: Array
    labels: NDArray[np.int64]

    def some(self, which: slice | NDArray[np.int64]) -> Examples:
        """Return some of the examples."""
        return Examples(self.features[which], self.labels[which])


class Task(NamedTuple):
    """Examples to learn from, others to choose learning rates by, and others to test with."""

    name: str
    classes: int
    train: Examples
    held_out: Examples
    test: Examples


def task_of(images: Images, most: int) -> Task:
    """Return at most `most` examples to learn from; a sixth of all is held out before.

    Which ones is drawn without looking at them, by a fixed seed.
    """
    order = np.random.default_rng(0).permutation(len(images.train))
    held = max(1, len(order) // 6)
    used = order[: held + most]
    features, labels = features_of(images.train[used]), images.train_labels[used]
    return Task(
        images.name,
        images.classes,
        Examples(features[held:], labels[held:]),
        Examples(features[:held], labels[:held]),
        Examples(features_of(images.test), images.test_labels),
    )


def features_of(examples: Array) -> Array:
    """Return features of Euclidean norm 1, and a constant beside them.

    Of images of 16 x 16 pixels and more histograms of the gradients' orientations, as Dalal and
    Triggs 2005, "Histograms of Oriented Gradients for Human Detection", have them: cells of 4 x 4
    pixels and 8 unsigned orientations, here with the root of each bin, beside the root of the mean
    brightness. Else the pixels, or the features, as they are. Less the mean of the example itself.
    """
    if examples.ndim == 4:
        examples = examples.mean(axis=3)
    if examples.ndim == 3 and min(examples.shape[1:]) >= _SMALLEST:
        parts = [_oriented(examples[i : i + _CHUNK]) for i in range(0, len(examples), _CHUNK)]
        rows = np.concatenate(parts)
    else:
        rows = examples.reshape(len(examples), -1)
    rows = rows - rows.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.maximum(norms, np.finfo(np.float32).tiny)
    constant = np.full((len(rows), 1), _BIAS, np.float32)
    return np.concatenate([rows, constant], axis=1, dtype=np.float32)


def _oriented(images: Array) -> Array:
    count, height, width = images.shape
    rows, columns = height // _CELL, width // _CELL
    images = images[:, : rows * _CELL, : columns * _CELL]
    across, down = np.zeros_like(images), np.zeros_like(images)
    across[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    length = np.hypot(across, down)
    angle = (np.arctan2(down, across) % np.pi) * np.float32(_ORIENTATIONS / np.pi)
    low = np.floor(angle).astype(np.int64)
    share = angle - low  # of the next orientation
    low %= _ORIENTATIONS

    def summed(pixels: Array) -> Array:
        return np.asarray(pixels.reshape(count, rows, _CELL, columns, _CELL).sum(axis=(2, 4)))

    bins = [
        summed(length * ((low == k) * (1 - share) + ((low + 1) % _ORIENTATIONS == k) * share))
        for k in range(_ORIENTATIONS)
    ]
    bins.append(summed(images) / np.float32(_CELL * _CELL))
    return np.sqrt(np.stack(bins, axis=-1)).reshape(count, -1)
