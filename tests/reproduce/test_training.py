"""The study of training: what is clipped, what is accounted, what is said of it."""

import json
import math

import numpy as np
import pytest
from printed_tables import expected_cells

import tightnoise as tn
from tightnoise.reproduce._images import Images
from tightnoise.reproduce.training import _results
from tightnoise.reproduce.training._cells import ALL, DELTA, GAUSSIAN, SOME, Grid, cell
from tightnoise.reproduce.training._descent import (
    STEPS,
    Clip,
    accuracy,
    clipped_sums,
    descend,
    residuals,
)
from tightnoise.reproduce.training._features import features_of, task_of
from tightnoise.reproduce.training._results import Found, Line, cell_name, reached_at
from tightnoise.reproduce.training._tables import tables

CLIPS = [Clip("l2", 0.3), Clip("linf", 0.15)]


def blobs(count=480, p=6, classes=3):
    rng = np.random.default_rng(7)
    labels = rng.integers(classes, size=count)
    rows = 2.0 * rng.normal(size=(classes, p))[labels] + rng.normal(size=(count, p))
    return rows.astype(np.float32), labels


@pytest.fixture(scope="module")
def task():
    rows, labels = blobs()
    return task_of(Images("blobs", rows[:400], labels[:400], rows[400:], labels[400:]), 400)


# Features


@pytest.mark.parametrize("shape", [(28, 28), (32, 32, 3), (18, 21), (8, 8), (13,)])
def test_features_are_a_function_of_one_example(shape):
    examples = np.random.default_rng(0).random((5, *shape), dtype=np.float32)
    features = features_of(examples)
    assert features.dtype == np.float32
    assert np.allclose(np.linalg.norm(features[:, :-1], axis=1), 1, rtol=1e-6)
    assert np.ptp(features[:, -1]) == 0
    for i in range(5):
        assert np.allclose(features_of(examples[i : i + 1])[0], features[i], rtol=0, atol=1e-6)


def test_orientations_of_a_ramp():
    across = np.tile(np.linspace(0, 1, 16, dtype=np.float32), (1, 16, 1))
    cells = features_of(across)[0, :-1].reshape(4, 4, 9)
    # Of nine numbers a cell, the first is the gradient from left to right, the last the light.
    assert (cells[1:3, 1:3, 0] > cells[1:3, 1:3, 1:8].max(axis=-1) + 0.05).all()
    turned = features_of(np.ascontiguousarray(across.transpose(0, 2, 1)))[0, :-1].reshape(4, 4, 9)
    assert np.allclose(turned[..., 4], cells[..., 0].T, atol=1e-6)


def test_features_of_a_white_image():
    assert np.isfinite(features_of(np.ones((2, 28, 28), np.float32))).all()


@pytest.mark.parametrize(("most", "held", "trained"), [(400, 66, 334), (90, 66, 90)])
def test_what_is_held_out_is_not_trained_on(most, held, trained):
    rows, labels = blobs()
    task = task_of(Images("blobs", rows[:400], labels[:400], rows[400:], labels[400:]), most)
    assert (len(task.held_out.labels), len(task.train.labels)) == (held, trained)
    both = np.concatenate([task.held_out.features, task.train.features])
    assert len(np.unique(both, axis=0)) == held + trained


