"""Labelled images or features from the files that people have, read without trust."""

from __future__ import annotations

import codecs
import gzip
import importlib.util
import math
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._files import FileError, read_archive, reading

Array = NDArray[np.float32]
Labels = NDArray[np.int64]

_PIXELS = 3 * 32 * 32  # of an image of CIFAR, in bytes
_CLASSES = 1000
_LARGEST = 2**33  # bytes that a damaged header may ask for


@dataclass(frozen=True)
class Images:
    """Examples to learn from and others to test with.

    Parameters
    ----------
    name : str
        Where they are from, in words.
    train, test : ndarray of float32
        One example a row: of shape (examples, height, width), with a last axis of three colours if
        they have colours, or (examples, features). From 0 to 1 where they were bytes.
    train_labels, test_labels : ndarray of int64
        From 0 on, one an example.
    """

    name: str
    train: Array
    train_labels: Labels
    test: Array
    test_labels: Labels

    @property
    def classes(self) -> int:
        """The number of classes: one more than the largest label."""
        return 1 + int(max(self.train_labels.max(), self.test_labels.max()))


def read_images(path: str | None = None) -> Images:
    """Return the data in a folder or file; without one, scikit-learn's digits.

    Parameters
    ----------
    path : str, optional
        A folder with the four files of MNIST or Fashion-MNIST (`train-images-idx3-ubyte` and so on,
        as they are or as .gz), or with the batches of CIFAR-10 or CIFAR-100 (those for Python or
        the binary ones), or with one .npz file; or a .npz file, which holds `x_train`, `y_train`,
        `x_test` and `y_test`.

    Returns
    -------
    Images

    Raises
    ------
    FileError
        If nothing of the kind is there, or a file is damaged, truncated, or not what its name says.
    ModuleNotFoundError
        If no path is given, and scikit-learn is missing.
    """
    if path is None:
        return _digits()
    if os.path.isfile(path):
        return _npz(path)
    if not os.path.isdir(path):
        raise FileError(f"cannot read data from {path}: No such file or directory")
    for names, read in _KINDS:
        found = [_find(path, name) for name in names]
        if any(found):
            missing = [name for name, file in zip(names, found, strict=True) if file is None]
            if missing:
                raise FileError(f"{path} lacks {missing[0]}")
            return read([str(file) for file in found])
    archives = sorted(name for name in os.listdir(path) if name.endswith(".npz"))
    if len(archives) == 1:
        return _npz(os.path.join(path, archives[0]))
    if archives:
        raise FileError(f"{path} holds several .npz files: name one of {', '.join(archives)}")
    raise FileError(
        f"{path} holds neither the files of MNIST (train-images-idx3-ubyte, ...), nor the batches "
        "of CIFAR (data_batch_1, ..., data_batch_1.bin, ..., or train.bin), nor a .npz file"
    )


def _find(folder: str, name: str) -> str | None:
    """Return the file of that name, compressed or not, in the folder, if there is one."""
    for file in (name, f"{name}.gz", name.replace("-idx", ".idx")):
        if os.path.isfile(os.path.join(folder, file)):
            return os.path.join(folder, file)
    return None


# --- scikit-learn's digits


def _digits() -> Images:
    """Return 1,437 digits of 8 x 8 pixels to learn from, and 360 to test with."""
    if importlib.util.find_spec("sklearn") is None:
        raise ModuleNotFoundError(
            "without a folder of data, scikit-learn's digits are needed: "
            "pip install 'tightnoise[examples]'"
        )
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    images = (digits.images[order] / 16.0).astype(np.float32)
    labels = digits.target[order].astype(np.int64)
    at = len(labels) * 4 // 5
    return Images(
        "scikit-learn's digits of 8 x 8 pixels", images[:at], labels[:at], images[at:], labels[at:]
    )


# --- MNIST and Fashion-MNIST: the IDX format, at http://yann.lecun.com/exdb/mnist


def _mnist(files: Sequence[str]) -> Images:
    images, labels, test, test_labels = (
        _idx(file, axes) for file, axes in zip(files, (3, 1, 3, 1), strict=True)
    )
    folder = os.path.dirname(files[0])
    return _images(folder, (images, labels, files[0]), (test, test_labels, files[2]))


def _idx(path: str, axes: int) -> NDArray[np.uint8]:
    """Return the array of bytes in an IDX file: 0, 0, 8, the number of axes, lengths, bytes."""
    with reading(path, "an IDX file"), _opened(path) as file:
        header = file.read(4 + 4 * axes)
        if header[:4] != bytes((0, 0, 8, axes)) or len(header) < 4 + 4 * axes:
            raise FileError(f"{path} is no IDX file of bytes with {axes} axes")
        shape = [int.from_bytes(header[at : at + 4], "big") for at in range(4, 4 + 4 * axes, 4)]
        announced = math.prod(shape)
        body = file.read(min(announced, _LARGEST) + 1)
    if len(body) != announced:
        have = "more" if len(body) > announced else f"{len(body)} bytes"
        raise FileError(f"{path} is truncated or damaged: {have}, where {announced} are announced")
    return np.frombuffer(body, np.uint8).reshape(shape)


