"""scikit-learn's bundled breast-cancer data, scaled and split."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Splits:
    """y x_j for many random splits: arrays of shape (features, splits, records)."""

    train: Array
    test: Array


def require_scikit_learn() -> None:
    """Raise ModuleNotFoundError, with how to install it, if scikit-learn is missing."""
    if importlib.util.find_spec("sklearn") is None:
        raise ModuleNotFoundError(
            "the examples need scikit-learn: pip install 'tightnoise[examples]'"
        )


def load() -> tuple[Array, Array]:
    """Return 569 records of 30 features in [-1, 1], and their labels -1 or 1.

    The data come with scikit-learn; nothing is downloaded. The description published with them
    lists the smallest and the largest value of every feature. These ranges are taken as public, and
    are all that the scaling knows of the data.
    """
    require_scikit_learn()
    from sklearn.datasets import load_breast_cancer

    features, labels = load_breast_cancer(return_X_y=True)
    ranges = features.min(axis=0), features.max(axis=0)
    return scaled(features, *ranges), np.where(labels == 1, 1.0, -1.0)


def scaled(features: Array, lowest: Array, largest: Array) -> Array:
    """Return the features moved from their public ranges to [-1, 1]; beyond them, clipped."""
    unit = (features - lowest) / (largest - lowest)
    return np.clip(2.0 * unit - 1.0, -1.0, 1.0)


def split(features: Array, labels: Array, splits: int, rng: np.random.Generator) -> Splits:
    """Return `splits` random splits into 80 % for training and 20 % for testing."""
    signed = (labels[:, None] * features).T
    records = len(labels)
    orders = np.stack([rng.permutation(records) for _ in range(splits)])
    at = round(0.8 * records)
    return Splits(signed[:, orders[:, :at]], signed[:, orders[:, at:]])
