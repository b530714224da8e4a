"""Make python/tightnoise/data/digits_gradient.npy: the private gradient of one training step.

A small network learns scikit-learn's handwritten digits for a few steps; then comes the quantity a
private optimiser would release, the sum over the data of the per-example gradients, each clipped
coordinatewise to [-CLIP, CLIP]. Adding or removing one example then changes no coordinate of the
sum by more than CLIP: the L-infinity sensitivity that the mechanisms account for. (Clipping the
Euclidean norm instead would bound a coordinate too, but only by the whole norm, which for 2,410
coordinates is many times what one of them needs.)

Run `python tests/make_digits_gradient.py` to write the file anew. It needs scikit-learn, which
carries the images; everything else is NumPy.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

SEED = 7
HIDDEN = 32
CLASSES = 10
STEPS = 30
LEARNING_RATE = 0.5
BATCH = 256
CLIP = 1 / 32
GRID = 2.0**-18
TARGET = Path(__file__).resolve().parents[1] / "python/tightnoise/data/digits_gradient.npy"


class Network(NamedTuple):
    """inputs -> tanh(inputs @ w1 + b1) -> softmax(hidden @ w2 + b2)."""

    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray


def initial(rng, inputs, hidden, classes):
    return Network(
        rng.standard_normal((inputs, hidden)) / np.sqrt(inputs),
        np.zeros(hidden),
        rng.standard_normal((hidden, classes)) / np.sqrt(hidden),
        np.zeros(classes),
    )


def per_example_gradients(network, images, labels):
    """Gradients of the cross-entropy, one row an example: w1, b1, w2, b2 in this order."""
    hidden = np.tanh(images @ network.w1 + network.b1)
    logits = hidden @ network.w2 + network.b2
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    at_output = odds / odds.sum(axis=1, keepdims=True)
    at_output[np.arange(labels.size), labels] -= 1
    at_hidden = (at_output @ network.w2.T) * (1 - hidden**2)
    n = labels.size
    parts = [
        images[:, :, None] * at_hidden[:, None, :],
        at_hidden,
        hidden[:, :, None] * at_output[:, None, :],
        at_output,
    ]
    return np.concatenate([part.reshape(n, -1) for part in parts], axis=1)


def descend(network, gradient, rate):
    parts, start = [], 0
    for weights in network:
        parts.append(weights - rate * gradient[start : start + weights.size].reshape(weights.shape))
        start += weights.size
    return Network(*parts)


def clipped_sum(gradients):
    """Sum the clipped rows in float32, exactly.

    Each term is a multiple of GRID, so every partial sum below 2^24 GRID = 64 is a float32, and the
    sensitivity holds to the last bit: rounding the sum could add to what one example changes.
    """
    terms = np.round(np.clip(gradients, -CLIP, CLIP) / GRID) * GRID
    total = terms.sum(axis=0)
    assert np.abs(total).max() < 2**24 * GRID
    return total.astype(np.float32)


def make(images, labels, *, hidden=HIDDEN, classes=CLASSES, steps=STEPS, batch=BATCH):
    rng = np.random.default_rng(SEED)
    network = initial(rng, images.shape[1], hidden, classes)
    for _ in range(steps):
        chosen = rng.choice(labels.size, size=batch, replace=False)
        gradients = per_example_gradients(network, images[chosen], labels[chosen])
        network = descend(network, gradients.mean(axis=0), LEARNING_RATE)
    return clipped_sum(per_example_gradients(network, images, labels))


def digits():
    from sklearn.datasets import load_digits

    data = load_digits()
    return data.data / 16, data.target


if __name__ == "__main__":
    np.save(TARGET, make(*digits()))
