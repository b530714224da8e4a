"""Data from files in each of the forms that people have, and from damaged ones."""

import gzip
import pickle

import numpy as np
import pytest

from tightnoise._files import FileError
from tightnoise.reproduce._images import read_images

MNIST = {
    "train-images-idx3-ubyte": (6, 4, 5),
    "train-labels-idx1-ubyte": (6,),
    "t10k-images-idx3-ubyte": (3, 4, 5),
    "t10k-labels-idx1-ubyte": (3,),
}
PIXELS = np.random.default_rng(1).integers(256, size=(9, 4, 5), dtype=np.uint8)
ANSWERS = np.array([0, 1, 2, 1, 0, 2, 1, 1, 0], np.uint8)
ROWS = np.random.default_rng(2).integers(256, size=(12, 3072), dtype=np.uint8)


def idx(array):
    lengths = b"".join(n.to_bytes(4, "big") for n in array.shape)
    return bytes((0, 0, 8, array.ndim)) + lengths + array.tobytes()


def write_mnist(folder, compress=lambda body: body, suffix=""):
    parts = PIXELS[:6], ANSWERS[:6], PIXELS[6:], ANSWERS[6:]
    for name, part in zip(MNIST, parts, strict=True):
        (folder / (name + suffix)).write_bytes(compress(idx(part)))


def write_cifar(folder, batch):
    for number in range(6):
        name = "test_batch" if number == 5 else f"data_batch_{number + 1}"
        content = {b"data": ROWS[2 * number :][:2], b"labels": [number % 3, 2]}
        (folder / name).write_bytes(batch(content))


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_mnist(tmp_path, suffix):
    write_mnist(tmp_path, *((gzip.compress, suffix) if suffix else ()))
    images = read_images(str(tmp_path))
    assert images.train.dtype == images.test.dtype == np.float32
    assert np.allclose(images.train, PIXELS[:6] / 255, rtol=1e-6, atol=0)
    assert np.allclose(images.test, PIXELS[6:] / 255, rtol=1e-6, atol=0)
    assert images.train_labels.tolist() == ANSWERS[:6].tolist()
    assert images.test_labels.tolist() == ANSWERS[6:].tolist()
    assert (images.classes, images.name) == (3, str(tmp_path))


def test_mnist_with_the_dots_of_its_web_site(tmp_path):
    write_mnist(tmp_path)
    for name in MNIST:
        (tmp_path / name).rename(tmp_path / name.replace("-idx", ".idx"))
    assert read_images(str(tmp_path)).train.shape == (6, 4, 5)


@pytest.mark.parametrize("protocol", [2, 4])
def test_cifar_for_python(tmp_path, protocol):
    write_cifar(tmp_path, lambda content: pickle.dumps(content, protocol=protocol))
    images = read_images(str(tmp_path))
    assert images.train.shape == (10, 32, 32, 3)
    assert images.train_labels.tolist() == [0, 2, 1, 2, 2, 2, 0, 2, 1, 2]
    # One plane a colour, of 32 rows each.
    red = images.test[1, :, :, 0]
    assert np.allclose(red, ROWS[11, :1024].reshape(32, 32) / 255, rtol=1e-6, atol=0)


@pytest.mark.parametrize("labels", [1, 2], ids=["CIFAR-10", "CIFAR-100"])
def test_cifar_binary(tmp_path, labels):
    answers = np.stack([np.arange(12) % 3, np.arange(12) % 4], 1).astype(np.uint8)[:, -labels:]
    rows = np.hstack([answers, ROWS])
    if labels == 1:
        for number in range(6):
            name = "test_batch.bin" if number == 5 else f"data_batch_{number + 1}.bin"
            (tmp_path / name).write_bytes(rows[2 * number :][:2].tobytes())
    else:
        (tmp_path / "train.bin").write_bytes(rows[:10].tobytes())
        (tmp_path / "test.bin").write_bytes(rows[10:].tobytes())
    images = read_images(str(tmp_path))
    assert images.train.shape == (10, 32, 32, 3)
    assert images.test.shape == (2, 32, 32, 3)
    assert images.train_labels.tolist() == answers[:10, -1].tolist()


def test_features(tmp_path):
    features = np.random.default_rng(3).normal(size=(9, 4))
    arrays = {"x_train": features[:6], "y_train": ANSWERS[:6]}
    np.savez(tmp_path / "a.npz", x_test=features[6:], y_test=ANSWERS[6:], **arrays)
    for path in (tmp_path, tmp_path / "a.npz"):
        images = read_images(str(path))
        assert np.array_equal(images.train, features[:6].astype(np.float32))
        assert images.test_labels.tolist() == ANSWERS[6:].tolist()


