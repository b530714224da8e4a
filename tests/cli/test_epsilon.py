"""`tightnoise epsilon`: the accountant's numbers, rounded upwards where they are rounded."""

import itertools
import json
import math

import pytest

import tightnoise as tn
from tightnoise.cli import main

TRAINING = ["--sigma", "1", "--sampling-rate", "0.01", "--steps", "10000", "--delta", "1e-6"]


def report(capsys, *arguments):
    assert main(["epsilon", "--json", *map(str, arguments)]) == 0
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def table(capsys, *arguments):
    assert main(["epsilon", *map(str, arguments)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def test_agrees_with_the_accountant(capsys):
    answer = report(capsys, *TRAINING)
    accountant = tn.RdpAccountant().compose(tn.Gaussian(1.0), 10_000, sampling_rate=0.01)
    assert answer["version"] == tn.__version__
    assert answer["parameters"] == {
        "sigma": 1.0,
        "sampling_rate": 0.01,
        "steps": 10_000,
        "delta": 1e-6,
    }
    assert answer["adjacency"] == "add-remove"
    assert answer["epsilon"] == accountant.epsilon(1e-6)
    assert answer["order"] == accountant.best_order(1e-6)
    assert answer["conversion"] == "optimal"
    assert answer["notes"] == []
    classic = accountant.epsilon(1e-6, "classic")
    assert answer["conversions"] == [
        {"conversion": "optimal", "epsilon": answer["epsilon"], "order": answer["order"]},
        {
            "conversion": "classic",
            "epsilon": classic,
            "order": accountant.best_order(1e-6, "classic"),
        },
    ]
    assert answer["epsilon"] < classic


def test_table(capsys):
    lines = table(capsys, *TRAINING)
    assert lines[:5] == [
        "sigma          1",
        "sampling rate  0.01",
        "steps          10,000",
        "delta          1e-06",
        "adjacency      add-remove: neighbours have one record more or less",
    ]
    assert [line.split()[0] for line in lines[6:]] == ["conversion", "optimal", "classic"]
    shown = float(lines[7].split()[1])
    epsilon = report(capsys, *TRAINING)["epsilon"]
    assert epsilon <= shown <= epsilon * (1 + 1e-5)


def test_without_sampling_also_exactly(capsys):
    """T releases of a Gaussian are one, with noise smaller by sqrt(T)."""
    answer = report(capsys, "--sigma", 20, "--steps", 100, "--delta", "1e-5")
    assert answer["adjacency"] is None
    *_, exact = answer["conversions"]
    assert exact["conversion"] == "exact"
    assert exact["epsilon"] == pytest.approx(1.9931, abs=5e-5)
    assert answer["conversions"][0]["epsilon"] == pytest.approx(2.1657, abs=5e-5)
    assert answer["epsilon"] == exact["epsilon"]  # what a program reads is the least
    assert (answer["conversion"], answer["order"]) == ("exact", None)
    lines = table(capsys, "--sigma", 20, "--steps", 100, "--delta", "1e-5")
    assert lines[-1].split()[0] == "exact"
    assert lines[-1].split()[-1] == "-"
    assert float(lines[-1].split()[1]) >= exact["epsilon"]


def test_steps_in_exponent_form(capsys, refused):
    written = [*TRAINING[:5], "1e4", *TRAINING[6:]]
    assert report(capsys, *written) == report(capsys, *TRAINING)
    for bad in ("10000.5", "1e-1", "1e17", "nan", "inf", "x"):
        assert "--steps" in refused("epsilon", *TRAINING[:5], bad, *TRAINING[6:])


DIRECTIONS = ["--kappa", "75", "--dim", "13700", "--delta", "1e-5"]


def test_directions(capsys):
    sampled = ["--sampling-rate", "0.01", "--steps", "100", "--angle", "2"]
    answer = report(capsys, *DIRECTIONS, *sampled)
    step = tn.accounting.sampled_von_mises_fisher(75.0, 13_700, 0.01, angle=2.0)
    assert answer["epsilon"] == (step * 100).epsilon(1e-5)
    assert answer["adjacency"] == "add-remove"
    assert answer["parameters"] == {
        "kappa": 75.0,
        "dim": 13_700,
        "angle": 2.0,
        "sampling_rate": 0.01,
        "steps": 100,
        "delta": 1e-5,
    }
    lines = table(capsys, *DIRECTIONS, *sampled)
    assert lines[:3] == ["kappa          75", "dim            13,700", "angle          2"]


def test_one_direction_also_exactly(capsys):
    answer = report(capsys, *DIRECTIONS)
    assert answer["parameters"]["angle"] == math.pi
    *_, exact = answer["conversions"]
    assert exact == {
        "conversion": "exact",
        "epsilon": tn.VonMisesFisher(75.0, 13_700).epsilon(1e-5),
        "order": None,
    }
    by_curve = answer["conversions"][0]["epsilon"]
    assert answer["epsilon"] == exact["epsilon"] < by_curve
    assert by_curve == tn.VonMisesFisher(75.0, 13_700).rdp().epsilon(1e-5)
    assert len(report(capsys, *DIRECTIONS, "--steps", 2)["conversions"]) == 2
    adjacency = "adjacency      the one for which the angle is declared"
    assert adjacency in table(capsys, *DIRECTIONS)


def test_noise_is_of_one_kind(refused):
    assert "--kappa" in refused("epsilon", *TRAINING, "--kappa", "1")
    line = refused("epsilon", "--kappa", "75", "--delta", "1e-5")
    assert line.startswith("tightnoise epsilon: error: --dim must be given")
    for option in ("dim", "angle"):
        line = refused("epsilon", *TRAINING, f"--{option}", "2")
        assert f"error: {option} must be left out: it goes with --kappa; got 2" in line


def test_nothing_released(capsys):
    answer = report(capsys, "--sigma", 1, "--steps", 0, "--delta", "1e-5")
    assert [row["epsilon"] for row in answer["conversions"]] == [0, 0, 0]
    assert answer["order"] is None
    assert "optimal" in "".join(table(capsys, "--sigma", 1, "--steps", 0, "--delta", "1e-5"))


def test_what_no_noise_hides_is_still_json(capsys):
    answer = report(capsys, "--sigma", "1e-200", "--delta", "1e-5")
    assert float(answer["epsilon"]) > 1e100
    assert "optimal" in "".join(table(capsys, "--sigma", "1e-200", "--delta", "1e-5"))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *itertools.product(["--sigma"], ["nan", "inf", "0", "-1", "x", ""]),
        *itertools.product(["--sampling-rate"], ["nan", "inf", "0", "-0.1", "1.5", "x"]),
        *itertools.product(["--steps"], ["-5", "1.5", "x", "nan", str(2**60)]),
        *itertools.product(["--delta"], ["nan", "inf", "0", "1", "2", "-0.1", "x"]),
        *itertools.product(["--kappa"], ["nan", "inf", "-1", "1e101", "x", ""]),
        *itertools.product(["--dim"], ["-5", "1", "1.5", "x", "nan", str(2**60)]),
        *itertools.product(["--angle"], ["nan", "-0.1", "3.2", "x"]),
        ("--unknown", "1"),
    ],
)
def test_bad_numbers(option, value, refused):
    given = DIRECTIONS if option in ("--kappa", "--dim", "--angle") else TRAINING
    line = refused("epsilon", *given, f"{option}={value}")
    assert line.startswith("tightnoise")
    assert option.lstrip("-") in line.replace("_", "-")


@pytest.mark.parametrize("missing", ["--sigma", "--delta"])
def test_what_has_no_default(missing, refused):
    position = TRAINING.index(missing)
    assert missing in refused("epsilon", *TRAINING[:position], *TRAINING[position + 2 :])


def test_rounding_is_upwards():
    from tightnoise._text import upper_text

    for value in (7.41395, 1e-9, 0.1, 123456.7, 1e22, 1.0, math.pi, 9.9999991):
        for digits in (2, 4, 6, 12):
            shown = float(upper_text(value, digits))
            assert value <= shown * (1 + 2e-16)
            assert shown <= value * (1 + 10.0 ** (1 - digits))
    assert upper_text(2.0) == "2"
    assert upper_text(math.inf) == "inf"
    assert upper_text(0.0) == "0"
