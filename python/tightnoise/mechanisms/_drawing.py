"""How every mechanism for coordinates draws: theta, grid and output, in one place."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats, operand, output
from tightnoise._core.random import NoiseSource, join_integers, split_integers
from tightnoise._kinds import keeps_kind
from tightnoise._validate import float_array, integer, plain_array, require
from tightnoise.mechanisms._grid import GridLike
from tightnoise.random import (
    BATCH,
    MOST_OFFSET,
    NoiseStream,
    Reservation,
    default_stream,
    dimensions,
)
from tightnoise.sums import ExactSum

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_INTEGER = 2**62
# Of a unit, in powers of two above a step: of noise that moves with theta, and between bounds.
_LARGEST_SHIFT, _LARGEST_BETWEEN = 60, 40
# Where float32 arithmetic settles most integers; elsewhere, float64 samples are rounded.
_FLOAT32_STEPS = 2.0**-100, 2.0**100
_FLOAT32_FINEST = 2.0**11


@dataclass(frozen=True)
class Theta:
    """True values: floats, which stand for themselves or for integers times a unit."""

    floats: Floats
    integers: Integers | None = None
    unit: float = 1.0


class Draw(Protocol):
    """What draws: the core's sampler with a mechanism's parameters.

    `place` is a step, or None for samples on no grid; what float64 theta has below its last place,
    or None; and the number of theta's first element in the array of noise, by default 0. `out` may
    hold int64, for the integers of the points.
    """

    def __call__(self, theta: Floats, out: object, source: NoiseSource, *place: Any) -> None: ...


def read_theta(theta: ArrayLike | ExactSum, *, check_finite: bool = True) -> Theta:
    """Return the true values as given: integers, and sums of them, stay exact."""
    if isinstance(theta, ExactSum):
        return Theta(theta.integers * theta.unit, theta.integers, theta.unit)
    array = theta if isinstance(theta, float) else plain_array("theta", theta)
    if isinstance(array, float) or array.dtype.kind not in "iu":
        return Theta(float_array("theta", theta, check_finite=check_finite))
    floats = float_array("theta", array)  # refuses what is no plain array
    largest = max(abs(int(array.max())), abs(int(array.min()))) if array.size else 0
    require(largest <= _MOST_INTEGER, "theta", largest, "at most 2**62 in magnitude")
    return Theta(floats, np.require(array, np.int64, ["C", "A"]))


def drawn(
    function: Callable[[Floats, Floats, NoiseSource], None],
    theta: Floats,
    rng: NoiseStream | None,
    out: Floats | None = None,
) -> Any:
    """Return what `function(theta, out, source)` writes, with the source of `rng`."""
    noisy = output(out, theta.shape, theta.dtype)
    function(theta, noisy, source_of(rng))
    return noisy if out is not None else noisy[()]


def draw(
    function: Draw,
    theta: Theta,
    rng: NoiseStream | Reservation | None,
    out: Floats | None,
    step: Array | None,
    *,
    mechanism: object,
    scale: Array,
    bounds: tuple[Any, Any] | None,
    moves: bool,
    offset: int = 0,
) -> Any:
    """Return samples of theta, with the source of `rng` from element `offset` on.

    `function` draws the noise of the mechanism, `scale` is that of the noise, `bounds` those of
    float32 samples. `moves` says that noise does not depend on theta: then integers are added to it
    as such.
    """
    is_start = isinstance(offset, int) and offset == 0
    first = 0 if is_start else _first_of(offset, theta.floats.size)

    def fill(values: Floats, noisy: Floats, source: NoiseSource) -> None:
        if step is None:
            function(values, noisy, source, None, None, first)
        elif theta.integers is None:
            if values.dtype == np.float32 and not _fits_float32(scale, step):
                _draw_as_float64(function, values, noisy, source, step, bounds, first)
            else:
                function(values, noisy, source, operand(step, values.shape), None, first)
        elif moves:
            join_integers(*_draw_offsets(function, theta, source, step, first), noisy)
        else:
            _check_shift(theta.unit, step, _LARGEST_BETWEEN)
            nearest = theta.integers.astype(np.float64).astype(np.int64)
            low = (theta.integers - nearest) * theta.unit
            function(values, noisy, source, operand(step, values.shape), low, first)

    if isinstance(rng, Reservation):
        if theta.floats.size:
            rng._claim(first, theta.floats.size, (mechanism, _digest(theta, step)))
        noisy = output(out, theta.floats.shape, theta.floats.dtype)
        fill(theta.floats, noisy, rng._source)
        return noisy if out is not None else noisy[()]
    return drawn(fill, theta.floats, rng, out)


def draw_integers(
    function: Draw, theta: Theta, rng: NoiseStream | None, step: Array
) -> tuple[Any, Any]:
    """Return the integers K of samples of theta, the points step K, and the step."""
    values = theta.floats
    source = source_of(rng)
    drawn = np.empty(values.shape, np.int64)
    if theta.integers is not None:
        join_integers(*_draw_offsets(function, theta, source, step), drawn)
    else:
        exact = np.asarray(values, np.float64)
        function(exact, drawn, source, operand(step, values.shape), None)
    return drawn[()], step[()]


class Sampled:
    """Samples of a mechanism of numbers, a dataclass; also as integers times the step of a grid."""

    _draw: Draw
    _noise_is_added: ClassVar[bool]

    # --- what a subclass says ---------------------------------------------------------------------

    @abstractmethod
    def _read(self, theta: ArrayLike | ExactSum) -> Theta:
        """Return the true values; ValueError for those that cannot be sampled from."""

    @abstractmethod
    def _steps(self, grid: GridLike, shape: tuple[int, ...] | None = None) -> Array | None:
        """Return the steps of a grid, or None; `shape`, if given, is that of theta."""

    @property
    @abstractmethod
    def _noise_scale(self) -> Array:
        """What the steps of a grid go by."""

    @property
    def _clipped_to(self) -> tuple[Array, Array] | None:
        """The bounds that float32 samples are clipped to, if there are any."""
        return None

    # --- parameters -------------------------------------------------------------------------------

    def _values(self) -> tuple[Any, ...]:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return tuple(getattr(self, field.name) for field in fields)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and unpickled mechanisms pass the same checks and are as read-only as this one.
        return type(self), self._values()

    # --- samples ----------------------------------------------------------------------------------

    @keeps_kind
    def sample(
        self,
        theta: ArrayLike | ExactSum,
        *,
        rng: NoiseStream | Reservation | None = None,
        out: Any = None,
        grid: GridLike = "auto",
        offset: int = 0,
    ) -> Any:
        """Return theta with noise: what is released.

        The sample is a multiple of a step, the nearest one to a sample of the mechanism as it is
        accounted: of real numbers, with no rounding of theta, and with random bits without end. So
        every cost holds for the very bits that are returned (docs/threat-model.md).

        Parameters
        ----------
        theta : array_like or ExactSum
            The true values, float32 or float64, any shape; also tensors, and other arrays that
            NumPy can read, and pandas columns and tables. Integers are exact up to 2**62; so is
            what `tightnoise.exact_sum` returns. Of noise for scalar queries each is a release of
            its own: see the class for what a vector costs.
        rng : NoiseStream or Reservation, optional
            Where the noise comes from; by default `tightnoise.random.default_stream()`, whose key
            comes from the operating system.
        out : ndarray or torch tensor, optional
            Where to write, of the shape and dtype of theta, which it may be.
        grid : "auto", float or array_like, optional
            The step: a power of two, from 2**-32 to 2**10 times the scale of the noise (the least
            of several; of Tulap and staircase noise `mean_abs()`), which must not depend on the
            data; for coordinates also one for each. "auto" is the power of two between 1/128 and
            1/64 of that scale, or of the distance of the bounds where that is less. Bounds are
            outputs of their own, on the grid or not. Mechanisms with a few fixed outputs have no
            grid: "auto". None returns theta + noise in float arithmetic, whose last bits give theta
            away: no cost covers those.
        offset : int
            Which coordinate of the noise the first one gets: a multiple of 256. For parts of one
            array that are drawn apart, with a `Reservation`, or by workers with streams of one
            secret seed (docs/many-workers.md).

        Returns
        -------
        ndarray or scalar
            Of the shape and dtype of theta (float64 for integers, float32 for float16), and of its
            kind: a tensor for a tensor, with its index for a pandas column.

        Raises
        ------
        ValueError
            If theta holds NaN or an infinity, or integers beyond 2**62, a parameter does not
            broadcast to its shape, theta is float32 and the noise or the bounds do not fit that,
            `out` overlaps theta without being theta, `grid` is not as above, or leaves nothing
            between the bounds, `offset` is no such multiple, or a `Reservation` has drawn these
            coordinates for something else.
        TypeError
            If theta does not hold real numbers or is a masked array, or `rng` is none of these.
        """
        given = self._read(theta)
        return draw(
            self._draw,
            given,
            rng,
            out,
            self._steps(grid, given.floats.shape),
            scale=self._noise_scale,
            bounds=self._clipped_to,
            moves=self._noise_is_added,
            mechanism=self,
            offset=offset,
        )

    @keeps_kind
    def sample_integers(
        self,
        theta: ArrayLike | ExactSum,
        *,
        rng: NoiseStream | None = None,
        grid: GridLike = "auto",
    ) -> tuple[Any, Any]:
        """Return theta with noise as integers, and their unit: what secure aggregation takes.

        `sample` with the same stream, grid and float64 theta returns their products.

        Parameters
        ----------
        theta : array_like
            As for `sample`.
        rng : NoiseStream, optional
            As for `sample`.
        grid : "auto" or float, optional
            As for `sample`, but for None. With 1, theta + noise is rounded to whole numbers.

        Returns
        -------
        integers : int or ndarray of int64
            Of the shape of theta. What is beyond an int64 becomes the nearest one, a bound that is
            off the grid the nearest integer.
        unit : float or ndarray of float64
            The step of the grid.

        Raises
        ------
        ValueError, TypeError
            As for `sample`.

        Examples
        --------
        >>> import tightnoise as tn
        >>> counts, unit = tn.Gaussian(sigma=3.0).sample_integers([120, 45], grid=1)
        >>> counts.dtype.name, float(unit)
        ('int64', 1.0)
        """
        step = self._steps(grid)
        if step is None:
            raise ValueError("grid must be 'auto' or a power of two; got None")
        given = read_theta(theta)
        if self._noise_is_added:
            return draw_integers(self._draw, given, rng, step)
        exact = given.floats.astype(np.float64) if given.integers is None else theta
        points = self.sample(exact, rng=rng, grid=grid) / step
        return np.floor(points + 0.5).astype(np.int64)[()], step[()]


def source_of(rng: NoiseStream | None, name: str = "rng") -> NoiseSource:
    """Return where the core draws from: `rng`, or the default stream."""
    if rng is None:
        return default_stream()._source
    if not isinstance(rng, NoiseStream):
        raise TypeError(
            f"{name} must be a NoiseStream or None; got {type(rng).__name__} "
            "(tightnoise.random.NoiseStream(seed) is one, for tests)"
        )
    return rng._source


def _first_of(offset: int, size: int) -> int:
    first = integer("offset", offset, minimum=0, maximum=MOST_OFFSET - size)
    require(first % BATCH == 0, "offset", offset, f"a multiple of {BATCH}")
    return first


def _digest(theta: Theta, step: Array | None) -> bytes:
    """Return what is the same for the same values and grid alone."""
    import hashlib  # 3 MB of OpenSSL, which arrays that are drawn whole do without

    digest = hashlib.blake2b(repr((theta.floats.dtype, theta.unit)).encode())
    for array in (theta.floats, theta.integers, step):
        if array is not None:
            digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.digest()


def repeated(theta: ArrayLike, size: int | Sequence[int] | None) -> Any:
    """Return theta, repeated to the shape that is asked for."""
    if size is None:
        return theta
    shape, values = dimensions("size", size), np.asarray(theta)
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        raise ValueError(
            f"theta must broadcast to size {shape}; got theta of shape {values.shape}"
        ) from None


def _draw_offsets(
    function: Draw, theta: Theta, source: NoiseSource, step: Array, first: int = 0
) -> tuple[Integers, float, Array, Integers]:
    """Return what `join_integers` adds up: integers, their unit, the steps and the noise."""
    assert theta.integers is not None
    shape = theta.integers.shape
    _check_shift(theta.unit, step, _LARGEST_SHIFT)
    steps = np.asarray(operand(step, shape), np.float64)
    rest, low = np.empty(shape), np.empty(shape)
    split_integers(theta.integers, theta.unit, steps, rest, low)
    noise = np.empty(shape, np.int64)
    function(rest, noise, source, steps, low, first)
    return theta.integers, theta.unit, steps, noise


def _check_shift(unit: float, step: Array, largest: int) -> None:
    if step.size and unit > 2.0**largest * float(step.min()):
        raise ValueError(
            f"grid must be at least 2**-{largest} of the unit of theta, {unit}; got {step.min()}"
        )


def _fits_float32(scale: Array, step: Array) -> bool:
    low, high = _FLOAT32_STEPS
    return bool(((step >= low) & (step <= high)).all() and (scale <= _FLOAT32_FINEST * step).all())


def _draw_as_float64(
    function: Draw,
    theta: Floats,
    out: Floats,
    source: NoiseSource,
    step: Array,
    bounds: tuple[Any, Any] | None,
    first: int,
) -> None:
    exact = np.empty(theta.shape)
    function(theta.astype(np.float64), exact, source, operand(step, theta.shape), None, first)
    with np.errstate(over="ignore"):
        out[...] = exact
    if bounds is not None:  # the nearest float32 may lie outside
        lower, upper = (np.asarray(bound) for bound in bounds)
        np.clip(out, float32_above(lower), -float32_above(-upper), out=out)


def float32_above(x: Floats) -> Floats:
    """Return the least float32 numbers that are not below x."""
    with np.errstate(over="ignore"):
        nearest = x.astype(np.float32)
        return np.where(nearest < x, np.nextafter(nearest, np.float32(np.inf)), nearest)
