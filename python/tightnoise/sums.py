"""Sums over people, with a sensitivity that holds for the numbers a computer adds up.

A sum in floating point rounds at every step, and one person more or less changes the roundings of
all that comes after: a float32 sum of a million values in [0, 1] can move by 32. `exact_sum` adds
up integers instead; `float_sum_sensitivity` is what a sum of floats truly has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from tightnoise._adjacency import require_adjacency
from tightnoise._core import special as core
from tightnoise._validate import float_array, integer, positive, require, shown

__all__ = ["ExactSum", "exact_sum", "float_sum_sensitivity"]

_NORMS = (1, 2, math.inf)
_BITS = 40  # the bound is so many bits long in units, unless the capacity asks for fewer
_MAX_CAPACITY = 2**40
_MAX_SIZE = 2**28  # numbers a row: what the theorem in cpp/numeric/clipped_sum.hpp covers
_EXTREME = 2.0**900  # of bounds, likewise


@dataclass(frozen=True, eq=False)  # == of arrays has no truth value
class ExactSum:
    """A sum of clipped rows in integers, made by `exact_sum`.

    Sums of other rows (shards, chunks) with the same bound, norm, capacity and adjacency add up
    with ``+`` or `sum`.

    Attributes
    ----------
    integers : int64 array, read-only
        Of the shape of a row; the sum is integers * unit. Private, as the rows are.
    bound : float
        The most that a row counts, in the norm `norm`.
    norm : {1, 2, inf}
        The norm that rows were clipped in.
    capacity : int
        The most rows that the sum may have.
    adjacency : {"add-remove", "replace-one"}
        Which data sets are neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> chunks = np.full((2, 500, 3), 0.25)
    >>> total = sum(tn.exact_sum(chunk, bound=1.0) for chunk in chunks)
    >>> total.integers * total.unit
    array([250., 250., 250.])
    >>> total
    ExactSum(bound=1.0, norm=2, capacity=4194304, adjacency='add-remove')
    """

    integers: NDArray[np.int64] = field(repr=False)
    _count: int = field(repr=False)  # as private: to refuse more rows than the capacity
    bound: float
    norm: float
    capacity: int
    adjacency: str

    __array_ufunc__ = None  # array + ExactSum is an error, not an array of objects

    def __post_init__(self) -> None:
        self.integers.flags.writeable = False

    @property
    def unit(self) -> float:
        """What the integers count: a power of two, by the bound and the capacity alone."""
        return _unit(self.bound, self.capacity)

    @property
    def coordinate_sensitivity(self) -> float:
        """The most that a coordinate of the sum moves between neighbours."""
        return self.bound if self.adjacency == "add-remove" else 2.0 * self.bound

    @property
    def sensitivity(self) -> float:
        """The most that the sum moves between neighbours, in L2 norm.

        The bound if a row is added or removed, twice the bound if one is replaced; with norm=1 in
        L1 norm, too. With norm=inf, and d numbers a row, sqrt(d) times as much, rounded up.
        """
        each = self.coordinate_sensitivity
        if self.norm != math.inf:
            return each
        size = self.integers.size
        norm = each * math.sqrt(size)
        while Fraction(norm) ** 2 < size * Fraction(each) ** 2:
            norm = math.nextafter(norm, math.inf)
        return norm

    def __add__(self, other: object) -> ExactSum:
        """Return the sum over the rows of both.

        Raises
        ------
        ValueError
            If bound, norm, capacity, adjacency or the shapes of rows differ, or both together have
            more rows than the capacity.
        """
        if not isinstance(other, ExactSum):
            return NotImplemented
        mine, its = self._terms(), other._terms()
        if mine != its:
            raise ValueError(
                "sums add up only with the same (shape of a row, bound, norm, capacity, "
                f"adjacency); got {mine} and {its}"
            )
        count = self._count + other._count
        _require_room(count, self.capacity)
        return ExactSum(np.asarray(self.integers + other.integers), count, *mine[1:])

    def __radd__(self, other: object) -> ExactSum:
        """Return the sum itself: `sum` begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        return ExactSum, (self.integers, self._count, *self._terms()[1:])

    def _terms(self) -> tuple[tuple[int, ...], float, float, int, str]:
        return self.integers.shape, self.bound, self.norm, self.capacity, self.adjacency