# --- CIFAR, at https://www.cs.toronto.edu/~kriz/cifar.html


def _cifar_binary(files: Sequence[str], label_bytes: int) -> Images:
    def read(path: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        with reading(path, "a batch of CIFAR"), _opened(path) as file:
            body = file.read()
        size = label_bytes + _PIXELS
        if not body or len(body) % size:
            raise FileError(f"{path} is truncated: {len(body)} bytes, and {size} an image")
        rows = np.frombuffer(body, np.uint8).reshape(-1, size)
        return rows[:, label_bytes:], rows[:, label_bytes - 1]  # of two labels the fine one

    return _cifar(files, read)


def _cifar_python(files: Sequence[str], labels: bytes) -> Images:
    def read(path: str) -> tuple[NDArray[np.uint8], NDArray[Any]]:
        with reading(path, "a batch of CIFAR"), _opened(path) as file:
            batch = _Batch(file, encoding="bytes").load()
            pixels, answers = np.asarray(batch[b"data"]), np.asarray(batch[labels])
            if pixels.dtype != np.uint8 or pixels.shape != (answers.size, _PIXELS):
                raise FileError(f"{path} is no batch of CIFAR: one row of bytes a label is needed")
        return pixels, answers

    return _cifar(files, read)


def _cifar(
    files: Sequence[str], read: Callable[[str], tuple[NDArray[np.uint8], NDArray[Any]]]
) -> Images:
    *parts, (test, test_labels) = [read(file) for file in files]
    pixels = np.concatenate([part for part, _ in parts])
    labels = np.concatenate([part for _, part in parts])
    folder = os.path.dirname(files[0])
    return _images(
        folder, (_coloured(pixels), labels, files[0]), (_coloured(test), test_labels, files[-1])
    )


def _coloured(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)


class _Batch(pickle.Unpickler):
    """Loads dictionaries of lists and NumPy arrays, and nothing that could run."""

    def find_class(self, module: str, name: str) -> Any:
        if (module.partition(".")[0], name) in _IN_ARRAYS:
            return _IN_ARRAYS[module.partition(".")[0], name]
        raise ValueError(f"it asks for {module}.{name}, which no array needs")


# --- .npz


def _npz(path: str) -> Images:
    x, y, u, v = read_archive(path, ("x_train", "y_train", "x_test", "y_test"))
    return _images(path, (x, y, f"{path}, x_train"), (u, v, f"{path}, x_test"))


# --- what all of them share


def _images(
    name: str,
    train: tuple[NDArray[Any], NDArray[Any], str],
    test: tuple[NDArray[Any], NDArray[Any], str],
) -> Images:
    """Check both parts, of which each is examples, labels, and the file to name."""
    x, y = _part(*train)
    u, v = _part(*test)
    if x.shape[1:] != u.shape[1:]:
        raise FileError(
            f"{test[2]}: examples of shape {u.shape[1:]}, and {x.shape[1:]} to learn from"
        )
    return Images(name, x, y, u, v)


def _part(x: NDArray[Any], y: NDArray[Any], path: str) -> tuple[Array, Labels]:
    if x.ndim < 2 or x.size == 0:
        raise FileError(f"{path}: one row an example is needed; got shape {x.shape}")
    if y.shape != x.shape[:1]:
        raise FileError(f"{path}: {len(x)} examples, and labels of shape {y.shape}")
    if y.dtype.kind not in "iu" or int(y.min()) < 0 or int(y.max()) >= _CLASSES:
        raise FileError(f"{path}: labels must be whole numbers from 0 to {_CLASSES - 1}")
    if x.dtype.kind not in "uif":
        raise FileError(f"{path}: examples must be numbers; got {x.dtype}")
    scale = np.float32(1 / 255 if x.dtype == np.uint8 else 1.0)
    with np.errstate(over="ignore"):
        examples = x.astype(np.float32) * scale
    if not np.isfinite(examples).all():
        raise FileError(f"{path}: examples must be finite, also as float32")
    return examples, y.astype(np.int64)


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open a file, or the one inside if it is compressed."""
    with open(path, "rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        yield gzip.GzipFile(fileobj=file) if compressed else file


_IN_ARRAYS = {
    ("numpy", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): codecs.encode,  # of bytes, pickled by Python 3 in the old protocol
}
_CIFAR_10 = [*(f"data_batch_{part}" for part in range(1, 6)), "test_batch"]
_KINDS: list[tuple[list[str], Callable[[Sequence[str]], Images]]] = [
    (
        [
            f"{part}-{what}-ubyte"
            for part in ("train", "t10k")
            for what in ("images-idx3", "labels-idx1")
        ],
        _mnist,
    ),
    (_CIFAR_10, lambda files: _cifar_python(files, b"labels")),
    ([f"{name}.bin" for name in _CIFAR_10], lambda files: _cifar_binary(files, 1)),
    (["train.bin", "test.bin"], lambda files: _cifar_binary(files, 2)),
    (["train", "test"], lambda files: _cifar_python(files, b"fine_labels")),
]
