"""`tightnoise best-noise` and `compare-bounded`: a ranking as a table, as JSON, and drawn."""

import functools
import importlib.util
import warnings

import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise.cli import main
from tightnoise.cli.rankings import RANKINGS
from tightnoise.compare._families import FAMILIES
from tightnoise.compare.bounded import CRITERIA

BUDGET = ["--epsilon", "1", "--delta", "1e-5", "--sensitivity", "2"]
ASKED = {
    "best-noise": BUDGET,
    "compare-bounded": [*BUDGET, "--lower", "-1e0", "--upper", "9"],
}


def once(function):
    """Return a function that ranks, and ranks what it was asked before no second time."""
    answers = {}

    @functools.wraps(function)
    def ranked(**asked):
        key = repr(sorted(asked.items()))
        if key not in answers:
            answers[key] = function(**asked)
        return answers[key]

    return ranked


ONCE = {
    name: ranking._replace(function=once(ranking.function)) for name, ranking in RANKINGS.items()
}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Leave out mixtures and Laplace noise, whose searches for many releases take seconds."""
    few = tuple(family for family in FAMILIES if family.name in ("Gaussian", "Tulap", "staircase"))
    monkeypatch.setattr("tightnoise.compare.noise_ranking.FAMILIES", few)
    monkeypatch.setattr("tightnoise.cli.rankings.RANKINGS", ONCE)


def direct(name, delta=1e-5, **options):
    asked = {"epsilon": 1.0, "delta": delta, "sensitivity": 2.0, **options}
    if name == "compare-bounded":
        asked |= {"lower": -1.0, "upper": 9.0}
    return ONCE[name].function(**asked)


@pytest.mark.parametrize(
    ("name", "options", "asked"),
    [
        ("best-noise", ["--loss", "l2"], {"loss": "l2"}),
        ("best-noise", ["--count", "1e1"], {"count": 10}),
        ("best-noise", ["--integer"], {"integer": True}),
        ("compare-bounded", ["--by", "mse_worst"], {"by": "mse_worst"}),
        ("compare-bounded", ["--optimum"], {"optimum": True}),
        ("compare-bounded", ["--integer"], {"integer": True}),
        ("compare-bounded", ["--prior", "1,2,1"], {"prior": [1, 2, 1]}),
    ],
)
def test_table(name, options, asked, capsys):
    if "optimum" in asked and importlib.util.find_spec("scipy") is None:
        pytest.skip("SciPy, which finds the optimum, is an extra that is not installed")
    assert main([name, *ASKED[name], *options]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == f"{direct(name, **asked)}\n"
    assert max(map(len, out.splitlines())) <= 110


def test_help_says_that_one_number_is_no_vector(capsys):
    with pytest.raises(SystemExit):
        main(["best-noise", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "Noise for one number is not noise for a vector, unless it is Gaussian" in text


@pytest.mark.parametrize("name", ASKED)
def test_delta_is_0_unless_given_and_what_has_no_answer_is_told(name, capsys):
    without = [*ASKED[name][:2], *ASKED[name][4:]]
    assert main([name, *without]) == 0
    out, err = capsys.readouterr()
    ranking = direct(name, delta=0.0)
    assert out == f"{ranking}\n"
    for left_out in ranking.left_out:
        assert f"tightnoise {name}: note: no {left_out}: " in err


@pytest.mark.parametrize("name", ASKED)
def test_json(name, report):
    found = report(name, *ASKED[name])
    assert list(found) == ["version", "parameters", "mechanisms", "left_out"]
    given = dict(zip(ASKED[name][::2], map(float, ASKED[name][1::2]), strict=True))
    assert found["parameters"] == {key.lstrip("-"): value for key, value in given.items()}
    ranking = direct(name)
    assert [row["name"] for row in found["mechanisms"]] == [choice.name for choice in ranking]
    for row, choice in zip(found["mechanisms"], ranking, strict=True):
        parameters = {
            key: float(value) if value == "inf" else value
            for key, value in row["parameters"].items()
        }
        assert type(choice.mechanism)(**parameters) == choice.mechanism
        assert tn.Cost.from_dict(row["cost"]) == choice.cost
        shown = CRITERIA if name == "compare-bounded" else ("mean_abs", "variance", "tails")
        assert {key: row[key] for key in shown} == {key: getattr(choice, key) for key in shown}


@pytest.mark.parametrize("domain", [*by_night(("1", "0", "1")), ("1e-140", "0", "1e-140")], ids=str)
def test_picture_of_errors_next_to_0(domain, tmp_path, capsys):
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("matplotlib, which draws, is an extra that is not installed")
    path = tmp_path / "bounded.png"
    sensitivity, lower, upper = domain
    asked = ["--epsilon=1e100", f"--sensitivity={sensitivity}", f"--lower={lower}"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = main(["compare-bounded", *asked, f"--upper={upper}", "--plot", str(path)])
    assert code == 0, capsys.readouterr().err
    assert path.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        *((name, ["--epsilon", "0"], "epsilon must be greater than 0") for name in ASKED),
        *((name, ["--epsilon", "x"], "--epsilon") for name in ASKED),
        *((name, ["--delta", "1"], "delta must be at least 0 and below 1") for name in ASKED),
        *((name, ["--count", "0"], "count") for name in ASKED),
        *((name, ["--count", "1.5"], "not a whole number: '1.5'") for name in ASKED),
        *((name, ["--sensitivity", "-1"], "sensitivity must be greater than 0") for name in ASKED),
        ("best-noise", ["--loss", "l3"], "loss"),
        ("compare-bounded", ["--lower", "9"], "lower must be less than upper; got lower 9.0"),
        ("compare-bounded", ["--lower", "nan"], "--lower"),
        ("compare-bounded", ["--upper", "inf"], "--upper"),
        ("compare-bounded", ["--by", "sigma"], "by"),
        ("compare-bounded", ["--prior", "1,x"], "--prior"),
    ],
)
def test_refused(name, arguments, message, refused):
    assert message in refused(name, *ASKED[name], *arguments)


@pytest.mark.parametrize(
    ("name", "missing"),
    [(name, option) for name in ASKED for option in ASKED[name][::2] if option != "--delta"],
)
def test_what_must_be_given(name, missing, refused):
    position = ASKED[name].index(missing)
    given = [*ASKED[name][:position], *ASKED[name][position + 2 :]]
    assert missing in refused(name, *given)
