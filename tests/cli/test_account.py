"""`tightnoise account`: the numbers of the mechanisms, and one line for every bad input."""

import contextlib
import itertools
import re

import numpy as np
import pytest

import tightnoise as tn
from tightnoise import _core
from tightnoise.cli import account, main
from tightnoise.costs import DEFAULT_ORDERS
from tightnoise.data import digits_gradient

MADE = {
    "gaussian": tn.Gaussian(1.5),
    "quantized-gaussian": tn.QuantizedGaussian(1.5, -1.5, 1.5, 4),
    "rectified-gaussian": tn.RectifiedGaussian(1.5, -1.5, 1.5),
    "stochastic-sign": tn.StochasticSign(1.5),
    "truncated-gaussian": tn.TruncatedGaussian(1.5, -1.5, 1.5),
}
NAMES = list(MADE)
GIVEN = ["--sigma", "1", "--coordinate-sensitivity", "0.1", "--lower", "-1", "--upper", "1"]


def test_account_without_arguments(capsys):
    assert main(["account"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert "2,410 coordinates, float32" in lines[0]
    assert [line.split()[0] for line in lines[6:11]] == NAMES
    assert "must not themselves be published" in lines[-1]
    assert max(map(len, lines)) <= 120


def test_account_agrees_with_the_mechanisms(report):
    gradient, c = digits_gradient()
    answer = report("account")
    assert [cost["mechanism"] for cost in answer["costs"]] == NAMES
    assert answer["parameters"]["alphas"] is None
    plain = tn.Gaussian(1.5).cost_at(gradient, coordinate_sensitivity=c).epsilon(1e-5)
    for cost in answer["costs"]:
        mechanism = MADE[cost["mechanism"]]
        here = mechanism.cost_at(gradient, coordinate_sensitivity=c)
        curve = here.rdp()
        assert cost["epsilon"] == curve.epsilon(1e-5)
        assert cost["order"] == curve.best_order(1e-5)
        assert cost["rdp"] == curve.at([cost["order"]]).values
        table = here.rdp(DEFAULT_ORDERS)
        assert cost["epsilon"] <= table.epsilon(1e-5) * (1 + 1e-9)
        assert cost["fil"] == mechanism.fil(gradient, coordinate_sensitivity=c)
        assert cost["ratio"] == pytest.approx(curve.epsilon(1e-5) / plain, rel=1e-15)
    assert answer["costs"][0]["ratio"] == 1
    # Bounded noise costs less: that is what the shipped gradient shows.
    assert all(cost["ratio"] < 0.9 for cost in answer["costs"][1:])


def test_the_norm_is_demanded_and_printed(capsys, gradient, refused, report):
    """A bound on every coordinate is none on the whole: taken for one, it understates costs."""
    per_coordinate = "the most one person changes a coordinate by"
    whole = "the most one person changes the gradient by, in Euclidean norm"
    noise = ["--sigma", "1", "--mechanism", "gaussian"]
    line = refused("account", gradient, *noise)
    assert "--coordinate-sensitivity or --sensitivity must be given" in line
    for bounds in ({"coordinate_sensitivity": 0.1}, {"sensitivity": 0.5}, None):
        bounds = bounds or {"coordinate_sensitivity": 0.1, "sensitivity": 0.5}
        given = [f"--{name.replace('_', '-')}={value}" for name, value in bounds.items()]
        answer = report("account", gradient, *noise, *given)
        here = tn.Gaussian(1.0).cost_at(np.load(gradient), **bounds)
        assert answer["costs"][0]["epsilon"] == here.rdp().epsilon(1e-5)
        assert {name: answer["parameters"][name] for name in bounds} == bounds
        assert main(["account", str(gradient), *noise, *given]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert (f"sensitivity  0.1: {per_coordinate}" in lines) == (given[0][2] == "c")
        assert (f"sensitivity  0.5: {whole}" in lines) == ("sensitivity" in bounds)


def test_bounded_laplace_by_name(gradient, report):
    options = ["--scale=2", "--lower=-1", "--upper=1", "--coordinate-sensitivity=0.1"]
    (cost,) = report("account", gradient, *options, "--mechanism", "bounded_laplace")["costs"]
    here = tn.BoundedLaplace(2.0, -1.0, 1.0).cost_at(np.load(gradient), coordinate_sensitivity=0.1)
    assert cost["epsilon"] == here.epsilon(1e-5)
    assert cost["ratio"] is None  # there is no Gaussian beside


def test_json_names_every_parameter(gradient, report):
    options = ["--delta=1e-6", "--alphas=8,2,1.5,2", "--levels=3", "--mechanism=stochastic-sign"]
    answer = report("account", gradient, *GIVEN, *options)
    assert answer["version"] == tn.__version__
    assert answer["gradient"] == {"source": str(gradient), "shape": [4, 25], "dtype": "float64"}
    assert answer["parameters"] == {
        "sigma": 1.0,
        "coordinate_sensitivity": 0.1,
        "delta": 1e-6,
        "alphas": [1.5, 2.0, 8.0],
    }
    assert [(cost["mechanism"], cost["per_instance"]) for cost in answer["costs"]] == [
        ("stochastic-sign", True)
    ]
    assert any("must not themselves be published" in note for note in answer["notes"])


def test_plain_gaussian_costs_do_not_depend_on_the_data(report):
    answer = report("account", "--mechanism", "gaussian")
    assert not answer["costs"][0]["per_instance"]
    assert answer["notes"] == []


def test_infinite_order_is_valid_json(gradient, report):
    answer = report("account", gradient, *GIVEN, "--alphas", "2,8,inf")
    assert answer["parameters"]["alphas"] == [2, 8, "inf"]


def test_coarse_orders_are_noted(capsys, gradient, report):
    options = [gradient, *GIVEN, "--mechanism", "gaussian", "--alphas", "2,3"]
    assert any("larger orders" in note for note in report("account", *options)["notes"])
    assert main(["account", *map(str, options)]) == 0
    out, err = capsys.readouterr()
    assert "gaussian" in out
    assert err.startswith("tightnoise account: note: ")


def test_unbounded_mechanisms_need_no_bounds(capsys, gradient):
    for name in ("gaussian", "stochastic-sign"):
        options = ["--sigma", "1", "--coordinate-sensitivity", "0.1", "--mechanism", name]
        assert main(["account", str(gradient), *options]) == 0
        assert "bounds" not in capsys.readouterr().out


def test_float32_is_accounted_in_float64(tmp_path, rng, report):
    values = rng.normal(size=50).astype(np.float32)
    answers = []
    for dtype in (np.float32, np.float64, ">f4"):
        np.save(tmp_path / "g.npy", values.astype(dtype))
        answers.append(report("account", tmp_path / "g.npy", *GIVEN)["costs"])
    assert answers[0] == answers[1] == answers[2]


def test_npz(tmp_path, rng, refused, report):
    one, two = tmp_path / "one.npz", tmp_path / "two.npz"
    first, second = rng.normal(size=(2, 30))
    np.savez(one, first=first)
    np.savez_compressed(two, first=first, second=second)
    chosen = report("account", two, "--key", "first", *GIVEN)
    assert report("account", one, *GIVEN)["costs"] == chosen["costs"]
    assert report("account", two, "--key", "second", *GIVEN)["costs"] != chosen["costs"]
    assert "holds first, second: choose one array with --key" in refused("account", two, *GIVEN)
    assert "no array called 'third'" in refused("account", two, "--key", "third", *GIVEN)
    np.savez(two)
    assert "holds no array" in refused("account", two, *GIVEN)


# Bad numbers


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *itertools.product(
            ["--sigma", "--coordinate-sensitivity", "--lower", "--upper", "--delta"],
            ["nan", "inf", "-inf", "x", ""],
        ),
        *itertools.product(["--sigma"], ["0", "-1"]),
        *itertools.product(["--sensitivity", "--coordinate-sensitivity"], ["-1"]),
        *itertools.product(["--delta"], ["0", "1", "2", "-0.1"]),
        *itertools.product(["--alphas"], ["", "x", "nan", "-2,3", "0,2", "1", "0.5,1", "2,,3"]),
        *itertools.product(["--levels"], ["0", "1", "-3", "2.5", "x"]),
        ("--lower", "1"),
        ("--lower", "1.5"),
        ("--mechanism", "laplace"),
        ("--unknown", "1"),
    ],
)
def test_bad_numbers(option, value, refused, gradient):
    line = refused("account", gradient, *GIVEN, f"{option}={value}")
    assert re.search(option.lstrip("-"), line.replace("_", "-")), line


@pytest.mark.parametrize("missing", ["--sigma", "--coordinate-sensitivity", "--lower", "--upper"])
def test_a_file_needs_its_parameters(missing, refused, gradient):
    position = GIVEN.index(missing)
    line = refused("account", gradient, *GIVEN[:position], *GIVEN[position + 2 :])
    assert re.search(f"{missing} .*must be given", line)


# Large gradients


def test_large_gradients_take_no_exact_pass(tmp_path, rng, monkeypatch, report):
    np.save(tmp_path / "g.npy", rng.normal(0.0, 0.1, 200_000).astype(np.float32))

    def refuse(*_):
        raise AssertionError("the exact pass was taken")

    monkeypatch.setattr(_core.MechanismKernels, "rdp_sums", refuse)
    options = ["--sigma", "1", "--lower", "-1", "--upper", "1", "--coordinate-sensitivity", "0.01"]
    answer = report("account", tmp_path / "g.npy", *options)
    assert [cost["mechanism"] for cost in answer["costs"]] == NAMES


def test_rows_are_printed_as_they_are_ready(capsys, monkeypatch):
    def row(options, name, *_):
        if name == "stochastic-sign":
            raise KeyboardInterrupt
        return account.Row(name, 1.00001, 2.0, 3.00001, 4.00001, 1.0, per_instance=True)

    monkeypatch.setattr(account, "_row", row)
    with contextlib.suppress(KeyboardInterrupt):
        main(["account"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[6:]] == NAMES[:3]
    assert lines[-1].split()[1:5] == ["1.001", "2", "3.001", "4.001"]  # upwards


def test_a_progress_bar_stays_out_of_the_answer(capsys, monkeypatch):
    pytest.importorskip("tqdm")
    one = ["account", "--mechanism", "gaussian"]
    assert main(one) == 0
    wanted = capsys.readouterr().out
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(one) == 0
    out, err = capsys.readouterr()
    assert out == wanted
    assert "mechanisms" in err


def test_without_stderr_there_is_no_progress_bar(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    assert main(["account"]) == 0
