"""The Fisher information loss of training examples: against derivatives and limits."""

import json
from pathlib import Path

import numpy as np
import pytest
from simd_levels import LEVELS, printed_at
from thread_counts import with_threads

from tightnoise.leakage import fil_logistic, fil_lower


def gradient(weights, x, label, clip=None):
    """The gradient of the loss with respect to the weights, clipped."""
    likely = np.exp(weights @ x - (weights @ x).max())
    a = likely / likely.sum() - (np.arange(len(weights)) == label)
    g = np.outer(a, x)
    norm = np.sqrt((g * g).sum())
    return g if clip is None or norm <= clip else g * (clip / norm)


def jacobian_of(weights, x, label, clip=None):
    """The derivatives of the gradient, by central differences in extended precision."""
    wide, step = np.longdouble, np.longdouble(1e-6)
    columns = [
        (
            gradient(weights.astype(wide), x + step * unit, label, clip)
            - gradient(weights.astype(wide), x - step * unit, label, clip)
        )
        / (2 * step)
        for unit in np.eye(len(x), dtype=wide)
    ]
    return np.stack([column.ravel() for column in columns], axis=1).astype(np.float64)


def exact_square(weights, x, label, information, clip=None):
    """The greatest eigenvalue."""
    jacobian = jacobian_of(weights, x, label, clip)
    return np.linalg.eigvalsh(jacobian.T @ (information.ravel()[:, np.newaxis] * jacobian))[-1]


def examples(rng, count):
    for _ in range(count):
        classes, p = int(rng.integers(2, 6)), int(rng.integers(1, 17))
        weights = rng.normal(size=(classes, p)) * rng.uniform(0, 1.5)
        information = rng.random((classes, p)) ** 3 * np.exp(rng.normal())
        clip = rng.choice([None, 0.3, 1.0, 2.0])
        yield weights, rng.normal(size=p), int(rng.integers(classes)), information, clip


def test_never_below_the_exact_eigenvalue(rng):
    ratios = []
    for weights, x, label, information, clip in examples(rng, 500):
        eta = fil_logistic(weights, x[np.newaxis], [label], information, clip=clip)[0]
        exact = exact_square(weights, x, label, information, clip)
        assert eta**2 >= exact * (1 - 1e-7) - 1e-12
        ratios.append(eta**2 / exact if exact > 1e-9 else 1.0)
    assert np.median(ratios) < 1.2


def dense_bound(weights, x, label, information, clip):
    """The formula of the docstring as matrices over the features, by LAPACK."""
    logits = weights @ x
    likely = np.exp(logits - logits.max())
    likely /= likely.sum()
    a = likely - (np.arange(len(weights)) == label)
    v = (np.diag(likely) - np.outer(likely, likely)) @ weights
    jacobian = a[:, np.newaxis, np.newaxis] * np.eye(len(x)) + x[:, np.newaxis] * v[:, np.newaxis]
    diagonal = a**2 @ information
    square = np.einsum("kij,ki,kil->jl", jacobian, information, jacobian)
    g = np.outer(a, x)
    norm, factor = np.linalg.norm(g), 1.0
    if clip is not None and norm > clip:
        u, factor = g / norm, (clip / norm) ** 2
        along, through = (np.einsum("kij,ki->j", jacobian, h) for h in (u, information * u))
        square -= np.outer(along, through) + np.outer(through, along)
        square += (information * u * u).sum() * np.outer(along, along)
    rest = np.linalg.eigvalsh(square - np.diag(diagonal))[-1]
    return factor * (diagonal.max() + max(0.0, rest))


