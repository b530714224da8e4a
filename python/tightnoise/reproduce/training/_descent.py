"""Multinomial logistic regression on noisy sums of clipped gradients of the whole data set.

The gradient of an example's loss is an outer product, (softmax(W x) - e_y) x^T, so its norm is the
product of two norms, and the clip one factor an example. Several runs go through the examples
together: the products of matrices are larger, and what is read is in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise.mechanisms import CoordinateMechanism
from tightnoise.random import NoiseStream
from tightnoise.reproduce.training._features import Examples

Array = NDArray[np.float64]
Weights = NDArray[np.float32]

STEPS = 15
_CHUNK = 1024  # examples


@dataclass(frozen=True)
class Clip:
    """The greatest norm of an example's gradient: it is scaled down to it, or left as it is."""

    norm: Literal["l2", "linf"]
    bound: float

    @property
    def scaled_to(self) -> float:
        """A little less: what float32 rounds stays within the bound."""
        return self.bound * (1 - 1e-5)

    def length(self, size: int) -> float:
        """Return the greatest Euclidean norm of a gradient of `size` numbers."""
        return self.bound * (math.sqrt(size) if self.norm == "linf" else 1.0)

    def factors(self, residual: Weights, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return one factor an example; residual is (n, runs, classes), features (n, p)."""
        if self.norm == "linf":
            left, right = np.abs(residual).max(axis=-1), np.abs(features).max(axis=1)
        else:
            left = np.sqrt(np.einsum("nrk,nrk->nr", residual, residual))
            right = np.sqrt(np.einsum("np,np->n", features, features))
        norms = np.maximum(left * right[:, np.newaxis], np.finfo(np.float32).tiny)
        return np.asarray(np.minimum(1.0, self.scaled_to / norms), np.float32)


class Release(NamedTuple):
    """A step of one run before the noise: the weights, and the sum, that is released, at them."""

    run: int
    weights: Weights
    theta: Array


def residuals(weights: Weights, examples: Examples) -> Weights:
    """Return softmax(W x) - e_y, of shape (n, runs, classes), for weights (runs, classes, p)."""
    runs, classes, p = weights.shape
    logits = (examples.features @ weights.reshape(runs * classes, p).T).reshape(-1, runs, classes)
    logits -= logits.max(axis=-1, keepdims=True)
    likely: Weights = np.exp(logits, out=logits)
    likely /= likely.sum(axis=-1, keepdims=True)
    likely[np.arange(len(examples.labels)), :, examples.labels] -= 1.0
    return likely


def clipped_sums(weights: Weights, examples: Examples, clip: Clip) -> Array:
    """Return the sums of the clipped gradients of all examples, of the shape of weights."""
    runs, classes, p = weights.shape
    sums = np.zeros((runs * classes, p))
    for start in range(0, len(examples.labels), _CHUNK):
        part = examples.some(slice(start, start + _CHUNK))
        left = residuals(weights, part)
        left *= clip.factors(left, part.features)[:, :, np.newaxis]
        sums += left.reshape(-1, runs * classes).T @ part.features
    return sums.reshape(weights.shape)


def descend(
    examples: Examples,
    classes: int,
    clip: Clip,
    mechanism: CoordinateMechanism | None,
    rates: Sequence[float],
    seeds: Sequence[int],
    *,
    seen: Callable[[Release], None] = lambda _: None,
) -> Weights:
    """Return what noisy gradient descent learns: the mean of the weights of the last half.

    Parameters
    ----------
    examples : Examples
    classes : int
    clip : Clip
    mechanism : CoordinateMechanism or None
        What releases the sums; None: the sums themselves.
    rates : sequence of float
        Learning rates, one a run: the root mean square of the first step, which falls linearly.
        The release is scaled to it, which costs nothing: it is done to what is public.
    seeds : sequence of int
        Of the noise, one a run.
    seen : callable
        Called with each release before it is made.

    Returns
    -------
    ndarray of float32, shape (runs, classes, p)
    """
    streams = [NoiseStream(seed) for seed in seeds]
    weights = np.zeros((len(rates), classes, examples.features.shape[1]), np.float32)
    total = np.zeros_like(weights)
    for step in range(STEPS):
        sums = clipped_sums(weights, examples, clip)
        for run, (rate, stream) in enumerate(zip(rates, streams, strict=True)):
            seen(Release(run, weights[run].copy(), sums[run]))
            released = sums[run] if mechanism is None else mechanism.sample(sums[run], rng=stream)
            length = np.sqrt(np.mean(released**2)) or 1.0
            weights[run] -= rate * (1 - step / STEPS) / length * released
        if step >= STEPS // 2:
            total += weights
    return total / np.float32(STEPS - STEPS // 2)


def accuracy(weights: Weights, examples: Examples) -> Array:
    """Return the share of examples whose class each run's weights find."""
    runs, classes, p = weights.shape
    logits = examples.features @ weights.reshape(runs * classes, p).T
    found = logits.reshape(-1, runs, classes).argmax(axis=-1)
    return np.asarray(np.mean(found == examples.labels[:, np.newaxis], axis=0))
