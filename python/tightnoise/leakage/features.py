"""How closely a noisy sum of gradients can pin down the features of each training example."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._core import leakage as core
from tightnoise._threads import num_threads
from tightnoise._validate import float_array, integer, positive, require, require_all
from tightnoise.costs._margins import COST_MARGIN

__all__ = ["fil_logistic", "fil_lower"]

Array = NDArray[np.float64]

_CHUNK = 2048  # examples: of fewer, the products of matrices take twice as long
_UNIT = float(np.finfo(np.float64).eps)
_AT_CLIP = 1e-9  # relative: a norm this near the clip may lie on its other side


def fil_logistic(
    weights: ArrayLike,
    features: ArrayLike,
    labels: ArrayLike,
    information: ArrayLike,
    *,
    clip: float | None = None,
) -> Array:
    """Return the Fisher information loss of each example of multinomial logistic regression.

    What is released is the noisy sum of the gradients of the examples' losses with respect to the
    weights, each clipped in Euclidean norm where `clip` is given. No unbiased estimate of a feature
    of example i, knowing all others, has a standard deviation below 1 / eta_i. An upper bound of
    the root of the greatest eigenvalue of the information on all features of the example.

    Parameters
    ----------
    weights : array_like, shape (classes, p)
        The weights at which gradients are taken.
    features : array_like, shape (n, p)
        float32 stays float32 in memory; sums are float64. A constant feature for the bias counts as
        if it were secret, too: the bound only grows.
    labels : array_like of integers, shape (n,)
        Classes from 0 on.
    information : array_like, shape (classes, p)
        ``mechanism.fisher_information(theta)`` at the sum theta, of each number that is released.
    clip : float, optional
        The greatest norm of a gradient; longer ones are scaled down to it.

    Returns
    -------
    ndarray of float64, shape (n,)
        In units of 1 / feature. The exact loss for Gaussian noise of one sigma, where p exceeds the
        rank 2 classes + 1 of what is not a multiple of the identity; else above it, by 0 to 22 % in
        experiments. Where the softmax is as good as sure of a right label, so that the loss is
        below 1e-12, rounding adds up to 37 %, whatever the noise; where it is so small that its
        square is 0 in float64, about 1e-153 is returned. Where a norm is `clip`, the greater of
        both one-sided values. Infinite where squares are too large for float64.

    Raises
    ------
    ValueError
        For shapes that do not fit, NaN or infinity, labels that are no class, information below 0,
        fewer than two classes.
    TypeError
        For arguments that hold no real numbers, labels that are not integers.

    Notes
    -----
    For one example, with a = softmax(W x) - e_y, g = a (x) x, S = diag(p) - p p^T, v_k = W^T S_k
    and the information E_k of the k-th row of weights, J_k = a_k 1 + x v_k^T, and the information
    sum_k J_k^T E_k J_k on x is

        diag(sum_k a_k^2 E_k) + sum_k a_k (v_k (E_k x)^T + (E_k x) v_k^T)
        + sum_k (x^T E_k x) v_k v_k^T.

    The clip to C with |g| > C and u = g / |g| makes (C / |g|)^2 (1 - u u^T) J of J. All but the
    diagonal is U M U^T, U = [a_k E_k x | v_k | x]. The greatest eigenvalue is at most the greatest
    on the diagonal plus max(0, that of U M U^T) (Weyl), which is that of L^T M L for U^T U = L L^T.
    U^T U is known up to rounding, and so U^T U + e 1 is taken: the product of U with rows added,
    of which U M U^T is a principal part.

    Over several releases, the *matrices* add up in expectation; the sum of eta^2 is a bound for
    weights that do not depend on the outputs.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> rng = np.random.default_rng(0)
    >>> weights, features = rng.normal(size=(3, 20)), rng.normal(size=(4, 20))
    >>> information = np.full((3, 20), 1 / 5.0**2)  # of tn.Gaussian(5.0), anywhere
    >>> tn.leakage.fil_logistic(weights, features, [0, 1, 2, 0], information, clip=1.0).round(4)
    array([0.0171, 0.1984, 0.0496, 0.0891])
    """
    w, x = float_array("weights", weights), float_array("features", features)
    require(
        w.ndim == 2 and w.shape[0] >= 2 and w.size > 0, "weights", w.shape, "of shape (>= 2, p)"
    )
    count, p = w.shape
    fits = x.ndim == 2 and x.shape[1] == p
    require(fits, "features", x.shape, f"of shape (n, {p}), as weights have {p} columns")
    y = np.asarray(labels)
    if y.dtype.kind not in "iu" and y.size:
        raise TypeError(f"labels must be integers; got dtype {y.dtype}")
    require(y.shape == x.shape[:1], "labels", y.shape, f"of shape {x.shape[:1]}, one an example")
    require_all((y >= 0) & (y < count), "labels", y, f"between 0 and {count - 1}")
    e = float_array("information", information)
    require(e.shape == w.shape, "information", e.shape, f"of the shape {w.shape} of weights")
    require_all(e >= 0, "information", e, "at least 0")
    radius = math.inf if clip is None else positive("clip", clip)
    found = np.empty(len(x))
    with np.errstate(all="ignore"):
        # Softmax and V know the weights up to what all classes share.
        centred = w.astype(np.float64) - w.astype(np.float64).mean(axis=0)
        model = _Model(centred, e.astype(np.float64))

    def fill(part: slice) -> None:
        with np.errstate(all="ignore"):  # what overflows is infinite; each thread has its own state
            squares = model.bounds(x[part].astype(np.float64), y[part].astype(np.intp), radius)
            found[part] = np.sqrt(squares)

    _in_threads(fill, [slice(i, i + _CHUNK) for i in range(0, len(x), _CHUNK)])
    return found


def _in_threads(fill: Callable[[slice], None], parts: list[slice]) -> None:
    """Call it for each part: NumPy's products and the core release the interpreter's lock."""
    workers = min(num_threads(), len(parts))
    if workers <= 1:
        for part in parts:
            fill(part)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        for _ in pool.map(fill, parts):
            pass
    finally:
        pool.shutdown(cancel_futures=True)  # Ctrl-C waits for the parts that have begun


class _Model:
    """The products of the weights and the information that all examples share."""

    def __init__(self, weights: Array, information: Array) -> None:
        self._e = np.ascontiguousarray(information)
        classes, p = weights.shape
        first, second = np.triu_indices(classes)
        # Of squares of features: first E_k, then E_k E_l.
        self._weights = np.concatenate([information, information[first] * information[second]]).T
        weighted = (weights[:, np.newaxis] * information).reshape(classes * classes, p)
        self._forms = np.concatenate([weights, weighted]).T
        self._products = weights @ weights.T
        self._norms = np.sqrt(np.einsum("kj,kj->k", weights, weights))

    def bounds(self, x: Array, y: NDArray[np.intp], radius: float) -> Array:
        """Return bounds of the greatest eigenvalues."""
        count, classes = len(x), len(self._norms)
        forms = x @ self._forms
        logits = forms[:, :classes]
        likely = np.exp(logits - logits.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        a = likely.copy()
        # -(1 - p), of which p near 1 would leave nothing.
        others = likely[np.arange(classes) != y[:, np.newaxis]].reshape(count, classes - 1)
        a[np.arange(count), y] = -others.sum(axis=1)
        squares = x * x
        lengths = squares.sum(axis=1)
        # Each probability is within e^(this / 4): the rounding of its logits.
        errors = 8 * x.shape[1] * _UNIT * self._norms.max() * np.sqrt(lengths)
        errors += 64 * classes * _UNIT
        model = self._e, self._products, self._norms
        examples = likely, a, forms, squares @ self._weights, lengths, errors
        norms = np.sqrt(np.einsum("ik,ik->i", a, a) * lengths)
        free = ~(norms > radius * (1 + _AT_CLIP))  # and what is no number, in both
        clipped = ~(norms < radius * (1 - _AT_CLIP))
        best = np.zeros(count)
        for chosen, is_clipped in ((free, False), (clipped, True)):
            which = np.flatnonzero(chosen).astype(np.int64)
            bound = np.empty(len(which))
            core.fisher_loss_bounds(*model, *examples, which, is_clipped, bound)
            bound *= 1 + errors[which] + COST_MARGIN
            if is_clipped:
                bound *= (radius / norms[which]) ** 2
            best[which] = np.maximum(best[which], np.where(np.isnan(bound), np.inf, bound))
        return best


def fil_lower(
    jvp: Callable[[Array], Any],
    vjp: Callable[[Array], Any],
    shape: SupportsIndex | tuple[int, ...],
    iterations: SupportsIndex = 20,
) -> float:
    """Return a LOWER bound of a Fisher information loss, of any model, by power iteration.

    The greatest norm of ``jvp(v)`` over the directions v of length 1 that were tried: no bound on
    what leaks, which may be more. `fil_logistic` has an upper one, and `mechanism.fil` of a
    Jacobian.

    Parameters
    ----------
    jvp : callable
        From a direction of the features, of `shape`, to the derivative along it of the sum that is
        released, times the root of ``mechanism.fisher_information(theta)`` of each number.
    vjp : callable
        The transpose of it.
    shape : int or tuple of int
        Of the features of one example.
    iterations : int
        From 1 to 1,000,000.

    Returns
    -------
    float
        At most the loss, but for the rounding of `jvp`.

    Raises
    ------
    ValueError
        If a function returns NaN or infinity, or `vjp` an array of another shape.
    TypeError
        If they do not return real numbers.

    Notes
    -----
    Guo, Karrer, Chaudhuri and van der Maaten 2022, "Bounding Training Data Reconstruction in
    Private (Deep) Learning", compute the loss so.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> jacobian = np.array([[3.0, 0.0], [4.0, 1.0]])
    >>> eta = 0.1  # the noise is tn.Gaussian(10.0)
    >>> a = eta * jacobian
    >>> lower = tn.leakage.fil_lower(lambda v: a @ v, lambda u: a.T @ u, shape=2)
    >>> print(f"{lower:.6f}", f"{tn.Gaussian(10.0).fil([0, 0], jacobian=jacobian):.6f}")
    0.506450 0.506450
    """
    direction = np.random.default_rng(0).standard_normal(shape)  # of no meaning for privacy
    greatest = 0.0
    for _ in range(integer("iterations", iterations, minimum=1, maximum=10**6)):
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            break
        direction /= length
        forward = float_array("jvp(v)", jvp(direction)).astype(np.float64)
        greatest = max(greatest, float(np.linalg.norm(forward)))
        back = float_array("vjp(u)", vjp(forward)).astype(np.float64)
        require(back.shape == direction.shape, "vjp(u)", back.shape, f"of shape {direction.shape}")
        direction = back
    return greatest