def many_classes():
    rng = np.random.default_rng(3)
    weights, information = 0.3 * rng.normal(size=(10, 43)), rng.random((10, 43)) ** 2
    return weights, rng.normal(size=(21, 43)), rng.integers(0, 10, 21), information


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("clip", [None, 2.0])
def test_the_formula_with_dense_matrices(level, clip):
    program = (
        "import sys; sys.path.append(sys.argv[1])\n"
        "import json, tightnoise as tn, test_features as t\n"
        f"eta = tn.leakage.fil_logistic(*t.many_classes(), clip={clip})\n"
        "print(json.dumps(eta.tolist()))"
    )
    squares = np.square(json.loads(printed_at(level, program, Path(__file__).parent)))
    weights, x, labels, information = many_classes()
    dense = [dense_bound(weights, *pair, information, clip) for pair in zip(x, labels, strict=True)]
    assert (squares >= np.array(dense) * (1 - 1e-12)).all()
    np.testing.assert_allclose(squares, dense, rtol=3e-9)


def test_where_the_part_of_low_rank_is_negative_definite(rng):
    # One feature: the clip removes all but the direction of the gradient, so that the exact loss is
    # 0 while the diagonal's is not; with none beyond it the greatest eigenvalue would be negative.
    weights, x = rng.normal(size=(4, 1)), np.array([[3.0]])
    eta = fil_logistic(weights, x, [1], np.ones((4, 1)), clip=0.5)[0]
    assert eta**2 >= exact_square(weights, x[0], 1, np.ones((4, 1)), 0.5)


@pytest.mark.parametrize("clip", [None, 0.4])
def test_gaussian_noise_is_exact(rng, clip):
    weights, x, labels = rng.normal(size=(3, 12)), rng.normal(size=(20, 12)), rng.integers(0, 3, 20)
    information = np.full((3, 12), 0.25)
    eta = fil_logistic(weights, x, labels, information, clip=clip)
    exact = [
        exact_square(weights, *pair, information, clip) for pair in zip(x, labels, strict=True)
    ]
    np.testing.assert_allclose(eta**2, exact, rtol=2e-7)


def test_at_the_clip_the_greater_side_holds(rng):
    weights, x, information = rng.normal(size=(3, 9)), rng.normal(size=(1, 9)), rng.random((3, 9))
    norm = np.linalg.norm(gradient(weights, x[0], 2))
    sides = [fil_logistic(weights, x, [2], information, clip=norm * c)[0] for c in (1 - 1e-6, 2.0)]
    at = fil_logistic(weights, x, [2], information, clip=norm)[0]
    assert at == pytest.approx(max(sides), rel=1e-5)


def test_a_certain_example_hardly_leaks():
    weights, x = np.array([[40.0, 0.0], [-40.0, 0.0]]), np.array([[1.0, 0.5]])
    eta = fil_logistic(weights, x, [0], np.ones((2, 2)))[0]
    # The two rows of the gradient are -t x and t x with t = 1 / (1 + e^80), t' = -t (80, 0).
    t = 1 / (1 + np.exp(80.0))
    jacobian = t * (np.eye(2) - np.outer([1.0, 0.5], [80.0, 0.0]))
    assert eta == pytest.approx(np.sqrt(2) * np.linalg.norm(jacobian, 2), rel=1e-6)


def test_chunks_and_float32_give_the_same(rng):
    weights, information = rng.normal(size=(3, 5)), rng.random((3, 5))
    x, labels = rng.normal(size=(2500, 5)).astype(np.float32), rng.integers(0, 3, 2500)
    eta = fil_logistic(weights, x, labels, information, clip=1.0)
    assert eta.dtype == np.float64
    one = [fil_logistic(weights, x[[i]], labels[[i]], information, clip=1.0)[0] for i in (0, 2499)]
    np.testing.assert_allclose(eta[[0, 2499]], one, rtol=1e-12)
    wide = fil_logistic(weights, x.astype(np.float64), labels, information, clip=1.0)
    assert (eta == wide).all()


def test_threads_change_nothing(rng):
    weights, information = rng.normal(size=(3, 5)), rng.random((3, 5))
    x, labels = rng.normal(size=(2500, 5)), rng.integers(0, 3, 2500)
    found = with_threads(lambda: fil_logistic(weights, x, labels, information, clip=1.0), 1, 3)
    np.testing.assert_allclose(*found, rtol=1e-12)
    with np.errstate(all="raise"):  # what a thread ignores is its own
        assert np.isinf(fil_logistic(weights, x * 1e200, labels, information)).all()


