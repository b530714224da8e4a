"""The command: right answers, whole files or none, and one line for every bad input."""

import itertools
import json
import os
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import tightnoise as tn
from tightnoise import _files
from tightnoise.cli import main
from tightnoise.costs import DEFAULT_ORDERS
from tightnoise.data import digits_gradient

NAMES = ["gaussian", "rectified", "truncated", "quantized", "sign"]
BOUNDS = ["--lower", "-1", "--upper", "1"]
GIVEN = ["--sigma", "1", "--sensitivity", "0.1", *BOUNDS]


@pytest.fixture
def gradient(tmp_path, rng):
    path = tmp_path / "gradient.npy"
    np.save(path, rng.normal(size=(4, 25)))
    return path


def report(capsys, *arguments):
    assert main(["account", "--json", *map(str, arguments)]) == 0
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def refused(capsys, *arguments):
    """Run what must fail: code 2, nothing on stdout. Return the one line on stderr."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as error:  # from argparse, after its usage message
        code = error.code
    out, err = capsys.readouterr()
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    return err.splitlines()[-1]


# account


def test_account_without_arguments(capsys):
    assert main(["account"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert "2,410 coordinates, float32" in lines[0]
    assert [line.split()[0] for line in lines[6:11]] == NAMES
    assert "must not themselves be published" in lines[-1]
    assert max(map(len, lines)) <= 120


def test_account_agrees_with_the_mechanisms(capsys):
    gradient, c = digits_gradient()
    made = {
        "gaussian": tn.Gaussian(1.5),
        "rectified": tn.RectifiedGaussian(1.5, -1.5, 1.5),
        "truncated": tn.TruncatedGaussian(1.5, -1.5, 1.5),
        "quantized": tn.QuantizedGaussian(1.5, -1.5, 1.5, 4),
        "sign": tn.StochasticSign(1.5),
    }
    answer = report(capsys)
    assert [cost["mechanism"] for cost in answer["costs"]] == NAMES
    plain = made["gaussian"].rdp(gradient, DEFAULT_ORDERS, sensitivity=c).epsilon(1e-5)
    for cost in answer["costs"]:
        mechanism = made[cost["mechanism"]]
        curve = mechanism.rdp(gradient, DEFAULT_ORDERS, sensitivity=c)
        assert cost["epsilon"] == curve.epsilon(1e-5)
        assert cost["order"] == curve.best_order(1e-5)
        assert cost["rdp"] == curve.values[curve.alphas == cost["order"]]
        assert cost["fil"] == mechanism.fil(gradient, sensitivity=c)
        assert cost["ratio"] == pytest.approx(curve.epsilon(1e-5) / plain, rel=1e-15)
    assert answer["costs"][0]["ratio"] == 1
    # Bounded noise costs less: that is what the shipped gradient shows.
    assert all(cost["ratio"] < 0.9 for cost in answer["costs"][1:])


def test_json_names_every_parameter(capsys, gradient):
    options = ["--delta", "1e-6", "--alphas", "8,2,1.5,2", "--levels", "3", "--mechanism", "sign"]
    answer = report(capsys, gradient, *GIVEN, *options)
    assert answer["version"] == tn.__version__
    assert answer["gradient"] == {"source": str(gradient), "shape": [4, 25], "dtype": "float64"}
    assert answer["parameters"] == {
        "sigma": 1.0,
        "lower": -1.0,
        "upper": 1.0,
        "levels": 3,
        "sensitivity": 0.1,
        "delta": 1e-6,
        "conversion": "canonne",
        "alphas": [1.5, 2.0, 8.0],
    }
    assert [(cost["mechanism"], cost["per_instance"]) for cost in answer["costs"]] == [
        ("sign", True)
    ]
    assert any("must not themselves be published" in note for note in answer["notes"])


def test_plain_gaussian_costs_do_not_depend_on_the_data(capsys):
    answer = report(capsys, "--mechanism", "gaussian")
    assert not answer["costs"][0]["per_instance"]
    assert answer["notes"] == []


def test_infinite_order_is_valid_json(capsys, gradient):
    answer = report(capsys, gradient, *GIVEN, "--alphas", "2,8,inf")
    assert answer["parameters"]["alphas"] == [2, 8, "inf"]


def test_coarse_orders_are_noted(capsys, gradient):
    options = [gradient, *GIVEN, "--mechanism", "gaussian", "--alphas", "2,3"]
    assert any("larger orders" in note for note in report(capsys, *options)["notes"])
    assert main(["account", *map(str, options)]) == 0
    out, err = capsys.readouterr()
    assert "gaussian" in out
    assert err.startswith("tightnoise account: note: ")


def test_unbounded_mechanisms_need_no_bounds(capsys, gradient):
    for name in ("gaussian", "sign"):
        options = ["--sigma", "1", "--sensitivity", "0.1", "--mechanism", name]
        assert main(["account", str(gradient), *options]) == 0
        assert "bounds" not in capsys.readouterr().out


def test_float32_is_accounted_in_float64(capsys, tmp_path, rng):
    values = rng.normal(size=50).astype(np.float32)
    answers = []
    for dtype in (np.float32, np.float64, ">f4"):
        np.save(tmp_path / "g.npy", values.astype(dtype))
        answers.append(report(capsys, tmp_path / "g.npy", *GIVEN)["costs"])
    assert answers[0] == answers[1] == answers[2]


def test_npz(capsys, tmp_path, rng):
    one, two = tmp_path / "one.npz", tmp_path / "two.npz"
    first, second = rng.normal(size=(2, 30))
    np.savez(one, first=first)
    np.savez_compressed(two, first=first, second=second)
    chosen = report(capsys, two, "--key", "first", *GIVEN)
    assert report(capsys, one, *GIVEN)["costs"] == chosen["costs"]
    assert report(capsys, two, "--key", "second", *GIVEN)["costs"] != chosen["costs"]
    assert "holds first, second: choose one array with --key" in refused(
        capsys, "account", two, *GIVEN
    )
    assert "no array called 'third'" in refused(capsys, "account", two, "--key", "third", *GIVEN)
    np.savez(two)
    assert "holds no array" in refused(capsys, "account", two, *GIVEN)


# Bad files


def damaged_files(folder):
    """Yield (name, file, what the message must say)."""

    def save(name, array, **options):
        np.save(folder / name, array, **options)
        return folder / name

    def write(name, content):
        (folder / name).write_bytes(content)
        return folder / name

    whole = save("whole.npy", np.ones(1000)).read_bytes()
    pickled = save("objects.npy", np.array([1, None]), allow_pickle=True)
    yield "missing", folder / "none.npy", "No such file"
    yield "directory", folder, "Is a directory"
    yield "no bytes", write("empty.npy", b""), "cannot read"
    yield "text", write("text.npy", b"not an array\n"), "cannot read"
    yield "truncated header", write("t1.npy", whole[:60]), "cannot read"
    yield "truncated data", write("t2.npy", whole[:4000]), "cannot read"
    yield "broken header", write("b.npy", whole.replace(b"descr", b"de(cr")), "cannot read"
    yield "unknown version", write("v.npy", whole[:6] + b"\x09" + whole[7:]), "cannot read"
    yield (
        "shape larger than memory",
        write("big.npy", whole.replace(b"(1000,), ", b"(1<<60,),", 1)),
        "cannot read",
    )
    huge = whole.replace(b"(1000,), }" + b" " * 12, b"(1000000000000000,), }", 1)
    yield "shape larger than the file", write("huge.npy", huge), "cannot read"
    yield "pickle", write("pickle.npy", b"\x80\x04N."), "cannot read"
    yield "objects", pickled, "cannot read"
    yield "integers", save("int.npy", np.arange(3)), "float32 or float64 numbers; got dtype int64"
    yield "half", save("half.npy", np.ones(3, np.float16)), "got dtype float16"
    yield "complex", save("complex.npy", np.ones(3, complex)), "got dtype complex128"
    yield "bool", save("bool.npy", np.ones(3, bool)), "got dtype bool"
    yield "strings", save("str.npy", np.array(["1"])), "got dtype <U1"
    yield "records", save("rec.npy", np.zeros(3, [("a", "f8")])), "got dtype [('a', '<f8')]"
    yield "no elements", save("zero.npy", np.ones((3, 0))), "empty array, of shape (3, 0)"
    yield "NaN", save("nan.npy", np.array([1, np.nan])), "must be finite; got nan at index (1,)"
    yield "inf", save("inf.npy", np.float32([[1, 2], [-np.inf, 3]])), "got -inf at index (1, 0)"
    archive = folder / "archive.npz"
    np.savez(archive, a=np.ones(1000), b=np.ones(2))
    content = archive.read_bytes()
    yield "truncated archive", write("a.npz", content[:-100]), "cannot read"
    with zipfile.ZipFile(folder / "other.npz", "w") as other:
        other.writestr("readme.txt", "hello")
    yield "archive of something else", folder / "other.npz", "not a .npy array"


CASES = [
    "missing", "directory", "no bytes", "text", "truncated header", "truncated data",
    "broken header", "unknown version", "shape larger than memory", "shape larger than the file",
    "pickle", "objects", "integers", "half", "complex", "bool", "strings", "records", "no elements",
    "NaN", "inf", "truncated archive", "archive of something else",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_files(case, capsys, tmp_path):
    cases = {name: (file, message) for name, file, message in damaged_files(tmp_path)}
    assert list(cases) == CASES
    file, message = cases[case]
    sample = ["sample", file, tmp_path / "out.npy", "--mechanism", "rectified", "--sigma", "1"]
    for arguments in (["account", file, *GIVEN], [*sample, *BOUNDS]):
        line = refused(capsys, *arguments)
        assert message in line
        assert str(file) in line
    assert not (tmp_path / "out.npy").exists()


def test_damage_inside_an_archive(capsys, tmp_path):
    archive = tmp_path / "archive.npz"
    np.savez_compressed(archive, a=np.arange(1000.0))
    content = bytearray(archive.read_bytes())
    content[300] ^= 255
    archive.write_bytes(content)
    assert "cannot read" in refused(capsys, "account", archive, *GIVEN)


def test_key_is_for_archives(capsys, gradient):
    assert "--key is for .npz" in refused(capsys, "account", gradient, "--key", "a", *GIVEN)
    assert "--key needs a .npz" in refused(capsys, "account", "--key", "a")


def test_unreadable(capsys, gradient, monkeypatch):
    def refuse(*args, **kwargs):  # as for a file of another user; to root no mode says no
        raise PermissionError(13, "Permission denied", str(gradient))

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr("io.open", refuse)
    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert "Permission denied" in refused(capsys, "account", gradient, *GIVEN)


# Bad numbers


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *itertools.product(
            ["--sigma", "--sensitivity", "--lower", "--upper", "--delta"],
            ["nan", "inf", "-inf", "x", ""],
        ),
        *itertools.product(["--sigma"], ["0", "-1"]),
        *itertools.product(["--sensitivity"], ["-1"]),
        *itertools.product(["--delta"], ["0", "1", "2", "-0.1"]),
        *itertools.product(["--alphas"], ["", "x", "nan", "-2,3", "0,2", "1", "0.5,1", "2,,3"]),
        *itertools.product(["--levels"], ["0", "1", "-3", "2.5", "x"]),
        ("--lower", "1"),
        ("--lower", "1.5"),
        ("--mechanism", "laplace"),
        ("--unknown", "1"),
    ],
)
def test_bad_numbers(option, value, capsys, gradient):
    line = refused(capsys, "account", gradient, *GIVEN, f"{option}={value}")
    assert re.search(option.lstrip("-"), line), line


@pytest.mark.parametrize("missing", ["--sigma", "--sensitivity", "--lower", "--upper"])
def test_a_file_needs_its_parameters(missing, capsys, gradient):
    position = GIVEN.index(missing)
    line = refused(capsys, "account", gradient, *GIVEN[:position], *GIVEN[position + 2 :])
    assert f"{missing} must be given" in line


def test_no_command(capsys):
    assert "COMMAND" in refused(capsys)


# sample


def sample(source, target, *options, name="rectified"):
    arguments = ["sample", source, target, "--mechanism", name, "--sigma", "1", *BOUNDS, *options]
    return main([str(argument) for argument in arguments])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (1,), (7, 3), (2, 1, 5)])
@pytest.mark.parametrize("name", NAMES)
def test_sample(name, shape, dtype, tmp_path, rng, capsys):
    source, target = tmp_path / "in.npy", tmp_path / "out.npy"
    np.save(source, rng.normal(size=shape).astype(dtype))
    assert sample(source, target, name=name) == 0
    assert capsys.readouterr() == ("", "")
    noisy = np.load(target)
    assert noisy.dtype == dtype
    assert noisy.shape == shape
    if name != "gaussian":
        assert (np.abs(noisy) <= 1).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.npy", "out.npy"]


def test_sample_is_reproducible_with_a_seed_only(tmp_path, gradient, capsys):
    outputs = []
    for number, options in enumerate([["--seed", 5], ["--seed", 5], ["--seed", 6], [], []]):
        target = tmp_path / f"{number}.npy"
        assert sample(gradient, target, *options, name="gaussian") == 0
        assert ("take this noise off" in capsys.readouterr().err) == bool(options)
        outputs.append(np.load(target))
    assert np.array_equal(outputs[0], outputs[1])
    for a, b in itertools.combinations(outputs[1:], 2):
        assert not np.array_equal(a, b)
    direct = tn.Gaussian(1.0).sample(np.load(gradient), rng=tn.random.NoiseStream(5))
    assert np.array_equal(outputs[0], direct)


def test_sample_does_not_overwrite(tmp_path, gradient, capsys):
    target = tmp_path / "out.npy"
    target.write_bytes(b"precious")
    command = ["sample", gradient, target, "--mechanism", "sign", "--sigma", 1]
    assert "exists already; --force replaces it" in refused(capsys, *command)
    assert target.read_bytes() == b"precious"
    assert sample(gradient, target, "--force") == 0
    assert np.load(target).shape == (4, 25)


def test_sample_in_place(gradient, capsys):
    before = np.load(gradient)
    command = ["sample", gradient, gradient, "--mechanism", "sign", "--sigma", 1]
    assert "exists already" in refused(capsys, *command)
    assert sample(gradient, gradient, "--force") == 0
    assert not np.array_equal(np.load(gradient), before)


def test_sample_follows_links(tmp_path, gradient):
    target, link = tmp_path / "target.npy", tmp_path / "link.npy"
    target.write_bytes(b"old")
    link.symlink_to(target)
    assert sample(gradient, link, "--force") == 0
    assert link.is_symlink()
    assert np.load(target).shape == (4, 25)


@pytest.mark.parametrize("existing", [False, True])
@pytest.mark.parametrize("failing", ["save", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_sample_writes_all_or_nothing(
    existing, failing, error, tmp_path, gradient, capsys, monkeypatch
):
    target = tmp_path / "out.npy"
    if existing:
        target.write_bytes(b"precious")

    def fail(*arguments, **_):
        if failing == "save":
            arguments[0].write(b"half an array")
        raise error

    monkeypatch.setattr(_files.np if failing == "save" else _files.os, failing, fail)
    command = ["sample", gradient, target, "--mechanism", "sign", "--sigma", 1, "--force"]
    if isinstance(error, OSError):
        assert f"cannot write {target}: No space left" in refused(capsys, *command)
    else:
        with pytest.raises(KeyboardInterrupt):
            main([str(argument) for argument in command])
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["gradient.npy"] + ["out.npy"] * existing
    assert not existing or target.read_bytes() == b"precious"


def test_sample_keeps_the_usual_permissions(tmp_path, gradient):
    target = tmp_path / "out.npy"
    assert sample(gradient, target) == 0
    umask = os.umask(0)
    os.umask(umask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("out.npz", "must be a .npy file"),
        ("out", "must be a .npy file"),
        ("folder.npy", "Is a directory"),
        ("no/out.npy", "No such file or directory"),
        ("gradient.npy/out.npy", "Not a directory"),
    ],
)
def test_bad_outputs(target, message, tmp_path, gradient, capsys):
    (tmp_path / "folder.npy").mkdir()
    command = ["sample", gradient, tmp_path / target, "--mechanism", "sign", "--sigma", 1]
    assert message in refused(capsys, *command, "--force")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mechanism", "sign"], "--sigma"),
        (["--sigma", "1"], "--mechanism"),
        (["--mechanism", "all", "--sigma", "1"], "--mechanism"),
        (["--mechanism", "rectified", "--sigma", "1"], "--lower and --upper must be given"),
        (["--mechanism", "truncated", "--sigma", "1", "--lower", "1", "--upper", "0"], "lower"),
        (["--mechanism", "quantized", "--sigma", "1", *BOUNDS, "--levels", "1"], "levels"),
        (["--mechanism", "sign", "--sigma", "nan"], "--sigma"),
        (["--mechanism", "sign", "--sigma", "1", "--seed", "-1"], "seed"),
        (["--mechanism", "sign", "--sigma", "1", "--seed", "1.5"], "--seed"),
    ],
)
def test_bad_sample_options(options, message, tmp_path, gradient, capsys):
    line = refused(capsys, "sample", gradient, tmp_path / "out.npy", *options)
    assert message in line
    assert not (tmp_path / "out.npy").exists()


# The process


def run(*arguments, **options):
    command = [sys.executable, "-m", "tightnoise", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_subprocess(tmp_path):
    done = run("account", "--mechanism", "truncated", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["costs"][0]["mechanism"] == "truncated"
    done = run("account", "none.npy", *GIVEN, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "tightnoise account: error: cannot read none.npy: No such file or directory\n"
    )
    assert run("--version").stdout == f"tightnoise {tn.__version__}\n"


def test_reader_that_goes_away(tmp_path):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        command = [sys.executable, "-m", "tightnoise", "account", "--mechanism", "gaussian"]
        done = subprocess.run(
            command, stdout=closed, stderr=subprocess.PIPE, timeout=120, cwd=tmp_path
        )
    assert done.returncode == 0
    assert done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk_is_an_error_not_a_traceback():
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "tightnoise", "account", "--mechanism", "gaussian"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode != 0
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr
