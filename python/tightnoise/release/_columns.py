"""Columns as they come: arrays, pandas and polars Series, Arrow arrays; what is missing in them.

Whether a column holds integers is said by its type, never found in its values: a type is public,
and the noise goes by it. So numbers and truth values in a list, which has no type, count as real
where they are added up, and as what each is by itself where they are names: NumPy makes text of a
list as soon as one of its items is. Nor may a row that is missing change how others are read: times
in nanoseconds would be numbers without it and times with it, and numbers by category real.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence, Sized
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy import ma
from numpy.typing import ArrayLike, NDArray

from tightnoise._validate import one_of, require

Values: TypeAlias = ArrayLike | Sized
"""A one-dimensional array_like, or a column of pandas, polars or Arrow."""
MOST_ROWS = 2**30
"""Of a column: integers with a sign that is added up stay below 2**62."""
Missing = Literal["refuse", "drop"]
_MISSING: Mapping[str, None] = {"refuse": None, "drop": None}
# The types of Arrow and polars that are those of NumPy.
_NUMBERS = re.compile(r"(u?int(8|16|32|64)|float(16|32|64)?|double|halffloat|bool(ean)?)$")


class Column(NamedTuple):
    """A row a person."""

    values: NDArray[Any]
    """One-dimensional; of rows that are missing anything."""
    missing: NDArray[np.bool_] | None
    """Which rows are; None: none can be, or none is and `missing` was "refuse"."""
    name: str | None
    """That of a Series."""
    series: Any = None
    """What makes a pandas Series, where the column was one."""

    @property
    def present(self) -> NDArray[Any]:
        """The values that are there."""
        return self.values if self.missing is None else self.values[~self.missing]

    @property
    def integer(self) -> bool:
        """Whether the type is one of integers, or of truth values."""
        return self.values.dtype.kind in "iub"


def numbers_in(values: Values, missing: str, adjacency: str) -> Column:
    """Return a column of numbers or truth values: float64, or integers, or booleans.

    ValueError for one that is not one-dimensional, for missing rows unless they are to be dropped,
    and for one without a row where their number is public; TypeError for what does not hold
    numbers.
    """
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 1:
        array, lost, name, series = values, None, None, None
    else:
        array, lost, name, series = column_of(values)
    if array.dtype.kind not in "iufb" or array.dtype.itemsize > 8:
        raise TypeError(
            f"values must hold real numbers of at most 64 bits, or truth values; got "
            f"{_type_of(values, array)}"
        )
    if array.dtype.kind == "f" and array.ndim == 1:
        array = array.astype(np.float64, copy=False)
        # One pass where nothing is missing: a NaN makes a sum NaN (infinities are found apart).
        with np.errstate(over="ignore", invalid="ignore"):
            doubtful = array.size > 0 and bool(np.isnan(np.dot(array, array)))
        if doubtful:
            nan = np.isnan(array)
            lost = nan if lost is None else lost | nan
    return _checked(Column(array, lost, name, series), missing, adjacency)


def labels_in(values: Values, missing: str, adjacency: str) -> Column:
    """Return a column of anything that can be compared with the names of cells."""
    array, lost, name, series = column_of(values, names=True)
    if array.dtype.kind == "f":
        lost = np.isnan(array) if lost is None else lost | np.isnan(array)
    elif array.dtype.kind == "O" and lost is None:
        lost = np.fromiter(map(_is_missing, array.tolist()), np.bool_, array.size)
    return _checked(Column(array, lost, name, series), missing, adjacency)


def are_truths(present: NDArray[Any]) -> bool:
    """Return whether they are truth values; TypeError where some are, and some are not.

    Items of a list and of a column of objects are looked at one by one. So one row more or less
    never makes rows of what were truth values.
    """
    if present.dtype.kind != "O":
        return present.dtype == np.bool_
    truths = sum(isinstance(item, (bool, np.bool_)) for item in present.tolist())
    if 0 < truths < present.size:
        raise TypeError("values must all be truth values, such as ages >= 65, or none of them")
    return truths > 0


def _is_missing(item: object) -> bool:
    return item is None or (isinstance(item, (float, np.floating)) and bool(np.isnan(item)))


def _checked(column: Column, missing: str, adjacency: str) -> Column:
    one_of("missing", missing, _MISSING)
    array, lost = column.values, column.missing
    if array.ndim != 1:
        raise ValueError(f"values must be a column, of one axis; got shape {array.shape}")
    # Where a row may come or go, that there is none is as private as any number of them.
    good = array.size > 0 or adjacency == "add-remove"
    require(good, "values", "no row", "a column of at least one row with 'replace-one'")
    require(array.size <= MOST_ROWS, "values", f"{array.size} rows", f"at most {MOST_ROWS} rows")
    if lost is not None and missing == "refuse":
        rows = np.flatnonzero(lost)
        if rows.size:
            raise ValueError(
                f"values must not be missing: {rows.size} of them are, first that of row "
                f"{int(rows[0])} (missing='drop' leaves such rows out, and counts on it: how many "
                "are left is private then)"
            )
        column = column._replace(missing=None)
    return column


def column_of(values: Any, *, names: bool = False) -> Column:
    """Return a column as it comes, and which of its rows are missing by a mask of their own.

    Of a list, which has no type, `names` leaves each item as it is; else numbers are real.
    """
    if isinstance(values, Column):
        return values
    if isinstance(values, ma.MaskedArray):
        raise TypeError("values must not be a masked array: pass the rows that count")
    if hasattr(values, "columns"):
        raise TypeError(
            f"values must be one column, such as table['age']; got {type(values).__name__}"
        )
    name = getattr(values, "name", None)
    name = name if isinstance(name, str) and name else None
    if hasattr(values, "is_null") and hasattr(values, "fill_null"):  # Arrow and polars
        if hasattr(getattr(values, "type", None), "index_type"):  # numbers of a dictionary's items
            values = values.cast(values.type.value_type)
        lost = np.asarray(values.is_null())
        if _NUMBERS.match(_type_name(values)):
            zero = False if "bool" in _type_name(values) else 0
            array = np.asarray(values.fill_null(zero) if lost.any() else values)
        else:
            array = _objects(values)
        return Column(array, lost if lost.any() else None, name)
    if hasattr(values, "isna") and hasattr(values, "to_numpy"):  # pandas
        lost = np.asarray(values.isna())
        kind = getattr(values.dtype, "numpy_dtype", None)
        if kind is None and hasattr(values.dtype, "pyarrow_dtype"):
            kind = np.dtype(values.dtype.type)
        if kind is not None and np.dtype(kind).kind in "iufb" and np.ndim(lost) == 1:
            array = values.to_numpy(dtype=np.dtype(kind), na_value=np.dtype(kind).type(0))
        elif hasattr(values.dtype, "categories") and np.ndim(lost) == 1:
            of = np.asarray(values.dtype.categories)
            codes = np.asarray(getattr(values, "cat", values).codes)  # -1: missing
            array = of[codes] if of.size else np.zeros(codes.size, of.dtype)
        else:
            array = np.asarray(values)
        maker = type(values) if hasattr(values, "index") and np.ndim(lost) == 1 else None
        return Column(array, lost if lost.any() else None, name, maker)
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise TypeError(f"values must be a column of values; got {type(values).__name__}")
    has_type = hasattr(values, "dtype") or isinstance(values, range)
    if names and not has_type and isinstance(values, Sequence):
        return Column(np.fromiter(values, object, len(values)), None, name)
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        raise ValueError("values must be a column of values; got lists of them") from None
    if array.dtype.kind in "iub" and not has_type:
        array = array.astype(np.float64)
    if array.dtype.kind == "O" and not has_type and all(map(_is_number_or_none, values)):
        array = np.fromiter(map(_real, values), np.float64, len(values))
    return Column(array, None, name)


def _is_number_or_none(item: object) -> bool:
    return item is None or isinstance(item, (int, float, np.bool_, np.integer, np.floating))


def _real(item: Any) -> float:
    """Return a number as float64, and NaN for what is missing."""
    try:
        return math.nan if item is None else float(item)
    except OverflowError:  # an integer beyond all floats is clipped as they are
        return math.inf if item > 0 else -math.inf


def _objects(values: Any) -> NDArray[Any]:
    items = values.to_pylist() if hasattr(values, "to_pylist") else values.to_list()
    return np.fromiter(items, object, len(items))


def _type_name(values: object) -> str:
    return str(getattr(values, "type", getattr(values, "dtype", ""))).lower()


def _type_of(values: object, array: NDArray[Any]) -> str:
    return f"dtype {array.dtype} ({type(values).__name__})"
