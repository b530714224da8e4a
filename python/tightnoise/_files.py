"""Arrays from and to .npy files, read without trust; any file written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._arrays import Floats
from tightnoise._validate import float_array

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]

# Of .npy and .npz files: NumPy takes all others for pickles, and says how to run what is in them.
_MAGIC = (b"\x93NUMPY", b"PK\x03\x04", b"PK\x05\x06")


class FileError(Exception):
    """A file that cannot be read or written as asked; the message names it and says why."""


def read_array(path: str, key: str | None = None) -> Floats:
    """Return the array in a .npy file, or the one called `key` in a .npz file, as `float_array`.

    Raises
    ------
    FileError
        If there is no such file or array, or it is damaged, pickled or empty.
    TypeError
        If the array does not hold real numbers of at most 64 bits.
    ValueError
        If the array holds NaN or infinities.
    """
    with reading(path, ".npy or .npz"), _loaded(path) as loaded:
        array = loaded
        if isinstance(loaded, np.lib.npyio.NpzFile):
            array = loaded[_member(path, loaded.files, key)]
        elif key is not None:
            raise FileError(f"--key is for .npz files; {path} holds a single array")
    return float_array(path, _array(path, array))


def read_archive(path: str, names: Sequence[str]) -> list[NDArray[Any]]:
    """Return the arrays of those names in a .npz file, of any kind but objects.

    Raises
    ------
    FileError
        If there is no such file or array, or it is damaged, pickled or empty.
    """
    with reading(path, ".npz"), _loaded(path) as loaded:
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            raise FileError(f"cannot read {path}: it is no .npz file")
        return [_array(path, loaded[_member(path, loaded.files, name)]) for name in names]


@contextmanager
def reading(path: str, kind: str) -> Iterator[None]:
    """Make a FileError that names the file of whatever is raised while it is read as a `kind`."""
    try:
        yield
    except FileError:
        raise
    except MemoryError as error:
        raise FileError(f"cannot read {path}: it does not fit into memory") from error
    except Exception as error:  # damaged files make NumPy, zipfile and zlib raise a dozen types
        if isinstance(error, OSError) and error.strerror:
            raise FileError(f"cannot read {path}: {error.strerror}") from error
        reason = " ".join(str(error).split()) or type(error).__name__
        if "allow_pickle" in reason:
            reason = "it holds Python objects, not numbers"
        raise FileError(f"cannot read {path} as {kind}: {reason}") from error


@contextmanager
def _loaded(path: str) -> Iterator[Any]:
    with open(path, "rb") as file:
        if not file.read(6).startswith(_MAGIC):
            raise FileError(f"cannot read {path}: it is neither a .npy nor a .npz file")
        file.seek(0)
        yield np.load(file, allow_pickle=False)


def _member(path: str, names: list[str], key: str | None) -> str:
    if key is None and len(names) == 1:
        return names[0]
    if key in names:
        return str(key)
    listed = ", ".join(names) or "no array"
    if key is None:
        raise FileError(f"{path} holds {listed}: choose one array with --key")
    raise FileError(f"{path} has no array called {key!r}; it holds {listed}")


def _array(path: str, array: object) -> NDArray[Any]:
    if not isinstance(array, np.ndarray):
        raise FileError(f"{path} holds a file that is not a .npy array")
    if array.size == 0:
        raise FileError(f"{path} holds an empty array, of shape {array.shape}")
    return array


def write_array(path: str, array: Floats, *, overwrite: bool = False) -> None:
    """Write `array` to `path` as .npy, in one step: see `write_whole`."""

    def save(file: IO[bytes]) -> None:
        np.save(file, array, allow_pickle=False)

    write_whole(path, save, suffix=".npy", overwrite=overwrite)


def write_whole(
    path: str, write: Callable[[IO[bytes]], object], *, suffix: str, overwrite: bool = False
) -> None:
    """Let `write` fill `path`, in one step: another process sees the old file or the new.

    The bytes go to a temporary file in the same directory, which replaces `path` once they are on
    the disk, and is removed if anything fails before; the new name is on the disk, too. A link is
    followed, not replaced. Owner and permissions stay those of an old file.

    Raises
    ------
    FileError
        If `path` exists (by then) and `overwrite` is false, does not end in `suffix`, or cannot be
        written.
    """
    target = check_writable(path, suffix=suffix, overwrite=overwrite)
    folder, name = os.path.split(target)
    # A part of the name: all of it and more could be too long for the system.
    temporary = os.path.join(folder, f".{name[:32]}.{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            if os.path.exists(target):
                _make_like(target, temporary)
            write(file)
            file.flush()
            os.fsync(file.fileno())
        _rename(temporary, target, overwrite=overwrite)
        _sync_folder(folder)
    except BaseException as error:
        with suppress(OSError):  # gone already, or the disk is read-only by now
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise FileError(f"cannot write {path}: {error.strerror or error}") from error
        raise


def _make_like(old: str, new: str) -> None:
    """Give `new` the group, owner and permissions of `old`, as far as the system lets."""
    known = os.stat(old)
    if os.name != "nt":
        for owner, group in ((-1, known.st_gid), (known.st_uid, -1)):
            with suppress(OSError):
                os.chown(new, owner, group)
    with suppress(OSError):
        os.chmod(new, stat.S_IMODE(known.st_mode))


def _rename(old: str, new: str, *, overwrite: bool) -> None:
    """Rename a file; what another process has called `new` meanwhile stays unless `overwrite`."""
    if not overwrite:
        try:
            os.link(old, new)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            pass
        else:
            os.unlink(old)
            return
    os.replace(old, new)


def _sync_folder(folder: str) -> None:
    """Have new names on the disk, too, where the system can: a crash else brings the old file."""
    if os.name == "nt":  # has no such call
        return
    try:
        known = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(known)
        finally:
            os.close(known)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EINVAL, errno.ENOTSUP):
            raise


def check_writable(path: str, *, suffix: str = ".npy", overwrite: bool) -> str:
    """Return the file that `path` leads to, after refusing what can be refused before any work."""
    target = os.path.realpath(path)
    if not path.endswith(suffix):
        raise FileError(f"the output must be a {suffix} file; got {path}")
    if os.path.isdir(target):
        raise FileError(f"cannot write {path}: Is a directory")
    if os.path.exists(target) and not os.path.isfile(target):
        raise FileError(f"cannot write {path}: a device or pipe, and no file")
    if not os.path.exists(os.path.dirname(target)):
        raise FileError(f"cannot write {path}: No such file or directory")
    if os.path.lexists(path) and not overwrite:
        raise FileError(f"{path} exists already; --force replaces it")
    return target


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Keep other processes that lock it from `path` meanwhile, also while it is replaced.

    Where the system has no such locks (Windows), nothing is kept. NFS locks only what is open for
    writing.

    Raises
    ------
    OSError
        If it cannot be opened or locked.
    """
    if fcntl is None:
        yield
        return
    while True:
        with open(path, "r+b" if os.access(path, os.W_OK) else "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
            except OSError as error:
                raise OSError(error.errno, f"cannot lock it: {error.strerror}", path) from error
            if _is_there(path, file):  # not replaced while this one waited
                yield
                return


def _is_there(path: str, file: IO[bytes]) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return True
