"""`tightnoise reproduce training`: a study on the user's data, or a line that says why not."""

import json

import numpy as np
import pytest

from tightnoise.cli import main
from tightnoise.reproduce.training import _results, _study
from tightnoise.reproduce.training._cells import GAUSSIAN, SOME


def blobs(count):
    rng = np.random.default_rng(7)
    labels = rng.integers(3, size=count)
    return 2.0 * rng.normal(size=(3, 6))[labels] + rng.normal(size=(count, 6)), labels


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Make the study one of a few cells; return a file of data for it."""
    monkeypatch.setattr(_study, "SOME", {name: SOME[name] for name in (GAUSSIAN, "sign")})
    monkeypatch.setattr(_study, "_RATES", (0.5,))
    monkeypatch.setattr(_study, "_WATCHED", 5)
    shares = {"l2": (1 / 190, 1 / 50), "linf": (1 / 60, 1 / 20)}
    monkeypatch.setattr(_results, "SHARES", shares)
    monkeypatch.setattr(_study, "SHARES", shares)
    rows, labels = blobs(600)
    path = tmp_path / "blobs.npz"
    np.savez(path, x_train=rows[:500], y_train=labels[:500], x_test=rows[500:], y_test=labels[500:])
    return str(path)


def test_the_command(small, tmp_path, capsys, report):
    state = tmp_path / "state.json"
    arguments = ["reproduce", "training", "--data", small, "--seeds", "2", "--state", str(state)]
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for text in (
        "Privacy Amplification for the Gaussian Mechanism via Bounded Support",
        "417 examples to learn from, 21 weights, 15 steps",
        "REALISED",
        "Verdict, by 97.5 %",
    ):
        assert text in " ".join(out.split())
    assert out.index("Plain Gaussian noise, clipped in L2") < out.index("Clipped in L-inf")
    assert len(json.loads(state.read_text())["results"]) == 8
    # What the file holds is not computed again, and the answer is the same.
    assert [len(table["rows"]) for table in report(*arguments)["tables"]] == [2, 4, 4, 4, 2]
    assert main([*arguments[:4], "--seeds", "3", "--state", str(state)]) == 2
    assert f"{state} is the state of another study: its seeds is 2, and here 3" in (
        capsys.readouterr().err
    )


def test_plot(small, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "training.png"
    arguments = ["reproduce", "training", "--data", small, "--seeds", "2", "--plot", str(path)]
    assert main(arguments) == 0
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_full_searches_more(small):
    plans = {}
    for full in (False, True):
        settings = _study.Settings(small, 2, full)
        plans[full] = _study.plan(settings)
    assert len(plans[True].cells) > len(plans[False].cells)
    assert plans[True].about != plans[False].about


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["training", "--seeds", "1"], "--seeds must be between 2 and 1000; got 1"),
        (["training", "--examples"], "training has no examples"),
        (["training", "--data", "nowhere"], "cannot read data from nowhere"),
        (["training", "--state", "a.txt"], "must be a .json file"),
        (["training", "--batches", "16"], "training has no --batches"),
        (["conversion", "--batches", "16"], "--batches is for studies"),
        (["conversion", "--full"], "--full is for studies"),
        (["vmf", "--data", "."], "--data is for studies"),
    ],
)
def test_bad_arguments(arguments, message, refused):
    assert message in refused("reproduce", *arguments)


def test_too_few_examples(tmp_path, refused):
    rows, labels = blobs(60)
    path = tmp_path / "few.npz"
    np.savez(path, x_train=rows, y_train=labels, x_test=rows, y_test=labels)
    line = refused("reproduce", "training", "--data", path)
    assert "examples to learn from must be at least 400; got 50" in line
