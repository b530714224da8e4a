"""`tightnoise best-noise`: the ranking as a table, as JSON, and drawn."""

import importlib.util
import json

import pytest

import tightnoise as tn
from tightnoise.cli import main
from tightnoise.compare._families import FAMILIES

BUDGET = ["--epsilon", "1", "--delta", "1e-5", "--sensitivity", "2"]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Leave out what is searched for, seconds each."""
    few = tuple(family for family in FAMILIES if not family.searched)
    monkeypatch.setattr("tightnoise.compare.noise_ranking.FAMILIES", few)


def test_table(capsys):
    assert main(["best-noise", *BUDGET, "--loss", "l2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == f"{tn.best_noise(1.0, 1e-5, sensitivity=2.0, loss='l2')}\n"
    assert max(map(len, out.splitlines())) <= 110


def test_help_says_that_one_number_is_no_vector(capsys):
    with pytest.raises(SystemExit):
        main(["best-noise", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "Noise for one number is not noise for a vector, unless it is Gaussian" in text


def test_what_has_no_answer_is_told(capsys):
    assert main(["best-noise", "--epsilon", "1", "--delta", "0", "--sensitivity", "1"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 4
    assert "note: no multi-Gaussian: " in err


def test_json(capsys):
    assert main(["best-noise", *BUDGET, "--json"]) == 0
    report = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert report["parameters"] == {
        "epsilon": 1.0,
        "delta": 1e-5,
        "sensitivity": 2.0,
        "loss": "l1",
        "releases": 1,
        "integer": False,
    }
    ranking = tn.best_noise(1.0, 1e-5, sensitivity=2.0)
    assert [one["name"] for one in report["mechanisms"]] == [choice.name for choice in ranking]
    for one, choice in zip(report["mechanisms"], ranking, strict=True):
        assert type(choice.mechanism)(**one["parameters"]) == choice.mechanism
        assert one["mean_abs"] == choice.mean_abs


def test_integers(capsys):
    arguments = ["best-noise", "--epsilon", "3", "--delta", "0", "--sensitivity", "0.5"]
    assert main([*arguments, "--integer"]) == 0
    out, _ = capsys.readouterr()
    ranking = tn.best_noise(3.0, 0.0, sensitivity=0.5, integer=True)
    assert out == f"{ranking}\n"
    assert "sensitivity 0.5 is rounded up to 1" in out
    assert main([*arguments, "--integer", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["parameters"]["sensitivity"], report["parameters"]["integer"]) == (1.0, True)
    assert report["mechanisms"][0]["mean_abs"] == ranking.best.mean_abs


def test_picture(tmp_path, capsys):
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("matplotlib, which draws, is an extra that is not installed")
    path = tmp_path / "noise.png"
    assert main(["best-noise", *BUDGET, "--plot", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    other = tmp_path / "integers.png"
    assert main(["best-noise", *BUDGET, "--integer", "--plot", str(other)]) == 0
    assert other.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert main(["best-noise", *BUDGET, "--plot", str(path)]) == 2
    assert "exists" in capsys.readouterr().err


def test_no_picture_without_matplotlib(tmp_path, monkeypatch, refused):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    path = tmp_path / "noise.png"
    assert "tightnoise[plot]" in refused("best-noise", *BUDGET, "--plot", path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*BUDGET, "--epsilon", "0"], "epsilon must be greater than 0"),
        ([*BUDGET, "--delta", "1"], "delta must be at least 0 and below 1"),
        ([*BUDGET, "--count", "0"], "count"),
        ([*BUDGET, "--count", "1.5"], "not a whole number: '1.5'"),
        ([*BUDGET, "--loss", "l3"], "--loss"),
        (BUDGET[2:], "--epsilon"),
        (BUDGET[:4], "--sensitivity"),
    ],
)
def test_refused(arguments, message, refused):
    assert message in refused("best-noise", *arguments)
