"""What a release says of each record of a training set (`bench`)."""

from __future__ import annotations

import numpy as np
import pytest

import tightnoise as tn

RECORDS, FEATURES, CLASSES = 60_000, 785, 10


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    features = rng.random((RECORDS, FEATURES), dtype=np.float32)
    weights = (0.05 * rng.normal(size=(CLASSES, FEATURES))).astype(np.float32)
    return weights, features, rng.integers(0, CLASSES, RECORDS), rng


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("clip", [None, 0.5])
def test_fil_of_each_example(timed, data, clip, threads):
    weights, features, labels, rng = data
    information = rng.random(weights.shape)
    tn.set_num_threads(threads)
    eta = timed(
        f"FIL of each example, clip {clip}",
        lambda: tn.leakage.fil_logistic(weights, features, labels, information, clip=clip),
        RECORDS,
    )
    assert (eta > 0).all()


def test_power_iteration(timed, data):
    """The other way, a lower bound: 20 products with the Jacobian and its transpose an example."""
    weights, features, _, _ = data
    logits = weights @ features[0]
    likely = np.exp(logits - logits.max())
    likely /= likely.sum()
    a, s = likely - np.eye(CLASSES)[0], np.diag(likely) - np.outer(likely, likely)

    def forward(v):
        return np.outer(a, v) + np.outer(s @ (weights @ v), features[0])

    def backward(u):
        return a @ u + weights.T @ (s @ (u @ features[0]))

    assert (
        timed("power iteration", lambda: tn.leakage.fil_lower(forward, backward, FEATURES), 1) > 0
    )


@pytest.mark.parametrize("kind", ["outer products", "rows"])
@pytest.mark.parametrize(
    "m", [tn.RectifiedGaussian(1.0, -1.0, 1.0), tn.TruncatedGaussian(1, -1, 1)]
)
def test_cost_of_each_record(timed, data, kind, m):
    _, features, _, rng = data
    left = (0.01 * rng.normal(size=(RECORDS, CLASSES))).astype(np.float32)
    theta = rng.normal(size=(CLASSES, FEATURES))
    contributions = tn.RankOne(left, features)
    if kind == "rows":  # 1.9 GB
        contributions = (left[:, :, np.newaxis] * features[:, np.newaxis]).reshape(RECORDS, -1)
    name = f"{type(m).__name__}, 8 orders, {kind}"
    orders = [1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    costs = timed(name, lambda: m.individual_cost_at(theta, contributions, orders=orders), RECORDS)
    assert (costs.individual > 0).all()
