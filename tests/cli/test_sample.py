"""`tightnoise sample`: whole files or none, and reproducible only with a seed."""

import itertools
import os
import stat

import numpy as np
import pytest

import tightnoise as tn
from tightnoise import _files
from tightnoise.cli import main

BOUNDS = ["--lower", "-1", "--upper", "1"]
MORE = {
    "gaussian": [],
    "rectified-gaussian": BOUNDS,
    "truncated-gaussian": BOUNDS,
    "quantized-gaussian": [*BOUNDS, "--levels", 4],
    "stochastic-sign": [],
}


SIGN = ["--mechanism", "stochastic-sign", "--sigma", 1]


def sample(source, target, *options, name="rectified-gaussian"):
    made = ["--mechanism", name, "--sigma", "1", *MORE[name]]
    return main([str(argument) for argument in ("sample", source, target, *made, *options)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (1,), (7, 3), (2, 1, 5)])
@pytest.mark.parametrize("name", MORE)
def test_sample(name, shape, dtype, tmp_path, rng, capsys):
    source, target = tmp_path / "in.npy", tmp_path / "out.npy"
    np.save(source, rng.normal(size=shape).astype(dtype))
    assert sample(source, target, name=name) == 0
    out, err = capsys.readouterr()
    assert out == ""
    ends = "" if name == "gaussian" else ", and the bounds"
    note = f"tightnoise sample: note: on multiples of 2^-6{ends}\n"
    assert err == ("" if name in ("quantized-gaussian", "stochastic-sign") else note)
    noisy = np.load(target)
    assert noisy.dtype == dtype
    assert noisy.shape == shape
    if name != "gaussian":
        assert (np.abs(noisy) <= 1).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.npy", "out.npy"]


@pytest.mark.parametrize(
    ("options", "mechanism"),
    [
        (["--mechanism=laplace", "--scale=2"], tn.Laplace(2.0)),
        (["--mechanism=staircase", "--epsilon=1", "--sensitivity=2", "--gamma=0.3"], None),
        (["--mechanism=von-mises-fisher", "--kappa=9", "--dim=25"], tn.VonMisesFisher(9.0, 25)),
    ],
)
def test_sample_of_other_mechanisms(options, mechanism, tmp_path, rng, capsys):
    source, target = tmp_path / "in.npy", tmp_path / "out.npy"
    rows = rng.normal(size=(4, 25))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.save(source, rows)
    assert main(["sample", str(source), str(target), *options, "--seed", "5"]) == 0
    capsys.readouterr()
    direct = (mechanism or tn.Staircase(1.0, 2.0, 0.3)).sample(rows, rng=tn.random.NoiseStream(5))
    assert np.array_equal(np.load(target), direct)


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


@pytest.mark.parametrize(
    ("grid", "step", "note"),
    [
        ("auto", 2.0**-6, "on multiples of 2^-6"),
        ("2**-10", 2.0**-10, "on multiples of 2^-10"),
        ("2^3", 8.0, "on multiples of 2^3"),
        ("0.25", 0.25, "on multiples of 2^-2"),
        ("none", None, "no cost covers the last digits"),
    ],
)
def test_sample_says_its_grid(grid, step, note, tmp_path, gradient, capsys):
    target = tmp_path / "out.npy"
    assert sample(gradient, target, "--grid", grid, "--seed", 5, name="gaussian") == 0
    first, second = capsys.readouterr().err.splitlines()
    assert "take this noise off" in first
    assert second.endswith(note) or (step is None and note in second)
    noisy = np.load(target)
    stream = tn.random.NoiseStream(5)
    assert np.array_equal(noisy, tn.Gaussian(1.0).sample(np.load(gradient), rng=stream, grid=step))
    assert (noisy % (step or 2.0**-30) == 0).all() == (step is not None)


@pytest.mark.parametrize("name", ["out.npy", "gradient.npy"])  # beside, and in place
def test_sample_does_not_overwrite(name, tmp_path, gradient, refused):
    before = np.load(gradient)
    target = tmp_path / name
    if name == "out.npy":
        target.write_bytes(b"precious")
    content = target.read_bytes()
    assert "exists already; --force replaces it" in refused("sample", gradient, target, *SIGN)
    assert target.read_bytes() == content
    assert sample(gradient, target, "--force") == 0
    assert not np.array_equal(np.load(target), before)


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
    existing, failing, error, tmp_path, gradient, refused, monkeypatch
):
    target = tmp_path / "out.npy"
    if existing:
        target.write_bytes(b"precious")

    def fail(*arguments, **_):
        if failing == "save":
            arguments[0].write(b"half an array")
        raise error

    monkeypatch.setattr(_files.np if failing == "save" else _files.os, failing, fail)
    command = ["sample", gradient, target, *SIGN, "--force"]
    if isinstance(error, OSError):
        assert f"cannot write {target}: No space left" in refused(*command)
    else:
        assert main([str(argument) for argument in command]) == 130
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["gradient.npy"] + ["out.npy"] * existing
    assert not existing or target.read_bytes() == b"precious"