@pytest.mark.parametrize("scale", [0.0, 1e-160, 1e-80, 1e-3, 30.0, 100.0, 1e5])
def test_weights_of_any_size(rng, scale):
    weights, x = scale * rng.normal(size=(10, 30)), rng.normal(size=(41, 30))
    labels, information = rng.integers(0, 10, 41), rng.random((10, 30))
    eta = fil_logistic(weights, x, labels, information, clip=0.5)
    assert np.isfinite(eta).all()
    dense = [dense_bound(weights, *pair, information, 0.5) for pair in zip(x, labels, strict=True)]
    if scale <= 1e-3:  # with many more, 1 - p is lost in what it is held to
        np.testing.assert_allclose(eta**2, dense, rtol=1e-8)


def test_extremes_are_no_nan():
    weights = np.eye(2)
    eta = fil_logistic(weights, [[1e200, 0.0], [0.0, 0.0], [1.0, 1.0]], [0, 0, 1], np.ones((2, 2)))
    assert eta[0] == np.inf
    assert (eta[1:] > 0).all()
    assert np.isfinite(eta[1:]).all()
    assert fil_logistic(weights, np.empty((0, 2)), [], np.ones((2, 2))).shape == (0,)
    assert fil_logistic(weights, [[1.0, 2.0]], [0], np.zeros((2, 2)), clip=0.5)[0] == 0.0


def test_the_lower_bound_is_below_the_upper(rng):
    weights, x, information = rng.normal(size=(3, 8)), rng.normal(size=8), rng.random((3, 8))
    a = np.sqrt(information).reshape(-1, 1) * jacobian_of(weights, x, 1)
    lower = [fil_lower(lambda v: a @ v, lambda u: a.T @ u, 8, k) for k in (1, 20, 400)]
    upper = fil_logistic(weights, x[np.newaxis], [1], information)[0]
    assert lower[0] <= lower[1] <= lower[2] <= upper
    assert lower[2] == pytest.approx(np.linalg.norm(a, 2), rel=1e-6)
    assert fil_lower(lambda v: 0 * v, lambda u: u, (2, 3)) == 0.0


W, X, E = np.zeros((2, 3)), np.zeros((4, 3)), np.ones((2, 3))
Y = [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: fil_logistic(W[0], X, Y, E), ValueError, "weights must be of shape"),
        (lambda: fil_logistic(W[:1], X, Y, E), ValueError, "weights must be of shape"),
        (
            lambda: fil_logistic(W, X[:, :2], Y, E),
            ValueError,
            r"features must be of shape \(n, 3\)",
        ),
        (lambda: fil_logistic(W, X * np.nan, Y, E), ValueError, "features must be finite"),
        (lambda: fil_logistic(W, X, Y[:2], E), ValueError, r"labels must be of shape \(4,\)"),
        (lambda: fil_logistic(W, X, [0, 1, 2, 0], E), ValueError, "labels must be between 0 and 1"),
        (lambda: fil_logistic(W, X, [0.0] * 4, E), TypeError, "labels must be integers"),
        (lambda: fil_logistic(W, X, Y, E[:1]), ValueError, "information must be of the shape"),
        (lambda: fil_logistic(W, X, Y, -E), ValueError, "information must be at least 0"),
        (lambda: fil_logistic(W, X, Y, E, clip=0.0), ValueError, "clip must be greater than 0"),
        (lambda: fil_lower(lambda v: v * np.nan, lambda u: u, 2), ValueError, "finite"),
        (lambda: fil_lower(lambda v: v, lambda u: u[:1], 2), ValueError, r"vjp\(u\) must be of"),
        (lambda: fil_lower(lambda v: v, lambda u: u, 2, 0), ValueError, "iterations must be"),
    ],
)
def test_bad_arguments(call, error, says):
    with pytest.raises(error, match=says):
        call()
