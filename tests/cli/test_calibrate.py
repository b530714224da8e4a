"""`tightnoise calibrate`: the answers of `tightnoise.calibrate`, and what they cost."""

import json
import math
import re

import pytest

import tightnoise as tn
from tightnoise.cli import calibrate, main
from tightnoise.cli._parameters import parameters_of

BUDGET = {"epsilon": 2.0, "delta": 1e-6}
NUMBER = {"sensitivity": 0.5}
BOUNDED = {"lower": -1.0, "upper": 3.0, "sensitivity": 0.5}
KINDS = {
    "bounded-laplace": BOUNDED,
    "gaussian": NUMBER,
    "gaussian-scale-mixture": NUMBER,
    "laplace": NUMBER,
    "multi-gaussian": NUMBER,
    "noise-multiplier": {"sampling_rate": 0.01, "steps": 1000},
    "quasi-gaussian": NUMBER,
    "rectified-gaussian": BOUNDED,
    "sampling-rate": {"noise_multiplier": 1.5, "steps": 1000},
    "staircase": NUMBER,
    "steps": {"noise_multiplier": 1.5, "sampling_rate": 0.01},
    "truncated-gaussian": BOUNDED,
    "truncated-laplace": NUMBER,
    "tulap": NUMBER,
    "von-mises-fisher": {"dim": 1000, "angle": 2.0},
}
QUICK = [kind for kind in KINDS if kind != "gaussian-scale-mixture"]
# Of the budget, what the answer may leave: noise between tables, whole steps.
LEFT = {"steps": 1e-2}


def options_of(values):
    return [f"--{name.replace('_', '-')}={value}" for name, value in values.items()]


def direct(kind, **more):
    function = getattr(tn.calibrate, kind.replace("-", "_"))
    return function(**BUDGET, **KINDS[kind], **more)


def answers_of(kind, found):
    if isinstance(found, tn.Mechanism):
        return {name: getattr(found, name) for name in parameters_of(type(found))}
    return {kind.replace("-", "_"): found}


def test_everything_that_options_can_give_can_be_asked_for():
    functions = set(tn.calibrate.__all__) - {"CalibrationError", "parameter"}
    assert {kind.replace("-", "_") for kind in calibrate.KINDS} == functions
    assert set(KINDS) == set(calibrate.KINDS)


@pytest.mark.parametrize("kind", QUICK)
def test_json_and_text(kind, capsys, report):
    given = options_of(BUDGET | KINDS[kind])
    answer = report("calibrate", kind, *given)
    assert list(answer) == ["version", "parameters", "answer", "delta", "epsilon", "cost"]
    assert answer["parameters"] == BUDGET | KINDS[kind]
    found = answers_of(kind, direct(kind))
    assert {name: float(value) for name, value in answer["answer"].items()} == found
    assert answer["delta"] == 1e-6
    cost = tn.Cost.from_dict(answer["cost"])
    assert answer["epsilon"] == cost.epsilon(1e-6)
    assert 2.0 * (1 - LEFT.get(kind, 1e-8)) <= answer["epsilon"] <= 2.0 * (1 + 1e-9)

    assert main(["calibrate", kind, *given]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    *lines, last = out.splitlines()
    # All digits: a rounded answer could cost more.
    shown = dict(line.split() for line in lines)
    assert {name.replace("-", "_"): float(value) for name, value in shown.items()} == found
    shown = re.fullmatch(r"costs epsilon (\S+) at delta 1e-06", last)
    assert shown
    assert answer["epsilon"] <= float(shown[1]) <= answer["epsilon"] * (1 + 1e-11)


def test_the_cost_is_of_what_was_asked_for(report):
    """Of noise: for the sensitivity, in the domain; of training: the steps, as they are sampled."""
    for kind in ("gaussian", "truncated-gaussian", "von-mises-fisher", "noise-multiplier"):
        cost = tn.Cost.from_dict(
            report("calibrate", kind, *options_of(BUDGET | KINDS[kind]))["cost"]
        )
        found = direct(kind)
        if kind == "truncated-gaussian":
            assert cost == found.cost(sensitivity=0.5, domain=(-1.0, 3.0))
        elif kind == "noise-multiplier":
            step = tn.Gaussian(found).cost(sensitivity=1.0).sampled(0.01, "poisson")
            assert cost == step * 1000
        else:
            bounds = {"angle": 2.0} if kind == "von-mises-fisher" else NUMBER
            assert cost == found.cost(**bounds)


def test_many_releases_beside_a_plan(tmp_path, report):
    plan = tn.Laplace(20.0).cost(sensitivity=1.0) * 10
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan.to_dict()), encoding="utf-8")
    given = options_of(BUDGET | NUMBER)
    answer = report("calibrate", "gaussian", *given, "--count", "1e1", "--beside", path)
    found = direct("gaussian", count=10, beside=plan)
    assert answer["answer"] == {"sigma": found.sigma}
    cost = tn.Cost.from_dict(answer["cost"])
    assert cost == found.cost(sensitivity=0.5) * 10 + plan
    assert answer["epsilon"] == cost.epsilon(1e-6) <= 2.0
    assert answer["parameters"]["beside"] == plan.to_dict()