# Descent


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.norm)
def test_sums_of_clipped_gradients(task, clip):
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(2, 3, 7)).astype(np.float32)
    sums = clipped_sums(weights, task.train, clip)
    own = np.zeros((2, 3, 7))
    clipped = 0
    for x, y in zip(task.train.features.astype(float), task.train.labels, strict=True):
        for run in range(2):
            logits = weights[run].astype(float) @ x
            likely = np.exp(logits - logits.max())
            gradient = np.outer(likely / likely.sum() - np.eye(3)[y], x)
            norm = np.abs(gradient).max() if clip.norm == "linf" else np.linalg.norm(gradient)
            clipped += norm > clip.bound
            own[run] += gradient * min(1.0, clip.bound / norm)
    assert clipped > 0
    assert np.allclose(sums, own, rtol=1e-4, atol=1e-3 * clip.bound)


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.norm)
def test_no_example_contributes_more_than_the_clip(task, clip):
    weights = np.random.default_rng(4).normal(size=(1, 3, 7)).astype(np.float32)
    residual = residuals(weights, task.train)
    left = residual * clip.factors(residual, task.train.features)[..., np.newaxis]
    rows = np.einsum("nk,np->nkp", left[:, 0].astype(float), task.train.features.astype(float))
    rows = rows.reshape(len(rows), -1)
    norms = np.abs(rows).max(axis=1) if clip.norm == "linf" else np.linalg.norm(rows, axis=1)
    assert 0.999 * clip.bound < norms.max() <= clip.bound
    assert np.linalg.norm(rows, axis=1).max() <= clip.length(rows.shape[1])


def test_descent_learns_and_runs_do_not_meet(task):
    rates, seeds = [0.2, 0.8, 0.2], [1, 2, 2]
    mechanism = tn.RectifiedGaussian(5.0, -5.0, 5.0)
    together = descend(task.train, 3, CLIPS[0], mechanism, rates, seeds)
    for run in range(3):
        alone = descend(task.train, 3, CLIPS[0], mechanism, rates[run:][:1], seeds[run:][:1])
        assert np.allclose(alone[0], together[run], atol=1e-3)
    assert not np.allclose(together[0], together[2], atol=1e-3)
    assert (accuracy(descend(task.train, 3, CLIPS[0], None, [0.5], [0]), task.test) > 0.85).all()


# Cells


def test_cell_with_a_clip_of_coordinates(task):
    grid = Grid([CLIPS[1]], (0.3, 0.9), 10)
    share, count = 1 / 20, len(task.train.labels)
    gaussian = cell(task, SOME[GAUSSIAN], share, grid, 3)
    mu = math.sqrt(STEPS * 21) / (share * count)
    assert gaussian["epsilon"] == pytest.approx(tn.Cost.of_gdp(mu).epsilon(DELTA), rel=1e-9)
    renyi = tn.Cost.of_zcdp(mu * mu / 2).rdp().epsilon(DELTA)
    assert gaussian["realised"] == pytest.approx([renyi] * 3, rel=1e-6)
    assert len(gaussian["accuracies"]) == 3
    assert gaussian["rate"] in grid.rates
    sign = cell(task, SOME["sign"], share, grid, 3)
    assert sign["epsilon"] == gaussian["epsilon"]
    assert max(sign["realised"]) < min(gaussian["realised"])


def test_cell_of_records(task):
    grid = Grid([CLIPS[0]], (0.5,), 12)
    share = 1 / 30
    sigma = share * len(task.train.labels) * CLIPS[0].bound
    gaussian = cell(task, SOME[GAUSSIAN], share, grid, 2)
    assert np.array(gaussian["eta squared"]).shape == (2, 12)
    assert np.allclose(gaussian["shares"], 1.0, rtol=1e-9)
    assert gaussian["individual"] == gaussian["Gaussian's"]
    bound = tn.Cost.of_zcdp(STEPS * CLIPS[0].bound ** 2 / (2 * sigma**2)).rdp().epsilon(DELTA)
    assert max(most for _, most in gaussian["individual"]) <= 1.1 * bound  # of eight orders only
    truncated = cell(task, ALL["truncated, 1 sigma"], share, grid, 2)
    assert np.max(truncated["shares"]) < 0.2912
    assert truncated["epsilon"] < gaussian["epsilon"]


def test_json_holds_what_a_cell_returns(task):
    found = cell(task, SOME["sign"], 1 / 20, Grid(CLIPS[:1], (0.5,), 5), 2)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


# At equal accuracy


