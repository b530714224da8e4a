"""`tightnoise epsilon`: the answers of Cost, for any mechanism, rounded upwards where rounded."""

import itertools
import json
import math
import warnings

import pytest
from by_night import by_night, rows_by_night

import tightnoise as tn
from tightnoise.cli import main
from tightnoise.cli._mechanisms import MECHANISMS
from tightnoise.cli._parameters import parameters_of

TRAINING = ["--sigma", "1", "--sampling-rate", "0.01", "--steps", "10000", "--delta", "1e-6"]


def table(capsys, *arguments):
    assert main(["epsilon", *map(str, arguments)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def options_of(mechanism):
    """Return the options that make a mechanism anew."""
    values = {name: getattr(mechanism, name) for name in parameters_of(type(mechanism))}
    return [f"--{name.replace('_', '-')}={value!r}" for name, value in values.items()]


def truncated():
    """Return what a release of an age is drawn by, and its options."""
    release = tn.release_bounded(
        41, 1.0, lower=0, upper=120, sensitivity=5, mechanism="truncated Gaussian"
    )
    return release.mechanism


def lattice():
    return tn.calibrate.multi_gaussian(1.0, 1e-5, sensitivity=1.0)


GAUSSIAN = ["--sigma", 20, "--steps", 100, "--delta", "1e-5"]
LAPLACE = ["--mechanism=laplace", "--scale=20", "--sensitivity=1", "--steps=100", "--delta=1e-5"]
LATTICE = ["--mechanism", "multi_gaussian_mixture", "--sensitivity", 1, "--delta", "1e-5"]
AGE = ["--mechanism=truncated-gaussian", "--domain", 0, 120, "--sensitivity=5", "--delta=1e-5"]
SAMPLED = ["--sampling-rate", "128/60000", "--epochs", 3, "--delta", "1/60000"]


@pytest.mark.parametrize(
    ("arguments", "mechanism", "epsilon", "digits"),
    [
        *rows_by_night((LATTICE, lattice, 1.0, 3)),
        ([*LATTICE, "--steps", 10], lattice, 9.951, 3),
        (GAUSSIAN, None, 1.993, 3),
        (LAPLACE, None, 1.948, 3),
        (["--kappa", 15, "--dim", 13_700, "--delta", "1e-5"], None, 0.9518, 4),
        (["--kappa", 75, "--dim", 13_700, "--delta", "1e-5", "--steps", 10], None, 24.81, 2),
        ([*AGE, "--steps", 10], truncated, 2.83, 2),
        *rows_by_night(([*AGE, "--steps", 100], truncated, 11.06, 2)),
        (TRAINING, None, 6.9074, 4),
        ([*TRAINING[:5], "1e3", *TRAINING[6:]], None, 2.1245, 4),
        (["--kappa", 75, "--dim", 13_700, *SAMPLED], None, 0.7905, 4),
    ],
)
def test_one_command_is_enough(arguments, mechanism, epsilon, digits, report):
    more = [] if mechanism is None else options_of(mechanism())
    given = {option.partition("=")[0] for option in map(str, arguments)}
    arguments = [*arguments, *(one for one in more if one.partition("=")[0] not in given)]
    answer = report("epsilon", *arguments)
    assert round(answer["epsilon"], digits) == epsilon
    assert answer["epsilon"] == min(float(value) for value in answer["ways"].values())
    assert answer["epsilon"] == float(answer["ways"][answer["way"]])
    cost = tn.Cost.from_dict(answer["cost"])
    assert cost.epsilon(answer["delta"]) == answer["epsilon"]


def test_agrees_with_the_accountant(report):
    answer = report("epsilon", *TRAINING)
    accountant = tn.Accountant()
    accountant.step(1.0, 0.01)
    cost = accountant.cost * 10_000
    assert answer == {
        "version": tn.__version__,
        "delta": 1e-6,
        "epsilon": cost.epsilon(1e-6),
        "lower": cost.epsilon_bounds(1e-6)[0],
        "way": "losses",
        "ways": {"pure": "inf", "rdp": cost.epsilon(1e-6, by="rdp"), "losses": answer["epsilon"]},
        "adjacency": "add-remove",
        "cost": cost.to_dict(),
        "notes": [],
    }


def test_table(capsys):
    cost = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson") * 10_000
    lines = table(capsys, *TRAINING)
    assert lines == str(cost.explain(1e-6)).splitlines()
    shown = float(lines[0].split()[1])
    assert cost.epsilon(1e-6) <= shown <= cost.epsilon(1e-6) * (1 + 1e-5)


def test_noise_multiplier_is_sigma_over_the_sensitivity(report):
    expected = report("epsilon", *TRAINING)["epsilon"]
    assert report("epsilon", *TRAINING[2:], "--sigma=6", "--sensitivity=6")["epsilon"] == expected
    half = report("epsilon", *TRAINING, "--sensitivity", 2)["epsilon"]
    assert half == report("epsilon", *TRAINING, "--sigma", 0.5)["epsilon"] > expected


def test_in_batches_of_a_fixed_size_a_replaced_record_counts_twice(report):
    batches = [*TRAINING, "--sampling", "fixed-size", "--steps", 100]
    answer = report("epsilon", *batches)
    accountant = tn.Accountant()
    accountant.step(1.0, 0.01, "fixed-size")
    assert answer["cost"] == (accountant.cost * 100).to_dict()
    assert answer["adjacency"] == "replace-one"
    assert answer["notes"] == ["sensitivity counted twice: where one record goes, another comes"]
    of_two = [*batches, "--sensitivity", 2, "--adjacency", "replace-one"]
    twice = report("epsilon", *of_two)
    assert (twice["cost"], twice["notes"]) == (answer["cost"], [])
    # Of arrays, each element; and any angle is as it is.
    several = ["--mechanism=gaussian", "--sigma=1", "--coordinate-sensitivity=1,2,3"]
    given = [*several, "--delta=1e-5", "--sampling=fixed-size"]
    direct = tn.Gaussian(1.0).cost(coordinate_sensitivity=[2, 4, 6], adjacency="replace-one")
    assert report("epsilon", *given)["epsilon"] == direct.epsilon(1e-5)
    turned = ["--kappa=75", "--dim=13700", "--sampling-rate=128/60000", "--delta=1e-5"]
    turned.append("--sampling=fixed-size")
    direct = tn.VonMisesFisher(75.0, 13_700).cost().sampled(128 / 60_000, "fixed-size")
    assert report("epsilon", *turned)["cost"] == direct.to_dict()


def test_a_small_angle_in_batches_of_a_fixed_size_says_its_neighbours(refused, report):
    turned = ["--kappa=75", "--dim=100", "--angle=1", *SAMPLED, "--sampling=fixed-size"]
    assert "adjacency" in refused("epsilon", *turned)
    assert report("epsilon", *turned, "--adjacency", "replace-one")["adjacency"] == "replace-one"


MADE = {
    "bounded-laplace": (tn.BoundedLaplace(3.0, -1.0, 4.0), {"domain": (-1.0, 4.0)}),
    "gaussian": (tn.Gaussian(3.0), {}),
    "gaussian-scale-mixture": (tn.GaussianScaleMixture([0, 1], [0.7, 0.3], [1, 2]), {}),
    "laplace": (tn.Laplace(3.0), {}),
    "lifted-von-mises-fisher": (tn.LiftedVonMisesFisher(50.0, 100, 3.0), {}),
    "multi-gaussian-mixture": (tn.MultiGaussianMixture(0.7, 2.0, 0.5, 3), {}),
    "product-von-mises-fisher": (tn.ProductVonMisesFisher((5.0, 6.0), (30, 40)), {"angle": [1, 2]}),
    "quantized-gaussian": (tn.QuantizedGaussian(3.0, -1.0, 4.0, 5), {}),
    "quasi-gaussian-mixture": (tn.QuasiGaussianMixture(0.7, 2.0, 0.5), {}),
    "rectified-gaussian": (tn.RectifiedGaussian(3.0, -1.0, 4.0), {"domain": (-1.0, 4.0)}),
    "staircase": (tn.Staircase(1.5, 0.5, 0.3), {}),
    "stochastic-sign": (tn.StochasticSign(3.0), {}),
    "truncated-gaussian": (tn.TruncatedGaussian(3.0, -1.0, 4.0), {"domain": (-1.0, 4.0)}),
    "truncated-laplace": (tn.TruncatedLaplace(1.0, 20.0), {}),
    "tulap": (tn.Tulap(1.0, 0.5), {}),
    "von-mises-fisher": (tn.VonMisesFisher(5.0, 30), {"angle": 1.0}),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism(name, report):
    mechanism, bounds = MADE[name]
    if "angle" not in bounds:
        bounds = {"sensitivity": 0.5, **bounds}
    given = []
    for option, value in bounds.items():
        words = list(map(str, value)) if option == "domain" else [str(value).strip("[]")]
        given += [f"--{option}", *words]
    made = [
        one.replace("(", "").replace(")", "").replace(" ", "")
        for one in options_of(mechanism)
        if not one.startswith("--sensitivity=") and not one.endswith("=inf")
    ]
    answer = report("epsilon", "--mechanism", name, *made, *given, "--delta=1e-3")
    assert answer["cost"] == mechanism.cost(**bounds).to_dict()
    assert 0 < answer["epsilon"] < math.inf


def test_plan(tmp_path, refused, report):
    """What is printed as JSON, a cost and an accountant's state are plans, alone or beside."""
    plan = tn.Laplace(20.0).cost(sensitivity=1.0) * 40
    accountant = tn.Accountant().compose(plan)
    training = report("epsilon", *TRAINING)
    for state in (plan.to_dict(), {"epsilon": 1, "cost": plan.to_dict()}, accountant.state_dict()):
        path = tmp_path / "plan.json"
        path.write_text(json.dumps(state), encoding="utf-8")
        alone = report("epsilon", "--plan", path, "--delta", "1e-6")
        assert alone["epsilon"] == plan.epsilon(1e-6)
        assert tn.Cost.from_dict(alone["cost"]) == plan
    both = report("epsilon", *TRAINING, "--plan", path)
    assert both["epsilon"] == (tn.Cost.from_dict(training["cost"]) + plan).epsilon(1e-6)
    for unused in ("--steps=2", "--epochs=2", "--sampling-rate=0.1", "--sensitivity=1", "--dim=3"):
        line = refused("epsilon", "--plan", path, "--delta", "1e-6", unused)
        assert f"error: {unused.partition('=')[0]} must be left out" in line
    assert "--plan: cannot read" in refused("epsilon", "--delta=1e-6", "--plan", tmp_path / "none")
    bad = ("", "[]", "{", "7", '{"version": 1}', '{"cost": 3}', "[" * 100_000, "\x00", "NaN")
    for text in bad:
        path.write_text(text, encoding="utf-8")
        line = refused("epsilon", "--delta=1e-6", "--plan", path)
        assert "--plan: " in line
        assert "must hold a Cost as JSON" in line


def test_steps_in_exponent_form(refused, report):
    written = [*TRAINING[:5], "1e4", *TRAINING[6:]]
    assert report("epsilon", *written) == report("epsilon", *TRAINING)
    for bad in ("10000.5", "1e-1", "1e17", "nan", "inf", "x"):
        assert "--steps" in refused("epsilon", *TRAINING[:5], bad, *TRAINING[6:])


def test_epochs(refused, report):
    base = ["--sigma", 1, "--delta", "1e-6", "--sampling-rate"]
    for rate, epochs, steps in (("0.1", 10, 100), ("0.01", 0.5, 50), ("128/60000", 3, 1407)):
        answer = report("epsilon", *base, rate, "--epochs", epochs)
        assert answer["cost"]["leaves"][0]["times"] == steps
    assert "--epochs" in refused("epsilon", *TRAINING, "--epochs", 1)
    for bad in ("0", "-1", "x", "1e300"):
        assert "epochs" in refused("epsilon", *base, "0.1", "--epochs", bad)


def test_noise_is_of_one_kind(refused):
    assert "--sigma must be left out here" in refused("epsilon", *TRAINING, "--kappa=1", "--dim=3")
    line = refused("epsilon", "--kappa", "75", "--delta", "1e-5")
    assert line.startswith("tightnoise epsilon: error: --dim must be given")
    for option in ("dim", "angle", "scale", "levels"):
        line = refused("epsilon", *TRAINING, f"--{option}", "2")
        assert f"error: --{option} must be left out here" in line
    line = refused("epsilon", "--delta", "1e-5")
    assert "--mechanism, --sigma, --kappa or --plan must be given" in line
    assert "--mechanism" in refused("epsilon", "--delta", "1e-5", "--mechanism", "noise")


def test_a_named_mechanism_needs_a_sensitivity(refused):
    gaussian = ["--mechanism", "gaussian", "--sigma", "1", "--delta", "1e-5"]
    assert "sensitivity must be given" in refused("epsilon", *gaussian).replace("_", "-")
    laplace = ["--mechanism", "laplace", "--scale", "1", "--delta", "1e-5"]
    assert "--sensitivity must be given" in refused("epsilon", *laplace)
    # What one person changes of each of unknown many coordinates bounds nothing.
    assert "coordinate_sensitivity must be an array" in refused(
        "epsilon", *gaussian, "--coordinate-sensitivity", "0.01"
    )


def test_nothing_released(capsys, report):
    assert report("epsilon", "--sigma", 1, "--steps", 0, "--delta", "1e-5")["epsilon"] == 0
    assert table(capsys, "--sigma", 1, "--steps", 0, "--delta", "1e-5")[0].startswith("epsilon 0 ")


def test_what_no_noise_hides_is_still_json(report):
    answer = report("epsilon", "--sigma", "1e-50", "--delta", "1e-5")
    assert float(answer["epsilon"]) > 1e99


DIRECTIONS = ["--kappa", "75", "--dim", "13700", "--delta", "1e-5"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *itertools.product(["--sigma"], ["nan", "inf", "0", "-1", "x", ""]),
        *itertools.product(["--sampling-rate"], ["nan", "inf", "0", "-0.1", "1.5", "x", "1/0"]),
        *itertools.product(["--sampling"], ["shuffled", ""]),
        *itertools.product(["--sensitivity"], ["nan", "inf", "-1", "x"]),
        *itertools.product(["--adjacency"], ["x", "add"]),
        *itertools.product(["--steps"], ["-5", "1.5", "x", "nan", str(2**60)]),
        *itertools.product(["--delta"], ["nan", "inf", "2", "-0.1", "x", "1/2/3"]),
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


@pytest.mark.parametrize(
    "asked",
    [
        *by_night(TRAINING),
        ["--mechanism", "laplace", "--scale", "1", "--sensitivity", "1", "--delta", "0"],
        ["--sigma", "1", "--delta", "1"],
    ],
)
def test_picture(asked, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "curve.png"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["epsilon", *asked, "--plot", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