def test_batches_of_a_fixed_size_and_epochs(report):
    asked = {"sampling_rate": 0.05, "epochs": 10}
    given = [*options_of(BUDGET | asked), "--sampling", "fixed-size"]
    answer = report("calibrate", "noise-multiplier", *given)
    found = tn.calibrate.noise_multiplier(**BUDGET, **asked, sampling="fixed-size")
    assert answer["answer"] == {"noise_multiplier": found}
    accountant = tn.Accountant()
    accountant.step(found, 0.05, "fixed-size")
    assert tn.Cost.from_dict(answer["cost"]) == accountant.cost * 200
    assert answer["epsilon"] <= 2.0


BAD = {
    "--epsilon": ["nan", "inf", "-1", "x"],
    "--delta": ["nan", "1", "2", "-0.1", "x"],
    "--sensitivity": ["nan", "inf", "0", "-1", "x"],
    "--lower": ["nan", "inf", "3", "4", "x"],
    "--noise-multiplier": ["nan", "inf", "0", "-1", "x"],
    "--sampling-rate": ["nan", "inf", "0", "-0.1", "1.5", "x"],
    "--steps": ["-5", "1.5", "x", "nan"],
    "--dim": ["1", "-5", "1.5", "x", "nan"],
    "--angle": ["nan", "0", "-1", "3.2", "x"],
    "--count": ["0", "-1", "1.5", "x"],
    "--unknown": ["1"],
}


@pytest.mark.parametrize("kind", QUICK)
@pytest.mark.parametrize("option", BAD)
def test_bad_numbers(kind, option, refused):
    given = options_of(BUDGET | KINDS[kind])
    known = option.lstrip("-") in [name.partition("=")[0].lstrip("-") for name in given]
    values = BAD[option] if known or option == "--count" else BAD[option][:1]
    for value in values:
        line = refused("calibrate", kind, *given, f"{option}={value}")
        assert line.startswith("tightnoise")
        assert option.lstrip("-") in line.replace("_", "-")


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_no_default_must_be_given(kind, refused):
    given = options_of(BUDGET | KINDS[kind])
    optional = {"--angle", "--delta"} & {one.partition("=")[0] for one in given}
    if kind in ("noise-multiplier", "steps", "sampling-rate"):
        optional.discard("--delta")
    for position, one in enumerate(given):
        option = one.partition("=")[0]
        if option not in optional:
            line = refused("calibrate", kind, *given[:position], *given[position + 1 :])
            assert option.lstrip("-") in line.replace("_", "-")


def test_one_release_on_a_direction(capsys):
    assert main(["calibrate", "von-mises-fisher", "--epsilon=2", "--dim=50"]) == 0
    out = capsys.readouterr().out
    found = tn.calibrate.von_mises_fisher(2.0, dim=50)
    assert out.splitlines()[:2] == [f"kappa  {found.kappa!r}", "dim  50"]
    assert out.splitlines()[2].endswith("at delta 0")
    assert found.cost(angle=math.pi).epsilon(0.0) <= 2.0


def test_unknown_kind(refused):
    assert "noise" in refused("calibrate", "noise", *options_of(BUDGET))


def test_what_cannot_be_met(refused):
    line = refused("calibrate", "gaussian", "--epsilon", "1", "--delta", "0", "--sensitivity", "1")
    assert line.startswith("tightnoise calibrate: error: delta must be greater than 0")