def line(accuracies, costs, seeds=2):
    each = np.ones(seeds)
    return Line(np.outer(accuracies, each), np.outer(costs, each))


def test_cost_at_an_accuracy():
    gaussian = line([0.9, 0.8, 0.6], [16.0, 4.0, 1.0])
    assert reached_at(0.8, gaussian) == pytest.approx(4.0)
    assert reached_at(0.85, gaussian) == pytest.approx(8.0)
    assert reached_at(0.6, gaussian) == 1.0
    assert reached_at(0.91, gaussian) == math.inf
    assert math.isnan(reached_at(0.59, gaussian))
    # Where less noise is no better, the dear one is not taken.
    assert reached_at(0.8, line([0.8, 0.8, 0.6], [16.0, 4.0, 1.0])) == pytest.approx(4.0)


def found(changed, seeds=8):
    """Return results in which a second mechanism is like the Gaussian, changed by a function."""
    rng, results = np.random.default_rng(0), {}
    for norm in ("l2", "linf"):
        for i, share in enumerate(_results.shares_of(norm, 10**6)):
            noise = 1e-4 * rng.normal(size=seeds)
            one = {
                "accuracies": (0.9 - 0.05 * i + noise).tolist(),
                "epsilon": 8.0 * 0.5**i,
                "realised": [8.0 * 0.5**i] * seeds,
                "eta squared": np.full((seeds, 3), 64.0 * 0.25**i).tolist(),
                "shares": [[1.0, 1.0, 1.0]] * seeds,
                "individual": [[1.0, 2.0]] * seeds,
                "Gaussian's": [[1.0, 2.0]] * seeds,
            }
            results[cell_name(norm, GAUSSIAN, share)] = one
            results[cell_name(norm, "sign", share)] = one | changed(one)
    return Found("made up", 10**6, 100, seeds, 3, [GAUSSIAN, "sign"], results)


@pytest.mark.parametrize(
    ("factor", "verdict"), [(0.7, "for less"), (1.0, "ties"), (1.4, "for more")]
)
def test_verdict(factor, verdict):
    def changed(one):
        return {
            "epsilon": factor * one["epsilon"],
            "realised": [factor * x for x in one["realised"]],
            "eta squared": [[factor**2 * x for x in row] for row in one["eta squared"]],
        }

    made_up = found(changed)
    changes = made_up.changes("linf", "sign", _results.accounted)[1:-1]
    for change in changes:
        assert change.value == pytest.approx(math.log(factor), abs=4 * change.error + 1e-12)
        assert 0 < change.error < 0.01
    for table in tables(made_up)[1:4]:
        text = " ".join(table.notes)
        said = text[text.index("Verdict") :].split(". ")[1:]
        middle = [part.partition(":")[0] for part in said if "1/375" in part or "1/75" in part]
        assert middle == [verdict if verdict != "for less" else "As accurate for less"]


def test_what_no_gaussian_reaches():
    made_up = found(lambda one: {"accuracies": [x + 0.2 for x in one["accuracies"]]})
    first = made_up.changes("l2", "sign", _results.proven)[0]
    assert (first.value, first.less, first.more) == (-math.inf, 1.0, 0.0)
    text = " ".join(tables(made_up)[2].notes)
    assert "As accurate for less: sign at 1/6000" in text


def test_what_is_less_accurate_than_each_gaussian_is_not_judged():
    made_up = found(lambda one: {"accuracies": [x - 0.5 for x in one["accuracies"]]})
    change = made_up.changes("l2", "sign", _results.proven)[0]
    assert math.isnan(change.value)
    assert (change.less, change.more) == (0.0, 0.0)
    assert "less: none. for more: none. ties: none" in " ".join(tables(made_up)[2].notes)


def test_tables_are_printed():
    for table in tables(found(lambda _: {})):
        expected_cells(table)
        written = json.loads(json.dumps(table.as_dict(), allow_nan=False))
        assert len(written["rows"]) == len(table.rows) > 0
