"""A small real gradient to try things on; README.md beside this file says how it was made."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

__all__ = ["digits_gradient"]

_CLIP = 1 / 32


def digits_gradient() -> tuple[NDArray[np.float32], float]:
    """Return a gradient summed over scikit-learn's 1,797 handwritten digits, and its sensitivity.

    The sum of the per-example gradients of a network with 2,410 weights, each gradient clipped
    coordinatewise to [-1/32, 1/32], after thirty steps of training.

    Returns
    -------
    gradient : ndarray of float32, shape (2410,)
        A new array at every call.
    sensitivity : float
        1/32: adding or removing one of the examples changes no coordinate by more.

    Examples
    --------
    >>> from tightnoise.data import digits_gradient
    >>> gradient, sensitivity = digits_gradient()
    >>> gradient.shape, gradient.dtype.name, sensitivity
    ((2410,), 'float32', 0.03125)
    """
    with files(__name__).joinpath("digits_gradient.npy").open("rb") as file:
        gradient: NDArray[np.float32] = np.load(file, allow_pickle=False)
    return gradient, _CLIP
