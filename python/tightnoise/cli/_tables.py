"""One column of a CSV or a Parquet file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tightnoise._files import FileError
from tightnoise.release._columns import Column, column_of

_PARQUET = (".parquet", ".pq")


def read_column(path: str, name: str | None, kind: str) -> Column:
    """Return a column, by its name in the file, or the only one.

    Of a CSV file `kind` says what it holds, "real", "integer" or "names": what a number looks like
    must not decide how noise is drawn. An empty field is missing. Parquet has types.

    Raises
    ------
    FileError
        If there is no such file, column or kind of number, a row has too few fields, no reader of
        Parquet is installed.
    """
    if path.endswith(_PARQUET):
        return _of_parquet(path, name)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            called, texts = _texts(path, csv.reader(file, strict=True), name)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"cannot read {path} as CSV in UTF-8: {error}") from error
    missing = np.array([text == "" for text in texts], np.bool_)
    lost = missing if missing.any() else None
    if kind == "names":
        named = np.empty(len(texts), object)
        named[:] = texts
        return Column(named, lost, called)
    read: Any = int if kind == "integer" else float
    numbers = [_number(path, read, row, text) for row, text in enumerate(texts)]
    return Column(_array(path, numbers, kind), lost, called)


def _texts(path: str, rows: Iterator[list[str]], name: str | None) -> tuple[str, list[str]]:
    header = next(rows, [])
    place = _place(path, [field.strip() for field in header], name)
    texts = []
    for number, row in enumerate(rows):
        if not row:  # a line without anything, as at the end
            continue
        if len(row) != len(header):
            raise FileError(
                f"{path}: row {number} has {len(row)} fields, where the first line has "
                f"{len(header)}"
            )
        texts.append(row[place].strip())
    return header[place].strip(), texts


def _place(path: str, names: list[str], name: str | None) -> int:
    if name is None and len(names) == 1:
        return 0
    if name is not None and names.count(name) == 1:
        return names.index(name)
    if name is not None and name in names:
        raise FileError(f"{path} has several columns called {name!r}")
    listed = ", ".join(map(repr, names)) or "none"
    wanted = "choose one with --column" if name is None else f"no column is called {name!r}"
    raise FileError(f"{path}: {wanted}; its columns are {listed}")


def _number(path: str, read: Any, row: int, text: str) -> Any:
    if text == "":
        return 0
    try:
        return read(text)
    except ValueError:
        kind = "an integer" if read is int else "a number (--cells are names)"
        raise FileError(f"{path}: row {row} must hold {kind}; got {text[:40]!r}") from None


def _array(path: str, numbers: list[Any], kind: str) -> Any:
    try:
        return np.array(numbers, np.int64 if kind == "integer" else np.float64)
    except OverflowError:
        raise FileError(f"{path}: integers must be below 2**63") from None


def _of_parquet(path: str, name: str | None) -> Column:
    try:
        table = _parquet(path)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    except Exception as error:  # of either package, for a damaged file
        raise FileError(f"cannot read {path} as Parquet: {' '.join(str(error).split())}") from error
    names = [str(field) for field in getattr(table, "column_names", table.columns)]
    called = names[_place(path, names, name)]
    return column_of(table[called])._replace(name=called)


def _parquet(path: str) -> Any:
    if not Path(path).is_file():
        raise FileNotFoundError(2, "No such file", path)
    try:
        from pyarrow import parquet
    except ImportError:
        pass
    else:
        return parquet.read_table(path)
    try:
        from fastparquet import ParquetFile
    except ImportError:
        raise FileError(
            f"{path} needs PyArrow or fastparquet: pip install 'tightnoise[parquet]'"
        ) from None
    # Not by way of pandas.read_parquet, which makes integers real where some are missing, so that
    # the data would decide how noise is drawn.
    with open(path, "rb") as file:
        return ParquetFile(file).to_pandas()