def exact_sum(
    rows: ArrayLike,
    *,
    bound: float,
    norm: float = 2,
    capacity: int = 2**22,
    adjacency: str = "add-remove",
) -> ExactSum:
    """Clip every row and add them up, exactly.

    Each row is clipped, rounded towards zero to multiples of a unit, and added up in integers. So
    its part in the sum has a norm of at most `bound`, exactly, and does not depend on the other
    rows: the sum is the same in any order, in shards and chunks, on any number of threads and on
    every machine, and its sensitivity is a theorem about these very integers.

    Parameters
    ----------
    rows : array_like of float32 or float64
        One row a person, of any shape: rows[i] is what one person contributes. Of a
        one-dimensional array each number is a row. A row with a NaN or an infinity counts as
        zeros (an error would tell about one person), and so does one whose norm overflows: at
        1e154 times the bound, with norm=1 at 1e308 times.
    bound : float
        What the norm of each row is clipped to: rows that are longer are scaled down to it, with
        norm=inf number by number. From 2**-900 to 2**900. (With norm=1 and 2 the clip is a
        millionth below the bound, which leaves room for its roundings.)
    norm : {2, 1, inf}
        The norm: 2 for Gaussian noise, 1 for Laplace noise, inf for a bound on each number.
    capacity : int
        The most rows there may ever be, all shards and chunks together: a public number, which
        the unit follows. (It must not follow the number of rows: that is private where a row may
        be added or removed, and a unit that moves moves the rounding of every row.) Up to 2**22
        rows the unit is about 2**-40 of the bound, up to 2**(22 + k) rows 2**(k - 40).
    adjacency : {"add-remove", "replace-one"}
        Which data sets are neighbours; the sensitivity is that between them.

    Returns
    -------
    ExactSum
        With `integers`, `unit` and `sensitivity`.

    Raises
    ------
    TypeError
        If rows does not hold real numbers.
    ValueError
        For more rows than the capacity, more than 2**28 numbers a row, or an argument outside its
        domain.

    Examples
    --------
    The same integers in any order, and the most that one person moves them:

    >>> import numpy as np
    >>> import tightnoise as tn
    >>> gradients = np.random.default_rng(0).normal(size=(1000, 20)).astype(np.float32)
    >>> total = tn.exact_sum(gradients, bound=1.0)
    >>> backwards = tn.exact_sum(gradients[::-1], bound=1.0)
    >>> bool((total.integers == backwards.integers).all()), total.sensitivity
    (True, 1.0)
    """
    require_adjacency(adjacency)
    bound = positive("bound", bound)
    require(1 / _EXTREME <= bound <= _EXTREME, "bound", bound, "from 2**-900 to 2**900")
    known = isinstance(norm, Real) and norm in _NORMS
    require(known, "norm", norm, "1, 2 or inf")
    capacity = integer("capacity", capacity, minimum=1, maximum=_MAX_CAPACITY)
    array = float_array("rows", rows, check_finite=False)
    require(array.ndim > 0, "rows", rows, "an array of rows")
    count, shape = array.shape[0], array.shape[1:]
    require(math.prod(shape) <= _MAX_SIZE, "rows", f"shape {shape}", "of at most 2**28 numbers")
    _require_room(count, capacity)
    integers = np.zeros(shape, np.int64)
    core.add_clipped_rows(array, norm, bound, _unit(bound, capacity), integers)
    return ExactSum(integers, count, bound, norm, capacity, adjacency)


def _unit(bound: float, capacity: int) -> float:
    bits = min(_BITS, 62 - (capacity - 1).bit_length())  # so that no sum reaches 2**62
    return math.ldexp(1.0, math.frexp(bound)[1] - bits)


def _require_room(count: int, capacity: int) -> None:
    if count > capacity:  # how many they are is private
        raise ValueError(f"rows must be at most capacity = {capacity} in all; got more")


def float_sum_sensitivity(n: int, bound: float, dtype: DTypeLike, *, adjacency: str) -> float:
    """Return the most that a sum of rows in floating point moves between neighbours.

    Parameters
    ----------
    n : int
        The most rows there may be: a public number. At most 2**24 for float32, 2**53 for float64.
    bound : float
        What the L2 norm of each row is truly bounded by. A clip in floats does not see to that:
        where norms of d numbers are computed in the same format, with unit roundoff u, rows may
        be longer than the bound by a factor of about 1 + (d + 3) u.
    dtype : float32 or float64
        What the sum is computed in, at every step, in any order.
    adjacency : {"add-remove", "replace-one"}
        Which data sets are neighbours.

    Returns
    -------
    float
        bound (1 + 2 n g) where a row is added or removed, bound (2 + 2 n g) where one is replaced,
        with g = (n - 1) u / (1 - (n - 1) u); in L2 norm, rounded up.

    Raises
    ------
    ValueError
        For arguments outside their domain, or if sums may overflow.

    See Also
    --------
    exact_sum : the same sum, without the second term.

    Notes
    -----
    Whatever the order, a computed sum of n numbers is off by at most g times the sum of their
    sizes (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2), so a sum
    of rows by at most n g bound in L2 norm, and two such sums move apart by twice that. Sums that
    flush subnormal numbers to zero are not covered.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> for n in (1_000, 10_000):
    ...     print(round(tn.float_sum_sensitivity(n, 1.0, np.float32, adjacency="add-remove"), 2))
    1.12
    12.93
    """
    require_adjacency(adjacency)
    bound = positive("bound", bound)
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise TypeError(f"dtype must be float32 or float64; got {shown(dtype)}") from None
    require(kind in (np.float32, np.float64), "dtype", dtype, "float32 or float64")
    limits = np.finfo(kind)
    roundoff = Fraction(float(limits.eps)) / 2
    n = integer("n", n, minimum=1, maximum=int(1 / roundoff))
    growth = (n - 1) * roundoff / (1 - (n - 1) * roundoff)
    rows = 1 if adjacency == "add-remove" else 2
    moved = Fraction(bound) * (rows + 2 * n * growth)
    greatest = max(moved, n * Fraction(bound) * (1 + growth))
    require(greatest <= float(limits.max), "bound", bound, "so small that no sum overflows")
    result = float(moved)
    return result if result >= moved else math.nextafter(result, math.inf)
