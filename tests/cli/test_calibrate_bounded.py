"""`tightnoise calibrate bounded`: the comparison as a table, as JSON, and drawn."""

import importlib.util
import json
import warnings

import pytest

import tightnoise as tn
from tightnoise.cli import main
from tightnoise.compare.bounded import CRITERIA

DOMAIN = ["--lower=-1", "--upper", "9", "--sensitivity", "2"]
ASKED = ["--epsilon", "1", "--delta", "1e-5", *DOMAIN]


def test_table(capsys):
    assert main(["calibrate", "bounded", *ASKED]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == f"{tn.compare_bounded(1.0, 1e-5, lower=-1.0, upper=9.0, sensitivity=2.0)}\n"
    assert max(map(len, out.splitlines())) <= 110


def test_delta_is_0_unless_given_and_what_has_no_answer_is_told(capsys):
    assert main(["calibrate", "bounded", "--epsilon", "1", *DOMAIN, "--by", "mse_worst"]) == 0
    out, err = capsys.readouterr()
    table = tn.compare_bounded(1.0, lower=-1.0, upper=9.0, sensitivity=2.0, by="mse_worst")
    assert out == f"{table}\n"
    assert "tightnoise calibrate: note: no multi-Gaussian + clip: " in err


def test_many_releases_and_the_optimum(capsys):
    asked = ["--epsilon", "1", *DOMAIN, "--count", "3", "--optimum"]
    assert main(["calibrate", "bounded", *asked]) == 0
    out = capsys.readouterr().out
    ages = {"lower": -1.0, "upper": 9.0, "sensitivity": 2.0}
    assert out == f"{tn.compare_bounded(1.0, **ages, count=3, optimum=True)}\n"
    assert "grid optimum" in out


def test_integers(capsys):
    assert main(["calibrate", "bounded", *ASKED, "--integer"]) == 0
    out, _ = capsys.readouterr()
    ranking = tn.compare_bounded(1.0, 1e-5, lower=-1.0, upper=9.0, sensitivity=2.0, integer=True)
    assert out == f"{ranking}\n"
    assert "outputs are rounded to integers" in out


def test_json(capsys):
    assert main(["calibrate", "bounded", *ASKED, "--json"]) == 0
    report = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert list(report) == ["version", "parameters", "mechanisms", "left_out"]
    assert report["parameters"] == {
        "epsilon": 1.0,
        "delta": 1e-5,
        "lower": -1.0,
        "upper": 9.0,
        "sensitivity": 2.0,
        "by": "mse_average",
        "releases": 1,
        "integer": False,
    }
    ranking = tn.compare_bounded(1.0, 1e-5, lower=-1.0, upper=9.0, sensitivity=2.0)
    assert [row["name"] for row in report["mechanisms"]] == [choice.name for choice in ranking]
    for row, choice in zip(report["mechanisms"], ranking, strict=True):
        parameters = {
            name: float(value) if value == "inf" else value
            for name, value in row["parameters"].items()
        }
        assert type(choice.mechanism)(**parameters) == choice.mechanism
        assert row["clip"] == choice.clip
        assert row["epsilon"] == choice.epsilon <= 1.0
        assert {by: row[by] for by in CRITERIA} == {by: getattr(choice, by) for by in CRITERIA}


def test_picture(tmp_path, capsys):
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("matplotlib, which draws, is an extra that is not installed")
    path = tmp_path / "bounded.png"
    path.write_bytes(b"somebody's")
    asked = ["--epsilon", "1", *DOMAIN, "--plot", str(path)]
    assert main(["calibrate", "bounded", *asked]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "exists" in err
    assert path.read_bytes() == b"somebody's"
    assert main(["calibrate", "bounded", *asked, "--force"]) == 0
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_no_picture_without_matplotlib(tmp_path, monkeypatch, refused):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    path = tmp_path / "bounded.png"
    assert "tightnoise[plot]" in refused("calibrate", "bounded", *ASKED, "--plot", path)
    assert not path.exists()


@pytest.mark.parametrize("domain", [("1", "0", "1"), ("1e-140", "0", "1e-140")], ids=str)
def test_picture_of_errors_next_to_0(domain, tmp_path, capsys):
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("matplotlib, which draws, is an extra that is not installed")
    path = tmp_path / "bounded.png"
    sensitivity, lower, upper = domain
    asked = ["--epsilon=1e100", f"--sensitivity={sensitivity}", f"--lower={lower}"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = main(["calibrate", "bounded", *asked, f"--upper={upper}", "--plot", str(path)])
    assert code == 0, capsys.readouterr().err
    assert path.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "0"], "epsilon must be greater than 0"),
        (["--epsilon", "x"], "--epsilon"),
        (["--delta", "1"], "delta must be at least 0 and below 1; got 1.0"),
        (["--lower", "9"], "lower must be less than upper; got lower 9.0 and upper 9.0"),
        (["--lower", "nan"], "--lower"),
        (["--upper", "inf"], "--upper"),
        (["--sensitivity", "-1"], "sensitivity must be greater than 0"),
        (["--by", "sigma"], "--by"),
        (["--plot", "bounded.pdf"], ".png"),
        (["--plot", "no/bounded.png"], "cannot write no/bounded.png: No such file or directory"),
    ],
)
def test_refused(arguments, message, refused):
    assert message in refused("calibrate", "bounded", *ASKED, *arguments)


@pytest.mark.parametrize("name", ["--epsilon", "--lower", "--upper", "--sensitivity"])
def test_what_must_be_given(name, refused):
    asked = dict(zip(("--epsilon", "--lower", "--upper", "--sensitivity"), "1012", strict=True))
    given = [f"{key}={value}" for key, value in asked.items() if key != name]
    assert name in refused("calibrate", "bounded", *given)