def test_digits():
    pytest.importorskip("sklearn")
    images = read_images()
    assert images.train.shape == (1437, 8, 8)
    assert images.test.shape == (360, 8, 8)
    assert images.train.min() == 0
    assert images.train.max() == 1
    assert images.classes == 10


def test_digits_without_scikit_learn(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tightnoise\[examples\]'"):
        read_images()


def broken(name, change):
    """Break one file of a good folder."""

    def write(folder):
        write_mnist(folder)
        (folder / name).write_bytes(change((folder / name).read_bytes()))
        return folder

    return write


def remove(folder):
    write_mnist(folder)
    (folder / "t10k-labels-idx1-ubyte").unlink()
    return folder


def cut_gzip(folder):
    write_mnist(folder, lambda body: gzip.compress(body)[:-9], ".gz")
    return folder


def archive(**changes):
    def write(folder):
        arrays = {"x_train": PIXELS[:6], "y_train": ANSWERS[:6]}
        arrays |= {"x_test": PIXELS[6:], "y_test": ANSWERS[6:]} | changes
        arrays = {name: array for name, array in arrays.items() if array is not None}
        np.savez(folder / "a.npz", **arrays)
        return folder

    return write


def two_archives(folder):
    for name in ("a.npz", "b.npz"):
        (folder / name).write_bytes(b"")
    return folder


def batches(content):
    def write(folder):
        write_cifar(folder, lambda _: content)
        return folder

    return write


TRAIN = "train-images-idx3-ubyte"
BAD = {
    "no folder": (lambda folder: folder / "none", "No such file or directory"),
    "nothing": (lambda folder: folder, "holds neither the files of MNIST"),
    "a missing file": (remove, "lacks t10k-labels-idx1-ubyte"),
    "several archives": (two_archives, "name one of a.npz, b.npz"),
    "no byte": (broken(TRAIN, lambda body: b""), f"{TRAIN} is no IDX file"),
    "half a header": (broken(TRAIN, lambda body: body[:9]), f"{TRAIN} is no IDX file"),
    "labels for images": (
        broken(TRAIN, lambda body: idx(ANSWERS)),
        f"{TRAIN} is no IDX file of bytes with 3 axes",
    ),
    "truncated": (
        broken(TRAIN, lambda body: body[:-7]),
        f"{TRAIN} is truncated or damaged: 113 bytes, where 120 are announced",
    ),
    "too long": (broken(TRAIN, lambda body: body + b"1"), "more, where 120 are announced"),
    "huge header": (
        broken(TRAIN, lambda body: body[:4] + b"\xff" * 12 + body[16:]),
        f"{TRAIN} is truncated or damaged",
    ),
    "truncated gzip": (cut_gzip, f"cannot read .*{TRAIN}.gz as an IDX file"),
    "fewer labels": (
        broken("train-labels-idx1-ubyte", lambda body: idx(ANSWERS[:5])),
        r"6 examples, and labels of shape \(5,\)",
    ),
    "a label too large": (archive(y_test=np.full(3, 1000)), "whole numbers from 0 to 999"),
    "another size": (
        broken("t10k-images-idx3-ubyte", lambda body: idx(PIXELS[:3].transpose(0, 2, 1))),
        r"examples of shape \(5, 4\), and \(4, 5\) to learn from",
    ),
    "no labels": (archive(y_test=None), "has no array called 'y_test'"),
    "labels that are no numbers": (archive(y_test=np.array(["a", "b", "c"])), "whole numbers"),
    "nan": (archive(x_test=np.full((3, 4, 5), np.nan)), "x_test: examples must be finite"),
    "too large for float32": (archive(x_test=np.full((3, 4, 5), 1e300)), "must be finite"),
    "complex": (archive(x_test=np.ones((3, 4, 5), complex)), "must be numbers; got complex128"),
    "no axis of features": (archive(x_test=np.ones(3)), "one row an example is needed"),
    "no pickle": (batches(b"nonsense"), "cannot read .*data_batch_1 as a batch of CIFAR"),
    "no dictionary": (batches(pickle.dumps([1])), "cannot read .*data_batch_1"),
    "no image": (
        batches(pickle.dumps({b"data": ROWS[:2, :9], b"labels": [1, 2]})),
        "data_batch_1 is no batch of CIFAR",
    ),
    "a program": (batches(pickle.dumps(print)), "asks for builtins.print"),
    "not the CIFAR": (
        lambda folder: (
            [(folder / name).write_bytes(b"12") for name in ("train.bin", "test.bin")] and folder
        ),
        "train.bin is truncated: 2 bytes, and 3074 an image",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_data(case, tmp_path):
    write, message = BAD[case]
    path = str(write(tmp_path))
    with pytest.raises(FileError, match=message) as refused:
        read_images(path)
    assert str(tmp_path) in str(refused.value)
