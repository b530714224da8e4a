"""How closely a noisy sum of gradients can pin down the features of each training example."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._threads import num_threads
from tightnoise._validate import float_array, integer, positive, require, require_all
from tightnoise.costs._margins import COST_MARGIN

__all__ = ["fil_logistic", "fil_lower"]

Array = NDArray[np.float64]

_CHUNK = 512  # examples: their matrices stay in the cache
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
        rank 2 classes + 1 of what is not a multiple of the identity; else above it, by 0 to 20 % in
        experiments. Where a norm is `clip`, the greater of both one-sided values. Infinite where
        squares are too large for float64.

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
    """Call it for each part: NumPy's products and eigenvalues release the interpreter's lock."""
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
        self._w, self._e = weights, information
        classes, p = weights.shape
        first, second = np.triu_indices(classes)
        place = np.empty((classes, classes), dtype=np.intp)  # of a pair in either order
        place[first, second] = place[second, first] = np.arange(first.size)
        self._pairs = place.ravel()
        # Of squares of features: first E_k, then E_k E_l.
        self._weights = np.concatenate([information, information[first] * information[second]]).T
        self._we = (weights[:, np.newaxis] * information).reshape(classes * classes, p).T
        self._ww = weights @ weights.T
        self._norms = np.sqrt(np.einsum("kj,kj->k", weights, weights))

    def bounds(self, x: Array, y: NDArray[np.intp], radius: float) -> Array:
        """Return bounds of the greatest eigenvalues."""
        parts = self._parts(x, y)
        diagonal = (parts.a**2 @ self._e).max(axis=1)
        norm = np.sqrt(np.einsum("ik,ik->i", parts.a, parts.a) * parts.xx)
        free = ~(norm > radius * (1 + _AT_CLIP))  # and what is no number, in both
        clipped = ~(norm < radius * (1 - _AT_CLIP))
        best = np.zeros(len(x))
        for which, is_clipped in ((free, False), (clipped, True)):
            if not which.any():
                continue
            own = parts if which.all() else _Parts(*(array[which] for array in parts))
            bound = (diagonal[which] + self._greatest(own, norm[which], is_clipped)) * (
                1 + own.error + COST_MARGIN
            )
            if is_clipped:
                bound = bound * (radius / norm[which]) ** 2
            best[which] = np.maximum(best[which], np.where(np.isnan(bound), np.inf, bound))
        return best

    def _parts(self, x: Array, y: NDArray[np.intp]) -> _Parts:
        count, classes = len(x), len(self._w)
        r = np.arange(classes)
        logits = x @ self._w.T
        likely = np.exp(logits - logits.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        others = likely @ (1.0 - np.eye(classes))  # 1 - p, of which p near 1 would leave nothing
        a = likely.copy()
        a[np.arange(count), y] = -others[np.arange(count), y]
        s = -likely[:, :, np.newaxis] * likely[:, np.newaxis, :]
        s[:, r, r] = likely * others
        squares = x * x
        weighted = squares @ self._weights
        q, pairs = weighted[:, :classes], weighted[:, classes:]
        ee = np.take(pairs, self._pairs, axis=1).reshape(count, classes, classes)
        wex = (x @ self._we).reshape(count, classes, classes)
        xx = squares.sum(axis=1)
        # Each probability is within e^(this / 4): the rounding of its logits.
        error = 8 * x.shape[1] * _UNIT * self._norms.max() * np.sqrt(xx) + 64 * classes * _UNIT
        return _Parts(a, s, q, ee, wex, xx, logits, error)

    def _greatest(self, parts: _Parts, norm: Array, is_clipped: bool) -> Array:
        """Return max(0, an upper bound of the greatest eigenvalue of U M U^T).

        Of U D^-1 and D M D, with D the sums of sizes that U's columns are made of: rounding is
        relative to those.
        """
        a, s, q, ee, wex, xx, wx, error = parts
        count, k = a.shape
        size = 2 * k + is_clipped
        b, v, r = slice(0, k), slice(k, 2 * k), np.arange(k)
        lengths = np.empty((count, size))
        lengths[:, b] = np.abs(a) * np.sqrt(ee[:, r, r])
        lengths[:, v] = np.abs(s) @ self._norms
        if is_clipped:
            lengths[:, -1] = np.sqrt(xx)
        inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        gram, m = np.empty((count, size, size)), np.zeros((count, size, size))
        own, likely = a * inverse[:, b], s * inverse[:, np.newaxis, v]
        across = likely.transpose(0, 2, 1)
        gram[:, b, b] = ee * (own[:, :, np.newaxis] * own[:, np.newaxis, :])
        gram[:, v, v] = across @ self._ww @ likely
        gram[:, v, b] = (across @ wex) * own[:, np.newaxis, :]
        gram[:, b, v] = gram[:, v, b].transpose(0, 2, 1)
        mixed, square = lengths[:, b] * lengths[:, v], q * lengths[:, v] ** 2
        m[:, r, k + r] = m[:, k + r, r] = mixed
        m[:, k + r, k + r] = square
        # Of the sizes of what is added up in M, the Frobenius norm or more.
        weight = np.sqrt(
            np.einsum("ik,ik->i", square, square) + 2 * np.einsum("ik,ik->i", mixed, mixed)
        )
        if is_clipped:
            last = inverse[:, -1:]
            gram[:, -1, b] = gram[:, b, -1] = own * q * last
            gram[:, -1, v] = gram[:, v, -1] = np.einsum("ikl,ik->il", likely, wx) * last
            gram[:, -1, -1] = xx * last[:, 0] ** 2
            along, through = np.zeros((2, count, size))  # J^T u and J^T E u, in terms of U
            along[:, v] = a * (xx / norm)[:, np.newaxis]
            along[:, -1] = np.einsum("ik,ik->i", a, a) / norm
            through[:, b] = a / norm[:, np.newaxis]
            through[:, v] = a * q / norm[:, np.newaxis]
            along *= lengths
            through *= lengths
            middle = np.einsum("ik,ik->i", a * a, q) / norm**2  # u^T E u
            one, two = (np.sqrt(np.einsum("ik,ik->i", x, x)) for x in (along, through))
            weight += 2 * one * two + middle * one * one
            cross = (
                along[:, :, np.newaxis]
                * (through - 0.5 * middle[:, np.newaxis] * along)[:, np.newaxis, :]
            )
            m -= cross
            m -= cross.transpose(0, 2, 1)
        lost = size * (self._w.shape[1] + 16 * size) * _UNIT + error
        good = np.isfinite(gram.sum(axis=(1, 2)) + m.sum(axis=(1, 2)))
        gram[~good], m[~good] = 0.0, 0.0
        gram[:, np.arange(size), np.arange(size)] += np.where(good, size * lost, 1.0)[:, np.newaxis]
        root = np.linalg.cholesky(gram)
        greatest = np.linalg.eigvalsh(root.transpose(0, 2, 1) @ m @ root)[:, -1]
        return np.where(good, np.maximum(greatest + lost * size * weight, 0.0), np.inf)


class _Parts(NamedTuple):
    """What is known of each example, in rows."""

    a: Array  # softmax(W x) - e_y
    s: Array  # diag(p) - p p^T
    q: Array  # x^T E_k x
    ee: Array  # x^T E_k E_l x
    wex: Array  # w_l^T E_k x
    xx: Array  # x^T x
    wx: Array  # w_k^T x
    error: Array  # a relative bound of the rounding in a and s, and more


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
