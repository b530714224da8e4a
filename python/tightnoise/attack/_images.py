"""Images from a first layer's gradient in closed form, and how near images are."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from tightnoise._validate import float_array, require

Array = NDArray[np.float64]

_WINDOW = 7
_STEADY = (0.01**2, 0.03**2)  # of a data range of 1
_WHITE = 0.99  # the quantile of the pixels that is taken for 1


def spectral(gradient: ArrayLike, shape: tuple[int, int]) -> Array:
    """Return the image that a gradient of the first linear layer shows, with no iteration.

    Of one example it is an outer product with the features: its first right singular vector is the
    image, but for sign and scale. What a defence must beat before any other attack. Of a network
    that standardises its inputs it shows the standardised image, which may come out as a negative.

    Parameters
    ----------
    gradient : array_like, shape (outputs, features)
        Released, with noise or without.
    shape : tuple of int
        Height and width; their product is the number of features.

    Returns
    -------
    ndarray of float64, of `shape`
        From 0 to 1: brighter than dark on the whole, the 99th percentile is white.

    Raises
    ------
    ValueError, TypeError
        If it is no matrix of so many columns, or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> image = np.array([[0.0, 1.0], [0.5, 1.0]])
    >>> tn.attack.spectral(np.outer([0.3, -0.2, 0.1], image), (2, 2)).round(6)
    array([[0. , 1. ],
           [0.5, 1. ]])
    """
    matrix = float_array("gradient", gradient).astype(np.float64)
    height, width = shape
    good = matrix.ndim == 2 and matrix.shape[1] == height * width
    require(good, "gradient", matrix.shape, f"of shape (outputs, {height * width})")
    _, _, right = np.linalg.svd(matrix, full_matrices=False)
    image = right[0] * (1.0 if right[0].sum() >= 0 else -1.0)
    white = np.quantile(image, _WHITE)
    image = image / white if white > 0 else image
    return np.asarray(np.clip(image, 0.0, 1.0).reshape(shape))


def mse(image: ArrayLike, other: ArrayLike) -> float:
    """Return the mean squared error of two arrays of one shape.

    Parameters
    ----------
    image, other : array_like

    Returns
    -------
    float

    Raises
    ------
    ValueError, TypeError
        If shapes differ, or numbers are not finite.

    Examples
    --------
    >>> import tightnoise as tn
    >>> tn.attack.mse([0.0, 1.0], [0.0, 0.5])
    0.125
    """
    a, b = _both(image, other)
    return float(np.mean((a - b) ** 2))


def ssim(image: ArrayLike, other: ArrayLike) -> float:
    """Return the mean structural similarity of two grey images with pixels from 0 to 1.

    Wang, Bovik, Sheikh and Simoncelli 2004, "Image Quality Assessment", with uniform windows of
    7 x 7, unbiased variances, and the constants 0.01^2 and 0.03^2.

    Parameters
    ----------
    image, other : array_like, shape (height, width)
        7 x 7 or more.

    Returns
    -------
    float
        At most 1, which is that of equal images.

    Raises
    ------
    ValueError, TypeError
        If shapes differ or are too small, or numbers are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> image = np.linspace(0, 1, 100).reshape(10, 10)
    >>> round(tn.attack.ssim(image, image), 12), tn.attack.ssim(image, 1 - image) < 0
    (1.0, True)
    """
    a, b = _both(image, other)
    good = a.ndim == 2 and min(a.shape) >= _WINDOW
    require(good, "image", a.shape, f"a matrix of {_WINDOW} x {_WINDOW} or more")

    def mean(x: Array) -> Array:
        return np.asarray(sliding_window_view(x, (_WINDOW, _WINDOW)).mean(axis=(2, 3)))

    unbiased = _WINDOW**2 / (_WINDOW**2 - 1)
    at, bt = mean(a), mean(b)
    aa, bb, ab = (
        unbiased * (mean(x) - y) for x, y in ((a * a, at**2), (b * b, bt**2), (a * b, at * bt))
    )
    first, second = _STEADY
    similar = (2 * at * bt + first) * (2 * ab + second)
    return float(np.mean(similar / ((at**2 + bt**2 + first) * (aa + bb + second))))


def _both(image: ArrayLike, other: ArrayLike) -> tuple[Array, Array]:
    a, b = float_array("image", image), float_array("other", other)
    require(a.shape == b.shape, "other", b.shape, f"of the shape {a.shape} of image")
    return a.astype(np.float64), b.astype(np.float64)