@pytest.mark.parametrize("failing", ["fsync", "link"])
def test_a_disk_that_is_read_only_by_now(failing, tmp_path, gradient, refused, monkeypatch):
    """What is said is what failed first, and of the file that was asked for."""

    def fail(*_):
        raise OSError(30, "Read-only file system")

    target = tmp_path / "out.npy"
    for name in (failing, "replace", "unlink"):
        monkeypatch.setattr(os, name, fail)
    assert f"cannot write {target}: Read-only file system" in refused(
        "sample", gradient, target, *SIGN
    )
    assert not target.exists()


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_came_into_being_meanwhile_stays(
    links, tmp_path, gradient, refused, monkeypatch
):
    target = tmp_path / "out.npy"
    fsync, link = os.fsync, os.link

    def synced(file):
        fsync(file)
        if links:
            target.write_bytes(b"precious")

    def linked(*names):
        if not links:
            raise PermissionError(1, "Operation not permitted")
        link(*names)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "link", linked)
    if links:
        assert "File exists" in refused("sample", gradient, target, *SIGN)
        assert target.read_bytes() == b"precious"
    else:
        assert sample(gradient, target) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gradient.npy", "out.npy"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_what_is_no_file_is_not_replaced(tmp_path, gradient, refused):
    os.mkfifo(tmp_path / "pipe")
    target = tmp_path / "out.npy"
    target.symlink_to(tmp_path / "pipe")
    assert "a device or pipe" in refused("sample", gradient, target, *SIGN, "--force")
    assert stat.S_ISFIFO(target.stat().st_mode)


def test_a_name_as_long_as_the_system_takes(tmp_path, gradient):
    target = tmp_path / f"{'n' * 251}.npy"
    assert sample(gradient, target) == 0
    assert sample(gradient, target, "--force") == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_replaced_file_is_as_private_as_it_was(tmp_path, gradient):
    target = tmp_path / "out.npy"
    target.touch(0o600)
    assert sample(gradient, target, "--force") == 0
    assert np.load(target).shape == (4, 25)
    assert target.stat().st_mode & 0o777 == 0o600


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
def test_bad_outputs(target, message, tmp_path, gradient, refused):
    (tmp_path / "folder.npy").mkdir()
    assert message in refused("sample", gradient, tmp_path / target, *SIGN, "--force")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("stochastic-sign", "", "--sigma"),
        ("gaussian", "--sigma 1 --lower -1 --upper 1", "--lower must be left out here"),
        ("all", "--sigma 1", "--mechanism"),
        ("rectified-gaussian", "--sigma 1", "--lower and --upper must be given"),
        ("truncated-gaussian", "--sigma 1 --lower 1 --upper 0", "lower"),
        ("quantized-gaussian", "--sigma 1 --lower -1 --upper 1 --levels 1", "levels"),
        ("stochastic-sign", "--sigma nan", "--sigma"),
        ("stochastic-sign", "--sigma 1 --seed -1", "seed"),
        ("stochastic-sign", "--sigma 1 --seed 1.5", "--seed"),
        ("stochastic-sign", "--sigma 1 --grid 0.5", "grid must be 'auto' or None"),
        ("gaussian", "--sigma 1 --grid -1", "must be a power of two"),
        ("gaussian", "--sigma 1 --grid 2**x", "--grid: not 'auto'"),
        ("gaussian", "--sigma 1 --grid 2**-33", "grid must be from 2**"),
        ("rectified-gaussian", "--sigma 1 --lower -1 --upper 1 --grid 8", "must be finer"),
    ],
)
def test_bad_sample_options(name, options, message, tmp_path, gradient, refused):
    target = tmp_path / "out.npy"
    assert message in refused("sample", gradient, target, "--mechanism", name, *options.split())
    assert not target.exists()


def test_sample_needs_a_mechanism(tmp_path, gradient, refused):
    assert "--mechanism" in refused("sample", gradient, tmp_path / "out.npy", "--sigma", "1")
