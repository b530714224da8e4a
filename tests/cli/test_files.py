"""Files that are not what they should be, with each command that reads one."""

import zipfile

import numpy as np
import pytest

from tightnoise.cli import main

BOUNDS = ["--lower", "-1", "--upper", "1"]
GIVEN = ["--sigma", "1", "--coordinate-sensitivity", "0.1", *BOUNDS]


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
    yield "program", write("setup.py", b"import os\n" * 100), "neither a .npy nor a .npz file"
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
    "pickle", "objects", "program", "complex", "bool", "strings", "records", "no elements",
    "NaN", "inf", "truncated archive", "archive of something else",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_files(case, refused, tmp_path):
    cases = {name: (file, message) for name, file, message in damaged_files(tmp_path)}
    assert list(cases) == CASES
    file, message = cases[case]
    noise = ["--mechanism", "rectified-gaussian", "--sigma", "1"]
    sample = ["sample", file, tmp_path / "out.npy", *noise]
    for arguments in (["account", file, *GIVEN], [*sample, *BOUNDS]):
        line = refused(*arguments)
        assert message in line
        assert str(file) in line
        assert "pickle" not in line.replace(str(file), "")  # no advice to load it unsafely
    assert not (tmp_path / "out.npy").exists()


def test_damage_inside_an_archive(refused, tmp_path):
    archive = tmp_path / "archive.npz"
    np.savez_compressed(archive, a=np.arange(1000.0))
    content = bytearray(archive.read_bytes())
    content[300] ^= 255
    archive.write_bytes(content)
    assert "cannot read" in refused("account", archive, *GIVEN)


@pytest.mark.parametrize("dtype", ["f2", "i1", "u8", ">f4", ">i4"])
def test_numbers_that_mechanisms_take(dtype, tmp_path, capsys, report):
    values = np.array([[-1, 0], [2, 100]]).astype(dtype)
    answers = []
    for name, array in (
        ("given", values),
        ("float", values.astype("f4" if "f" in dtype else "f8")),
    ):
        file, noisy = tmp_path / f"{name}.npy", tmp_path / f"{name} with noise.npy"
        np.save(file, array)
        truncated = ["--mechanism", "truncated-gaussian"]
        answers.append(report("account", file, *GIVEN, *truncated)["costs"])
        options = [*truncated, "--sigma=1", "--lower=-1e3", "--upper=1e3", "--seed=1e3"]
        assert main(["sample", str(file), str(noisy), *options]) == 0
        capsys.readouterr()
        answers.append(np.load(noisy))
    assert answers[0] == answers[2]
    assert answers[1].dtype == answers[3].dtype
    assert np.array_equal(answers[1], answers[3])


def test_negative_numbers_in_any_form(refused, report):
    def answer(lower):
        return report("account", *lower, "--upper", "1", "--mechanism", "truncated-gaussian")

    expected = answer(["--lower=-1000"])
    for lower in ("-1e3", "-1E+3", "-1000", "-1_000", "-1000."):
        assert answer(["--lower", lower]) == expected
    assert "not a finite number: '-inf'" in refused("account", "--lower", "-inf")
    assert "expected one argument" in refused("account", "--lower", "--upper", "-1e3")


def test_key_is_for_archives(refused, gradient):
    assert "--key is for .npz" in refused("account", gradient, "--key", "a", *GIVEN)
    assert "--key needs a .npz" in refused("account", "--key", "a")


def test_unreadable(refused, gradient, monkeypatch):
    def refuse(*args, **kwargs):  # as for a file of another user; to root no mode says no
        raise PermissionError(13, "Permission denied", str(gradient))

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr("io.open", refuse)
    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert "Permission denied" in refused("account", gradient, *GIVEN)
